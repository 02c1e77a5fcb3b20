"""What somebody waits for who types a first script: a fresh Python process, import, one sandbox, one result, exit."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

from benchmarks.figures import median, spread
from benchmarks.machine import OwnTree

SCRIPTS = {
    "python -c pass": "pass",
    "import harena": "import harena",
    "no sandbox: subprocess echo": (
        "import subprocess; print(subprocess.run(['echo', 'hello'], capture_output=True, text=True).stdout, flush=True)"
    ),
    "first sandbox: echo": (
        "from harena import Sandbox; print(Sandbox.run().exec(['echo', 'hello']).result().stdout, flush=True)"
    ),
    "first sandbox: python -c": (
        "from harena import Sandbox\n"
        "print(Sandbox.run().exec(['python', '-c', 'print(\"hello\")']).result().stdout, flush=True)"
    ),
    "first warm sandbox: python -c": (
        "from harena import Sandbox\n"
        "warm = Sandbox.run(blueprint='python-warm')\n"
        "print(warm.exec(['python', '-c', 'print(\"hello\")']).result().stdout, flush=True)"
    ),
}


def measure(*, count: int) -> dict[str, Any]:
    """`count` fresh processes per script, the scripts in turn."""
    taken: dict[str, list[dict[str, float | None]]] = {label: [] for label in SCRIPTS}
    with OwnTree() as tree:
        for _ in range(count):
            for label, script in SCRIPTS.items():
                taken[label].append(_once(script, tree))
    return {"count": count, "rows": {label: _row(values) for label, values in taken.items()}}


def _once(script: str, tree: OwnTree) -> dict[str, float | None]:
    tree_before = tree.cpu_seconds()
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    # The pipe says when the result is there; what has none says it by ending.
    process.stdout.readline()
    first = time.perf_counter() - began
    process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        raise RuntimeError(f"the script ended with {process.returncode}; its error is above:\n{script}")
    tree_after = tree.cpu_seconds()
    return {
        "first": first,
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "tree_cpu": None if tree_before is None or tree_after is None else tree_after - tree_before,
    }


def _row(values: list[dict[str, float | None]]) -> dict[str, Any]:
    def known(key: str) -> list[float]:
        return [value for taken in values if (value := taken[key]) is not None]

    return {
        "first": spread(known("first")),
        "wall": spread(known("wall")),
        "cpu": median(known("cpu")),
        "tree_cpu": median(known("tree_cpu")) if known("tree_cpu") else None,
    }


def render(results: dict[str, Any]) -> list[str]:
    """A markdown table, milliseconds."""
    lines = [
        f"{results['count']} fresh processes each. First result: from the start of the process until its first line of "
        "output; CPU: the process and the children it waited for; whole tree: with everything harena started.",
        "",
        "| script | first result p50 ms | p99 ms | whole process p50 ms | CPU ms | CPU ms, whole tree |",
        "|---|---|---|---|---|---|",
    ]
    for label, row in results["rows"].items():
        tree = "-" if row["tree_cpu"] is None else f"{row['tree_cpu'] * 1e3:.0f}"
        lines.append(
            f"| {label} | {row['first']['p50'] * 1e3:.0f} | {row['first']['p99'] * 1e3:.0f} "
            f"| {row['wall']['p50'] * 1e3:.0f} | {row['cpu'] * 1e3:.0f} | {tree} |"
        )
    return lines
