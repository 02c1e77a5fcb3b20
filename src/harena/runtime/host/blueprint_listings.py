"""What the folders of blueprints have, listed once for each change of a folder, whoever makes it.

A look-up asks for the state of the folder, which costs the same however many files it has. The kernel notes a change
with a clock that ticks every few milliseconds: two changes can leave the same time. A listing is therefore kept for
good only if the folder had that time a while before it was listed, so that whatever has this time is in the listing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harena.core.clock import Clock

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FILE = re.compile(rf"({NAME.pattern})@(\d+)\.json")
_TICK_SECONDS = 0.1
"""longer than the clock that times of files are taken from stands still"""
_WHOLE_SECONDS = 2.5
"""and where it counts seconds, or two at a time"""

Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Listing:
    """The records of a folder: name -> its versions, oldest first; the names are sorted."""

    versions: Mapping[str, Sequence[int]]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Give (name, version) of each record, sorted."""
        return ((name, version) for name, versions in self.versions.items() for version in versions)


@dataclass(frozen=True, slots=True)
class _Kept:
    stamp: Stamp
    seen_at: float
    """when the folder was first seen with this stamp"""
    settled: bool
    listing: Listing


class FolderListings:
    """Listings of folders. Used from several threads: the worst that they do to one another is to list twice."""

    def __init__(self, clock: Clock) -> None:
        """Nothing has been listed yet."""
        self._clock = clock
        self._kept: dict[Path, _Kept] = {}

    def of(self, root: Path) -> Listing:
        """The records that a folder has now; a folder that is not there has none. Raises OSError."""
        kept = self._kept.get(root)
        try:
            stamp = _stamp_of(root)
            if kept is not None and kept.stamp == stamp and kept.settled:
                return kept.listing
            now = self._clock.now()  # after the look at the stamp and before the one at the names
            listing = listed(root)
        except FileNotFoundError:
            self._kept.pop(root, None)
            return Listing({})
        seen_at = kept.seen_at if kept is not None and kept.stamp == stamp else now
        self._kept[root] = _Kept(stamp, seen_at, now - seen_at >= _settling_seconds(stamp), listing)
        return listing


def listed(root: Path) -> Listing:
    """The records that a folder has now, from the folder itself. Raises OSError."""
    versions: dict[str, list[int]] = {}
    for entry in os.listdir(root):
        if match := _FILE.fullmatch(entry):
            versions.setdefault(match[1], []).append(int(match[2]))
    return Listing({name: sorted(versions[name]) for name in sorted(versions)})


def _stamp_of(root: Path) -> Stamp:
    state = root.stat()
    # the time of the last change of its names; beside it that of its inode, which nobody can set back
    return state.st_dev, state.st_ino, state.st_mtime_ns, state.st_ctime_ns


def _settling_seconds(stamp: Stamp) -> float:
    return _WHOLE_SECONDS if stamp[2] % 1_000_000_000 == 0 else _TICK_SECONDS
