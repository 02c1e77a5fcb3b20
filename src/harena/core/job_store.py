"""What a node asks of a store of benchmark jobs: the port, and the few values that cross it.

A job is written by one process at a time, the holder of its lease. Every write carries the lease's epoch as a fencing
token; a write of an earlier epoch is refused whole, so a holder that was believed dead cannot overwrite what its
successor has stored.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Protocol

from harena.core.idempotency import IdempotencyKey
from harena.core.leases import Owner, StoredJson
from harena.core.pages import PAGE_BYTES, PageRows
from harena.core.webhook_store import NewDelivery

STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
"""reason of a PlatformError: the store is away (disk full, connection lost), and the same call may succeed later"""
LEASE_LOST = "LEASE_LOST"
"""reason of a PlatformError: another process has taken the job over"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBenchmarkJob:
    """A job as it is accepted."""

    id: str
    workspace: str
    name: str
    state: str
    """a `JobState`"""
    created_at: str
    blueprint: str
    config: StoredJson
    """the whole `JobConfig`, defaults included"""
    effective_concurrency: int
    """number of runs that the node lets run at one time"""
    total: int
    """number of runs"""
    durable: bool
    """it outlives its process, and is taken over by another"""
    owner: Owner
    lineage: StoredJson | None = None
    """the stored versions that it was made of, and the rows that were left out: {scenarios, digest, contracts,
    left_out}"""
    definition: StoredJson | None = None
    """{ref, digest} of the definition that it was made of"""
    delivery_id: str | None = None
    """the webhook delivery that tells of its end"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCounts:
    """How many runs of a job are where; those that are in none of the first three are queued."""

    running: int = 0
    done: int = 0
    cancelled: int = 0
    scored: int = 0
    """runs that are done and have a score"""
    passed: int = 0
    invalid: int = 0
    """runs that are done and whose scoring contract could not be applied"""


NO_RUNS = JobCounts()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBenchmarkJob(NewBenchmarkJob):
    """A job as it is stored."""

    started_at: str | None
    ended_at: str | None
    duration_seconds: float | None
    """how long it has run, as its last owner counted; None = it has not ended"""
    error: str | None
    """why the platform could not run it to its end"""
    cancel_requested: bool
    lease_epoch: int
    """each owner has the next one; a write of an earlier epoch is refused"""
    lease_beat: int
    """grows while the owner lives"""
    active_seconds: float
    """how long it was run, by all its owners"""
    counts: JobCounts
    last_cursor: int
    """cursor of its newest event"""
    sequence: int
    """its place in lists, newest last"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChanges:
    """What one write changes of a job; None = it stays as it is. The fields are those of `StoredBenchmarkJob`."""

    state: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    duration_seconds: float | None = None
    error: str | None = None
    cancel_requested: bool | None = None
    active_seconds: float | None = None
    counts: JobCounts | None = None
    last_cursor: int | None = None
    released: bool | None = None
    """True = its owner has let go of it: the next one need not wait for the end of the lease"""

    def then(self, later: JobChanges) -> JobChanges:
        """These changes and later ones, as one."""
        made = {name: value for name in _CHANGES if (value := getattr(later, name)) is not None}
        return replace(self, **made)


_CHANGES = tuple(each.name for each in fields(JobChanges))
UNCHANGED = JobChanges()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """What happened to a job, or to a run of it."""

    cursor: int
    """1, 2, ... within its job"""
    at: str
    kind: str
    body: StoredJson
    """what else there is to say; its keys are those of its kind"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastEvent:
    """When something last happened to a job."""

    cursor: int
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run that is stored and has not ended."""

    number: int
    """0, 1, ... within its job: the order of acceptance"""
    scenario_id: str
    attempt: int
    state: str
    """a `RunState`"""
    failures: int = 0
    """tries that failed or were repeated"""
    repeats: int = 0
    """tries that were scored, and repeated because the job asks for it"""
    interruptions: int = 0
    """nodes that were lost while it was under way"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """A run that has ended, with its result."""

    number: int
    envelope: StoredJson
    """the whole result, a `BenchmarkRun` as JSON"""
    ended_cursor: int | None
    """cursor of the event that told of its end: the order of results; None where an earlier version did not store it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChange:
    """A run as it is from now on. The fields are those of `OpenRun` and, once it has ended, of `EndedRun`."""

    scenario_id: str | None = None
    attempt: int | None = None
    """with both of these, the run's row is inserted if it has none"""
    state: str
    failures: int = 0
    repeats: int = 0
    interruptions: int = 0
    score: float | None = None
    passed: bool | None = None
    envelope: StoredJson | None = None
    ended_cursor: int | None = None


@dataclass(slots=True)
class Batch:
    """What happened to one job since the last write. A run that changed twice is written once, with its last state."""

    job_id: str
    runs: dict[int, RunChange] = field(default_factory=dict)
    """by run number"""
    events: list[JobEvent] = field(default_factory=list)
    job: JobChanges = UNCHANGED
    """what changes of the job itself"""
    epoch: int | None = None
    """the lease under which it is written; None = whoever holds it"""

    def __bool__(self) -> bool:
        return bool(self.runs or self.events) or self.job != UNCHANGED


