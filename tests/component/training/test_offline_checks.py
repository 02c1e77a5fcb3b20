"""Recorded trajectories from which nothing could be learned are refused when their job is submitted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.core.records.objects import ResolvedReference, UsedSplit
from harena.core.records.training_plans import RLPlan
from harena.training.requests.offline_checks import check_offline
from harena.training.requests.plan import plan_of
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import parse_request


def episode(reward: float, said: str = "hello", *, recorded: bool = False) -> dict[str, Any]:
    metrics = {"prompt_token_ids": [1], "completion_token_ids": [2, 3], "logprobs": [-0.5, -0.5]}
    answer = {"source": "agent", "message": said, **({"metrics": metrics} if recorded else {})}
    return {"steps": [{"source": "user", "message": "hi"}, answer], "reward": reward}


def check(folder: Path, *rows: dict[str, Any], **config: Any) -> None:
    """An offline job over these episodes."""
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ref = ResolvedReference(
        where="config.trajectory_dataset_refs[0]", kind="dataset", name="d", version="1", digest="0", path=str(path),
        described=UsedSplit(rows=len(rows), split=None, uses=[], reward_recipe=None),
    )  # fmt: skip
    asked = {"algorithm": "grpo", "offline": True, "trajectory_dataset_refs": ["d"], **config}
    resolved = ResolvedReferences(refs=(ref,))
    plan = plan_of(parse_request({"trainer_type": "rl", "model": "tiny-llama", "config": asked}), resolved)
    assert isinstance(plan, RLPlan)
    check_offline(plan, resolved)


@pytest.mark.parametrize(
    ("rewards", "config", "learns"),
    [
        ([1.0, 0.0], {}, True),
        ([1.0, 1.0], {}, False),
        ([1.0], {}, False),
        ([1.0, 1.0], {"advantage": "none"}, True),
        ([0.0, 0.0], {"advantage": "none"}, False),
        ([1.0, 1.0], {"baseline": "dataset"}, False),
        ([1.0, 0.5], {"baseline": "dataset", "advantage": "rloo"}, True),
    ],
)
def test_equal_rewards_teach_nothing(
    tmp_path: Path, rewards: list[float], config: dict[str, Any], learns: bool
) -> None:
    episodes = [episode(reward, f"answer {number}") for number, reward in enumerate(rewards)]
    if learns:
        check(tmp_path, *episodes, **config)
        return
    with pytest.raises(ValidationError, match="there is nothing to learn from 1 groups"):
        check(tmp_path, *episodes, **config)


def test_an_algorithm_without_a_bound_needs_recorded_log_probabilities(tmp_path: Path) -> None:
    """Of every episode."""
    with pytest.raises(ValidationError, match=r"config\.algorithm: .*; 1 of 2 trajectories have none: use grpo"):
        check(tmp_path, episode(1.0, recorded=True), episode(0.0), algorithm="importance_sampling")
    check(tmp_path, episode(1.0, recorded=True), episode(0.0, recorded=True), algorithm="importance_sampling")


def test_episodes_that_cannot_be_read_are_listed(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=r"rows.jsonl:2: .*reward is a finite number"):
        check(tmp_path, episode(1.0), {**episode(1.0), "reward": "much"})
