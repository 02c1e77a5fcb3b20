"""`OperationRef`: something that is under way, to be waited for from any thread or awaited from any event loop."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from harena.sdk.portal import Portal

T = TypeVar("T")

_completions = itertools.count(1)
_watching = threading.Lock()


class OperationRef(Generic[T]):
    """An operation that runs in the background.

    `ref.result(timeout)` blocks, `await ref` works in any event loop (a task that is cancelled while it awaits cancels
    the operation, as with any awaitable; what others share, such as a sandbox's start or stop, is not cancelled).
    """

    __slots__ = ("__weakref__", "_cancellable", "_future", "_portal", "_task", "_watchers", "completed")

    def __init__(self, portal: Portal, *, cancellable: bool = True) -> None:
        self._portal = portal
        self._future: Future[T] = Future()
        self._cancellable = cancellable
        self._task: asyncio.Task[None] | None = None
        self._watchers: dict[object, Callable[[], object]] | None = None
        self.completed: int | None = None
        """a number that grows with each operation of this process that completes; None while it runs"""
        if not cancellable:
            self._future.set_running_or_notify_cancel()

    def result(self, timeout: float | None = None) -> T:
        """Wait for the outcome and return it, or raise what the operation raised.

        Raises concurrent.futures.TimeoutError when `timeout` seconds have passed (the operation goes on), and
        concurrent.futures.CancelledError when it was cancelled.
        """
        self._portal.check_may_block()
        return self._future.result(timeout)

    def done(self) -> bool:
        """The operation has ended, well or badly."""
        self._portal.check_not_inherited()
        return self._future.done()

    def error(self) -> BaseException | None:
        """What it raised; None where it went well, was cancelled, or runs still."""
        if not self.done() or self._future.cancelled():
            return None
        return self._future.exception()

    def cancel(self) -> bool:
        """Ask for the operation to be given up. False if it has ended already, or cannot be cancelled."""
        self._portal.check_not_inherited()
        if not self._future.cancel():
            return False
        if self.completed is None:
            self.completed = next(_completions)
            self._portal.call_if_open(self._abandon)
        return True

    def __await__(self) -> Generator[Any, None, T]:
        self._portal.check_not_inherited()
        try:
            return (yield from asyncio.wrap_future(self._future).__await__())
        except asyncio.CancelledError:
            self.cancel()
            raise

    def __repr__(self) -> str:
        if self._portal.inherited:
            return f"<{type(self).__name__} of the process that forked this one>"
        state = "running" if not self._future.done() else "cancelled" if self._future.cancelled() else "done"
        return f"<{type(self).__name__} {state}>"

    def check_may_block(self) -> None:
        """Raise where waiting for it would never end."""
        self._portal.check_may_block()

    def watch(self, token: object, callback: Callable[[], object]) -> None:
        """Call `callback()` once, from any thread, when the operation has ended (at once if it has)."""
        with _watching:
            if self._watchers is None:
                self._watchers = {}
                self._watchers[token] = callback
                first = True
            else:
                self._watchers[token] = callback
                first = False
        if first:
            self._future.add_done_callback(self._notify)
        elif self._future.done():
            self._notify(self._future)

    def unwatch(self, token: object) -> None:
        """Forget the callback of this token."""
        if self._watchers is not None:
            self._watchers.pop(token, None)

    def _notify(self, _: Future[T]) -> None:
        watchers = self._watchers
        while watchers:
            try:
                _token, callback = watchers.popitem()
            except KeyError:  # another thread took the last one
                return
            callback()

    # -- from here on: called on the sdk's loop only --

    async def on_loop(self) -> T:
        """The same as awaiting it, without waking the loop that runs already."""
        if self._task is not None and not self._future.done():
            await asyncio.wait([self._task])
        return self._future.result() if self._future.done() else await self

    def settle(self, value: T) -> None:
        """Give the result to whoever waits."""
        if self._may_settle():
            self._future.set_result(value)

    def settle_error(self, error: BaseException) -> None:
        """Give the failure to whoever waits."""
        if self._may_settle():
            self._future.set_exception(error)

    def cancelled_before_it_began(self) -> None:
        """It will never run."""

    def _may_settle(self) -> bool:
        if self._cancellable and not self._future.set_running_or_notify_cancel():
            return False  # it was cancelled meanwhile: nobody waits for this outcome
        self.completed = next(_completions)
        return True

    def _abandon(self) -> None:
        if self._task is not None:
            self._task.cancel()


def renew_locks_after_fork() -> None:
    """Another thread may have held the lock when this process was forked."""
    global _watching
    _watching = threading.Lock()
