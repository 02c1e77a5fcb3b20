"""Run one row with a mechanism and without it, in turn, in one process, and print the figures as JSON.

`python -m benchmarks.drive_ablation '{"row": ..., "variable": ..., "rounds": ..., "count": ...}'`; the ablations
start it. Two runtimes stand side by side, one with the mechanism's setting at "off". In each round `count` operations
run over the one and then over the other, a moment apart, so that both meet the same neighbours; the next round begins
with the other one. The first operations are not counted, so that nothing is measured that is done once.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.driving import BaseOrder
from benchmarks.figures import median
from benchmarks.machine import OwnTree
from benchmarks.scenarios import scenario_rows
from benchmarks.ways import RuntimeSandboxes
from benchmarks.workload import suite
from harena.core.models import ExecRequest, SandboxSpec
from harena.core.ports import SandboxPort
from harena.core.records.blueprints import Blueprint
from harena.runtime.host.linux import LinuxRuntime
from harena.runtime.host.mechanisms import in_force

WARM_UP = 12
SETTLE_SECONDS = 0.1
"""before and after a run of operations: what they have begun (sandboxes made ahead, or taken down) is theirs"""
REFILL_SECONDS = 0.03
"""pause before a claim, so that a sandbox waits where some are made ahead"""
PROGRAM = ("python", "-c", "pass")
PROGRAM_WITH_MODULES = ("python", "-c", "import decimal, json; json.dumps(str(decimal.Decimal(1)))")
REAL = Blueprint(id="bp_real", name="real")
WARM = Blueprint(id="bp_warm", name="warm", warm=())
MODULES = Blueprint(id="bp_modules", name="modules", warm=("json", "decimal"))
FIRST = (
    "from harena import Sandbox\n"
    "sandbox = Sandbox.run(blueprint='python-warm')\n"
    "print(sandbox.exec(['python', '-c', 'print(1)']).result().stdout, flush=True)"
)

Operation = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(BaseOrder):
    """One run to drive."""

    row: str
    variable: str
    """the setting of the mechanism"""
    rounds: int
    count: int


Sides = dict[str, list[dict[str, float | None]]]


async def drive(order: Order, tree: OwnTree, home: Path) -> Sides:
    """With the mechanism and without it, a row of figures for each round: milliseconds for each operation, the middle
    one by the clock, and the processor time of the whole tree."""
    runtimes = {
        side: LinuxRuntime(home=home, mechanisms=in_force(environ), known_programs=_known_programs)
        for side, environ in (("with", {}), ("without", {order.variable: "off"}))
    }
    async with AsyncExitStack() as stack:
        operations: dict[str, Operation] = {}
        for side, runtime in runtimes.items():
            stack.push_async_callback(runtime.close)
            await runtime.start()
            operations[side] = await stack.enter_async_context(ROWS[order.row](runtime))
            for _ in range(WARM_UP):
                await operations[side]()
        sides: Sides = {side: [] for side in runtimes}
        for number in range(order.rounds):
            for side in list(sides)[:: 1 if number % 2 else -1]:
                sides[side].append(await _block(operations[side], order, tree))
    return sides


async def _block(operation: Operation, order: Order, tree: OwnTree) -> dict[str, float | None]:
    await asyncio.sleep(SETTLE_SECONDS)
    before, times = tree.cpu_seconds(), []
    for _ in range(order.count):
        if order.row == "claim":
            await asyncio.sleep(REFILL_SECONDS)
        began = time.perf_counter()
        await operation()
        times.append(time.perf_counter() - began)
    await asyncio.sleep(SETTLE_SECONDS)
    return _figures(times, before, tree.cpu_seconds())


def first(order: Order, tree: OwnTree) -> Sides:
    """Measure fresh Python processes, each from its start until it has ended, as `drive` measures programs."""
    sides: Sides = {"with": [], "without": []}
    for number in range(order.rounds):
        for side in list(sides)[:: 1 if number % 2 else -1]:
            env = os.environ if side == "with" else {**os.environ, order.variable: "off"}
            before, times = tree.cpu_seconds(), []
            for _ in range(order.count):
                began = time.perf_counter()
                subprocess.run([sys.executable, "-c", FIRST], check=True, stdout=subprocess.DEVNULL, env=env)
                times.append(time.perf_counter() - began)
            sides[side].append(_figures(times, before, tree.cpu_seconds()))
    return sides


def _figures(times: list[float], before: float | None, after: float | None) -> dict[str, float | None]:
    cpu = None if before is None or after is None else (after - before) / len(times) * 1e3
    return {"wall_ms": median(times) * 1e3, "cpu_ms": cpu}


def _known_programs() -> Any:
    from harena.scoring.scorers import driver_boot

    return (driver_boot.known_program(),)


async def _run(sandbox: SandboxPort, argv: tuple[str, ...]) -> None:
    result = await (await sandbox.exec(ExecRequest(argv=argv, timeout_seconds=60.0))).wait()
    if result.returncode != 0:
        raise RuntimeError(f"{argv} ended with {result.returncode}: {result.stderr.decode(errors='replace')}")


def _lives(blueprint: Blueprint, argv: tuple[str, ...]) -> Callable[[LinuxRuntime], Any]:
    @asynccontextmanager
    async def row(runtime: LinuxRuntime) -> AsyncIterator[Operation]:
        async def live() -> None:
            sandbox = await runtime.create(SandboxSpec(), blueprint)
            await _run(sandbox, argv)
            await sandbox.destroy()

        yield live

    return row


@asynccontextmanager
async def _kept(runtime: LinuxRuntime) -> AsyncIterator[Operation]:
    sandbox = await runtime.create(SandboxSpec(), WARM)
    yield lambda: _run(sandbox, PROGRAM)
    await sandbox.destroy()


@asynccontextmanager
async def _claim(runtime: LinuxRuntime) -> AsyncIterator[Operation]:
    ended: set[asyncio.Task[None]] = set()

    async def claim() -> None:
        sandbox = await runtime.create(SandboxSpec(), REAL)
        await _run(sandbox, ("echo", "hello"))
        ending = asyncio.ensure_future(sandbox.destroy())
        ended.add(ending)
        ending.add_done_callback(ended.discard)

    yield claim
    await asyncio.gather(*ended)


@asynccontextmanager
async def _verdict(runtime: LinuxRuntime) -> AsyncIterator[Operation]:
    from harena.scoring.formats import import_scenarios
    from harena.scoring.score import score_scenario

    (scenario,) = import_scenarios(scenario_rows(suite("clean", 1, seed=1))).scenarios
    sandboxes = RuntimeSandboxes(runtime, WARM)
    yield lambda: score_scenario(scenario, sandboxes=sandboxes, base_spec=SandboxSpec(), timeout_seconds=60.0)


ROWS: dict[str, Callable[[LinuxRuntime], Any]] = {
    "fresh": _lives(REAL, PROGRAM),
    "warm": _lives(WARM, PROGRAM),
    "kept": _kept,
    "modules": _lives(MODULES, PROGRAM_WITH_MODULES),
    "claim": _claim,
    "verdict": _verdict,
}


def main() -> int:
    """One order as the only argument, its figures on standard output."""
    order = Order(**json.loads(sys.argv[1]))
    with OwnTree() as tree, tempfile.TemporaryDirectory(prefix="harena-benchmark-home-") as home:
        os.environ["HARENA_HOME"] = home
        figures = first(order, tree) if order.row == "first" else asyncio.run(drive(order, tree, Path(home)))
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
