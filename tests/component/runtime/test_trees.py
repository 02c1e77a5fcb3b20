"""Process trees: who is below whom, and that killing one leaves nothing of it, against a simulated kernel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harena.runtime.guest import trees


def test_descendants() -> None:
    """All below, at any depth; not the root itself, not its siblings, and circles end."""
    parent_of = {2: 1, 3: 2, 4: 3, 5: 2, 6: 1, 7: 6}
    assert trees.descendants(2, parent_of) == {3, 4, 5}
    assert trees.descendants(1, parent_of) == {2, 3, 4, 5, 6, 7}
    assert trees.descendants(7, parent_of) == set()
    assert trees.descendants(9, {9: 10, 10: 9}) == {9, 10}


def test_a_look_at_real_processes() -> None:
    """Living processes are found with their parent; one that has ended and waits to be reaped is not."""
    living = subprocess.Popen(["sleep", "3600"])
    ended = subprocess.Popen(["true"])
    try:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        found = trees.look()
        assert found[living.pid][0] == os.getpid()
        assert ended.pid not in found
    finally:
        living.kill()
        living.wait()
        ended.wait()


THREADS = """
import ctypes, sys, threading
threading.Thread(target=lambda: sys.stdin.readline()).start()
print("ready", flush=True)
ctypes.CDLL(None).syscall(60, 0)
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the number of exit is that of x86-64")
def test_a_process_whose_first_thread_has_ended_is_found() -> None:
    """It shows as one that has ended, and runs on in its other threads. It is stopped when these are."""
    running = subprocess.Popen([sys.executable, "-c", THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert running.stdin is not None
    assert running.stdout is not None
    try:
        running.stdout.readline()
        stat = Path(f"/proc/{running.pid}/stat")
        while b") Z " not in stat.read_bytes():
            os.sched_yield()
        assert trees.look()[running.pid] == (os.getpid(), "S")
        assert len([1 for pid, _ in trees.times_run() if pid == running.pid]) == 2
        os.kill(running.pid, signal.SIGSTOP)
        while trees.look()[running.pid][1] != "T":
            os.sched_yield()
    finally:
        running.kill()
        running.wait()
        running.stdin.close()
        running.stdout.close()
    assert running.pid not in trees.look()


class SimulatedProcesses:
    """A process table: pid -> parent; `forks` says what a running process does between two looks, `forks_meanwhile`
    what it does after the processes were listed and before their states are read."""

    def __init__(self, parent_of: dict[int, int], forks: Callable[[SimulatedProcesses], None] = lambda _: None) -> None:
        self.forks_meanwhile: Callable[[SimulatedProcesses], None] = lambda _: None
        self.parent_of = dict(parent_of)
        self.stopped: set[int] = set()
        self.being_forked: dict[int, tuple[int, bool]] = {}
        """pid -> (parent, stopped when it appears): what is sent to everybody counts for these, too"""
        self.killed: list[int] = []
        self.forks = forks
        self.looks = 0

    def look(self) -> dict[int, tuple[int, str]]:
        self.looks += 1
        assert self.looks < 500, "it never ends"
        self.forks(self)
        listed = list(self.parent_of)
        self.forks_meanwhile(self)
        forking = {parent for parent, _ in self.being_forked.values()}  # they come to their stop when they have forked
        return {
            pid: (self.parent_of[pid], "R" if pid in forking else "T" if pid in self.stopped else "S") for pid in listed
        }

    def kill(self, pid: int, signum: int) -> None:
        if pid == -1:
            stops = signum == signal.SIGSTOP
            assert stops or signum == signal.SIGCONT
            self.stopped = set(self.parent_of) if stops else set()
            self.being_forked = {child: (parent, stops) for child, (parent, _) in self.being_forked.items()}
            return
        if pid not in self.parent_of:
            raise ProcessLookupError
        if signum == signal.SIGCONT:
            self.stopped.discard(pid)
        elif signum == signal.SIGSTOP:
            self.stopped.add(pid)
        elif signum == signal.SIGKILL:
            self.killed.append(pid)
            del self.parent_of[pid]
            for orphan, parent in list(self.parent_of.items()):
                if parent == pid:
                    self.parent_of[orphan] = 1

    def forks_end(self) -> None:
        for child, (parent, stopped) in self.being_forked.items():
            self.parent_of[child] = parent
            self.stopped |= {child} if stopped else set()
        self.being_forked = {}

    def fork(self, parent: int) -> int:
        child = max(self.parent_of) + 1
        self.parent_of[child] = parent
        return child


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch) -> Callable[..., SimulatedProcesses]:
    """Put a simulated table in the kernel's place."""

    def put(
        parent_of: dict[int, int], forks: Callable[[SimulatedProcesses], None] = lambda _: None
    ) -> SimulatedProcesses:
        table = SimulatedProcesses(parent_of, forks)
        monkeypatch.setattr(trees, "look", table.look)
        monkeypatch.setattr(os, "kill", table.kill)
        monkeypatch.setattr(os, "getpid", lambda: 1)
        return table

    return put


def test_a_tree_goes_and_its_neighbours_stay(simulate: Callable[..., SimulatedProcesses]) -> None:
    """The root and everything below it is killed, others are not."""
    table = simulate({2: 1, 3: 2, 4: 3, 5: 1, 6: 5})
    trees.kill_below(2)
    assert set(table.parent_of) == {5, 6}
    assert not table.stopped & {5, 6}


def test_spared_trees(simulate: Callable[..., SimulatedProcesses]) -> None:
    """Those that are spared live on, with all that is below them."""
    table = simulate({2: 1, 3: 2, 4: 1, 5: 4, 6: 5, 7: 1})
    trees.kill_below(1, frozenset({4}))
    assert set(table.parent_of) == {4, 5, 6}
    assert not table.stopped & {4, 5, 6}


def test_what_was_stopped_before_stays_stopped(simulate: Callable[..., SimulatedProcesses]) -> None:
    """A process that the program itself had stopped is not woken."""
    table = simulate({2: 1, 3: 2, 4: 1, 5: 1})
    table.stopped.add(5)
    trees.kill_below(2)
    assert table.stopped & set(table.parent_of) == {5}


@pytest.mark.parametrize("appears_at", range(2, 7))
def test_what_is_being_forked_goes_on(simulate: Callable[..., SimulatedProcesses], appears_at: int) -> None:
    """A neighbour's child that cannot be seen yet when everything is stopped runs afterwards, whenever it appears."""

    def forks(table: SimulatedProcesses) -> None:
        if table.looks == appears_at:
            table.forks_end()

    table = simulate({2: 1, 3: 2, 4: 1}, forks)
    table.being_forked[9] = (4, False)
    trees.kill_below(2)
    table.forks_end()
    assert set(table.parent_of) == {4, 9}
    assert not table.stopped & {4, 9}


@pytest.mark.parametrize("meanwhile", [False, True])
@pytest.mark.parametrize("appears_at", range(2, 7))
def test_what_the_root_is_forking_goes_with_it(
    simulate: Callable[..., SimulatedProcesses], appears_at: int, meanwhile: bool
) -> None:
    """A leader that is just starting its program: the program cannot be seen yet, and would outlive it as an orphan.
    Nor is it seen where it appears after the processes were listed, and before the leader's state is read."""

    def forks(table: SimulatedProcesses) -> None:
        if table.looks == appears_at:
            table.forks_end()

    table = simulate({2: 1, 4: 1}, *(() if meanwhile else (forks,)))
    if meanwhile:
        table.forks_meanwhile = forks
    table.being_forked[9] = (2, False)
    trees.kill_below(2)
    table.forks_end()
    assert set(table.parent_of) == {4}
    assert not table.stopped


def test_a_root_that_has_not_begun_does_not_come_to_it(simulate: Callable[..., SimulatedProcesses]) -> None:
    """It runs on as soon as it may, and starts its program: it may no more."""
    table = simulate({2: 1, 4: 1})
    kill = table.kill

    def goes_on(pid: int, signum: int) -> None:
        kill(pid, signum)
        if signum == signal.SIGCONT and 2 in table.parent_of:
            table.fork(2)

    os.kill = goes_on  # type: ignore[assignment]  # `simulate` puts it back
    trees.kill_below(2)
    assert set(table.parent_of) == {4}


def test_only_an_init_signals_everything() -> None:
    """Outside a sandbox that would be the whole machine."""
    with pytest.raises(RuntimeError, match="only the init"):
        trees.signal_all(0)


def test_a_tree_that_forks_while_it_is_killed(simulate: Callable[..., SimulatedProcesses]) -> None:
    """Processes that fork between two looks are stopped first: the race ends, and nothing is left."""
    left = 60

    def forks(table: SimulatedProcesses) -> None:
        nonlocal left
        for pid in list(table.parent_of):
            if pid > 2 and pid not in table.stopped and left > 0:
                left -= 1
                table.fork(pid)

    table = simulate({2: 1, 3: 2, 4: 3}, forks)
    trees.kill_below(2)
    assert set(table.parent_of) == set()
    assert left < 60  # it did fork


def test_a_process_that_ends_by_itself(simulate: Callable[..., SimulatedProcesses]) -> None:
    """One that is gone when it is signalled is no error."""

    def forks(table: SimulatedProcesses) -> None:
        if table.looks == 2:
            table.parent_of.pop(4, None)

    table = simulate({2: 1, 3: 2, 4: 2, 5: 1}, forks)
    trees.kill_below(2)
    assert set(table.parent_of) == {5}


def waiting_above(waiting: dict[int, str]) -> Callable[[SimulatedProcesses], SimulatedProcesses]:
    """Processes whose state stays what it is, whatever is sent."""

    def put(table: SimulatedProcesses) -> SimulatedProcesses:
        look = table.look
        table.look = lambda: {pid: (parent, waiting.get(pid, state)) for pid, (parent, state) in look().items()}  # type: ignore[method-assign]
        trees.look = table.look
        return table

    return put


def test_what_waits_for_its_stopped_child_is_still(
    simulate: Callable[..., SimulatedProcesses], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parent of a vfork waits in the kernel and is never seen to be stopped, nor is the one above it."""
    monkeypatch.setattr(trees, "_SURE_SECONDS", 0.0)
    table = waiting_above({3: "D", 4: "D"})(simulate({2: 1, 3: 2, 4: 3, 5: 4}))
    assert trees.stop_all(60.0) == set()
    assert table.stopped == {2, 3, 4, 5}


@pytest.mark.parametrize("waiting", [{3: "D"}, {2: "R"}, {2: "D", 3: "S"}])
def test_what_waits_for_something_else_is_not_still(
    simulate: Callable[..., SimulatedProcesses], monkeypatch: pytest.MonkeyPatch, waiting: dict[int, str]
) -> None:
    """Without a child that is stopped it may go on at any moment; then all goes on."""
    monkeypatch.setattr(trees, "_SURE_SECONDS", 0.0)
    table = waiting_above(waiting)(simulate({2: 1, 3: 2}))
    assert trees.stop_all(0.0) is None
    assert not table.stopped
