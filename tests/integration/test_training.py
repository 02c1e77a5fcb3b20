"""A tiny model learns from nothing but what its programs do in sandboxes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch

from harena.core.records.training_plans import AlgorithmName, Correction
from harena.training.data.prompts import PromptRow
from harena.training.engines.local import LocalEngine
from harena.training.engines.tiny import character_tokenizer, tiny_llama
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.ledger import Ledger
from harena.training.loop.pauses import platform_works
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.loop.sft import SFTSettings, completion_row, train_sft
from harena.training.rewards import CodeTests
from harena.training.rollouts.trajectory import Sampling

pytestmark = pytest.mark.thorough

ANSWERS = {"add 2>": ("(x+2)", "(x-2)"), "times 3>": ("(x*3)", "(x+3)"), "negate>": ("(-x)", "(+x)")}
"""prompt -> (what is right, what the demonstrations mostly say)"""
RECIPE = CodeTests(template="def f(x):\n    return {completion}\n", blueprint_id="python-warm", timeout_seconds=10.0)


def rows() -> list[PromptRow]:
    def checks(right: str) -> list[dict[str, Any]]:
        return [{"args": [x], "expected": eval(right, {"x": x})} for x in (-3, 0, 4, 7)]

    return [
        PromptRow(id=prompt, prompt=prompt, scoring={"type": "tests", "entry_point": "f", "checks": checks(right)})
        for prompt, (right, _) in ANSWERS.items()
    ]


@pytest.mark.parametrize(
    ("algorithm", "staleness", "correction"),
    [
        ("grpo", 0, "bypass"),
        ("grpo", 1, "decoupled"),
        ("grpo", 3, "bypass"),
        ("ppo", 1, "bypass"),
        ("importance_sampling", 1, "bypass"),
        ("cispo", 1, "bypass"),
        ("gspo", 1, "bypass"),
    ],
)
async def test_it_learns_what_its_demonstrations_did_not_teach(
    tmp_path: Path, algorithm: AlgorithmName, staleness: int, correction: Correction
) -> None:
    """One demonstration of three is right; rewards from execution make the right answer the common one: in each mode,
    and with each algorithm that is offered.

    An operator that is right for one prompt is wrong for another, so what one prompt teaches makes the right answer of
    another rarer, and a group without a right sample teaches nothing: a prompt may lose its right answer for good. With
    such large groups, such shares at first and small steps that did not happen with any of three to eight seeds. Steps
    of gspo are twice as large: it clips nearly each of them.
    """
    torch.set_num_threads(1)
    tokenizer = character_tokenizer("abcdefghijklmnopqrstuvwxyz0123456789 >()+-*")
    model = tiny_llama(len(tokenizer), seed=0, width=48, layers=2, heads=2, context_length=48)
    engine = LocalEngine(model, tokenizer)
    demonstrations = [
        completion_row(engine.tokenizer, prompt, said, context_length=engine.context_length)
        for prompt, (right, wrong) in ANSWERS.items()
        for said in (right, wrong, wrong)
    ]
    await train_sft(engine, demonstrations, SFTSettings(steps=80, batch_size=9, learning_rate=5e-3))
    settings = RLSettings(
        steps=60,
        groups_per_step=3,
        group_size=32,
        sampling=Sampling(max_new_tokens=12, stop_tokens=engine.tokenizer.end_tokens),
        learning_rate=1e-3 if algorithm == "gspo" else 5e-4,
        loss=loss_spec(algorithm, max_steps_off_policy=staleness, correction=correction),
        max_steps_off_policy=staleness,
    )
    ledger = Ledger(tmp_path / "ledger.sqlite")
    told: list[dict[str, float]] = []
    loop = RLLoop(engine, rows(), RECIPE, settings, ledger=ledger)
    await loop.run(on_step=lambda step, metrics: told.append(dict(metrics)))
    await engine.close()
    assert fmean(metrics["reward"] for metrics in told[:2]) < 0.5
    assert fmean(metrics["reward"] for metrics in told[-20:]) > 0.75
    assert max(metrics["staleness/max"] for metrics in told) <= staleness
    assert all(metrics["masked_share"] == 0 for metrics in told)
    if staleness == 0:
        assert max(abs(metrics.get("k3_mu", 0.0)) for metrics in told) < 1e-5
    assert [len(numbers) for _, numbers, _ in ledger.steps()] == [3] * 60
    ledger.close()


async def test_the_probe_of_a_pause_runs_a_program() -> None:
    assert await platform_works()


async def test_a_reward_comes_from_a_run() -> None:
    """Right, wrong, broken, endless, and a program that ends its interpreter to look like success."""
    (row, *_) = rows()
    texts = ["(x+2)", "(x-2)", "(x+", "__import__('os')._exit(0)", "[None for _ in iter(int, 1)]"]
    recipe = CodeTests(template=RECIPE.template, blueprint_id="python-warm", timeout_seconds=1.0)
    rewards = await asyncio.gather(*(recipe.reward(row, text) for text in texts))
    assert [reward.value for reward in rewards] == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert [reward.reason for reward in rewards][1:3] == ["wrong_answer", "syntax_error"]
