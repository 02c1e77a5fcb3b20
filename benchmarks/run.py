"""The command line: `python -m benchmarks NAME`. Prints a table, and replaces the stored result of that name."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine, peers, report
from benchmarks.hostile import BY_NAME
from benchmarks.measures import (
    ablations,
    cluster,
    data_set,
    environments,
    first,
    held,
    idle,
    images,
    latency,
    learning,
    learning_worlds,
    life,
    neighbours,
    orchestration,
    pages,
    server_memory,
    snapshots,
    submit,
    throughput,
    training_latency,
    training_step,
    typescript,
    verdicts_under_load,
    workload,
    worlds,
)
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


def _learning(asked: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    results = learning.measure(
        proof=asked.proof,
        mode=asked.mode,
        runs=asked.runs,
        seeds=asked.seeds,
        compare=asked.compare,
        threads=asked.threads,
    )
    return f"learning-{asked.proof}" + ("" if asked.mode == "sync" else f"-{asked.mode}"), results


def _ablations(asked: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    results = ablations.measure(rounds=asked.rounds, count=asked.count, names=tuple(asked.mechanisms))
    some = "" if set(asked.mechanisms) == set(ablations.SERVED) else f"-{'-'.join(asked.mechanisms)}"
    return f"ablations{some}", results


DEFAULT_CONCURRENCY = 8

MEASURES: dict[str, Callable[[argparse.Namespace], tuple[str, dict[str, Any]]]] = {
    "workload": _workload,
    "images": lambda asked: (
        "images",
        images.measure(count=asked.count, first_count=asked.first_count, megabytes=asked.megabytes),
    ),
    "environments": lambda asked: (
        "environments",
        environments.measure(
            count=asked.count,
            first_count=asked.first_count,
            megabytes=asked.megabytes,
            rounds=asked.rounds,
            depth=asked.depth,
        ),
    ),
    "latency": lambda asked: ("latency", latency.measure(count=asked.count)),
    "first": lambda asked: ("first", first.measure(count=asked.count)),
    "idle": lambda asked: ("idle", idle.measure(counts=tuple(asked.counts))),
    "held": lambda asked: ("held", held.measure(up_to=asked.up_to, step=asked.step)),
    "snapshots": lambda asked: ("snapshots", snapshots.measure(rounds=asked.rounds)),
    "life": lambda asked: ("life", life.measure(count=asked.count)),
    "orchestration": lambda asked: (
        "orchestration",
        orchestration.measure(programs=asked.programs, rounds=asked.rounds),
    ),
    "jobs-throughput": lambda asked: (
        "jobs-throughput",
        throughput.measure(programs=asked.programs, rounds=asked.rounds),
    ),
    "data-set": lambda asked: ("data-set", data_set.measure(rows=asked.rows, rounds=asked.rounds)),
    "submit": lambda asked: ("submit", submit.measure(count=asked.count)),
    "typescript": lambda asked: ("typescript", typescript.measure(count=asked.count)),
    "pages": lambda asked: ("pages", pages.measure(runs=tuple(asked.runs), count=asked.count)),
    "server-memory": lambda asked: ("server-memory", server_memory.measure(jobs=asked.jobs, runs=asked.runs)),
    "training-step": lambda asked: (
        "training-step",
        training_step.measure(steps=asked.steps, rounds=asked.rounds, tokens=asked.tokens),
    ),
    "training-latency": lambda asked: (
        "training-latency",
        training_latency.measure(steps=asked.steps, seeds=asked.seeds),
    ),
    "cluster": lambda asked: (
        "cluster",
        cluster.measure(steps=asked.steps, seeds=asked.seeds, kills=asked.kills),
    ),
    "verdicts-under-load": lambda asked: (
        "verdicts-under-load",
        verdicts_under_load.measure(
            repeats=asked.repeats, rescore_fraction=asked.rescore_fraction, burners=asked.burners
        ),
    ),
    "neighbours": lambda asked: (
        "neighbours",
        neighbours.measure(seed=asked.seed, pairs=asked.pairs, claims=asked.claims, names=asked.behaviours),
    ),
    "worlds": lambda asked: ("worlds", worlds.measure(steps=asked.steps)),
    "learning-worlds": lambda asked: ("learning-worlds", learning_worlds.measure(runs=asked.runs, seeds=asked.seeds)),
    "ablations": _ablations,
    "learning": _learning,
}

ALL: tuple[tuple[str, ...], ...] = (
    ("workload", "--suite", "clean"),
    ("workload", "--suite", "stdio"),
    ("workload", "--suite", "mixed", "--programs", "100", "--rounds", "3"),
    ("latency",),
    ("first",),
    ("images",),
    ("environments",),
    ("idle",),
    ("held",),
    ("snapshots",),
    ("life",),
    ("ablations",),
    ("orchestration",),
    ("jobs-throughput",),
    ("data-set",),
    ("submit",),
    ("typescript",),
    ("pages",),
    ("server-memory",),
    ("verdicts-under-load",),
    ("neighbours",),
    ("learning", "--compare"),
    ("learning", "--proof", "compositional", "--runs", "3", "--compare"),
    ("training-step",),
    ("training-latency",),
    ("cluster",),
    ("worlds",),
    ("learning-worlds",),
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

    one = measures.add_parser("images", parents=[saving], help="sandboxes of images beside those of the default one")
    one.add_argument("--count", type=_positive, default=100)
    one.add_argument("--first-count", type=_positive, default=10, help="fresh processes for each image")
    one.add_argument("--megabytes", type=_positive, default=1000, help="size of the large image")

    one = measures.add_parser(
        "environments", parents=[saving], help="images, pulls, snapshots, forks and chains, each beside its bar"
    )
    one.add_argument("--count", type=_positive, default=100)
    one.add_argument("--first-count", type=_positive, default=10, help="fresh processes for each image")
    one.add_argument("--megabytes", type=_positive, default=1000, help="size of the large image")
    one.add_argument("--rounds", type=_positive, default=5)
    one.add_argument("--depth", type=_positive, default=1000, help="snapshots above each other")

    one = measures.add_parser("ablations", parents=[saving], help="what each mechanism of a fast start earns")
    one.add_argument("--rounds", type=_positive, default=24)
    one.add_argument("--count", type=_positive, default=15, help="operations in each run")
    one.add_argument("--mechanisms", nargs="+", choices=list(ablations.SERVED), default=list(ablations.SERVED))

    one = measures.add_parser("idle", parents=[saving], help="memory of an idle sandbox")
    one.add_argument("--counts", type=_positive, nargs="+", default=[1000, 2000])

    one = measures.add_parser("held", parents=[saving], help="create time as the number held grows")
    one.add_argument("--up-to", type=_positive, default=2000)
    one.add_argument("--step", type=_positive, default=500)

    one = measures.add_parser("snapshots", parents=[saving], help="snapshots and forks beside new sandboxes")
    one.add_argument("--rounds", type=_positive, default=10)

    _add_jobs(measures, saving)
    _add_learning(measures, saving)
    _add_learning_worlds(measures, saving)
    _add_training(measures, saving)
    one = measures.add_parser("worlds", parents=[saving], help="how fast worlds are made, searched and played")
    one.add_argument("--steps", type=_positive, default=300_000)
    measures.add_parser("all", parents=[saving], help="everything, one after the other")
    return parser


def _add_jobs(measures: argparse._SubParsersAction[argparse.ArgumentParser], saving: argparse.ArgumentParser) -> None:
    for name, programs, rounds, text in (
        ("orchestration", 10_000, 3, "what a job with stored results adds to its runs"),
        ("jobs-throughput", 2000, 5, "verdicts per second of a job beside a pool of plain subprocesses"),
    ):
        one = measures.add_parser(name, parents=[saving], help=text)
        one.add_argument("--programs", type=_positive, default=programs)
        one.add_argument("--rounds", type=_positive, default=rounds)

    one = measures.add_parser("data-set", parents=[saving], help="a data set beside a script like its own")
    one.add_argument("--rows", type=_positive, default=164)
    one.add_argument("--rounds", type=_positive, default=3)

    one = measures.add_parser("submit", parents=[saving], help="from submission to the result of one scenario")
    one.add_argument("--count", type=_positive, default=100)

    one = measures.add_parser(
        "typescript", parents=[saving], help="a life of a sandbox over HTTP, by the TypeScript client and by Python's"
    )
    one.add_argument("--count", type=_positive, default=200)

    one = measures.add_parser("pages", parents=[saving], help="pages of results of a small and a large job, over HTTP")
    one.add_argument("--runs", type=_positive, nargs="+", default=[10_000, 100_000])
    one.add_argument("--count", type=_positive, default=50)

    one = measures.add_parser("server-memory", parents=[saving], help="a server's memory as it finishes runs")
    one.add_argument("--jobs", type=_positive, default=20)
    one.add_argument("--runs", type=_positive, default=1000)

    one = measures.add_parser(
        "verdicts-under-load", parents=[saving], help="the demo's verdicts while all cores are busy"
    )
    one.add_argument("--repeats", type=_positive, default=20)
    one.add_argument("--rescore-fraction", type=float, default=0.1)
    one.add_argument("--burners", type=int, default=None, help="busy processes beside it; by default one for each core")

    one = measures.add_parser(
        "neighbours", parents=[saving], help="one workspace beside hostile behaviours of another one"
    )
    one.add_argument("--seed", type=int, default=11, help="draws the pairs")
    one.add_argument("--pairs", type=int, default=10, help="of behaviours at the same time, after each alone")
    one.add_argument("--claims", type=_positive, default=150, help="in each window")
    one.add_argument("--behaviours", nargs="*", choices=list(BY_NAME), help="these alone, instead of all")


def _add_learning(
    measures: argparse._SubParsersAction[argparse.ArgumentParser], saving: argparse.ArgumentParser
) -> None:
    one = measures.add_parser("learning", parents=[saving], help="whether training learns from execution, over seeds")
    one.add_argument("--proof", choices=[*learning.PROOFS], default="noisy-teacher")
    one.add_argument("--mode", choices=["sync", "one_step_off_async", "fully_async"], default="sync")
    one.add_argument("--runs", type=_positive, default=10, help="as many seeds are drawn")
    one.add_argument("--seeds", type=int, nargs="+", help="these instead")
    one.add_argument("--compare", action="store_true", help="with the control, and SFT on verified samples")
    one.add_argument("--threads", type=_positive, default=2, help="of torch")


def _add_learning_worlds(
    measures: argparse._SubParsersAction[argparse.ArgumentParser], saving: argparse.ArgumentParser
) -> None:
    one = measures.add_parser("learning-worlds", parents=[saving], help="whether a policy learns to explore worlds")
    one.add_argument("--runs", type=_positive, default=5, help="as many seeds are drawn")
    one.add_argument("--seeds", type=int, nargs="+", help="these instead")


def _add_training(
    measures: argparse._SubParsersAction[argparse.ArgumentParser], saving: argparse.ArgumentParser
) -> None:
    one = measures.add_parser("training-step", parents=[saving], help="a GRPO step beside TRL's")
    one.add_argument("--steps", type=_positive, default=20)
    one.add_argument("--rounds", type=_positive, default=3)
    one.add_argument("--tokens", type=_positive, default=24)

    one = measures.add_parser("training-latency", parents=[saving], help="each mode with latency injected into rewards")
    one.add_argument("--steps", type=_positive, default=120)
    one.add_argument("--seeds", type=_positive, default=10)

    one = measures.add_parser("cluster", parents=[saving], help="RL over raylets of this machine, and their loss")
    one.add_argument("--steps", type=_positive, default=60, help="of each paired job")
    one.add_argument("--seeds", type=_positive, default=5)
    one.add_argument("--kills", type=_positive, default=20)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number
