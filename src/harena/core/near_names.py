"""The name that was perhaps meant, looked for in bounded time: names may be long and many, and come from anybody."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

MOST_SUGGESTED = 20
"""mistakes of one document for which a near name is looked for"""
MOST_CHARACTERS = 200
"""characters of a name that may have a near one, and of one that is shown"""
_MOST_NAMES = 1000
_MOST_WORK = 500_000
"""pairs of characters of the name and of those it is compared with: 0.05 s"""


def nearest_name(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that is most like this one; None where none is. `cutoff`: how alike the two must be, from 0 to
    1."""
    if len(name) > MOST_CHARACTERS:
        return None
    few = [*_few(known, len(name))]
    close = difflib.get_close_matches(name, few, n=1, cutoff=cutoff) if few else []
    return close[0] if close else None


def _few(known: Iterable[str], length: int) -> Iterator[str]:
    work = 0
    for number, candidate in enumerate(known):
        work += length * len(candidate)
        if number == _MOST_NAMES or work > _MOST_WORK:
            return
        yield candidate


def cut(name: str, most_characters: int = MOST_CHARACTERS) -> str:
    """The name as an error shows it."""
    return name if len(name) <= most_characters else name[: most_characters - 3] + "..."
