"""Reward recipes: rules, and what becomes of faults."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from fake_answers import filled
from harena.core.errors import HarenaError, PlatformError, ValidationError
from harena.core.results import RunResult
from harena.scoring.scorers.languages import CHOSEN_LANGUAGE
from harena.sdk import scores
from harena.training.data.prompts import PromptRow
from harena.training.rewards import CachedRecipe, CodeTests, Composite, LLMJudge, Rule, prepare, reward_recipe, rewarded
from harena.training.rollouts import scored
from harena.training.rollouts.trajectory import Reward, RewardValidity

STDIO = {"type": "stdio", "cases": [{"stdin": "", "stdout": "1"}]}
ROW = PromptRow(id="r", prompt="?", expected_output=" 42 ", scoring={"type": "tests"})


@pytest.mark.parametrize(
    ("name", "params", "text", "value"),
    [
        ("exact_match_v1", {}, "42\n", 1.0),
        ("exact_match_v1", {}, "43", 0.0),
        ("exact_match_v1", {"expected": "43"}, "43", 1.0),
        ("exact_match_v1", {}, "<think>6*7</think>42", 1.0),
        ("exact_match_v1", {}, "6*7 it is\n</think>\n\n42\n", 1.0),
        ("exact_match_v1", {}, "<think>42</think>43", 0.0),
        ("exact_match_v1", {}, "<think>42", 0.0),
        ("exact_match_v1", {"expected": "<think>a</think>42"}, "<think>a</think>42", 1.0),
        ("exact_match_v1", {"expected": "<think>a</think>42"}, "42", 0.0),
        ("contains_v1", {"needle": "x"}, "axb", 1.0),
        ("contains_v1", {"needle": "x", "reward_if_false": -0.5}, "ab", -0.5),
        ("gsm8k_v1", {}, "so 41 or 7\n#### 42.0", 1.0),
        ("gsm8k_v1", {}, "it is 1,042 - 1,000 = 42", 1.0),
        ("gsm8k_v1", {}, "#### 41 and then 42", 0.0),
        ("gsm8k_v1", {}, "none", 0.0),
        ("gsm8k_v1", {}, "<think>41?</think> 42", 1.0),
        ("gsm8k_v1", {}, "<think>so it is 42", 0.0),
        ("gsm8k_v1", {}, "41 or 42?\n#### 42\n</think>\nI do not know.", 0.0),
        ("gsm8k_v1", {}, "2 x 42", 0.0),
        ("gsm8k_v1", {}, "6 x 7 = 42", 1.0),
        ("gsm8k_v1", {}, "1\u204442", 0.0),
        ("gsm8k_v1", {}, "2 \u2022 42", 0.0),
        ("gsm8k_v1", {}, "#### 42\u00bd", 0.0),
        ("gsm8k_v1", {}, "\\boxed{42\\text{ cm}^2}", 1.0),
        ("gsm8k_v1", {}, "The area is 42 cm^2.", 1.0),
        ("gsm8k_v1", {}, "42x^2", 0.0),
        ("gsm8k_v1", {}, "#### 1. Find the price\nIt is 6.\n#### 2. Multiply\n#### 42", 1.0),
        ("gsm8k_v1", {}, "#### 42 (rounded to the nearest whole number)", 1.0),
        ("gsm8k_v1", {}, "42" + "9" * 400, 0.0),
        ("contains_v1", {"needle": "B"}, "<think>A, B, C or D?</think>A", 0.0),
        ("contains_v1", {"needle": "B"}, "<think>it is B", 0.0),
        ("contains_v1", {"needle": "</think>"}, "<think>?</think>A", 1.0),
        ("trajectory_imitation_v1", {}, " 42", 1.0),
        ("trajectory_imitation_v1", {"reward_if_true": 2.0}, "42", 2.0),
        ("trajectory_imitation_v1", {"reward_if_false": -1.0}, "43", -1.0),
        ("row_reward_v1", {}, "x", 0.0),
        ("row_reward_v1", {"default": 0.25}, "x", 0.25),
    ],
)
async def test_rules(name: str, params: dict[str, Any], text: str, value: float) -> None:
    assert (await reward_recipe(name, params).reward(ROW, text)).value == value


async def test_an_answer_holds_up_no_rule() -> None:
    """Forty letters would take this expression a day, on the thread of all rollouts. A rule that is as slow for an
    empty answer is a broken one."""
    rule = Rule(lambda row, text: float(bool(re.fullmatch(r"(\w+\s?)*", text))), minimum=-1.0, seconds=0.05)
    assert (await rule.reward(ROW, "a few words")).value == 1.0
    reward = await rule.reward(ROW, "a" * 40 + "!")
    assert (reward.value, reward.reason) == (-1.0, "overdue")

    def swallows(row: PromptRow, text: str) -> float:
        while True:
            with suppress(ValueError):
                re.fullmatch(r"(\w+\s?)*", "a" * 40 + "!")

    with pytest.raises(HarenaError, match=r"broken takes more than 0\.05 s of a processor for row r, for an empty"):
        await rewarded(Rule(swallows, name="broken", seconds=0.05), ROW, "42")


@pytest.mark.parametrize(
    ("wanted", "said", "value"),
    [
        ("1000000007", "1000000008", 0.0),
        ("1000000007", "1,000,000,007.0", 1.0),
        ("9007199254740993", "9007199254740992", 0.0),
        ("0.333333", "0.3333333", 1.0),
        ("0.0000001", "0", 0.0),
    ],
)
async def test_whole_numbers_are_equal_or_not(wanted: str, said: str, value: float) -> None:
    row = replace(ROW, expected_output=wanted)
    assert (await reward_recipe("gsm8k_v1", {}).reward(row, f"#### {said}")).value == value


def test_a_program_is_taken_out_of_an_answer_in_the_language_of_its_file() -> None:
    shell, python = "```bash\necho 1\n```", "```python\nprint(1)\n```"
    assert CodeTests(extract="fenced", entry="main.sh").program(f"{shell}\n{python}\n") == "echo 1\n"
    assert CodeTests(extract="fenced").program(f"{python}\n{shell}\n") == "print(1)\n"


@pytest.mark.parametrize(
    ("name", "params", "says"),
    [
        ("nothing_v1", {}, "code_tests_v1"),
        ("contains_v1", {}, "needle"),
        ("exact_match_v1", {"expectd": "x"}, "expectd"),
    ],
)
def test_unknown_recipes_and_parameters(name: str, params: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        reward_recipe(name, params)


@pytest.mark.parametrize("name", ["exact_match_v1", "gsm8k_v1", "trajectory_imitation_v1", "code_tests_v1"])
async def test_every_row_that_lacks_something_is_told_before_any_work(name: str) -> None:
    rows = [PromptRow(id=f"bare{number}", prompt="?") for number in range(30)]
    with pytest.raises(ValidationError, match=f"{name} cannot be applied to 30 of 30 rows") as told:
        await prepare(reward_recipe(name, {}), rows)
    assert "row bare0: " in str(told.value)
    assert "row bare19: " in str(told.value)
    assert str(told.value).endswith("and 10 more")


async def test_a_contract_with_a_mistake_is_told_before_any_work(said: Scores) -> None:
    good = dict(STDIO)
    rows = [
        PromptRow(id="good", prompt="?", scoring=good),
        PromptRow(id="bad", prompt="?", scoring={**good, "cases": [{"stdot": "1"}]}),
        PromptRow(id="worse", prompt="?", scoring={"type": "guess"}),
    ]
    await prepare(CodeTests(), rows[:1])
    with pytest.raises(ValidationError) as told:
        await prepare(CodeTests(), rows)
    head, first, second, third = str(told.value).split("\n  ")
    assert "2 of 3 rows" in head
    assert first == "row bad: scoring.cases[0].stdout: is required"
    assert second.startswith("row bad: scoring.cases[0].stdot: unknown field")
    assert third.startswith("row worse: scoring.type: must be one of")


async def test_what_a_model_judges_is_not_deterministic() -> None:
    model = {"type": "score_model", "model": "m", "messages": [{"role": "user", "content": "{{ sample.output_text }}"}]}
    whole = {"type": "weighted", "parts": {"style": {"scoring": model}}}
    rows = [PromptRow(id="a", prompt="?", scoring=model), PromptRow(id="b", prompt="?", scoring=whole)]
    with pytest.raises(ValidationError, match=r"2 of 2 rows:\n  row a: .*deterministic: false"):
        await prepare(CodeTests(), rows)
    await prepare(CodeTests(deterministic=False), rows)


def test_recipes_refuse_values_that_mean_nothing() -> None:
    with pytest.raises(ValidationError, match=r"template.*extract.*credit.*timeout"):
        CodeTests(template="x", extract="some", credit="half", timeout_seconds=0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("decide", "says"),
    [
        (lambda row, text: 1 / 0, "ZeroDivisionError"),
        (lambda row, text: float("inf"), "inf"),
        (lambda *_: True, "True"),
    ],
)
async def test_a_recipe_that_raises_or_gives_no_number_ends_the_job_by_name(decide: Any, says: str) -> None:
    with pytest.raises(HarenaError, match=f"mine.*{says}.*row r|mine.*row r.*{says}"):
        await rewarded(Rule(decide, name="mine"), ROW, "x")


async def test_what_the_platform_does_inside_a_recipe_is_no_reward() -> None:
    def decide(row: PromptRow, text: str) -> float:
        raise PlatformError("the node is gone")

    given = await rewarded(Rule(decide), ROW, "x")
    assert (given.value, given.validity, given.detail) == (None, RewardValidity.INFRA, "the node is gone")


async def test_a_rule_cannot_judge_files() -> None:
    with pytest.raises(ValidationError, match=r"exact_match_v1.*row r"):
        await rewarded(reward_recipe("exact_match_v1", {}), ROW, {"files": {}, "entry": "x"})


class Scores:
    """What the sdk's `score` would say, by program."""

    def __init__(self) -> None:
        self.says: dict[str, dict[str, Any]] = {}
        self.raises: dict[str, Exception] = {}
        self.asked: list[str] = []
        self.everything: dict[str, Any] = {}

    async def aio(self, program: str, scoring: Any, **_: Any) -> RunResult:
        self.asked.append(program)
        program = program if isinstance(program, str) else next(iter(program["files"].values()))
        if (error := self.raises.get(program)) is not None:
            raise error
        base = {"score": 1.0, "passed": True, "validity": "valid", "reason": "passed", "detail": ""}
        return filled(RunResult, {**base, **self.says.get(program, {}), **self.everything})


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Scores:
    answers = Scores()
    monkeypatch.setattr(scored, "score", answers)
    monkeypatch.setattr(scored, "_proved", set())
    assert scores.score is not answers
    return answers


