"""Memory of an idle sandbox: the proportional share (Pss) of all its processes, and what the kernel keeps for it.

Averages over many, because single sandboxes vary threefold. The node, its templates and its pool are there before the
first reading and are not counted; the client's own growth is listed apart.
"""

from __future__ import annotations

import os
import time
from typing import Any

from benchmarks.machine import descendants, meminfo, pss_kib

SETTLE_SECONDS = 2.0

KERNEL = ("Slab", "KernelStack", "PageTables", "SecPageTables", "Percpu")
"""rows of /proc/meminfo: together what the kernel keeps for processes, namespaces, mounts and cgroups"""

FILES = "Shmem"
"""pages of tmpfs: the sandbox's files"""


def measure(*, counts: tuple[int, ...], new_too: bool = True) -> dict[str, Any]:
    """One row of sandboxes that have run nothing, then one per number held, in rising order, each having answered.
    Without the first row (not `new_too`), no sandboxes have ended before those that are measured: what the kernel or
    the node keeps of such ones, and gives to the next, is in the reading before, and nobody's."""
    from benchmarks import crowd

    held: list[Any] = []
    crowd.grow(held, 1)  # the node, its template and its pool are up
    crowd.end(held)
    before = _reading()
    rows = []
    try:
        if new_too:
            began = time.perf_counter()
            crowd.grow(held, counts[0], answering=False)
            elapsed = time.perf_counter() - began
            first = {"count": counts[0], "answered": False, "grown_in_seconds": elapsed}
            rows.append({**first, **_per_sandbox(before, _reading(), counts[0])})
            crowd.end(held)
            before = _reading()
        for count in counts:
            began = time.perf_counter()
            crowd.grow(held, count)
            elapsed = time.perf_counter() - began
            rows.append(
                {
                    "count": count,
                    "answered": True,
                    "grown_in_seconds": elapsed,
                    **_per_sandbox(before, _reading(), count),
                }
            )
    finally:
        crowd.end(held)
    return {"rows": rows}


def _reading() -> dict[str, int]:
    time.sleep(SETTLE_SECONDS)
    shares = [pss_kib(pid) for pid in descendants(os.getpid())]
    taken = {name: value for name, value in meminfo().items() if name in (*KERNEL, FILES, "MemAvailable")}
    return {
        **taken,
        "pss": sum(share or 0 for share in shares),
        "unreadable": sum(share is None for share in shares),
        "processes": len(shares),
        "client": pss_kib(os.getpid()) or 0,
    }


def _per_sandbox(before: dict[str, int], after: dict[str, int], count: int) -> dict[str, float]:
    def grown(name: str) -> float:
        return (after.get(name, 0) - before.get(name, 0)) / count

    kernel = sum(grown(name) for name in KERNEL)
    return {
        "pss_kib": grown("pss"),
        "kernel_kib": kernel,
        "files_kib": grown(FILES),
        "total_kib": grown("pss") + kernel + grown(FILES),
        "available_kib": -grown("MemAvailable"),
        "client_kib": grown("client"),
        "processes": grown("processes"),
        "unreadable": after["unreadable"],
        **{f"{name}_kib": grown(name) for name in KERNEL},
    }


def render(results: dict[str, Any]) -> list[str]:
    """A markdown table, KiB per sandbox."""
    lines = [
        "KiB per sandbox, averaged over all that are held, new or after they answered an exec. Total = Pss of its "
        "processes + "
        f"kernel ({', '.join(KERNEL)}) + files in tmpfs; the fall of MemAvailable, which also counts the client, is a "
        "check.",
        "",
        "| held | total | Pss | kernel | files | MemAvailable | client | processes each | created in s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        held = f"{row['count']}{'' if row['answered'] else ', new'}"
        lines.append(
            f"| {held} | {row['total_kib']:.0f} | {row['pss_kib']:.0f} | {row['kernel_kib']:.0f} "
            f"| {row['files_kib']:.1f} | {row['available_kib']:.0f} | {row['client_kib']:.0f} "
            f"| {row['processes']:.2f} | {row['grown_in_seconds']:.1f} |"
        )
    unreadable = [row for row in results["rows"] if row["unreadable"]]
    lines += [f"\n{row['unreadable']} processes could not be read when {row['count']} were held." for row in unreadable]
    return lines
