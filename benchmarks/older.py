"""This tree beside an older commit: fresh and warm sandboxes, execs in one that is kept, and idle memory.

`python -m benchmarks.older COMMIT` makes a work tree of the commit, and measures both trees by turns with the same
code, which is that of this tree: what differs is the `harena` that a process of its own imports. Each round has the two
in the other order, and the last line says whether the medians keep to the bar.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

SLOWER, LARGER = 1.05, 1.10
"""the bar: times and processor time, and idle memory, of this tree over those of the older one"""
_ROOT = Path(__file__).parents[1]
_LEAST_ROUNDS = 2


def figures(*, count: int, held: int) -> dict[str, float]:
    """Measure the `harena` that this process imports: milliseconds of a life or exec, and KiB of an idle sandbox."""
    from benchmarks.measures import idle, life

    found: dict[str, float] = {}
    for mode, row in life.measure(count=count)["modes"].items():
        stage = row["stages"].get("whole life") or row["stages"]["exec"]
        found[f"{mode}, p50 ms"] = stage["p50"] * 1e3
        if (own := row["cpu_ms"].get("whole tree")) is not None:
            found[f"{mode}, processor ms"] = own
    found["idle, KiB"] = idle.measure(counts=(held,), new_too=False)["rows"][-1]["total_kib"]
    return found


def compare(commit: str, *, rounds: int, count: int, held: int) -> dict[str, dict[str, list[float]]]:
    """figure -> {"older": one value for each round, "this": likewise}."""
    told: dict[str, dict[str, list[float]]] = {}
    with _tree_of(commit) as older:
        sides = [("older", older), ("this", _ROOT)]
        for number in range(rounds):
            for side, tree in sides if number % 2 == 0 else reversed(sides):
                for name, value in _measured(tree, count=count, held=held).items():
                    told.setdefault(name, {"older": [], "this": []})[side].append(value)
                print(f"round {number + 1} of {rounds}: {side} measured", file=sys.stderr, flush=True)
    return told


def render(told: dict[str, dict[str, list[float]]]) -> tuple[list[str], bool]:
    """(a markdown table, whether each figure keeps to the bar)."""
    lines = ["| figure | older | this tree | this / older | bar |", "|---|---|---|---|---|"]
    keeps = True
    for name, sides in told.items():
        before, now = median(sides["older"]), median(sides["this"])
        bar = LARGER if name.startswith("idle") else SLOWER
        keeps = keeps and now <= before * bar
        lines.append(f"| {name} | {before:.2f} | {now:.2f} | {now / before:.3f} | {bar:.2f} |")
    return lines, keeps


@contextmanager
def _tree_of(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="harena-older-") as folder:
        place = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(place), commit], cwd=_ROOT, check=True)
        try:
            yield place
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(place)], cwd=_ROOT, check=True)


def _measured(tree: Path, *, count: int, held: int) -> dict[str, float]:
    """The figures of a tree, by a process of its own with a home of its own. Raises CalledProcessError."""
    words = [sys.executable, "-m", "benchmarks.older", "--only", "--count", str(count), "--held", str(held)]
    with tempfile.TemporaryDirectory(prefix="harena-older-home-") as home:
        environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "HARENA_HOME": home}
        done = subprocess.run(words, cwd=_ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if Path(answer["of"]) != tree / "src" / "harena":
        raise RuntimeError(f"{answer['of']} was measured in place of {tree}")
    return answer["figures"]  # type: ignore[no-any-return] # this module wrote it


def main(words: Sequence[str] | None = None) -> int:
    """Measure and compare; 1 where a figure does not keep to the bar."""
    parser = argparse.ArgumentParser(prog="benchmarks.older", description=__doc__)
    parser.add_argument("commit", nargs="?", help="an older commit")
    parser.add_argument("--rounds", type=int, default=6, help="of both trees")
    parser.add_argument("--count", type=int, default=300, help="lives, or execs, of each kind in a round")
    parser.add_argument("--held", type=int, default=100, help="idle sandboxes whose memory is read")
    parser.add_argument("--only", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(words)
    if asked.only:
        import harena

        measured = figures(count=asked.count, held=asked.held)
        print(json.dumps({"of": str(Path(str(harena.__file__)).parent), "figures": measured}))
        return 0
    if asked.commit is None or asked.rounds < _LEAST_ROUNDS:
        parser.error(f"give a commit, and {_LEAST_ROUNDS} rounds or more: the order changes with each")
    lines, keeps = render(compare(asked.commit, rounds=asked.rounds, count=asked.count, held=asked.held))
    print("\n".join([*lines, "", "every figure keeps to the bar" if keeps else "a figure does not keep to the bar"]))
    return 0 if keeps else 1


if __name__ == "__main__":
    raise SystemExit(main())
