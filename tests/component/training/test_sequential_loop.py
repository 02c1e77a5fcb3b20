"""The loop against plain ones that know nothing of it: S = 0 to the bit, and the gradient of a whole step."""

from __future__ import annotations

import asyncio
import hashlib
import math
import random
from typing import Any

import pytest
import torch
from small_engine import new_engine

from harena.core.records.training_plans import LossSpec
from harena.training.data.prompts import PromptRow
from harena.training.engines.local import LocalEngine
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.batch import TrainingBatch, TrainingRow, rl_batch
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.ports import OptimizerStep
from harena.training.rewards import Overlong, Rule
from harena.training.rollouts.trajectory import (
    Group,
    Reward,
    RewardValidity,
    Sampled,
    SampleRequest,
    Sampling,
    StopReason,
    Trajectory,
    single_turn,
)

ROWS = [PromptRow(id=f"p{number}", prompt=f"add {number}>"[: 5 + number % 2]) for number in range(7)]
STOPS = tuple(range(3, 12))
STEPS, GROUPS, SIZE, MOST, RATE = 5, 3, 4, 10, 0.01


def kinds(text: str) -> float:
    """The reward: any function of the text would do."""
    return len(set(text)) % 3 / 2


def digest(engine: LocalEngine) -> str:
    sha = hashlib.sha256()
    for name, value in sorted(engine._model.state_dict().items()):
        sha.update(name.encode() + value.numpy().tobytes())
    return sha.hexdigest()


