"""Rewards of a group to advantages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.errors import ValidationError
from harena.training.loop.advantages import RULES, advantages

REWARDS = st.lists(st.floats(-10, 10), min_size=2, max_size=9)


def test_by_hand() -> None:
    assert advantages([1.0, 0.0, 0.0, 1.0], "group_mean") == [0.5, -0.5, -0.5, 0.5]
    assert advantages([1.0, 0.0], "group_std") == pytest.approx([0.5 / 0.5001, -0.5 / 0.5001])
    assert advantages([1.0, 0.0, 0.0], "rloo") == pytest.approx([1.0, -0.5, -0.5])
    assert advantages([0.25], "none") == [0.25]


@given(REWARDS)
def test_siblings_add_up_to_nothing(rewards: list[float]) -> None:
    for rule in RULES:
        if rule != "none":
            assert sum(advantages(rewards, rule)) == pytest.approx(0.0, abs=1e-6)


@given(REWARDS)
def test_rloo_is_against_the_others(rewards: list[float]) -> None:
    for place, advantage in enumerate(advantages(rewards, "rloo")):
        others = rewards[:place] + rewards[place + 1 :]
        assert advantage == pytest.approx(rewards[place] - sum(others) / len(others), abs=1e-9)


def test_one_is_no_group() -> None:
    with pytest.raises(ValidationError, match="siblings"):
        advantages([1.0], "group_mean")
