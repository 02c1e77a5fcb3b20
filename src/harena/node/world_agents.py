"""Models as players of worlds: a world's job asks the training plane for them, whose workers can load models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harena.core.records.objects import ResolvedReference
from harena.core.records.worlds import TrajectoryOrder
from harena.worlds.episodes import Call

Accept = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""(workspace, a request for training) -> what it is accepted as"""
Play = Callable[[str, Mapping[str, Any], int], Awaitable[Sequence[Sequence[Call]]]]
"""(workspace, what was accepted, episodes) -> the actions of each"""


class WorldAgents:
    """Implements `AgentPlayers`."""

    def __init__(self, accept: Accept, play: Play) -> None:
        self._accept = accept
        self._play = play

    async def pinned(self, workspace: str, world: str, order: TrajectoryOrder) -> TrajectoryOrder:
        """The order with its model replaced by that model's exact version. Raises ValidationError, NotFoundError."""
        accepted = await self._accept(workspace, _request(world, order))
        refs = [ResolvedReference.from_dict(ref) for ref in accepted["resolved"]]
        model = next(ref for ref in refs if ref.where == "model")
        return replace(order, agent_model=model.ref)

    async def played(self, workspace: str, world: str, order: TrajectoryOrder) -> Sequence[Sequence[Call]]:
        """The actions of each episode. Raises ValidationError, NotFoundError, PlatformError."""
        accepted = await self._accept(workspace, _request(world, order))
        return await self._play(workspace, accepted, order.count)


def _request(world: str, order: TrajectoryOrder) -> dict[str, Any]:
    """The request for an RL job that would play in this world: it is checked, and its model resolved, as one."""
    config = {
        "algorithm": "grpo",
        "tuning": "full",
        "world_manifest_id": world,
        "world_goal": order.goal,
        "max_turns": order.max_steps,
        "seed": order.seed,
    }
    name, _, version = (order.capability or "").partition("@")
    scaffold = {"capability_ref": {"name": name, "version": version}} if order.capability else {}
    return {"trainer_type": "rl", "model": order.agent_model, "config": config, **scaffold}
