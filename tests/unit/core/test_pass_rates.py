"""pass@k, and how certain it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.pass_rates import pass_rates

PROBLEMS = st.lists(
    st.integers(0, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=40
)


@given(PROBLEMS)
def test_the_rate_lies_in_its_interval_and_grows_with_k(problems: list[tuple[int, int]]) -> None:
    rates = pass_rates(problems)
    for one in rates:
        assert 0 <= one.low <= one.rate + 1e-12
        assert one.rate - 1e-12 <= one.high <= 1
    assert [one.rate for one in rates] == sorted(one.rate for one in rates)
    scored = [n for n, _ in problems if n]
    assert [one.k for one in rates] == [k for k in (1, 2, 4) if scored and k <= min(scored)]


def test_one_answer_to_each_problem_has_the_interval_of_agresti_and_coull() -> None:
    """7 of 10: the centre is 9 / 14, and half the width 1.96 * sqrt(9/14 * 5/14 / 14)."""
    (one,) = pass_rates([(1, 1)] * 7 + [(1, 0)] * 3)
    half = 1.959963984540054 * (9 / 14 * 5 / 14 / 14) ** 0.5
    assert (one.rate, one.low, one.high) == (0.7, pytest.approx(9 / 14 - half), pytest.approx(9 / 14 + half))


def test_problems_that_all_pass_are_no_certainty() -> None:
    (one,) = pass_rates([(1, 1)] * 20)
    assert one.rate == 1.0
    assert 0.8 < one.low < 0.95


def test_more_answers_to_few_problems_do_not_make_it_certain() -> None:
    """Answers to one problem are no independent samples of problems."""
    few, many = (pass_rates([(n, n), (n, 0), (n, n), (n, 0)])[0] for n in (1, 200))
    assert (few.low, few.high) == (pytest.approx(many.low), pytest.approx(many.high))
