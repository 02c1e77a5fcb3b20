"""Results on disk: `results/<name>.json`, and `results/README.md` rendered from all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.machine import headline
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

RESULTS = Path(__file__).parent / "results"

_ORDER = (
    "workload-clean",
    "workload-stdio",
    "workload-mixed",
    "latency",
    "first",
    "images",
    "environments",
    "idle",
    "held",
    "snapshots",
    "life",
    "ablations",
    "orchestration",
    "jobs-throughput",
    "data-set",
    "submit",
    "typescript",
    "pages",
    "server-memory",
    "verdicts-under-load",
    "neighbours",
    "learning-noisy-teacher",
    "learning-compositional",
    "training-step",
    "training-latency",
    "cluster",
    "worlds",
    "learning-worlds",
)

_RENDER: dict[str, tuple[str, Callable[[dict[str, Any]], list[str]]]] = {
    "workload": ("Workload", workload.render),
    "latency": ("Latency of one operation, one at a time", latency.render),
    "first": ("First result in a fresh Python process", first.render),
    "images": ("Sandboxes of images", images.render),
    "environments": ("What environments of agents have to hold", environments.render),
    "idle": ("Memory of an idle sandbox", idle.render),
    "held": ("Time to create as the number held grows", held.render),
    "snapshots": ("Snapshots and forks beside new sandboxes", snapshots.render),
    "life": ("Where the time of a life goes", life.render),
    "ablations": ("What each mechanism of a fast start earns", ablations.render),
    "orchestration": ("What a benchmark job adds to its runs", orchestration.render),
    "jobs-throughput": ("Verdicts per second of a benchmark job", throughput.render),
    "data-set": ("A data set beside a script like its own", data_set.render),
    "submit": ("From submission to the first result", submit.render),
    "typescript": ("The TypeScript client beside Python's", typescript.render),
    "pages": ("A page of results", pages.render),
    "server-memory": ("A server's memory over its runs", server_memory.render),
    "neighbours": ("One workspace beside a hostile one", neighbours.render),
    "verdicts-under-load": ("Verdicts while all cores are busy", verdicts_under_load.render),
    "learning": ("What training learns from execution", learning.render),
    "training-step": ("A training step beside TRL's", training_step.render),
    "training-latency": ("Training while rewards are waited for", training_latency.render),
    "cluster": ("Training over a Ray cluster", cluster.render),
    "worlds": ("Worlds made, searched and played", worlds.render),
    "learning-worlds": ("What a policy learns of worlds that it never saw", learning_worlds.render),
}


def save(name: str, machine: dict[str, Any], results: dict[str, Any], *, directory: Path = RESULTS) -> list[str]:
    """Replace the stored result of this name and the rendered page; returns the lines of this result's section."""
    directory.mkdir(exist_ok=True)
    stored = {"name": name, "machine": machine, "results": results}
    (directory / f"{name}.json").write_text(json.dumps(stored, indent=1) + "\n")
    (directory / "README.md").write_text("\n".join(page(directory)) + "\n")
    return section(stored)


def section(stored: dict[str, Any]) -> list[str]:
    """One stored result as markdown."""
    name = stored["name"]
    measure, _, suffix = (name, "", "") if name in _RENDER else name.partition("-")
    title, render = _RENDER[measure]
    heading = f"## {title}: {suffix}" if suffix else f"## {title}"
    return [heading, "", f"`python -m benchmarks {stored['machine']['command']}`: {headline(stored['machine'])}", "",
            *render(stored["results"]), ""]  # fmt: skip


def page(directory: Path = RESULTS) -> list[str]:
    """The whole page, from whatever results are stored."""
    lines = [
        "# Results",
        "",
        "Written by `python -m benchmarks`; do not edit. How to repeat and read them: `docs/how-to/benchmark.md`.",
        "",
    ]
    stored = {path.stem: json.loads(path.read_text()) for path in directory.glob("*.json")}
    for name in sorted(stored, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)):
        lines += section(stored[name])
    return lines[:-1]
