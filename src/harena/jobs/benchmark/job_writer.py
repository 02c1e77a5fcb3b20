"""Collects what happens to a job and writes it in batches, so that a run costs microseconds of store time.

What `add_*` was given is in the database after the next `flush`, or by itself within `interval_seconds`. `on_commit`
is called after a write: readers read the database, so nobody hears of a result that a kill -9 could still take back.

A store that is away (its disk full, its connection lost) is asked again until it is back; nothing is dropped meanwhile,
and `on_away` and `on_back` say when to stop making more and when to go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from harena.core.clock import Clock, Pacer
from harena.core.errors import PlatformError
from harena.core.job_store import STORE_UNAVAILABLE, Batch, JobChanges, JobEvent, RunChange

RETRY_SECONDS = 0.5
"""how long after a failed write the store is asked again"""


class Writes(Protocol):
    """The part of a store that a writer needs."""

    async def write(self, batch: Batch) -> None:
        """Record a batch. Raises PlatformError."""


class BatchWriter:
    """The one writer of one job's runs and events. Used from one event loop."""

    def __init__(
        self,
        store: Writes,
        job_id: str,
        *,
        clock: Clock,
        on_commit: Callable[[], None],
        on_failure: Callable[[PlatformError], None],
        on_away: Callable[[PlatformError], None] = lambda error: None,
        on_back: Callable[[], None] = lambda: None,
        interval_seconds: float = 0.1,
        epoch: int | None = None,
    ) -> None:
        """`on_commit` is called after each write, `on_failure` once, when a write is refused for good, `on_away` and
        `on_back` when the store has gone away and come back. `epoch`: the lease under which is written."""
        self._store = store
        self._job_id = job_id
        self._epoch = epoch
        self._clock = clock
        self._on_commit = on_commit
        self._on_failure = on_failure
        self._on_away = on_away
        self._on_back = on_back
        self._interval_seconds = interval_seconds
        self._batch = Batch(job_id, epoch=epoch)
        self._away = False
        self._dirty = asyncio.Event()
        self._retries = Pacer(clock)
        self._writing = asyncio.Lock()
        self._background = asyncio.create_task(self._write_in_background(), name=f"writer of {job_id}")

    def add_run(self, number: int, change: RunChange) -> None:
        """A run has changed."""
        self._batch.runs[number] = change
        self._dirty.set()

    def add_event(self, event: JobEvent) -> None:
        """Something has happened."""
        self._batch.events.append(event)
        self._dirty.set()

    def set_job(self, changes: JobChanges) -> None:
        """The job itself has changed."""
        self._batch.job = self._batch.job.then(changes)
        self._dirty.set()

    async def flush(self) -> None:
        """Write everything that was added so far. Raises PlatformError; nothing of it is lost then."""
        async with self._writing:
            batch = self._batch
            if not batch:
                return
            self._batch = Batch(self._job_id, epoch=self._epoch)
            self._dirty.clear()
            try:
                await self._store.write(batch)
            except BaseException as error:
                self._put_back(batch)
                if isinstance(error, PlatformError) and error.reason == STORE_UNAVAILABLE and not self._away:
                    self._away = True
                    self._on_away(error)
                raise
            if self._away:
                self._away = False
                self._on_back()
            self._on_commit()

    async def settle(self) -> None:
        """Returns when everything that was added so far is stored; waits for a store that is away, unless `hurry` was
        called. Raises PlatformError."""
        while True:
            try:
                await self.flush()
                return
            except PlatformError as error:
                if error.reason != STORE_UNAVAILABLE or not await self._retries.pause(RETRY_SECONDS):
                    raise

    async def close(self) -> None:
        """Write the rest, waiting for a store that is away unless `hurry` was called, and end. Raises PlatformError."""
        try:
            while self._batch or self._writing.locked():
                try:
                    await self.flush()
                except PlatformError as error:
                    if error.reason != STORE_UNAVAILABLE or self._retries.stopped:
                        raise
                    await self._retries.pause(RETRY_SECONDS)
        finally:
            self._background.cancel()
            await asyncio.gather(self._background, return_exceptions=True)

    def hurry(self) -> None:
        """The process is about to end: a store that is away now is waited for no longer."""
        self._retries.stop()

    def _put_back(self, batch: Batch) -> None:
        """Nothing of a transaction that failed was written: it comes first in the next one."""
        batch.runs.update(self._batch.runs)
        batch.events.extend(self._batch.events)
        batch.job = batch.job.then(self._batch.job)
        self._batch = batch
        self._dirty.set()

    async def _write_in_background(self) -> None:
        while True:
            await self._dirty.wait()
            # the pause is what makes a batch: at 500 runs a second, 50 of them share one transaction
            await self._clock.sleep(self._interval_seconds)
            try:
                await self.flush()
            except PlatformError as error:
                if error.reason != STORE_UNAVAILABLE:
                    self._on_failure(error)
                    return
                await self._retries.pause(RETRY_SECONDS)
