"""What a layer is written to while its sandbox stands still: an archive, or one whose large files lie beside it.

This module runs in the process that seals a layer and needs the standard library only.
"""

from __future__ import annotations

import errno
import hashlib
import os

from harena.image_store import holes

SMALL_BYTES = 64 * 1024
"""size of files that are read; of larger ones, the kernel copies the content"""
_PIECE_BYTES = 1024 * 1024
_COPIED_AT_ONCE = 64 * 1024 * 1024
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Archive:
    """A file that is written, and then digested: what it is made of stands still while it is written."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor` can be read, too."""
        self._descriptor = descriptor
        self._buffer: list[bytes] = []
        self._buffered = 0
        self._written = 0
        self.size = 0

    def write(self, piece: bytes) -> None:
        """Add a piece. Raises OSError."""
        self.size += len(piece)
        self._written += len(piece)
        self._buffer.append(piece)
        self._buffered += len(piece)
        if self._buffered >= _PIECE_BYTES:
            self._flush()

    def copy(self, file: int, size: int) -> None:
        """Add the first bytes of a file; zeros where it is shorter. Raises OSError."""
        self._flush()
        _copy(self._descriptor, file, size)
        self.size += size
        self._written += size

    def finish(self) -> None:
        """Write what was added and is not written yet. Raises OSError."""
        self._flush()
        holes.end(self._descriptor, self._written)

    def digest(self) -> str:
        """The digest of what was written. Raises OSError."""
        found, place = hashlib.sha256(), 0
        while piece := os.pread(self._descriptor, _PIECE_BYTES, place):
            found.update(piece)
            place += len(piece)
        return found.hexdigest()

    def _flush(self) -> None:
        piece = b"".join(self._buffer)
        self._buffer, self._buffered = [], 0
        holes.write(self._descriptor, piece)


class Spool(Archive):
    """An archive without the contents of large files, which are copied to where they stay: files of a folder, called
    0, 1 and so on in their order. So each byte of them is written once."""

    def __init__(self, descriptor: int, large: int) -> None:
        """`large`: descriptor of the folder."""
        super().__init__(descriptor)
        self._large = large
        self._count = 0

    def copy(self, file: int, size: int) -> None:
        """Copy a file's content into a file of its own in the spool, with its holes."""
        target = os.open(str(self._count), _NEW_FILE, 0o600, dir_fd=self._large)
        try:
            _copy(target, file, size)
            holes.end(target, size)
        finally:
            os.close(target)
        self._count += 1
        self.size += size


def _copy(target: int, file: int, size: int) -> None:
    """Write the first bytes of a file where the target is, and leave holes where it has some, or is shorter."""
    place = 0
    is_shared = os.fstat(file).st_dev == os.fstat(target).st_dev
    while place < size:
        try:
            begin = min(size, os.lseek(file, place, os.SEEK_DATA))
            end = min(size, os.lseek(file, begin, os.SEEK_HOLE))
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            begin = end = size  # nothing more is in it, or it was cut meanwhile
        os.lseek(target, begin - place, os.SEEK_CUR)
        place = begin
        while place < end:
            wanted = min(end - place, _COPIED_AT_ONCE)
            count = 0
            if is_shared:
                try:
                    count = os.copy_file_range(file, target, wanted, offset_src=place)
                except OSError as error:
                    if error.errno not in (errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                        raise
                    is_shared = False
            if not is_shared:
                count = os.sendfile(target, file, place, wanted)
            if not count:
                break  # it was cut meanwhile
            place += count
