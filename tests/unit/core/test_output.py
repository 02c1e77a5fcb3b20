"""The output of a command."""

from __future__ import annotations

import gc
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
