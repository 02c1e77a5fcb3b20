"""Snapshots that are killed in the middle, that find no room, and whose they are: without a sandbox, over a folder."""

from __future__ import annotations

import asyncio
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from layer_tars import member, tar
from snapshot_killer import FolderLayer, take

from harena.core.clock import SystemClock
from harena.core.errors import ImagePullError, LimitExceededError, NotFoundError
from harena.image_store.images import Images
from harena.image_store.sealing import seal
from harena.image_store.store import ImageStore, in_threads
from harena.image_store.unpacking import LayerLimits
from harena.testing.clock import FakeClock

pytestmark = pytest.mark.asyncio
MOMENTS = 50


@pytest.fixture
def written() -> Iterator[Path]:
    """What a sandbox may have written, on a tmpfs as a sandbox has it."""
    with tempfile.TemporaryDirectory(prefix="harena-upper-", dir="/dev/shm") as name:
        for number in range(40):
            place = Path(name, "upper", f"d{number % 5}", str(number))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(os.urandom(3000))
        yield Path(name)


async def base(images: Images) -> str:
    """Import an image; gives its digest."""

    async def pieces() -> AsyncIterator[bytes]:
        yield tar(member("etc/motd", b"base\n"))

    return (await images.import_("default", "localhost/base:1", pieces())).digest


def count(home: Path) -> dict[str, int]:
    """How many things the folders of a store have."""
    names = ("layers", "images", "work", "blobs/sha256", "snapshots/default")
    return {name: len(os.listdir(home / name)) if (home / name).is_dir() else 0 for name in names}


def killed_at(home: Path, folder: Path, step: int) -> int | None:
    """Exit code of a process that takes a snapshot up to one of its steps; None = it has come to its end."""
    process = multiprocessing.get_context("fork").Process(target=_take, args=(str(home), str(folder), step))
    process.start()
    process.join()
    return process.exitcode or None


def _take(home: str, folder: str, step: int) -> None:
    null = os.open("/dev/null", os.O_WRONLY)
    os.dup2(null, 2)
    asyncio.run(take(home, folder, step))
    os._exit(0)


