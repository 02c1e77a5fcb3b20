"""Writes a layer as a tar file: entries in the order in which they are given, the same bytes for the same entries."""

from __future__ import annotations

import errno
import tarfile
from collections.abc import Iterable
from typing import BinaryIO

from harena.image_build.image_files import is_name

_KINDS = {"file": tarfile.REGTYPE, "folder": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}


class LayerTooLargeError(ValueError):
    """The layer has more bytes or entries than it may have; the message says how many it may have."""


class LayerTar:
    """Blocking."""

    def __init__(self, file: BinaryIO, *, most_bytes: int, most_files: int) -> None:
        self._file = file
        self._left = most_bytes
        self._most_bytes = most_bytes
        self._most_files = most_files
        self.entries = 0

    def add(
        self,
        parts: tuple[str, ...],
        kind: str,
        *,
        mode: int,
        owner: tuple[int, int],
        modified: int,
        size: int = 0,
        link: str = "",
        content: Iterable[bytes] = (),
    ) -> None:
        """Write one entry. Raises LayerTooLargeError, OSError."""
        if not all(map(is_name, parts)):
            raise OSError(errno.EINVAL, f"{parts!r:.200} is no path of a layer")
        self.entries += 1
        self._left -= size + 3 * tarfile.BLOCKSIZE
        if self._left < 0 or self.entries > self._most_files:
            raise LayerTooLargeError(f"it has more than {self._most_bytes} bytes or {self._most_files} files")
        entry = tarfile.TarInfo("/".join(parts))
        entry.type = _KINDS[kind]
        entry.mode, entry.mtime, entry.size, entry.linkname = mode, modified, size, link
        entry.uid, entry.gid = owner
        self._file.write(entry.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
        left = size
        for piece in content:
            left -= len(piece)
            self._file.write(piece)
        if left:
            raise OSError(f"/{'/'.join(parts)} has changed its size while it was copied")
        self._file.write(b"\0" * (-size % tarfile.BLOCKSIZE))

    @property
    def bytes(self) -> int:
        """Bytes that its entries take at most."""
        return self._most_bytes - self._left

    def close(self) -> None:
        """Write the end."""
        self._file.write(b"\0" * (2 * tarfile.BLOCKSIZE))
