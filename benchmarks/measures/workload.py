"""The workload side by side: every peer between two plain runs of the same programs, several rounds, median ratios."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks import peers
from benchmarks.drive import Order
from benchmarks.driving import driven
from benchmarks.figures import median, neighbour_ratio
from benchmarks.plain_python import DESCRIPTION

TIMEOUT_SECONDS = 2.0
MEMORY_BYTES = 256 * 1024 * 1024

SETTLE_SECONDS = 0.5
"""between two runs: the kernel dismantles network namespaces after their owners have ended"""

Figures = dict[str, Any]


def measure(
    *, suite: str, concurrency: int, programs: int, rounds: int, names: tuple[str, ...] = peers.PEERS
) -> dict[str, Any]:
    """One row of figures per peer; progress goes to stderr. Peers that cannot run are listed with the reason."""
    absent = {name: reason for name in names if (reason := _why_absent(name)) is not None}
    present = [name for name in names if name not in absent]
    runs: dict[str, list[Figures]] = {name: [] for name in present}
    for number in range(1, rounds + 1):
        for name, figures in _round(present, suite, concurrency, programs):
            runs[name].append(figures)
            _progress(
                f"round {number}/{rounds} {suite} {name}: {figures['per_second']:.0f}/s, {figures['ratio']:.2f} x"
            )
    rows = {name: _row(taken) for name, taken in runs.items() if taken}
    return {
        "suite": suite,
        "concurrency": concurrency,
        "programs": programs,
        "rounds": rounds,
        "timeout_seconds": TIMEOUT_SECONDS,
        "memory_bytes": MEMORY_BYTES,
        "plain": DESCRIPTION,
        "absent": absent,
        "rows": _beside(rows, "bubblewrap"),
        "runs": runs,
    }


def _round(present: list[str], suite: str, concurrency: int, programs: int) -> list[tuple[str, Figures]]:
    """plain, peer, plain, peer, ..., plain."""
    taken: list[tuple[str, Figures]] = []
    before = _drive(peers.BASELINE, suite, concurrency, programs)
    for name in present:
        figures = _drive(name, suite, concurrency, programs)
        after = _drive(peers.BASELINE, suite, concurrency, programs)
        figures["ratio"] = neighbour_ratio(figures["per_second"], before["per_second"], after["per_second"])
        figures["neighbours_per_second"] = [before["per_second"], after["per_second"]]
        taken.append((name, figures))
        before = after
    return taken


def _drive(name: str, suite: str, concurrency: int, programs: int) -> Figures:
    order = Order(
        peer=name,
        suite=suite,
        programs=programs,
        concurrency=concurrency,
        warm_up=4 * concurrency,
        timeout_seconds=TIMEOUT_SECONDS,
        memory_bytes=MEMORY_BYTES,
        seed=1,
    )
    time.sleep(SETTLE_SECONDS)
    figures: Figures = driven("drive", order, f"the run of {name} over {suite}")
    return figures


def _why_absent(name: str) -> str | None:
    try:
        return peers.unavailable(name)
    except ImportError as error:
        return f"not importable: {error}"


def _row(taken: list[Figures]) -> Figures:
    """Medians over the rounds; of the exact shares the worst."""
    row: Figures = {
        key: median([figures[key] for figures in taken])
        for key in ("per_second", "ratio", "p50_ms", "p99_ms", "machine_cpu_ms")
    }
    own = [figures["own_cpu_ms"] for figures in taken if figures["own_cpu_ms"] is not None]
    row["own_cpu_ms"] = median(own) if own else None
    ratios = [figures["ratio"] for figures in taken]
    row["ratio_range"] = [min(ratios), max(ratios)]
    row["exact"] = min(figures["exact"] for figures in taken)
    row["mismatches"] = [figures["mismatches"] for figures in taken if figures["mismatches"]]
    return row


def _beside(rows: dict[str, Figures], other: str) -> dict[str, Figures]:
    if other in rows:
        for row in rows.values():
            row[f"x_{other}"] = row["ratio"] / rows[other]["ratio"]
    return rows


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def render(results: dict[str, Any]) -> list[str]:
    """A markdown table and what must be known to read it."""
    lines = [
        f"{results['programs']} programs, {results['concurrency']} at a time, median of {results['rounds']} rounds, "
        f"each run between two plain runs of the same programs; limits {results['timeout_seconds']:g} s and "
        f"{results['memory_bytes'] // 2**20} MiB. {results['plain'][0].upper()}{results['plain'][1:]}.",
        "CPU ms: per program, of the peer's own process tree, and of everything that was busy on the machine.",
        "",
        "| peer | x plain (range) | x bubblewrap | /s | p50 ms | p99 ms | CPU ms | of the machine | exact |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, row in results["rows"].items():
        low, high = row["ratio_range"]
        beside = f"{row['x_bubblewrap']:.2f}" if "x_bubblewrap" in row else "-"
        own = "-" if row["own_cpu_ms"] is None else f"{row['own_cpu_ms']:.2f}"
        exact = f"{row['exact']:.3f}" + "".join(f" {json.dumps(wrong)}" for wrong in row["mismatches"][:1])
        lines.append(
            f"| {name} | {row['ratio']:.2f} ({low:.2f}-{high:.2f}) | {beside} | {row['per_second']:.0f} "
            f"| {row['p50_ms']:.1f} | {row['p99_ms']:.1f} | {own} | {row['machine_cpu_ms']:.2f} | {exact} |"
        )
    lines += [f"\n{name} did not run: {reason}." for name, reason in results["absent"].items()]
    return lines
