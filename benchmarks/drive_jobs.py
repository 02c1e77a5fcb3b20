"""Drive one way of scoring many scenarios once, in a process of its own, and print what it took as JSON.

`python -m benchmarks.drive_jobs '{"way": ..., ...}'`; the measures of jobs start it. The ways are in `benchmarks.ways`.
What is timed begins with the programs in memory and ends with all verdicts in memory. The first programs of every run
warm it up and are not timed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from benchmarks import ways
from benchmarks.driving import BaseOrder, drive_once
from benchmarks.machine import OwnTree, busy_seconds
from benchmarks.workload import suite


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOrder(BaseOrder):
    """One run to drive."""

    way: str
    programs: int
    concurrency: int
    warm_up: int
    seed: int = 1


async def drive(order: JobOrder, tree: OwnTree) -> dict[str, Any]:
    """Run it. Anything that fails beside a program is raised."""
    async with ways.open_way(order.way, concurrency=order.concurrency) as way:
        # other programs than the timed ones, so that nothing can be remembered from them
        await way.run(suite("clean", order.warm_up, seed=order.seed + 1))
        programs = suite("clean", order.programs, seed=order.seed)
        machine_before, tree_before = busy_seconds(), tree.cpu_seconds()
        own_before, started = time.process_time(), time.perf_counter()
        passed = await way.run(programs)
        wall, own = time.perf_counter() - started, time.process_time() - own_before
        tree_after, machine_after = tree.cpu_seconds(), busy_seconds()
    count = len(programs)
    whole = None if tree_before is None or tree_after is None else (tree_after - tree_before) / count * 1e3
    return {
        "per_second": count / wall,
        "tree_cpu_ms": whole,
        "own_cpu_ms": own / count * 1e3,
        "machine_cpu_ms": (machine_after - machine_before) / count * 1e3,
        "wrong": sum(
            right is not (program.expected_verdict == "pass") for program, right in zip(programs, passed, strict=True)
        ),
    }


def main() -> int:
    """One order as the only argument, its figures on standard output."""
    return drive_once(JobOrder, drive)


if __name__ == "__main__":
    raise SystemExit(main())
