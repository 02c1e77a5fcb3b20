"""Control groups: which of them this process may use, and the pool of groups that sandboxes are put into.

    backend = detect()                                             # reads only
    backend, pool = open_best(backend, owner_id(os.getpid()))      # makes the owner's directories
    group = pool.acquire(memory_bytes=512 * 1024 * 1024, pids=256)
    group.attach(pid)                                              # before any program of the sandbox runs
    ...
    pool.release(group)                                            # when all its processes are gone
    pool.close()

Groups lie in directories `harena-<owner>`, where the owner is a pid, its start time and its pid namespace, so that
`clean_stale` can tell the directories of a killed owner from those of a living one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from harena.runtime.kernel import cgroup_v1, cgroup_v2
from harena.runtime.kernel.cgroup_ceiling import limit_share, limit_sums, shares
from harena.runtime.kernel.cgroup_tree import (
    CgroupFiles,
    Group,
    LightWeight,
    Pool,
    inner_first,
    parse_mounts,
    parse_own_paths,
    remove_directories,
)

__all__ = [
    "CgroupBackend",
    "CgroupFiles",
    "DelegationFacts",
    "Group",
    "LightWeight",
    "NoCgroups",
    "Pool",
    "V1Cgroups",
    "V2Cgroups",
    "clean_stale",
    "delegated_command",
    "detect",
    "open_best",
    "owner_id",
    "probe_delegation",
]

LIMIT_CONTROLLERS = {"memory_bytes": "memory", "pids": "pids", "cpu": "cpu"}
"""limit of a sandbox -> the controller that enforces it"""


_SANDBOXES, _TEMPLATES = "sandboxes", "templates"
"""On v1 the latter ends the name of the owner's other directory, on v2 one directory has both. Templates have a weight
of their own, so that sandboxes do not crowd them out, and what a blueprint's modules start as they are imported does
not crowd out anybody else."""


def _owner_of(name: str) -> tuple[int, str] | None:
    """(pid, pid namespace) in the name of an owner's directory; None for any other name."""
    parts = name.split("-")
    if len(parts) < 4 or parts[4:] not in ([], [_TEMPLATES]):
        return None
    if parts[0] != "harena" or not all(part.isdecimal() for part in parts[1:4]):
        return None
    return int(parts[1]), parts[3]


class CgroupBackend:
    """What this host offers. `parents` maps a controller to the directory below which owners make theirs."""

    kind = "none"
    _memory_limit = "memory.max"

    def __init__(self, files: CgroupFiles, parents: Mapping[str, str], refused: Mapping[str, str]) -> None:
        self.parents = dict(parents)
        self._files = files
        self._refused = dict(refused)

    def describe(self) -> dict[str, str]:
        """Limit name -> how it is enforced, or "not enforced: ..." with the reason."""
        return {
            limit: f"cgroup {self.kind} {controller}"
            if controller in self.parents
            else f"not enforced: {self._refused.get(controller, 'no cgroups')}"
            for limit, controller in LIMIT_CONTROLLERS.items()
        }

    def sums(self) -> dict[str, tuple[int, int]]:
        """Limit name -> what all sandboxes, and all templates, of one owner may have together; without those that
        nothing bounds."""
        found = {}
        for limit, controller in (("memory_bytes", "memory"), ("pids", "pids")):
            with suppress(OSError, ValueError, KeyError):
                file = "pids.max" if controller == "pids" else self._memory_limit
                found[limit] = shares(self._files, f"{self.parents[controller]}/harena", file)
        return found

    def open_pool(self, owner: str) -> Pool:
        """Make the owner's directories. Raises OSError that names the file which the kernel refused."""
        return Pool(self._files, {}, Group)

    def open_template_pool(self, owner: str) -> Pool:
        """Groups for templates, which limit memory and processes and have a share of the processors of their own;
        groups that do nothing where that cannot be had."""
        try:
            return self._template_pool(owner)
        except OSError:
            return Pool(self._files, {}, Group)

    def _template_pool(self, owner: str) -> Pool:
        return Pool(self._files, {}, Group)

    def owner_directories(self) -> list[str]:
        """Every owner's directory: below this process's parents, and beside them. A service manager or a login gives
        each start a cgroup of its own, so what an earlier start left lies in a sibling."""
        found = []
        for parent in dict.fromkeys(self.parents.values()):
            above = os.path.dirname(parent)
            siblings = (
                [f"{above}/{name}" for name in self._files.subdirectories(above)]
                if self._files.exists(above + "/cgroup.procs")
                else [parent]
            )
            for place in siblings:
                found += [f"{place}/{name}" for name in self._files.subdirectories(place) if _owner_of(name)]
        return found

    def remove(self, directories: Sequence[str]) -> list[str]:
        """Remove owners' directories. Gives those that still hold processes, or may not be removed."""
        everything = [inner for path in directories for inner in inner_first(self._files, path)]
        return remove_directories(self._files, everything, timeout_seconds=0.5)


