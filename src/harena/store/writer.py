"""Collects what happens to a job and writes it in batches, so that a run costs microseconds of store time.

What `add_*` was given is in the database after the next `flush`, or by itself within `interval_seconds`. `on_commit`
is called after a write: readers read the database, so nobody hears of a result that a kill -9 could still take back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from harena.core.clock import Clock
from harena.core.errors import PlatformError
from harena.store.benchmark_jobs import Batch, JobStore


class BatchWriter:
    """The one writer of one job's runs and events. Used from one event loop."""

    def __init__(
        self,
        store: JobStore,
        job_id: str,
        *,
        clock: Clock,
        on_commit: Callable[[], None],
        on_failure: Callable[[PlatformError], None],
        interval_seconds: float = 0.05,
    ) -> None:
        """`on_commit` is called after each write, `on_failure` once, when a write fails in the background."""
        self._store = store
        self._job_id = job_id
        self._clock = clock
        self._on_commit = on_commit
        self._on_failure = on_failure
        self._interval_seconds = interval_seconds
        self._batch = Batch(job_id)
        self._dirty = asyncio.Event()
        self._writing = asyncio.Lock()
        self._background = asyncio.create_task(self._write_in_background(), name=f"writer of {job_id}")

    def add_run(self, number: int, values: Mapping[str, Any]) -> None:
        """A run's new state, {state, score, passed, envelope}."""
        self._batch.runs[number] = dict(values)
        self._dirty.set()

    def add_event(self, event: Mapping[str, Any]) -> None:
        """Something that happened, {cursor, at, kind, body}."""
        self._batch.events.append(dict(event))
        self._dirty.set()

    def set_job(self, values: Mapping[str, Any]) -> None:
        """Columns of the job itself."""
        self._batch.job.update(values)
        self._dirty.set()

    async def flush(self) -> None:
        """Write everything that was added so far. Raises PlatformError; nothing of it is lost then."""
        async with self._writing:
            batch = self._batch
            if not batch:
                return
            self._batch = Batch(self._job_id)
            self._dirty.clear()
            try:
                await self._store.write(batch)
            except BaseException:
                self._put_back(batch)
                raise
            self._on_commit()

    async def close(self) -> None:
        """Write the rest and end. Raises PlatformError."""
        try:
            await self.flush()
        finally:
            self._background.cancel()
            await asyncio.gather(self._background, return_exceptions=True)

    def _put_back(self, batch: Batch) -> None:
        """Nothing of a transaction that failed was written: it comes first in the next one."""
        batch.runs.update(self._batch.runs)
        batch.events.extend(self._batch.events)
        batch.job.update(self._batch.job)
        self._batch = batch
        self._dirty.set()

    async def _write_in_background(self) -> None:
        while True:
            await self._dirty.wait()
            # the pause is what makes a batch: at 500 runs a second, 25 of them share one transaction
            await self._clock.sleep(self._interval_seconds)
            try:
                await self.flush()
            except PlatformError as error:
                self._on_failure(error)
                return
