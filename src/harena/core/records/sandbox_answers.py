"""What only HTTP carries of sandboxes: pages, listings, and how a command has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Self

from harena.core.models import ExecOutcome, ExecResult, FileInfo, ResourceUsage
from harena.core.records.record import Record
from harena.core.records.sandboxes import ProcessInfo, SandboxInfo

_MOST_ON_A_PAGE = 1000
MOST_COMMANDS = 20
"""commands of one sandbox whose outputs are kept; the oldest go first"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxesPage(Record):
    """One page of sandboxes, the oldest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"sandboxes": _MOST_ON_A_PAGE}

    sandboxes: list[SandboxInfo]
    """up to as many as were asked for"""
    next_cursor: str | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecReport(Record):
    """How a command ended, as the last frame of its output says: the output has travelled before it."""

    outcome: ExecOutcome
    """what ended it"""
    returncode: int
    """its exit code, or minus the signal that ended it"""
    stdout_bytes: int
    """bytes of its standard output that were sent"""
    stderr_bytes: int
    """bytes of its standard error that were sent"""
    stdout_truncated: bool
    """it has written more than was kept"""
    stderr_truncated: bool
    """it has written more than was kept"""
    duration_seconds: float
    """wall time from its start to its end"""
    usage: ResourceUsage
    """what it used"""
    run_delay_seconds: float
    """time for which it waited for a processor; 0 = unknown"""
    warm: bool
    """the program was forked from a warm interpreter"""

    @classmethod
    def of(cls, result: ExecResult) -> Self:
        """Build the report of a result."""
        return cls(
            outcome=result.outcome,
            returncode=result.returncode,
            stdout_bytes=len(result.stdout),
            stderr_bytes=len(result.stderr),
            stdout_truncated=result.stdout_truncated,
            stderr_truncated=result.stderr_truncated,
            duration_seconds=result.duration_seconds,
            usage=result.usage,
            run_delay_seconds=result.run_delay_seconds,
            warm=result.warm,
        )

    def result(self, *, stdout: bytes, stderr: bytes) -> ExecResult:
        """Build the result with the output that has arrived. Raises ValueError if that is not as long as was sent, or
        the outcome is none that this version knows."""
        for name, told, content in (("stdout", self.stdout_bytes, stdout), ("stderr", self.stderr_bytes, stderr)):
            if told != len(content):
                raise ValueError(f"{name}_bytes is {told}, and {len(content)} bytes have arrived")
        return ExecResult(
            outcome=ExecOutcome(self.outcome),
            returncode=self.returncode,
            stdout=stdout,
            stderr=stderr,
            stdout_truncated=self.stdout_truncated,
            stderr_truncated=self.stderr_truncated,
            duration_seconds=self.duration_seconds,
            usage=self.usage,
            run_delay_seconds=self.run_delay_seconds,
            warm=self.warm,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryListing(Record):
    """A directory's entries."""

    entries: list[FileInfo]
    """sorted by name"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessListing(Record):
    """The processes inside a sandbox."""

    processes: list[ProcessInfo]
    """in the order of their numbers"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutput(Record):
    """One of a sandbox's newest commands, and the end of what it has printed."""

    exec_id: str
    """names it while it runs"""
    command: str
    """its words, with blanks between them; what is long is cut off"""
    started_at: datetime
    """when it was asked for"""
    ended_at: datetime | None = None
    """when it had ended; null = it runs"""
    outcome: str | None = None
    """how it ended; null = it runs, or its client went before it had ended"""
    returncode: int | None = None
    """its exit code, or -N where signal N ended it"""
    stdout: str = ""
    """the end of its standard output"""
    stderr: str = ""
    """the end of its standard error"""
    stdout_bytes: int = 0
    """what was kept of its standard output while it ran; more than `stdout` has = its beginning is left out"""
    stderr_bytes: int = 0
    """what was kept of its standard error while it ran"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutputs(Record):
    """The newest commands of a sandbox."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"commands": MOST_COMMANDS}

    commands: list[CommandOutput]
    """the oldest first"""
