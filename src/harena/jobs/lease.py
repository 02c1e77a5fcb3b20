"""When a job may be taken over. The rule:

Whoever runs a job holds its lease, and shows by beats (numbers that grow, in the store) that it lives. The lease has
ended when its holder is known to be gone (same machine, same boot), when the holder has let go of it, or when the beat
has stood still for LEASE_SECONDS *as the watcher's own monotonic clock counts*. No time of day is ever compared: clocks
that differ or jump neither end a lease nor keep a dead one. A watcher that was itself stopped between two looks (a
suspended machine) has seen nothing meanwhile: the time between two looks counts for LOOK_SECONDS at most.

A process that is there but stopped or stuck does not beat. A server's job is therefore judged by its beats, also where
its process is seen to live; an embedded job, which nobody could go on with, is its process's as long as that lives.

A job that belongs to a server is then taken over by the next node that sees it: finished runs stay as they are, all
others are run again. A job of a process's own (embedded) is not taken over: it becomes `interrupted`.

Taking over raises the lease's epoch, and every write names its epoch: a holder that was slow, not dead, finds its
writes refused and drops the job.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harena.jobs.owner import OwnerStatus

LEASE_SECONDS = 15.0
BEAT_SECONDS = 3.0
"""several beats fit into a lease: one that is late does not cost the job"""
LOOK_SECONDS = 5.0
"""for which the time between two looks counts at most"""


@dataclass(slots=True)
class LeaseWatch:
    """What one watcher has seen of others' leases."""

    _seen: dict[str, tuple[tuple[int, int], float, float]] = field(default_factory=dict)
    """job id -> (epoch, beat), for how long it was seen so, and when last, on the watcher's monotonic clock"""

    def has_ended(self, job_id: str, status: OwnerStatus, *, epoch: int, beat: int, now: float) -> bool:
        """Whether the lease has ended, as seen now. To be asked again and again: a beat's stand-still is seen only by
        whoever looks twice."""
        if status is not OwnerStatus.UNKNOWN:
            self._seen.pop(job_id, None)
            return status is OwnerStatus.GONE
        mark, still, last = self._seen.get(job_id, (None, 0.0, now))
        if mark != (epoch, beat):
            self._seen[job_id] = ((epoch, beat), 0.0, now)
            return False
        still += min(now - last, LOOK_SECONDS)
        self._seen[job_id] = ((epoch, beat), still, now)
        return still >= LEASE_SECONDS

    def forget(self, job_id: str) -> None:
        """Nobody will ask about this job any more."""
        self._seen.pop(job_id, None)
