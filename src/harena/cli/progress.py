"""A benchmark job while it runs: events in, a picture (in a terminal) or plain lines (anywhere else) out, on stderr."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from harena.cli.following import Follower
from harena.cli.live import picture, plain_line
from harena.cli.tally import Tally
from harena.core.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, Group

PLAIN_LINES = 10
"""lines of progress in a log file, however many runs there are"""
PLAIN_SECONDS = 60.0
"""interval, in the job's time, between two lines in a log"""
PICTURES_PER_SECOND = 4
"""drawing takes a few milliseconds of processor time, which an embedded job would rather have itself"""

Events = Callable[[int], Iterable[Mapping[str, Any]]]


def follow(
    events: Events, tally: Tally, *, name: str, after: int = 0, out: TextIO | None = None, pause: Any = time.sleep
) -> Tally:
    """Show a job until its events end; what they add up to. `events` gives those after a cursor; `tally` is what the
    job has come to at cursor `after`."""
    out = out or sys.stderr
    follower = Follower(events, cursor=after, pause=pause)

    def draw(idle: float, trouble: str) -> Group:
        return picture(tally, name, idle_seconds=idle, trouble=trouble)

    with Picture(tally.add, draw, out) if out.isatty() else _Lines(tally, name, out) as shown:
        follower.on_lost = shown.lost
        for event in follower:
            shown.add(event)
    return tally


class _Lines:
    """A line now and then."""

    def __init__(self, tally: Tally, name: str, out: TextIO) -> None:
        self._tally = tally
        self._name = name
        self._out = out
        self._tenth = self._tenths()
        self._next = tally.seconds + PLAIN_SECONDS
        self._was_lost = False

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add(self, event: Mapping[str, Any]) -> None:
        """Count it, and say what is worth a line."""
        tally, kind = self._tally, event["kind"]
        ended = tally.add(event)
        if kind == "job_started":
            self._say(f"{tally.total} runs, {tally.at_a_time} at a time")
        elif kind in ("job_paused", "job_released"):
            self._say(tally.trouble)
        elif kind in ("job_continued", "job_resumed"):
            self._say("goes on")
        elif ended and (self._tenths() > self._tenth or tally.seconds >= self._next):
            self._tenth, self._next = self._tenths(), tally.seconds + PLAIN_SECONDS
            self._say(plain_line(tally))

    def lost(self, trouble: str) -> None:
        """The connection; one line when it is lost and one when it is back."""
        if bool(trouble) != self._was_lost:
            self._was_lost = bool(trouble)
            self._say(trouble or "the connection is back")

    def _tenths(self) -> int:
        return self._tally.ended * PLAIN_LINES // max(1, self._tally.total)

    def _say(self, text: str) -> None:
        self._out.write(printable(f"{self._name}: {text}") + "\n")
        self._out.flush()


class Picture:
    """Drawn anew a few times a second, from a thread of rich's, whatever the pace of the events."""

    def __init__(
        self,
        add: Callable[[Mapping[str, Any]], object],
        draw: Callable[[float, str], Group],
        out: TextIO,
        console: Console | None = None,
    ) -> None:
        """`add` takes events; `draw` is given the seconds since the last one and what is the matter with the
        connection."""
        from rich.console import Console
        from rich.live import Live

        self._add = add
        self._picture = draw
        self._trouble = ""
        self._lock = threading.Lock()
        self._last = time.monotonic()
        self._live = Live(
            get_renderable=self._draw,
            console=console or Console(file=out),
            refresh_per_second=PICTURES_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Picture:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()  # draws the last state

    def add(self, event: Mapping[str, Any]) -> None:
        """Count it."""
        with self._lock:
            self._add(event)
            self._last = time.monotonic()

    def lost(self, trouble: str) -> None:
        """The connection."""
        self._trouble = trouble

    def _draw(self) -> Group:
        with self._lock:
            idle = time.monotonic() - self._last
            return self._picture(idle, self._trouble)
