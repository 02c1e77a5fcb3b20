"""Rows that a reward recipe cannot be applied to are said when a job is submitted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import NotFoundError, ValidationError
from harena.core.records.objects import ResolvedReference, UsedSplit
from harena.core.records.training_plans import RLPlan
from harena.training.requests.acceptance import accepted
from harena.training.requests.plan import plan_of
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import parse_request
from harena.training.requests.reward_checks import check_rewards, named_blueprints

SUM = {"type": "stdio", "cases": [{"stdin": "1 2", "stdout": "3"}]}


def missing_blueprints(plan: RLPlan, resolved: ResolvedReferences) -> dict[str, NotFoundError]:
    """All that are named but one."""
    named = [name for name in named_blueprints(plan, resolved) if name != "numbers"]
    return {name: NotFoundError(f"no blueprint {name!r}; there are: numbers") for name in named}


def asked(folder: Path, recipe: dict[str, Any], *rows: dict[str, Any]) -> tuple[dict[str, Any], ResolvedReferences]:
    """A request for these rows by this recipe, and what it refers to."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps({"prompt": "p", **row}) + "\n" for row in rows))
    config = {"algorithm": "grpo", "prompt_dataset_ref": "p", "reward_recipe": recipe}
    found = ResolvedReference(
        where="config.prompt_dataset_ref", kind="dataset", name="p", version="1", digest="0", path=str(path),
        described=UsedSplit(rows=len(rows), split=None, uses=[], reward_recipe=None),
    )  # fmt: skip
    return {"trainer_type": "rl", "model": "tiny-llama", "config": config}, ResolvedReferences(refs=(found,))


def check(folder: Path, recipe: dict[str, Any], *rows: dict[str, Any]) -> None:
    """These rows by this recipe."""
    body, resolved = asked(folder, recipe, *rows)
    plan = plan_of(parse_request(body), resolved)
    assert isinstance(plan, RLPlan)
    check_rewards(plan, resolved, missing_blueprints(plan, resolved))


@pytest.mark.parametrize(
    ("recipe", "bad", "says"),
    [
        ({"name": "exact_match_v1"}, {}, "rows.jsonl:2: "),
        ({"name": "gsm8k_v1"}, {"answer": "none"}, "rows.jsonl:2: "),
        ({"name": "code_tests_v1"}, {}, "rows.jsonl:2: it has no scoring contract"),
        ({"name": "code_tests_v1"}, {"scoring": {"type": "best"}}, "rows.jsonl:2: .*must be one of"),
        ({"name": "task_verifier_v1"}, {}, "rows.jsonl:1: there is no task"),
        ({"name": "composite_v1", "params": {"parts": {"right": {"recipe": "exact_match_v1"}}}}, {},
         "rows.jsonl:2: right: "),
    ],
)  # fmt: skip
def test_rows_that_lack_something_are_listed(
    tmp_path: Path, recipe: dict[str, Any], bad: dict[str, Any], says: str
) -> None:
    """With file and line, and the recipe's name."""
    good = {"answer": "#### 3", "scoring": SUM}
    with pytest.raises(
        ValidationError, match=rf"(?s)reward recipe {recipe['name']} cannot be applied to . of 2 rows of p@1:.*{says}"
    ):
        check(tmp_path, recipe, good, bad)


def test_rows_that_have_all_are_taken(tmp_path: Path) -> None:
    """And contracts that are stored are not looked up here."""
    check(tmp_path, {"name": "exact_match_v1"}, {"answer": "3"})
    check(tmp_path, {"name": "code_tests_v1"}, {"scoring": SUM}, {"scoring": {"contract": "sums@1"}})


