"""Other values than the ones that tests compute, drawn at random: of the same kind and about the same size.

Whoever has one of them does not find the true one by it.
"""

from __future__ import annotations

import random
import string
from typing import Any

_CLASSES = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
_LIKE_ANY = ("item", "any")


class Others:
    """Gives equal values equal others, but for truths."""

    def __init__(self, *, is_certain: bool) -> None:
        """`is_certain`: each truth becomes the other one. Else half of them do, drawn anew each time, which is for many
        of them: who turns them round gives one wrong answer at least."""
        self._is_certain = is_certain
        self._dice = random.SystemRandom()
        self._drawn: dict[tuple[type, str], Any] = {}

    def part(self, value: Any, path: tuple[Any, ...]) -> Any:
        """The value with another one in a part of it: places and keys, "item" for each item, "value" for each value of
        a mapping, "any" for both. What has no such part stays."""
        if not path:
            return self.whole(value)
        first, rest = path[0], path[1:]
        if isinstance(value, dict) and first != "item":
            is_it = {key: first in (key, "value", "any") for key in value}
            return {key: self.part(each, rest) if is_it[key] else each for key, each in value.items()}
        if first in _LIKE_ANY and isinstance(value, (list, tuple, set, frozenset)):
            return type(value)(self.part(each, rest) for each in value)
        if isinstance(value, (list, tuple)) and type(first) is int and -len(value) <= first < len(value):
            made = list(value)
            made[first] = self.part(made[first], rest)
            return type(value)(made)
        return value

    def whole(self, value: Any) -> Any:
        """Another value; a mapping keeps its keys, and None stays."""
        if isinstance(value, (list, tuple, set, frozenset)):
            return type(value)(self.whole(each) for each in value)
        if isinstance(value, dict):
            return {key: self.whole(each) for key, each in value.items()}
        if isinstance(value, bool):
            return not value if self._is_certain else self._dice.random() < 0.5
        key = type(value), repr(value)
        if key not in self._drawn:
            self._drawn[key] = self._another(value)
        return self._drawn[key]

    def _another(self, value: Any) -> Any:
        if isinstance(value, int):
            step = self._dice.randrange(1, 10 + abs(value))
            return value + (-step if value < 0 or (value > step and self._dice.random() < 0.5) else step)
        if isinstance(value, float):
            return value + (1.5 + self._dice.random() * (1 + abs(value))) * (-1 if value < 0 else 1)
        if isinstance(value, str):
            made = "".join(map(self._letter, value))
            return made if made != value else made + "~"
        if isinstance(value, bytes):
            made_bytes = self._dice.randbytes(len(value))
            return made_bytes if made_bytes != value else made_bytes + b"~"
        return value

    def _letter(self, letter: str) -> str:
        return next((self._dice.choice(each) for each in _CLASSES if letter in each), letter)
