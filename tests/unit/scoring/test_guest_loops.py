"""`map` and `filter` for trusted code beside a candidate."""

from __future__ import annotations

from typing import Any

import pytest

from harena.scoring.guest.loops import LOOPS


def test_they_are_classes_of_what_they_make_and_of_the_builtin_ones() -> None:
    """Suites ask `isinstance(answer, map)`."""
    own, other = LOOPS["map"], LOOPS["filter"]
    assert isinstance(own(abs, [-1]), own)
    assert isinstance(map(abs, [-1]), own)
    assert not isinstance([1], own)
    assert not isinstance(own(abs, [-1]), other)
    assert isinstance(filter(None, [1]), (str, other))
    assert own.__name__ == "map"


def test_they_do_what_the_builtin_ones_do() -> None:
    """Of one and of several iterables."""
    assert list(LOOPS["map"](pow, [2, 3, 4], [5, 2])) == [32, 9]
    assert list(LOOPS["filter"](None, [0, 1, "", 2])) == [1, 2]
    assert list(LOOPS["filter"](str.isdigit, "a1b2")) == ["1", "2"]


@pytest.mark.parametrize("name", LOOPS)
def test_a_call_does_not_end_them(name: str) -> None:
    """StopIteration out of a call is an error, not an end."""

    def ends(_: Any) -> Any:
        raise StopIteration

    with pytest.raises(RuntimeError):
        list(LOOPS[name](ends, [1, 2]))
