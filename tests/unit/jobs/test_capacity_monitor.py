"""The number of slots follows the machine while somebody waits for one, and nothing is looked at otherwise."""

from __future__ import annotations

import asyncio

from harena.core.ports import SandboxMemory
from harena.core.records.sandboxes import Limits
from harena.jobs.capacity import MachineLoad, RunCapacity
from harena.jobs.capacity_monitor import CapacityMonitor, most_runs, read_load
from harena.jobs.slots import Slots


async def test_slots_grow_while_somebody_waits_and_the_machine_is_quiet() -> None:
    """A job of 40 runs that wait, on two cores: eight begin at once, and the rest without any of them having ended."""
    looks = 0

    def quiet() -> MachineLoad:
        nonlocal looks
        looks += 1
        return MachineLoad(runnable=1, available_bytes=None)

    slots = Slots(8)
    keeper = CapacityMonitor(slots, RunCapacity(cores=2, most=1000), quiet)
    may_be = asyncio.Event()
    share = slots.join(priority=0, wake=may_be.set)
    begun = 0
    async with asyncio.timeout(30):
        while begun < 40:
            if slots.acquire(share):
                begun += 1
            else:
                assert begun >= 8
                await may_be.wait()
                may_be.clear()
    slots.pass_on(share)
    assert slots.running == 40
    assert slots.capacity >= 40
    seen = looks
    for _ in range(50):
        await asyncio.sleep(0)
    assert looks == seen
    keeper.close()


def test_this_machine_says_something() -> None:
    """Linux does; and a process has descriptors for some runs."""
    load = read_load()
    assert load.runnable is not None
    assert load.available_bytes is not None
    assert most_runs() >= 1


async def test_slots_are_as_many_as_the_memory_of_sandboxes_holds_by_the_limits_of_who_waits() -> None:
    """Before the first one is given, and on a machine that has slots for more."""
    memory = SandboxMemory(most_bytes=8 << 30, used_bytes=0, workspace_bytes=6 << 30)
    monitor = CapacityMonitor.of_this_machine(1, lambda: memory)
    slots = monitor.slots
    share = slots.join(priority=0, wake=lambda: None, limits=Limits(memory_bytes=3 << 30))
    assert [slots.acquire(share) for _ in range(4)] == [True, True, False, False]
    monitor.close()
