"""What a benchmark job is asked for, and what it answers.

A request is strict: an unknown key, a number given as text or a value out of range is an error that names the field
and says what would be right. Answers are plain dicts of JSON types, the same over every transport.

    request  {name, scenarios: path of a file | its content, candidates = None: the answers to a data set, likewise,
              format = None: the data format's name (None = told by its shape), grader = None: likewise, blueprint_id =
              "default" (name or id), config: {concurrency = 8, timeout_seconds = 120, retry_attempts = 1, attempts = 1,
              require_trust = None, rescore_fraction = 0, retry_on = ["platform"], run_timeout_seconds = None,
              job_timeout_seconds = None, priority = 0}}

    job      {id, name, state, created_at, started_at, ended_at, blueprint, config, error,
              progress: {total, queued, running, done, cancelled, passed, failed, infra, effective_concurrency}}

    results  {job_id, name, state, error, summary, runs}; `summary` as in `harena.jobs.summary`; each of `runs` is a
             `RunResult` as a dict plus `problem` (the id that siblings share, or None), `expected` (the known verdict
             {passed, reason, score}, or None), `verdict_right` (None where no verdict is known) and `honeypot`;
             `rescore` is {score, reason, error, agrees}, or None for a run that was scored once

    event    {cursor, at, kind, job_id, ...}; kinds: job_started {total, effective_concurrency}, run_started,
             run_retried {error, delay_seconds}, run_finished {score, passed, validity, reason, duration_seconds},
             run_cancelled, run_requeued (its node has gone), job_paused {error} and job_continued (the store was
             away), job_released and job_resumed {open} (another node goes on), job_ended {state}; events of a run carry
             {run, scenario_id, attempt}

    page     {job_id, state, runs, cursor}: results in the order in which runs ended; `cursor` asks for what follows

Times of day are ISO 8601 in UTC, durations are seconds. `queued`, `running`, `done` and `cancelled` add up to `total`;
`passed`, `failed` and `infra` add up to `done` (`infra` holds every run without a score).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic import ValidationError as PydanticError
from pydantic_core import ErrorDetails

from harena.core.errors import ValidationError

DEFAULT_BLUEPRINT = "default"
"""The bare image with the host's own interpreter; exists without being created."""

Trusts = Literal["separate", "shared"]
RetryOn = Literal[
    "platform", "wrong_answer", "partial", "exception", "timeout", "memory_limit", "output_limit", "exited_early",
    "protocol", "scorer_rejected", "scorer_error",
]  # fmt: skip


class JobConfig(BaseModel):
    """How a job runs."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    concurrency: int = Field(default=8, ge=1, le=1000)
    """runs at one time, at most; the host's cores may allow fewer (`progress.effective_concurrency`)"""
    timeout_seconds: float = Field(default=120.0, gt=0, le=24 * 3600, allow_inf_nan=False)
    """wall time of one candidate, unless its scenario says less"""
    retry_attempts: int = Field(default=1, ge=0, le=10)
    """further tries after the platform (never the candidate) failed"""
    attempts: int = Field(default=1, ge=1, le=1000)
    """times that each scenario is run and scored"""
    retry_on: tuple[RetryOn, ...] = ("platform",)
    """what is tried again: failures of the platform, always; beside them, only if asked, reasons of scored results"""
    run_timeout_seconds: float | None = Field(default=None, gt=0, le=7 * 24 * 3600, allow_inf_nan=False)
    """wall time of one try of one run, with its sandboxes and its scorer; longer is a failure of the platform"""
    job_timeout_seconds: float | None = Field(default=None, gt=0, le=30 * 24 * 3600, allow_inf_nan=False)
    """time that the job may run, all nodes that ran it together; then it ends as timed_out, with its results so far"""
    priority: int = Field(default=0, ge=-100, le=100)
    """jobs of a higher priority get the node's free slots first"""
    require_trust: Trusts | None = None
    """"separate": refuse contracts whose verdict is computed beside the candidate; "shared" or None: take all"""

    rescore_fraction: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)
    """share of the runs that are executed and scored once more, in fresh sandboxes; see `rescored` of the summary"""

    @field_validator("retry_on", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("timeout_seconds", "rescore_fraction", "run_timeout_seconds", "job_timeout_seconds", mode="before")
    @classmethod
    def _whole_number(cls, value: object) -> object:
        return float(value) if type(value) is int else value


class JobRequest(BaseModel):
    """A benchmark job as it is asked for."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)

    name: str = Field(min_length=1, max_length=200)
    scenarios: str | Path | list[Any] | dict[str, Any]
    """a scenario file, the scenarios themselves, or a whole file's content as a mapping"""
    blueprint_id: str = Field(default=DEFAULT_BLUEPRINT, min_length=1)
    config: JobConfig = Field(default_factory=JobConfig)
    candidates: str | Path | list[Any] | dict[str, Any] | None = None
    """the answers to a data set, likewise; or "oracle" or "nop\""""
    format: str | None = Field(default=None, min_length=1)
    """of `scenarios`; None = told by its shape"""
    grader: str | Path | dict[str, Any] | None = None
    """of rows that hold none of their own: a file, or what is in it"""

    @field_validator("name")
    @classmethod
    def _printable(cls, value: str) -> str:
        if not value.isprintable() or value != value.strip():
            raise ValueError("must be printable text without spaces around it")
        return value

    @field_validator("scenarios", "candidates", mode="before")
    @classmethod
    def _as_list(cls, value: object) -> object:
        return list(value) if isinstance(value, tuple) else value

    @field_validator("config", mode="before")
    @classmethod
    def _absent(cls, value: object) -> object:
        if value is None:
            return {}
        return dict(value) if isinstance(value, Mapping) else value


def parse_request(request: Mapping[str, Any]) -> JobRequest:
    """The checked request. Raises ValidationError that lists every mistake, one to a line."""
    try:
        return JobRequest.model_validate(dict(request))
    except PydanticError as error:
        mistakes = dict.fromkeys(_sentence(detail) for detail in error.errors(include_url=False))
        raise ValidationError("\n  ".join(["this benchmark job cannot run:", *mistakes])) from None


def _sentence(detail: ErrorDetails) -> str:
    location = [str(part) for part in detail["loc"]]
    if detail["type"] == "extra_forbidden":
        return f"{'.'.join(location)}: unknown key; {_nearest(location)}"
    if detail["type"] == "missing":
        return f"{'.'.join(location)}: missing"
    if location[:1] == ["scenarios"]:
        return "scenarios: must be the path of a scenario file or a list of scenarios"
    if location[:1] == ["grader"]:
        return "grader: must be the path of a grader's JSON file, or the grader as a mapping"
    if location[:1] == ["candidates"]:
        return "candidates: must be the path of a file of answers, a list of answers, 'oracle' or 'nop'"
    message = detail["msg"].removeprefix("Value error, ")
    given = detail["input"]
    shown = repr(given) if isinstance(given, str | int | float | bool | None) else type(given).__name__
    return f"{'.'.join(location)}: {message[:1].lower()}{message[1:]} (got {shown})"


def _nearest(location: list[str]) -> str:
    model: type[BaseModel] = JobConfig if location[0] == "config" else JobRequest
    valid = list(model.model_fields)
    close = difflib.get_close_matches(location[-1], valid, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"valid keys are {', '.join(valid)}"
