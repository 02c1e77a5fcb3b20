"""Which candidates are kept, in which order, and which pairs they make."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sft_candidates import a_rule, all_of, names, one

from harena.scoring.verified_data.choice import choose, rounds

LONG, SHORT, TIE = "def f(x):\n    return x + 0\n", "f = lambda x: x\n", "f = lambda y: y\n"
FOUR = [(LONG, 1.0), (SHORT, 0.9), (TIE, 0.9), ("def f(x): return 2\n", 0.0)]


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"keep": "all"}, ["c0", "c1", "c2"]),
        ({"keep": "all", "max_per_problem": 2}, ["c0", "c1"]),
        ({"keep": "first"}, ["c0"]),
        ({"keep": "first", "max_per_problem": 2}, ["c0", "c1"]),
        ({"keep": "best-of-n"}, ["c0"]),
        ({"keep": "best-of-n", "max_per_problem": 9}, ["c0", "c1", "c2"]),
        ({"keep": "shortest"}, ["c1"]),
        ({"keep": "shortest", "max_per_problem": 3}, ["c1", "c2", "c0"]),
    ],
)
def test_what_is_kept_and_in_which_order(fields: dict[str, object], kept: list[str]) -> None:
    """Ties are broken by length, then by place in the file."""
    rule = a_rule(min_score=0.5, **fields)
    choice = choose(all_of(*FOUR, rule=rule), rule)
    assert names(choice.kept) == kept
    assert choice.beyond_limit == 3 - len(kept)


def test_without_a_least_score_the_contracts_pass_counts() -> None:
    """A score of 0.9 alone is no pass."""
    assert names(choose(all_of(*FOUR), a_rule()).kept) == ["c0"]


def test_a_draw_depends_on_the_seed_and_the_name_alone() -> None:
    """Another candidate does not change who comes before whom; another seed does, some time."""
    several = all_of(*[(f"def f(x): return x  # {number}\n", 1.0) for number in range(8)])

    def order(seed: int, of: list[object]) -> list[str]:
        rule = a_rule(keep="random", seed=seed, max_per_problem=8)
        return names(choose(of, rule).kept)  # type: ignore[arg-type]

    drawn = order(1, list(several))
    assert sorted(drawn) == names(several)
    assert order(1, list(several[::-1])) == drawn
    assert order(1, list(several[1:])) == [name for name in drawn if name != "c0"]
    assert len({tuple(order(seed, list(several))) for seed in range(5)}) > 1
    assert len(choose(several, a_rule(keep="random")).kept) == 1


@pytest.mark.parametrize(
    ("dedupe", "kept", "duplicates"),
    [
        ("exact", ["c0", "c2", "c3"], 1),
        ("normalized", ["c0", "c3"], 2),
        ("none", ["c0", "c1", "c2", "c3"], 0),
    ],
)
def test_the_first_by_the_rule_stands_for_its_duplicates(dedupe: str, kept: list[str], duplicates: int) -> None:
    """And they are counted."""
    same = all_of((LONG, 1.0), (LONG, 1.0), (f"# short\n{LONG}", 1.0), (SHORT, 1.0))
    choice = choose(same, a_rule(dedupe=dedupe))
    assert (names(choice.kept), choice.duplicates) == (kept, duplicates)


WRONG = [(f"def f(x): return {number}\n", score) for number, score in enumerate([0.0, 0.5, 0.0])]


def pair_names(fields: dict[str, object], *candidates: tuple[str, float]) -> list[tuple[str, str]]:
    rule = a_rule(form="preference", **fields)
    return [(better.scenario.id, worse.scenario.id) for better, worse in choose(all_of(*candidates), rule).pairs]


def test_pairs_are_of_kept_and_valid_fails_and_nobody_is_in_two() -> None:
    """The hardest fails first."""
    candidates = ((LONG, 1.0), (SHORT, 1.0), *WRONG)
    assert pair_names({}, *candidates) == [("c0", "c3"), ("c1", "c2")]
    assert pair_names({"keep": "shortest"}, *candidates) == [("c1", "c3")]
    assert pair_names({"max_pairs": 1}, *candidates) == [("c0", "c3")]
    assert pair_names({}, (LONG, 1.0)) == []
    assert pair_names({}, *WRONG) == []


def test_more_pairs_than_one_round() -> None:
    """Shifted by one in each round, until all are made."""
    candidates = ((LONG, 1.0), (SHORT, 1.0), *WRONG)
    pairs = [("c0", "c3"), ("c1", "c2"), ("c0", "c2"), ("c1", "c4"), ("c0", "c4"), ("c1", "c3")]
    assert pair_names({"max_pairs": 5}, *candidates) == pairs[:5]
    assert pair_names({"max_pairs": 100}, *candidates) == pairs


def test_an_empty_answer_and_an_equal_one_are_no_worse_halves() -> None:
    """There is nothing in the first, and the second was there already."""
    assert pair_names({"max_pairs": 9}, (SHORT, 1.0), ("  \n", 0.0), WRONG[0], WRONG[0]) == [("c0", "c2")]


def test_what_is_neither_passed_nor_failed_is_in_no_pair() -> None:
    """The platform's failure says nothing about the candidate."""
    rule = a_rule(form="preference")
    assert choose([one("good", SHORT), one("lost", LONG, None, place=1)], rule).pairs == []


def test_only_rules_of_pairs_make_pairs() -> None:
    """Others keep what passed."""
    assert choose(all_of((SHORT, 1.0), WRONG[0]), a_rule(form="chat")).pairs == []


@given(st.integers(0, 7), st.integers(0, 7))
def test_rounds_make_each_pair_once_and_use_each_candidate_once_a_round(better: int, worse: int) -> None:
    """For any two numbers."""
    made = list(rounds(better, worse))
    assert sorted(made) == [(left, right) for left in range(better) for right in range(worse)]
    each = min(better, worse)
    for start in range(0, len(made), each or 1):
        of_round = made[start : start + each]
        assert len({left for left, _ in of_round}) == len({right for _, right in of_round}) == each
