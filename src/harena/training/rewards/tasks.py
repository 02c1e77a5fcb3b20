"""Recipes over tasks: task_verifier_v1, task_env_verifier_v1 and task_env_agent_v1.

What the policy said is done in the task's environment before it is verified; see `harena.training.environments.tasks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from harena.core.errors import HarenaError, ValidationError
from harena.scoring.formats.answers import final_answer
from harena.training.data.prompts import PromptRow
from harena.training.environments.environment import (
    EnvironmentFaultError,
    FaultFollowsError,
    Faults,
    Surroundings,
    begun,
)
from harena.training.environments.task_episodes import Acting, TaskEnvironment, inputs_of
from harena.training.environments.tasks import Method, Task, flag_digest, task_of
from harena.training.rollouts.scored import contract_mistakes, passes_all, unseen
from harena.training.rollouts.trajectory import Candidate, Reward, RewardValidity

_OF_TEXT: tuple[Method, ...] = ("flag", "script", "scoring", "llm_judge")
_OF_ENVIRONMENTS: tuple[Method, ...] = ("env_flag", "env_script", "script", "scoring", "llm_judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecipe:
    """What recipes over tasks share. The task is the job's, or the row's (`task` of its metadata)."""

    task: Task | None = None
    reward_if_true: float = 1.0
    reward_if_false: float = 0.0
    max_concurrent_rollouts: int = 8
    """sandboxes that are in use at one time"""
    env_timeout_sec: float = 300.0
    """wall time of an episode"""

    name = "task"
    methods = _OF_ENVIRONMENTS
    """names of the environments' methods that verify"""
    acting: Acting = "shell"

    _places: list[asyncio.Semaphore] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.max_concurrent_rollouts < 1 or not self.env_timeout_sec > 0:
            raise ValidationError(
                "max_concurrent_rollouts must be at least 1 and env_timeout_sec above 0 "
                f"(got {self.max_concurrent_rollouts} and {self.env_timeout_sec})"
            )

    @property
    def deterministic(self) -> bool:
        """What a sandbox does need not be."""
        return False

    @property
    def minimum(self) -> float:
        """The lower of the two rewards."""
        return min(self.reward_if_true, self.reward_if_false)

    def check(self, row: PromptRow) -> list[str]:
        """There is a task for the row, and this recipe can verify it."""
        try:
            task = self.task_for(row)
            task.instructed(inputs_of(row))
        except ValidationError as error:
            return [str(error)]
        how = task.verification
        if how.method not in self.methods:
            return [f"task {task.name} is verified by {how.method}, and {self.name} by {', '.join(self.methods)}"]
        return contract_mistakes("pass\n", {"scoring": how.scoring}) or unseen(how.scoring) if how.scoring else []

    def constant(self, row: PromptRow) -> float | None:
        """The one reward, where both are equal, or where every answer is verified; None = it depends on the answer."""
        is_same = self.reward_if_true == self.reward_if_false or passes_all(self.task_for(row).verification.scoring)
        return self.reward_if_true if is_same else None

    def task_for(self, row: PromptRow) -> Task:
        """Raises ValidationError."""
        if (written := row.metadata.get("task")) is not None:
            return task_of(written)
        if self.task is None:
            raise ValidationError("there is no task: name one for the job, or give each row one (`task`)")
        return self.task

    def environment(self, row: PromptRow) -> TaskEnvironment:
        """For one episode."""
        return TaskEnvironment(
            self.task_for(row),
            acting=self.acting,
            seconds=self.env_timeout_sec,
            reward_if_true=self.reward_if_true,
            reward_if_false=self.reward_if_false,
        )

    @property
    def places(self) -> asyncio.Semaphore:
        """Held for as long as an environment is in use."""
        if not self._places:
            self._places.append(asyncio.Semaphore(self.max_concurrent_rollouts))
        return self._places[0]

    async def reward(self, row: PromptRow, text: Candidate) -> Reward:
        """Reward an answer by its task's verification. Raises ValidationError for a candidate of files."""
        if not isinstance(text, str):
            raise ValidationError(f"{self.name} judges a text, and the environment's answer for row {row.id} is files")
        how = self.task_for(row).verification
        if how.method == "flag":
            passed = flag_digest(final_answer(text)) == how.flag_hash
            return Reward(value=self.reward_if_true if passed else self.reward_if_false)
        async with self.places:
            return await self._acted(lambda: self.environment(row), row, text)

    async def _acted(self, make: Callable[[], TaskEnvironment], row: PromptRow, text: str) -> Reward:
        def surroundings() -> Surroundings:
            return Surroundings(make, timeout_seconds=self.env_timeout_sec)

        here = surroundings()
        faults = Faults(here, surroundings, row)
        try:
            await begun(here, row)
            try:
                await here.step(text)
            except EnvironmentFaultError as fault:
                await faults.resumed(fault, [text])
            while True:
                try:
                    outcome = await here.outcome()
                except EnvironmentFaultError as fault:
                    await faults.resumed(fault, [text])
                    continue
                assert outcome is not None
                return outcome
        except FaultFollowsError as fault:
            return Reward(value=self.minimum, reason="fault_follows_candidate", detail=str(fault))
        except EnvironmentFaultError as fault:
            return Reward(value=None, validity=RewardValidity.INFRA, reason="environment_fault", detail=str(fault))
        finally:
            await here.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVerifier(TaskRecipe):
    """task_verifier_v1: what was said is the flag; or a script, a scoring contract or a model says that it is right."""

    acting: Acting = "text"
    name = "task_verifier_v1"
    methods = _OF_TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnvVerifier(TaskRecipe):
    """task_env_verifier_v1: what was said is a program; it is run in the task's environment, which is then verified."""

    acting: Acting = "shell"
    name = "task_env_verifier_v1"

    def __post_init__(self) -> None:
        TaskRecipe.__post_init__(self)
        if self.acting not in ("shell", "python"):
            raise ValidationError(f"acting must be shell or python (got {self.acting!r})")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnvAgent(TaskRecipe):
    """task_env_agent_v1: an episode with tools in the task's environment, which is then verified. It makes rollouts:
    `harena.training.rollouts.recipes`."""

    acting: Acting = "tools"
    max_turns: int = 20
    env_timeout_sec: float = 600.0
    name = "task_env_agent_v1"
    methods = ("flag", *_OF_ENVIRONMENTS)

    def __post_init__(self) -> None:
        TaskRecipe.__post_init__(self)
        if self.acting != "tools" or self.max_turns < 1:
            raise ValidationError(f"max_turns must be at least 1 (got {self.max_turns}); acting is 'tools'")

    async def reward(self, row: PromptRow, text: Candidate) -> Reward:
        """Raises HarenaError: one text is no episode."""
        raise HarenaError("task_env_agent_v1 rewards episodes, not single answers: make rollouts of it")
