"""What a node asks of a store of training jobs: the port, and the records that cross it.

As with benchmark jobs, a running job is written by the holder of its lease: a write names the lease's epoch and is
refused whole where another process has taken the job over.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from harena.core.idempotency import IdempotencyKey
from harena.core.leases import Lease, Owner, StoredJson
from harena.core.pages import PageRows


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTrainingJob:
    """A job as it is accepted."""

    id: str
    workspace: str
    name: str
    state: str
    """a `TrainingState`"""
    trainer_type: str
    created_at: str
    request: StoredJson
    """the request, as it was given"""
    resolved: Sequence[StoredJson]
    """what its references stand for: {kind, name, version, digest, ...} each"""
    plan: StoredJson
    """what its worker does, made of the request and of what that refers to"""
    durable: bool
    """it outlives its process, and another one goes on with it"""
    owner: Owner


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJobHolder:
    """Who runs a job, if anybody."""

    id: str
    workspace: str
    state: str
    durable: bool
    cancel_requested_at: str | None
    lease: Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrainingJob(TrainingJobHolder):
    """A job as it is stored: as it was accepted (`NewTrainingJob`), and what has come of it."""

    name: str
    trainer_type: str
    created_at: str
    started_at: str | None
    ended_at: str | None
    request: StoredJson
    resolved: Sequence[StoredJson]
    plan: StoredJson
    error: str | None
    step: int
    """number of steps that are done"""
    steps: int | None
    """number of steps to do; None = that is not known yet"""
    metrics: StoredJson
    """newest value of each metric"""
    artifacts: StoredJson
    """what there is to fetch, by name"""
    attempt: int
    """number of the folder of the present try; each retry from scratch has a new one"""
    restarts: int
    """workers that died"""
    crashes: int
    """workers that died since the last checkpoint"""
    last_cursor: int
    """cursor of its newest event"""
    sequence: int
    """its place in lists, newest last"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingChanges:
    """What one write changes of a job; None = it stays as it is. The fields are those of `StoredTrainingJob`."""

    state: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    error: str | None = None
    cancel_requested_at: str | None = None
    step: int | None = None
    steps: int | None = None
    metrics: StoredJson | None = None
    artifacts: StoredJson | None = None
    restarts: int | None = None
    crashes: int | None = None
    released: bool = False
    """its owner has let go of it: the next one need not wait for the end of the lease"""


NO_CHANGES = TrainingChanges()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRetry:
    """How a job that has ended is queued once more."""

    owner: Owner
    durable: bool
    attempt: int
    from_scratch: bool
    """what it had learned is forgotten; else it goes on from its newest checkpoint"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTrainingEvent:
    """What happened to a job."""

    at: str
    kind: str
    """a `TrainingEventKind`"""
    level: str
    """info, warning or error"""
    message: str | None
    """for people; None = the event is no part of the logs"""
    body: StoredJson
    """{metrics, data, artifacts, error}, those of them that the event has"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrainingEvent(NewTrainingEvent):
    """An event as it is stored."""

    cursor: int
    """1, 2, ... within its job"""


class TrainingStorePort(Protocol):
    """Training jobs in one store. Every method is one transaction, but for `delete_job` and `clear_deleted`, which take
    some thousand events at a time; all raise PlatformError."""

    async def insert_job(
        self, job: NewTrainingJob, events: Sequence[NewTrainingEvent], *, key: IdempotencyKey | None = None
    ) -> str:
        """Accept a job, with its first events. The id of the job that stands: this one's, or that of the job that was
        accepted before with the same `key`. Raises ValidationError for a key that came with another request, and
        NotFoundError where a published object of `resolved` was deleted."""

    async def find_answer(self, workspace: str, key: IdempotencyKey) -> str | None:
        """The id of the job that was accepted with this key, None = none was. Raises ValidationError likewise."""

    async def write(
        self,
        job_id: str,
        changes: TrainingChanges,
        events: Sequence[NewTrainingEvent] = (),
        *,
        epoch: int | None = None,
        while_in: Collection[str] | None = None,
    ) -> bool:
        """Change a job and add events to it, which get the next cursors. False = it is not in one of the states
        `while_in`, and nothing was written. With `epoch` it is also a beat, and raises PlatformError (LEASE_LOST) where
        the lease has another one."""

    async def reopen(
        self, job_id: str, retry: TrainingRetry, events: Sequence[NewTrainingEvent], *, while_in: Collection[str]
    ) -> bool:
        """Queue a job that has ended once more, and add events to it; False = it is not in one of the states
        `while_in`. Raises NotFoundError, and writes nothing, where a published object of `resolved` is not there any
        more, or has other content."""

    async def claim(
        self, job_id: str, owner: Owner, *, epoch: int, while_in: Collection[str], beat: int | None = None
    ) -> bool:
        """Take the lease that is still at `epoch` (and at `beat`), at the next epoch; whether it was."""

    async def look(self, job_ids: Sequence[str]) -> dict[str, tuple[bool, int]]:
        """job id -> whether cancellation was asked for, and the lease's epoch."""

    async def find_job(self, workspace: str, id_or_name: str) -> StoredTrainingJob | None:
        """The workspace's job with this id, else its newest of this name."""

    async def read_job(self, job_id: str) -> StoredTrainingJob | None:
        """The job with this id, whosever it is."""

    async def list_jobs(
        self,
        workspace: str,
        *,
        name: str | None = None,
        state: str | None = None,
        trainer_type: str | None = None,
        before: int | None = None,
        limit: int,
    ) -> PageRows[StoredTrainingJob]:
        """One page of the workspace's jobs (with this name, state and trainer type), newest first; those with a
        `sequence` below `before` only."""

    async def count_jobs(self, workspace: str, *, states: Collection[str]) -> int:
        """How many of the workspace's jobs are in one of `states`."""

    async def open_jobs(self, *, states: Collection[str]) -> list[TrainingJobHolder]:
        """Everybody's jobs in these states, oldest first, as far as it is about who runs them."""

    async def events_after(
        self, job_id: str, cursor: int, *, limit: int = 1000, kinds: Collection[str] | None = None, told: bool = False
    ) -> PageRows[StoredTrainingEvent]:
        """The events that follow `cursor`, oldest first; of these kinds, and `told`: only those with a message."""

    async def delete_job(self, job_id: str, *, while_in: Collection[str]) -> bool:
        """Delete a job that is in one of these states with all that belongs to it; whether it was. From the first
        transaction on it does not exist for any workspace; what a death leaves is removed by `clear_deleted`."""

    async def clear_deleted(self) -> None:
        """Remove what is left of jobs whose deletion has begun."""
