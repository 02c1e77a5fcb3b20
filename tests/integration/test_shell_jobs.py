"""`harena benchmark` from a shell, against a real server: started, followed, saved, compared, deleted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest
from test_server import server

pytestmark = pytest.mark.thorough

__all__ = ["server"]

STDIO = {"type": "stdio", "cases": [{"stdin": "", "stdout": "3"}]}


def harena(*words: str, code: int = 0) -> str:
    """What a command says; its exit code must be `code`."""
    done = subprocess.run(
        [sys.executable, "-m", "harena.cli.main", "benchmark", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ,
    )
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return done.stdout if done.stdout else done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_a_jobs_life_from_the_shell(tmp_path: Path) -> None:
    """Every verb, and the files that they write."""
    file = tmp_path / "scenarios.json"
    ids = []
    for right in (3, 1):
        programs = {f"s{number}": f"print({3 if number < right else number + 10})" for number in range(4)}
        file.write_text(
            json.dumps([{"id": name, "candidate": code, "scoring": STDIO} for name, code in programs.items()])
        )
        ids.append(harena("submit", "--scenarios", str(file), "--attempts", "2", "--retry-on", "timeout").strip())
        assert "passed" in harena("watch", ids[-1])
    newest = json.loads(harena("get", "scenarios"))
    assert (newest["id"], newest["progress"]["passed"]) == (ids[1], 2)
    assert newest["config"]["retry_on"] == ["platform", "timeout"]

    harena("results", ids[0], "--output", str(tmp_path / "r.parquet"))
    table = pyarrow.parquet.read_table(tmp_path / "r.parquet")
    assert sorted(table.column("run").to_pylist()) == list(range(8))
    assert sum(table.column("passed").to_pylist()) == 6
    lines = [json.loads(line) for line in harena("results", ids[0], "--format", "jsonl").splitlines()]
    assert sum(line["passed"] for line in lines) == 6

    change = json.loads(harena("diff", *ids, "--format", "json", "--fail-on", "regression", code=1))
    assert change["changes"]["newly_failing"] == 2
    assert [entry["scenario_id"] for entry in change["scenarios"]] == ["s1", "s2"]
    harena("delete", *ids)
    assert json.loads(harena("ls", "--format", "json")) == []
    assert "no benchmark job has the id or name" in harena("get", ids[0], code=2)
