"""The sdk's verbs over training jobs that somebody else has: what is asked, added up, and written to disk."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import harena
from fake_answers import filled
from harena.core.errors import ValidationError
from harena.core.idempotency import IdempotencyKey
from harena.core.records.training_jobs import (
    TrainingArtifacts,
    TrainingFile,
    TrainingJob,
    TrainingJobsPage,
    TrainingLog,
    TrainingLogsPage,
    TrainingMetrics,
)
from harena.sdk import portal, transport

METRICS_PAGES = {
    0: TrainingMetrics(metrics={"steps": [1, 2], "train/a": [1.0, 2.0]}, cursor=1, more=True),
    1: TrainingMetrics(metrics={"steps": [1], "train/a": [5.0]}, cursor=2, more=True, anew=True),
    2: TrainingMetrics(metrics={"steps": [2], "train/a": [6.0]}, cursor=4),
}
"""by the cursor after which they are asked for"""


class FakeTraining:
    """As much of `Operations` as is asked for."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.files = {"model/config.json": b"{}", "model/deep/weights": b"\x00" * 3_000_000}

    async def create_training_job(self, request: Mapping[str, Any], *, key: IdempotencyKey | None = None) -> Any:
        self.asked.append((request, key))
        return filled(TrainingJob, {"id": "train_1"})

    async def list_training_jobs(self, *, cursor: int | None, limit: int, **wanted: Any) -> Any:
        self.asked.append((cursor, limit, wanted))
        numbers = range(5, 0, -1) if cursor is None else range(cursor - 1, 0, -1)
        page = [*numbers][: min(limit, 2)]
        jobs = [{"id": f"{n}"} for n in page]
        return filled(TrainingJobsPage, {"training_jobs": jobs, "next_cursor": page[-1] if page[-1] > 1 else None})

    async def training_job_metrics(self, job: str, *, after: int = 0) -> Any:
        if job == "train_pages":
            return METRICS_PAGES[after]
        if not after:
            return TrainingMetrics(metrics={"steps": [1, 2], "train/a": [1.0, 2.0]}, cursor=9)
        return TrainingMetrics(metrics={"steps": [2, 3], "train/a": [2.5, 3.0], "count": 1}, cursor=12)

    async def training_job_logs(self, job: str, *, after: int = 0, limit: int = 1000) -> Any:
        items = [filled(TrainingLog, {"cursor": n, "message": f"{n}"}) for n in range(after + 1, min(after + 2, 5) + 1)]
        return TrainingLogsPage(items=items, cursor=items[-1].cursor if items else after)

    async def training_job_artifacts(self, job: str) -> Any:
        files = [TrainingFile(path=path, size_bytes=len(content)) for path, content in self.files.items()]
        return TrainingArtifacts(artifacts={"model": "model"}, files=files, folder="/far")

    async def training_job_file(self, job: str, path: str) -> AsyncIterator[bytes]:
        content = self.files[path]
        for start in range(0, len(content), 1 << 20):
            yield content[start : start + (1 << 20)]

    async def close(self) -> None:
        pass


@pytest.fixture
def training() -> Iterator[FakeTraining]:
    fake = FakeTraining()

    async def opened() -> Any:
        return fake

    before = transport.set_factory(opened)
    yield fake
    portal.shutdown()
    transport.set_factory(before)


def test_a_request_by_its_fields(training: FakeTraining) -> None:
    """Or whole, or both; the same key for the same request whatever its order."""
    harena.training_jobs.create({"model": "m", "config": {}}, trainer_type="sft", idempotency_key="k")
    harena.training_jobs.create(trainer_type="sft", config={}, model="m", idempotency_key="k")
    (one, first), (other, second) = training.asked
    assert one == other == {"model": "m", "config": {}, "trainer_type": "sft"}
    assert first == second
    for bad in ({"config": {1, 2}}, {"config": {"temperature": float("nan")}}):
        with pytest.raises(ValidationError, match="JSON"):
            harena.training_jobs.create(bad)
    with pytest.raises(ValidationError, match="mapping"):
        harena.training_jobs.create([])  # type: ignore[arg-type]
    assert len(training.asked) == 2


def test_pages_are_one_list(training: FakeTraining) -> None:
    assert [job.id for job in harena.training_jobs.list(state="failed")] == ["5", "4", "3", "2", "1"]
    assert [job.id for job in harena.training_jobs.list(limit=3)] == ["5", "4", "3"]
    assert training.asked[0] == (None, 500, {"name": None, "state": "failed", "trainer_type": None})


def test_only_what_is_new_is_fetched_and_added(training: FakeTraining) -> None:
    """A step that was trained again replaces what was told of it; what was there before is left as it was."""
    first = harena.training_jobs.metrics("train_1")
    later = harena.training_jobs.metrics("train_1", earlier=first)
    assert later.metrics == {"steps": [1, 2, 3], "train/a": [1.0, 2.5, 3.0], "count": 1}
    assert (first.metrics["steps"], later.cursor) == ([1, 2], 12)


def test_pages_of_metrics_are_put_together(training: FakeTraining) -> None:
    """All pages are asked for; where the job began from scratch, what was measured before is dropped."""
    told = harena.training_jobs.metrics("train_pages")
    assert (told.metrics, told.cursor, told.more) == ({"steps": [1, 2], "train/a": [5.0, 6.0]}, 4, False)
    earlier = TrainingMetrics(metrics={"steps": [1], "train/a": [1.0]}, cursor=1)
    assert harena.training_jobs.metrics("train_pages", earlier=earlier) == told


def test_pages_of_logs_that_are_cut_by_their_bytes(training: FakeTraining) -> None:
    """A page with fewer entries than were asked for is not the last one."""
    assert [one.message for one in harena.training_jobs.logs("train_1")] == ["1", "2", "3", "4", "5"]


def test_files_are_fetched_whole(training: FakeTraining, tmp_path: Path) -> None:
    """Into folders of their names."""
    got = harena.training_jobs.download("train_1", tmp_path, below="model/")
    assert [path.relative_to(tmp_path).as_posix() for path in got] == ["model/config.json", "model/deep/weights"]
    assert got[1].read_bytes() == training.files["model/deep/weights"]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["config.json", "weights"]
    with pytest.raises(ValidationError, match="begin with 'x/'"):
        harena.training_jobs.download("train_1", tmp_path, below="x/")
    (tmp_path / "file").touch()
    with pytest.raises(ValidationError, match="cannot be made: Not a directory; name another one"):
        harena.training_jobs.download("train_1", tmp_path / "file", below="model/")


def test_a_server_cannot_write_elsewhere(training: FakeTraining, tmp_path: Path) -> None:
    """Whatever it calls its files."""
    training.files = {"../outside": b"x"}
    with pytest.raises(ValidationError, match="outside"):
        harena.training_jobs.download("train_1", tmp_path / "in")
    assert not (tmp_path / "outside").exists()
    assert [*tmp_path.rglob("*")] == []
