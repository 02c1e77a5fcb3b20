"""Images that come as an archive, and archives that are made of images."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from harena.core import settings
from harena.core.errors import ImagePullError, PlatformError, ValidationError
from harena.core.file_trees import TreeFile, pack_files
from harena.core.images import ArchiveFormat, parse_reference
from harena.core.json_steps import parse
from harena.core.threads import IMAGES
from harena.image_store.assembling import Assembler
from harena.image_store.kept import KeptBlob, KeptImage, KeptLayer, Needs
from harena.image_store.manifests import MOST_BYTES, broken, named_blobs, this_platform
from harena.image_store.rebuilding import DamagedFolderError, lacks_archive, rebuild
from harena.image_store.store import ImageStore, Work
from harena.image_store.unpacking import CorruptBlobError, LayerLimits, number, unpack

_PIECE_BYTES = 1024 * 1024
_MANIFEST, _CONFIG = "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.config.v1+json"
_TAR = "application/vnd.oci.image.layer.v1.tar"
_COMPRESSED = ((b"\x1f\x8b", "+gzip"), (b"\x28\xb5\x2f\xfd", "+zstd"))
_OF_THE_SENDER = ("IMAGE_BROKEN", "IMAGE_TOO_LARGE")
_LAYOUT = b'{"imageLayoutVersion":"1.0.0"}'
_MOST_DOCUMENTS = 1000
"""indexes, manifests and configurations of a layout that is imported"""


@dataclass(frozen=True, slots=True)
class Archives:
    """Used from one event loop."""

    store: ImageStore
    assembler: Assembler

    async def read(self, tree: AsyncIterable[bytes], work: Work, asked: str) -> KeptImage:
        """The image of an archive, which is here then: an OCI layout, what `docker save` writes, or a root file system.
        Raises ValidationError (it is none), ImagePullError (no room), HostUnsupportedError."""
        try:
            return await self._read(tree, work, asked)
        except ImagePullError as error:
            if error.reason in _OF_THE_SENDER:
                raise ValidationError(str(error), reason=error.reason) from error
            raise

    async def _read(self, tree: AsyncIterable[bytes], work: Work, asked: str) -> KeptImage:
        file = work.path / "archive"
        await self._received(tree, file)
        await self.assembler.collect(work, more=(await IMAGES.run(file.stat)).st_size)
        async with self.assembler.unpacking():
            made, about = await unpack(work, file, "", LayerLimits.of_node())
        kind = await IMAGES.run(_kind, made / "root")
        layout = await IMAGES.run(work.folder, "layout")
        if kind == "rootfs":
            return await self._root_file_system(file, made, about, layout, work)
        if kind == "oci":
            await IMAGES.run(_check_layout, made / "root")
        source = f"oci:{made / 'root'}" if kind == "oci" else f"docker-archive:{file}"
        # what arrives in the store is younger than what is ever removed for its age, and is needed at once
        await self.assembler.skopeo.read_archive(source, layout, self.store.blobs, asked)
        try:
            return await self.assembler.make(layout, work, is_imported=True)
        except CorruptBlobError:
            raise broken("a blob has another digest than its name says") from None

    async def written(self, image: KeptImage, reference: str, form: ArchiveFormat, work: Work) -> AsyncIterator[bytes]:
        """An archive of an image that is held. Raises ImagePullError, PlatformError."""
        named = parse_reference(reference)
        await self._rebuild(image, work)
        layout = await IMAGES.run(work.folder, "layout")
        await IMAGES.run(_write_layout, layout, image.manifest, self.store, reference)
        if form == "docker":
            file = work.path / "archive"
            behind = f":{named.name}:{named.tag}" if named.tag is not None else ""
            await self.assembler.skopeo.write_archive(
                layout, self.store.blobs, f"docker-archive:{file}{behind}", reference
            )
            pieces = _pieces(file)
        else:
            pieces = pack_files(await IMAGES.run(self._files, layout, image))
        try:
            while piece := await IMAGES.run(next, pieces, b""):
                yield piece
        except OSError as error:
            raise PlatformError(f"{reference} cannot be read: {error.strerror or error}", step="export") from error

    async def _received(self, tree: AsyncIterable[bytes], file: Path) -> None:
        most, size = number(settings.IMAGE_MOST_BYTES), 0
        out: BinaryIO = await IMAGES.run(file.open, "xb")
        try:
            async for piece in tree:
                size += len(piece)
                if size > most:
                    raise ImagePullError(
                        f"the archive has more than {most} bytes ({settings.IMAGE_MOST_BYTES.name})",
                        step="import",
                        reason="IMAGE_TOO_LARGE",
                    )
                await IMAGES.run(out.write, piece)
        finally:
            await IMAGES.run(out.close)

    async def _root_file_system(self, file: Path, made: Path, about: KeptLayer, layout: Path, work: Work) -> KeptImage:
        digest, size, suffix = await IMAGES.run(_digest_of, file)
        system, _, architecture = this_platform().partition("/")
        config = _json(
            {
                "architecture": architecture,
                "os": system,
                "config": {},
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{about.diff_id}"]},
            }
        )
        manifest = _json(
            {
                "schemaVersion": 2,
                "mediaType": _MANIFEST,
                "config": _descriptor(_CONFIG, config),
                "layers": [{"mediaType": _TAR + suffix, "digest": f"sha256:{digest}", "size": size}],
            }
        )
        own = hashlib.sha256(manifest).hexdigest()
        blobs = [digest, own, hashlib.sha256(config).hexdigest()]
        await self.assembler.need(work, Needs(images=[own], blobs=blobs, layers=[about.diff_id]))
        await IMAGES.run(file.rename, self.store.blob(digest))
        for content in (config, manifest):
            await IMAGES.run(self.store.keep_blob, work, content)
        await IMAGES.run(self.store.keep_layer, made, about)
        await IMAGES.run(_write_layout, layout, own, self.store, "")
        return await self.assembler.make(layout, work, is_imported=True)

    async def _rebuild(self, image: KeptImage, work: Work) -> None:
        """Make those archives of an image's layers that are not here; the image is held, and they stay until the work
        ends at least. Raises ImagePullError, PlatformError."""
        needs = Needs(images=[image.digest], blobs=[one.digest for one in image.layers], layers=[])
        await self.assembler.need(work, needs)
        missing = await IMAGES.run(self._missing, image)
        if missing:
            await self.assembler.collect(work, more=sum(one.size for one in missing))
        for one in missing:
            try:
                await rebuild(one, self.store, work)
            except DamagedFolderError as error:
                raise broken(str(error)) from None

    def _missing(self, image: KeptImage) -> list[KeptBlob]:
        distinct = {one.digest: one for one in image.layers}
        return [one for one in distinct.values() if lacks_archive(one, self.store)]

    def _files(self, layout: Path, image: KeptImage) -> list[TreeFile]:
        names = {
            "oci-layout": layout / "oci-layout",
            "index.json": layout / "index.json",
            **{
                f"blobs/sha256/{digest}": self.store.blob(digest)
                for digest in (image.manifest, image.config, *(layer.digest for layer in image.layers))
            },
        }
        return [TreeFile(name, path, path.stat().st_size, False) for name, path in names.items()]


def _kind(root: Path) -> str:
    """What was unpacked: "oci", "docker" or "rootfs". Raises ImagePullError."""
    names = {entry.name for entry in os.scandir(root)}
    if {"oci-layout", "index.json"} <= names:
        for folder, folders, files in os.walk(root):
            for name in (*folders, *files):
                mode = os.lstat(os.path.join(folder, name)).st_mode
                if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
                    raise broken("its OCI layout has links or other things that are no files")
        return "oci"
    path = root / "manifest.json"
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
        return "rootfs"
    try:
        told: Any = parse(path.read_bytes())
    except (ValueError, RecursionError):
        return "rootfs"
    is_saved = isinstance(told, list) and all(isinstance(one, dict) and "Layers" in one for one in told)
    if not told or not is_saved:
        return "rootfs"
    if any(_is_compressed(os.path.join(folder, name)) for folder, _, files in os.walk(root) for name in files):
        raise broken("the archive has compressed layers: write it with `docker save`, or as an OCI layout")
    return "docker"


def _check_layout(root: Path) -> None:
    """Look through each document of an OCI layout that skopeo may take for a manifest. Raises ImagePullError."""
    waiting = [root / "index.json"]
    seen: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in seen or (raw := _document(path)) is None:
            continue
        seen.add(path)
        if len(seen) > _MOST_DOCUMENTS:
            raise broken(f"its layout has more than {_MOST_DOCUMENTS} manifests")
        waiting += [root / "blobs" / algorithm / digits for algorithm, digits in named_blobs(raw)]


def _document(path: Path) -> bytes | None:
    """What a file holds, so far as it tells whether it is too long; None = it is no JSON object, or not there."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    begin = raw.lstrip(b" \t\r\n")[:1]
    is_object = begin == b"{" or (not begin and len(raw) > MOST_BYTES)
    return raw if is_object and b"\0" not in raw[:1024] else None  # a tar archive may begin with a name {


