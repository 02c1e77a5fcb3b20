"""What an evaluation of a model found."""

from __future__ import annotations

from dataclasses import dataclass, field

from harena.core.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate(Record):
    """pass@k: the chance that one of k answers to a problem passes, as a mean over problems."""

    k: int
    """answers that are drawn"""
    rate: float
    """from 0 to 1"""
    low: float
    """lower end of its 95 % confidence interval, over problems"""
    high: float
    """upper end"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAnswer(Record):
    """An answer that did not pass."""

    scenario_id: str
    """its scenario: the problem's id and the number of the answer"""
    reason: str
    """why it did not pass, by the table of reasons"""
    detail: str
    """what happened, in words"""
    candidate: str
    """what was judged: the program that the answer became, or its text"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEvaluation(Record):
    """How good a model's answers to the problems of a data set are. Its runs are those of a benchmark job."""

    model: str
    """what was asked, as it was named"""
    dataset: str
    """where its problems came from, as it was named"""
    job_id: str
    """benchmark job that ran the answers: `benchmark_jobs.results`, `diff`"""
    job_name: str
    """its name"""
    problems: int
    """number of problems that were asked"""
    answers: int
    """number of answers that were run"""
    scored: int
    """number of answers that have a score; the platform lost the others, or their contract could not be applied"""
    passed: int
    """number of answers that passed"""
    mean_score: float | None
    """mean over the answers that have a score; null = none has"""
    pass_rates: list[PassRate]
    """for k = 1, 2, 4 ... up to the number of scored answers that every problem has; empty = none was scored"""
    cut_off: int
    """answers that reached `max_new_tokens`"""
    tokens: int
    """tokens of all answers together, as far as the model's server says"""
    max_new_tokens: int
    """length of an answer, at most"""
    temperature: float
    """0 = the most probable token each time"""
    reasons: dict[str, int] = field(default_factory=dict)
    """reason -> number of answers that did not pass for it, the commonest first"""
    example: FailedAnswer | None = None
    """the first answer that did not pass for the commonest reason; null = all passed"""
    answers_file: str
    """JSONL file of the answers: an evaluation of the same model, data set and settings takes them from there"""
