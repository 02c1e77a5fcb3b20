"""Scoring contracts that are kept by name and version. Scenarios and problems refer to one by
`scoring: {contract: NAME@2}`.

The verbs block; `scoring_contracts.aio` has the same ones to await.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harena.core.checked import checked_text, checked_texts
from harena.core.records.catalog import ScoringContract
from harena.sdk.catalog import archive_entry, create_entry, delete_entry, get_entry, list_entries
from harena.sdk.scenario_input import plain_input
from harena.sdk.twins import Twin

if TYPE_CHECKING:
    from harena.core.requests import EntryFields

__all__ = ["ScoringContract", "aio", "archive", "create", "delete", "get", "list"]


_Entries = list[ScoringContract]


async def _create(
    name: str,
    contract: str | os.PathLike[str] | Mapping[str, Any],
    *,
    metadata: Mapping[str, str] | None = None,
) -> ScoringContract:
    """Check the contract (a mapping with `type`, or a YAML or JSON file of one), then keep it as the next version of
    `name`; the same content and metadata give the version that there is. Raises ValidationError that lists every
    mistake."""
    request: EntryFields = {
        "name": checked_text(name, "name"),
        "contract": plain_input(contract, "contract", "a mapping with `type`, or the path of a file of one"),
        "metadata": checked_texts(metadata, "metadata"),
    }
    return await create_entry("scoring_contracts", request, ScoringContract)


async def _get(ref: str) -> ScoringContract:
    """The version NAME@2, or of NAME the newest that is not archived. Raises NotFoundError."""
    return await get_entry("scoring_contracts", ref, ScoringContract)


async def _list(
    *,
    name: str | None = None,
    prefix: str = "",
    metadata: Mapping[str, str] | None = None,
    archived: bool = False,
    limit: int | None = None,
) -> _Entries:
    """The contracts that match, by name; see `harena.scenarios.list` for the arguments."""
    return await list_entries(
        "scoring_contracts",
        ScoringContract,
        name=name,
        prefix=prefix,
        metadata=metadata,
        archived=archived,
        limit=limit,
    )


async def _archive(ref: str | ScoringContract) -> int:
    """Hide the version NAME@2, or every version of NAME; how many were archived. What refers to a version goes on as
    before. Raises NotFoundError."""
    return await archive_entry("scoring_contracts", ref)


async def _delete(ref: str | ScoringContract) -> None:
    """Delete the version NAME@2; its number is not used again, and results keep its digest. Raises NotFoundError, and
    ValidationError (reason IN_USE) while a benchmark job that has not ended refers to it."""
    await delete_entry("scoring_contracts", ref)


create = Twin(_create)
get = Twin(_get)
list = Twin(_list)  # noqa: A001 - the verb's name, as in `scoring_contracts.list()`
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