def _is_compressed(path: str) -> bool:
    """skopeo would write it unpacked, whatever size that has."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return False
    with open(path, "rb") as file:
        return file.read(6).startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"))


def _write_layout(layout: Path, manifest: str, store: ImageStore, reference: str) -> None:
    entry: dict[str, Any] = {
        "mediaType": _MANIFEST,
        "digest": f"sha256:{manifest}",
        "size": store.blob(manifest).stat().st_size,
    }
    if reference:
        entry["annotations"] = {
            "org.opencontainers.image.ref.name": parse_reference(reference).tag or "latest",
            "io.containerd.image.name": reference,
        }
    (layout / "oci-layout").write_bytes(_LAYOUT)
    (layout / "index.json").write_bytes(_json({"schemaVersion": 2, "manifests": [entry]}))


def _digest_of(file: Path) -> tuple[str, int, str]:
    with file.open("rb") as content:
        begin = content.read(8)
        content.seek(0)
        digest = hashlib.file_digest(content, "sha256").hexdigest()
        suffix = next((suffix for magic, suffix in _COMPRESSED if begin.startswith(magic)), "")
        return digest, content.tell(), suffix


def _descriptor(kind: str, content: bytes) -> Mapping[str, Any]:
    return {"mediaType": kind, "digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}


def _json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as content:
        while piece := content.read(_PIECE_BYTES):
            yield piece
