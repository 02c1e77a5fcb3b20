"""Every exception that harena raises, in one tree.

    HarenaError                          (CWSandboxError, AviatoError: the same class under the names of other clients)
    ├─ ValidationError                   bad input, found before any work is done
    ├─ AccessError                       the server does not know the key, or the key may not do this
    ├─ LimitExceededError                a workspace uses all that it may use of a server; later it may succeed
    ├─ ImageBuildError                   a Dockerfile's command has failed, or its build was ended
    ├─ NotFoundError                     a named object (blueprint, job, image) does not exist
    ├─ PlatformError                     the platform failed; never a reward
    │  ├─ HostUnsupportedError           this host forbids something; names the setting to change
    │  └─ ImagePullError                 an image cannot be had, or is broken
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
    """Base of everything that harena raises. Catch it where nothing narrower helps.

    `reason` is a code of `harena.core.reasons.ERROR_REASONS` where one exists, `metadata` holds details for logs,
    and `retry_delay` is set where the same call may succeed later.
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
    """The input is wrong, and nothing has been started or changed. Correct every mistake that the message lists."""


class AccessError(HarenaError):
    """A server refused the API key: it is unknown, missing or revoked, or (`reason` "FORBIDDEN") lacks the scope for
    this. Set `HARENA_API_KEY` to a key with the scope that the message names."""


class LimitExceededError(HarenaError):
    """A server refused a request because its workspace uses all that it may use; nothing has been done. `reason` names
    the limit. Ask again after `retry_delay`, or make room: stop sandboxes, cancel or delete jobs."""


class NotFoundError(HarenaError):
    """A blueprint, job, image or other named object does not exist in this workspace. Check its name or id."""


class PlatformError(HarenaError):
    """The platform failed, so there is no verdict on any program; `step` names what failed. Try again; what fails every
    time is said by `harena doctor` or by the server's log."""

    def __init__(
        self,
        message: str,
        *,
        step: str | None = None,
        reason: str | None = None,
        retry_delay: timedelta | None = None,
    ) -> None:
        super().__init__(message, reason=reason, retry_delay=retry_delay)
        self.step = step


class HostUnsupportedError(PlatformError):
    """The host forbids something that isolation needs. Change the setting that the message names, and see
    `harena doctor`."""


class ImagePullError(PlatformError):
    """An image cannot be had from its registry, or what came is broken. The message says which of both, and what to
    do; `reason` is a code for it."""


class ImageBuildError(HarenaError):
    """An image could not be built. The message names the line of the Dockerfile and its instruction where one of them
    has failed; `reason` is a code for what has happened."""


class SandboxError(HarenaError):
    """Base of errors about one sandbox."""


class SandboxNotRunningError(SandboxError):
    """The operation needs a running sandbox, and this one is not running. Wait for it, or create a new one."""


class SandboxUnavailableError(SandboxNotRunningError, PlatformError):
    """The sandbox, or the node that holds it, was lost while it was in use. Create a new sandbox and run again."""

    def __init__(self, message: str, *, step: str | None = None, reason: str | None = None) -> None:
        PlatformError.__init__(self, message, step=step, reason=reason)


class SandboxTimeoutError(SandboxError):
    """Something took longer than it was allowed to. Not a subclass of the built-in TimeoutError. Allow more time."""


class SandboxRequestTimeoutError(SandboxTimeoutError):
    """A request to the node (not a command) took too long. Ask again, or raise `request_timeout_seconds`."""


class SandboxCommandTimeoutError(SandboxTimeoutError):
    """A command ran longer than its `timeout_seconds`, and its whole process tree was killed. `exec_result` has its
    output so far."""

    def __init__(self, message: str, *, exec_result: ProcessResult | None = None) -> None:
        super().__init__(message, reason="COMMAND_TIMEOUT")
        self.exec_result = exec_result


class SandboxResourceExhaustedError(SandboxError):
    """The node has no room for another sandbox. Stop some, or wait."""


class SandboxTerminatedError(SandboxError):
    """The sandbox was stopped before or during the call. Create a new one."""


class SandboxFailedError(SandboxError):
    """The sandbox could not start, or ended by itself; `status_reason` says why. Create a new one."""

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
    """The node could not start the sandbox: the platform's failure, before any program ran. See `harena doctor`."""

    def __init__(self, message: str, *, sandbox_id: str | None = None, status_reason: str | None = None) -> None:
        SandboxFailedError.__init__(self, message, sandbox_id=sandbox_id, status_reason=status_reason)
        self.step = "create sandbox"


class SandboxNotFoundError(SandboxError):
    """No sandbox of this workspace has this id, or it ended long ago."""

    def __init__(self, message: str, *, sandbox_id: str | None = None) -> None:
        super().__init__(message, reason="SANDBOX_NOT_FOUND")
        self.sandbox_id = sandbox_id


class SandboxExecutionError(SandboxError):
    """A command failed, and the caller had asked for success (`check=True`, a remote function). `exec_result` has its
    output and exit code."""

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
    """A file operation failed. `filepath` is the path inside the sandbox; `reason` is one of FILE_REASONS."""

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
    "NO_MEMORY",
    "IO_FAILED",
)


class SandboxValidationError(SandboxError, ValidationError):
    """Bad input to an operation on a sandbox. Correct what the message lists."""


class FunctionError(HarenaError):
    """A remote function cannot be sent to a sandbox, or its result cannot be sent back. The message names the value."""


class AsyncFunctionError(FunctionError):
    """`async def` functions cannot be remote functions. Decorate a plain function."""
