"""Progress: what events add up to, and how it is shown."""

import io
from typing import Any

from harena.cli.progress import Tally, follow


def events(runs: int) -> list[dict[str, Any]]:
    """A job of that many runs, two each second; each third is lost by the platform, each second other one passes."""
    stamp = "2030-01-01T00:00:{:06.3f}+00:00"
    listed: list[dict[str, Any]] = [
        {"kind": "job_started", "at": stamp.format(0), "total": runs, "effective_concurrency": 8}
    ]
    for number in range(runs):
        score = None if number % 3 == 0 else float(number % 2)
        listed.append({"kind": "run_started", "at": stamp.format(number / 2)})
        listed.append(
            {
                "kind": "run_finished",
                "at": stamp.format((number + 1) / 2),
                "scenario_id": f"[s{number}]",
                "score": score,
                "passed": score == 1.0,
                "duration_seconds": float(number),
            }
        )
    return [*listed, {"kind": "job_ended", "at": stamp.format(runs / 2), "state": "completed"}]


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


def test_tally() -> None:
    """Throughput, pass rate over scored runs, lost runs and the slowest run."""
    tally = Tally()
    for event in [{"kind": "run_retried", "at": "2030-01-01T00:00:00+00:00"}, *events(6)]:
        tally.add(event)
    assert str(tally) == "2.0/s  passed 2/4 (50%)  infra 2  retries 1  slowest 5.0 s [s5]"


def test_plain_lines_are_few() -> None:
    """A log file gets ten lines however many runs there are, and the last one is the end."""
    out = io.StringIO()
    follow(events(100), name="job", out=out)
    lines = out.getvalue().splitlines()
    assert len(lines) == 11
    assert lines[0] == "job: 100 runs, 8 at a time"
    assert lines[1].startswith("job: 10/100")
    assert lines[-1].startswith("job: 100/100")


def test_every_run_of_a_small_job_is_a_line() -> None:
    """Three runs are three lines, after the first."""
    out = io.StringIO()
    follow(events(3), name="job", out=out)
    assert len(out.getvalue().splitlines()) == 4


def test_a_terminal_gets_a_bar() -> None:
    """The bar ends full, with the tally beside it; names are not read as markup."""
    out = Terminal()
    tally = follow(events(6), name="[job]", out=out)
    assert tally.done == 6
    assert "6/6" in out.getvalue()
    assert "[job]" in out.getvalue()
