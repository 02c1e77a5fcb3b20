"""How many runs are under way at once: the pure decision, on machines that are simulated look by look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.core.ports import SandboxMemory
from harena.jobs.capacity import RESERVED_BYTES, RUN_BYTES, MachineLoad, RunCapacity

MIB, GIB = 1 << 20, 1 << 30


def settled(
    *, per_run: float, others: int = 0, asked: int = 300, memory: int | None = 64 * GIB, looks: int = 60
) -> int:
    """The runs that are under way in the end, each of which makes `per_run` threads ready to run."""
    run_capacity = RunCapacity(cores=2, most=asked)
    run_capacity.look(MachineLoad(runnable=others, available_bytes=memory), running=0)
    running = 0
    for _ in range(looks):
        running = min(asked, max(running, run_capacity.capacity))
        available = None if memory is None else memory - running * RUN_BYTES
        run_capacity.look(
            MachineLoad(runnable=others + round(per_run * running), available_bytes=available), running=running
        )
    return run_capacity.capacity


@pytest.mark.parametrize("others", [0, 8, 40])
def test_sleepers_run_as_many_as_are_asked_for(others: int) -> None:
    """Also beside other people's busy processes; and it takes less than half a second of looks."""
    assert settled(per_run=0.0, others=others, looks=20) == 300


@pytest.mark.parametrize("others", [0, 8, 40])
def test_spinners_run_four_for_each_core(others: int) -> None:
    """Each makes a thread ready: nothing is gained by more of them."""
    assert settled(per_run=1.0, others=others) == 8


def test_mixed_company_is_in_between() -> None:
    """One in ten computes."""
    assert 8 < settled(per_run=0.1) < 120


def test_memory_has_the_last_word() -> None:
    """A machine with two GiB holds fewer sleepers; below what is left alone, only those that always run."""
    assert settled(per_run=0.0, memory=2 * GIB) <= (2 * GIB - RESERVED_BYTES) // RUN_BYTES
    assert settled(per_run=0.0, memory=RESERVED_BYTES) == 8


def test_a_machine_that_says_nothing_gets_the_fixed_number() -> None:
    """No /proc/loadavg."""
    run_capacity = RunCapacity(cores=2, most=300)
    for running in (0, 8, 8):
        assert run_capacity.look(MachineLoad(runnable=None, available_bytes=None), running=running) == 8


@given(
    most=st.integers(1, 1000),
    looks=st.lists(
        st.tuples(st.none() | st.integers(0, 500), st.none() | st.integers(0, 8 * GIB), st.integers(0, 1000)),
        max_size=40,
    ),
)
def test_it_stays_between_its_borders(most: int, looks: list[tuple[int | None, int | None, int]]) -> None:
    """Whatever is seen; and it never grows over what memory allows."""
    run_capacity = RunCapacity(cores=2, most=most)
    for runnable, available, running in looks:
        capacity = run_capacity.look(MachineLoad(runnable=runnable, available_bytes=available), running=running)
        assert run_capacity.floor <= capacity <= most
        assert capacity == run_capacity.capacity


def test_load_that_comes_later_stops_new_runs() -> None:
    """Sleepers that begin to compute: no more begin, and the number falls back."""
    run_capacity = RunCapacity(cores=2, most=300)
    run_capacity.look(MachineLoad(runnable=0, available_bytes=None), running=0)
    for _ in range(20):
        run_capacity.look(MachineLoad(runnable=0, available_bytes=None), running=300)
    assert run_capacity.capacity == 300
    for _ in range(40):
        run_capacity.look(MachineLoad(runnable=300, available_bytes=None), running=300)
    assert run_capacity.capacity == 8


class Machine:
    """One whose sandboxes may have three quarters of what it leaves them, by its kernel; a run takes its memory as it
    begins, and the kernel ends one for each that does not fit."""

    def __init__(self, *, most: int, others: int = 0) -> None:
        self.most, self.others, self.runs, self.ended = most, others, [0] * 0, 0

    def begin(self, takes: int) -> None:
        """One more run."""
        share = self.most - self.most // 4
        if sum(self.runs) + takes > share or self.others + sum(self.runs) + takes > self.most:
            self.ended += 1
        else:
            self.runs.append(takes)

    def load(self, runnable: int = 0) -> MachineLoad:
        """What a look shows."""
        memory = SandboxMemory(
            most_bytes=self.most,
            used_bytes=self.others + sum(self.runs),
            workspace_bytes=self.most - self.most // 4,
        )
        return MachineLoad(runnable=runnable, available_bytes=64 * GIB, sandboxes=memory)


