"""Remote functions: a Python function that runs in a fresh sandbox, once per call."""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

from harena.core.checked import check_absolute, checked_timeout
from harena.core.errors import FunctionError, SandboxExecutionError, SandboxFileError
from harena.core.models import ProcessResult
from harena.sdk.function_source import FunctionSource
from harena.sdk.options import SandboxOptions, mounted, plan
from harena.sdk.portal import current_portal
from harena.sdk.refs import OperationRef

if TYPE_CHECKING:
    from harena.sdk.sandbox import Sandbox
    from harena.sdk.session import Session

_MOST_ANSWER_BYTES = 256 * 1024 * 1024
"""the largest result of a function, as JSON: the program may have left a file of any size in its place"""

P = ParamSpec("P")
R = TypeVar("R")


class RemoteFunction(Generic[P, R]):
    """Made by `Session.function`. Calling it (or `.remote`) starts one call and returns an `OperationRef`.

    Arguments and results travel as JSON: a tuple comes back as a list, and keys of a mapping as text. An exception in
    the function is a SandboxExecutionError with `exception_type`, `exception_message` and `exec_result`; a result that
    is not JSON, or more than 256 MiB of it, is a FunctionError; a call that takes longer than `timeout_seconds` a
    SandboxCommandTimeoutError.
    """

    def __init__(
        self,
        function: Callable[P, R],
        *,
        session: Session,
        temp_dir: str | None = None,
        timeout_seconds: float | None = None,
        options: SandboxOptions | None = None,
    ) -> None:
        """Raises FunctionError, AsyncFunctionError, SandboxValidationError, TypeError."""
        self._function = function
        self._session = session
        self._source = FunctionSource(function)
        self._temp_dir = temp_dir or session.defaults.temp_dir
        self._timeout = checked_timeout(timeout_seconds)
        self._options: SandboxOptions = options or {}
        check_absolute(self._temp_dir, "temp_dir")
        plan(session.defaults, self._options, "Session.function")
        functools.update_wrapper(self, function)

    def remote(self, *args: P.args, **kwargs: P.kwargs) -> OperationRef[R]:
        """Start one call. Raises FunctionError for arguments that are not JSON."""
        stem = f"{self._temp_dir.rstrip('/')}/harena-{uuid.uuid4().hex}"
        program = self._source.program(args, kwargs, f"{stem}.json")
        files = {**mounted(self._options.get("mounted_files")), f"{stem}.py": program.encode()}
        sandbox = self._session.sandbox(**cast("SandboxOptions", {**self._options, "mounted_files": files}))
        return cast("OperationRef[R]", current_portal().submit(self._call, sandbox, stem))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> OperationRef[R]:
        """Run the function in its sandbox, like `remote`."""
        return self.remote(*args, **kwargs)

    def map(self, items: Iterable[tuple[Any, ...]]) -> list[OperationRef[R]]:
        """Start one call per tuple of arguments, all at once."""
        start = cast("Callable[..., OperationRef[R]]", self.remote)
        return [start(*item) for item in items]

    def local(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call it here, in this process, without a sandbox."""
        return self._function(*args, **kwargs)

    async def _call(self, sandbox: Sandbox, stem: str) -> Any:
        try:
            ended = await sandbox.exec(["python", f"{stem}.py"], timeout_seconds=self._timeout)
            try:
                answer = json.loads(await sandbox.read_file(f"{stem}.json", max_bytes=_MOST_ANSWER_BYTES))
            except (SandboxFileError, ValueError) as error:
                if isinstance(error, SandboxFileError) and error.reason == "TOO_LARGE":
                    raise FunctionError(
                        f"{self._source.name} returned more than {_MOST_ANSWER_BYTES:,} bytes of JSON: have it write a "
                        "file, and read that as a stream"
                    ) from error
                raise self._without_answer(ended) from error
            return self._value(answer, ended)
        finally:
            sandbox.stop()

    def _value(self, answer: Any, ended: ProcessResult) -> Any:
        name = self._source.name
        match answer:
            case {"value": value}:
                return value
            case {"raised": [str(kind), str(message)]}:
                raise SandboxExecutionError(
                    f"{name} raised {kind} in its sandbox: {message}",
                    exec_result=ended,
                    exception_type=kind,
                    exception_message=message,
                )
            case {"unsendable": [str(kind), str(message)]}:
                raise FunctionError(f"{name} returned a {kind}, which cannot come back as JSON: {message}")
            case _:
                raise self._without_answer(ended)

    def _without_answer(self, ended: ProcessResult) -> SandboxExecutionError:
        return SandboxExecutionError(
            f"{self._source.name} ended with exit code {ended.returncode} before it returned anything:\n"
            f"{ended.stderr[-2000:].strip()}",
            exec_result=ended,
        )
