"""Many lives of sandboxes, one after the other and several at a time, with mixed programs; and what is left of them.

    python scripts/soak.py --lives 10000

Every program's verdict is known beforehand. After a number of lives, and at the end, it looks at what the client, the
spawner and the templates hold (descriptors, memory of their own, processes, cgroup directories). Exit code 1 if a
verdict was wrong, if they hold more at the end than they did after the first lives, or if anything outlives the node.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from harena.core.models import MIB, ExecOutcome, ExecRequest, ExecResult, SandboxSpec
from harena.core.ports import SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.core.records.sandboxes import Limits
from harena.runtime.host.linux import LinuxRuntime

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from footprint import (
    Footprint,
    cgroup_directories,
    children,
    descriptors,
    private_bytes,
    processes,
    spawners,
)

WARM = Blueprint(id="soak-warm", name="soak-warm", warm=())
LIMITS = Limits(memory_bytes=96 * MIB, disk_bytes=16 * MIB, pids=40, output_bytes=1 * MIB)
MOST_MORE_DESCRIPTORS = 40
"""between two looks the pool may hold more or fewer sandboxes, each of which costs client and spawner a descriptor, and
the template up to three"""
MOST_MORE_BYTES = 8 * MIB


async def run(sandbox: SandboxPort, code: str, **request: object) -> ExecResult:
    """Run program text to its end."""
    running = await sandbox.exec(ExecRequest(argv=("python3", "-c", code), **request))  # type: ignore[arg-type]
    return await running.wait()


async def _right(sandbox: SandboxPort) -> bool:
    result = await run(sandbox, "print(sum(range(10**5)))")
    return (result.outcome, result.returncode, result.stdout) == (ExecOutcome.EXITED, 0, b"4999950000\n")


async def _crash(sandbox: SandboxPort) -> bool:
    result = await run(sandbox, "raise ValueError('no')")
    return (result.outcome, result.returncode) == (ExecOutcome.EXITED, 1) and b"ValueError: no" in result.stderr


async def _signal(sandbox: SandboxPort) -> bool:
    result = await run(sandbox, "import os; os.abort()")
    return (result.outcome, result.returncode) == (ExecOutcome.SIGNALED, -6)


async def _timeout(sandbox: SandboxPort) -> bool:
    result = await run(sandbox, "while True: pass", timeout_seconds=0.15)
    again = await run(sandbox, "print(2)")
    return result.outcome is ExecOutcome.TIMEOUT and again.stdout == b"2\n"


async def _memory(sandbox: SandboxPort) -> bool:
    code = "import os\nkept = []\nwhile True: kept.append(b'x' * (1 << 24))"
    result = await run(sandbox, code, timeout_seconds=60)
    stopped = result.outcome is ExecOutcome.MEMORY
    return stopped or (result.returncode == 1 and b"MemoryError" in result.stderr)  # an rlimit, where no cgroup is


async def _daemon(sandbox: SandboxPort) -> bool:
    code = "import subprocess; subprocess.Popen(['sleep', '3600'], start_new_session=True); print('left')"
    result = await run(sandbox, code)
    again = await run(sandbox, "print(3)")
    return (result.returncode, result.stdout, again.stdout) == (0, b"left\n", b"3\n")


async def _forks(sandbox: SandboxPort) -> bool:
    code = "import os\nfor _ in range(20):\n    if os.fork() == 0:\n        os._exit(0)\nprint('forked')"
    result = await run(sandbox, code)
    return (result.returncode, result.stdout) == (0, b"forked\n")


async def _output(sandbox: SandboxPort) -> bool:
    code = "import os\nfor _ in range(48): os.write(1, b'o' * 65536); os.write(2, b'e' * 1024)"
    result = await run(sandbox, code)
    return (len(result.stdout), result.stdout_truncated, len(result.stderr), result.stderr_truncated) == (
        MIB,
        True,
        48 * 1024,
        False,
    )


async def _input(sandbox: SandboxPort) -> bool:
    result = await run(sandbox, "import sys; print(len(sys.stdin.buffer.read()))", stdin=bytes(300_000))
    return result.stdout == b"300000\n"


async def _files(sandbox: SandboxPort) -> bool:
    content = os.urandom(200_000)
    await sandbox.write_file("/data/deep/in.bin", content)
    await run(sandbox, "open('/data/out.bin', 'wb').write(open('/data/deep/in.bin', 'rb').read()[::-1])")
    names = [entry.name for entry in await sandbox.list_dir("/data")]
    read = await sandbox.read_file("/data/out.bin", max_bytes=MIB)
    return read == content[::-1] and names == ["deep", "out.bin"]


async def _cancel(sandbox: SandboxPort) -> bool:
    running = await sandbox.exec(ExecRequest(argv=("sh", "-c", "echo up; sleep 3600")))
    await running.stdout.next_chunk(0)
    running.kill()
    return (await running.wait()).outcome is ExecOutcome.CANCELLED


async def _together(sandbox: SandboxPort) -> bool:
    results = await asyncio.gather(*(run(sandbox, f"print({number})") for number in range(4)))
    return [result.stdout for result in results] == [b"%d\n" % number for number in range(4)]


async def _left_running(sandbox: SandboxPort) -> bool:
    running = await sandbox.exec(ExecRequest(argv=("sleep", "3600")))
    return not running.stdout.closed


PROGRAMS: dict[str, tuple[int, Callable[[SandboxPort], Awaitable[bool]]]] = {
    "right": (8, _right),
    "crash": (3, _crash),
    "signal": (1, _signal),
    "timeout": (2, _timeout),
    "memory": (1, _memory),
    "daemon": (2, _daemon),
    "forks": (1, _forks),
    "output": (1, _output),
    "input": (1, _input),
    "files": (2, _files),
    "cancel": (1, _cancel),
    "together": (1, _together),
    "left running": (1, _left_running),
}
"""name -> (how often, against the others; gives whether all was as it should be)"""


@dataclass(frozen=True, slots=True)
class Held:
    """What one process holds."""

    descriptors: int
    private_bytes: int
    children: int

    def __str__(self) -> str:
        return (
            f"{self.descriptors} descriptors, {self.private_bytes / MIB:.1f} MiB of its own, {self.children} children"
        )


class Soak:
    """The lives, and what is held meanwhile."""

    def __init__(self, lives: int, at_once: int, seed: int) -> None:
        self.lives = lives
        self.at_once = at_once
        self.choice = random.Random(seed)  # noqa: S311 (reproducible, not secret)
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []

    async def live(self, runtime: LinuxRuntime, number: int) -> None:
        """One sandbox from its creation to its end."""
        name = self.choice.choices(list(PROGRAMS), [often for often, _ in PROGRAMS.values()])[0]
        blueprint = WARM if self.choice.random() < 0.4 else None
        grace = 0.05 if self.choice.random() < 0.05 else 0.0
        try:
            sandbox = await runtime.create(SandboxSpec(limits=LIMITS), blueprint)
            right = await PROGRAMS[name][1](sandbox)
            await sandbox.destroy(grace_seconds=grace)
        except Exception as error:  # noqa: BLE001 (one life's failure is this program's result)
            self.wrong.append(f"life {number} ({name}): {type(error).__name__}: {error}")
        else:
            if not right:
                self.wrong.append(f"life {number} ({name}, {'warm' if blueprint else 'real'}): not as it should be")
        self.done[name] += 1

    async def run(self, runtime: LinuxRuntime, count: int, progress: Callable[[int], None]) -> None:
        """So many lives, several at a time."""
        numbers = iter(range(count))

        async def one_after_the_other() -> None:
            for number in numbers:
                await self.live(runtime, number)
                progress(1)

        await asyncio.gather(*(one_after_the_other() for _ in range(self.at_once)))


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def look() -> dict[str, Held]:
    """What client, spawner and templates hold now."""
    gc.collect()
    spawner = spawners(os.getpid())[0]
    parts = {"client": os.getpid(), "spawner": spawner}
    parts |= {f"template {number}": pid for number, pid in enumerate(sorted(children(spawner)), 1)}
    return {name: Held(len(descriptors(pid)), private_bytes(pid), len(children(pid))) for name, pid in parts.items()}


def grown(before: dict[str, Held], after: dict[str, Held]) -> list[str]:
    """Who holds more than it should."""
    found = []
    for name, now in after.items():
        then = before.get(name)
        if then is None:
            found.append(f"{name} was not there before")
        elif now.descriptors > then.descriptors + MOST_MORE_DESCRIPTORS:
            found.append(f"{name}: {then.descriptors} descriptors have become {now.descriptors}")
        elif now.private_bytes > then.private_bytes + MOST_MORE_BYTES:
            found.append(f"{name}: {then.private_bytes} bytes have become {now.private_bytes}")
        elif now.children > then.children + 20:
            found.append(f"{name}: {then.children} children have become {now.children}")
    return found


async def soak(lives: int, at_once: int, seed: int, *, quiet: bool) -> list[str]:
    """Gives what was not as it should be."""
    empty = Footprint.take()
    work = Soak(lives, at_once, seed)
    runtime = LinuxRuntime()
    await runtime.start()
    owners = spawners(os.getpid())
    started = time.perf_counter()
    count = 0

    def progress(more: int) -> None:
        nonlocal count
        count += more
        if not quiet and count % max(1, lives // 20) == 0:
            rate = count / (time.perf_counter() - started)
            say(f"{count:7} of {lives} lives, {rate:6.1f}/s, {len(work.wrong)} wrong")

    warm_up = min(lives // 3, 400)
    await work.run(runtime, warm_up, progress)
    before = look()
    await work.run(runtime, lives - warm_up, progress)
    after = look()
    seconds = time.perf_counter() - started
    cpu = sum(processes()[pid].cpu_seconds for pid in (os.getpid(), *owners, *children(owners[0])))
    await runtime.close()
    gc.collect()
    left = Footprint.take(owners=owners).beyond(empty) + cgroup_directories(owners)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for name, now in after.items():
        say(f"{name:11} after {warm_up} lives: {before.get(name)}\n{'':11} at the end: {now}")
    say(f"{'programs':11} " + ", ".join(f"{name} {number}" for name, number in sorted(work.done.items())))
    cost = f"{1000 * cpu / lives:.2f} ms of CPU per life in client, spawner and templates"
    say(f"{'cost':11} {seconds:.1f} s, {lives / seconds:.1f} lives/s; {cost}; client's peak {peak:.0f} MiB")
    say(f"{sum(work.done.values())} lives, {len(work.wrong)} wrong, {len(left)} left behind")
    return work.wrong + grown(before, after) + [f"left behind: {line}" for line in left]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Many lives of sandboxes, and what is left of them.")
    parser.add_argument("--lives", type=int, default=10_000, help="how many sandboxes (10000)")
    parser.add_argument("--at-once", type=int, default=8, help="how many at a time (8)")
    parser.add_argument("--seed", type=int, default=1, help="the same programs in the same order for the same number")
    parser.add_argument("--quiet", action="store_true", help="only the end")
    options = parser.parse_args()
    if options.lives < 1 or options.at_once < 1:
        parser.error("--lives and --at-once must be at least 1")
    problems = asyncio.run(soak(options.lives, options.at_once, options.seed, quiet=options.quiet))
    for line in problems[:50]:
        sys.stderr.write(line + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
