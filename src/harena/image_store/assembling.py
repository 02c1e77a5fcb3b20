"""Makes an image of this machine from what a registry or an archive has: downloads, unpacks, remembers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from harena.core import settings
from harena.core.clock import Clock
from harena.core.errors import ImagePullError
from harena.core.images import ImageReference
from harena.core.json_steps import parse
from harena.core.records.images import PullState
from harena.core.threads import IMAGES
from harena.image_store.collecting import Collected, collect
from harena.image_store.kept import KeptBlob, KeptImage, KeptLayer, Needs
from harena.image_store.manifests import (
    MOST_BYTES,
    Configuration,
    Manifest,
    broken,
    choose_manifest,
    hexadecimal,
    read_configuration,
    read_manifest,
    this_platform,
)
from harena.image_store.rebuilding import DamagedFolderError, lacks_archive, rebuild
from harena.image_store.skopeo import LOOKED_AT_SECONDS, Skopeo
from harena.image_store.store import ImageStore, Work, in_threads
from harena.image_store.unpacking import CorruptBlobError, LayerLimits, number, unpack

_MORE_BYTES = 1024 * 1024
"""what a registry may send beyond a manifest's sizes until that is an error: blobs are looked at while they grow"""


@dataclass(slots=True)
class Progress:
    """How far one pull is. `changed` is called after each change."""

    changed: Callable[[], None]
    state: PullState = PullState.WAITING
    total_bytes: int | None = None
    downloaded_bytes: int = 0
    layers: int | None = None
    layers_unpacked: int = 0
    digest: str | None = None

    def arrived(self, size: int) -> None:
        """Note how many bytes are here."""
        self.tell(downloaded_bytes=max(size, self.downloaded_bytes))

    def tell(self, **changes: object) -> None:
        """Set fields, and say so where one of them is another now."""
        if any(getattr(self, name) != value for name, value in changes.items()):
            for name, value in changes.items():
                setattr(self, name, value)
            self.changed()


