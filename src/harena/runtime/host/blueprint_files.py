"""Contents of blueprints' files: on the disk, beside the records; in memory only those that were used last.

A record says which files there are and how long they are; their contents follow each other in one file. What is read is
remembered up to CACHED_BYTES for the whole node, whosever it is: what is forgotten is read again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import ItemsView, Iterator, Mapping
from pathlib import Path

from harena.core.errors import NotFoundError

CACHED_BYTES = 64 * 1024 * 1024
"""contents that stay in memory"""


class ContentCache:
    """One node's. Used from any thread; reading holds nobody else up."""

    def __init__(self, most_bytes: int = CACHED_BYTES) -> None:
        self.bytes = 0
        self._most_bytes = most_bytes
        self._read: OrderedDict[Path, dict[str, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, place: Path, sizes: Mapping[str, int]) -> Mapping[str, bytes]:
        """path -> content, of the file at `place`. Raises NotFoundError, OSError."""
        with self._lock:
            found = self._read.get(place)
            if found is not None:
                self._read.move_to_end(place)
                return found
        found = _read_contents(place, sizes)
        size = sum(sizes.values())
        if size <= self._most_bytes:
            with self._lock:
                self._drop(place)
                self._read[place] = found
                self.bytes += size
                while self.bytes > self._most_bytes:
                    self._drop(next(iter(self._read)))
        return found

    def forget(self, place: Path) -> None:
        """It is not kept in memory any more."""
        with self._lock:
            self._drop(place)

    def _drop(self, place: Path) -> None:
        self.bytes -= sum(map(len, self._read.pop(place, {}).values()))


class StoredFiles(Mapping[str, bytes]):
    """The files of one blueprint, path -> content: read when one is asked for."""

    def __init__(self, place: Path, sizes: Mapping[str, int], cache: ContentCache) -> None:
        self.sizes = sizes
        """path -> bytes"""
        self._place = place
        self._cache = cache

    def __getitem__(self, path: str) -> bytes:
        if path not in self.sizes:
            raise KeyError(path)
        return self._cache.of(self._place, self.sizes)[path]

    def items(self) -> ItemsView[str, bytes]:
        """All of them, read once."""
        return self._cache.of(self._place, self.sizes).items()

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"<{len(self)} files>"


def _read_contents(place: Path, sizes: Mapping[str, int]) -> dict[str, bytes]:
    try:
        whole = place.read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError("this blueprint was removed just now") from error
    found, start = {}, 0
    for path, size in sizes.items():
        found[path] = whole[start : start + size]
        start += size
    if start != len(whole):
        raise OSError(f"{place} has {len(whole)} bytes in place of {start}")
    return found
