"""Cgroup directories: where the hierarchies are mounted, one group of directories per sandbox, and the pool of them.

Making and removing a cgroup directory is dear and the first attach after a pause dearer still (it waits for an RCU
grace period), so groups are made once and used again. A group goes back to the pool only when the kernel says that no
process is left in it; counters that cannot be set back are read at that moment and subtracted from then on.

Runs in the spawner (`python -I -S`): standard library only, and none of its heavy modules.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

Limits = tuple[int | None, int | None, float | None]
"""memory in bytes, processes and threads, cores; None = no limit"""

UNLIMITED: Limits = (None, None, None)

SLACK_BYTES = 4 << 20
"""memory that may still be charged to an empty group which is used again: what the kernel keeps of a sandbox for a
moment, or counts in advance for each processor"""
_SETTLE_SECONDS = 1.0
"""how long after its last process a group may take to get rid of what is charged to it, or is removed"""
_SIGKILL = 9  # the signal module would cost the spawner its import


class CgroupFiles:
    """The few file operations that cgroups need; tests put a simulated kernel here."""

    def read(self, path: str) -> str:
        """The whole (small) file. Raises OSError."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = b""
            while chunk := os.read(descriptor, 4096):
                text += chunk
            return text.decode(errors="replace")  # a process's name may be anything
        finally:
            os.close(descriptor)

    def write(self, path: str, text: str) -> None:
        """One write(2), as the kernel wants it. Raises OSError that names the file."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        except OSError as error:
            raise OSError(error.errno, f"writing {text!r}: {os.strerror(error.errno or 0)}", path) from None
        finally:
            os.close(descriptor)

    def open_to_write(self, path: str) -> int:
        """A descriptor for somebody else. Raises OSError."""
        return os.open(path, os.O_WRONLY | os.O_CLOEXEC)

    def mkdir(self, path: str) -> None:
        """Make one directory; one that exists already is fine."""
        with suppress(FileExistsError):
            os.mkdir(path, 0o755)

    def rmdir(self, path: str) -> None:
        """Remove one directory (its files are the kernel's). Raises OSError, EBUSY while a process is in it."""
        os.rmdir(path)

    def subdirectories(self, path: str) -> list[str]:
        """Names of the directories in a directory; none if it does not exist."""
        try:
            with os.scandir(path) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return []

    def exists(self, path: str) -> bool:
        """The path exists."""
        return os.path.exists(path)

    def writable(self, path: str) -> bool:
        """This process may write there; false on a read-only mount also for root."""
        return os.access(path, os.W_OK)

    def kill(self, pid: int) -> None:
        """SIGKILL; a process that has gone already is fine."""
        with suppress(ProcessLookupError):
            os.kill(pid, _SIGKILL)

    def processes(self, directory: str) -> list[int]:
        """Pids in this cgroup, without its children; 0 stands for one that this pid namespace cannot see."""
        return [int(line) for line in self.read(directory + "/cgroup.procs").split()]


class CgroupMount:
    """One mounted hierarchy."""

    __slots__ = ("controllers", "point", "root", "version")

    def __init__(self, point: str, root: str, controllers: frozenset[str], version: int) -> None:
        self.point = point
        self.root = root
        self.controllers = controllers
        self.version = version

    def directory_of(self, path: str) -> str:
        """Where a path from /proc/self/cgroup is seen; the mount point itself where it is not visible here."""
        if path.startswith("/.."):  # outside this cgroup namespace
            return self.point
        root = self.root.rstrip("/")
        if path == root or path.startswith(root + "/"):
            return (self.point + path[len(root) :]).rstrip("/")
        return self.point


def parse_mounts(mountinfo: str, sys_root: str) -> list[CgroupMount]:
    """The cgroup hierarchies in a /proc/PID/mountinfo."""
    mounts = []
    for line in mountinfo.split("\n"):
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if len(fields) < 6 or len(kind) < 3 or kind[0] not in ("cgroup", "cgroup2"):
            continue
        point = sys_root + fields[4][4:] if fields[4].startswith("/sys/") else fields[4]
        version = 2 if kind[0] == "cgroup2" else 1
        mounts.append(
            CgroupMount(point, fields[3], frozenset(kind[2].split(",")) if version == 1 else frozenset(), version)
        )
    return mounts


def parse_own_paths(text: str) -> dict[str, str]:
    """Controller -> path from a /proc/PID/cgroup; the key of cgroup v2 is ""."""
    paths = {}
    for line in filter(None, text.split("\n")):
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            paths[name] = path
    return paths


MOST_WALKS = 1000
"""number of looks for processes that were forked while a group was killed, where nothing can forbid forks"""


class LightWeight:
    """A group's file for its weight, and that of its share, opened for writing, and the text to be written to them."""

    __slots__ = ("descriptors", "text")

    def __init__(self, descriptors: Sequence[int], text: bytes) -> None:
        self.descriptors = descriptors
        """the caller's, to be closed"""
        self.text = text

    def put_in_force(self) -> None:
        """Raises OSError."""
        for descriptor in self.descriptors:
            os.write(descriptor, self.text)

    def close(self) -> None:
        """Close its files."""
        for descriptor in self.descriptors:
            os.close(descriptor)


class Group:
    """The cgroup directories of one sandbox, one per controller. Without directories every operation does nothing;
    that is how a host without cgroups looks."""

    USUAL_WEIGHT = LIGHT_WEIGHT = ""
    """what is written to the group's weight where it weighs as one process, and where it weighs hardly anything"""
    WEIGHT_FILE = ""

    def __init__(self, files: CgroupFiles, directories: Mapping[str, str]) -> None:
        self.directories = dict(directories)
        self.limits = UNLIMITED
        """limits that were written last; the kernel enforces them"""
        self._files = files
        self._oom_baseline = 0
        self.share: str | None = None
        """whose part of the processors, memory and processes its sandbox has, see `Pool.acquire`"""
        self._refused_before = 0
        self.is_worn = False
        """processes were refused in here, and no later sandbox is to be taken for who has met the limit"""
        self.weight_of_share: str | None = None
        """the file that holds what all groups of its share weigh together; None where these weigh one by one"""
        # All of them, whether or not there is a limit. cpu: a sandbox counts as one for the scheduler then, however
        # many processes and sessions it has. cpuacct: one process is put in now, or very many when somebody asks for
        # their time, and each waits for whatever is just being forked or ends on the whole machine.
        self._all = list(dict.fromkeys(self.directories.values()))
        self._made: list[str] = []
        self._counted_before = 0.0

    def attach(self, pid: int) -> None:
        """Put a process (all its threads) into every directory, memory first.

        Raises ProcessLookupError if it has gone, OSError if the kernel refuses.
        """
        for directory in self._all:
            self._files.write(directory + "/cgroup.procs", str(pid))

    def open_entries(self) -> list[int]:
        """Files, one for each directory, memory first: a thread that writes "0" to one moves itself into that
        directory, with the right of whoever has opened it. They are the caller's to close. Empty where the kernel has
        none, and `attach` is the way in.

        `attach` waits until no process of the whole machine is being forked, started or ended, and forks wait
        meanwhile (`cgroup_threadgroup_rwsem`): beside a thousand processes that fork, for seconds. A process that moves
        itself, and has one thread, takes no such lock (Linux 5.5).

        Raises OSError.
        """
        return []

    def apply(self, limits: Limits) -> None:
        """Make the directories that are missing and write those limits that differ from what is in force.

        Raises OSError.
        """
        for directory in self._all:
            if directory not in self._made:
                self._files.mkdir(directory)
                self._made.append(directory)
        memory, pids, cpu = limits
        if memory != self.limits[0]:
            self._write_memory(memory, self.limits[0])
        if pids != self.limits[1]:
            self._write_pids(pids)
        if cpu != self.limits[2]:
            self._write_cpu(cpu)
        self.limits = limits

    def weigh(self, *, lightly: bool) -> None:
        """What its processes weigh against those of other groups of its kind: as one process, or hardly anything.

        A process of little weight must hold no lock of the kernel that others wait for, such as that of mounts: the
        lock would be held for as long as the process waits for a processor.

        Raises OSError.
        """
        if (file := self._weight_file()) is not None:
            self._files.write(file, self.LIGHT_WEIGHT if lightly else self.USUAL_WEIGHT)

    def open_light_weight(self) -> LightWeight | None:
        """What makes the group weigh hardly anything, for a process that cannot reach its directories; None where the
        kernel has no weights. Where its share has a weight, that gets as light: it would be the same as any other's,
        whatever is in there. Raises OSError."""
        found = list[int]()
        try:
            for file in (self._weight_file(), self.weight_of_share):
                if file is not None:
                    found.append(self._files.open_to_write(file))
        except OSError:
            for descriptor in found:
                os.close(descriptor)
            raise
        return LightWeight(found, self.LIGHT_WEIGHT.encode()) if found else None

    def weigh_share(self) -> None:
        """Let its share weigh as one process again: nothing is imported in there any more. Raises OSError."""
        if self.weight_of_share is not None:
            self._files.write(self.weight_of_share, self.USUAL_WEIGHT)

    def _weight_file(self) -> str | None:
        """The file that holds what the group weighs; None where it has none."""
        return None

    def counted_seconds(self) -> float | None:
        """Processor time of all that has run in here since this group was acquired, also of what has ended and that
        nobody waited for; None where the kernel does not count. Raises OSError."""
        counted = self._read_counted_seconds()
        return None if counted is None else max(0.0, counted - self._counted_before)

    def charged_bytes(self) -> int | None:
        """Memory that is charged to it now, without pages of files that the kernel can drop; None where it does not
        count. Raises OSError."""
        return self._read_charged_bytes() if self.counts_memory() else None

    def counts_memory(self) -> bool:
        """Tell whether the kernel counts the memory of what is in here."""
        return False

    def oom_kills(self) -> int:
        """Processes that its own memory limit has killed since this group was acquired."""
        return self.memory_kills()[0]

    def kills_from_above(self) -> int:
        """Processes in here that a limit above it has killed since this group was acquired, though its own one was
        never met: of a workspace, or of all sandboxes together."""
        return self.memory_kills()[1]

    def memory_kills(self) -> tuple[int, int]:
        """`oom_kills` and `kills_from_above`, of one look: every sandbox that ends is asked, and few have any."""
        killed = self._read_oom_kills() - self._oom_baseline
        return (killed, 0) if not killed or self._has_met_its_limit() else (0, killed)

    def begin_to_watch_processes(self) -> None:
        """What was refused before is of another sandbox. A group that counts by itself has refused none: see
        `is_worn`."""

    def lacked_processes(self) -> bool:
        """Whether a process in here was refused since this group was acquired though its own limit was never met: that
        of a workspace was, or of all sandboxes together. False where the kernel does not tell."""
        if self._read_refused() <= self._refused_before:
            return False
        self.is_worn = True
        return self._refused_from_above()

    def _refused_from_above(self) -> bool:
        """The kernel's highest count of this group tells whose limit it was. It cannot be set back: see `is_worn`."""
        try:
            peak = int(self._files.read(f"{self.directories['pids']}/pids.peak"))
        except (OSError, ValueError):
            return False  # before Linux 6.6
        return self.limits[1] is None or peak < self.limits[1]

    def _read_refused(self) -> int:
        """How many processes were refused so far."""
        return sum(self._count_refused(file) for file in self._refused_files())

    def _refused_files(self) -> list[str]:
        directory = self.directories.get("pids")
        return [] if directory is None else [f"{directory}/pids.events"]

    def _count_refused(self, file: str) -> int:
        try:
            return field(self._files.read(file), "max")
        except (OSError, ValueError):
            return 0  # no sandbox ends because of a number

    def _has_met_its_limit(self) -> bool:
        """Its own memory limit was met since this group was acquired, or the kernel does not say."""
        return True

    def _begin_to_watch_its_limit(self) -> None:
        """What was met before is of another sandbox."""

    def processes(self) -> list[int]:
        """Pids inside."""
        return sorted({pid for directory in self._all for pid in self._files.processes(directory)})

    def kill(self) -> None:
        """SIGKILL everything inside; it does not wait for the end."""
        killed: set[int] = set()
        for _ in range(MOST_WALKS):  # a second look finds what was forked during the first
            pids = [pid for pid in self.processes() if pid > 0 and pid not in killed]
            if not pids:  # what was killed may take a while to go
                return
            for pid in pids:
                self._files.kill(pid)
            killed.update(pids)

    def reset(self, oom_kills: int | None = None) -> bool:
        """Make ready for another sandbox; False while a process is inside, and nothing is changed then.

        `oom_kills`: those of its own limit and from above, if they were asked for after the last process had ended.
        """
        if any(self._files.processes(directory) for directory in self._made[:1]):  # a process is in all or in none
            return False
        self._oom_baseline = self._read_oom_kills() if oom_kills is None else self._oom_baseline + oom_kills
        try:
            self._begin_to_watch_its_limit()
            self._counted_before = self._read_counted_seconds() or 0.0
        except OSError:
            return False
        return True

    def has_charges(self) -> bool:
        """More memory is charged to it than SLACK_BYTES, without pages of files: those the kernel drops when the next
        sandbox needs the room. Raises OSError."""
        return self._read_charged_bytes() > SLACK_BYTES

    def _read_charged_bytes(self) -> int:
        return 0

    def _charged_bytes(self, usage: str, stat: str) -> int:
        charged = int(self._files.read(usage))
        if charged > SLACK_BYTES:
            counted = self._files.read(stat)
            charged -= field(counted, "inactive_file") + field(counted, "active_file")
        return charged

    def _read_counted_seconds(self) -> float | None:
        return None

    def _read_oom_kills(self) -> int:
        return 0

    def _write_memory(self, new: int | None, old: int | None) -> None:
        """Nothing to write to."""

    def _write_pids(self, new: int | None) -> None:
        """Nothing to write to."""

    def _write_cpu(self, new: float | None) -> None:
        """Nothing to write to."""


MOST_SHARES = 64
"""number of shares that keep their directories while nothing is in them"""
SHARE_PERIOD_MICROSECONDS = 20_000
"""after so long a share that has used up what it may gets more; others wait no longer for it"""


def most_of_a_share(processors: int) -> float:
    """Processors that one share may use while others want some, too: all but a half.

    Weights alone do not keep them apart. Where many threads of a group sleep and wake all the time, its weight on each
    processor changes with each of them, and Linux (6.18 was seen to) sets its virtual time back with each change: it
    kept whole processors for seconds, and everybody else's programs, the node's loop and the spawner waited.
    """
    return max(processors - 0.5, processors * 0.75)


class Pool:
    """Groups below the owner's directories. Used from one thread."""

    def __init__(
        self,
        files: CgroupFiles,
        owned: Mapping[str, str],
        make_group: Callable[[CgroupFiles, Mapping[str, str]], Group],
        shared: str | None = None,
        prepare_share: Callable[[str, str], None] | None = None,
        bound_share: Callable[[str, float | None], None] | None = None,
        *,
        weighs_one_by_one: bool = False,
    ) -> None:
        """`shared` is a directory around `owned` that another pool uses too: the last one to be closed removes it.
        `prepare_share` makes one that is to have groups below it, and limits it (given the directory around it, and
        its own; None = CgroupFiles.mkdir). `bound_share` limits the processors of one that has, or (given None) no
        longer does; None = that cannot be had. `weighs_one_by_one`: no group's weight is its share's, where there is a
        hierarchy for the processors alone."""
        self._files = files
        self._shared = shared
        self._owned = dict(owned)
        self._make_group = make_group
        self._groups: set[Group] = set()
        self._in_use: set[Group] = set()
        self._lingering: dict[Group, float] = {}
        """not empty yet, or not known to be: since when"""
        self._idle: dict[tuple[str | None, Limits], list[Group]] = {}
        self._prepare_share = prepare_share or (lambda _, directory: files.mkdir(directory))
        others = [directory for name, directory in self._owned.items() if name != "cpu"]
        cpu = self._owned.get("cpu")
        self._without_shares = cpu if weighs_one_by_one and cpu not in others else None
        """the directory in which groups of all shares lie beside each other"""
        self._shares: dict[str, str] = {}
        """name -> name of its directories; the one that was used last is the last"""
        self._bound_share = bound_share
        self._bounded: set[str] = set()
        self._made = 0

    def acquire(
        self,
        *,
        memory_bytes: int | None = None,
        pids: int | None = None,
        cpu: float | None = None,
        share: str | None = None,
    ) -> Group:
        """A group without processes and with these limits in force. Raises OSError.

        All groups with one `share` lie in a directory of their own: together they have as much of the processors as
        those with another one, and no more memory and processes than a part of what all may have; and no group is used
        again by another one. None = next to those directories.
        """
        group = self._acquired((memory_bytes, pids, cpu), share)
        group.begin_to_watch_processes()
        self._bound_shares()
        return group

    def _acquired(self, limits: Limits, share: str | None) -> Group:
        group = self._take(share, limits)
        if group is not None:
            try:
                group.apply(limits)
                self._in_use.add(group)
                return group
            except OSError:  # cgroup v1 refuses a limit that is lower than what is charged
                self._drop(group)
        group = self._make(share)
        self._in_use.add(group)
        try:
            group.apply(limits)
        except OSError:
            self._lingering[group] = time.monotonic()
            raise
        return group

    @property
    def memory_directory(self) -> str:
        """Where the memory of all groups together is limited; "" = nowhere."""
        return self._owned.get("memory", "")

    def release(self, group: Group, oom_kills: int | None = None) -> bool:
        """Give a group back. False if a process is still inside, or memory is still charged to it that the next sandbox
        would lack: it is looked at again when a group is needed, and removed if the memory stays.

        Raises ValueError for a group that is not in use: two sandboxes would share it.
        """
        if group not in self._in_use:
            raise ValueError(f"cgroup {next(iter(group.directories.values()), '(none)')} is not in use")
        is_clean = group.reset(oom_kills) and not _may_have_charges(group)
        if is_clean:
            self._in_use.discard(group)
            self._lingering.pop(group, None)
            if group.is_worn:
                self._drop(group)
            else:
                self._idle.setdefault((group.share, group.limits), []).append(group)
        else:
            self._lingering[group] = time.monotonic()
        self._bound_shares()
        return is_clean

    def close(self, *, timeout_seconds: float = 30.0) -> list[str]:
        """Kill what is still inside and remove every directory. Gives those that could not be removed in time: on a
        busy machine a killed process leaves its cgroup seconds after its death."""
        for group in self._groups:
            with suppress(OSError):  # of a group that was dropped, some directories may be gone
                group.kill()
        for known in (self._groups, self._in_use, self._lingering, self._idle, self._shares, self._bounded):
            known.clear()
        everything = [inner for path in self._owned.values() for inner in inner_first(self._files, path)]
        left = remove_directories(self._files, everything, timeout_seconds=timeout_seconds)
        if self._shared is not None and not self._files.subdirectories(self._shared):
            left += remove_directories(self._files, [self._shared], timeout_seconds=timeout_seconds)
        return left

    def _take(self, share: str | None, limits: Limits) -> Group | None:
        others = (groups for (of, _), groups in self._idle.items() if of == share)
        for candidates in (self._idle.get((share, limits)), *others):
            if candidates:
                return candidates.pop()
        now = time.monotonic()
        for group, since in list(self._lingering.items()):
            if group.share != share:
                continue
            if not group.reset():
                self._lingering[group] = now
            elif not _may_have_charges(group) and not group.is_worn:
                del self._lingering[group]
                return group
            elif now - since > _SETTLE_SECONDS:
                self._drop(group)
        return None

    def _drop(self, group: Group) -> None:
        """Never use it again. What cannot be removed now, `close` removes."""
        self._in_use.discard(group)
        self._lingering.pop(group, None)
        if not remove_directories(self._files, list(group.directories.values()), timeout_seconds=0):
            self._groups.discard(group)

    def _make(self, share: str | None) -> Group:
        below = "" if share is None else f"{self._of_share(share)}/"
        directories = {
            name: f"{owned}/{'' if owned == self._without_shares else below}g{self._made}"
            for name, owned in self._owned.items()
        }
        self._made += 1
        group = self._make_group(self._files, directories)
        group.share = share
        if share is not None and "cpu" in self._owned and self._owned["cpu"] != self._without_shares:
            group.weight_of_share = f"{self._owned['cpu']}/{below}{group.WEIGHT_FILE}"
        self._groups.add(group)
        return group

    def _of_share(self, share: str) -> str:
        """The name of its directories, which are there then. Raises OSError."""
        name = self._shares.pop(share, None)
        if name is None:
            self._drop_unused_shares()
            name = f"w{self._made}"
            for directory in self._share_directories(name):
                self._prepare_share(os.path.dirname(directory), directory)
        self._shares[share] = name
        return name

    def _share_directories(self, name: str) -> list[str]:
        places = dict.fromkeys(self._owned.values())
        return [f"{owned}/{name}" for owned in places if owned != self._without_shares]

    def _bound_shares(self) -> None:
        """While several shares have sandboxes, each leaves the others some time of the processors; one that is alone
        has all of it."""
        if self._bound_share is None:
            return
        used = {group.share for group in self._in_use if group not in self._lingering and group.share is not None}
        wanted = used if len(used) > 1 else set()
        if wanted == self._bounded:
            return
        most = most_of_a_share(os.cpu_count() or 1)
        for share in self._bounded ^ wanted:
            with suppress(OSError):  # it is no reason to have no sandbox
                self._bound_share(f"{self._owned['cpu']}/{self._shares[share]}", most if share in wanted else None)
        self._bounded = wanted

    def _drop_unused_shares(self) -> None:
        """Remove directories of those that nothing has used for longest, if there are many."""
        used = {group.share for group in self._in_use}
        for share in [share for share in self._shares if share not in used][: len(self._shares) - MOST_SHARES]:
            for group in [group for group in self._groups if group.share == share]:
                self._drop(group)
            self._idle = {key: groups for key, groups in self._idle.items() if key[0] != share}
            name = self._shares.pop(share)
            remove_directories(self._files, self._share_directories(name), timeout_seconds=0)


def _may_have_charges(group: Group) -> bool:
    try:
        return group.has_charges()
    except OSError:
        return True


def inner_first(files: CgroupFiles, path: str) -> list[str]:
    """A directory behind all that are below it."""
    below = [inner_first(files, f"{path}/{name}") for name in files.subdirectories(path)]
    return [*(inner for each in below for inner in each), path]


def remove_directories(files: CgroupFiles, directories: list[str], *, timeout_seconds: float) -> list[str]:
    """Remove cgroup directories, in this order, again and again while the kernel calls some of them busy.

    Gives those that are left when the time is over.
    """
    left = list(dict.fromkeys(directories))
    deadline = time.monotonic() + timeout_seconds
    pause = 0.001
    while True:
        left = [path for path in left if not _removed(files, path)]
        if not left or time.monotonic() >= deadline:
            return left
        time.sleep(pause)  # a killed process leaves its cgroup a moment after its death
        pause = min(pause * 2, 0.05)


def field(text: str, name: str) -> int:
    """The number behind a name in a file of `name number` lines; 0 if the kernel does not list it."""
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


def _removed(files: CgroupFiles, path: str) -> bool:
    try:
        files.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
