"""The sdk's loop: one per process, started late, closed cleanly, never shared over a fork."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from sdk_fake_node import NodeControl

import harena
from harena import Sandbox, Session
from harena.core.errors import HostUnsupportedError, SandboxNotRunningError
from harena.sdk import portal, transport

TESTS = Path(__file__).parents[2]

BEGIN = f"""
import logging, os, sys, threading
# how long a step of a loop takes says how busy the machine is
logging.getLogger("asyncio").addFilter(lambda record: not record.getMessage().startswith("Executing "))
sys.path[:0] = [{str(TESTS / "unit" / "sdk")!r}, {str(TESTS)!r}]
from sdk_fake_node import FakeNode
import harena
from harena import Sandbox, Session
from harena.sdk import portal, transport
opened = []
async def open_node():
    opened.append(FakeNode())
    return opened[-1]
transport.set_factory(open_node)
"""


def _run(script: str, timeout: float = 30) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter in which every warning is an error."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", BEGIN + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def test_the_loop_starts_with_the_first_verb_and_serves_all(node: NodeControl) -> None:
    """One daemon thread; none before it is needed."""
    assert not [thread for thread in threading.enumerate() if thread.name == "harena"]
    Session()
    Sandbox()
    assert not [thread for thread in threading.enumerate() if thread.name == "harena"]
    Sandbox.run().wait()
    Sandbox.run().wait()
    [thread] = [thread for thread in threading.enumerate() if thread.name == "harena"]
    assert thread.daemon
    assert len(node.opened) == 1


def test_a_node_that_cannot_be_opened_is_tried_again(node: NodeControl) -> None:
    """Each caller learns why, and a later one may succeed."""
    node.open_errors.append(HostUnsupportedError("set kernel.x=1"))
    with pytest.raises(HostUnsupportedError, match=r"kernel\.x"):
        Sandbox.run().wait()
    Sandbox.run().wait()


def test_without_a_transport_the_error_says_so() -> None:
    """The sdk knows no node by itself."""
    before = transport.set_factory(None)
    try:
        with pytest.raises(RuntimeError, match="no transport"):
            Sandbox.run().wait()
    finally:
        portal.shutdown()
        transport.set_factory(before)


def test_blocking_on_the_loop_itself_is_an_error_and_no_deadlock(node: NodeControl) -> None:
    """`result()` in a callback that runs there."""

    async def block() -> None:
        Sandbox.run().wait()

    with pytest.raises(RuntimeError, match="await"):
        portal.current_portal().submit(block).result(5)


def test_shutdown_ends_the_node_and_the_next_use_starts_afresh(node: NodeControl) -> None:
    """What belonged to the closed one says so; stopping it is fine."""
    sandbox = Sandbox.run().wait()
    running = sandbox.exec(["sleep"])
    portal.shutdown()
    assert node.opened[0].closed == 1
    with pytest.raises(harena.SandboxError):
        running.result(5)
    with pytest.raises(SandboxNotRunningError, match="closed"):
        sandbox.exec(["echo"])
    sandbox.stop().result(5)
    assert Sandbox.run().exec(["echo", "x"]).result().stdout == "x\n"
    assert len(node.opened) == 2


def test_what_is_under_way_at_the_end_is_settled(node: NodeControl) -> None:
    """No thread waits for ever for a creation that never comes."""
    node.do(lambda fake: fake.create_gate.clear())
    sandbox = Sandbox.run()
    told: list[BaseException] = []

    def wait() -> None:
        try:
            sandbox.wait()
        except SandboxNotRunningError as error:
            told.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    node.do(lambda fake: None)
    portal.shutdown()
    waiting.join(5)
    assert len(told) == 1
    with pytest.raises(SandboxNotRunningError, match="closed"):
        sandbox.start().result(0)


def test_a_key_press_interrupts_waiting_and_nothing_else() -> None:
    """Ctrl-C ends `result()` at once, and everything can still be used."""
    ended = _run(
        """
        sandbox = Sandbox.run()
        process = sandbox.exec(["cat"], stdin=True)
        handler = __import__("signal").getsignal(2)
        threading.Timer(0.1, lambda: os.kill(os.getpid(), 2)).start()
        try:
            process.result(20)
        except KeyboardInterrupt:
            print("interrupted")
        process.stdin.write("still here")
        process.stdin.close()
        print(process.result(20).stdout)
        threading.Timer(0.1, lambda: os.kill(os.getpid(), 2)).start()
        try:
            harena.wait([sandbox.exec(["sleep"])])
        except KeyboardInterrupt:
            print("interrupted")
        assert __import__("signal").getsignal(2) is handler
        """
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("interrupted\nstill here\ninterrupted\n", "", 0)


def test_importing_and_using_installs_no_signal_handler() -> None:
    """Of any signal, in any thread."""
    ended = _run(
        """
        import signal
        before = {number: signal.getsignal(number) for number in signal.valid_signals()}
        Sandbox.run().wait()
        harena.disable_signal_handlers()
        print(before == {number: signal.getsignal(number) for number in signal.valid_signals()})
        """
    )
    assert (ended.stdout, ended.stderr) == ("True\n", "")


@pytest.mark.parametrize(("last_words", "returncode"), [("", 0), ("raise KeyError('end')", 1), ("sys.exit(3)", 3)])
def test_the_node_is_closed_at_the_end_of_the_process(last_words: str, returncode: int) -> None:
    """However the main thread ends, once, before Python joins other threads, and without a word."""
    ended = _run(
        f"""
        class Node(FakeNode):
            async def close(self):
                await super().close()
                await __import__("asyncio").to_thread(print, "closed", self.closed, flush=True)
                self.thread.set()
        ended = threading.Event()
        async def open_node():
            node = Node()
            node.thread = ended
            threading.Thread(target=ended.wait).start()  # would keep Python from ending
            return node
        transport.set_factory(open_node)
        session = Session()
        session.sandbox().exec(["echo"]).result()
        sandbox = Sandbox.run().wait()
        running = sandbox.exec(["sleep"])
        {last_words}
        """
    )
    assert ended.stdout == "closed 1\n"
    assert ended.returncode == returncode
    assert ended.stderr == "" or ended.stderr.endswith("KeyError: 'end'\n")


def test_a_fork_gets_a_node_of_its_own_and_no_hand_on_the_parents() -> None:
    """Inherited objects raise, new ones work, the parent goes on, and the node's descriptors are let go of."""
    ended = _run(
        """
        import warnings
        session = Session()
        sandbox = Sandbox.run().wait()
        process = sandbox.exec(["cat"], stdin=True)
        unstarted = session.sandbox()
        ref = sandbox.start()
        def tell(name, action):
            try:
                action()
            except harena.SandboxNotRunningError as error:
                print(name, error.reason, flush=True)
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of forks in processes with threads
        child = os.fork()
        if child == 0:
            tell("exec", lambda: sandbox.exec(["echo"]))
            tell("stop", lambda: sandbox.stop())
            tell("result", lambda: process.result(1))
            tell("stdout", lambda: next(process.stdout))
            tell("stdin", lambda: process.stdin.write("x"))
            tell("ref", lambda: ref.result(1))
            tell("unstarted", lambda: unstarted.exec(["echo"]))
            tell("session", lambda: session.sandbox())
            tell("close", lambda: session.close())
            print(repr(sandbox), repr(process), opened[0].forked, opened[0].closed, flush=True)
            del session, unstarted
            print(Sandbox.run().exec(["echo", "mine"]).result(10).stdout.strip(), len(opened), flush=True)
            sys.exit(0)
        os.waitpid(child, 0)
        process.stdin.write("parent")
        process.stdin.close()
        print(process.result(10).stdout, opened[0].forked, len(opened))
        """
    )
    names = ["exec", "stop", "result", "stdout", "stdin", "ref", "unstarted", "session", "close"]
    assert ended.stdout.splitlines() == [
        *(f"{name} AFTER_FORK" for name in names),
        "<Sandbox of the process that forked this one> <Process of the process that forked this one> 1 0",
        "mine 2",
        "parent 0 1",
    ]
    assert (ended.stderr, ended.returncode) == ("", 0)