def worked(
    machine: Machine,
    run_capacity: RunCapacity,
    *,
    takes: int,
    limit: int = 512 * MIB,
    asked: int = 1000,
    looks: int = 60,
) -> int:
    """The most runs that were under way at one time, of a job of so many that end in no time worth a look."""
    most = 0
    for _ in range(looks):
        capacity = run_capacity.look(machine.load(), running=len(machine.runs), limit_bytes=limit)
        while len(machine.runs) < min(capacity, asked) and not machine.ended:
            machine.begin(takes)
        most = max(most, len(machine.runs))
    return most


@pytest.mark.parametrize("takes", [1, 80, 200, 400, 511])
@pytest.mark.parametrize("cores", [1, 2, 8, 64, 256])
@pytest.mark.parametrize("others", [0, 10, 50])
def test_no_run_begins_that_the_memory_of_sandboxes_does_not_hold(takes: int, cores: int, others: int) -> None:
    """Whatever part of its limit each takes, and however many processors there are for the memory: 256 of them and 96
    GiB, of which others' sandboxes have some already."""
    machine = Machine(most=84 * GIB, others=others * GIB)
    most = worked(machine, RunCapacity(cores=cores, most=2000), takes=takes * MIB)
    assert machine.ended == 0
    share = min(63, 84 - others) * GIB
    assert most >= min(4 * cores, share // (512 * MIB), 1000)
    assert most * takes * MIB <= share


def test_a_machine_with_little_memory_begins_fewer_runs_than_four_for_each_core() -> None:
    """One, if it holds no more. Without a limit of all together it is as it was."""
    for most, begun in ((16 * GIB, 8), (4 * GIB, 6), (2 * GIB, 3), (700 * MIB, 1), (100 * MIB, 1)):
        run_capacity = RunCapacity(cores=2, most=300)
        assert run_capacity.look(Machine(most=most).load(), running=0) == begun
    assert RunCapacity(cores=2, most=300).look(MachineLoad(runnable=0, available_bytes=None), running=0) == 8


def test_runs_that_wait_are_as_many_as_memory_of_sandboxes_has_room_for() -> None:
    """Three hundred that take little beside each other on two cores, with a limit of half a GiB each."""
    machine = Machine(most=16 * GIB)
    assert worked(machine, RunCapacity(cores=2, most=2000), takes=10 * MIB, asked=300, looks=20) >= 190
    assert machine.ended == 0


def test_few_runs_begin_whose_limit_is_large_until_it_is_seen_what_they_take() -> None:
    """One with a limit of 8 of 12 GiB, or with none; then more, by what one takes."""
    for limit in (8 * GIB, 1 << 62):
        machine = Machine(most=16 * GIB)
        run_capacity = RunCapacity(cores=8, most=2000)
        assert run_capacity.look(machine.load(), running=0, limit_bytes=limit) == 1
        assert worked(machine, run_capacity, takes=3 * GIB, limit=limit) == 4
        assert machine.ended == 0


def test_large_runs_that_come_later_do_not_have_the_capacity_that_small_ones_had() -> None:
    """It has grown to a hundred by runs that take nothing."""
    machine = Machine(most=16 * GIB)
    run_capacity = RunCapacity(cores=2, most=2000)
    assert worked(machine, run_capacity, takes=1 * MIB) > 100
    machine.runs = machine.runs[:3]
    assert run_capacity.look(machine.load(runnable=3), running=3, limit_bytes=4 * GIB) <= 5
    grown = RunCapacity(cores=2, most=2000)
    assert grown.look(machine.load(), running=0) == 8


def test_nothing_begins_while_sandboxes_that_are_no_runs_have_the_memory() -> None:
    """But one, which is told what is used up, as any sandbox is."""
    machine = Machine(most=16 * GIB, others=16 * GIB)
    run_capacity = RunCapacity(cores=64, most=2000)
    assert run_capacity.look(machine.load(), running=0) == 1
    machine.others = 8 * GIB
    assert run_capacity.look(machine.load(), running=0) == 16
