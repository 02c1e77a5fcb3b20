from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harena.core.daemons import read_daemons
from harena.core.errors import LimitExceededError, NotFoundError, PlatformError, ValidationError
from harena.core.gateways import read_gateways
from harena.core.network_policy import OPEN_NETWORK, read_policy
from harena.core.pages import PageRoom
from harena.core.records.blueprints import Blueprint, Package
from harena.core.workspace import DEFAULT_WORKSPACE as HERE
from harena.core.workspace import WorkspaceLimits
from harena.runtime.host.blueprint_files import ContentCache, StoredFiles
from harena.runtime.host.blueprints import MOST_RECORD_BYTES, Blueprints, hand_out
from harena.runtime.host.layers import InstalledLayer, LayerStore
from harena.testing import FakeClock

GATEWAYS = read_gateways(
    {"UP": {"url": "https://a.org", "secret": "KEY", "rules": [{"path": "/x/**", "methods": ["GET"]}]}}
)
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
        HERE,
        "ml-env",
        packages=["numbers-lib>=1"],
        files={"/data/x": b"\x00\xff"},
        env={"A": "b"},
        warm=["numberslib.part", "json"],
        network=read_policy({"allow": ["pypi"], "deny": ["a.org"]}),
        gateways=GATEWAYS,
    )
    assert made.network.deny == ("a.org",)
    assert made.id.startswith("bp_")
    assert (made.packages, made.layer, made.requested) == (PACKAGES, "d" * 64, ("numbers-lib>=1",))
    assert layers.asked == [["numbers-lib>=1"]]
    other = reopened(blueprints, tmp_path, layers)
    assert await other.get(HERE, "ml-env") == made
    assert await other.get(HERE, made.id) == made


async def test_no_packages_no_layer(blueprints: Blueprints, layers: FakeLayers) -> None:
    """Without packages nothing is installed; None and () stay different for warm."""
    assert (await blueprints.create(HERE, "cold")).warm is None
    assert (await blueprints.create(HERE, "bare", warm=())).warm == ()
    assert layers.asked == []
    assert (await blueprints.get(HERE, "cold")).layer is None


async def test_creating_again_is_a_new_version(blueprints: Blueprints, layers: FakeLayers, tmp_path: Path) -> None:
    """A name gives its newest version, also one that another process made; ids keep giving theirs."""
    first = await blueprints.create(HERE, "env", env={"V": "1"})
    other = reopened(blueprints, tmp_path, layers)
    second = await other.create(HERE, "env", env={"V": "2"})
    assert first.id != second.id
    assert await blueprints.get(HERE, "env") == second
    assert await blueprints.get(HERE, first.id) == first


async def test_concurrent_versions(blueprints: Blueprints) -> None:
    """Creations of one name at the same time all get a version of their own."""
    made = await asyncio.gather(*(blueprints.create(HERE, "env", env={"V": str(number)}) for number in range(8)))
    assert len({blueprint.id for blueprint in made}) == 8
    for blueprint in made:
        assert await blueprints.get(HERE, blueprint.id) == blueprint


async def test_list(blueprints: Blueprints, clock: FakeClock) -> None:
    """One per name, newest first, the built-in ones last."""
    await blueprints.create(HERE, "old")
    await clock.advance(1)
    await blueprints.create(HERE, "young")
    await clock.advance(1)
    again = await blueprints.create(HERE, "old")
    listed = (await blueprints.page(HERE)).blueprints
    assert [blueprint.name for blueprint in listed] == ["old", "young", "default", "python-warm"]
    assert (listed[0].id, listed[0].created_at) == (again.id, again.created_at)


async def test_built_in(blueprints: Blueprints) -> None:
    """Two blueprints are always there, and their names are taken."""
    assert (await blueprints.get(HERE, "default")).warm is None
    assert (await blueprints.get(HERE, "python-warm")).warm == ()
    assert (await blueprints.get(HERE, "bp_default")).name == "default"
    with pytest.raises(ValidationError, match="built in"):
        await blueprints.create(HERE, "default")