class NoCgroups(CgroupBackend):
    """No cgroup can be written; `reason` says why and `fix` what to change. Its groups do nothing."""

    def __init__(self, files: CgroupFiles, reason: str, fix: str) -> None:
        super().__init__(files, {}, dict.fromkeys(LIMIT_CONTROLLERS.values(), reason))
        self.reason = reason
        self.fix = fix


class V1Cgroups(CgroupBackend):
    """Groups below this process's own v1 directories, so that limits which are above it stay in force."""

    kind = "v1"
    _memory_limit = "memory.limit_in_bytes"

    def open_pool(self, owner: str) -> Pool:
        """One directory per controller."""
        owned = {name: f"{parent}/harena-{owner}" for name, parent in self.parents.items()}
        for directory in dict.fromkeys(owned.values()):
            cgroup_v1.prepare_owned(self._files, directory)
            limit_sums(self._files, directory)
        bound = self._bound_share if "cpu" in owned else None
        # a new directory weighs as much as one beside it
        return Pool(self._files, owned, cgroup_v1.V1Group, prepare_share=self._prepare_share, bound_share=bound)

    def _prepare_share(self, owned: str, directory: str) -> None:
        self._files.mkdir(directory)
        limit_share(self._files, owned, directory)

    def _bound_share(self, directory: str, processors: float | None) -> None:
        cgroup_v1.bound_share(self._files, directory, processors)

    def _template_pool(self, owner: str) -> Pool:
        names = (name for name in self.parents if name != "cpuacct")
        owned = {name: f"{self.parents[name]}/harena-{owner}-{_TEMPLATES}" for name in names}
        for directory in dict.fromkeys(owned.values()):
            cgroup_v1.prepare_owned(self._files, directory, cgroup_v1.TEMPLATE_SHARES_PER_PROCESSOR)
            limit_sums(self._files, directory, is_for_templates=True)
        return Pool(self._files, owned, cgroup_v1.V1Group, prepare_share=self._prepare_share, weighs_one_by_one=True)


