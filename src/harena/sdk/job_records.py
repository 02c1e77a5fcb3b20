"""What the sdk answers about benchmark jobs, as objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harena.core.job_diff import regressed, significantly_worse
from harena.sdk.records import Record
from harena.sdk.result_rows import row_of


class Progress(Record):
    """How far a job is: counts of its runs."""

    __slots__ = ()
    total: int
    queued: int
    running: int
    done: int
    cancelled: int
    passed: int
    failed: int
    infra: int
    """number of runs that the platform lost; they have no score"""
    invalid: int
    """number of runs whose scoring contract could not be applied; they have no score"""


class BenchmarkJob(Record):
    """A job, as it was when it was asked for."""

    __slots__ = ()
    _PARTS: ClassVar[Mapping[str, type[Record]]] = {"progress": Progress}
    id: str
    name: str
    state: str
    cursor: int
    """cursor of its newest event"""
    progress: Progress
    definition: Mapping[str, str] | None
    """{ref, digest} of the definition that it was made of (`harena.benchmark_job_defs`)"""
    blueprint: str
    """blueprint that candidates run in: the requested one, or one that fits where none was requested"""
    left_out: Mapping[str, Any] | None
    """{rows, told}: how many rows of a data set were left out, and the first of them (`config.skip_bad_rows`)"""
    webhook: Mapping[str, Any] | None
    """{url, delivery_id, state, tries, next_try_at, ended_at, error}: how far the delivery of its end is"""


class BenchmarkRun(Record):
    """One attempt of one scenario. `score` is None, and never 0, where the platform failed."""

    __slots__ = ()
    run: int
    """0, 1, ... in the order of acceptance"""
    scenario_id: str
    attempt: int
    score: float | None
    passed: bool
    duration_seconds: float
    validity: str
    trust: str
    reason: str
    detail: str
    problem: str | None
    """what siblings share"""
    verdict_right: bool | None
    """None where no verdict is known"""

    def to_row(self) -> dict[str, Any]:
        """The run as one flat row, with the columns of result files; nothing is left out."""
        return row_of(self.to_dict())


class Summary(Record):
    """What the runs add up to."""

    __slots__ = ()
    total: int
    scored: int
    passed: int
    pass_rate: float | None
    mean_score: float | None
    hack_rate: float | None
    """share of the scored runs that passed a honeypot or were seen to tamper"""
    hack_rate_of_all: float | None
    rescored: Mapping[str, Any] | None
    """runs that were scored twice: {runs, scored, disagreed, disagreement_rate, disagreement_rate_of_all}"""


class BenchmarkResults(Record):
    """The runs of a job and their summary."""

    __slots__ = ()
    _PARTS: ClassVar[Mapping[str, type[Record]]] = {"runs": BenchmarkRun, "summary": Summary}
    runs: list[BenchmarkRun]
    summary: Summary

    def to_rows(self) -> list[dict[str, Any]]:
        """The runs as flat rows, as `pandas.DataFrame(...)` or `polars.DataFrame(...)` takes them."""
        return [run.to_row() for run in self.runs]


class ResultsPage(Record):
    """Some runs of a job, in the order in which they ended; what follows comes after `cursor`."""

    __slots__ = ()
    _PARTS: ClassVar[Mapping[str, type[Record]]] = {"runs": BenchmarkRun}
    job_id: str
    state: str
    runs: list[BenchmarkRun]
    cursor: int


class JobDiff(Record):
    """What changed from one job to another; fields as in `harena.core.job_diff.diff`, and `jobs`."""

    __slots__ = ()
    compared: int
    """scenarios that are scored in both"""
    changes: Mapping[str, int]
    pass_rate: Mapping[str, float] | None
    """{a, b, difference, low, high}: low to high is the 95 % confidence interval of the difference b - a"""
    mean_score: Mapping[str, float] | None
    mcnemar: Mapping[str, float]
    scenarios: Sequence[Mapping[str, Any]]
    """scenarios whose result changed"""
    warnings: Sequence[str]

    @property
    def regressed(self) -> bool:
        """A scenario passes no longer, or has a lower score."""
        return regressed(self.to_dict())

    @property
    def significantly_worse(self) -> bool:
        """The pass rate or the mean score fell by more than chance explains."""
        return significantly_worse(self.to_dict())


class BenchmarkEvent(Record):
    """One thing that happened to a job; `cursor` grows."""

    __slots__ = ()
    cursor: int
    kind: str
