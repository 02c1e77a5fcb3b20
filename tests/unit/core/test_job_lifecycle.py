"""The life-cycle tables."""

import pytest

from harena.core.job_lifecycle import (
    JOB_TRANSITIONS,
    RUN_TRANSITIONS,
    IllegalTransition,
    JobState,
    RunState,
    check_job_transition,
    check_run_transition,
)


def test_run_table_is_exactly_the_drawing() -> None:
    """Every pair of run states is legal or illegal as the module's drawing says."""
    legal = {
        ("queued", "running"),
        ("queued", "cancelled"),
        ("running", "done"),
        ("running", "queued"),
        ("running", "cancelled"),
    }
    for old in RunState:
        for new in RunState:
            if (old, new) in legal:
                assert check_run_transition(old, new) is new
            else:
                with pytest.raises(IllegalTransition, match=f"{old} may not become {new}"):
                    check_run_transition(old, new)


def test_tables_name_every_state() -> None:
    """No state is missing from its table, and terminal means that nothing follows."""
    assert set(RUN_TRANSITIONS) == set(RunState)
    assert set(JOB_TRANSITIONS) == set(JobState)
    assert {state for state in RunState if state.is_terminal} == {RunState.DONE, RunState.CANCELLED}
    assert {state for state in JobState if not state.is_terminal} == {JobState.QUEUED, JobState.RUNNING}


def test_job_cannot_end_twice() -> None:
    """A job that has ended stays as it ended."""
    assert check_job_transition(JobState.RUNNING, JobState.COMPLETED) is JobState.COMPLETED
    with pytest.raises(IllegalTransition):
        check_job_transition(JobState.COMPLETED, JobState.CANCELLED)
