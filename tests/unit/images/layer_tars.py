"""Small layers, as tar archives, and what becomes of them when they are unpacked."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path
from typing import Any

from harena.image_store.layer_writer import LayerWriter
from harena.image_store.tar_entries import BrokenLayerError, entries

ROOM = 1 << 30


class Bytes:
    """A stream of bytes, as `entries` takes it."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def take(self, size: int) -> bytes:
        piece = self._content.read(size)
        if piece and len(piece) < size:
            raise BrokenLayerError("it ends within an entry")
        return piece


def member(name: str, content: bytes | None = None, **more: Any) -> tuple[tarfile.TarInfo, bytes]:
    """A file where there is content, else a folder, or what `type` says."""
    info = tarfile.TarInfo(name)
    info.type = more.pop("type", tarfile.DIRTYPE if content is None else tarfile.REGTYPE)
    info.mode = more.pop("mode", 0o755 if content is None else 0o644)
    info.size = len(content or b"")
    for field, value in more.items():
        setattr(info, field, value)
    return info, content or b""


def link(name: str, target: str, *, hard: bool = False) -> tuple[tarfile.TarInfo, bytes]:
    return member(name, type=tarfile.LNKTYPE if hard else tarfile.SYMTYPE, linkname=target, mode=0o777)


def tar(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A layer with these entries."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, encoding="utf-8", errors="surrogateescape") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def unpacked(
    place: Path, content: bytes, *, files: int = 10_000, size: int = ROOM, owners: bool = False
) -> LayerWriter:
    """The layer's entries in a new directory."""
    place.mkdir()
    umask = os.umask(0)
    root = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        writer = LayerWriter(root, files, size, owners)
        stream = Bytes(content)
        for entry in entries(stream):
            writer.write(entry, stream)
        writer.finish()
        return writer
    finally:
        os.close(root)
        os.umask(umask)
