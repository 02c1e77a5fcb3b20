"""Patterns of file names, as `fnmatch.fnmatchcase` reads them (`*.db`, `tests/*`, `[!_]?.py`).

`fnmatch` makes a regular expression of each pattern and keeps it for the whole process, and one name may take it the
product of both lengths. Here all patterns are looked at together, a name letter by letter, and nothing is kept: a
number holds a bit for each place in each pattern that the name so far has led to.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

_Ranges = Sequence[tuple[int, int]]
"""code points from the first to the last, in order and apart from each other"""
_ANY_LETTER: _Ranges = ((0, sys.maxunicode),)


class NamePatterns:
    """Patterns of which a name may match any."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._begins = self._stays = self._ends = 0
        edges: list[tuple[int, int]] = []
        """(code point from which a place takes a letter or no longer does, the place)"""
        place = 0
        for pattern in patterns:
            self._begins |= 1 << place
            for step in _steps(pattern):
                if step is None:
                    self._stays |= 1 << place
                    continue
                for first, last in step:
                    edges += ((first, place), (last + 1, place))
                place += 1
            self._ends |= 1 << place
            place += 1
        self._starts, self._taking = [0], [0]
        """code points, and the places that take a letter from there on"""
        for start, place in sorted(edges):
            taking = self._taking[-1] ^ (1 << place)
            if start == self._starts[-1]:
                self._taking[-1] = taking
            else:
                self._starts.append(start)
                self._taking.append(taking)

    def matches(self, name: str) -> bool:
        """One of them matches the whole name."""
        places = self._begins
        for letter in name:
            taking = self._taking[bisect_right(self._starts, ord(letter)) - 1]
            places = (places & taking) << 1 | places & self._stays
            if not places:
                return False
        return bool(places & self._ends)


def _steps(pattern: str) -> Iterator[_Ranges | None]:
    """What each step of a pattern takes; None = any letters (`*`)."""
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        at += 1
        if letter == "*":
            yield None
        elif letter == "?":
            yield _ANY_LETTER
        elif letter == "[" and (end := _end_of_set(pattern, at)) >= 0:
            yield _ranges(pattern[at:end])
            at = end + 1
        else:
            yield ((ord(letter), ord(letter)),)


def _end_of_set(pattern: str, at: int) -> int:
    """Where a set ends that begins there; negative: it does not end, and its `[` is a letter."""
    at += pattern.startswith("!", at)
    at += pattern.startswith("]", at)
    return pattern.find("]", at)


def _ranges(written: str) -> _Ranges:
    """The letters of a set: `a-z_`, or `!` and those that are not in it."""
    is_negated = written.startswith("!")
    letters = [ord(letter) for letter in written[is_negated:]]
    found = []
    at = 0
    while at < len(letters):
        is_range = at + 2 < len(letters) and letters[at + 1] == ord("-")
        found.append((letters[at], letters[at + 2 if is_range else at]))
        at += 3 if is_range else 1
    apart: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if first > last:  # it is empty
            continue
        if apart and first <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(last, apart[-1][1]))
        else:
            apart.append((first, last))
    if not is_negated:
        return apart
    firsts = (0, *(last + 1 for _, last in apart))
    lasts = (*(first - 1 for first, _ in apart), sys.maxunicode)
    return [(first, last) for first, last in zip(firsts, lasts, strict=True) if first <= last]
