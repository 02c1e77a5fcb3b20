"""Benchmark jobs as they are answered: the job, its runs, what they add up to, and what happens to it.

Times of day are ISO 8601 in UTC; durations are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

from harena.core.records.record import Record
from harena.core.records.result_rows import row_of
from harena.core.results import Reason, Trust, Validity


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Record):
    """How far a job is. `queued`, `running`, `done` and `cancelled` add up to `total`; `passed`, `failed`, `infra` and
    `invalid` add up to `done`."""

    total: int
    """runs of the job: scenarios times attempts"""
    queued: int
    """runs that wait for a slot, also those that wait to be tried again"""
    running: int
    """runs that have a slot now"""
    done: int
    """runs that have ended, with a score or without one"""
    cancelled: int
    """runs that will not be run, because the job was ended before"""
    passed: int
    """runs whose score reached what its contract calls passed"""
    failed: int
    """scored runs that did not pass"""
    infra: int
    """number of runs that the platform lost; they have no score"""
    invalid: int
    """number of runs whose scoring contract could not be applied; they have no score"""
    effective_concurrency: int | None
    """runs that the node lets run at one time; null = the job has not started"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLineage(Record):
    """Stored versions that a job was made of."""

    scenarios: str | None
    """the stored scenarios, as NAME@2; null = they came with the job"""
    digest: str | None
    """digest of the stored scenarios' content"""
    contracts: list[str]
    """the stored scoring contracts, as NAME@2"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutRows(Record):
    """Rows of a data set that had a mistake, where the job asked to leave such rows out (`config.skip_bad_rows`)."""

    rows: int
    """number of rows that were left out"""
    told: list[str]
    """the mistakes of the first of them"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionReference(Record):
    """The version of a definition that a job was made of."""

    ref: str
    """the version, as NAME@2"""
    digest: str
    """sha256 of the definition's content"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDelivery(Record):
    """How far the delivery of a job's end is. The secret that signs it is never answered."""

    url: str
    """where the end is posted to"""
    delivery_id: str
    """the receiver knows repetitions by it"""
    state: str
    """waiting (for the job's end), pending, delivered or failed"""
    tries: int
    """requests that were sent so far"""
    next_try_at: str | None
    """when the next request is sent; null = none will be"""
    ended_at: str | None
    """when it was delivered, or given up; null = neither yet"""
    error: str | None
    """what came of the last try that failed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobConfiguration(Record):
    """How a job runs: what was asked for, and the defaults for the rest. Bounds are those of the request."""

    concurrency: int = 8
    """runs at one time, at most; the machine may allow fewer"""
    timeout_seconds: float = 120.0
    """time of one candidate, unless its scenario says less"""
    retry_attempts: int = 1
    """further tries after the platform (never the candidate) failed"""
    attempts: int = 1
    """times that each scenario is run and scored"""
    retry_on: list[str] = field(default_factory=lambda: ["platform"])
    """what is tried again: failures of the platform, always; beside them reasons of scored results"""
    run_timeout_seconds: float | None = None
    """wall time of one try of one run, with its sandboxes and its scorer; longer is a failure of the platform"""
    job_timeout_seconds: float | None = None
    """time that the job may run, all nodes that ran it together; then it ends as timed_out, with its results so far"""
    priority: int = 0
    """jobs of a higher priority get the node's free slots first"""
    require_trust: str | None = None
    """"separate": contracts whose verdict is computed beside the candidate are refused; "shared" or null: none is"""
    rescore_fraction: float = 0.0
    """share of the runs that are executed and scored once more, in fresh sandboxes; see `rescored` of the summary"""
    skip_bad_rows: bool = False
    """rows of a data set that have a mistake are left out, counted and named"""
    build_network: str = "open"
    """what RUN of the Dockerfiles of task directories may reach: "none", "open", or entries with commas between them"""
    task_network: str | None = None
    """what candidates and verifiers of task directories in images may reach, likewise; null = as the tasks say"""
    execution: str = "local"
    """where runs are scored: "local", on the job's node, or "ray", spread over the nodes of its Ray cluster"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkJob(Record):
    """A job, as it was when it was asked for."""

    id: str
    """chosen by the node that accepted the job: job_ and 16 hexadecimal digits"""
    name: str
    """the user's, not unique; a name stands for the newest job that has it"""
    state: str
    """a `JobState`: queued, running, completed, cancelled, failed, timed_out or interrupted"""
    created_at: str
    """when the job was accepted"""
    started_at: str | None
    """when its first run began; null = none has"""
    ended_at: str | None
    """when it reached a state that it never leaves; null = it has not ended"""
    duration_seconds: float
    """how long it has run, on all nodes together"""
    blueprint: str
    """blueprint that candidates run in: the requested one, or one that fits where none was requested"""
    config: JobConfiguration
    """what was asked for, with the defaults for the rest"""
    error: str | None
    """why the platform could not run it to its end"""
    cursor: int
    """cursor of its newest event"""
    progress: Progress
    """its runs, counted by state"""
    lineage: JobLineage | None
    """null = nothing stored was used"""
    left_out: LeftOutRows | None
    """null = no row was left out"""
    definition: DefinitionReference | None
    """null = it was not made of a definition"""
    webhook: WebhookDelivery | None
    """null = nobody is told of its end"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkJobsPage(Record):
    """One page of jobs, newest first."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"benchmark_jobs": 1000}

    benchmark_jobs: list[BenchmarkJob]
    """up to as many as were asked for"""
    next_cursor: int | None
    """asks for what follows; null = this was the last page"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored(Record):
    """What the same candidate got when it was executed and scored once more, in fresh sandboxes."""

    score: float | None
    """null = the second try gave none"""
    reason: Reason | None
    """null = the second try gave none"""
    error: str
    """why the platform could not score it again; empty = it could"""
    agrees: bool | None
    """both scores are the same; null where the platform failed, which says nothing about the candidate"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedVerdict(Record):
    """The verdict that a scenario is known to deserve."""

    passed: bool
    """whether a right judgement lets the candidate pass"""
    reason: list[str]
    """any of these; empty = any reason"""
    score: float | None
    """the right score; null = any that agrees with `passed`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRun(Record):
    """One attempt of one scenario. `score` is null, and never 0, where the platform failed."""

    run: int
    """0, 1, ... in the order of acceptance"""
    scenario_id: str
    """unique within the job; the scenario's author chose it"""
    attempt: int
    """1, 2, ... for the same scenario"""
    score: float | None
    """0 to 1, or what the contract gives; null = the candidate was not judged"""
    passed: bool
    """false also where there is no score"""
    validity: Validity
    """valid; suspect (scored, though something was tampered with); infra or invalid (no score)"""
    trust: Trust
    """separate (the verdict was computed out of the candidate's reach) or shared"""
    reason: Reason
    """why it has this score, or none"""
    detail: str
    """one line for people; never parsed"""
    duration_seconds: float
    """wall time of making the sandbox, running and judging, without tries that the platform lost"""
    cpu_seconds: float
    """processor time of the candidate's processes"""
    peak_memory_bytes: int
    """most memory that the candidate's sandbox held"""
    checks_planned: int
    """checks that the contract has"""
    checks_run: int
    """checks that were made, until one ended the run"""
    checks_passed: int
    """checks that the candidate passed"""
    scorer_version: str
    """name and number of the rules that gave the score, such as tests-5"""
    evidence: str
    """sha256 over contract, candidate, scorer version and observations"""
    scenario_digest: str = ""
    """sha256 over all but the candidate that decides the score; empty where nothing was scored"""
    candidate_digest: str = ""
    """sha256 over the candidate's files; empty where nothing was scored"""
    profile: str = ""
    """what programs could do in the candidate's sandbox: strict or machine; empty where it was in none"""
    image_digest: str = ""
    """`sha256:...` of the image that the candidate's sandbox was made of, or the interpreter of the default one, as
    python:3.11.2; empty where it was in none"""
    blueprint_digest: str = ""
    """sha256 over the blueprint that it was made of; empty = none"""
    scenario_version: str | None = None
    """the stored scenarios, as NAME@2"""
    contract_version: str | None = None
    """the stored scoring contract, as NAME@2"""
    platform_retries: int
    """tries that the platform lost before this one"""
    rescore: Rescored | None = None
    """null = it was scored once"""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """the scenario's own, as its author wrote it"""
    honeypot: bool = False
    """no honest candidate can pass this scenario"""
    problem: str | None = None
    """id that siblings (candidates of one problem) share"""
    expected: ExpectedVerdict | None = None
    """null = no verdict is known"""
    verdict_right: bool | None = None
    """null where no verdict is known, or there is no score"""

    more: dict[str, Any] = field(default_factory=dict)
    """fields that this version of harena does not know, from a newer server; they stand beside the others in
    `to_dict`"""

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Build the run from a stored row or an answer; fields that the record does not name are kept in `more`."""
        run = super(BenchmarkRun, cls).from_dict(given)
        if given.keys() <= _RUN_FIELDS:
            return run
        return replace(run, more={name: value for name, value in given.items() if name not in _RUN_FIELDS})

    def to_dict(self) -> dict[str, Any]:
        """Build the wire form, with the fields of `more` beside the named ones."""
        told = Record.to_dict(self)
        more = told.pop("more")
        return told | more if more else told

    def to_row(self) -> dict[str, Any]:
        """The run as one flat row, with the columns of result files; nothing is left out."""
        return row_of(self.to_dict())


_RUN_FIELDS = frozenset(field.name for field in fields(BenchmarkRun)) - {"more"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCounts(Record):
    """Runs whose right verdict is known, and how many got it."""

    expected: int
    """runs whose right verdict is known"""
    right: int
    """runs that got the right verdict"""
    wrong: int
    """runs that got another verdict"""
    no_score: int
    """runs without a score: neither right nor wrong"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoneypotCounts(Record):
    """Runs of scenarios that no honest candidate can pass."""

    runs: int
    """runs that ended"""
    scored: int
    """runs with a score"""
    passed: int
    """runs that passed, each by cheating"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoredCounts(Record):
    """Runs that were scored twice."""

    runs: int
    """runs that were chosen to be scored once more"""
    scored: int
    """runs whose second try has a score"""
    disagreed: int
    """runs whose two scores differ"""
    disagreement_rate: float | None
    """share of the runs whose second try was scored; null = none was"""
    disagreement_rate_of_all: float
    """`disagreed` over `runs`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Record):
    """What the runs of a job add up to. A run without a score is never counted as a zero."""

    total: int
    """runs of the job"""
    scored: int
    """runs with a score"""
    passed: int
    """runs that passed"""
    pass_rate: float | None
    """share of the scored runs; null = nothing was scored"""
    pass_rate_of_all: float | None
    """share of all runs, those without a score counted as not passed; null = there are none"""
    mean_score: float | None
    """over the scored runs; null = nothing was scored"""
    infra: int
    """runs that the platform lost"""
    invalid: int
    """runs whose contract could not be applied"""
    suspect: int
    """scored runs that passed a honeypot, or were seen to tamper"""
    cancelled: int
    """runs that were not run"""
    by_reason: dict[str, int]
    """reason -> runs, the most frequent one first"""
    duration_seconds: float
    """how long the job has run, on all nodes together"""
    runs_per_second: float
    """runs that have ended, over `duration_seconds`"""
    verdicts: VerdictCounts | None
    """null = no verdict is known"""
    hack_rate: float | None
    """share of the scored runs that passed a honeypot or were seen to tamper"""
    hack_rate_of_all: float | None
    """share of all runs that passed a honeypot or were seen to tamper"""
    honeypots: HoneypotCounts | None
    """null = there were none"""
    rescored: RescoredCounts | None
    """null = none was scored twice"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSummary(Record):
    """The results of a job without the runs themselves."""

    job_id: str
    """the job's id"""
    name: str
    """the job's name"""
    state: str
    """the job's `JobState`; until it has ended the summary is of what has ended so far"""
    error: str | None
    """why the platform could not run it to its end; null = it could, or it has not ended"""
    summary: Summary
    """what its runs add up to"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResults(Record):
    """The runs of a job and their summary."""

    job_id: str
    """the job's id"""
    name: str
    """the job's name"""
    state: str
    """the job's `JobState`"""
    error: str | None
    """why the platform could not run it to its end; null = it could, or it has not ended"""
    summary: Summary
    """what `runs` add up to"""
    runs: list[BenchmarkRun]
    """in the order in which they ended"""

    def to_rows(self) -> list[dict[str, Any]]:
        """The runs as flat rows, as `pandas.DataFrame(...)` or `polars.DataFrame(...)` takes them."""
        return [run.to_row() for run in self.runs]

    def to_pandas(self) -> Any:
        """The runs as a `pandas.DataFrame`, a row for each. Raises ValidationError where pandas is not installed."""
        from harena.core.data_frames import data_frame

        return data_frame(self.to_rows())

    def _repr_html_(self) -> str:
        from harena.core.html_views import MOST_ROWS, coloured, table, text

        summary = self.summary
        mean = "" if summary.mean_score is None else f", mean score {summary.mean_score:.3f}"
        unscored = summary.total - summary.scored
        title = f"{self.name}: {self.state}, passed {summary.passed} of {summary.scored} scored{mean}" + (
            f", {unscored} without a score" if unscored else ""
        )
        rows = (
            (
                text(run.scenario_id),
                text(run.attempt),
                coloured(run.score, None if run.score is None else run.passed),
                text(run.reason),
                text(run.validity),
                text(run.detail),
                text(run.duration_seconds),
            )
            for run in self.runs[:MOST_ROWS]
        )
        heads = ("scenario", "attempt", "score", "reason", "validity", "detail", "seconds")
        return table(heads, rows, title=title, left_out=len(self.runs) - MOST_ROWS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsPage(Record):
    """Some runs of a job, in the order in which they ended; what follows comes after `cursor`."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"runs": 1000}

    job_id: str
    """the job's id"""
    state: str
    """the job's `JobState`: once it has ended, an empty page is the last one"""
    runs: list[BenchmarkRun]
    """up to as many as were asked for; fewer where they are large"""
    cursor: int
    """asks for what follows"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkEvent(Record):
    """One thing that happened to a job; `cursor` grows. Fields that a kind does not have are absent, and null here.

    Kinds: job_started {total, effective_concurrency}, run_started, run_retried {error, delay_seconds}, run_finished
    {score, passed, validity, reason, duration_seconds}, run_cancelled, run_requeued {interruptions} (its node has
    gone), job_paused {error} and job_continued (the store was away), job_released and job_resumed {open} (another node
    goes on), job_ended {state}; events of a run carry {run, scenario_id, attempt}; after the end webhook_delivered or
    webhook_failed {delivery_id, tries, error}.
    """

    OMITTED_WHEN_NONE: ClassVar[frozenset[str]] = frozenset(
        {
            *("total", "effective_concurrency", "run", "scenario_id", "attempt", "error", "delay_seconds", "score"),
            *("passed", "validity", "reason", "duration_seconds", "interruptions", "open", "state", "delivery_id"),
            "tries",
        }
    )

    cursor: int
    """1, 2, ... within its job"""
    at: str
    """when it happened"""
    kind: str
    """what happened, one of the words above"""
    job_id: str
    """id of the job that it happened to"""
    total: int | None = None
    """runs of the job"""
    effective_concurrency: int | None = None
    """runs that the node lets run at one time"""
    run: int | None = None
    """number of the run, as in `BenchmarkRun`"""
    scenario_id: str | None = None
    """the run's scenario"""
    attempt: int | None = None
    """1, 2, ... for the same scenario"""
    error: str | None = None
    """what the platform failed at"""
    delay_seconds: float | None = None
    """time until the run is tried again"""
    score: float | None = None
    """the run's score; null = it has none"""
    passed: bool | None = None
    """whether the run passed"""
    validity: Validity | None = None
    """the run's validity"""
    reason: Reason | None = None
    """the run's reason"""
    duration_seconds: float | None = None
    """wall time of the run"""
    interruptions: int | None = None
    """how many nodes have gone while they ran it"""
    open: int | None = None
    """runs that had not ended when another node took the job over"""
    state: str | None = None
    """the `JobState` in which the job ended"""
    delivery_id: str | None = None
    """the delivery of the job's end"""
    tries: int | None = None
    """requests that were sent for it"""

    def to_dict(self) -> dict[str, Any]:
        """The fields that its kind has, as JSON types."""
        told = Record.to_dict(self)
        return {**told, "score": self.score} if self.kind == "run_finished" else told


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEvent(Record):
    """The end of a benchmark job. A receiver may get it more than once, each time with the same `delivery_id`."""

    event: str
    """what happened: always benchmark_job.ended"""
    delivery_id: str
    """known to the receiver from before, where the delivery is a repetition"""
    at: str
    """when it happened, ISO 8601 in UTC"""
    job_id: str
    """the job's id"""
    name: str
    """the job's name"""
    state: str
    """the `JobState` in which it ended"""
    error: str | None
    """why the platform could not run it to its end; null = it could"""
    summary: Summary
    """summary of the job, as in its results"""
