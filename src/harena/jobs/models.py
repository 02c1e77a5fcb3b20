"""What a benchmark job is asked for; its answers are the records of `harena.core.records.benchmark_jobs`.

A request is strict: an unknown key, a number given as text or a value out of range is an error that names the field
and says what would be right.

    request  {name, scenarios: path of a file | its content | an iterator of its rows, candidates = None: the answers to
              a data set, likewise, format = None: the data format's name (None = told by its shape), grader = None: the
              file or its content, blueprint_id = None (name or id; None = "default", or
              for a data set of Python programs "python-warm"), config: {concurrency = 8, timeout_seconds =
              120, retry_attempts = 1, attempts = 1, require_trust = None, rescore_fraction = 0, retry_on =
              ["platform"], run_timeout_seconds = None, job_timeout_seconds = None, priority = 0, skip_bad_rows =
              False, build_network = "open", task_network = None, execution = "local"}, webhook = None: {url, secret =
              None}}

              With `definition` (NAME@2, or NAME: the newest) everything else may be missing and is the definition's;
             see `harena.jobs.definitions`.

             Stored scenarios are named in place of a file: scenarios = {"ref": "NAME@2"} (or "NAME", the newest), with
             or without candidates; their format and grader are stored with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator
from pydantic import ValidationError as PydanticError
from pydantic_core import ErrorDetails

from harena.core.errors import ValidationError
from harena.core.mistakes import given_in, nearest_key, reason_of
from harena.core.near_names import cut
from harena.core.network_policy import checked_words
from harena.core.records.blueprints import DEFAULT_BLUEPRINT
from harena.core.rows import RowsFile
from harena.core.webhook_signature import secret_bytes
from harena.jobs.webhooks import url_mistake
from harena.scoring.bounds import AtMost, StrictShape

Model = TypeVar("Model", bound=BaseModel)

Trusts = Literal["separate", "shared"]
Execution = Literal["local", "ray"]
RetryOn = Literal[
    "platform", "wrong_answer", "partial", "exception", "timeout", "memory_limit", "output_limit", "exited_early",
    "protocol", "scorer_rejected", "scorer_error",
]  # fmt: skip


class JobConfig(StrictShape):
    """How a job runs."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    concurrency: int = Field(default=8, ge=1, le=1000)
    """runs at one time, at most; the machine may allow fewer"""
    timeout_seconds: float = Field(default=120.0, gt=0, le=24 * 3600, allow_inf_nan=False)
    """time of one candidate, as `harena.scoring.scorers.time_limits` says, unless its scenario says less"""
    retry_attempts: int = Field(default=1, ge=0, le=10)
    """further tries after the platform (never the candidate) failed"""
    attempts: int = Field(default=1, ge=1, le=1000)
    """times that each scenario is run and scored"""
    retry_on: Annotated[tuple[RetryOn, ...], AtMost(20)] = ("platform",)
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
    build_network: Annotated[str, Field(max_length=20_000), AfterValidator(checked_words)] = "open"
    """what RUN of the Dockerfiles of task directories may reach: "none", "open", or entries with commas between them"""
    task_network: Annotated[str, Field(max_length=20_000), AfterValidator(checked_words)] | None = None
    """what candidates and verifiers of task directories in images may reach, likewise; None = as the tasks say"""
    execution: Execution = "local"
    """where runs are scored: on the job's node, or spread over the nodes of its Ray cluster"""
    skip_bad_rows: bool = False
    """rows of a data set that have a mistake are left out, counted and named; False = one such row refuses the job"""

    @field_validator("retry_on", mode="before")
    @classmethod
    def _as_tuple(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("timeout_seconds", "rescore_fraction", "run_timeout_seconds", "job_timeout_seconds", mode="before")
    @classmethod
    def _whole_number(cls, value: object) -> object:
        return float(value) if type(value) is int and value.bit_length() < 64 else value


class JobWebhook(StrictShape):
    """Where a job's end is told."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    url: str = Field(min_length=1, max_length=2048)
    """http or https"""
    secret: Annotated[str, Field(max_length=4096)] | None = Field(default=None, repr=False)
    """what deliveries are signed with; None = they are not"""

    @field_validator("url")
    @classmethod
    def _checked_url(cls, value: str) -> str:
        if mistake := url_mistake(value):
            raise ValueError(mistake)
        return value

    @field_validator("secret")
    @classmethod
    def _checked_secret(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                secret_bytes(value)
            except ValidationError as error:
                raise ValueError(str(error)) from None
        return value


class JobRequest(BaseModel):
    """A benchmark job as it is asked for."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)

    name: str = Field(min_length=1, max_length=200)
    scenarios: str | Path | list[Any] | dict[str, Any] | RowsFile
    """a scenario file, the scenarios themselves, or a whole file's content as a mapping"""
    blueprint_id: str | None = Field(default=None, min_length=1)
    """None = the default one, or what starts a data set's programs faster and no otherwise"""
    config: JobConfig = Field(default_factory=JobConfig)
    candidates: str | Path | list[Any] | dict[str, Any] | RowsFile | None = None
    """the answers to a data set, likewise; or "oracle" or "nop\""""
    format: str | None = Field(default=None, min_length=1)
    """format of `scenarios`; None = recognised by its shape"""
    grader: str | Path | dict[str, Any] | None = None
    """grader of rows that hold none of their own: a file, or its content"""
    webhook: JobWebhook | None = None
    """is told of the job's end"""

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

    @field_validator("config")
    @classmethod
    def _tries_outlast_candidates(cls, value: JobConfig) -> JobConfig:
        # of what is asked for only: a job that was stored before goes on
        if value.run_timeout_seconds is not None and value.run_timeout_seconds <= value.timeout_seconds:
            raise ValueError(
                f"run_timeout_seconds must be more than timeout_seconds ({value.timeout_seconds:g}): else a candidate "
                "that takes all its time is a fault of the platform, and has no score"
            )
        return value


class ScoreRequest(StrictShape):
    """One scenario to be scored now, without a job."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    scenario: Annotated[dict[str, Any], AtMost(1000)]
    """a row as in a scenario file"""
    blueprint_id: str = Field(default=DEFAULT_BLUEPRINT, min_length=1, max_length=1000)
    timeout_seconds: float = Field(default=10.0, gt=0, le=24 * 3600, allow_inf_nan=False)
    """time of the candidate, unless its scenario says less"""
    retry_attempts: int = Field(default=1, ge=0, le=10)
    """further tries after the platform (never the candidate) failed"""
    require_trust: Trusts | None = None


def parse_request(request: Mapping[str, Any], *, heading: str = "this benchmark job cannot run:") -> JobRequest:
    """The checked request. Raises ValidationError that lists every mistake, one to a line below the heading."""
    return _check_request(JobRequest, request, heading)


def parse_score_request(request: Mapping[str, Any]) -> ScoreRequest:
    """The checked request. Raises ValidationError that lists every mistake, one to a line."""
    return _check_request(ScoreRequest, request, "this scenario cannot be scored:")


def _check_request(model: type[Model], request: Mapping[str, Any], heading: str) -> Model:
    try:
        return model.model_validate(dict(request))
    except PydanticError as error:
        mistakes = dict.fromkeys(_sentence(detail, model) for detail in error.errors(include_url=False))
        raise ValidationError("\n  ".join([heading, *mistakes])) from None


def _sentence(detail: ErrorDetails, asked: type[BaseModel]) -> str:
    location = [str(part) for part in detail["loc"]]
    if detail["type"] == "extra_forbidden":
        return f"{'.'.join(map(cut, location))}: unknown key; {_nearest(location, asked)}"
    if detail["type"] == "missing":
        return f"{'.'.join(location)}: missing"
    if location[:1] == ["scenarios"]:
        return "scenarios: must be the path of a scenario file or a list of scenarios, or {'ref': 'NAME@2'}"
    if location == ["webhook"]:
        return "webhook: must be a mapping, as {'url': 'https://example.org/hooks'}"
    if location[:1] == ["grader"]:
        return "grader: must be the path of a grader's JSON file, or the grader as a mapping"
    if location[:1] == ["candidates"]:
        return "candidates: must be the path of a file of answers, a list of answers, 'oracle' or 'nop'"
    if location[:1] == ["webhook"]:  # what was given may be a secret, or hold one
        return f"{'.'.join(location)}: {reason_of(detail)}"
    return f"{'.'.join(location)}: {reason_of(detail)} (got {given_in(detail)})"


def _nearest(location: list[str], asked: type[BaseModel]) -> str:
    parts: dict[str, type[BaseModel]] = {"config": JobConfig, "webhook": JobWebhook}
    model = parts.get(location[0], asked) if len(location) > 1 else asked
    return nearest_key(location[-1], list(model.model_fields), cutoff=0.5)
