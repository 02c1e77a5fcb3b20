"""Looks at how long programs have waited for a processor: who has many of them taken holds up nobody else."""

from __future__ import annotations

import marshal
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from harena.runtime.spawner.looks import Look, Looks
from harena.runtime.spawner.spawner import Spawner, _Sandbox

BUSY = """
import os, threading, time
if os.fork() == 0:
    while time.process_time() < 0.2:
        pass
    os.write(1, b"x")
    os._exit(0 if os.read(0, 1) else 0)
for _ in range(200):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
os.write(1, b"x")
os.read(0, 1)
"""
"""A process with many threads, and a child that has computed for 0.2 s."""


@pytest.fixture
def busy() -> Iterator[int]:
    """Its number."""
    with subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert len(process.stdout.read(2)) == 2
        yield process.pid
        process.kill()


def test_workspaces_take_turns() -> None:
    looks = Looks()
    for workspace, question in (("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5), ("b", 6)):
        looks.add(workspace, Look(question, 0, 0, 0.0))
    taken = []
    while looks:
        whose, look = looks.take()
        taken.append(look.question)
        if taken.count(look.question) < 2:  # each has two steps
            looks.put_back(whose, look)
    assert taken == [1, 4, 5, 1, 4, 5, 2, 6, 2, 6, 3, 3]


def test_what_is_found_is_what_the_kernel_says(busy: int) -> None:
    """Counted or not; what has ended is no fault."""
    counted, uncounted, nobody = Look(1, 0, busy, 1.5), Look(2, 0, busy, None), Look(3, 0, 2**22 + 1, None)
    for look in (counted, uncounted, nobody):
        while not look.step():
            continue
    assert counted.used == 1.5
    assert uncounted.used >= 0.19
    assert counted.longest >= 0
    assert (nobody.used, nobody.longest) == (0.0, 0.0)


@pytest.mark.parametrize("counted", [1.5, None])
def test_who_wants_no_processor_is_idle(busy: int, counted: float | None) -> None:
    """All of its threads and processes sleep, or are stopped; not who computes, or whom nobody has looked at."""

    def looked(pid: int) -> bool:
        look = Look(1, 0, pid, counted)
        while not look.step():
            continue
        return look.is_idle

    while not looked(busy):
        continue  # it is still on its way to what it waits for
    os.kill(busy, signal.SIGSTOP)
    while not looked(busy):
        continue
    assert not looked(2**22 + 1)
    assert not looked(os.getpid())
    assert not Look(1, 0, busy, counted).is_idle


def test_a_workspace_that_asks_much_is_not_answered_before_all_others(busy: int) -> None:
    """Nor does an answer get lost when its sandbox ends meanwhile."""
    ours, client = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    spawner = Spawner(ours, os.getpid())
    try:
        for number, workspace in ((1, "a"), (2, "a"), (3, "b")):
            group = spawner.pool.acquire(share=workspace)
            spawner.sandboxes[number] = _Sandbox(number, group, pid=busy)
        for question, number in ((11, 1), (12, 1), (13, 2), (14, 1), (15, 3), (16, 77)):
            client.send(marshal.dumps(("time", question, number), 2))
        while spawner.serve_events(0):
            continue
        spawner.pool.release(spawner.sandboxes.pop(2).group)
        while spawner.looks:
            spawner._go_on_looking()
        answers = [marshal.loads(client.recv(1 << 12))[1] for _ in range(6)]
        assert answers[0] == 16  # of nobody: at once
        assert sorted(answers[1:]) == [11, 12, 13, 14, 15]
        assert answers.index(15) < answers.index(14)
    finally:
        spawner.sandboxes.clear()
        client.close()
        spawner._end()
        ours.close()
        spawner.epoll.close()
