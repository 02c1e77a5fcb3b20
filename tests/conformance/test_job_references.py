"""What jobs refer to can be deleted, or the job is accepted: over SQLite and PostgreSQL, never both."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

import pytest
from test_training_store import OWNER, read
from test_training_store import job as training_job

from harena.core.catalog import CatalogKind
from harena.core.errors import NotFoundError
from harena.core.training_store import TrainingChanges, TrainingRetry
from harena.store import registry as registry_queries
from harena.store.benchmark_jobs import JobStore
from harena.store.catalog import CatalogStore
from harena.store.database import Database
from harena.store.registry import RegistryStore
from harena.store.training_jobs import TrainingStore
from harena.testing.conformance_catalog_store import entry
from harena.testing.conformance_job_store import job, queued
from harena.testing.conformance_registry_store import row

OPEN = ("queued", "running")
TRIES = 25
RETRY = TrainingRetry(owner=OWNER, durable=True, attempt=1, from_scratch=False)


def lineage(kind: str, name: str) -> dict[str, Any]:
    ref = f"{name}@1"
    return {
        "scenarios": {"scenarios": ref, "digest": "d", "contracts": []},
        "scoring_contracts": {"scenarios": None, "digest": None, "contracts": ["other@1", ref]},
    }[kind]


async def at_once(accept: Callable[[], Awaitable[object]], remove: Callable[[], Awaitable[object]]) -> bool:
    """Whether the job was accepted; who deletes must have been told the opposite."""
    accepted, users = await asyncio.gather(accept(), remove(), return_exceptions=True)
    if isinstance(users, tuple):
        users = [*users]
    assert isinstance(users, list), users
    if isinstance(accepted, BaseException):
        assert isinstance(accepted, NotFoundError), accepted
        assert users == [], "neither was the job accepted nor the deletion done"
        return False
    assert users == [accepted], "the job was accepted, and what it needs was deleted"
    return True


@pytest.mark.parametrize("kind", ["scenarios", "scoring_contracts"])
async def test_a_job_and_the_deletion_of_its_version_at_one_time(
    database: Database, other_database: Database, kind: CatalogKind
) -> None:
    """The version stays or the job is refused, in whatever order the two are done."""
    catalog, store = CatalogStore(database), JobStore(other_database)
    await catalog.add(entry("other", "d", workspace="default", kind="scoring_contracts"), b"c")
    for number in range(TRIES):
        name = f"n{number}"
        await catalog.add(entry(name, f"d {name}", workspace="default", kind=kind), b"c")
        made = job(f"job_{number}", lineage=lineage(kind, name))
        accepted = await at_once(
            lambda made=made: store.insert_job(made, queued(2)),  # type: ignore[misc]
            lambda name=name: catalog.remove("default", kind, name, 1, while_in=OPEN),  # type: ignore[misc]
        )
        assert (await store.read_job(f"job_{number}") is not None) == accepted
        assert (await catalog.find("default", kind, name, 1) is not None) == accepted
    await catalog.remove("default", kind, "n0", 1, while_in=())
    with pytest.raises(NotFoundError, match="n0@1: deleted while the job was being accepted"):
        await store.insert_job(job("late", lineage=lineage(kind, "n0")), queued(2))
    assert await store.read_job("late") is None
    assert await store.list_runs("late") == []


async def test_a_training_job_and_the_deletion_of_its_object_at_one_time(
    database: Database, other_database: Database
) -> None:
    """The object stays or the job is refused; folders and models of others are nobody's to delete."""
    registry, store = RegistryStore(database), TrainingStore(other_database)
    for number in range(TRIES):
        name = f"n{number}"
        await registry.add(row(name, "1", workspace="default"))
        resolved = [
            {"kind": "model", "name": "org/cached", "version": "abc", "digest": "m"},
            {"kind": "model", "name": "./folder", "version": None, "digest": "f"},
            {"kind": "dataset", "name": name, "version": "1", "digest": "d"},
        ]
        made = training_job(name, resolved=resolved)
        accepted = await at_once(
            lambda made=made: store.insert_job(made, []),  # type: ignore[misc]
            lambda name=name: registry.remove("default", "dataset", name, "1"),  # type: ignore[misc]
        )
        assert (await store.read_job(f"id_{name}") is not None) == accepted
        assert (await registry.find("default", "dataset", name, "1") is not None) == accepted
    late = [{"kind": "dataset", "name": "never", "version": "1", "digest": "d"}]
    with pytest.raises(NotFoundError, match="dataset never@1: deleted while"):
        await store.insert_job(training_job("late", resolved=late), [])
    assert await store.read_job("id_late") is None


async def test_a_retried_training_job_and_the_deletion_of_its_object_at_one_time(
    database: Database, other_database: Database
) -> None:
    """The object stays or the retry is refused, and the job is as it was; so where the name was published anew with
    other content."""
    registry, store = RegistryStore(database), TrainingStore(other_database)

    async def retry(job_id: str) -> str:
        assert await store.reopen(job_id, RETRY, [], while_in=("failed",))
        return job_id

    for number in range(TRIES):
        name = f"n{number}"
        await registry.add(row(name, "1", workspace="default"))
        resolved = [{"kind": "dataset", "name": name, "version": "1", "digest": "d"}]
        await store.insert_job(training_job(name, resolved=resolved), [])
        await store.write(f"id_{name}", TrainingChanges(state="failed"))
        queued_again = await at_once(
            lambda name=name: retry(f"id_{name}"),  # type: ignore[misc]
            lambda name=name: registry.remove("default", "dataset", name, "1"),  # type: ignore[misc]
        )
        assert (await read(store, f"id_{name}")).state == ("queued" if queued_again else "failed")
        assert (await registry.find("default", "dataset", name, "1") is not None) == queued_again
    await store.write("id_n0", TrainingChanges(state="failed"))
    await registry.remove("default", "dataset", "n0", "1")
    await registry.add(row("n0", "1", "other content", workspace="default"))
    with pytest.raises(NotFoundError, match="dataset n0@1: deleted since the job was accepted"):
        await retry("id_n0")
    assert (await read(store, "id_n0")).state == "failed"


