"""Counts of runs: whatever happens to them, each is counted where it is."""

from collections import Counter
from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from harena.core.job_store import JobCounts
from harena.core.results import Reason, RunResult, Trust, Validity
from harena.jobs.counts import RunCounts
from harena.store.tables import COUNTS


def result(score: float | None, validity: Validity) -> RunResult:
    return RunResult(
        scenario_id="s",
        score=score,
        passed=score == 1.0,
        validity=validity,
        trust=Trust.SEPARATE,
        reason=Reason.PASSED if score == 1.0 else Reason.WRONG_ANSWER,
    )


def test_the_store_has_a_column_for_each() -> None:
    """The rooms do not know each other: their names are compared here."""
    assert [*(f"runs_{each.name}" for each in fields(JobCounts)), "last_cursor"] == [*COUNTS]


def test_every_kind_of_end() -> None:
    """Scored, passed, lost by the platform, and a contract that could not be applied."""
    counts = RunCounts(JobCounts())
    ends = [(1.0, Validity.VALID), (0.0, Validity.VALID), (None, Validity.INFRA), (None, Validity.INVALID)]
    for number, (score, validity) in enumerate(ends):
        counts.started(number)
        counts.finished(number, result(score, validity))
    counts.cancelled(9)
    assert counts.counts() == JobCounts(done=4, cancelled=1, scored=2, passed=1, invalid=1)


WHERE = st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["started", "requeued", "finished", "cancelled"])))


@given(WHERE, st.integers(0, 60))
def test_runs_are_counted_where_they_are(happened: list[tuple[int, str]], taken_over_after: int) -> None:
    """Also when another process goes on in the middle, with what the store has."""
    counts, states = RunCounts(JobCounts()), dict.fromkeys(range(8), "queued")
    for step, (number, what) in enumerate(happened):
        if step == taken_over_after:
            running = [number for number, state in states.items() if state == "running"]
            counts = RunCounts(counts.counts(), running=running)
        if states[number] in ("done", "cancelled"):
            continue
        if what == "finished":
            counts.finished(number, result(1.0, Validity.VALID))
        else:
            getattr(counts, what)(number)
        states[number] = {"started": "running", "requeued": "queued", "finished": "done"}.get(what, what)
    seen = Counter(states.values())
    stored = counts.counts()
    assert [stored.running, stored.done, stored.cancelled] == [
        seen["running"],
        seen["done"],
        seen["cancelled"],
    ]
