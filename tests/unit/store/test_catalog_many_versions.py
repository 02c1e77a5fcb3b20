"""A name with many versions holds up nobody who writes: one transaction reads and changes few of them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event as engine_event
from test_catalog_removal import entry

from harena.store import catalog as versions_of
from harena.store.catalog import CatalogStore
from harena.store.database import Database

MANY = 50


class Told:
    """The statements of an engine, those of each transaction together."""

    def __init__(self, database: Database) -> None:
        self.engine = database._in_threads  # where whole transactions on a file are run
        self.transactions: list[list[tuple[str, Any, int]]] = []

    def __enter__(self) -> Told:
        engine_event.listen(self.engine, "begin", self._begin)
        engine_event.listen(self.engine, "after_cursor_execute", self._note)
        return self

    def __exit__(self, *_: object) -> None:
        engine_event.remove(self.engine, "begin", self._begin)
        engine_event.remove(self.engine, "after_cursor_execute", self._note)

    def _begin(self, _connection: Any) -> None:
        self.transactions.append([])

    def _note(self, _connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        self.transactions[-1].append((statement, parameters, cursor.rowcount))


async def filled(database: Database) -> CatalogStore:
    """Many versions of one name, of the same content."""
    versions = CatalogStore(database)
    for number in range(MANY):
        await versions.add(entry("scenarios", n=str(number)), b"content")
    return versions


async def test_a_version_is_added_without_reading_the_others_while_nobody_else_writes(database: Database) -> None:
    """Each holds 100 KB of metadata at most; in the transaction that writes, those are looked at by their numbers."""
    versions = await filled(database)
    with Told(database) as told:
        await versions.add(entry("scenarios", n="new"), b"content")
    (adding,) = [one for one in told.transactions if any(said[0].startswith("INSERT") for said in one)]
    looked = [(text, given) for text, given, _ in adding if re.match(r"SELECT .*FROM catalog\s", text, re.DOTALL)]
    assert looked
    async with database.transaction() as connection:
        for text, given in looked:
            plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", given)
            steps = [str(list(row)[3]) for row in plan]
            assert all("COVERING" in step or "version" in step for step in steps), (text, steps)


async def test_what_is_there_is_found_whenever_it_came(database: Database) -> None:
    """The same content and metadata, in whatever order, give the version that there is, as long as it is not
    archived."""
    versions = CatalogStore(database)
    first = entry("scenarios", a="1", b="2")
    again = replace(first, metadata={"b": "2", "a": "1"})
    assert [(found.version, new) for found, new in [await versions.add(one, b"x") for one in (first, again)]] == [
        (1, True),
        (1, False),
    ]
    await versions.add(entry("scenarios", n="between"), b"x")
    assert (await versions.add(again, b"x"))[0].version == 1
    assert await versions.archive("default", "scenarios", "a", 1, "t") == 1
    assert (await versions.add(again, b"x"))[0].version == 3


async def test_versions_are_archived_some_at_a_time(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that there were, and no more than so many in one transaction."""
    versions = await filled(database)
    monkeypatch.setattr(versions_of, "ARCHIVED_AT_A_TIME", 20)
    with Told(database) as told:
        assert await versions.archive("default", "scenarios", "a", None, "t") == MANY
    changed = [sum(rows for text, _, rows in one if text.startswith("UPDATE")) for one in told.transactions]
    assert max(changed) <= 20
    assert await versions.find("default", "scenarios", "a", None) is None
    assert await versions.archive("default", "scenarios", "a", None, "t") == 0
