"""Whether Python takes a regular expression, found in time that grows with its length only.

`re.compile` puts each class into a table of all the characters in its ranges, and under IGNORECASE looks for other
forms of each: a class of 12 characters can take 9 ms, 10,000 characters of classes 19 s. Here what a class holds is
counted, and compiled is the pattern with a letter in the place of each class.
"""

from __future__ import annotations

import re
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

_MOST_KEPT = 2000
"""characters of a regular expression that `re` may keep"""
MOST_IN_RANGES = 500_000
"""characters in the ranges of all classes of one pattern: seven times all that have up to 16 bits, or twenty-five times
the Chinese ones; 0.1 s of whoever compiles it"""
_LAST_IN_TABLE = 0xFFFF
_LETTER = (_constants.IN, [(_constants.LITERAL, ord("a"))])


def check_pattern(pattern: str) -> None:
    """Raises ValueError where Python cannot compile it, for whatever reason, or would take very long."""
    try:
        tree = _parser.parse(pattern)
        total = _without_classes(tree)
        if total <= MOST_IN_RANGES:
            _compiler.compile(tree)
    except (re.error, OverflowError) as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    except RecursionError:
        raise ValueError("is not a regular expression that can be read: it is nested too deeply") from None
    if total > MOST_IN_RANGES:
        raise ValueError(
            f"takes too long to compile: the ranges of its classes hold more than {MOST_IN_RANGES} characters; write "
            r"fewer or smaller ranges, or \w or [^...] for what is not in a small one"
        )


def _without_classes(tree: Any) -> int:
    """Put a letter in the place of each class, and return how many characters their ranges hold. The parser's own
    lists of what is in a class stay as they are: those of `\\d` and its like are the same in all patterns."""
    total = 0
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, _parser.SubPattern):
            for index, (kind, value) in enumerate(part.data):
                if kind is _constants.IN:
                    total += sum(_size(*item) for item in value)
                    part.data[index] = _LETTER
                else:
                    waiting.append(value)
        elif isinstance(part, tuple | list):
            waiting.extend(part)
    return total


def _size(kind: Any, value: Any) -> int:
    if kind is not _constants.RANGE:
        return 0
    first: int = value[0]
    last: int = value[1]
    return max(0, min(last, _LAST_IN_TABLE) - first + 1)


def compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression that was made of what somebody else wrote. `re.compile` keeps the newest 512, whatever their
    size: a large one is compiled apart."""
    if len(pattern) <= _MOST_KEPT:
        return re.compile(pattern)
    made: re.Pattern[str] = _compiler.compile(pattern)
    return made
