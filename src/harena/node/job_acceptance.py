"""What it takes to accept a benchmark job: everything in the request is checked before anything is stored or run.

A durable job is kept with its scenarios, so that another node can go on with it. They are kept as JSON, and the job
runs what was read back from it: what is run first and what is run after a crash are the same.
"""

from __future__ import annotations

import asyncio
import json
import os
import uuid
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from harena.core.clock import Clock
from harena.core.errors import NotFoundError, ValidationError
from harena.core.models import Blueprint, SandboxSpec
from harena.core.ports import SandboxSource
from harena.core.results import RunResult, Trust
from harena.jobs.lifecycle import JobState, RunState
from harena.jobs.owner import Owner
from harena.jobs.rescore import rescoring, sampled
from harena.jobs.retry import RetryPolicy
from harena.jobs.schedule import Ticket, effective_concurrency, tickets
from harena.jobs.worker import JobScenario, Score

if TYPE_CHECKING:
    from harena.jobs.models import JobConfig, JobRequest

MAX_RUNS = 1_000_000
MOST_NAMED = 10


class Blueprints(Protocol):
    """Where blueprints are found."""

    def find(self, name_or_id: str) -> Blueprint:
        """Raises NotFoundError."""


class ScoreScenario(Protocol):
    """`harena.scoring.score.score_scenario`."""

    def __call__(
        self,
        scenario: Any,
        *,
        sandboxes: SandboxSource,
        base_spec: SandboxSpec,
        timeout_seconds: float,
        attempt: int = 1,
        require_trust: Trust | None = None,
        alone: bool = False,
    ) -> Awaitable[RunResult]:
        """One attempt, scored. Raises PlatformError."""


