"""Create time as the number held grows: what is quadratic somewhere shows here."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.figures import spread
from benchmarks.floor import Floor

PROBES = 50
"""sandboxes created one after the other at each step; they stay"""


def measure(*, up_to: int, step: int) -> dict[str, Any]:
    """One row per `step` sandboxes held, from 0 to `up_to`."""
    from benchmarks import crowd
    from harena import Sandbox

    held: list[Any] = []
    crowd.grow(held, 1)
    crowd.end(held)
    rows = []
    with Floor() as floor:
        try:
            for count in range(0, up_to + 1, step):
                crowd.grow(held, count)
                floors = [floor.posix_spawn() for _ in range(PROBES)]
                creates, execs = [], []
                for _ in range(PROBES):
                    began = time.perf_counter()
                    sandbox = Sandbox.run()
                    sandbox.wait()
                    created = time.perf_counter()
                    sandbox.exec(["true"]).result()
                    execs.append(time.perf_counter() - created)
                    creates.append(created - began)
                    held.append(sandbox)
                rows.append({"held": count, "create": spread(creates), "exec": spread(execs), "floor": spread(floors)})
            began = time.perf_counter()
            count = len(held)
        finally:
            crowd.end(held)
    return {"rows": rows, "ended": count, "ended_in_seconds": time.perf_counter() - began}


def render(results: dict[str, Any]) -> list[str]:
    """A markdown table, milliseconds."""
    lines = [
        f"{PROBES} sandboxes created one after the other at each step, and kept; all {results['ended']} ended in "
        f"{results['ended_in_seconds']:.1f} s.",
        "",
        "| held | create mean ms | p50 ms | p99 ms | exec true p50 ms | posix_spawn /bin/true p50 ms |",
        "|---|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        lines.append(
            f"| {row['held']} | {row['create']['mean'] * 1e3:.2f} | {row['create']['p50'] * 1e3:.2f} "
            f"| {row['create']['p99'] * 1e3:.2f} | {row['exec']['p50'] * 1e3:.2f} | {row['floor']['p50'] * 1e3:.2f} |"
        )
    return lines
