"""The files of an image, seen through its layers: what a path means there, never on this machine.

A layer is a directory in which a character device 0/0 is a whiteout, and `user.overlay.opaque` hides what is below.
Each part of a path is looked at in each layer, and links are followed within the image, so that no path leads out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harena.core.records.images import ImageRoot

MOST_LINKS = 40
"""links that one path may lead through, as the kernel has it"""
_OPAQUE = "user.overlay.opaque"
_MOST_SMALL = 4 * 1024 * 1024
Parts = tuple[str, ...]


class ImagePathError(OSError):
    """A path of an image leads through too many links, or through a file."""


@dataclass(frozen=True, slots=True)
class ImageFile:
    """What lies at a path of an image, links followed but for the last name's own."""

    parts: Parts
    """the path without links above it; names that are no UTF-8 have surrogates"""
    about: os.stat_result | None
    """None = nothing is there, though all that is above may be"""
    place: str
    """where it lies on this machine; "" = nowhere"""
    layers: tuple[str, ...] = ()
    """directories that make this one, the uppermost first"""

    @property
    def is_folder(self) -> bool:
        """It is a directory."""
        return self.about is not None and stat.S_ISDIR(self.about.st_mode)

    @property
    def is_link(self) -> bool:
        """It is a symbolic link."""
        return self.about is not None and stat.S_ISLNK(self.about.st_mode)


class ImageFiles:
    """Blocking; for any thread."""

    def __init__(self, layers: Sequence[Path], *, keeps_owners: bool) -> None:
        """`layers`: the uppermost first; `keeps_owners`: files have the owners that the image says."""
        self._layers = tuple(map(str, layers))
        self._keeps_owners = keeps_owners

    @classmethod
    def of(cls, root: ImageRoot) -> ImageFiles:
        """The files of an image that is here."""
        return cls(root.layers, keeps_owners=root.keeps_owners)

    def owner(self, about: os.stat_result) -> tuple[int, int]:
        """User and group of a file of the image, as far as they are known."""
        return (about.st_uid, about.st_gid) if self._keeps_owners else (0, 0)

    def root(self) -> ImageFile:
        """The directory / of the image."""
        about = os.lstat(self._layers[0]) if self._layers else None
        return ImageFile((), about, self._layers[0] if self._layers else "", self._layers)

    def find(self, path: str, *, follows: bool = True) -> ImageFile:
        """What lies at a path; `follows`: a link at its end is followed, too. Raises ImagePathError, OSError."""
        waiting = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        trail = [self.root()]
        links = 0
        while waiting:
            part = waiting.pop()
            if part == "..":
                if len(trail) > 1:
                    trail.pop()
                continue
            now = trail[-1]
            if now.about is not None and not now.is_folder:
                raise ImagePathError(f"/{'/'.join(now.parts)} is no directory of the image")
            found = self.child(now, part)
            if found.is_link and (waiting or follows):
                links += 1
                if links > MOST_LINKS:
                    raise ImagePathError(f"{path} leads through more than {MOST_LINKS} links")
                target = os.readlink(found.place)
                if target.startswith("/"):
                    trail = trail[:1]
                waiting += [one for one in reversed(target.split("/")) if one not in ("", ".")]
                continue
            trail.append(found)
        return trail[-1]

    def child(self, folder: ImageFile, name: str) -> ImageFile:
        """What a directory has under a name; no link is followed. Raises ImagePathError, OSError."""
        if not is_name(name):
            raise ImagePathError(f"{name!r:.100} is no name of a file")
        parts = (*folder.parts, name)
        about: os.stat_result | None = None
        place = ""
        having: list[str] = []
        for layer in folder.layers:
            path = f"{layer}/{name}"
            try:
                found = os.lstat(path)
            except FileNotFoundError:
                continue
            if _is_whiteout(found):
                break
            if about is None:
                about, place = found, path
                if not stat.S_ISDIR(found.st_mode):
                    break
            elif not stat.S_ISDIR(found.st_mode):
                break
            having.append(path)
            if _is_opaque(path):
                break
        return ImageFile(parts, about, place, tuple(having))

    def children(self, folder: ImageFile) -> Iterator[ImageFile]:
        """What a directory holds, by its names. Raises OSError."""
        names = {name for layer in folder.layers for name in os.listdir(layer)}
        for name in sorted(names):
            found = self.child(folder, name)
            if found.about is not None:
                yield found

    def text(self, path: str) -> str:
        """A small file of the image, as /etc/passwd; "" = it is not there. Raises OSError."""
        try:
            found = self.find(path)
        except ImagePathError:
            return ""
        if found.about is None or not stat.S_ISREG(found.about.st_mode):
            return ""
        with open(found.place, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_MOST_SMALL)


def is_name(name: str) -> bool:
    """Whether something in a directory can have this name, and no other place is meant by it."""
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name


def _is_whiteout(about: os.stat_result) -> bool:
    return stat.S_ISCHR(about.st_mode) and about.st_rdev == 0


def _is_opaque(folder: str) -> bool:
    try:
        return os.getxattr(folder, _OPAQUE, follow_symlinks=False) == b"y"
    except OSError:
        return False
