"""Batches of an asynchronous iterator: all items that have arrived are delivered with one wake-up of the consumer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")

SLICE = 20
"""items after which other work has its turn"""


class Batches(Generic[T]):
    """Reads ahead, up to `most` items, while whoever asked last is still at work. Used from one event loop."""

    def __init__(
        self, items: AsyncIterator[T], *, most: int = 1000, turn: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """`turn` is waited for after SLICE items each time: they may come without a pause; None = it is not."""
        self._items = items
        self._most = most
        self._turn = turn
        self._waiting: list[T] = []
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._ended = False
        self._failure: Exception | None = None

    async def next(self) -> list[T] | None:
        """What has come since it was last asked, waiting for the first of it; None at the end.

        Raises what the iterator raised, after everything that came before. A cancelled call loses nothing.
        """
        self._reading = self._reading or asyncio.create_task(self._read(), name="read ahead")
        while not self._waiting and not self._ended:
            self._news.clear()
            await self._news.wait()
        if self._waiting:
            taken, self._waiting = self._waiting, []
            self._room.set()
            return taken
        if self._failure is not None:
            raise self._failure
        return None

    async def close(self) -> None:
        """Read no further, and close the iterator. May be called more than once."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        close = getattr(self._items, "aclose", None)
        if close is not None:
            await close()

    async def _read(self) -> None:
        try:
            count = 0
            async for item in self._items:
                self._waiting.append(item)
                self._news.set()
                count += 1
                if self._turn is not None and not count % SLICE:
                    await self._turn()
                if len(self._waiting) >= self._most:
                    self._room.clear()
                    await self._room.wait()
        except Exception as error:  # noqa: BLE001 - it belongs to whoever reads, in its turn
            self._failure = error
        finally:
            self._ended = True
            self._news.set()
