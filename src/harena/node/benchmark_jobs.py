"""Benchmark jobs of one node: a request is checked whole, accepted into the store, run, and answered from the store.

Everything that is answered (progress, events, results) is read from the store, so what one process reports another one
can read, also after the first was killed. The store, the models and the scoring room are imported on first use: a node
that only runs sandboxes never pays for them.

Not covered yet: resuming a job whose process has gone. It is shown as `interrupted`, with the results that it had.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from harena.core.clock import Clock
from harena.core.errors import NotFoundError, ValidationError
from harena.core.models import Blueprint, SandboxSpec
from harena.core.ports import SandboxSource
from harena.core.results import RunResult, Trust
from harena.jobs.lifecycle import JobState, RunState
from harena.jobs.owner import Owner, is_alive, this_process
from harena.jobs.retry import RetryPolicy
from harena.jobs.schedule import Schedule, Ticket, effective_concurrency, tickets
from harena.jobs.worker import JobExecution, JobScenario
from harena.node.job_journal import OwnedJob, StoreJournal

if TYPE_CHECKING:
    from harena.jobs.models import JobRequest
    from harena.store.benchmark_jobs import JobStore, Row
    from harena.store.database import Database

OTHERS_POLL_SECONDS = 0.25
"""how often the store is asked about a job that another process runs"""
MAX_RUNS = 1_000_000
OPEN_STATES = tuple(state for state in JobState if not state.is_terminal)


class Blueprints(Protocol):
    """Where blueprints are found."""

    async def get(self, name_or_id: str) -> Blueprint:
        """Raises NotFoundError."""


class ScoreScenario(Protocol):
    """`harena.scoring.score.score_scenario`."""

    def __call__(
        self,
        scenario: Any,
        *,
        sandboxes: SandboxSource,
        base_spec: SandboxSpec,
        timeout_seconds: float,
        attempt: int = 1,
        require_trust: Trust | None = None,
    ) -> Awaitable[RunResult]:
        """One attempt, scored. Raises PlatformError."""


LoadScenarios = Callable[[Any], Sequence[JobScenario]]


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
        self._sandboxes = sandboxes
        self._blueprints = blueprints
        self._clock = clock
        self._score = score
        self._load = load or _load_scenarios
        self._cores = cores or len(os.sched_getaffinity(0))
        self._owner: Owner = this_process()
        self._owned: dict[str, OwnedJob] = {}
        self._database: Database | None = None
        self._opening = asyncio.Lock()

    async def create(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Check everything, then accept and start a job. Request and answer: see `harena.jobs.models`.

        Raises ValidationError (every mistake of the request), a scenario file's own error with file, line and field of
        every mistake, NotFoundError (blueprint), PlatformError (store). Nothing has been started then.
        """
        from harena.jobs.models import parse_request

        parsed = parse_request(request)
        spec = await self._base_spec(parsed.blueprint_id)
        scenarios = await asyncio.to_thread(self._load, parsed.scenarios)
        total = len(scenarios) * parsed.config.attempts
        if not 0 < total <= MAX_RUNS:
            raise ValidationError(f"a benchmark job has 1 to {MAX_RUNS} runs; {parsed.name!r} would have {total}")
        _check_trust(scenarios, parsed.config.require_trust)
        store = await self._store()
        accepted = tickets(len(scenarios), parsed.config.attempts)
        row = self._new_job(parsed, total)
        await store.insert_job(row, [_queued(ticket, scenarios) for ticket in accepted])
        self._start(row, parsed, spec, scenarios, accepted, store)
        return await self._describe(row["id"])

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
        for owned in self._owned.values():
            owned.stop(JobState.INTERRUPTED, "the process that ran it was closed")
        for owned in self._owned.values():
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

    async def _base_spec(self, blueprint_id: str) -> SandboxSpec:
        from harena.jobs.models import DEFAULT_BLUEPRINT

        try:
            blueprint = await self._blueprints.get(blueprint_id)
        except NotFoundError:
            if blueprint_id == DEFAULT_BLUEPRINT:
                return SandboxSpec()
            raise
        return SandboxSpec(image=blueprint.image, blueprint=blueprint.id)

    def _new_job(self, parsed: JobRequest, total: int) -> Row:
        return {
            "id": f"job_{uuid.uuid4().hex[:16]}",
            "name": parsed.name,
            "state": JobState.QUEUED,
            "created_at": self._clock.utcnow().isoformat(),
            "blueprint": parsed.blueprint_id,
            "config": parsed.config.model_dump(),
            "effective_concurrency": min(total, effective_concurrency(parsed.config.concurrency, self._cores)),
            "total": total,
            "owner_pid": self._owner.pid,
            "owner_started": self._owner.started,
            "owner_boot": self._owner.boot,
        }

    def _start(
        self,
        row: Row,
        parsed: JobRequest,
        spec: SandboxSpec,
        scenarios: Sequence[JobScenario],
        accepted: Iterable[Ticket],
        store: JobStore,
    ) -> None:
        from harena.store.writer import BatchWriter

        config = parsed.config
        score = self._score or _scoring_room()
        require_trust = Trust(config.require_trust) if config.require_trust else None

        def score_ticket(ticket: Ticket) -> Awaitable[RunResult]:
            return score(
                scenarios[ticket.scenario_index],
                sandboxes=self._sandboxes,
                base_spec=spec,
                timeout_seconds=config.timeout_seconds,
                attempt=ticket.attempt,
                require_trust=require_trust,
            )

        job_id = row["id"]
        writer = BatchWriter(
            store,
            job_id,
            clock=self._clock,
            on_commit=lambda: self._owned[job_id].tell(),
            on_failure=lambda error: self._owned[job_id].store_failed(error),
        )
        journal = StoreJournal(writer, self._clock, scenarios)
        execution = JobExecution(
            scenarios=scenarios,
            schedule=Schedule(accepted, limit=row["effective_concurrency"]),
            score=score_ticket,
            journal=journal,
            policy=RetryPolicy(retry_attempts=config.retry_attempts),
            clock=self._clock,
        )
        started = {"total": row["total"], "effective_concurrency": row["effective_concurrency"]}
        self._owned[job_id] = OwnedJob(
            job_id, store=store, writer=writer, journal=journal, execution=execution, clock=self._clock,
            started_event=started,
        )  # fmt: skip
        self._owned[job_id].start()

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
        ended = {
            "state": JobState.INTERRUPTED,
            "error": f"the process that ran it (pid {owner.pid}) has gone",
            "ended_at": await store.last_event_at(row["id"]) or row["created_at"],
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


def _check_trust(scenarios: Sequence[JobScenario], required: str | None) -> None:
    if required != Trust.SEPARATE:
        return
    shared = [scenario.id for scenario in scenarios if scenario.scoring.trust is Trust.SHARED]
    if shared:
        shown = ", ".join(shared[:10]) + (f" and {len(shared) - 10} more" if len(shared) > 10 else "")
        raise ValidationError(
            f"require_trust is 'separate', and the verdict of {shown} is computed beside the candidate's own files; "
            "use another scoring contract for them, or leave require_trust out"
        )


def _queued(ticket: Ticket, scenarios: Sequence[JobScenario]) -> dict[str, Any]:
    return {
        "number": ticket.number,
        "scenario_id": scenarios[ticket.scenario_index].id,
        "attempt": ticket.attempt,
        "state": RunState.QUEUED,
    }


def _load_scenarios(source: Any) -> Sequence[JobScenario]:
    from harena.scoring.load import load_scenarios

    return load_scenarios(source).scenarios


def _scoring_room() -> ScoreScenario:
    from harena.scoring.score import score_scenario

    return score_scenario