@pytest.mark.parametrize("wanted", ["absent", "bp_absent", "../x", "", "bp_bp_default"])
async def test_unknown(blueprints: Blueprints, wanted: str) -> None:
    """An unknown blueprint is an error that names those there are and the command that makes one."""
    await blueprints.create(HERE, "mine")
    with pytest.raises(NotFoundError, match=r"default, mine, python-warm.*harena blueprint create \S+ --packages"):
        await blueprints.get(HERE, wanted)


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
        await blueprints.create(HERE, **{"name": "fine", "packages": ["numbers-lib"], **change})
    assert layers.asked == []
    assert [blueprint.name for blueprint in (await blueprints.page(HERE)).blueprints] == ["default", "python-warm"]


async def test_warm_module_that_nobody_has(blueprints: Blueprints) -> None:
    """A warm module that is neither of the standard library nor in the packages is refused by name."""
    with pytest.raises(ValidationError, match="no_such_module"):
        await blueprints.create(HERE, "env", packages=["numbers-lib"], warm=["no_such_module"])
    with pytest.raises(NotFoundError):
        await blueprints.get(HERE, "env")


async def test_damaged_file(blueprints: Blueprints, layers: FakeLayers, tmp_path: Path) -> None:
    """A file that cannot be read is named, and does not disturb other blueprints."""
    await blueprints.create(HERE, "good")
    await blueprints.create(HERE, "bad")
    (tmp_path / "blueprints" / "bad@000001.json").write_text("{}")
    (tmp_path / "blueprints" / ".bp_1.draft").write_text("half")
    other = reopened(blueprints, tmp_path, layers)
    with pytest.raises(PlatformError, match=r"bad@000001\.json"):
        await other.get(HERE, "bad")
    assert (await other.get(HERE, "good")).name == "good"


async def test_read_once(blueprints: Blueprints, tmp_path: Path, layers: FakeLayers) -> None:
    """A blueprint's file is read once: finding it again gives the same object."""
    made = await blueprints.create(HERE, "env")
    other = reopened(blueprints, tmp_path, layers)
    assert other.find(HERE, "env") is other.find(HERE, "env")
    assert other.find(HERE, "env") == replace(made)


async def test_what_names_no_image(blueprints: Blueprints) -> None:
    with pytest.raises(ValidationError, match="names no image"):
        await blueprints.create(HERE, "elsewhere", image="No Image")


async def test_an_image_that_may_be_pulled_later(blueprints: Blueprints) -> None:
    """Its files may lie anywhere, because all of its root can be written to. Nothing is installed or kept warm."""
    made = await blueprints.create(HERE, "pulled", image="localhost:5000/tool:1", files={"/etc/tool": b"x"})
    assert made.image == "localhost:5000/tool:1"
    with pytest.raises(ValidationError, match="packages are installed"):
        await blueprints.create(HERE, "other", image="localhost:5000/tool:1", packages=["wheel"])
    with pytest.raises(ValidationError, match="kept warm"):
        await blueprints.create(HERE, "other", image="localhost:5000/tool:1", warm=[])
    with pytest.raises(ValidationError, match="can be written to below"):
        await blueprints.create(HERE, "other", files={"/etc/tool": b"x"})
    for place in ("/tmp", "/workspace", "/data", "/root", "/var/tmp", "/dev/shm"):
        await blueprints.create(HERE, "env", files={f"{place}/x": b""})


async def test_delete(blueprints: Blueprints, tmp_path: Path, layers: FakeLayers) -> None:
    """By id one version, by name all; another process sees the next one of that name and not what it had read."""
    await blueprints.create(HERE, "env", env={"V": "1"})
    second = await blueprints.create(HERE, "env", env={"V": "2"})
    other = reopened(blueprints, tmp_path, layers)
    assert other.find(HERE, "env").env == {"V": "2"}
    await blueprints.delete(HERE, second.id)
    assert other.find(HERE, "env").env == {"V": "1"}
    await blueprints.delete(HERE, "env")
    with pytest.raises(NotFoundError):
        other.find(HERE, "env")
    await blueprints.create(HERE, "env", env={"V": "3"})
    assert other.find(HERE, "env").env == {"V": "3"}
    with pytest.raises(ValidationError, match="built in"):
        await blueprints.delete(HERE, "default")
    with pytest.raises(NotFoundError):
        await blueprints.delete(HERE, "absent")


