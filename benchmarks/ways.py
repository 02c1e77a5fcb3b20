"""Ways to get a verdict for each of many programs; `benchmarks.drive_jobs` times one of them.

* `direct`: over the runtime and nothing else. The rows are read by the loader that a job uses; as many workers as a job
  would run at once take the next scenario, score it by the function that a job uses (`score_scenario`: make a sandbox,
  start the candidate, ask it, judge, end the sandbox) in sandboxes that come straight from the runtime, and keep the
  result in a list. No node, no job, no store.
* `sqlite`, `postgres`: one benchmark job of a server's node, as it is kept for others to go on with: accepted into the
  store with its scenarios, run, its events and results committed, and in the end every result read back from the store.
  PostgreSQL runs here too, its processes are counted, and it waits for the disk as it does by default.
* `plain`: what people glue together. Workers that run `python -c PROGRAM`, whose own asserts and exit code decide, and
  keep the verdict in a list. No isolation, no store.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from benchmarks.peers.child import run_child
from benchmarks.plain_python import ENVIRONMENT, PlainPython
from benchmarks.postgres import postgres
from benchmarks.scenarios import scenario_rows
from benchmarks.verdicts import Verdict, verdict_of
from benchmarks.workload import Program
from harena.core.requests import BenchmarkJobFields

if TYPE_CHECKING:
    from harena.core.models import SandboxSpec
    from harena.core.ports import Operations, SandboxPort
    from harena.core.records.blueprints import Blueprint
    from harena.runtime.host.linux import LinuxRuntime
    from harena.scoring.scenario import Scenario

WAYS = ("direct", "sqlite", "postgres", "plain")
BLUEPRINT = "python-warm"
TIMEOUT_SECONDS = 10.0
"""limit of one program; none of those used here comes near it"""


class Way(Protocol):
    """One way, ready to be used."""

    async def run(self, programs: Sequence[Program]) -> list[bool]:
        """Whether each program passed, in order. Raises what the way itself fails at."""


@asynccontextmanager
async def open_way(name: str, *, concurrency: int) -> AsyncIterator[Way]:
    """The way, with a home of its own that is gone afterwards. Raises KeyError."""
    opened = {"direct": _direct, "sqlite": _job, "postgres": _job, "plain": _plain}[name]
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="harena-benchmark-home-"))
        os.environ["HARENA_HOME"] = home
        os.environ.pop("HARENA_DATABASE_URL", None)
        if name == "postgres":
            os.environ["HARENA_DATABASE_URL"] = stack.enter_context(postgres())
        async with opened(concurrency) as way:
            yield way


class RuntimeSandboxes:
    """Implements `SandboxSource` straight over a runtime."""

    def __init__(self, runtime: LinuxRuntime, blueprint: Blueprint) -> None:
        self._runtime = runtime
        self._blueprint = blueprint

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        """Create, lend, destroy."""
        sandbox = await self._runtime.create(spec, self._blueprint)
        try:
            yield sandbox
        finally:
            await sandbox.destroy()


class _Direct:
    def __init__(self, sandboxes: RuntimeSandboxes, spec: SandboxSpec, workers: int) -> None:
        self._sandboxes = sandboxes
        self._spec = spec
        self._workers = workers

    async def run(self, programs: Sequence[Program]) -> list[bool]:
        from harena.scoring.formats import import_scenarios

        batch = import_scenarios(scenario_rows(programs))
        results: list[bool] = [False] * len(batch)
        waiting = iter(enumerate(batch.scenarios))
        async with asyncio.TaskGroup() as workers:
            for _ in range(self._workers):
                workers.create_task(self._work(waiting, results))
        return results

    async def _work(self, waiting: Iterator[tuple[int, Scenario]], results: list[bool]) -> None:
        from harena.scoring.score import score_scenario

        for index, scenario in waiting:
            result = await score_scenario(
                scenario, sandboxes=self._sandboxes, base_spec=self._spec, timeout_seconds=TIMEOUT_SECONDS
            )
            results[index] = result.passed


@asynccontextmanager
async def _direct(concurrency: int) -> AsyncIterator[Way]:
    from harena.core.clock import SystemClock
    from harena.core.home import harena_home
    from harena.core.models import SandboxSpec
    from harena.core.workspace import DEFAULT_WORKSPACE
    from harena.jobs.schedule import effective_concurrency
    from harena.runtime.host.blueprints import Blueprints
    from harena.runtime.host.layers import LayerStore
    from harena.runtime.host.linux import LinuxRuntime

    layers = LayerStore(harena_home() / "layers")
    blueprints = Blueprints(SystemClock(), layers=layers, root=harena_home() / "blueprints")
    blueprint = blueprints.find(DEFAULT_WORKSPACE, BLUEPRINT)
    runtime = LinuxRuntime(layers=layers, home=harena_home())
    spec = SandboxSpec(image=blueprint.image, blueprint=blueprint.id)
    workers = effective_concurrency(concurrency, cores=len(os.sched_getaffinity(0)))
    try:
        await runtime.start()
        yield _Direct(RuntimeSandboxes(runtime, blueprint), spec, workers)
    finally:
        await runtime.close()


class _Job:
    def __init__(self, operations: Operations, concurrency: int) -> None:
        self._operations = operations
        self._concurrency = concurrency

    async def run(self, programs: Sequence[Program]) -> list[bool]:
        request: BenchmarkJobFields = {
            "name": "benchmark",
            "scenarios": scenario_rows(programs),
            "blueprint_id": BLUEPRINT,
            "config": {"concurrency": self._concurrency, "timeout_seconds": TIMEOUT_SECONDS},
        }
        job = await self._operations.create_benchmark_job(request)
        results = await self._operations.wait_benchmark_job(job["id"])
        if results["state"] != "completed" or results["summary"]["scored"] != len(programs):
            raise RuntimeError(f"the job did not score every scenario: {results['state']} {results['summary']}")
        return [run["passed"] for run in results["runs"]]


@asynccontextmanager
async def _job(concurrency: int) -> AsyncIterator[Way]:
    from harena.node import open_for_server

    operations = await open_for_server()
    try:
        yield _Job(operations, concurrency)
    finally:
        await operations.close()


class _Plain:
    def __init__(self, executable: str, workers: int) -> None:
        self._executable = executable
        self._workers = workers

    async def run(self, programs: Sequence[Program]) -> list[bool]:
        passed: list[bool] = [False] * len(programs)
        waiting = iter(programs)
        async with asyncio.TaskGroup() as workers:
            for _ in range(self._workers):
                workers.create_task(self._work(waiting, passed))
        return passed

    async def _work(self, waiting: Iterator[Program], passed: list[bool]) -> None:
        for program in waiting:
            argv = [self._executable, "-c", program.source]
            ending = await run_child(argv, stdin=None, timeout_seconds=TIMEOUT_SECONDS, env=ENVIRONMENT)
            passed[program.index] = verdict_of(ending, None) is Verdict.PASS


@asynccontextmanager
async def _plain(concurrency: int) -> AsyncIterator[Way]:
    python = PlainPython()
    try:
        yield _Plain(python.executable, concurrency)
    finally:
        python.close()
