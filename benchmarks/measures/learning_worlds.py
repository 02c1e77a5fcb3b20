"""Does a policy learn to explore worlds that it never saw? `examples/learn_worlds.py`, over seeds that nobody chose."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

PROOF = Path(__file__).parents[2] / "examples" / "learn_worlds.py"
PLAYERS = ("random", "control", "policy")


def measure(*, runs: int, seeds: Sequence[int] | None) -> dict[str, Any]:
    """One process for each seed, one after the other; seeds are drawn where none are given. Raises RuntimeError where
    one fails."""
    rows = []
    for seed in [secrets.randbelow(1_000_000) for _ in range(runs)] if seeds is None else seeds:
        with tempfile.TemporaryDirectory(prefix="harena-benchmark-learning-worlds-") as folder:
            command = [sys.executable, str(PROOF), "--seed", str(seed), "--out", folder]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode != 0:
                raise RuntimeError(f"{PROOF.name} ended with {ended.returncode}: {ended.stderr[-2000:]}")
            rows.append(json.loads((Path(folder) / "worlds.json").read_text()))
    return {"rows": rows}


def render(results: dict[str, Any]) -> list[str]:
    """Give the table of a stored result."""
    rows = results["rows"]
    lines = [
        "Goal: the first domain's administrators, in 100 small worlds that no player learned on; an episode each, of "
        "500 steps at most. Return in % of the best possible one (share of episodes that reached the goal).",
        "",
        "| seed | random | control, shuffled rewards | policy | medium worlds, policy | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = " | ".join(_cell(row["small"][name]) for name in PLAYERS)
        lines.append(f"| {row['seed']} | {cells} | {_cell(row['medium']['policy'])} | {row['seconds']:.0f} |")
    best = median(row["small"]["policy"]["of_best"] for row in rows)
    return [*lines, "", f"The policy's median is {100 * best:.0f} % of the best possible return."]


def _cell(found: dict[str, float]) -> str:
    return f"{100 * found['of_best']:.0f} % ({found['reached']:.2f})"
