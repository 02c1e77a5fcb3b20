"""`Session`: sandboxes with common defaults, one owner and one end."""

from __future__ import annotations

import asyncio
import builtins
import logging
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar, Unpack, cast, overload

from harena.core.checked import checked_text
from harena.core.errors import SandboxNotFoundError, SandboxNotRunningError, SandboxValidationError
from harena.core.records.sandboxes import SandboxStatus
from harena.sdk.defaults import SandboxDefaults, as_defaults
from harena.sdk.metrics import SessionMetrics
from harena.sdk.options import SandboxOptions, checked_statuses, checked_tags, plan
from harena.sdk.portal import current_portal
from harena.sdk.refs import OperationRef
from harena.sdk.sandbox_lifecycle import SandboxLifecycle

if TYPE_CHECKING:
    from harena.core.ports import SandboxHandle
    from harena.sdk.functions import RemoteFunction
    from harena.sdk.sandbox import Sandbox

P = ParamSpec("P")
R = TypeVar("R")

REPORTERS = frozenset({"wandb"})

_log = logging.getLogger("harena")


class Session:
    """Owns sandboxes: what it made or adopted ends with it. May be used from any thread.

    `session.sandbox()` gives a sandbox that starts with its first verb, so that
    `[session.sandbox().exec(command) for ...]` runs in parallel. Such a sandbox ends when it is stopped, when nothing
    in the program can reach it any more and its commands have ended, or when the session is closed.
    """

    sandbox_class: ClassVar[type[Sandbox]]
    """the class that users see; `harena.sdk.sandbox`, which imports this module, sets it"""

    def __init__(
        self,
        defaults: SandboxDefaults | Mapping[str, Any] | None = None,
        report_to: builtins.list[str] | None = None,
        *,
        auth: Any = None,
    ) -> None:
        """`report_to`: None = an active W&B run where WANDB_API_KEY is set, ["wandb"] = an active run, [] = nowhere.

        `auth` is accepted from code that was written for a remote node; an embedded one has no accounts.
        """
        if isinstance(report_to, str) or not isinstance(report_to, Iterable | None):
            raise SandboxValidationError(f"report_to must be a list, as ['wandb'], or None (got {report_to!r})")
        unknown = [name for name in report_to or () if name not in REPORTERS]
        if unknown:
            raise SandboxValidationError(f"report_to: unknown {unknown}; valid are {sorted(REPORTERS)}")
        import_module("harena.sdk.sandbox")  # sets `sandbox_class`: who imports `Session` alone has not loaded it
        self.defaults = as_defaults(defaults)
        self.metrics = SessionMetrics()
        self._report_to = report_to
        self._portal = current_portal()
        self._lock = threading.Lock()
        self._created: weakref.WeakSet[SandboxLifecycle] = weakref.WeakSet()
        self._adopted: set[SandboxLifecycle] = set()
        self._stops: set[OperationRef[None]] = set()
        self._endings: set[asyncio.Task[None]] = set()
        self._closed: OperationRef[None] | None = None

    # -- sandboxes --

    def sandbox(self, **options: Unpack[SandboxOptions]) -> Sandbox:
        """A sandbox with this session's defaults, not started yet. Raises SandboxNotRunningError when closed."""
        self._portal.check_not_inherited()
        lifecycle = SandboxLifecycle(self._portal, plan(self.defaults, options, "Session.sandbox"))
        lifecycle.session = self
        lifecycle.owned = True
        with self._lock:
            self._check_open()
            self._created.add(lifecycle)
        return self.sandbox_class.of(lifecycle)

    def adopt(self, sandbox: Sandbox) -> None:
        """Own this sandbox too: it ends, and its commands are counted, with this session's."""
        self._portal.check_not_inherited()
        lifecycle = sandbox._lifecycle
        with self._lock:
            self._check_open()
            if lifecycle.session is not None and lifecycle.session is not self:
                raise SandboxValidationError("this sandbox belongs to another session already")
            lifecycle.session = self
            known = (*self._created, *self._adopted)
            if lifecycle not in self._created and not any(lifecycle.is_same(other) for other in known):
                self._adopted.add(lifecycle)

    def list(
        self,
        *,
        tags: Iterable[str] | None = None,
        status: SandboxStatus | str | Iterable[SandboxStatus | str] | None = None,
        show_terminated: bool = False,
        adopt: bool = False,
    ) -> OperationRef[builtins.list[Sandbox]]:
        """The node's sandboxes with this session's tags and `tags`; with `adopt` they become this session's own."""
        wanted = tuple(self.defaults.merge_tags(checked_tags(tags)))
        return self._portal.submit(self._list, wanted, checked_statuses(status), show_terminated, adopt)

    def from_id(self, sandbox_id: str, *, adopt: bool = True) -> OperationRef[Sandbox]:
        """The sandbox with this id, adopted unless told otherwise. Raises SandboxNotFoundError."""
        checked_text(sandbox_id, "sandbox_id")
        return self._portal.submit(self._from_id, sandbox_id, adopt)

    @property
    def sandbox_count(self) -> int:
        """How many sandboxes it owns that were not stopped."""
        with self._lock:
            return len(self._created) + len(self._adopted)

    @overload
    def function(self, function: Callable[P, R], /) -> RemoteFunction[P, R]: ...
    @overload
    def function(
        self, *, temp_dir: str | None = None, timeout_seconds: float | None = None, **options: Unpack[SandboxOptions]
    ) -> Callable[[Callable[P, R]], RemoteFunction[P, R]]: ...
    def function(  # type: ignore[misc]  # mypy does not see that **options takes what Unpack names
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        temp_dir: str | None = None,
        timeout_seconds: float | None = None,
        **options: Any,
    ) -> Any:
        """A decorator, with or without options, that makes a function run in a fresh sandbox of this session, once per
        call.

        Arguments and results travel as JSON. `options` are those of `sandbox`, `timeout_seconds` bounds one call.
        Raises FunctionError, where it decorates, for a function that cannot be sent.
        """
        from harena.sdk.functions import RemoteFunction

        def decorate(function: Callable[P, R]) -> RemoteFunction[P, R]:
            return RemoteFunction(
                function,
                session=self,
                temp_dir=temp_dir,
                timeout_seconds=timeout_seconds,
                options=cast("SandboxOptions", options),
            )

        if function is None:
            return decorate
        if not callable(function):
            raise TypeError(f"session.function takes the function itself, or options by name (got {function!r})")
        return decorate(function)

    # -- metrics --

    def get_metrics(self) -> dict[str, float | int]:
        """The fourteen `cwsandbox/...` metrics since the begin or the last reset."""
        return self.metrics.as_dict()

    def log_metrics(self, step: int | None = None, *, reset: bool = True) -> bool:
        """Send the metrics to the active W&B run, as `report_to` allows; True if they were sent.

        Counting starts anew only where they were sent and `reset` is true. No run is ever created.
        """
        if self._report_to is not None and "wandb" not in self._report_to:
            return False
        if self._report_to is None and not os.environ.get("WANDB_API_KEY"):
            return False
        run = getattr(sys.modules.get("wandb"), "run", None)
        if run is None:
            return False
        run.log(self.get_metrics(), step=step)
        if reset:
            self.metrics.reset()
        return True

    # -- the end --

    def close(self) -> OperationRef[None]:
        """End every sandbox that it owns; done when they have ended. May be called more than once."""
        self._portal.check_not_inherited()
        with self._lock:
            if self._closed is not None:
                return self._closed
            lifecycles, stops = [*self._created, *self._adopted], [*self._stops]
            if self._portal.closed or not (lifecycles or stops or self._endings):
                self._closed = self._portal.settled(None)
            else:
                self._closed = OperationRef(self._portal, cancellable=False)
                self._portal.call(self._portal.launch, self._closed, self._close, lifecycles, stops)
            for lifecycle in lifecycles:
                lifecycle.stop_asked = True
            self._created.clear()
            self._adopted.clear()
        self._report_at_the_end()
        return self._closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        closed = self.close()
        try:
            closed.result()
        except Exception:  # an error that is on its way already says more than a failed clean-up
            if kind is None:
                raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self.close()
        except Exception:  # as in `__exit__`
            if kind is None:
                raise

    def forget(self, lifecycle: SandboxLifecycle) -> None:
        """This sandbox is being stopped. From any thread."""
        with self._lock:
            self._created.discard(lifecycle)
            self._adopted.discard(lifecycle)

    def note_end(self, stopped: OperationRef[None]) -> None:
        """A sandbox's stop is under way; `close` waits for it. From any thread."""
        with self._lock:
            self._stops.add(stopped)
        stopped.watch(self, lambda: self._stops.discard(stopped))

    # -- on the sdk's loop --

    def release(self, handle: SandboxHandle) -> None:
        """End a sandbox that nothing in the program can reach any more."""
        task = asyncio.get_running_loop().create_task(handle.stop())
        self._endings.add(task)
        task.add_done_callback(self._released)

    def _released(self, task: asyncio.Task[None]) -> None:
        self._endings.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("ending a sandbox that was not used any more failed: %s", error)

    async def _close(
        self, lifecycles: builtins.list[SandboxLifecycle], stops: builtins.list[OperationRef[None]]
    ) -> None:
        ends = [lifecycle.end(0.0, missing_ok=True) for lifecycle in lifecycles if lifecycle.ready is not None]
        outcomes = await asyncio.gather(*ends, *stops, *self._endings, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException) and not isinstance(outcome, SandboxNotFoundError):
                raise outcome

    async def _list(
        self, tags: tuple[str, ...], statuses: tuple[SandboxStatus, ...], show_terminated: bool, adopt: bool
    ) -> builtins.list[Sandbox]:
        found = await self.sandbox_class.listed(tags, statuses, show_terminated)
        if adopt:
            for sandbox in found:
                self.adopt(sandbox)
        return found

    async def _from_id(self, sandbox_id: str, adopt: bool) -> Sandbox:
        sandbox = await self.sandbox_class.found(sandbox_id)
        if adopt:
            self.adopt(sandbox)
        return sandbox

    def _check_open(self) -> None:
        if self._closed is not None:
            raise SandboxNotRunningError("this session is closed: open a new one")

    def _report_at_the_end(self) -> None:
        if not self.metrics.is_empty():
            try:
                self.log_metrics()
            except Exception:  # noqa: BLE001 - a reporter of somebody else's must not keep sandboxes from ending
                _log.exception("sending a session's last metrics failed")
