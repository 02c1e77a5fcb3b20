"""What training refers to: capabilities, tasks, data sets, models and checkpoints, by name and version.

The verbs block; `registry.aio` has the same ones to await. A version never changes: to push the same
again changes nothing, to push something else under it is an error. It can be deleted. Your workspace sees it alone,
until it is published to the organisation that the workspace belongs to.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

from harena.core.checked import checked_text
from harena.core.errors import PlatformError, ValidationError
from harena.core.records.objects import StoredObject
from harena.core.registry import KINDS, SEMANTIC, ObjectKind, checked_kind, checked_version, parse_object_ref
from harena.sdk.pages import collect_pages
from harena.sdk.portal import current_portal, in_thread
from harena.sdk.twins import Twin
from harena.sdk.yaml_files import YamlError, read_yaml_file

__all__ = ["KINDS", "StoredObject", "aio", "delete", "get", "list", "publish", "pull", "push", "withdraw"]

PAGE = 200


_Objects = list[StoredObject]


async def _push(
    kind: ObjectKind, path: str | os.PathLike[str], ref: str | None = None, *, organization: bool = False
) -> StoredObject:
    """Keep a directory (of a data set also a file) as `ref`, NAME@VERSION; a capability and a task say their name
    and version themselves. With `organization` it is published, too. It is checked whole before anything is kept.
    Raises ValidationError."""
    place = Path(path)
    name, version = await asyncio.to_thread(_identity, checked_kind(kind), place, ref)
    made = await push_tree(kind, name, version, place)
    return await _publish(kind, made.ref) if organization else made


async def _publish(kind: ObjectKind, ref: str) -> StoredObject:
    """Show the version NAME@VERSION to all workspaces of your organisation; a key needs the scope `publish` for it.
    Raises NotFoundError, and ValidationError (reason VERSION_TAKEN) where another workspace has published that name
    there."""
    operations = await current_portal().operations()
    return await operations.publish_object(checked_kind(kind), checked_text(ref, "ref"))


async def _withdraw(kind: ObjectKind, ref: str) -> StoredObject:
    """Show the version NAME@VERSION to your own workspace alone, from now on; training jobs of others that were
    accepted before go on with it. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.withdraw_object(checked_kind(kind), checked_text(ref, "ref"))


async def push_tree(kind: ObjectKind, name: str, version: str, place: Path) -> StoredObject:
    """Publish what lies at a place of this machine. Raises ValidationError, PlatformError (it cannot be read)."""
    from harena.core.file_trees import files_of, pack_files, tree_of

    checked_version(kind, name, version)
    operations = await current_portal().operations()
    try:
        files = await asyncio.to_thread(files_of, place)
        tree = await asyncio.to_thread(tree_of, files)
    except OSError as error:
        raise PlatformError(f"{place} cannot be read: {error.strerror or error}", step="push") from error
    sent = pieces_of(pack_files(files))
    return await operations.push_object(kind, name, version, sent, digest=tree.digest)


async def _pull(kind: ObjectKind, ref: str, path: str | os.PathLike[str], *, overwrite: bool = False) -> StoredObject:
    """Write an object's files into the new directory `path`; with `overwrite` in place of one that is there. Raises
    NotFoundError, ValidationError, PlatformError (what came is not the object)."""
    operations = await current_portal().operations()
    found = await operations.get_object(checked_kind(kind), checked_text(ref, "ref"))
    target = Path(path).absolute()
    await asyncio.to_thread(_check_target, target, path, overwrite)
    try:
        work = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=target.parent, prefix=".harena-pull-"))
        try:
            async with in_thread(lambda: (work / "tree.tar").open("wb")) as out:
                async for piece in operations.pull_object(kind, found.ref):
                    await asyncio.to_thread(out.write, piece)
            await asyncio.to_thread(_place, work, target, found.digest)
        finally:
            await asyncio.to_thread(shutil.rmtree, work, ignore_errors=True)
    except OSError as error:
        raise PlatformError(f"{path} could not be written: {error.strerror or error}", step="pull") from error
    return found


