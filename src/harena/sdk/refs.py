"""`OperationRef`: a running operation that any thread can wait for and any event loop can await."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from harena.sdk.outcome import Outcome

if TYPE_CHECKING:
    from harena.sdk.portal import Portal

T = TypeVar("T")


class OperationRef(Generic[T]):
    """An operation that runs in the background.

    `ref.result(timeout)` blocks, `await ref` works in any event loop (a task that is cancelled while it awaits cancels
    the operation, as with any awaitable; what others share, such as a sandbox's start or stop, is not cancelled).
    """

    __slots__ = ("__weakref__", "_cancellable", "_outcome", "_portal", "_task")

    def __init__(self, portal: Portal, *, cancellable: bool = True) -> None:
        self._portal = portal
        self._outcome: Outcome[T] = Outcome()
        self._cancellable = cancellable
        self._task: asyncio.Task[None] | None = None

    @property
    def completed(self) -> int | None:
        """A number that grows with each operation of this process that completes; None while it runs."""
        return self._outcome.number

    def result(self, timeout: float | None = None) -> T:
        """Wait for the outcome and return it, or raise what the operation raised.

        Raises TimeoutError when `timeout` seconds have passed (the operation goes on), and
        concurrent.futures.CancelledError when it was cancelled.
        """
        self._portal.check_may_block()
        if not self._outcome.wait(timeout):
            raise TimeoutError
        return self._outcome.get()

    def done(self) -> bool:
        """The operation has ended, well or badly."""
        self._portal.check_not_inherited()
        return self._outcome.state != "open"

    def error(self) -> BaseException | None:
        """What it raised; None where it went well, was cancelled, or runs still."""
        self._portal.check_not_inherited()
        return self._outcome.error

    def cancel(self) -> bool:
        """Ask for the operation to be given up. False if it has ended already, or cannot be cancelled."""
        self._portal.check_not_inherited()
        if not self._cancellable:
            return False
        if self._outcome.cancel():
            self._portal.call_if_open(self._abandon)
        return self._outcome.state == "cancelled"

    def __await__(self) -> Generator[Any, None, T]:
        self._portal.check_not_inherited()
        if self._outcome.state == "open":
            loop = asyncio.get_running_loop()
            news: asyncio.Future[None] = loop.create_future()
            self._outcome.when_ended(news, lambda: _wake(loop, news))
            try:
                yield from news.__await__()
            except asyncio.CancelledError:
                self.cancel()
                raise
            finally:
                self._outcome.forget(news)
        if self._outcome.state == "cancelled":
            raise asyncio.CancelledError
        return self._outcome.get()

    def __repr__(self) -> str:
        if self._portal.inherited:
            return f"<{type(self).__name__} of the process that forked this one>"
        state = {"open": "running", "cancelled": "cancelled"}.get(self._outcome.state, "done")
        return f"<{type(self).__name__} {state}>"

    def check_may_block(self) -> None:
        """Raise where waiting for it would never end."""
        self._portal.check_may_block()

    def watch(self, token: object, callback: Callable[[], object]) -> None:
        """Call `callback()` once, from any thread, when the operation has ended (at once if it has)."""
        self._outcome.when_ended(token, callback)

    def unwatch(self, token: object) -> None:
        """Forget the callback of this token."""
        self._outcome.forget(token)

    # -- from here on: called on the sdk's loop only --

    async def on_loop(self) -> T:
        """Await the result on the sdk's own loop, without waking that loop."""
        if self._task is not None and self._outcome.state == "open":
            await asyncio.wait([self._task])
        return await self if self._outcome.state == "open" else self._outcome.get()

    def settle(self, value: T) -> None:
        """Give the result to whoever waits. Nobody waits for what was cancelled meanwhile."""
        self._outcome.give(value)

    def settle_error(self, error: BaseException) -> None:
        """Give the failure to whoever waits."""
        self._outcome.fail(error)

    def cancelled_before_it_began(self) -> None:
        """It will never run."""

    def _abandon(self) -> None:
        if self._task is not None:
            self._task.cancel()


def _wake(loop: asyncio.AbstractEventLoop, news: asyncio.Future[None]) -> None:
    with contextlib.suppress(RuntimeError):  # that loop has ended, and who waited there with it
        loop.call_soon_threadsafe(_set, news)


def _set(news: asyncio.Future[None]) -> None:
    if not news.done():
        news.set_result(None)
