"""A value that is taken to pieces and put together again is what it was, and no piece is large."""

from __future__ import annotations

import json
import marshal
import random
from typing import Any

import pytest

from harena.server import value_pieces
from harena.server.value_pieces import OF_EACH, TEXT, WEIGHT, Step, pieces, put_together

LARGE: dict[str, Any] = {
    "numbers": list(range(60_000)),
    "lists": [[]] * 60_000,
    "objects": [{"a": number / 3} for number in range(20_000)],
    "names": {f"name {number}": None for number in range(30_000)},
    "rows": {"rows": [{"id": str(number), "x": list(range(300))} for number in range(200)], "more": "x" * 70_000},
    "deep": json.loads("[" * 180 + ",".join("1" * 40_000) + "]" * 180),
    "texts": ["ä" * (WEIGHT + 1), "", "\ud83e", "x" * (2 * TEXT + 1)],
    "long names": {"a" * (WEIGHT + 1): ["b" * WEIGHT, {"c": "d" * WEIGHT}], "e": {}},
}


@pytest.mark.parametrize("kind", LARGE)
def test_no_piece_of_a_large_value_is_large(kind: str) -> None:
    """Of texts alone a piece holds more, because they are copied and not parsed."""
    value = LARGE[kind]
    sizes: list[int] = []

    def read(content: bytes) -> Any:
        found = marshal.loads(content)
        is_text = isinstance(found, str) or (isinstance(found, list) and len(found) == 1 and isinstance(found[0], str))
        sizes.append(0 if is_text and len(content) < 2 * TEXT + 100 else len(content))
        return found

    assert put_together(iter(list(pieces(value))), read) == value
    assert len(sizes) > 1
    assert max(sizes) < 2 * (WEIGHT + 1024 * OF_EACH)


@pytest.mark.parametrize("weight", [1, 20, 100, 1000])
def test_a_value_comes_back_as_it_was(weight: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With types and order: 1 is not true, and 1.0 not 1."""
    monkeypatch.setattr(value_pieces, "WEIGHT", weight)
    monkeypatch.setattr(value_pieces, "TEXT", 3)
    monkeypatch.setattr(value_pieces, "_TOGETHER", 4)
    chance = random.Random(weight)
    for _ in range(300):
        value = _value(chance, 0)
        assert repr(put_together(pieces(value))) == repr(value)


def test_pieces_that_break_off_are_no_value() -> None:
    """Wherever they do."""
    given = list(pieces(LARGE["rows"]))
    assert given[0][0] is Step.OBJECT
    for end in (0, 1, len(given) // 2, len(given) - 1):
        with pytest.raises(EOFError):
            put_together(iter(given[:end]))


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(3 if depth > 4 else 6)
    if kind == 0:
        return chance.choice([None, True, False, 0, 1, 1.0, -1, 10**40, 1e300])
    if kind in (1, 2):
        return "".join(chance.choices("ab\0é🦆", k=chance.randrange(12)))
    if kind in (3, 4):
        return [_value(chance, depth + 1) for _ in range(chance.randrange(10))]
    return {f"n{chance.randrange(99)}": _value(chance, depth + 1) for _ in range(chance.randrange(10))}