async def _get(kind: ObjectKind, ref: str) -> StoredObject:
    """The version NAME@VERSION, or of NAME the newest: your workspace's, else one that was published to its
    organisation. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.get_object(checked_kind(kind), checked_text(ref, "ref"))


async def _list(
    kind: ObjectKind | None = None, *, name: str | None = None, organization: bool = False, limit: int | None = None
) -> _Objects:
    """Every version, newest first, page after page, up to `limit`; with `organization` those that were published to
    yours, by any of its workspaces."""
    wanted = None if kind is None else checked_kind(kind)

    async def page(cursor: int | None, size: int) -> tuple[_Objects, int | None]:
        operations = await current_portal().operations()
        found = await operations.list_objects(wanted, name=name, organization=organization, cursor=cursor, limit=size)
        return found.objects, found.next_cursor

    return await collect_pages(page, limit, most=PAGE)


async def _delete(kind: ObjectKind, ref: str) -> None:
    """Delete the version NAME@VERSION. Raises NotFoundError, and ValidationError (reason IN_USE) while a training
    job of your workspace that has not ended refers to it, or your organisation sees it."""
    operations = await current_portal().operations()
    await operations.delete_object(checked_kind(kind), checked_text(ref, "ref"))


async def pieces_of(made: Iterator[bytes]) -> AsyncIterator[bytes]:
    """An iterator that reads files, for an event loop."""
    while piece := await asyncio.to_thread(next, made, b""):
        yield piece


def _check_target(target: Path, named: str | os.PathLike[str], overwrite: bool) -> None:
    if target.exists() and not (overwrite and target.is_dir()):
        raise ValidationError(
            f"{named} is there: name a new directory, or allow a directory to be replaced (overwrite)"
        )
    if not target.parent.is_dir():
        raise ValidationError(f"{named}: there is no directory {target.parent}; make it first")


def _identity(kind: ObjectKind, place: Path, ref: str | None) -> tuple[str, str]:
    """(name, version) to publish under."""
    if ref is not None:
        name, version = parse_object_ref(ref)
        if version is None:
            raise ValidationError(f"{ref!r} has no version: write {name}@VERSION")
        return name, version
    if kind not in SEMANTIC:
        raise ValidationError(f"give the {kind} a name and a version, as NAME@VERSION")
    path = place / f"{kind}.yaml"
    if not path.is_file():
        raise ValidationError(f"{place}: a {kind} is a directory with {kind}.yaml, and there is none")
    try:
        written = read_yaml_file(path)
    except (YamlError, UnicodeDecodeError) as error:
        raise ValidationError(f"{path} cannot be read: {str(error)[:500]}") from None
    fields = written if isinstance(written, Mapping) else {}
    return checked_version(kind, fields.get("name"), fields.get("version"))


def _place(work: Path, target: Path, digest: str) -> None:
    from harena.core.file_trees import files_of, tree_of, unpack

    with (work / "tree.tar").open("rb") as stream:
        unpack(stream, work / "tree")
    made = tree_of(files_of(work / "tree"))
    if made.digest != digest:
        raise PlatformError(
            f"what came is not the object (sha256 {made.digest[:16]} instead of {digest[:16]}): pull it again",
            step="pull",
        )
    if target.exists():
        target.rename(work / "replaced")
    (work / "tree").rename(target)


push = Twin(_push)
pull = Twin(_pull)
get = Twin(_get)
publish = Twin(_publish)
withdraw = Twin(_withdraw)
delete = Twin(_delete)
list = Twin(_list)  # noqa: A001 - the verb is called so


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    push = push.aio
    pull = pull.aio
    get = get.aio
    publish = publish.aio
    withdraw = withdraw.aio
    delete = delete.aio
    list = list.aio


aio = _Awaitable()