LoadScenarios = Callable[[Any], Sequence[JobScenario]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedJob:
    """A request in which nothing is wrong."""

    row: Mapping[str, Any]
    """the job as it is stored"""
    runs: Sequence[Mapping[str, Any]]
    """its runs as they are stored"""
    scenarios: Sequence[JobScenario]
    tickets: Sequence[Ticket]
    score: Score
    policy: RetryPolicy
    request: bytes | None = None
    """what another node needs to go on with it; None = the job ends with this process"""
    priority: int = 0
    run_timeout_seconds: float | None = None
    timeout_seconds: float | None = None
    epoch: int = 1
    """of the lease under which this process runs it"""
    last_cursor: int = 0
    """of the last event that is stored"""
    spent_seconds: float = 0.0
    """for which earlier owners ran it"""
    interrupted: Sequence[Ticket] = ()
    """those that were under way when the last owner went"""

    @property
    def remaining_seconds(self) -> float | None:
        """Until the job times out; None = it does not."""
        return None if self.timeout_seconds is None else max(0.0, self.timeout_seconds - self.spent_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What a node accepts jobs with."""

    sandboxes: SandboxSource
    blueprints: Blueprints
    clock: Clock
    cores: int
    owner: Owner
    score: ScoreScenario | None = None
    """None = the scoring room's"""
    load: LoadScenarios | None = None
    """None = the scoring room's"""
    durable: bool = False
    """jobs outlive this process"""

    async def accept(self, request: Mapping[str, Any]) -> AcceptedJob:
        """The checked job, with a new id. Raises ValidationError (a scenario file's own error among them) that lists
        every mistake, and NotFoundError for the blueprint."""
        from harena.jobs.models import parse_request

        parsed = parse_request(request)
        spec = self._base_spec(parsed.blueprint_id)
        # reading a large file takes a while, and sandboxes that are already running shall not wait for it
        scenarios, kept = await asyncio.to_thread(self._read, _sources(parsed), spec)
        config = parsed.config
        total = len(scenarios) * config.attempts
        if not 0 < total <= MAX_RUNS:
            raise ValidationError(f"a benchmark job has 1 to {MAX_RUNS} runs; {parsed.name!r} would have {total}")
        _check_trust(scenarios, config.require_trust)
        accepted = tickets(len(scenarios), config.attempts)
        row = self._row(parsed.name, parsed.blueprint_id, config, total)
        runs = [_queued(ticket, scenarios[ticket.scenario_index]) for ticket in accepted]
        return replace(self._assembled(row, config, scenarios, accepted, spec), runs=runs, request=kept)

    async def resume(
        self, row: Mapping[str, Any], request: bytes, open_runs: Sequence[Mapping[str, Any]], *, last_cursor: int
    ) -> AcceptedJob:
        """The rest of a job that another process has left: `row` as claimed, `open_runs` {number, state, failures}.
        Raises NotFoundError (its blueprint has gone), ValidationError (this harena does not read its request)."""
        from harena.jobs.models import JobConfig

        try:
            config = JobConfig.model_validate(row["config"])
            kept = await asyncio.to_thread(_unpacked, request)
            scenarios = await asyncio.to_thread(self._scenarios, kept)
            everything = tickets(len(scenarios), config.attempts)
            left = [replace(everything[run["number"]], failures=run["failures"]) for run in open_runs]
        except (ValueError, LookupError, zlib.error) as error:
            raise ValidationError(f"the request of {row['id']} as it is stored cannot be read: {error}") from error
        spec = self._base_spec(kept["blueprint"] or row["blueprint"])
        cores = effective_concurrency(config.concurrency, self.cores)
        resumed = self._assembled(
            {**row, "effective_concurrency": min(row["total"], cores)}, config, scenarios, left, spec
        )
        return replace(
            resumed,
            epoch=row["lease_epoch"],
            last_cursor=last_cursor,
            spent_seconds=row["active_seconds"],
            interrupted=[
                ticket for ticket, run in zip(left, open_runs, strict=True) if run["state"] != RunState.QUEUED
            ],
        )

    def _assembled(
        self,
        row: Mapping[str, Any],
        config: JobConfig,
        scenarios: Sequence[JobScenario],
        accepted: Sequence[Ticket],
        spec: SandboxSpec,
    ) -> AcceptedJob:
        repeated = frozenset(config.retry_on) - {"platform"}
        chosen = sampled(config.rescore_fraction, row["total"], seed=row["id"])
        return AcceptedJob(
            row=row,
            runs=(),
            scenarios=scenarios,
            tickets=accepted,
            score=rescoring(self._scorer(scenarios, spec, config), chosen),
            policy=RetryPolicy(retry_attempts=config.retry_attempts, retry_reasons=repeated),
            priority=config.priority,
            run_timeout_seconds=config.run_timeout_seconds,
            timeout_seconds=config.job_timeout_seconds,
        )

    def _read(self, sources: dict[str, Any], spec: SandboxSpec) -> tuple[Sequence[JobScenario], bytes | None]:
        if not self.durable:
            return self._scenarios(sources), None
        held = {name: source if name == "format" else _content(source) for name, source in sources.items()}
        if held != sources:
            self._scenarios(sources)  # for its errors, which name lines of the files
        kept = _packed(held, spec)
        return self._scenarios(_unpacked(kept)), kept

    def _scenarios(self, sources: Mapping[str, Any]) -> Sequence[JobScenario]:
        if self.load is not None:
            return self.load(sources["scenarios"])
        from harena.scoring.formats import import_scenarios

        batch = import_scenarios(
            sources["scenarios"],
            candidates=sources.get("candidates"),
            form=sources.get("format"),
            grader=sources.get("grader"),
        )
        return batch.scenarios

    def _base_spec(self, blueprint_id: str) -> SandboxSpec:
        from harena.jobs.models import DEFAULT_BLUEPRINT

        try:
            blueprint = self.blueprints.find(blueprint_id)
        except NotFoundError:
            if blueprint_id == DEFAULT_BLUEPRINT:
                return SandboxSpec()
            raise
        return SandboxSpec(image=blueprint.image, blueprint=blueprint.id)

    def _row(self, name: str, blueprint_id: str, config: JobConfig, total: int) -> dict[str, Any]:
        return {
            "id": f"job_{uuid.uuid4().hex[:16]}",
            "name": name,
            "state": JobState.QUEUED,
            "created_at": self.clock.utcnow().isoformat(),
            "blueprint": blueprint_id,
            "config": config.model_dump(),
            "effective_concurrency": min(total, effective_concurrency(config.concurrency, self.cores)),
            "total": total,
            "durable": self.durable,
            **owner_columns(self.owner),
        }

    def _scorer(self, scenarios: Sequence[JobScenario], spec: SandboxSpec, config: JobConfig) -> Score:
        score_scenario = self.score or _scoring_room()
        require_trust = Trust(config.require_trust) if config.require_trust else None

        def score(ticket: Ticket) -> Awaitable[RunResult]:
            return score_scenario(
                scenarios[ticket.scenario_index],
                sandboxes=self.sandboxes,
                base_spec=spec,
                timeout_seconds=config.timeout_seconds,
                attempt=ticket.attempt,
                require_trust=require_trust,
                alone=ticket.alone,
            )

        return score


def owner_columns(owner: Owner) -> dict[str, Any]:
    """An owner as it is stored."""
    return {"owner_pid": owner.pid, "owner_started": owner.started, "owner_boot": owner.boot}


def _packed(sources: Mapping[str, Any], spec: SandboxSpec) -> bytes:
    for source in sources.values():
        _check_json(source)
    # the blueprint by its id: a name may mean another one by the time the job is resumed
    text = json.dumps({**sources, "blueprint": spec.blueprint})
    return zlib.compress(text.encode(), level=1)


def _check_json(source: Any) -> None:
    """`json.dumps` alone would turn tuples into lists and numbers that are keys into text, and so change verdicts."""
    waiting = [source]
    while waiting:
        value = waiting.pop()
        if type(value) is dict and all(type(key) is str for key in value):
            waiting += value.values()
        elif type(value) is list:
            waiting += value
        elif value is not None and type(value) not in (str, int, float, bool):
            kind = "a mapping with keys that are not text" if type(value) is dict else f"a {type(value).__name__}"
            raise ValidationError(f"this job is kept as JSON until it has ended, and its scenarios hold {kind}")


def _unpacked(request: bytes) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(zlib.decompress(request))
    return kept


def _check_trust(scenarios: Sequence[JobScenario], required: str | None) -> None:
    if required != Trust.SEPARATE:
        return
    shared = [scenario.id for scenario in scenarios if scenario.scoring.trust is Trust.SHARED]
    if shared:
        more = f" and {len(shared) - MOST_NAMED} more" if len(shared) > MOST_NAMED else ""
        raise ValidationError(
            f"require_trust is 'separate', and the verdict of {', '.join(shared[:MOST_NAMED])}{more} is computed "
            "beside the candidate's own files; use another scoring contract for them, or leave require_trust out"
        )


def _queued(ticket: Ticket, scenario: JobScenario) -> dict[str, Any]:
    return {
        "number": ticket.number,
        "scenario_id": scenario.id,
        "attempt": ticket.attempt,
        "state": RunState.QUEUED,
    }


def _sources(parsed: JobRequest) -> dict[str, Any]:
    """What the scenarios are made of."""
    return {
        "scenarios": parsed.scenarios,
        "candidates": parsed.candidates,
        "format": parsed.format,
        "grader": parsed.grader,
    }


def _content(source: Any) -> Any:
    """What a file holds; everything else as it is, the words for a data set's own answers too."""
    from harena.scoring.formats.importing import NOP, ORACLE

    if not isinstance(source, str | os.PathLike) or source in (NOP, ORACLE) or not os.path.exists(source):
        return source
    if os.path.isdir(source):
        raise ValidationError(
            f"{os.fspath(source)} is a folder, and this job is kept as JSON until it has ended; run task directories "
            "on an embedded node"
        )
    from harena.scoring.reading import read_document

    return read_document(os.fspath(source)).content


def _scoring_room() -> ScoreScenario:
    from harena.scoring.score import score_scenario

    return score_scenario
