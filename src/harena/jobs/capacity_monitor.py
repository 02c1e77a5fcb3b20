"""Measures the machine while runs wait for a slot, and resizes the slots as `harena.jobs.capacity` decides."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from dataclasses import replace

from harena.core.ports import SandboxMemory
from harena.core.pressure import available_memory_bytes, machine_cores, runnable_tasks
from harena.jobs.capacity import MachineLoad, RunCapacity
from harena.jobs.slots import Slots

LOOK_SECONDS = 0.02
_DESCRIPTORS_PER_RUN = 10
"""descriptors of this process for one run: a sandbox's channel, the pipes of its programs, and files that are written
"""
_OTHER_DESCRIPTORS = 200
_MOST_RUNS = 2000


def read_load() -> MachineLoad:
    """Ask the kernel for the load of the machine."""
    return MachineLoad(runnable=runnable_tasks(), available_bytes=available_memory_bytes())


def most_runs() -> int:
    """Most runs that this process has descriptors for (the runtime raises its own limit to the hard one)."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard == resource.RLIM_INFINITY:
        return _MOST_RUNS
    return max(1, min(_MOST_RUNS, (hard - _OTHER_DESCRIPTORS) // _DESCRIPTORS_PER_RUN))


class CapacityMonitor:
    """Resizes the slots while runs wait for one. Used from one event loop. While nothing waits it does nothing."""

    def __init__(self, slots: Slots, capacity: RunCapacity, load: Callable[[], MachineLoad] = read_load) -> None:
        self._slots = slots
        self._capacity = capacity
        self._load = load
        self._timer: asyncio.TimerHandle | None = None
        slots.on_want = self.wake

    @classmethod
    def of_this_machine(
        cls, cores: int, memory_of_sandboxes: Callable[[], SandboxMemory | None] | None = None
    ) -> CapacityMonitor:
        """Make a monitor together with the slots that it resizes (`slots`). `memory_of_sandboxes`: see
        `LimitsMemoryOfAll`; None = nothing limits the memory of all sandboxes together."""
        capacity = RunCapacity(cores=min(cores, machine_cores()), most=most_runs())
        if memory_of_sandboxes is None:
            return cls(Slots(capacity.floor), capacity)
        return cls(Slots(capacity.floor), capacity, lambda: replace(read_load(), sandboxes=memory_of_sandboxes()))

    @property
    def slots(self) -> Slots:
        """The slots whose number it keeps."""
        return self._slots

    def wake(self) -> None:
        """Somebody wants a slot: look now where nothing runs, and from now on as long as somebody waits."""
        if self._slots.running == 0:
            self._look()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._tick)

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._timer = None
        self._look()
        if self._slots.wanted:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._tick)

    def _look(self) -> None:
        slots = self._slots
        slots.resize(self._capacity.look(self._load(), running=slots.running, limit_bytes=slots.largest_limit_bytes))
