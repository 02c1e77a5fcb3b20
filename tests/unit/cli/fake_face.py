"""A package face that runs nothing: the command line is tested for what it asks and what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fake_answers import Record, filled
from harena.cli import face
from harena.cli.main import main
from harena.core.errors import HarenaError, NotFoundError
from harena.core.job_diff import diff, gather
from harena.core.records.benchmark_jobs import JobSummary, ResultsPage
from harena.core.records.job_diff import ComparedJob, ComparedJobs, JobDiff


def run_row(scenario_id: str, score: float | None, *, reason: str = "passed", **more: Any) -> dict[str, Any]:
    """One run as results hold it."""
    return {
        "scenario_id": scenario_id,
        "attempt": 1,
        "score": score,
        "passed": score == 1.0,
        "validity": "valid" if score is not None else "infra",
        "trust": "separate",
        "reason": reason,
        "detail": "",
        "duration_seconds": 0.5,
        "cpu_seconds": 0.25,
        "peak_memory_bytes": 1024,
        "checks_planned": 2,
        "checks_run": 2,
        "checks_passed": 2 if score else 0,
        "scorer_version": "tests/1",
        "evidence": "e",
        "platform_retries": 0,
        "metadata": {},
        "problem": scenario_id.partition("/")[0],
        "expected": {"passed": True, "reason": ["passed"], "score": None},
        "verdict_right": score == 1.0,
        **more,
    }


def results_of(*runs: dict[str, Any], state: str = "completed", error: str | None = None) -> dict[str, Any]:
    """A job's results."""
    scores = [run["score"] for run in runs if run["score"] is not None]
    told = Counter(run["verdict_right"] for run in runs)
    return {
        "job_id": "job_1",
        "name": "n",
        "state": state,
        "error": error,
        "summary": {
            "total": len(runs),
            "scored": len(scores),
            "passed": sum(run["passed"] for run in runs),
            "pass_rate": sum(run["passed"] for run in runs) / len(scores) if scores else None,
            "pass_rate_of_all": None,
            "mean_score": sum(scores) / len(scores) if scores else None,
            "infra": len(runs) - len(scores),
            "invalid": 0,
            "suspect": 0,
            "cancelled": 0,
            "by_reason": dict(Counter(run["reason"] for run in runs)),
            "duration_seconds": 2.0,
            "runs_per_second": len(runs) / 2,
            "verdicts": {
                "expected": len(runs),
                "right": told[True],
                "wrong": told[False],
                "no_score": told[None],
            },
        },
        "runs": [{"run": number, **run} for number, run in enumerate(runs)],
    }


@dataclass
class FakeJobs:
    """`harena.benchmark_jobs`, scripted."""

    answer: dict[str, Any]
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    interrupt: bool = False
    compared: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    """runs of the two jobs that are compared"""
    refuse: HarenaError | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    """what a job says that it was not asked for"""

    def job(self) -> Record:
        progress = {
            "total": 2, "done": 2, "passed": 1, "failed": 1, "infra": 0, "invalid": 0, "cancelled": 0, "running": 0,
            "effective_concurrency": 2,
        }  # fmt: skip
        return Record(
            {
                "id": "job_1",
                "name": "n",
                "state": self.answer["state"],
                "created_at": "2030-01-02T03:04:05.678+00:00",
                "started_at": "2030-01-02T03:04:00+00:00",
                "duration_seconds": 2.0,
                "cursor": 3,
                "progress": progress,
                **self.chosen,
            }
        )

    def create(self, **request: Any) -> Record:
        self.calls.append(("create", request))
        if self.refuse:
            raise self.refuse
        return self.job()

    def events(self, job: str, *, after: int = 0) -> Iterator[Mapping[str, Any]]:
        self.calls.append(("events", job, after))
        total = len(self.answer["runs"])
        stamp = "2030-01-02T03:04:{:02d}+00:00"
        told = [{"kind": "job_started", "total": total, "effective_concurrency": 2}]
        told += [{"kind": "run_finished", **run} for run in self.answer["runs"]]
        told.append({"kind": "job_ended", "state": self.answer["state"]})
        for number, event in enumerate(told):
            if number >= after:
                yield Record({"cursor": number + 1, "at": stamp.format(number), **event})  # type: ignore[misc]
            if self.interrupt and number:
                raise KeyboardInterrupt

    def results_pages(self, job: str) -> Iterator[ResultsPage]:
        """Two runs to a page, in the order of their ends: the last one first."""
        if job == "missing":
            raise NotFoundError("no benchmark job has the id or name 'missing'")
        ended = self.answer["runs"][::-1]
        for first in range(0, max(1, len(ended)), 2):
            page = {"job_id": "job_1", "state": self.answer["state"], "runs": ended[first : first + 2]}
            yield filled(ResultsPage, page)

    def summary(self, job: str) -> JobSummary:
        return filled(JobSummary, {name: value for name, value in self.answer.items() if name != "runs"})

    def save_results(self, job: str, path: Path, **more: Any) -> None:
        self.calls.append(("save_results", job, path, more.get("format")))

    def delete(self, job: str) -> None:
        self.calls.append(("delete", job))

    def diff(self, a: str, b: str) -> JobDiff:
        of_a, of_b = self.compared
        job_a, job_b = (ComparedJob(id=f"job_{name}", name=name, state="completed") for name in (a, b))
        return diff(ComparedJobs(a=job_a, b=job_b), gather(of_a), gather(of_b))

    def list(self, **asked: Any) -> list[Record]:
        self.calls.append(("list", asked))
        return [self.job()]

    def get(self, job: str) -> Record:
        return self.job()

    def cancel(self, job: str) -> Record:
        self.calls.append(("cancel", job))
        self.answer["state"] = "cancelled"
        return self.job()


Harena = Callable[..., int]


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> FakeJobs:
    """The face has these jobs, and nothing else."""
    fake = FakeJobs(results_of(run_row("a/right", 1.0), run_row("a/other", 1.0)))
    monkeypatch.setattr(face, "load", lambda: SimpleNamespace(benchmark_jobs=fake, __version__="0.1.0"))
    return fake


@pytest.fixture
def harena() -> Harena:
    """`harena("benchmark", "ls")` runs a command line and gives its exit code."""
    return lambda *words: main(words)
