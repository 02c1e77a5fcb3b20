"""Scenarios that are kept by name and version: whole batches, from one problem to a data set.

The verbs block; `scenarios.aio` has the same ones to await. A benchmark job takes {"ref": "NAME@2"}, or what `get`
gives, in place of scenarios.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from harena.core.checked import checked_text, checked_texts
from harena.core.records.catalog import StoredScenarios
from harena.sdk.catalog import archive_entry, create_entry, delete_entry, get_entry, list_entries
from harena.sdk.scenario_input import ScenarioInput, plain_sources
from harena.sdk.twins import Twin

if TYPE_CHECKING:
    from harena.core.requests import EntryFields

__all__ = ["StoredScenarios", "aio", "archive", "create", "delete", "get", "list"]


_Entries = list[StoredScenarios]


async def _create(
    name: str,
    scenarios: ScenarioInput,
    *,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> StoredScenarios:
    """Check everything, then keep it as the next version of `name`; the same content and metadata give the version that
    there is.

    `scenarios` is the path of a scenario file, its content, or a list of scenarios; a data set of another format; or
    {"problems": [...]}, whose candidates come with each job. `scoring: {contract: NAME}` in them refers to a stored
    contract, from now on to the version that is the newest now. Raises ValidationError that lists every mistake.
    """
    request = {
        "name": checked_text(name, "name"),
        **plain_sources(scenarios, form=format, grader=grader),
        "metadata": checked_texts(metadata, "metadata"),
    }
    return await create_entry("scenarios", cast("EntryFields", request), StoredScenarios)


async def _get(ref: str, *, content: bool = False) -> StoredScenarios:
    """The version NAME@2, or of NAME the newest that is not archived; with `content` also `scenarios`, `format` and
    `grader` as they were stored. Raises NotFoundError."""
    return await get_entry("scenarios", ref, StoredScenarios, content=content)


async def _list(
    *,
    name: str | None = None,
    prefix: str = "",
    metadata: Mapping[str, str] | None = None,
    archived: bool = False,
    limit: int | None = None,
) -> _Entries:
    """Newest first: the newest version of each name that begins with `prefix`; of `name`, every version; with
    `archived`, every version there is. Those that carry all of `metadata`; `limit` of them at most."""
    return await list_entries(
        "scenarios", StoredScenarios, name=name, prefix=prefix, metadata=metadata, archived=archived, limit=limit
    )


async def _archive(ref: str | StoredScenarios) -> int:
    """Hide the version NAME@2, or every version of NAME, from lists and from the bare name; how many were archived.
    Jobs that name a version go on as before. Raises NotFoundError."""
    return await archive_entry("scenarios", ref)


async def _delete(ref: str | StoredScenarios) -> None:
    """Delete the version NAME@2; its number is not used again, and results keep its digest. Raises NotFoundError, and
    ValidationError (reason IN_USE) while a benchmark job that has not ended refers to it."""
    await delete_entry("scenarios", ref)


create = Twin(_create)
get = Twin(_get)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `scenarios.list()`
archive = Twin(_archive)
delete = Twin(_delete)


class _Awaitable:
    """Asynchronous versions of this module's functions."""

    create = create.aio
    get = get.aio
    list = list.aio
    archive = archive.aio
    delete = delete.aio


aio = _Awaitable()