INFRA = {"score": None, "passed": False, "validity": "infra", "reason": "platform_error"}


async def test_the_program_is_the_text_in_its_template(said: Scores) -> None:
    recipe = CodeTests(template="def f(x):\n    return {completion}\n", extract="fenced")
    await recipe.reward(ROW, "I think\n```python\nx + 1\n```\n")
    await recipe.reward(ROW, "x + 2")
    assert said.asked == ["def f(x):\n    return x + 1\n\n", "def f(x):\n    return x + 2\n"]


async def test_credit(said: Scores) -> None:
    said.says["half"] = {"score": 0.5, "passed": False, "reason": "partial"}
    assert (await CodeTests().reward(ROW, "half")).value == 0.0
    assert (await CodeTests(credit="fraction").reward(ROW, "half")).value == 0.5


async def test_only_a_fault_that_does_not_follow_the_candidate_leaves_the_group(said: Scores) -> None:
    said.says |= {"breaks": INFRA, "pass\n": {"score": 0.0, "passed": False}}
    followed = await CodeTests().reward(ROW, "breaks")
    assert (followed.value, followed.reason) == (0.0, "fault_follows_candidate")
    said.says["pass\n"] = INFRA
    lost = await CodeTests().reward(ROW, "breaks")
    assert (lost.value, lost.validity) == (None, RewardValidity.INFRA)


