"""What a process and everything below it hold of the machine: to show that nothing of a node is left. Linux only.

    before = Footprint.take()
    ...                                        # a node lives and ends
    assert Footprint.take().beyond(before) == []

Processes are waited for with pidfds (`wait_ended`), never by sleeping.
"""

from __future__ import annotations

import gc
import os
import select
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
_CGROUP_ROOT = "/sys/fs/cgroup"
_OUTSIDE = ("anon_inode:[eventpoll]",)
"""descriptors that event loops and test tools open and close as they like"""


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    """One process, as the kernel lists it."""

    pid: int
    parent: int
    state: str
    started: int
    """clock ticks since boot: with the pid, a name that is never given twice"""
    cpu_seconds: float
    resident_bytes: int


def processes() -> dict[int, ProcessEntry]:
    """Every process of this pid namespace, zombies included."""
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            text = _read(f"/proc/{name}/stat")
            if not text:
                continue  # ended meanwhile
            fields = text[text.rindex(")") + 2 :].split()
            cpu = (int(fields[11]) + int(fields[12])) / ticks
            found[int(name)] = ProcessEntry(
                int(name), int(fields[1]), fields[0], int(fields[19]), cpu, int(fields[21]) * page
            )
    return found


def descendants(root: int, *, zombies: bool = False) -> list[ProcessEntry]:
    """Everything below `root`, nearest first."""
    everything = processes()
    children: dict[int, list[ProcessEntry]] = {}
    for entry in everything.values():
        children.setdefault(entry.parent, []).append(entry)
    found: list[ProcessEntry] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found += [entry for entry in below if zombies or entry.state not in ("Z", "X")]
        waiting += [entry.pid for entry in below]
    return found


def command_line(pid: int) -> str:
    """Its words, with blanks between; empty if it has ended."""
    return _read(f"/proc/{pid}/cmdline").replace("\0", " ").strip()


def spawners(client: int) -> list[int]:
    """The spawners of nodes that live in process `client`."""
    return [
        entry.pid
        for entry in descendants(client)
        if entry.parent == client and "harena.runtime.spawner.spawner" in command_line(entry.pid)
    ]


def children(pid: int) -> list[int]:
    """Its living child processes: a spawner's are templates, a template's the sandboxes' inits."""
    return [entry.pid for entry in processes().values() if entry.parent == pid and entry.state not in ("Z", "X")]


def descriptors(pid: int | None = None) -> dict[int, str]:
    """Descriptor -> what it leads to. Empty if the process has ended or may not be looked at."""
    directory = f"/proc/{pid or os.getpid()}/fd"
    found = {}
    try:
        names = os.listdir(directory)
    except OSError:
        return {}
    for name in names:
        try:
            found[int(name)] = os.readlink(f"{directory}/{name}")
        except OSError:
            continue  # the one that listed the directory
    return found


def private_bytes(pid: int) -> int:
    """Memory that is its own: what its end would free. 0 if it has ended or may not be looked at."""
    text = _read(f"/proc/{pid}/smaps_rollup")
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Private_"))


def resident_bytes(pid: int | None = None) -> int:
    """Memory that a process has; None = this one, after a collection of its garbage."""
    if pid is None:
        gc.collect()
    status = _read(f"/proc/{pid or 'self'}/status")
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def namespaces(pids: Iterable[int]) -> set[str]:
    """The namespaces in which these processes live."""
    found = set()
    for pid in pids:
        for kind in _NAMESPACES:
            try:
                found.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
            except OSError:
                continue  # ended meanwhile
    return found


def inhabited(wanted: set[str], root: int) -> set[str]:
    """The subset of the namespaces `wanted` that `root` or a process below it lives in, or holds open.

    Only there: the kernel gives the number of a namespace that has gone to the next one, whosever that is.
    """
    pids = [root, *(entry.pid for entry in descendants(root))]
    held = {target for pid in pids for target in descriptors(pid).values() if target.endswith("]")}
    return wanted & (namespaces(pids) | held)


def cgroup_directories(owners: Iterable[int]) -> list[str]:
    """Directories of the nodes whose spawners have these pids: of every controller, v1 and v2."""
    prefixes = tuple(f"harena-{pid}-" for pid in owners)
    found: list[str] = []
    if prefixes:
        for directory, names, _files in os.walk(_CGROUP_ROOT):
            found += [f"{directory}/{name}" for name in names if name.startswith(prefixes)]
            names[:] = [name for name in names if not name.startswith("harena-")]  # do not walk into any node's
    return found


def mounts() -> list[str]:
    """Where something is mounted, in this process's mount namespace."""
    return sorted(line.split(" ")[4] for line in _read("/proc/self/mountinfo").splitlines())


def wait_ended(pids: Iterable[int], seconds: float) -> list[int]:
    """Wait until these processes have ended, at most `seconds` together. Gives those that still run."""
    deadline = time.monotonic() + seconds
    poll = select.poll()
    open_: dict[int, int] = {}
    try:
        for pid in pids:
            try:
                descriptor = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            open_[descriptor] = pid
            poll.register(descriptor, select.POLLIN)
        left = dict(open_)
        while left and (rest := deadline - time.monotonic()) > 0:
            for descriptor, _events in poll.poll(rest * 1000):
                poll.unregister(descriptor)
                del left[descriptor]
        return list(left.values())
    finally:
        for descriptor in open_:
            os.close(descriptor)


def wait_nothing_below(root: int, seconds: float, *, spare: Sequence[int] = ()) -> list[str]:
    """Wait until nothing runs below `root` but `spare`. Gives what still does, as "pid command"."""
    deadline = time.monotonic() + seconds
    while running := [entry.pid for entry in descendants(root) if entry.pid not in spare]:
        left = wait_ended(running, deadline - time.monotonic())
        if left:
            return [f"{pid} {command_line(pid)}" for pid in left]
    return []


@dataclass(frozen=True, slots=True)
class Footprint:
    """What this process holds at one moment."""

    below: dict[int, str] = field(default_factory=dict)
    """processes, zombies included: pid -> command line"""
    open_files: dict[int, str] = field(default_factory=dict)
    mounted: tuple[str, ...] = ()
    cgroups: tuple[str, ...] = ()

    @classmethod
    def take(cls, *, owners: Iterable[int] = ()) -> Footprint:
        """Look. `owners`: pids of spawners whose cgroup directories shall be looked for, living or not."""
        here = os.getpid()
        below = {entry.pid: command_line(entry.pid) for entry in descendants(here, zombies=True)}
        return cls(below, descriptors(), tuple(mounts()), tuple(cgroup_directories({*owners, *spawners(here)})))

    def beyond(self, before: Footprint) -> list[str]:
        """What is held now and was not held before, one line each."""
        found = [f"process {pid}: {line or 'zombie'}" for pid, line in self.below.items() if pid not in before.below]
        found += [f"mount {path}" for path in _more(self.mounted, before.mounted)]
        found += [f"cgroup {path}" for path in _more(self.cgroups, before.cgroups)]
        for number, target in self.open_files.items():
            if before.open_files.get(number) != target and target not in _OUTSIDE:
                found.append(f"descriptor {number}: {target}")
        return found


def _more(now: Sequence[str], before: Sequence[str]) -> list[str]:
    left = list(before)
    more = []
    for entry in now:
        if entry in left:
            left.remove(entry)
        else:
            more.append(entry)
    return more


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
