"""When layers become one, each file keeps the owner that it has in its own layer."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from harena.image_store import tar_writer
from harena.image_store.sealed_archives import Archive
from harena.image_store.sealer import LayerSealer

BASE = 4_000_000_000


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: files of several users are made")
def test_files_keep_their_owners_when_layers_become_one(tmp_path: Path) -> None:
    """The sandbox's own layer has ids of its range; a layer of the store has those of the image."""
    folders = []
    for name, base in (("upper", BASE), ("lower", 0)):
        layer = tmp_path / name
        (layer / "both").mkdir(parents=True)
        os.chown(layer, base, base)
        os.chown(layer / "both", base + 33, base + 34)
        for number, file in enumerate((layer / f"{name}-file", layer / "both" / f"{name}-below")):
            file.write_text(name)
            os.chown(file, base + 1000 + number, base + 50)
        (layer / f"{name}-link").symlink_to("both")
        os.chown(layer / f"{name}-link", base + 7, base + 8, follow_symlinks=False)
        folders.append(os.open(layer, os.O_RDONLY | os.O_DIRECTORY))
    file = tmp_path / "made.tar"
    archive = Archive(os.open(file, os.O_RDWR | os.O_CREAT))
    LayerSealer(archive, (BASE, BASE), 100, 1000).seal(folders)
    tar_writer.end(archive.write)
    archive.finish()
    with tarfile.open(file) as made:
        owners = {member.name: (member.uid, member.gid) for member in made}
    expected = {"both": (33, 34)}
    for name in ("upper", "lower"):
        expected |= {f"{name}-file": (1000, 50), f"both/{name}-below": (1001, 50), f"{name}-link": (7, 8)}
    assert {name: owner for name, owner in owners.items() if name in expected} == expected
