"""Judging many composed programs as harena jobs: on one node with real sandboxes, several at a time.

A program is judged as a trainer would have it judged: by a job, with the job's own retries. There is one job for each
blueprint that the scenarios need (plain, warm, with pytest), all on one node.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from battery_world import PYTEST_LAYER, linux_runtime
from composed_worlds import world

from harena.core.clock import SystemClock
from harena.core.node_config import NodeConfig
from harena.core.records.blueprints import Blueprint
from harena.node.node import Node
from harena.runtime.host.blueprints import Blueprints
from harena.runtime.host.layers import LayerStore
from harena.scoring import Candidate

AT_ONCE = 16
ROUNDS_AT_ONCE = 4

RETRIES = 2


class WithPytest(Blueprints):
    """The built-in blueprints, and one whose layer has pytest."""

    def find(self, workspace: str, name_or_id: str) -> Blueprint:
        """See `Blueprints`."""
        if name_or_id in (PYTEST_LAYER.name, PYTEST_LAYER.id):
            return PYTEST_LAYER
        return super().find(workspace, name_or_id)


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate in one world."""

    id: str
    world: str
    candidate: Candidate
    is_patient: bool = False
    """time is enough on any machine"""

    @property
    def blueprint(self) -> str:
        """What the world needs."""
        return "pytest" if "pytest" in self.world else "python-warm" if "warm" in self.world else "default"

    @property
    def row(self) -> dict[str, Any]:
        """The scenario of a job."""
        scenario = world(self.world, is_patient=self.is_patient)
        return {
            "id": self.id,
            "candidate": self.candidate,
            "scoring": scenario.scoring,
            "limits": scenario.limits,
        }


@contextlib.asynccontextmanager
async def battery_node(home: Path) -> AsyncIterator[Node]:
    """A node with real sandboxes. Raises HostUnsupportedError."""
    runtime = linux_runtime(home)
    await runtime.start()
    clock = SystemClock()
    blueprints = WithPytest(clock, layers=LayerStore(home / "layers"), root=home / "blueprints")
    node = Node(runtime, blueprints, clock, NodeConfig(store_place=home / "harena.db"))
    try:
        yield node
    finally:
        await node.close()


async def judged(node: Node, trials: Sequence[Trial], *, name: str) -> dict[str, dict[str, Any]]:
    """By the trial's id: its run, as the results of a job have it."""
    found: dict[str, dict[str, Any]] = {}

    async def job(blueprint: str) -> None:
        request = {
            "name": f"{name}-{blueprint}",
            "scenarios": [trial.row for trial in trials if trial.blueprint == blueprint],
            "blueprint_id": blueprint,
            "config": {"concurrency": AT_ONCE, "timeout_seconds": 10.0, "retry_attempts": RETRIES},
        }
        made = (await node.create_benchmark_job(request))["id"]
        await node.wait_benchmark_job(made)
        results = await node.benchmark_job_results(made)
        found.update({run["scenario_id"]: run for run in results["runs"]})
        await node.delete_benchmark_job(made)

    await asyncio.gather(*map(job, sorted({trial.blueprint for trial in trials})))
    return found


async def rounds(begin: Callable[[int], Awaitable[None]], firsts: Iterable[int], *, seconds: float) -> None:
    """Run the rounds, several at a time: else each would wait for its slowest program, and most of these only sleep.
    None is begun after so many seconds."""
    until = time.monotonic() + seconds
    waiting = iter(firsts)

    async def lane() -> None:
        for first in waiting:
            await begin(first)
            if time.monotonic() > until:
                return

    async with asyncio.TaskGroup() as lanes:
        for _ in range(ROUNDS_AT_ONCE):
            lanes.create_task(lane())


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """So many processes that compute, beside what runs inside."""
    code = "while True: pass"
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen([sys.executable, "-c", code])
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def number_of(variable: str, default: int) -> int:
    """A number of the environment: how much is run, and from which seed on."""
    return int(os.environ.get(variable, default))
