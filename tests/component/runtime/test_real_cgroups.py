"""Cgroups of this host's own kernel: what ends a program that takes too much memory, and what is left of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from harena.runtime.guest.launch import enter_groups
from harena.runtime.kernel.cgroup_tree import Pool, most_of_a_share
from harena.runtime.kernel.cgroups import CgroupBackend, CgroupFiles, Group, detect, owner_id


@pytest.fixture
def real_backend() -> CgroupBackend:
    if os.geteuid() != 0:
        pytest.skip("capability:root needed to write this host's cgroups")
    backend = detect()
    if "memory" not in backend.parents:
        pytest.skip(f"capability:cgroups {backend.describe()['memory_bytes']}")
    return backend


@pytest.fixture
def parked_child() -> Iterator[tuple[int, int]]:
    """A child that waits for a byte, then eats memory until it is killed: (pid, descriptor to write to)."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(write_end)
            os.read(read_end, 1)
            hoard = [bytearray(b"x" * (1 << 20)) for _ in range(512)]
            os._exit(len(hoard) % 7)
        finally:
            os._exit(99)
    os.close(read_end)
    yield pid, write_end
    os.close(write_end)


def is_released(pool: Pool, group: Group) -> bool:
    """Whether a group without processes can be given back within ten seconds: the kernel takes back what an ended
    process was charged a moment after its end."""
    deadline = time.monotonic() + 10
    while not pool.release(group):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


@pytest.mark.root
def test_a_memory_hog_is_killed_by_the_real_kernel(real_backend: CgroupBackend, parked_child: tuple[int, int]) -> None:
    """64 MB hold against a program that wants 512 MB, and the group is clean and gone afterwards."""
    pid, go = parked_child
    pool = real_backend.open_pool(owner_id(os.getpid()))
    group = pool.acquire(memory_bytes=64 << 20, pids=16)
    group.attach(pid)
    assert group.processes() == [pid]
    assert not pool.release(group)
    os.write(go, b"x")
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == 9
    assert group.oom_kills() == 1
    assert is_released(pool, group)
    again = pool.acquire(memory_bytes=64 << 20, pids=16)
    assert again is group
    assert again.oom_kills() == 0
    assert pool.close() == []
    assert not any(os.path.exists(path) for path in group.directories.values())


@pytest.mark.root
def test_a_kill_by_a_limit_above_is_not_the_groups_own(
    real_backend: CgroupBackend, parked_child: tuple[int, int]
) -> None:
    """All groups together meet a limit, and this one is far from its own: the kernel kills in here all the same."""
    pid, go = parked_child
    pool = real_backend.open_pool(owner_id(os.getpid()))
    group = pool.acquire(memory_bytes=256 << 20, pids=16)
    group.attach(pid)
    above = Path(group.directories["memory"]).parent
    for name in ("memory.max", "memory.limit_in_bytes"):
        if (above / name).exists():
            (above / name).write_text(str(64 << 20))
    os.write(go, b"x")
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status)
    assert (group.oom_kills(), group.kills_from_above()) == (0, 1)
    assert is_released(pool, group)
    assert pool.close() == []


def forks(group: Group, count: int) -> int:
    """How many processes one that is put into the group can start, which end with it."""
    (inside, go), (told, tell), (held, hold) = (os.pipe() for _ in range(3))
    pid = os.fork()
    if pid == 0:
        os.close(hold)
        os.read(inside, 1)
        started = 0
        with suppress(OSError):
            for _ in range(count):
                if os.fork() == 0:
                    os.read(held, 1)
                    os._exit(0)
                started += 1
        os.write(tell, bytes([started]))
        os.read(held, 1)
        with suppress(ChildProcessError):
            while True:
                os.wait()
        os._exit(0)
    group.attach(pid)
    os.write(go, b"x")
    (started,) = os.read(told, 1)
    for descriptor in (inside, go, told, tell, held, hold):
        os.close(descriptor)
    os.waitpid(pid, 0)
    return started


