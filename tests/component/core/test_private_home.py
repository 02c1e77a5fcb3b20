"""What lies in harena's home is its owner's alone: whatever the umask, and in a home that an earlier version made."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from harena.core.clock import SystemClock
from harena.core.file_trees import files_of, pack_files
from harena.core.home import prepare_home
from harena.runtime.host.blueprints import Blueprints
from harena.runtime.host.layers import LayerStore
from harena.store.database import Database
from harena.store.registry import RegistryStore
from harena.training.objects.registry import Registry

OPEN_ON_PURPOSE = {"empty"}
"""mounted into sandboxes, whose user is another one; nothing is in it"""


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=lambda mask: f"umask {mask:03o}")
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def seen_by_others(home: Path) -> dict[str, str]:
    """What of a home has rights for anybody but its owner."""
    places = [home, *home.rglob("*")]
    modes = {str(place.relative_to(home)): stat.S_IMODE(place.lstat().st_mode) for place in places}
    return {name: oct(mode) for name, mode in modes.items() if mode & 0o077 and name not in OPEN_ON_PURPOSE}


@pytest.mark.usefixtures("_umask")
async def test_what_a_node_keeps_is_its_owners_alone(tmp_path: Path) -> None:
    """The home, the database with its log, blueprints and objects, however deep."""
    home = tmp_path / "some" / "home"
    prepare_home(home)
    database = await Database.open(home / "harena.db")
    blueprints = Blueprints(SystemClock(), layers=LayerStore(home / "layers"), root=home / "blueprints")
    await blueprints.create("team-a", "mine", env={"TOKEN": "secret"})
    await blueprints.create("default", "ours", env={"TOKEN": "secret"})
    source = tmp_path / "source"
    (source / "agents").mkdir(parents=True)
    (source / "capability.yaml").write_text(
        "schema: 1\nname: solver\nversion: '1.0.0'\ndescription: solves\nagents: [agents/a.md]\n"
    )
    (source / "agents" / "a.md").write_text("Solve it.")
    (source / "agents" / "a.md").chmod(0o755)

    async def store() -> RegistryStore:
        return RegistryStore(database)

    async def tree():  # type: ignore[no-untyped-def]
        for piece in pack_files(files_of(source)):
            yield piece

    registry = Registry(store, home / "objects", SystemClock())
    answer = await registry.push("default", "capability", "solver", "1.0.0", tree())
    try:
        assert (home / "harena.db-wal").exists()
        assert seen_by_others(home) == {}
        assert os.access(registry.place(answer["digest"]) / "agents" / "a.md", os.X_OK)
        assert (await registry.push("default", "capability", "solver", "1.0.0", tree()))["digest"] == answer["digest"]
    finally:
        await database.close()


@pytest.mark.parametrize("opened", ["whole", "under a closed top"])
async def test_a_home_of_an_earlier_version_is_closed(tmp_path: Path, opened: str) -> None:
    """Directories of mode 0755 and files of 0644, databases too, also where the home itself was closed by hand."""
    home = tmp_path / "home"
    for name in (
        "harena.db", "harena.db-wal", "harena.db-shm", "harena.db.lock", "access.db.taken-over",
        "blueprints/team/a@000001.json", "objects/trees/ab/abcd/model.safetensors", "training/trn_1/1/worker.log",
        "interpreters/abc/libpython.so", "layers/abc/site-packages/a.py",
    ):  # fmt: skip
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(b"")
        (home / name).chmod(0o644)
    for folder in [home, *(place for place in home.rglob("*") if place.is_dir())]:
        folder.chmod(0o755)
    (home / "objects/trees/ab/abcd/run.sh").touch(0o755)
    (home / "objects/link").symlink_to(tmp_path / "outside")
    (tmp_path / "outside").write_text("")
    (tmp_path / "outside").chmod(0o644)
    if opened != "whole":
        home.chmod(0o700)
    prepare_home(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    mounted = ("layers/", "interpreters/")
    left = {name for name in seen_by_others(home) if not name.startswith(mounted) and not (home / name).is_symlink()}
    assert left == set()
    assert (
        stat.S_IMODE((home / "layers").stat().st_mode) == stat.S_IMODE((home / "interpreters").stat().st_mode) == 0o700
    )
    assert stat.S_IMODE((home / "layers/abc").stat().st_mode) == 0o755, "sandboxes have a mount of it"
    assert stat.S_IMODE((tmp_path / "outside").stat().st_mode) == 0o644
    assert os.access(home / "objects/trees/ab/abcd/run.sh", os.X_OK)


def test_a_directory_that_is_shared_stays_so(tmp_path: Path) -> None:
    """Somebody who sets HARENA_HOME to /tmp has the host's /tmp afterwards; what is harena's there is closed."""
    home = tmp_path / "shared"
    (home / "objects").mkdir(parents=True)
    (home / "other").mkdir()
    for place, mode in ((home, 0o1777), (home / "objects", 0o755), (home / "other", 0o755)):
        place.chmod(mode)
    prepare_home(home)
    assert [stat.S_IMODE(place.stat().st_mode) for place in (home, home / "objects", home / "other")] == [
        0o1777, 0o700, 0o755,
    ]  # fmt: skip


async def test_a_database_that_was_readable_is_closed_by_whoever_opens_it(tmp_path: Path) -> None:
    """Also where only the command line opens it, as `harena keys` does."""
    database = await Database.open(tmp_path / "harena.db")
    async with database.transaction() as connection:
        await connection.execute(text("DELETE FROM objects"))  # makes the log
    for path in tmp_path.glob("harena.db*"):
        path.chmod(0o644)
    again = await Database.open(tmp_path / "harena.db")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("harena.db*")}
    await again.close()
    await database.close()
    assert {"harena.db", "harena.db-wal", "harena.db-shm"} <= modes.keys()
    assert {name: mode for name, mode in modes.items() if mode != 0o600} == {}
