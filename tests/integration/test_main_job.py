"""The main job, end to end: from the shell and from Python as the guide prints it, on the real runtime."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harena.core.job_lifecycle import JobState

HARENA = [sys.executable, "-m", "harena.cli.main"]
BLUEPRINT = "python-ml-training-env"
JOB = "rft-epoch-42-reward-signals"

CHECKS = [{"args": [2], "expected": 4}, {"args": [0], "expected": 0}, {"args": [-3], "expected": 9}]
PROBLEM = {
    "id": "square",
    "statement": "Write square(n): n times n.",
    "entry_point": "square",
    "scoring": {"type": "tests", "comparison": "exact", "checks": CHECKS},
}
PASSED = {"passed": True, "reason": "passed"}

CANDIDATES: dict[str, tuple[str, dict[str, Any]]] = {
    "right": ("def square(n):\n    return n * n\n", PASSED),
    "wrong": ("def square(n):\n    return n + n\n", {"passed": False}),
    "crash": ("def square(n):\n    raise RuntimeError('no')\n", {"passed": False, "reason": "exception"}),
    "syntax": ("def square(n)\n    return n * n\n", {"passed": False, "reason": "syntax_error"}),
    "missing": ("def cube(n):\n    return n ** 3\n", {"passed": False, "reason": "missing_entry_point"}),
    "slow": ("def square(n):\n    while True:\n        pass\n", {"passed": False, "reason": "timeout"}),
    "cheat-exit": ("import os\n\ndef square(n):\n    os._exit(0)\n", {"passed": False}),
    "cheat-equal": (
        "class Any(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n"
        "def square(n):\n    return Any()\n",
        {"passed": False},
    ),
}

SLEEPER = "import time\n\ndef square(n):\n    time.sleep(600)\n"


def scenario(name: str, candidate: str, expected: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """One candidate of the problem."""
    known = {"expected": expected} if expected else {}
    return {"id": f"square/{name}", "problem": "square", "candidate": candidate, **known, **more}


def batch() -> list[dict[str, Any]]:
    """Every candidate, the slow one on a short leash."""
    return [
        scenario(name, candidate, expected, **({"limits": {"timeout_seconds": 2}} if name == "slow" else {}))
        for name, (candidate, expected) in CANDIDATES.items()
    ]


def write_batch(folder: Path, scenarios: list[dict[str, Any]]) -> None:
    """As a file; JSON is YAML."""
    content = {"version": 1, "problems": [PROBLEM], "scenarios": scenarios}
    (folder / "candidate-solutions.yaml").write_text(json.dumps(content, indent=1))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A working directory with a home of its own."""
    return tmp_path


def environment(home: Path) -> dict[str, str]:
    """This one, with harena's things in `home`."""
    return {**os.environ, "HARENA_HOME": str(home / "harena-home")}


