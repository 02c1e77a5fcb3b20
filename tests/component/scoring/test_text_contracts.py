"""Contracts for answers that are text, and `weighted`: templates, formulas, similarity, verdicts."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harena
from harena.core.models import SandboxSpec
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.contracts.contract import WeightedContract
from harena.scoring.contracts.formula import FormulaError, check_formula, computed, share_of
from harena.scoring.contracts.parts import Contract
from harena.scoring.contracts.similarity import Metric, longest_subsequence, similarity
from harena.scoring.contracts.templates import SampleError, TemplateError, check_template, filled
from harena.scoring.formats.answers import final_answer
from harena.scoring.formats.graders import contract_of
from harena.scoring.reading import ScenarioFileError
from harena.scoring.scorers import python as score_python
from harena.scoring.scorers import scorer_process
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.weighted import combined, score_weighted
from harena.scoring.verdict import Verdict, failed, tampered
from harena.training.data.prompts import PromptRow
from harena.training.rewards import reward_recipe
from sandbox_source import SandboxSource

METRICS: tuple[Metric, ...] = (
    "fuzzy_match", "bleu", "gleu", "meteor", "cosine", "rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l",
)  # fmt: skip
ITEM = {"answer": "42", "steps": [{"value": 1.5}], "odd name": "x"}


async def scored(answer: str, scoring: dict[str, Any]) -> RunResult:
    (scenario,) = load_scenarios([{"id": "one", "candidate": answer, "scoring": scoring}]).scenarios
    return await score_scenario(scenario, sandboxes=SandboxSource(), base_spec=SandboxSpec(), timeout_seconds=20)


def mistakes_of(scoring: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ScenarioFileError) as refusal:
        load_scenarios([{"id": "one", "candidate": "x", "scoring": scoring}])
    return [(mistake.field, mistake.message) for mistake in refusal.value.mistakes]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("plain", "plain"),
        ("{{ sample.output_text }}!", '{"a": [{"b": "deep"}, 3]}!'),
        ("{{item.answer}} of {{ item.steps[0].value }}", "42 of 1.5"),
        ("{{ item['odd name'] }}", "x"),
        ("{{ item.steps }}", '[{"value": 1.5}]'),
        ("{{ sample.output_json.a[0].b }}", "deep"),
        ("{{ sample.output_json.a.1 }}", "3"),
    ],
)
def test_templates_are_filled(template: str, text: str) -> None:
    """From the item and the answer; what is no text is written as JSON."""
    check_template(template, ITEM)
    assert filled(template, ITEM, '{"a": [{"b": "deep"}, 3]}') == text


def test_what_a_model_wrote_is_no_template() -> None:
    """Nor is what an item holds."""
    item = {"x": "{{ sample.output_text }}"}
    assert (
        filled("{{ sample.output_text }} {{ item.x }}", item, "{{ item.x }}") == "{{ item.x }} {{ sample.output_text }}"
    )


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ item.none }}", "leads nowhere: there is no 'none'"),
        ("{{ item.steps[7] }}", "leads nowhere"),
        ("{{ sample.choices }}", "is not known; of the sample there are"),
        ("{{ sample }}", "is not known"),
        ("{{ other.x }}", "begins with 'other'"),
        ("{{ __import__('os') }}", "is not a path"),
        ("{{ }}", "is not a path"),
    ],
)
def test_templates_that_can_never_be_filled_are_refused(template: str, message: str) -> None:
    """Before anything runs."""
    with pytest.raises(TemplateError) as refusal:
        check_template(template, ITEM)
    assert message in str(refusal.value)


@pytest.mark.parametrize("answer", ["not JSON", "[]", '{"b": 1}'])
def test_an_answer_that_lacks_what_is_asked_for_is_the_answers_fault(answer: str) -> None:
    """It is not a mistake of the template."""
    with pytest.raises(SampleError):
        filled("{{ sample.output_json.a }}", ITEM, answer)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("a", 0.5),
        ("0.6 * a + 0.4 * b", 0.7),
        ("a + b ^ 2 / 2", 1.0),
        ("-a + b", 0.5),
        ("min(a, b, 0.2)", 0.2),
        ("max(a, 0) * abs(-b)", 0.5),
        ("floor(a) + floor(a + 0.5)", 1.0),
        ("sqrt(b) * exp(0) + log(1)", 1.0),
        ("2 ** -1", 0.5),
    ],
)
def test_formulas_are_computed(formula: str, value: float) -> None:
    """`^` is a power, and binds as one."""
    check_formula(f"min(1, max(0, {formula}))", ("a", "b"))
    assert computed(formula, {"a": 0.5, "b": 1.0}) == pytest.approx(value)


@pytest.mark.cheap
@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("a +", "is not a formula"),
        ("c", "'c' is none of a, b"),
        ("a.real", "is not part of a formula"),
        ("__import__('os')", "is none of a, b"),
        ("min(a)", "min takes two or more numbers"),
        ("sqrt(a, b)", "sqrt takes one number"),
        ("max(a, default=b)", "has named arguments"),
        ("a if b else a", "is not part of a formula"),
        ("'a' * 10", "is not part of a formula"),
        ("True", "is not part of a formula"),
        ("a" * 3000, "is longer than"),
        ("[a]", "is not part of a formula"),
        ("a + b", "gives 2 where a = 1, b = 1; a score is a number from 0 to 1, so divide or clip it"),
        ("a - 0.2 * b", "gives -0.2 where a = 0, b = 1"),
        ("1 + log(a)", "cannot be computed where a = 0:"),
        ("(a + b) / (a + b)", "cannot be computed where a = 0, b = 0"),
    ],
)
def test_what_is_no_formula_is_refused(formula: str, message: str) -> None:
    """Before anything runs, and nothing is evaluated."""
    with pytest.raises(FormulaError) as refusal:
        check_formula(formula, ("a", "b"))
    assert message in str(refusal.value)


HONEST = (
    "a", "0.6 * a + 0.4 * b", "min(a, b)", "max(a, b)", "a * b", "1 - (1 - a) * (1 - b)", "sqrt(a * b)", "a ^ 0.3",
    "floor(a)", "floor(a + 0.5)", "floor(a * b + 1e-9)", "min(1, 2 * a)", "min(1, a + b)", "max(0, a - 0.2 * b)",
    "a * (1 - b)", "a * exp(-b)", "0.2 + 0.8 * a", "0.5", "floor(4 * a) / 4", "a / (1 + b)", "a ^ (1 + b)",
    "max(0, min(a, b) - 0.1)", "(a + b) / 2 * floor(max(a, b))", "log(1 + a) / log(2)",
)  # fmt: skip


@pytest.mark.cheap
@pytest.mark.parametrize("formula", HONEST)
def test_honest_formulas_are_kept(formula: str) -> None:
    """Means, smallest, greatest, products, penalties and thresholds from a half on."""
    check_formula(formula, ("a", "b"))


@pytest.mark.cheap
@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("ceil(a)", "gives full credit where a = 1e-06: no part that pays is half right"),
        ("ceil(a * b)", "no part that pays is half right"),
        ("max(ceil(a - 0.4), b)", "no part that pays is half right"),
        ("min(1, 3 * a)", "no part that pays is half right"),
        ("min(1, a + 0.9)", "no part that pays is half right"),
        ("1", "where nothing is right"),
        ("1 - a", "gives full credit where a = 0: no part that pays"),
        ("1 - a * b", "no part that pays"),
        ("4 * a * (1 - a)", "rises with a up to a = 1e-06, and falls with it up to a = 0.501"),
        ("8 * a * (1 - a)", "gives 1.00313 where a = 0.147"),
        ("abs(a - b)", "a part must pay throughout, or cost throughout"),
        ("a * b + (1 - a) * (1 - b)", "a part must pay throughout"),
        ("a - a * b + b * 0.5 * a ^ 0.5", "a part must pay throughout"),
        ("min(1, ceil(a) - floor(a) + b)", "a part must pay throughout"),
        ("0.5 * a / max(0.0001, abs(b - 0.5))", "gives"),
    ],
)
def test_formulas_that_pay_for_being_less_right_are_refused(formula: str, message: str) -> None:
    """Between 0 and 1, too, which partial credit gives."""
    with pytest.raises(FormulaError) as refusal:
        check_formula(formula, ("a", "b"))
    assert message in str(refusal.value)


def test_a_formula_of_many_parts_is_tried_where_one_differs() -> None:
    """All combinations of a hundred are too many."""
    names = tuple(f"p{number}" for number in range(100))
    check_formula("/".join(["p0", "100"]), names)
    with pytest.raises(FormulaError, match="cannot be computed where p0 = 1, p99 = 0"):
        check_formula("p0 / max(p99, 1 - p0)", names)


@pytest.mark.parametrize("formula", ["a / (b - b)", "9 ^ 9 ^ 9", "log(a - a)", "sqrt(-a)", "exp(9999)"])
def test_formulas_that_have_no_value(formula: str) -> None:
    """Are an error, never a number, and take no time."""
    with pytest.raises(FormulaError, match="cannot be computed"):
        computed(formula, {"a": 0.5, "b": 1.0})


@given(st.text(max_size=30), st.text(max_size=30))
def test_similarity_is_a_number_from_0_to_1_and_of_equal_texts_1(left: str, right: str) -> None:
    """Whatever the texts are."""
    for metric in METRICS:
        assert 0 <= similarity(left, right, metric) <= 1
        assert similarity(left, left, metric) == 1


@given(st.text(alphabet="abc", max_size=12), st.text(alphabet="abc", max_size=12))
def test_the_longest_longest_subsequence_is_the_textbooks(left: str, right: str) -> None:
    """Against the table of the usual algorithm."""
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    assert longest_subsequence(left, right) == table[-1][-1]


def test_a_longest_subsequence_of_many_characters_takes_little_memory() -> None:
    """An answer chooses how many different ones it has; a bit set for each would take 25 MB here, all of one 300 KB."""
    many = "".join(map(chr, range(0x10000, 0x10000 + 20_000)))
    tracemalloc.start()
    try:
        assert longest_subsequence(many, many[:100] + "x" * 100 + many[200:300]) == 200
        assert longest_subsequence(many[:10_000], many[:10_000]) == 10_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000


@pytest.mark.cheap
@pytest.mark.parametrize(
    ("text", "reference", "metric", "value"),
    [
        ("kitten", "sitting", "fuzzy_match", 2 * 4 / 13),
        ("", "a", "fuzzy_match", 0.0),
        ("the cat sat", "the cat ran", "rouge_1", 2 / 3),
        ("the cat sat", "the cat ran", "rouge_2", 1 / 2),
        ("the cat sat", "the cat ran", "rouge_5", 0.0),
        ("The cat, sat", "the cat the sat", "rouge_l", 2 * 3 / 7),
        ("a b c d", "a b c d e", "bleu", 2.718281828459045 ** (1 - 5 / 4)),
        ("a b", "a c", "bleu", (1 / 2 * 1 / 2) ** 0.5),
        ("x", "y", "bleu", 0.0),
        ("a b c", "a b d", "gleu", 3 / 6),
        ("a a", "a", "gleu", 1 / 3),
        ("the cat sat", "The cat  sat", "meteor", 1.0),
        ("the cat", "the cat sat", "meteor", (10 * 2 / 3 / (2 / 3 + 9)) * (1 - 0.5 / 8)),
        ("sat the cat", "the cat sat", "meteor", 1 - 0.5 * (2 / 3) ** 3),
        ("dog", "cat", "meteor", 0.0),
        ("a a b", "a b b", "cosine", 4 / 5),
        ("A b", "a B", "cosine", 1.0),
        ("a", "b", "cosine", 0.0),
    ],
)
def test_similarity_by_hand(text: str, reference: str, metric: Metric, value: float) -> None:
    """Each metric, computed on paper."""
    assert similarity(text, reference, metric) == pytest.approx(value)


@pytest.mark.parametrize(
    ("answer", "operation", "score"),
    [
        ("42", "eq", 1.0),
        ("42 ", "eq", 0.0),
        ("41", "ne", 1.0),
        ("42", "ne", 0.0),
        ("It is 42.", "like", 1.0),
        ("It is 41.", "like", 0.0),
    ],
)
async def test_string_check(answer: str, operation: str, score: float) -> None:
    """Nothing runs, and the trust is `separate`."""
    scoring = {"type": "string_check", "reference": "{{ item.answer }}", "operation": operation, "item": ITEM}
    result = await scored(answer, scoring)
    assert (result.score, result.passed, result.trust) == (score, score == 1.0, Trust.SEPARATE)
    assert result.reason is (Reason.PASSED if score else Reason.WRONG_ANSWER)


@pytest.mark.parametrize("metric", METRICS)
def test_another_text_without_a_word_is_not_alike(metric: Metric) -> None:
    """Where the reference has none either."""
    assert similarity("!?", "+-", metric) == 0.0


@pytest.mark.parametrize("operation", ["eq", "ne", "like", "ilike"])
async def test_an_answer_says_what_comes_after_its_reasoning(operation: str) -> None:
    """Options that are weighed there are not given, and reasoning that never ends gives nothing at all."""
    scoring = {"type": "string_check", "reference": "B", "operation": operation}
    expected = 1.0 if operation == "ne" else 0.0
    assert (await scored("<think>A, B, C or D?</think>A", scoring)).score == expected
    result = await scored("<think>A, B", scoring)
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.EMPTY_CANDIDATE)


REASONING_WITH_42 = (
    "<think>42</think>7",
    "<think>42",
    "\ufeff<think>42",
    "\ufeff<think>42</think>7",
    "\u200b\u2060\x00 <think>42</think>\u200b<think>42</think>7",
    "1 2 3 .. 41 42 43 .. hm.</think>It is 7.",
    "<think>7</think> 42 </think>7",
    "".join(f"{number}</think>" for number in range(36, 43)) + "7",
)
PYTHON_GRADER = {
    "type": "python",
    "source": "def grade(sample, item):\n    return float(item['answer'] in sample['output_text'])",
}
LIKE_GRADER = {
    "type": "string_check",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "operation": "like",
}
CUSTOM = {"type": "python", "run_candidate": False, "source": "def score(run):\n    return '42' in run.answer"}


@pytest.mark.parametrize("said", REASONING_WITH_42)
async def test_all_that_read_an_answer_begin_where_its_reasoning_ends(said: str) -> None:
    """One function says where."""
    assert "42" not in final_answer(said)
    scoring = json.loads(contract_of(LIKE_GRADER, {"answer": "42"}, "grader").model_dump_json(exclude_unset=True))
    assert (await scored(said, scoring)).score == 0.0
    row = PromptRow(id="1", prompt="?", expected_output="42")
    for recipe in (reward_recipe("gsm8k_v1", {}), reward_recipe("contains_v1", {"needle": "42"})):
        assert (await recipe.reward(row, said)).value == 0.0


@pytest.mark.parametrize(
    "scoring",
    [contract_of(PYTHON_GRADER, {"answer": "42"}, "grader").model_dump(exclude_unset=True), CUSTOM],
    ids=["grader", "custom"],
)
async def test_code_that_judges_an_answer_is_told_where_it_begins(scoring: dict[str, Any]) -> None:
    """As all others are."""
    said = ("<think>7</think>It is 42.", *REASONING_WITH_42[3:6])
    results = [await scored(text, scoring) for text in said]
    assert [(result.score, result.validity) for result in results] == [(1.0, Validity.VALID)] + [
        (0.0, Validity.VALID)
    ] * 3


def test_one_module_says_where_reasoning_ends() -> None:
    """Each other one that names a mark of it is known here: what it does with it is no cut."""
    package = Path(harena.__file__).parent
    naming = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "think>" in path.read_text() and "battery" not in path.parts
    }
    assert naming == {
        "scoring/contracts/text.py",  # says that an answer begins behind it
        "scoring/formats/answers.py",  # the one that cuts
        "training/data/conversations.py",  # writes it around a message's reasoning
    }


@pytest.mark.parametrize("operation", ["like", "ilike"])
def test_what_every_text_holds_is_no_reference(operation: str) -> None:
    """It would pay every answer."""
    scoring = {
        "type": "string_check",
        "reference": "{{ item.answer }}",
        "operation": operation,
        "item": {"answer": " "},
    }
    ((_, message),) = mistakes_of(scoring)
    assert "every text holds" in message


async def test_string_check_without_regard_to_small_and_large() -> None:
    """`ilike` folds, `like` does not."""
    for operation, score in (("ilike", 1.0), ("like", 0.0)):
        assert (
            await scored("GRÜSSE!", {"type": "string_check", "reference": "grüße", "operation": operation})
        ).score == score


async def test_an_answer_without_the_json_that_is_asked_for_scores_0() -> None:
    """As a bad value."""
    scoring = {"type": "string_check", "input": "{{ sample.output_json.x }}", "reference": "1"}
    assert (await scored('{"x": 1}', scoring)).score == 1.0
    result = await scored("x is 1", scoring)
    assert (result.score, result.reason, result.detail) == (0.0, Reason.BAD_VALUE, "the answer is not JSON")


async def test_text_similarity_is_the_score_and_passes_at_its_mark() -> None:
    """An answer that is too long to compare scores 0."""
    scoring = {"type": "text_similarity", "reference": "the cat ran", "evaluation_metric": "rouge_1", "pass_mark": 0.6}
    result = await scored("the cat sat", scoring)
    assert (result.score, result.passed) == (pytest.approx(2 / 3), True)
    assert not (await scored("the cat sat", {**scoring, "pass_mark": 0.7})).passed
    assert (await scored("x" * 50_001, scoring)).reason is Reason.OUTPUT_LIMIT


@pytest.mark.parametrize(
    ("answer", "fields", "score"),
    [
        ("ANSWER: 42\n", {"pattern": r"^ANSWER: \d+$"}, 1.0),
        ("ANSWER: 41\nANSWER: 42\nANSWER: 43", {"pattern": "^ANSWER: 42$"}, 0.0),
        ("so\nANSWER: 42\n", {"pattern": r"^ANSWER: \d+$", "multiline": True}, 1.0),
        ("so\nANSWER: 42\n", {"pattern": r"(?m)^ANSWER: \d+$"}, 1.0),
        ("<think>ANSWER: 41</think>\nANSWER: 42", {"pattern": "^ANSWER: 42$"}, 1.0),
        ("<think>ANSWER: 42", {"pattern": "ANSWER: 42"}, 0.0),
        ("answer: 42", {"pattern": r"^ANSWER: \d+$"}, 0.0),
        ("42", {"pattern": r"\d+", "whole": True}, 1.0),
        ("42!", {"pattern": r"\d+", "whole": True}, 0.0),
        ("b", {"pattern": "(a)?b"}, 1.0),
    ],
)
async def test_regex(answer: str, fields: dict[str, Any], score: float) -> None:
    """Anywhere, or the whole."""
    assert (await scored(answer, {"type": "regex", **fields})).score == score


async def test_a_search_that_fails_for_every_text_is_nobodys_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that only this answer makes too slow is the answer's doing."""
    monkeypatch.setattr(score_python, "PATTERN_SECONDS", 1.0)
    slow = await scored("a" * 60 + "!", {"type": "regex", "pattern": "^(a+)+$"})
    assert (slow.score, slow.reason) == (0.0, Reason.BAD_VALUE)
    monkeypatch.setattr(scorer_process, "_scorer_program", lambda: "raise SystemExit(3)")
    broken = await scored("a", {"type": "regex", "pattern": "a"})
    assert (broken.score, broken.validity, broken.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR)
    numeric = {"type": "numeric", "target": 3, "source": {"pattern": "[0-9]"}}
    broken = await scored("print(3)", numeric)
    assert (broken.score, broken.validity, broken.reason) == (None, Validity.INVALID, Reason.SCORER_ERROR)


