"""Drive one peer over one suite once, in a process of its own, and print what it took as JSON.

`python -m benchmarks.drive '{"peer": ..., "suite": ..., ...}'`; the workload measure starts it. A fresh process per run
keeps the peers apart: a plain run carries no SDK, a pool of warm sandboxes does not refill during its neighbour's time,
and whatever a peer left behind ends with it.

A worker pool of the given size pulls programs from a queue. The first programs of every run warm it up and are not
counted, so that a pool filled beforehand is no head start: counting begins in the state that the load itself keeps.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks import peers
from benchmarks.driving import BaseOrder, drive_once
from benchmarks.figures import percentile
from benchmarks.machine import OwnTree, busy_seconds
from benchmarks.peers.port import Peer, Setting
from benchmarks.verdicts import Verdict, verdict_of
from benchmarks.workload import Program, suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(BaseOrder):
    """One run to drive."""

    peer: str
    suite: str
    programs: int
    concurrency: int
    warm_up: int
    timeout_seconds: float
    memory_bytes: int
    seed: int


@dataclass(slots=True)
class _Tally:
    latencies: list[float]
    wrong: Counter[str]


async def drive(order: Order, tree: OwnTree) -> dict[str, Any]:
    """Run it. Anything that the peer itself fails at is raised."""
    peer = peers.make(order.peer, Setting(concurrency=order.concurrency, memory_bytes=order.memory_bytes))
    try:
        await peer.start()
        # Other programs than the counted ones, so that nothing can be remembered from them.
        await _run_all(peer, suite("clean", order.warm_up, seed=order.seed + 1), order)
        programs = suite(order.suite, order.programs, seed=order.seed)
        machine_before, tree_before, started = busy_seconds(), tree.cpu_seconds(), time.perf_counter()
        tally = await _run_all(peer, programs, order)
        wall = time.perf_counter() - started
        machine_after, tree_after = busy_seconds(), tree.cpu_seconds()
    finally:
        await peer.close()
    own = None if tree_before is None or tree_after is None else (tree_after - tree_before) / len(programs)
    return {
        "per_second": len(programs) / wall,
        "p50_ms": percentile(tally.latencies, 0.50) * 1e3,
        "p99_ms": percentile(tally.latencies, 0.99) * 1e3,
        "machine_cpu_ms": (machine_after - machine_before) / len(programs) * 1e3,
        "own_cpu_ms": None if own is None else own * 1e3,
        "exact": 1.0 - sum(tally.wrong.values()) / len(programs),
        "mismatches": dict(tally.wrong),
    }


async def _run_all(peer: Peer, programs: list[Program], order: Order) -> _Tally:
    tally = _Tally(latencies=[], wrong=Counter())
    queue: Iterator[Program] = iter(programs)
    async with asyncio.TaskGroup() as workers:
        for _ in range(order.concurrency):
            workers.create_task(_work(peer, queue, order, tally))
    return tally


async def _work(peer: Peer, queue: Iterator[Program], order: Order, tally: _Tally) -> None:
    for program in queue:
        started = time.perf_counter()
        ending = await peer.run(program.source, program.stdin, order.timeout_seconds, order.memory_bytes)
        tally.latencies.append(time.perf_counter() - started)
        verdict: Verdict = verdict_of(ending, program.expected_stdout)
        if verdict is not program.expected_verdict:
            tally.wrong[f"{program.character}->{verdict}"] += 1


def main() -> int:
    """One order as the only argument, its figures on standard output."""
    return drive_once(Order, drive)


if __name__ == "__main__":
    raise SystemExit(main())
