"""Seals what a sandbox has written as a layer, in a process of its own, and makes images with such layers."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from harena.core import settings
from harena.core.errors import ImagePullError, PlatformError
from harena.core.images import ImageChanges
from harena.core.json_steps import parse
from harena.core.ports import UpperLayer
from harena.core.threads import IMAGES
from harena.image_store import programs
from harena.image_store.assembling import Assembler
from harena.image_store.kept import KeptImage, KeptLayer, Needs
from harena.image_store.manifests import MOST_LAYERS, broken, this_platform
from harena.image_store.store import ImageStore, Work, remove_layers
from harena.image_store.unpacking import LayerLimits, keeps_owners, no_room_reason, unfit_place

SNAPSHOT = "snapshot"
"""what the history of an image says of a layer that a snapshot has made"""
_FLATTENED_LAYERS = 50
"""Layers of snapshots above each other that the next one makes one of: to look for a name that is in none of them takes
the kernel a microsecond for each, and the options of a mount have room for some 300."""
_MOST_ANSWER = 64 * 1024
_PROGRAM = "import sys; sys.path.insert(0, {!r}); from harena.image_store import sealer; sealer.main()"
_MANIFEST, _CONFIG = "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.config.v1+json"
_TAR = "application/vnd.oci.image.layer.v1.tar"
_MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SealedLayer:
    """A layer in a folder of `work`."""

    path: Path
    """its archive; or the folder with its tree, and then nothing else of the archive is there than headers"""
    digest: str
    """sha256 of the archive, which is its diff id, too; in hexadecimal digits"""
    size: int
    """bytes of the archive"""
    files: int
    bytes: int
    """size of the contents of its files"""
    left_out: Mapping[str, int]
    """what no layer can hold -> how often"""
    tree: KeptLayer | None = None
    """what the store keeps of the folder with its tree"""


@dataclass(frozen=True, slots=True)
class Sealing:
    """Makes images of what sandboxes have written. Used from one event loop."""

    store: ImageStore
    assembler: Assembler

    async def image(
        self,
        base: KeptImage,
        layer: UpperLayer | None,
        changes: ImageChanges,
        work: Work,
        now: str,
        most_bytes: int | None = None,
        still: AbstractAsyncContextManager[None] | None = None,
    ) -> tuple[KeptImage, SealedLayer | None]:
        """The image of a layer above those of another image, which is held; it is here then, and needed until the work
        ends. Without a layer: the other image with changes. `most_bytes`: size of the layer's files, where that is
        less than the operator allows. `still`: entered while the layer's own files are read. Of many
        layers that snapshots have made, one above the other, and of the new one, one is made. Raises ImagePullError,
        PlatformError."""
        sealed: list[SealedLayer] = []
        replaced = 0
        if layer is not None:
            await self.assembler.collect(work, more=await IMAGES.run(_size_on_disk, layer))
            limits = LayerLimits.of_node()
            most = limits.bytes if most_bytes is None else min(limits.bytes, most_bytes)
            made_before = await IMAGES.run(_made_by_snapshots, self.store, base)
            replaced = made_before if made_before >= _FLATTENED_LAYERS and changes.made_by == SNAPSHOT else 0
            layers = [self.store.layer_root(one.diff_id) for one in reversed(base.layers)]
            limits = LayerLimits(limits.files, most)
            sealed.append(await seal(layer, work, limits, layers=layers, is_tree=True, still=still))
            if replaced:  # programs do not wait for that
                sealed.append(await _join_below(sealed.pop(), layer, work, limits, layers, replaced))
        layout = await IMAGES.run(work.folder, "layout")
        contents = await IMAGES.run(_write_image, self.store, base, replaced, sealed, changes, layout, now)
        *_, own = contents
        needs = Needs(
            images=[own],
            blobs=[*contents, base.manifest, *(one.digest for one in base.layers), *(one.digest for one in sealed)],
            layers=[*(one.diff_id for one in base.layers), *(one.digest for one in sealed)],
        )
        await self.assembler.need(work, needs)
        for one in sealed:
            assert one.tree is not None
            await IMAGES.run(self.store.keep_layer, one.path, one.tree)
        for content in contents.values():
            await IMAGES.run(self.store.keep_blob, work, content)
        made = await self.assembler.make(layout, work, is_imported=True)
        return made, sealed[0] if sealed else None


def base_of_default(store: ImageStore, work: Work) -> KeptImage:
    """The image without layers that a snapshot of a sandbox of the default image lies on: its documents are in the
    store for as long as the work goes on."""
    platform = this_platform()
    system, _, architecture = platform.partition("/")
    config = _json(
        {"architecture": architecture, "os": system, "config": {}, "rootfs": {"type": "layers", "diff_ids": []}}
    )
    manifest = _json({"schemaVersion": 2, "mediaType": _MANIFEST, "config": _descriptor(_CONFIG, config), "layers": []})
    digests = [_digest(manifest), _digest(config)]
    with store.alone():  # whoever removes something has looked at all needs before
        work.need(Needs(images=[], blobs=digests, layers=[]))
    for content in (manifest, config):
        store.keep_blob(work, content)
    return KeptImage(
        digest=digests[0],
        manifest=digests[0],
        config=digests[1],
        layers=[],
        platform=platform,
        created_at=None,
        environment={},
        workdir="",
        user="",
        entrypoint=[],
        command=[],
        size_bytes=0,
        unpacked_bytes=0,
        keeps_owners=keeps_owners(),
        is_imported=True,
    )


async def _join_below(
    own: SealedLayer, layer: UpperLayer, work: Work, limits: LayerLimits, layers: Sequence[Path], merged: int
) -> SealedLayer:
    """A layer that was just sealed as one with the uppermost of those that lie below it."""
    try:
        made = await seal(layer, work, limits, layers=[own.path / "root", *layers], merged=merged + 1, is_tree=True)
    finally:
        await IMAGES.run(remove_layers, own.path)
    return replace(made, left_out={**made.left_out, **own.left_out})


async def seal(
    layer: UpperLayer,
    work: Work,
    limits: LayerLimits,
    *,
    without: Sequence[str] = (),
    newest_seconds: int | None = None,
    layers: Sequence[Path] = (),
    merged: int = 0,
    is_tree: bool = False,
    still: AbstractAsyncContextManager[None] | None = None,
) -> SealedLayer:
    """The layer as it is now, but for the paths of `without`, as an archive or as a tree; its programs should not run
    meanwhile: `still` is entered while it is read. `newest_seconds`: the latest time that an entry gets, in seconds
    since 1970; None = each has its own. `layers`: those of the store that lie below it; where some are to be `merged`,
    the uppermost so many of them are sealed as one, and nothing of the sandbox is. Raises ImagePullError,
    PlatformError, and what `still` raises."""
    folder = await IMAGES.run(partial(tempfile.mkdtemp, prefix="sealed-", dir=work.path))
    tree = await IMAGES.run(partial(tempfile.mkdtemp, prefix="layer-", dir=work.path)) if is_tree else ""
    target = Path(folder, "layer")
    owners = await IMAGES.run(keeps_owners)
    places = {} if merged else layer.places
    own = [] if merged or places else [layer.folder, *layer.below]
    said, says = os.pipe2(os.O_CLOEXEC)
    hears, tells = os.pipe2(os.O_CLOEXEC)
    try:
        question = {
            "target": str(target),
            "tree": tree,
            "keeps_owners": owners,
            "folder": own[0] if own else -1,
            "users": layer.users,
            "places": dict(places),
            "below": own[1:],
            "layers": [str(place) for place in layers[:merged]],
            "beneath": [str(place) for place in layers[merged:]] if merged or layer.below else [],
            "most_files": limits.files,
            "most_bytes": limits.bytes,
            "without": [*without],
            "newest_ns": -1 if newest_seconds is None else newest_seconds * 1_000_000_000,
            "says": says,
            "hears": hears,
        }
        program = _PROGRAM.format(str(Path(__file__).parents[2]))
        running = asyncio.ensure_future(
            programs.run(
                [sys.executable, "-I", "-S", "-c", program, json.dumps(question)],
                most_output=_MOST_ANSWER,
                more_descriptors=[*(one for one in (layer.users, *own, *places.values()) if one >= 0), says, hears],
            )
        )
        try:
            if await _has_said(said, running):
                async with still or nullcontext():
                    os.write(tells, b"g")
                    await _has_said(said, running)
            finished = await running
        finally:
            running.cancel()
            await asyncio.wait((running,))
    finally:
        for descriptor in (said, says, hears, tells):
            os.close(descriptor)
    try:
        answer: dict[str, Any] = json.loads(finished.output)
    except ValueError:
        raise PlatformError(
            f"the process that seals a layer has died ({finished.status}): {finished.said[-400:]}", step="seal"
        ) from None
    if answer["fault"]:
        raise _fault(answer)
    sealed = SealedLayer(target, answer["digest"], answer["size"], answer["files"], answer["bytes"], answer["left_out"])
    if not is_tree:
        return sealed
    await IMAGES.run(target.unlink)
    kept = KeptLayer(
        diff_id=sealed.digest,
        files=sealed.files,
        bytes=sealed.bytes,
        disk_bytes=answer["disk_bytes"],
        keeps_owners=owners,
        dropped=answer["dropped"],
    )
    return replace(sealed, path=Path(tree), tree=kept)


async def _has_said(descriptor: int, running: asyncio.Future[programs.Finished]) -> bool:
    """Take a byte from the process; False where it ends instead."""
    loop = asyncio.get_running_loop()
    comes: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, lambda: None if comes.done() else comes.set_result(None))
    try:
        await asyncio.wait((comes, running), return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(descriptor)
    return comes.done() and bool(os.read(descriptor, 1))


def _size_on_disk(layer: UpperLayer) -> int:
    """What the file system of an upper layer holds now, in bytes: the layer takes about as much, perhaps less."""
    size = 0
    folders = [*layer.places.values()][:1] or [layer.folder, *layer.below]  # the places are of one file system
    for folder in folders:
        told = os.fstatvfs(folder)
        size += (told.f_blocks - told.f_bfree) * told.f_frsize
    return size


def _write_image(
    store: ImageStore,
    base: KeptImage,
    replaced: int,
    layers: Sequence[SealedLayer],
    changes: ImageChanges,
    layout: Path,
    now: str,
) -> Mapping[str, bytes]:
    """Write the layout of an image that has these layers above those of another one, whose uppermost `replaced` ones
    are left out. Gives its configuration and then
    its manifest, by their digests. Raises ImagePullError."""
    config = _loaded(store, base.config)
    manifest = _loaded(store, base.manifest)
    said = dict(config.get("config") or {})
    said.update(_changed(changes))
    config["config"] = {name: value for name, value in said.items() if value is not None}
    config["created"] = now
    root = config.get("rootfs") or {}
    config["rootfs"] = {
        "type": "layers",
        "diff_ids": [*_without(root.get("diff_ids", ()), replaced), *(f"sha256:{layer.digest}" for layer in layers)],
    }
    step = {"created": now, "created_by": changes.made_by or "harena", **({} if layers else {"empty_layer": True})}
    config["history"] = [*_without(config.get("history") or (), replaced), step]
    written = _json(config)
    manifest["config"] = _descriptor(_CONFIG, written)
    manifest["layers"] = [
        *_without(manifest.get("layers", ()), replaced),
        *({"mediaType": _TAR, "digest": f"sha256:{layer.digest}", "size": layer.size} for layer in layers),
    ]
    if len(manifest["layers"]) > MOST_LAYERS:
        raise broken(f"it has {len(manifest['layers'])} layers, and may have {MOST_LAYERS}")
    manifest.pop("annotations", None)
    own = _json(manifest)
    entry = {"mediaType": manifest.get("mediaType", _MANIFEST), "digest": f"sha256:{_digest(own)}", "size": len(own)}
    (layout / "index.json").write_bytes(_json({"schemaVersion": 2, "manifests": [entry]}))
    return {_digest(content): content for content in (written, own)}


def _without(entries: Sequence[Any], last: int) -> Sequence[Any]:
    return entries[: len(entries) - last]


def _made_by_snapshots(store: ImageStore, base: KeptImage) -> int:
    """How many of an image's uppermost layers snapshots have made. Raises ImagePullError."""
    history = _loaded(store, base.config).get("history")
    steps: list[Any] = history if isinstance(history, list) else []
    count = 0
    for step in reversed(steps):
        if not isinstance(step, dict) or step.get("created_by") != SNAPSHOT or step.get("empty_layer"):
            break
        count += 1
    return min(count, len(base.layers))


