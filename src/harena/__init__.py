"""harena: isolated sandboxes, scores that cannot be forged, and benchmark jobs for RL fine-tuning.

Importing this is light: names are loaded when they are first used, and a node is opened with the first operation.
"""

# ruff: noqa: F401 - the imports under TYPE_CHECKING are for type checkers; at run time names are loaded lazily

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from harena.sdk import transport as _transport

if TYPE_CHECKING:
    from harena.alias_modules import install_aliases
    from harena.checks import doctor, load_scenarios, scenario_schema
    from harena.core.errors import (
        AsyncFunctionError,
        FunctionError,
        HarenaError,
        HostUnsupportedError,
        NotFoundError,
        PlatformError,
        SandboxCommandTimeoutError,
        SandboxError,
        SandboxExecutionError,
        SandboxFailedError,
        SandboxFileError,
        SandboxNotFoundError,
        SandboxNotRunningError,
        SandboxRequestTimeoutError,
        SandboxResourceExhaustedError,
        SandboxTerminatedError,
        SandboxTimeoutError,
        SandboxUnavailableError,
        SandboxValidationError,
        ValidationError,
    )
    from harena.core.models import (
        Blueprint,
        ExecOutcome,
        FileInfo,
        Limits,
        ProcessInfo,
        ProcessResult,
        ResourceUsage,
        SandboxInfo,
        SandboxStatus,
    )
    from harena.core.ports import Operations
    from harena.sdk import benchmark_jobs, blueprints
    from harena.sdk.defaults import SandboxDefaults
    from harena.sdk.functions import RemoteFunction
    from harena.sdk.options import ResourceOptions, SandboxOptions
    from harena.sdk.portal import disable_signal_handlers, shutdown
    from harena.sdk.process import Process, TerminalResult, TerminalSession
    from harena.sdk.refs import OperationRef
    from harena.sdk.sandbox import Sandbox
    from harena.sdk.session import Session
    from harena.sdk.streams import StreamReader, StreamWriter
    from harena.sdk.waiting import as_completed, get, result, results, wait

__version__ = "0.1.0"

_HOMES: dict[str, tuple[str, ...]] = {
    "harena.alias_modules": ("install_aliases",),
    "harena.checks": ("doctor", "load_scenarios", "scenario_schema"),
    "harena.core.errors": (
        *("AsyncFunctionError", "FunctionError", "HarenaError", "HostUnsupportedError", "NotFoundError"),
        *("PlatformError", "SandboxCommandTimeoutError", "SandboxError", "SandboxExecutionError", "SandboxFailedError"),
        *("SandboxFileError", "SandboxNotFoundError", "SandboxNotRunningError", "SandboxRequestTimeoutError"),
        *("SandboxResourceExhaustedError", "SandboxTerminatedError", "SandboxTimeoutError"),
        *("SandboxUnavailableError", "SandboxValidationError", "ValidationError"),
    ),
    "harena.core.models": (
        *("Blueprint", "ExecOutcome", "FileInfo", "Limits", "ProcessInfo", "ProcessResult", "ResourceUsage"),
        *("SandboxInfo", "SandboxStatus"),
    ),
    "harena.sdk": ("benchmark_jobs", "blueprints"),
    "harena.sdk.defaults": ("SandboxDefaults",),
    "harena.sdk.functions": ("RemoteFunction",),
    "harena.sdk.options": ("ResourceOptions", "SandboxOptions"),
    "harena.sdk.portal": ("disable_signal_handlers", "shutdown"),
    "harena.sdk.process": ("Process", "TerminalResult", "TerminalSession"),
    "harena.sdk.refs": ("OperationRef",),
    "harena.sdk.sandbox": ("Sandbox", "Session"),
    "harena.sdk.streams": ("StreamReader", "StreamWriter"),
    "harena.sdk.waiting": ("as_completed", "get", "result", "results", "wait"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, "__version__"])


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'harena' has no attribute {name!r}")
    value = import_module(f"{home}.{name}") if home == "harena.sdk" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


async def _open_node() -> Operations:
    """The node inside this process, opened by the sdk with its first operation."""
    if address := os.environ.get("HARENA_BASE_URL"):
        from harena.core.errors import ValidationError

        raise ValidationError(f"HARENA_BASE_URL={address}: this version of harena has no client for a server; unset it")
    from harena.node import open_embedded

    return await open_embedded()


_transport.set_factory(_open_node)
