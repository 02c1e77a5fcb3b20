"""A file that is long and has nothing in it takes no disk: in the archive of a layer, and where that is unpacked."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from harena.image_store import tar_writer
from harena.image_store.layer_writer import LayerWriter
from harena.image_store.sealed_archives import Archive
from harena.image_store.sealer import LayerSealer
from harena.image_store.tar_entries import entries
from harena.image_store.unpacker import Unpacked

LONG = 256 << 20


def taken(path: Path) -> int:
    """Bytes on the disk."""
    return path.stat().st_blocks * 512


def test_holes_stay_holes(tmp_path: Path) -> None:
    """A sandbox of 64 MiB can make a file of 900 MiB: the node would write that twice, past what it reckons with. The
    archive and the file are byte for byte what they would be."""
    layer = tmp_path / "layer"
    layer.mkdir()
    with (layer / "long").open("wb") as file:
        file.write(b"begin")
        file.seek(LONG // 2)
        file.write(b"middle")
        file.truncate(LONG)
    made = tmp_path / "made.tar"
    archive = Archive(os.open(made, os.O_RDWR | os.O_CREAT))
    LayerSealer(archive, (os.getuid(), os.getgid()), 100, LONG).seal([os.open(layer, os.O_RDONLY)])
    tar_writer.end(archive.write)
    archive.finish()
    digest = archive.digest()
    with made.open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == digest
    assert archive.size == made.stat().st_size > LONG
    assert taken(made) < 8 << 20
    target = tmp_path / "unpacked"
    target.mkdir()
    with made.open("rb") as file:
        stream = Unpacked(file.fileno(), 2 * LONG)
        stream.start()
        writer = LayerWriter(os.open(target, os.O_RDONLY), 100, LONG, False)
        for entry in entries(stream):
            writer.write(entry, stream)
        assert stream.finish() == (digest, digest)
        writer.finish()
    long = target / "long"
    assert long.stat().st_size == LONG
    assert taken(long) < 8 << 20
    with long.open("rb") as file:
        assert file.read(6) == b"begin\0"
        file.seek(LONG // 2 - 1)
        assert file.read(8) == b"\0middle\0"
