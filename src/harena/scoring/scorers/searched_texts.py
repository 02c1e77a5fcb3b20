"""How much of a verifier's files is looked through for the words in them: a search holds the interpreter for as long as
it takes, and there are some dozens in each run.

Of a text that is longer its beginning and its end are looked at, in whole lines: there a script sets things up and runs
them, and what lies between is mostly data. What a verifier runs comes first, then its Python, then everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

MOST_OF_SCRIPT = 64 * 1024
"""characters of one script, or of a file without an ending"""
MOST_OF_TEXT = 256 * 1024
"""characters of any other file"""
MOST_OF_VERIFIER = 1024 * 1024
"""characters of all its files together"""
_SCRIPTS = frozenset({"", ".sh", ".bash"})


def searched(texts: Mapping[str, str]) -> Mapping[str, str]:
    """The files of a verifier by their paths, all of them, each as far as it is looked through."""
    is_short = all(len(text) <= _most_of(path) for path, text in texts.items())
    if is_short and sum(map(len, texts.values())) <= MOST_OF_VERIFIER:
        return texts
    found = dict.fromkeys(texts, "")
    room = MOST_OF_VERIFIER
    for path in sorted(texts, key=_rank):
        found[path] = _ends_of(texts[path], min(room, _most_of(path)))
        room -= len(found[path])
    return found


def _rank(path: str) -> int:
    ending = PurePosixPath(path).suffix
    return 0 if ending in _SCRIPTS else 1 if ending == ".py" else 2


def _most_of(path: str) -> int:
    return MOST_OF_SCRIPT if PurePosixPath(path).suffix in _SCRIPTS else MOST_OF_TEXT


def _ends_of(text: str, most: int) -> str:
    """The first and the last lines, `most` characters together at most; of a line that is too long its beginning or its
    end."""
    if len(text) <= most:
        return text
    half = most // 2
    begin, end = text[:half], text[len(text) - half :]
    begin = begin[: begin.rfind("\n") + 1] or begin
    end = end[end.find("\n") + 1 :] or end
    return begin + end
