"""Streams of a sandbox, for `for` and `async for` in any thread and any event loop.

A `StreamReader` is a view: it owns no queue and no task. What has arrived is read where it lies; only where there is
nothing to read yet does it ask the sdk's loop to say when there is.
"""

from __future__ import annotations

import asyncio
import codecs
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from harena.core.batches import Batches
from harena.core.checked import content_bytes
from harena.core.errors import SandboxExecutionError, SandboxValidationError
from harena.core.output import OutputBuffer
from harena.sdk.portal import Portal
from harena.sdk.refs import OperationRef

if TYPE_CHECKING:
    from harena.core.ports import RunningExec

T = TypeVar("T")


class Source(Protocol[T]):
    """Where a reader gets its items."""

    def ready(self) -> list[T]:
        """Items that are there now; called by the reader's thread."""

    async def more(self) -> list[T] | None:
        """Items, waiting for them; None at the end. Called on the sdk's loop, never twice at one time."""

    async def close(self) -> None:
        """Nobody will ask again."""


class StreamReader(Generic[T]):
    """Items as they arrive. One position: what one consumer has read, another does not see again.

    Items of text and bytes streams are pieces as they came, not lines. A consumer that is cancelled loses nothing.
    """

    __slots__ = ("_closed", "_items", "_portal", "_pull", "_source")

    def __init__(self, portal: Portal, source: Source[T]) -> None:
        self._portal = portal
        self._source = source
        self._items: deque[T] = deque()
        self._pull: OperationRef[list[T] | None] | None = None
        self._closed = False

    def __iter__(self) -> StreamReader[T]:
        return self

    def __next__(self) -> T:
        while not self._take():
            self._accept(self._ask_more().result())
            if self._closed:
                raise StopIteration
        return self._items.popleft()

    def __aiter__(self) -> StreamReader[T]:
        return self

    async def __anext__(self) -> T:
        while not self._take():
            self._accept(await self._ask_more())
            if self._closed:
                raise StopAsyncIteration
        return self._items.popleft()

    def close(self) -> None:
        """Read no further. The command or transfer that feeds the stream is not waited for."""
        if not self._closed:
            self._closed = True
            self._items.clear()
            self._portal.call_if_open(self._portal.launch, OperationRef(self._portal), self._source.close)

    def _take(self) -> bool:
        self._portal.check_not_inherited()
        if not self._items and not self._closed and self._pull is None:
            self._items.extend(self._source.ready())
        return bool(self._items)

    def _ask_more(self) -> OperationRef[list[T] | None]:
        if self._pull is None:
            if self._closed:
                return self._portal.settled(None)
            self._pull = self._portal.submit(self._source.more, cancellable=False)
        return self._pull

    def _accept(self, items: list[T] | None) -> None:
        self._pull = None
        if items is None:
            self._closed = True
        elif not self._closed:
            self._items.extend(items)


class BufferSource:
    """The output of a command, from its `OutputBuffer`, which exists once the command has started."""

    __slots__ = ("_buffer", "_index", "_started")

    def __init__(self, started: Callable[[], Awaitable[OutputBuffer]]) -> None:
        self._started = started
        self._buffer: OutputBuffer | None = None
        self._index = 0

    def ready(self) -> list[bytes]:
        """What lies in the buffer."""
        if self._buffer is None:
            return []
        chunks = self._buffer.chunks_since(self._index)
        self._index += len(chunks)
        return chunks

    async def more(self) -> list[bytes] | None:
        """The next pieces."""
        if self._buffer is None:
            self._buffer = await self._started()
        chunk = await self._buffer.next_chunk(self._index)
        if chunk is None:
            return None
        return self.ready()

    async def close(self) -> None:
        """The buffer belongs to the command."""


class TextSource:
    """Bytes decoded as UTF-8 with replacement, also where a character is split between two pieces."""

    __slots__ = ("_bytes", "_decoder", "_ended")

    def __init__(self, source: Source[bytes]) -> None:
        self._bytes = source
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ended = False

    def ready(self) -> list[str]:
        """What can be decoded now."""
        return self._decoded(self._bytes.ready())

    async def more(self) -> list[str] | None:
        """The next pieces of text."""
        while not self._ended:
            pieces = await self._bytes.more()
            if pieces is None:
                self._ended = True
                rest = self._decoder.decode(b"", final=True)
                return [rest] if rest else None
            if text := self._decoded(pieces):
                return text
        return None

    async def close(self) -> None:
        """Close what it reads from."""
        await self._bytes.close()

    def _decoded(self, pieces: list[bytes]) -> list[str]:
        return [text for piece in pieces if (text := self._decoder.decode(piece))]


