"""A training job that this process runs: it starts the worker process, stores its events, and ends it.

A worker that dies without having reported its end is started again and continues from its newest checkpoint; one that
dies MOST_CRASHES times without reaching another checkpoint fails the job.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harena.core import settings
from harena.core.clock import Clock
from harena.core.errors import PlatformError
from harena.core.home import private_folder, private_opener
from harena.core.job_store import LEASE_LOST, STORE_UNAVAILABLE
from harena.core.network_policy import Network
from harena.core.sandbox_networks import written_networks
from harena.core.server_places import without_server_places
from harena.core.threads import TRAINING
from harena.core.training_jobs import (
    STEPS,
    TrainingEventKind,
    TrainingState,
    newest_metrics,
)
from harena.core.training_lines import BEAT, BrokenLine, WorkerLine
from harena.core.training_store import NO_CHANGES, NewTrainingEvent, TrainingChanges
from harena.core.workspace import LimitsOf, written_limits
from harena.jobs.lease import BEAT_SECONDS
from harena.jobs.training.training_answers import ended_event
from harena.jobs.training.training_turns import RunningTurn
from harena.jobs.training.worker_process import WorkerProcess, how_it_ended

if TYPE_CHECKING:
    from harena.core.training_store import StoredTrainingJob, TrainingStorePort

MOST_CRASHES = 3
SILENT_SECONDS = 600.0
"""after which a worker that tells nothing, not even a beat, is taken for stuck"""
STORE_PAUSE_SECONDS = 1.0
RESTART_PAUSE_SECONDS = 0.5
PLAN_FILE = "plan.json"
BLUEPRINTS_FOLDER = "blueprints"
"""where a job's folder has the blueprints that it was accepted with, beside the folders of its tries"""

_log = logging.getLogger("harena.node")


