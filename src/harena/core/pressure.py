"""Reads what the kernel reports about load: pressure stall information, runnable tasks and available memory."""

from __future__ import annotations

import os
from pathlib import Path

_PRESSURE, _LOAD, _MEMORY = Path("/proc/pressure/cpu"), Path("/proc/loadavg"), Path("/proc/meminfo")
_MICROSECONDS = 1e-6


def stalled_seconds(path: Path = _PRESSURE) -> float | None:
    """For how long, since the machine's start, something was ready to run and got no processor; None = the kernel does
    not say (it keeps no PSI)."""
    try:
        return parse_stalled(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def parse_stalled(text: str) -> float:
    """The total of a pressure file's line `some`. Raises ValueError."""
    for line in text.splitlines():
        if line.startswith("some "):
            return int(line.rpartition("total=")[2]) * _MICROSECONDS
    raise ValueError("there is no line `some`")


def runnable_tasks(path: Path = _LOAD) -> int | None:
    """Threads of the machine that run or are ready to run, this one left out; None = the kernel does not say."""
    try:
        return max(0, int(path.read_text(encoding="ascii").split()[3].partition("/")[0]) - 1)
    except (OSError, ValueError, IndexError):
        return None


def available_memory_bytes(
    path: Path = _MEMORY,
    groups: tuple[tuple[str, str], ...] = (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
) -> int | None:
    """Memory that can be had without swapping, by the machine and by this container's own limit; None = unknown."""
    found = []
    try:
        lines = path.read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError, IndexError):
        pass
    for most, used in groups:
        try:
            found.append(int(Path(most).read_text(encoding="ascii")) - int(Path(used).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue  # no such group, or no limit in it ("max")
    return max(0, min(found)) if found else None


def machine_cores() -> int:
    """Number of processors of the whole machine, to which `runnable_tasks` refers."""
    return os.cpu_count() or 1