def harena(home: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command line that shall end with `code`."""
    done = subprocess.run(
        [*HARENA, *words], cwd=home, env=environment(home), capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == code, f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done


def results(home: Path, job: str = JOB) -> dict[str, Any]:
    """A job's results, from a process of their own."""
    answer: dict[str, Any] = json.loads(harena(home, "benchmark", "results", "--job", job, "--format", "json").stdout)
    return answer


def run_words(name: str = JOB) -> list[str]:
    """The guide's command line, with `harena` for its name."""
    return [
        *("benchmark", "run", "--name", name, "--scenarios", "./candidate-solutions.yaml"),
        *("--blueprint", BLUEPRINT, "--concurrency", "200", "--timeout", "120", "--retry-attempts", "1"),
    ]


def test_the_guides_shell_lines(home: Path) -> None:
    """Every candidate gets the verdict that is known beforehand, and another process reads the same results."""
    write_batch(home, batch())
    harena(home, "blueprint", "create", BLUEPRINT)
    assert harena(home, "scenario", "check", "candidate-solutions.yaml").stdout == "8 scenarios, 1 problem: ok\n"
    done = harena(home, *run_words())
    assert f"verdicts right: {len(CANDIDATES)}/{len(CANDIDATES)}" in done.stdout
    answer = results(home)
    assert answer["state"] == JobState.COMPLETED
    scores = {run["scenario_id"]: (run["score"], run["validity"], run["trust"]) for run in answer["runs"]}
    assert scores["square/right"] == (1.0, "valid", "separate")
    assert all(scores[f"square/{name}"][0] == 0.0 for name in CANDIDATES if name not in ("right", "wrong"))
    assert scores["square/wrong"][0] is not None
    assert scores["square/wrong"][0] < 1.0
    assert answer["summary"]["infra"] == 0
    for run in answer["runs"]:
        assert run["duration_seconds"] > 0
        assert run["evidence"]


@pytest.mark.slow
def test_the_demo(home: Path) -> None:
    """What `make demo` runs: hundreds of candidates, and every verdict is the one that is known."""
    file = Path(__file__).parents[2] / "examples/candidate-solutions.yaml"
    words = ("--blueprint", "python-warm", "--concurrency", "200", "--timeout", "120", "--retry-attempts", "1")
    done = harena(home, "benchmark", "run", "--name", "demo", "--scenarios", str(file), *words)
    right, known = done.stdout.partition("verdicts right: ")[2].split()[0].split("/")
    assert right == known
    assert int(known) > 300


GUIDE = """
import json, sys
import harena
harena.install_aliases()
candidate_solutions = json.load(open("scenarios.json"))

import runloop
# Configure execution environments for RFT training loop
blueprint = runloop.blueprints.get("python-ml-training-env")
# Submit scenario batch for reward signal generation
job = runloop.benchmark_jobs.create(
    name="rft-epoch-42-reward-signals",
    scenarios=candidate_solutions,
    blueprint_id=blueprint.id,
    config={
        "concurrency": 200,
        "timeout_seconds": 120,
        "retry_attempts": 1
    }
)
# Collect scoring signals for training loop
results = runloop.benchmark_jobs.wait(job.id)
reward_signals = [(r.scenario_id, r.score) for r in results.runs]

one = results.runs[0]
print(json.dumps([reward_signals, [one.passed, one.validity, one.trust, one.reason, one.duration_seconds]]))
"""


def test_the_guides_python_lines(home: Path) -> None:
    """The snippet as printed, after the aliases were asked for."""
    inline = {name: value for name, value in PROBLEM.items() if name != "id"}
    given = [{**row, "problem": inline} for row in batch() if row["id"] in ("square/right", "square/cheat-exit")]
    (home / "scenarios.json").write_text(json.dumps(given))
    harena(home, "blueprint", "create", BLUEPRINT)
    done = subprocess.run(
        [sys.executable, "-c", GUIDE], cwd=home, env=environment(home), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    signals, first = json.loads(done.stdout)
    assert signals == [["square/right", 1.0], ["square/cheat-exit", 0.0]]
    assert first[:4] == [True, "valid", "separate", "passed"]
    assert first[4] > 0


def test_a_wrong_known_verdict_is_said(home: Path) -> None:
    """Exit code 3, and the run is named."""
    right = CANDIDATES["right"][0]
    write_batch(home, [scenario("right", right, PASSED), scenario("mislabelled", right, {"passed": False})])
    harena(home, "blueprint", "create", BLUEPRINT)
    done = harena(home, *run_words(), code=3)
    assert "square/mislabelled (attempt 1): passed (passed), expected failed" in done.stderr


def test_mistakes_are_told_before_anything_runs(home: Path) -> None:
    """File, line and field of each, and no job is left behind."""
    write_batch(home, [*batch(), {"id": "square/odd", "problem": "squre", "candidat": "x"}])
    done = harena(home, "scenario", "check", "candidate-solutions.yaml", code=1)
    assert "candidate-solutions.yaml:" in done.stdout
    assert "scenarios[8]" in done.stdout
    done = harena(home, *run_words()[:6], code=2)
    assert "scenarios[8]" in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(harena(home, "benchmark", "ls", "--format", "json").stdout) == []


def start_with_a_sleeper(home: Path) -> subprocess.Popen[str]:
    """A job whose first candidate has finished and whose second one sleeps."""
    write_batch(home, [scenario("right", CANDIDATES["right"][0], PASSED), scenario("sleeper", SLEEPER, None)])
    harena(home, "blueprint", "create", BLUEPRINT)
    process = subprocess.Popen(
        [*HARENA, *run_words()],
        cwd=home,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == f"{JOB}: 2 runs, 2 at a time\n"
    assert f"{JOB}: 1/2" in process.stderr.readline()
    return process


def test_ctrl_c_ends_the_job_and_keeps_results(home: Path) -> None:
    """Exit code 130, the finished run is kept, and the sleeping candidate does not survive."""
    process = start_with_a_sleeper(home)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group, whatever harena has started included
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "cancelled" in out
    answer = results(home)
    assert answer["state"] == JobState.CANCELLED
    assert {run["scenario_id"]: run["reason"] for run in answer["runs"]} == {
        "square/right": "passed",
        "square/sleeper": "cancelled",
    }


def test_kill_9_keeps_what_was_reported(home: Path) -> None:
    """The next process sees the job interrupted, with the result that had been reported."""
    process = start_with_a_sleeper(home)
    process.kill()
    process.communicate(timeout=30)
    answer = results(home)
    assert answer["state"] == JobState.INTERRUPTED
    assert [(run["scenario_id"], run["score"]) for run in answer["runs"]] == [("square/right", 1.0)]


def test_another_process_can_cancel(home: Path) -> None:
    """`harena benchmark cancel` in a second shell ends the job of the first, which says so and exits 2."""
    process = start_with_a_sleeper(home)
    assert "cancelled" in harena(home, "benchmark", "cancel", JOB).stdout
    out, err = process.communicate(timeout=30)
    assert process.returncode == 2, err
    assert "the job did not complete, it is cancelled" in err
    assert "cancelled" in out


def test_opening_ahead_loads_nothing_in_another_thread(tmp_path: Path) -> None:
    """All modules of the node are there when it begins to open, so that the command may load its own meanwhile; a
    process that then needs no node ends as others do."""
    code = (
        "import sys\n"
        "from harena.ahead import open_ahead\n"
        "open_ahead()\n"
        "before = set(sys.modules)\n"
        "if sys.argv[1:]:\n"
        "    from harena.sdk.portal import current_portal\n"
        "    portal = current_portal()\n"
        "    portal.submit(portal.operations).result()\n"
        "    print(sorted(name for name in set(sys.modules) - before))\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "HARENA_BASE_URL"} | {
        "HARENA_HOME": str(tmp_path / "home")
    }
    opened = subprocess.run([sys.executable, "-c", code, "wait"], env=env, capture_output=True, text=True, check=True)
    assert (opened.stdout, opened.stderr) == ("[]\n", "")
    unused = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert (unused.stdout, unused.stderr) == ("", "")
