"""The images of a node: what its workspaces see of them, and where its runtime gets roots."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from harena.core.clock import Clock
from harena.core.default_image import DEFAULT_IMAGE
from harena.core.errors import NotFoundError, PlatformError, ValidationError
from harena.core.images import (
    DIGEST_PATTERN,
    ID_PATTERN,
    ArchiveFormat,
    ImageChanges,
    ImageReference,
    image_id,
    parse_reference,
)
from harena.core.ports import UpperLayer
from harena.core.records.images import (
    CollectedImages,
    Image,
    ImagePull,
    ImagePullEvent,
    ImageRoot,
    ImagesPage,
    PullState,
)
from harena.core.records.snapshots import Snapshot, SnapshotsPage
from harena.core.snapshots import snapshot_in
from harena.core.threads import IMAGES
from harena.image_store.archives import Archives
from harena.image_store.assembling import Assembler, Progress
from harena.image_store.building import StoreRoom
from harena.image_store.collecting import Collected
from harena.image_store.kept import KeptImage, KeptName, KeptSnapshot, Source
from harena.image_store.manifests import broken, hexadecimal
from harena.image_store.pulls import Names, Pulls, Ticket
from harena.image_store.registries import Registries
from harena.image_store.sealing import SNAPSHOT, Sealing, base_of_default
from harena.image_store.skopeo import Skopeo
from harena.image_store.snapshots import Snapshots
from harena.image_store.store import ImageStore, Work, in_threads
from harena.image_store.turns import ImageTurns

_EXPORTED = "localhost/snapshot"
"""what an exported snapshot is called; its name or id is the tag"""
_MOST_ROOTS = 1000
"""answers that are remembered: one takes a few KB at most, by the image's variables"""