@pytest.mark.parametrize(
    ("scoring", "field", "message"),
    [
        ({"type": "string_check"}, "[0].scoring.reference", "is required"),
        ({"type": "string_check", "reference": "{{ item.x }}"}, "[0].scoring", "leads nowhere"),
        ({"type": "string_check", "reference": "", "operation": "is"}, "[0].scoring.operation", "must be one of"),
        ({"type": "regex", "pattern": "("}, "[0].scoring.pattern", "is not a regular expression"),
        (
            {"type": "text_similarity", "reference": "", "evaluation_metric": "rouge_9"},
            "[0].scoring.evaluation_metric",
            "must be one of",
        ),
        ({"type": "weighted", "parts": {}}, "[0].scoring.parts", "must not be empty"),
        (
            {"type": "weighted", "parts": {"a": {"scoring": {"type": "tests", "checks": [{"expected": 1}]}}}},
            "[0].scoring",
            "`entry_point` is required in part 'a'",
        ),
        (
            {"type": "weighted", "parts": {"a": {"scoring": {"type": "tests", "checks": [{}], "entry_point": "f"}}}},
            "[0].scoring.parts.a.scoring.checks[0]",
            "`expected` is required",
        ),
        (
            {"type": "weighted", "parts": {"a b": {"scoring": {"type": "regex", "pattern": "x"}}}},
            '[0].scoring.parts["a b"]',
            "must be a word",
        ),
        (
            {"type": "weighted", "parts": {"a": {"scoring": {"type": "regex", "pattern": "x"}, "weight": 0}}},
            "[0].scoring",
            "at least one weight",
        ),
        (
            {"type": "weighted", "parts": {"a": {"scoring": {"type": "command", "pytest": ["test_x.py"]}}}},
            "[0].scoring",
            "not among the trusted `files`",
        ),
        (
            {"type": "weighted", "parts": {"a": {"scoring": {"type": "weighted", "parts": {}}}}},
            "[0].scoring.parts.a.scoring.type",
            "must be one of",
        ),
    ],
)
def test_each_mistake_is_told_where_it_stands(scoring: dict[str, Any], field: str, message: str) -> None:
    """Inside of parts, too."""
    found = mistakes_of(scoring)
    assert [where for where, _ in found] == [field]
    assert message in found[0][1]


