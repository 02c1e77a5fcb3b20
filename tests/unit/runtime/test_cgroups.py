"""Cgroups: what is found on each kind of host, and the pool of groups, against a simulated kernel."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from harena.runtime.kernel import cgroup_ceiling, cgroup_tree
from harena.runtime.kernel.cgroups import (
    CgroupBackend,
    CgroupFiles,
    DelegationFacts,
    Group,
    NoCgroups,
    clean_stale,
    delegated_command,
    detect,
    open_best,
    owner_id,
    probe_delegation,
)

V1_FILES = {
    "memory": {
        "memory.limit_in_bytes": "9223372036854771712",
        "memory.max_usage_in_bytes": "4096",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
        "memory.use_hierarchy": "1",
        "memory.usage_in_bytes": "8192",
        "memory.stat": "cache 0\ninactive_file 0\nactive_file 0\n",
    },
    "pids": {"pids.max": "max"},
    "cpu": {"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000", "cpu.shares": "1024"},
    "cpuacct": {"cpuacct.usage": "0"},
}
V2_FILES = {
    "memory": {
        "memory.max": "max",
        "memory.swap.max": "max",
        "memory.events": "oom 0\noom_kill 0\n",
        "memory.peak": "0",
        "memory.current": "8192",
        "memory.stat": "anon 0\ninactive_file 0\nactive_file 0\n",
    },
    "pids": {"pids.max": "max"},
    "cpu": {"cpu.max": "max 100000", "cpu.weight": "100"},
}


class SimulatedKernel(CgroupFiles):
    """A cgroup file system in a plain directory, with the kernel's rules as far as they matter here."""

    def __init__(self, root: Path) -> None:
        self.proc = root / "proc"
        self.sys = root / "sys"
        self.read_only: list[str] = []
        self.killed: list[int] = []
        self.opened: dict[int, str] = {}
        self.refused_controllers: set[str] = set()
        self.busy_removals = 0
        self.when_killed: Callable[[], object] = lambda: None
        """what the others do while one is killed"""
        self.more_files: dict[str, dict[str, str]] = {}
        """controller -> files that not every kernel has"""
        self.contents: dict[str, str] = {}
        """of files outside the hierarchies"""
        self.written: list[tuple[str, str]] = []
        (self.proc / "self").mkdir(parents=True)
        self._versions: dict[str, tuple[int, tuple[str, ...]]] = {}

    def host(self, *, mountinfo: str, own: str) -> None:
        (self.proc / "self/mountinfo").write_text(mountinfo)
        (self.proc / "self/cgroup").write_text(own)

    def hierarchy(self, point: str, version: int, controllers: tuple[str, ...], *, true_root: bool = True) -> Path:
        """Mount one hierarchy below the simulated /sys."""
        directory = self.sys / point
        directory.mkdir(parents=True)
        self._versions[str(directory)] = (version, controllers)
        self._fill(directory, controllers, true_root=true_root)
        return directory

    def cgroup(self, directory: Path, *processes: int, enable: str = "") -> Path:
        """A directory that was there before us, with processes in it."""
        if not directory.exists():
            self.mkdir(str(directory))
        (directory / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in processes))
        for name in enable.split():
            self._enable(directory, name)
        return directory

    def mkdir(self, path: str) -> None:
        directory = Path(path)
        if directory.exists():
            return
        version, controllers = self._of(path)
        directory.mkdir()
        if version == 2:
            controllers = tuple((directory.parent / "cgroup.subtree_control").read_text().split())
        self._fill(directory, controllers, true_root=False)

    def rmdir(self, path: str) -> None:
        directory = Path(path)
        if not directory.exists():
            raise FileNotFoundError(errno.ENOENT, "gone", path)
        if self.busy_removals > 0:
            self.busy_removals -= 1
            raise OSError(errno.EBUSY, "busy", path)
        if (directory / "cgroup.procs").read_text().split() or self.subdirectories(path):
            raise OSError(errno.EBUSY, "busy", path)
        shutil.rmtree(directory)

    def write(self, path: str, text: str) -> None:
        target = Path(path)
        if not target.exists():
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        self.written.append((path, text))
        if target.name == "cgroup.procs":
            self._move(target, text)
        elif target.name == "cgroup.subtree_control":
            self._enable(target.parent, text.lstrip("+"), check=True)
        elif target.name == "cgroup.kill":
            (target.parent / "cgroup.procs").write_text("")
        else:
            target.write_text(text)

    def read(self, path: str) -> str:
        return self.contents[path] if path in self.contents else super().read(path)

    def open_to_write(self, path: str) -> int:
        descriptor = super().open_to_write(path)
        self.opened[descriptor] = path
        return descriptor

    def writable(self, path: str) -> bool:
        return not any(path == entry or path.startswith(entry + "/") for entry in self.read_only)

    def kill(self, pid: int) -> None:
        self.killed.append(pid)
        self.when_killed()
        for procs in self.sys.rglob("cgroup.procs"):
            procs.write_text("".join(f"{p}\n" for p in procs.read_text().split() if p != str(pid)))

    def _of(self, path: str) -> tuple[int, tuple[str, ...]]:
        return next(value for point, value in self._versions.items() if path.startswith(point + "/"))

    def _fill(self, directory: Path, controllers: tuple[str, ...], *, true_root: bool) -> None:
        version, _ = self._versions.get(str(directory)) or self._of(str(directory))
        contents = {"cgroup.procs": ""}
        if version == 1:
            contents["tasks"] = ""
        if version == 2:
            contents |= {
                "cgroup.controllers": " ".join(controllers),
                "cgroup.subtree_control": "",
                "cgroup.kill": "",
                "cpu.stat": "usage_usec 0\n",
            }
            contents |= {} if true_root else {"cgroup.type": "domain\n"}
        for name in controllers:
            contents |= (V1_FILES if version == 1 else V2_FILES).get(name, {}) | self.more_files.get(name, {})
        for name, text in contents.items():
            (directory / name).write_text(text)

    def _enable(self, directory: Path, name: str, *, check: bool = False) -> None:
        control = directory / "cgroup.subtree_control"
        if name in control.read_text().split():
            return
        if check and name in self.refused_controllers:
            raise OSError(errno.EINVAL, "realtime processes", str(control))
        if check and (directory / "cgroup.type").exists() and (directory / "cgroup.procs").read_text().split():
            raise OSError(errno.EBUSY, "no internal processes", str(control))
        control.write_text(" ".join(dict.fromkeys([*control.read_text().split(), name])))
        for child in directory.iterdir():
            if child.is_dir():
                self._fill_controller(child, name)

    def _fill_controller(self, directory: Path, name: str) -> None:
        offered = directory / "cgroup.controllers"
        offered.write_text(f"{offered.read_text()} {name}")
        for file, text in V2_FILES[name].items():
            (directory / file).write_text(text)

    def _move(self, procs: Path, pid: str) -> None:
        point = next(point for point in self._versions if str(procs).startswith(point + "/"))
        for other in Path(point).rglob("cgroup.procs"):
            other.write_text("".join(f"{entry}\n" for entry in other.read_text().split() if entry != pid))
        procs.write_text(procs.read_text() + f"{pid}\n")


@pytest.fixture
def kernel(tmp_path: Path) -> SimulatedKernel:
    return SimulatedKernel(tmp_path)


def look(kernel: SimulatedKernel, *, uid: int = 0) -> CgroupBackend:
    return detect(str(kernel.proc), str(kernel.sys), files=kernel, uid=uid)