@pytest.mark.parametrize("error", [ValidationError("too long"), PlatformError("broken"), HarenaError("?")], ids=repr)
async def test_no_error_that_follows_a_candidate_reaches_the_trainer(said: Scores, error: HarenaError) -> None:
    """It ended the job. One that comes for every candidate is raised as it was."""
    said.raises["breaks"] = error
    said.says["pass\n"] = {"score": 0.0, "passed": False}
    given = await CodeTests().reward(ROW, "breaks")
    assert (given.value, given.reason, given.detail) == (0.0, "fault_follows_candidate", str(error))
    said.raises["pass\n"] = PlatformError("all of it")
    with pytest.raises(type(error), match=str(error).replace("?", r"\?")):
        await CodeTests().reward(ROW, "breaks")


async def test_a_platform_that_is_up_again_judges_as_ever(said: Scores) -> None:
    """A fault of a moment earns nobody the minimum."""
    said.says["right"] = INFRA
    judge = said.aio

    async def up_again(program: str, scoring: Any, **fields: Any) -> RunResult:
        answer = await judge(program, scoring, **fields)
        said.says.pop("right", None)
        return answer

    said.aio = up_again  # type: ignore[method-assign]
    given = await CodeTests().reward(ROW, "right")
    assert (given.value, said.asked) == (1.0, ["right", "pass\n", "right"])


