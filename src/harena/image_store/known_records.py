"""Records that were read from the disk, so that a store of a thousand images is looked through without reading all."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from harena.core.records.record import Record
from harena.image_store.kept import KeptImage, Needs

R = TypeVar("R", bound=Record)
_MOST_RECORD = 16 * 1024 * 1024
_MOST_WEIGHT = 50_000
"""records and layers of images that are remembered, some 400 bytes each"""
_Stamp = tuple[int, int, int]


@dataclass(slots=True)
class KnownRecords:
    """Used from any thread. A record is written once, as a new file: who reads it again finds it in memory while that
    file is the one that was read."""

    _known: dict[str, tuple[_Stamp, Record]] = field(default_factory=dict)
    _weight: int = 0
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def read(self, kind: type[R], path: Path) -> R | None:
        """The record in a file; None = it is not there, or of a version that writes it in another way."""
        place = str(path)
        try:
            stamp = _stamp(os.stat(place))
        except OSError:
            self._forget(place)
            return None
        known = self._known.get(place)
        if known is not None and known[0] == stamp and isinstance(known[1], kind):
            return known[1]
        self._forget(place)
        try:
            with open(place, "rb") as file:
                stamp = _stamp(os.fstat(file.fileno()))
                found = kind.from_dict(json.loads(file.read(_MOST_RECORD)))
        except (OSError, ValueError):
            return None
        weight = _weight(found)
        with self._guard:
            if self._weight + weight > _MOST_WEIGHT:  # mostly of files that are gone
                self._known.clear()
                self._weight = 0
            if place not in self._known:
                self._known[place] = stamp, found
                self._weight += weight
        return found

    def _forget(self, place: str) -> None:
        with self._guard:
            known = self._known.pop(place, None)
            if known is not None:
                self._weight -= _weight(known[1])


def _stamp(told: os.stat_result) -> _Stamp:
    return told.st_ino, told.st_mtime_ns, told.st_size


def _weight(record: Record) -> int:
    return 1 + (len(record.layers) if isinstance(record, KeptImage | Needs) else 0)
