"""Progress: how a job's events are shown, in a terminal and in a log."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console
from test_tally import event, finished, started

from harena.cli.live import clock, detail_lines, picture
from harena.cli.progress import follow
from harena.cli.tally import Tally
from harena.core.errors import SandboxUnavailableError


def events(runs: int) -> list[dict[str, Any]]:
    """A job of that many runs, two each second; each third is lost by the platform, each second other one passes."""
    listed = [event("job_started", 0, total=runs, effective_concurrency=8)]
    for number in range(runs):
        score = None if number % 3 == 0 else float(number % 2)
        listed.append(started(number, number / 2))
        told = finished(number, (number + 1) / 2, score, float(number))
        listed.append({**told, "scenario_id": f"[s{number}]"})
    listed.append(event("job_ended", runs / 2, state="completed"))
    return [{**told, "cursor": number} for number, told in enumerate(listed, 1)]


def shown(told: list[dict[str, Any]], out: io.StringIO, **more: Any) -> Tally:
    tally = Tally(total=sum(one["kind"] == "run_finished" for one in told))
    return follow(lambda after: iter(told[after:]), tally, name="[job]", out=out, **more)


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


def test_plain_lines_are_few() -> None:
    """A log file gets ten lines however many runs there are, and the last one is the end."""
    out = io.StringIO()
    shown(events(100), out)
    lines = out.getvalue().splitlines()
    assert len(lines) == 11
    assert lines[0] == "[job]: 100 runs, 8 at a time"
    assert lines[1].startswith("[job]: 10/100  2.0/s  passed 3/6 scored (50.0%), 30.0% of all 10 that ended  infra 4")
    assert lines[-1].startswith("[job]: 100/100")


def test_every_run_of_a_small_job_is_a_line() -> None:
    """Three runs are three lines, after the first."""
    out = io.StringIO()
    shown(events(3), out)
    assert len(out.getvalue().splitlines()) == 4


def test_a_slow_job_says_something_each_minute() -> None:
    """By its own time, not by anybody's clock."""
    out = io.StringIO()
    told = [finished(number, 70.0 * number) for number in range(1, 4)]
    told = [{**one, "cursor": number} for number, one in enumerate(told, 1)]
    follow(lambda after: iter(told[after:]), Tally(total=1000), name="job", out=out)
    assert [line.split("  ")[0] for line in out.getvalue().splitlines()] == ["job: 2/1000", "job: 3/1000"]


def test_what_stands_still_and_what_is_lost_is_said_once() -> None:
    """A full disk, a server that goes and comes back: one line each, and one when it is over."""
    told = [
        event("job_paused", 1, error="the disk is full"),
        event("job_continued", 2),
        event("job_released", 3),
        event("job_resumed", 9, open=1),
    ]
    told = [{**one, "cursor": number} for number, one in enumerate(told, 1)]
    lost = iter([True, True, False])

    def opened(after: int) -> Iterator[dict[str, Any]]:
        yield from told[after:2]
        if next(lost):
            raise SandboxUnavailableError("no server answers", reason="SERVER_UNREACHABLE")
        yield from told[2:]

    out = io.StringIO()
    follow(opened, Tally(total=1), name="job", out=out, pause=lambda _: None)
    assert out.getvalue().splitlines() == [
        "job: paused: the disk is full",
        "job: goes on",
        "job: no server answers; asking again in 0.5 s",
        "job: the connection is back",
        "job: its server has let go of it: waiting for the next one",
        "job: goes on",
    ]


def test_a_terminal_gets_a_picture() -> None:
    """The last one is that of the end; names are not read as markup."""
    out = Terminal()
    tally = shown(events(6), out)
    assert tally.done == 6
    said = out.getvalue()
    assert "6/6" in said
    assert "[job]" in said
    assert "completed" in said
    assert "slowest that ended: [s5] 5.0 s, [s4] 4.0 s, [s3] 3.0 s" in said


def test_the_picture_of_a_job_under_way() -> None:
    """How far, how fast, how good, what is slow, and what is the matter, in the width of the terminal."""
    tally = Tally(total=20)
    for one in events(6)[:-1]:
        tally.add(one)
    tally.total = 20
    tally.add(started(7, 3))
    console = Console(file=io.StringIO(), record=True, width=100)
    console.print(picture(tally, "[job]", idle_seconds=1.0, trouble="the connection is lost"))
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert lines[0].startswith("[job] running ")
    assert lines[0].endswith("6/20 0:04 0:09 left")
    assert lines[1:] == [
        "  1.5/s now, 2.0/s in all; 1 of 8 running, 13 queued",
        "  passed 2/4 scored (50.0%), 33.3% of all 6 that ended, infra 2",
        "  running the longest: s7 1.0 s",
        "  slowest that ended: [s5] 5.0 s, [s4] 4.0 s, [s3] 3.0 s",
        "the connection is lost",
    ]
    narrow = Console(file=io.StringIO(), record=True, width=40)
    narrow.print(picture(tally, "job"))
    assert all(len(line) <= 40 for line in narrow.export_text().splitlines())


def test_names_cannot_command_the_terminal() -> None:
    """Colours, cursors, titles and halves of characters of a data set's names are not written."""
    told = [{**finished(0, 1.0), "scenario_id": "\x1b]0;owned\x07\x9b2J\u202e\ud800", "cursor": 1}]
    for out in (io.StringIO(), Terminal()):
        follow(lambda after: iter(told[after:]), Tally(total=1), name="j\x1b[2J", out=out)
        said = out.getvalue()
        assert "owned" in said
        assert not any(odd in said for odd in ("\x1b]", "\x1b[2J", "\x07", "\x9b", "\u202e", "\ud800"))


def test_a_job_that_has_not_begun() -> None:
    """No rate, no share, no time left, and no division by zero."""
    assert detail_lines(Tally(total=5)) == ["  0.0/s now, 0.0/s in all; 0 running, 5 queued", "  passed 0/0 scored (-)"]
    assert detail_lines(Tally(total=5, mixes=True))[1:] == ["  0 scored"]  # an audit's: cheats are to fail


@pytest.mark.parametrize(("seconds", "told"), [(0, "0:00"), (7.9, "0:07"), (754, "12:34"), (3723, "1:02:03")])
def test_clock(seconds: float, told: str) -> None:
    """Minutes and seconds, hours where there are any."""
    assert clock(seconds) == told
