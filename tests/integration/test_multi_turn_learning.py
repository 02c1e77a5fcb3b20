"""A tiny model learns over several turns: which number to ask for, told only whether the game was won."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import ModuleType

import pytest
import torch

import harena
from harena.training.data.prompts import PromptRow, sample_key
from harena.training.loop.batch import TrainingRow
from harena.training.rollouts.rollout import Policy, RolloutRequest
from harena.training.rollouts.trajectory import Sampling, Trajectory
from harena.training.rollouts.turns import Episodes

pytestmark = pytest.mark.thorough

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def game(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    torch.set_num_threads(1)
    import guess_number

    return guess_number


@pytest.mark.parametrize("staleness", [0, 2])
async def test_it_learns_to_search(game: ModuleType, staleness: int) -> None:
    """From three of seven by chance; no single answer could be rewarded for the first guess."""
    engine = game.new_engine(1)
    learning = game.learn(engine, game.Game, seed=1, steps=110, group_size=16, staleness=staleness)
    told = await asyncio.wait_for(learning, 110)
    await engine.close()
    assert game.found(told[:10]) < 0.45
    assert game.found(told[-20:]) > 0.48  # of 2,240 games; by chance 0.43, give or take 0.01
    assert max(metrics["staleness/max"] for metrics in told) <= staleness
    if staleness == 0:  # what was sampled is what is trained: over every turn, with what was told between them
        assert max(abs(metrics.get("k3_mu", 0.0)) for metrics in told) < 1e-5


@pytest.mark.parametrize("staleness", [0, 1])
async def test_sandboxes_answer_and_end_with_their_games(game: ModuleType, staleness: int) -> None:
    engine = game.new_engine(0)
    learning = game.learn(engine, game.SandboxGame, seed=0, steps=3, group_size=3, staleness=staleness)
    told = await asyncio.wait_for(learning, 100)
    await engine.close()
    assert all(metrics["masked_share"] == 0 for metrics in told)
    assert 0 < game.found(told) < 1
    assert await harena.Sandbox.list(status="running") == []


async def test_sampler_and_trainer_agree_on_every_token_of_an_episode(game: ModuleType) -> None:
    """Turn after turn was sampled with a prompt that grew; the trainer sees the whole at once."""
    engine = game.new_engine(0)
    row = PromptRow(id="5", prompt="g", metadata={"secret": 5})
    policy = Policy(engine, Sampling(max_new_tokens=1, stop_tokens=tuple(range(14))), lockstep=True)
    episodes = Episodes(game.Game, max_turns=3)

    async def one(sample: int) -> Trajectory:
        key = sample_key(3, place=0, sample=sample)
        return await episodes.rollout(RolloutRequest(row=row, prompt=(13,), sample=sample, key=key), policy)

    told = await asyncio.gather(*(one(sample) for sample in range(24)))
    rows = [TrainingRow(tokens=t.tokens, mask=t.mask, logprobs=t.logprobs) for t in told]
    assert {len(t.turns) for t in told} == {1, 2, 3}
    for row_, again in zip(rows, await engine.logprobs(rows), strict=True):
        sampled = [value for value, chosen in zip(row_.logprobs, row_.mask, strict=True) if chosen]
        assert again == pytest.approx(sampled, abs=1e-5)
    await engine.close()
