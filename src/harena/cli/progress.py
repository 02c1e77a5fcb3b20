"""A benchmark job while it runs: events in, a bar (in a terminal) or plain lines (anywhere else) out, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TextIO

PLAIN_LINES = 10
"""lines of progress in a log file, however many runs there are"""


@dataclass(slots=True)
class Tally:
    """What the events of a job add up to so far."""

    total: int = 0
    done: int = 0
    passed: int = 0
    unscored: int = 0
    retries: int = 0
    slowest_seconds: float = 0.0
    slowest: str = ""
    seconds: float = 0.0
    """from the job's start to the last event"""
    _began: datetime | None = None

    def add(self, event: Mapping[str, Any]) -> bool:
        """Count one event; whether a run has ended with it."""
        at = datetime.fromisoformat(event["at"])
        self._began = self._began or at
        self.seconds = (at - self._began).total_seconds()
        kind = event["kind"]
        if kind == "job_started":
            self.total = event["total"]
        elif kind == "run_retried":
            self.retries += 1
        elif kind == "run_finished":
            self._add_run(event)
        return bool(kind == "run_finished")

    def _add_run(self, event: Mapping[str, Any]) -> None:
        self.done += 1
        self.passed += bool(event["passed"])
        self.unscored += event["score"] is None
        if event["duration_seconds"] > self.slowest_seconds:
            self.slowest_seconds, self.slowest = event["duration_seconds"], event["scenario_id"]

    def __str__(self) -> str:
        scored = self.done - self.unscored
        parts = [
            f"{self.done / self.seconds:.1f}/s" if self.seconds > 0 else "",
            f"passed {self.passed}/{scored} ({self.passed / scored:.0%})" if scored else "",
            f"infra {self.unscored}" if self.unscored else "",
            f"retries {self.retries}" if self.retries else "",
            f"slowest {self.slowest_seconds:.1f} s {self.slowest}" if self.slowest else "",
        ]
        return "  ".join(part for part in parts if part)


def _opening(events: Iterable[Mapping[str, Any]], name: str, out: TextIO) -> Iterator[Mapping[str, Any]]:
    """The events, with a line that says how many runs there are and how many the host allows at one time."""
    for event in events:
        if event["kind"] == "job_started":
            out.write(f"{name}: {event['total']} runs, {event['effective_concurrency']} at a time\n")
            out.flush()
        yield event


def follow(events: Iterable[Mapping[str, Any]], *, name: str, out: TextIO | None = None) -> Tally:
    """Show the events of a job until they end; what they add up to."""
    out = out or sys.stderr
    show = _bar if out.isatty() else _lines
    return show(_opening(events, name, out), name, out)


def _lines(events: Iterable[Mapping[str, Any]], name: str, out: TextIO) -> Tally:
    tally, shown = Tally(), 0
    for event in events:
        if tally.add(event) and (tally.done == tally.total or tally.done * PLAIN_LINES // tally.total > shown):
            shown = tally.done * PLAIN_LINES // tally.total
            out.write(f"{name}: {tally.done}/{tally.total}  {tally}\n")
            out.flush()
    return tally


def _bar(events: Iterable[Mapping[str, Any]], name: str, out: TextIO) -> Tally:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    tally = Tally()
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[tally]}"),
    )
    with Progress(*columns, console=Console(file=out), refresh_per_second=8) as progress:
        bar = progress.add_task(escape(name), total=None, tally="")
        for event in events:
            tally.add(event)
            progress.update(bar, total=tally.total or None, completed=tally.done, tally=escape(str(tally)))
    return tally
