"""Rows that are evaluated and learned from are told of before a job runs, by the code that accepts it and plans it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harena.core.records.objects import ResolvedReference, ShippedModelDescription, UsedSplit
from harena.core.records.training_jobs import PlannedTraining
from harena.training.requests.acceptance import accepted
from harena.training.requests.planned import planned_training
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import RLRequest, SFTRequest
from harena.training.shipped_models import SHIPPED_MODELS

Rows = Sequence[Mapping[str, Any]]
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")


def problem(name: str, **more: Any) -> dict[str, Any]:
    """A prompt whose answer is its own word."""
    return {"id": name, "prompt": f"say {name} now", "expected_output": name, **more}


def refer(where: str, path: Path, rows: Rows, kind: str) -> ResolvedReference:
    """A data set of these rows."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    recipe = "exact_match_v1" if kind == "rl" else None
    used = UsedSplit(rows=len(rows), split=None, uses=["sft", "prompts"], reward_recipe=recipe)
    return ResolvedReference(
        where=where, kind="dataset", name=path.stem, version="1", digest="0", path=str(path), described=used
    )


def planned(
    folder: Path, learned: Rows, evaluated: Rows | None = None, *, kind: str = "rl", **config: Any
) -> PlannedTraining:
    """What the plan of such a job says; its warnings are those that the job is accepted with."""
    field = "prompt_dataset_ref" if kind == "rl" else "dataset_ref"
    shipped = SHIPPED_MODELS["tiny-llama"]
    described = ShippedModelDescription(shipped=shipped, context_length=shipped.context_length)
    refs = [
        ResolvedReference(
            where="model", kind="model", name="tiny-llama", version=None, digest="0", path=None, described=described
        ),
        refer(f"config.{field}", folder / "learned.jsonl", learned, kind),
    ]
    asked = {field: {"name": "learned", "version": "1"}, **({"algorithm": "grpo"} if kind == "rl" else {}), **config}
    if evaluated is not None:
        refs.append(refer("config.eval_dataset_ref", folder / "evaluated.jsonl", evaluated, kind))
        asked["eval_dataset_ref"] = {"name": "evaluated", "version": "1"}

    async def resolve(workspace: str, request: SFTRequest | RLRequest) -> ResolvedReferences:
        return ResolvedReferences(refs=tuple(refs))

    async def find_blueprint(workspace: str, name: str) -> object:
        raise AssertionError(name)

    body = {"trainer_type": kind, "model": "tiny-llama", "config": asked}
    job = asyncio.run(accepted("w", body, resolve, find_blueprint))
    made = planned_training(job)
    assert made.warnings == job["warnings"]
    return made


def told(found: PlannedTraining, field: str) -> list[str]:
    """Warnings of one field."""
    return [warning for warning in found.warnings if warning.startswith(f"config.{field}: ")]


def test_rows_that_are_evaluated_and_learned_from(tmp_path: Path) -> None:
    """They are counted and the first are named: by their prompts, and apart from these by their ids."""
    learned = [problem(name) for name in NAMES]
    evaluated = [problem(name) for name in NAMES[:7]]
    (warning, _) = told(planned(tmp_path, learned, evaluated), "eval_dataset_ref")
    assert "7 of the 7 rows" in warning
    assert "(zero, one, two, three, four, and 2 more)" in warning

    others = [{**problem("new"), "id": "a"}, {**problem("one"), "id": "b"}, {**problem("unlike"), "id": "two"}]
    by_prompt, by_id, _ = told(planned(tmp_path, learned, others), "eval_dataset_ref")
    assert "1 of the 3 rows" in by_prompt
    assert "same prompt (b)" in by_prompt
    assert "1 of the 3 rows" in by_id
    assert "another prompt (two)" in by_id


def test_rows_without_an_id_are_named_by_their_place(tmp_path: Path) -> None:
    """A number that a reader gives them is no id: the first rows of two data sets have nothing in common."""
    without = [{"prompt": f"say {name}", "expected_output": name} for name in NAMES]
    (warning, *_) = told(planned(tmp_path, without[:8], without[7:]), "eval_dataset_ref")
    assert "same prompt (evaluated.jsonl:1)" in warning
    assert told(planned(tmp_path, without[:4], without[4:]), "eval_dataset_ref") == []


def test_only_rows_that_are_evaluated_count(tmp_path: Path) -> None:
    """What is beyond the most rollouts of an evaluation is not looked at; a job without one has none."""
    evaluated = [*(problem(f"new {n}") for n in range(9)), problem("one")]
    learned = [problem(name) for name in NAMES]
    assert told(planned(tmp_path, learned, evaluated, eval_max_rollouts=9), "eval_dataset_ref") == []
    assert len(told(planned(tmp_path, learned, evaluated), "eval_dataset_ref")) == 1
    assert told(planned(tmp_path, learned), "eval_dataset_ref") == []


