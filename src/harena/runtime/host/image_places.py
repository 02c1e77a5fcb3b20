"""Directories that a sandbox of an image needs, and its image may lack: where to mount, where to work."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence

MOUNT_POINTS = ("/dev", "/proc")
_ALWAYS = (("/tmp", 0o1777), ("/root", 0o700), ("/workspace", 0o755), ("/data", 0o755))
"""which programs and scorers expect in every sandbox"""
_OF_ALL_USERS = (("/tmp", 0o1777), ("/root", 0o700), ("/workspace", 0o777), ("/data", 0o777))
"""likewise, where programs are not root's"""
_ETC = "/etc"
"""each sandbox has it, with files of its own"""
_FREE_TO_MAKE = 0o755
_OPAQUE = "user.overlay.opaque"

Place = tuple[str, int]
"""path, mode"""


def missing_mount_points(layers: Sequence[str]) -> list[Place]:
    """Mount points that the layers do not have as directories, to be made in the upper layer before it is mounted."""
    return [(path, _FREE_TO_MAKE) for path in MOUNT_POINTS if not stat.S_ISDIR([*_walked(layers, path)][-1][1])]


def missing_directories(layers: Sequence[str], workdir: str, *, for_all_users: bool = False) -> list[Place]:
    """Other directories that are not there, each after those that it lies in, to be made once the root is the
    sandbox's. `layers` are the image's, the uppermost first. Looks at the disk, once for each part of a path and layer;
    a name that is a link, or leads through one, is taken for one that is there."""
    made: dict[str, int] = {}
    for path, mode in [*(_OF_ALL_USERS if for_all_users else _ALWAYS), (workdir, _FREE_TO_MAKE)]:
        for above, kind in _walked(layers, path):
            if not kind and not _is_made_before(above):
                made.setdefault(above, mode if above == path else _FREE_TO_MAKE)
    return list(made.items())


def _is_made_before(path: str) -> bool:
    """It is made when the root is mounted, or lies below what is mounted there."""
    return path == _ETC or path.startswith(tuple(f"{point}/" for point in MOUNT_POINTS)) or path in MOUNT_POINTS


def _walked(layers: Sequence[str], path: str) -> Iterator[tuple[str, int]]:
    """Each folder above a path and the path itself, with the type and mode that it has in the overlay of the layers; 0
    = it is not there. Ends at what is no directory."""
    having, above, is_gone = list(layers), "", False
    for part in filter(None, path.split("/")):
        above += f"/{part}"
        kind, having = (0, []) if is_gone else _looked_at(having, above)
        yield above, kind
        is_gone = not kind
        if kind and not stat.S_ISDIR(kind):
            return


def _looked_at(layers: Sequence[str], path: str) -> tuple[int, list[str]]:
    """The mode of a name whose folder these layers have, and those of them that have it as a directory."""
    kind, having = 0, list[str]()
    for layer in layers:
        try:
            found = os.lstat(layer + path)
        except OSError:
            continue
        if stat.S_ISCHR(found.st_mode) and found.st_rdev == 0:
            break  # a whiteout: what the layers below have there is gone
        if not stat.S_ISDIR(found.st_mode):
            return kind or found.st_mode, having
        kind = kind or found.st_mode
        having.append(layer)
        if _is_opaque(layer + path):
            break
    return kind, having


def _is_opaque(folder: str) -> bool:
    try:
        return os.getxattr(folder, _OPAQUE) == b"y"
    except OSError:
        return False
