"""A node in a process that forks, and in one with many threads and an event loop of its own.

Each test is a script of its own: a test runner's process is neither a good parent nor a good crowd of threads.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from footprint import descendants, spawners, wait_nothing_below

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("home", "adopting")]

PATIENCE = 60.0
TESTS = Path(__file__).parents[1]
FACE = (
    f"import sys\nsys.path.append({str(TESTS)!r})\n"
    + """
import asyncio, multiprocessing, os, queue, select, signal, socket, sys, threading
import harena
from harena import Sandbox, SandboxError, SandboxNotRunningError
from footprint import children, descendants, descriptors, spawners, wait_ended

def echo(sandbox, word):
    result = sandbox.exec(["echo", word]).result(timeout=50)
    assert (result.returncode, result.stdout) == (0, word + "\\n"), result
    return True

def in_child(work):
    # runs `work()` in a forked child; gives what it says
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        try:
            said = repr(work())
        except BaseException as error:
            said = type(error).__name__ + ": " + str(error)
        os.write(write_end, said.encode())
        os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as file:
        said = file.read().decode()
    os.waitpid(pid, 0)
    return said
"""
)


def script(code: str) -> str:
    """Run it to its end; what it printed. Nothing of it may be left."""
    process = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", FACE + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert wait_nothing_below(os.getpid(), PATIENCE) == []
    assert "Traceback" not in process.stderr, process.stderr
    return process.stdout


# -- forks ---------------------------------------------------------------------------------------------------------


def test_forked_child_may_not_use_the_parents_sandbox() -> None:
    """An object of the parent's raises in the child and says why; the parent's sandbox is not touched."""
    out = script("""
        sandbox = Sandbox.run()
        assert echo(sandbox, "before")
        running = sandbox.exec(["sleep", "3600"])
        for attempt in (lambda: sandbox.exec(["echo", "x"]).result(), lambda: sandbox.read_file("/etc/hosts").result(),
                        lambda: sandbox.stop().result(), lambda: running.result(), lambda: running.cancel()):
            print(in_child(attempt))
        assert echo(sandbox, "after")
        assert Sandbox.from_id(sandbox.sandbox_id).result().sandbox_id == sandbox.sandbox_id
        sandbox.stop().result()
    """)
    lines = out.splitlines()
    assert len(lines) == 5
    assert [line for line in lines[:4] if "SandboxNotRunningError" in line and "fork" in line] == lines[:4]


def test_forked_child_gets_a_node_of_its_own() -> None:
    """New sandboxes in a child work, beside the parent's, and end with the child; the parent's do not."""
    out = script("""
        sandbox = Sandbox.run()
        assert echo(sandbox, "before")
        def work():
            mine = Sandbox.run()
            return echo(mine, "child"), len(spawners(os.getpid())), len(Sandbox.list().result())
        print(in_child(work))
        print(in_child(work))
        assert echo(sandbox, "after")
        print(len(spawners(os.getpid())), len(Sandbox.list().result()))
    """)
    assert out.splitlines() == ["(True, 1, 1)", "(True, 1, 1)", "1 1"]


def test_forked_child_holds_nothing_of_the_parents_node() -> None:
    """A child that lives on has none of the node's sockets, pidfds or event loop descriptors: only what it needs."""
    out = script("""
        before = set(descriptors().values())
        sandboxes = [Sandbox.run() for _ in range(5)]
        assert all(echo(sandbox, "up") for sandbox in sandboxes)
        running = [sandbox.exec(["sleep", "3600"]) for sandbox in sandboxes]
        assert echo(sandboxes[0], "again")
        def work():
            mine = set(descriptors().values()) - before
            return sorted(name.partition(":")[0] for name in mine)
        held = eval(in_child(work))
        print(held)
    """)
    held = eval(out)
    assert set(held) <= {"socket", "pipe"}  # sockets of the sdk's event loop: connected to nothing but each other
    assert held.count("pipe") == 1  # by which `in_child` answers