async def test_a_killed_snapshot_leaves_nothing_half_made(tmp_path: Path, written: Path) -> None:
    """50 moments: the snapshot is there and can be used, or is not there; and all disk but a whole one's is free."""
    home = tmp_path / "images"
    images = Images(home, SystemClock(), for_server=False)
    await base(images)
    await images.close()
    before = count(home)
    asked = [sys.executable, str(Path(__file__).with_name("snapshot_killer.py")), str(tmp_path / "try"), str(written)]
    shutil.copytree(home, tmp_path / "try")
    process = await asyncio.create_subprocess_exec(*asked, "0", stdout=asyncio.subprocess.PIPE)
    steps = int((await process.communicate())[0])
    assert steps > MOMENTS
    whole = 0
    for moment in range(MOMENTS):
        code = await asyncio.to_thread(killed_at, home, written, 1 + moment * steps // MOMENTS)
        assert code in (-signal.SIGKILL, None)
        for new in (home / "work").glob("new-*"):
            os.utime(new, (1, 1))
        images = Images(home, SystemClock(), for_server=False)
        there = (await images.snapshots_page("default", limit=10, cursor=None)).snapshots
        for one in there:
            root = await images.root_of("default", f"snapshot://{one.id}")
            assert sum(path.is_file() for path in root.layers[0].rglob("*")) == 40
            whole += 1
            await images.remove_snapshot("default", one.id)
        await images.collect("default", None)
        assert count(home) == before, moment
        await images.close()
    assert whole < MOMENTS


async def test_snapshots_take_no_more_than_they_may(
    tmp_path: Path, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal layers count once; what is over is refused, before or after it is sealed, and leaves nothing."""
    home = tmp_path / "images"
    images = Images(home, SystemClock(), for_server=False)
    layer = FolderLayer(str(written), await base(images))
    first = await images.snapshot("default", layer, "localhost/base:1", "sb_1", None, None)
    again = await images.snapshot("default", layer, "localhost/base:1", "sb_1", None, None)
    assert again.digest != first.digest or again.id != first.id
    there = count(home)
    (written / "upper/more").write_bytes(os.urandom(5000))
    for most in (first.size_bytes, first.size_bytes + 1000):
        monkeypatch.setenv("HARENA_SNAPSHOT_BYTES", str(most))
        with pytest.raises((LimitExceededError, ImagePullError)) as raised:
            await images.snapshot("default", layer, "localhost/base:1", "sb_1", "over", None)
        assert raised.value.reason in ("SNAPSHOT_SPACE", "IMAGE_TOO_LARGE")
    monkeypatch.setenv("HARENA_SNAPSHOT_BYTES", str(first.size_bytes * 2))
    with pytest.raises(LimitExceededError) as raised:
        await images.snapshot("default", layer, "localhost/base:1", "sb_1", "over", None)
    assert raised.value.reason == "SNAPSHOT_SPACE"
    await images.collect("default", None)
    assert count(home) == there
    monkeypatch.setenv("HARENA_IMAGE_BYTES", "1000")
    monkeypatch.setenv("HARENA_SNAPSHOT_BYTES", str(1 << 40))
    with pytest.raises(ImagePullError, match="no room") as full:
        await images.snapshot("default", layer, "localhost/base:1", "sb_1", "over", None)
    assert full.value.reason == "IMAGE_SPACE"
    await images.close()


async def test_a_layer_is_read_while_its_sandbox_stands_still(tmp_path: Path, written: Path) -> None:
    """Nothing is read before, and all has been read when programs go on, though it is digested later."""
    store = ImageStore(tmp_path)
    store.open(0.0)
    layer, large = FolderLayer(str(written), ""), b"early" * 100_000
    names = [path for path in (written / "upper").rglob("*") if path.is_file()]

    @asynccontextmanager
    async def still() -> AsyncIterator[None]:
        (written / "upper/large").write_bytes(large)
        (written / "upper/small").write_bytes(b"early")
        yield
        for path in (*names, written / "upper/large", written / "upper/small", written / "upper/new"):
            path.write_bytes(b"late")

    async with in_threads(store.work()) as work:
        sealed = await seal(layer, work, LayerLimits(1000, 10_000_000), still=still())
        assert hashlib.sha256(sealed.path.read_bytes()).hexdigest() == sealed.digest
        with tarfile.open(sealed.path) as found:
            files = {one.name: found.extractfile(one) for one in found if one.isfile()}
            contents = {name: file.read() for name, file in files.items() if file is not None}
    await layer.close()
    assert (contents["large"], contents["small"], len(contents)) == (large, b"early", len(names) + 2)
    assert b"late" not in contents.values()


async def test_a_snapshot_ends_when_its_time_is_over(tmp_path: Path, written: Path) -> None:
    clock = FakeClock()
    images = Images(tmp_path / "images", clock, for_server=False)
    layer = FolderLayer(str(written), await base(images))
    lasting = await images.snapshot("default", layer, "localhost/base:1", "sb_1", "lasting", None)
    short = await images.snapshot("default", layer, "localhost/base:1", "sb_1", "short", 60)
    assert (await images.get_snapshot("default", "short")).expires_at == short.expires_at
    for named in ("short", short.id):
        await images.root_of("default", f"snapshot://{named}")
    await clock.advance(61)
    for named in ("short", short.id):
        with pytest.raises(NotFoundError):
            await images.get_snapshot("default", named)
        with pytest.raises(NotFoundError):
            await images.root_of("default", f"snapshot://{named}")
    page = await images.snapshots_page("default", limit=10, cursor=None)
    assert [one.id for one in page.snapshots] == [lasting.id]
    await images.close()


async def test_what_a_snapshot_is_is_read_once(tmp_path: Path, written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sandboxes begin with it, and however many others there are; until it is another one."""
    images = Images(tmp_path / "images", SystemClock(), for_server=False)
    digest = await base(images)
    layer = FolderLayer(str(written), digest)
    first = await images.snapshot("default", layer, "localhost/base:1", "sb_1", "kept", None)
    root = await images.root_of("default", "snapshot://kept")
    assert first.digest == root.digest
    with monkeypatch.context() as patched:
        patched.setattr(ImageStore, "snapshots", lambda *_: pytest.fail("all snapshots are read again"))
        patched.setattr(json, "loads", lambda *_: pytest.fail("a record is read again"))
        assert await images.root_of("default", "snapshot://kept") is root
        assert len(images._store.images()) == 2
    await images.remove_snapshot("default", "kept")
    with pytest.raises(NotFoundError):
        await images.root_of("default", "snapshot://kept")
    (written / "upper/more").write_bytes(b"more")
    again = await images.snapshot("default", layer, "localhost/base:1", "sb_1", "kept", None)
    assert (await images.root_of("default", "snapshot://kept")).digest == again.digest != first.digest
    assert len(images._store.images()) == 2
    await layer.close()
    await images.close()


async def test_snapshots_are_a_workspaces_own(tmp_path: Path, written: Path) -> None:
    """Though both workspaces were in one store."""
    images = Images(tmp_path / "images", SystemClock(), for_server=False)
    layer = FolderLayer(str(written), await base(images))
    made = await images.snapshot("default", layer, "localhost/base:1", "sb_1", "mine", None)
    for named in ("mine", made.id):
        with pytest.raises(NotFoundError):
            await images.root_of("other", f"snapshot://{named}")
        with pytest.raises(NotFoundError):
            await images.remove_snapshot("other", named)
    assert (await images.snapshots_page("other", limit=10, cursor=None)).snapshots == []
    await images.close()
