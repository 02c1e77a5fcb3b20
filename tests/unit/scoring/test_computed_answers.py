"""Tests in which the values that they compute are others, and nothing computes the true ones."""

from __future__ import annotations

import ast

import pytest

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.scorers.computed_answers import computed_tests
from harena.scoring.scorers.other_values import Others

TEXT = """from solution import f
def brute(n): return helped(n) + 1
def helped(n): return n * 2
def test_f(): assert f(3) == 1
"""
TABLE = "WANTED = [brute(n) for n in (3, 5)]\ndef test_w():\n    for n, w in zip((3, 5), WANTED): assert f(n) == w\n"


def contract(text: str) -> CommandContract:
    return CommandContract(
        type="command", pytest=["test_it.py"], files={"test_it.py": text}, gold={"solution.py": "f = int\n"}
    )


def others(text: str, *said: str) -> str:
    """The text of the tests with other values, where the gold's run has written these down."""
    tests = computed_tests(contract(text))
    assert tests is not None
    made = tests.others({1: frozenset(said)}).files["test_it.py"]
    return made.partition("exec(")[0] + made.partition("__harena_told__)\n")[2]


def test_nothing_is_left_that_computes_what_was_drawn() -> None:
    """Neither the functions that only computed it, nor the values."""
    made = others(TEXT + TABLE, "0=[7, 11]")
    assert "brute" not in made
    assert "helped" not in made
    (drawn,) = (
        ast.literal_eval(line[len("__harena_told__['values'].update(") : -1])
        for line in made.splitlines()
        if "update" in line
    )
    first, second = drawn[1][0]
    assert first != 7
    assert second != 11


def test_functions_that_tests_use_beside_stay() -> None:
    made = others(TEXT + TABLE + "def test_b(): assert brute(1) == 3\n", "0=[7, 11]")
    assert "def brute" in made
    assert "def helped" in made


@pytest.mark.parametrize("said", [(), ("0=",), ("1=[7]",)])
def test_what_was_not_written_down_is_changed_as_the_tests_run(said: tuple[str, ...]) -> None:
    """Objects of no plain value, and very many."""
    made = others(TEXT + TABLE, *said)
    assert "def brute" in made
    assert "__harena_told__['other']" in made


BY_HYPOTHESIS = (
    "from hypothesis import given, strategies as st\n@given(st.integers())\ndef test_r(n): assert f(n) == n\n"
)
DRAWING = {
    "another test": ("import numpy as np\ndef test_r():\n    assert np.random.rand() < 1\n", True),
    "another test by hypothesis": (BY_HYPOTHESIS, True),
    "the module": ("import numpy as np\nnp.random.seed(0)\n", False),
    "all names": ("from random import *\n", False),
}  # fmt: skip


@pytest.mark.parametrize(("text", "is_asked"), DRAWING.values(), ids=DRAWING)
def test_who_draws_elsewhere_is_left_out_alone(text: str, is_asked: bool) -> None:
    """Numbers that a candidate may draw from, too, reach the tests that name them, and no others."""
    assert (computed_tests(contract(TEXT + TABLE + text)) is not None) == is_asked
    inside = TABLE.replace("def test_w():\n", "def test_w():\n    import numpy as np\n    np.random.seed(0)\n")
    assert computed_tests(contract(TEXT + inside)) is None
    fixture = "import numpy as np, pytest\n@pytest.fixture\ndef some(): return np.random.rand(3)\n"
    assert computed_tests(contract(TEXT + fixture + TABLE.replace("test_w()", "test_w(some)"))) is None


@pytest.mark.parametrize(
    "value", [0, 1, -7, 10**30, 0.0, 1.5, -2.5, "", "a", "aB 3", "~", b"", b"ab", True, [1, 2], (3,), {4}]
)
def test_another_value_is_another(value: object) -> None:
    made = Others(is_certain=True).whole(value)
    assert type(made) is type(value)
    assert made != value


def test_equal_values_have_equal_others() -> None:
    """And None stays, as keys of mappings do."""
    drawn = Others(is_certain=True)
    assert len(set(drawn.whole([5] * 20))) == 1
    assert drawn.whole({"k": None}) == {"k": None}
    row = drawn.part([(1, 2), (3, 4)], ("item", 1))
    assert [first for first, _ in row] == [1, 3]
    assert all(second not in (2, 4) for _, second in row)


def test_many_truths_are_not_turned_round() -> None:
    """Half of them are, and who turns all of them round is wrong."""
    drawn = Others(is_certain=False).whole([True] * 400)
    assert 100 < sum(drawn) < 300
