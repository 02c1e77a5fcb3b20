"""When layers become one, what hides nothing of the layers below it is left out: an overlay would list its name."""

from __future__ import annotations

import os
import stat
import tarfile
from pathlib import Path

import pytest

from harena.image_store import tar_writer
from harena.image_store.sealed_archives import Archive
from harena.image_store.sealer import LayerSealer

UPPER, HELD, TOP, BOTTOM = "upper", "held", "top", "bottom"
"""two that become one, and two that they will lie on"""
HIDING = {
    "name": {HELD: ["name"], BOTTOM: ["name"]},
    "kept/name": {HELD: ["kept/name"], TOP: ["kept/"], BOTTOM: ["kept/name"]},
    "low/name": {HELD: ["low/"], TOP: ["low/name"]},
}
"""what is removed in the uppermost layer, and is shown below -> what the others have there: `/` at an end is a folder,
`!` one that is opaque, `-` a whiteout"""
HIDING_NOTHING = {
    "only/name": {HELD: ["only/name"]},
    "anew/name": {HELD: ["anew!", "anew/name"], BOTTOM: ["anew/name"]},
    "anew_above/below/name": {HELD: ["anew_above!", "anew_above/below/name"], BOTTOM: ["anew_above/below/name"]},
    "removed/name": {HELD: ["removed/name"], TOP: ["removed/name-"], BOTTOM: ["removed/name"]},
    "removed_above/name": {HELD: ["removed_above/name"], TOP: ["removed_above-"], BOTTOM: ["removed_above/name"]},
    "file/name": {HELD: ["file/name"], TOP: ["file"], BOTTOM: ["file/name"]},
    "hidden/name": {HELD: ["hidden/name"], TOP: ["hidden!"], BOTTOM: ["hidden/name"]},
    "link/name": {HELD: ["link/name"], TOP: ["link@"], BOTTOM: ["kept/name"]},
}


def put(layer: Path, what: str) -> None:
    path = layer / what.rstrip("/!-@")
    path.parent.mkdir(parents=True, exist_ok=True)
    if what[-1] in "/!":
        path.mkdir(exist_ok=True)
        if what[-1] == "!":
            os.setxattr(path, "user.overlay.opaque", b"y")
    elif what[-1] == "-":
        os.mknod(path, stat.S_IFCHR, 0)
    elif what[-1] == "@":
        path.symlink_to("kept")
    else:
        path.write_text("x")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, or Linux 5.8: it makes whiteouts")
def test_only_what_is_shown_below_is_hidden(tmp_path: Path) -> None:
    layers = [tmp_path / name for name in (UPPER, HELD, TOP, BOTTOM)]
    for layer in layers:
        layer.mkdir()
    for removed, others in (HIDING | HIDING_NOTHING).items():
        put(tmp_path / UPPER, f"{removed}-")
        for name, made in others.items():
            for what in made:
                put(tmp_path / name, what)
    opened = [os.open(layer, os.O_RDONLY | os.O_DIRECTORY) for layer in layers]
    file = tmp_path / "made.tar"
    archive = Archive(os.open(file, os.O_RDWR | os.O_CREAT))
    LayerSealer(archive, (0, 0), 100, 1000, beneath=opened[2:]).seal(opened[:2], 2)
    tar_writer.end(archive.write)
    archive.finish()
    with tarfile.open(file) as made:
        names = {member.name for member in made}
    hidden = {name.replace(".wh.", "") for name in names if ".wh." in name and not name.endswith(".wh..wh..opq")}
    assert hidden == {*HIDING}
    assert {name for name in names if name.endswith(".wh..wh..opq")} == {
        "anew/.wh..wh..opq",
        "anew_above/.wh..wh..opq",
    }