def test_workers_of_multiprocessing_have_nodes_of_their_own() -> None:
    """As a DataLoader's workers do, forked while the parent's loop is busy."""
    ended = _run(
        """
        import multiprocessing, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        def work(number):
            with Sandbox.run() as sandbox:
                return sandbox.exec(["echo", str(number)]).result(10).stdout.strip()
        parent = Sandbox.run().wait()
        busy = [parent.exec(["sleep"]) for _ in range(10)]
        with multiprocessing.get_context("fork").Pool(3) as pool:
            print(pool.map(work, range(6)))
        print(parent.exec(["echo", "fine"]).result(10).stdout.strip())
        """
    )
    assert (ended.stdout, ended.stderr) == ("['0', '1', '2', '3', '4', '5']\nfine\n", "")


async def test_a_loop_of_the_callers_is_not_blocked(node: NodeControl) -> None:
    """While one awaits, others run."""
    process = Sandbox.run().exec(["cat"], stdin=True)
    assert process.stdin is not None
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while not process.done():
            ticks += 1
            if ticks == 5:
                assert process.stdin is not None
                process.stdin.close()
            await asyncio.sleep(0)

    await asyncio.gather(tick(), process)
    assert ticks >= 5


def test_the_test_itself_leaves_signals_alone() -> None:
    """A guard for the guards above."""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_work_that_the_end_breaks_is_not_reported(tmp_path: Path) -> None:
    """A node's own task that fails because the node is closed, and that nobody waits for, prints nothing."""
    ended = _run("""
    import asyncio
    async def fail(gate):
        await gate.wait()
        raise RuntimeError("closed under it")
    class Broken(FakeNode):
        async def close(self):
            self.gate.set()
            await super().close()
    async def open_broken():
        node = Broken()
        node.gate = asyncio.Event()
        node.task = asyncio.get_running_loop().create_task(fail(node.gate))
        return node
    transport.set_factory(open_broken)
    Sandbox.run()
    Sandbox.run().wait()
    """)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_a_call_that_was_interrupted_does_not_keep_the_next_from_the_loop(
    node: NodeControl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C may come between two lines, also before the loop was woken."""
    sandbox = Sandbox.run().wait()
    loop = portal.current_portal()._loop
    assert loop is not None

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "call_soon_threadsafe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sandbox.exec(["echo", "lost"])
    monkeypatch.undo()
    assert sandbox.exec(["echo", "next"]).result(timeout=30).stdout == "next\n"


def test_interrupts_at_any_moment_lock_nothing() -> None:
    """Signals whose handler raises, 300 of them, spread over submitting and waiting: what follows works."""
    done = _run(
        """
        import random, signal
        class Interrupted(BaseException):
            pass
        def interrupt(*_):
            raise Interrupted
        signal.signal(signal.SIGALRM, interrupt)
        sandbox = Sandbox.run().wait()
        harena.wait([sandbox.exec(["echo", "x"])])  # imports what is needed, so that no import is interrupted
        moments = random.Random(1)
        for number in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, moments.uniform(1e-5, 4e-4))
                while True:
                    harena.wait([sandbox.exec(["echo", "x"])])
                    sandbox.exec(["echo", "x"]).result()
            except Interrupted:
                pass
            assert sandbox.exec(["echo", str(number)]).result(timeout=20).stdout == f"{number}\\n"
        print("done")
        """,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
