"""A data set in the form of HumanEval, scored by `harena benchmark run` and by a script like the data set's own.

Both sides are whole commands, from the start of Python to the last verdict, alternated: without a program that never
ends, and with one in twenty. Beside that: many programs that sleep for a second, all asked for at once; and what the
start of a command takes by itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.figures import median
from benchmarks.machine import OwnTree
from benchmarks.workload import suite

EVERY = 20
"""one in so many answers is a loop, where there are loops"""
SLEEPERS, SLEEP_SECONDS = 300, 1
HARENA = (sys.executable, "-m", "harena.cli.main")
_ROOT = Path(__file__).parents[2]
_LOOP = "    while True:\n        pass\n"
_SLEEP = f"    import time\n    time.sleep({SLEEP_SECONDS})\n    return x + 1\n"


def measure(*, rows: int, rounds: int) -> dict[str, Any]:
    """{sides: {"no loops", "loops"} -> each side's medians and their ratios, starts: command -> medians, sleepers:
    seconds, the median}."""
    with tempfile.TemporaryDirectory(prefix="harena-benchmark-data-set-") as directory, OwnTree() as tree:
        place = Path(directory)
        os.environ["HARENA_HOME"] = str(place / "home")
        for name in ("HARENA_DATABASE_URL", "HARENA_BASE_URL"):
            os.environ.pop(name, None)
        problems = [_problem(index, *part) for index, part in enumerate(_solutions(rows))]
        write(place / "rows.jsonl", problems)
        sides = {}
        for label, every in (("no loops", 0), ("loops", EVERY)):
            answers = [
                {"task_id": row["task_id"], "completion": _LOOP if every and index % every == 3 else solution}
                for index, row in enumerate(problems)
                for solution in [row["canonical_solution"]]
            ]
            write(place / "answers.jsonl", answers)
            loops = sum(answer["completion"] == _LOOP for answer in answers)
            sides[label] = _alternated(place, tree, rounds, label, passing=rows - loops)
        write(place / "rows.jsonl", problems[:1])
        starts = _starts(place, tree, rounds)
        write(place / "rows.jsonl", [_sleeper(index) for index in range(SLEEPERS)])
        sleepers = [_harena(place, "oracle", SLEEPERS, SLEEPERS) for _ in range(rounds)]
    return {"rows": rows, "rounds": rounds, "sides": sides, "starts": starts, "sleepers": median(sleepers)}


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Lines of JSON."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _solutions(count: int) -> list[tuple[str, str, list[tuple[tuple[Any, ...], Any]]]]:
    """(function's name, its source, calls and what they return)."""
    programs = [program for program in suite("clean", 2 * count) if program.expected_verdict == "pass"][:count]
    return [(program.entry_point, program.solution, list(program.calls)) for program in programs]


def _problem(index: int, name: str, source: str, calls: list[tuple[tuple[Any, ...], Any]]) -> dict[str, Any]:
    head, _, body = source.partition(":\n")
    asserts = [f"    assert candidate({', '.join(map(repr, arguments))}) == {value!r}" for arguments, value in calls]
    return {
        "task_id": f"Made/{index}",
        "prompt": f"{head}:\n",
        "canonical_solution": body,
        "entry_point": name,
        "test": "\n".join(["def check(candidate):", *asserts, ""]),
    }


def _sleeper(index: int) -> dict[str, Any]:
    return {
        "task_id": f"Made/{index}",
        "prompt": "def after_a_while(x):\n",
        "canonical_solution": _SLEEP,
        "entry_point": "after_a_while",
        "test": f"def check(candidate):\n    assert candidate({index}) == {index + 1}\n",
    }


def _alternated(place: Path, tree: OwnTree, rounds: int, label: str, *, passing: int) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {"script": [], "harena": []}
    cpu: dict[str, list[float]] = {"script": [], "harena": []}
    for number in range(rounds):
        for side in sorted(seconds, reverse=number % 2 == 0):
            before = tree.cpu_seconds()
            took = (_script if side == "script" else _harena)(place, str(place / "answers.jsonl"), 0, passing)
            after = tree.cpu_seconds()
            seconds[side].append(took)
            if before is not None and after is not None:
                cpu[side].append(after - before)
            print(f"{label}, round {number + 1}/{rounds}: {side} {took:.2f} s", file=sys.stderr)
    found: dict[str, Any] = {
        side: {"seconds": median(seconds[side]), "cpu_seconds": median(cpu[side]) if cpu[side] else None}
        for side in seconds
    }
    found["ratio"] = found["harena"]["seconds"] / found["script"]["seconds"]
    pairs = zip(cpu["harena"], cpu["script"], strict=True)
    found["cpu_ratio"] = median([harena / script for harena, script in pairs]) if cpu["script"] else None
    return found


def _starts(place: Path, tree: OwnTree, rounds: int) -> dict[str, Any]:
    """Measure commands that do next to nothing, and a job of one row: what every command takes before its work."""
    found = {}
    for name, command in (
        ("harena --version", lambda: _done([*HARENA, "--version"])),
        ("harena benchmark ls", lambda: _done([*HARENA, "benchmark", "ls"])),
        ("harena benchmark run, one row", lambda: _harena(place, "oracle", 0, 1)),
    ):
        seconds, cpu = [], []
        for _ in range(rounds):
            began, before = time.perf_counter(), tree.cpu_seconds()
            command()
            seconds.append(time.perf_counter() - began)
            if before is not None and (after := tree.cpu_seconds()) is not None:
                cpu.append(after - before)
        found[name] = {"seconds": median(seconds), "cpu_seconds": median(cpu) if cpu else None}
    return found


def _script(place: Path, answers: str, _concurrency: int, passing: int) -> float:
    began = time.perf_counter()
    done = _done([sys.executable, "-m", "benchmarks.data_set_harness", str(place / "rows.jsonl"), answers])
    took = time.perf_counter() - began
    if int(done) != passing:
        raise RuntimeError(f"the script passes {done.strip()} programs, and {passing} are right")
    return took


def _harena(place: Path, answers: str, concurrency: int, passing: int) -> float:
    words = ["benchmark", "run", "--name", "made", "--scenarios", str(place / "rows.jsonl"), "--candidates", answers]
    words += ["--format", "json", *(["--concurrency", str(concurrency)] if concurrency else [])]
    began = time.perf_counter()
    done = _done([*HARENA, *words])
    took = time.perf_counter() - began
    passed = json.loads(done)["summary"]["passed"]
    if passed != passing:
        raise RuntimeError(f"harena passes {passed} programs, and {passing} are right")
    return took


def _done(command: list[str]) -> str:
    # an environment as a user has it: modules that were compiled once are read as they are
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def render(results: dict[str, Any]) -> list[str]:
    """What was compared, the table, and the sleepers."""
    lines = [
        f"{results['rows']} rows, median of {results['rounds']} alternated rounds. Script: each program forked from "
        "one process with another one for what it says, 3 s of wall time, four side by side. harena: "
        "`harena benchmark run`, nothing set. Both from the start of the command to its end. The ratio of processor "
        "time is the median of the rounds' ratios.",
        "",
        "| | script s | harena s | harena / script | script CPU s | harena CPU s | CPU, harena / script |",
        "|---|---|---|---|---|---|---|",
    ]
    for label, found in results["sides"].items():
        script, harena = found["script"], found["harena"]
        lines.append(
            f"| {label} | {script['seconds']:.2f} | {harena['seconds']:.2f} | {found['ratio']:.2f} "
            f"| {_told(script['cpu_seconds'])} | {_told(harena['cpu_seconds'])} | {_told(found['cpu_ratio'])} |"
        )
    lines += ["", "| start of a command | s | CPU s |", "|---|---|---|"]
    for name, start in results["starts"].items():
        lines.append(f"| `{name}` | {start['seconds']:.2f} | {_told(start['cpu_seconds'])} |")
    lines += ["", f"{SLEEPERS} programs that sleep {SLEEP_SECONDS} s, `--concurrency {SLEEPERS}`: "
              f"{results['sleepers']:.1f} s."]  # fmt: skip
    return lines


def _told(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f}"
