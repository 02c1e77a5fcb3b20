"""Files that a build lays into its room on its way: archives that ADD unpacks, layers, what RUN mounts and keeps.

The store counts none of them, and a context of some bytes can ask for any number: all that lie there at one time have
one bound, and each goes with its step.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from harena.core.errors import ValidationError
from harena.core.settings import IMAGE_BYTES, IMAGE_MOST_BYTES


class WorkFiles:
    """Used from one thread at a time. Blocking."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        """`most_bytes`: what all of them may have together."""
        self._folder = folder
        self._most_bytes = most_bytes
        self.left = most_bytes
        """bytes that others may have"""
        self._sizes: dict[Path, int] = {}

    def new(self, prefix: str) -> tuple[int, Path]:
        """(descriptor, path) of an empty file. Raises OSError."""
        descriptor, name = tempfile.mkstemp(dir=self._folder, prefix=prefix)
        self._sizes[Path(name)] = 0
        return descriptor, Path(name)

    def grow(self, file: Path, size: int) -> None:
        """Count bytes that are about to be written. Raises ValidationError."""
        if size > self.left:
            raise ValidationError(
                f"what the build unpacks, mounts and keeps at one time has more than {self._most_bytes} bytes "
                f"({IMAGE_MOST_BYTES.name}, {IMAGE_BYTES.name}): have it in smaller parts",
                reason="IMAGE_TOO_LARGE",
            )
        self.left -= size
        self._sizes[file] += size

    def let_go(self, file: Path) -> Path:
        """A file that is somebody else's from now on."""
        self.left += self._sizes.pop(file)
        return file

    def remove(self, files: Iterable[Path]) -> None:
        """Remove what is one of these files. Raises OSError."""
        for file in files:
            if file in self._sizes:
                self.let_go(file).unlink(missing_ok=True)
