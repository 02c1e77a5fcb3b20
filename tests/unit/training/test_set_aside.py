"""Prompts that are held out of training."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import ValidationError
from harena.training.data.prompts import PromptRow, set_aside

IDS = st.lists(st.text(max_size=5), min_size=2, max_size=60, unique=True)


def rows_of(ids: list[str]) -> list[PromptRow]:
    return [PromptRow(id=one, prompt="x") for one in ids]


@given(IDS, st.floats(0.01, 0.5))
def test_each_row_is_on_one_side_and_none_is_empty(ids: list[str], share: float) -> None:
    learned, held_out = set_aside(rows_of(ids), share)
    assert learned
    assert held_out
    assert sorted(row.id for row in (*learned, *held_out)) == sorted(ids)
    assert [row.id for row in learned] == [one for one in ids if one in {row.id for row in learned}]


def test_the_share_is_about_what_was_asked_for() -> None:
    _, held_out = set_aside(rows_of([f"HumanEval/{number}" for number in range(1000)]), 0.1)
    assert 70 < len(held_out) < 130


def test_a_row_stays_on_its_side_when_others_come() -> None:
    """What was held out once must not be learned from later."""
    few = {row.id for row in set_aside(rows_of([f"p{n}" for n in range(200)]), 0.2)[1]}
    many = {row.id for row in set_aside(rows_of([f"p{n}" for n in range(400)]), 0.2)[1]}
    assert few == {one for one in many if int(one[1:]) < 200}


def test_one_prompt_cannot_be_both() -> None:
    with pytest.raises(ValidationError, match="held_out: there are 1 prompts"):
        set_aside(rows_of(["a"]), 0.1)
