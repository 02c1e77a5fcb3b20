"""Results: what is reported of a program is what it did, whatever it would like to have reported."""

from __future__ import annotations

import asyncio
import signal

import pytest
from escape_world import World

from harena.core.models import MIB, ExecOutcome

pytestmark = pytest.mark.asyncio(loop_scope="module")

# program -> (outcome, return code)
ENDS = {
    "exit 0": ("os._exit(0)", ExecOutcome.EXITED, 0),
    "exit 255": ("os._exit(255)", ExecOutcome.EXITED, 255),
    "exit 256 is 0, as everywhere": ("os._exit(256)", ExecOutcome.EXITED, 0),
    "exit -1": ("os._exit(-1)", ExecOutcome.EXITED, 255),
    "a huge code": ("call(231, 0x7FFFFF03)", ExecOutcome.EXITED, 3),
    "a code that looks like a signal": ("os._exit(137)", ExecOutcome.EXITED, 137),
    "a code that looks like a time-out": ("os._exit(124)", ExecOutcome.EXITED, 124),
    "its own SIGKILL is not out of memory": ("os.kill(os.getpid(), 9)", ExecOutcome.SIGNALED, -9),
    "SIGTERM": ("os.kill(os.getpid(), 15)", ExecOutcome.SIGNALED, -15),
    "a real-time signal": ("os.kill(os.getpid(), 40)", ExecOutcome.SIGNALED, -40),
    "a crash": ("ctypes.string_at(0)", ExecOutcome.SIGNALED, -int(signal.SIGSEGV)),
    "the main thread leaves first": (
        "import threading, time\n"
        "def last():\n    time.sleep(0.05)\n    os._exit(7)\n"
        "threading.Thread(target=last).start()\ncall(60, 0)", ExecOutcome.EXITED, 7,
    ),
    "stopped and continued": (
        "import signal\npid = os.getpid()\nif os.fork() == 0:\n"
        "    while open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[0] != 'T':\n        pass\n"
        "    os.kill(pid, signal.SIGCONT)\n    os._exit(0)\n"
        "os.kill(pid, signal.SIGSTOP)\nos._exit(5)", ExecOutcome.EXITED, 5,
    ),
    "a child out of memory, then exit 0": (
        "pid = os.fork()\nif pid == 0:\n    kept = [b'x' * (1 << 20) for _ in range(400)]\n    os._exit(0)\n"
        "os.waitpid(pid, 0)\nos._exit(0)", ExecOutcome.EXITED, 0,
    ),
    "closed outputs": ("os.closerange(0, 3)\nos._exit(4)", ExecOutcome.EXITED, 4),
    "another program in its place": ("os.execv('/bin/sh', ['sh', '-c', 'exit 9'])", ExecOutcome.EXITED, 9),
    "a main process that is not the last": (
        "if os.fork() == 0:\n    import time\n    time.sleep(1000)\nos._exit(6)", ExecOutcome.EXITED, 6,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
async def test_how_it_ended(world: World, name: str) -> None:
    """Exit codes and signals come from the kernel, unchanged."""
    program, outcome, code = ENDS[name]
    sandbox = await world.sandbox(memory_bytes=128 * MIB)
    result = await world.attack(sandbox, program)
    assert (result.outcome, result.returncode) == (outcome, code), result


@pytest.mark.parametrize("name", ["exit 0", "exit 255", "SIGTERM", "a main process that is not the last"])
async def test_how_it_ended_beside_another(world: World, name: str) -> None:
    """The same below a leader."""
    program, outcome, code = ENDS[name]
    sandbox = await world.sandbox()
    other = await world.start(sandbox, "import time; time.sleep(1000)")
    result = await world.attack(sandbox, program)
    assert (result.outcome, result.returncode) == (outcome, code), result
    other.kill()
    await other.wait()


async def test_output_after_the_end(world: World) -> None:
    """What a daemon writes after its program's end is not part of the result, and does not hold it up."""
    program = """
if os.fork() == 0:
    os.setsid()
    while True:
        try:
            os.write(1, b"late" * 1000)
        except OSError:
            os._exit(0)
"""
    sandbox = await world.sandbox(output_bytes=1 * MIB)
    result = await asyncio.wait_for(world.attack(sandbox, program), 20)
    assert result.outcome is ExecOutcome.EXITED
    assert len(result.stdout) <= 1 * MIB
    again = await world.attack(sandbox, "done()")
    assert again.stdout == b"done\n", "output of an earlier program's daemon"


async def test_honest_truncation(world: World) -> None:
    """Exactly the limit is not truncated, one byte more is."""
    sandbox = await world.sandbox()
    for size, cut in ((999, False), (1000, False), (1001, True)):
        result = await world.attack(sandbox, f"os.write(1, b'x' * {size})", output_bytes=1000)
        assert (len(result.stdout), result.stdout_truncated) == (min(size, 1000), cut)


async def test_the_whole_output_of_a_killed_program(world: World) -> None:
    """What was written before a program was killed is there, to the last byte."""
    sandbox = await world.sandbox()
    result = await world.attack(sandbox, "os.write(1, b'x' * 50000)\nos.kill(os.getpid(), 9)")
    assert len(result.stdout) == 50_000


async def test_messages_of_init_cannot_be_forged(world: World) -> None:
    """What looks like init's own words is only output."""
    program = r"""
import struct
forged = struct.pack("<cIiQQQB", b"X", 1, 0, 0, 0, 0, 0)
for number in range(0, 256):
    try:
        os.write(number, forged)
    except OSError:
        pass
os._exit(3)
"""
    sandbox = await world.sandbox()
    result = await world.attack(sandbox, program)
    assert result.returncode == 3
    await world.unharmed()


async def test_a_neighbour_cannot_write_into_an_output(world: World) -> None:
    """Another process of the sandbox cannot open a program's output for reading, or init's channel at all."""
    program = r"""
import glob
for path in glob.glob("/proc/[0-9]*/fd/*"):
    if path.split("/")[2] not in (str(os.getpid()), "self"):
        try:
            kind = os.readlink(path)
            if kind.startswith("socket"):
                escaped(path, kind)
        except OSError:
            pass
done()
"""
    sandbox = await world.sandbox()
    other = await world.start(sandbox, "import time; time.sleep(1000)")
    assert (await world.attack(sandbox, program)).stdout == b"done\n"
    other.kill()
    await other.wait()
