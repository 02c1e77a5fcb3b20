"""What a candidate tries to be excused by a starved host, on a host that is busy: each gets 0, none is masked."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from battery_world import Source, linux_runtime

from harena.core.models import ExecRequest, SandboxSpec
from harena.core.results import Reason
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import StarvedError, load_scenarios, score_scenario

pytestmark = pytest.mark.alone

LIMIT = 0.5
AT_ONCE = 4
BUSY = 2 * (os.cpu_count() or 1)
BEGIN = "import os, signal, sys, threading, time\n"
SPIN = "while True: pass\n"
BOUGHT = {
    "loop": SPIN,
    "nice": "try: os.nice(19)\nexcept OSError: pass\n" + SPIN,
    "idle": "try: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nexcept OSError: pass\n" + SPIN,
    "sessions": "for _ in range(240):\n try:\n  if os.fork() == 0:\n   os.setsid()\n   break\n except OSError: break\n"
    + SPIN,
    "nobody waits": "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nwhile True:\n try:\n  if os.fork() == 0:\n"
    "   os.setsid()\n   t = time.monotonic()\n   while time.monotonic() - t < 0.03: pass\n   os._exit(0)\n"
    " except OSError: pass\n time.sleep(0.002)\n",
    "threads": "for _ in range(40): threading.Thread(target=lambda: [0 for _ in iter(int, 1)], daemon=True).start()\n"
    + SPIN,
    "stopped": "if os.fork() == 0:\n while True:\n  os.kill(os.getppid(), signal.SIGSTOP); time.sleep(0.05)\n"
    "  os.kill(os.getppid(), signal.SIGCONT); time.sleep(0.002)\n" + SPIN,
    "sleeper": "time.sleep(1000)\n",
}
RIGHT = f"t = time.process_time()\nwhile time.process_time() - t < {0.6 * LIMIT:g}: pass\n"


@pytest.fixture(scope="module")
def busy_host() -> Iterator[None]:
    """Processes of somebody else, each in a session of its own."""
    others = [subprocess.Popen([sys.executable, "-c", SPIN], start_new_session=True) for _ in range(BUSY)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[LinuxRuntime]:
    """A node's sandboxes."""
    made = linux_runtime(tmp_path)
    await made.start()
    try:
        yield made
    finally:
        await made.close()


def candidate(contract: str, body: str) -> tuple[str, dict[str, Any]]:
    """(program, scoring) of one that does this before it is right."""
    if contract == "stdio":
        return BEGIN + body + "print(1)\n", {"type": "stdio", "cases": [{"stdout": "1"}], "timeout_seconds": LIMIT}
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    checks = {"entry_point": "f", "checks": [{"expected": 1}], "timeout_seconds": LIMIT}
    return f"{BEGIN}def f():\n{lines}    return 1\n", {"type": "tests", **checks}


@pytest.mark.slow
@pytest.mark.usefixtures("busy_host")
@pytest.mark.parametrize("contract", ["stdio", "tests"])
async def test_no_excuse_can_be_bought_and_load_is_no_zero(contract: str, runtime: LinuxRuntime) -> None:
    """As a job would: what looks starved is tried again alone. A right program that needs more than its share of the
    processor within its limit is right, or, at worst, has no score."""
    source = Source(runtime)

    async def judged(body: str, *, alone: bool) -> tuple[float | None, str]:
        program, scoring = candidate(contract, body)
        made = load_scenarios([{"id": "one", "candidate": program, "scoring": scoring}]).scenarios[0]
        try:
            result = await score_scenario(
                made, sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=60, alone=alone
            )
        except StarvedError:
            return None, Reason.STARVED
        return result.score, result.reason

    turns = asyncio.Semaphore(AT_ONCE)

    async def first_try(body: str) -> tuple[float | None, str]:
        async with turns:
            return await judged(body, alone=False)

    tried = await asyncio.gather(*map(first_try, BOUGHT.values()))
    found = dict(zip(BOUGHT, tried, strict=True))
    for name, (_, reason) in found.items():
        if reason == Reason.STARVED:
            found[name] = await judged(BOUGHT[name], alone=True)
    assert found == dict.fromkeys(BOUGHT, (0.0, Reason.TIMEOUT))
    right = await judged(RIGHT, alone=False)
    assert right[0] in (1.0, None)


async def test_children_that_nobody_waits_for_are_counted(runtime: LinuxRuntime) -> None:
    """Their parent ignores their end, so that the kernel adds their time to nobody's: only a cgroup knows."""
    async with Source(runtime).sandbox(SandboxSpec()) as sandbox:
        request = ExecRequest(argv=("python", "-c", BEGIN + BOUGHT["nobody waits"]), timeout_seconds=30)
        running = await sandbox.exec(request)
        before = (await sandbox.processor_time()).used_seconds
        async with asyncio.timeout(30):
            while (await sandbox.processor_time()).used_seconds < before + 1.0:
                await asyncio.wait([asyncio.ensure_future(running.wait())], timeout=0.05)
        running.kill()