async def test_blueprints_that_were_everybodys(blueprints: Blueprints, tmp_path: Path) -> None:
    """Each workspace has what there was, and goes on by itself; doing it again takes nothing back."""
    first = await blueprints.create(HERE, "env", env={"V": "1"})
    second = await blueprints.create(HERE, "env", env={"V": "2"})
    theirs = await blueprints.create("team-a", "mine")
    hand_out(tmp_path / "blueprints", ["team-a", "team-b", HERE])
    for workspace in ("team-a", "team-b"):
        assert await blueprints.get(workspace, "env") == second
        assert await blueprints.get(workspace, first.id) == first
    assert await blueprints.get("team-a", "mine") == theirs
    newest = await blueprints.create("team-b", "env", env={"V": "3"})
    await blueprints.delete("team-a", "env")
    assert await blueprints.get(HERE, "env") == second
    hand_out(tmp_path / "blueprints", ["team-b"])
    assert await blueprints.get("team-b", "env") == newest
    hand_out(tmp_path / "none", ["team-a"])


async def test_contents_of_blueprints_lie_on_the_disk(
    blueprints: Blueprints, tmp_path: Path, layers: FakeLayers
) -> None:
    """In memory are those that were used last, up to a bound for the whole node; each comes back as it was."""
    blueprints.records.contents = ContentCache(most_bytes=2500)
    made = [
        await blueprints.create(HERE, f"env{n}", files={"/data/a": b"%d" % n * 1000, "/data/b": b"", "/data/c": b"x"})
        for n in range(4)
    ]
    for _ in range(2):
        for n, blueprint in enumerate(made):
            found = blueprints.find(HERE, f"env{n}")
            assert (found, found.file_bytes) == (blueprint, 1001)
            assert {**found.files} == {"/data/a": b"%d" % n * 1000, "/data/b": b"", "/data/c": b"x"}
            assert blueprints.records.contents.bytes <= 2500
    other = reopened(blueprints, tmp_path, layers)
    assert {**other.find(HERE, "env3").files} == {**made[3].files}
    await blueprints.delete(HERE, "env3")
    assert blueprints.records.contents.bytes <= 2500
    assert not [*(tmp_path / "blueprints").glob(f".{made[3].id}*")]


def test_contents_are_read_in_many_threads(tmp_path: Path) -> None:
    """What is in memory is counted right, whoever reads, and all contents of a blueprint are read at one time."""
    cache, places = ContentCache(most_bytes=2500), [tmp_path / str(number) for number in range(8)]
    for place in places:
        place.write_bytes(place.name.encode() * 1000)
    files = [StoredFiles(place, {"/a": 400, "/b": 600}, cache) for place in places]
    with ThreadPoolExecutor(8) as threads:
        read = [*threads.map(lambda turn: dict(files[turn % 8].items()), range(2000))]
    assert all(one == {"/a": b"%d" % (turn % 8) * 400, "/b": b"%d" % (turn % 8) * 600} for turn, one in enumerate(read))
    assert cache.bytes == 2000
    for place in places:
        cache.forget(place)
    assert cache.bytes == 0


async def test_a_list_reads_no_content(blueprints: Blueprints, tmp_path: Path, layers: FakeLayers) -> None:
    """It tells how many files there are and how large they are, also where they cannot be read."""
    made = await blueprints.create(HERE, "env", files={"/data/a": b"12345", "/data/b": b"6"}, env={"A": "b"})
    (contents,) = (tmp_path / "blueprints").glob(f".{made.id}*")
    contents.unlink()
    other = reopened(blueprints, tmp_path, layers)
    listed = (await other.page(HERE)).blueprints[0]
    assert (listed.id, listed.files, listed.file_bytes) == (made.id, 2, 6)
    assert not hasattr(listed, "env")
    with pytest.raises(NotFoundError, match="removed"):
        {**other.find(HERE, "env").files}