class JobStorePort(Protocol):
    """Benchmark jobs in one store. A run's row is stored when the run begins or ends: of the other runs of a job the
    job's `total` says how many there are. Every method is one transaction, but for `delete_job`,
    `delete_ended_before` and `clear_deleted`, which take a few thousand rows at a time; all raise PlatformError."""

    async def insert_job(
        self,
        job: NewBenchmarkJob,
        job_runs: Sequence[OpenRun] = (),
        *,
        request: bytes | None = None,
        delivery: NewDelivery | None = None,
        key: IdempotencyKey | None = None,
    ) -> str:
        """Accept a job, with its runs, as earlier versions stored them (a new job has none): all of it or nothing.
        `request` is what another process needs to go on with it; `delivery` is the webhook delivery that becomes due
        with the job's end, in the same transaction. The id of the job that stands: this one's, or that of the job that
        was accepted before with the same `key`; then nothing has been stored. Raises ValidationError for a key that
        came with another request, and NotFoundError where a version of the catalogue that `lineage` names was
        deleted."""

    async def find_answer(self, workspace: str, key: IdempotencyKey) -> str | None:
        """The id of the job that was accepted with this key, None = none was. Raises ValidationError likewise."""

    async def find_request(self, job_id: str) -> bytes | None:
        """What `insert_job` was given to go on with; None = nothing."""

    async def update_job(self, job_id: str, changes: JobChanges, *, while_in: Collection[str]) -> bool:
        """Change a job whose state is one of `while_in`; whether it was."""

    async def claim_job(
        self, job_id: str, owner: Owner, *, epoch: int, while_in: Collection[str], beat: int | None = None
    ) -> bool:
        """Take over a lease that is still at `epoch` (and at `beat`), for a new owner, at the next epoch; whether it
        was."""

    async def beat(self, job_id: str, *, epoch: int, active_seconds: float) -> bool:
        """Show that the holder of the lease lives; False = it holds the lease no longer."""

    async def look(self, job_ids: Sequence[str]) -> dict[str, tuple[bool, int]]:
        """job id -> whether cancellation was asked for, and the lease's epoch; without jobs that do not exist."""

    async def write(self, batch: Batch) -> None:
        """Record a batch. A result is stored once: a run that has ended is left as it is."""

    async def find_job(self, workspace: str, id_or_name: str) -> StoredBenchmarkJob | None:
        """The workspace's job with this id, else its newest of this name."""

    async def read_job(self, job_id: str) -> StoredBenchmarkJob | None:
        """The job with this id, whosever it is: for who runs it, and not for who asks."""

    async def list_jobs(
        self, workspace: str, *, name: str | None = None, before: int | None = None, limit: int = 1000
    ) -> PageRows[StoredBenchmarkJob]:
        """The workspace's jobs (of this name), newest first; those with a `sequence` below `before` only. One page."""

    async def count_jobs(self, workspace: str, *, states: Collection[str]) -> int:
        """How many of the workspace's jobs are in one of `states`."""

    async def count_open_runs(self, workspace: str, *, states: Collection[str]) -> int:
        """How many runs of the workspace's jobs in one of `states` have not ended, as the jobs' own rows say."""

    async def list_unfinished(self, *, states: Collection[str]) -> list[StoredBenchmarkJob]:
        """The durable jobs in one of `states`, oldest first."""

    async def list_runs(self, job_id: str) -> list[EndedRun]:
        """The runs of a job that have an envelope, in order of acceptance."""

    async def open_runs(self, job_id: str, *, after: int = -1, limit: int | None = None) -> list[OpenRun]:
        """The stored runs that have not ended, in order of acceptance: at most `limit`, with numbers above `after`."""

    async def stored_runs(self, job_id: str, *, after: int = -1, limit: int) -> list[range]:
        """The numbers of the stored runs above `after`, ended or not, at most `limit` of them, as ranges in order."""

    async def page_runs(
        self, job_id: str, *, after: int, limit: int, most_bytes: int = PAGE_BYTES, metadata: bool = True
    ) -> list[EndedRun]:
        """Runs that ended after cursor `after`, in the order of their ends: at most
        `limit`, and no more than one beyond `most_bytes` of JSON. `metadata`: the envelopes hold their scenarios'."""

    async def last_event(self, job_id: str) -> LastEvent | None:
        """What last happened to a job; None = nothing yet."""

    async def events_after(self, job_id: str, cursor: int, *, limit: int = 1000) -> PageRows[JobEvent]:
        """The events of a job that follow `cursor`, oldest first. One page."""

    async def delete_job(self, job_id: str, *, while_in: Collection[str]) -> bool:
        """Delete a job that is in one of these states with all that belongs to it; whether it was. From the first
        transaction on it does not exist for any workspace; what a death leaves is removed by `clear_deleted`."""

    async def delete_ended_before(self, moment: str, *, while_in: Collection[str]) -> int:
        """Delete the jobs that ended before `moment` (ISO 8601, UTC); how many."""

    async def clear_deleted(self) -> None:
        """Remove what is left of jobs whose deletion has begun."""
