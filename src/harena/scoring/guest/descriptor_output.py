"""What a candidate, or a program that it starts, writes to descriptor 1, for a suite that lives elsewhere.

A suite may look at what is written there (`capfd`), and not only at what Python prints. So the descriptor is a file in
memory, whose new part goes with the next answer. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import fcntl
import os

MOST_WRITTEN_BYTES = 1024 * 1024
"""what is told of a longer output between two answers; the rest is lost"""


class Written:
    """Descriptor 1 of this process."""

    def __init__(self) -> None:
        self._place: tuple[int, int] | None = None
        self._seen = 0
        try:
            made = os.memfd_create("output")
        except (OSError, AttributeError):
            os.dup2(2, 1)
            return
        fcntl.fcntl(made, fcntl.F_SETFL, os.O_APPEND)
        os.dup2(made, 1)
        os.close(made)
        found = os.fstat(1)
        self._place = found.st_dev, found.st_ino

    def taken(self) -> bytes:
        """What has been written since. Nothing where the program has put another file there."""
        if self._place is None:
            return b""
        try:
            found = os.fstat(1)
            if (found.st_dev, found.st_ino) != self._place or found.st_size <= self._seen:
                return b""
            said = os.pread(1, min(found.st_size - self._seen, MOST_WRITTEN_BYTES), self._seen)
            self._seen = found.st_size
            if self._seen > MOST_WRITTEN_BYTES:
                os.ftruncate(1, 0)
                self._seen = 0
        except OSError:
            return b""
        return said
