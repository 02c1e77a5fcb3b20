"""What error messages show of values: their beginning, however much they stand for."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from harena.core.checked import quote

ITSELF: list[Any] = ["word"]
ITSELF.append(ITSELF)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2.5,
        [],
        {},
        (),
        (1,),
        (1, "a"),
        [1, [2, {"a": (3, [])}]],
        {"a": [1], 2: None},
        {1},
        b"x",
        {(1, 2): 3},
    ],
    ids=repr,
)
def test_short_values_are_shown_as_python_writes_them(value: object) -> None:
    assert quote(value) == repr(value)


def cut_short(value: object) -> int:
    """The memory that it takes at most to show the value, of which only the beginning is shown."""
    tracemalloc.start()
    try:
        text = quote(value)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert text.endswith("...")
    assert len(text) == 100
    return most


@pytest.mark.parametrize("kind", [list, lambda one: dict(enumerate(one)), lambda one: [*enumerate(one)]])
def test_a_value_that_stands_for_millions_is_not_written_out(kind: Any) -> None:
    """YAML has names for values: a file of some hundred bytes may say one nine to the ninth times."""
    value: Any = kind(["word"] * 9)
    for _ in range(5):
        value = kind([value] * 9)
    assert cut_short(value) < 1 << 20


def test_values_without_end_and_long_numbers() -> None:
    assert quote(ITSELF).startswith("['word', ['word', ['word',")
    assert quote(1 << 20_000) == "a whole number of 20001 bits"
    assert quote([1 << 20_000]) == "[a whole number of 20001 bits]"


@pytest.mark.parametrize(
    "long", ["é" * 5_000_000, "a" * 5_000_000, b"\xff" * 5_000_000], ids=["letters", "ascii", "bytes"]
)
@pytest.mark.parametrize("kind", [lambda one: one, lambda one: [one], lambda one: {"a": one}])
def test_a_long_text_is_looked_at_as_far_as_it_is_shown(kind: Any, long: Any) -> None:
    assert cut_short(kind(long)) < 1 << 16
