"""Waiting for several things."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from typing import Any

import pytest
from sdk_fake_node import NodeControl

import harena
from harena import Sandbox
from harena.core.errors import SandboxExecutionError, SandboxFailedError, SandboxValidationError


def _held(node: NodeControl) -> None:
    """A program `held NAME` that ends when `fake.release(NAME)` is called."""

    def prepare(fake: Any) -> None:
        gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

        async def held(running: Any) -> int:
            await gates[running.request.argv[1]].wait()
            return 0

        fake.programs["held"] = held
        fake.release = lambda name: gates[name].set()

    node.do(prepare)


def test_exactly_so_many_in_the_order_of_their_completion(node: NodeControl) -> None:
    """Also when more than enough are done; the rest keeps its order."""
    _held(node)
    sandbox = Sandbox.run()
    processes = [sandbox.exec(["held", str(number)]) for number in range(4)]
    for name in ("2", "0", "3"):
        node.do(lambda fake, name=name: fake.release(name))
        processes[int(name)].result()
    done, pending = harena.wait(processes, num_returns=2)
    assert (done, pending) == ([processes[2], processes[0]], [processes[1], processes[3]])
    done, pending = harena.wait(processes, timeout=0.01)
    assert (done, pending) == ([processes[2], processes[0], processes[3]], [processes[1]])


def test_waiting_ends_when_enough_are_done(node: NodeControl) -> None:
    """A waiter that blocks is woken by the completion, from another thread."""
    _held(node)
    sandbox = Sandbox.run()
    processes = [sandbox.exec(["held", str(number)]) for number in range(3)]
    timer = threading.Timer(0.02, lambda: node.do(lambda fake: fake.release("1")))
    timer.start()
    [first], pending = harena.wait(processes, num_returns=1, timeout=10)
    assert first is processes[1]
    assert pending == [processes[0], processes[2]]
    for process in pending:
        process.cancel()
    done, pending = harena.wait(pending)
    assert (len(done), pending) == (2, [])
    timer.join()


def test_a_loop_that_takes_one_at_a_time_leaves_no_watchers(node: NodeControl) -> None:
    """As in the guides; nothing piles up on what is still pending."""
    _held(node)
    sandbox = Sandbox.run()
    last = sandbox.exec(["held", "last"])
    pending = [last, *(sandbox.exec(["echo", str(number)]) for number in range(20))]
    seen = []
    while len(pending) > 1:
        [process], pending = harena.wait(pending, num_returns=1)
        seen.append(process.result().stdout)
    assert seen == [f"{number}\n" for number in range(20)]
    assert pending == [last]
    assert last._outcome.waiting == 0


def test_a_sandbox_is_done_when_it_runs_or_has_failed(node: NodeControl) -> None:
    """One that was not started is started; a mix with commands is fine."""
    node.do(lambda fake: fake.create_errors.append(SandboxFailedError("no")))
    failed, fresh = Sandbox.run(), Sandbox()
    process = Sandbox.run().exec(["echo", "x"])
    done, pending = harena.wait([failed, fresh, process])
    assert (set(done), pending) == ({failed, fresh, process}, [])
    assert fresh.status is harena.SandboxStatus.RUNNING


def test_results_are_in_the_order_that_was_asked(node: NodeControl) -> None:
    """One or several; a sandbox's result is the sandbox; the first failure is raised."""
    sandbox = Sandbox.run()
    assert harena.result(sandbox.exec(["echo", "1"])).stdout == "1\n"
    several = harena.results([sandbox.exec(["echo", str(number)]) for number in range(3)])
    assert [result.stdout for result in several] == ["0\n", "1\n", "2\n"]
    assert harena.get([sandbox]) == [sandbox]
    assert harena.result(sandbox) is sandbox
    with pytest.raises(SandboxExecutionError):
        harena.results([sandbox.exec(["echo"]), sandbox.exec(["false"], check=True)])


def test_as_completed_gives_each_when_it_is_done(node: NodeControl) -> None:
    """Whatever the order they were given in."""
    _held(node)
    sandbox = Sandbox.run()
    processes = [sandbox.exec(["held", str(number)]) for number in range(3)]
    seen = []
    node.do(lambda fake: fake.release("1"))
    for process in harena.as_completed(processes):
        seen.append(processes.index(process))
        node.do(lambda fake: fake.release({1: "2", 2: "0", 0: "none"}[seen[-1]]))
    assert seen == [1, 2, 0]
    with pytest.raises(TimeoutError, match="1 of 1"):
        list(harena.as_completed([sandbox.exec(["sleep"])], timeout=0.01))


async def test_as_completed_can_be_iterated_asynchronously(node: NodeControl) -> None:
    """In the caller's own loop."""
    sandbox = Sandbox.run()
    processes = [sandbox.exec(["echo", str(number)]) for number in range(5)]
    seen = [process async for process in harena.as_completed(processes)]
    assert set(seen) == set(processes)
    with pytest.raises(TimeoutError):
        [process async for process in harena.as_completed([sandbox.exec(["sleep"])], timeout=0.01)]


def test_nothing_to_wait_for_is_no_wait(node: NodeControl) -> None:
    """Empty lists and impossible numbers."""
    assert harena.wait([]) == ([], [])
    assert list(harena.as_completed([])) == []
    process = Sandbox.run().exec(["echo"])
    assert harena.wait([process], num_returns=5) == ([process], [])
    for bad in (0, -1, True, 1.5):
        with pytest.raises(SandboxValidationError, match="num_returns"):
            harena.wait([process], num_returns=bad)  # type: ignore[arg-type]
    with pytest.raises(SandboxValidationError, match="waited for"):
        harena.wait(["x"])  # type: ignore[list-item]
