"""Workspaces share no store of images: who knows the digests of another one's image can make no image of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from image_world import Made, digest, made, needed, packed
from layer_tars import member, tar

from harena.core.clock import SystemClock
from harena.core.errors import HarenaError
from harena.node.images import NodeImages

SECRET = tar(member("secret", b"the owner's"))
OWN = tar(member("own", b"mine"))


@pytest.fixture
async def images(tmp_path: Path) -> AsyncIterator[NodeImages]:
    needed("skopeo")
    found = NodeImages(tmp_path / "images", SystemClock(), for_server=True)
    yield found
    await found.close()


async def imported(images: NodeImages, workspace: str, image: Made, folder: Path) -> None:
    async def archive() -> AsyncIterator[bytes]:
        yield packed(image.layout(folder))

    await images.store(workspace).import_(workspace, "localhost/x:1", archive())


@pytest.mark.parametrize("asked", ["manifest", "config", "layer"])
async def test_a_digest_takes_nothing_of_another_workspace(images: NodeImages, tmp_path: Path, asked: str) -> None:
    """An archive whose manifest names a blob that it has not got."""
    theirs = made(SECRET)
    await imported(images, "owner", theirs, tmp_path / "theirs")
    names = {
        "manifest": theirs.digest,
        "config": json.loads(theirs.manifest)["config"]["digest"],
        "layer": theirs.layers[0],
    }
    mine = made(OWN, OWN)
    manifest = json.loads(mine.manifest)
    manifest["layers"][0] |= {"digest": names[asked], "size": len(theirs.blobs[names[asked]])}
    content = json.dumps(manifest).encode()
    forged = Made(content, {**mine.blobs, digest(content): content}, [])
    with pytest.raises(HarenaError):
        await imported(images, "other", forged, tmp_path / "forged")


async def test_the_name_of_an_unpacked_layer_takes_nothing_of_another_workspace(
    images: NodeImages, tmp_path: Path
) -> None:
    """A configuration that says another diff id of a blob of one's own."""
    await imported(images, "owner", made(SECRET), tmp_path / "theirs")
    with pytest.raises(HarenaError):
        await imported(images, "other", made(OWN, diff_ids=[digest(SECRET)]), tmp_path / "forged")


async def test_workspaces_hold_and_remove_their_own(images: NodeImages, tmp_path: Path) -> None:
    for workspace in ("one", "two"):
        await imported(images, workspace, made(SECRET), tmp_path / workspace)
    one, two = [await images.root_of(workspace, "localhost/x:1") for workspace in ("one", "two")]
    assert one.digest == two.digest
    assert one.layers != two.layers
    await images.store("one").remove("one", "localhost/x:1")
    await images.store("one").collect("one", 0)
    with images.hold("two", two.digest):
        assert (two.layers[0] / "secret").read_bytes() == b"the owner's"
