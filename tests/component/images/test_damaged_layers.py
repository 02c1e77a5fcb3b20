"""Unpacked layers that were damaged on the disk: found at their first use after a start, and unpacked again."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from image_world import FakeRegistry, Made, fake_registry, made, needed, packed
from layer_tars import link, member, tar
from snapshot_killer import FolderLayer

from harena.core.clock import SystemClock
from harena.core.errors import ImagePullError
from harena.image_store.images import Images

IMAGE = made(
    tar(
        member("etc"),
        member("etc/text", b"hello"),
        member("etc/other", b"more"),
        member("etc/deep"),
        member("etc/deep/file", b"x"),
        link("etc/link", "text"),
    ),
    tar(member("above", b"1")),
)
LOWER = 1
"""where the layer that is damaged is in a root"""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeRegistry]:
    needed("skopeo")
    with fake_registry() as found:
        monkeypatch.setenv("HARENA_REGISTRIES_WITHOUT_TLS", found.host)
        found.put("env", "1", IMAGE)
        yield found


@asynccontextmanager
async def started(place: Path) -> AsyncIterator[Images]:
    """The images of a process that has just begun."""
    images = Images(place, SystemClock(), for_server=False)
    try:
        yield images
    finally:
        await images.close()


async def imported(images: Images, image: Made, folder: Path) -> None:
    async def archive() -> AsyncIterator[bytes]:
        yield packed(image.layout(folder))

    await images.import_("default", "localhost/x:1", archive())


def seen(root: Path) -> dict[str, tuple[int, int, str]]:
    """What is below a layer: rights, size, content or the target of a link."""
    found = {}
    for path in sorted(root.rglob("*")):
        about = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else ""
        found[str(path.relative_to(root))] = about.st_mode, 0 if path.is_dir() else about.st_size, content
    return found


def cut(root: Path) -> None:
    (root / "etc/text").write_bytes(b"")


def gone(root: Path) -> None:
    (root / "etc/deep/file").unlink()


def more(root: Path) -> None:
    (root / "etc/deep/more").write_text("x")


def rights(root: Path) -> None:
    (root / "etc/other").chmod(0o4755)


def other_content_of_one_size(root: Path) -> None:
    (root / "etc/text").write_bytes(b"jello")


def other_link(root: Path) -> None:
    (root / "etc/link").unlink()
    (root / "etc/link").symlink_to("/etc")


def whole_folder(root: Path) -> None:
    shutil.rmtree(root / "etc")


def root_itself(root: Path) -> None:
    shutil.rmtree(root)


def everything(root: Path) -> None:
    shutil.rmtree(root.parent)


def shape_cut(root: Path) -> None:
    (root.parent / "shape").write_bytes(b"")


def record_cut(root: Path) -> None:
    (root.parent / "about.json").write_bytes(b"")


DAMAGES = [
    cut,
    gone,
    more,
    rights,
    other_content_of_one_size,
    other_link,
    whole_folder,
    root_itself,
    everything,
    shape_cut,
    record_cut,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
async def test_a_damaged_layer_is_unpacked_again(
    registry: FakeRegistry, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """From its archive, which is here: the registry is not asked. Nothing of the damaged one is left."""
    reference = f"{registry.host}/env:1"
    async with started(tmp_path / "images") as images:
        root = await images.root_of("default", reference)
    whole = seen(root.layers[LOWER])
    damage(root.layers[LOWER])
    registry.asked.clear()
    async with started(tmp_path / "images") as images:
        again = await images.root_of("default", reference)
        assert again == root
        assert seen(root.layers[LOWER]) == whole
    assert registry.asked == []
    assert os.listdir(tmp_path / "images/work") == []


async def test_a_layer_is_looked_at_once(registry: FakeRegistry, tmp_path: Path) -> None:
    """A whole one stays as it is, and one of an earlier version, of which nobody has noted how it looked, is noted."""
    reference = f"{registry.host}/env:1"
    async with started(tmp_path / "images") as images:
        root = await images.root_of("default", reference)
    shape = root.layers[LOWER].parent / "shape"
    noted, inode = shape.read_text(), root.layers[LOWER].stat().st_ino
    shape.unlink()
    async with started(tmp_path / "images") as images:
        await images.root_of("default", reference)
        assert shape.read_text() == noted
        shape.write_text("nobody reads it again")
        await images.root_of("default", reference)
        await images.root_of("default", root.digest)
    assert root.layers[LOWER].stat().st_ino == inode


async def test_what_another_user_has_noted_is_not_compared(registry: FakeRegistry, tmp_path: Path) -> None:
    """Who is not root sees less of the same folders."""
    reference = f"{registry.host}/env:1"
    async with started(tmp_path / "images") as images:
        root = await images.root_of("default", reference)
    inode = root.layers[LOWER].stat().st_ino
    (root.layers[LOWER].parent / "shape").write_text(f"{os.geteuid() + 1} {'0' * 64}")
    async with started(tmp_path / "images") as images:
        await images.root_of("default", reference)
    assert root.layers[LOWER].stat().st_ino == inode


@pytest.mark.parametrize("damage", [lambda blob: blob.unlink(), lambda blob: blob.write_bytes(bytes(50))])
@pytest.mark.parametrize("by_pull", [False, True])
async def test_an_archive_that_is_gone_is_pulled_again(
    registry: FakeRegistry, tmp_path: Path, damage: Callable[[Path], None], by_pull: bool
) -> None:
    """By the digest that the name means here, whatever the tag means now; and by whoever says that it is to be pulled
    again."""
    reference = f"{registry.host}/env:1"
    async with started(tmp_path / "images") as images:
        root = await images.root_of("default", reference)
    whole = seen(root.layers[LOWER])
    cut(root.layers[LOWER])
    damage(tmp_path / "images/blobs/sha256" / IMAGE.layers[0].removeprefix("sha256:"))
    if not by_pull:
        registry.put("env", "1", made(tar(member("etc/text", b"another"))))
    async with started(tmp_path / "images") as images:
        if by_pull:
            await images.wait_pull("default", (await images.pull("default", reference, refresh=True)).id)
        assert (await images.root_of("default", reference)) == root
    assert seen(root.layers[LOWER]) == whole


async def test_what_cannot_be_unpacked_again_is_told(tmp_path: Path) -> None:
    """An imported image whose archive is gone, too; imported again it is whole."""
    needed("skopeo")
    async with started(tmp_path / "images") as images:
        await imported(images, IMAGE, tmp_path / "first")
        root = await images.root_of("default", "localhost/x:1")
    whole = seen(root.layers[LOWER])
    cut(root.layers[LOWER])
    (tmp_path / "images/blobs/sha256" / IMAGE.layers[0].removeprefix("sha256:")).unlink()
    async with started(tmp_path / "images") as images:
        for asked in ("localhost/x:1", root.digest):
            with pytest.raises(ImagePullError, match="damaged on the disk") as error:
                await images.root_of("default", asked)
            assert error.value.reason == "IMAGE_BROKEN"
        await imported(images, IMAGE, tmp_path / "second")
        assert await images.root_of("default", "localhost/x:1") == root
    assert seen(root.layers[LOWER]) == whole


async def test_a_layer_that_sandboxes_use_stays(registry: FakeRegistry, tmp_path: Path) -> None:
    """Those of another process of this machine: what they have is not taken away, and the error says what is waited
    for."""
    reference = f"{registry.host}/env:1"
    async with started(tmp_path / "images") as others:
        root = await others.root_of("default", reference)
        whole = seen(root.layers[LOWER])
        cut(root.layers[LOWER])
        async with started(tmp_path / "images") as images:
            with others.hold("default", root.digest), pytest.raises(ImagePullError, match="no sandbox of this machine"):
                await images.root_of("default", reference)
            assert seen(root.layers[LOWER])["etc/text"][2] == ""
            assert await images.root_of("default", reference) == root
    assert seen(root.layers[LOWER]) == whole


async def test_snapshots(tmp_path: Path) -> None:
    """Their layers are kept as a folder alone, and made whole where the contents of files still make their digest; else
    the error says so."""
    needed("skopeo")
    async with started(tmp_path / "images") as images:
        await imported(images, IMAGE, tmp_path / "first")
        base = await images.root_of("default", "localhost/x:1")
        with tempfile.TemporaryDirectory(prefix="harena-upper-", dir="/dev/shm") as written:
            Path(written, "upper").mkdir()
            Path(written, "upper/kept").write_text("of the sandbox")
            layer = FolderLayer(written, base.digest)
            await images.snapshot("default", layer, "localhost/x:1", "sb_1", "mine", None)
            await layer.close()
        root = await images.root_of("default", "snapshot://mine")
    kept = root.layers[0] / "kept"
    before = kept.stat().st_mtime_ns
    os.utime(kept, ns=(0, 0))
    archive = tmp_path / "images/blobs/sha256" / root.layers[0].parent.name
    for _ in range(2):  # what its archive is made of is there again, too
        async with started(tmp_path / "images") as images:
            assert await images.root_of("default", "snapshot://mine") == root
        assert kept.stat().st_mtime_ns == before
        archive.unlink(missing_ok=True)
        os.utime(kept, ns=(0, 0))
    kept.write_text("of no sandbox")
    async with started(tmp_path / "images") as images:
        with pytest.raises(ImagePullError, match="damaged on the disk"):
            await images.root_of("default", "snapshot://mine")
