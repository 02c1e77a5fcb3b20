"""Checkpoints are whole or not there, whatever ends the one who writes them."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

import fake_engine
import pytest
from fake_engine import FakeEngine

from harena.core.errors import PlatformError, ValidationError
from harena.training.loop.checkpoints import STATE_FILE, Checkpoints


class NoRoom(FakeEngine):
    """Writes a part, then the disk is full."""

    async def save(self, folder: Path) -> None:
        (folder / "weights").write_text("0.")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


async def test_an_engine_goes_on_from_the_newest(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "not" / "there")
    assert checkpoints.newest() is None
    engine = FakeEngine(chance=0.25)
    await engine.publish()
    await checkpoints.save(engine, 1, {"loss": 0.5})
    engine.chance = 0.75
    await checkpoints.save(engine, 12, {"loss": 0.125})
    found, other = checkpoints.newest(), FakeEngine()
    assert found is not None
    assert (found.step, found.state) == (12, {"loss": 0.125})
    await checkpoints.load(other, found)
    assert (other.chance, other.version) == (0.75, 1)


async def test_the_newest_few_and_the_best_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in range(1, 8):
        await checkpoints.save(FakeEngine(), step, {}, best=step in (2, 3))
    assert sorted(path.name for path in tmp_path.glob("step-*")) == ["step-00000003", "step-00000006", "step-00000007"]
    best = checkpoints.best()
    assert best is not None
    assert best.step == 3
    await checkpoints.save(FakeEngine(), 8, {}, best=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best", "step-00000007", "step-00000008"]


async def test_a_step_may_be_saved_again(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    await checkpoints.save(FakeEngine(), 1, {"life": 0})
    await checkpoints.save(FakeEngine(), 1, {"life": 1})
    found = checkpoints.newest()
    assert found is not None
    assert found.state == {"life": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000001"]


async def test_a_full_disk_is_named_and_costs_nothing(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    with pytest.raises(PlatformError, match=r"step 1 .* no earlier one"):
        await checkpoints.save(NoRoom(), 1, {})
    await checkpoints.save(FakeEngine(), 1, {})
    with pytest.raises(PlatformError, match=rf"step 2 .*{tmp_path}: No space left.* step 1, is intact"):
        await checkpoints.save(NoRoom(), 2, {})
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000001"]


async def test_what_is_not_whole_is_passed_over(tmp_path: Path) -> None:
    """A damaged disk: a file that is too short, one that is gone, one that is no JSON."""
    checkpoints = Checkpoints(tmp_path, keep=9)
    for step in range(1, 5):
        await checkpoints.save(FakeEngine(), step, {})
    (tmp_path / "step-00000004" / "weights").write_text("")
    (tmp_path / "step-00000003" / "weights").unlink()
    (tmp_path / "step-00000002" / STATE_FILE).write_text("{")
    found = checkpoints.newest()
    assert found is not None
    assert found.step == 1


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fake_engine import FakeEngine
from harena.training.loop.checkpoints import Checkpoints

class Killed(FakeEngine):
    async def save(self, folder):
        await super().save(folder)
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    checkpoints = Checkpoints(Path(sys.argv[2]))
    await checkpoints.save(FakeEngine(0.5), 1, {})
    await checkpoints.save(Killed(0.6), 2, {})

asyncio.run(main())
"""


def test_a_process_that_is_killed_while_it_saves(tmp_path: Path) -> None:
    """The earlier one counts; what the dead one left is gone with the next."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(Path(fake_engine.__file__).parent), str(tmp_path)], check=False
    )
    assert done.returncode == -9
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000001", "unfinished-00000002"]
    checkpoints = Checkpoints(tmp_path)
    found = checkpoints.newest()
    assert found is not None
    assert found.step == 1
    asyncio.run(checkpoints.save(FakeEngine(), 3, {}))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000001", "step-00000003"]


def test_at_least_one_is_kept(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="keep=0"):
        Checkpoints(tmp_path, keep=0)
