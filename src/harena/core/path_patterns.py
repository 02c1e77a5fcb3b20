"""Patterns of paths, as Docker and Go have them, and the rules of a .dockerignore file.

    *  **  ?  [a-z]  [^a]  \\x     within a name; ** crosses names
    !pattern                       takes back what a pattern above has said

A pattern becomes a regular expression that is matched without backtracking, but for its last part: what lies behind a
star is taken where it first occurs, which is enough, and never given back.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_PATTERNS = 1000
"""number limit of the patterns of one list"""
MOST_CHARACTERS = 1000
"""characters of one pattern"""
_MOST_STARS = 32


class PathPatternError(ValueError):
    """A pattern is none; the message says why."""


@dataclass(frozen=True, slots=True)
class PathRules:
    """A list of patterns; the last one that matches a path, or a folder above it, decides."""

    rules: Sequence[tuple[re.Pattern[str], bool]]
    """the pattern, and whether what it matches is left out"""

    @classmethod
    def of(cls, patterns: Iterable[str]) -> PathRules:
        """Raises PathPatternError."""
        rules: list[tuple[re.Pattern[str], bool]] = []
        for pattern in patterns:
            keeps = pattern.startswith("!")
            bare = posixpath.normpath(pattern[keeps:].strip() or ".").lstrip("/")
            if bare in (".", ""):
                continue
            if len(rules) == MOST_PATTERNS:
                raise PathPatternError(f"there are more than {MOST_PATTERNS} patterns")
            rules.append((_compiled(bare, r"(?:/.*)?"), not keeps))
        return cls(rules)

    def leaves_out(self, path: str) -> bool:
        """Whether this path, relative to the folder that the list is about, is left out."""
        for rule, leaves_out in reversed(self.rules):
            if rule.fullmatch(path):
                return leaves_out
        return False

    @property
    def takes_back(self) -> bool:
        """A folder that is left out may have files that are not."""
        return any(not leaves_out for _, leaves_out in self.rules)


def rules_of_file(text: str) -> PathRules:
    """The rules of a .dockerignore file. Raises PathPatternError, which names the line."""
    lines = text.removeprefix("\ufeff").splitlines()
    patterns = []
    for number, line in enumerate(lines, 1):
        pattern = line.strip()
        if not pattern or line.startswith("#"):
            continue
        if pattern == "!":
            raise PathPatternError(f"line {number}: a ! stands before no pattern")
        try:
            PathRules.of([pattern])
        except PathPatternError as error:
            raise PathPatternError(f"line {number}: {error}") from None
        patterns.append(pattern)
    return PathRules.of(patterns)


def wildcard(pattern: str) -> re.Pattern[str]:
    """An expression for whole paths that a pattern with wildcards means. Raises PathPatternError."""
    return _compiled(pattern, "", crosses=False)


def has_wildcards(pattern: str) -> bool:
    """Whether the pattern means other names than its own."""
    return any(char in "*?[\\" for char in pattern)


def _compiled(pattern: str, behind: str, *, crosses: bool = True) -> re.Pattern[str]:
    if len(pattern) > MOST_CHARACTERS or pattern.count("*") > _MOST_STARS:
        raise PathPatternError(f"a pattern has {MOST_CHARACTERS} characters and {_MOST_STARS} stars at most")
    crossings: list[str] = [""]
    chunks: list[list[str]] = [[""]]
    """what stands between stars that cross names, each cut at the other stars"""
    place = 0
    while place < len(pattern):
        if pattern[place] != "*":
            piece, place = _one(pattern, place)
            chunks[-1][-1] += piece
            continue
        begin = place
        while place < len(pattern) and pattern[place] == "*":
            place += 1
        if not crosses or place - begin == 1:
            chunks[-1].append("")
            continue
        if pattern[place : place + 1] == "/" and (begin == 0 or pattern[begin - 1] == "/"):
            place += 1
            crossings.append("(?:[^\\0]*?/)??")
        else:
            crossings.append("[^\\0]*?")
        chunks.append([""])
    made = ""
    for number, (crossing, chunk) in enumerate(zip(crossings, chunks, strict=True)):
        is_last = number == len(chunks) - 1
        first, *others = chunk
        *inner, end = others or [""]
        text = first + "".join(f"(?>[^/]*?{piece})" for piece in inner)
        if others:
            text += f"[^/]*?{end}" if is_last else f"(?>[^/]*?{end})"
        made += f"{crossing}{text}" if is_last else f"(?>{crossing}{text})"
    try:
        return re.compile(made + behind, re.DOTALL)
    except (re.error, OverflowError):
        raise PathPatternError(f"{pattern!r:.100} is no pattern") from None


def _one(pattern: str, place: int) -> tuple[str, int]:
    """The expression for one character of a path, and where the pattern goes on."""
    char = pattern[place]
    place += 1
    if char == "?":
        return "[^/]", place
    if char == "\\":
        if place == len(pattern):
            raise PathPatternError(f"{pattern!r:.100} ends with a backslash")
        return re.escape(pattern[place]), place + 1
    if char != "[":
        return re.escape(char), place
    negates = pattern[place : place + 1] == "^"
    place += negates
    made: list[str] = []
    while True:
        if place >= len(pattern):
            raise PathPatternError(f"{pattern!r:.100} has a [ without ]")
        if pattern[place] == "]" and made:
            break
        first, place = _of_class(pattern, place)
        if pattern[place : place + 1] == "-" and pattern[place + 1 : place + 2] not in ("]", ""):
            last, place = _of_class(pattern, place + 1)
            if last < first:
                raise PathPatternError(f"{pattern!r:.100} has a range that ends before it begins")
            made.append(f"{re.escape(first)}-{re.escape(last)}")
        else:
            made.append(re.escape(first))
    inside = "".join(made)
    return (f"[^/{inside}]" if negates else f"(?!/)[{inside}]"), place + 1


def _of_class(pattern: str, place: int) -> tuple[str, int]:
    if pattern[place] == "\\" and place + 1 < len(pattern):
        return pattern[place + 1], place + 2
    return pattern[place], place + 1
