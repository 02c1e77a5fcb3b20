"""Patterns of paths, as Docker and Go have them, and the rules of a .dockerignore file.

    *  **  ?  [a-z]  [^a]  \\x     within a name; ** crosses names
    !pattern                       takes back what a pattern above has said

All places of a pattern that the characters read so far may have led to are followed at once, a bit for each: each
character of a path takes one step, whatever the pattern is.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

MOST_PATTERNS = 1000
"""number limit of the patterns of one list"""
MOST_CHARACTERS = 1000
"""characters of one pattern"""
MOST_TEXT = 256 * 1024
"""characters of one list"""
_MOST_STARS = 32
_LAST = 0x10FFFF


class PathPatternError(ValueError):
    """A pattern is none; the message says why."""


@dataclass(frozen=True, slots=True)
class PathRules:
    """A list of patterns; the last one that matches a path, or a folder above it, decides."""

    rules: Sequence[tuple[PathPattern, bool]]
    """the pattern, and whether what it matches is left out"""

    @classmethod
    def of(cls, patterns: Iterable[str]) -> PathRules:
        """Raises PathPatternError."""
        rules: list[tuple[PathPattern, bool]] = []
        size = 0
        for pattern in patterns:
            keeps = pattern.startswith("!")
            size += len(pattern)
            if size > MOST_TEXT:
                raise PathPatternError(f"the patterns have more than {MOST_TEXT} characters")
            bare = posixpath.normpath(pattern[keeps:].strip() or ".").lstrip("/")
            if bare in (".", ""):
                continue
            if len(rules) == MOST_PATTERNS:
                raise PathPatternError(f"there are more than {MOST_PATTERNS} patterns")
            rules.append((_compiled(bare, has_below=True), not keeps))
        return cls(rules)

    def leaves_out(self, path: str, spend: Callable[[int], None] | None = None) -> bool:
        """Whether this path, relative to the folder that the list is about, is left out. `spend` is told the steps that
        each pattern takes, before they are taken."""
        for rule, leaves_out in reversed(self.rules):
            if spend is not None:
                spend(rule.steps(path))
            if rule.matches(path):
                return leaves_out
        return False

    @property
    def takes_back(self) -> bool:
        """A folder that is left out may have files that are not."""
        return any(not leaves_out for _, leaves_out in self.rules)


def rules_of_file(text: str) -> PathRules:
    """The rules of a .dockerignore file. Raises PathPatternError, which names the line."""
    if len(text) > MOST_TEXT:
        raise PathPatternError(f"it has more than {MOST_TEXT} characters")
    lines = text.removeprefix("\ufeff").splitlines()
    patterns = [
        (number, line.strip()) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")
    ]
    if len(patterns) > MOST_PATTERNS:
        raise PathPatternError(f"there are more than {MOST_PATTERNS} patterns")
    rules: list[tuple[PathPattern, bool]] = []
    for number, pattern in patterns:
        if pattern == "!":
            raise PathPatternError(f"line {number}: a ! stands before no pattern")
        try:
            rules += PathRules.of([pattern]).rules
        except PathPatternError as error:
            raise PathPatternError(f"line {number}: {error}") from None
    return PathRules(rules)


def wildcard(pattern: str) -> PathPattern:
    """A pattern with wildcards, for whole names. Raises PathPatternError."""
    return _compiled(pattern, has_below=False, crosses=False)


def has_wildcards(pattern: str) -> bool:
    """Whether the pattern means other names than its own."""
    return any(char in "*?[\\" for char in pattern)


class PathPattern:
    """One pattern."""

    __slots__ = ("_any_name", "_before_all", "_chars", "_class_from", "_class_masks", "_crosses", "_has_below",
                 "_last", "_literal", "_needed", "_slashes", "_stars")  # fmt: skip

    def __init__(self, pieces: Sequence[_Piece], *, has_below: bool) -> None:
        """`has_below`: what lies below a folder that the pattern means is meant, too."""
        self._has_below = has_below
        texts = [piece if isinstance(piece, str) else "" for piece in pieces]
        self._literal = "".join(texts) if all(texts) else None
        self._needed = max("".join(text or "\0" for text in texts).split("\0"), key=len)
        """which no path that is meant lacks"""
        self._last = 1 << len(pieces)
        self._chars: dict[str, int] = {}
        self._stars = self._crosses = self._any_name = self._slashes = 0
        changes: dict[int, int] = {}
        """characters from which on a class has another answer than before, and the bits of these classes"""
        for place, piece in enumerate(pieces):
            bit = 1 << place
            if isinstance(piece, str):
                self._chars[piece] = self._chars.get(piece, 0) | bit
            elif isinstance(piece, _Class):
                for begin, end in piece.ranges:
                    changes[begin] = changes.get(begin, 0) ^ bit
                    changes[end + 1] = changes.get(end + 1, 0) ^ bit
            elif piece is _STAR:
                self._stars |= bit
            elif piece is _CROSSING:
                self._crosses |= bit
            else:
                self._slashes |= bit
        self._class_from = sorted(changes)
        self._class_masks = [now := changes[self._class_from[0]]] if changes else []
        for begin in self._class_from[1:]:
            now ^= changes[begin]
            self._class_masks.append(now)
        self._any_name = self._stars | self._crosses | self._slashes
        self._before_all = self._entered(1)

    def steps(self, path: str) -> int:
        """What a comparison takes at most."""
        if self._literal is not None:
            return 1
        return 1 + len(path) // (1 if self._needed in path else 16)

    def matches(self, path: str) -> bool:
        """Whether the pattern means this path."""
        if self._literal is not None:
            if not self._has_below:
                return path == self._literal
            return path.startswith(self._literal) and path[len(self._literal) :][:1] in ("", "/")
        if self._needed not in path:
            return False
        chars, last, has_below = self._chars, self._last, self._has_below
        any_name, over_slashes, to_names = self._any_name, self._crosses | self._slashes, self._slashes
        entered = self._entered
        now = self._before_all
        for char in path:
            mask = chars.get(char, 0)
            if char == "/":
                if has_below and now & last:
                    return True
                now = entered((now & (mask | to_names)) << 1) | now & over_slashes
            else:
                if self._class_from and (index := bisect_right(self._class_from, ord(char))):
                    mask |= self._class_masks[index - 1]
                now = entered((now & mask) << 1) | now & any_name
            now |= (now & (self._stars | self._crosses)) << 1
            if not now:
                return False
        return bool(now & last)

    def _entered(self, places: int) -> int:
        """The places with those behind stars and folders that may be none."""
        places |= (places & self._slashes) << 1
        return places | (places & (self._stars | self._crosses)) << 1


@dataclass(frozen=True, slots=True)
class _Class:
    """One character out of several, and never a slash: ranges that do not overlap."""

    ranges: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]], *, negates: bool) -> _Class:
        joined: list[tuple[int, int]] = []
        for begin, end in sorted(ranges):
            if joined and begin <= joined[-1][1] + 1:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            else:
                joined.append((begin, end))
        if not negates:
            return cls(joined)
        begins = [0, *(end + 1 for _, end in joined)]
        ends = [*(begin - 1 for begin, _ in joined), _LAST]
        return cls([(begin, end) for begin, end in zip(begins, ends, strict=True) if begin <= end])


@dataclass(frozen=True, slots=True, eq=False)
class _Wild:
    """Any number of characters."""

    what: str


_STAR, _CROSSING, _FOLDERS = _Wild("within a name"), _Wild("slashes, too"), _Wild("whole names, each with its slash")
_ANY = _Class([(0, _LAST)])
_Piece = str | _Class | _Wild


def _compiled(pattern: str, *, has_below: bool, crosses: bool = True) -> PathPattern:
    if len(pattern) > MOST_CHARACTERS or pattern.count("*") > _MOST_STARS:
        raise PathPatternError(f"a pattern has {MOST_CHARACTERS} characters and {_MOST_STARS} stars at most")
    pieces: list[_Piece] = []
    place = 0
    while place < len(pattern):
        if pattern[place] != "*":
            piece, place = _one(pattern, place)
            pieces.append(piece)
            continue
        begin = place
        while place < len(pattern) and pattern[place] == "*":
            place += 1
        if not crosses or place - begin == 1:
            pieces.append(_STAR)
        elif pattern[place : place + 1] == "/" and (begin == 0 or pattern[begin - 1] == "/"):
            place += 1
            if not pieces or pieces[-1] is not _FOLDERS:
                pieces.append(_FOLDERS)
        else:
            pieces.append(_CROSSING)
    return PathPattern(pieces, has_below=has_below)


def _one(pattern: str, place: int) -> tuple[_Piece, int]:
    """The meaning of one character of a path, and where the pattern goes on."""
    char = pattern[place]
    place += 1
    if char == "?":
        return _ANY, place
    if char == "\\":
        if place == len(pattern):
            raise PathPatternError(f"{pattern!r:.100} ends with a backslash")
        return pattern[place], place + 1
    if char != "[":
        return char, place
    negates = pattern[place : place + 1] == "^"
    place += negates
    made: list[tuple[int, int]] = []
    while True:
        if place >= len(pattern):
            raise PathPatternError(f"{pattern!r:.100} has a [ without ]")
        if pattern[place] == "]" and made:
            break
        first, place = _of_class(pattern, place)
        last = first
        if pattern[place : place + 1] == "-" and pattern[place + 1 : place + 2] not in ("]", ""):
            last, place = _of_class(pattern, place + 1)
            if last < first:
                raise PathPatternError(f"{pattern!r:.100} has a range that ends before it begins")
        made.append((ord(first), ord(last)))
    return _Class.of(made, negates=negates), place + 1


def _of_class(pattern: str, place: int) -> tuple[str, int]:
    if pattern[place] == "\\" and place + 1 < len(pattern):
        return pattern[place + 1], place + 2
    return pattern[place], place + 1