def v1_host(kernel: SimulatedKernel, *, hybrid: bool = False, comounted: bool = False) -> None:
    """Cgroup v1 as an older distribution mounts it; our own memory cgroup is not the root."""
    groups = (
        [("memory",), ("pids",), ("cpu", "cpuacct")] if comounted else [("memory",), ("pids",), ("cpu",), ("cpuacct",)]
    )
    lines = ["31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw"]
    own = ["9:name=systemd:/", "0::/"]
    for index, names in enumerate(groups):
        joined = ",".join(names)
        kernel.hierarchy(f"fs/cgroup/{joined}", 1, names)
        lines.append(
            f"{40 + index} 31 0:{30 + index} / /sys/fs/cgroup/{joined} rw,relatime - cgroup cgroup rw,{joined}"
        )
        own.append(f"{index + 1}:{joined}:{'/box/one' if 'memory' in names else '/'}")
    kernel.mkdir(str(kernel.sys / "fs/cgroup/memory/box"))
    kernel.mkdir(str(kernel.sys / "fs/cgroup/memory/box/one"))
    if hybrid:
        kernel.hierarchy("fs/cgroup/unified", 2, ("hugetlb",))
        lines.append("60 31 0:50 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw")
    kernel.host(mountinfo="\n".join(lines) + "\n", own="\n".join(own) + "\n")


def v2_host(kernel: SimulatedKernel, own: str, *, true_root: bool = True, options: str = "rw") -> Path:
    """Cgroup v2 with every controller offered at its root."""
    root = kernel.hierarchy("fs/cgroup", 2, ("cpu", "memory", "pids"), true_root=true_root)
    line = f"30 24 0:26 / /sys/fs/cgroup {options},nosuid - cgroup2 cgroup2 {options},nsdelegate\n"
    kernel.host(mountinfo=line, own=f"0::{own}\n")
    return root


ENFORCED_V2 = {"memory_bytes": "cgroup v2 memory", "pids": "cgroup v2 pids", "cpu": "cgroup v2 cpu"}


def test_v1_groups_lie_below_the_own_cgroup_of_each_controller(kernel: SimulatedKernel) -> None:
    """A limit that somebody put on this process stays above the sandboxes."""
    v1_host(kernel)
    backend = look(kernel)
    assert backend.describe() == {"memory_bytes": "cgroup v1 memory", "pids": "cgroup v1 pids", "cpu": "cgroup v1 cpu"}
    group = backend.open_pool("1-2-3").acquire(memory_bytes=1 << 20, pids=7)
    base = kernel.sys / "fs/cgroup"
    assert group.directories["memory"] == str(base / "memory/box/one/harena-1-2-3/g0")
    assert group.directories["pids"] == str(base / "pids/harena-1-2-3/g0")
    assert (base / "memory/box/one/harena-1-2-3/g0/memory.limit_in_bytes").read_text() == str(1 << 20)
    assert (base / "pids/harena-1-2-3/g0/pids.max").read_text() == "7"


def test_hybrid_host_uses_the_version_that_has_the_controllers(kernel: SimulatedKernel) -> None:
    """A v2 hierarchy with only hugetlb does not hide the v1 controllers."""
    v1_host(kernel, hybrid=True)
    assert look(kernel).kind == "v1"


def test_each_sandbox_is_one_for_the_scheduler_with_or_without_a_limit(kernel: SimulatedKernel) -> None:
    """Its processes and sessions share one weight, and their time is counted, also without a limit."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    plain = pool.acquire(memory_bytes=1 << 20, pids=7)
    plain.attach(501)
    assert Path(plain.directories["cpu"], "cgroup.procs").read_text() == "501\n"
    assert Path(plain.directories["cpu"], "cpu.cfs_quota_us").read_text() == "-1"
    assert Path(plain.directories["cpu"], "cpu.shares").read_text() == "1024"
    assert Path(plain.directories["cpuacct"], "cgroup.procs").read_text() == "501\n"
    limited = pool.acquire(memory_bytes=1 << 20, pids=7, cpu=0.5)
    limited.attach(502)
    assert {
        name: Path(path, "cgroup.procs").read_text() for name, path in limited.directories.items()
    } == dict.fromkeys(("memory", "pids", "cpu", "cpuacct"), "502\n")
    assert Path(limited.directories["cpu"], "cpu.cfs_quota_us").read_text() == "50000"


@pytest.mark.parametrize(("processors", "shares"), [(2, 2048), (1, 1024), (512, 1 << 18)])
def test_v1_all_sandboxes_together_have_one_weight(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch, processors: int, shares: int
) -> None:
    """However many there are, who shares the machine with them is not crowded out: the node's loop among others."""
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    owned = kernel.sys / "fs/cgroup/cpu/harena-1-2-3"
    for _ in range(3):
        pool.acquire(memory_bytes=1 << 20)
    assert (owned / "cpu.shares").read_text() == str(shares)
    assert {path.parent for path in owned.glob("g*/cpu.shares")} == {owned / f"g{n}" for n in range(3)}


@pytest.mark.parametrize(("processors", "shares"), [(2, 2048), (128, 1 << 17)])
def test_v1_all_templates_together_have_one_weight_and_imports_hardly_any(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch, processors: int, shares: int
) -> None:
    """As one ordinary process on each core; of them an import yields to those that make sandboxes."""
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    v1_host(kernel)
    pool = look(kernel).open_template_pool("1-2-3")
    owned = kernel.sys / "fs/cgroup/cpu/harena-1-2-3-templates"
    group = pool.acquire(memory_bytes=1 << 20)
    group.attach(501)
    assert (owned / "g0/cgroup.procs").read_text() == "501\n"
    assert (owned / "cpu.shares").read_text() == str(shares)
    for lightly, expected in ((True, "8"), (False, "1024")):
        group.weigh(lightly=lightly)
        assert (owned / "g0/cpu.shares").read_text() == expected


@pytest.mark.parametrize("host", [v1_host, lambda kernel: v2_host(kernel, "/")])
def test_a_workspace_is_one_for_the_scheduler(
    kernel: SimulatedKernel, host: Callable[[SimulatedKernel], object]
) -> None:
    """However many sandboxes it has; and no group that one has had is given to another one."""
    host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    crowd = [pool.acquire(pids=5, share="crowd") for _ in range(4)]
    alone = pool.acquire(pids=5, share="alone")
    places = [os.path.dirname(group.directories["cpu"]) for group in (*crowd, alone)]
    assert len(set(places[:4])) == 1
    assert places[4] != places[0]
    assert os.path.dirname(places[4]) == os.path.dirname(places[0])
    (name,) = {"cpu.shares", "cpu.weight"} & set(os.listdir(places[0]))
    assert Path(places[0], name).read_text() == Path(places[4], name).read_text()
    assert pool.release(crowd[0])
    assert pool.acquire(pids=5, share="alone") not in crowd
    assert pool.acquire(pids=5, share="crowd") is crowd[0]
    assert pool.close() == []
    assert not Path(places[0]).exists()


