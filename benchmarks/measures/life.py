"""Where the time of a life goes: create, exec and destroy as the client sees them, and processor time by who spent it.

Seen from outside, without a profiler: /proc/PID/task/*/schedstat of what lives longer than a sandbox (the client's
threads, the spawner, the templates), a cpuacct cgroup for the whole tree, /proc/stat for the machine. What the tree
spent and nobody long-lived did belongs to the sandboxes; what the machine spent beyond the tree is the kernel's own
workers (dismantling namespaces), and whatever else ran. Steps inside the runtime are shown where it reports them
(`benchmarks.steps`).
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.figures import spread
from benchmarks.machine import OwnTree, busy_seconds, descendants
from benchmarks.steps import VARIABLE, durations

PROGRAM = "print('hello')"

MODES: dict[str, tuple[str | None, bool]] = {
    "real start": (None, False),
    "warm": ("python-warm", False),
    "warm, kept": ("python-warm", True),
}
"""mode -> (blueprint, whether one sandbox is kept for all its execs)"""

WARM_UP = 16

Stages = dict[str, list[float]]


def measure(*, count: int) -> dict[str, Any]:
    """`count` lives (kept: execs) per mode, one at a time, all in one node."""
    with tempfile.NamedTemporaryFile(prefix="harena-life-", suffix=".jsonl") as log:
        os.environ[VARIABLE] = log.name  # before harena is imported: its processes inherit it
        with OwnTree() as tree:
            rows = {mode: _mode(*how, count, tree, Path(log.name)) for mode, how in MODES.items()}
            _shutdown()
    return {"count": count, "modes": rows}


def _shutdown() -> None:
    from harena import shutdown

    shutdown()


def _mode(blueprint: str | None, kept: bool, count: int, tree: OwnTree, log: Path) -> dict[str, Any]:
    lives = _execs if kept else _lives
    asyncio.run(lives(blueprint, WARM_UP, tree))
    logged = log.stat().st_size
    stages, spent = asyncio.run(lives(blueprint, count, tree))
    return {
        "stages": {stage: spread(values) for stage, values in stages.items()},
        "cpu_ms": {who: seconds / count * 1e3 for who, seconds in spent.items()},
        "steps": {step: spread(values) for step, values in durations(_lines(log, logged)).items()},
    }


def _lines(log: Path, offset: int) -> list[str]:
    with log.open() as opened:
        opened.seek(offset)
        return opened.readlines()


async def _lives(blueprint: str | None, count: int, tree: OwnTree) -> tuple[Stages, dict[str, float]]:
    """Every exec in a sandbox of its own."""
    from harena import Sandbox

    stages: Stages = defaultdict(list)
    before = _Spent(tree)
    for _ in range(count):
        began = time.perf_counter()
        sandbox = Sandbox.run(blueprint=blueprint)
        await sandbox
        created = time.perf_counter()
        await sandbox.exec(["python", "-c", PROGRAM])
        answered = time.perf_counter()
        await sandbox.stop()
        ended = time.perf_counter()
        stages["create"].append(created - began)
        stages["exec"].append(answered - created)
        stages["destroy"].append(ended - answered)
        stages["whole life"].append(ended - began)
    return stages, _Spent(tree).since(before)


async def _execs(blueprint: str | None, count: int, tree: OwnTree) -> tuple[Stages, dict[str, float]]:
    """All execs in one sandbox; making and ending it is not counted."""
    from harena import Sandbox

    stages: Stages = defaultdict(list)
    async with Sandbox.run(blueprint=blueprint) as sandbox:
        await sandbox.exec(["true"])
        before = _Spent(tree)
        for _ in range(count):
            began = time.perf_counter()
            await sandbox.exec(["python", "-c", PROGRAM])
            stages["exec"].append(time.perf_counter() - began)
        spent = _Spent(tree).since(before)
    return stages, spent


class _Spent:
    """Processor seconds up to now, by who spent them."""

    def __init__(self, tree: OwnTree) -> None:
        self.machine = busy_seconds()
        self.tree = tree.cpu_seconds()
        own = os.getpid()
        self.threads = {(pid, tid): taken for pid in (own, *descendants(own)) for tid, taken in _threads(pid).items()}

    def since(self, before: _Spent) -> dict[str, float]:
        """What was spent between two moments."""
        spent: dict[str, float] = defaultdict(float)
        for key, (name, seconds) in self.threads.items():
            if key in before.threads:
                spent[name] += seconds - before.threads[key][1]
        if self.tree is not None and before.tree is not None:
            whole = self.tree - before.tree
            spent["short-lived: sandboxes and programs"] = whole - sum(spent.values())
            spent["whole tree"] = whole
        spent["machine beyond the tree"] = self.machine - before.machine - spent.get("whole tree", sum(spent.values()))
        return dict(spent)


def _threads(pid: int) -> dict[int, tuple[str, float]]:
    """tid -> (who, processor seconds) of one process."""
    taken: dict[int, tuple[str, float]] = {}
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            seconds = int((task / "schedstat").read_text().split()[0]) / 1e9
            taken[int(task.name)] = (_role(pid, int(task.name)), seconds)
    except OSError:
        return taken  # it ended while being read: a sandbox, which the remainder accounts for
    return taken


def _role(pid: int, tid: int) -> str:
    if pid == os.getpid():
        return "client: this script's thread" if tid == pid else "client: harena's threads"
    parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return "spawner" if parent == os.getpid() else "templates, pooled and kept sandboxes"


def render(results: dict[str, Any]) -> list[str]:
    """One table of time and one of processor time, modes side by side."""
    modes = results["modes"]
    lines = [
        f'{results["count"]} lives one after the other: create + `python -c "{PROGRAM}"` + destroy (kept: only execs).',
        "",
        "| stage | " + " | ".join(f"{mode}: p50 ms | p99 ms" for mode in modes) + " |",
        "|---|" + "---|---|" * len(modes),
    ]
    lines += _rows(modes, "stages", lambda row: f"{row['p50'] * 1e3:.2f} | {row['p99'] * 1e3:.2f}", "- | -")
    lines += ["", "| CPU ms per life | " + " | ".join(modes) + " |", "|---|" + "---|" * len(modes)]
    lines += _rows(modes, "cpu_ms", lambda value: f"{value:.2f}", "-")
    if any(mode["steps"] for mode in modes.values()):
        lines += [
            "",
            "| step, reported by the runtime | " + " | ".join(f"{mode}: p50 ms | p99 ms" for mode in modes) + " |",
        ]
        lines += ["|---|" + "---|---|" * len(modes)]
        lines += _rows(modes, "steps", lambda row: f"{row['p50'] * 1e3:.2f} | {row['p99'] * 1e3:.2f}", "- | -")
    return lines


def _rows(modes: dict[str, Any], part: str, shown: Any, missing: str) -> list[str]:
    labels = list(dict.fromkeys(label for mode in modes.values() for label in mode[part]))
    return [
        f"| {label} | "
        + " | ".join(shown(mode[part][label]) if label in mode[part] else missing for mode in modes.values())
        + " |"
        for label in labels
    ]
