"""Every exception that harena raises, in one tree.

    HarenaError                          (CWSandboxError, AviatoError: the same class under the names of other clients)
    ├─ ValidationError                   bad input, found before any work is done
    ├─ AccessError                       the server does not know the key, or the key may not do this
    ├─ LimitExceededError                a workspace uses all that it may use of a server; later it may succeed
    ├─ NotFoundError                     a named object (blueprint, job, image) does not exist
    ├─ PlatformError                     the platform failed; never a reward
    │  └─ HostUnsupportedError           this host forbids something; names the setting to change
    ├─ SandboxError
    │  ├─ SandboxNotRunningError
    │  │  └─ SandboxUnavailableError     (also PlatformError) the node or the sandbox was lost
    │  ├─ SandboxTimeoutError
    │  │  ├─ SandboxRequestTimeoutError
    │  │  └─ SandboxCommandTimeoutError
    │  ├─ SandboxResourceExhaustedError
    │  ├─ SandboxTerminatedError
    │  ├─ SandboxFailedError             the sandbox could not start or died by itself
    │  │  └─ SandboxStartError           (also PlatformError) it could not start
    │  ├─ SandboxNotFoundError
    │  ├─ SandboxExecutionError          a command failed and the caller asked for check=True
    │  ├─ SandboxFileError               a file operation failed; carries the path
    │  └─ SandboxValidationError         (also ValidationError)
    └─ FunctionError
       └─ AsyncFunctionError

What a *program* does (exit 1, time-out, out of memory) is data in an `ExecResult`; an exception is raised only where
the caller asked for the program's success, or where the platform failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harena.core.models import ProcessResult


class HarenaError(Exception):
    """Base of everything that harena raises.

    `reason` is a code from a closed table where one exists, `metadata` holds details for logs, `retry_delay` is set
    where the same call may succeed later.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        metadata: Mapping[str, str] | None = None,
        retry_delay: timedelta | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.metadata: dict[str, str] = dict(metadata or {})
        self.retry_delay = retry_delay


class ValidationError(HarenaError):
    """The input is wrong. Nothing has been started or changed."""


class AccessError(HarenaError):
    """A server refused the key: unknown, missing or revoked, or (`reason` "FORBIDDEN") without the scope for this."""


class LimitExceededError(HarenaError):
    """A server refused a request because its workspace uses all that it may use; nothing has been done. `reason` says
    of what (LIMIT_REASONS), `retry_delay` when it may be worth while to ask again."""


LIMIT_REASONS = ("REQUEST_RATE", "SANDBOXES", "OPEN_JOBS", "OBJECTS", "OUTPUTS", "BUSY")


class NotFoundError(HarenaError):
    """A blueprint, job, image or other named object does not exist."""


class PlatformError(HarenaError):
    """The platform failed. Never the program's fault, never a reward; `step` names what failed."""

    def __init__(self, message: str, *, step: str | None = None, reason: str | None = None) -> None:
        super().__init__(message, reason=reason)
        self.step = step


class HostUnsupportedError(PlatformError):
    """This host forbids something that isolation needs. The message names the setting to change."""


class SandboxError(HarenaError):
    """Something about one sandbox."""


class SandboxNotRunningError(SandboxError):
    """The operation needs a running sandbox and this one is not."""


class SandboxUnavailableError(SandboxNotRunningError, PlatformError):
    """The sandbox, or the node that holds it, was lost while it was in use."""

    def __init__(self, message: str, *, step: str | None = None, reason: str | None = None) -> None:
        PlatformError.__init__(self, message, step=step, reason=reason)


class SandboxTimeoutError(SandboxError):
    """Something took longer than it was allowed to. Not a builtin TimeoutError."""


class SandboxRequestTimeoutError(SandboxTimeoutError):
    """A request to the node (not a command) took too long."""


class SandboxCommandTimeoutError(SandboxTimeoutError):
    """A command passed its `timeout_seconds`; its whole process tree has been killed."""

    def __init__(self, message: str, *, exec_result: ProcessResult | None = None) -> None:
        super().__init__(message, reason="COMMAND_TIMEOUT")
        self.exec_result = exec_result


class SandboxResourceExhaustedError(SandboxError):
    """The node has no room for another sandbox."""


class SandboxTerminatedError(SandboxError):
    """The sandbox was stopped while, or before, it was used."""


class SandboxFailedError(SandboxError):
    """The sandbox could not start, or ended by itself; `status_reason` says why."""

    def __init__(
        self,
        message: str,
        *,
        sandbox_id: str | None = None,
        status_reason: str | None = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(message, reason=reason)
        self.sandbox_id = sandbox_id
        self.status_reason = status_reason


class SandboxStartError(SandboxFailedError, PlatformError):
    """The node could not start the sandbox: the platform's failure, before any program ran."""

    def __init__(self, message: str, *, sandbox_id: str | None = None, status_reason: str | None = None) -> None:
        SandboxFailedError.__init__(self, message, sandbox_id=sandbox_id, status_reason=status_reason)
        self.step = "create sandbox"


class SandboxNotFoundError(SandboxError):
    """No sandbox has this id."""

    def __init__(self, message: str, *, sandbox_id: str | None = None) -> None:
        super().__init__(message, reason="SANDBOX_NOT_FOUND")
        self.sandbox_id = sandbox_id


class SandboxExecutionError(SandboxError):
    """A command ended badly and the caller had asked for success (`check=True`, a remote function)."""

    def __init__(
        self,
        message: str,
        *,
        exec_result: ProcessResult | None = None,
        exception_type: str | None = None,
        exception_message: str | None = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(message, reason=reason)
        self.exec_result = exec_result
        self.exception_type = exception_type
        self.exception_message = exception_message


class SandboxFileError(SandboxError):
    """A file operation failed. `filepath` is the path inside the sandbox; `reason` one of FILE_REASONS."""

    def __init__(self, message: str, *, filepath: str | None = None, reason: str | None = None) -> None:
        super().__init__(message, reason=reason)
        self.filepath = filepath


FILE_REASONS = (
    "NOT_FOUND",
    "IS_DIRECTORY",
    "NOT_A_DIRECTORY",
    "EXISTS",
    "PERMISSION_DENIED",
    "TOO_LARGE",
    "NO_SPACE",
    "IO_FAILED",
)


class SandboxValidationError(SandboxError, ValidationError):
    """Bad input to a sandbox operation."""


class FunctionError(HarenaError):
    """A remote function cannot be sent to a sandbox, or its result cannot come back."""


class AsyncFunctionError(FunctionError):
    """`async def` functions cannot be remote functions."""
