"""One scenario scored now, without a job: nothing is stored, and the envelope is the answer.

For those who keep their own loop, as a trainer does: each rollout is scored when it ends. Direct scores share the
node's slots with its jobs.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from harena.core.blueprint_source import BlueprintSource
from harena.core.clock import Clock
from harena.core.errors import HarenaError, ValidationError
from harena.core.models import SandboxSpec
from harena.core.ports import SandboxSource
from harena.core.records.sandboxes import Limits
from harena.core.results import Reason, RunResult, Trust
from harena.core.threads import SCENARIOS
from harena.jobs.benchmark.job_acceptance import Sandboxes, ScoreScenario, scoring_room
from harena.jobs.benchmark.job_admission import JobAdmission
from harena.jobs.benchmark.job_places import base_spec, check_contracts, places_of
from harena.jobs.retry import GiveUp, RetryPolicy, decide
from harena.jobs.slots import Slots

if TYPE_CHECKING:
    from harena.jobs.models import ScoreRequest
    from harena.scoring.scenario import Scenario


class DirectScores:
    """Scores single scenarios. Used from one event loop."""

    def __init__(
        self,
        sandboxes: Sandboxes,
        blueprints: BlueprintSource,
        clock: Clock,
        slots: Slots,
        *,
        score: ScoreScenario | None = None,
        admission: JobAdmission | None = None,
    ) -> None:
        """`score` is for tests; None = the scoring room's. `admission` knows how many runs a workspace may have under
        way; None = as many as there are slots."""
        self._sandboxes = sandboxes
        self._blueprints = blueprints
        self._clock = clock
        self._score = score
        self._slots = slots
        self._admission = admission
        self._turns: dict[str, _Turns] = {}

    async def score(self, workspace: str, request: Mapping[str, Any]) -> RunResult:
        """The envelope (`harena.core.results.RunResult` as a dict) of what `harena.jobs.models.ScoreRequest` asks for.
        After the last retry its validity is "infra" and its score None. Raises ValidationError, NotFoundError
        (blueprint), LimitExceededError (the workspace may have no runs) before anything runs."""
        # what a user wrote may take long to read (its patterns are compiled, its formulas tried), so a thread does it
        asked, scenario = await SCENARIOS.run(_read, request)
        spec = await base_spec(self._blueprints, workspace, asked.blueprint_id)
        if self._admission is not None:
            # scorers tell the candidate's process of some limits: these are those of its sandbox
            spec = replace(spec, limits=await self._admission.for_a_run(workspace, spec.limits))
        places = await places_of(self._blueprints, workspace, [scenario], spec)
        machine = self._admission is None or await self._admission.may_be_machine(workspace)
        check_contracts([scenario], [scenario], spec, places, machine=machine)
        if (turns := self._turns.get(workspace)) is None:
            turns = self._turns[workspace] = _Turns(self._slots, workspace)
        turns.allow(spec.limits)
        place = next(iter(places.values()), None)
        return await self._scored(scenario, spec, place, asked, turns, self._sandboxes.source(workspace))

    async def _scored(
        self,
        scenario: Scenario,
        spec: SandboxSpec,
        place: SandboxSpec | None,
        asked: ScoreRequest,
        turns: _Turns,
        sandboxes: SandboxSource,
    ) -> RunResult:
        from harena.scoring.score import infra_result

        score = self._score or scoring_room()
        if place is not None:
            score = partial(score, place=place)
        policy = RetryPolicy(retry_attempts=asked.retry_attempts)
        failures, alone = 0, False
        while True:
            try:
                async with turns.turn(alone=alone):
                    return await score(
                        scenario,
                        sandboxes=sandboxes,
                        base_spec=spec,
                        timeout_seconds=asked.timeout_seconds,
                        require_trust=Trust(asked.require_trust) if asked.require_trust else None,
                        alone=alone,
                    )
            except ValidationError:
                raise
            except HarenaError as error:
                failures += 1
                decision = decide(policy, error, failures=failures)
                if isinstance(decision, GiveUp):
                    if decision.whole_job:
                        raise
                    return infra_result(scenario, error, platform_retries=failures - 1)
                alone = error.reason == Reason.STARVED
            await self._clock.sleep(decision.delay_seconds)


def _read(request: Mapping[str, Any]) -> tuple[ScoreRequest, Scenario]:
    from harena.jobs.models import parse_score_request
    from harena.scoring.load import load_scenarios

    asked = parse_score_request(request)
    return asked, load_scenarios([asked.scenario]).scenarios[0]


class _Turns:
    """Many of one workspace who wait, as one share of the node's slots. Who was starved has its next turn alone: when
    the turns under way have ended, and before any that waits begins."""

    def __init__(self, slots: Slots, workspace: str) -> None:
        self._slots = slots
        self._share = slots.join(priority=0, wake=self._go_on, workspace=workspace)
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._waiting_alone: deque[asyncio.Future[None]] = deque()
        self._under_way = 0
        self._one_is_alone = False

    def allow(self, limits: Limits) -> None:
        """Who comes next has these."""
        self._share.allow(limits)

    @asynccontextmanager
    async def turn(self, *, alone: bool) -> AsyncIterator[None]:
        """Wait for a slot, and hold it."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._waiting_alone if alone else self._waiting).append(turn)
        self._go_on()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._end(alone=alone)
            else:
                self._go_on()  # it may have been what the others waited for
            raise
        try:
            yield
        finally:
            self._end(alone=alone)

    def _end(self, *, alone: bool) -> None:
        self._under_way -= 1
        if alone:
            self._one_is_alone = False
        self._slots.release(self._share)
        self._go_on()

    def _go_on(self) -> None:
        while (queue := self._next_queue()) is not None:
            if not self._slots.acquire(self._share):
                return
            self._under_way += 1
            self._one_is_alone = queue is self._waiting_alone
            queue.popleft().set_result(None)
        self._slots.pass_on(self._share)

    def _next_queue(self) -> deque[asyncio.Future[None]] | None:
        """Whose turn it is; None = nobody's, now."""
        for queue in (self._waiting_alone, self._waiting):
            while queue and queue[0].done():  # cancelled meanwhile
                queue.popleft()
        if self._one_is_alone:
            return None
        if self._waiting_alone:
            return None if self._under_way else self._waiting_alone
        return self._waiting or None
