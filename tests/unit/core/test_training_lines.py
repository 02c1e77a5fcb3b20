"""What workers tell, there and back; what none of them tells."""

from __future__ import annotations

import json
import math

import pytest

from harena.core.training_jobs import (
    ENDED_STATES,
    OPEN_STATES,
    TRAINING_TRANSITIONS,
    TrainingState,
    may_become,
    merge_metrics,
    newest_metrics,
)
from harena.core.training_lines import BrokenLine, WorkerLine, decode_line, encode_line


def test_there_and_back() -> None:
    """Everything but numbers that are none."""
    line = WorkerLine(
        event_type="step_complete", message="ä\n", metrics={"steps": [1], "train/loss": [math.nan, 0.5]}, data={"a": 1}
    )
    assert encode_line(line).count(b"\n") == 1
    told = decode_line(encode_line(line))
    assert (told.message, told.metrics, told.data) == ("ä\n", {"steps": [1], "train/loss": [None, 0.5]}, {"a": 1})
    assert [decode_line(encode_line(WorkerLine(event_type=kind))).is_last for kind in ("log", "training_end")] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("?", "no JSON"),
        ("[]", "object"),
        ("{}", "event_type"),
        ('{"event_type": "job_ended"}', "job_ended"),
        ('{"event_type": "log", "level": "loud"}', "loud"),
        ('{"event_type": "log", "state": "completed"}', "state"),
        ('{"event_type": "log", "metrics": []}', "metrics"),
        ('{"event_type": "log", "message": 5}', "message"),
        ('{"event_type": "log", "metrics": {"loss": "low"}}', "loss"),
        ('{"event_type": "log", "metrics": {"loss": [0.5, true]}}', "loss"),
        ('{"event_type": "log", "artifacts": {"model": {"path": "/etc"}}}', "model"),
        ('{"event_type": "log", "artifacts": {"samples": ["a", 1]}}', "samples"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_broken_lines(line: str, says: str) -> None:
    """A worker cannot end its job in the node's name, or put in what nobody reads."""
    with pytest.raises(BrokenLine, match=says):
        decode_line(line.encode())


def test_metrics_are_merged_along_their_axes() -> None:
    """Arrays grow together, with gaps where a name is new or missing; scalars overwrite."""
    merged: dict[str, object] = {}
    merge_metrics(merged, {"steps": [1], "train/a": [0.1], "train/count": 5})
    merge_metrics(merged, {"eval/steps": [1], "eval/loss": [2.0]})
    merge_metrics(merged, {"steps": [2, 3], "train/b": [7.0, 8.0], "train/count": 6})
    assert merged == {
        "steps": [1, 2, 3],
        "train/a": [0.1, None, None],
        "train/b": [None, 7.0, 8.0],
        "train/count": 6,
        "eval/steps": [1],
        "eval/loss": [2.0],
    }


def test_metrics_keep_the_order_in_which_they_were_told() -> None:
    """Tables and files show them so; the order of a set changes from process to process."""
    merged: dict[str, object] = {}
    names = [f"train/{letter}" for letter in "zkaqm"]
    merge_metrics(merged, {"steps": [1], **{name: [0.0] for name in names}})
    merge_metrics(merged, {"steps": [2], **{name: [0.0] for name in reversed(names)}, "train/b": [1.0]})
    assert [*merged] == ["steps", *names, "train/b"]


def test_a_step_that_is_trained_again_replaces_what_followed_it() -> None:
    """Of its axis only."""
    merged: dict[str, object] = {}
    for step in (1, 2, 3, 4):
        merge_metrics(merged, {"steps": [step], "train/a": [step / 10]})
    merge_metrics(merged, {"eval/steps": [4], "eval/a": [1.0]})
    merge_metrics(merged, {"steps": [3], "train/a": [9.0]})
    assert merged == {"steps": [1, 2, 3], "train/a": [0.1, 0.2, 9.0], "eval/steps": [4], "eval/a": [1.0]}


def test_newest_metrics() -> None:
    assert newest_metrics({"steps": [1, 2], "train/a": [0.1, 0.2], "x": 3, "none": []}) == {
        "steps": 2, "train/a": 0.2, "x": 3
    }  # fmt: skip


def test_states() -> None:
    """An ended job goes on only by being queued again; nothing else leads back."""
    assert {*ENDED_STATES, *OPEN_STATES} == set(TrainingState) == set(TRAINING_TRANSITIONS)
    assert all(TRAINING_TRANSITIONS[state] == {TrainingState.QUEUED} for state in ENDED_STATES)
    assert set(may_become(TrainingState.COMPLETED)) == {TrainingState.RUNNING}
    assert set(may_become(TrainingState.QUEUED)) == set(ENDED_STATES)
    assert json.dumps(TrainingState.QUEUED) == '"queued"'
