"""The ends of what commands in sandboxes printed, for whoever looks later. Used from one event loop.

A command's output belongs to its request, and is let go with it. What is kept beside it is small, and bounded for each
sandbox (MOST_COMMANDS) and each workspace (MOST_BYTES); the oldest go first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harena.core.clock import Clock
from harena.core.models import ExecResult
from harena.core.output import OutputBuffer
from harena.core.ports import RunningExec
from harena.core.records.sandbox_answers import MOST_COMMANDS, CommandOutput

MOST_BYTES = 4 << 20
"""bytes of the outputs that are kept for one workspace"""
TAIL_BYTES = 8 << 10
"""the end of one stream that is kept"""
MOST_CHARACTERS = 500
"""the beginning of a command's words that is kept"""
ENTRY_BYTES = 1 << 10
"""what an entry takes beside its output"""


@dataclass(slots=True)
class _Entry:
    """One command."""

    sandbox_id: str
    told: CommandOutput
    running: RunningExec | None
    """None = it has ended, and `told` has the end of its output"""

    @property
    def size(self) -> int:
        """Bytes that count."""
        texts = (self.told.stdout, self.told.stderr)
        return ENTRY_BYTES + sum(len(text) * (1 if text.isascii() else 4) for text in texts)


class CommandOutputs:
    """The kept outputs of one server's commands, by workspace and sandbox."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, deque[_Entry]] = {}
        """workspace -> its commands, the oldest first"""
        self._bytes: dict[str, int] = {}

    def began(self, workspace: str, sandbox_id: str, exec_id: str, argv: Sequence[str], running: RunningExec) -> None:
        """Note a command that has begun to run."""
        said = " ".join(word[:MOST_CHARACTERS] for word in argv[:MOST_CHARACTERS])[:MOST_CHARACTERS]
        told = CommandOutput(exec_id=exec_id, command=said, started_at=self._clock.utcnow())
        entry = _Entry(sandbox_id, told, running)
        kept = self._kept.setdefault(workspace, deque())
        kept.append(entry)
        self._bytes[workspace] = self._bytes.get(workspace, 0) + entry.size
        self._let_go(workspace)

    def ended(self, workspace: str, exec_id: str, result: ExecResult | None) -> None:
        """It has ended; None = nobody waited for its result. Its buffers still hold what it has printed."""
        for entry in reversed(self._kept.get(workspace, ())):
            if entry.told.exec_id == exec_id and entry.running is not None:
                before = entry.size
                entry.told = replace(
                    _with_output(entry.told, entry.running),
                    ended_at=self._clock.utcnow(),
                    outcome=None if result is None else str(result.outcome),
                    returncode=None if result is None else result.returncode,
                )
                entry.running = None
                self._bytes[workspace] += entry.size - before
                self._let_go(workspace)
                return

    def of(self, workspace: str, sandbox_id: str) -> list[CommandOutput]:
        """The newest of one sandbox, the oldest first; of those that run, what there is."""
        own = [entry for entry in self._kept.get(workspace, ()) if entry.sandbox_id == sandbox_id]
        return [
            entry.told if entry.running is None else _with_output(entry.told, entry.running)
            for entry in own[-MOST_COMMANDS:]
        ]

    def _let_go(self, workspace: str) -> None:
        kept = self._kept[workspace]
        while self._bytes[workspace] > MOST_BYTES and kept:
            self._bytes[workspace] -= kept.popleft().size


def _with_output(told: CommandOutput, running: RunningExec) -> CommandOutput:
    return replace(
        told,
        stdout=_tail(running.stdout),
        stderr=_tail(running.stderr),
        stdout_bytes=running.stdout.size_bytes,
        stderr_bytes=running.stderr.size_bytes,
    )


def _tail(buffer: OutputBuffer) -> str:
    return buffer.last_bytes(TAIL_BYTES).decode("utf-8", "replace")
