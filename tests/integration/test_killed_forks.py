"""kill -9 of a node, or of its spawner, at any moment of a fork: nothing runs on, no snapshot is half made, the disk is
given back, and the next fork of the same home succeeds."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from footprint import cgroup_directories, wait_nothing_below
from harena.core.clock import SystemClock
from harena.image_store.images import Images
from image_trees import archive_of, put_programs

MOMENTS = int(os.environ.get("HARENA_KILL_MOMENTS", "3"))
"""of each kind of fork, spread over its steps; 50 by hand"""
PATIENCE = 60.0
"""seconds within which everything that is about to end must have ended, on a busy machine"""
IMAGE = "localhost/base:1"

FORKS = """
import itertools, os, signal, sys, threading
from harena import HarenaError, Sandbox

kind, who, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
steps, is_forking = itertools.count(1), False

def step(frame, event, argument):  # each call of a function, in every thread
    if is_forking and event in ("call", "c_call") and next(steps) == wanted:
        os.kill(victim, signal.SIGKILL)

sys.setprofile(step)
threading.setprofile(step)

def tells(sandbox, script):
    result = sandbox.exec(["sh", "-c", script]).result()
    assert result.returncode == 0, result.stderr
    return result.stdout

with Sandbox.run(container_image="localhost/base:1") as first:
    tells(first, "for n in $(seq 20); do seq $n 3000 > /data/$n; done")
    if kind == "disk":  # where a program runs, a fork is one of a snapshot
        tells(first, "(while :; do sleep 1000; done) > /dev/null 2>&1 &")
    me = os.getpid()
    threads = os.listdir(f"/proc/{me}/task")
    below = [int(pid) for one in threads for pid in open(f"/proc/{me}/task/{one}/children").read().split()]
    spawner = next(pid for pid in below if "spawner" in open(f"/proc/{pid}/cmdline").read())
    victim = me if who == "node" else spawner
    print(spawner, flush=True)
    is_forking = True
    try:
        forks = first.fork(3).result()
        is_forking = False
        assert [tells(one, "cat /data/* | wc -l") for one in forks] == [tells(first, "cat /data/* | wc -l")] * 3
        print("whole", next(steps) - 1, flush=True)
    except HarenaError as error:
        is_forking = False
        print("told", type(error).__name__, str(error).replace("\\n", " "), flush=True)
    os._exit(0)  # what is left then goes with the process
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With one image."""
    tree, place = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("home")
    put_programs(tree, ("sh", "cat", "env", "seq", "sleep", "wc"))
    archive_of(tree, place / "root.tar")
    subprocess.run(
        [sys.executable, "-m", "harena.cli.main", "image", "import", str(place / "root.tar"), IMAGE],
        env={**os.environ, "HARENA_HOME": str(place / "home")},
        check=True,
        capture_output=True,
    )
    return place / "home"


def forked(home: Path, *asked: str) -> tuple[int, int, list[str]]:
    """(pid of its spawner, exit code, what was said then) of a process that forks a sandbox."""
    ended = subprocess.run(
        [sys.executable, "-c", FORKS, *asked],
        env={**os.environ, "HARENA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    spawner, *said = ended.stdout.splitlines()
    return int(spawner), ended.returncode, " ".join(said).split(maxsplit=1)


def taken(images: Path) -> dict[str, int]:
    """How many things the folders of a store have."""
    names = ("layers", "images", "work", "blobs/sha256", "snapshots/default")
    return {name: len(os.listdir(images / name)) if (images / name).is_dir() else 0 for name in names}


async def given_back(place: Path) -> tuple[int, dict[str, int]]:
    """(snapshots that were there, and were whole, what the store has without them)."""
    for new in (place / "work").glob("new-*"):
        os.utime(new, (1, 1))
    images = Images(place, SystemClock(), for_server=False)
    try:
        there = (await images.snapshots_page("default", limit=10, cursor=None)).snapshots
        for one in there:
            root = await images.root_of("default", f"snapshot://{one.id}")
            assert len([*(root.layers[0] / "data").iterdir()]) == 20
            await images.remove_snapshot("default", one.id)
        await images.collect("default", None)
    finally:
        await images.close()
    return len(there), taken(place)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["node", "spawner"])
@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_killed_at_any_moment_of_a_fork(home: Path, adopting: Callable[[], None], kind: str, who: str) -> None:
    """Where the node lives on, it says what has happened. Whoever comes next uses the same home."""
    place = home / "images/default"
    _, code, said = forked(home, kind, who, "0")
    assert (code, said[0]) == (0, "whole"), said
    steps = int(said[1])
    _, before = asyncio.run(given_back(place))
    outcomes: dict[str, int] = {"killed": 0, "told": 0, "whole": 0}
    snapshots, spawners = 0, list[int]()
    for moment in range(MOMENTS):
        spawner, code, said = forked(home, kind, who, str(1 + moment * steps // MOMENTS))
        assert code == (-signal.SIGKILL if not said else 0)
        outcomes[said[0] if said else "killed"] += 1
        assert wait_nothing_below(os.getpid(), PATIENCE) == []
        adopting()
        spawners.append(spawner)
        whole, after = asyncio.run(given_back(place))
        assert after == before, moment
        snapshots += whole
    print(f"{kind}, {who}: {steps} steps, {outcomes}, {snapshots} snapshots were there")
    assert outcomes["killed" if who == "node" else "told"]
    _, code, said = forked(home, kind, who, "0")
    assert (code, said[0]) == (0, "whole"), said
    assert cgroup_directories(spawners) == []  # at the latest with the next node
