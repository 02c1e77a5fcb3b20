"""PPO with a critic: the estimate, what is trained, what is saved and exported, and that it learns."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from small_engine import ALPHABET
from transformers import AutoModelForCausalLM

from harena.training.data.prompts import PromptRow
from harena.training.engines.critic import HEAD, CriticEngine, estimated
from harena.training.engines.models import Lora, with_adapter
from harena.training.engines.tiny import character_tokenizer, tiny_llama
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.batch import TrainingBatch, TrainingRow
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.ports import OptimizerStep
from harena.training.rewards import Overlong, Rule
from harena.training.rollouts.trajectory import Sampling

LOSS = loss_spec("ppo", max_steps_off_policy=0, critic=True)


def new_engine(*, lora: bool = False) -> CriticEngine:
    tokenizer = character_tokenizer(ALPHABET)
    model: Any = tiny_llama(len(tokenizer), seed=0, width=32, layers=2, heads=2, context_length=64)
    return CriticEngine(with_adapter(model, Lora(rank=2)) if lora else model, tokenizer)


def batch(*rewards: float) -> TrainingBatch:
    rows = tuple(
        TrainingRow(tokens=(3, 4, 5, 6), mask=(0, 0, 1, 1), logprobs=(0.0, 0.0, -3.0, -3.0), advantage=reward)
        for reward in rewards
    )
    return TrainingBatch(rows=rows, denominator=2.0 * len(rows))


@pytest.mark.parametrize("gae_lambda", [0.0, 0.5, 1.0])
def test_the_estimate_is_the_papers(gae_lambda: float) -> None:
    """Written the slow way: a sum over what is ahead, with powers of lambda."""
    drawn = random.Random(3)
    values = [drawn.random() for _ in range(6)]
    following, rewards = [*values[1:], 0.0], [0.0] * 5 + [2.0]
    deltas = [r + after - now for r, after, now in zip(rewards, following, values, strict=True)]
    wanted = [sum(gae_lambda ** (u - t) * deltas[u] for u in range(t, 6)) for t in range(6)]
    assert estimated(torch.tensor(values), 2.0, gae_lambda).tolist() == pytest.approx(wanted, abs=1e-6)


async def test_the_critic_learns_what_is_earned_and_leaves_the_policy_alone() -> None:
    """A reward of every answer is expected after a while, so that nothing is left to learn from it."""
    engine = new_engine()
    step = OptimizerStep(learning_rate=0.02)
    told = []
    for _ in range(60):
        report = await engine.forward_backward(batch(1.0, 1.0), LOSS)
        told.append(report.metrics["value_loss"])
        policy = {name for name, p in engine._model.named_parameters() if p.grad is not None and p.grad.abs().max() > 0}
        assert f"{HEAD}.weight" in policy
        for name, parameter in engine._model.named_parameters():
            if not name.startswith(HEAD):
                parameter.grad = None  # the critic alone
        await engine.optim_step(step)
    assert told[0] == pytest.approx(0.5 * (0.95**2 + 1) / 4, abs=1e-6), "values begin at zero"
    assert told[-1] < told[0] / 20
    columns, _ = engine._columns([[row] for row in batch(1.0).rows], LOSS)
    assert columns.advantages.abs().max() < 0.3
    before = columns.value_loss
    assert before is not None
    before.sum().backward()
    assert all(p.grad is None for name, p in engine._model.named_parameters() if not name.startswith(HEAD))
    await engine.close()


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # what peft asks transformers
@pytest.mark.parametrize("lora", [False, True])
async def test_checkpoints_have_the_critic_and_exported_models_have_none(tmp_path: Path, lora: bool) -> None:
    engine, other = new_engine(lora=lora), new_engine(lora=lora)
    for _ in range(3):
        await engine.forward_backward(batch(1.0, 0.0), LOSS)
        await engine.optim_step(OptimizerStep(learning_rate=0.02))
    (tmp_path / "saved").mkdir()
    await engine.save(tmp_path / "saved")
    await other.load(tmp_path / "saved")
    assert torch.equal(other._head.weight, engine._head.weight)
    assert engine._head.weight.abs().max() > 0
    await engine.export(tmp_path / "model")
    exported = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    assert not [name for name, _ in exported.named_parameters() if HEAD in name]
    if lora:
        await engine.export_adapter(tmp_path / "adapter")
        assert (tmp_path / "adapter/adapter_config.json").is_file()
    await engine.forward_backward(batch(1.0), LOSS)  # the critic is there again
    await engine.close()
    await other.close()


async def test_it_learns_from_rewards() -> None:
    """The letters of the first half are paid, each prompt is answered once, and the policy writes more of them."""
    engine = new_engine()
    rows = [PromptRow(id=f"p{number}", prompt=f"{number}>") for number in range(8)]
    recipe = Rule(lambda row, text: sum(letter in "abcdefghijklm" for letter in text) / 4)
    settings = RLSettings(
        steps=30,
        groups_per_step=16,
        group_size=1,
        advantage="none",
        sampling=Sampling(max_new_tokens=4, stop_tokens=()),
        loss=LOSS,
        overlong=Overlong(policy="score"),
        learning_rate=5e-3,
        warmup_steps=2,
    )
    told: list[dict[str, float]] = []
    await RLLoop(engine, rows, recipe, settings).run(on_step=lambda step, metrics: told.append(dict(metrics)))
    await engine.close()
    rewards = [metrics["reward"] for metrics in told]
    assert sum(rewards[-5:]) / 5 > sum(rewards[:5]) / 5 + 0.3
    assert all("value_loss" in metrics for metrics in told)
