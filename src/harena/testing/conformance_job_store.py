"""What every store of benchmark jobs must do. Subclass and override the `store` fixture with an empty, open store."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import Any

import pytest

from harena.core.errors import PlatformError, ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.job_store import (
    LEASE_LOST,
    Batch,
    JobChanges,
    JobCounts,
    JobEvent,
    JobStorePort,
    LastEvent,
    NewBenchmarkJob,
    OpenRun,
    RunChange,
)
from harena.core.leases import Owner

OPEN = ("queued", "running")
HERE = "default"
"""the workspace of these jobs"""


def job(job_id: str = "job_1", name: str = "n", **more: Any) -> NewBenchmarkJob:
    """A job to accept."""
    new = NewBenchmarkJob(
        id=job_id,
        workspace=HERE,
        name=name,
        state="queued",
        created_at="2030-01-01T00:00:00+00:00",
        blueprint="default",
        config={"concurrency": 8},
        effective_concurrency=8,
        total=2,
        durable=False,
        owner=Owner(pid=1, started="2", boot="b"),
    )
    return replace(new, **more)


def queued(count: int) -> list[OpenRun]:
    """Make `count` runs of one attempt each."""
    return [OpenRun(number=n, scenario_id=f"s{n}", attempt=1, state="queued") for n in range(count)]


def done(score: float | None, *, cursor: int | None = None, **envelope: Any) -> RunChange:
    """A run that has ended, of which there is a row."""
    kept = {"score": score, **envelope}
    return RunChange(state="done", score=score, passed=score == 1.0, envelope=kept, ended_cursor=cursor)


def begun(number: int, **more: Any) -> RunChange:
    """A run that is under way, of which there may be no row."""
    return RunChange(**{"scenario_id": f"s{number}", "attempt": 1, "state": "running", **more})


def ended(number: int, score: float | None, *, cursor: int | None = None) -> RunChange:
    """A run that has ended, of which there may be no row."""
    return replace(done(score, cursor=cursor), scenario_id=f"s{number}", attempt=1)


def event(cursor: int, **body: Any) -> JobEvent:
    """Something that happened."""
    return JobEvent(cursor=cursor, at="2030-01-01T00:00:00+00:00", kind="k", body=body)


def owner(pid: int) -> Owner:
    """A process that runs jobs."""
    return Owner(pid=pid, started="s", boot="b")


class JobStoreConformance:
    """The suite."""

    @pytest.fixture
    def store(self) -> JobStorePort:
        """An empty store."""
        raise NotImplementedError(f"{type(self).__name__} must override the `store` fixture")

    async def test_jobs_are_found_by_id_and_newest_by_name(self, store: JobStorePort) -> None:
        """A name means the newest job of that name; an id means itself, also where it is another job's name."""
        await store.insert_job(job("job_1", "n"), queued(2))
        await store.insert_job(job("job_2", "n"), [])
        await store.insert_job(job("job_3", "job_1"), [])
        for asked, meant in (("n", "job_2"), ("job_1", "job_1"), ("job_3", "job_3")):
            found = await store.find_job(HERE, asked)
            assert found is not None
            assert found.id == meant
        assert await store.find_job(HERE, "other") is None
        assert await store.find_job(HERE, "'; DROP TABLE runs; --") is None
        assert [found.id for found in await store.list_jobs(HERE)] == ["job_3", "job_2", "job_1"]

    async def test_workspaces_do_not_see_each_other(self, store: JobStorePort) -> None:
        """Neither by name nor by id; who runs a job reads it whosever it is."""
        await store.insert_job(job("job_1", "n", workspace="ours"), [])
        await store.insert_job(job("job_2", "n", workspace="theirs"), [])
        await store.insert_job(job("job_3", "job_1", workspace="theirs"), [])
        for workspace, asked, meant in (
            ("ours", "n", "job_1"),
            ("theirs", "n", "job_2"),
            ("theirs", "job_1", "job_3"),
            ("ours", "job_2", None),
            (HERE, "n", None),
        ):
            found = await store.find_job(workspace, asked)
            assert (found and found.id) == meant, (workspace, asked)
        assert [one.id for one in await store.list_jobs("theirs")] == ["job_3", "job_2"]
        assert await store.list_jobs(HERE) == []
        found = await store.read_job("job_1")
        assert found is not None
        assert found.workspace == "ours"

    async def test_jobs_are_listed_in_pages(self, store: JobStorePort) -> None:
        """Pages follow the sequence of the last one that was seen; of one name where it is asked for."""
        for number in range(7):
            await store.insert_job(job(f"job_{number}", "odd" if number % 2 else "even"), [])
        seen: list[str] = []
        before = None
        while page := await store.list_jobs(HERE, before=before, limit=3):
            seen += [found.id for found in page]
            before = page[-1].sequence
        assert seen == [f"job_{number}" for number in reversed(range(7))]
        odd = await store.list_jobs(HERE, name="odd", limit=2)
        assert [found.id for found in odd] == ["job_5", "job_3"]
        rest = await store.list_jobs(HERE, name="odd", before=odd[-1].sequence)
        assert [found.id for found in rest] == ["job_1"]

    async def test_jobs_are_counted_by_their_states(self, store: JobStorePort) -> None:
        """Counts are for one workspace."""
        for number, (workspace, state) in enumerate(
            [("a", "queued"), ("a", "running"), ("a", "completed"), ("b", "running")]
        ):
            await store.insert_job(job(f"job_{number}", workspace=workspace, state=state), [])
        assert await store.count_jobs("a", states=OPEN) == 2
        assert await store.count_jobs("b", states=["completed"]) == 0

    async def test_a_job_is_accepted_whole_or_not_at_all(self, store: JobStorePort) -> None:
        """When one run cannot be written there is no job either, and no request."""
        with pytest.raises(PlatformError):
            await store.insert_job(job(), [*queued(2), *queued(1)], request=b"{}")
        assert await store.list_jobs(HERE) == []
        assert await store.find_request("job_1") is None

    async def test_the_same_key_gives_the_same_job(self, store: JobStorePort) -> None:
        """From its acceptance until it is deleted; the key with another request is refused, and nothing is stored."""
        key, other = IdempotencyKey("k", "asked"), IdempotencyKey("k", "something else")
        assert await store.find_answer(HERE, key) is None
        assert await store.insert_job(job("job_1"), queued(2), key=key) == "job_1"
        assert await store.insert_job(job("job_2"), queued(2), request=b"{}", key=key) == "job_1"
        assert await store.find_answer(HERE, key) == "job_1"
        with pytest.raises(ValidationError, match="used for another request"):
            await store.insert_job(job("job_3"), [], key=other)
        with pytest.raises(ValidationError, match="used for another request"):
            await store.find_answer(HERE, other)
        assert [found.id for found in await store.list_jobs(HERE)] == ["job_1"]
        assert await store.find_request("job_2") is None
        assert await store.delete_job("job_1", while_in=OPEN)
        assert await store.insert_job(job("job_4"), [], key=other) == "job_4"

    async def test_keys_belong_to_a_workspace(self, store: JobStorePort) -> None:
        """Two that choose the same key do not meet."""
        key = IdempotencyKey("k", "asked")
        assert await store.insert_job(job("job_1", workspace="ours"), [], key=key) == "job_1"
        assert await store.find_answer("theirs", key) is None
        assert await store.insert_job(job("job_2", workspace="theirs"), [], key=key) == "job_2"

    async def test_a_key_is_free_where_the_job_was_not_accepted(self, store: JobStorePort) -> None:
        """It is stored with the job or not at all."""
        key = IdempotencyKey("k", "asked")
        with pytest.raises(PlatformError):
            await store.insert_job(job("job_1"), [*queued(2), *queued(1)], key=key)
        assert await store.find_answer(HERE, key) is None
        assert await store.insert_job(job("job_2"), [], key=key) == "job_2"

    async def test_many_ask_at_once_with_one_key(self, store: JobStorePort) -> None:
        """One job is accepted, and all are told of that one."""
        key = IdempotencyKey("k", "asked")
        told = await asyncio.gather(*(store.insert_job(job(f"job_{n}"), queued(3), key=key) for n in range(5)))
        assert len(set(told)) == 1
        assert [found.id for found in await store.list_jobs(HERE)] == [told[0]]

    async def test_a_large_job_is_accepted_whole(self, store: JobStorePort) -> None:
        """Also where its runs are written in pieces; and when the last of them is refused, none is there."""
        await store.insert_job(job("job_1"), queued(2500))
        assert len(await store.open_runs("job_1")) == 2500
        with pytest.raises(PlatformError):
            await store.insert_job(job("job_2"), [*queued(2500), *queued(1)])
        assert await store.open_runs("job_2") == []

    async def test_a_run_is_stored_when_it_begins_or_ends(self, store: JobStorePort) -> None:
        """A job is accepted without rows of its runs; what has one is told as ranges, and a result stays as it is."""
        await store.insert_job(job(total=9))
        assert (await store.open_runs("job_1"), await store.stored_runs("job_1", limit=9)) == ([], [])
        under_way = {number: begun(number) for number in range(7) if number != 3}
        await store.write(Batch("job_1", runs={**under_way, 8: ended(8, 0.5, cursor=1)}))
        await store.write(Batch("job_1", runs={8: ended(8, 1.0, cursor=2)}))
        await store.write(Batch("job_1", runs={0: begun(0, failures=2, state="queued")}))
        open_runs = await store.open_runs("job_1")
        told = [(run.number, run.scenario_id, run.state, run.failures) for run in open_runs]
        assert told == [(0, "s0", "queued", 2), *((n, f"s{n}", "running", 0) for n in (1, 2, 4, 5, 6))]
        assert await store.open_runs("job_1", after=1, limit=2) == open_runs[2:4]
        assert [run.envelope["score"] for run in await store.list_runs("job_1")] == [0.5]
        spans = [range(3), range(4, 7), range(8, 9)]
        assert await store.stored_runs("job_1", limit=100) == spans
        assert await store.stored_runs("job_1", after=0, limit=3) == [range(1, 3), range(4, 5)]

    async def test_open_runs_are_counted_by_jobs(self, store: JobStorePort) -> None:
        """For one workspace, those of its jobs in these states; what ended does not count."""
        await store.insert_job(job("job_1", total=1_000_000))
        await store.insert_job(job("job_2", total=50, state="running"))
        await store.insert_job(job("job_3", total=70, state="completed"))
        await store.insert_job(job("job_4", total=90, workspace="other"))
        await store.write(Batch("job_2", job=JobChanges(counts=JobCounts(done=20, cancelled=3, running=5))))
        assert await store.count_open_runs(HERE, states=OPEN) == 1_000_027
        assert await store.count_open_runs("nobody", states=OPEN) == 0

    async def test_an_attempt_is_accepted_once(self, store: JobStorePort) -> None:
        """Another run with the same attempt of the same scenario is refused."""
        twice = [*queued(1), OpenRun(number=1, scenario_id="s0", attempt=1, state="queued")]
        with pytest.raises(PlatformError):
            await store.insert_job(job(), twice)

    async def test_a_batch_is_written_and_counted(self, store: JobStorePort) -> None:
        """Runs, events and the job's own columns arrive together."""
        await store.insert_job(job(), queued(6))
        batch = Batch(
            "job_1",
            runs={
                0: done(1.0, cursor=1, detail="é\ud800\x00"),
                1: done(0.0, cursor=2),
                2: done(None, cursor=3),
                3: RunChange(state="running"),
                5: done(1, cursor=4),
            },
            events=[event(1, run=0)],
            job=JobChanges(state="running", error="a\x00b\ud800", counts=JobCounts(done=4)),
        )
        await store.write(batch)
        assert [(run.number, run.state) for run in await store.open_runs("job_1")] == [
            (3, "running"),
            (4, "queued"),
        ]
        runs = await store.list_runs("job_1")
        assert [(run.number, run.envelope["score"]) for run in runs] == [(0, 1.0), (1, 0.0), (2, None), (5, 1.0)]
        assert runs[0].envelope["detail"] == "é\ud800\x00"
        found = await store.read_job("job_1")
        assert found is not None
        assert (found.state, found.error, found.counts.done) == ("running", "a\ufffdb?", 4)
        assert await store.last_event("job_1") == LastEvent(cursor=1, at=event(1).at)

    async def test_a_batch_may_be_larger_than_a_statement(self, store: JobStorePort) -> None:
        """Every run and every event of it is written, each with its own values."""
        await store.insert_job(job(), queued(3000))
        results = {number: done(number / 3000, cursor=number + 1, number=number) for number in range(3000)}
        told = [event(cursor, n=cursor) for cursor in range(1, 3001)]
        await store.write(Batch("job_1", runs=results, events=told))
        assert [run.envelope for run in await store.list_runs("job_1")] == [
            {"score": n / 3000, "number": n} for n in range(3000)
        ]
        page = await store.page_runs("job_1", after=2990, limit=5)
        assert [run.ended_cursor for run in page] == [2991, 2992, 2993, 2994, 2995]
        last = await store.events_after("job_1", 2998)
        assert last == [event(n, n=n) for n in (2999, 3000)]

    async def test_odd_values_do_not_lose_the_batch(self, store: JobStorePort) -> None:
        """What JSON cannot say is kept as text."""
        await store.insert_job(job(), queued(1))
        odd = {"odd": {1}, "nan": math.nan, "deep": [{"x": -math.inf}, 1.5]}
        await store.write(Batch("job_1", runs={0: done(1.0, metadata=odd)}))
        kept = {"odd": "{1}", "nan": "nan", "deep": [{"x": "-inf"}, 1.5]}
        assert (await store.list_runs("job_1"))[0].envelope["metadata"] == kept

    async def test_a_batch_is_written_whole_or_not_at_all(self, store: JobStorePort) -> None:
        """An event that is there already takes the results beside it along."""
        await store.insert_job(job(), queued(1))
        await store.write(Batch("job_1", events=[event(1)]))
        with pytest.raises(PlatformError):
            await store.write(
                Batch("job_1", runs={0: done(1.0, cursor=1)}, events=[event(1)], job=JobChanges(state="running"))
            )
        assert await store.list_runs("job_1") == []

    async def test_a_result_is_stored_once(self, store: JobStorePort) -> None:
        """A second result for a run that has one changes nothing."""
        await store.insert_job(job(), queued(2))
        await store.write(Batch("job_1", runs={0: done(0.0, cursor=3)}))
        tried = RunChange(state="running", failures=2, repeats=1, interruptions=3)
        await store.write(Batch("job_1", runs={0: done(1.0, cursor=9), 1: tried}))
        assert [run.envelope["score"] for run in await store.list_runs("job_1")] == [0.0]
        still_open = replace(queued(2)[1], state="running", failures=2, repeats=1, interruptions=3)
        assert await store.open_runs("job_1") == [still_open]

    async def test_results_come_in_pages_in_the_order_of_their_end(self, store: JobStorePort) -> None:
        """Whoever follows a cursor misses no result and sees none twice, also of a job that runs."""
        await store.insert_job(job(), queued(5))
        ends = [(3, 2), (0, 4), (4, 7), (1, 8)]
        await store.write(Batch("job_1", runs={number: done(float(number), cursor=at) for number, at in ends}))
        seen, cursor = [], 0
        while page := await store.page_runs("job_1", after=cursor, limit=3):
            seen += [run.envelope["score"] for run in page]
            cursor = page[-1].ended_cursor or 0
        assert seen == [3.0, 0.0, 4.0, 1.0]

    async def test_events_come_in_pages_after_a_cursor(self, store: JobStorePort) -> None:
        """Nothing is missed and nothing repeated across pages, and jobs do not mix."""
        events = [event(n, n=n) for n in range(1, 8)]
        await store.write(Batch("job_1", events=events))
        await store.write(Batch("job_2", events=events[:1]))
        seen, cursor = [], 2
        while page := await store.events_after("job_1", cursor, limit=2):
            seen += [one.body["n"] for one in page]
            cursor = page[-1].cursor
        assert seen == [3, 4, 5, 6, 7]

    async def test_a_job_moves_only_from_the_states_it_is_in(self, store: JobStorePort) -> None:
        """What has ended is not changed by whoever comes late."""
        await store.insert_job(job(), [])
        assert await store.update_job("job_1", JobChanges(state="completed"), while_in=OPEN)
        assert not await store.update_job("job_1", JobChanges(state="interrupted"), while_in=OPEN)
        found = await store.read_job("job_1")
        assert found is not None
        assert found.state == "completed"

    async def test_cancellation_can_be_asked_for(self, store: JobStorePort) -> None:
        """One process sets it, another one sees it."""
        await store.insert_job(job(), [])
        await store.insert_job(job("job_2"), [])
        assert await store.look(["job_1", "other"]) == {"job_1": (False, 1)}
        await store.update_job("job_1", JobChanges(cancel_requested=True), while_in=("queued",))
        assert await store.look(["job_1", "job_2"]) == {"job_1": (True, 1), "job_2": (False, 1)}
        assert await store.look([]) == {}

    async def test_a_lease_is_taken_once(self, store: JobStorePort) -> None:
        """One of two owners that saw the same lease end gets the job."""
        await store.insert_job(job(), [])
        claims = [store.claim_job("job_1", owner(pid), epoch=1, while_in=OPEN) for pid in (7, 8)]
        assert sorted(await asyncio.gather(*claims)) == [False, True]
        found = await store.read_job("job_1")
        assert found is not None
        assert (found.lease_epoch, found.owner.pid in (7, 8)) == (2, True)
        assert not await store.claim_job("job_1", owner(9), epoch=2, while_in=("completed",))

    async def test_a_lease_is_not_taken_from_a_holder_that_beats_after_all(self, store: JobStorePort) -> None:
        """It was stopped, and has woken up between the look and the claim."""
        await store.insert_job(job(), [])
        found = await store.read_job("job_1")
        assert found is not None
        assert await store.beat("job_1", epoch=1, active_seconds=1.0)
        assert not await store.claim_job("job_1", owner(7), epoch=1, beat=found.lease_beat, while_in=OPEN)
        assert await store.claim_job("job_1", owner(7), epoch=1, beat=found.lease_beat + 1, while_in=OPEN)

    async def test_whoever_lost_its_lease_writes_nothing(self, store: JobStorePort) -> None:
        """A holder that was taken for dead cannot add to what its successor has stored."""
        await store.insert_job(job(), queued(1))
        await store.write(Batch("job_1", job=JobChanges(state="running"), epoch=1))
        await store.claim_job("job_1", owner(7), epoch=1, while_in=OPEN)
        late = Batch(
            "job_1",
            runs={0: done(1.0, cursor=1)},
            events=[event(1)],
            job=JobChanges(state="completed"),
            epoch=1,
        )
        with pytest.raises(PlatformError) as refused:
            await store.write(late)
        assert refused.value.reason == LEASE_LOST
        assert await store.list_runs("job_1") == []
        assert await store.last_event("job_1") is None
        assert not await store.beat("job_1", epoch=1, active_seconds=9.0)

    async def test_every_write_of_the_holder_is_a_beat(self, store: JobStorePort) -> None:
        """Others see by it that the holder lives."""
        await store.insert_job(job(), queued(1))
        beats = []
        for _ in range(2):
            await store.write(Batch("job_1", runs={0: RunChange(state="running")}, epoch=1))
            assert await store.beat("job_1", epoch=1, active_seconds=2.5)
            found = await store.read_job("job_1")
            assert found is not None
            beats.append((found.lease_beat, found.active_seconds))
        assert beats == [(2, 2.5), (4, 2.5)]

    async def test_unfinished_durable_jobs_are_found(self, store: JobStorePort) -> None:
        """Oldest first; jobs that end with their process, and jobs that have ended, are not among them."""
        await store.insert_job(job("job_1", durable=True), [])
        await store.insert_job(job("job_2"), [])
        await store.insert_job(job("job_3", durable=True, state="completed"), [])
        await store.insert_job(job("job_4", durable=True, state="running"), [], request=b"\x00all")
        assert [found.id for found in await store.list_unfinished(states=OPEN)] == ["job_1", "job_4"]
        assert await store.find_request("job_4") == b"\x00all"

    async def test_deleting_a_job_leaves_nothing_of_it(self, store: JobStorePort) -> None:
        """Its runs, events and request go with it; others stay; what still runs is not deleted."""
        for job_id in ("job_1", "job_2"):
            await store.insert_job(job(job_id), queued(2), request=b"{}")
            await store.write(Batch(job_id, runs={0: done(1.0, cursor=1)}))
            await store.write(Batch(job_id, events=[event(1)]))
        assert not await store.delete_job("job_1", while_in=("completed",))
        assert await store.delete_job("job_1", while_in=OPEN)
        assert await store.read_job("job_1") is None
        assert (await store.list_runs("job_1"), await store.open_runs("job_1")) == ([], [])
        assert await store.last_event("job_1") is None
        assert await store.find_request("job_1") is None
        assert len(await store.list_runs("job_2")) == 1

    async def test_old_jobs_are_deleted_by_the_time_of_their_end(self, store: JobStorePort) -> None:
        """Younger ones and those that run stay."""
        old, young = "2030-01-01T00:00:00+00:00", "2030-01-03T00:00:00+00:00"
        for job_id, at in [*((f"old_{number}", old) for number in range(150)), ("young", young)]:
            await store.insert_job(job(job_id), [])
            assert await store.update_job(job_id, JobChanges(state="completed", ended_at=at), while_in=OPEN)
        await store.insert_job(job("open", state="running"), [])
        deleted = await store.delete_ended_before("2030-01-02T00:00:00+00:00", while_in=("completed",))
        assert (deleted, [found.id for found in await store.list_jobs(HERE)]) == (150, ["open", "young"])
