"""The command line: `python -m benchmarks NAME`. Prints a table, and replaces the stored result of that name."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine, peers, report
from benchmarks.measures import first, held, idle, latency, life, workload
from benchmarks.workload import SUITES


def _workload(asked: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    results = workload.measure(
        suite=asked.suite,
        concurrency=asked.concurrency,
        programs=asked.programs,
        rounds=asked.rounds,
        names=tuple(asked.peers),
    )
    suffix = "" if asked.concurrency == DEFAULT_CONCURRENCY else f"-c{asked.concurrency}"
    return f"workload-{asked.suite}{suffix}", results


DEFAULT_CONCURRENCY = 8

MEASURES: dict[str, Callable[[argparse.Namespace], tuple[str, dict[str, Any]]]] = {
    "workload": _workload,
    "latency": lambda asked: ("latency", latency.measure(count=asked.count)),
    "first": lambda asked: ("first", first.measure(count=asked.count)),
    "idle": lambda asked: ("idle", idle.measure(counts=tuple(asked.counts))),
    "held": lambda asked: ("held", held.measure(up_to=asked.up_to, step=asked.step)),
    "life": lambda asked: ("life", life.measure(count=asked.count)),
}

ALL: tuple[tuple[str, ...], ...] = (
    ("workload", "--suite", "clean"),
    ("workload", "--suite", "stdio"),
    ("workload", "--suite", "mixed", "--programs", "100", "--rounds", "3"),
    ("latency",),
    ("first",),
    ("idle",),
    ("held",),
    ("life",),
)
"""what `all` runs, each in a process of its own"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for. Returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    asked = _parser().parse_args(words)
    if asked.measure == "all":
        return _all(asked.no_save)
    described = {**machine.describe(), "command": " ".join(word for word in words if word != "--no-save")}
    name, results = MEASURES[asked.measure](asked)
    described["load_after"] = machine.load_average()
    if asked.no_save:
        lines = report.section({"name": name, "machine": described, "results": results})
    else:
        lines = report.save(name, described, results)
    print("\n".join(lines))
    return 0


def _all(no_save: bool) -> int:
    failed = []
    for words in ALL:
        command = [sys.executable, "-m", "benchmarks", *words, *(["--no-save"] if no_save else [])]
        if subprocess.run(command, cwd=Path(__file__).parents[1], check=False).returncode != 0:
            failed.append(" ".join(words))
    for line in failed:
        print(f"failed: python -m benchmarks {line}", file=sys.stderr)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    saving = argparse.ArgumentParser(add_help=False)
    saving.add_argument("--no-save", action="store_true", help="print only, leave the stored results as they are")
    measures = parser.add_subparsers(dest="measure", required=True)

    one = measures.add_parser("workload", parents=[saving], help="every peer over the same programs")
    one.add_argument("--suite", choices=sorted(SUITES), default="clean")
    one.add_argument("--concurrency", type=_positive, default=DEFAULT_CONCURRENCY)
    one.add_argument("--programs", type=_positive, default=400)
    one.add_argument("--rounds", type=_positive, default=5)
    one.add_argument("--peers", nargs="+", choices=peers.PEERS, default=list(peers.PEERS))

    for name, count, text in (
        ("latency", 200, "create, exec, destroy through the SDK beside starts of /bin/true"),
        ("first", 20, "first result in a fresh Python process, and what the import costs"),
        ("life", 200, "where the time of a life goes"),
    ):
        measures.add_parser(name, parents=[saving], help=text).add_argument("--count", type=_positive, default=count)

    one = measures.add_parser("idle", parents=[saving], help="memory of an idle sandbox")
    one.add_argument("--counts", type=_positive, nargs="+", default=[1000, 2000])

    one = measures.add_parser("held", parents=[saving], help="create time as the number held grows")
    one.add_argument("--up-to", type=_positive, default=2000)
    one.add_argument("--step", type=_positive, default=500)

    measures.add_parser("all", parents=[saving], help="everything, one after the other")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number
