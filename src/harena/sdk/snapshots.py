"""Snapshots: files of sandboxes as they were at one time. The verbs block; `snapshots.aio` has the same ones to await.

`Sandbox.snapshot` takes one, `Sandbox.run(snapshot=...)` begins with it, and `Sandbox.fork` does both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from harena.core.checked import checked_text
from harena.core.images import ArchiveFormat
from harena.core.records.snapshots import Snapshot
from harena.sdk.portal import current_portal
from harena.sdk.twins import Twin

__all__ = ["Snapshot", "aio", "delete", "export_archive", "get", "lines_of_tree", "list"]

PAGE = 500
"""snapshots that are asked for at one time"""
_Snapshots = list[Snapshot]


async def _get(snapshot: str) -> Snapshot:
    """The snapshot with this name or id. Raises NotFoundError."""
    operations = await current_portal().operations()
    return await operations.get_snapshot(checked_text(snapshot, "snapshot"))


async def _list() -> _Snapshots:
    """All snapshots of the workspace, the oldest first."""
    operations = await current_portal().operations()
    found: _Snapshots = []
    page = await operations.list_snapshots(limit=PAGE)
    while page.next_cursor is not None:
        found += page.snapshots
        page = await operations.list_snapshots(cursor=page.next_cursor, limit=PAGE)
    return [*found, *page.snapshots]


async def _delete(snapshot: str) -> None:
    """Remove a snapshot; its layer goes when no sandbox and no other snapshot needs it. Raises NotFoundError."""
    operations = await current_portal().operations()
    await operations.remove_snapshot(checked_text(snapshot, "snapshot"))


async def _export_archive(snapshot: str, path: str | os.PathLike[str], *, form: ArchiveFormat = "oci") -> None:
    """Write a snapshot into a new file as an image: an OCI layout as a tar archive, or ("docker") what `docker load`
    reads. `images.import_archive` makes an image of it again. Raises NotFoundError, ValidationError (the file is
    there)."""
    from harena.sdk.images import checked_form, write_archive

    asked = checked_form(form)
    operations = await current_portal().operations()
    await write_archive(operations.export_snapshot(checked_text(snapshot, "snapshot"), form=asked), path)


def lines_of_tree(snapshots: Sequence[Snapshot]) -> Iterator[tuple[str, Snapshot | None]]:
    """Lines that show which snapshot was made from which: each image, and below it its snapshots, the oldest first. A
    line has what stands before its word, and its snapshot; None = the line is an image's, and is that word."""
    known = {one.id for one in snapshots}
    below: dict[str, _Snapshots] = {}
    for one in snapshots:
        above = one.parent if one.parent is not None and one.parent in known else one.image
        below.setdefault(above, []).append(one)
    images = dict.fromkeys(one.image for one in snapshots if one.parent not in known)
    for image in images:
        yield image, None
        waiting = [("", one, one is below[image][-1]) for one in reversed(below[image])]
        while waiting:
            before, one, is_last = waiting.pop()
            yield before + ("└── " if is_last else "├── "), one
            children = below.get(one.id, [])
            deeper = before + ("    " if is_last else "│   ")
            waiting += [(deeper, child, child is children[-1]) for child in reversed(children)]


get = Twin(_get)
delete = Twin(_delete)
export_archive = Twin(_export_archive)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `snapshots.list()`


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    get = get.aio
    delete = delete.aio
    export_archive = export_archive.aio
    list = list.aio


aio = _Awaitable()
