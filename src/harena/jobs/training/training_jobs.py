"""Training jobs of one node: a request is checked whole, accepted into the store, run by a worker process when it is
its turn, and answered from the store.

Every verb's first argument is the workspace that asks: what another workspace has does not exist. A node runs `most`
jobs at one time (1: a job takes the machine); the others wait for the turn of their workspace.

Whose jobs end with whom: an embedded node's end with its process, as failed, and can be retried from their checkpoint.
A server's (`durable`) outlive it: the next node over the same store goes on with them, by the same lease as benchmark
jobs (`harena.jobs.lease`). What the worker writes (checkpoints, ledger, the exported model) is in a folder of the job
below the node's home: a node of another machine needs the same home to go on from a checkpoint.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from harena.core.checked import quote
from harena.core.clock import Clock
from harena.core.errors import (
    LimitExceededError,
    NotFoundError,
    SandboxUnavailableError,
    ValidationError,
)
from harena.core.idempotency import IdempotencyKey
from harena.core.node_config import NodeConfig
from harena.core.records.training_jobs import (
    PlannedTraining,
    TrainingArtifacts,
    TrainingEvent,
    TrainingJob,
    TrainingJobsPage,
    TrainingLogsPage,
    TrainingMetrics,
)
from harena.core.threads import TRAINING
from harena.core.training_jobs import (
    ENDED_STATES,
    EPISODES_FILE,
    OPEN_STATES,
    PLAY,
    RETRY_FROM,
    TrainingEventKind,
    TrainingState,
    may_become,
)
from harena.core.training_sources import JOB_PREFIX
from harena.core.training_store import NewTrainingEvent, NewTrainingJob, TrainingChanges, TrainingRetry
from harena.jobs.benchmark.job_admission import RETRY_SECONDS
from harena.jobs.training.learned_models import checkpoint_model, goes_on_said, model_folder, named_checkpoint
from harena.jobs.training.owned_training import BLUEPRINTS_FOLDER, EndCause, Workers
from harena.jobs.training.short_works import ShortWorks
from harena.jobs.training.training_answers import (
    logs_answer,
    metrics_answer,
    training_answer,
    training_event_answer,
    without_paths,
)
from harena.jobs.training.training_files import files_below, pieces_of, size_below
from harena.jobs.training.training_queue import POLL_SECONDS, TrainingQueue
from harena.jobs.training.tuned_before import tuning_warnings

if TYPE_CHECKING:
    from harena.core.node_stores import TrainingStores
    from harena.core.training_store import StoredTrainingJob, TrainingStorePort

MAX_JOBS_PAGE = 500
MAX_LOGS_PAGE = 5000
EVENTS_AT_A_TIME = 250
"""events of one follower that are in memory"""

Accept = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""(workspace, request) -> {name, trainer_type, request, resolved, plan, warnings, blueprints}; raises ValidationError
(every mistake)"""


Hold = Callable[[str, Sequence[str], Path], Awaitable[None]]
"""(workspace, names or ids of blueprints, folder that they are copied to); raises NotFoundError, PlatformError"""


Describe = Callable[[Mapping[str, Any]], Awaitable[PlannedTraining]]
"""from what was accepted to what a job of it would do"""


