"""Scheduling: whatever a sandbox starts, who keeps its time is not crowded out by it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest
from escape_world import World

from footprint import processes, spawners

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.alone]

CROWD = r"""
libc.prctl(15, sys.argv[1].encode(), 0, 0, 0)  # PR_SET_NAME
for _ in range(6):
    if os.fork() == 0:
        os.setsid()
        break
os.write(1, b"up\n")
sys.stdin.read()
"""


def cpu_cgroup(pid: int) -> str:
    """Of the hierarchy that shares out processors: v2's where v1 has none."""
    paths = {}
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        paths.update(dict.fromkeys(names.split(","), path))
    return paths.get("cpu", paths.get("", ""))


def comm(pid: int) -> str:
    """Its name; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


async def test_a_sandbox_is_one_for_the_scheduler(world: World) -> None:
    """All processes and sessions of a sandbox lie in one group of its own; this process, the spawner and the template
    lie in none of these. They and the sandbox's init have a session each, which none of its programs is in. Templates
    have a weight of their own."""
    sandbox = await world.sandbox()
    if not sandbox.enforcement["cpu"].startswith("cgroup"):
        pytest.skip("no cpu cgroup can be written here")
    name = "c" + secrets.token_hex(7)
    running = await world.start(sandbox, CROWD, name, stdin_stream=True)
    seen = b""
    async for chunk in running.stdout:
        seen += chunk
        if seen.count(b"up\n") == 7:
            break
    assert seen == b"up\n" * 7, (await running.wait()).stderr
    everything = processes()
    crowd = [pid for pid in everything if comm(pid) == name]
    (first,) = (pid for pid in crowd if everything[pid].parent not in crowd)
    init = everything[first].parent
    template = everything[init].parent
    spawner = everything[template].parent
    assert spawner in spawners(os.getpid())
    assert len(crowd) == 7
    (group,) = {cpu_cgroup(pid) for pid in (*crowd, init)}
    assert "/harena-" in group
    keepers = (os.getpid(), spawner, template)
    assert not any("/harena-" in cpu_cgroup(pid) for pid in keepers[:2])
    assert "-templates/" in cpu_cgroup(template)
    sessions = {os.getsid(pid) for pid in (*keepers, init)}
    assert len(sessions) == len(keepers) + 1
    assert sessions.isdisjoint(map(os.getsid, crowd))
    running.close_stdin()
    await running.wait()
