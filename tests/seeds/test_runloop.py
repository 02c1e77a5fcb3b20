"""Every snippet and command of the page on fine-tuning, as printed, on real nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from printed_snippets import RUNLOOP, run, snippets

import harena

ROOT = Path(__file__).parents[2]
BLUEPRINT = "python-ml-training-env"


def candidates() -> list[dict[str, Any]]:
    """One that is right, one that is wrong."""
    return [
        {
            "id": name,
            "candidate": {"files": {"solution.py": f"print({said})"}},
            "scoring": {"type": "stdio", "cases": [{"stdin": "", "stdout": "3"}]},
        }
        for name, said in (("right", 3), ("wrong", 4))
    ]


@pytest.mark.parametrize("line", [4, 54])
def test_lines_4_and_54_python(line: int) -> None:
    if not any(one.name == BLUEPRINT for one in harena.blueprints.list()):
        harena.blueprints.create(BLUEPRINT, warm=[])
    names = run(RUNLOOP, line, candidate_solutions=candidates())
    assert names["reward_signals"] == [("right", 1.0), ("wrong", 0.0)]


@pytest.mark.parametrize("line", [41, 91])
def test_lines_41_and_91_commands(line: int, tmp_path: Path) -> None:
    """In a shell, by the program that installing harena installs."""
    (tmp_path / "candidate-solutions.yaml").write_text(json.dumps(candidates()))
    module, _, function = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"][
        "runloop"
    ].partition(":")
    program = tmp_path / "bin/runloop"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom {module} import {function}\n{function}()\n")
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HARENA_HOME": str(tmp_path / "home"),
    }

    def shell(text: str) -> str:
        ended = subprocess.run(
            ["bash", "-eu", "-c", text],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    shell(f"runloop blueprint create {BLUEPRINT}")
    answer = shell(snippets(RUNLOOP)[line])
    found = json.loads(answer[answer.index("\n{") :])
    assert {one["scenario_id"]: one["score"] for one in found["runs"]} == {"right": 1.0, "wrong": 0.0}


def test_a_definition_by_the_name_of_the_page() -> None:
    """ "Submit a BenchmarkJobDef and the platform manages the fleet"."""
    import runloop  # type: ignore[import-not-found]

    made = runloop.benchmark_job_defs.create("rft-nightly", scenarios=candidates(), config={"concurrency": 2})
    assert isinstance(made, runloop.BenchmarkJobDef)
    results = runloop.benchmark_jobs.wait(runloop.benchmark_job_defs.run(made).id)
    assert [(r.scenario_id, r.score) for r in results.runs] == [("right", 1.0), ("wrong", 0.0)]
