"""Cgroup v2: one hierarchy; a controller works below a directory only if its `cgroup.subtree_control` names it, and
then no process may be in that directory itself (only the true root is exempt)."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping

from harena.runtime.kernel.cgroup_tree import SHARE_PERIOD_MICROSECONDS, CgroupFiles, CgroupMount, Group, field

WANTED = ("memory", "pids", "cpu")
_PERIOD_MICROSECONDS = 100_000
_SMALLEST_QUOTA_MICROSECONDS = 1_000
SANDBOXES_WEIGHT, TEMPLATES_WEIGHT = 400, 100
"""what all sandboxes, and all templates, weigh against each other within their owner's directory"""
_WEIGHT, _HOST_WEIGHT = 100, 200
"""A weight is compared with those of the directories beside it. On v2 these are whole groups, each of 100 (all services
of the host are one of them), however many processors there are: an owner's directory has no more than one of these.
What had to leave a directory so that groups could be made in it (the node itself, in a container or a scope) has
twice as much as all sandboxes."""
_MICROSECONDS = 1e-6
HOST_LEAF = "harena-host"
"""where the processes go that were in a directory which has to be empty"""


class CgroupRoot:
    """A directory below which groups can be made."""

    __slots__ = ("controllers", "directory", "must_move")

    def __init__(self, directory: str, controllers: tuple[str, ...], must_move: bool) -> None:
        self.directory = directory
        self.controllers = controllers
        self.must_move = must_move
        """its processes have to go to a leaf before controllers can be enabled"""


def find_place(files: CgroupFiles, mount: CgroupMount, own_path: str, *, from_root: bool, pid: int) -> CgroupRoot | str:
    """The best directory for groups among this process's own cgroup and its ancestors, or why there is none.

    Only ancestors qualify: moving a process needs the right to write to the nearest common ancestor of where it is
    and where it goes. `from_root` tries the root first (for root), otherwise the own cgroup first (for a delegated
    scope, which systemd leaves alone). The place with most of the wanted controllers wins, the first among equals.
    """
    chain = _ancestors(mount, mount.directory_of(own_path))
    best: CgroupRoot | None = None
    refusals: list[str] = []
    for directory in chain if from_root else reversed(chain):
        found = _judge(files, directory, own=directory == chain[-1], top=directory == mount.point, pid=pid)
        if isinstance(found, str):
            refusals.append(found)
        elif best is None or len(found.controllers) > len(best.controllers):
            best = found
    return best or "; ".join(dict.fromkeys(refusals))


def _ancestors(mount: CgroupMount, own: str) -> list[str]:
    """From the mount point down to the own directory."""
    chain = [mount.point]
    for name in own[len(mount.point) :].split("/"):
        if name:
            chain.append(f"{chain[-1]}/{name}")
    return chain


def _judge(files: CgroupFiles, directory: str, *, own: bool, top: bool, pid: int) -> CgroupRoot | str:
    if not files.exists(directory + "/cgroup.controllers"):
        return f"{directory} is not visible"
    if not (files.writable(directory) and files.writable(directory + "/cgroup.procs")):
        return f"{directory} is not writable"
    true_root = not files.exists(directory + "/cgroup.type")
    if not true_root and files.read(directory + "/cgroup.type").strip() != "domain":
        return f"{directory} is a threaded cgroup"
    offered = files.read(directory + "/cgroup.controllers").split()
    enabled = files.read(directory + "/cgroup.subtree_control").split()
    controllers = tuple(name for name in WANTED if name in offered)
    if not controllers:
        return f"{directory} offers none of the controllers {', '.join(WANTED)}"
    if all(name in enabled for name in controllers):
        return CgroupRoot(directory, controllers, must_move=False)
    if not files.writable(directory + "/cgroup.subtree_control"):
        already = tuple(name for name in controllers if name in enabled)
        return (
            CgroupRoot(directory, already, must_move=False) if already else f"{directory}: no controller can be enabled"
        )
    inside = files.processes(directory)
    if true_root or not inside:
        return CgroupRoot(directory, controllers, must_move=False)
    # alone in a scope of our own, or the top of a container whose processes stay inside that same container
    if own and (inside == [pid] or (top and 0 not in inside)):
        return CgroupRoot(directory, controllers, must_move=True)
    return f"{directory} holds other processes, so its controllers cannot be enabled for children"


def enable(files: CgroupFiles, place: CgroupRoot) -> tuple[str, ...]:
    """Enable the place's controllers for its children. Gives those that the kernel accepted; raises OSError if the
    first of them was refused."""
    if place.must_move:
        _empty(files, place.directory)
    accepted: list[str] = []
    for name in place.controllers:
        try:
            _enable_one(files, place, name)
        except OSError:
            if not accepted:
                raise
            continue  # cpu alone is refused where realtime processes exist; the others are worth having
        accepted.append(name)
    if place.must_move:
        _weigh(files, f"{place.directory}/{HOST_LEAF}", _HOST_WEIGHT)
    return tuple(accepted)


def _enable_one(files: CgroupFiles, place: CgroupRoot, name: str) -> None:
    for _ in range(10):
        try:
            return files.write(place.directory + "/cgroup.subtree_control", "+" + name)
        except OSError as error:
            if error.errno != errno.EBUSY or not place.must_move:
                raise
        _empty(files, place.directory)  # somebody forked meanwhile
    return files.write(place.directory + "/cgroup.subtree_control", "+" + name)


