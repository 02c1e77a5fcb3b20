"""A bar for a job that somebody waits for: in the output of a notebook's cell, in a terminal, or as lines of a log."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, TextIO, TypeVar

from harena.core.errors import HarenaError
from harena.core.printable import printable
from harena.core.records.benchmark_jobs import BenchmarkJob
from harena.core.records.training_jobs import TrainingJob

T = TypeVar("T")
J = TypeVar("J")

LOOKS_PER_SECOND = 2.0
LINES = 10
"""lines in a log, however long the job is"""


@dataclass(frozen=True, slots=True)
class Look:
    """How far a job is."""

    name: str
    done: int
    total: int
    """0 = not known yet"""
    told: str
    """what stands beside the bar"""


class Bar(Protocol):
    """Where it is drawn."""

    def draw(self, look: Look) -> None:
        """Show this."""

    def close(self) -> None:
        """Leave the last picture where it is."""


def of_benchmark_job(job: BenchmarkJob) -> Look:
    """How many of its runs have ended, and how."""
    counts = job.progress
    unscored = counts.infra + counts.invalid
    told = f"{job.state}, passed {counts.passed} of {counts.done}" + (
        f", {unscored} without a score" if unscored else ""
    )
    return Look(name=job.name, done=counts.done + counts.cancelled, total=counts.total, told=told)


def of_training_job(job: TrainingJob) -> Look:
    """How many of its steps are done."""
    progress = job.progress
    return Look(name=job.name, done=progress.step, total=progress.steps or 0, told=f"steps, {job.state}")


async def with_progress(
    ask: Callable[[], Awaitable[J]], look_of: Callable[[J], Look], ended: Coroutine[Any, Any, T]
) -> T:
    """What `ended` gives; the job is asked for and drawn twice a second until then, and once more at the end. Where it
    cannot be had, nothing is drawn: whoever waits hears of what is wrong from `ended`."""
    waiting = asyncio.ensure_future(ended)
    bar = open_bar(sys.stderr)

    async def draw() -> None:
        with contextlib.suppress(HarenaError):
            bar.draw(look_of(await ask()))

    try:
        while not waiting.done():
            await draw()
            await asyncio.wait([waiting], timeout=1.0 / LOOKS_PER_SECOND)
        if waiting.exception() is None:
            await draw()
        return await waiting
    finally:
        bar.close()
        if not waiting.done():
            waiting.cancel()
            await asyncio.wait([waiting])


def open_bar(out: TextIO) -> Bar:
    """A notebook's where this process is its kernel, else one for the stream."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return _NotebookBar()
    return _TerminalBar(out) if out.isatty() else _LogLines(out)


class _NotebookBar:
    """One output, updated in place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, look: Look) -> None:
        from harena.core.html_views import progress_bar

        counted = f"{look.done}/{look.total or '?'}"
        picture = {"text/html": progress_bar(look.name, look.done, look.total, f"{counted} {look.told}")}
        if self._handle is None:
            self._handle = sys.modules["IPython.display"].display(picture, raw=True, display_id=True)
        else:
            self._handle.update(picture, raw=True)

    def close(self) -> None:
        self._handle = None


class _TerminalBar:
    """One line, drawn by rich."""

    def __init__(self, out: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}", markup=False),
            TimeElapsedColumn(),
            console=Console(file=out),
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("", total=None, told="")
        self._progress.start()

    def draw(self, look: Look) -> None:
        self._progress.update(
            self._task, description=printable(look.name), completed=look.done, total=look.total or None, told=look.told
        )

    def close(self) -> None:
        self._progress.stop()


class _LogLines:
    """A line for each tenth of the job."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._tenths = -1

    def draw(self, look: Look) -> None:
        tenths = look.done * LINES // look.total if look.total else 0
        if tenths > self._tenths:
            self._tenths = tenths
            self._out.write(f"{printable(look.name)}: {look.done}/{look.total or '?'} {look.told}\n")
            self._out.flush()

    def close(self) -> None:
        self._out.flush()
