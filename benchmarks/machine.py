"""What the machine is and how busy it is, read from /proc: printed with every result."""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_CPUACCT = Path("/sys/fs/cgroup/cpuacct")


def describe() -> dict[str, Any]:
    """The machine and this moment, as a flat JSON object without any path of this host."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _first(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), "unknown"),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(_first(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), "0")) / 2**20, 1),
        "kernel": platform.release(),
        "system": _first(r'^PRETTY_NAME="(.+)"$', _text(Path("/etc/os-release")), "unknown"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "user": "root" if os.geteuid() == 0 else "ordinary user",
        "commit": _commit(),
        "load_before": load_average(),
    }


def headline(machine: dict[str, Any]) -> str:
    """`describe()` in one line."""
    load = f"load {machine['load_before']}" + (f" -> {machine['load_after']}" if "load_after" in machine else "")
    return (
        f"{machine['date']}, {machine['cpus']} x {machine['cpu']}, {machine['memory_gib']} GiB, {machine['system']}, "
        f"Linux {machine['kernel']}, {machine['python']}, {machine['user']}, commit {machine['commit']}, {load}"
    )


def load_average() -> float:
    """The one-minute load average."""
    return round(os.getloadavg()[0], 2)


def busy_seconds() -> float:
    """Processor time that the whole machine has spent, on everything but idling, since it started."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().partition("\n")[0].split()[1:]]
    user, nice, system, _idle, _iowait, irq, softirq = ticks[:7]
    return (user + nice + system + irq + softirq) / _TICKS_PER_SECOND


def meminfo() -> dict[str, int]:
    """/proc/meminfo in KiB, by name."""
    return {
        match[1]: int(match[2])
        for match in re.finditer(r"^(\S+):\s+(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    }


class OwnTree:
    """Processor time of this process and of everything that descends from it, whoever reaps it.

    A cgroup of the v1 `cpuacct` controller counts them; where there is none that we may write, `cpu_seconds` is None.
    (On v2, a cgroup of our own could stand in the way of the delegation that the runtime under test looks for.)
    """

    def __init__(self) -> None:
        self._group = _CPUACCT / f"harena-benchmark-{os.getpid()}"
        self._entered = False

    def __enter__(self) -> OwnTree:
        for left in _CPUACCT.glob("harena-benchmark-*"):  # of a run that was killed; one in use refuses
            with contextlib.suppress(OSError):
                left.rmdir()
        try:
            self._group.mkdir()
            (self._group / "cgroup.procs").write_text("0")
        except OSError:
            return self
        self._entered = True
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._entered:
            (_CPUACCT / "cgroup.procs").write_text("0")
            self._entered = False
        # It may never have been made, or something in it still ends; an empty directory costs nothing.
        with contextlib.suppress(OSError):
            self._group.rmdir()

    def cpu_seconds(self) -> float | None:
        """Seconds so far, since this object was entered."""
        if not self._entered:
            return None
        return int((self._group / "cpuacct.usage").read_text()) / 1e9


def descendants(root: int) -> list[int]:
    """The pids of every process below `root`, in the order of /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            stat = _text(entry / "stat")
            if stat:
                parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    below = {root}
    found: list[int] = []
    grown = True
    while grown:
        fresh = [pid for pid, parent in parents.items() if parent in below and pid not in below]
        below.update(fresh)
        found.extend(fresh)
        grown = bool(fresh)
    return found


def pss_kib(pid: int) -> int | None:
    """A process's proportional share of memory; None when it has ended or may not be read."""
    found = re.search(r"^Pss:\s+(\d+) kB$", _text(Path(f"/proc/{pid}/smaps_rollup")), re.MULTILINE)
    return int(found[1]) if found else None


def _commit() -> str:
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "unknown"


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _first(pattern: str, text: str, otherwise: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else otherwise
