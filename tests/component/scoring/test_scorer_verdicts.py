"""Every wrong answer has a score under scorers of ordinary form, and no answer has one under broken scorers."""

from __future__ import annotations

from typing import Any

import pytest
from scorers_in_use import BROKEN, GARBAGE, HUGE, ORDINARY, scored

from harena.core.results import Reason, Validity

NONE = (None, Validity.INVALID, Reason.SCORER_ERROR)
ZERO = (0.0, Validity.VALID, Reason.SCORER_REJECTED)


@pytest.mark.parametrize("name", ORDINARY)
async def test_a_right_answer_is_paid_and_every_wrong_one_has_the_lowest_score(name: str) -> None:
    """Wrong, empty, huge and garbage, where the contract has no gold."""
    ordinary = ORDINARY[name]
    right = await scored(ordinary.source, ordinary.right)
    assert (right.score, right.passed) == (1.0, True), right.detail
    number = list(ORDINARY).index(name)
    others = ("", GARBAGE[number % len(GARBAGE)], HUGE[number % len(HUGE)])
    for answer in (*ordinary.wrong, *others):
        result = await scored(ordinary.source, answer)
        assert (result.validity, result.passed) == (Validity.VALID, False), (answer[:40], result.detail)
        assert result.score is not None
        assert result.score < 1


@pytest.mark.parametrize("name", ORDINARY)
async def test_a_gold_shows_that_the_scorer_works(name: str) -> None:
    """Whatever wrong answers make of it."""
    ordinary = ORDINARY[name]
    result = await scored(ordinary.source, ordinary.wrong[-1], gold=ordinary.right)
    assert (result.validity, result.passed) == (Validity.VALID, False), result.detail


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_scorer_scores_nobody(name: str) -> None:
    """With and without a gold; the detail says what is wrong."""
    golds: tuple[dict[str, Any], ...] = ({}, {"gold": "3"})
    seconds = 0.5 if name == "no end" else 10.0
    for gold in golds:
        result = await scored(BROKEN[name], "I do not know", scorer_timeout_seconds=seconds, **gold)
        assert (result.score, result.validity, result.reason) == NONE, result.detail
        assert result.detail