async def test_starved_is_nobodys_fault(said: Scores) -> None:
    said.says["late"] = {**INFRA, "reason": "starved"}
    assert (await CodeTests().reward(ROW, "late")).value is None
    assert said.asked == ["late"]


@pytest.mark.parametrize("validity", ["suspect", "invalid"])
async def test_suspect_and_invalid_earn_the_minimum(said: Scores, validity: str) -> None:
    said.says["odd"] = {"score": None if validity == "invalid" else 0.0, "passed": False, "validity": validity}
    assert (await CodeTests().reward(ROW, "right")).value == 1.0
    assert (await CodeTests(credit="fraction").reward(ROW, "odd")).value == 0.0


BROKEN = {**INFRA, "validity": "invalid", "reason": "scorer_error", "detail": "the image has no pytest"}
JUDGE = {"type": "score_model", "model": "m", "input": [{"role": "user", "content": "{{sample.output_text}}"}]}


@pytest.mark.parametrize("scoring", [ROW.scoring, {"type": "weighted", "parts": {"only": {"scoring": JUDGE}}}])
async def test_what_is_invalid_for_no_program_too_is_no_reward(said: Scores, scoring: Any) -> None:
    """The image lacks what the contract needs, or a judge knows no such model: a 0 for all would look like a job that
    learns."""
    said.says["x"] = said.says["pass\n"] = BROKEN
    given = await CodeTests(deterministic=False).reward(replace(ROW, scoring=scoring), "x")
    assert (given.value, given.validity, given.detail) == (None, RewardValidity.INFRA, BROKEN["detail"])


async def test_a_contract_that_is_broken_for_those_who_come_to_it_is_no_reward_until_somebody_passes(
    said: Scores,
) -> None:
    """A program that does nothing does not come so far. Of a judge an answer can make an error."""
    said.says |= {"x": BROKEN, "pass\n": {"score": 0.0, "passed": False, "reason": "wrong_answer"}}
    assert (await CodeTests().reward(ROW, "x")).value is None
    by_judge = replace(ROW, scoring=JUDGE)
    assert (await CodeTests(deterministic=False).reward(by_judge, "x")).value == 0.0
    assert (await CodeTests().reward(ROW, "right")).value == 1.0
    given = await CodeTests().reward(ROW, "x")
    assert (given.value, given.reason) == (0.0, "scorer_error")
    said.says["pass\n"] = BROKEN
    assert (await CodeTests().reward(ROW, "x")).value == 0.0


async def test_who_has_passed_in_one_image_has_proved_nothing_of_another(said: Scores) -> None:
    """Nor beside other limits: there the contract may be broken for everybody."""
    assert (await CodeTests(blueprint_id="has-pytest").reward(ROW, "right")).value == 1.0
    said.everything = BROKEN
    elsewhere = await CodeTests(blueprint_id="lacks-it").reward(ROW, "right")
    assert (elsewhere.value, elsewhere.validity) == (None, RewardValidity.INFRA)
    assert (await CodeTests(blueprint_id="has-pytest").reward(ROW, "other")).value == 0.0


