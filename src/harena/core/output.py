"""Buffer for the output of a running command: one writer, many readers, and the whole text for the result."""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Callable

_SEGMENT_BYTES = 1 << 16


class OutputBuffer:
    """Bytes as they arrive. Owned by one event loop; `append` and `close` are called there only.

    Keeps at most `limit_bytes`; what comes later is counted in `dropped_bytes` and makes `truncated` true. A program
    decides how small the chunks are that arrive: small ones lie one behind the other in segments, and each costs eight
    bytes beside its own.
    """

    __slots__ = (
        *("_closed", "_ends", "_is_discarded", "_segments", "_starts", "_tail", "_waiters", "_wanted"),
        *("dropped_bytes", "limit_bytes", "size_bytes"),
    )

    def __init__(self, limit_bytes: int, wanted: Callable[[], None] | None = None) -> None:
        """`wanted` is called when somebody waits for bytes that have not come yet."""
        self._wanted = wanted
        self.limit_bytes = limit_bytes
        self.size_bytes = 0
        self.dropped_bytes = 0
        self._ends = array("Q")
        """place behind the last byte of each chunk; a chunk has been kept when it has its end"""
        self._segments: list[bytes] = []
        self._starts = array("Q")
        """place of the first byte of each segment"""
        self._tail: tuple[int, bytearray] = (0, bytearray())
        """what is in no segment yet, and the place of its first byte"""
        self._is_discarded = False
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
            self._keep(data)
            self.size_bytes += len(data)
            self._ends.append(self.size_bytes)
            self._wake()

    def _keep(self, data: bytes) -> None:
        start, tail = self._tail
        if tail and len(tail) + len(data) > _SEGMENT_BYTES:
            tail = self._seal(start, bytes(tail))
        if len(data) < _SEGMENT_BYTES:
            tail += data
        else:
            self._seal(self.size_bytes, bytes(data))

    def _seal(self, start: int, segment: bytes) -> bytearray:
        """Add a segment; gives the tail behind it. In this order: somebody may read meanwhile, in another thread."""
        tail = bytearray()
        self._segments.append(segment)
        self._starts.append(start)
        self._tail = start + len(segment), tail
        return tail

    def _chunk(self, index: int) -> bytes:
        return self._between(self._ends[index - 1] if index else 0, self._ends[index])

    def _between(self, start: int, end: int) -> bytes:
        tail_start, tail = self._tail
        if self._is_discarded:
            return b""
        parts, place = [], bisect_right(self._starts, start) - 1
        while start < min(end, tail_start):
            first = self._starts[place]
            parts.append(self._segments[place][start - first : end - first])
            start += len(parts[-1])
            place += 1
        if start < end:
            parts.append(bytes(tail[start - tail_start : end - tail_start]))
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def discard(self) -> None:
        """Forget what is kept, and keep nothing of what comes. Whoever reads goes on where they were."""
        self.dropped_bytes += self.size_bytes
        self.size_bytes = self.limit_bytes = 0
        self._is_discarded = True
        self._segments, self._starts, self._tail = [], array("Q"), (0, bytearray())

    def close(self) -> None:
        """Say that the stream has ended."""
        self._closed = True
        self._wanted = None  # it belongs to who writes: a cycle would keep the output for long
        self._wake()

    def getvalue(self) -> bytes:
        """Everything kept so far."""
        tail = self._tail[1]
        parts = [*self._segments, bytes(tail)] if tail else self._segments
        return b"".join(parts) if len(parts) != 1 else parts[0]

    def last_bytes(self, most: int) -> bytes:
        """The end of what was kept, without waiting."""
        return self._between(max(0, self.size_bytes - most), self.size_bytes)

    def chunks_since(self, index: int) -> list[bytes]:
        """The chunks that are there from `index` on, without waiting. May be called from any thread."""
        return [self._chunk(each) for each in range(index, len(self._ends))]

    def content_since(self, index: int, most_bytes: int | None = None) -> tuple[bytes, int]:
        """(what is there of the chunks from `index` on, the index behind them), without waiting: as many chunks as it
        takes for `most_bytes`, however small each of them is. May be called from any thread."""
        count = len(self._ends)
        if index >= count:
            return b"", index
        start = self._ends[index - 1] if index else 0
        if most_bytes is not None:
            count = min(count, bisect_left(self._ends, start + most_bytes, index, count) + 1)
        return self._between(start, self._ends[count - 1]), count

    async def next_chunk(self, index: int) -> bytes | None:
        """The chunk with this index, waiting for it; None at the end of the stream."""
        while index >= len(self._ends):
            if self._closed:
                return None
            if self._wanted is not None:
                self._wanted()
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
        return self._chunk(index)

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
