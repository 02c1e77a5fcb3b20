"""Create, exec and destroy through the synchronous SDK, one operation at a time, beside starts of /bin/true."""

from __future__ import annotations

import subprocess
import time
from collections import defaultdict
from typing import Any

from benchmarks.figures import spread
from benchmarks.floor import Floor

REFILL_SECONDS = 0.03
"""pause before a claim, so that a sandbox waits in the pool"""

FLOOR = "posix_spawn /bin/true"


def measure(*, count: int) -> dict[str, Any]:
    """`count` rounds; each takes every operation once, so that all rows saw the same machine."""
    from harena import Sandbox

    times: dict[str, list[float]] = defaultdict(list)

    def timed(label: str, began: float) -> None:
        times[label].append(time.perf_counter() - began)

    with Floor() as floor:
        Sandbox.run().stop().result()
        Sandbox.run(blueprint="python-warm").stop().result()
        for _ in range(count):
            times[FLOOR].append(floor.posix_spawn())
            times["fork + exec /bin/true"].append(floor.fork_exec())
            began = time.perf_counter()
            subprocess.run(["/bin/true"], check=True)
            timed("subprocess.run /bin/true", began)

            time.sleep(REFILL_SECONDS)
            began = time.perf_counter()
            sandbox = Sandbox.run()
            sandbox.exec(["echo", "hello"]).result()
            timed("claim + echo (pooled)", began)
            began = time.perf_counter()
            sandbox.exec(["echo", "hello"]).result()
            timed("exec echo", began)
            began = time.perf_counter()
            sandbox.exec(["python", "-c", "pass"]).result()
            timed("exec python -c pass (real start)", began)
            began = time.perf_counter()
            sandbox.stop().result()
            timed("destroy", began)

            time.sleep(REFILL_SECONDS)
            began = time.perf_counter()
            warm = Sandbox.run(blueprint="python-warm")
            warm.exec(["python", "-c", "pass"]).result()
            timed("claim + python -c pass (pooled, warm)", began)
            began = time.perf_counter()
            warm.exec(["python", "-c", "pass"]).result()
            timed("exec python -c pass (warm)", began)
            warm.stop().result()
    _create_back_to_back(times, count)
    return {"count": count, "rows": {label: spread(values) for label, values in times.items()}}


def _create_back_to_back(times: dict[str, list[float]], count: int) -> None:
    """Faster than any pool refills, so what is measured is the making of a sandbox."""
    from harena import Sandbox

    held: list[Sandbox] = []
    for _ in range(count):
        began = time.perf_counter()
        sandbox = Sandbox.run()
        sandbox.wait()
        times["create, back to back (pool drained)"].append(time.perf_counter() - began)
        held.append(sandbox)
    for stopping in [sandbox.stop() for sandbox in held]:
        stopping.result()


def render(results: dict[str, Any]) -> list[str]:
    """A markdown table with each row's multiple of the floor."""
    rows = results["rows"]
    floor = rows[FLOOR]["p50"]
    lines = [
        f"{results['count']} rounds, every operation once per round; a lean process makes the starts of /bin/true.",
        "",
        "| operation | p50 ms | p90 ms | p99 ms | mean ms | p50 x posix_spawn |",
        "|---|---|---|---|---|---|",
    ]
    for label, row in rows.items():
        lines.append(
            f"| {label} | {row['p50'] * 1e3:.2f} | {row['p90'] * 1e3:.2f} | {row['p99'] * 1e3:.2f} "
            f"| {row['mean'] * 1e3:.2f} | {row['p50'] / floor:.1f} |"
        )
    return lines