@pytest.mark.parametrize("entry", ["solution.rb", "solution.lua", "solution.c"])
async def test_an_entry_that_nothing_runs_is_no_reward(said: Scores, entry: str) -> None:
    """The job has named it; a first line that names another interpreter is the program's own."""
    lacks = {"score": 0.0, "passed": False, "reason": "missing_entry_point", "detail": f"no ruby {CHOSEN_LANGUAGE}"}
    said.everything = lacks
    recipe = CodeTests(entry=entry)
    assert (await recipe.reward(ROW, "puts 5")).value is None
    with pytest.raises(ValidationError, match=r"row r: no program would have a score: no ruby$"):
        await prepare(recipe, [replace(ROW, scoring=STDIO)])
    said.everything = {}
    said.says["#!/bin/nothing"] = lacks
    assert (await CodeTests().reward(ROW, "#!/bin/nothing")).value == 0.0


@pytest.mark.parametrize(
    ("contract", "detail", "refused"),
    [
        ({}, "the scorer failed", True),
        ({"type": "command", "pytest": ["t.py"], "files": {"t.py": "x"}}, "the image has no pytest; add it", True),
        (
            {"type": "command", "command": ["sh", "t.sh"]},
            "it does not end well with a candidate that does nothing",
            False,
        ),
    ],
)
async def test_contracts_are_tried_before_the_first_rollout(
    said: Scores, contract: dict[str, Any], detail: str, refused: bool
) -> None:
    """A few; where one of them has a score, the others are left to the rollouts."""
    rows = [replace(ROW, id=str(number), scoring=contract or STDIO) for number in range(9)]
    said.everything = {**BROKEN, "detail": detail}
    if refused:
        with pytest.raises(ValidationError, match=f"3 of 9 rows:\n  row 0: no program would have a score: {detail}"):
            await prepare(CodeTests(), rows)
    else:
        await prepare(CodeTests(), rows)
    assert len(said.asked) == 3
    said.everything = {}
    await prepare(Composite(parts={"only": (CodeTests(), 1.0)}), rows)
    assert len(said.asked) == 6


async def test_a_reward_that_was_lost_is_asked_for_again(said: Scores) -> None:
    once = CachedRecipe(CodeTests())
    said.says |= {"x": INFRA, "pass\n": INFRA}
    assert (await once.reward(ROW, "x")).value is None
    del said.says["x"]
    assert (await once.reward(ROW, "x")).value == 1.0
    assert (await once.reward(ROW, "x")).value == 1.0
    assert said.asked == ["x", "pass\n", "x"]


async def test_a_rule_is_asked_with_row_and_text() -> None:
    assert (await Rule(lambda row, text: len(text) + len(row.id)).reward(ROW, "abc")).value == 4


async def test_rows_with_one_id_are_two_rows() -> None:
    """Held-out prompts are numbered from 1, as those are that are learnt from."""
    once = CachedRecipe(reward_recipe("exact_match_v1", {}))
    learnt, held_out = (PromptRow(id="1", prompt="?", expected_output=expected) for expected in ("7", "5"))
    rewards = [(await once.reward(row, said)).value for row in (learnt, held_out) for said in ("7", "5", "7")]
    assert rewards == [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    assert (once.asked, once.saved) == (6, 2)


@pytest.mark.parametrize("error", [None, PlatformError("gone")])
async def test_a_reward_that_is_lost_after_whoever_asked_has_gone_is_not_remembered(error: Exception | None) -> None:
    was_asked, may_answer = asyncio.Event(), asyncio.Event()
    asked: list[str] = []

    class Slow:
        deterministic = True

        async def reward(self, row: PromptRow, text: str) -> Reward:
            asked.append(text)
            if len(asked) > 1:
                return Reward(value=1.0)
            was_asked.set()
            await may_answer.wait()
            if error is not None:
                raise error
            return Reward(value=None, validity=RewardValidity.INFRA)

    once = CachedRecipe(Slow())
    first = asyncio.ensure_future(once.reward(ROW, "x"))
    await was_asked.wait()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    (lost,) = once._answers.values()
    may_answer.set()
    await asyncio.wait([lost])
    assert (await once.reward(ROW, "x")).value == 1.0
    assert (await once.reward(ROW, "x")).value == 1.0
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"value": 0.0, "validity": RewardValidity.INFRA}, "would be learnt"),
        ({"value": None}, "must be a finite number"),
        ({"value": float("nan")}, "must be a finite number"),
        ({"value": True}, "must be a finite number"),
    ],
)
async def test_a_reward_is_a_finite_number_exactly_where_it_is_valid(given: dict[str, Any], says: str) -> None:
    class Lax:
        deterministic = True

        async def reward(self, row: PromptRow, text: str) -> Reward:
            return Reward(**given)

    with pytest.raises(ValidationError, match=f"Lax, row r: .*{says}"):
        await rewarded(Lax(), ROW, "x")


