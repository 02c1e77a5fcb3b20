"""harena: isolated sandboxes, scores that cannot be forged, and benchmark jobs for RL fine-tuning.

Importing this is light: names are loaded when they are first used, and a node is opened with the first operation.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from harena.core import settings as _settings
from harena.nouns import NOUNS, RECORDS
from harena.sdk import server_choice as _server_choice
from harena.sdk import transport as _transport

if TYPE_CHECKING:
    from harena import audits as audits
    from harena import sft as sft
    from harena.alias_modules import install_aliases as install_aliases
    from harena.audits import audit as audit
    from harena.calibration import calibrate as calibrate
    from harena.checks import doctor as doctor
    from harena.checks import load_scenarios as load_scenarios
    from harena.checks import scenario_schema as scenario_schema
    from harena.core.daemons import Daemon as Daemon
    from harena.core.errors import (
        AccessError as AccessError,
    )
    from harena.core.errors import (
        AsyncFunctionError as AsyncFunctionError,
    )
    from harena.core.errors import (
        FunctionError as FunctionError,
    )
    from harena.core.errors import (
        HarenaError as HarenaError,
    )
    from harena.core.errors import (
        HostUnsupportedError as HostUnsupportedError,
    )
    from harena.core.errors import (
        ImageBuildError as ImageBuildError,
    )
    from harena.core.errors import (
        ImagePullError as ImagePullError,
    )
    from harena.core.errors import (
        LimitExceededError as LimitExceededError,
    )
    from harena.core.errors import (
        NotFoundError as NotFoundError,
    )
    from harena.core.errors import (
        PlatformError as PlatformError,
    )
    from harena.core.errors import (
        SandboxCommandTimeoutError as SandboxCommandTimeoutError,
    )
    from harena.core.errors import (
        SandboxError as SandboxError,
    )
    from harena.core.errors import (
        SandboxExecutionError as SandboxExecutionError,
    )
    from harena.core.errors import (
        SandboxFailedError as SandboxFailedError,
    )
    from harena.core.errors import (
        SandboxFileError as SandboxFileError,
    )
    from harena.core.errors import (
        SandboxNotFoundError as SandboxNotFoundError,
    )
    from harena.core.errors import (
        SandboxNotRunningError as SandboxNotRunningError,
    )
    from harena.core.errors import (
        SandboxRequestTimeoutError as SandboxRequestTimeoutError,
    )
    from harena.core.errors import (
        SandboxResourceExhaustedError as SandboxResourceExhaustedError,
    )
    from harena.core.errors import (
        SandboxTerminatedError as SandboxTerminatedError,
    )
    from harena.core.errors import (
        SandboxTimeoutError as SandboxTimeoutError,
    )
    from harena.core.errors import (
        SandboxUnavailableError as SandboxUnavailableError,
    )
    from harena.core.errors import (
        SandboxValidationError as SandboxValidationError,
    )
    from harena.core.errors import (
        ValidationError as ValidationError,
    )
    from harena.core.gateways import Gateway as Gateway
    from harena.core.gateways import GatewayRule as GatewayRule
    from harena.core.gateways import GatewayTerms as GatewayTerms
    from harena.core.job_lifecycle import JobState as JobState
    from harena.core.models import ExecOutcome as ExecOutcome
    from harena.core.models import FileInfo as FileInfo
    from harena.core.models import ProcessResult as ProcessResult
    from harena.core.models import ResourceUsage as ResourceUsage
    from harena.core.network_policy import NetworkPolicy as NetworkPolicy
    from harena.core.ports import Operations
    from harena.core.results import Reason as Reason
    from harena.core.results import Rescore as Rescore
    from harena.core.results import RunResult as RunResult
    from harena.core.results import Trust as Trust
    from harena.core.results import Validity as Validity
    from harena.core.training_jobs import TrainingEventKind as TrainingEventKind
    from harena.core.training_jobs import TrainingState as TrainingState
    from harena.evaluation import evaluate as evaluate
    from harena.nouns import *  # noqa: F403 - records, and modules of verbs
    from harena.sdk import webhooks as webhooks
    from harena.sdk.defaults import SandboxDefaults as SandboxDefaults
    from harena.sdk.functions import RemoteFunction as RemoteFunction
    from harena.sdk.options import ResourceOptions as ResourceOptions
    from harena.sdk.options import SandboxOptions as SandboxOptions
    from harena.sdk.portal import disable_signal_handlers as disable_signal_handlers
    from harena.sdk.portal import shutdown as shutdown
    from harena.sdk.process import (
        Process as Process,
    )
    from harena.sdk.process import (
        TerminalResult as TerminalResult,
    )
    from harena.sdk.process import (
        TerminalSession as TerminalSession,
    )
    from harena.sdk.refs import OperationRef as OperationRef
    from harena.sdk.sandbox import Sandbox as Sandbox
    from harena.sdk.scores import score as score
    from harena.sdk.session import Session as Session
    from harena.sdk.streams import StreamReader as StreamReader
    from harena.sdk.streams import StreamWriter as StreamWriter
    from harena.sdk.waiting import (
        as_completed as as_completed,
    )
    from harena.sdk.waiting import (
        get as get,
    )
    from harena.sdk.waiting import (
        result as result,
    )
    from harena.sdk.waiting import (
        results as results,
    )
    from harena.sdk.waiting import (
        wait as wait,
    )

__version__ = "0.1.0"

_HOMES: dict[str, tuple[str, ...]] = {
    **RECORDS,
    "harena": ("audits", "sft"),
    "harena.alias_modules": ("install_aliases",),
    "harena.audits": ("audit",),
    "harena.calibration": ("calibrate",),
    "harena.checks": ("doctor", "load_scenarios", "scenario_schema"),
    "harena.core.errors": (
        *(
            "AccessError",
            "AsyncFunctionError",
            "FunctionError",
            "HarenaError",
            "HostUnsupportedError",
            "ImageBuildError",
            "ImagePullError",
        ),
        *("LimitExceededError", "NotFoundError"),
        *("PlatformError", "SandboxCommandTimeoutError", "SandboxError", "SandboxExecutionError", "SandboxFailedError"),
        *("SandboxFileError", "SandboxNotFoundError", "SandboxNotRunningError", "SandboxRequestTimeoutError"),
        *("SandboxResourceExhaustedError", "SandboxTerminatedError", "SandboxTimeoutError"),
        *("SandboxUnavailableError", "SandboxValidationError", "ValidationError"),
    ),
    "harena.core.daemons": ("Daemon",),
    "harena.core.gateways": ("Gateway", "GatewayRule", "GatewayTerms"),
    "harena.core.job_lifecycle": ("JobState",),
    "harena.core.models": ("ExecOutcome", "FileInfo", "ProcessResult", "ResourceUsage"),
    "harena.core.network_policy": ("NetworkPolicy",),
    "harena.core.results": (
        "Reason",
        "Rescore",
        "RunResult",
        "Trust",
        "Validity",
    ),
    "harena.core.training_jobs": ("TrainingEventKind", "TrainingState"),
    "harena.evaluation": ("evaluate",),
    "harena.sdk": (*NOUNS, "webhooks"),
    "harena.sdk.defaults": ("SandboxDefaults",),
    "harena.sdk.functions": ("RemoteFunction",),
    "harena.sdk.options": ("ResourceOptions", "SandboxOptions"),
    "harena.sdk.portal": ("disable_signal_handlers", "shutdown"),
    "harena.sdk.process": ("Process", "TerminalResult", "TerminalSession"),
    "harena.sdk.refs": ("OperationRef",),
    "harena.sdk.sandbox": ("Sandbox",),
    "harena.sdk.scores": ("score",),
    "harena.sdk.session": ("Session",),
    "harena.sdk.streams": ("StreamReader", "StreamWriter"),
    "harena.sdk.waiting": ("as_completed", "get", "result", "results", "wait"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, "__version__"])


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'harena' has no attribute {name!r}")
    is_module = home in ("harena", "harena.sdk")
    value = import_module(f"{home}.{name}") if is_module else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


async def _open_node() -> Operations:
    """A server where one is named (`harena.sdk.server_choice`), else the node inside this process; with the sdk's first
    operation."""
    choice = _server_choice.chosen()
    _server_choice.opened(choice)
    if choice is not None:
        from harena.sdk.http import open_http

        return await open_http(choice.address, api_key=choice.api_key, ca_file=_settings.CA_FILE.read())
    from harena.node import open_embedded

    return await open_embedded()


_transport.set_factory(_open_node)
