"""Blueprints: recipes for sandboxes. The verbs block; `blueprints.aio` has the same ones to await."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harena.core.checked import checked_text, checked_texts, content_bytes, shown
from harena.core.errors import ValidationError
from harena.core.gateways import read_gateways
from harena.core.models import Blueprint, BlueprintSummary
from harena.core.network_policy import NetworkPolicy, read_policy
from harena.core.profiles import Profile, checked_profile
from harena.sdk.portal import current_portal
from harena.sdk.twins import Twin

__all__ = ["Blueprint", "BlueprintSummary", "aio", "create", "delete", "get", "list"]

PAGE = 500
"""blueprints that are asked for at one time"""
_Summaries = list[BlueprintSummary]


async def _create(
    name: str,
    *,
    image: str = "default",
    profile: Profile = "strict",
    packages: Sequence[str] = (),
    files: Mapping[str, bytes | str] | None = None,
    env: Mapping[str, str] | None = None,
    warm: Sequence[str] | None = None,
    network: NetworkPolicy | Mapping[str, Any] | str | None = None,
    gateways: Mapping[str, Any] | None = None,
) -> Blueprint:
    """Install `packages` (requirements; wheels only) and record the recipe under `name`.

    `profile` says what programs may do inside (`machine` is for an image); `files` are path -> content; `env` is part
    of every command's environment; `warm` names modules that are imported once, ahead of every program (None = each
    program is a real interpreter start). `network` and `gateways` are those of its sandboxes, candidates' among them,
    where these do not say that themselves.
    """
    for argument, value in (("packages", packages), ("warm", warm)):
        if isinstance(value, str):
            raise ValidationError(f"{argument} must be a list of texts, not one text: [{value!r}]")
        if value is not None and (isinstance(value, bytes | Mapping) or not isinstance(value, Iterable)):
            raise ValidationError(f"{argument} must be a list of texts (got {shown(value)})")
    checked_text(name, "name")
    checked_text(image, "image")
    checked_profile(profile)
    wanted = tuple(checked_text(requirement, "packages") for requirement in packages or ())
    modules = None if warm is None else tuple(checked_text(module, "warm") for module in warm)
    if files is not None and not isinstance(files, Mapping):
        raise ValidationError(f"files must be a mapping of paths to contents (got {shown(files)})")
    contents = {
        checked_text(path, "files"): content_bytes(content, f"files: the content of {path}")
        for path, content in (files or {}).items()
    }
    variables = checked_texts(env, "env")
    operations = await current_portal().operations()
    return await operations.create_blueprint(
        name,
        image=image,
        profile=profile,
        packages=wanted,
        files=contents,
        env=variables,
        warm=modules,
        network=read_policy(network),
        gateways=read_gateways(gateways),
    )


async def _get(name_or_id: str) -> Blueprint:
    """The blueprint with this name or id. Raises NotFoundError."""
    checked_text(name_or_id, "the blueprint's name or id")
    operations = await current_portal().operations()
    return await operations.get_blueprint(name_or_id)


async def _delete(name_or_id: str) -> None:
    """Forget every version of a name, or the one with this id; sandboxes that were made of it go on.

    Installed packages stay on disk. Raises NotFoundError, and ValidationError for a built-in blueprint.
    """
    checked_text(name_or_id, "the blueprint's name or id")
    operations = await current_portal().operations()
    await operations.delete_blueprint(name_or_id)


async def _list() -> _Summaries:
    """All blueprints, newest first: what they are, without their environments and the contents of their files."""
    operations = await current_portal().operations()
    found: _Summaries = []
    page = await operations.list_blueprints(limit=PAGE)
    while page.next_cursor is not None:
        found += page.blueprints
        page = await operations.list_blueprints(cursor=page.next_cursor, limit=PAGE)
    return [*found, *page.blueprints]


create = Twin(_create)
get = Twin(_get)
delete = Twin(_delete)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `blueprints.list()`


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    create = create.aio
    get = get.aio
    delete = delete.aio
    list = list.aio


aio = _Awaitable()
