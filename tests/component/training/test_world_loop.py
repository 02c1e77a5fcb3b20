"""A loop whose rollouts are episodes in worlds, on a real engine over a model that knows nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from harena import WorldManifest
from harena.training.data.datasets import prompt_row_of
from harena.training.engines.local import LocalEngine
from harena.training.engines.tiny import character_tokenizer, tiny_llama
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.rewards import reward_recipe
from harena.training.rewards.worlds import world_row
from harena.training.rollouts.recipes import rollouts_of
from harena.training.rollouts.trajectory import Sampling
from harena.training.shipped_models import PRINTABLE


async def test_steps_are_made_of_episodes_in_two_worlds() -> None:
    """What is said by chance is no action: each turn costs, and so does the end. Nothing leaves its group."""
    tokenizer = character_tokenizer(PRINTABLE)
    every = tuple(range(len(tokenizer)))
    model = tiny_llama(len(tokenizer), seed=0, width=16, layers=1, heads=2, context_length=4096)
    engine = LocalEngine(model, tokenizer)
    worlds = [WorldManifest.checked({"name": name, "seed": seed}) for name, seed in (("v", 2), ("w", 3))]
    rows = [prompt_row_of(json.loads(json.dumps(world_row(world))), id=world.name) for world in worlds]
    settings = RLSettings(
        steps=2,
        groups_per_step=2,
        group_size=2,
        sampling=Sampling(max_new_tokens=1, stop_tokens=every),
        learning_rate=1e-3,
        seed=1,
    )
    told: list[Mapping[str, float]] = []
    rollouts = rollouts_of(reward_recipe("world_episode_v1", {"policy": "heuristic_v1"}), max_turns=2)
    loop = RLLoop(engine, rows, None, settings, rollouts=rollouts)
    await loop.run(on_step=lambda step, metrics: told.append(dict(metrics)))
    await engine.close()
    assert len(told) == 2
    for metrics in told:
        assert metrics["reward"] == pytest.approx(2 * -0.20 - 0.35)
        assert metrics["masked_share"] == 0