def _changed(changes: ImageChanges) -> Mapping[str, object]:
    """Fields of a configuration."""
    found: dict[str, object] = {}
    if changes.environment is not None:
        found["Env"] = [f"{name}={value}" for name, value in changes.environment.items()]
    for field, text in (
        ("WorkingDir", changes.workdir), ("User", changes.user), ("StopSignal", changes.stop_signal),
    ):  # fmt: skip
        if text is not None:
            found[field] = text
    for field, words in (("Entrypoint", changes.entrypoint), ("Cmd", changes.command), ("Shell", changes.shell)):
        if words is not None:
            found[field] = [*words] or None
    for field, names in (("ExposedPorts", changes.exposed_ports), ("Volumes", changes.volumes)):
        if names is not None:
            found[field] = {name: {} for name in names} or None
    if changes.labels is not None:
        found["Labels"] = dict(changes.labels) or None
    return found


def _loaded(store: ImageStore, digest: str) -> dict[str, Any]:
    try:
        with store.blob(digest).open("rb") as file:
            found = parse(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        raise broken("a blob of the image that it is made from is missing") from None
    if not isinstance(found, dict):
        raise broken("a blob of the image that it is made from is no JSON object")
    return found


def _descriptor(kind: str, content: bytes) -> Mapping[str, Any]:
    return {"mediaType": kind, "digest": f"sha256:{_digest(content)}", "size": len(content)}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _fault(answer: Mapping[str, Any]) -> Exception:
    kind, said = answer["fault"], answer["said"]
    if kind == "large":
        return ImagePullError(
            f"what the sandbox has written is too large for a layer: {said} "
            f"({settings.IMAGE_MOST_FILES.name}, {settings.IMAGE_MOST_BYTES.name})",
            step="seal",
            reason="IMAGE_TOO_LARGE",
        )
    if kind == "place":
        return unfit_place(said, "seal")
    if kind == "unfit":
        return ImagePullError(
            f"what the sandbox has written cannot be a layer: {said}", step="seal", reason="IMAGE_BROKEN"
        )
    return ImagePullError(
        f"what the sandbox has written could not be sealed: {said}", step="seal", reason=no_room_reason(answer["errno"])
    )