@pytest.mark.parametrize(
    ("learned", "evaluated"),
    [
        ({"prompt": "say it", "completion": "it"}, {"prompt": "say it\n", "completion": "other"}),
        (
            {"messages": [{"role": "user", "content": "say it"}, {"role": "assistant", "content": "it"}]},
            {"prompt": "say it", "completion": "it"},
        ),
    ],
)
def test_rows_of_sft_are_told_by_what_they_ask(
    tmp_path: Path, learned: Mapping[str, Any], evaluated: Mapping[str, Any]
) -> None:
    """The answer may be another one, and the form too."""
    from harena.training.data.repeated_rows import asked_digest

    assert asked_digest(learned) == asked_digest(evaluated) != asked_digest({"prompt": "say", "completion": "it"})
    pairs = [{"prompt": f"say {name}", "completion": name} for name in NAMES]
    found = planned(tmp_path, pairs, [pairs[3], {"prompt": "say more", "completion": "more"}], kind="sft")
    (warning, _) = told(found, "eval_dataset_ref")
    assert "1 of the 2 rows" in warning
    assert "same prompt (evaluated.jsonl:1)" in warning


def test_a_prompt_that_is_held_out_and_learned_from_under_another_id(tmp_path: Path) -> None:
    """Which side a row is on depends on its id: two ids of one prompt come to both sides."""
    twice = [problem(name) for name in NAMES] + [{**problem(name), "id": f"{name} again"} for name in NAMES]
    found = planned(tmp_path, twice, held_out=0.3)
    (warning, *_) = told(found, "held_out")
    assert f"of the {found.held_out} rows" in warning
    assert "same prompt" in warning
    assert not any("same prompt" in one for one in told(planned(tmp_path, twice[:12], held_out=0.3), "held_out"))


def test_the_first_evaluation_is_the_one_that_the_job_makes(tmp_path: Path) -> None:
    """RL evaluates before it learns, SFT at its interval, or at the end of a job that is shorter."""
    prompts = [problem(name) for name in NAMES]
    assert planned(tmp_path, prompts, held_out=0.3).first_evaluation == 0
    assert planned(tmp_path, prompts, [problem("more")], eval_interval=7).first_evaluation == 0
    assert planned(tmp_path, prompts).first_evaluation is None
    pairs, more = [{"prompt": name, "completion": name} for name in NAMES], [{"prompt": "more", "completion": "more"}]
    assert planned(tmp_path, pairs, more, kind="sft", steps=30, eval_interval=7).first_evaluation == 7
    assert planned(tmp_path, pairs, more, kind="sft").first_evaluation == 1


def test_few_rows_come_again_in_one_step(tmp_path: Path) -> None:
    """How often, by the rows that are left to learn from; not where a step takes no more than there are."""
    prompts = [problem(name) for name in NAMES]
    (warning,) = told(planned(tmp_path, prompts), "batch_size")
    assert "a step takes 32 prompts, and there are 12 to learn from: each comes 2.67 times in every step" in warning
    held_out = planned(tmp_path, prompts, held_out=0.3)
    assert 0 < held_out.learned_from < 12
    assert f"there are {held_out.learned_from} to learn from" in told(held_out, "batch_size")[0]
    assert told(planned(tmp_path, prompts, batch_size=12), "batch_size") == []
    pairs = [{"prompt": name, "completion": name} for name in NAMES]
    (warning,) = told(planned(tmp_path, pairs, kind="sft"), "batch_size")
    assert "a step takes 16 rows, and there are 12 to learn from: each comes 1.33 times" in warning
    assert told(planned(tmp_path, pairs, kind="sft", batch_size=6, gradient_accumulation_steps=2), "batch_size") == []


def test_an_evaluation_of_few_rows_says_little(tmp_path: Path) -> None:
    """The smallest difference that it can show is told; eight rows are enough to say nothing of it."""
    prompts, more = [problem(name) for name in NAMES], [problem(f"more {number}") for number in range(8)]
    assert told(planned(tmp_path, prompts, more), "eval_dataset_ref") == []
    (warning,) = told(planned(tmp_path, prompts, more[:4]), "eval_dataset_ref")
    assert "4 prompts are evaluated: the pass rate moves in steps of 25 %" in warning
    (warning,) = told(planned(tmp_path, prompts, more, eval_max_rollouts=1), "eval_dataset_ref")
    assert "1 prompt is evaluated" in warning
    assert "1 prompt is evaluated" in told(planned(tmp_path, prompts[:4], held_out=0.1), "held_out")[0]