@pytest.mark.root
def test_a_process_that_a_limit_above_refuses_is_not_refused_by_the_groups_own(real_backend: CgroupBackend) -> None:
    """A group that has refused some is not used again: the most that were in there cannot be set back."""
    pool = real_backend.open_pool(owner_id(os.getpid()))
    own = pool.acquire(pids=4, share="one")
    if not Path(own.directories["pids"], "pids.peak").exists():
        pytest.skip("capability:kernel does not count the most processes of a cgroup")
    assert (forks(own, 3), own.lacked_processes()) == (3, False)
    assert (forks(own, 9), own.lacked_processes()) == (3, False)
    assert is_released(pool, own)
    group = pool.acquire(pids=9, share="one")
    assert group is not own
    Path(group.directories["pids"]).parent.joinpath("pids.max").write_text("6")
    assert (forks(group, 5), group.lacked_processes()) == (5, False)
    assert (forks(group, 6), group.lacked_processes()) == (5, True)
    assert is_released(pool, group)
    assert not pool.acquire(pids=9, share="one").lacked_processes()
    assert pool.close() == []


@pytest.mark.root
def test_memory_that_outlives_its_processes_is_no_later_sandboxs(real_backend: CgroupBackend) -> None:
    """A process of the group has filled a file in memory that somebody else keeps."""
    pool = real_backend.open_pool(owner_id(os.getpid()))
    group = pool.acquire(memory_bytes=64 << 20, pids=16)
    file = os.memfd_create("kept")
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.read(read_end, 1)
            os.write(file, bytes(32 << 20))
        finally:
            os._exit(0)
    group.attach(pid)
    os.write(write_end, b"x")
    os.waitpid(pid, 0)
    assert not pool.release(group)
    assert pool.acquire(memory_bytes=64 << 20, pids=16) is not group
    for descriptor in (file, read_end, write_end):
        os.close(descriptor)
    assert pool.acquire(memory_bytes=64 << 20, pids=16) is group
    assert pool.close() == []


@pytest.mark.root
def test_a_process_goes_into_a_group_itself(real_backend: CgroupBackend) -> None:
    """By the right of whoever has opened the files: it has none of its own. Where the kernel has no such files (version
    2), there are none to be given."""
    pool = real_backend.open_pool(owner_id(os.getpid()))
    group = pool.acquire(pids=16)
    entries = group.open_entries()
    assert len(entries) == (len(set(group.directories.values())) if real_backend.kind == "v1" else 0)
    inside, go = os.pipe()
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setresuid(1000, 1000, 1000)
            enter_groups(entries)
            os.write(tell, b"x")
            os.read(inside, 1)
        finally:
            os._exit(0)
    os.read(told, 1)
    for directory in set(group.directories.values()) if entries else ():
        assert CgroupFiles().processes(directory) == [pid]
    os.write(go, b"x")
    os.waitpid(pid, 0)
    for descriptor in (inside, go, told, tell, *entries):
        os.close(descriptor)
    assert pool.close() == []


@pytest.mark.root
def test_an_import_makes_its_group_light_itself(real_backend: CgroupBackend) -> None:
    """By the right of whoever has opened the file; until then, and when it is to end, it weighs as much as any other
    template: what it does then takes locks of the kernel that everybody waits for."""
    if "cpu" not in real_backend.parents:
        pytest.skip(f"capability:cgroups {real_backend.describe()['cpu']}")
    pool = real_backend.open_template_pool(owner_id(os.getpid()))
    group = pool.acquire(pids=16)
    light = group.open_light_weight()
    assert light is not None

    def weight() -> int:
        file = "/cpu.weight" if real_backend.kind == "v2" else "/cpu.shares"
        return int(CgroupFiles().read(group.directories["cpu"] + file))

    usual = weight()
    pid = os.fork()
    if pid == 0:
        try:
            os.setresuid(1000, 1000, 1000)
            light.put_in_force()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    light.close()
    assert weight() * 100 <= usual
    group.weigh(lightly=False)
    assert weight() == usual
    assert pool.close() == []


@pytest.mark.root
def test_the_kernel_takes_the_bounds_of_workspaces(real_backend: CgroupBackend) -> None:
    """Whatever their sandboxes may use by themselves, before and after another workspace comes."""
    processors = os.cpu_count() or 1
    pool = real_backend.open_pool(owner_id(os.getpid()))
    limits = (0.5, processors - 0.25, float(processors), processors + 1.0, None)
    for share in ("one", "other"):
        for cpu in limits:
            assert pool.acquire(pids=16, cpu=cpu, share=share)
    assert pool._bounded == ({"one", "other"} if "cpu" in real_backend.parents else set())
    names = {os.path.dirname(group.directories["cpu"]) for group in pool._in_use if "cpu" in group.directories}
    for around in names:
        file = "/cpu.max" if real_backend.kind == "v2" else "/cpu.cfs_quota_us"
        assert CgroupFiles().read(around + file).split()[0] == str(round(most_of_a_share(processors) * 20_000))
    assert pool.close() == []
