"""Blueprints: recipes for sandboxes. The verbs block; `blueprints.aio` has the same ones to await."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from harena.core.checked import checked_text, checked_texts, content_bytes, quote
from harena.core.errors import ValidationError
from harena.core.gateways import GivenGateways, read_gateways
from harena.core.images import ArchiveFormat
from harena.core.network_policy import GivenNetwork, read_policy
from harena.core.profiles import Profile, checked_profile
from harena.core.records.blueprints import Blueprint, BlueprintSummary
from harena.core.records.image_builds import BuildRequest, ImageBuildEvent
from harena.core.records.sandboxes import Limits
from harena.sdk.options import limits_from
from harena.sdk.portal import current_portal
from harena.sdk.twins import Twin

if TYPE_CHECKING:
    from harena.core.daemons import GivenDaemons

__all__ = [
    "Blueprint",
    "BlueprintSummary",
    "aio",
    "build",
    "create",
    "delete",
    "export_archive",
    "get",
    "list",
    "publish",
    "withdraw",
]

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
    network: GivenNetwork | None = None,
    gateways: GivenGateways | None = None,
    daemons: GivenDaemons | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
) -> Blueprint:
    """Install `packages` (requirements; wheels only) and record the recipe under `name`.

    `profile` says what programs may do inside (`machine` is for an image); `files` are path -> content; `env` is part
    of every command's environment; `warm` names modules that are imported once, ahead of every program (None = each
    program is a real interpreter start). `network` and `gateways` are those of its sandboxes, candidates' among them,
    where these do not say that themselves. `daemons` [{name, command, ready, ready_seconds, user}] are programs that
    each sandbox starts before any other, in their order: it is there when `ready` has exited with 0. `limits` are those
    of its sandboxes that ask for no others, as `Sandbox.run` takes them.
    """
    for argument, value in (("packages", packages), ("warm", warm)):
        if isinstance(value, str):
            raise ValidationError(f"{argument} must be a list of texts, not one text: [{value!r}]")
        if value is not None and (isinstance(value, bytes | Mapping) or not isinstance(value, Iterable)):
            raise ValidationError(f"{argument} must be a list of texts (got {quote(value)})")
    checked_text(name, "name")
    checked_text(image, "image")
    checked_profile(profile)
    wanted = tuple(checked_text(requirement, "packages") for requirement in packages or ())
    modules = None if warm is None else tuple(checked_text(module, "warm") for module in warm)
    if files is not None and not isinstance(files, Mapping):
        raise ValidationError(f"files must be a mapping of paths to contents (got {quote(files)})")
    contents = {
        checked_text(path, "files"): content_bytes(content, f"files: the content of {path}")
        for path, content in (files or {}).items()
    }
    variables = checked_texts(env, "env")
    from harena.core.daemons import read_daemons  # not for those who create nothing

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
        daemons=read_daemons(daemons),
        limits=limits_from(limits),
    )


async def _build(
    recipe: str | os.PathLike[str] | Mapping[str, Any],
    *,
    context: str | os.PathLike[str] | None = None,
    secrets: Mapping[str, str | bytes] | None = None,
    use_cache: bool = True,
    timeout_seconds: float = 3600.0,
    memory_mb: int = 2048,
    on_event: Callable[[ImageBuildEvent], object] | None = None,
) -> Blueprint:
    """Make the blueprint that a recipe says: a `blueprint.yaml`, or what it holds as a mapping. Its image is built as
    one of a Dockerfile is, each step cached; the same recipe over the same files gives the version that there is.

    `context`: the directory of the files that it copies, which is the recipe's own unless it is said; `secrets`: what
    its build commands find below /run/secrets, by their ids; `memory_mb`: for each command with the files that it
    writes; `on_event` is called with each step and with what commands say, from another thread. Raises ValidationError
    before anything is built, ImageBuildError, NotFoundError.
    """
    from harena.sdk.blueprint_builds import build_recipe  # not for those who build nothing
    from harena.sdk.images import in_base64

    options = BuildRequest(
        dockerfile="",
        secrets={name: in_base64(content) for name, content in (secrets or {}).items()},
        use_cache=use_cache,
        timeout_seconds=timeout_seconds,
        memory_mb=memory_mb,
    )
    return await build_recipe(recipe, context=context, options=options, on_event=on_event)


async def _export_archive(name_or_id: str, path: str | os.PathLike[str], *, form: ArchiveFormat = "oci") -> None:
    """Write the image that a blueprint's sandboxes begin with, its files and variables included, into a new file: an
    OCI layout as a tar archive, or ("docker") what `docker load` reads. Raises NotFoundError, ValidationError (it is of
    no image; the file is there), ImageBuildError."""
    from harena.sdk.blueprint_builds import exported_image
    from harena.sdk.images import export_archive as export_image

    image = await exported_image(checked_text(name_or_id, "the blueprint's name or id"))
    await export_image.aio(image, path, form=form)


async def _get(name_or_id: str) -> Blueprint:
    """The blueprint with this name or id: your workspace's, else one that was published to its organisation.

    Raises NotFoundError."""
    checked_text(name_or_id, "the blueprint's name or id")
    operations = await current_portal().operations()
    return await operations.get_blueprint(name_or_id)


async def _publish(name_or_id: str) -> Blueprint:
    """Show the newest version of a name, or the one with this id, to all workspaces of your organisation; a key needs
    the scope `publish` for it. Raises NotFoundError, and ValidationError for a blueprint that is built in or is made of
    an image, and where another workspace has published one of this name."""
    operations = await current_portal().operations()
    return await operations.publish_blueprint(checked_text(name_or_id, "the blueprint's name or id"))


async def _withdraw(name_or_id: str) -> Blueprint:
    """Show every version of a name, or the one with this id, to your own workspace alone. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.withdraw_blueprint(checked_text(name_or_id, "the blueprint's name or id"))


async def _delete(name_or_id: str) -> None:
    """Forget every version of a name, or the one with this id; sandboxes that were made of it go on.

    Installed packages stay on disk. Raises NotFoundError, and ValidationError for a built-in blueprint.
    """
    checked_text(name_or_id, "the blueprint's name or id")
    operations = await current_portal().operations()
    await operations.delete_blueprint(name_or_id)


async def _list(*, name: str | None = None, organization: bool = False) -> _Summaries:
    """All blueprints, the newest version of each, or with `name` every version of that one; newest first: what they
    are, without their environments and the contents of their files. With `organization`, those that were published to
    yours, by any of its workspaces."""
    operations = await current_portal().operations()
    found: _Summaries = []
    asked = partial(operations.list_blueprints, name=name, organization=organization, limit=PAGE)
    page = await asked()
    while page.next_cursor is not None:
        found += page.blueprints
        page = await asked(cursor=page.next_cursor)
    return [*found, *page.blueprints]


create = Twin(_create)
build = Twin(_build)
export_archive = Twin(_export_archive)
get = Twin(_get)
publish = Twin(_publish)
withdraw = Twin(_withdraw)
delete = Twin(_delete)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `blueprints.list()`


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    create = create.aio
    build = build.aio
    export_archive = export_archive.aio
    get = get.aio
    publish = publish.aio
    withdraw = withdraw.aio
    delete = delete.aio
    list = list.aio


aio = _Awaitable()
