"""How many runs a node has under way at once: a decision about what the machine shows, no I/O and no clock.

EXECUTING_PER_CORE runs for each core are always under way, if so many are asked for. More are added while the machine
shows that those under way mostly wait: what counts is not how many runs there are but how many threads they make ready
to run. A program that sleeps makes none; one that computes makes one, and with EXECUTING_PER_CORE of them for each core
nothing is added. What was ready to run when nothing of this node was (other people's work) is not counted: it is there
whatever this node does.

Memory has the last word. All runs of one workspace together may use only a part of the machine's memory; a program
that runs into this common limit is ended through no fault of its own, and its run begins again. So the number of runs
that are under way in any case is at most what fits if each uses all that its own limit allows. Further runs are added
while there is room for one that uses as much as those under way use on average. All runs are counted as one
workspace's.
"""

from __future__ import annotations

from dataclasses import dataclass

from harena.core.ports import SandboxMemory
from harena.core.records.sandboxes import Limits

EXECUTING_PER_CORE = 4
"""Runs that are under way at one time in any case, for each core. Most of a run's life is waiting (a sandbox being
made, pipes being read), so several per core keep it busy."""
READY_TO_GROW = 1.5
"""threads of this node that are ready to run, for each core, below which more runs are added"""
READY_TO_SHRINK = 5.0
"""threads that are ready to run, for each core, above which no run begins until some have ended"""
GROWTH, DECLINE = 1.5, 0.75
"""factors by which the capacity grows and shrinks at one measurement"""
RUN_BYTES = 64 << 20
"""Memory that one run more is expected to take at least. A run may take up to its own limit, but few do."""
USUAL_LIMIT_BYTES = Limits().memory_bytes or 0
"""the limit of a run that asks for none"""
RESERVED_BYTES = 512 << 20
"""memory that is left to everything else on the machine"""
_SMOOTHING = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineLoad:
    """What one look at the machine shows."""

    runnable: int | None
    """threads that run or are ready to run, everybody's; None = not known"""
    available_bytes: int | None
    """memory that can be had; None = not known"""
    sandboxes: SandboxMemory | None = None
    """what all sandboxes have and may have together; None = nothing limits it"""


class RunCapacity:
    """The number of runs that may be under way, look by look."""

    def __init__(self, *, cores: int, most: int) -> None:
        """`cores`: of the machine; `most`: runs that the process can hold at all."""
        self._cores = max(1, cores)
        self.floor = max(1, min(most, EXECUTING_PER_CORE * self._cores))
        self.most = most
        self.capacity = self.floor
        self._others: float | None = None
        self._ready = 0.0
        self._others_bytes = 0
        """memory of sandboxes that are no runs'"""
        self._limit_bytes = 0

    def look(self, seen: MachineLoad, *, running: int, limit_bytes: int = USUAL_LIMIT_BYTES) -> int:
        """The capacity from now on, with so many runs under way and more that wait; each may take up to `limit_bytes`
        of memory."""
        floor, most = self._by_memory_of_sandboxes(seen.sandboxes, running, limit_bytes)
        if running == 0:
            self.capacity = floor
        elif limit_bytes > self._limit_bytes:  # larger ones have come: what was grown was grown for small ones
            self.capacity = min(self.capacity, max(running, floor))
        self._limit_bytes = limit_bytes
        self.capacity = max(1, min(most, max(floor, self._by_the_machine(seen, running))))
        return self.capacity

    def _by_memory_of_sandboxes(self, seen: SandboxMemory | None, running: int, limit_bytes: int) -> tuple[int, int]:
        """Two numbers that memory allows: of the runs that are under way in any case, and of all runs."""
        if seen is None:
            return self.floor, self.most
        if running == 0:
            self._others_bytes = seen.used_bytes
        of_runs = max(0, seen.used_bytes - self._others_bytes)
        for_runs = min(seen.workspace_bytes, seen.most_bytes - self._others_bytes)
        left = max(0, min(for_runs - of_runs, seen.most_bytes - seen.used_bytes))
        each = max(RUN_BYTES, of_runs // running if running else 0)
        floor = min(self.floor, for_runs // max(1, limit_bytes))
        return max(1, floor), min(self.most, running + left // each)

    def _by_the_machine(self, seen: MachineLoad, running: int) -> int:
        if seen.runnable is not None and running == 0:
            self._others, self._ready = float(seen.runnable), 0.0
        if seen.runnable is None or self._others is None:
            return self.capacity
        self._others = min(self._others, float(seen.runnable))
        self._ready += _SMOOTHING * (seen.runnable - self._others - self._ready)
        ready = self._ready / self._cores
        wanted = self.capacity
        if ready > READY_TO_SHRINK:
            wanted = int(self.capacity * DECLINE)
        elif ready < READY_TO_GROW and running >= self.capacity:
            wanted = int(self.capacity * GROWTH) + 1
        if seen.available_bytes is not None:
            wanted = min(wanted, running + max(0, seen.available_bytes - RESERVED_BYTES) // RUN_BYTES)
        return wanted
