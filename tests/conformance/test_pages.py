"""A page of any list of the store holds a bounded number of bytes, and its cursor goes on behind what it holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from harena.core.catalog import CatalogKind
from harena.core.job_store import Batch
from harena.core.operations import OPERATIONS
from harena.core.pages import PAGE_BYTES, PageRows
from harena.server import document
from harena.store.access import AccessStore
from harena.store.benchmark_jobs import JobStore
from harena.store.catalog import CatalogStore
from harena.store.database import Database
from harena.store.registry import RegistryStore
from harena.store.rows import insert_rows
from harena.store.tables import api_keys, catalog, objects, training_events, training_jobs, world_jobs, world_manifests
from harena.store.training_jobs import TrainingStore
from harena.store.worlds import WorldStore
from harena.testing.conformance_job_store import event, job, queued

LARGE = {"x": "y" * (PAGE_BYTES // 4)}
ENTRIES = 7
PAGES = [3, 3, 1]
"""entries of each page: a fourth is beyond its bytes, with the names around it"""
Page = Callable[[int | None], Awaitable[PageRows[Any]]]


async def jobs(database: Database) -> Page:
    store = JobStore(database)
    for number in range(ENTRIES):
        await store.insert_job(job(f"job_{number}", config=LARGE), queued(1))
    return lambda cursor: store.list_jobs("default", before=cursor, limit=500)


async def happenings(database: Database) -> Page:
    store = JobStore(database)
    await store.insert_job(job(), queued(1))
    many = [event(n, **LARGE) for n in range(1, ENTRIES + 1)]
    await store.write(Batch("job_1", events=many))
    return lambda cursor: store.events_after("job_1", cursor or 0, limit=500)


async def versions(kind: CatalogKind, database: Database) -> Page:
    fixed = {"workspace": "default", "kind": kind, "digest": "d", "metadata": {}, "created_at": "t"}
    rows = [{"name": f"n{number}", "version": 1, "described": LARGE} for number in range(ENTRIES)]
    await database.run(lambda connection: insert_rows(connection, catalog, rows, fixed=fixed))
    store = CatalogStore(database)
    return lambda cursor: store.page("default", kind, metadata={}, before=cursor, limit=500)


async def published(database: Database) -> Page:
    fixed = {"workspace": "default", "kind": "dataset", "digest": "d", "files": 1, "bytes": 1, "created_at": "t"}
    rows = [{"name": f"n{number}", "version": "1", "described": LARGE} for number in range(ENTRIES)]
    await database.run(lambda connection: insert_rows(connection, objects, rows, fixed=fixed))
    store = RegistryStore(database)
    return lambda cursor: store.page("default", kind=None, name=None, before=cursor, limit=500)


async def trainings(database: Database) -> Page:
    fixed = {
        "workspace": "default",
        "name": "n",
        "state": "queued",
        "trainer_type": "sft",
        "created_at": "t",
        "resolved": [],
        "plan": {},
        "metrics": {},
        "artifacts": {},
        "owner_pid": 1,
        "owner_started": "s",
        "owner_boot": "b",
        "durable": True,
    }
    rows = [{"id": f"id_{number}", "request": LARGE} for number in range(ENTRIES)]
    await database.run(lambda connection: insert_rows(connection, training_jobs, rows, fixed=fixed))
    store = TrainingStore(database)
    return lambda cursor: store.list_jobs("default", before=cursor, limit=500)


async def training_happenings(database: Database, *, told: bool = False) -> Page:
    fixed = {"job_id": "j", "at": "t", "kind": "k", "level": "info"}
    rows = [{"cursor": n, "message": "m", "body": LARGE} for n in range(1, ENTRIES + 1)]
    await database.run(lambda connection: insert_rows(connection, training_events, rows, fixed=fixed))
    store = TrainingStore(database)
    return lambda cursor: store.events_after("j", cursor or 0, limit=500, told=told)


async def made_worlds(database: Database) -> Page:
    store = WorldStore(database)
    fixed = {"workspace": "default", "name": "n", "manifest": {}, "created_at": "t"}
    rows = [{"id": f"id_{number}", "facts": LARGE} for number in range(ENTRIES)]
    await database.run(lambda connection: insert_rows(connection, world_manifests, rows, fixed=fixed))
    return lambda cursor: store.worlds("default", name=None, before=cursor, limit=500)


async def jobs_of_worlds(database: Database) -> Page:
    store = WorldStore(database)
    fixed = {
        "workspace": "default",
        "world": "w",
        "manifest": {},
        "dataset": "d@1",
        "state": "completed",
        "played": 1,
        "reached": 1,
        "rows": 1,
        "created_at": "t",
    }
    rows = [{"id": f"id_{number}", "trajectories": LARGE} for number in range(ENTRIES)]
    await database.run(lambda connection: insert_rows(connection, world_jobs, rows, fixed=fixed))
    return lambda cursor: store.jobs("default", world=None, before=cursor, limit=500)


async def keys(database: Database) -> Page:
    fixed = {"workspace": "w", "scopes": "read", "hash": "h", "name": LARGE["x"]}
    rows = [{"id": f"{number}", "created_at": f"203{number // 2}"} for number in range(ENTRIES)]
    await database.run(lambda connection: insert_rows(connection, api_keys, rows, fixed=fixed))
    store, made = AccessStore(database), {row["id"]: row["created_at"] for row in rows}

    def page(cursor: Any) -> Awaitable[PageRows]:
        after = None if cursor is None else (made[cursor], cursor)
        return store.page_of_keys("w", after=after, limit=500)

    return page


CUT: Mapping[str, Callable[[Database], Awaitable[Page]]] = {
    "catalog_list_scenarios": partial(versions, "scenarios"),
    "catalog_list_contracts": partial(versions, "scoring_contracts"),
    "benchmark_job_defs_list_definitions": partial(versions, "benchmark_job_defs"),
    "benchmark_jobs_list_jobs": jobs,
    "benchmark_jobs_events": happenings,
    "objects_list_objects": published,
    "training_jobs_list_jobs": trainings,
    "training_jobs_events": training_happenings,
    "training_jobs_logs": partial(training_happenings, told=True),
    "keys_list_keys": keys,
    "world_manifests_list_worlds": made_worlds,
    "world_jobs_list_jobs": jobs_of_worlds,
}
"""operations whose pages are read by the store: what fills several of them"""
CUT_ELSEWHERE = {
    "benchmark_jobs_results_page": "test_a_page_of_results_is_bounded_by_its_bytes",
    "blueprints_list_blueprints": "test_a_page_of_blueprints_is_bounded_by_its_bytes",
    "sandboxes_list_sandboxes": "test_a_page_of_sandboxes_is_bounded_in_characters",
}
"""operations whose pages another test fills"""
NOT_CUT = {
    "sandboxes_gateway_log": "at most 200 requests of some hundred characters each",
    "sandboxes_outputs": "at most 20 commands of 16 KiB each",
    "sandboxes_processes": "a sandbox has at most as many processes as its limit says",
    "files_list_files": "one folder of a sandbox, which the sandbox's disk bounds",
    "blueprints_get": "packages of one record, which has at most 1 MiB beside its files",
    "catalog_get_scenarios": "outlines of one version's calibrations, each of which is a benchmark job that was kept",
    "benchmark_jobs_results": "all results of one job, which are read and sent a page at a time",
    "images_list_images": "at most 500 images of some hundred characters each",
    "snapshots_list_snapshots": "at most 500 snapshots of some hundred characters each",
    "images_pull_events": "each event is one pull, as long as a reference and an error",
    "image_builds_events": "each event is one build, or a piece of what its commands say",
    "sandboxes_network_log": "at most 100 entries of some hundred characters each",
    "secrets_list_secrets": "at most 500 secrets with 32 hosts of 300 characters each",
    "world_manifests_get": "at most 1000 goals of some hundred characters each",
    "training_jobs_get": "references of one job, which the body of its request bounds",
    "training_jobs_artifacts": "names of files of one job, which `training_bytes` bounds",
}
"""operations that answer a list as a whole, and what bounds it"""


@cache
def documented() -> Any:
    return document.openapi()


def answers_a_list(operation_id: str) -> bool:
    """Whether a route that reads gives a list of objects, or events."""
    for route in documented()["paths"].values():
        for method, operation in route.items():
            if operation["operationId"] == operation_id:
                told = [
                    (kind, content)
                    for status, answer in operation["responses"].items()
                    if status.startswith("2")
                    for kind, content in answer.get("content", {}).items()
                ]
                return method == "get" and any(
                    kind == "text/event-stream" or any(lists(content.get("schema", {}))) for kind, content in told
                )
    raise AssertionError(f"{operation_id} is not in the document")


def resolved(schema: Any) -> Any:
    """What a reference means."""
    while "$ref" in schema:
        schema = documented()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def lists(schema: Any) -> Iterator[bool]:
    """For each part of an answer whether it is a list of objects."""
    for part in resolved(schema).get("properties", {}).values():
        for one in resolved(part).get("anyOf", [part]):
            yield resolved(resolved(one).get("items", {})).get("type") == "object"


def test_no_list_of_the_table_is_forgotten() -> None:
    """Every operation that answers a list is cut by its bytes, or has a reason why it is not."""
    there = [operation.id for operation in OPERATIONS if answers_a_list(operation.id)]
    assert sorted(there) == sorted([*CUT, *CUT_ELSEWHERE, *NOT_CUT])
    tests = "".join(path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert [name for name in CUT_ELSEWHERE.values() if f"async def {name}(" not in tests] == []


@pytest.mark.parametrize("operation", CUT)
async def test_a_page_is_cut_at_its_bytes(database: Database, operation: str) -> None:
    """Every entry comes once; the last page says that it is the last."""
    page = await CUT[operation](database)
    sizes, seen, cursor = [], [], None
    while True:
        rows = await page(cursor)
        entries = [asdict(row) if is_dataclass(row) else row for row in rows]
        key = next(name for name in ("sequence", "cursor", "id") if name in entries[-1])
        cursor = entries[-1][key]
        sizes.append(len(rows))
        seen += [entry[key] for entry in entries]
        assert any(value in (LARGE, LARGE["x"]) for value in entries[0].values())
        if not rows.more:
            break
    assert sizes == PAGES
    assert len(set(seen)) == ENTRIES


async def test_a_page_counts_bytes_of_text(database: Database) -> None:
    """A character of a message may be several."""
    fixed = {"job_id": "j", "at": "t", "kind": "k", "level": "info", "body": {}}
    rows = [{"cursor": n, "message": "\u00e9" * (PAGE_BYTES // 8)} for n in range(1, ENTRIES + 1)]
    await database.run(lambda connection: insert_rows(connection, training_events, rows, fixed=fixed))
    page = await TrainingStore(database).events_after("j", 0, limit=500, told=True)
    assert (len(page), page.more) == (PAGES[0], True)


async def test_one_entry_may_be_larger_than_a_page(database: Database) -> None:
    """It is a page of its own."""
    store = JobStore(database)
    larger: dict[str, Any] = {"x": "y" * (PAGE_BYTES + 1)}
    for number in range(2):
        await store.insert_job(job(f"job_{number}", config=larger), queued(1))
    page = await store.list_jobs("default", limit=500)
    assert ([found.id for found in page], page.more) == (["job_1"], True)