async def test_a_record_that_holds_contents_is_divided(blueprints: Blueprints, tmp_path: Path) -> None:
    """As earlier versions have written it: it is found as it was, and its contents lie beside it from then on."""
    made = await blueprints.create(HERE, "env", env={"A": "b"})
    (record,) = (tmp_path / "blueprints").glob("env@*.json")
    written = json.loads(record.read_text())
    del written["file_sizes"]
    record.write_text(json.dumps({**written, "files": {"/data/x": "AP8="}}))
    assert blueprints.find(HERE, "env") == replace(made, files={"/data/x": b"\x00\xff"})
    assert "AP8=" not in record.read_text()
    hand_out(tmp_path / "blueprints", ["team"])
    assert {**(await blueprints.get("team", "env")).files} == {"/data/x": b"\x00\xff"}


async def test_a_digest_names_what_a_blueprint_holds(
    blueprints: Blueprints, tmp_path: Path, layers: FakeLayers
) -> None:
    """Names, ids and moments do not count, all else does; a record of a version that kept none is given one."""
    content: dict[str, Any] = {"files": {"/data/a": b"1"}, "env": {"A": "1"}, "warm": ["json"]}
    first = await blueprints.create(HERE, "first", **content)
    assert (await blueprints.create(HERE, "second", **content)).digest == first.digest
    others: list[dict[str, Any]] = [
        {"files": {"/data/a": b"2"}},
        {"env": {"A": "2"}},
        {"warm": []},
        {"packages": ["numbers-lib"]},
        {"network": OPEN_NETWORK},
        {"gateways": GATEWAYS},
        {"daemons": read_daemons([{"name": "a", "command": ["x"]}])},
        {"image": "registry.example/x:1", "warm": None},
        {"image": "registry.example/x:1", "warm": None, "profile": "machine"},
    ]
    made = [(await blueprints.create(HERE, "other", **{**content, **other})).digest for other in others]
    assert len({first.digest, *made}) == 1 + len(others)
    place = tmp_path / "blueprints/first@000001.json"
    record = json.loads(place.read_text())
    assert record.pop("digest") == first.digest
    place.write_text(json.dumps(record))
    assert reopened(blueprints, tmp_path, layers).find(HERE, "first").digest == first.digest


async def test_a_record_without_its_files_is_small(blueprints: Blueprints, tmp_path: Path) -> None:
    """A list reads all of them; what is refused leaves nothing."""
    with pytest.raises(ValidationError, match="without its files it has"):
        await blueprints.create(HERE, "env", env={"A": "x" * MOST_RECORD_BYTES}, files={"/data/x": b"1"})
    assert [path.name for path in (tmp_path / "blueprints").glob("*")] == []


class CountingLayers(FakeLayers):
    """Each requirement is a layer of 400 bytes, which is there once."""

    def install(
        self, requirements: Sequence[str], *, python: str = "", most_bytes: int | None = None
    ) -> InstalledLayer:
        digest = requirements[0] * 64
        if requirements in self.asked:
            return InstalledLayer(digest, PACKAGES)
        if most_bytes is not None and most_bytes < 400:
            raise LimitExceededError("package_bytes", reason="BLUEPRINTS")
        self.asked.append(requirements)
        return InstalledLayer(digest, PACKAGES, 400)


