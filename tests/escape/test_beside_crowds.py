"""The platform's deadlines beside crowds: a thousand sessions, or ten thousand threads, that programs have started and
that all want to run. Starts stay quick for others, and a time-out comes when it is due."""

from __future__ import annotations

import time
from statistics import median

import pytest
from attacks import PRELUDE

from harena.core.models import ExecOutcome, ExecRequest, Limits, SandboxSpec
from harena.core.ports import RunningExec, SandboxPort
from harena.runtime.host.linux import LinuxRuntime

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.alone, pytest.mark.thorough]

SESSIONS = r"""
reading, writing = os.pipe()
made = 0
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        os.close(writing)
        os.setsid()
        os.read(reading, 1)
        while True:
            pass
    made += 1
os.write(1, b"%d up\n" % made)
sys.stdin.read()
os.close(writing)
while True:
    pass
"""
THREADS = r"""
import threading
all_up = threading.Event()
def compute():
    all_up.wait()
    while True:
        sum(range(1000))
threading.stack_size(1 << 16)
made = 0
for _ in range(int(sys.argv[1])):
    threading.Thread(target=compute, daemon=True).start()
    made += 1
os.write(1, b"%d up\n" % made)
sys.stdin.read()
all_up.set()
while True:
    pass
"""
CROWDS = {"1,000 sessions": (SESSIONS, 10, 100), "10,000 threads": (THREADS, 50, 200)}
"""program -> (in so many sandboxes, so many of them in each)"""
LIMITS = Limits(pids=256, memory_bytes=256 << 20)
STARTS = 20
MOST_START_SECONDS, MOST_TIMES = 0.5, 10.0
"""A start beside the crowd takes less, or no more than so many times what it took before it: a shared machine may be
slow. With one group for each session it took forty times as long for everybody."""
TIMEOUT_SECONDS, MOST_LATE_SECONDS = 3.0, 10.0
"""A time-out of three seconds took 34 to 110 s before. A busy machine of two processors kept it to 0.1 s beside the
sessions and to 3 s beside the threads: what is killed needs a processor to end."""


async def _up(sandbox: SandboxPort, program: str, count: int) -> RunningExec:
    """The crowd of one sandbox, when all of it is there; it begins to compute at the end of its input."""
    argv = ("python3", "-c", PRELUDE + program, str(count))
    request = ExecRequest(argv=argv, timeout_seconds=600, stdin_stream=True)
    running = await sandbox.exec(request)
    said = await running.stdout.next_chunk(0)
    assert said == b"%d up\n" % count, (said, (await running.wait()).stderr if said is None else b"")
    return running


async def _starts(runtime: LinuxRuntime) -> float:
    """The median time from nothing to the answer of a program in a fresh sandbox."""
    found = []
    for _ in range(STARTS):
        began = time.perf_counter()
        sandbox = await runtime.create(SandboxSpec(), workspace="honest")
        result = await (await sandbox.exec(ExecRequest(argv=("echo", "x"), timeout_seconds=60))).wait()
        found.append(time.perf_counter() - began)
        assert result.stdout == b"x\n"
        await sandbox.destroy()
    return median(found)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CROWDS)
async def test_others_start_and_end_in_time(name: str) -> None:
    """One workspace has the crowd, another one starts sandboxes and has a program that never ends."""
    program, sandboxes, each = CROWDS[name]
    runtime = LinuxRuntime()
    await runtime.start()
    try:
        before = await _starts(runtime)
        held = [await runtime.create(SandboxSpec(limits=LIMITS), workspace="hostile") for _ in range(sandboxes)]
        for running in [await _up(sandbox, program, each) for sandbox in held]:
            running.close_stdin()
        beside = await _starts(runtime)
        own = await runtime.create(SandboxSpec(), workspace="honest")
        began = time.perf_counter()
        endless = ExecRequest(argv=("python3", "-c", "while True: pass"), timeout_seconds=TIMEOUT_SECONDS)
        ended = await (await own.exec(endless)).wait()
        late = time.perf_counter() - began - TIMEOUT_SECONDS
        print(f"{name}: a start takes {before * 1e3:.0f} ms, {beside * 1e3:.0f} beside; time-out {late:.2f} s late")
        assert ended.outcome is ExecOutcome.TIMEOUT
        assert late < MOST_LATE_SECONDS
        assert beside < max(MOST_START_SECONDS, MOST_TIMES * before), (before, beside)
    finally:
        await runtime.close()
