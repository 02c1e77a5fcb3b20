"""kill -9 of the node, or of a program that it has started, at any moment of a pull, an import or a build: what is seen
afterwards is whole, the disk is given back, and the next try succeeds."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from build_world import WORKSPACE, is_whole
from image_world import FakeRegistry, fake_registry, made, needed
from killed_worker import NAME, work
from layer_tars import member, tar

from harena.core.clock import SystemClock
from harena.image_store.images import Images

MOMENTS = int(os.environ.get("HARENA_KILL_MOMENTS", "3"))
"""of each work, spread over its steps; 50 by hand"""
FILES = 40


@pytest.fixture(scope="module")
def registry() -> Iterator[FakeRegistry]:
    needed("skopeo")
    with fake_registry() as found, pytest.MonkeyPatch.context() as patched:
        patched.setenv("HARENA_REGISTRIES_WITHOUT_TLS", found.host)
        layers = [tar(*(member(f"d{n}/{file}", os.urandom(500)) for file in range(FILES // 2))) for n in range(2)]
        found.put("env", "1", made(*layers))
        yield found


@pytest.fixture(scope="module")
def source(registry: FakeRegistry, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each work takes."""
    root = tmp_path_factory.mktemp("source") / "root.tar"
    root.write_bytes(tar(*(member(f"d/{file}", os.urandom(500)) for file in range(FILES))))
    return {"pull": f"{registry.host}/env:1", "import": str(root), "build": "-"}


def worked(*asked: object) -> tuple[int | None, str]:
    """(exit code, what was said) of a process that works up to one of its steps."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, *map(str, asked)))
    process.start()
    theirs.close()
    try:
        said = ours.recv()
    except EOFError:
        said = ""
    process.join()
    return process.exitcode, said


def _work(pipe: Connection, *asked: str) -> None:
    null = os.open("/dev/null", os.O_WRONLY)
    os.dup2(null, 2)
    kind, home, source, who, step = asked
    pipe.send(asyncio.run(work(kind, home, source, who, int(step))))
    os._exit(0)


def taken(home: Path) -> dict[str, int]:
    """How many things the folders of a store have."""
    names = ("layers", "images", "work", "blobs/sha256")
    return {name: len(os.listdir(home / name)) if (home / name).is_dir() else 0 for name in names}


@pytest.mark.parametrize("who", ["node", "helper"])
@pytest.mark.parametrize("kind", ["pull", "import", "build"])
async def test_killed_at_any_moment(tmp_path: Path, source: dict[str, str], kind: str, who: str) -> None:
    """Where the node lives on it says what has happened."""
    code, said = await asyncio.to_thread(worked, kind, tmp_path / "whole", source[kind], who, 0)
    assert code == 0
    steps = int(said)
    assert steps >= 1
    name = source[kind] if kind == "pull" else NAME
    outcomes: dict[str, int] = {"killed": 0, "told": 0, "whole": 0}
    for moment in range(MOMENTS if who == "node" else min(MOMENTS, steps)):
        home = tmp_path / f"try-{moment}"
        step = 1 + moment * steps // MOMENTS if who == "node" else 1 + moment
        code, said = await asyncio.to_thread(worked, kind, home, source[kind], who, step)
        assert code == (-signal.SIGKILL if not said else 0)
        outcomes["killed" if not said else "told" if said.startswith("failed ") else "whole"] += 1
        for new in (home / "work").glob("new-*"):
            os.utime(new, (1, 1))
        images = Images(home, SystemClock(), for_server=False)
        try:
            assert is_whole(home)
            there = (await images.page(WORKSPACE, limit=10, cursor=None)).images
            assert [each.reference for each in there] in ([], [name])
            await images.collect(WORKSPACE, 0)
            assert taken(home)["work"] == 0
            for each in (await images.page(WORKSPACE, limit=10, cursor=None)).images:
                await images.remove(WORKSPACE, each.reference)
            await images.collect(WORKSPACE, 0)
            assert taken(home) == {"layers": 0, "images": 0, "work": 0, "blobs/sha256": 0}, (step, said)
        finally:
            await images.close()
        code, said = await asyncio.to_thread(worked, kind, home, source[kind], who, 0)
        assert (code, said.isdecimal()) == (0, True), said
        assert is_whole(home)
    print(f"{kind}, {who}: {steps} steps, {outcomes}")
    assert outcomes["killed" if who == "node" else "told"]
