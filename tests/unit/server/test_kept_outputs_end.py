"""What the server drops of a command that nobody reads any more."""

from __future__ import annotations

from dataclasses import dataclass, field

from harena.core.clock import SystemClock
from harena.core.output import OutputBuffer
from harena.core.workspace import WorkspaceLimits
from harena.server.kept_outputs import KeptOutputs
from harena.server.quotas import Quotas


@dataclass(eq=False)
class Printed:
    """A command that has printed much."""

    stdout: OutputBuffer = field(default_factory=lambda: OutputBuffer(64 << 20))
    stderr: OutputBuffer = field(default_factory=lambda: OutputBuffer(64 << 20))

    def kill(self) -> None:
        """It has ended."""


async def test_what_nobody_reads_any_more_is_dropped_at_once() -> None:
    """Else it stays until the command has been killed and its output put together, for nobody."""
    outputs, command = KeptOutputs(Quotas(WorkspaceLimits(), None, SystemClock()), SystemClock()), Printed()
    outputs.add("theirs", command)
    command.stdout.append(bytes(16 << 20))
    outputs.remove("theirs", command)
    command.stdout.append(b"more")
    assert (command.stdout.size_bytes, command.stdout.getvalue()) == (0, b"")
