"""Benchmark jobs of one node: a request is checked whole, accepted into the store, run, and answered from the store.

Every verb's first argument is the workspace that asks: what another workspace has does not exist. Everything that is
answered (progress, events, results) is read from the store, so what one process reports another one
can read, also after the first was killed. The store, the models and the scoring room are imported on first use: a node
that only runs sandboxes never pays for them.

Whose jobs end with whom: an embedded node's end with its process, and are shown as `interrupted` afterwards, with the
results that they had. A server's (`durable`) outlive it: the next node over the same store goes on with them. The rule
by which a job is taken over is in `harena.jobs.lease`.

Results are kept until somebody deletes the job, or until `keep_seconds` after its end, where that is given.
"""

from __future__ import annotations

import asyncio
import builtins
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from harena.core.blueprint_source import BlueprintSource
from harena.core.clock import Clock, Pacer
from harena.core.errors import (
    LimitExceededError,
    NotFoundError,
    PlatformError,
    SandboxUnavailableError,
    ValidationError,
)
from harena.core.idempotency import IdempotencyKey
from harena.core.job_lifecycle import ENDED_STATES, OPEN_STATES, JobState
from harena.core.job_store import STORE_UNAVAILABLE, JobChanges
from harena.core.node_config import NodeConfig
from harena.core.ports.image_builds import BuildsFolders
from harena.core.records.benchmark_jobs import (
    BenchmarkEvent,
    BenchmarkJob,
    BenchmarkJobsPage,
    BenchmarkResults,
    JobSummary,
    ResultsPage,
    WebhookDelivery,
)
from harena.core.threads import node_task
from harena.jobs.allocator import give_back
from harena.jobs.benchmark.calibrations import Calibrations
from harena.jobs.benchmark.direct_scores import DirectScores
from harena.jobs.benchmark.elsewhere import ScoresElsewhere
from harena.jobs.benchmark.job_acceptance import Acceptance, AcceptedJob, Sandboxes, ScoreScenario
from harena.jobs.benchmark.job_admission import JobAdmission
from harena.jobs.benchmark.job_answers import event_answer, job_answer, page_answer, results_answer
from harena.jobs.benchmark.job_definitions import request_of_definition
from harena.jobs.benchmark.job_leases import TAKE_OVER_SECONDS, JobLeases
from harena.jobs.benchmark.job_scenarios import LoadScenarios
from harena.jobs.benchmark.job_summary import job_summary, outcomes
from harena.jobs.benchmark.owned_job import OwnedJob
from harena.jobs.benchmark.retention import Retention
from harena.jobs.benchmark.task_folders import TaskFolders
from harena.jobs.capacity import EXECUTING_PER_CORE
from harena.jobs.capacity_monitor import CapacityMonitor
from harena.jobs.catalog import Catalog
from harena.jobs.owner import this_process
from harena.jobs.slots import Slots
from harena.jobs.stored_bytes import StoredRoom
from harena.jobs.webhook_deliveries import WebhookDeliveries, delivery_answer
from harena.jobs.webhook_post import HttpPost, Post

if TYPE_CHECKING:
    from harena.core.catalog import CatalogStorePort
    from harena.core.job_store import JobStorePort, StoredBenchmarkJob
    from harena.core.node_stores import BenchmarkStores, Measures
    from harena.core.ports import SandboxMemory
    from harena.core.webhook_store import WebhookStorePort

OTHERS_POLL_SECONDS = 0.25
"""how often the store is asked about a job that another process runs"""
CANCEL_POLL_SECONDS = 0.25
"""how often the store is asked whether another process wants a job of this one cancelled"""
MAX_PAGE = 5000
MAX_JOBS_PAGE = 500
EVENTS_AT_A_TIME = 250
"""events of one follower that are in memory"""
RUN_BYTES = 200
"""size in the store of a run that has begun, before it has a result"""


