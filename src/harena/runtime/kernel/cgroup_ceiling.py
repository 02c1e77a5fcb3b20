"""What all groups of one owner may have together: limits of single sandboxes bound no sum, and one that is granted as
many processes as the kernel has numbers for leaves none for the host.

The sum is a part of what the machine has, or of what a limit above the owner's directory leaves. Sandboxes have three
quarters of it and templates one: the two together can be given all that they may have at one time. The host keeps the
rest: harena's own process, and whatever else runs there. One workspace has at most three quarters of what all sandboxes
have together, and of what all templates have: whatever it fills, others begin. A refused ceiling is no fault: limits of
single sandboxes hold without it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress

from harena.runtime.kernel.cgroup_tree import CgroupFiles

PROC = "/proc"
_MEMORY_FILES = ("memory.max", "memory.limit_in_bytes")
_SWAP_FILES = {"memory.max": "memory.swap.max", "memory.limit_in_bytes": "memory.memsw.limit_in_bytes"}
_MEMORY_IN_USE = (
    ("memory.max", "memory.current", ""),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
)
"""files with the limit and with what is used, and what begins the names of whole trees in memory.stat"""
_HOST_PART = 8
"""one part in so many of the memory is the host's"""
_LEAST_HOST_BYTES = 512 << 20
_MOST_HOST_PART = 4
"""the host's memory is no more than one part in so many, however small the machine"""
_TEMPLATES_PART = 4
"""one part in so many of what sandboxes and templates have together is the templates'"""
_OTHERS_PART = 4
"""one part in so many of what all sandboxes, or all templates, have together is out of reach for any one workspace"""


def limit_sums(files: CgroupFiles, directory: str, *, is_for_templates: bool = False) -> None:
    """Write the ceilings of processes and memory into an owner's directory, as far as it has files for them."""
    _limit(files, directory, lambda name: shares(files, directory, name)[is_for_templates])


def limit_share(files: CgroupFiles, owned: str, directory: str) -> None:
    """Write what one workspace may have into its directory below an owner's, as far as the owner has ceilings."""
    _limit(files, directory, lambda name: share_of_workspace(int(files.read(f"{owned}/{name}"))))


def share_of_workspace(most: int) -> int:
    """Tell how much of what all may have together one workspace may have."""
    return max(1, most - most // _OTHERS_PART)


def memory_of_all(files: CgroupFiles, directory: str) -> tuple[int, int, int] | None:
    """Tell the bytes of memory that groups below an owner's directory may have together, that they have, and that those
    of one workspace may have; None where there is no such limit. Files of the disk that the kernel keeps in memory for
    them, and lets go of when somebody needs it, are left out where it matters: near the limit."""
    for limit, used, prefix in _MEMORY_IN_USE:
        with suppress(OSError, ValueError):  # the other version, or "max"
            most, has = int(files.read(f"{directory}/{limit}")), int(files.read(f"{directory}/{used}"))
            if has > most // 2:
                has -= min(has, _reclaimable_bytes(files.read(f"{directory}/memory.stat"), prefix))
            return most, has, share_of_workspace(most)
    return None


def _reclaimable_bytes(stat: str, prefix: str) -> int:
    names = (f"{prefix}inactive_file", f"{prefix}active_file")
    return sum(int(line.split()[1]) for line in stat.splitlines() if line.split()[0] in names)


def _limit(files: CgroupFiles, directory: str, most_of: Callable[[str], int]) -> None:
    for name in ("pids.max", *_MEMORY_FILES):
        path = f"{directory}/{name}"
        if not files.exists(path):
            continue
        with suppress(OSError, ValueError):  # one that is not there to be read or is refused, see above
            most = str(most_of(name))
            files.write(path, most)
            if (swap := _SWAP_FILES.get(name)) is not None and files.exists(f"{directory}/{swap}"):
                # no way around the sum by swapping; on version 1 the file holds memory and swap together
                files.write(f"{directory}/{swap}", "0" if name == "memory.max" else most)


def shares(files: CgroupFiles, directory: str, name: str) -> tuple[int, int]:
    """What all sandboxes, and all templates, of an owner with this directory may have: of processes where `name` is
    pids.max, else bytes of memory by the limits in files of that name. Raises OSError and ValueError."""
    least = min(*_of_machine(files, name), *_above(files, directory, name), sys.maxsize)
    most = _share_of_processes(least) if name == "pids.max" else _share_of_memory(least)
    templates = max(1, most // _TEMPLATES_PART)
    return max(1, most - templates), templates


def _share_of_processes(most: int) -> int:
    return max(1, most * 3 // 4)


def _share_of_memory(most: int) -> int:
    return most - max(most // _HOST_PART, min(_LEAST_HOST_BYTES, most // _MOST_HOST_PART))


def _of_machine(files: CgroupFiles, name: str) -> list[int]:
    """Raises OSError and ValueError."""
    if name == "pids.max":
        return [int(files.read(f"{PROC}/sys/kernel/{limit}")) for limit in ("pid_max", "threads-max")]
    for line in files.read(f"{PROC}/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return [int(line.split()[1]) * 1024]
    raise ValueError("MemTotal is missing")


def _above(files: CgroupFiles, directory: str, name: str) -> list[int]:
    """Limits of the directories above, as far as they can be seen: a container's, for example."""
    found = []
    above = os.path.dirname(directory)
    while files.exists(above + "/cgroup.procs"):
        with suppress(OSError, ValueError):  # "max", or none: the root of version 2 has no limits
            found.append(int(files.read(f"{above}/{name}")))
        above = os.path.dirname(above)
    return found