class V2Cgroups(CgroupBackend):
    """Groups below one v2 directory."""

    kind = "v2"

    def __init__(self, files: CgroupFiles, place: cgroup_v2.CgroupRoot) -> None:
        missing = {
            name: f"{place.directory} does not offer the {name} controller"
            for name in cgroup_v2.WANTED
            if name not in place.controllers
        }
        super().__init__(files, dict.fromkeys(place.controllers, place.directory), missing)
        self._place = place

    def open_pool(self, owner: str) -> Pool:
        """Enable the controllers, moving this process to a leaf where the kernel wants that, and make the directory.

        A controller that the kernel refuses is "not enforced" in `describe` from then on.
        """
        accepted = cgroup_v2.enable(self._files, self._place)
        for name in [name for name in self.parents if name not in accepted]:
            self._refused[name] = f"the kernel refused to enable {name} in {self._place.directory}"
            del self.parents[name]
        return self._pool(owner, _SANDBOXES, cgroup_v2.SANDBOXES_WEIGHT)

    def _template_pool(self, owner: str) -> Pool:
        return self._pool(owner, _TEMPLATES, cgroup_v2.TEMPLATES_WEIGHT)

    def _pool(self, owner: str, kind: str, weight: int) -> Pool:
        """The owner's directory is one among those of the host's services; what is below it shares its weight."""
        around = f"{self._place.directory}/harena-{owner}"
        cgroup_v2.prepare_owned(self._files, around, self.parents)
        directory = f"{around}/{kind}"
        cgroup_v2.prepare_owned(self._files, directory, self.parents, weight)
        limit_sums(self._files, directory, is_for_templates=kind == _TEMPLATES)
        owned = dict.fromkeys(self.parents, directory)
        bound = self._bound_share if "cpu" in owned else None
        return Pool(self._files, owned, cgroup_v2.V2Group, around, self._prepare_share, bound)

    def _prepare_share(self, owned: str, directory: str) -> None:
        cgroup_v2.prepare_owned(self._files, directory, self.parents)
        limit_share(self._files, owned, directory)

    def _bound_share(self, directory: str, processors: float | None) -> None:
        cgroup_v2.bound_share(self._files, directory, processors)


def detect(
    proc_root: str = "/proc", sys_root: str = "/sys", *, files: CgroupFiles | None = None, uid: int | None = None
) -> CgroupBackend:
    """Look at this process's cgroups and say which can be used. Changes nothing.

    On a hybrid host the version that enforces more of the limits wins, v2 among equals.
    """
    files = files or CgroupFiles()
    uid = os.geteuid() if uid is None else uid
    try:
        mounts = parse_mounts(files.read(proc_root + "/self/mountinfo"), sys_root)
        own_paths = parse_own_paths(files.read(proc_root + "/self/cgroup"))
    except OSError as error:
        return NoCgroups(files, f"this process's cgroups cannot be read ({error})", "mount /proc")
    candidates: list[CgroupBackend] = []
    reasons: list[str] = []
    unified = next((mount for mount in mounts if mount.version == 2), None)
    if unified is not None:
        place = cgroup_v2.find_place(files, unified, own_paths.get("", "/"), from_root=uid == 0, pid=os.getpid())
        if isinstance(place, str):
            reasons.append(place)
        else:
            candidates.append(V2Cgroups(files, place))
    if any(mount.version == 1 for mount in mounts):
        directories, refused = cgroup_v1.own_directories(files, mounts, own_paths)
        candidates.append(V1Cgroups(files, directories, refused))
        reasons.extend(refused.values())
    best = max(candidates, key=_enforced, default=None)
    if best is not None and _enforced(best):
        return best
    if not mounts:
        return NoCgroups(files, "no cgroup file system is mounted", "mount -t cgroup2 none /sys/fs/cgroup (as root)")
    return NoCgroups(files, "; ".join(dict.fromkeys(reasons)), _fix(has_v2=unified is not None, uid=uid))


def _enforced(backend: CgroupBackend) -> int:
    return sum(controller in backend.parents for controller in LIMIT_CONTROLLERS.values())


def _fix(*, has_v2: bool, uid: int) -> str:
    if uid != 0 and has_v2:
        return (
            "start the program in a scope of its own: systemd-run --user --scope -p Delegate=yes PROGRAM "
            "(without a login session: loginctl enable-linger USER, as root)"
        )
    if uid != 0:
        return "run as root, or boot with systemd.unified_cgroup_hierarchy=1 (cgroup v1 cannot be delegated to users)"
    return (
        "start the container with writable cgroups: docker run --cgroupns=private "
        "--security-opt writable-cgroups=true, podman run --security-opt unmask=/sys/fs/cgroup, or --privileged"
    )


