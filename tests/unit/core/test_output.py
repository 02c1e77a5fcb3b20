"""The output of a command."""

from __future__ import annotations

import gc
import random
import tracemalloc
import weakref

from harena.core.output import OutputBuffer


class Writer:
    """It has the buffer, which asks it for more, as a running command does."""

    def __init__(self) -> None:
        self.buffer = OutputBuffer(10, self.more)

    def more(self) -> None:
        """Nothing."""


def test_what_has_ended_is_let_go_at_once() -> None:
    """A cycle would keep up to 128 MiB for each command, until memory is next looked through for such."""
    gc.disable()
    try:
        writer = Writer()
        seen = weakref.ref(writer)
        writer.buffer.append(b"x" * 20)
        writer.buffer.close()
        assert (writer.buffer.getvalue(), writer.buffer.dropped_bytes) == (b"x" * 10, 10)
        del writer
        assert seen() is None
    finally:
        gc.enable()


def test_chunks_of_every_size_come_out_as_they_went_in() -> None:
    drawn = random.Random(5)
    sizes = [
        *range(1, 300),
        65535,
        65536,
        65537,
        1,
        200_000,
        3,
        *(drawn.choice((1, 2, 80, 5000, 70_000)) for _ in range(300)),
    ]
    buffer = OutputBuffer(1 << 30)
    given = []
    for size in sizes:
        given.append(drawn.randbytes(size))
        buffer.append(given[-1])
        assert buffer.chunks_since(len(given) - 1) == given[-1:]
    assert buffer.chunks_since(0) == given
    assert buffer.chunks_since(400) == given[400:]
    assert buffer.getvalue() == b"".join(given)
    assert buffer.size_bytes == sum(sizes)
    assert buffer.content_since(0) == (b"".join(given), len(given))
    assert buffer.content_since(len(given), 5) == (b"", len(given))
    for most in (1, 2, 80, 5000, 70_000, 1 << 20):
        index, read = 0, []
        while index < len(given):
            content, behind = buffer.content_since(index, most)
            assert content == b"".join(given[index:behind])
            assert len(content) >= most or behind == len(given)
            assert len(content) - len(given[behind - 1]) < most
            read.append(content)
            index = behind
        assert b"".join(read) == b"".join(given)


def test_small_chunks_take_little_more_memory_than_their_bytes() -> None:
    """A program decides how much it writes at one time, and the limit is one of bytes."""
    buffer = OutputBuffer(1 << 20)
    pieces = [bytes((place % 251, place % 13)) for place in range(1000)]
    tracemalloc.start()
    try:
        for _ in range(100):
            for piece in pieces:
                buffer.append(bytes(bytearray(piece)))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert buffer.getvalue() == b"".join(pieces) * 100
    assert held < 15 * 100_000
