"""What a build needs of the store: bases, layers that become images, and what its steps have made before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.image_configs import BuiltImage, ImageConfig
from harena.core.ports.runtime import UpperLayer
from harena.core.records.images import ImageRoot
from harena.core.threads import IMAGES
from harena.image_store.assembling import Assembler
from harena.image_store.collecting import digests_of
from harena.image_store.image_configs import read_image_config, written_image_config
from harena.image_store.kept import KeptBlob, KeptImage, Needs
from harena.image_store.manifests import hexadecimal, this_platform
from harena.image_store.sealing import seal
from harena.image_store.store import ImageStore, Work, in_threads
from harena.image_store.unpacking import LayerLimits, unpack

_MANIFEST, _CONFIG = "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.config.v1+json"
_TAR = "application/vnd.oci.image.layer.v1.tar"
_LAYOUT = b'{"imageLayoutVersion":"1.0.0"}'


@dataclass(slots=True)
class StoreRoom:
    """Implements `BuildRoom` for one build. Used from one event loop."""

    store: ImageStore
    assembler: Assembler
    work: Work
    root_of: Callable[[str], Awaitable[ImageRoot]]
    """the image that the workspace means by a reference"""
    root: Callable[[KeptImage], ImageRoot]
    name: Callable[[Sequence[str], str, Work], None]
    """give an image of this digest names; blocking"""
    sealing: Callable[[], AbstractAsyncContextManager[None]]
    """a turn at sealing layers"""
    _needed: dict[str, KeptImage] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The build's own folder."""
        return self.work.path

    async def base(self, reference: str) -> BuiltImage:
        """Find the image that the build begins with, pulled if the store does not have it. Raises ValidationError,
        PlatformError."""
        root = await self.root_of(reference)
        if root.is_of_default:
            raise ValidationError(
                f"{reference} is a snapshot of a sandbox of the default image, whose root is the host's: nothing can "
                "be built on it. Begin with an image, or begin sandboxes with the snapshot itself "
                "(Sandbox.run(snapshot=...), harena.blueprints.create(image='snapshot://...'))",
                reason="DOCKERFILE",
            )
        found = await self._find_image(hexadecimal(root.digest))
        if found is None:  # it went in this moment: once more
            root = await self.root_of(reference)
            found = await self._find_image(hexadecimal(root.digest))
        assert found is not None
        return found

    async def cached(self, key: str) -> BuiltImage | None:
        """Find the image that an earlier build made by the same step; None = there is none any more, or it
        is damaged beyond repair."""
        digest = await IMAGES.run(self.store.step, key)
        if digest is None:
            return None
        found = await self._find_image(digest)
        if found is None or not await self.assembler.mend(self._needed[digest]):
            return None
        await IMAGES.run(self.store.touch, digest)
        return found

    async def commit(
        self,
        parent: BuiltImage | None,
        layer: Path | UpperLayer | None,
        config: ImageConfig,
        key: str = "",
        *,
        without: Sequence[str] = (),
        newest_seconds: int | None = None,
    ) -> BuiltImage:
        """Add an image of the parent's layers and one more, and remember it as what the step `key` makes; `without`
        names files that the layer leaves out, and `newest_seconds` is the latest time that they get, in seconds since
        1970."""
        store, assembler = self.store, self.assembler
        layers = self._needed[hexadecimal(parent.digest)].layers if parent is not None else []
        async with in_threads(store.work()) as work:
            if layer is not None:
                layers = [*layers, await self._kept_layer(layer, work, without, newest_seconds)]
            contents, layout = await IMAGES.run(_write_layout, config, layers, work)
            *_, own = contents
            blobs = [*contents, *(one.digest for one in layers)]
            await assembler.need(work, Needs(images=[own], blobs=blobs, layers=[one.diff_id for one in layers]))
            for content in contents.values():
                await IMAGES.run(store.keep_blob, work, content)
            made = await assembler.make(layout, work, is_imported=False)
            await self._need(made)
            if key:
                await IMAGES.run(store.keep_step, key, made.digest, work)
        return BuiltImage(self.root(made), config)

    def layer_archive(self, image: BuiltImage) -> Path:
        """Path of the archive of the image's newest layer."""
        return self.store.blob(self._needed[hexadecimal(image.digest)].layers[-1].digest)

    async def keep(self, image: BuiltImage, references: Sequence[str]) -> None:
        """Give the image names in the workspace, in place of what they named before."""
        await IMAGES.run(self.name, references, hexadecimal(image.digest), self.work)

    async def _kept_layer(
        self, layer: Path | UpperLayer, work: Work, without: Sequence[str], newest_seconds: int | None
    ) -> KeptBlob:
        """A layer that is needed from now on."""
        store, assembler = self.store, self.assembler
        limits = LayerLimits.of_node()
        if not isinstance(layer, Path):
            async with self.sealing():
                sealed = await seal(layer, work, limits, without=without, newest_seconds=newest_seconds)
            layer = sealed.path
        size = (await IMAGES.run(layer.stat)).st_size
        await assembler.collect(work, more=2 * size)  # as it is, and unpacked
        made, about = await unpack(work, layer, "", limits)
        kept = KeptBlob(digest=about.diff_id, diff_id=about.diff_id, size=size, media_type=_TAR)
        await assembler.need(work, Needs(images=[], blobs=[kept.digest], layers=[kept.diff_id]))
        await IMAGES.run(layer.rename, store.blob(kept.digest))
        await IMAGES.run(store.keep_layer, made, about)
        return kept

    async def _find_image(self, digest: str) -> BuiltImage | None:
        """An image that is here, and needed from now on."""
        store = self.store
        kept = await IMAGES.run(store.image, digest)
        if kept is None:
            return None
        await self._need(kept)
        kept = await IMAGES.run(store.image, digest)  # it may have gone before that
        if kept is None:
            return None
        raw = await IMAGES.run(store.blob(kept.config).read_bytes)
        return BuiltImage(self.root(kept), await IMAGES.run(read_image_config, raw))

    async def _need(self, image: KeptImage) -> None:
        self._needed[image.digest] = image
        kept = self._needed.values()
        await self.assembler.need(
            self.work,
            Needs(
                images=[one.digest for one in kept],
                blobs=sorted({digest for one in kept for digest in digests_of(one)}),
                layers=sorted({layer.diff_id for one in kept for layer in one.layers}),
            ),
        )


def _write_layout(config: ImageConfig, layers: Sequence[KeptBlob], work: Work) -> tuple[Mapping[str, bytes], Path]:
    """The configuration and the manifest of an image by their digests, and a layout that speaks of them."""
    told = written_image_config(config, [one.diff_id for one in layers], this_platform())
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": {"mediaType": _CONFIG, "digest": f"sha256:{_digest(told)}", "size": len(told)},
            "layers": [
                {"mediaType": one.media_type, "digest": f"sha256:{one.digest}", "size": one.size} for one in layers
            ],
        }
    )
    layout = work.folder("layout")
    entry = {"mediaType": _MANIFEST, "digest": f"sha256:{_digest(manifest)}", "size": len(manifest)}
    (layout / "oci-layout").write_bytes(_LAYOUT)
    (layout / "index.json").write_bytes(_json({"schemaVersion": 2, "manifests": [entry]}))
    return {_digest(told): told, _digest(manifest): manifest}, layout


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()
