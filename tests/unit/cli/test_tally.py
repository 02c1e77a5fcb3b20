"""The model of a running job: events in, what there is to show out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.cli.tally import RECENT_SECONDS, Tally

JOB: dict[str, Any] = {
    "state": "running",
    "started_at": "2030-01-01T00:00:00+00:00",
    "duration_seconds": 100.0,
    "progress": {
        "total": 20, "running": 2, "done": 10, "cancelled": 1, "passed": 5, "failed": 2, "infra": 2, "invalid": 1,
        "effective_concurrency": 4,
    },
}  # fmt: skip


def event(kind: str, second: float, **more: Any) -> dict[str, Any]:
    """Something that happened that many seconds after the job's start."""
    minute, rest = divmod(second, 60)
    return {"kind": kind, "at": f"2030-01-01T00:{int(minute):02d}:{rest:09.6f}+00:00", **more}


def started(run: int, second: float) -> dict[str, Any]:
    return event("run_started", second, run=run, scenario_id=f"s{run}")


def finished(run: int, second: float, score: float | None = 1.0, took: float = 1.0, **more: Any) -> dict[str, Any]:
    told = {"score": score, "passed": score == 1.0, "validity": "valid" if score is not None else "infra"}
    return event("run_finished", second, run=run, scenario_id=f"s{run}", duration_seconds=took, **{**told, **more})


BEGIN = event("job_started", 0, total=20, effective_concurrency=4)


def after(*events: dict[str, Any]) -> Tally:
    """A job after these events."""
    tally = Tally.of({**JOB, "state": "queued"})
    for one in events:
        tally.add(one)
    return tally


def test_both_denominators_and_what_has_no_score() -> None:
    """Lost runs and broken contracts are apart, and no failures."""
    tally = after(
        BEGIN, finished(0, 1), finished(1, 1, 0.0), finished(2, 1, None), finished(3, 1, None, validity="invalid"),
        event("run_cancelled", 2, run=4),
    )  # fmt: skip
    assert (tally.done, tally.passed, tally.scored, tally.infra, tally.invalid) == (4, 1, 2, 1, 1)
    assert (tally.cancelled, tally.ended, tally.total) == (1, 5, 20)


def test_what_runs_and_for_how_long() -> None:
    """Longest first; a retried run starts anew; time passes also between events."""
    tally = after(BEGIN, *(started(run, run) for run in range(5)), finished(0, 6))
    assert tally.running == 4
    assert tally.longest_running() == [(5, "s1"), (4, "s2"), (3, "s3")]
    tally.add(event("run_retried", 7, run=1, error="x", delay_seconds=1))
    tally.add(started(1, 9))
    assert tally.longest_running(idle_seconds=2) == [(9, "s2"), (8, "s3"), (7, "s4")]
    assert (tally.retries, tally.running) == (1, 4)
    tally.add(event("job_ended", 10, state="cancelled"))
    assert (tally.running, tally.state, tally.longest_running()) == (0, "cancelled", [])


def test_the_slowest_that_ended() -> None:
    """The three of them."""
    tally = after(BEGIN, *(finished(run, 1, took=took) for run, took in enumerate([1, 9, 2, 8, 3])))
    assert tally.slowest == [(3, "s4"), (8, "s3"), (9, "s1")]


def test_the_rate_is_that_of_late() -> None:
    """A job that was fast and has become slow is slow, and one that stands still says so, without any event."""
    fast = [finished(run, 1 + run / 10) for run in range(100)]
    tally = after(BEGIN, *fast, finished(100, 100))
    assert tally.mean_rate() == pytest.approx(1.01)
    assert tally.rate() == pytest.approx(1 / RECENT_SECONDS)
    assert after(BEGIN, *fast).rate() == pytest.approx(100 / 10.9)
    assert tally.rate(idle_seconds=RECENT_SECONDS + 1) == 0
    assert tally.remaining_seconds(idle_seconds=RECENT_SECONDS + 1) is None


def test_the_time_that_is_left() -> None:
    """Of the runs that have not ended, at the present rate; nothing is said of a job that stands still."""
    tally = after(BEGIN, *(finished(run, (run + 1) / 2) for run in range(10)))
    assert tally.remaining_seconds() == pytest.approx(5)
    tally.add(event("job_paused", 5, error="the disk is full"))
    assert (tally.trouble, tally.remaining_seconds()) == ("paused: the disk is full", None)
    tally.add(event("job_continued", 6))
    assert (tally.trouble, tally.state) == ("", "running")
    tally.add(event("job_released", 6))
    assert "waiting for the next one" in tally.trouble
    tally.add(event("job_resumed", 9, open=10))
    assert tally.trouble == ""


def test_a_job_that_was_under_way_when_it_was_first_seen() -> None:
    """Its counts go on from its progress, and runs that were under way then are not forgotten or counted twice."""
    tally = Tally.of(JOB, seen=True)
    assert (tally.running, tally.done, tally.scored, tally.at_a_time) == (2, 10, 7, 4)
    for one in (started(50, 100), finished(7, 101), finished(50, 102)):
        tally.add(one)
    assert (tally.running, tally.done, tally.passed, tally.ended) == (1, 12, 7, 13)
    assert tally.rate() == pytest.approx(1.0)
    assert tally.seconds == 102


def test_a_time_of_day_that_jumps_back() -> None:
    """Durations do not become negative."""
    tally = after(BEGIN, finished(0, 50), started(1, 10), finished(2, 11))
    assert (tally.seconds, tally.longest_running()) == (50, [(0, "s1")])
    assert tally.rate() > 0


RUN_EVENTS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["started", "finished", "retried", "requeued"])))


@given(RUN_EVENTS, st.integers(0, 50))
def test_from_now_comes_to_the_same_as_from_the_first_event(happened: list[tuple[int, str]], seen_at: int) -> None:
    """Whatever happens to runs, and wherever somebody begins to look."""
    states = dict.fromkeys(range(6), "queued")
    events = [BEGIN]
    progress_at: list[dict[str, int]] = []
    for run, what in happened:
        legal = {"started": ["queued"], "finished": ["running"], "retried": ["running"], "requeued": ["running"]}
        if states[run] not in legal[what]:
            continue
        states[run] = {"started": "running", "finished": "done"}.get(what, "queued")
        second = float(len(events))
        events.append(
            finished(run, second) if what == "finished" else event(f"run_{what}", second, run=run, scenario_id="s")
        )
        counts = {state: list(states.values()).count(state) for state in ("running", "done")}
        progress_at.append({"cursor": len(events), **counts})
    whole = after(*events)
    if not progress_at:
        return
    seen = progress_at[min(seen_at, len(progress_at) - 1)]
    none = dict.fromkeys(("failed", "infra", "invalid", "cancelled"), 0)
    counts = {"running": seen["running"], "done": seen["done"], "passed": seen["done"]}
    progress = {"total": 20, "effective_concurrency": 4, **none, **counts}
    late = Tally.of({**JOB, "duration_seconds": 0.0, "progress": progress}, seen=True)
    for one in events[seen["cursor"] :]:
        late.add(one)
    assert (late.done, late.passed, late.running, late.ended) == (whole.done, whole.passed, whole.running, whole.ended)
