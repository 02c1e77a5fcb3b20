"""What a job refers to stays from the moment that the job is accepted: looked at in the transaction that inserts it.

A job is checked a good while before it is inserted, and what it refers to can be deleted in between. Whoever deletes
locks the row and looks for open jobs after that; whoever accepts inserts the job and looks, with a lock of its own, for
the rows after that. Of two that meet one waits for the other and sees what it did. SQLite has one writer at a time:
there whoever writes before it looks is alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, false, select, tuple_, update

from harena.core.catalog import parse_reference
from harena.core.errors import NotFoundError
from harena.store.tables import catalog, objects
from harena.store.workspaces import organization_of

DELETED = ""
"""the digest of a catalogue's version that was deleted and is the newest of its name"""
WHILE_ACCEPTED = "while the job was being accepted"
LOOKED_AT_ONCE = 200
"""references in one query"""
_AT_A_TIME = 500
"""jobs of one statement"""

_NOUNS = {"scenarios": "scenarios", "scoring_contracts": "scoring contract"}


def hold_versions(connection: Connection, workspace: str, lineage: Mapping[str, Any] | None) -> None:
    """Lock the versions of the catalogue that a job needs to be gone on with. Call it when the job was inserted. Raises
    NotFoundError for those that were deleted."""
    if lineage is None:
        return
    scenarios = lineage.get("scenarios")
    needed = {"scenarios": [] if scenarios is None else [scenarios], "scoring_contracts": lineage.get("contracts", ())}
    for kind, references in needed.items():
        wanted = {parse_reference(reference): reference for reference in references}
        of_kind = (catalog.c.workspace == workspace, catalog.c.kind == kind, catalog.c.digest != DELETED)
        # what is deleted stays as a row with another digest: only FOR SHARE waits for that
        there = _held(connection, catalog, ("name", "version"), of_kind, wanted, key_share=False)
        _check(_NOUNS[kind], [reference for key, reference in wanted.items() if key not in there], WHILE_ACCEPTED)


def hold_objects(
    connection: Connection, workspace: str, resolved: Sequence[Mapping[str, Any]], *, since: str = WHILE_ACCEPTED
) -> None:
    """Lock the published objects that a training job uses, with the content that it was accepted with. Call it when the
    job was inserted or queued again. Raises NotFoundError for those that were deleted or are not shown to the workspace
    any more; `since`: when that can have been."""
    columns = ("kind", "name", "version", "digest")
    # a folder has no version, and a model that is not harena's has a slash
    kept = [ref for ref in resolved if ref["version"] is not None and "/" not in ref["name"]]
    for organization in sorted({ref.get("organization") for ref in kept}, key=str):
        wanted = {
            tuple(ref[column] for column in columns): f"{ref['name']}@{ref['version']}"
            for ref in kept
            if ref.get("organization") == organization
        }
        theirs = [objects.c.workspace == workspace]
        if organization is not None:  # the workspace can have moved to another one since
            theirs = [objects.c.organization == organization, organization_of(workspace) == organization]
        there = _held(connection, objects, columns, theirs, wanted, key_share=True)
        for kind in sorted({key[0] for key in wanted}):
            _check(kind, [ref for key, ref in wanted.items() if key[0] == kind and key not in there], since)


def chunks(ids: Collection[str]) -> Iterator[Sequence[str]]:
    """These ids, sorted, as many at a time as one statement names."""
    ordered = sorted(ids)
    return (ordered[first : first + _AT_A_TIME] for first in range(0, len(ordered), _AT_A_TIME))


def become_writer(table: Table) -> Any:
    """A statement that writes nothing: with it SQLite's driver begins a transaction, in which nobody else writes."""
    column = next(iter(table.columns))
    return update(table).where(false()).values({column.name: column})


def _held(
    connection: Connection,
    table: Table,
    names: Collection[str],
    where: Iterable[ColumnElement[bool]],
    wanted: Iterable[tuple[Any, ...]],
    *,
    key_share: bool,
) -> set[tuple[Any, ...]]:
    columns = [table.c[name] for name in names]
    found: set[tuple[Any, ...]] = set()
    keys = iter(wanted)
    while some := list(islice(keys, LOOKED_AT_ONCE)):
        rows = select(*columns).where(*where, tuple_(*columns).in_(some))
        found.update(tuple(row) for row in connection.execute(rows.with_for_update(read=True, key_share=key_share)))
    return found


def _check(noun: str, gone: Sequence[str], since: str) -> None:
    if gone:
        raise NotFoundError(f"{noun} {', '.join(gone[:10])}: deleted {since}")
