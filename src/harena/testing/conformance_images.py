"""What images do over every transport: made of archives, so that no registry is needed."""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import AsyncIterator

import pytest

from harena.core import settings
from harena.core.errors import NotFoundError, ValidationError
from harena.core.images import image_id, parse_reference
from harena.core.ports import Operations
from harena.core.records.images import PullState


class ImagesConformance:
    """Every noun of the operations is asked for at least once."""

    async def test_the_life_of_an_image(self, operations: Operations) -> None:
        """It is imported, found by each of its names, listed, exported, and removed."""
        _needs_skopeo()
        made = await operations.import_image("conformance/life:1", _pieces(_archive()))
        assert made.reference == "docker.io/conformance/life:1"
        assert (made.layers, made.in_use) == (1, False)
        for name in (made.id, made.reference, "conformance/life:1", made.digest):
            assert await operations.get_image(name) == made
        assert made in (await operations.list_images(limit=500)).images
        exported = b"".join([piece async for piece in operations.export_image(made.id)])
        again = await operations.import_image("conformance/again", _pieces(exported))
        assert again.digest == made.digest
        page = await operations.list_images(limit=1)
        assert page.next_cursor is not None
        assert (await operations.list_images(limit=1, cursor=page.next_cursor)).images != page.images
        await operations.remove_image("conformance/life:1")
        with pytest.raises(NotFoundError):
            await operations.get_image(made.id)
        await operations.remove_image(again.id)
        assert (await operations.collect_images(unused_seconds=1_000_000)).images == 0

    async def test_a_pull_that_cannot_succeed(self, operations: Operations, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is told as a pull, with its events, and can be asked for afterwards."""
        _needs_skopeo()
        monkeypatch.setenv(settings.REGISTRIES.name, "localhost:1")
        with pytest.raises(ValidationError, match="may not be pulled"):
            await operations.pull_image("conformance/nothing")
        pull = await operations.pull_image("localhost:1/conformance/nothing")
        ended = await operations.cancel_image_pull(pull.id)
        assert ended.state is PullState.CANCELLED
        assert await operations.wait_image_pull(pull.id) == ended
        assert await operations.get_image_pull(pull.id) == ended
        events = [event async for event in operations.image_pull_events(pull.id)]
        assert events[-1].pull == ended
        assert events[-1].kind == "cancelled"

    async def test_an_image_that_is_here(self, operations: Operations) -> None:
        """Without `refresh` nobody is asked for it."""
        _needs_skopeo()
        made = await operations.import_image("conformance/here", _pieces(_archive()))
        pull = await operations.pull_image("conformance/here", refresh=False)
        assert (pull.state, pull.digest, pull.layers_unpacked) == (PullState.DONE, made.digest, 1)
        await operations.remove_image(made.id)

    async def test_what_is_no_image(self, operations: Operations) -> None:
        """References and archives are checked."""
        with pytest.raises(ValidationError, match="names no image"):
            await operations.pull_image("UPPER:case:twice")
        with pytest.raises(ValidationError):
            await operations.import_image("a b", _pieces(_archive()))
        with pytest.raises(ValidationError, match="broken"):
            await operations.import_image("conformance/broken", _pieces(b"no archive" * 100))
        with pytest.raises(NotFoundError):
            await operations.get_image(image_id(parse_reference("conformance/broken")))
        with pytest.raises(NotFoundError):
            await operations.get_image("../etc/passwd")


def _needs_skopeo() -> None:
    if shutil.which("skopeo") is None:
        pytest.skip("images need skopeo, and it is not installed")


def _archive() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo("etc/hostname")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"box\n"))
    return out.getvalue()


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content
