"""When a job may be taken over. The rule:

The process that runs a job holds its lease and sends heartbeats: it increments a number in the store. The lease has
ended when its holder is known to be gone (same machine, same boot), when the holder has released it, or when the
heartbeat has not changed for LEASE_SECONDS *on the watcher's own monotonic clock*. Times of day are never compared, so
clocks that differ or jump neither end a lease nor keep a dead one. A watcher that was itself stopped between two looks
(a suspended machine) has seen nothing meanwhile, so the time between two looks counts for LOOK_SECONDS at most.

A process that is stopped or stuck sends no heartbeat. A server's job is therefore judged by its heartbeats, also where
its process exists; an embedded job, which no other process could continue, belongs to its process while that lives.

A server's job is then taken over by the next node that sees it: finished runs stay as they are, and all others are run
again. An embedded job is not taken over: it becomes `interrupted`.

Taking over increments the lease's epoch, which is a fencing token: every write carries it, so the writes of a holder
that was slow and not dead are refused, and it drops the job.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harena.jobs.owner import OwnerStatus

LEASE_SECONDS = 15.0
BEAT_SECONDS = 3.0
"""time between two heartbeats; several fit into a lease, so that one late heartbeat does not cost the job"""
LOOK_SECONDS = 5.0
"""the longest time between two looks that counts against a lease"""


@dataclass(slots=True)
class LeaseWatch:
    """What one watcher has seen of others' leases."""

    _seen: dict[str, tuple[tuple[int, int], float, float]] = field(default_factory=dict)
    """job id -> (epoch, beat), seconds for which they have not changed, and the time of the last look, both by the
    watcher's monotonic clock"""

    def has_ended(self, job_id: str, status: OwnerStatus, *, epoch: int, beat: int, now: float) -> bool:
        """Whether the lease has ended, as this watcher sees it now. Callers ask regularly: only a second look can show
        that the heartbeat has not changed."""
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
        """Drop what was seen of a job that nobody will ask about any more."""
        self._seen.pop(job_id, None)
