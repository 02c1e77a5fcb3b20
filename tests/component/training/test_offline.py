"""Offline RL: what recorded episodes teach, and what they cannot."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_tokenizer import Characters

from harena.core.errors import ValidationError
from harena.core.records.training_plans import LossSpec
from harena.training.data.offline import imitation_rows, offline_groups, offline_rows, reward_of, with_logprobs
from harena.training.data.templates import ChatTemplate
from harena.training.engines.local import LocalEngine
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.batch import TrainingRow
from harena.training.loop.sft import SFTSettings, train_sft

TEMPLATE = ChatTemplate(Characters())
Make = Callable[..., LocalEngine]
CLIPPED = loss_spec("grpo", max_steps_off_policy=0)


def episode(asked: str, did: str, **more: Any) -> dict[str, Any]:
    steps = [{"source": "user", "message": asked}, {"source": "agent", "message": did}]
    return {"schema_version": "ATIF-v1.6", "steps": steps, **more}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("row", "reward"),
    [
        ({}, 1.0),
        ({"success": True}, 1.0),
        ({"success": False}, 0.0),
        ({"worlds_summary": {"success": False}}, 0.0),
        ({"metadata": {"success": False}}, 0.0),
        ({"success": False, "reward": 0.5}, 0.5),
    ],
)
def test_the_reward_of_an_episode(row: dict[str, Any], reward: float) -> None:
    assert reward_of(row) == reward


def test_rewards_that_are_none() -> None:
    for row in ({"reward": "much"}, {"reward": float("inf")}, {"success": "yes"}):
        with pytest.raises(ValueError, match=r"its (reward|success) is"):
            reward_of(row)


def test_episodes_of_one_prompt_are_compared(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        episode("a", "good", success=True), episode("a", "bad", success=False), episode("b", "alone", success=True),
    )  # fmt: skip
    groups, report = offline_groups([path], TEMPLATE, max_length=99)
    assert [[e.reward for e in group.episodes] for group in groups] == [[1.0, 0.0], [1.0]]
    assert (report.rows, report.sequences) == (3, 3)
    rows = offline_rows(groups, rule="group_mean", aggregation="token")
    assert [row.advantage for row in rows] == [0.5, -0.5, 0.0]
    whole, _ = offline_groups([path], TEMPLATE, max_length=99, baseline="dataset")
    rows = offline_rows(whole, rule="group_mean", aggregation="sequence")
    assert [row.advantage for row in rows] == pytest.approx([1 / 3, -2 / 3, 1 / 3])
    assert [row.weight for row in rows] == pytest.approx([1 / 5, 1 / 4, 1 / 6])


def test_nothing_to_compare_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", episode("a", "x"), episode("b", "y"))
    groups, _ = offline_groups([path], TEMPLATE, max_length=99)
    with pytest.raises(ValidationError, match="nothing to learn from 2 groups"):
        offline_rows(groups, rule="group_std", aggregation="token")
    assert [row.advantage for row in offline_rows(groups, rule="none", aggregation="token")] == [1.0, 1.0]


def test_long_and_broken_episodes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", episode("a", "x"), episode("a", "x" * 99))
    groups, report = offline_groups([path], TEMPLATE, max_length=50)
    assert (len(groups[0].episodes), report.too_long, report.left_out) == (1, 1, 1)
    with pytest.raises(ValidationError, match="all are longer than 5 tokens"):
        offline_groups([path], TEMPLATE, max_length=5)
    write(path, episode("a", "x", success="no"), {"steps": [{"source": "user", "message": "hi"}]})
    with pytest.raises(ValidationError, match=r"(?s)2 rows.*a\.jsonl:1: its success.*a\.jsonl:2: no assistant"):
        offline_groups([path], TEMPLATE, max_length=50)


def test_recorded_tokens_are_trained_on_as_they_are(tmp_path: Path) -> None:
    metrics = {"prompt_token_ids": [7, 8], "completion_token_ids": [9, 3], "logprobs": [-1, -0.5]}
    row = episode("a", "x", success=True)
    row["steps"][1]["metrics"] = metrics
    groups, _ = offline_groups([write(tmp_path / "a.jsonl", row)], TEMPLATE, max_length=99)
    (made,) = groups[0].episodes[0].rows
    assert (made.tokens, made.mask, made.logprobs) == ((7, 8, 9, 3), (0, 0, 1, 1), (0.0, 0.0, -1.0, -0.5))
    row["steps"][1]["metrics"] = {**metrics, "logprobs": [0.5, -1]}
    with pytest.raises(ValidationError, match=r"steps\[1\]\.metrics has not one log-probability"):
        offline_groups([write(tmp_path / "a.jsonl", row)], TEMPLATE, max_length=99)


def test_goal_and_state_make_a_system_message(tmp_path: Path) -> None:
    row = episode("go", "done", extra={"goal": {"description": "Win"}, "initial_state": {"host": "h"}})
    rows, _ = imitation_rows([write(tmp_path / "a.jsonl", row)], TEMPLATE, max_prompt_tokens=99)
    assert rows[0].prompt == 'system:Goal: Win\nInitial state: {"host": "h"}$\nuser:go$\nassistant:'


def test_each_thing_that_was_done_is_a_prompt(tmp_path: Path) -> None:
    steps = [
        {"source": "user", "message": "go"},
        {
            "source": "agent",
            "message": "look",
            "reasoning_content": "hm",
            "tool_calls": [{"tool_call_id": "1", "function_name": "ls", "arguments": {"p": "/"}}],
            "observation": {"results": [{"source_call_id": "1", "content": "denied", "is_error": True}]},
        },
        {"source": "agent", "message": "done"},
    ]
    path = write(tmp_path / "a.jsonl", {"id": "e", "steps": steps, "worlds_summary": {"success": True}})
    rows, report = imitation_rows([path], TEMPLATE, max_prompt_tokens=200)
    first = '<think>hm</think>\nlook\n<tool_call name="ls">{"p": "/"}</tool_call>'
    assert [(row.id, row.expected_output, row.reward) for row in rows] == [("e/1", first, 1.0), ("e/3", "done", 1.0)]
    assert rows[1].prompt == f"user:go$\nassistant:{first}$\ntool:[error] denied$\nassistant:"
    assert report.sequences == 2
    rows, report = imitation_rows([path], TEMPLATE, max_prompt_tokens=30)
    assert ([row.id for row in rows], report.left_out) == (["e/1"], 1)


async def test_without_recorded_log_probabilities(engines: Make, tmp_path: Path) -> None:
    engine = engines(1)
    path = write(tmp_path / "a.jsonl", episode("a", "x", success=True), episode("a", "y", success=False))
    rows = offline_rows(offline_groups([path], chat(engine), max_length=60)[0], rule="group_mean", aggregation="token")
    with pytest.raises(ValidationError, match=r"importance_sampling is not clipped .* 2 of 2 rows have none"):
        await with_logprobs(engine, rows, loss_spec("importance_sampling", max_steps_off_policy=0))
    made = await with_logprobs(engine, rows, CLIPPED)
    assert [tuple(v for v, bit in zip(row.logprobs, row.mask, strict=True) if bit) for row in made] == (
        await engine.logprobs(rows)
    )
    assert await with_logprobs(engine, made, loss_spec("importance_sampling", max_steps_off_policy=0)) == made


def chat(engine: LocalEngine) -> ChatTemplate:
    """A template of plain characters for the tiny engine."""

    class Template(ChatTemplate):
        def _render(self, messages: Any, tools: Any, *, answer_follows: bool) -> str:
            text = "".join(m["content"] + (">" if m["role"] == "user" else "<end>") for m in messages)
            return text

    engine.tokenizer.inner.chat_template = "{{ messages }}"
    return Template(engine.tokenizer)


@pytest.mark.parametrize(
    "loss",
    [
        CLIPPED,
        loss_spec("cispo", max_steps_off_policy=0),
        loss_spec("gspo", max_steps_off_policy=0, aggregation="sequence"),
    ],
)
async def test_what_was_rewarded_becomes_more_probable(engines: Make, tmp_path: Path, loss: LossSpec) -> None:
    engine = engines(1)
    path = write(
        tmp_path / "a.jsonl",
        *(episode(asked, did, success=did == "(x+1)") for asked in ("add 1", "plus 1") for did in ("(x+1)", "(x-1)")),
    )
    template = chat(engine)
    groups, _ = offline_groups([path], template, max_length=60)
    rows = await with_logprobs(engine, offline_rows(groups, rule="group_mean", aggregation=loss.aggregation), loss)
    before = [sum(values) for values in await engine.logprobs(rows)]
    settings = SFTSettings(steps=6, batch_size=4, learning_rate=2e-3)
    told: list[Any] = []
    await train_sft(engine, rows, settings, loss=loss, on_step=lambda step, metrics: told.append(metrics))
    changes = [sum(values) - was for values, was in zip(await engine.logprobs(rows), before, strict=True)]
    assert changes[0] > changes[1] + 0.05
    assert changes[2] > changes[3] + 0.05
    assert told[0]["k3_mu"] == pytest.approx(0.0, abs=1e-6)


async def test_an_episode_of_several_rows_weighs_what_one_of_one_row_does(engines: Make, tmp_path: Path) -> None:
    """Aggregation `sequence`: the loss is the mean over episodes, however many rows recorded steps made of them."""
    recorded = {"prompt_token_ids": [5, 6], "completion_token_ids": [7, 8], "logprobs": [-3.0, -3.0]}
    steps = [{"source": "user", "message": "a"}, *[{"source": "agent", "message": "x", "metrics": recorded}] * 3]
    path = write(tmp_path / "a.jsonl", *({"steps": steps, "reward": reward} for reward in (3.0, 1.0)))
    groups, _ = offline_groups([path], TEMPLATE, max_length=60)
    loss = loss_spec("importance_sampling", max_steps_off_policy=0, aggregation="sequence")
    rows = offline_rows(groups, rule="none", aggregation="sequence")
    assert len(rows) == 6
    engine = engines(1)
    (learnt,) = {tuple(values) for values in await engine.logprobs(rows)}
    told: list[Any] = []
    settings = SFTSettings(steps=1, batch_size=6, learning_rate=1e-3)
    await train_sft(engine, rows, settings, loss=loss, on_step=lambda step, metrics: told.append(metrics))
    ratio = sum(math.exp(value + 3.0) for value in learnt) / 2
    assert told[0]["loss"] == pytest.approx(-ratio * (3.0 + 1.0) / 2, rel=1e-4)


async def test_a_loss_per_sampled_token_is_refused_where_nothing_is_sampled(engines: Make) -> None:
    loss = loss_spec("grpo", max_steps_off_policy=0, aggregation="constant")
    with pytest.raises(ValidationError, match="divides by max_new_tokens"):
        await train_sft(engines(), [TrainingRow(tokens=(3, 4), mask=(0, 1))], SFTSettings(), loss=loss)


def test_episodes_with_one_id_are_told_apart(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl", *(episode("a", did, id=name) for did, name in zip("xyz", ("t", "t", None), strict=True))
    )
    rows, _ = imitation_rows([path], TEMPLATE, max_prompt_tokens=99)
    assert [row.id for row in rows] == ["t/1", "t#1/1", "2/1"]