JUDGED = {"model": "m", "messages": [{"role": "user", "content": "{{ sample.output_text }}"}]}
BLIND = {"model": "m", "messages": [{"role": "user", "content": "Is it right?"}]}


@pytest.mark.parametrize(
    ("scoring", "says"),
    [
        ({"type": "score_model", **JUDGED, "pass_mark": 0}, "gives every answer"),
        ({"type": "text_similarity", "reference": "a", "evaluation_metric": "cosine", "pass_mark": 0.0}, "gives every"),
        ({"type": "regex", "pattern": ".*"}, "gives every answer"),
        ({"type": "regex", "pattern": "(a)?"}, "gives every answer"),
        ({"type": "label_model", **JUDGED, "labels": ["a", "b"], "passing_labels": ["b", "a"]}, "gives every answer"),
        ({"type": "score_model", **BLIND}, "never sees it"),
        ({"type": "label_model", **BLIND, "labels": ["a", "b"], "passing_labels": ["b"]}, "never sees it"),
        ({"type": "string_check", "input": "a", "reference": "a"}, "holds nothing of the answer"),
        ({"type": "string_check", "reference": "{{ sample.output_text }}"}, "with itself"),
        ({"type": "regex", "input": "{{ item.a }}", "item": {"a": "b"}, "pattern": "b"}, "holds nothing of the answer"),
    ],
)
async def test_contracts_that_pay_every_answer_are_refused(said: Scores, scoring: dict[str, Any], says: str) -> None:
    """Before the first rollout: nothing could be learned from them."""
    row = replace(ROW, scoring=scoring)
    recipe = CodeTests(deterministic=False)
    with pytest.raises(ValidationError, match=says):
        await prepare(recipe, [row])
    other = {"type": "regex", "pattern": "a.*", "whole": True}
    await prepare(recipe, [replace(ROW, scoring=other)])


@pytest.mark.parametrize("expected", ["", " \n"])
async def test_rows_whose_right_answer_is_silence_are_told(expected: str) -> None:
    """A data set without an answer in some rows would pay white space."""
    with pytest.raises(ValidationError, match="row r: its expected_output is empty"):
        await prepare(reward_recipe("exact_match_v1", {}), [replace(ROW, expected_output=expected), ROW])
    await prepare(reward_recipe("exact_match_v1", {"expected": "a"}), [replace(ROW, expected_output=expected)])


