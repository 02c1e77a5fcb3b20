"""Which process runs a job, and whether it still lives.

A pid alone comes back with another process; a pid, its start time and the boot that both belong to do not. Not covered:
processes of another machine, or of a pid namespace that is not ours, which share the database file; they look dead.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One process, for all time."""

    pid: int
    started: str
    """clock ticks since boot, as the kernel counts them"""
    boot: str
    """the kernel's boot id"""


def this_process(proc: Path = Path("/proc")) -> Owner:
    """The process that calls."""
    pid = os.getpid()
    return Owner(pid=pid, started=_started(proc, pid) or "", boot=_boot(proc))


def is_alive(owner: Owner, proc: Path = Path("/proc")) -> bool:
    """Whether that very process still runs (a zombie does not)."""
    return owner.boot == _boot(proc) and bool(owner.started) and _started(proc, owner.pid) == owner.started


def _started(proc: Path, pid: int) -> str | None:
    try:
        stat = (proc / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    # the command's name, field 2, is in parentheses and may hold anything; what follows it is field 3 and on
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def _boot(proc: Path) -> str:
    return (proc / "sys/kernel/random/boot_id").read_text().strip()
