"""Worlds: abstract games on a graph, made of manifests, to train players on. The verbs block; `world_manifests.aio` has
the same ones to await.

A world has no addresses, no programs and no secrets: nothing in it stands for anything that exists.
"""

from __future__ import annotations

from collections.abc import Sequence

from harena.core.checked import checked_text
from harena.core.records.worlds import World, WorldGoal, WorldManifest, WorldMap
from harena.core.worlds import MOST_WORLDS_PAGE, WorldPreset, manifest_fields
from harena.sdk.pages import collect_pages
from harena.sdk.portal import current_portal
from harena.sdk.twins import Twin

__all__ = ["World", "WorldGoal", "WorldManifest", "WorldMap", "aio", "create", "delete", "get", "list", "map"]

_Worlds = list[World]


async def _create(
    name: str,
    *,
    preset: WorldPreset = "small",
    seed: int = 0,
    num_users: int | None = None,
    num_hosts: int | None = None,
    domains: Sequence[str] | None = None,
) -> World:
    """Make a world and keep it: the same manifest is always the same world. `preset` ("small", "medium", "large",
    "enterprise") says what is left out. Raises ValidationError, which names each field that is wrong, and
    LimitExceededError."""
    given = {"name": name, "preset": preset, "seed": seed, "num_users": num_users, "num_hosts": num_hosts}
    manifest_fields({**given, "domains": domains})
    operations = await current_portal().operations()
    return await operations.create_world_manifest(
        name, preset=preset, seed=seed, num_users=num_users, num_hosts=num_hosts, domains=domains or ()
    )


async def _get(world: str) -> World:
    """The world of this id or name (the newest of that name). Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.get_world_manifest(checked_text(world, "world"))


async def _list(*, name: str | None = None, limit: int | None = None) -> _Worlds:
    """All worlds of the workspace, or those of this name, the newest first, up to `limit`."""

    async def page(cursor: int | None, size: int) -> tuple[_Worlds, int | None]:
        operations = await current_portal().operations()
        found = await operations.list_world_manifests(name=name, cursor=cursor, limit=size)
        return found.worlds, found.next_cursor

    return await collect_pages(page, limit, most=MOST_WORLDS_PAGE)


async def _map(world: str, *, job: str | None = None, episode: int = 0) -> WorldMap:
    """A picture of a world, as SVG and in lines; with a job of this world, with the way that its player went in the
    episode of this number. Raises NotFoundError, ValidationError."""
    operations = await current_portal().operations()
    return await operations.world_manifest_map(checked_text(world, "world"), job=job, episode=episode)


async def _delete(world: str) -> None:
    """Forget a world; data sets that were made of it stay. Raises NotFoundError."""
    operations = await current_portal().operations()
    await operations.delete_world_manifest(checked_text(world, "world"))


create = Twin(_create)
get = Twin(_get)
list = Twin(_list)  # noqa: A001 - the verb's name
map = Twin(_map)  # noqa: A001 - likewise
delete = Twin(_delete)


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    create = create.aio
    get = get.aio
    list = list.aio
    map = map.aio
    delete = delete.aio


aio = _Awaitable()