class IteratorSource(Generic[T]):
    """Any asynchronous iterator that lives on the sdk's loop."""

    __slots__ = ("_iterator", "_open")

    def __init__(self, opened: Callable[[], Awaitable[AsyncIterator[T]]]) -> None:
        self._open = opened
        self._iterator: AsyncIterator[T] | None = None

    def ready(self) -> list[T]:
        """Nothing is fetched before it is asked for."""
        return []

    async def more(self) -> list[T] | None:
        """The next item."""
        if self._iterator is None:
            self._iterator = await self._open()
        try:
            return [await anext(self._iterator)]
        except StopAsyncIteration:
            return None

    async def close(self) -> None:
        """End the iteration."""
        aclose = getattr(self._iterator, "aclose", None)
        if aclose is not None:
            await aclose()


class BatchSource(Generic[T]):
    """An asynchronous iterator that gives much, read ahead on the sdk's loop: many items cross over in one go."""

    __slots__ = ("_batches", "_open", "_portal")

    def __init__(self, portal: Portal, opened: Callable[[], Awaitable[AsyncIterator[T]]]) -> None:
        self._portal = portal
        self._open = opened
        self._batches: Batches[T] | None = None

    def __del__(self) -> None:
        """A reader that was left in the middle, by `break` for instance, holds no connection."""
        if self._batches is not None:
            self._portal.call_if_open(self._portal.launch, OperationRef(self._portal), self._batches.close)

    def ready(self) -> list[T]:
        """Nothing is fetched before it is asked for."""
        return []

    async def more(self) -> list[T] | None:
        """Everything that has come."""
        if self._batches is None:
            self._batches = Batches(await self._open())
        return await self._batches.next()

    async def close(self) -> None:
        """End the iteration."""
        if self._batches is not None:
            await self._batches.close()


class StreamWriter:
    """A command's standard input. Writes are carried out in the order of their calls."""

    __slots__ = ("_closed", "_ended", "_lock", "_portal", "_started")

    def __init__(
        self, portal: Portal, started: Callable[[], Awaitable[RunningExec]], ended: Callable[[], bool]
    ) -> None:
        self._portal = portal
        self._started = started
        self._ended = ended
        self._closed = False
        self._lock: asyncio.Lock | None = None

    @property
    def closed(self) -> bool:
        """`close` was called."""
        return self._closed

    def write(self, data: bytes | str) -> OperationRef[None]:
        """Write all of `data` (text as UTF-8); done when the command's pipe has taken it.

        Raises SandboxExecutionError when the stream was closed or the command has ended, SandboxValidationError for
        what is neither text nor bytes.
        """
        content = content_bytes(data, "what is written to standard input")
        if self._closed or self._ended():
            why = "it was closed" if self._closed else "the command has ended"
            raise SandboxExecutionError(f"cannot write to standard input: {why}", reason="STDIN_CLOSED")
        return self._portal.submit(self._write, content)

    def writeline(self, text: str, encoding: str = "utf-8") -> OperationRef[None]:
        """Write `text` and a line feed."""
        if not isinstance(text, str):
            raise SandboxValidationError(f"writeline takes text (got {type(text).__name__}); write takes bytes too")
        try:
            line = f"{text}\n".encode(encoding)
        except (UnicodeEncodeError, LookupError) as error:
            raise SandboxValidationError(f"the line cannot be written as {encoding}: {error}") from None
        return self.write(line)

    def close(self) -> OperationRef[None]:
        """End of input, after what was written before. May be called more than once."""
        self._closed = True
        return self._portal.submit(self._close)

    async def _write(self, data: bytes) -> None:
        async with self._in_turn():
            await (await self._started()).write_stdin(data)

    async def _close(self) -> None:
        async with self._in_turn():
            (await self._started()).close_stdin()

    def _in_turn(self) -> asyncio.Lock:
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock
