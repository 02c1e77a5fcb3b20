"""What a killed server has left in the making goes with the next start, whoever's it was."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from harena.core.clock import SystemClock
from harena.image_store.store import ImageStore
from harena.node import open_for_server


def left_work(home: Path, workspace: str) -> Path:
    """A folder with something in it, as a killed import leaves it in a store."""
    place = home / "images" / workspace
    ImageStore(place).open(SystemClock().utcnow().timestamp())
    work = place / "work" / "work-0123"
    (work / "root" / "deep").mkdir(parents=True)
    (work / "root" / "deep" / "file").write_bytes(b"x" * 1000)
    return work


def left_layer(home: Path, name: str) -> Path:
    """A folder of packages, as a killed installation leaves it."""
    made = home / "layers" / ".making" / name
    (made / "layer").mkdir(parents=True)
    made.with_name(f"{name}.lock").touch()
    return made


async def test_what_a_killed_server_left_goes_with_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all workspaces, though none of them asks for an image, and nobody installs anything; what is being made by
    another process stays."""
    home = tmp_path / "home"
    monkeypatch.setenv("HARENA_HOME", str(home))
    (home / "images" / "no-store").mkdir(parents=True)
    gone = [left_work(home, "aaa"), left_work(home, "bbb"), left_layer(home, "dead")]
    kept = [left_work(home, "ccc"), left_layer(home, "alive")]
    locks = [os.open(kept[0], os.O_RDONLY), os.open(f"{kept[1]}.lock", os.O_RDWR)]
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_EX)
    node = await open_for_server()
    try:
        assert node._parts._removing is not None
        await node._parts._removing
    finally:
        await node.close()
        for lock in locks:
            os.close(lock)
    assert [path for path in gone if path.exists()] == []
    assert [path for path in kept if not path.exists()] == []
    assert [*(home / "images" / "no-store").iterdir()] == []