def test_a_judge_that_is_not_there_is_said_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else every rollout would be lost to the platform. As a part of another recipe, too."""
    judge = {"name": "llm_judge_v1", "params": {"model": "m", "rubric": "r"}}
    part = {"recipe": judge["name"], "params": judge["params"]}
    whole = {"name": "composite_v1", "params": {"parts": {"judge": part}}}
    for recipe in (judge, whole):
        monkeypatch.delenv("HARENA_JUDGE_BASE_URL", raising=False)
        with pytest.raises(ValidationError, match="there is no judge: set HARENA_JUDGE_BASE_URL"):
            check(tmp_path, recipe, {})
        monkeypatch.setenv("HARENA_JUDGE_BASE_URL", "http://127.0.0.1:1/v1")
        check(tmp_path, recipe, {})


def test_a_blueprint_that_is_not_there_is_said_before_anything_runs(tmp_path: Path) -> None:
    """As a part of another recipe, too."""
    for blueprint in ("numbers", "numpy"):
        params = {"blueprint_id": blueprint}
        part = {"recipe": "code_tests_v1", "params": params}
        for recipe in (
            {"name": "code_tests_v1", "params": params},
            {"name": "composite_v1", "params": {"parts": {"code": part}}},
        ):
            if blueprint == "numbers":
                check(tmp_path, recipe, {"scoring": SUM})
                continue
            with pytest.raises(ValidationError, match=f"{recipe['name']}: no blueprint 'numpy'; there are: numbers"):
                check(tmp_path, recipe, {"scoring": SUM})


async def test_blueprints_are_looked_for_until_one_is_not_there(tmp_path: Path) -> None:
    """Rows and parts may name thousands."""
    parts = {f"p{number}": {"recipe": "code_tests_v1", "params": {"blueprint_id": f"b{number}"}} for number in range(9)}
    body, resolved = asked(tmp_path, {"name": "composite_v1", "params": {"parts": parts}}, {"scoring": SUM})
    looked_for = []

    async def resolve(*_: object) -> ResolvedReferences:
        return resolved

    async def found(_: str, name: str) -> None:
        looked_for.append(name)
        if name == "b2":
            raise NotFoundError(f"no blueprint {name!r}")

    with pytest.raises(ValidationError, match="composite_v1: no blueprint 'b2'"):
        await accepted("default", body, resolve, found)
    assert looked_for == ["b0", "b1", "b2"]


@pytest.mark.parametrize(
    ("recipe", "row"),
    [
        ({"name": "row_reward_v1"}, {}),
        ({"name": "row_reward_v1", "params": {"default": 1.0}}, {"reward": 0.5}),
        ({"name": "contains_v1", "params": {"needle": ""}}, {}),
        ({"name": "contains_v1", "params": {"needle": "x", "reward_if_true": 0.0}}, {}),
        ({"name": "trajectory_imitation_v1"}, {"answer": "a", "reward": 0.0}),
        ({"name": "composite_v1", "params": {"parts": {
            "a": {"recipe": "row_reward_v1"}, "b": {"recipe": "contains_v1", "params": {"needle": ""}}}}}, {}),
    ],
)  # fmt: skip
def test_a_recipe_that_gives_all_answers_the_same_reward_is_refused(
    tmp_path: Path, recipe: dict[str, Any], row: dict[str, Any]
) -> None:
    """Rows without tests or answers are the usual case: nothing would be learned, and the job would complete."""
    with pytest.raises(
        ValidationError, match=rf"{recipe['name']} gives every answer to a prompt the same reward .*`scor"
    ):
        check(tmp_path, recipe, row, {**row, "prompt": "q"})


def test_one_row_that_tells_answers_apart_is_enough(tmp_path: Path) -> None:
    check(tmp_path, {"name": "trajectory_imitation_v1"}, {"answer": "a", "reward": 0.0}, {"answer": "a", "reward": 1.0})
    part = {"recipe": "exact_match_v1"}
    whole = {"name": "composite_v1", "params": {"parts": {"a": part, "b": {"recipe": "row_reward_v1"}}}}
    check(tmp_path, whole, {"answer": "a"})
