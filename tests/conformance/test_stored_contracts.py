"""Stored contracts that many rows name, over each kind of database."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from harena.core.clock import SystemClock
from harena.core.idempotency import IdempotencyKey
from harena.core.threads import SCENARIOS
from harena.jobs.benchmark.job_scenarios import read_job, sources_to_store
from harena.jobs.benchmark.kept_json import unpack
from harena.jobs.catalog import Catalog
from harena.server.idempotency import Idempotency, Refindable
from harena.store.catalog import CatalogStore
from harena.store.database import Database
from harena.testing.conformance_operations import GOOD

ROWS = 1000
LARGE = {"type": "stdio", "cases": [{"stdin": "x" * 4000, "stdout": "y"} for _ in range(100)]}
"""400 KiB of JSON"""


class CountedStore(CatalogStore):
    """Counts what is asked of it."""

    asked = 0

    async def content(self, workspace: str, digest: str) -> bytes | None:
        self.asked += 1
        return await super().content(workspace, digest)

    async def find(self, *given: Any) -> Any:
        self.asked += 1
        return await super().find(*given)


async def catalog_of(store: CatalogStore) -> Catalog:
    async def opened() -> CatalogStore:
        return store

    return Catalog(opened, SystemClock())


@pytest.mark.parametrize("name", ["large", "missing"])
async def test_a_contract_that_many_rows_name_is_read_once_and_not_on_the_loop(
    database: Database, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """By the job that is kept and by the job that runs; what is missing is looked for once."""
    store = CountedStore(database)
    made = await catalog_of(store)
    await made.create("ours", "scoring_contracts", {"name": "large", "contract": LARGE})
    rows = [{**GOOD, "id": f"{number}", "scoring": {"contract": name}} for number in range(ROWS)]
    threads = list[int]()

    def noted(packed: bytes) -> Any:
        threads.append(threading.get_ident())
        return unpack(packed)

    monkeypatch.setattr("harena.jobs.catalog.unpack", noted)
    store.asked, reader = 0, made.reader("ours")
    kept = await SCENARIOS.run(sources_to_store, {"scenarios": rows, "candidates": None}, reader)
    if name == "missing":
        assert (store.asked, threads, kept) == (1, [], {"scenarios": rows, "candidates": None})
        return
    read = await SCENARIOS.run(read_job, kept, reader)
    assert [scenario.lineage.contract for scenario in read.scenarios] == ["large@1"] * ROWS
    assert (store.asked, len(threads)) == (2, 1)  # its row and its content
    await made.get("ours", "scoring_contracts", "large")
    assert len(threads) == 2
    assert threading.get_ident() not in threads


async def test_a_key_finds_the_entry_that_was_created_with_it(database: Database) -> None:
    """The answer is made again of what is stored; another process's version of the name changes nothing."""
    made = await catalog_of(CatalogStore(database))
    keys, key = Idempotency(SystemClock()), IdempotencyKey.of("k", b"{}")

    async def once() -> Any:
        async def create() -> Any:
            return await made.create("ours", "scoring_contracts", {"name": "large", "contract": LARGE})

        async def again(ref: str) -> Any:
            return (await made.get("ours", "scoring_contracts", ref)).as_created()

        return await keys.once("ours", "scoring_contracts", key, create, Refindable(lambda entry: entry.ref, again))

    first = await once()
    await made.create(
        "ours", "scoring_contracts", {"name": "large", "contract": {**LARGE, "cases": LARGE["cases"][:1]}}
    )
    assert (await once(), first.contract) == (first, None)
