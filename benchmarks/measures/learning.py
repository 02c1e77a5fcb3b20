"""Does training learn from execution, and only from it? The proofs of examples/, over seeds that nobody chose."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.machine import OwnTree

EXAMPLES = Path(__file__).parents[2] / "examples"
PROOFS = {"noisy-teacher": "train_noisy_teacher.py", "compositional": "train_compositional.py"}
STAGES = {"sft": "SFT", "rl": "RL", "control": "RL, shuffled rewards", "verified": "SFT on verified samples"}


def measure(
    *, proof: str, mode: str, runs: int, seeds: Sequence[int] | None, compare: bool, threads: int
) -> dict[str, Any]:
    """One process for each seed, one after the other; seeds are drawn where none are given. `compare`: with the control
    and SFT on verified samples. Raises RuntimeError where one fails."""
    drawn = [secrets.randbelow(1_000_000) for _ in range(runs)] if seeds is None else list(seeds)
    rows = []
    for seed in drawn:
        with tempfile.TemporaryDirectory(prefix="harena-benchmark-learning-") as folder:
            words = ["--seed", str(seed), "--mode", mode, "--threads", str(threads), "--out", folder]
            words += ["--compare"] if compare else []
            with OwnTree() as tree:
                _run([PROOFS[proof], *words], home=Path(folder) / "home")
                cpu_seconds = tree.cpu_seconds()
            _run(["judge_exported_model.py", folder], home=Path(folder) / "home")
            rows.append(_row(Path(folder), cpu_seconds))
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return {"proof": proof, "mode": mode, "threads": threads, "rows": rows}


def _row(folder: Path, cpu_seconds: float | None) -> dict[str, Any]:
    told = json.loads((folder / "curve.json").read_text())
    judged = json.loads((folder / "judged.json").read_text())
    return {
        "seed": told["seed"],
        "seconds": told["seconds"],
        "cpu_seconds": cpu_seconds,
        "judged": judged["pass_rate"],
        "results": {name: stage["result"] for name, stage in told["stages"].items()},
        "stage_seconds": {name: stage["seconds"] for name, stage in told["stages"].items()},
    }


def _run(words: Sequence[str], *, home: Path) -> None:
    environment = {**os.environ, "HARENA_HOME": str(home)}
    command = [sys.executable, str(EXAMPLES / words[0]), *words[1:]]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if ended.returncode != 0:
        raise RuntimeError(f"{words[0]} ended with {ended.returncode}: {ended.stderr[-2000:]}")


def render(results: dict[str, Any]) -> list[str]:
    """The table, and what is asked of it."""
    rows = results["rows"]
    names = [name for name in STAGES if all(name in row["results"] for row in rows)]
    lines = [
        f"Pass rate (one answer at temperature 1 to each of 500 unseen prompts; median of the last three evaluations), "
        f"{results['mode']}, {results['threads']} threads of torch. Judged: the exported model, in plain transformers. "
        "Wall and CPU seconds: from nothing to the exported model of RL; CPU also of what follows it.",
        "",
        f"| seed | {' | '.join(STAGES[name] for name in names)} | judged | wall s | CPU s |",
        "|---" * (len(names) + 4) + "|",
    ]
    for row in rows:
        rates = " | ".join(f"{row['results'][name]:.3f}" for name in names)
        cpu = "" if row["cpu_seconds"] is None else f"{row['cpu_seconds']:.0f}"
        lines.append(f"| {row['seed']} | {rates} | {row['judged']:.3f} | {row['seconds']:.0f} | {cpu} |")
    rates = " | ".join(f"{median(row['results'][name] for row in rows):.3f}" for name in names)
    judged = median(row["judged"] for row in rows)
    lines.append(f"| median | {rates} | {judged:.3f} | {median(row['seconds'] for row in rows):.0f} | |")
    above = sum(row["results"]["rl"] > 0.9 for row in rows)
    return [*lines, "", f"RL is above 0.9 in {above} of {len(rows)}."]
