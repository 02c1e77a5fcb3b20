"""How many runs are under way at once: the pure decision, on machines that are simulated look by look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.jobs.capacity import RESERVED_BYTES, RUN_BYTES, MachineLoad, RunCapacity

GIB = 1 << 30


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