async def test_a_judge_whose_threshold_every_answer_reaches_is_refused() -> None:
    with pytest.raises(ValidationError, match="gives every answer"):
        await prepare(LLMJudge(model="m", rubric="r", passing_threshold=0.0), [ROW])
    await prepare(LLMJudge(model="m", rubric="r", passing_threshold=0.0, credit="fraction"), [ROW])
    await prepare(LLMJudge(model="m", rubric="r"), [ROW])


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        *(
            ("42", said)
            for said in ("\u221242", "\u201342", "- 42", "-$42", "1/42", "\u221a42", "0x42", "4.5.42", "4,2")
        ),
        *(("42", said) for said in ("#### 42/7", "#### 41 or #### 42", "#### 41\n#### 42", "#### 42.9.1", "#### - 42")),
        *(
            ("42", said)
            for said in ("x-42", "50 - 42", "6*42", "42e5", "41%42", "#### 42^2", "#### 42 is not right at all")
        ),
        *(
            ("42", said)
            for said in (
                "1 / 42",
                "2 ** 42",
                "2 \u00d7 42",
                "2 \u00d7 **42**",
                "20 + 42",
                "$20 + $42",
                "1 042",
                "1'042",
            )
        ),
        *(
            ("42", said)
            for said in (
                "3:42",
                "sqrt(42)",
                "\\sqrt{42}",
                "\\frac{1}{42}",
                "2^{42}",
                "2 \\cdot 42",
                "10 times 42",
                "< 42",
            )
        ),
        *(
            ("42", said)
            for said in (
                "#### 42 million",
                "#### 42k",
                "42 thousand",
                "42\u00b2",
                "#### not 42",
                "it isn't 42",
                "x > 42",
            )
        ),
        ("-7", "10-7"),
        ("-7", "10 - 7"),
    ],
)
async def test_gsm8k_reads_no_number_out_of_another(expected: str, said: str) -> None:
    """A sign, a fraction or a second claim makes it another answer."""
    row = PromptRow(id="r", prompt="?", expected_output=expected)
    assert (await reward_recipe("gsm8k_v1", {}).reward(row, said)).value == 0.0


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        *(("42", said) for said in ("42.", "####\n42", "**42**", "\\boxed{42}", "$42", "x = 42", "40+2=42", "42 km/h")),
        *(
            ("42", said)
            for said in ("#### $42", "#### 42 dollars per hour", "#### Step one\nof 3\n#### 42", "\u662f42")
        ),
        *(
            ("42", said)
            for said in (
                "42!",
                "42%",
                "- 1\n* 42",
                "> 42",
                "=> 42",
                "<b>42</b>",
                "\\boxed{\\text{42}}",
                "**Answer** 42",
            )
        ),
        *(
            ("42", said)
            for said in ("is **42**", "2024: 42", "(42)", "\\boxed{\\$42}", "it rose by 42", "42 m", "6*7 = **42**")
        ),
        *(("-7", said) for said in ("-7", "\u22127", "(-7)", "-$7", "#### \u20137", "3 - 10 = -7")),
        ("1000000", "#### 1,000,000.0"),
    ],
)
async def test_gsm8k_reads_numbers_as_people_write_them(expected: str, said: str) -> None:
    """With units, signs, thousands and marks around them."""
    row = PromptRow(id="r", prompt="?", expected_output=expected)
    assert (await reward_recipe("gsm8k_v1", {}).reward(row, said)).value == 1.0


DAPO = (
    "Solve the following math problem step by step. The last line of your response should be of the form Answer: "
    "$Answer (without quotes) where $Answer is the answer to the problem.\n\nWhat is 17 + 17?\n\nRemember to put your "
    'answer on its own line after "Answer:".'
)


@pytest.mark.parametrize(
    ("prompt", "said", "value"),
    [
        (DAPO, "17 + 17 is 34.\nAnswer: 34", 1.0),
        (DAPO, "Answer: $34$", 1.0),
        (DAPO, "**Answer:** 34.", 1.0),
        (DAPO, "Answer: 35\nWait.\nAnswer: 34", 1.0),
        (DAPO, "It is \\boxed{34}", 1.0),
        (DAPO, "<think>Answer: 35</think>Answer: 34", 1.0),
        (DAPO, "Answer: 34\nAnswer: 35", 0.0),
        (DAPO, "Answer: 34 or 35", 0.0),
        (DAPO, "Answer: not 34", 0.0),
        (DAPO, "Answer: 34\n\\boxed{35}", 0.0),
        (DAPO, "<think>Answer: 34", 0.0),
        (DAPO, "The answer is 34", 0.0),
        ("What is 17 + 17? Put it in \\boxed{}, as Answer: [x]", "Answer: 34", 0.0),
        ("What is 17 + 17?", "Answer: 34", 0.0),
        ("Question: What is 1 + 1?\nAnswer: 2\nQuestion: What is 17 + 17?", "Answer: 34", 0.0),
    ],
)
async def test_the_line_that_a_prompt_asks_for_is_the_answer(prompt: str, said: str, value: float) -> None:
    """Before, nothing but a box was, so that a data set whose prompts ask for no box trained on a constant 0."""
    row = PromptRow(id="r", prompt=prompt, expected_output="34")
    assert (await reward_recipe("math_v1", {}).reward(row, said)).value == value
