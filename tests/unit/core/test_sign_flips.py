"""The sign-flip test against the list of all signs, against McNemar's, and against itself where signs are drawn."""

import math
import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.job_diff import mcnemar_exact
from harena.core.sign_flips import sign_flips

RATES = st.integers(-6, 6).map(lambda sixths: sixths / 6)


@given(st.lists(RATES, max_size=9))
def test_every_choice_of_signs_is_counted(differences: list[float]) -> None:
    """As one by one; differences of 0 change nothing."""
    sums = [
        abs(math.fsum(sign * size for sign, size in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    wanted = sum(one >= abs(math.fsum(differences)) - 1e-9 for one in sums) / len(sums)
    found = sign_flips(differences)
    assert found.p_value == pytest.approx(wanted)
    assert found.exact
    assert sign_flips([-one for one in differences] + [0.0, 0.0]) == found


@given(st.integers(0, 10), st.integers(0, 10))
def test_of_single_answers_it_is_mcnemars_test(gained: int, lost: int) -> None:
    assert sign_flips([1.0] * gained + [-1.0] * lost).p_value == pytest.approx(mcnemar_exact(gained, lost))


def test_above_twenty_differences_signs_are_drawn() -> None:
    """The same whenever it is asked, close to the exact tail, and never 0."""
    found = sign_flips([1.0] * 70 + [-1.0] * 50)
    assert (found.exact, found.flips) == (False, 9_999)
    assert found == sign_flips([-1.0] * 70 + [1.0] * 50)
    assert found.p_value == pytest.approx(mcnemar_exact(70, 50), abs=0.01)
    assert sign_flips([1.0] * 200).p_value == 1 / 10_000
    assert sign_flips([0.25] * 20).exact


def test_drawn_and_counted_signs_agree() -> None:
    """Rates of many different sizes: the last difference is too small to move a sum."""
    chance = random.Random(7)
    differences = [chance.uniform(-0.4, 0.7) for _ in range(20)]
    counted, drawn = sign_flips(differences), sign_flips([*differences, 1e-7])
    assert (counted.exact, drawn.exact) == (True, False)
    assert drawn.p_value == pytest.approx(counted.p_value, abs=0.02)
    assert counted.p_value != pytest.approx(1, abs=0.1)