def _empty(files: CgroupFiles, directory: str) -> None:
    leaf = f"{directory}/{HOST_LEAF}"
    files.mkdir(leaf)
    for pid in files.processes(directory):
        try:
            files.write(leaf + "/cgroup.procs", str(pid))
        except ProcessLookupError:
            continue  # ended meanwhile


def prepare_owned(files: CgroupFiles, directory: str, controllers: Iterable[str], weight: int = _WEIGHT) -> None:
    """Make a directory and enable the controllers for those below it, which together have that weight."""
    files.mkdir(directory)
    for name in controllers:
        files.write(directory + "/cgroup.subtree_control", "+" + name)
    _weigh(files, directory, weight)


def bound_share(files: CgroupFiles, directory: str, processors: float | None) -> None:
    """Let everything below use so many processors; None = all. Raises OSError."""
    quota = "max" if processors is None else str(round(processors * SHARE_PERIOD_MICROSECONDS))
    files.write(directory + "/cpu.max", f"{quota} {SHARE_PERIOD_MICROSECONDS}")


def _weigh(files: CgroupFiles, directory: str, weight: int) -> None:
    path = directory + "/cpu.weight"
    if files.exists(path):
        files.write(path, str(weight))


class V2Group(Group):
    """One directory for all controllers."""

    USUAL_WEIGHT, LIGHT_WEIGHT = str(_WEIGHT), "1"
    WEIGHT_FILE = "cpu.weight"

    def __init__(self, files: CgroupFiles, directories: Mapping[str, str]) -> None:
        super().__init__(files, directories)
        self._directory = next(iter(self.directories.values()))
        self._met_before = 0
        self._counts_own_refusals: bool | None = None

    def kill(self) -> None:
        """`cgroup.kill` (Linux 5.14) takes everything at once, whatever forks meanwhile. Before that the list is walked
        until it is empty, with forks forbidden and everything frozen, as far as the kernel can do that."""
        try:
            self._files.write(self._directory + "/cgroup.kill", "1")
            return
        except FileNotFoundError:
            pass
        if "pids" in self.directories:
            self._files.write(self._directory + "/pids.max", "0")
            self.limits = (self.limits[0], 0, self.limits[2])
        freezer = self._directory + "/cgroup.freeze"
        freezes = self._files.exists(freezer)
        if freezes:
            self._files.write(freezer, "1")
        try:
            super().kill()
        finally:
            if freezes:  # who is killed ends all the same; the next sandbox must not begin frozen
                self._files.write(freezer, "0")

    def _weight_file(self) -> str | None:
        return f"{self._directory}/{self.WEIGHT_FILE}" if "cpu" in self.directories else None

    def _read_counted_seconds(self) -> float | None:
        return field(self._files.read(self._directory + "/cpu.stat"), "usage_usec") * _MICROSECONDS

    def counts_memory(self) -> bool:
        """Tell whether the kernel counts the memory of what is in here."""
        return "memory" in self.directories

    def _read_charged_bytes(self) -> int:
        if "memory" not in self.directories:
            return 0
        return self._charged_bytes(self._directory + "/memory.current", self._directory + "/memory.stat")

    def _read_oom_kills(self) -> int:
        if "memory" not in self.directories:
            return 0
        return field(self._files.read(self._directory + "/memory.events"), "oom_kill")

    def _has_met_its_limit(self) -> bool:
        met = self._times_met()
        return met is None or met > self._met_before

    def _begin_to_watch_its_limit(self) -> None:
        self._met_before = self._times_met() or 0

    def _times_met(self) -> int | None:
        """How often its limit was met so far, without those above it; None where the kernel does not count that."""
        local = self._directory + "/memory.events.local"
        if "memory" not in self.directories or not self._files.exists(local):
            return None
        return field(self._files.read(local), "oom")

    def begin_to_watch_processes(self) -> None:
        """Take note of what the limits above have refused so far."""
        if self._counts_own_refusals is None:
            self._counts_own_refusals = self._files.exists(self._directory + "/pids.events.local")
        if self._counts_own_refusals:
            self._refused_before = self._read_refused()

    def _refused_files(self) -> list[str]:
        """Since Linux 6.12 a group counts only what its own limit has refused, below it, too: then the directories
        above tell."""
        if not self._counts_own_refusals:
            return super()._refused_files()
        above = os.path.dirname(self._directory)
        places = [above] if self.share is None else [above, os.path.dirname(above)]
        return [f"{place}/pids.events.local" for place in places]

    def _refused_from_above(self) -> bool:
        return bool(self._counts_own_refusals) or super()._refused_from_above()

    def _write_memory(self, new: int | None, old: int | None) -> None:
        if "memory" not in self.directories:
            return
        self._files.write(self._directory + "/memory.max", "max" if new is None else str(new))
        swap = self._directory + "/memory.swap.max"
        if (new is None) != (old is None) and self._files.exists(swap):
            self._files.write(swap, "max" if new is None else "0")  # no way around the limit by swapping

    def _write_pids(self, new: int | None) -> None:
        if "pids" in self.directories:
            self._files.write(self._directory + "/pids.max", "max" if new is None else str(new))

    def _write_cpu(self, new: float | None) -> None:
        if "cpu" in self.directories:
            quota = "max" if new is None else str(max(_SMALLEST_QUOTA_MICROSECONDS, round(new * _PERIOD_MICROSECONDS)))
            self._files.write(self._directory + "/cpu.max", f"{quota} {_PERIOD_MICROSECONDS}")
