from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harena.core.errors import NotFoundError
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.runtime.host.blueprint_listings import FolderListings
from harena.runtime.host.blueprints import Blueprints
from harena.runtime.host.layers import LayerStore
from harena.testing import FakeClock

_listed: list[str] | None = None


def _hear(event: str, given: tuple[object, ...]) -> None:
    if _listed is not None and event in ("os.listdir", "os.scandir"):
        _listed.append(str(given[0]))


sys.addaudithook(_hear)  # hears of every listing that Python makes; there is no way to remove one


@contextmanager
def listings() -> Iterator[list[str]]:
    """The folders that are listed meanwhile."""
    global _listed
    _listed = heard = []
    try:
        yield heard
    finally:
        _listed = None


@pytest.fixture
def clock() -> FakeClock:
    """Time that the test moves."""
    return FakeClock(auto_jump=False)


def opened(tmp_path: Path, clock: FakeClock) -> Blueprints:
    """The blueprints as one more process sees them."""
    blueprints = Blueprints(clock, layers=LayerStore(tmp_path / "layers"), root=tmp_path / "blueprints")

    async def organization_of(workspace: str) -> str:
        return "acme"

    blueprints.organization_of = organization_of
    return blueprints


def _long_ago(folder: Path) -> None:
    """The clock of the test is not that of the files: what follows has another time in any case."""
    os.utime(folder, ns=(1_000_000_123, 1_000_000_123))


async def _settle(blueprints: Blueprints, clock: FakeClock) -> None:
    for _ in range(2):  # seen, and then listed when all that could have the same time has been there
        with pytest.raises(NotFoundError):
            await blueprints.get("b", "absent")
        await blueprints.get(HERE, "env-0")
        await clock.advance(10)


async def test_look_ups_list_no_folder(tmp_path: Path, clock: FakeClock) -> None:
    """Names, ids, versions, what is not there and what an organisation is shown are found without a listing, and
    what another process makes or removes meanwhile costs one."""
    blueprints = opened(tmp_path, clock)
    made = [await blueprints.create(HERE, f"env-{number}") for number in range(60)]
    newest = await blueprints.create(HERE, "env-7")
    await blueprints.publish(HERE, "env-3")
    reader = opened(tmp_path, clock)
    for folder in (tmp_path / "blueprints", tmp_path / "blueprints/.organizations/acme"):
        _long_ago(folder)
    await _settle(reader, clock)
    with pytest.raises(NotFoundError):
        await reader.get(HERE, "bp_absent")  # reads each record once
    with listings() as heard:
        for number, one in enumerate(made):
            assert (await reader.get(HERE, one.name)).id == (newest.id if number == 7 else one.id)
            assert (await reader.get(HERE, one.id)).id == one.id
        assert (await reader.get("b", "env-3")).id == made[3].id
        for absent in ("absent", "bp_absent"):
            with pytest.raises(NotFoundError, match="env-0, env-1, env-10, "):
                await reader.get(HERE, absent)
    assert heard == []

    folder = tmp_path / "blueprints"
    record = (folder / "env-9@000001.json").read_text().replace(made[9].id, "bp_of_another")
    (folder / "env-9@000002.json").write_text(record)
    assert (await reader.get(HERE, "env-9")).id == "bp_of_another"
    _long_ago(folder)
    await reader.get(HERE, "env-9")
    await clock.advance(10)
    await reader.get(HERE, "env-9")
    with listings() as heard:
        assert {(await reader.get(HERE, f"env-{number}")).name for number in range(9)} == {
            f"env-{number}" for number in range(9)
        }
        assert (await reader.get(HERE, "env-9")).id == "bp_of_another"
    assert heard == []
    await blueprints.delete(HERE, "env-9")
    with listings() as heard, pytest.raises(NotFoundError):
        await reader.get(HERE, "env-9")
    assert {*heard} == {str(folder)}


async def test_what_others_did_in_the_same_tick(tmp_path: Path, clock: FakeClock) -> None:
    """Two changes within one tick of the clock of files: each is seen, though the folder's time is what it was."""
    blueprints, reader = opened(tmp_path, clock), opened(tmp_path, clock)
    for number in range(40):
        made = await blueprints.create(HERE, "env")
        assert (await reader.get(HERE, "env")).id == made.id, number
        if number % 3 == 0:
            await blueprints.delete(HERE, made.id)
            assert (await reader.get(HERE, "bp_default")).name == "default"
            if number:
                assert (await reader.get(HERE, "env")).id != made.id


async def test_a_listing_is_kept_once_its_time_is_over(tmp_path: Path, clock: FakeClock) -> None:
    """A folder whose time stays the same is listed again until nothing more can have this time; where times are whole
    seconds, that is later."""
    for when, waits in ((1_000_000_123, 0.2), (1_000_000_000, 3.0)):
        folder = tmp_path / str(when)
        folder.mkdir()
        (folder / "a@000001.json").touch()
        os.utime(folder, ns=(when, when))
        found = FolderListings(clock)
        with listings() as heard:
            assert [*found.of(folder)] == [("a", 1)]
            await clock.advance(waits / 2 - 0.01 if waits > 1 else 0.05)
            found.of(folder)
            assert len(heard) == 2
            await clock.advance(waits)
            kept = found.of(folder)
            assert len(heard) == 3
            assert found.of(folder) is kept
            assert len(heard) == 3
            # a time that was set back does not hide a change
            (folder / "b@000002.json").touch()
            os.utime(folder, ns=(when, when))
            assert [*found.of(folder)] == [("a", 1), ("b", 2)]
    assert [*FolderListings(clock).of(tmp_path / "absent")] == []