class EndCause(StrEnum):
    """Why this process ends a job that it runs."""

    CANCEL = "cancel"
    LEAVE = "leave"
    """this process is about to end"""
    TURN = "turn"
    """another workspace has its turn: the job goes on later"""
    LOST = "lost"
    """another process has the job now"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """How workers are started on this node."""

    command: Sequence[str]
    env: Mapping[str, str]
    limits_of: LimitsOf | None = None
    """what a workspace may use, and with it the sandboxes that a worker makes; None = what `env` says"""
    sandbox_networks: Sequence[Network] | None = None
    """addresses beside the public internet that these may reach; None = what `env` says"""

    async def env_of(self, workspace: str) -> dict[str, str]:
        """The environment of a worker that is started now for a workspace. Raises PlatformError."""
        env = {**self.env, settings.WORKSPACE.name: workspace}
        if self.limits_of is not None:
            env[settings.WORKSPACE_LIMITS.name] = written_limits(await self.limits_of(workspace))
        if self.sandbox_networks is not None:
            env[settings.SANDBOX_NETWORKS.name] = written_networks(self.sandbox_networks)
        return env


class OwnedTraining:
    """Used from one event loop. `job` is as it was claimed: its lease is this process's."""

    def __init__(
        self,
        job: StoredTrainingJob,
        folder: Path,
        *,
        workers: Workers,
        store: TrainingStorePort,
        clock: Clock,
        lost: str | None = None,
    ) -> None:
        """`lost`: why its last worker is no more, where that did not end as it should. A worker goes on where the
        folder's last one was."""
        self.id = job.id
        self.workspace = job.workspace
        self.failure: PlatformError | None = None
        self._job = job
        self._folder = folder
        self._workers = workers
        self._store = store
        self._clock = clock
        self._lost = lost
        self._began = clock.now()
        self._saved_at: float | None = None
        self._stop: EndCause | None = None
        self._stopping = asyncio.Event()
        self._news = asyncio.Event()
        self._next_beat = clock.now() + BEAT_SECONDS
        self._task: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """It is not run here any more, and the store knows (or `failure` says why not)."""
        return self._task is not None and self._task.done()

    @property
    def is_ending(self) -> bool:
        """It was told to stop."""
        return self._stop is not None

    def turn(self) -> RunningTurn:
        """How long it has run here."""
        seconds = self._clock.now() - self._began
        saved_at = None if self._saved_at is None else self._saved_at - self._began
        return RunningTurn(job_id=self.id, workspace=self.workspace, seconds=seconds, saved_at=saved_at)

    @property
    def news(self) -> asyncio.Event:
        """Set when something more has been recorded. Take it before reading, wait for it after."""
        return self._news

    def start(self, *, on_end: Callable[[], object]) -> None:
        """Begin; `on_end` is called when it is not run here any more."""
        self._task = asyncio.create_task(self._run(), name=self.id)
        self._task.add_done_callback(lambda _: on_end())

    def stop(self, why: EndCause) -> None:
        """End its worker; `wait` returns when it has ended."""
        self._stop = self._stop or why
        self._stopping.set()

    async def wait(self) -> None:
        """Returns when it is not run here any more. A cancelled wait leaves the job alone."""
        assert self._task is not None
        await asyncio.wait([self._task])

    async def keep(self, *, cancel: bool, epoch: int) -> None:
        """What was seen of this job in the store, now and then: obey, and show that this process lives. Raises
        PlatformError."""
        if epoch != self._job.lease.epoch:
            self.stop(EndCause.LOST)
        elif cancel:
            self.stop(EndCause.CANCEL)
        elif self._clock.now() >= self._next_beat:
            self._next_beat = self._clock.now() + BEAT_SECONDS
            await self._store.write(self.id, NO_CHANGES, epoch=epoch)

    async def _run(self) -> None:
        try:
            await self._begin()
            state, error = await self._work()
            await self._end(state, error)
        except PlatformError as error:
            self.failure = error
            if error.reason != LEASE_LOST:
                _log.error("training job %s: %s", self.id, error)
        except Exception as fault:  # noqa: BLE001 - a bug of ours must end the job as failed, not leave it running
            _log.exception("training job %s failed in a way that it should not", self.id)
            await self._end(TrainingState.FAILED, f"harena failed: {fault!r}")
        self._tell()

    async def _begin(self) -> None:
        await TRAINING.run(self._make_folder)
        if self._job.state == TrainingState.QUEUED:
            changes = TrainingChanges(state=TrainingState.RUNNING, started_at=self._now())
            await self._record(changes, [self._event(TrainingEventKind.JOB_STARTED, "the job has started")])
        elif self._lost is None:
            said = "it goes on from its newest checkpoint: its server was stopped, or others had their turn"
            await self._record(NO_CHANGES, [self._event(TrainingEventKind.JOB_RESUMED, said)])

    async def _work(self) -> tuple[TrainingState | None, str | None]:
        """The state that the job comes to, and its error; None = it is not this process's to say."""
        died, printed = self._lost, ""
        while True:
            if self._stop is not None:
                return self._stopped()
            if died is not None:
                if self._job.crashes + 1 >= MOST_CRASHES:
                    more = f"so did {MOST_CRASHES - 1} before it, without getting to another checkpoint"
                    return TrainingState.FAILED, f"{died}; {more}{printed}"
                await self._restarted(died + printed)
                await self._clock.sleep(RESTART_PAUSE_SECONDS)
            last, died, printed = await self._one_worker()
            if last is not None and last.event_type == TrainingEventKind.TRAINING_END:
                return TrainingState.COMPLETED, None
            if last is not None:
                return TrainingState.FAILED, self._error_for_users(
                    last.error or last.message or "its worker did not say why"
                )

    def _error_for_users(self, error: str) -> str:
        """The error as whoever asks may see it; what is left out is in the log of the server."""
        told = without_server_places(error) if self._job.durable else error
        if told != error:
            _log.warning("training job %s failed: %s", self.id, error)
        return told

    def _stopped(self) -> tuple[TrainingState | None, str | None]:
        if self._stop is EndCause.CANCEL:
            return TrainingState.CANCELLED, None
        if self._stop is EndCause.LOST or self._job.durable:
            return None, None
        why = "the process that ran it was closed: go on with `harena train retry`"
        return TrainingState.FAILED, why

    async def _one_worker(self) -> tuple[WorkerLine | None, str, str]:
        """Its last line, if it said one; how it ended, and the end of what it printed."""
        await TRAINING.run(self._write_plan)
        try:
            env = {**await self._workers.env_of(self._job.workspace), **await TRAINING.run(self._held)}
            worker = await WorkerProcess.start(self._workers.command, self._folder, env, self._clock)
        except PlatformError as error:
            return None, str(error), ""
        last, trouble = None, ""
        try:
            last = await self._listen(worker)
            if worker.was_silent:
                trouble = f"its worker told nothing for {SILENT_SECONDS:g} seconds, and was killed"
        except BrokenLine as error:
            trouble = f"its worker told what none of harena's tells ({error})"
        finally:
            code = await worker.end()
        tail = await worker.tail()
        if tail and self._job.durable:  # a server's log is its operator's, and the job's error whoever asks for it
            if last is None:
                _log.warning("training job %s: its worker printed at its end:\n%s", self.id, tail)
            tail = ""
        return last, trouble or f"its worker {how_it_ended(code)}", f"\n{tail}" if tail else ""

    def _held(self) -> dict[str, str]:
        place = self._folder.parent / BLUEPRINTS_FOLDER
        return {settings.HELD_BLUEPRINTS.name: str(place.resolve())} if place.exists() else {}

    async def _listen(self, worker: WorkerProcess) -> WorkerLine | None:
        """Its last line; None = it tells nothing any more, or is to be ended. Raises BrokenLine, PlatformError."""
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            while True:
                hearing = asyncio.create_task(worker.lines())
                timer = self._clock.call_later(SILENT_SECONDS, worker.kill_as_silent)
                try:
                    await asyncio.wait((hearing, stopping), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    timer.cancel()
                    hearing.cancel()  # no effect on what is done
                    await asyncio.wait([hearing])
                if hearing.cancelled() or not (told := hearing.result()):
                    return None
                await self._hear(told)
                if (last := next((line for line in told if line.is_last), None)) is not None:
                    return last
        finally:
            stopping.cancel()

    async def _hear(self, lines: Sequence[WorkerLine]) -> None:
        events: list[NewTrainingEvent] = []
        changes = NO_CHANGES
        for line in lines:
            if line.event_type == BEAT:
                continue
            body = {"metrics": line.metrics, "data": line.data, "artifacts": line.artifacts, "error": line.error}
            if line.error:
                body["error"] = self._error_for_users(line.error)
            told = {name: part for name, part in body.items() if part}
            events.append(self._event(line.event_type, line.message, level=line.level, **told))
            changes = self._changed(changes, line)
        if events:
            await self._record(changes, events)

    def _changed(self, changes: TrainingChanges, line: WorkerLine) -> TrainingChanges:
        """These changes, and what one more line changes."""
        if line.metrics:
            metrics = {**self._job.metrics, **newest_metrics(line.metrics)}
            self._job, changes = replace(self._job, metrics=metrics), replace(changes, metrics=metrics)
        if line.artifacts:
            artifacts = {**self._job.artifacts, **line.artifacts}
            self._job, changes = replace(self._job, artifacts=artifacts), replace(changes, artifacts=artifacts)
        if line.event_type == TrainingEventKind.TRAINING_START and "steps" in line.data:
            changes = replace(changes, steps=line.data["steps"])
        if line.event_type == TrainingEventKind.STEP_COMPLETE:
            step = newest_metrics(line.metrics).get(STEPS)
            changes = changes if step is None else replace(changes, step=int(step))
        if line.event_type == TrainingEventKind.CHECKPOINT_SAVED:
            self._saved_at = self._clock.now()
            self._job, changes = replace(self._job, crashes=0), replace(changes, crashes=0)
        return changes

    async def _restarted(self, error: str) -> None:
        job = self._job = replace(self._job, restarts=self._job.restarts + 1, crashes=self._job.crashes + 1)
        changes = TrainingChanges(restarts=job.restarts, crashes=job.crashes)
        event = self._event(
            TrainingEventKind.JOB_RESUMED,
            f"it goes on from its newest checkpoint: {error}",
            level="warning",
            error=error,
            data={"restarts": job.restarts},
        )
        await self._record(changes, [event])

    async def _end(self, state: TrainingState | None, error: str | None) -> None:
        if state is None:
            if self._stop is not EndCause.LOST:
                said = "other workspaces have their turn: it goes on later" if self._stop is EndCause.TURN else None
                released = self._event(TrainingEventKind.JOB_RELEASED, said)
                await self._record(TrainingChanges(released=True), [released])
            return
        now = self._now()
        changes = TrainingChanges(state=state, error=error, ended_at=now)
        await self._record(changes, [ended_event(now, state, error)])

    async def _record(self, changes: TrainingChanges, events: Sequence[NewTrainingEvent]) -> None:
        """Store changes and events; retry while the store is away. Raises PlatformError where it stays away."""
        while True:
            try:
                await self._store.write(self.id, changes, events, epoch=self._job.lease.epoch)
            except PlatformError as error:
                if error.reason != STORE_UNAVAILABLE or self._stop in (EndCause.LEAVE, EndCause.LOST):
                    self.stop(EndCause.LOST)
                    raise
                _log.warning("training job %s: %s", self.id, error)
                await self._clock.sleep(STORE_PAUSE_SECONDS)
            else:
                self._next_beat = self._clock.now() + BEAT_SECONDS
                return self._tell()

    def _event(self, kind: str, message: str | None, *, level: str = "info", **body: Any) -> NewTrainingEvent:
        told = {name: part for name, part in body.items() if part is not None}
        return NewTrainingEvent(at=self._now(), kind=kind, level=level, message=message, body=told)

    def _make_folder(self) -> None:
        for folder in (self._folder.parent.parent, self._folder.parent, self._folder):
            private_folder(folder)

    def _write_plan(self) -> None:
        told = ("workspace", "trainer_type", "request", "resolved", "plan")
        plan = {"job_id": self.id, **{name: getattr(self._job, name) for name in told}}
        place = self._folder / PLAN_FILE
        temporary = place.with_suffix(".tmp")
        with open(temporary, "w", opener=private_opener) as file:
            file.write(json.dumps(plan, indent=1))
        temporary.replace(place)

    def _now(self) -> str:
        return self._clock.utcnow().isoformat()

    def _tell(self) -> None:
        told, self._news = self._news, asyncio.Event()
        told.set()
