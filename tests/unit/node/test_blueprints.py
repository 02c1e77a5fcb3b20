from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import NotFoundError, PlatformError, ValidationError
from harena.core.models import Package
from harena.node.blueprints import Blueprints
from harena.runtime.layers import InstalledLayer, LayerStore
from harena.testing import FakeClock

PACKAGES = (Package(name="numbers-lib", version="1", sha256="ab"),)


class FakeLayers(LayerStore):
    """Installs nothing; its one layer has the module `numberslib`."""

    asked: list[Sequence[str]]

    def install(self, requirements: Sequence[str], *, python: str = "") -> InstalledLayer:
        self.asked.append(requirements)
        return InstalledLayer("d" * 64, PACKAGES)

    def path(self, digest: str) -> Path:
        (self.root / "numberslib").mkdir(parents=True, exist_ok=True)
        return self.root


@pytest.fixture
def layers(tmp_path: Path) -> FakeLayers:
    """Layers that install nothing."""
    layers = FakeLayers(tmp_path / "layers")
    layers.asked = []
    return layers


@pytest.fixture
def clock() -> FakeClock:
    """Time that the test moves."""
    return FakeClock(auto_jump=False)


@pytest.fixture
def blueprints(tmp_path: Path, layers: FakeLayers, clock: FakeClock) -> Blueprints:
    """Blueprints in an empty directory."""
    return Blueprints(clock, layers=layers, root=tmp_path / "blueprints")


def reopened(blueprints: Blueprints, tmp_path: Path, layers: FakeLayers) -> Blueprints:
    """The same directory as another process sees it."""
    return Blueprints(FakeClock(), layers=layers, root=tmp_path / "blueprints")


async def test_create_and_get(blueprints: Blueprints, layers: FakeLayers, tmp_path: Path) -> None:
    """What was created is found by name and by id, by other processes too, with everything that it had."""
    made = await blueprints.create(
        "ml-env",
        packages=["numbers-lib>=1"],
        files={"/data/x": b"\x00\xff"},
        env={"A": "b"},
        warm=["numberslib.part", "json"],
    )
    assert made.id.startswith("bp_")
    assert (made.packages, made.layer, made.requested) == (PACKAGES, "d" * 64, ("numbers-lib>=1",))
    assert layers.asked == [["numbers-lib>=1"]]
    other = reopened(blueprints, tmp_path, layers)
    assert await other.get("ml-env") == made
    assert await other.get(made.id) == made


async def test_no_packages_no_layer(blueprints: Blueprints, layers: FakeLayers) -> None:
    """Without packages nothing is installed; None and () stay different for warm."""
    assert (await blueprints.create("cold")).warm is None
    assert (await blueprints.create("bare", warm=())).warm == ()
    assert layers.asked == []
    assert (await blueprints.get("cold")).layer is None


async def test_creating_again_is_a_new_version(blueprints: Blueprints, layers: FakeLayers, tmp_path: Path) -> None:
    """A name gives its newest version, also one that another process made; ids keep giving theirs."""
    first = await blueprints.create("env", env={"V": "1"})
    other = reopened(blueprints, tmp_path, layers)
    second = await other.create("env", env={"V": "2"})
    assert first.id != second.id
    assert await blueprints.get("env") == second
    assert await blueprints.get(first.id) == first


async def test_concurrent_versions(blueprints: Blueprints) -> None:
    """Creations of one name at the same time all get a version of their own."""
    made = await asyncio.gather(*(blueprints.create("env", env={"V": str(number)}) for number in range(8)))
    assert len({blueprint.id for blueprint in made}) == 8
    for blueprint in made:
        assert await blueprints.get(blueprint.id) == blueprint


async def test_list(blueprints: Blueprints, clock: FakeClock) -> None:
    """One per name, newest first, the built-in ones last."""
    await blueprints.create("old")
    await clock.advance(1)
    await blueprints.create("young")
    await clock.advance(1)
    again = await blueprints.create("old")
    listed = await blueprints.list()
    assert [blueprint.name for blueprint in listed] == ["old", "young", "default", "python-warm"]
    assert listed[0] == again


async def test_built_in(blueprints: Blueprints) -> None:
    """Two blueprints are always there, and their names are taken."""
    assert (await blueprints.get("default")).warm is None
    assert (await blueprints.get("python-warm")).warm == ()
    assert (await blueprints.get("bp_default")).name == "default"
    with pytest.raises(ValidationError, match="built in"):
        await blueprints.create("default")