@dataclass(slots=True)
class Assembler:
    """Used from one event loop."""

    store: ImageStore
    skopeo: Skopeo
    clock: Clock
    unpacking: Callable[[], AbstractAsyncContextManager[None]]
    """within which a layer or an archive is unpacked"""
    _unpacking: dict[str, asyncio.Lock] = field(default_factory=dict)
    """diff id -> lock of those who need the layer"""

    async def pull(self, reference: ImageReference, progress: Progress, work: Work) -> KeptImage:
        """The image that a reference names at its registry, which is here then. Raises NotFoundError, ImagePullError,
        HostUnsupportedError."""
        progress.tell(state=PullState.RESOLVING)
        found = await self.skopeo.manifest(reference)
        told = await IMAGES.run(read_manifest, found.raw)
        if not isinstance(told, Manifest):
            wanted = choose_manifest(told, this_platform())
            found = await self.skopeo.manifest_at(found.place, wanted, str(reference))
            told = await IMAGES.run(read_manifest, found.raw)
            if not isinstance(told, Manifest):
                raise broken("its index names another index")
        digest = hexadecimal(found.digest)
        progress.tell(digest=found.digest, total_bytes=told.bytes, layers=len(told.layers))
        while True:
            async with in_threads(self.store.pulling(digest)) as is_mine:
                if is_mine:
                    return await self._pulled(reference, found.place, digest, told, progress, work)
            progress.tell(state=PullState.WAITING)
            await self.clock.sleep(LOOKED_AT_SECONDS)

    async def make(self, layout: Path, work: Work, *, digest: str = "", is_imported: bool) -> KeptImage:
        """The image that an OCI layout speaks of, whose blobs are in the store, unpacked. `digest`: what it is known
        by, if not by the manifest in the layout. Raises as `pull`, and CorruptBlobError."""
        progress = Progress(lambda: None)
        return await self._unpacked(layout, digest, progress, work, is_imported=is_imported)

    async def mend(self, image: KeptImage) -> bool:
        """Unpack again what was damaged of an image's layers since they were unpacked; a process looks at each layer
        once. False = an archive of theirs is not here, or is damaged, too. Raises ImagePullError, PlatformError."""
        if self.store.is_looked_at(image):
            return True
        damaged = await IMAGES.run(self._damaged, image)
        if not damaged:
            return True
        blobs, layers = [one.digest for one in image.layers], [one.diff_id for one in image.layers]
        limits = LayerLimits.of_node()
        async with in_threads(self.store.work()) as work:
            await self.need(work, Needs(images=[image.digest], blobs=blobs, layers=layers))
            for blob in damaged:
                try:
                    if await IMAGES.run(lacks_archive, blob, self.store):
                        await rebuild(blob, self.store, work)
                    await self._layer(blob, work, limits)
                except (CorruptBlobError, FileNotFoundError, DamagedFolderError):
                    return False
        return True

    async def collect(self, work: Work, *, more: int = 0, all_left: bool = False) -> Collected:
        """Make room for so many bytes more, if that can be."""
        budget = number(settings.IMAGE_BYTES)
        now = self.clock.utcnow().timestamp()
        return await IMAGES.run(collect, self.store, max(0, budget - more), work, now=now, all_left=all_left)

    async def need(self, work: Work, needs: Needs) -> None:
        """From now on nobody removes these."""
        await IMAGES.run(_need, self.store, work, needs)

    async def _check_room(self, work: Work, image: KeptImage) -> None:
        """Make the store fit its budget again. Raises ImagePullError where a new image leaves no room for that; then it
        is gone again."""
        made = await self.collect(work)
        budget = number(settings.IMAGE_BYTES)
        if made.used_bytes <= budget:
            return
        await IMAGES.run(self.store.drop_image, image.digest)
        others = "and all others are in use or imported"
        raise _no_room(f"with it, images take {made.used_bytes} bytes, {others}", budget)

    async def _pulled(
        self, reference: ImageReference, place: str, digest: str, told: Manifest, progress: Progress, work: Work
    ) -> KeptImage:
        blobs = {hexadecimal(one.digest): one.size for one in (told.config, *told.layers)}
        await self.need(work, Needs(images=[digest], blobs=[*blobs], layers=[]))
        known = await IMAGES.run(self.store.image, digest)
        if known is not None and await self.mend(known):
            progress.tell(downloaded_bytes=told.bytes, layers_unpacked=len(told.layers))
            return known
        missing = await IMAGES.run(self._missing, blobs)
        if told.bytes > (budget := number(settings.IMAGE_BYTES)):
            raise _no_room(f"its manifest says {told.bytes} bytes", budget)  # before others go for it
        if missing:
            await self.collect(work, more=missing)
        for is_last in (False, True):
            layout = await IMAGES.run(work.folder, f"layout-{int(is_last)}")
            progress.tell(state=PullState.DOWNLOADING)
            loop = asyncio.get_running_loop()
            look = partial(self._look, blobs, layout, progress, loop)
            await self.skopeo.download(place, f"sha256:{digest}", str(reference), layout, self.store.blobs, look)
            progress.tell(downloaded_bytes=told.bytes)
            try:
                image = await self._unpacked(layout, digest, progress, work, is_imported=False, told=told)
            except CorruptBlobError:
                if is_last:
                    raise broken("a blob has another digest than its name says, twice") from None
                continue
            return image
        raise AssertionError("the second try returns or raises")

    async def _unpacked(
        self,
        layout: Path,
        digest: str,
        progress: Progress,
        work: Work,
        *,
        is_imported: bool,
        told: Manifest | None = None,
    ) -> KeptImage:
        own, manifest, config = await IMAGES.run(self._read_layout, layout)
        if told is not None and [one.digest for one in told.layers] != [one.digest for one in manifest.layers]:
            raise broken("its layers are not those that its manifest names")
        if len(config.diff_ids) != len(manifest.layers):
            raise broken("its configuration speaks of another number of layers than its manifest")
        layers = [
            KeptBlob(digest=hexadecimal(one.digest), diff_id=diff_id, size=one.size, media_type=one.media_type)
            for one, diff_id in zip(manifest.layers, config.diff_ids, strict=True)
        ]
        known_by = digest or own
        await self.need(
            work,
            Needs(
                images=[known_by],
                blobs=[own, hexadecimal(manifest.config.digest), *(layer.digest for layer in layers)],
                layers=[*config.diff_ids],
            ),
        )
        progress.tell(state=PullState.UNPACKING, layers_unpacked=0)
        limits = LayerLimits.of_node()
        distinct = {layer.diff_id: layer for layer in layers}

        async def one(layer: KeptBlob) -> KeptLayer:
            kept = await self._layer(layer, work, limits)
            progress.tell(layers_unpacked=progress.layers_unpacked + 1)
            return kept

        kept = await _all([one(layer) for layer in distinct.values()])
        progress.tell(layers_unpacked=len(layers))
        image = KeptImage(
            digest=known_by,
            manifest=own,
            config=hexadecimal(manifest.config.digest),
            layers=layers,
            platform=config.platform,
            created_at=config.created_at,
            environment={**config.environment},
            workdir=config.workdir,
            user=config.user,
            entrypoint=[*config.entrypoint],
            command=[*config.command],
            size_bytes=manifest.bytes,
            unpacked_bytes=sum(layer.bytes for layer in kept),
            keeps_owners=all(layer.keeps_owners for layer in kept),
            is_imported=is_imported,
        )
        was_here = await IMAGES.run(self.store.image, known_by) is not None
        await IMAGES.run(self.store.keep_image, image, work)
        if not was_here:
            await self._check_room(work, image)
        return image

    async def _layer(self, blob: KeptBlob, work: Work, limits: LayerLimits) -> KeptLayer:
        lock = self._unpacking.setdefault(blob.diff_id, asyncio.Lock())
        async with lock:
            there = await IMAGES.run(self.store.whole_layer, blob.diff_id)
            if there is not None:
                return there
            async with self.unpacking():
                path = self.store.blob(blob.digest)
                try:
                    made, about = await unpack(work, path, blob.digest, limits)
                except CorruptBlobError:
                    await IMAGES.run(path.unlink, missing_ok=True)
                    raise
            if about.diff_id != blob.diff_id:
                raise broken(
                    f"layer sha256:{blob.digest} unpacks to sha256:{about.diff_id}, and its configuration says "
                    f"sha256:{blob.diff_id}"
                )
            kept = await IMAGES.run(self.store.keep_layer, made, about)
        if not lock.locked():
            self._unpacking.pop(blob.diff_id, None)
        return kept

    def _damaged(self, image: KeptImage) -> list[KeptBlob]:
        distinct = {one.diff_id: one for one in image.layers}
        return [one for diff_id, one in distinct.items() if self.store.whole_layer(diff_id) is None]

    def _read_layout(self, layout: Path) -> tuple[str, Manifest, Configuration]:
        try:
            index = parse(_bounded(layout / "index.json"))
            own = str(index["manifests"][0]["digest"])
        except (ValueError, LookupError, TypeError, RecursionError):
            raise broken("its layout names no manifest") from None
        manifest = read_manifest(_bounded(self.store.blob(hexadecimal(own))))
        if not isinstance(manifest, Manifest):
            raise broken("its layout names an index")
        config = read_configuration(_bounded(self.store.blob(hexadecimal(manifest.config.digest))))
        return hexadecimal(own), manifest, config

    def _look(self, blobs: Mapping[str, int], layout: Path, progress: Progress, loop: asyncio.AbstractEventLoop) -> int:
        """How many bytes of these are here; in a thread. Raises ImagePullError for more than there can be."""
        most, arriving = sum(blobs.values()), _arriving(layout)
        if arriving > most + _MORE_BYTES:
            raise broken("its registry sends more than its manifest says")
        arrived = min(most, most - self._missing(blobs) + arriving)
        loop.call_soon_threadsafe(progress.arrived, arrived)
        return arrived

    def _missing(self, blobs: Mapping[str, int]) -> int:
        return sum(size for digest, size in blobs.items() if not self.store.blob(digest).exists())


def _no_room(why: str, budget: int) -> ImagePullError:
    return ImagePullError(
        f"there is no room for the image: {why}; images may take {budget} bytes ({settings.IMAGE_BYTES.name})",
        step="pull",
        reason="IMAGE_SPACE",
    )


def _arriving(layout: Path) -> int:
    """Bytes of blobs that skopeo is writing."""
    size = 0
    with suppress(FileNotFoundError):
        for path in layout.glob("oci-put-blob*"):
            with suppress(FileNotFoundError):  # renamed just now
                size += path.stat().st_size
    return size


def _bounded(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError:
        raise broken("a blob of it is missing") from None


def _need(store: ImageStore, work: Work, needs: Needs) -> None:
    with store.alone():  # whoever removes something has looked at all needs before
        work.need(needs)


async def _all(works: Sequence[Coroutine[None, None, KeptLayer]]) -> list[KeptLayer]:
    """What all of them give; after the first failure the others are ended before it is raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return [*await asyncio.gather(*tasks)]
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
