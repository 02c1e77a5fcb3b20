"""Reads what the kernel reports about load: pressure stall information, runnable tasks and available memory."""

from __future__ import annotations

import os

_PRESSURE, _LOAD, _MEMORY = "/proc/pressure/cpu", "/proc/loadavg", "/proc/meminfo"
_MICROSECONDS = 1e-6
_MOST_BYTES = 8192
"""more than any of these files has"""


def _text(path: str | os.PathLike[str]) -> str:
    """The text of a small file of the kernel's, read without a stream around it: some are read fifty times a second.
    Raises OSError, and ValueError where it is not ASCII."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _MOST_BYTES).decode("ascii")
    finally:
        os.close(descriptor)


def stalled_seconds(path: str | os.PathLike[str] = _PRESSURE) -> float | None:
    """For how long, since the machine's start, something was ready to run and got no processor; None = the kernel does
    not say (it keeps no PSI)."""
    try:
        return parse_stalled(_text(path))
    except (OSError, ValueError):
        return None


def parse_stalled(text: str) -> float:
    """The total of a pressure file's line `some`. Raises ValueError."""
    for line in text.splitlines():
        if line.startswith("some "):
            return int(line.rpartition("total=")[2]) * _MICROSECONDS
    raise ValueError("there is no line `some`")


def runnable_tasks(path: str | os.PathLike[str] = _LOAD) -> int | None:
    """Threads of the machine that run or are ready to run, this one left out; None = the kernel does not say."""
    try:
        return max(0, int(_text(path).split()[3].partition("/")[0]) - 1)
    except (OSError, ValueError, IndexError):
        return None


def available_memory_bytes(
    path: str | os.PathLike[str] = _MEMORY,
    groups: tuple[tuple[str, str], ...] = (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
) -> int | None:
    """Memory that can be had without swapping, by the machine and by this container's own limit; None = unknown."""
    found = []
    try:
        _, _, available = _text(path).partition("MemAvailable:")
        found.append(int(available.split(None, 1)[0]) * 1024)
    except (OSError, ValueError, IndexError):
        pass
    for most, used in groups:
        try:
            found.append(int(_text(most)) - int(_text(used)))
        except (OSError, ValueError):
            continue  # no such group, or no limit in it ("max")
    return max(0, min(found)) if found else None


def machine_cores() -> int:
    """Number of processors of the whole machine, to which `runnable_tasks` refers."""
    return os.cpu_count() or 1
