"""What a node asks of a store of training jobs: the port.

As with benchmark jobs, a running job is written by the holder of its lease: a write names the lease's epoch and is
refused whole where another process has taken the job over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from harena.core.idempotency import IdempotencyKey
from harena.core.job_store import Row
from harena.core.pages import PageRows


class TrainingStorePort(Protocol):
    """Training jobs in one store. Every method is one transaction; all raise PlatformError."""

    async def insert_job(
        self, job: Mapping[str, Any], events: Sequence[Mapping[str, Any]], *, key: IdempotencyKey | None = None
    ) -> str:
        """Accept a job, with its first events (as in `write`). The id of the job that stands: this one's, or that of
        the job that was accepted before with the same `key`. Raises ValidationError for a key that came with another
        request, and NotFoundError where a published object of `resolved` was deleted."""

    async def find_answer(self, workspace: str, key: IdempotencyKey) -> str | None:
        """The id of the job that was accepted with this key, None = none was. Raises ValidationError likewise."""

    async def write(
        self,
        job_id: str,
        values: Mapping[str, Any],
        events: Sequence[Mapping[str, Any]] = (),
        *,
        epoch: int | None = None,
        while_in: Collection[str] | None = None,
    ) -> bool:
        """Set columns of a job and add {at, kind, level, message, body} events to it, which get the next cursors.
        False = it is not in one of the states `while_in`, and nothing was written. With `epoch` it is also a beat, and
        raises PlatformError (LEASE_LOST) where the lease has another one."""

    async def reopen(
        self,
        job_id: str,
        values: Mapping[str, Any],
        events: Sequence[Mapping[str, Any]],
        *,
        while_in: Collection[str],
    ) -> bool:
        """Queue a job that has ended once more, as `write` does. Raises NotFoundError, and writes nothing, where a
        published object of `resolved` is not there any more, or has other content."""

    async def claim(
        self, job_id: str, owner: Mapping[str, Any], *, epoch: int, while_in: Collection[str], beat: int | None = None
    ) -> bool:
        """Take the lease that is still at `epoch` (and at `beat`), at the next epoch; whether it was."""

    async def look(self, job_ids: Sequence[str]) -> dict[str, tuple[bool, int]]:
        """job id -> whether cancellation was asked for, and the lease's epoch."""

    async def find_job(self, workspace: str, id_or_name: str) -> Row | None:
        """The workspace's job with this id, else its newest of this name."""

    async def read_job(self, job_id: str) -> Row | None:
        """The job with this id, whosever it is."""

    async def list_jobs(
        self, workspace: str, *, wanted: Mapping[str, str], before: int | None = None, limit: int
    ) -> PageRows[Row]:
        """One page of the workspace's jobs whose columns are as `wanted`, newest first; `sequence` below `before`."""

    async def count_jobs(self, workspace: str, *, states: Collection[str]) -> int:
        """How many of the workspace's jobs are in one of `states`."""

    async def open_jobs(self, *, states: Collection[str]) -> list[Row]:
        """Everybody's jobs in these states, oldest first, as far as it is about who runs them: {id, workspace, state,
        durable, cancel_requested_at, owner_pid, owner_started, owner_boot, lease_epoch, lease_beat}."""

    async def events_after(
        self, job_id: str, cursor: int, *, limit: int = 1000, kinds: Collection[str] | None = None, told: bool = False
    ) -> PageRows[Row]:
        """The events that follow `cursor`, oldest first; of these kinds, and `told`: only those with a message."""

    async def delete_job(self, job_id: str, *, while_in: Collection[str]) -> bool:
        """Delete a job that is in one of these states with all that belongs to it; whether it was."""
