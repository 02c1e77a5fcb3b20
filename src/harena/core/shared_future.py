"""A future that many tasks wait for."""

from __future__ import annotations

import asyncio
from typing import TypeVar

T = TypeVar("T")


class SharedFuture(asyncio.Future[T]):
    """Many tasks wait for it, and none of them cancels it by being cancelled. `asyncio.shield` does that too, by a
    second future that hears of the first one: here who waits goes on one turn of the event loop sooner."""

    def __init__(self, *, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self._waiting: list[asyncio.Future[None]] = []

    async def wait(self) -> T:
        """Its result, or raise its exception."""
        if not self.done():
            waiting: asyncio.Future[None] = self.get_loop().create_future()
            self._waiting.append(waiting)
            try:
                await waiting
            finally:
                self._waiting.remove(waiting)
        return self.result()

    def set_result(self, result: T) -> None:
        """Set the result, and wake the waiters in the order in which they came."""
        super().set_result(result)
        self._wake()

    def set_exception(self, exception: type[BaseException] | BaseException) -> None:
        """Set the exception, and wake the waiters."""
        super().set_exception(exception)
        self._wake()

    def cancel(self, msg: object = None) -> bool:
        """Cancel the future, and wake the waiters."""
        cancelled = super().cancel(msg)
        self._wake()
        return cancelled

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
