"""What a node can do with worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Protocol

from harena.core.parameters import Bounds, Cursor, Id, Limit, OptionalWord
from harena.core.worlds import (
    DOMAIN_PATTERN,
    LEAST_HOSTS,
    LEAST_USERS,
    MOST_COUNT,
    MOST_DOMAIN,
    MOST_DOMAINS,
    MOST_HOSTS,
    MOST_NAME,
    MOST_SEED,
    MOST_USERS,
    NAME_PATTERN,
    WorldPreset,
)

if TYPE_CHECKING:
    from harena.core.records.worlds import World, WorldMap, WorldsPage


class WorldManifestOperations(Protocol):
    """Worlds of one workspace."""

    async def create_world_manifest(
        self,
        name: Annotated[str, Bounds(pattern=NAME_PATTERN, max_length=MOST_NAME)],
        *,
        preset: WorldPreset = "small",
        seed: Annotated[int, Bounds(ge=0, le=MOST_SEED)] = 0,
        num_users: Annotated[int | None, Bounds(ge=LEAST_USERS, le=MOST_USERS)] = None,
        num_hosts: Annotated[int | None, Bounds(ge=LEAST_HOSTS, le=MOST_HOSTS)] = None,
        domains: Annotated[
            Sequence[Annotated[str, Bounds(pattern=DOMAIN_PATTERN, max_length=MOST_DOMAIN)]],
            Bounds(max_length=MOST_DOMAINS),
        ] = (),
    ) -> World:
        """Make a world of its manifest: an abstract game on a graph, the same for the same manifest. Its preset says
        what is left out.

        Raises ValidationError, which names each field that is wrong, and LimitExceededError with the reason WORLDS."""

    async def list_world_manifests(
        self, *, name: OptionalWord = None, limit: Limit = 100, cursor: Cursor = None
    ) -> WorldsPage:
        """Worlds of your workspace, the newest first."""

    async def get_world_manifest(self, world: Id) -> World:
        """A world by its id or name (the newest of that name).

        Raises NotFoundError."""

    async def world_manifest_map(
        self,
        world: Id,
        *,
        job: OptionalWord = None,
        episode: Annotated[int, Bounds(ge=0, le=MOST_COUNT - 1)] = 0,
    ) -> WorldMap:
        """A picture of a world, as SVG and in lines; with a job of this world, with the way that its player went in the
        episode of this number.

        Raises NotFoundError, ValidationError."""

    async def delete_world_manifest(self, world: Id) -> None:
        """Forget a world. Jobs that make trajectories of it go on: they have its manifest.

        Raises NotFoundError."""
