"""The ends of what commands in sandboxes printed, for whoever looks later. Used from one event loop.

A command's output belongs to its request, and is let go with it. What is kept beside it is small, and bounded for each
sandbox (MOST_COMMANDS), each workspace (MOST_BYTES) and all of them (MOST_BYTES_OF_ALL); the oldest go first. A
workspace in which no command has begun or ended for KEPT_SECONDS, and none runs, is forgotten.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harena.core.clock import Clock
from harena.core.models import ExecResult
from harena.core.output import OutputBuffer
from harena.core.ports import RunningExec
from harena.core.records.sandbox_answers import MOST_COMMANDS, CommandOutput

MOST_BYTES = 4 << 20
"""bytes of the outputs that are kept for one workspace"""
MOST_BYTES_OF_ALL = 256 << 20
"""bytes that are kept for all workspaces; those go first in which nothing has happened for the longest time"""
KEPT_SECONDS = 24 * 3600.0
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


@dataclass(slots=True)
class _Kept:
    """One workspace's commands, the oldest first."""

    entries: deque[_Entry] = field(default_factory=deque)
    bytes: int = 0
    used_at: float = 0.0
    """when a command began or ended last"""


class CommandOutputs:
    """The kept outputs of one server's commands, by workspace and sandbox."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        """by workspace, in the order in which they were used last"""
        self._bytes = 0

    def began(self, workspace: str, sandbox_id: str, exec_id: str, argv: Sequence[str], running: RunningExec) -> None:
        """Note a command that has begun to run."""
        said = " ".join(word[:MOST_CHARACTERS] for word in argv[:MOST_CHARACTERS])[:MOST_CHARACTERS]
        told = CommandOutput(exec_id=exec_id, command=said, started_at=self._clock.utcnow())
        entry = _Entry(sandbox_id, told, running)
        kept = self._used(workspace)
        kept.entries.append(entry)
        self._count(kept, entry.size)
        self._let_go(kept)

    def ended(self, workspace: str, exec_id: str, result: ExecResult | None) -> None:
        """It has ended; None = nobody waited for its result. Its buffers still hold what it has printed."""
        if workspace not in self._kept:
            return
        kept = self._used(workspace)
        for entry in reversed(kept.entries):
            if entry.told.exec_id == exec_id and entry.running is not None:
                before = entry.size
                entry.told = replace(
                    _with_output(entry.told, entry.running),
                    ended_at=self._clock.utcnow(),
                    outcome=None if result is None else str(result.outcome),
                    returncode=None if result is None else result.returncode,
                )
                entry.running = None
                self._count(kept, entry.size - before)
                break
        self._let_go(kept)

    def of(self, workspace: str, sandbox_id: str) -> list[CommandOutput]:
        """The newest of one sandbox, the oldest first; of those that run, what there is."""
        kept = self._kept.get(workspace)
        own = [] if kept is None else [entry for entry in kept.entries if entry.sandbox_id == sandbox_id]
        return [
            entry.told if entry.running is None else _with_output(entry.told, entry.running)
            for entry in own[-MOST_COMMANDS:]
        ]

    def _used(self, workspace: str) -> _Kept:
        kept = self._kept.setdefault(workspace, _Kept())
        self._kept.move_to_end(workspace)
        kept.used_at = self._clock.now()
        return kept

    def _count(self, kept: _Kept, more: int) -> None:
        kept.bytes += more
        self._bytes += more

    def _let_go(self, kept: _Kept) -> None:
        """Keep the bounds: of this workspace, and of those that were used before it."""
        while kept.bytes > MOST_BYTES and kept.entries:
            self._count(kept, -kept.entries.popleft().size)
        since = self._clock.now() - KEPT_SECONDS
        if self._bytes <= MOST_BYTES_OF_ALL and next(iter(self._kept.values())).used_at >= since:
            return
        for name in [*self._kept]:
            other = self._kept[name]
            if other.used_at >= since and self._bytes <= MOST_BYTES_OF_ALL:
                break
            if other is not kept and not any(entry.running for entry in other.entries):
                self._count(other, -other.bytes)
                del self._kept[name]


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