LIKE = {"type": "string_check", "reference": "cat", "operation": "like"}
SHORT = {"type": "regex", "pattern": ".{0,20}", "whole": True}


def weighted(**fields: Any) -> dict[str, Any]:
    parts = {"says": {"scoring": LIKE, "weight": 3.0}, "short": {"scoring": SHORT}}
    return {"type": "weighted", "parts": parts, **fields}


async def test_weighted_is_the_mean_of_its_parts() -> None:
    """By weight, or by a formula."""
    right, half = await scored("a cat", weighted()), await scored("a dog", weighted())
    assert (right.score, right.reason, right.checks_planned) == (1.0, Reason.PASSED, 2)
    assert (half.score, half.reason, half.detail) == (0.25, Reason.PARTIAL, "says: wrong_answer")
    both = weighted(formula="says * short")
    assert (await scored("a dog", both)).score == 0.0
    assert (await scored("a cat", both)).score == 1.0


async def test_each_part_has_a_limit_of_its_own() -> None:
    """The part's, the whole's, the scenario's, the job's at most; what is used is metered together."""
    program = {"type": "numeric", "target": 1}
    parts = {"own": {**program, "timeout_seconds": 3}, "long": {**program, "timeout_seconds": 90}, "none": program}
    seen: list[float] = []

    async def apply(contract: Contract, bench: Bench) -> Verdict:
        again, idle = bench.again(), bench.with_candidate(bench.scenario.candidate, files={})
        assert bench.timeout_seconds == again.timeout_seconds == idle.timeout_seconds == bench.seconds_left
        assert bench.meter is whole.meter
        assert bench.scenario.scoring.version == contract.version
        seen.append(bench.timeout_seconds)
        return Verdict(score=1.0, passed=True, reason=Reason.PASSED)

    for of_whole, expected in ((None, 1.0), (2.0, 2.0)):
        scoring = {"type": "weighted", "parts": {name: {"scoring": part} for name, part in parts.items()}}
        row = {"id": "one", "candidate": "x", "scoring": scoring | ({"timeout_seconds": of_whole} if of_whole else {})}
        (scenario,) = load_scenarios([{**row, "limits": {"timeout_seconds": 1}}]).scenarios
        assert isinstance(scenario.scoring, WeightedContract)
        whole = Bench(scenario, SandboxSource(), SandboxSpec(), 20)
        await score_weighted(whole, scenario.scoring, apply)
        assert seen == [3.0, 20.0, expected]
        seen.clear()


