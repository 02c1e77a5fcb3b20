"""Blueprints: recipes for sandboxes. The verbs block; `blueprints.aio` has the same ones to await."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harena.core.errors import ValidationError
from harena.core.models import Blueprint
from harena.sdk.portal import current_portal
from harena.sdk.twins import Twin

__all__ = ["Blueprint", "aio", "create", "get", "list"]

_Blueprints = list[Blueprint]


async def _create(
    name: str,
    *,
    image: str = "default",
    packages: Sequence[str] = (),
    files: Mapping[str, bytes | str] | None = None,
    env: Mapping[str, str] | None = None,
    warm: Sequence[str] | None = None,
) -> Blueprint:
    """Install `packages` (requirements; wheels only) and record the recipe under `name`.

    `files` are path -> content; `env` is part of every command's environment; `warm` names modules that are imported
    once, ahead of every program (None = each program is a real interpreter start).
    """
    for argument, value in (("packages", packages), ("warm", warm)):
        if isinstance(value, str):
            raise ValidationError(f"{argument} must be a list of texts, not one text: [{value!r}]")
    contents = {path: text.encode() if isinstance(text, str) else text for path, text in (files or {}).items()}
    operations = await current_portal().operations()
    return await operations.create_blueprint(
        name, image=image, packages=tuple(packages), files=contents, env=dict(env or {}), warm=warm
    )


async def _get(name_or_id: str) -> Blueprint:
    """The blueprint with this name or id. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.get_blueprint(name_or_id)


async def _list() -> _Blueprints:
    """All blueprints, newest first."""
    operations = await current_portal().operations()
    return await operations.list_blueprints()


create = Twin(_create)
get = Twin(_get)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `blueprints.list()`


class _Awaitable:
    """The same verbs, to await."""

    create = create.aio
    get = get.aio
    list = list.aio


aio = _Awaitable()
