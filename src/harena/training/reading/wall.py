"""What a process that reads gives up before it opens anything: files, network, other processes, privileges, and all
memory, time and output beyond its limits."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from harena.core import denied_calls, landlock
from harena.core.hidden_folder import hide_folder
from harena.core.home import harena_home
from harena.training.reading.walled import readable
from harena.training.reading.wire import Limits

_OPEN_FILES = 512
_NICE = 5
"""the server that answers others comes first"""
_PLACES = (
    "/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/dev/null", "/dev/zero",
    "/dev/urandom", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm",
    "/sys/devices/system/cpu", "/sys/fs/cgroup",
)  # fmt: skip


def stand_behind(place: Path, limits: Limits) -> None:
    """From now on, and for good. Raises OSError where the kernel has neither Landlock nor user namespaces."""
    os.nice(_NICE)
    _limit(resource.RLIMIT_DATA, limits.memory_bytes)
    _limit(resource.RLIMIT_CPU, max(1, round(limits.seconds)))
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    shown = readable(place, system=_PLACES)
    if landlock.version():
        landlock.restrict_this_thread(shown, [Path("/dev/null")])
    else:
        hide_folder(harena_home(), [place])
    denied_calls.give_up()


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))
