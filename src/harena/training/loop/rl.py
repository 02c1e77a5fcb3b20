"""The RL loop: admit groups, sample, reward, train, publish. `sync`, `one_step_off_async` and `fully_async` are this
loop with another number (see `harena.training.loop.schedule`).

With a ledger and checkpoints, a job that was killed at any moment goes on: from the newest checkpoint, over the steps
that were written down after it, trained again from the same stored groups in the same order, to the rollouts that had
their rewards and the groups that had not ended. In `sync` mode on an engine that computes the same to the bit, the last
weights are those of a job that was never killed.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harena.core.clock import Clock, SystemClock
from harena.core.errors import PlatformError, ValidationError
from harena.training.data.prompts import PromptRow, digest
from harena.training.errors import TrainingError
from harena.training.loop.batch import rl_batch
from harena.training.loop.checkpoints import Checkpoint, Checkpoints
from harena.training.loop.evaluation import Evaluation
from harena.training.loop.ledger import Ledger
from harena.training.loop.pauses import Pause, Probe, RewardProbe, platform_works
from harena.training.loop.resume import ResumeState, groups_of, resume_state
from harena.training.loop.rl_settings import RLSettings
from harena.training.loop.schedule import Admission, GroupSchedule
from harena.training.loop.step_metrics import first_batch, step_metrics
from harena.training.loop.time_split import TimeSplit
from harena.training.ports import Engine, LossReport, OptimizerStep
from harena.training.rewards import RewardRecipe
from harena.training.rollouts.groups import RolloutGroups
from harena.training.rollouts.rollout import Rollouts, SingleTurn
from harena.training.rollouts.trajectory import Group, RewardValidity, Trajectory

__all__ = ["RLLoop", "RLSettings"]

OnStep = Callable[[int, Mapping[str, float]], Any]
OnEvent = Callable[[str, Mapping[str, Any]], Any]


class RLLoop:
    """One RL job on one engine. `run` once."""

    def __init__(
        self,
        engine: Engine,
        rows: Sequence[PromptRow],
        recipe: RewardRecipe | None,
        settings: RLSettings,
        *,
        rollouts: Rollouts | None = None,
        ledger: Ledger | None = None,
        checkpoints: Checkpoints | None = None,
        evaluation: Evaluation | None = None,
        probe: Probe | None = platform_works,
        clock: Clock | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Either `recipe`, which rewards single answers, or `rollouts`, which makes whole rollouts. `engine` has the
        weights that the job begins with, also where it goes on. `probe` is asked, while the job pauses, whether the
        platform works (`harena.training.loop.pauses`), and then whether an empty answer can be rewarded; without one
        the job waits for `resume`. Raises ValidationError."""
        self._engine = engine
        self._rows = rows
        self._settings = settings
        self._rollouts = _rollouts(recipe, rollouts, settings, now)
        self._ledger = ledger
        self._checkpoints = checkpoints
        self._evaluation = evaluation
        self._pause = Pause(
            limit=settings.masked_limit,
            window=settings.window,
            clock=clock or SystemClock(),
            probe=None if probe is None else RewardProbe(probe, getattr(self._rollouts, "works", None), rows),
        )
        self._last_of_outage = -1
        """the last group that a pause, or the end of an earlier process, may have cost rewards"""
        self._split = TimeSplit(now)
        self._first_version = engine.version
        """the policy version that step 0 learns from: the engine may have published before, after SFT for instance"""
        self._best: float | None = None
        self._on_step: OnStep = lambda step, metrics: None
        self._on_event: OnEvent = lambda name, content: None
        _check_prompts(engine, rows, settings, single_turn=getattr(self._rollouts, "single_turn", False))

    def resume(self) -> None:
        """End a pause. Without effect where there is none."""
        self._pause.end()

    async def run(
        self,
        *,
        on_step: OnStep = lambda step, metrics: None,
        on_event: OnEvent = lambda name, content: None,
    ) -> None:
        """Train to the last step. Cancelling it ends every rollout.

        `on_step` is told of each step that is done, with its number (from 0) and metrics; a job that goes on tells
        those again that it trains again. `on_event` is told of

            resumed_from      {life, step, steps_again, rollouts_stored}, of a job that has a past
            eval_complete     {step, metrics}; step -1 = before anything is learned
            first_batch       what the first answers earned (`first_batch`), before the first step learns from them
            checkpoint_saved  {step, path, best}
            readmitted        {step, groups}: they would have passed the bound of staleness
            paused            {step, masked, window, why}: of the last one; resumed {step, by}: "told" or "probe"

        Both are awaited where they give something to await. Raises TrainingError where a loss is not finite: the state
        before that step is saved; PlatformError where something cannot be stored."""
        self._on_step, self._on_event = on_step, on_event
        await self._rollouts.prepare([*self._rows, *(self._evaluation.rows if self._evaluation is not None else ())])
        past = await self._go_on()
        groups = RolloutGroups(
            self._engine,
            self._rows,
            self._rollouts,
            self._settings,
            split=self._split,
            ledger=self._ledger,
            past=past,
            on_rollout=self._note_lost,
        )
        schedule = self._schedule(past)
        if self._evaluation is not None and past.version == 0 and not past.again:
            await self._evaluate_now(-1)
        self._last_of_outage = max((entry.number for entry in past.under_way), default=-1)
        try:
            for entry in schedule.under_way:
                groups.begin(entry)
            while not schedule.done:
                await self._step(schedule, groups)
        finally:
            await groups.close()

    async def _go_on(self) -> ResumeState:
        """From the newest checkpoint, and over the steps that were written down after it."""
        checkpoint = self._checkpoints.newest() if self._checkpoints is not None else None
        if self._ledger is not None:
            self._ledger.open(self._job())
        past = resume_state(self._ledger, done=0 if checkpoint is None else checkpoint.step)
        if self._checkpoints is not None and checkpoint is not None:
            await self._checkpoints.load(self._engine, checkpoint)
            self._best = checkpoint.state["best"]
        life = 0 if self._ledger is None else self._ledger.begin_life(from_step=past.done)
        if checkpoint is not None or past.version or past.stored:
            content = {"life": life, "step": past.done, "steps_again": len(past.again)}
            await self._event("resumed_from", {**content, "rollouts_stored": len(past.stored)})
        for planned in past.again:
            assert self._ledger is not None
            await self._train(planned.step, groups_of(self._ledger, planned), known=planned.metrics)
        return past

    def _job(self) -> dict[str, Any]:
        rows = digest("\n".join(f"{row.id}\t{row.prompt}" for row in self._rows))
        return {**self._settings.identity(), "rows": rows, "first_version": self._first_version}

    def _schedule(self, past: ResumeState) -> GroupSchedule:
        settings = self._settings
        return GroupSchedule(
            groups_per_step=settings.groups_per_step,
            max_steps_off_policy=settings.max_steps_off_policy,
            steps=settings.steps,
            policy=settings.staleness_policy,
            buffer_size=settings.buffer_size,
            version=past.version,
            under_way=past.under_way,
            next_number=past.next_number,
            next_prompt=past.next_prompt,
        )

    async def _step(self, schedule: GroupSchedule, groups: RolloutGroups) -> None:
        admitted = schedule.admit()
        if self._ledger is not None:
            self._ledger.add_admissions(admitted)
        for entry in admitted:
            groups.begin(entry)
        while (batch := schedule.next_step()) is None:
            for number in await groups.wait_for_one([entry for entry in schedule.under_way if not entry.ended]):
                schedule.end(number)
        if self._pause.needed:
            await self._wait_for_the_platform(schedule.version)
            self._last_of_outage = max(entry.number for entry in schedule.under_way)
        step = schedule.version
        taken = await self._taken(batch, groups)
        if step == 0:
            await self._event("first_batch", first_batch(taken))
        await self._train(step, taken)
        await self._abort(step, schedule.publish(batch), groups)

    async def _taken(self, batch: Sequence[Admission], groups: RolloutGroups) -> list[Group]:
        """What a step learns from."""
        if batch[0].number > self._last_of_outage:
            return [groups.take(entry.number) for entry in batch]
        with self._split.phase("pause"):
            return list(await asyncio.gather(*(groups.take_after_outage(entry) for entry in batch)))

    async def _abort(self, step: int, late: Sequence[Admission], groups: RolloutGroups) -> None:
        for entry in late:
            groups.abort(entry.number)
        if late:
            await self._event("readmitted", {"step": step, "groups": [entry.number for entry in late]})

    def _note_lost(self, rollout: Trajectory) -> None:
        reward = rollout.reward
        self._pause.add(masked=reward.validity is RewardValidity.INFRA, why=reward.detail or reward.reason)

    async def _wait_for_the_platform(self, step: int) -> None:
        window = {"masked": self._pause.masked, "window": self._settings.window, "why": self._pause.why}
        await self._event("paused", {"step": step, **window})
        with self._split.phase("pause"):
            reason = await self._pause.wait()
        await self._event("resumed", {"step": step, "by": reason})

    async def _train(self, step: int, groups: list[Group], *, known: Mapping[str, float] | None = None) -> None:
        """One optimizer step and what follows from it. `known`: its metrics, where it was done before."""
        if self._ledger is not None:
            self._ledger.plan_step(step, [group.number for group in groups])
        with self._split.phase("train"):
            metrics = await self._learn(step, groups)
        is_best = await self._evaluate(step, metrics, known)
        metrics |= self._split.take()
        metrics = dict(known or metrics)
        if self._ledger is not None and known is None:
            self._ledger.finish_step(step, metrics)
        if is_best or (step + 1) % self._settings.checkpoint_interval == 0 or step + 1 == self._settings.steps:
            await self._save(step + 1, best=is_best)
        await _told(self._on_step(step, metrics))

    async def _learn(self, step: int, groups: list[Group]) -> dict[str, float]:
        settings = self._settings
        batch, counts = rl_batch(
            groups,
            rule=settings.advantage,
            loss=settings.loss,
            max_new_tokens=settings.sampling.max_new_tokens,
            temperature=settings.sampling.temperature,
        )
        rate = settings.learning_rate_at(step)
        report, norm = LossReport(loss=0.0), 0.0
        if batch.rows:
            try:
                report = await self._engine.forward_backward(batch, settings.loss)
                norm = await self._engine.optim_step(
                    OptimizerStep(
                        learning_rate=rate,
                        max_gradient_norm=settings.max_gradient_norm,
                        weight_decay=settings.weight_decay,
                    )
                )
            except TrainingError as error:
                raise await self._stopped(step, groups, error) from error
        if settings.syncs_after(step):
            await self._engine.publish()
        version = self._first_version + step // settings.weight_sync_interval
        metrics = step_metrics(groups, counts, report, version=version)
        return {**metrics, "learning_rate": rate, "gradient_norm": norm, **self._rollouts.metrics()}

    async def _stopped(self, step: int, groups: Sequence[Group], error: TrainingError) -> TrainingError:
        """The weights are as they were before the step: they are saved."""
        names = ", ".join(f"{group.number} (prompt {group.prompt_id})" for group in groups)
        kept = ""
        try:
            if (saved := await self._save(step)) is not None:
                kept = f"; the state before the step is saved in {saved.path}"
        except PlatformError as failure:
            kept = f"; and {failure}"
        return TrainingError(f"step {step}, which learns from the groups {names}: {error}{kept}", reason=error.reason)

    async def _evaluate(self, step: int, metrics: dict[str, float], known: Mapping[str, float] | None) -> bool:
        """Whether these weights are the best so far."""
        if self._evaluation is None or not self._evaluation.is_due(step, steps=self._settings.steps):
            return False
        if known is None:
            metrics |= await self._evaluate_now(step)
        rate = (known or metrics)["eval/pass_rate"]
        if math.isnan(rate) or not (self._best is None or rate > self._best):
            return False
        self._best = rate
        return True

    async def _evaluate_now(self, step: int) -> dict[str, float]:
        assert self._evaluation is not None
        settings = self._settings
        with self._split.phase("evaluate"):
            found = await self._evaluation.run(self._engine, self._rollouts, settings.sampling, seed=settings.seed)
        await self._event("eval_complete", {"step": step, "metrics": found})
        return found

    async def _save(self, step: int, *, best: bool = False) -> Checkpoint | None:
        if self._checkpoints is None:
            return None
        with self._split.phase("checkpoint"):
            if self._ledger is not None:
                self._ledger.flush()
            saved = await self._checkpoints.save(self._engine, step, {"best": self._best}, best=best)
            if self._ledger is not None:
                self._ledger.forget_tokens(before_step=self._checkpoints.oldest_step())
        await self._event("checkpoint_saved", {"step": step, "path": str(saved.path), "best": best})
        return saved

    async def _event(self, name: str, content: Mapping[str, Any]) -> None:
        await _told(self._on_event(name, content))