@pytest.mark.parametrize("wanted", ["absent", "bp_absent", "../x", "", "bp_bp_default"])
async def test_unknown(blueprints: Blueprints, wanted: str) -> None:
    """An unknown blueprint is an error that names those there are and the command that makes one."""
    await blueprints.create("mine")
    with pytest.raises(NotFoundError, match=r"default, mine, python-warm.*harena blueprint create \S+ --packages"):
        await blueprints.get(wanted)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "a b"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "../up"}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"name": "bp_x"}, "name"),
        ({"warm": ["import os"]}, "warm"),
        ({"warm": ["os;x"]}, "warm"),
        ({"warm": ["a..b"]}, "warm"),
        ({"warm": ["class"]}, "warm"),
        ({"warm": "numpy"}, "list"),
        ({"files": {"relative": b""}}, "absolute"),
        ({"files": {"/folder/": b""}}, "absolute"),
        ({"files": {"/x": "text"}}, "bytes"),
        ({"env": {"A=B": "x"}}, "environment"),
        ({"env": {"A": 1}}, "environment"),
        ({"env": {"A": "\ud800"}}, "UTF-8"),
        ({"files": {"/etc/passwd": b""}}, "/workspace"),
        ({"files": {"/tmp/../etc/x": b""}}, "/workspace"),
        ({"files": {"/datax": b""}}, "/workspace"),
        ({"files": {"/tmp/\ud800": b""}}, "UTF-8"),
        ({"image": 5}, "image"),
    ],
)
async def test_bad_input(blueprints: Blueprints, layers: FakeLayers, change: Mapping[str, Any], said: str) -> None:
    """What is malformed is refused before anything is installed."""
    with pytest.raises(ValidationError, match=said):
        await blueprints.create(**{"name": "fine", "packages": ["numbers-lib"], **change})
    assert layers.asked == []
    assert [blueprint.name for blueprint in await blueprints.list()] == ["default", "python-warm"]


async def test_warm_module_that_nobody_has(blueprints: Blueprints) -> None:
    """A warm module that is neither of the standard library nor in the packages is refused by name."""
    with pytest.raises(ValidationError, match="no_such_module"):
        await blueprints.create("env", packages=["numbers-lib"], warm=["no_such_module"])
    with pytest.raises(NotFoundError):
        await blueprints.get("env")


async def test_damaged_file(blueprints: Blueprints, layers: FakeLayers, tmp_path: Path) -> None:
    """A file that cannot be read is named, and does not disturb other blueprints."""
    await blueprints.create("good")
    await blueprints.create("bad")
    (tmp_path / "blueprints" / "bad@000001.json").write_text("{}")
    (tmp_path / "blueprints" / ".bp_1.draft").write_text("half")
    other = reopened(blueprints, tmp_path, layers)
    with pytest.raises(PlatformError, match=r"bad@000001\.json"):
        await other.get("bad")
    assert (await other.get("good")).name == "good"


async def test_read_once(blueprints: Blueprints, tmp_path: Path, layers: FakeLayers) -> None:
    """A blueprint's file is read once: finding it again gives the same object."""
    made = await blueprints.create("env")
    other = reopened(blueprints, tmp_path, layers)
    assert other.find("env") is other.find("env")
    assert other.find("env") == replace(made)


async def test_unknown_image(blueprints: Blueprints) -> None:
    """An image that is not here is refused when the blueprint is made, not when it is used."""
    with pytest.raises(NotFoundError, match="no image 'nowhere'"):
        await blueprints.create("env", image="nowhere")
    for place in ("/tmp", "/workspace", "/data", "/root", "/var/tmp", "/dev/shm"):
        await blueprints.create("env", files={f"{place}/x": b""})


async def test_delete(blueprints: Blueprints, tmp_path: Path, layers: FakeLayers) -> None:
    """By id one version, by name all; another process sees the next one of that name and not what it had read."""
    await blueprints.create("env", env={"V": "1"})
    second = await blueprints.create("env", env={"V": "2"})
    other = reopened(blueprints, tmp_path, layers)
    assert other.find("env").env == {"V": "2"}
    blueprints.delete(second.id)
    assert other.find("env").env == {"V": "1"}
    blueprints.delete("env")
    with pytest.raises(NotFoundError):
        other.find("env")
    await blueprints.create("env", env={"V": "3"})
    assert other.find("env").env == {"V": "3"}
    with pytest.raises(ValidationError, match="built in"):
        blueprints.delete("default")
    with pytest.raises(NotFoundError):
        blueprints.delete("absent")