class Images:
    """Implements `ImageSource`, and `ImageOperations` with the workspace as the first argument. Used from one event
    loop."""

    def __init__(self, place: Path, clock: Clock, *, for_server: bool, turns: ImageTurns | None = None) -> None:
        """`for_server`: without a setting, only public registries are asked. `turns`: shared with the node's other
        stores; None = there is no other."""
        self._turns = turns or ImageTurns()
        self._owner = str(place)
        self._store = ImageStore(place.absolute())
        self._clock = clock
        self._snapshots = Snapshots(self._store, clock)
        self._for_server = for_server
        self._pulls = Pulls(self._pull, clock)
        self._removed: set[str] = set()
        """images of removed snapshots that somebody has still"""
        self._collecting: set[asyncio.Task[Collected]] = set()
        self._is_closed = False
        self._opening: asyncio.Task[None] | None = None
        self._made: Assembler | None = None
        self._roots: dict[tuple[str, str], tuple[tuple[int, ...], str, ImageRoot]] = {}
        """workspace and reference -> the stamp with which it was answered, the reference's id, the answer"""
        self._begun_with: dict[tuple[str, str], tuple[tuple[int, ...], KeptSnapshot, ImageRoot]] = {}
        """workspace and name or id of a snapshot -> the stamp with which it was answered, what it was, the answer"""

    # -- ImageSource --

    async def root_of(self, workspace: str, reference: str) -> ImageRoot:
        """Find the root of an image or a snapshot, pulling an image that is not here. Raises ValidationError,
        NotFoundError, PlatformError."""
        if (known := self._known_root(workspace, reference)) is not None:
            return known
        snapshot = snapshot_in(reference)
        if snapshot is not None and (begun := self._known_snapshot(workspace, snapshot)) is not None:
            return begun
        await self._open()
        if snapshot is not None:
            return await self._root_of_snapshot(workspace, snapshot)
        if re.fullmatch(DIGEST_PATTERN, reference):
            found = await IMAGES.run(self._with_digest, hexadecimal(reference))
            await self._mend(found)
            return self._root(found)
        asked = parse_reference(reference)
        name, image = await IMAGES.run(self._find_name, workspace, image_id(asked))
        if image is not None and not await self._mend(image, is_pulled=name is not None and name.source == "registry"):
            image = None
        if name is not None and image is None and name.source == "registry":
            # it was removed to make room: the tag still means what it meant when it was pulled
            pinned = ImageReference(
                registry=asked.registry, repository=asked.repository, tag=asked.tag, digest=f"sha256:{name.digest}"
            )
            await self._pulls.result(self._begin_pull(workspace, pinned, asked))
            image = await IMAGES.run(self._store.image, name.digest)
        elif name is None or image is None:
            await self._pulls.result(self._begin_pull(workspace, asked, asked))
            name, image = await IMAGES.run(self._find_name, workspace, image_id(asked))
        if image is None:
            raise NotFoundError(f"{asked} was removed while it was asked for", reason="IMAGE_NOT_FOUND")
        root = self._root(image)
        await self._remember(workspace, reference, image_id(asked), root)
        return root

    async def _root_of_snapshot(self, workspace: str, snapshot: str) -> ImageRoot:
        found, stamp, image = await IMAGES.run(self._find_snapshot, workspace, snapshot)
        if image is None:
            raise NotFoundError(f"snapshot {snapshot} was removed while it was asked for", reason="SNAPSHOT_NOT_FOUND")
        await self._mend(image)
        root = replace(self._root(image), is_of_default=found.image == DEFAULT_IMAGE)
        if stamp is not None:
            self._begun_with[workspace, snapshot] = stamp, found, root
            if len(self._begun_with) > _MOST_ROOTS:
                del self._begun_with[next(iter(self._begun_with))]
        return root

    def _find_snapshot(
        self, workspace: str, snapshot: str
    ) -> tuple[KeptSnapshot, tuple[int, ...] | None, KeptImage | None]:
        found = self._snapshots.find(workspace, snapshot)
        stamp = self._store.snapshot_stamp(workspace, found.id, found.digest)
        return found, stamp, self._store.image(found.digest)

    def _known_snapshot(self, workspace: str, snapshot: str) -> ImageRoot | None:
        """What was answered last, if nothing has changed since: many sandboxes begin with one snapshot."""
        known = self._begun_with.get((workspace, snapshot))
        if known is None:
            return None
        stamp, found, root = known
        is_over = self._snapshots.is_over(found)
        if is_over or stamp != self._store.snapshot_stamp(workspace, found.id, found.digest):
            del self._begun_with[workspace, snapshot]
            return None
        return root

    def _known_root(self, workspace: str, reference: str) -> ImageRoot | None:
        """What was answered last, if nothing has changed since: one job makes many sandboxes of an image."""
        known = self._roots.get((workspace, reference))
        if known is None:
            return None
        stamp, identity, root = known
        if stamp != self._store.stamp(workspace, identity, hexadecimal(root.digest)):
            del self._roots[workspace, reference]
            return None
        return root

    async def _remember(self, workspace: str, reference: str, identity: str, root: ImageRoot) -> None:
        digest = hexadecimal(root.digest)
        stamp = self._store.stamp(workspace, identity, digest)
        name, _ = await IMAGES.run(
            self._find_name, workspace, identity
        )  # the stamp is not older than what it stands for
        if stamp is not None and name is not None and name.digest == digest:
            self._roots[workspace, reference] = stamp, identity, root
            if len(self._roots) > _MOST_ROOTS:
                del self._roots[next(iter(self._roots))]

    def _with_digest(self, digest: str) -> KeptImage:
        image = self._store.image(digest)
        if image is None:
            raise NotFoundError(f"no image sha256:{digest} is here", reason="IMAGE_NOT_FOUND")
        return image

    def hold(self, _workspace: str, digest: str) -> AbstractContextManager[None]:
        """Keep the image from being collected for as long as the context is open."""
        return self._hold(hexadecimal(digest))

    @contextmanager
    def _hold(self, digest: str) -> Iterator[None]:
        try:
            with self._store.hold(digest):
                yield
        finally:
            # its room is free as soon as nobody has it any more
            if digest in self._removed and not self._is_closed and not self._store.is_held(digest):
                self._removed.discard(digest)
                task = asyncio.ensure_future(self._collect())
                self._collecting.add(task)
                task.add_done_callback(self._collecting.discard)

    # -- operations --

    async def pull(self, workspace: str, reference: str, *, refresh: bool) -> ImagePull:
        """Begin to pull an image, or answer at once with the one that is here where `refresh` is off."""
        await self._open()
        asked = parse_reference(reference)
        if not refresh:
            _, image = await IMAGES.run(self._find_name, workspace, image_id(asked))
            if image is not None:
                return self._pulls.done(workspace, asked, _over(image)).record()
        return self._begin_pull(workspace, asked, asked).record()

    async def get_pull(self, workspace: str, pull: str) -> ImagePull:
        """Tell how far a pull is. Raises NotFoundError."""
        return self._pulls.get(workspace, pull).record()

    async def wait_pull(self, workspace: str, pull: str) -> ImagePull:
        """Wait until a pull is over. Raises NotFoundError."""
        return await self._pulls.wait(self._pulls.get(workspace, pull))

    async def cancel_pull(self, workspace: str, pull: str) -> ImagePull:
        """Cancel a pull; no effect on one that is over. Raises NotFoundError."""
        return self._pulls.cancel(self._pulls.get(workspace, pull))

    async def events(self, workspace: str, pull: str, after: int) -> AsyncIterator[ImagePullEvent]:
        """Follow a pull from the first event after `after` to its end. Raises NotFoundError."""
        async for event in self._pulls.events(self._pulls.get(workspace, pull), after):
            yield event

    async def page(self, workspace: str, *, limit: int, cursor: int | None) -> ImagesPage:
        """Read one page of the workspace's images; `cursor` counts those before the page."""
        await self._open()
        found = await IMAGES.run(self._all, workspace)
        begin = cursor or 0
        page = found[begin : begin + limit]
        return ImagesPage(images=page, next_cursor=begin + limit if len(found) > begin + limit else None)

    async def get(self, workspace: str, image: str) -> Image:
        """Find an image by its name, id or digest. Raises NotFoundError."""
        await self._open()
        return (await IMAGES.run(self._find_image, workspace, image))[0]

    async def remove(self, workspace: str, image: str) -> None:
        """Forget a name, and collect what nothing needs any more. Raises NotFoundError."""
        await self._open()
        await IMAGES.run(self._forget, workspace, image)
        await self._collect()

    async def collect(self, workspace: str, unused_seconds: int | None) -> CollectedImages:
        """Collect what nothing needs; with `unused_seconds` also names and build steps that were not used for so
        long."""
        await self._open()
        if unused_seconds is not None:
            await IMAGES.run(self._forget_steps, unused_seconds)
        names = 0 if unused_seconds is None else await IMAGES.run(self._forget_unused, workspace, unused_seconds)
        made = await self._collect(all_left=True)
        return CollectedImages(images=max(names, made.images), layers=made.layers, freed_bytes=made.freed_bytes)

    async def import_(self, workspace: str, reference: str, tree: AsyncIterable[bytes]) -> Image:
        """Receive an archive, and keep its image under `reference`. Raises ValidationError where it is no image."""
        await self._open()
        asked = parse_reference(reference)
        async with self._turns.fetching.turn(self._owner), in_threads(self._store.work()) as work:
            image = await self._archives().read(tree, work, str(asked))
            await IMAGES.run(self._keep_names, {(workspace, asked)}, image.digest, work, "import")
        return await self.get(workspace, image_id(asked))

    async def commit(
        self, workspace: str, base: str, layer: UpperLayer | None, reference: str, changes: ImageChanges
    ) -> Image:
        """The image of what a sandbox has written, above the layers of the image that the sandbox is one of, under a
        reference of the workspace. `base`: the digest of that image, with its prefix. Without a layer: that image with
        changes. Raises ValidationError, NotFoundError (there is no such image), ImagePullError, PlatformError."""
        await self._open()
        asked = parse_reference(reference)
        async with in_threads(self._store.hold(hexadecimal(base))) as kept, in_threads(self._store.work()) as work:
            async with self._turns.sealing.turn(self._owner):
                image, _ = await self._sealing().image(kept, layer, changes, work, self._clock.utcnow().isoformat())
            await IMAGES.run(self._keep_names, {(workspace, asked)}, image.digest, work, "commit")
        return await self.get(workspace, image_id(asked))

    # -- snapshots --

    async def check_snapshot(self, workspace: str, name: str | None) -> None:
        """A snapshot of this name may be taken now. Raises ValidationError, LimitExceededError."""
        await self._open()
        await IMAGES.run(self._snapshots.room, workspace, name)

    async def snapshot(
        self,
        workspace: str,
        layer: UpperLayer,
        meant: str,
        sandbox: str,
        name: str | None,
        ttl_seconds: int | None,
        still: AbstractAsyncContextManager[None] | None = None,
    ) -> Snapshot:
        """Take a snapshot of what a sandbox has written; see `SnapshotOperations`. `meant`: how the sandbox has named
        its image. `still`: entered while the sandbox's files are read."""
        await self._open()
        room = await IMAGES.run(self._snapshots.room, workspace, name)
        async with in_threads(self._store.work()) as work, self._base_of(layer, work) as kept:
            async with self._turns.sealing.turn(self._owner):
                image, sealed = await self._sealing().image(
                    kept,
                    layer,
                    ImageChanges(made_by=SNAPSHOT),
                    work,
                    self._clock.utcnow().isoformat(),
                    room,
                    still,
                )
            assert sealed is not None
            await IMAGES.run(self._store.sync)
            below = layer.image if layer.places else kept.digest
            image_name = DEFAULT_IMAGE if layer.places else meant
            return await IMAGES.run(
                partial(self._snapshots.keep, begun_as=meant),
                workspace, image, sealed, hexadecimal(below), image_name, sandbox, name, ttl_seconds, work,
            )  # fmt: skip

    @asynccontextmanager
    async def _base_of(self, layer: UpperLayer, work: Work) -> AsyncIterator[KeptImage]:
        """The image that a sandbox's layer lies on, which stays for as long as the context is open."""
        if layer.places:
            yield await IMAGES.run(base_of_default, self._store, work)
            return
        async with in_threads(self._store.hold(hexadecimal(layer.image))) as kept:
            yield kept

    async def snapshots_page(self, workspace: str, *, limit: int, cursor: int | None) -> SnapshotsPage:
        """Read one page of the workspace's snapshots."""
        await self._open()
        return await IMAGES.run(self._snapshots.page, workspace, limit, cursor)

    async def get_snapshot(self, workspace: str, snapshot: str) -> Snapshot:
        """Find a snapshot by its name or id. Raises NotFoundError."""
        await self._open()
        return await IMAGES.run(lambda: self._snapshots.record(self._snapshots.find(workspace, snapshot)))

    async def remove_snapshot(self, workspace: str, snapshot: str) -> None:
        """Forget a snapshot, and collect its layers once no sandbox holds them. Raises NotFoundError."""
        await self._open()
        found = await IMAGES.run(self._snapshots.find, workspace, snapshot)
        await IMAGES.run(self._store.forget_snapshot, workspace, found.id)
        if await IMAGES.run(self._store.is_held, found.digest):
            self._removed.add(found.digest)
        await self._collect()

    async def export(self, workspace: str, image: str, form: ArchiveFormat) -> AsyncIterator[bytes]:
        """Write an image as an archive, piece by piece; it is not collected meanwhile. Raises NotFoundError."""
        await self._open()
        told, kept = await IMAGES.run(self._find_image, workspace, image)
        async for piece in self._exported(kept.digest, told.reference, form):
            yield piece

    async def export_snapshot(self, workspace: str, snapshot: str, form: ArchiveFormat) -> AsyncIterator[bytes]:
        """Write a snapshot's image as an archive, piece by piece. Raises NotFoundError."""
        await self._open()
        found = await IMAGES.run(self._snapshots.find, workspace, snapshot)
        async for piece in self._exported(found.digest, f"{_EXPORTED}:{found.name or found.id}", form):
            yield piece

    async def _exported(self, digest: str, reference: str, form: ArchiveFormat) -> AsyncIterator[bytes]:
        async with (
            self._turns.fetching.turn(self._owner),
            in_threads(self._store.hold(digest)) as kept,
            in_threads(self._store.work()) as work,
        ):
            async for piece in self._archives().written(kept, reference, form, work):
                yield piece

    @asynccontextmanager
    async def building(self, workspace: str) -> AsyncIterator[StoreRoom]:
        """What one build needs of the store. Raises PlatformError."""
        await self._open()
        async with in_threads(self._store.work()) as work:
            yield StoreRoom(
                self._store,
                self._assembler(),
                work,
                root_of=partial(self.root_of, workspace),
                root=self._root,
                name=partial(self._keep_built, workspace),
                sealing=partial(self._turns.sealing.turn, self._owner),
            )

    async def close(self) -> None:
        """End what is under way."""
        self._is_closed = True
        await self._pulls.close()
        if self._collecting:
            await asyncio.wait(self._collecting)

    # -- how --

    async def _open(self) -> None:
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._opening = asyncio.ensure_future(IMAGES.run(self._store.open, self._clock.utcnow().timestamp()))
        try:
            await asyncio.shield(self._opening)
        except OSError as error:
            raise PlatformError(
                f"images cannot be kept in harena's home: {error.strerror or error}", step="images"
            ) from error

    def _assembler(self) -> Assembler:
        """The operator's settings are read for each use; what is under way is known to all uses."""
        registries = Registries.of(None, for_server=self._for_server)
        skopeo = Skopeo(registries, self._clock)
        if self._made is None:
            unpacking = partial(self._turns.unpacking.turn, self._owner)
            self._made = Assembler(self._store, skopeo, self._clock, unpacking)
        self._made.skopeo = skopeo
        return self._made

    def _archives(self) -> Archives:
        return Archives(self._store, self._assembler())

    def _sealing(self) -> Sealing:
        return Sealing(self._store, self._assembler())

    def _begin_pull(self, workspace: str, reference: ImageReference, named: ImageReference) -> Ticket:
        self._assembler().skopeo.registries.check(reference)
        return self._pulls.begin(workspace, reference, named)

    async def _pull(self, reference: ImageReference, progress: Progress, names: Callable[[], Names]) -> None:
        async with self._turns.fetching.turn(self._owner), in_threads(self._store.work()) as work:
            image = await self._assembler().pull(reference, progress, work)
            await IMAGES.run(self._keep_names, names(), image.digest, work, "registry")

    async def _mend(self, image: KeptImage, *, is_pulled: bool = False) -> bool:
        """Unpack again what was damaged of an image on the disk. False = that cannot be, and the image is gone, so that
        it can be pulled again; of one that is not pulled, ImagePullError is raised."""
        if await self._assembler().mend(image):
            return True
        if is_pulled and await IMAGES.run(self._drop, image.digest):
            return False
        raise broken(
            "a layer of it has been damaged on the disk, and what it was unpacked from is not here any more: import, "
            "build or pull the image again"
        )

    def _drop(self, digest: str) -> bool:
        with self._store.alone():
            return self._store.drop_image(digest)

    async def _collect(self, *, all_left: bool = False) -> Collected:
        async with in_threads(self._store.work()) as work:
            return await self._assembler().collect(work, all_left=all_left)

    def _find_name(self, workspace: str, identity: str) -> tuple[KeptName | None, KeptImage | None]:
        name = self._store.name(workspace, identity)
        return name, None if name is None else self._store.image(name.digest)

    def _keep_names(self, names: Names, digest: str, work: Work, source: Source) -> None:
        now = self._clock.utcnow().isoformat()
        for workspace, reference in names:
            name = KeptName(reference=str(reference), digest=digest, pulled_at=now, source=source)
            self._store.keep_name(workspace, image_id(reference), name, work)

    def _keep_built(self, workspace: str, references: Sequence[str], digest: str, work: Work) -> None:
        image = self._store.image(digest)
        if image is None:
            raise NotFoundError("the image has been removed while it was built", reason="IMAGE_NOT_FOUND")
        if not image.is_imported:
            self._store.keep_image(replace(image, is_imported=True), work)
        self._keep_names({(workspace, parse_reference(one)) for one in references}, digest, work, "build")

    def _all(self, workspace: str) -> list[Image]:
        names = sorted(self._store.names(workspace).items(), key=lambda pair: pair[1].reference)
        found = ((identity, name, self._store.image(name.digest)) for identity, name in names)
        return [self._record_of(identity, name, image) for identity, name, image in found if image is not None]

    def _find_image(self, workspace: str, image: str) -> tuple[Image, KeptImage]:
        for identity in self._identities(workspace, image):
            name, kept = self._find_name(workspace, identity)
            if name is not None and kept is not None:
                return self._record_of(identity, name, kept), kept
        raise NotFoundError(
            f"this workspace has no image {image!r:.200}: pull it first (`harena image pull`)",
            reason="IMAGE_NOT_FOUND",
        )

    def _identities(self, workspace: str, image: str) -> list[str]:
        """Ids of images that are meant by an id, a reference, or a digest."""
        if re.fullmatch(ID_PATTERN, image):
            return [image]
        if re.fullmatch(DIGEST_PATTERN, image):
            names = self._store.names(workspace)
            return sorted(one for one, name in names.items() if name.digest == hexadecimal(image))
        try:
            return [image_id(parse_reference(image))]
        except ValidationError:
            return []

    def _forget(self, workspace: str, image: str) -> None:
        identities = self._identities(workspace, image)
        if not sum(self._store.forget_name(workspace, identity) for identity in identities):
            self._find_image(workspace, image)

    def _forget_steps(self, seconds: int) -> None:
        until = self._clock.utcnow().timestamp() - seconds
        for key, digest in self._store.steps().items():
            if self._store.used_at(digest) <= until:
                self._store.forget_step(key)

    def _forget_unused(self, workspace: str, seconds: int) -> int:
        until = self._clock.utcnow().timestamp() - seconds
        gone = 0
        for identity, name in self._store.names(workspace).items():
            if self._store.used_at(name.digest) <= until and not self._store.is_held(name.digest):
                gone += self._store.forget_name(workspace, identity)
        return gone

    def _record_of(self, identity: str, name: KeptName, image: KeptImage) -> Image:
        used = datetime.fromtimestamp(self._store.used_at(image.digest), UTC).isoformat()
        return Image(
            id=identity,
            reference=name.reference,
            digest=f"sha256:{image.digest}",
            platform=image.platform,
            layers=len(image.layers),
            size_bytes=image.size_bytes,
            unpacked_bytes=image.unpacked_bytes,
            created_at=image.created_at,
            pulled_at=name.pulled_at,
            last_used_at=used,
            in_use=self._store.is_held(image.digest),
        )

    def _root(self, image: KeptImage) -> ImageRoot:
        return ImageRoot(
            digest=f"sha256:{image.digest}",
            layers=tuple(self._store.layer_root(layer.diff_id) for layer in reversed(image.layers)),
            environment=image.environment,
            workdir=image.workdir,
            user=image.user,
            entrypoint=tuple(image.entrypoint),
            command=tuple(image.command),
            keeps_owners=image.keeps_owners,
        )


def _over(image: KeptImage) -> Progress:
    """The progress of a pull that has nothing to do."""
    return Progress(
        lambda: None,
        state=PullState.DONE,
        total_bytes=image.size_bytes,
        downloaded_bytes=image.size_bytes,
        layers=len(image.layers),
        layers_unpacked=len(image.layers),
        digest=f"sha256:{image.digest}",
    )
