"""The worlds of a node's workspaces: made of manifests, kept, listed and shown."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from harena.core.clock import Clock
from harena.core.errors import LimitExceededError, NotFoundError, ValidationError
from harena.core.records.worlds import TrajectoryOrder, World, WorldManifest, WorldMap, WorldsPage
from harena.core.threads import WORLD_GAMES
from harena.core.workspace import CheckRoom
from harena.core.world_store import NewWorld, StoredWorld, WorldStorePort
from harena.core.worlds import AGENT, MOST_WORLDS, WORLDS, WorldPreset
from harena.worlds.episodes import play
from harena.worlds.game import goal_of
from harena.worlds.known import network_of
from harena.worlds.pictures import svg_map, text_map
from harena.worlds.shortest import reachable_goals


class WorldManifests:
    """The worlds that workspaces keep. Used from one event loop."""

    def __init__(self, store: Callable[[], Awaitable[WorldStorePort]], clock: Clock, check_room: CheckRoom) -> None:
        """`check_room` is asked before a world is kept."""
        self._store = store
        self._clock = clock
        self._check_room = check_room

    async def create(
        self,
        workspace: str,
        name: str,
        *,
        preset: WorldPreset = "small",
        seed: int = 0,
        num_users: int | None = None,
        num_hosts: int | None = None,
        domains: Sequence[str] = (),
    ) -> World:
        """Check a manifest, make its world and keep it. Raises ValidationError, LimitExceededError."""
        given = {"name": name, "preset": preset, "seed": seed, "num_users": num_users, "num_hosts": num_hosts}
        manifest = WorldManifest.checked({**given, "domains": [*domains] or None})
        new = NewWorld(
            id=f"world_{secrets.token_hex(8)}",
            workspace=workspace,
            name=manifest.name,
            manifest=manifest.to_dict(),
            facts=await WORLD_GAMES.run_for(workspace, lambda: _facts(manifest)),
            created_at=self._clock.utcnow().isoformat(),
        )
        await self._check_room(workspace, len(json.dumps([new.manifest, new.facts])))
        if not await (await self._store()).add_world(new, most=MOST_WORLDS):
            raise LimitExceededError(
                f"the workspace has {MOST_WORLDS} worlds, which is as many as one may keep: delete one that nobody "
                "needs any more (harena world rm)",
                reason=WORLDS,
            )
        return _answer(new)

    async def list(
        self, workspace: str, *, name: str | None = None, limit: int = 100, cursor: int | None = None
    ) -> WorldsPage:
        """Read one page of the workspace's worlds, the newest first."""
        page = await (await self._store()).worlds(workspace, name=name, before=cursor, limit=limit)
        return WorldsPage(worlds=[*map(_answer, page)], next_cursor=page[-1].sequence if page.more else None)

    async def get(self, workspace: str, world: str) -> World:
        """Look a world up, by its id or name. Raises NotFoundError."""
        return _answer(await self.find(workspace, world))

    async def map(self, workspace: str, world: str, *, job: str | None = None, episode: int = 0) -> WorldMap:
        """Draw a world, and the way of a job's episode. Raises NotFoundError, ValidationError."""
        found = await self.find(workspace, world)
        manifest, order = WorldManifest.from_dict(found.manifest), None
        if job is not None:
            store = await self._store()
            row = await store.find_job(workspace, job)
            if row is None or row.world != found.id:
                raise NotFoundError(f"the world {found.id} has no job {job!r:.140}")
            order = TrajectoryOrder.from_dict(row.trajectories)
            if order.mode == AGENT:
                raise ValidationError(
                    f"job: the way of a model is in its data set: harena pull dataset {row.dataset} shows it"
                )
            if episode >= order.count:
                raise ValidationError(f"episode: the job has episodes 0 to {order.count - 1} (got {episode})")

        def drawn() -> WorldMap:
            network = network_of(manifest)
            played = None if order is None else play(network, goal_of(network, order.goal), order, episode)
            return WorldMap(world=found.id, text=text_map(network, played), svg=svg_map(network, played))

        return await WORLD_GAMES.run_for(workspace, drawn)

    async def delete(self, workspace: str, world: str) -> None:
        """Remove a world. Raises NotFoundError."""
        found = await self.find(workspace, world)
        await (await self._store()).remove_world(workspace, found.id)

    async def manifest(self, workspace: str, world: str) -> WorldManifest:
        """A world's manifest, by its id or name. Raises NotFoundError."""
        return WorldManifest.from_dict((await self.find(workspace, world)).manifest)

    async def find(self, workspace: str, world: str) -> StoredWorld:
        """A world's row, by its id or name. Raises NotFoundError."""
        found = await (await self._store()).find_world(workspace, world)
        if found is None:
            raise NotFoundError(f"the workspace has no world {world!r:.140}")
        return found


def _facts(manifest: WorldManifest) -> dict[str, Any]:
    network = network_of(manifest)
    goals = [
        {"name": goal.name, "steps": goal.steps, "optimal_return": goal.optimal_return}
        for goal in reachable_goals(network)
    ]
    return {
        "digest": network.digest,
        "groups": len(network.groups),
        "edges": network.edges,
        "sessions": len(network.sessions),
        "open_credentials": len(network.open_credentials),
        "goals": goals,
    }


def _answer(kept: NewWorld) -> World:
    return World.from_dict({"id": kept.id, "manifest": kept.manifest, "created_at": kept.created_at, **kept.facts})
