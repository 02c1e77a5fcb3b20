"""Errors as they travel: the closed table of codes, each with its HTTP status and its exception.

A problem is what RFC 9457 calls one: {type, title, status, detail, code}, where `detail` is the exception's message and
`code` comes from PROBLEMS; beside them go `reason`, `metadata`, `retry_after_seconds` and what the exception carries
(`filepath`, `sandbox_id` ...) where there is such a thing. The class that is raised from a problem is chosen from the
table and by nothing else that was received.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from harena.core import errors
from harena.core.job_store import STORE_UNAVAILABLE
from harena.core.registry import IN_USE, VERSION_TAKEN

CONTENT_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Problem:
    """One line of the table."""

    code: str
    status: int
    error: type[errors.HarenaError]
    carries: tuple[str, ...] = ("reason",)
    """what its constructor takes beside the message, all of it text"""


PROBLEMS = (
    Problem("validation", 422, errors.ValidationError),
    Problem("sandbox_validation", 422, errors.SandboxValidationError),
    Problem("access", 401, errors.AccessError),
    Problem("limit_exceeded", 429, errors.LimitExceededError),
    Problem("not_found", 404, errors.NotFoundError),
    Problem("sandbox_not_found", 404, errors.SandboxNotFoundError, ("sandbox_id",)),
    Problem("sandbox_file", 409, errors.SandboxFileError, ("filepath", "reason")),
    Problem("sandbox_not_running", 409, errors.SandboxNotRunningError),
    Problem("sandbox_terminated", 409, errors.SandboxTerminatedError),
    Problem("sandbox_failed", 409, errors.SandboxFailedError, ("sandbox_id", "status_reason", "reason")),
    Problem("sandbox_execution", 409, errors.SandboxExecutionError, ("reason", "exception_type", "exception_message")),
    Problem("function", 422, errors.FunctionError),
    Problem("async_function", 422, errors.AsyncFunctionError),
    Problem("sandbox_start", 500, errors.SandboxStartError, ("sandbox_id", "status_reason")),
    Problem("sandbox_resource_exhausted", 503, errors.SandboxResourceExhaustedError),
    Problem("sandbox_unavailable", 503, errors.SandboxUnavailableError, ("step", "reason")),
    Problem("sandbox_request_timeout", 504, errors.SandboxRequestTimeoutError),
    Problem("sandbox_command_timeout", 504, errors.SandboxCommandTimeoutError, ()),
    Problem("sandbox_timeout", 504, errors.SandboxTimeoutError),
    Problem("sandbox", 500, errors.SandboxError),
    Problem("host_unsupported", 501, errors.HostUnsupportedError, ("step", "reason")),
    Problem("image_pull", 502, errors.ImagePullError, ("step", "reason")),
    Problem("image_build", 422, errors.ImageBuildError),
    Problem("platform", 500, errors.PlatformError, ("step", "reason")),
    Problem("internal", 500, errors.HarenaError),
)
"""The table. What is no line of its own (an exception of another room) travels as the nearest class above it."""

_BY_ERROR = {problem.error: problem for problem in PROBLEMS}
_BY_CODE = {problem.code: problem for problem in PROBLEMS}
_STATUS_OF_REASON = {
    ("access", "FORBIDDEN"): 403,
    ("validation", "TOO_LARGE"): 413,
    ("validation", VERSION_TAKEN): 409,
    ("validation", IN_USE): 409,
    ("validation", "SNAPSHOT_NAME"): 409,
    ("validation", "METHOD_NOT_ALLOWED"): 405,
    ("validation", "CONTENT_TYPE"): 415,
    ("validation", "HTTP"): 400,
    ("validation", "URL_TOO_LONG"): 414,
    ("validation", "HEAD_TOO_LARGE"): 431,
    ("sandbox_file", "NOT_FOUND"): 404,
    ("sandbox_file", "PERMISSION_DENIED"): 403,
    ("sandbox_file", "TOO_LARGE"): 413,
    ("sandbox_file", "NO_SPACE"): 507,
    ("sandbox_file", "NO_MEMORY"): 507,
    ("platform", STORE_UNAVAILABLE): 503,
}
"""(code, reason) -> the status that says more than the code's own"""
STATUSES = frozenset({problem.status for problem in PROBLEMS} | set(_STATUS_OF_REASON.values()))


def status_of(code: str, reason: str | None) -> int:
    """The HTTP status of an error with this code of the table, and this reason."""
    return _STATUS_OF_REASON.get((code, reason or ""), _BY_CODE[code].status)


def to_problem(error: errors.HarenaError) -> dict[str, Any]:
    """The error as JSON types."""
    line = next(_BY_ERROR[kind] for kind in type(error).__mro__ if kind in _BY_ERROR)
    written: dict[str, Any] = {
        "type": "about:blank",
        "title": line.code.replace("_", " "),
        "status": status_of(line.code, error.reason),
        "detail": str(error),
        "code": line.code,
    }
    for name in {*line.carries, "reason"}:
        if (value := getattr(error, name, None)) is not None:
            written[name] = str(value)
    if error.metadata:
        written["metadata"] = dict(error.metadata)
    if error.retry_delay is not None:
        written["retry_after_seconds"] = error.retry_delay.total_seconds()
    return written


def from_problem(problem: Mapping[str, Any]) -> errors.HarenaError:
    """The error that a problem stands for; a PlatformError where the code is not in the table."""
    detail = str(problem.get("detail") or problem.get("title") or "the server gave no reason")
    line = _BY_CODE.get(str(problem.get("code")))
    if line is None:
        unknown = errors.PlatformError(f"the server answered {problem.get('status')}: {detail}", step="http")
        return _with_delay(unknown, problem)
    carried: dict[str, Any] = {name: str(problem[name]) for name in line.carries if problem.get(name) is not None}
    error = line.error(detail, **carried)
    metadata = problem.get("metadata")
    if isinstance(metadata, Mapping):
        error.metadata.update({str(name): str(value) for name, value in metadata.items()})
    return _with_delay(error, problem)


def _with_delay(error: errors.HarenaError, problem: Mapping[str, Any]) -> errors.HarenaError:
    seconds = problem.get("retry_after_seconds")
    if isinstance(seconds, int | float) and 0 <= seconds < 1e6:
        error.retry_delay = timedelta(seconds=seconds)
    return error
