"""world_episode_v1: episodes in worlds, rewarded by a reward policy (`harena.training.environments.worlds`). It makes
rollouts: `harena.training.rollouts.recipes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harena.core.errors import HarenaError, ValidationError
from harena.core.records.worlds import TrajectoryOrder, WorldManifest
from harena.core.worlds import DEFAULT_GOAL
from harena.training.data.prompts import PromptRow
from harena.training.environments.worlds import WorldEnvironment, world_reward
from harena.training.rollouts.trajectory import Candidate, Reward
from harena.worlds.atif import task_of, trajectory_of
from harena.worlds.episodes import kept_episodes
from harena.worlds.game import Goal, goal_of
from harena.worlds.known import network_of
from harena.worlds.network import Network
from harena.worlds.sft_rows import IN_LINES
from harena.worlds.shortest import shortest_way

MAX_TURNS = 8


def world_row(manifest: WorldManifest, goal: str | None = None) -> dict[str, Any]:
    """A prompt that begins an episode in a world. Raises ValidationError for a goal that cannot be reached there."""
    network = network_of(manifest)
    wanted = goal_of(network, goal or DEFAULT_GOAL)
    if shortest_way(network, wanted) is None:
        raise ValidationError(f"goal: no way leads to {wanted.name}")
    return {
        "id": f"{manifest.name}: {wanted.name}",
        "prompt": f"{IN_LINES}\n\n{task_of(network, wanted.name)}",
        "world": manifest.to_dict(),
        "goal": wanted.name,
    }


def sampled_rows(manifest: WorldManifest, order: TrajectoryOrder) -> Sequence[Mapping[str, Any]]:
    """The trajectories of an order, as rows. Raises ValidationError for a goal that cannot be reached there, and where
    none of the episodes is kept."""
    network = network_of(manifest)
    wanted = goal_of(network, order.goal)
    if shortest_way(network, wanted) is None:
        raise ValidationError(f"goal: no way leads to {wanted.name}")
    rows = [trajectory_of(network, manifest, order, episode) for episode in kept_episodes(network, wanted, order)]
    if not rows:
        raise ValidationError(
            f"none of {order.count} episodes of {order.strategy} reached {wanted.name} within {order.max_steps} steps: "
            "give more steps (max_episode_steps), another agent (world_agent_name), or a smaller world"
        )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldEpisode:
    """An episode in the world of its row (`world` of its metadata: a manifest), towards the row's `goal`."""

    policy: str = "heuristic_v1"
    values: Mapping[str, float] = field(default_factory=dict)
    """part of the policy -> what it is worth here"""
    max_turns: int = MAX_TURNS
    name = "world_episode_v1"

    def __post_init__(self) -> None:
        world_reward(self.policy, self.values)
        if self.max_turns < 1:
            raise ValidationError(f"max_turns must be at least 1 (got {self.max_turns})")

    @property
    def deterministic(self) -> bool:
        """Equal turns lead to equal ends."""
        return True

    def check(self, row: PromptRow) -> list[str]:
        """The row has a world, and a goal that the world has."""
        try:
            _world_of(row)
        except ValidationError as error:
            return [str(error)]
        return []

    def environment(self, row: PromptRow) -> WorldEnvironment:
        """For one episode."""
        network, goal = _world_of(row)
        return WorldEnvironment(network, goal, world_reward(self.policy, self.values))

    async def reward(self, row: PromptRow, text: Candidate) -> Reward:
        """Raises HarenaError: one text is no episode."""
        raise HarenaError("world_episode_v1 rewards episodes, not single answers: make rollouts of it")


def _world_of(row: PromptRow) -> tuple[Network, Goal]:
    """Raises ValidationError."""
    written = row.metadata.get("world")
    if not isinstance(written, Mapping):
        raise ValidationError("the row has no world: give it a manifest (`world`)")
    network = network_of(WorldManifest.checked(written))
    goal = row.metadata.get("goal")
    if goal is not None and not isinstance(goal, str):
        raise ValidationError("goal: must be the name of a group")
    return network, goal_of(network, goal or DEFAULT_GOAL)