class TrainingJobs:
    """The training jobs that this store knows, and those of them that this process runs. Used from one event loop."""

    def __init__(
        self,
        config: NodeConfig,
        stores: TrainingStores,
        accept: Accept,
        describe: Describe,
        clock: Clock,
        workers: Workers,
        hold: Hold | None = None,
    ) -> None:
        """`config.home`: below which the jobs' folders are. `stores` stay open until `close` has returned. `hold` keeps
        the blueprints of jobs for them; None = jobs find those of their names at any time."""
        self._queue = TrainingQueue(config, stores, clock, workers)
        self._accept = accept
        self._describe = describe
        self._hold = hold
        self._clock = clock
        self._limits_of = config.limits_of
        self._exports, self._plays = ShortWorks(workers, clock), ShortWorks(workers, clock)
        self._inserting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by workspace
        self._closed = False

    async def start(self) -> None:
        """A durable node's: run what waits, go on with jobs that nobody runs any more, now and from now on."""
        if self._queue.durable:
            self._queue.tend()

    async def create(
        self, workspace: str, request: Mapping[str, Any], *, key: IdempotencyKey | None = None
    ) -> TrainingJob:
        """Check everything, then accept a job, or give the one that was accepted with this `key` before.

        Raises ValidationError (every mistake), NotFoundError, LimitExceededError, PlatformError. Nothing has been
        started then."""
        store = await self._queue.store()
        try:
            standing = await self._accepted(workspace, request, store, key)
        except (ValidationError, NotFoundError, LimitExceededError):
            # what it was made of may be gone by now, and it may itself be what leaves no room
            earlier = None if key is None else await store.find_answer(workspace, key)
            if earlier is None:
                raise
            standing = earlier
        self._queue.tend()
        return await self.get(workspace, standing)

    async def plan(self, workspace: str, request: Mapping[str, Any]) -> PlannedTraining:
        """What `create` would accept: the same checks, by the same code. Raises what `create` raises."""
        await self._check_room(workspace, await self._queue.store())
        planned = await self._describe(await self._accept_and_warn(workspace, request))
        return planned if not self._queue.durable else without_paths(planned)

    async def get(self, workspace: str, job: str) -> TrainingJob:
        """A job by its id, or the newest of that name. Raises NotFoundError."""
        return training_answer(await self._find(workspace, job))

    async def list(
        self,
        workspace: str,
        *,
        name: str | None = None,
        state: str | None = None,
        trainer_type: str | None = None,
        cursor: int | None = None,
        limit: int = 100,
    ) -> TrainingJobsPage:
        """Up to `limit` (1 to 500) jobs (with this name, state and trainer type), newest first; `next_cursor` as
        `cursor` asks for what follows. Raises ValidationError."""
        if not 1 <= limit <= MAX_JOBS_PAGE or (cursor is not None and cursor < 0):
            raise ValidationError(
                f"limit must be 1 to {MAX_JOBS_PAGE} and cursor at least 0 (got {limit} and {cursor})"
            )
        if state is not None and state not in tuple(TrainingState):
            raise ValidationError(f"state: {quote(state)} is none of {', '.join(TrainingState)}")
        store = await self._queue.store()
        page = await store.list_jobs(
            workspace, name=name, state=state, trainer_type=trainer_type, before=cursor, limit=limit
        )
        return TrainingJobsPage(
            training_jobs=[training_answer(await self._queue.settled(found)) for found in page],
            next_cursor=page[-1].sequence if page.more else None,
        )

    async def wait(self, workspace: str, job: str) -> TrainingJob:
        """The job, when it has ended. Raises NotFoundError; PlatformError where its end could not be recorded."""
        found = await self._find(workspace, job)
        while not TrainingState(found.state).has_ended:
            if (owned := self._queue.owned(found.id)) is not None:
                await owned.wait()
            else:
                await self._pause()
            found = await self._find(workspace, found.id)
        return training_answer(found)

    async def cancel(self, workspace: str, job: str) -> TrainingJob:
        """End the job, its worker and its sandboxes; what it had stays. No effect on a job that has ended. Raises
        NotFoundError."""
        found = await self._find(workspace, job)
        store = await self._queue.store()
        if not TrainingState(found.state).has_ended:
            now = self._clock.utcnow().isoformat()
            await store.write(found.id, TrainingChanges(cancel_requested_at=now), while_in=OPEN_STATES)
        while not TrainingState(found.state).has_ended:
            if (owned := self._queue.owned(found.id)) is not None:
                owned.stop(EndCause.CANCEL)
                await owned.wait()
            elif found.state == TrainingState.QUEUED or await self._queue.is_abandoned(found):
                await self._queue.end_unowned(found, TrainingState.CANCELLED, None)
            else:
                await self._pause()
            found = await self._find(workspace, found.id)
        return training_answer(found)

    async def retry(self, workspace: str, job: str, *, start: str = "checkpoint") -> TrainingJob:
        """Queue a job that has ended once more: from its newest checkpoint (from its beginning where it has none), or
        from "scratch", in a new folder. Raises NotFoundError (the job, or what it was made of), ValidationError (it has
        not ended), PlatformError."""
        if start not in RETRY_FROM:
            raise ValidationError(f"from: {quote(start)} is none of {', '.join(RETRY_FROM)}")
        found = await self._find(workspace, job)
        await self._check_room(workspace, await self._queue.store())
        fresh = start == "scratch"
        again = TrainingRetry(
            owner=self._queue.owner,
            durable=self._queue.durable,
            attempt=found.attempt + fresh,
            from_scratch=fresh,
        )
        said = f"the job was retried from {start}: {goes_on_said(found, fresh=fresh)}"
        event = self._event(TrainingEventKind.JOB_QUEUED, said, data={"from": start})
        ended = may_become(TrainingState.QUEUED)
        if not await (await self._queue.store()).reopen(found.id, again, [event], while_in=ended):
            raise ValidationError(f"training job {found.id} has not ended: cancel it first, or wait for its end")
        self._queue.tend(retried=found.id)
        return await self.get(workspace, found.id)

    async def delete(self, workspace: str, job: str) -> None:
        """Delete a job that has ended, with its events and its folder. Raises NotFoundError, ValidationError."""
        found = await self._find(workspace, job)
        async with self._queue.unsettled.removing(found.id):
            if not await (await self._queue.store()).delete_job(found.id, while_in=ENDED_STATES):
                raise ValidationError(f"training job {found.id} has not ended: cancel it first")

    async def logs(self, workspace: str, job: str, *, after: int = 0, limit: int = 1000) -> TrainingLogsPage:
        """Up to `limit` (1 to 5000) messages that follow cursor `after`. Raises NotFoundError, ValidationError."""
        if not 1 <= limit <= MAX_LOGS_PAGE or after < 0:
            raise ValidationError(f"limit must be 1 to {MAX_LOGS_PAGE} and after at least 0 (got {limit} and {after})")
        found = await self._find(workspace, job)
        events = await (await self._queue.store()).events_after(found.id, after, limit=limit, told=True)
        return logs_answer(events, after=after)

    async def metrics(self, workspace: str, job: str, *, after: int = 0) -> TrainingMetrics:
        """What was measured since cursor `after`, along its axes: of one page of events. Raises NotFoundError."""
        found = await self._find(workspace, job)
        events = await (await self._queue.store()).events_after(found.id, after)
        return metrics_answer(events, after=after)

    async def artifacts(self, workspace: str, job: str) -> TrainingArtifacts:
        """What the job's present try has written so far. Raises NotFoundError, PlatformError."""
        found = await self._find(workspace, job)
        folder = self._queue.folder(found)
        files = await TRAINING.run(files_below, folder, found.artifacts)
        return TrainingArtifacts(artifacts=found.artifacts, files=files, folder=None if found.durable else str(folder))

    @asynccontextmanager
    async def model_of(self, workspace: str, job: str) -> AsyncIterator[tuple[str, Path]]:
        """(id of the job, a directory with the model that its present try has exported, or that a checkpoint of it has
        (JOB@STEP), within the block). Raises NotFoundError, ValidationError where there is none, PlatformError."""
        found, checkpoint = await self._model_job(workspace, job)
        folder = self._queue.folder(found)
        if checkpoint is None:
            yield found.id, model_folder(found, folder)
            return
        async with checkpoint_model(found, folder, checkpoint, self._exports) as model:
            yield found.id, model

    async def planned(self, workspace: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a request is accepted as: {request, resolved, plan, ...}. Raises ValidationError, NotFoundError."""
        return await self._accept(workspace, request)

    async def play(
        self, workspace: str, accepted: Mapping[str, Any], count: int
    ) -> Sequence[Sequence[tuple[str, Mapping[str, str]]]]:
        """The actions, (tool, arguments) each, of so many episodes that the model of an accepted request plays in its
        world. Raises ValidationError with what is wrong, PlatformError."""
        plan = {"resolved": accepted["resolved"], "plan": accepted["plan"], PLAY: count}
        async with self._plays.done(workspace, plan) as place:
            told = json.loads(await TRAINING.run((place / EPISODES_FILE).read_text))
        return [[(tool, arguments) for tool, arguments in episode] for episode in told]

    async def file(self, workspace: str, job: str, path: str) -> AsyncIterator[bytes]:
        """One of those files. Raises NotFoundError, PlatformError."""
        found = await self._find(workspace, job)
        folder = self._queue.folder(found)
        if all(file.path != path for file in await TRAINING.run(files_below, folder, found.artifacts)):
            raise NotFoundError(
                f"training job {found.id} has no file {path!r}; `harena train artifacts` shows what there is"
            )
        async for piece in pieces_of(folder / path):
            yield piece

    async def events(self, workspace: str, job: str, *, after: int = 0) -> AsyncIterator[TrainingEvent]:
        """What happened and happens, from the first event after cursor `after` to the job's end."""
        job_id, cursor = (await self._find(workspace, job)).id, after
        store = await self._queue.store()
        while True:
            owned = self._queue.owned(job_id)
            news = owned.news if owned else None
            # the state first: what is read after a job has ended is all there is
            ended = TrainingState((await self._find(workspace, job_id)).state).has_ended
            events = await store.events_after(job_id, cursor, limit=EVENTS_AT_A_TIME)
            for event in events:
                cursor = event.cursor
                yield training_event_answer(job_id, event)
            if events:
                continue
            if ended:
                return
            if owned is not None and news is not None and not owned.ended:
                await news.wait()
            else:
                await self._pause()

    async def drain(self) -> None:
        """Before `close`: begin no job any more."""
        await self._queue.drain()

    async def close(self) -> None:
        """End the workers: jobs of an embedded node have failed then, a server's are let go of."""
        self._closed = True
        await self._queue.close()

    async def _accepted(
        self, workspace: str, request: Mapping[str, Any], store: TrainingStorePort, key: IdempotencyKey | None
    ) -> str:
        await self._check_room(workspace, store)
        accepted = await self._accept_and_warn(workspace, request)
        warnings, blueprints = accepted.pop("warnings", []), accepted.pop("blueprints", [])
        new = NewTrainingJob(
            **accepted,
            id=f"train_{uuid.uuid4().hex[:16]}",
            workspace=workspace,
            state=TrainingState.QUEUED,
            created_at=self._clock.utcnow().isoformat(),
            durable=self._queue.durable,
            owner=self._queue.owner,
        )
        events = [self._event(TrainingEventKind.JOB_QUEUED, "the job was accepted")]
        events += [self._event(TrainingEventKind.LOG, warning, level="warning") for warning in warnings]
        async with self._inserting.setdefault(workspace, asyncio.Lock()):
            # others were accepted meanwhile, with what is kept for them
            await self._check_room(workspace, store, files=bool(blueprints))
            if self._hold is None or not blueprints:
                return await store.insert_job(new, events, key=key)
            standing = ""
            async with self._queue.unsettled.making(new.id) as folder:
                try:
                    await self._hold(workspace, blueprints, folder / BLUEPRINTS_FOLDER)
                    standing = await store.insert_job(new, events, key=key)
                finally:
                    if standing != new.id:
                        await self._queue.unsettled.remove(new.id)
        return standing

    async def _accept_and_warn(self, workspace: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """What a request is accepted as, with what is told of the job whose model it begins with."""
        accepted = await self._accept(workspace, request)
        model = accepted["request"].get("model")
        if isinstance(model, str) and model.startswith(JOB_PREFIX):
            with suppress(NotFoundError):  # it was deleted meanwhile: its model is kept for this job all the same
                before, _ = await self._model_job(workspace, model.removeprefix(JOB_PREFIX))
                accepted["warnings"] = [*accepted.get("warnings", []), *tuning_warnings(accepted, before)]
        return accepted

    async def _model_job(self, workspace: str, job: str) -> tuple[StoredTrainingJob, str | None]:
        """(the job, the checkpoint that is named) of JOB or JOB@STEP. Raises NotFoundError."""
        checkpoint = named_checkpoint(job)
        try:
            return await self._find(workspace, job), None  # names may end as checkpoints do
        except NotFoundError:
            if checkpoint is None:
                raise
            return await self._find(workspace, checkpoint[0]), checkpoint[1]

    async def _check_room(self, workspace: str, store: TrainingStorePort, *, files: bool = True) -> None:
        if self._limits_of is None:
            return
        limits = await self._limits_of(workspace)
        most = limits.open_jobs
        if (there_are := await store.count_jobs(workspace, states=OPEN_STATES)) >= most:
            raise LimitExceededError(
                f"the workspace {workspace} may have {most} training jobs that have not ended, and has {there_are}: "
                "wait for one of them, cancel one, or ask for more (harena workspaces set)",
                reason="OPEN_JOBS",
                retry_delay=timedelta(seconds=RETRY_SECONDS),
            )
        if not files:
            return
        folders = []
        before: int | None = None
        while page := await store.list_jobs(workspace, before=before, limit=MAX_JOBS_PAGE):
            folders += [self._queue.folders / found.id for found in page]
            before = page[-1].sequence
        size = await TRAINING.run(size_below, folders)
        if size >= limits.training_bytes:
            raise LimitExceededError(
                f"the files of this workspace's training jobs have {size} bytes, and with {limits.training_bytes} no "
                "other job is accepted (training_bytes): delete jobs that nobody needs any more",
                reason="TRAINING_FILES",
            )

    async def _find(self, workspace: str, job: str) -> StoredTrainingJob:
        found = await (await self._queue.store()).find_job(workspace, job)
        if found is None:
            raise NotFoundError(f"no training job has the id or name {job!r}; `harena train list` shows what there is")
        return await self._queue.settled(found)

    async def _pause(self) -> None:
        if self._closed:
            raise SandboxUnavailableError(
                "this node was closed; of a job that had not ended, ask the node that goes on with it",
                reason="NODE_CLOSED",
            )
        await self._clock.sleep(POLL_SECONDS)

    def _event(self, kind: str, message: str, *, level: str = "info", **body: Any) -> NewTrainingEvent:
        now = self._clock.utcnow().isoformat()
        return NewTrainingEvent(at=now, kind=kind, level=level, message=message, body=body)