async def test_packages_that_a_workspace_brings_have_a_limit(clock: FakeClock, tmp_path: Path) -> None:
    """Also over servers one after the other, and of those at one time; what others have brought is everybody's, and a
    blueprint that is deleted leaves its packages there."""
    layers = CountingLayers(tmp_path / "layers")
    layers.asked = []
    blueprints = Blueprints(clock, layers=layers, root=tmp_path / "blueprints")
    limits = WorkspaceLimits(package_bytes=1000)

    async def create(workspace: str, package: str) -> Blueprint:
        return await blueprints.create(workspace, f"with-{package}", packages=[package], room=limits)

    made = await asyncio.gather(*(create("ours", package) for package in "abc"), return_exceptions=True)
    assert [isinstance(one, LimitExceededError) for one in made] == [False, False, True]
    await create("theirs", "c")
    await create("ours", "c")
    await blueprints.delete("ours", "with-a")
    blueprints = Blueprints(clock, layers=layers, root=tmp_path / "blueprints")
    with pytest.raises(LimitExceededError):
        await create("ours", "d")
    await create("theirs", "d")


async def test_a_blueprint_by_its_id_reads_one_record(
    tmp_path: Path, layers: FakeLayers, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where records do not stay in memory: making, finding and listing many of them reads each some times."""
    monkeypatch.setattr("harena.runtime.host.blueprint_records.LOADED_BYTES", 0)
    reads, read = list[str](), Path.read_text

    def counted(path: Path, *given: Any) -> str:
        reads.append(path.name)
        return read(path, *given)

    monkeypatch.setattr(Path, "read_text", counted)
    blueprints = Blueprints(clock, layers=layers, root=tmp_path / "blueprints")
    made = [await blueprints.create(HERE, f"env-{number}") for number in range(100)]
    for one in made:
        assert (await blueprints.get(HERE, one.id)).name == one.name
    await blueprints.page(HERE)
    assert len(reads) <= 3 * len(made)
    assert await blueprints.delete(HERE, made[0].id) == [made[0].id]
    with pytest.raises(NotFoundError):
        await blueprints.get(HERE, made[0].id)


async def test_a_page_of_blueprints_is_bounded_by_its_bytes(
    blueprints: Blueprints, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages by their number or by their bytes have every name once, newest first; a cursor goes on where one was made
    at the same time, and after what it names was deleted."""
    for number in range(12):
        await blueprints.create(HERE, f"b{number}", warm=["json"] * 5_000)
        if number % 2:
            await clock.advance(1)
    whole = [one.id for one in (await blueprints.page(HERE, limit=500)).blueprints]
    assert len(whole) == 14
    assert whole[-2:] == ["bp_default", "bp_python-warm"]

    async def pages(limit: int) -> list[list[str]]:
        page = await blueprints.page(HERE, limit=limit)
        found = [[one.id for one in page.blueprints]]
        while page.next_cursor is not None:
            page = await blueprints.page(HERE, cursor=page.next_cursor, limit=limit)
            found.append([one.id for one in page.blueprints])
        return found

    assert await pages(5) == [whole[:5], whole[5:10], whole[10:]]
    monkeypatch.setattr(PageRoom.__init__, "__defaults__", (100_000,))  # each has 40 kB
    assert await pages(500) == [*(whole[place : place + 2] for place in range(0, 10, 2)), whole[10:]]
    first = await blueprints.page(HERE, limit=3)
    await blueprints.delete(HERE, whole[2])
    behind = await blueprints.page(HERE, cursor=first.next_cursor, limit=3)
    assert [one.id for one in behind.blueprints][:1] == [whole[3]]
    with pytest.raises(ValidationError, match="unchanged"):
        await blueprints.page(HERE, cursor="x")


async def test_lists_and_look_ups_read_no_record_twice(blueprints: Blueprints, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where records do not fit into memory, what is not on the page is not read again, nor is anything to find that an
    id is unknown."""
    monkeypatch.setattr("harena.runtime.host.blueprint_records.LOADED_BYTES", 0)
    for number in range(60):
        await blueprints.create(HERE, f"b{number}")
    read: list[Path] = []

    def noted(path: Path) -> str:
        read.append(path)
        return path.read_bytes().decode()

    monkeypatch.setattr(Path, "read_text", noted)
    await blueprints.page(HERE, limit=2)
    with pytest.raises(NotFoundError) as unknown:
        await blueprints.get(HERE, "bp_unknown")
    assert len(read) <= 2
    assert len(str(unknown.value)) < 1000
