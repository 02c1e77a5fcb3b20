"""What is answered of training jobs is bounded, and says where it goes on."""

from __future__ import annotations

from harena.core.pages import PageRows
from harena.core.training_jobs import TrainingEventKind
from harena.core.training_store import StoredTrainingEvent
from harena.jobs.training.training_answers import metrics_answer


def event(cursor: int, kind: str, **body: object) -> StoredTrainingEvent:
    return StoredTrainingEvent(cursor=cursor, at="t", kind=kind, level="info", message=None, body=body)


def step(cursor: int, number: int, value: float) -> StoredTrainingEvent:
    return event(cursor, "k", metrics={"steps": [number], "train/a": [value]})


def test_metrics_are_those_of_one_page() -> None:
    """They say that there are more; where the job began from scratch, only what came after counts."""
    page = PageRows([step(5, 1, 0.5), step(6, 2, 0.25)])
    page.more = True
    told = metrics_answer(page, after=4)
    assert (told.metrics, told.cursor) == ({"steps": [1, 2], "train/a": [0.5, 0.25]}, 6)
    assert (told.more, told.anew) == (True, False)
    scratch = event(7, TrainingEventKind.JOB_QUEUED, data={"from": "scratch"})
    told = metrics_answer(PageRows([step(6, 2, 0.25), scratch, step(8, 1, 1.0)]), after=5)
    assert (told.metrics, told.more, told.anew) == ({"steps": [1], "train/a": [1.0]}, False, True)
    assert metrics_answer(PageRows(), after=9).cursor == 9