async def plain_loop(engine: LocalEngine, seed: int) -> None:
    """One step after the other: sample all, reward all, learn from all."""
    sampling = Sampling(max_new_tokens=MOST, stop_tokens=STOPS)
    order: list[int] = []
    for epoch in range(STEPS * GROUPS // len(ROWS) + 1):
        shuffled = list(range(len(ROWS)))
        random.Random(f"{seed}/{epoch}").shuffle(shuffled)
        order += shuffled
    for step in range(STEPS):
        places = [step * GROUPS + k for k in range(GROUPS)]
        prompts = [engine.tokenizer.encode(ROWS[order[place]].prompt) for place in places]
        said = await asyncio.gather(*engine.sample([
            SampleRequest(prompt=prompt, key=(seed, place, sample, 0, 0), sampling=sampling)
            for place, prompt in zip(places, prompts, strict=True) for sample in range(SIZE)
        ]))  # fmt: skip
        rewards = [kinds(engine.tokenizer.decode(answer.tokens)) for answer in said]
        rows, tokens = [], 0
        for place in range(GROUPS):
            mine = rewards[place * SIZE : (place + 1) * SIZE]
            mean = math.fsum(mine) / SIZE
            scale = math.sqrt(math.fsum((reward - mean) ** 2 for reward in mine) / SIZE) + 1e-4
            for answer, reward in zip(said[place * SIZE : (place + 1) * SIZE], mine, strict=True):
                tokens += len(answer.tokens)
                if reward != mean:
                    rows.append(row_of(prompts[place], answer, (reward - mean) / scale))
        if rows:
            await engine.forward_backward(TrainingBatch(rows=tuple(rows), denominator=tokens), LossSpec())
            await engine.optim_step(OptimizerStep(learning_rate=RATE * (1 - 0.9 * step / STEPS)))
        await engine.publish()


def reward_of(value: float | None) -> Reward:
    return Reward(value=value, validity=RewardValidity.VALID if value is not None else RewardValidity.INFRA)


def row_of(prompt: tuple[int, ...], answer: Sampled, advantage: float) -> TrainingRow:
    given = len(prompt)
    return TrainingRow(
        tokens=prompt + answer.tokens,
        mask=(0,) * given + (1,) * len(answer.tokens),
        logprobs=(0.0,) * given + answer.logprobs,
        advantage=advantage,
    )


@pytest.mark.parametrize("seed", [0, 5])
async def test_sync_is_the_plain_loop_to_the_bit(seed: int) -> None:
    settings = RLSettings(
        steps=STEPS, groups_per_step=GROUPS, group_size=SIZE, learning_rate=RATE, warmup_steps=0, seed=seed,
        sampling=Sampling(max_new_tokens=MOST, stop_tokens=STOPS), overlong=Overlong(policy="score"),
    )  # fmt: skip
    one, other = new_engine(), new_engine()
    before = digest(one)
    await RLLoop(one, ROWS, Rule(lambda row, text: kinds(text)), settings).run()
    await plain_loop(other, seed)
    assert digest(one) == digest(other) != before
    await one.close()
    await other.close()


SPECS = [
    loss_spec("grpo", max_steps_off_policy=0, kl_coefficient=0.2),
    loss_spec("grpo", max_steps_off_policy=0, aggregation="constant"),
    loss_spec("ppo", max_steps_off_policy=0, aggregation="sequence", kl_coefficient=0.2),
    loss_spec("cispo", max_steps_off_policy=0),
    loss_spec("gspo", max_steps_off_policy=0, aggregation="sequence", clip_low=0.5, clip_high=0.9),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: f"{s.algorithm}-{s.aggregation}-{s.kl_coefficient}")
async def test_the_gradient_of_a_step_is_that_of_its_groups_one_by_one(spec: LossSpec) -> None:
    """Every parameter, under three cuts into micro-batches, padded and packed, against one sequence at a time: no
    padding, no batch, all groups, those with nothing to teach too."""
    made = []
    for most, pack in ((24, False), (60, True), (60, False), (10_000, True), (10_000, False)):
        engine = new_engine(micro_batch_tokens=most, keep_reference=True, pack=pack)
        await engine.forward_backward(TrainingBatch(rows=(shove(engine),), denominator=1.0), None)
        await engine.optim_step(OptimizerStep(learning_rate=0.02))  # so that the reference is another one
        groups = some_groups(engine)
        batch, _ = rl_batch(groups, rule="group_mean", loss=spec, max_new_tokens=MOST, temperature=1.0)
        report = await engine.forward_backward(batch, spec)
        made.append((report.loss, [parameter.grad.clone() for parameter in engine._trained]))
        if (most, pack) == (10_000, False):
            engine._optimizer.zero_grad()
            value = naive_loss(engine, groups, spec)
            value.backward()
            made.append((float(value.detach()), [parameter.grad.clone() for parameter in engine._trained]))
        await engine.close()
    *cuts, (value, gradient) = made
    assert max(float(part.abs().max()) for part in gradient) > 1e-3
    for loss, parts in cuts:
        assert loss == pytest.approx(value, abs=1e-6)
        for part, wanted in zip(parts, gradient, strict=True):
            assert float((part - wanted).abs().max()) < 1e-6


def shove(engine: LocalEngine) -> TrainingRow:
    tokens = engine.tokenizer.encode("add 3>(x+3)")
    return TrainingRow(tokens=tokens, mask=(0,) * 6 + (1,) * (len(tokens) - 6))


def some_groups(engine: LocalEngine) -> list[Group]:
    """Two to learn from, one of equal rewards, one that lost all but one rollout; lengths from 1."""
    rng = random.Random(3)
    groups = []
    for number, rewards in enumerate([(1.0, 0.0, 0.5), (0.3, 0.3, 0.3), (0.0, 0.0, 1.0), (None, None, 1.0)]):
        trajectories = []
        for sample, reward in enumerate(rewards):
            count = rng.randint(1, MOST)
            answer = Sampled(
                tokens=tuple(rng.randrange(3, 40) for _ in range(count)),
                logprobs=tuple(rng.uniform(-4.5, -3.0) for _ in range(count)),
                versions=(0,) * count,
                stop=StopReason.STOP,
            )
            prompt = engine.tokenizer.encode("add 3 then double>"[number:])
            trajectories.append(
                single_turn(
                    prompt_id="p", sample=sample, prompt=prompt, sampled=answer, text="", reward=reward_of(reward),
                    seconds={},
                )
            )  # fmt: skip
        groups.append(Group(number=number, prompt_id="p", trajectories=tuple(trajectories)))
    return groups


def naive_loss(engine: LocalEngine, groups: list[Group], spec: LossSpec) -> Any:
    """As `harena.training.loop.algorithms` says, over all groups that have two rewards."""
    left = [group for group in groups if len(group.valid) > 1]
    every = [trajectory for group in left for trajectory in group.trajectories]
    tokens = sum(trajectory.length for trajectory in every)
    denominator = {"token": tokens, "sequence": len(every), "constant": len(every) * MOST}[spec.aggregation]
    total: Any = 0.0
    for group in left:
        rewards = [trajectory.reward.value or 0.0 for trajectory in group.trajectories]
        for trajectory, reward in zip(group.trajectories, rewards, strict=True):
            term = terms(engine, trajectory, reward - sum(rewards) / len(rewards), spec).sum()
            total = total + (term / trajectory.length if spec.aggregation == "sequence" else term)
    return total / denominator


def terms(engine: LocalEngine, trajectory: Trajectory, advantage: float, spec: LossSpec) -> Any:
    pi = logprobs(engine._model, trajectory)
    mu = torch.tensor([value for value, chosen in zip(trajectory.logprobs, trajectory.mask, strict=True) if chosen])
    ratio = (pi - mu).exp()
    if spec.algorithm == "gspo":
        ratio = (pi - mu).mean().exp().expand(len(pi))
    if spec.algorithm == "cispo":
        loss = -ratio.detach().clamp(max=1 + (spec.clip_high or 0)) * advantage * pi
    else:
        clipped = ratio.clamp(1 - (spec.clip_low or 0), 1 + (spec.clip_high or 0))
        loss = -torch.minimum(ratio * advantage, clipped * advantage)
    if spec.kl_coefficient:
        with torch.no_grad():
            reference = logprobs(engine._original, trajectory)
        difference = reference - pi
        loss = loss + spec.kl_coefficient * (difference.exp() - difference - 1)
    return loss


def logprobs(model: Any, trajectory: Trajectory) -> Any:
    """One sequence, alone."""
    every = model(torch.tensor([trajectory.tokens])).logits[0].log_softmax(-1)
    places = [place for place, chosen in enumerate(trajectory.mask) if chosen]
    return torch.stack([every[place - 1, trajectory.tokens[place]] for place in places])