@pytest.mark.parametrize(("processors", "most"), [(1, 15_000), (2, 30_000), (16, 310_000)])
@pytest.mark.parametrize("host", [v1_host, lambda kernel: v2_host(kernel, "/")])
def test_a_workspace_leaves_others_time_of_the_processors(
    kernel: SimulatedKernel,
    monkeypatch: pytest.MonkeyPatch,
    host: Callable[[SimulatedKernel], object],
    processors: int,
    most: int,
) -> None:
    """While another one has a sandbox; alone it has all of it. What lingers is nobody's sandbox."""
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    crowd = [pool.acquire(share="crowd") for _ in range(2)]

    def quota(group: Group) -> int | None:
        around = Path(group.directories["cpu"]).parent
        if (around / "cpu.max").exists():
            found, period = (around / "cpu.max").read_text().split()
        else:
            found, period = ((around / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        assert found in ("max", "-1") or period == "20000"
        return None if found in ("max", "-1") else int(found)

    assert quota(crowd[0]) is None
    alone = pool.acquire(share="alone")
    assert (quota(crowd[0]), quota(alone)) == (most, most)
    alone.attach(501)
    assert not pool.release(alone)
    assert (quota(crowd[0]), quota(alone)) == (None, None)
    third = pool.acquire(share="third")
    assert (quota(crowd[0]), quota(third)) == (most, most)
    for group in crowd:
        pool.release(group)
    assert quota(third) is None
    kernel.kill(501)
    assert pool.close() == []


def test_v1_no_sandbox_may_use_more_than_its_workspace(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel would refuse it, then or when another workspace comes; as many processors as there are is no limit."""
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    for cpu, expected in ((1.0, "100000"), (3.75, "350000"), (4.0, "-1"), (100.0, "-1")):
        group = pool.acquire(cpu=cpu, share="w")
        assert Path(group.directories["cpu"], "cpu.cfs_quota_us").read_text() == expected


def test_directories_of_workspaces_that_have_nothing_are_removed(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were used longest ago, and none with a sandbox in it."""
    monkeypatch.setattr(cgroup_tree, "MOST_SHARES", 2)
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    kept = pool.acquire(pids=5, share="kept")
    places = {}
    for number in range(5):
        group = pool.acquire(pids=5, share=f"w{number}")
        places[number] = group.directories["cpu"]
        assert pool.release(group)
    assert Path(kept.directories["cpu"]).exists()
    there = [number for number, place in places.items() if Path(place).exists()]
    assert there[-1] == 4
    assert len(there) <= 3
    assert not Path(places[0]).parent.exists()
    assert pool.close() == []


def test_directories_of_a_workspace_that_were_busy_when_they_were_dropped_are_removed_at_the_end(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup_tree, "MOST_SHARES", 1)
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    for number in range(4):
        group = pool.acquire(pids=5, share=f"w{number}")
        assert pool.release(group)
        kernel.busy_removals = 100
    kernel.busy_removals = 0
    assert pool.close() == []


def test_v1_a_sandbox_can_go_into_every_directory_itself(kernel: SimulatedKernel) -> None:
    """Memory first, so that what it takes next is its own; on v2 the kernel knows no such way."""
    v1_host(kernel)
    group = look(kernel).open_pool("1-2-3").acquire(pids=5)
    opened = [kernel.opened[entry] for entry in group.open_entries()]
    assert opened == [directory + "/tasks" for directory in dict.fromkeys(group.directories.values())]
    assert "/memory/" in opened[0]


def test_v1_entries_that_are_refused_leave_none_open(kernel: SimulatedKernel) -> None:
    v1_host(kernel)
    group = look(kernel).open_pool("1-2-3").acquire(pids=5)
    Path(group.directories["cpu"], "tasks").unlink()
    with pytest.raises(OSError, match="tasks"):
        group.open_entries()
    assert [entry for entry in kernel.opened if is_open(entry)] == []


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def test_v2_has_no_entries(kernel: SimulatedKernel) -> None:
    v2_host(kernel, "/")
    assert look(kernel).open_pool("1-2-3").acquire(pids=5).open_entries() == []


def weight_of(directory: Path) -> int:
    return int((directory / "cpu.weight").read_text())


@pytest.mark.parametrize("processors", [1, 2, 128])
def test_v2_an_owner_weighs_as_one_service_of_the_host(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch, processors: int
) -> None:
    """Beside it are whole groups of 100, however many processors there are; inside, sandboxes and templates divide."""
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    root = v2_host(kernel, "/")
    services = kernel.cgroup(root / "system.slice", 7)
    backend = look(kernel)
    sandbox = backend.open_pool("1-2-3").acquire()
    template = backend.open_template_pool("1-2-3").acquire()
    owned = root / "harena-1-2-3"
    beside = [weight_of(path) for path in root.iterdir() if (path / "cpu.weight").exists()]
    assert weight_of(owned) / sum(beside) <= weight_of(services) / sum(beside) == 1 / 2
    assert {path.name: weight_of(path) for path in owned.iterdir() if path.is_dir()} == {
        "sandboxes": 400,
        "templates": 100,
    }
    assert weight_of(owned / "sandboxes/g0") == 100
    for lightly, expected in ((True, 1), (False, 100)):
        template.weigh(lightly=lightly)
        assert weight_of(owned / "templates/g0") == expected
    assert set(sandbox.directories.values()) == {str(owned / "sandboxes/g0")}


def test_v2_what_had_to_leave_weighs_more_than_all_sandboxes(kernel: SimulatedKernel) -> None:
    """In a container or a scope of its own: the node, which keeps everybody's deadlines."""
    root = v2_host(kernel, "/", true_root=False)
    kernel.cgroup(root, 1, os.getpid())
    backend = look(kernel)
    for pool in (backend.open_pool("1-2-3"), backend.open_template_pool("1-2-3")):
        pool.acquire()
    assert weight_of(root / "harena-host") == 2 * weight_of(root / "harena-1-2-3")


def test_v2_the_last_pool_removes_what_both_share(kernel: SimulatedKernel) -> None:
    """Whichever that is; what a killed owner left is removed whole."""
    root = v2_host(kernel, "/")
    for first in (0, 1):
        backend = look(kernel)
        pools = [backend.open_pool("1-2-3"), backend.open_template_pool("1-2-3")]
        for pool in pools:
            pool.acquire()
        assert pools[first].close() == []
        assert (root / "harena-1-2-3").exists()
        assert pools[1 - first].close() == []
        assert list(root.glob("harena-*")) == []
    simulate_processes(kernel)
    backend = look(kernel)
    for pool in (backend.open_pool("12-100-77"), backend.open_template_pool("12-100-77")):
        pool.acquire()
    assert clean_stale(backend, str(kernel.proc)) == []
    assert list(root.glob("harena-*")) == []


SOCKETS = "memory.kmem.tcp.limit_in_bytes"


@pytest.mark.parametrize(("memory", "sockets"), [(512 << 20, 16 << 20), (64 << 30, 16 << 20), (1 << 20, 1 << 20)])
def test_v1_sockets_do_not_have_the_limit_a_second_time(kernel: SimulatedKernel, memory: int, sockets: int) -> None:
    """What they hold is counted apart there, and is of a pool that all of the host's connections need."""
    v1_host(kernel)
    kernel.more_files["memory"] = {SOCKETS: "-1"}
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(memory_bytes=memory)
    assert Path(group.directories["memory"], SOCKETS).read_text() == str(sockets)
    assert Path(group.directories["memory"], "memory.limit_in_bytes").read_text() == str(memory)
    assert pool.release(group)
    assert pool.acquire() is group
    assert Path(group.directories["memory"], SOCKETS).read_text() == str(16 << 20)


def test_v1_sockets_of_all_sandboxes_leave_the_host_half_of_its_pool(kernel: SimulatedKernel) -> None:
    """Half of where the kernel begins to slow down every connection; nothing is written where that is not known."""
    v1_host(kernel)
    kernel.more_files["memory"] = {SOCKETS: "-1"}
    written = []
    for number, text in enumerate(("1000\t2000\t3000\n", "", "?")):
        kernel.contents["/proc/sys/net/ipv4/tcp_mem"] = text
        look(kernel).open_pool(f"{number}-2-3")
        written.append((kernel.sys / f"fs/cgroup/memory/box/one/harena-{number}-2-3" / SOCKETS).read_text())
    assert written == [str(500 * os.sysconf("SC_PAGE_SIZE")), "-1", "-1"]


GIB = 1 << 30


def machine(kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch, *, pid_max: int, memory: int) -> None:
    """What the simulated /proc says."""
    (kernel.proc / "sys/kernel").mkdir(parents=True)
    (kernel.proc / "sys/kernel/pid_max").write_text(f"{pid_max}\n")
    (kernel.proc / "sys/kernel/threads-max").write_text("100000\n")
    (kernel.proc / "meminfo").write_text(f"MemFree: 5 kB\nMemTotal:   {memory // 1024} kB\n")
    monkeypatch.setattr(cgroup_ceiling, "PROC", str(kernel.proc))


@pytest.mark.parametrize(
    ("pid_max", "memory", "pids", "bytes_"),
    [(32768, 16 * GIB, 24576, 14 * GIB), (4194304, 2 * GIB, 75000, 3 * GIB // 2), (32768, GIB, 24576, 3 * GIB // 4)],
    ids=["16 GiB", "2 GiB", "1 GiB"],
)
def test_all_sandboxes_together_leave_processes_and_memory_to_the_host(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch, pid_max: int, memory: int, pids: int, bytes_: int
) -> None:
    """Whatever one of them was granted: they have three quarters of that part of the machine, and templates one."""
    machine(kernel, monkeypatch, pid_max=pid_max, memory=memory)
    v1_host(kernel)
    look(kernel).open_pool("1-2-3").acquire(pids=pid_max, memory_bytes=memory)
    base = kernel.sys / "fs/cgroup"
    limits = (base / "pids/harena-1-2-3/pids.max", base / "memory/box/one/harena-1-2-3/memory.limit_in_bytes")
    assert [int(path.read_text()) for path in limits] == [pids // 4 * 3, bytes_ // 4 * 3]
    look(kernel).open_template_pool("1-2-3")
    limits += tuple(path.parents[1] / "harena-1-2-3-templates" / path.name for path in limits)
    assert [int(path.read_text()) for path in limits[2:]] == [pids // 4, bytes_ // 4]
    second = SimulatedKernel(kernel.sys.parent / "second")
    root = v2_host(second, "/")
    backend = look(second)
    backend.open_pool("1-2-3")
    backend.open_template_pool("1-2-3")
    for name, part in (("harena-1-2-3/sandboxes", 3), ("harena-1-2-3/templates", 1)):
        found = [int((root / name / file).read_text()) for file in ("pids.max", "memory.max")]
        assert found == [pids // 4 * part, bytes_ // 4 * part]
    told = {"memory_bytes": (bytes_ // 4 * 3, bytes_ // 4), "pids": (pids // 4 * 3, pids // 4)}
    assert look(kernel).sums() == backend.sums() == told
    assert all(sum(both) <= most for both, most in zip(told.values(), (memory, pid_max), strict=True))


@pytest.mark.parametrize("host", [v1_host, lambda kernel: v2_host(kernel, "/")], ids=["v1", "v2"])
@pytest.mark.parametrize("kind", ["sandboxes", "templates"])
def test_a_workspace_leaves_others_memory_and_processes(
    kernel: SimulatedKernel,
    monkeypatch: pytest.MonkeyPatch,
    host: Callable[[SimulatedKernel], object],
    kind: str,
) -> None:
    """It has three quarters of what all may have, from the first on, and that is written once, not for each group."""
    machine(kernel, monkeypatch, pid_max=32768, memory=16 * GIB)
    if host is v1_host:
        kernel.more_files["memory"] = {"memory.memsw.limit_in_bytes": "9"}
    host(kernel)
    backend = look(kernel)
    pool = backend.open_pool("1-2-3") if kind == "sandboxes" else backend.open_template_pool("1-2-3")
    first = pool.acquire(memory_bytes=4 * GIB, pids=256, share="one")
    pids, memory = (
        Path(first.directories[name]).parent / file
        for name, file in (("pids", "pids.max"), ("memory", "memory.limit_in_bytes"))
    )
    memory = memory if memory.exists() else memory.parent / "memory.max"
    assert int(pids.read_text()) == 32768 * 3 // 4 // 4 * (3 if kind == "sandboxes" else 1) * 3 // 4
    assert int(memory.read_text()) == 14 * GIB // 4 * (3 if kind == "sandboxes" else 1) // 4 * 3
    swap = [memory.parent / name for name in ("memory.memsw.limit_in_bytes", "memory.swap.max")]
    assert [file.read_text() for file in swap if file.exists()] in ([memory.read_text()], ["0"])
    kernel.written.clear()
    pool.acquire(memory_bytes=4 * GIB, pids=256, share="one")
    assert not [path for path, _ in kernel.written if Path(path).parent in (pids.parent, memory.parent)]
    pool.acquire(share="other")
    (pids.parent.parent / "pids.max").write_text("4000")  # an operator's
    third = pool.acquire(share="third")
    assert (Path(third.directories["pids"]).parent / "pids.max").read_text() == "3000"
    assert pool.close() == []


@pytest.mark.parametrize("host", [v1_host, lambda kernel: v2_host(kernel, "/")], ids=["v1", "v2"])
def test_what_all_sandboxes_have_of_their_memory_is_told(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch, host: Callable[[SimulatedKernel], object]
) -> None:
    """Near the limit without what the kernel would let go of, in the whole tree; nothing where no limit is."""
    machine(kernel, monkeypatch, pid_max=32768, memory=16 * GIB)
    host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    directory = pool.memory_directory
    version = 2 if host is not v1_host else 1
    limit, used = (
        ("memory.max", "memory.current")
        if version == 2
        else (
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
        )
    )
    most = 14 * GIB // 4 * 3
    kernel.contents[f"{directory}/memory.stat"] = (
        f"cache 9\ninactive_file {GIB}\nactive_file {GIB}\ntotal_inactive_file {2 * GIB}\ntotal_active_file {GIB}\n"
    )
    for seen, told in ((1 * GIB, 1 * GIB), (9 * GIB, (7 if version == 2 else 6) * GIB)):
        kernel.contents[f"{directory}/{used}"] = f"{seen}\n"
        assert cgroup_ceiling.memory_of_all(kernel, directory) == (most, told, most // 4 * 3)
    kernel.contents[f"{directory}/{limit}"] = "max\n"
    assert cgroup_ceiling.memory_of_all(kernel, directory) is None
    assert pool.close() == []
    assert cgroup_tree.Pool(kernel, {}, Group).memory_directory == ""


def test_v1_templates_weigh_one_by_one_whosever_they_are(kernel: SimulatedKernel) -> None:
    """An import yields to every template, though memory and processes of each workspace are counted together; a
    hierarchy that counts memory, too, cannot do both, and there the workspace is as light as its import."""
    v1_host(kernel)
    pool = look(kernel).open_template_pool("1-2-3")
    one, other = (pool.acquire(share=name) for name in ("one", "other"))
    assert Path(one.directories["cpu"]).parent == Path(other.directories["cpu"]).parent
    assert Path(one.directories["pids"]).parent != Path(other.directories["pids"]).parent
    light = one.open_light_weight()
    assert light is not None
    assert [kernel.opened[each] for each in light.descriptors] == [one.directories["cpu"] + "/cpu.shares"]
    light.close()
    assert pool.close() == []


def test_v2_an_import_makes_its_workspace_light(kernel: SimulatedKernel) -> None:
    """Its group alone would yield to templates of its own workspace only. When nothing is imported any more, the
    workspace weighs as another one."""
    v2_host(kernel, "/")
    pool = look(kernel).open_template_pool("1-2-3")
    group = pool.acquire(share="one")
    light = group.open_light_weight()
    assert light is not None
    share = Path(group.directories["cpu"]).parent
    assert {kernel.opened[each] for each in light.descriptors} == {
        f"{share}/{place}cpu.weight" for place in ("", "g0/")
    }
    assert light.text == b"1"
    light.close()
    for place in (share, share / "g0"):
        (place / "cpu.weight").write_text("1")
    group.weigh(lightly=False)
    group.weigh_share()
    assert (weight_of(share), weight_of(share / "g0")) == (100, 100)
    assert pool.close() == []


def test_weights_that_are_refused_leave_no_file_open(kernel: SimulatedKernel) -> None:
    """What was opened before is closed."""
    v2_host(kernel, "/")
    group = look(kernel).open_template_pool("1-2-3").acquire(share="one")
    Path(group.directories["cpu"]).parent.joinpath("cpu.weight").unlink()
    with pytest.raises(OSError, match=r"cpu\.weight"):
        group.open_light_weight()
    assert not [descriptor for descriptor in kernel.opened if is_open(descriptor)]


def test_the_sum_is_a_part_of_what_a_limit_above_leaves(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container's, which the node itself lives in."""
    machine(kernel, monkeypatch, pid_max=32768, memory=64 * GIB)
    v1_host(kernel)
    base = kernel.sys / "fs/cgroup"
    (base / "pids/pids.max").write_text("1000")
    (base / "memory/memory.limit_in_bytes").write_text(str(8 * GIB))
    look(kernel).open_pool("1-2-3")
    assert (base / "pids/harena-1-2-3/pids.max").read_text() == "563"
    assert (base / "memory/box/one/harena-1-2-3/memory.limit_in_bytes").read_text() == str(7 * GIB // 4 * 3)


def test_a_host_that_tells_nothing_of_itself_has_groups_all_the_same(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Limits of single sandboxes hold."""
    monkeypatch.setattr(cgroup_ceiling, "PROC", str(kernel.proc))
    v1_host(kernel)
    look(kernel).open_pool("1-2-3").acquire(pids=7)
    base = kernel.sys / "fs/cgroup/pids/harena-1-2-3"
    assert [(base / name).read_text() for name in ("pids.max", "g0/pids.max")] == ["max", "7"]
    assert look(kernel).sums() == {}


def test_controllers_mounted_together_are_attached_once(kernel: SimulatedKernel) -> None:
    """`cpu,cpuacct` is one directory."""
    v1_host(kernel, comounted=True)
    group = look(kernel).open_pool("1-2-3").acquire(cpu=2)
    kernel.written.clear()
    group.attach(77)
    assert [path.split("fs/cgroup/")[1].split("/")[0] for path, _ in kernel.written] == [
        "memory",
        "pids",
        "cpu,cpuacct",
    ]


def test_v1_without_pids_says_what_is_not_enforced(kernel: SimulatedKernel) -> None:
    """One missing controller does not take the others away."""
    v1_host(kernel)
    kernel.read_only = [str(kernel.sys / "fs/cgroup/pids")]
    backend = look(kernel)
    assert backend.describe()["memory_bytes"] == "cgroup v1 memory"
    assert backend.describe()["pids"].startswith("not enforced: ")
    assert "is not writable" in backend.describe()["pids"]


def test_v2_root_makes_a_top_level_directory(kernel: SimulatedKernel) -> None:
    """Root gets harena-<owner> below the true root, where processes may stay."""
    root = v2_host(kernel, "/user.slice/session-1.scope")
    kernel.cgroup(root, 1, 2)
    kernel.cgroup(root / "user.slice")
    kernel.cgroup(root / "user.slice/session-1.scope", os.getpid(), 99)
    backend = look(kernel)
    assert backend.describe() == ENFORCED_V2
    group = backend.open_pool("1-2-3").acquire(memory_bytes=4096, pids=3, cpu=1.5)
    directory = root / "harena-1-2-3/sandboxes/g0"
    assert set(group.directories.values()) == {str(directory)}
    assert (directory / "memory.max").read_text() == "4096"
    assert (directory / "memory.swap.max").read_text() == "0"
    assert (directory / "cpu.max").read_text() == "150000 100000"
    group.attach(55)
    assert (directory / "cgroup.procs").read_text() == "55\n"
    assert (root / "user.slice/session-1.scope/cgroup.procs").read_text().split() == [str(os.getpid()), "99"]


def test_v2_container_root_moves_its_processes_to_a_leaf(kernel: SimulatedKernel) -> None:
    """The top of a container is not the true root: it has to be empty before controllers can be enabled."""
    root = v2_host(kernel, "/", true_root=False)
    kernel.cgroup(root, 1, os.getpid())
    backend = look(kernel)
    assert backend.describe() == ENFORCED_V2
    assert (root / "cgroup.procs").read_text() != ""  # looking changed nothing
    backend.open_pool("1-2-3").acquire(pids=3)
    assert (root / "harena-host/cgroup.procs").read_text().split() == ["1", str(os.getpid())]
    assert (root / "cgroup.procs").read_text() == ""


def test_v2_delegated_scope_of_a_user(kernel: SimulatedKernel) -> None:
    """Alone in a scope that is its own, a user's process steps into a leaf and uses the scope."""
    root = v2_host(kernel, "/user.slice/run-7.scope")
    kernel.cgroup(root, 1, enable="cpu memory pids")
    kernel.cgroup(root / "user.slice", enable="cpu memory pids")
    scope = kernel.cgroup(root / "user.slice/run-7.scope", os.getpid())
    kernel.read_only = [str(root / "cgroup.procs"), str(root / "user.slice/cgroup.procs")]
    backend = look(kernel, uid=1000)
    assert backend.describe() == ENFORCED_V2
    backend.open_pool("1-2-3").acquire(pids=3)
    assert (scope / "harena-host/cgroup.procs").read_text().split() == [str(os.getpid())]
    assert (scope / "harena-1-2-3/sandboxes/g0/pids.max").read_text() == "3"


def test_v2_user_without_cpu_delegation_gets_the_rest(kernel: SimulatedKernel) -> None:
    """Older systemd delegates memory and pids only."""
    root = v2_host(kernel, "/run-7.scope")
    kernel.cgroup(root, 1, enable="memory pids")
    kernel.cgroup(root / "run-7.scope", os.getpid())
    kernel.read_only = [str(root / "cgroup.procs")]
    described = look(kernel, uid=1000).describe()
    assert described["memory_bytes"] == "cgroup v2 memory"
    assert described["cpu"].endswith("does not offer the cpu controller")


def test_v2_user_in_a_shared_session_scope_is_told_what_to_do(kernel: SimulatedKernel) -> None:
    """Other processes in the own cgroup forbid controllers below it, and nothing above is writable."""
    root = v2_host(kernel, "/session-1.scope")
    kernel.cgroup(root, 1, enable="cpu memory pids")
    kernel.cgroup(root / "session-1.scope", os.getpid(), 99)
    kernel.read_only = [str(root / "cgroup.procs")]
    backend = look(kernel, uid=1000)
    assert isinstance(backend, NoCgroups)
    assert "holds other processes" in backend.reason
    assert "systemd-run --user --scope" in backend.fix
    assert backend.describe()["memory_bytes"].startswith("not enforced: ")


def test_v2_read_only_in_a_container(kernel: SimulatedKernel) -> None:
    """A container's default; the fix names the container's own settings."""
    root = v2_host(kernel, "/", true_root=False, options="ro")
    kernel.cgroup(root, 1, os.getpid())
    kernel.read_only = [str(root)]
    backend = look(kernel)
    assert isinstance(backend, NoCgroups)
    assert "is not writable" in backend.reason
    assert "writable-cgroups=true" in backend.fix


def test_v2_processes_of_another_pid_namespace_are_left_where_they_are(kernel: SimulatedKernel) -> None:
    """A 0 in cgroup.procs is somebody that we can neither see nor move."""
    root = v2_host(kernel, "/", true_root=False)
    kernel.cgroup(root, 0, os.getpid())
    assert isinstance(look(kernel), NoCgroups)


def test_v2_refused_cpu_controller_is_said_and_survived(kernel: SimulatedKernel) -> None:
    """Realtime processes make the kernel refuse cpu; memory and pids still hold."""
    root = v2_host(kernel, "/")
    kernel.cgroup(root, 1)
    kernel.refused_controllers = {"cpu"}
    backend = look(kernel)
    group = backend.open_pool("1-2-3").acquire(memory_bytes=4096, pids=3, cpu=1)
    assert set(group.directories) == {"memory", "pids"}
    assert backend.describe()["cpu"].startswith("not enforced: the kernel refused to enable cpu")


def test_a_kernel_that_refuses_what_was_expected_leaves_no_cgroups_and_the_reason(kernel: SimulatedKernel) -> None:
    """Sandboxes run then without these limits, and say so, instead of not at all."""
    v2_host(kernel, "/")
    kernel.refused_controllers = {"cpu", "memory", "pids"}
    backend, pool = open_best(look(kernel), "1-2-3")
    assert isinstance(backend, NoCgroups)
    assert "cgroup.subtree_control: realtime processes" in backend.describe()["memory_bytes"]
    assert pool.acquire(memory_bytes=1).directories == {}


def test_no_cgroups_mounted(kernel: SimulatedKernel) -> None:
    """Groups of a host without cgroups can be used like any other and do nothing."""
    kernel.host(mountinfo="21 1 8:1 / / rw - ext4 /dev/vda rw\n", own="")
    backend = look(kernel)
    assert isinstance(backend, NoCgroups)
    assert backend.reason == "no cgroup file system is mounted"
    pool = backend.open_pool("1-2-3")
    group = pool.acquire(memory_bytes=1, pids=1, cpu=1)
    group.attach(1)
    group.kill()
    assert group.oom_kills() == 0
    assert pool.release(group)
    assert pool.close() == []


def test_cgroup_path_outside_the_namespace_falls_back_to_the_mount(kernel: SimulatedKernel) -> None:
    """A container that sees only its own part of the hierarchy uses the top of what it sees."""
    root = kernel.hierarchy("fs/cgroup", 2, ("cpu", "memory", "pids"))
    kernel.host(mountinfo="30 24 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", own="0::/docker/abc\n")
    assert look(kernel).parents["memory"] == str(root)
    kernel.host(mountinfo="30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", own="0::/../other\n")
    assert look(kernel).parents["memory"] == str(root)


def test_released_groups_are_used_again_and_limits_written_only_when_they_differ(kernel: SimulatedKernel) -> None:
    """The directories stay; the second sandbox with the same limits costs no write at all."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    first = pool.acquire(memory_bytes=4096, pids=3)
    assert pool.release(first)
    kernel.written.clear()
    assert pool.acquire(memory_bytes=4096, pids=3) is first
    assert kernel.written == []
    assert pool.release(first)
    kernel.written.clear()
    assert pool.acquire(memory_bytes=4096, pids=5) is first
    assert [text for _, text in kernel.written] == ["5"]


def test_memory_and_swap_limits_are_written_in_the_order_the_kernel_accepts(kernel: SimulatedKernel) -> None:
    """memory <= memory + swap at every moment: down from below, up from above."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(memory_bytes=None)
    Path(group.directories["memory"], "memory.memsw.limit_in_bytes").write_text("-1")
    kernel.written.clear()
    group.apply((8192, None, None))
    group.apply((4096, None, None))
    group.apply((8192, None, None))
    group.apply((None, None, None))
    order = [(path.rsplit("/", 1)[1].removeprefix("memory."), text) for path, text in kernel.written]
    assert order == [
        ("limit_in_bytes", "8192"),
        ("memsw.limit_in_bytes", "8192"),
        ("limit_in_bytes", "4096"),
        ("memsw.limit_in_bytes", "4096"),
        ("memsw.limit_in_bytes", "8192"),
        ("limit_in_bytes", "8192"),
        ("memsw.limit_in_bytes", "-1"),
        ("limit_in_bytes", "-1"),
    ]


def test_a_group_with_a_process_inside_is_not_given_out(kernel: SimulatedKernel) -> None:
    """It is looked at again later, and given out once it is empty."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    first = pool.acquire(pids=3)
    first.attach(501)
    assert not pool.release(first)
    assert pool.acquire(pids=3) is not first
    kernel.kill(501)
    assert pool.acquire(pids=3) is first


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_with_memory_that_stays_charged_is_not_given_out(
    kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """The next sandbox would have less. It is looked at again, and removed when it has had its time; pages of files do
    not count."""
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    v1_host(kernel) if version == 1 else v2_host(kernel, "/")
    pool = look(kernel).open_pool("1-2-3")
    first, second = pool.acquire(memory_bytes=1 << 30), pool.acquire(memory_bytes=1 << 30)
    directory = Path(first.directories["memory"])
    usage = directory / ("memory.usage_in_bytes" if version == 1 else "memory.current")
    usage.write_text(str(90 << 20))
    assert not pool.release(first)
    assert pool.acquire(memory_bytes=1 << 30) not in (first, second)
    (directory / "memory.stat").write_text(f"x 0\ninactive_file {50 << 20}\nactive_file {38 << 20}\n")
    assert pool.acquire(memory_bytes=1 << 30) is first
    (directory / "memory.stat").write_text(f"x 0\ninactive_file {50 << 20}\nactive_file {8 << 20}\n")
    assert not pool.release(first)
    clock[0] += 60
    assert pool.acquire(memory_bytes=1 << 30) not in (first, second)
    assert not directory.exists()


def test_a_limit_that_a_used_group_does_not_take_is_given_to_a_new_one(kernel: SimulatedKernel) -> None:
    """Cgroup v1 refuses one that is lower than what is charged; only a new group's refusal is an error."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    first = pool.acquire(memory_bytes=1 << 30)
    assert pool.release(first)
    (Path(first.directories["memory"]) / "memory.limit_in_bytes").unlink()  # every write of it fails
    second = pool.acquire(memory_bytes=1 << 20)
    assert second is not first
    assert not Path(first.directories["memory"]).exists()


def test_releasing_twice_is_an_error(kernel: SimulatedKernel) -> None:
    """Otherwise two sandboxes would share one group."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(pids=3)
    assert pool.release(group)
    with pytest.raises(ValueError, match="not in use"):
        pool.release(group)


def test_counters_start_anew_for_the_next_sandbox(kernel: SimulatedKernel) -> None:
    """What cannot be set back is subtracted."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(memory_bytes=4096, cpu=1)
    memory = Path(group.directories["memory"])
    (memory / "memory.oom_control").write_text("under_oom 0\noom_kill 2\n")
    assert group.oom_kills() == 2
    assert pool.release(group)
    assert pool.acquire(memory_bytes=4096, cpu=1) is group
    assert group.oom_kills() == 0


def test_v2_kills_of_an_earlier_sandbox_are_not_counted(kernel: SimulatedKernel) -> None:
    """`memory.events` only grows: what an older sandbox added is subtracted."""
    v2_host(kernel, "/")
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(memory_bytes=1 << 20)
    directory = Path(group.directories["memory"])
    (directory / "memory.events").write_text("oom 1\noom_kill 1\noom_group_kill 0\n")
    assert group.oom_kills() == 1
    pool.release(group)
    assert pool.acquire(memory_bytes=1 << 20) is group
    assert group.oom_kills() == 0


@pytest.mark.parametrize(
    "peaks", [["memory.max_usage_in_bytes"], ["memory.max_usage_in_bytes", "memory.memsw.max_usage_in_bytes"]]
)
def test_v1_kills_from_above_are_told_apart(kernel: SimulatedKernel, peaks: list[str]) -> None:
    """A process that a limit above has killed, though the group was never near its own, is nobody's doing in there."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(memory_bytes=1 << 30, cpu=1)
    memory = Path(group.directories["memory"])
    for peak in peaks:
        (memory / peak).write_text("1000000\n")
    (memory / "memory.oom_control").write_text("under_oom 0\noom_kill 2\n")
    assert (group.oom_kills(), group.kills_from_above()) == (0, 2)
    (memory / peaks[-1]).write_text(f"{1 << 30}\n")
    assert (group.oom_kills(), group.kills_from_above()) == (2, 0)
    assert pool.release(group, 2)
    assert pool.acquire(memory_bytes=1 << 30, cpu=1) is group
    assert [(memory / peak).read_text() for peak in peaks] == ["0"] * len(peaks)
    (memory / "memory.oom_control").write_text("under_oom 0\noom_kill 3\n")
    assert (group.oom_kills(), group.kills_from_above()) == (0, 1)


def test_v2_kills_from_above_are_told_apart(kernel: SimulatedKernel) -> None:
    """By the events of the group itself, which those above it do not count for it."""
    v2_host(kernel, "/")
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(memory_bytes=1 << 20)
    directory = Path(group.directories["memory"])
    (directory / "memory.events").write_text("oom 0\noom_kill 1\n")
    (directory / "memory.events.local").write_text("oom 0\noom_kill 1\n")
    assert (group.oom_kills(), group.kills_from_above()) == (0, 1)
    (directory / "memory.events.local").write_text("oom 1\noom_kill 1\n")
    assert (group.oom_kills(), group.kills_from_above()) == (1, 0)


def test_v2_refusals_are_counted_where_the_limit_is(kernel: SimulatedKernel) -> None:
    """Since Linux 6.12: what was refused to a workspace while a sandbox lived was perhaps refused to it; before, each
    group counts what was refused in it, and the most that were in there tell whose limit it was."""
    kernel.more_files["pids"] = {"pids.events": "max 0\n", "pids.events.local": "max 0\n"}
    v2_host(kernel, "/")
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(pids=5, share="one")
    directory = Path(group.directories["pids"])
    (directory / "pids.events").write_text("max 7\n")
    assert not group.lacked_processes()
    for place, refused in ((directory.parent, "1"), (directory.parents[1], "3")):
        (place / "pids.events.local").write_text(f"max {refused}\n")
        assert group.lacked_processes()
        group.begin_to_watch_processes()
        assert not group.lacked_processes()
    assert pool.release(group)
    assert pool.acquire(pids=5, share="one") is not group
    before = SimulatedKernel(kernel.sys.parent / "before")
    before.more_files["pids"] = {"pids.events": "max 0\n", "pids.peak": "4\n"}
    v2_host(before, "/")
    older = look(before).open_pool("1-2-3").acquire(pids=5)
    directory = Path(older.directories["pids"])
    (directory / "pids.events").write_text("max 1\n")
    assert older.lacked_processes()
    (directory / "pids.peak").write_text("5\n")
    assert not older.lacked_processes()


def test_v1_kill_forbids_forks_first_and_the_limit_comes_back(kernel: SimulatedKernel) -> None:
    """pids.max 0 while the list is walked, and the real limit for the next sandbox."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(memory_bytes=4096, pids=3)
    group.attach(501)
    kernel.written.clear()
    group.kill()
    assert kernel.written[0][1] == "0"
    assert kernel.killed == [501]
    assert pool.release(group)
    assert pool.acquire(memory_bytes=4096, pids=3) is group
    assert Path(group.directories["pids"], "pids.max").read_text() == "3"


def test_v2_kill_uses_the_kernel_s_own_and_does_without_on_older_ones(kernel: SimulatedKernel) -> None:
    """cgroup.kill is there since Linux 5.14."""
    v2_host(kernel, "/")
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(pids=3)
    group.attach(501)
    group.kill()
    assert (group.processes(), kernel.killed) == ([], [])
    Path(group.directories["pids"], "cgroup.kill").unlink()
    group.attach(502)
    group.kill()
    assert (group.processes(), kernel.killed) == ([], [502])


@pytest.mark.parametrize("controllers", ["memory pids", "memory"])
def test_v2_kill_on_older_kernels_walks_until_nothing_is_left(kernel: SimulatedKernel, controllers: str) -> None:
    """A tree that forks faster than it is killed: forks are forbidden and everything is frozen first, where the kernel
    has files for it; the next sandbox has its own limit, and is not frozen."""
    root = v2_host(kernel, "/")
    kernel.refused_controllers = {"memory", "pids", "cpu"} - set(controllers.split())
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(memory_bytes=4096, pids=300)
    directory = root / "harena-1-2-3/sandboxes/g0"
    (directory / "cgroup.kill").unlink()
    (directory / "cgroup.freeze").write_text("0")
    group.attach(1000)
    forks = iter(range(1001, 1400))
    kernel.written.clear()
    kernel.when_killed = lambda: forking(kernel, directory, forks)
    group.kill()
    assert group.processes() == []
    first = [(path.rsplit("/", 1)[1], text) for path, text in kernel.written if not path.endswith("procs")]
    forbidden = [("pids.max", "0")] if "pids" in controllers else []
    assert first == [*forbidden, ("cgroup.freeze", "1"), ("cgroup.freeze", "0")]
    assert kernel.killed == [1000]
    assert pool.release(group)
    assert pool.acquire(memory_bytes=4096, pids=300) is group
    assert (directory / "pids.max").read_text() == "300" if forbidden else not (directory / "pids.max").exists()


def forking(kernel: SimulatedKernel, directory: Path, forks: Iterator[int]) -> None:
    """What is in the group forks, unless it is forbidden or frozen."""
    frozen = directory / "cgroup.freeze"
    if frozen.exists() and frozen.read_text() == "1":
        return
    if (directory / "pids.max").exists() and (directory / "pids.max").read_text() == "0":
        return
    for pid in islice(forks, 2):
        with (directory / "cgroup.procs").open("a") as procs:
            procs.write(f"{pid}\n")


def test_v2_kill_where_nothing_forbids_forks(kernel: SimulatedKernel) -> None:
    """No pids controller and no freezer: whatever was forked during a walk is found by the next one."""
    root = v2_host(kernel, "/")
    kernel.refused_controllers = {"pids", "cpu"}
    group = look(kernel).open_pool("1-2-3").acquire(memory_bytes=4096)
    directory = root / "harena-1-2-3/sandboxes/g0"
    (directory / "cgroup.kill").unlink()
    group.attach(1000)
    forks = iter(range(1001, 1120))
    kernel.when_killed = lambda: forking(kernel, directory, forks)
    group.kill()
    assert group.processes() == []
    assert kernel.killed == [*range(1000, 1120)]


def test_owners_have_no_swap_beside_their_memory(kernel: SimulatedKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernel counts swap: the sum of memory and swap is the sum of memory."""
    machine(kernel, monkeypatch, pid_max=32768, memory=16 * GIB)
    v1_host(kernel)
    kernel.more_files["memory"] = {"memory.memsw.limit_in_bytes": "-1"}
    base = kernel.sys / "fs/cgroup/memory/box/one"
    backend = look(kernel)
    backend.open_pool("1-2-3")
    backend.open_template_pool("1-2-3")
    for name in ("harena-1-2-3", "harena-1-2-3-templates"):
        both = [(base / name / f"memory.{file}limit_in_bytes").read_text() for file in ("", "memsw.")]
        assert both[0] == both[1] != "-1"
    second = SimulatedKernel(kernel.sys.parent / "second")
    root = v2_host(second, "/")
    backend = look(second)
    backend.open_pool("1-2-3")
    backend.open_template_pool("1-2-3")
    swap = [(root / "harena-1-2-3" / name / "memory.swap.max").read_text() for name in ("sandboxes", "templates")]
    assert swap == ["0", "0"]


def test_close_kills_and_removes_everything_and_tries_again_when_busy(kernel: SimulatedKernel) -> None:
    """Nothing is left, although the kernel said EBUSY at first."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    pool.acquire(pids=3, cpu=1).attach(501)
    pool.release(pool.acquire(pids=3))
    kernel.busy_removals = 3
    assert pool.close() == []
    assert list(kernel.sys.rglob("harena-*")) == []
    assert kernel.killed == [501]


def test_close_removes_the_rest_of_a_group_of_which_a_part_is_gone(kernel: SimulatedKernel) -> None:
    """A group that was dropped while the kernel called one of its directories busy keeps that one only."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    group, other = pool.acquire(pids=3), pool.acquire(pids=3)
    other.attach(502)
    kernel.rmdir(group.directories["pids"])
    assert pool.close() == []
    assert list(kernel.sys.rglob("harena-*")) == []
    assert kernel.killed == [502]


def test_close_says_what_it_could_not_remove(kernel: SimulatedKernel) -> None:
    """Bounded: a directory that stays busy is reported instead of waited for without end."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    pool.acquire(pids=3)
    kernel.busy_removals = 10**6
    left = pool.close(timeout_seconds=0.0)
    assert str(kernel.sys / "fs/cgroup/pids/harena-1-2-3/g0") in left


def simulate_processes(kernel: SimulatedKernel, *processes: tuple[int, int]) -> None:
    """(pid, start time) of those that live, in pid namespace 77."""
    (kernel.proc / "self/ns").mkdir()
    (kernel.proc / "self/ns/pid").symlink_to("pid:[77]")
    for pid, started in ((os.getpid(), 5), *processes):
        (kernel.proc / str(pid)).mkdir()
        fields = " ".join(["0"] * 18)
        (kernel.proc / str(pid) / "stat").write_text(f"{pid} (a ) name) S {fields} {started} 0\n")


def test_stale_directories_of_gone_owners_are_removed_and_others_kept(kernel: SimulatedKernel) -> None:
    """Gone: no such pid, or the pid is somebody else's now. Another pid namespace's owners cannot be judged."""
    v1_host(kernel)
    simulate_processes(kernel, (10, 100), (11, 300))
    backend = look(kernel)
    for owner in ("10-100-77", "11-200-77", "12-100-77", "12-100-78"):
        backend.open_pool(owner).acquire(pids=3)
    kernel.mkdir(str(kernel.sys / "fs/cgroup/pids/harena-mine"))
    assert clean_stale(backend, str(kernel.proc)) == []
    left = {path.name for path in (kernel.sys / "fs/cgroup/pids").iterdir() if path.is_dir()}
    assert left == {"harena-10-100-77", "harena-12-100-78", "harena-mine"}


def test_what_an_earlier_start_left_in_a_sibling_cgroup_is_removed_too(kernel: SimulatedKernel) -> None:
    """Each start may get a cgroup of its own, and leave its directories there."""
    v1_host(kernel)
    simulate_processes(kernel)
    earlier = kernel.sys / "fs/cgroup/memory/box/earlier"
    for path in (earlier, earlier / "harena-12-100-77", earlier / "harena-12-100-77/g0"):
        kernel.mkdir(str(path))
    assert clean_stale(look(kernel), str(kernel.proc)) == []
    assert list(earlier.glob("harena-*")) == []


def test_stale_directories_that_still_hold_a_process_are_reported(kernel: SimulatedKernel) -> None:
    """Nothing in them is killed: what is inside may be somebody's."""
    v1_host(kernel)
    simulate_processes(kernel)
    group = look(kernel).open_pool("12-100-77").acquire(pids=3)
    group.attach(501)
    left = clean_stale(look(kernel), str(kernel.proc))
    assert group.directories["pids"] in left
    assert kernel.killed == []


def test_owner_id_names_pid_start_and_namespace() -> None:
    """Two processes never share it, not even one after the other."""
    pid, started, namespace = owner_id(os.getpid()).split("-")
    assert int(pid) == os.getpid()
    assert int(started) > 0
    assert namespace in os.readlink("/proc/self/ns/pid")
    with pytest.raises(ProcessLookupError):
        owner_id(2**31 - 1)


def facts(**changes: object) -> DelegationFacts:
    values: dict[str, object] = {
        "uid": 1000,
        "systemd_run": "/usr/bin/systemd-run",
        "user_bus": True,
        "has_v2": True,
        "enforced": False,
    }
    return DelegationFacts(**(values | changes))  # type: ignore[arg-type]


def test_an_ordinary_user_with_systemd_gets_a_delegated_scope() -> None:
    """systemd-run in front, the program unchanged behind."""
    command = delegated_command(["python3", "-I", "spawner.py"], facts())
    assert command is not None
    assert command[:3] == ["/usr/bin/systemd-run", "--user", "--scope"]
    assert "Delegate=yes" in command
    assert command[-4:] == ["--", "python3", "-I", "spawner.py"]


@pytest.mark.parametrize(
    "change",
    [{"uid": 0}, {"systemd_run": None}, {"user_bus": False}, {"has_v2": False}, {"enforced": True}],
    ids=lambda change: next(iter(change)),
)
def test_no_scope_where_it_is_not_needed_or_not_possible(change: dict[str, object]) -> None:
    """Root, no systemd, no session, cgroup v1, or limits that work already."""
    assert delegated_command(["x"], facts(**change)) is None


def test_delegation_is_probed_without_starting_anything(tmp_path: Path, kernel: SimulatedKernel) -> None:
    """A systemd-run on PATH and the socket of the user's systemd are what counts."""
    v2_host(kernel, "/")
    (tmp_path / "systemd-run").write_text("#!/bin/false\n")
    (tmp_path / "systemd-run").chmod(0o755)
    (tmp_path / "run/systemd").mkdir(parents=True)
    environ = {"PATH": f"/nowhere:{tmp_path}", "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    backend = NoCgroups(kernel, "for this test", "")
    assert not probe_delegation(backend, environ, str(kernel.proc)).user_bus
    (tmp_path / "run/systemd/private").touch()
    probed = probe_delegation(backend, environ, str(kernel.proc))
    assert (probed.systemd_run, probed.user_bus, probed.has_v2) == (str(tmp_path / "systemd-run"), True, True)
    assert not probed.enforced


def test_v1_counts_processor_time_of_each_sandbox(kernel: SimulatedKernel) -> None:
    """From its start on, with one process put in and none later, however many there are; the next sandbox starts at
    nothing."""
    v1_host(kernel)
    pool = look(kernel).open_pool("1-2-3")
    group = pool.acquire(memory_bytes=4096)
    group.attach(501)
    counting = Path(group.directories["cpuacct"])
    assert (counting / "cgroup.procs").read_text() == "501\n"
    (counting / "cpuacct.usage").write_text("2500000000\n")
    assert group.counted_seconds() == 2.5
    assert (counting / "cgroup.procs").read_text() == "501\n"
    for directory in group.directories.values():
        Path(directory, "cgroup.procs").write_text("")
    assert pool.release(group)
    assert pool.acquire(memory_bytes=4096) is group
    assert group.counted_seconds() == 0.0
    (counting / "cpuacct.usage").write_text("3000000000\n")
    assert group.counted_seconds() == 0.5


def test_v2_counts_processor_time_in_every_group(kernel: SimulatedKernel) -> None:
    """`cpu.stat` is there without any controller."""
    v2_host(kernel, "/")
    group = look(kernel).open_pool("1-2-3").acquire(memory_bytes=1 << 20)
    Path(group.directories["memory"], "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    assert group.counted_seconds() == 1.5
