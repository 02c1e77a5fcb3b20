"""A data set and answers to it, from the shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "scoring"))

from data_set_rows import HUMANEVAL, written


def harena(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command line, in the folder of `home`."""
    environment = {**os.environ, "HARENA_HOME": str(home)}
    words = (sys.executable, "-m", "harena.cli.main", *words)
    return subprocess.run(words, cwd=home.parent, env=environment, capture_output=True, text=True, timeout=100)


def test_the_shell_line_of_the_page(tmp_path: Path) -> None:
    """Rows and samples in, one reward for each sample out; an oracle that does not pass ends with 3."""
    folder, home = tmp_path, tmp_path / "home"
    broken = {**HUMANEVAL, "task_id": "HumanEval/901", "canonical_solution": "    return x\n"}
    written(folder / "HumanEval.jsonl.gz", [HUMANEVAL, broken])
    answers = ["    return x * 2\n", "    return x\n"]
    written(folder / "samples.jsonl", [{"task_id": "HumanEval/900", "completion": answer} for answer in answers])
    words = ("--name", "he", "--scenarios", "HumanEval.jsonl.gz")
    done = harena(home, "benchmark", "run", *words, "--candidates", "samples.jsonl", "--format", "json")
    assert done.returncode == 0, done.stderr
    runs = sorted(json.loads(done.stdout)["runs"], key=lambda run: run["run"])
    assert [run["score"] for run in runs] == [1.0, 0.0]
    oracle = harena(home, "benchmark", "run", *words)
    assert oracle.returncode == 3
    assert "HumanEval/901/oracle" in oracle.stderr
    checked = harena(home, "scenario", "check", "HumanEval.jsonl.gz", "--candidates", "samples.jsonl")
    assert checked.stdout == "2 scenarios, 1 problem: ok (humaneval)\n"
    refused = harena(home, "benchmark", "run", *words, "--format", "mbpp")
    assert refused.returncode == 2
    assert "HumanEval.jsonl.gz:1: test_list: is required" in refused.stderr