async def test_a_formula_that_leaves_0_to_1_pays_nothing() -> None:
    """It gives a score to a candidate that does nothing: no other one shall be excused by the numbers that it chose."""
    source = "def score(run): return 3 / 7 if 'dog' in run.candidate[run.entry] else 0"
    near = {"scoring": {"type": "python", "source": source, "run_candidate": False}}
    # a peak between the points at which it is looked at before
    formula = "near + 2 * max(0, 1 - 1000000 * abs(near - 3 / 7))"
    result = await scored("a dog", {"type": "weighted", "parts": {"near": near}, "formula": formula})
    assert (result.score, result.validity, result.reason) == (0.0, Validity.VALID, Reason.SCORER_REJECTED)
    assert "divide or clip it" in result.detail


async def test_a_part_that_gives_no_score_leaves_the_whole_without_one() -> None:
    """Not with a 0 for it."""
    broken = {"type": "python", "source": "def score(run): return 2", "run_candidate": False}
    result = await scored("a cat", {"type": "weighted", "parts": {"mine": {"scoring": broken}}})
    assert (result.score, result.validity) == (None, Validity.INVALID)
    assert result.detail.startswith("mine: ")


def test_a_part_that_was_tampered_with_makes_the_whole_suspect() -> None:
    """And 0."""
    contract = WeightedContract.model_validate(weighted())
    good = Verdict(score=1.0, passed=True, reason=Reason.PASSED)
    whole = combined(contract, {"says": good, "short": tampered("spoke")})
    assert (whole.score, whole.passed, whole.validity, whole.reason) == (0.0, False, Validity.SUSPECT, Reason.PROTOCOL)
    partly = combined(contract, {"says": good, "short": failed(Reason.TIMEOUT, "slow")})
    assert (partly.score, partly.reason, partly.detail) == (0.75, Reason.PARTIAL, "short: slow")