class BenchmarkJobs:
    """The benchmark jobs that this store knows, and those of them that this process runs. Used from one event loop."""

    def __init__(
        self,
        config: NodeConfig,
        stores: BenchmarkStores,
        sandboxes: Sandboxes,
        blueprints: BlueprintSource,
        clock: Clock,
        *,
        isolates: bool = True,
        hides_warm_starts: Callable[[], bool],
        score: ScoreScenario | None = None,
        load: LoadScenarios | None = None,
        images: BuildsFolders | None = None,
        elsewhere: ScoresElsewhere | None = None,
        cores: int | None = None,
        memory_of_sandboxes: Callable[[], SandboxMemory | None] | None = None,
        post: Post | None = None,
    ) -> None:
        """`stores` stay open until `close` has returned. `isolates`: programs run behind a wall; `hides_warm_starts`:
        see `Acceptance`; `images` builds those of task directories; `elsewhere` has the runs of
        jobs that do not run on this machine; `memory_of_sandboxes`: see `CapacityMonitor`.
        `score`, `load`, `cores` (so many runs for each at one time, whatever the machine shows) and `post` are for
        tests; by default the scoring room, what `harena.jobs.capacity` says, and HTTP."""
        self._stores = stores
        self._clock = clock
        self._durable = durable = config.durable_jobs
        self._retention = None if config.keep_seconds is None else Retention(clock, config.keep_seconds)
        self._owner = this_process()
        self._capacity_monitor = (
            None if cores else CapacityMonitor.of_this_machine(len(os.sched_getaffinity(0)), memory_of_sandboxes)
        )
        self._slots = (
            self._capacity_monitor.slots if self._capacity_monitor else Slots(EXECUTING_PER_CORE * (cores or 1))
        )
        self._admission = JobAdmission(config.limits_of, self._slots, None if elsewhere is None else elsewhere.slots)
        self.stored_room = StoredRoom(config.limits_of, self._measures, clock)
        self.catalog = Catalog(self._catalog_store, clock, check_room=self.stored_room.check)
        self._acceptance = Acceptance(
            sandboxes=sandboxes,
            blueprints=blueprints,
            clock=clock,
            cores=cores,
            owner=self._owner,
            score=score,
            load=load,
            durable=durable,
            counts_memory=config.limits_of is not None,
            hides_warm_starts=hides_warm_starts,
            webhook_networks=config.webhook_networks,
            sandbox_networks=config.sandbox_networks,
            reader=self.catalog.reader,
            may_be_machine=self._admission.may_be_machine,
            images=images,
            elsewhere=elsewhere,
            task_folders=TaskFolders(config.limits_of),
        )
        self.direct_scores = DirectScores(
            sandboxes, blueprints, clock, self._slots, score=score, admission=self._admission
        )
        self._webhooks = WebhookDeliveries(
            self._webhook_stores, clock, post or HttpPost(config.webhook_networks), durable=durable
        )
        self.calibrations = Calibrations(
            self, self._catalog_store, self.catalog.reader, clock, durable=durable, isolates=isolates
        )
        self._leases = JobLeases(self._acceptance, clock)
        self._owned: dict[str, OwnedJob] = {}
        self._taking_over = asyncio.Lock()
        self._closed = False
        self._chores: asyncio.Task[None] | None = None
        self._chore_pacer = Pacer(clock)
        self._keeper: asyncio.Task[None] | None = None
        self._keeper_pacer = Pacer(clock)

    async def start(self) -> None:
        """A durable node's: go on with jobs that nobody runs any more, now and from now on. Raises PlatformError."""
        if self._durable and self._chores is None:
            await self._take_over_all()
            self._webhooks.wake()
            self._chores = node_task(self._do_chores(), "take over benchmark jobs")

    async def create(
        self,
        workspace: str,
        request: Mapping[str, Any],
        *,
        key: IdempotencyKey | None = None,
        calibration: Mapping[str, Any] | None = None,
    ) -> BenchmarkJob:
        """Check everything, then accept and start a job, or give the one that was accepted with this `key` before,
        also by another process. Request: see `harena.jobs.models`; `calibration`: see `Acceptance`.

        Raises ValidationError (every mistake of the request), a scenario file's own error with file, line and field of
        every mistake, NotFoundError (blueprint), PlatformError (store). Nothing has been started then.
        """
        store = await self._store()
        try:
            standing = await self._accepted(workspace, request, store, key=key, calibration=calibration)
        except (ValidationError, NotFoundError, LimitExceededError):
            # what it was made of may be gone by now, and it may itself be what leaves no room
            earlier = None if key is None else await store.find_answer(workspace, key)
            if earlier is None:
                raise
            standing = earlier
        return await self._describe(workspace, standing)

    async def created_with(self, workspace: str, key: IdempotencyKey) -> str | None:
        """The id of the job that was accepted with this key; None = none was. Raises ValidationError where the key came
        with another request."""
        return await (await self._store()).find_answer(workspace, key)

    async def get(self, workspace: str, job: str) -> BenchmarkJob:
        """A job, or the newest of that name. Raises NotFoundError."""
        return await self._describe(workspace, job)

    async def list(
        self, workspace: str, *, name: str | None = None, cursor: int | None = None, limit: int = 100
    ) -> BenchmarkJobsPage:
        """Up to `limit` (1 to 500) jobs, of this name where one is given, newest first;
        `next_cursor` as `cursor` asks for what follows, None = nothing does. One query, however many jobs there are.
        Raises ValidationError."""
        if not 1 <= limit <= MAX_JOBS_PAGE or (cursor is not None and cursor < 0):
            raise ValidationError(
                f"limit must be 1 to {MAX_JOBS_PAGE} and cursor at least 0 (got {limit} and {cursor})"
            )
        store = await self._store()
        page = await store.list_jobs(workspace, name=name, before=cursor, limit=limit)
        more, jobs = page.more, [await self._settled(found) for found in page]
        webhooks = await self._webhooks_of(jobs)
        now = self._clock.utcnow()
        return BenchmarkJobsPage(
            benchmark_jobs=[job_answer(found, now=now, webhook=webhooks.get(found.id)) for found in jobs],
            next_cursor=jobs[-1].sequence if more else None,
        )

    async def wait(self, workspace: str, job: str) -> BenchmarkResults:
        """The results, when the job has ended. Raises NotFoundError; PlatformError if they could not be recorded."""
        return await self.results(workspace, await self.wait_for_end(workspace, job))

    async def wait_for_end(self, workspace: str, job: str) -> str:
        """The id of the job, when it has ended; no result is read. Raises as `wait`."""
        found = await self._find(workspace, job)
        while not JobState(found.state).is_terminal:
            if (owned := self._owned.get(found.id)) is None:
                await self._pause_before_next_look()
            else:
                await owned.wait()
                if owned.failure is not None and not owned.was_taken_over:
                    raise owned.failure
            found = await self._find(workspace, found.id)
        return found.id

    async def results(self, workspace: str, job: str) -> BenchmarkResults:
        """The results so far. Raises NotFoundError."""
        found = await self._find(workspace, job)
        runs = await (await self._store()).list_runs(found.id)
        return results_answer(found, runs, now=self._clock.utcnow())

    async def outcomes(self, workspace: str, job: str) -> builtins.list[dict[str, Any]]:
        """{scenario_id, score, passed, validity, reason, detail} of the runs that have a result, in order of
        acceptance; read a page at a time and without metadata, so that a run takes some hundred bytes. Raises
        NotFoundError."""
        found = await self._find(workspace, job)
        return await outcomes(await self._store(), found)

    async def results_page(self, workspace: str, job: str, *, after: int = 0, limit: int = 1000) -> ResultsPage:
        """Up to `limit` (1 to 5000) results that follow cursor `after`, in the order in which the runs ended; `cursor`
        asks for what follows. A page without runs of a job that has ended is the last one. A page costs the same
        wherever it is. Raises NotFoundError, ValidationError."""
        if not 1 <= limit <= MAX_PAGE or after < 0:
            raise ValidationError(f"limit must be 1 to {MAX_PAGE} and after at least 0 (got {limit} and {after})")
        # the state first: of a job that had ended by then, what is read is all there is
        found = await self._find(workspace, job)
        runs = await (await self._store()).page_runs(found.id, after=after, limit=limit)
        return page_answer(found, runs, after=after)

    async def summary(self, workspace: str, job: str) -> JobSummary:
        """The results so far without the runs themselves: read a page at a time, so that a large job takes no more
        memory than a small one. Raises NotFoundError."""
        found = await self._find(workspace, job)
        return await job_summary(await self._store(), found, now=self._clock.utcnow())

    async def cancel(self, workspace: str, job: str) -> BenchmarkJob:
        """Stop the job's running sandboxes, end it and keep its results; no effect on a job that has ended. A job of
        another process is ended by that process. Raises NotFoundError."""
        found = await self._find(workspace, job)
        store = await self._store()
        if not JobState(found.state).is_terminal and found.id not in self._owned:
            await store.update_job(found.id, JobChanges(cancel_requested=True), while_in=OPEN_STATES)
        while not JobState(found.state).is_terminal:
            if found.id not in self._owned and found.durable:
                await self._take_over(found, store)  # where nobody runs it any more
            if (owned := self._owned.get(found.id)) is not None:
                owned.stop(JobState.CANCELLED)
                await owned.wait()
                if owned.failure is not None and not owned.was_taken_over:
                    break
            else:
                await self._pause_before_next_look()
            found = await self._find(workspace, found.id)
        if (owned := self._owned.get(found.id)) is not None:
            await owned.wait()  # until it has given back what it holds here
        return await self._describe(workspace, found.id)

    async def delete(self, workspace: str, job: str) -> None:
        """Delete a job that has ended, with its results and events. Raises NotFoundError, ValidationError (it runs)."""
        found = await self._find(workspace, job)
        if not await (await self._store()).delete_job(found.id, while_in=ENDED_STATES):
            raise ValidationError(f"benchmark job {found.id} has not ended: cancel it first")

    async def events(self, workspace: str, job: str, *, after: int = 0) -> AsyncIterator[BenchmarkEvent]:
        """What happened and happens, from the first event after cursor `after` to the job's end."""
        job_id, cursor = (await self._find(workspace, job)).id, after
        store = await self._store()
        while True:
            owned = self._owned.get(job_id)
            news = owned.news if owned is not None and not owned.ended else None
            failure = owned.failure if owned is not None and news is None and not owned.was_taken_over else None
            # The state first: what is read after a job has ended is all there is. One that runs here has not ended, and
            # tells of all that it records and of its end: then its state is not asked for, nor the same page again.
            ended = news is None and JobState((await self._find(workspace, job_id)).state).is_terminal
            events = await store.events_after(job_id, cursor, limit=EVENTS_AT_A_TIME)
            for event in events:
                cursor = event.cursor
                yield event_answer(job_id, event)
            if events.more:
                continue
            if ended:
                return
            if failure is not None:
                raise failure
            if news is not None:
                await news.wait()
            elif not events:
                await self._pause_before_next_look()

    async def drain(self) -> None:
        """Before `close`: take over no job and start no run any more; returns when those under way have ended."""
        self._chore_pacer.stop()
        await asyncio.gather(*(owned.drain() for owned in self._owned.values()))

    async def close(self) -> None:
        """Interrupt the jobs that this process runs, or let go of them if they are durable; record what they had."""
        self._closed = True
        if self._capacity_monitor is not None:
            self._capacity_monitor.close()
        self._chore_pacer.stop()
        if self._chores is not None:
            await asyncio.wait([self._chores])
        running = builtins.list(self._owned.values())
        for owned in running:
            owned.leave()
        for owned in running:
            await owned.wait()
        self._owned.clear()
        self._keeper_pacer.stop()
        if self._keeper is not None:
            await asyncio.wait([self._keeper])
        await self._webhooks.close()

    async def _accepted(
        self,
        workspace: str,
        request: Mapping[str, Any],
        store: JobStorePort,
        *,
        key: IdempotencyKey | None,
        calibration: Mapping[str, Any] | None,
    ) -> str:
        """The id of the job, which runs now; or of the one that was accepted with this key before."""
        async with self._admission.room_for_job(workspace, store):
            await self.stored_room.check(workspace)
            whole, definition = await request_of_definition(self.catalog, workspace, request)
            job = await self._acceptance.accept(workspace, whole, calibration=calibration, definition=definition)
            held = 0
            try:
                await self._admission.hold(workspace, job.held_bytes)
                held = job.held_bytes
                standing = await self._inserted(workspace, job, store, key)
            except BaseException:  # raised again: the job does not run here
                self._admission.let_go(workspace, held)
                if job.tasks is not None:
                    await job.tasks.close()
                raise
        if standing == job.record.id:
            self._run(replace(job, request=None), store)  # which is in the store now, and may be large
            return standing
        self._admission.let_go(workspace, held)
        if job.tasks is not None:
            await job.tasks.close()
        return standing

    async def _inserted(self, workspace: str, job: AcceptedJob, store: JobStorePort, key: IdempotencyKey | None) -> str:
        async with self._admission.room_for_runs(workspace, store, job.record.total):
            more = len(job.request or b"") + RUN_BYTES * job.record.total + job.metadata_bytes
            await self.stored_room.check(workspace, more)
            try:
                return await store.insert_job(job.record, request=job.request, delivery=job.delivery, key=key)
            except PlatformError:
                # the answer that was lost may have been a yes: then a durable job is gone on with, and not left
                self._leases.may_hold(job.record.id, epoch=job.epoch)
                raise

    async def _pause_before_next_look(self) -> None:
        self._check_open()
        await self._clock.sleep(OTHERS_POLL_SECONDS)

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxUnavailableError(
                "this node was closed; of a job that had not ended, ask the node that goes on with it",
                reason="NODE_CLOSED",
            )

    async def _store(self) -> JobStorePort:
        self._check_open()
        return await self._stores.benchmark_jobs()

    async def _catalog_store(self) -> CatalogStorePort:
        self._check_open()
        return await self._stores.catalog()

    async def _measures(self) -> Measures:
        self._check_open()
        return await self._stores.stored_bytes()

    def _run(self, job: AcceptedJob, store: JobStorePort) -> OwnedJob:
        """Its memory is held already; it is let go when it has ended."""
        owned = OwnedJob(job, store=store, clock=self._clock, slots=self._slots)
        self._owned[owned.id] = owned
        owned.start(on_end=partial(self._forget, owned))
        if self._keeper is None or self._keeper.done():
            self._keeper = node_task(self._keep_leases(store), "keep leases")
        return owned

    async def _keep_leases(self, store: JobStorePort) -> None:
        """While jobs run here: see what others want of them, in one query for all, and show that this process lives."""
        while running := [owned for owned in self._owned.values() if not owned.ended]:
            if not await self._keeper_pacer.pause(CANCEL_POLL_SECONDS):
                return
            try:
                await self._admission.look({owned.workspace for owned in running})
                seen = await store.look([owned.id for owned in running])
                for owned in running:
                    if not owned.ended:
                        cancel, epoch = seen.get(owned.id, (False, 0))
                        await owned.keep(cancel=cancel, epoch=epoch)
            except PlatformError as error:
                if error.reason != STORE_UNAVAILABLE:
                    for owned in self._owned.values():
                        if not owned.ended:
                            owned.store_failed(error)

    def _forget(self, owned: OwnedJob) -> None:
        if owned.has_webhook:
            self._webhooks.wake()
        self._admission.let_go(owned.workspace, owned.held_bytes)
        if (owned.failure is None or owned.was_taken_over) and self._owned.get(owned.id) is owned:
            del self._owned[owned.id]
        if self._durable:  # a server, which may go on for months; what an embedded node lives in is not ours
            give_back()

    async def _do_chores(self) -> None:
        while True:
            try:
                await self._take_over_all()
                store = await self._store()
                await store.clear_deleted()
                if self._retention is not None and (moment := self._retention.due()) is not None:
                    await store.delete_ended_before(moment.isoformat(), while_in=ENDED_STATES)
            except PlatformError:
                pass  # the store is away: whoever uses it next is told, and here it is asked again
            if not await self._chore_pacer.pause(TAKE_OVER_SECONDS):
                return

    async def _take_over_all(self) -> None:
        store = await self._store()
        for found in await store.list_unfinished(states=OPEN_STATES):
            await self._take_over(found, store)

    async def _take_over(self, found: StoredBenchmarkJob, store: JobStorePort) -> None:
        """Go on with this durable job, if nobody runs it any more."""
        async with self._taking_over:
            if not await self._is_abandoned(found):
                return
            await self._admission.look([found.workspace])
            job = await self._leases.take_over(found, store)
            if job is not None:
                self._admission.hold_resumed(found.workspace, job.held_bytes)
                owned = self._run(job, store)
                if job.cancel_requested:  # its last owner did not live to do it
                    owned.stop(JobState.CANCELLED)

    async def _is_abandoned(self, found: StoredBenchmarkJob) -> bool:
        self._check_open()
        one_machine = await self._stores.is_one_machine()
        return found.id not in self._owned and self._leases.has_ended(found, one_machine=one_machine)

    async def _find(self, workspace: str, job: str) -> StoredBenchmarkJob:
        found = await (await self._store()).find_job(workspace, job)
        if found is None:
            raise NotFoundError(
                f"no benchmark job has the id or name {job!r}; `harena benchmark ls` shows what there is"
            )
        return await self._settled(found)

    async def _settled(self, found: StoredBenchmarkJob) -> StoredBenchmarkJob:
        """The job, changed to `interrupted` (also in the store) if the job ended with its process."""
        if JobState(found.state).is_terminal or found.durable or not await self._is_abandoned(found):
            return found
        interrupted = await self._leases.interrupt(found, await self._store())
        if interrupted.delivery_id is not None:
            self._webhooks.wake()
        return interrupted

    async def _describe(self, workspace: str, job: str) -> BenchmarkJob:
        found = await self._find(workspace, job)
        webhooks = await self._webhooks_of([found])
        return job_answer(found, now=self._clock.utcnow(), webhook=webhooks.get(found.id))

    async def _webhooks_of(self, jobs: Sequence[StoredBenchmarkJob]) -> dict[str, WebhookDelivery]:
        """job id -> its delivery, of those that have one."""
        self._check_open()
        told = [found.id for found in jobs if found.delivery_id is not None]
        deliveries = await (await self._stores.webhook_deliveries()).of_jobs(told) if told else {}
        return {job_id: delivery_answer(status) for job_id, status in deliveries.items()}

    async def _webhook_stores(self) -> tuple[WebhookStorePort, JobStorePort]:
        return await self._stores.webhook_deliveries(), await self._stores.benchmark_jobs()
