"""Directories that a sandbox of an image needs, and its image may lack: where to mount, where to work."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import PurePosixPath

MOUNT_POINTS = ("/dev", "/proc")
_ALWAYS = (("/tmp", 0o1777), ("/root", 0o700), ("/workspace", 0o755), ("/data", 0o755))
"""which programs and scorers expect in every sandbox"""
_FREE_TO_MAKE = 0o755

Place = tuple[str, int]
"""path, mode"""


def missing_mount_points(layers: Sequence[str]) -> list[Place]:
    """Mount points that the layers do not have as directories, to be made in the upper layer before it is mounted."""
    return [(path, _FREE_TO_MAKE) for path in MOUNT_POINTS if not stat.S_ISDIR(_kind(layers, path))]


def missing_directories(layers: Sequence[str], workdir: str) -> list[Place]:
    """Other directories that are not there, each after those that it lies in, to be made once the root is the
    sandbox's. `layers` are the image's, the uppermost first. Looks at the disk; a name that is a link, or leads through
    one, is taken for one that is there."""
    places = [*_ALWAYS, (workdir, _FREE_TO_MAKE)]
    made: dict[str, int] = {}
    for path, mode in places:
        for above in [*reversed(PurePosixPath(path).parents), PurePosixPath(path)]:
            name = str(above)
            if name != "/" and name not in made and not _kind(layers, name):
                made[name] = mode if name == path else _FREE_TO_MAKE
            elif name != "/" and name not in made and not stat.S_ISDIR(_kind(layers, name)):
                break
    return list(made.items())


def _kind(layers: Sequence[str], path: str) -> int:
    """The type and mode that a path has in the overlay of the layers; 0 = it is not there."""
    for layer in layers:
        for above in [*reversed(PurePosixPath(path).parents), PurePosixPath(path)][1:]:
            try:
                found = os.lstat(layer + str(above))
            except OSError:
                break
            if stat.S_ISCHR(found.st_mode) and found.st_rdev == 0:
                return 0  # a whiteout: what the layers below have there is gone
            if str(above) == path:
                return found.st_mode
            if not stat.S_ISDIR(found.st_mode):
                return found.st_mode if stat.S_ISLNK(found.st_mode) else 0
    return 0
