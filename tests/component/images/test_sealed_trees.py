"""A snapshot's layer is kept as a folder alone, written once; who exports it gets the archive that its digest says."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from layer_tars import member, tar
from snapshot_killer import FolderLayer

from harena.core.clock import SystemClock
from harena.core.errors import ImagePullError, LimitExceededError
from harena.core.images import ImageChanges
from harena.image_store import sealed_archives, sealing
from harena.image_store.images import Images
from harena.image_store.kept import KeptImage
from harena.image_store.sealing import seal
from harena.image_store.store import in_threads
from harena.image_store.unpacking import LayerLimits

pytestmark = pytest.mark.asyncio
BASE = "localhost/base:1"
LARGE, HOLE = os.urandom(300_000), 8 << 20


@pytest.fixture
def upper() -> Iterator[Path]:
    """What a sandbox may have written, with everything that a layer can say, on a tmpfs as a sandbox has it."""
    with tempfile.TemporaryDirectory(prefix="harena-upper-", dir="/dev/shm") as name:
        root = Path(name, "upper")
        (root / "data" / ("long" * 30)).mkdir(parents=True)
        (root / "data/large").write_bytes(LARGE)
        os.chmod(root / "data/large", 0o4751)
        (root / "data/small").write_bytes(b"small")
        os.link(root / "data/small", root / "data/second")
        os.symlink("../etc/shadow", root / "data/link")
        os.mkfifo(root / "data/fifo", 0o640)
        (root / "data/gone").touch()
        os.unlink(root / "data/gone")
        os.mknod(root / "data/gone", 0o020000, os.makedev(0, 0))
        os.setxattr(root / "data", "user.overlay.opaque", b"y")
        os.setxattr(root / "data/large", "user.note", b"\0\xff")
        os.setxattr(root / "data/large", "user.no=te", b"other")
        os.setxattr(root / "data", "user.=", b"")
        with (root / "data/hole").open("wb") as file:
            file.truncate(HOLE)
        os.utime(root / "data/large", ns=(1, 1234567891011121314))
        Path(os.fsdecode(os.fsencode(root) + b"/data/\xff\xfe")).write_bytes(b"odd")
        (root / "data/shut").mkdir()
        (root / "data/shut/closed").write_bytes(b"closed" * 20_000)
        os.chmod(root / "data/shut/closed", 0)
        os.chmod(root / "data/shut", 0)
        yield Path(name)
        os.chmod(root / "data/shut", 0o700)


async def begun(home: Path) -> tuple[Images, str]:
    """A store with an image, and the image's digest."""
    images = Images(home, SystemClock(), for_server=False)

    async def pieces() -> AsyncIterator[bytes]:
        yield tar(member("etc/motd", b"base\n"))

    return images, (await images.import_("default", BASE, pieces())).digest


async def exported(images: Images, image: str, place: Path) -> dict[str, bytes]:
    """Export an image, and read its layout; gives its blobs."""
    with place.open("wb") as out:
        async for piece in images.export("default", image, "oci"):
            out.write(piece)
    with tarfile.open(place) as layout:
        files = {one.name: layout.extractfile(one) for one in layout if one.isfile()}
        return {Path(name).name: file.read() for name, file in files.items() if file is not None}


def kept(home: Path, digest: str) -> KeptImage:
    """What the store knows of an image."""
    return KeptImage.from_dict(json.loads((home / "images" / f"{digest.removeprefix('sha256:')}.json").read_bytes()))


