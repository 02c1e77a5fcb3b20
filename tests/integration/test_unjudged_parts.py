"""Parts of a `weighted` contract that cost, and candidates that keep them from being judged: nobody is spared so."""

from __future__ import annotations

from typing import Any

import pytest
from battery_world import Source, scored_alone
from real_sandboxes import source

from harena.core.results import Reason, RunResult
from harena.scoring import load_scenarios
from harena.scoring.contracts.contract import WeightedContract
from harena.scoring.scorers.weighted import combined
from harena.scoring.verdict import Verdict, failed

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

RIGHT = {"type": "regex", "pattern": "answer is 42"}
COPIED = {"type": "text_similarity", "reference": "copied text", "evaluation_metric": "fuzzy_match"}
RUDE = {"type": "string_check", "input": "{{ sample.output_json.rude }}", "reference": "true"}
SLOW = {"type": "regex", "pattern": r"(?:\w+\s?)+!\?|rude"}
WORDY = {
    "type": "python",
    "run_candidate": False,
    "source": "def score(run):\n    return min(1.0, float(run.answer.split('words: ')[1].split()[0]) / 100)\n",
}
SPENT = {"type": "numeric", "source": {"file": "spent.txt"}, "range": [0, 10]}


async def scored(source: Source, answer: str, costs: dict[str, Any]) -> RunResult:
    parts = {"right": {"scoring": RIGHT}, "bad": {"scoring": costs}}
    scoring = {"type": "weighted", "parts": parts, "formula": "max(0, right - 0.5 * bad)", "pass_mark": 0.9}
    entry = "solution.py" if costs is SPENT else "answer.txt"
    row = {"id": "one", "candidate": {"files": {entry: answer}, "entry": entry}, "scoring": scoring}
    (scenario,) = load_scenarios([row]).scenarios
    return await scored_alone(source, scenario, timeout_seconds=10)


@pytest.mark.parametrize(
    ("answer", "costs"),
    [
        ("the answer is 42 " + "copied text " * 5000, COPIED),
        ("the answer is 42, rude: true", RUDE),
        ("the answer is 42 " + "a" * 60 + " ", SLOW),
        ("the answer is 42, words: many", WORDY),
        ("# the answer is 42\nprint('spent a lot')\n", SPENT),
    ],
    ids=["too-long", "no-json", "endless-search", "breaks-the-scorer", "says-no-number"],
)
async def test_who_keeps_a_part_that_costs_from_being_judged_pays_for_it(
    source: Source, answer: str, costs: dict[str, Any]
) -> None:
    """Each of them would cost nothing if the lowest score of that part were taken."""
    result = await scored(source, answer, costs)
    assert (result.score, result.passed) == (0.5, False), result.detail


@pytest.mark.parametrize(
    ("answer", "costs"),
    [
        ("the answer is 42", {**COPIED, "reference": "\U0001f600" * 9}),
        ('{"rude": false, "said": "the answer is 42"}', RUDE),
        ("the answer is 42", {"type": "regex", "pattern": "rude"}),
        ("the answer is 42, words: 0 in all", WORDY),
        ("# the answer is 42\nopen('spent.txt', 'w').write('0')\n", SPENT),
    ],
)
async def test_who_is_judged_and_has_nothing_of_what_costs_is_paid_in_full(
    source: Source, answer: str, costs: dict[str, Any]
) -> None:
    result = await scored(source, answer, costs)
    assert (result.score, result.passed) == (1.0, True), result.detail


@pytest.mark.parametrize(
    ("formula", "score"),
    [("max(0, a - 0.4 * b - 0.4 * c)", 0.2), ("a * (1 - 0.5 * b)", 0.5), ("(a + b + c) / 3", 1 / 3)],
)
async def test_each_part_that_was_not_judged_counts_as_what_pays_least(formula: str, score: float) -> None:
    """0 of one that pays, and 1 of one that costs; what was judged keeps its score."""
    parts = {name: {"scoring": RIGHT} for name in "abc"}
    contract = WeightedContract.model_validate({"type": "weighted", "parts": parts, "formula": formula})
    good = Verdict(score=1.0, passed=True, reason=Reason.PASSED)
    kept = failed(Reason.BAD_VALUE, "not JSON", unjudged=True)
    assert combined(contract, {"a": good, "b": kept, "c": kept}).score == pytest.approx(score)


async def test_a_part_that_costs_and_was_judged_wrong_costs_nothing() -> None:
    """A program that fails the test of what costs has not done it."""
    parts = {name: {"scoring": RIGHT} for name in "ab"}
    contract = WeightedContract.model_validate({"type": "weighted", "parts": parts, "formula": "max(0, a - 0.4 * b)"})
    good = Verdict(score=1.0, passed=True, reason=Reason.PASSED)
    assert combined(contract, {"a": good, "b": failed(Reason.EXCEPTION, "raised")}).score == 1.0