async def _told(answer: Any) -> None:
    if inspect.isawaitable(answer):
        await answer


def _rollouts(
    recipe: RewardRecipe | None, rollouts: Rollouts | None, settings: RLSettings, now: Callable[[], float]
) -> Rollouts:
    if (recipe is None) == (rollouts is None):
        raise ValidationError("an RL loop takes either a reward recipe or rollouts: give one of them")
    if recipe is not None:
        return SingleTurn(recipe, overlong=settings.overlong, now=now)
    assert rollouts is not None
    return rollouts


def _check_prompts(engine: Engine, rows: Sequence[PromptRow], settings: RLSettings, *, single_turn: bool) -> None:
    if not rows:
        raise ValidationError("there is nothing to learn from: the prompts are an empty set")
    room = engine.context_length - (settings.sampling.max_new_tokens if single_turn else 1)
    lengths = {row.id: len(engine.tokenizer.encode(row.prompt)) for row in rows}
    wrong = [f"{name}: {length} tokens" for name, length in lengths.items() if not single_turn <= length <= room]
    if wrong:
        raise ValidationError(
            f"{len(wrong)} prompts are empty, or leave no room in a context of {engine.context_length} tokens for an "
            f"answer of {engine.context_length - room}:\n  " + "\n  ".join(wrong[:20])
        )
