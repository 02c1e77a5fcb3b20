"""Buffer for the output of a running command: one writer, many readers, and the whole text for the result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable


class OutputBuffer:
    """Bytes as they arrive. Owned by one event loop; `append` and `close` are called there only.

    Keeps at most `limit_bytes`; what comes later is counted in `dropped_bytes` and makes `truncated` true.
    """

    __slots__ = ("_chunks", "_closed", "_waiters", "_wanted", "dropped_bytes", "limit_bytes", "size_bytes")

    def __init__(self, limit_bytes: int, wanted: Callable[[], None] | None = None) -> None:
        """`wanted` is called when somebody waits for bytes that have not come yet."""
        self._wanted = wanted
        self.limit_bytes = limit_bytes
        self.size_bytes = 0
        self.dropped_bytes = 0
        self._chunks: list[bytes] = []
        self._closed = False
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def truncated(self) -> bool:
        """Bytes were dropped."""
        return self.dropped_bytes > 0

    @property
    def closed(self) -> bool:
        """No more bytes will come."""
        return self._closed

    def append(self, data: bytes) -> None:
        """Add what was read; drop what is over the limit."""
        room = self.limit_bytes - self.size_bytes
        if len(data) > room:
            self.dropped_bytes += len(data) - room
            data = data[:room]
        if data:
            self._chunks.append(data)
            self.size_bytes += len(data)
            self._wake()

    def discard(self) -> None:
        """Forget what is kept, and keep nothing of what comes. Whoever reads goes on where they were."""
        self.dropped_bytes += self.size_bytes
        self.size_bytes = self.limit_bytes = 0
        self._chunks = [b""] * len(self._chunks)

    def close(self) -> None:
        """Say that the stream has ended."""
        self._closed = True
        self._wanted = None  # it belongs to who writes: a cycle would keep the output for long
        self._wake()

    def getvalue(self) -> bytes:
        """Everything kept so far."""
        if len(self._chunks) > 1:
            return b"".join(self._chunks)
        return self._chunks[0] if self._chunks else b""

    def chunks_since(self, index: int) -> list[bytes]:
        """The chunks that are there from `index` on, without waiting. May be called from any thread."""
        return self._chunks[index:]

    async def next_chunk(self, index: int) -> bytes | None:
        """The chunk with this index, waiting for it; None at the end of the stream."""
        while index >= len(self._chunks):
            if self._closed:
                return None
            if self._wanted is not None:
                self._wanted()
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
        return self._chunks[index]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        index = 0
        while (chunk := await self.next_chunk(index)) is not None:
            yield chunk
            index += 1

    def _wake(self) -> None:
        if self._waiters:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)
