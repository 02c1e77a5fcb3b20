"""Draws a running benchmark job in a terminal, from its tally."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harena.cli.tally import Tally
from harena.core.printable import printable

if TYPE_CHECKING:
    from rich.console import Group

STATE_STYLES = {
    "queued": "dim",
    "running": "cyan",
    "completed": "green",
    "cancelled": "yellow",
    "interrupted": "yellow",
    "timed_out": "red",
    "failed": "red",
}


def picture(tally: Tally, name: str, *, idle_seconds: float = 0.0, trouble: str = "") -> Group:
    """A few lines: how far it is, how fast, how good, what is slow, and what is the matter. `trouble` is that of the
    connection."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    head = Table.grid(padding=(0, 1))
    head.add_row(
        Text(printable(name), style="bold"),
        Text(tally.state, style=STATE_STYLES.get(tally.state, "")),
        ProgressBar(total=tally.total or 1, completed=tally.ended, width=30),
        Text(f"{tally.ended}/{tally.total}"),
        Text(clock(tally.seconds + (idle_seconds if tally.running else 0.0))),
        Text(remaining(tally, idle_seconds), style="dim"),
    )
    lines = [Text(printable(line), no_wrap=True, overflow="ellipsis") for line in detail_lines(tally, idle_seconds)]
    said = [Text(printable(text), style="yellow") for text in (tally.trouble, trouble) if text]
    return Group(head, *lines, *said)


def detail_lines(tally: Tally, idle_seconds: float = 0.0) -> list[str]:
    """What is below the bar, without colours."""
    waiting = max(0, tally.total - tally.ended - tally.running)
    at_a_time = f" of {tally.at_a_time}" if tally.at_a_time else ""
    lines = [
        f"  {tally.rate(idle_seconds):.1f}/s now, {tally.mean_rate():.1f}/s in all; "
        f"{tally.running}{at_a_time} running, {waiting} queued",
        "  " + ", ".join(outcome(tally)),
    ]
    if running := tally.longest_running(idle_seconds):
        lines.append("  running the longest: " + ", ".join(f"{name} {seconds:.1f} s" for seconds, name in running))
    if tally.slowest:
        lines.append(
            "  slowest that ended: " + ", ".join(f"{name} {seconds:.1f} s" for seconds, name in tally.slowest[::-1])
        )
    return lines


def outcome(tally: Tally) -> list[str]:
    """What came of the runs so far, with both denominators; of runs that are to pass and others only how many."""
    told = [f"passed {tally.passed}/{tally.scored} scored ({_share(tally.passed, tally.scored)})"]
    if tally.mixes:
        told = [f"{tally.scored} scored"]
    elif tally.done != tally.scored:
        told[0] += f", {_share(tally.passed, tally.done)} of all {tally.done} that ended"
    counts = {"infra": tally.infra, "invalid": tally.invalid, "cancelled": tally.cancelled, "retries": tally.retries}
    return told + [f"{name} {count}" for name, count in counts.items() if count]


def plain_line(tally: Tally) -> str:
    """One line for a log."""
    slowest = [f"slowest {tally.slowest[-1][0]:.1f} s {tally.slowest[-1][1]}"] if tally.slowest else []
    return f"{tally.ended}/{tally.total}  " + "  ".join([f"{tally.mean_rate():.1f}/s", *outcome(tally), *slowest])


def remaining(tally: Tally, idle_seconds: float) -> str:
    """The time that the rest takes, as far as that can be said."""
    seconds = tally.remaining_seconds(idle_seconds)
    return "" if seconds is None or tally.ended >= tally.total else f"{clock(seconds)} left"


def clock(seconds: float) -> str:
    """`0:07`, `12:34`, `1:02:03`."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"
