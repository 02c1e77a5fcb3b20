"""Blueprints that several workspaces publish, list and remove in one moment, of one organisation and of several."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harena.core.errors import NotFoundError, ValidationError
from harena.core.home import private_folder
from harena.core.registry import VERSION_TAKEN
from harena.core.workspace import DEFAULT_WORKSPACE
from harena.runtime.host import published_blueprints as module
from harena.runtime.host.blueprints import Blueprints, hand_out
from harena.runtime.host.layers import LayerStore
from harena.testing import FakeClock


@pytest.fixture
def organizations() -> dict[str, str]:
    """Workspace -> its organisation; the test moves them."""
    return {"a": "acme", "b": "acme", "c": "umbrella"}


@pytest.fixture
def blueprints(tmp_path: Path, organizations: dict[str, str]) -> Blueprints:
    """Blueprints in an empty directory."""
    return _opened(tmp_path, organizations)


def _opened(tmp_path: Path, organizations: dict[str, str]) -> Blueprints:
    async def organization_of(workspace: str) -> str:
        return organizations[workspace]

    made = Blueprints(FakeClock(), layers=LayerStore(tmp_path / "layers"), root=tmp_path / "blueprints")
    made.organization_of = organization_of
    return made


async def test_publishers_that_race(
    blueprints: Blueprints, tmp_path: Path, organizations: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two processes whose workspaces publish a name has it, whatever the numbers of their versions."""
    await blueprints.create("a", "env")
    other = _opened(tmp_path, organizations)
    for value in "12":
        theirs = await other.create("b", "env", env={"A": value})
    met: list[Path] = []

    def meanwhile(folder: Path) -> None:
        private_folder(folder)
        if folder.name == "acme" and not met:
            met.append(folder)
            with ThreadPoolExecutor(1) as pool:
                pool.submit(asyncio.run, other.publish("b", "env")).result()

    monkeypatch.setattr(module, "private_folder", meanwhile)
    with pytest.raises(ValidationError) as taken:
        await blueprints.publish("a", "env")
    assert taken.value.reason == VERSION_TAKEN
    assert met
    shown = await blueprints.page("b", organization=True, name="env")
    assert [one.id for one in shown.blueprints] == [theirs.id]


async def test_a_list_that_began_before_a_publication(blueprints: Blueprints, tmp_path: Path) -> None:
    """What is dropped of records that are not on a list is found again: others publish while it is made."""
    made = await blueprints.create("a", "env")
    await blueprints.publish("a", "env")
    blueprints.records.forget_others(tmp_path / "blueprints/.organizations/acme", set())
    assert (await blueprints.get("b", made.id)).id == made.id
    assert [one.id for one in (await blueprints.page("b", organization=True)).blueprints] == [made.id]


async def test_a_removal_that_meets_others(blueprints: Blueprints, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of others that go meanwhile stop neither a removal nor a list."""
    for workspace in "ac":
        await blueprints.create(workspace, "env", files={"/data/x": b"1"})
        await blueprints.publish(workspace, "env")
    mark = blueprints.records.mark

    def gone(path: Path) -> object:
        if path.parent.name == "umbrella":
            raise NotFoundError("blueprint 'env' was removed just now")
        return mark(path)

    monkeypatch.setattr(blueprints.records, "mark", gone)
    await blueprints.delete("a", "env")
    with pytest.raises(NotFoundError):
        await blueprints.get("b", "env")
    assert (await blueprints.page("c", organization=True)).blueprints == []


async def test_a_copy_of_an_earlier_version(
    blueprints: Blueprints, tmp_path: Path, organizations: dict[str, str]
) -> None:
    """Earlier versions gave every workspace the same records, with the same ids: who removes a copy takes back nothing
    that another workspace has published of it."""
    made = await blueprints.create(DEFAULT_WORKSPACE, "env", files={"/data/x": b"1"})
    hand_out(tmp_path / "blueprints", ["a", "b", "c"])
    await blueprints.publish("a", made.id)
    for stranger in "bc":
        await blueprints.withdraw(stranger, "env")
        await blueprints.delete(stranger, "env")
    assert dict((await blueprints.get("b", "env")).files) == {"/data/x": b"1"}
    await blueprints.create("b", "env")
    with pytest.raises(ValidationError):
        await blueprints.publish("b", "env")


async def test_a_workspace_that_moves_publishes_anew(
    blueprints: Blueprints, organizations: dict[str, str], tmp_path: Path
) -> None:
    """It is shown to one organisation, and what it leaves behind keeps no name and no file there."""
    made = await blueprints.create("a", "env", files={"/data/x": b"1"})
    await blueprints.publish("a", "env")
    organizations["a"] = "umbrella"
    await blueprints.publish("a", "env")
    assert (await blueprints.get("c", "env")).id == made.id
    with pytest.raises(NotFoundError):
        await blueprints.get("b", "env")
    left = {path.name for path in (tmp_path / "blueprints/.organizations/acme").iterdir()}
    assert left == {".lock"}
    await blueprints.create("b", "env")
    await blueprints.publish("b", "env")


async def test_what_a_job_holds(blueprints: Blueprints, tmp_path: Path, organizations: dict[str, str]) -> None:
    """It is found under the words that it was asked for by, whatever is created, withdrawn and deleted since; what was
    not asked for is what it is now."""
    old = await blueprints.create("b", "own", env={"A": "1"})
    own = await blueprints.create("b", "own", env={"A": "2"}, files={"/data/x": b"1", "/data/y": b"22"})
    shown = await blueprints.create("a", "shown", env={"B": "1"})
    await blueprints.publish("a", "shown")
    await blueprints.hold("b", ["own", old.id, "shown", "default"], tmp_path / "held")
    newer = await blueprints.create("b", "own")
    await blueprints.withdraw("a", "shown")
    await blueprints.delete("b", old.id)
    await blueprints.delete("b", own.id)
    holder = Blueprints(
        FakeClock(), layers=LayerStore(tmp_path / "layers"), root=tmp_path / "blueprints", held=tmp_path / "held"
    )
    found = [await holder.get("b", word) for word in ("own", old.id, "shown")]
    assert [one.id for one in found] == [own.id, old.id, shown.id]
    assert [one.digest for one in found] == [own.digest, old.digest, shown.digest]
    assert dict(found[0].files) == {"/data/x": b"1", "/data/y": b"22"}
    assert (await holder.get("b", newer.id)).id == newer.id
    assert (await blueprints.get("b", "own")).id == newer.id
    assert (await holder.get("b", own.id)).id == own.id
    with pytest.raises(NotFoundError):
        await blueprints.get("b", own.id)
    with pytest.raises(NotFoundError):
        await blueprints.hold("b", ["shown"], tmp_path / "late")
