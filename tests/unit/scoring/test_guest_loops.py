"""`map`, `filter` and `iter` for trusted code beside a candidate."""

from __future__ import annotations

from typing import Any

import pytest

from harena.scoring.guest.safe_iteration import LOOPS, names_end


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
    numbers = iter([1, 2, 0, 3])
    assert list(LOOPS["iter"](lambda: next(numbers), 0)) == [1, 2]
    assert list(LOOPS["iter"]([4, 5])) == [4, 5]


@pytest.mark.parametrize("name", LOOPS)
def test_a_call_does_not_end_them(name: str) -> None:
    """StopIteration out of a call is an error, not an end."""

    def ends(*_: Any) -> Any:
        raise StopIteration

    with pytest.raises(RuntimeError):
        list(LOOPS[name](ends, [1, 2]))


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("with pytest.raises(StopIteration): solution.f()\n", True),
        ("try: solution.f()\nexcept (KeyError, StopIteration): pass\n", True),
        ("class I:\n    def __next__(self): raise StopIteration('no')\n", False),
        ("def f(): raise StopIteration\n", False),
        ("def f(: StopIteration\n", False),
    ],
)
def test_who_names_the_end_of_a_loop_may_wait_for_it(text: str, is_named: bool) -> None:
    """A suite that only raises it does not."""
    assert names_end(["x = 1\n", text]) == is_named


@pytest.mark.parametrize(
    "text",
    [
        "map(str)",
        "map()",
        "map(str, 5)",
        "map(str, [1], 5)",
        "filter(None)",
        "filter(None, 5)",
        "iter(5, 0)",
        "iter(5)",
    ],
)
def test_what_cannot_go_through_anything_says_so_at_once(text: str) -> None:
    """As the builtins do, and not when the first part is asked for: `curry(map)` waits for more arguments by it."""
    for names in ({}, LOOPS):
        with pytest.raises(TypeError):
            eval(text, dict(names))
