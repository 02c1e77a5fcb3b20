"""The runs that a job's last owner has left open, read from the store some thousand rows at a time.

A run's row is stored when it begins: a run without one has never begun. Stores of earlier versions hold a row of each
run from the job's acceptance; those of runs that never began are taken for what they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import merge
from operator import attrgetter
from typing import TYPE_CHECKING

from harena.core.job_lifecycle import RunState

if TYPE_CHECKING:
    from harena.core.job_store import JobStorePort, OpenRun, StoredBenchmarkJob

READ_AT_A_TIME = 2000
"""rows in one query, after which the loop has its turn"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftRuns:
    """Open runs of a job."""

    never_begun: Sequence[range]
    """their numbers, in order"""
    begun: Sequence[OpenRun]
    """the others, in order of acceptance"""

    @property
    def never_begun_count(self) -> int:
        """How many there are."""
        return sum(map(len, self.never_begun))


async def left_runs(store: JobStorePort, job: StoredBenchmarkJob) -> LeftRuns:
    """What is left of this job. Raises PlatformError."""
    never_begun: list[range] = []
    seen = 0
    while spans := await store.stored_runs(job.id, after=seen - 1, limit=READ_AT_A_TIME):
        for span in spans:
            _add(never_begun, range(seen, span.start))
            seen = span.stop
        await asyncio.sleep(0)
    _add(never_begun, range(seen, job.total))
    begun: list[OpenRun] = []
    untouched: list[range] = []
    after = -1
    while runs := await store.open_runs(job.id, after=after, limit=READ_AT_A_TIME):
        after = runs[-1].number
        for run in runs:
            if run.state == RunState.QUEUED and not (run.failures or run.repeats or run.interruptions):
                _add(untouched, range(run.number, run.number + 1))
            else:
                begun.append(run)
        await asyncio.sleep(0)
    fresh: list[range] = []
    for count, part in enumerate(merge(never_begun, untouched, key=attrgetter("start")), 1):
        _add(fresh, part)
        if count % READ_AT_A_TIME == 0:
            await asyncio.sleep(0)
    return LeftRuns(never_begun=fresh, begun=begun)


def _add(parts: list[range], part: range) -> None:
    """Add a range that follows all others; one that touches the last becomes one with it."""
    if parts and parts[-1].stop == part.start:
        parts[-1] = range(parts[-1].start, part.stop)
    elif part:
        parts.append(part)
