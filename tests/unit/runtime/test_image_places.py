"""Directories that are made because an image lacks them: where to mount, where to work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harena.core.records.images import ImageRoot
from harena.runtime.host.image import default_image, layered_image
from harena.runtime.host.image_places import missing_directories, missing_mount_points

ALWAYS = [("/tmp", 0o1777), ("/root", 0o700), ("/workspace", 0o755), ("/data", 0o755)]


def layer(place: Path, *folders: str) -> str:
    for folder in folders:
        (place / folder).mkdir(parents=True)
    place.mkdir(exist_ok=True)
    return str(place)


def test_an_empty_image_lacks_all(tmp_path: Path) -> None:
    empty = layer(tmp_path / "empty")
    assert missing_mount_points([empty]) == [("/dev", 0o755), ("/proc", 0o755)]
    assert missing_directories([empty], "/srv/app") == [*ALWAYS, ("/srv", 0o755), ("/srv/app", 0o755)]


@pytest.mark.parametrize("workdir", ["/etc/app", "/dev/shm/app", "/proc/1/x", "/etc"])
def test_what_each_root_has_is_not_made_again(tmp_path: Path, workdir: str) -> None:
    found = [path for path, _ in missing_directories([layer(tmp_path / "empty")], workdir)][len(ALWAYS) :]
    assert found == (["/etc/app"] if workdir == "/etc/app" else [])


def test_what_any_layer_has_is_not_made(tmp_path: Path) -> None:
    over, below = layer(tmp_path / "over", "srv", "tmp"), layer(tmp_path / "below", "srv/app", "dev", "root", "data")
    assert missing_mount_points([over, below]) == [("/proc", 0o755)]
    assert missing_directories([over, below], "/srv/app") == [("/workspace", 0o755)]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, or Linux 5.8: it makes a whiteout")
def test_what_a_layer_above_has_removed_is_made(tmp_path: Path) -> None:
    over, below = layer(tmp_path / "over"), layer(tmp_path / "below", "srv/app", "dev")
    for name in ("srv", "dev"):
        os.mknod(f"{over}/{name}", 0o020000, os.makedev(0, 0))
    assert ("/dev", 0o755) in missing_mount_points([over, below])
    assert missing_directories([over, below], "/srv/app")[-2:] == [("/srv", 0o755), ("/srv/app", 0o755)]


def test_what_lies_below_an_opaque_directory_is_made(tmp_path: Path) -> None:
    over, below = layer(tmp_path / "over", "srv"), layer(tmp_path / "below", "srv/app")
    assert ("/srv/app", 0o755) not in missing_directories([over, below], "/srv/app")
    os.setxattr(f"{over}/srv", "user.overlay.opaque", b"y")
    assert ("/srv/app", 0o755) in missing_directories([over, below], "/srv/app")


def test_each_part_of_a_path_is_looked_at_once_for_each_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layers = [layer(tmp_path / str(number)) for number in range(20)]
    looks: list[object] = []
    real = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path: (looks.append(path), real(path))[1])
    assert len(missing_directories(layers, "/x" * 60)) == 64
    assert len(looks) <= 20 * (4 + 60)


def test_links_are_left_to_the_sandbox_but_no_mount_point_is_one(tmp_path: Path) -> None:
    image = layer(tmp_path / "image", "proc")
    for name in ("srv", "tmp", "dev"):
        (tmp_path / "image" / name).symlink_to("/etc")
    assert missing_mount_points([image]) == [("/dev", 0o755)]
    assert missing_directories([image], "/srv/app") == ALWAYS[1:]


@pytest.mark.parametrize(
    ("said", "meant"), [("", "/"), ("/", "/"), ("app", "/app"), ("/a/../../b/", "/b"), ("//x", "/x")]
)
def test_a_working_directory_is_a_path_from_the_root(tmp_path: Path, said: str, meant: str) -> None:
    root = ImageRoot(
        digest="sha256:x",
        layers=(tmp_path,),
        environment={},
        workdir=said,
        user="",
        entrypoint=(),
        command=(),
        keeps_owners=True,
    )
    assert layered_image(root, default_image(tmp_path)).workdir == meant
