"""One GRPO step of harena beside one of TRL's GRPOTrainer: generate, reward, train (`benchmarks.training_sides`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.figures import median

WARM_STEPS = 3
"""not counted: allocators, caches and warm sandboxes fill"""
COLUMNS = ("step", "generate", "reward", "train")
_ROOT = Path(__file__).parents[2]


def measure(*, steps: int, rounds: int, tokens: int) -> dict[str, Any]:
    """{rows: side and reward -> median seconds of each column}. In each round every side runs once with each reward,
    in an order that turns round, so that a slow minute meets both. Raises RuntimeError if a side fails."""
    taken: dict[str, list[dict[str, float]]] = {}
    for number in range(rounds):
        order = ["harena", "trl"] if number % 2 == 0 else ["trl", "harena"]
        for reward in ("none", "execution"):
            for side in order:
                seconds = _run(side, reward, steps=steps + WARM_STEPS, tokens=tokens)[WARM_STEPS:]
                taken.setdefault(f"{side}, {reward}", []).extend(seconds)
                found = median([entry["step"] for entry in seconds])
                print(f"round {number + 1}/{rounds} {side}, {reward}: {found * 1e3:.0f} ms", file=sys.stderr)
    rows = {
        label: {column: median([entry[column] for entry in entries]) for column in COLUMNS}
        for label, entries in taken.items()
    }
    ratios = {
        "whole step, rewards from execution": rows["harena, execution"]["step"] / rows["trl, execution"]["step"],
        "generate + train, free rewards": _own(rows["harena, none"]) / _own(rows["trl, none"]),
        "generate + train, rewards from execution": _own(rows["harena, execution"]) / _own(rows["trl, execution"]),
    }
    return {"steps": steps, "rounds": rounds, "tokens": tokens, "rows": rows, "ratios": ratios}


def _own(row: dict[str, float]) -> float:
    return row["generate"] + row["train"]


def _run(side: str, reward: str, *, steps: int, tokens: int) -> list[dict[str, float]]:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.training_sides", side, reward]
    command += ["--steps", str(steps), "--tokens", str(tokens)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[3:])} failed: {done.stderr[-2000:]}")
    seconds: list[dict[str, float]] = json.loads(done.stdout.splitlines()[-1])["seconds"]
    return seconds


def render(results: dict[str, Any]) -> list[str]:
    """A sentence with the ratios, and the table."""
    told = "; ".join(f"{name}: {ratio:.2f} of TRL's" for name, ratio in results["ratios"].items())
    lines = [
        f"A Llama of 0.34 million parameters in float32, 32 prompts x 8 completions of exactly {results['tokens']} "
        f"tokens, one optimizer step; no gradient checkpointing, no logging, no dedup. Medians of {results['steps']} "
        f"steps in each of {results['rounds']} rounds, each run in a process of its own. Rewards are free, or one "
        "program for each completion: a `python -c` in TRL, as many at a time as there are cores; a fresh sandbox in "
        "harena. What is neither generating nor rewarding counts as training.",
        "",
        f"**{told}.**",
        "",
        "| | step ms | generate ms | reward ms | train ms |",
        "|---|---|---|---|---|",
    ]
    for label, row in results["rows"].items():
        lines.append(f"| {label} | {' | '.join(f'{row[column] * 1e3:.0f}' for column in COLUMNS)} |")
    return lines
