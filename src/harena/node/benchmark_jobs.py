"""Benchmark jobs of one node: a request is checked whole, accepted into the store, run, and answered from the store.

Everything that is answered (progress, events, results) is read from the store, so what one process reports another one
can read, also after the first was killed. The store, the models and the scoring room are imported on first use: a node
that only runs sandboxes never pays for them.

Not covered yet: resuming a job whose process has gone. It is shown as `interrupted`, with the results that it had.
"""

from __future__ import annotations

import asyncio
import builtins
import os
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harena.core.clock import Clock
from harena.core.errors import NotFoundError
from harena.core.ports import SandboxSource
from harena.jobs.lifecycle import JobState
from harena.jobs.owner import Owner, is_alive, this_process
from harena.node.job_acceptance import Acceptance, Blueprints, LoadScenarios, ScoreScenario
from harena.node.owned_job import OwnedJob

if TYPE_CHECKING:
    from harena.core.job_store import Row
    from harena.store.benchmark_jobs import JobStore
    from harena.store.database import Database

OTHERS_POLL_SECONDS = 0.25
"""how often the store is asked about a job that another process runs"""
OPEN_STATES = tuple(state for state in JobState if not state.is_terminal)


class BenchmarkJobs:
    """The benchmark jobs that this store knows, and those of them that this process runs. Used from one event loop."""

    def __init__(
        self,
        store_path: Path,
        sandboxes: SandboxSource,
        blueprints: Blueprints,
        clock: Clock,
        *,
        score: ScoreScenario | None = None,
        load: LoadScenarios | None = None,
        cores: int | None = None,
    ) -> None:
        """`score`, `load` and `cores` are for tests; by default the scoring room and this host's own."""
        self._store_path = store_path
        self._clock = clock
        self._owner = this_process()
        self._acceptance = Acceptance(
            sandboxes=sandboxes,
            blueprints=blueprints,
            clock=clock,
            cores=cores or len(os.sched_getaffinity(0)),
            owner=self._owner,
            score=score,
            load=load,
        )
        self._owned: dict[str, OwnedJob] = {}
        self._database: Database | None = None
        self._opening = asyncio.Lock()

    async def create(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Check everything, then accept and start a job. Request and answer: see `harena.jobs.models`.

        Raises ValidationError (every mistake of the request), a scenario file's own error with file, line and field of
        every mistake, NotFoundError (blueprint), PlatformError (store). Nothing has been started then.
        """
        job = await self._acceptance.accept(request)
        store = await self._store()
        await store.insert_job(job.row, job.runs)
        owned = OwnedJob(job, store=store, clock=self._clock)
        self._owned[owned.id] = owned
        owned.start(on_end=lambda: self._owned.pop(owned.id, None) if owned.failure is None else None)
        return await self._describe(owned.id)

    async def get(self, job_id_or_name: str) -> dict[str, Any]:
        """A job, or the newest of that name. Raises NotFoundError."""
        return await self._describe(job_id_or_name)

    async def list(self) -> list[dict[str, Any]]:
        """All jobs, newest first."""
        store = await self._store()
        rows = [await self._settled(row) for row in await store.list_jobs()]
        counts = await store.count_runs([row["id"] for row in rows])
        return [_job_answer(row, counts[row["id"]]) for row in rows]

    async def wait(self, job_id_or_name: str) -> dict[str, Any]:
        """The results, when the job has ended. Raises NotFoundError; PlatformError if they could not be recorded."""
        row = await self._find(job_id_or_name)
        if (owned := self._owned.get(row["id"])) is not None:
            await owned.wait()
            if owned.failure is not None:
                raise owned.failure
        else:
            while not JobState(row["state"]).is_terminal:
                await self._clock.sleep(OTHERS_POLL_SECONDS)
                row = await self._find(row["id"])
        return await self.results(row["id"])

    async def results(self, job_id_or_name: str) -> dict[str, Any]:
        """The results so far. Raises NotFoundError."""
        from harena.jobs.summary import summarise

        row = await self._find(job_id_or_name)
        runs = [run["envelope"] for run in await (await self._store()).list_runs(row["id"])]
        return {
            "job_id": row["id"],
            "name": row["name"],
            "state": row["state"],
            "error": row["error"],
            "summary": summarise(runs, total=row["total"], duration_seconds=self._duration_seconds(row)),
            "runs": runs,
        }

    async def cancel(self, job_id_or_name: str) -> dict[str, Any]:
        """Stop the job's running sandboxes, end it and keep its results; no effect on a job that has ended. A job of
        another process is ended by that process. Raises NotFoundError."""
        row = await self._find(job_id_or_name)
        if (owned := self._owned.get(row["id"])) is not None:
            owned.stop(JobState.CANCELLED)
            await owned.wait()
        else:
            await (await self._store()).update_job(row["id"], {"cancel_requested": True}, while_in=OPEN_STATES)
            while not JobState(row["state"]).is_terminal:
                await self._clock.sleep(OTHERS_POLL_SECONDS)
                row = await self._find(row["id"])
        return await self._describe(row["id"])

    async def events(self, job_id_or_name: str, *, after: int = 0) -> AsyncIterator[dict[str, Any]]:
        """What happened and happens, from the first event after cursor `after` to the job's end."""
        job_id, cursor = (await self._find(job_id_or_name))["id"], after
        store = await self._store()
        while True:
            owned = self._owned.get(job_id)
            news = owned.news if owned else None
            # the state first: what is read after a job has ended is all there is
            ended = JobState((await self._find(job_id))["state"]).is_terminal
            events = await store.events_after(job_id, cursor)
            for event in events:
                cursor = event["cursor"]
                yield {
                    **event["body"], "cursor": cursor, "at": event["at"], "kind": event["kind"], "job_id": job_id
                }  # fmt: skip
            if events:
                continue
            if ended:
                return
            if owned is not None and owned.ended and owned.failure is not None:
                raise owned.failure
            if news is not None:
                await news.wait()
            else:
                await self._clock.sleep(OTHERS_POLL_SECONDS)

    async def close(self) -> None:
        """Interrupt the jobs that this process runs, record what they had, and close the store."""
        running = builtins.list(self._owned.values())
        for owned in running:
            owned.stop(JobState.INTERRUPTED, "the process that ran it was closed")
        for owned in running:
            await owned.wait()
        self._owned.clear()
        async with self._opening:
            if self._database is not None:
                await self._database.close()
                self._database = None

    async def _store(self) -> JobStore:
        from harena.store.benchmark_jobs import JobStore
        from harena.store.database import Database

        async with self._opening:
            if self._database is None:
                self._database = await Database.open(self._store_path)
            return JobStore(self._database)

    async def _find(self, job_id_or_name: str) -> Row:
        row = await (await self._store()).find_job(job_id_or_name)
        if row is None:
            raise NotFoundError(
                f"no benchmark job has the id or name {job_id_or_name!r} in {self._store_path}; "
                "`harena benchmark ls` shows what there is"
            )
        return await self._settled(row)

    async def _settled(self, row: Row) -> Row:
        """The row, changed to `interrupted` (also in the store) if the process that ran the job has gone."""
        owner = Owner(pid=row["owner_pid"], started=row["owner_started"], boot=row["owner_boot"])
        if JobState(row["state"]).is_terminal or owner == self._owner or is_alive(owner):
            return row
        store = await self._store()
        last = await store.last_event(row["id"])
        ended = {
            "state": JobState.INTERRUPTED,
            "error": f"the process that ran it (pid {owner.pid}) has gone",
            "ended_at": last["at"] if last else row["created_at"],
        }
        # it may have ended properly in the moment between reading it and finding its process gone: then that stands
        await store.update_job(row["id"], ended, while_in=OPEN_STATES)
        return await store.find_job(row["id"]) or row

    async def _describe(self, job_id_or_name: str) -> dict[str, Any]:
        row = await self._find(job_id_or_name)
        counts = await (await self._store()).count_runs([row["id"]])
        return _job_answer(row, counts[row["id"]])

    def _duration_seconds(self, row: Row) -> float:
        if row["duration_seconds"] is not None:
            return float(row["duration_seconds"])
        if row["started_at"] is None:
            return 0.0
        ended = datetime.fromisoformat(row["ended_at"]) if row["ended_at"] else self._clock.utcnow()
        return max(0.0, (ended - datetime.fromisoformat(row["started_at"])).total_seconds())


def _job_answer(row: Row, counts: Mapping[str, int]) -> dict[str, Any]:
    from harena.jobs.summary import progress

    plain = ("id", "name", "state", "created_at", "started_at", "ended_at", "blueprint", "config", "error")
    ended = JobState(row["state"]).is_terminal
    return {
        **{name: row[name] for name in plain},
        "progress": progress(counts, ended=ended, effective_concurrency=row["effective_concurrency"]),
    }