async def test_jobs_that_cannot_use_an_object_are_not_read(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else writes while users of a published object are looked for: what other jobs refer to, of whichever
    workspace, makes that no longer. Names with what is special in patterns are found."""
    registry, store = RegistryStore(database), TrainingStore(database)
    await registry.add(row("my_rows", "1", workspace="a"))
    await registry.add(row("myxrows", "1", workspace="default"))
    await registry.publish("a", "dataset", "my_rows", "1")
    shown = {"kind": "dataset", "name": "my_rows", "version": "1", "digest": "d", "organization": "default"}
    own = {"kind": "dataset", "name": "myxrows", "version": "1", "digest": "d", "organization": None}
    for name, resolved in (("uses", [shown]), ("does_not", [own]), ("nor_this", [own])):
        await store.insert_job(training_job(name, resolved=resolved), [])
    looked_at: list[Any] = []
    is_it = registry_queries._is

    def seen(ref: Mapping[str, Any], *this: str) -> bool:
        looked_at.append(ref["name"])
        return is_it(ref, *this)

    monkeypatch.setattr(registry_queries, "_is", seen)
    await registry.withdraw("a", "dataset", "my_rows", "1")
    assert await registry.remove("a", "dataset", "my_rows", "1") == ()
    assert looked_at == ["my_rows"]
    assert await registry.find("a", "dataset", "my_rows", "1") is None
    assert await registry.remove("default", "dataset", "myxrows", "1") == ("id_does_not", "id_nor_this")


async def test_jobs_are_searched_before_others_have_to_wait(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the jobs refer to that were there before the lock is not searched again behind it, however many there are;
    one that came in between, was queued again or could use the object is, and all where it was shown to others."""
    registry, store = RegistryStore(database), TrainingStore(database)
    await registry.add(row("rows", "1", workspace="default"))
    resolved = [{"kind": "dataset", "name": "rows", "version": "1", "digest": "d"}]
    for number in range(3):
        await store.insert_job(training_job(f"other_{number}", resolved=[]), [])
    await store.insert_job(training_job("again", resolved=resolved), [])
    await store.write("id_again", TrainingChanges(state="failed"))
    searched: list[int] = []
    chunks, look = registry_queries.chunks, RegistryStore._looked_at

    def counted(ids: Collection[str]) -> Any:
        searched.append(len(ids))
        return chunks(ids)

    monkeypatch.setattr(registry_queries, "chunks", counted)

    async def looked_at(self: RegistryStore, *this: str) -> Any:
        found = await look(self, *this)
        if meanwhile:
            await meanwhile.pop()()
        return found

    monkeypatch.setattr(RegistryStore, "_looked_at", looked_at)
    meanwhile: list[Callable[[], Awaitable[object]]] = [
        lambda: store.reopen("id_again", RETRY, [], while_in=("failed",)),
        lambda: store.insert_job(training_job("late", resolved=resolved), []),
    ]
    assert await registry.remove("default", "dataset", "rows", "1") == ("id_late",)
    assert set(await registry.remove("default", "dataset", "rows", "1")) == {"id_late", "id_again"}
    assert searched == [1, 2]
    meanwhile.append(lambda: registry.publish("default", "dataset", "rows", "1"))
    assert set(await registry.remove("default", "dataset", "rows", "1")) == {"id_late", "id_again"}
    assert searched[-1] == 5


async def test_what_is_kept_for_jobs_and_what_is_forgotten_at_one_time(
    database: Database, other_database: Database
) -> None:
    """Whoever deletes a version under a job of another workspace, and whoever forgets what was kept for jobs that have
    ended, leave the files to the job that has not."""
    registry, other, store = RegistryStore(database), RegistryStore(other_database), TrainingStore(database)
    await registry.add(row("rows", "0", workspace="a"))
    await registry.publish("a", "dataset", "rows", "0")
    assert await registry.release() == ()
    for number in range(TRIES):
        version, after = str(number), str(number + 1)
        shown = {"kind": "dataset", "name": "rows", "version": version, "digest": "d", "organization": "default"}
        await store.insert_job(training_job(version, resolved=[shown]), [])
        await registry.add(row("rows", after, workspace="a"))
        await registry.publish("a", "dataset", "rows", after)
        if number:
            await store.write(f"id_{number - 1}", TrainingChanges(state="completed"))
        forgotten, own = await asyncio.gather(other.release(), registry.remove("a", "dataset", "rows", version))
        assert (forgotten in ((), [], ["d"]), own) == (True, ())
        assert await registry.release("a") == ()
        assert await registry.release("default") == []
        assert await registry.find("a", "dataset", "rows", version) is None
        assert (await registry.usage("default"))[0] == 1
    await registry.remove("a", "dataset", "rows", str(TRIES))
    assert await registry.has_tree("d")
    await store.write(f"id_{TRIES - 1}", TrainingChanges(state="completed"))
    assert await registry.release() == ["d"]
    assert not await registry.has_tree("d")
    assert await registry.usage("default") == (0, 0)