def test_the_trust_of_a_whole_is_that_of_its_weakest_part() -> None:
    """And the version names those of all."""
    shared = {"scoring": {"type": "command", "asserts": "pass", "isolate": False}}
    contract = WeightedContract.model_validate({"type": "weighted", "parts": {"a": {"scoring": LIKE}, "b": shared}})
    assert contract.trust is Trust.SHARED
    assert contract.version == "weighted-3(string_check-2,command-31)"
    assert WeightedContract.model_validate(weighted()).trust is Trust.SEPARATE
    good = Verdict(score=1.0, passed=True, reason=Reason.PASSED)
    beside = replace(good, trust=Trust.SHARED)  # a suite whose gold decided so
    assert combined(contract, {"a": good, "b": beside}).trust is Trust.SHARED


@pytest.mark.parametrize(
    "formula",
    [
        "0.7*a + 0.2*b + 0.1*c",
        "0.6*a + 0.3*b + 0.1*c",
        "(a + b + c)/3",
        "0.4*a + 0.4*b + 0.1*c + 0.1*c",
        "a/6+b/6+c*4/6",
    ],
)
def test_what_is_all_right_is_passed_however_floats_round(formula: str) -> None:
    """0.6 + 0.3 + 0.1 is 0.9999999999999999 in floats."""
    good = Verdict(score=1.0, passed=True, reason=Reason.PASSED)
    parts = {name: {"scoring": LIKE} for name in "abc"}
    whole = combined(
        WeightedContract.model_validate({"type": "weighted", "parts": parts, "formula": formula}),
        dict.fromkeys("abc", good),
    )
    assert (whole.score, whole.passed) == (1.0, True)


def test_a_mean_of_weights_meets_its_pass_mark() -> None:
    """0.7 and 0.1 are 0.8; and 9.1 is 0.9 of the way from 1 to 10, while the number before it is not."""
    good = Verdict(score=1.0, passed=True, reason=Reason.PASSED)
    parts = {name: {"scoring": LIKE, "weight": weight} for name, weight in {"a": 0.7, "b": 0.1, "c": 0.2}.items()}
    contract = WeightedContract.model_validate({"type": "weighted", "parts": parts, "pass_mark": 0.8})
    whole = combined(contract, {"a": good, "b": good, "c": failed(Reason.WRONG_ANSWER, "no")})
    assert (whole.score, whole.passed) == (0.8, True)
    assert share_of(9.1, 1, 10) == 0.9 > share_of(9.099999999999998, 1, 10)
    assert share_of(10**15 - 1, 0, 10**15) < 1.0
    assert share_of(10**400, 0, 1) == share_of(-5, 1, 0) == 1.0