async def test_a_layer_is_written_once_and_its_archive_is_made_when_it_is_asked_for(
    tmp_path: Path, upper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, base = await begun(tmp_path / "images")
    layer = FolderLayer(str(upper), base)
    async with in_threads(images._store.work()) as work:
        sealed = await seal(layer, work, LayerLimits(1000, 1 << 30))
        expected = sealed.path.read_bytes()
    made = await images.commit("default", base, layer, "localhost/made:1", ImageChanges())
    own = kept(tmp_path / "images", made.digest).layers[-1]
    assert (own.digest, own.size) == (sealed.digest, len(expected))
    blob = images._store.blob(own.digest)
    root = images._store.layer_root(own.diff_id)
    assert not blob.exists()
    assert sorted(os.listdir(root.parent)) == ["about.json", "headers", "root", "shape"]
    assert (root / "data/large").read_bytes() == LARGE
    assert (root / "data/large").stat().st_mtime_ns == 1234567891011121314
    assert os.listxattr(root / "data/large") == ["user.note"]
    assert sealed.left_out["extended attributes with = in their names"] == 2
    assert (root / "data/hole").stat().st_blocks * 512 < 1 << 20 < (root / "data/hole").stat().st_size
    about = images._store.layer(own.diff_id)
    assert about is not None
    assert about.disk_bytes < HOLE + (4 << 20)
    blobs = await exported(images, made.id, tmp_path / "made.tar")
    assert blobs[own.digest] == expected
    assert hashlib.sha256(expected).hexdigest() == own.digest
    assert blob.exists()
    monkeypatch.setenv("HARENA_IMAGE_BYTES", "1000")  # what can be made again goes before anything else
    await images.collect("default", None)
    assert not blob.exists()
    assert root.exists()
    await layer.close()
    await images.close()


async def test_a_layer_that_was_damaged_is_not_exported(tmp_path: Path, upper: Path) -> None:
    images, base = await begun(tmp_path / "images")
    layer = FolderLayer(str(upper), base)
    made = await images.commit("default", base, layer, "localhost/made:1", ImageChanges())
    own = kept(tmp_path / "images", made.digest).layers[-1]
    (images._store.layer_root(own.diff_id) / "data/small").write_bytes(b"other")
    with pytest.raises(ImagePullError, match="damaged on the disk") as raised:
        await exported(images, made.id, tmp_path / "made.tar")
    assert raised.value.reason == "IMAGE_BROKEN"
    assert not images._store.blob(own.digest).exists()
    assert os.listdir(tmp_path / "images/work") == []
    await layer.close()
    await images.close()


async def test_layers_of_the_store_are_joined_while_programs_run_on(
    tmp_path: Path, upper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large they are: only what the sandbox itself has written is read while it stands still."""
    monkeypatch.setattr(sealing, "_FLATTENED_LAYERS", 2)
    images, base = await begun(tmp_path / "images")
    layer = FolderLayer(str(upper), base)
    stood = []

    @asynccontextmanager
    async def still() -> AsyncIterator[None]:
        yield
        stood.append(sorted(one.name for one in (tmp_path / "images/work").glob("*/layer-*/root")))

    for number in range(3):
        (upper / "upper" / str(number)).write_bytes(b"n" * (sealed_archives.SMALL_BYTES + 1))
        made = await images.snapshot("default", layer, BASE, "sb_1", None, None, still())
        layer.image = made.digest
    assert made.layers == 2
    assert len(stood) == 3
    root = images._store.layer_root(kept(tmp_path / "images", made.digest).layers[-1].diff_id)
    assert {"0", "1", "2", "data"} == set(os.listdir(root))
    assert (root / "data/large").read_bytes() == LARGE
    assert stat_of(root / "data/large") == stat_of(upper / "upper/data/large")
    await layer.close()
    await images.close()


def stat_of(path: Path) -> tuple[int, ...]:
    """What a program sees of a file."""
    about = path.stat()
    return about.st_mode, about.st_size, about.st_mtime_ns


async def test_a_snapshot_that_finds_no_room_says_so_and_leaves_nothing(
    tmp_path: Path, upper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, base = await begun(tmp_path / "images")
    layer = FolderLayer(str(upper), base)
    monkeypatch.setenv("HARENA_SNAPSHOT_BYTES", "200000")
    before = sorted(os.listdir(tmp_path / "images/layers"))
    with pytest.raises((LimitExceededError, ImagePullError)):
        await images.snapshot("default", layer, BASE, "sb_1", "over", None)
    await images.collect("default", None)
    assert sorted(os.listdir(tmp_path / "images/layers")) == before
    assert os.listdir(tmp_path / "images/work") == []
    await layer.close()
    await images.close()


FULL = """
import asyncio, json, os, subprocess, sys
from pathlib import Path
from layer_tars import member, tar
from snapshot_killer import FolderLayer
from harena.core.clock import SystemClock
from harena.core.errors import HarenaError
from harena.image_store.images import Images

home, upper = map(Path, sys.argv[1:])
mount = ["mount", "-t", "tmpfs", "-o"]
subprocess.run([*mount, "size=1m", "tmpfs", str(home)], check=True)

def disk():
    return [len(os.listdir(home / place)) for place in ("layers", "images", "work", "blobs/sha256")]

async def main():
    images = Images(home, SystemClock(), for_server=False)
    async def pieces():
        yield tar(member("etc/motd", b"base"))
    base = (await images.import_("default", "localhost/base:1", pieces())).digest
    before, said = disk(), []
    layer = FolderLayer(str(upper), base)
    for size in (2_000_000, 60_000):  # one file that the kernel copies, or many small ones
        for old in (upper / "upper").iterdir():
            old.unlink()
        for number in range(2_000_000 // size):
            (upper / "upper" / str(number)).write_bytes(os.urandom(size))
        try:
            await images.snapshot("default", layer, "localhost/base:1", "sb_1", "kept", None)
        except HarenaError as error:
            said.append([type(error).__name__, error.reason, "No space left on device" in str(error), disk() == before])
    subprocess.run([*mount, "remount,size=20m", "tmpfs", str(home)], check=True)
    said.append((await images.snapshot("default", layer, "localhost/base:1", "sb_1", "kept", None)).files)
    print(json.dumps(said))

asyncio.run(main())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system, in a namespace of its own")
async def test_a_disk_that_gets_full_is_told_and_given_back(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with tempfile.TemporaryDirectory(prefix="harena-upper-", dir="/dev/shm") as place:
        Path(place, "upper").mkdir()
        process = await asyncio.create_subprocess_exec(
            *("unshare", "-m", sys.executable, "-c", FULL, str(tmp_path / "home"), place),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await process.communicate()
    assert json.loads(output) == [["ImagePullError", "IMAGE_SPACE", True, True]] * 2 + [34]
