"""What the check of a formula may cost: its size, its depth, and the points it is tried at."""

from __future__ import annotations

from typing import Any

import pytest

from harena.scoring.contracts import formula as formulas
from harena.scoring.contracts.formula import FormulaError, check_formula

NAMES = tuple(f"p{number}" for number in range(100))


def balanced(depth: int) -> str:
    return "a" if depth == 0 else f"({balanced(depth - 1)}+{balanced(depth - 1)})/2"


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        (balanced(8), "has more than 500 numbers"),
        ("min(1," + ",".join("a" * 900) + ")", "has more than 500 numbers"),
        ("(" + "+".join("a" * 990) + ")/990", "is nested more than 200 deep"),
        ("-" * 900 + "a", "is nested more than 200 deep"),
        ("*".join("a" * 900), "is nested more than 200 deep"),
        ("abs(" * 90 + "-" * 150 + "a" + ")" * 90, "is nested more than 200 deep"),
    ],
    ids=["balanced", "many", "sum", "signs", "product", "functions"],
)
def test_large_formulas_are_refused(formula: str, says: str) -> None:
    """In words, and before anything is computed."""
    with pytest.raises(FormulaError, match=says):
        check_formula(formula, ("a",))


@pytest.mark.parametrize("weighs", ["{}", "1*{}"])
def test_a_sum_of_as_many_parts_as_there_may_be_is_kept(weighs: str) -> None:
    """With a weight for each."""
    check_formula("(" + "+".join(map(weighs.format, NAMES)) + ")/100", NAMES)


def test_a_large_formula_is_tried_at_fewer_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a number of nodes that are computed, whatever the formula; one of too many parts for it is refused."""
    computed = 0
    value = formulas._value

    def counted(*given: Any, **named: Any) -> float:
        nonlocal computed
        computed += 1
        return value(*given, **named)

    monkeypatch.setattr(formulas, "_value", counted)
    monkeypatch.setattr(formulas, "_MOST_WORK", 30_000)
    names = NAMES[:5]
    check_formula("(" + "+".join(names * 5) + ")/25", names)
    assert 20_000 < computed < 35_000
    with pytest.raises(FormulaError, match="is too large for its 5 parts to be checked"):
        check_formula("(" + "+".join(names * 14) + ")/70", names)
