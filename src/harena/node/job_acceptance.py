"""What it takes to accept a benchmark job: everything in the request is checked before anything is stored or run."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
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

    async def accept(self, request: Mapping[str, Any]) -> AcceptedJob:
        """The checked job, with a new id. Raises ValidationError (a scenario file's own error among them) that lists
        every mistake, and NotFoundError for the blueprint."""
        from harena.jobs.models import parse_request

        parsed = parse_request(request)
        spec = self._base_spec(parsed.blueprint_id)
        # reading a large file takes a while, and sandboxes that are already running shall not wait for it
        scenarios = await asyncio.to_thread(self._scenarios, parsed)
        config = parsed.config
        total = len(scenarios) * config.attempts
        if not 0 < total <= MAX_RUNS:
            raise ValidationError(f"a benchmark job has 1 to {MAX_RUNS} runs; {parsed.name!r} would have {total}")
        _check_trust(scenarios, config.require_trust)
        accepted = tickets(len(scenarios), config.attempts)
        row = self._row(parsed.name, parsed.blueprint_id, config, total)
        chosen = sampled(config.rescore_fraction, total, seed=row["id"])
        return AcceptedJob(
            row=row,
            runs=[_queued(ticket, scenarios[ticket.scenario_index]) for ticket in accepted],
            scenarios=scenarios,
            tickets=accepted,
            score=rescoring(self._scorer(scenarios, spec, config), chosen),
            policy=RetryPolicy(retry_attempts=config.retry_attempts),
        )

    def _scenarios(self, parsed: JobRequest) -> Sequence[JobScenario]:
        if self.load is not None:
            return self.load(parsed.scenarios)
        from harena.scoring.formats import import_scenarios

        batch = import_scenarios(
            parsed.scenarios, candidates=parsed.candidates, form=parsed.format, grader=parsed.grader
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
            "owner_pid": self.owner.pid,
            "owner_started": self.owner.started,
            "owner_boot": self.owner.boot,
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


def _scoring_room() -> ScoreScenario:
    from harena.scoring.score import score_scenario

    return score_scenario
