"""Episodes that a model plays in a world, and learns nothing from: an agent's trajectories.

episodes.json   [[[tool, {argument: value}], ...], ...]: the actions of each episode, refused ones among them
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harena.core.errors import PlatformError
from harena.core.records.training_plans import RLPlan
from harena.core.records.worlds import WorldManifest
from harena.core.training_jobs import EPISODES_FILE
from harena.training.data.datasets import prompt_rows
from harena.training.data.prompts import PromptRow, sample_key
from harena.training.environments.worlds import actions_of
from harena.training.requests.plan import rl_settings
from harena.training.rewards import reward_recipe
from harena.training.rollouts.recipes import rollouts_of
from harena.training.rollouts.rollout import Policy, RolloutRequest, Rollouts
from harena.training.rollouts.trajectory import StopReason, Trajectory
from harena.training.worker.engine import chat_template, open_engine
from harena.training.worker.job import TrainingWork
from harena.worlds.known import network_of


async def play_episodes(work: TrainingWork, plan: RLPlan, count: int) -> Mapping[str, Any]:
    """The artifacts: the episodes, in the work's folder. Raises ValidationError, PlatformError."""
    engine = await asyncio.to_thread(open_engine, work.resolved, plan.tuning, seed=plan.seed)
    template = chat_template(engine, work.capability_prompt)
    ref = work.resolved.prompts
    assert ref is not None, "the plan of a world has the prompt that begins it"
    assert plan.reward is not None, "episodes in a world have a reward policy"
    room = engine.context_length - plan.max_new_tokens
    ((row,), _) = prompt_rows(
        Path(ref.path or ""), engine.tokenizer, template=template, max_prompt_tokens=room, room="the model's context"
    )
    rollouts = rollouts_of(
        reward_recipe(plan.reward.name, plan.reward.params, task=None), template=template, max_turns=plan.max_turns
    )
    await rollouts.prepare([row])
    settings = rl_settings(plan, engine.tokenizer.end_tokens)
    policy = Policy(engine, settings.sampling, lockstep=True)
    played = await asyncio.gather(*(_played(rollouts, row, policy, plan.seed, number) for number in range(count)))
    manifest = row.metadata["world"]
    assert isinstance(manifest, Mapping)
    network = network_of(WorldManifest.checked(manifest))
    told = [actions_of(network, [turn.text for turn in one.turns]) for one in played]
    await asyncio.to_thread((work.folder / EPISODES_FILE).write_text, json.dumps(told))
    await engine.close()
    work.artifacts["episodes"] = EPISODES_FILE
    return work.artifacts


async def _played(rollouts: Rollouts, row: PromptRow, policy: Policy, seed: int, number: int) -> Trajectory:
    prompt = policy.tokenizer.encode(row.prompt)
    key = sample_key(seed, place=0, sample=number)
    found = await rollouts.rollout(RolloutRequest(row=row, prompt=prompt, sample=number, key=key), policy)
    if found.stop == StopReason.ENVIRONMENT_FAULT:
        raise PlatformError(f"episode {number} cannot be played: {found.reward.detail}", step="world")
    return found
