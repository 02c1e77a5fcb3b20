"""The notation for values that YAML and JSON cannot write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.scoring.codec import canonical
from harena.scoring.values import Bag, NotationError, from_python, from_tagged, show


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"$tuple": [1, {"$tuple": []}]}, (1, ())),
        ({"$set": [1, 2]}, {1, 2}),
        ({"$frozenset": ["a"]}, frozenset("a")),
        ({"$bytes": "aGk="}, b"hi"),
        ({"$float": "nan"}, float("nan")),
        ({"$float": "-inf"}, float("-inf")),
        ({"$int": "0xff"}, 255),
        ({"$int": "-12"}, -12),
        ({"$complex": [1, -2.5]}, 1 - 2.5j),
        ({"$dict": [[1, "a"], [{"$tuple": [1]}, "b"]]}, {1: "a", (1,): "b"}),
        ({"$dict": [["$tuple", 1]]}, {"$tuple": 1}),
        ({"a": {"$tuple": [1]}}, {"a": (1,)}),
        ([1, "x", None, True, 2.5], [1, "x", None, True, 2.5]),
        ({"a": (1, {2})}, {"a": (1, {2})}),
    ],
)
def test_every_tag_means_its_value(written: Any, meant: Any) -> None:
    """Including real tuples and sets, in scenarios made in Python."""
    assert canonical(from_tagged(written)) == canonical(from_python(meant))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"$tupel": [1]}, r"\$tupel"),
        ({"$tuple": [1], "x": 1}, "alone"),
        ({"$tuple": 3}, "list of parts"),
        ({"$bytes": "***"}, "base64"),
        ({"$bytes": 3}, "base64"),
        ({"$float": "many"}, "number"),
        ({"$int": "1.5"}, "integer"),
        ({"$complex": [1]}, "real, imaginary"),
        ({"$dict": [[1]]}, "pairs"),
        ({"a": [1, {"$set": 2}]}, r"at \.a\[1\]\.\$set"),
        ([object()], "object cannot be sent"),
    ],
)
def test_wrong_notation_says_where_and_what(written: Any, message: str) -> None:
    """The message names the place inside the value and what to write."""
    with pytest.raises(NotationError, match=message):
        from_tagged(written)


def test_a_bottomless_value_is_refused() -> None:
    """A value that contains itself does not exhaust the stack."""
    bottomless: list[Any] = []
    bottomless.append(bottomless)
    with pytest.raises(NotationError, match="deeper"):
        from_tagged(bottomless)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1,), "(1,)"),
        ((), "()"),
        ([1, "a", None], "[1, 'a', None]"),
        (Bag("set", (1, 2)), "{1, 2}"),
        (Bag("set", ()), "set()"),
        (Bag("frozenset", (1,)), "frozenset(1)"),
        (Bag("dict", (("a", [1]),)), "{'a': [1]}"),
        (1 << 600, "<int of 601 bits>"),
    ],
)
def test_values_are_shown_as_python_writes_them(value: Any, text: str) -> None:
    """For one line of detail."""
    assert show(value) == text


@given(st.recursive(st.integers() | st.text(), lambda below: st.lists(below) | st.tuples(below, below)))
def test_what_is_shown_is_short(value: Any) -> None:
    """However large the value."""
    assert len(show(value, 40)) <= 43


def test_a_huge_value_is_shown_without_being_written_out() -> None:
    """Neither a million items nor a number of a million digits are turned into text."""
    assert show([0] * 1_000_000).endswith("...")
    assert show(10**100_000).startswith("<int of")