def open_best(backend: CgroupBackend, owner: str) -> tuple[CgroupBackend, Pool]:
    """The backend and its pool. Where the kernel refuses what `detect` expected: no cgroups, and why."""
    try:
        return backend, backend.open_pool(owner)
    except OSError as error:
        none = NoCgroups(CgroupFiles(), f"{error.filename}: {error.strerror}", "run as root, or without cgroup limits")
        return none, none.open_pool(owner)


def owner_id(pid: int, proc_root: str = "/proc") -> str:
    """`<pid>-<start time>-<pid namespace>`: a name that no other process ever has while the machine runs.

    Raises ProcessLookupError if there is no such process.
    """
    try:
        stat = CgroupFiles().read(f"{proc_root}/{pid}/stat")
        namespace = os.readlink(f"{proc_root}/self/ns/pid")
    except FileNotFoundError:
        raise ProcessLookupError(f"no process {pid}") from None
    started = stat.rpartition(")")[2].split()[19]  # field 22; the name before may hold blanks and brackets
    return f"{pid}-{started}-{''.join(filter(str.isdigit, namespace))}"


def clean_stale(backend: CgroupBackend, proc_root: str = "/proc") -> list[str]:
    """Remove directories whose owner has gone. Gives those that still hold processes and so could not be removed.

    Owners of another pid namespace cannot be judged from here and are left alone.
    """
    here = owner_id(os.getpid(), proc_root).rpartition("-")[2]
    directories = backend.owner_directories()
    return backend.remove([path for path in directories if _is_stale(os.path.basename(path), here, proc_root)])


def _is_stale(name: str, here: str, proc_root: str) -> bool:
    owner = _owner_of(name)
    if owner is None or owner[1] != here:
        return False
    try:
        return f"harena-{owner_id(owner[0], proc_root)}" != name.removesuffix("-" + _TEMPLATES)
    except ProcessLookupError:
        return True


class DelegationFacts:
    """What decides whether systemd can give an ordinary user a cgroup subtree of its own."""

    __slots__ = ("enforced", "has_v2", "systemd_run", "uid", "user_bus")

    def __init__(self, *, uid: int, systemd_run: str | None, user_bus: bool, has_v2: bool, enforced: bool) -> None:
        self.uid = uid
        self.systemd_run = systemd_run
        """path of the program; None = not installed"""
        self.user_bus = user_bus
        """the user's own systemd answers on a socket"""
        self.has_v2 = has_v2
        self.enforced = enforced
        """memory and pids can be limited already, without systemd's help"""


def probe_delegation(
    backend: CgroupBackend, environ: Mapping[str, str] | None = None, proc_root: str = "/proc"
) -> DelegationFacts:
    """Look, without starting anything."""
    environ = os.environ if environ is None else environ
    programs = (os.path.join(entry, "systemd-run") for entry in environ.get("PATH", "").split(":") if entry)
    runtime_directory = environ.get("XDG_RUNTIME_DIR", "")
    try:
        has_v2 = any(
            mount.version == 2 for mount in parse_mounts(CgroupFiles().read(proc_root + "/self/mountinfo"), "/sys")
        )
    except OSError:
        has_v2 = False
    return DelegationFacts(
        uid=os.geteuid(),
        systemd_run=next((path for path in programs if os.access(path, os.X_OK)), None),
        user_bus=bool(runtime_directory) and os.path.exists(runtime_directory + "/systemd/private"),
        has_v2=has_v2,
        enforced={"memory", "pids"} <= backend.parents.keys(),
    )


def delegated_command(argv: Sequence[str], facts: DelegationFacts) -> list[str] | None:
    """`argv` inside a systemd scope whose cgroups belong to this user; None where that is not needed or not possible.

    systemd-run replaces itself by the program, which keeps its pid, descriptors and environment.
    """
    if facts.uid == 0 or facts.enforced or not facts.has_v2 or not facts.user_bus or facts.systemd_run is None:
        return None
    scope = ["--user", "--scope", "--quiet", "--collect", "-p", "Delegate=yes"]
    return [facts.systemd_run, *scope, "--", *argv]