def test_living_child_does_not_keep_a_programs_input_open() -> None:
    """The end of input reaches a program although a fork was made while it ran, and lives."""
    out = script("""
        sandbox = Sandbox.run()
        running = sandbox.exec(["cat"], stdin=True)
        running.stdin.write(b"all").result()
        pid = os.fork()
        if pid == 0:
            signal.pause()
        try:
            running.stdin.close().result()
            print(running.result(timeout=10).stdout)
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    """)
    assert out == "all\n"


def test_childs_end_does_not_end_the_parents_sandboxes() -> None:
    """A child that exits in any way, also by the interpreter's own end or by kill, leaves the parent's node alone."""
    script("""
        sandbox = Sandbox.run()
        running = sandbox.exec(["cat"], stdin=True)
        assert echo(sandbox, "before")
        for way in (lambda: os._exit(0), lambda: sys.exit(0), lambda: os.kill(os.getpid(), signal.SIGKILL),
                    harena.shutdown):
            pid = os.fork()
            if pid == 0:
                way()
                os._exit(0)
            os.waitpid(pid, 0)
            assert echo(sandbox, "after")
        running.stdin.write(b"still").result()
        running.stdin.close().result()
        assert running.result(timeout=30).stdout == "still"
    """)


def test_killed_parent_ends_its_sandboxes_though_a_child_lives_on() -> None:
    """A child that outlives its parent keeps nothing of the parent's node alive."""
    code = """
        sandboxes = [Sandbox.run() for _ in range(3)]
        assert all(echo(sandbox, "up") for sandbox in sandboxes)
        running = [sandbox.exec(["sleep", "3600"]) for sandbox in sandboxes]
        assert echo(sandboxes[0], "running")
        if os.fork() == 0:
            os.write(1, b"%d" % os.getpid())
            signal.pause()
        signal.pause()
    """
    parent = subprocess.Popen([sys.executable, "-c", FACE + textwrap.dedent(code)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout:
        child = int(os.read(parent.stdout.fileno(), 20))
    try:
        assert len(spawners(parent.pid)) == 1
        assert len(descendants(parent.pid)) >= 6
        parent.kill()
        parent.wait()
        assert wait_nothing_below(os.getpid(), PATIENCE, spare=[child]) == []
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
    finally:
        os.kill(child, signal.SIGKILL)


def test_multiprocessing_workers() -> None:
    """A pool of forked workers, as data loaders make them: each uses sandboxes of its own, and the parent's goes on."""
    out = script("""
        def worker(number):
            with Sandbox.run() as sandbox:
                return os.getpid(), sandbox.exec(["echo", str(number)]).result(timeout=50).stdout
        sandbox = Sandbox.run()
        assert echo(sandbox, "before")
        with multiprocessing.get_context("fork").Pool(3) as pool:
            found = pool.map(worker, range(9), chunksize=1)
            pool.close()
            pool.join()
        assert echo(sandbox, "after")
        print([said.strip() for _, said in found], os.getpid() in dict(found))
    """)
    assert out == f"{[str(number) for number in range(9)]} False\n"


def test_spawned_workers() -> None:
    """The same with workers that start afresh."""
    process = subprocess.run(
        [sys.executable, "-c", "import multiprocessing, os\nfrom concurrent.futures import ProcessPoolExecutor\n"
         "import harena.testing\n"
         "with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn')) as pool:\n"
         "    print(sorted(pool.map(len, ['ab', 'c'])))\n"],
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert (process.stdout, process.returncode) == ("[1, 2]\n", 0), process.stderr


def test_fork_while_sandboxes_are_created() -> None:
    """A fork at any moment of a life leaves both sides well: twenty forks, with creating and executing under way."""
    script("""
        stop = threading.Event()
        errors = []
        def lives():
            try:
                while not stop.is_set():
                    with Sandbox.run() as sandbox:
                        assert echo(sandbox, "life")
            except BaseException as error:
                errors.append(repr(error))
        threads = [threading.Thread(target=lives) for _ in range(3)]
        for thread in threads:
            thread.start()
        kept = Sandbox.run()
        for number in range(20):
            assert echo(kept, str(number))
            pid = os.fork()
            if pid == 0:
                try:
                    kept.exec(["true"])
                except SandboxError:
                    os._exit(7)
                os._exit(1)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        stop.set()
        for thread in threads:
            thread.join()
        assert errors == [], errors
    """)


# -- threads -------------------------------------------------------------------------------------------------------


def test_many_threads_at_once() -> None:
    """Thirty threads use the sdk at once, first use included: one node, every answer its own."""
    out = script("""
        answers, gate = queue.SimpleQueue(), threading.Barrier(30)
        def work(number):
            gate.wait()
            with Sandbox.run() as sandbox:
                sandbox.write_file("/data/x", str(number).encode()).result(timeout=50)
                said = [sandbox.exec(["cat", "/data/x"]).result(timeout=50).stdout for _ in range(5)]
            answers.put((number, set(said)))
        threads = [threading.Thread(target=work, args=(number,)) for number in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = dict(answers.get_nowait() for _ in range(30))
        print(found == {number: {str(number)} for number in range(30)}, len(spawners(os.getpid())))
    """)
    assert out == "True 1\n"


def test_beside_busy_threads() -> None:
    """Threads that compute all the time, as a training process has them, slow a node but do not stop it."""
    script("""
        stop = False
        def busy():
            while not stop:
                sum(range(2000))
        threads = [threading.Thread(target=busy) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            sandboxes = [Sandbox.run() for _ in range(4)]
            for number, sandbox in enumerate(sandboxes):
                assert echo(sandbox, str(number))
        finally:
            stop = True
    """)


def test_inside_a_running_event_loop() -> None:
    """In a program's own event loop: objects are awaited, blocking calls in threads work beside, the loop never stalls
    for long, and two loops after another share one node."""
    out = script("""
        async def one(number):
            sandbox = await Sandbox.run()
            result = await sandbox.exec(["echo", str(number)])
            await sandbox.stop()
            return result.stdout
        async def main():
            ticks, done = 0, asyncio.Event()
            async def tick():
                nonlocal ticks
                while not done.is_set():
                    ticks += 1
                    await asyncio.sleep(0)
            ticking = asyncio.create_task(tick())
            blocking = asyncio.to_thread(lambda: echo(Sandbox.run(), "thread"))
            found = await asyncio.gather(blocking, *(one(number) for number in range(10)))
            done.set()
            await ticking
            assert ticks > 10
            return found
        print(asyncio.run(main()) == asyncio.run(main()), len(spawners(os.getpid())))
    """)
    assert out == "True 1\n"


def test_used_from_a_thread_that_ends() -> None:
    """What one thread has made another one uses, when the first has long ended: nothing dies with a thread."""
    script("""
        made = []
        first = threading.Thread(target=lambda: made.append(Sandbox.run().wait()))
        first.start()
        first.join()
        threads = [threading.Thread(target=echo, args=(made[0], str(number))) for number in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert echo(made[0], "main")
    """)


def test_interrupt() -> None:
    """Ctrl-C ends the wait, not the node: the sandbox can be used afterwards, and is gone at the end."""
    out = script("""
        sandbox = Sandbox.run()
        running = sandbox.exec(["sh", "-c", "echo up; exec sleep 3600"])
        assert next(iter(running.stdout)).strip() in ("up", b"up")
        asked = threading.Event()
        def interrupt():
            asked.wait()
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            asked.set()
            running.result()
        except KeyboardInterrupt:
            print("interrupted", echo(sandbox, "after"))
        thread.join()
    """)
    assert out == "interrupted True\n"
