"""Cgroup v1: one hierarchy per controller, each with directories of its own (some distributions mount two as one)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from harena.runtime.kernel.cgroup_tree import (
    SHARE_PERIOD_MICROSECONDS,
    CgroupFiles,
    CgroupMount,
    Group,
    field,
    most_of_a_share,
)

CONTROLLERS = ("memory", "pids", "cpu", "cpuacct")
_PERIOD_MICROSECONDS = 100_000
_SMALLEST_QUOTA_MICROSECONDS = 1_000
_NO_MEMORY_LIMIT = "-1"
_MOST_SHARES = 1 << 18
_SHARES_PER_PROCESSOR = 1024
"""What all sandboxes together weigh on each processor: as much as one ordinary process. They get all that nobody else
wants, and whatever they start, one process beside them (the node's loop, the spawner, a template) gets half a processor
at once."""
TEMPLATE_SHARES_PER_PROCESSOR = 1024
"""what all templates together weigh on each processor: one ordinary process"""
_NANOSECONDS = 1e-9
_CHARGED_AT_ONCE = 4 << 20
"""how far below its limit a group may be when the kernel finds that what is asked for does not fit: a huge page, and
what each processor has taken ahead"""
_SOCKET_BYTES = 16 << 20
"""What the buffers of one sandbox's sockets may hold, beside its memory: v1 counts them apart, and the host has one
pool for all (`tcp_mem`), beyond which every connection of the host is slowed down."""
_SOCKET_LIMIT = "/memory.kmem.tcp.limit_in_bytes"
_HOSTS_SOCKETS = "/proc/sys/net/ipv4/tcp_mem"


def own_directories(
    files: CgroupFiles, mounts: list[CgroupMount], own_paths: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """(controller -> this process's own directory, where it is writable; controller -> why it is not)."""
    directories: dict[str, str] = {}
    refused: dict[str, str] = {}
    for name in CONTROLLERS:
        mount = next((mount for mount in mounts if mount.version == 1 and name in mount.controllers), None)
        if mount is None:
            refused[name] = f"no cgroup v1 hierarchy with the {name} controller is mounted"
            continue
        directory = mount.directory_of(own_paths.get(name, "/"))
        if files.writable(directory) and files.writable(directory + "/cgroup.procs"):
            directories[name] = directory
        else:
            refused[name] = f"{directory} is not writable"
    return directories, refused


def prepare_owned(files: CgroupFiles, directory: str, shares_per_processor: int = _SHARES_PER_PROCESSOR) -> None:
    """Make the owner's directory, with limits that count for everything below it."""
    files.mkdir(directory)
    hierarchical = directory + "/memory.use_hierarchy"
    if files.exists(hierarchical) and files.read(hierarchical).strip() == "0":
        files.write(hierarchical, "1")
    sockets = directory + _SOCKET_LIMIT
    if files.exists(sockets) and (most := _sockets_of_an_owner(files)):
        files.write(sockets, str(most))
    shares = directory + "/cpu.shares"
    if files.exists(shares):
        files.write(shares, str(min(_MOST_SHARES, shares_per_processor * (os.cpu_count() or 1))))


def bound_share(files: CgroupFiles, directory: str, processors: float | None) -> None:
    """Let everything below use so many processors; None = all. Raises OSError."""
    if processors is None:
        files.write(directory + "/cpu.cfs_quota_us", "-1")
        return
    files.write(directory + "/cpu.cfs_period_us", str(SHARE_PERIOD_MICROSECONDS))
    files.write(directory + "/cpu.cfs_quota_us", str(round(processors * SHARE_PERIOD_MICROSECONDS)))


def _sockets_of_an_owner(files: CgroupFiles) -> int | None:
    """Half of what the host's sockets may hold before the kernel is careful with all of them; None where it is not
    said."""
    try:
        pages = int(files.read(_HOSTS_SOCKETS).split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") // 2


class V1Group(Group):
    """Directories in up to four hierarchies."""

    USUAL_WEIGHT, LIGHT_WEIGHT = "1024", "8"
    WEIGHT_FILE = "cpu.shares"
    _found_peak_files: tuple[str, ...] = ()
    """what `_peak_files` has found"""

    def kill(self) -> None:
        """Forbid forks first, so that nothing is born while the list is walked."""
        if directory := self.directories.get("pids"):
            self._files.write(directory + "/pids.max", "0")
            self.limits = (self.limits[0], 0, self.limits[2])
        super().kill()

    def open_entries(self) -> list[int]:
        """Open the `tasks` file of each controller's group to write, so that a process can move itself; all or none.
        Raises OSError."""
        entries: list[int] = []
        try:
            for directory in self._all:
                entries.append(self._files.open_to_write(directory + "/tasks"))
        except OSError:
            for entry in entries:
                os.close(entry)
            raise
        return entries

    def _weight_file(self) -> str | None:
        directory = self.directories.get("cpu")
        return None if directory is None else f"{directory}/{self.WEIGHT_FILE}"

    def _read_counted_seconds(self) -> float | None:
        directory = self.directories.get("cpuacct")
        return int(self._files.read(directory + "/cpuacct.usage")) * _NANOSECONDS if directory else None

    def counts_memory(self) -> bool:
        """Tell whether the kernel counts the memory of what is in here."""
        return "memory" in self.directories

    def _read_charged_bytes(self) -> int:
        directory = self.directories.get("memory")
        return self._charged_bytes(f"{directory}/memory.usage_in_bytes", f"{directory}/memory.stat") if directory else 0

    def _read_oom_kills(self) -> int:
        directory = self.directories.get("memory")
        return field(self._files.read(directory + "/memory.oom_control"), "oom_kill") if directory else 0

    def _has_met_its_limit(self) -> bool:
        peaks, most = self._peak_files(), self.limits[0]
        if not peaks:
            return True
        return most is not None and max(int(self._files.read(peak)) for peak in peaks) >= most - _CHARGED_AT_ONCE

    def _begin_to_watch_its_limit(self) -> None:
        for peak in self._peak_files():
            self._files.write(peak, "0")  # by which it becomes what is charged now

    def _peak_files(self) -> tuple[str, ...]:
        """Files that hold the most that was charged: memory, and memory and swap together. Looked for once: each
        sandbox that ends asks."""
        if not self._found_peak_files:
            directory = self.directories.get("memory")
            names = ("memory.max_usage_in_bytes", "memory.memsw.max_usage_in_bytes") if directory is not None else ()
            paths = [f"{directory}/{name}" for name in names]
            self._found_peak_files = tuple(path for path in paths if self._files.exists(path))
        return self._found_peak_files

    def _write_memory(self, new: int | None, old: int | None) -> None:
        directory = self.directories.get("memory")
        if directory is None:
            return
        names = ["memory.limit_in_bytes"]
        if self._files.exists(directory + "/memory.memsw.limit_in_bytes"):
            names.append("memory.memsw.limit_in_bytes")  # memory and swap together: no way around the limit by swapping
        if new is None or (old is not None and new > old):
            names.reverse()  # the kernel keeps memory <= memory + swap at every moment
        for name in names:
            self._files.write(f"{directory}/{name}", _NO_MEMORY_LIMIT if new is None else str(new))
        if self._files.exists(directory + _SOCKET_LIMIT):
            self._files.write(directory + _SOCKET_LIMIT, str(min(new or _SOCKET_BYTES, _SOCKET_BYTES)))

    def _write_pids(self, new: int | None) -> None:
        if directory := self.directories.get("pids"):
            self._files.write(directory + "/pids.max", "max" if new is None else str(new))

    def _write_cpu(self, new: float | None) -> None:
        if directory := self.directories.get("cpu"):
            processors = os.cpu_count() or 1
            quota = -1
            if new is not None and new < processors:  # the kernel refuses more than what is around may have
                bounded = min(new, most_of_a_share(processors))
                quota = max(_SMALLEST_QUOTA_MICROSECONDS, round(bounded * _PERIOD_MICROSECONDS))
            self._files.write(directory + "/cpu.cfs_quota_us", str(quota))  # the default period is 100 ms
