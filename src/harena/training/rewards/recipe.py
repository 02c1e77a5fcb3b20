"""What a reward recipe is, and how one is applied.

A recipe's own decision is a number. A fault of the platform is none: the rollout leaves its group. A recipe that raises
is broken, and ends the job with an error that names the recipe and the row: a guess in its place would be learnt.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from harena.core.errors import HarenaError, PlatformError, ValidationError
from harena.core.records.training_plans import OverlongPolicy
from harena.scoring.slices import aside
from harena.training.data.prompts import PromptRow, digest
from harena.training.data.time_limit import OverdueError, processor_limit
from harena.training.rollouts.trajectory import MINIMUM, Candidate, Reward, RewardValidity, is_learnable

MOST_TOLD = 20
"""bad rows that an error lists; of the others it tells how many there are"""


class RewardRecipe(Protocol):
    """Rewards rollouts. Six more members are looked at where they are there:

    name            for errors
    minimum         what faults that follow the candidate earn, and all that cannot be trusted (MINIMUM)
    prepare(rows)   awaited before the first rollout
    check(row)      the row's mistakes, asked for after that, of every row
    try_out(rows)   awaited after that: raises ValidationError where nobody can be rewarded
    constant(row)   the reward that every answer to the row earns, whatever it says; None = it depends on the answer
    """

    @property
    def deterministic(self) -> bool:
        """Equal texts of one row always get equal rewards, so that each is judged once."""

    async def reward(self, row: PromptRow, text: Any) -> Reward:
        """Never raises for what the policy said. Raises HarenaError where the recipe cannot be applied at all. `text`
        is what the policy said, or a candidate of files."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A recipe that is a function of row and text. It runs beside all rollouts, on their thread, so it has a time: a
    policy writes the text, and a regular expression can take hours for forty letters."""

    decide: Callable[[PromptRow, str], float]
    deterministic: bool = True
    name: str = "rule"
    minimum: float = MINIMUM
    mistakes: Callable[[PromptRow], list[str]] = lambda row: []
    same_for_all: Callable[[PromptRow], float | None] = lambda row: None
    seconds: float | None = 5.0
    """processor time of one answer: one that takes more, where an empty one does not, earns the minimum. None = the
    time grows with the text and no faster; long ones are judged on a thread"""

    async def reward(self, row: PromptRow, text: Candidate) -> Reward:
        """Decide the reward at once. Raises ValidationError for a candidate of files, and HarenaError where also an
        empty answer takes too long."""
        if not isinstance(text, str):
            raise ValidationError(f"{self.name} judges a text, and the environment's answer for row {row.id} is files")
        if self.seconds is None:
            return Reward(value=await aside(len(text), self.decide, row, text))
        try:
            return Reward(value=self._decided(row, text, self.seconds))
        except OverdueError:
            pass
        try:
            with suppress(ValueError, LookupError, TypeError, ArithmeticError):  # in time it has been all the same
                self._decided(row, "", self.seconds)
        except OverdueError:
            raise HarenaError(
                f"reward recipe {self.name} takes more than {self.seconds:g} s of a processor for row {row.id}, for an "
                "empty answer, too: give it more time (`seconds`)"
            ) from None
        return Reward(value=self.minimum, reason="overdue", detail=f"{self.name} took more than {self.seconds:g} s")

    def _decided(self, row: PromptRow, text: str, seconds: float) -> float:
        with processor_limit(seconds):
            return self.decide(row, text)

    def check(self, row: PromptRow) -> list[str]:
        """List what the row lacks for this rule."""
        return self.mistakes(row)

    def constant(self, row: PromptRow) -> float | None:
        """The reward that every answer to the row earns; None = it depends on the answer."""
        return self.same_for_all(row)


def recipe_name(recipe: RewardRecipe) -> str:
    """For errors."""
    return str(getattr(recipe, "name", type(recipe).__name__))


def lowest(recipe: RewardRecipe) -> float:
    """What it gives for the worst."""
    return float(getattr(recipe, "minimum", MINIMUM))


def mistakes_of(recipe: RewardRecipe, row: PromptRow) -> list[str]:
    """What the row lacks for this recipe."""
    check = getattr(recipe, "check", None)
    return [] if check is None else list(check(row))


def constant_reward(recipe: RewardRecipe, row: PromptRow) -> float | None:
    """What every answer to the row earns by this recipe; None = that depends on the answer."""
    constant = getattr(recipe, "constant", None)
    found: float | None = None if constant is None else constant(row)
    return found


def check_tells_apart(recipe: RewardRecipe, rows: Sequence[PromptRow]) -> None:
    """Raises ValidationError for a recipe that gives all answers to each of these rows the same reward: answers are
    compared with others to the same prompt, so nothing could be learned from it."""
    if not rows or any(constant_reward(recipe, row) is None for row in rows):
        return
    raise ValidationError(
        f"reward recipe {recipe_name(recipe)} gives every answer to a prompt the same reward "
        f"({constant_reward(recipe, rows[0])!r} for row {rows[0].id}), whatever it says, so that there is nothing to "
        "learn from: give each row a scoring contract (`scoring`, for code_tests_v1) or a right answer "
        "(`expected_output`, for exact_match_v1, gsm8k_v1 or math_v1), or name a recipe that looks at the answer; code "
        "data sets (HumanEval, MBPP, APPS and others) are taken with the tests that they bring along"
    )


async def prepare(recipe: RewardRecipe, rows: Sequence[PromptRow]) -> None:
    """Before the first rollout. Raises one ValidationError that lists the rows that the recipe cannot be applied to, or
    says that it gives all answers the same reward."""
    if (ready := getattr(recipe, "prepare", None)) is not None:
        await ready(rows)
    wrong = [f"row {row.id}: {mistake}" for row in rows for mistake in mistakes_of(recipe, row)]
    if wrong:
        raise rows_error(recipe_name(recipe), wrong, len(rows))
    check_tells_apart(recipe, rows)
    if (try_out := getattr(recipe, "try_out", None)) is not None:
        await try_out(rows)


def rows_error(recipe: str, wrong: Sequence[str], rows: int, *, of: str = "") -> ValidationError:
    """The error for rows that a recipe cannot be applied to; `of` names the data set."""
    more = [f"and {len(wrong) - MOST_TOLD} more"] if len(wrong) > MOST_TOLD else []
    bad = len({mistake.partition(": ")[0] for mistake in wrong})
    head = f"reward recipe {recipe} cannot be applied to {bad} of {rows} rows{of}:"
    return ValidationError("\n  ".join([head, *wrong[:MOST_TOLD], *more]))


async def rewarded(recipe: RewardRecipe, row: PromptRow, text: Candidate) -> Reward:
    """What the recipe gives. A fault of the platform is a reward without a value. Raises HarenaError that names recipe
    and row where the recipe raises, or gives what is no finite number."""
    return await checked(recipe.reward(row, text), f"reward recipe {recipe_name(recipe)}", row)


async def can_reward(recipe: RewardRecipe, row: PromptRow, text: Candidate) -> bool:
    """Whether there is a reward to be had, whatever it is. A recipe that raises for this text tells nothing of the
    platform, so then there may be."""
    try:
        return (await rewarded(recipe, row, text)).value is not None
    except HarenaError:
        return True


async def checked(
    asked: Awaitable[Any], who: str, row: PromptRow, *, let_through: type[Exception] | tuple[()] = ()
) -> Reward:
    """Await a reward of `who`, a number or a Reward. A fault of the platform is a reward without a value; `let_through`
    is raised as it is. Raises HarenaError that names `who` and the row for any other error, and for no finite
    number."""
    try:
        given = await asked
    except let_through:
        raise
    except PlatformError as error:
        return Reward(value=None, validity=RewardValidity.INFRA, reason="platform_error", detail=str(error))
    except HarenaError as error:
        raise type(error)(f"{who}, row {row.id}: {error}") if type(error) is ValidationError else error from error
    except Exception as error:
        raise HarenaError(f"{who} raised for row {row.id}: {type(error).__name__}: {error}") from error
    if isinstance(given, Reward):
        return given
    if not is_learnable(given):
        raise HarenaError(f"{who} gave {given!r:.100} for row {row.id}: a finite number can be learnt from")
    return Reward(value=given)


@dataclass(slots=True)
class CachedRecipe:
    """Asks a deterministic recipe once for each row and text; twins that come while it is asked wait for the answer.
    Rows are told apart by all that they hold, not by their ids alone."""

    recipe: RewardRecipe
    asked: int = 0
    saved: int = 0
    _answers: dict[str, asyncio.Future[Reward]] = field(default_factory=dict)

    @property
    def deterministic(self) -> bool:
        """Tell whether the inner recipe is deterministic."""
        return self.recipe.deterministic

    @property
    def name(self) -> str:
        """The inner recipe's name."""
        return recipe_name(self.recipe)

    @property
    def minimum(self) -> float:
        """The inner recipe's lowest reward."""
        return lowest(self.recipe)

    def check(self, row: PromptRow) -> list[str]:
        """List the mistakes that the inner recipe finds in the row."""
        return mistakes_of(self.recipe, row)

    def constant(self, row: PromptRow) -> float | None:
        """The inner recipe's constant reward for the row."""
        return constant_reward(self.recipe, row)

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Prepare the inner recipe, if it asks for that."""
        if (ready := getattr(self.recipe, "prepare", None)) is not None:
            await ready(rows)

    async def try_out(self, rows: Sequence[PromptRow]) -> None:
        """Let the inner recipe try whether anybody can be rewarded, if it can tell."""
        if (try_out := getattr(self.recipe, "try_out", None)) is not None:
            await try_out(rows)

    async def reward(self, row: PromptRow, text: Candidate) -> Reward:
        """Give the remembered reward of an equal row and text, or ask the inner recipe. A reward without a value is not
        remembered."""
        self.asked += 1
        if not self.recipe.deterministic:
            return await self.recipe.reward(row, text)
        # of the whole row: an id is unique within its data set, and held-out prompts come from another one
        key = digest(repr(row) + json.dumps(text, sort_keys=True))
        if (known := self._answers.get(key)) is not None:
            self.saved += 1
            return await asyncio.shield(known)
        answer = self._answers[key] = asyncio.ensure_future(self.recipe.reward(row, text))
        # not here, after the answer: whoever asked may have been cancelled by then
        answer.add_done_callback(partial(self._forget_what_is_none, key))
        return await asyncio.shield(answer)

    def _forget_what_is_none(self, key: str, answer: asyncio.Future[Reward]) -> None:
        if answer.cancelled() or answer.exception() is not None or answer.result().value is None:
            del self._answers[key]


def cut_off_reward(policy: OverlongPolicy, minimum: float) -> Reward:
    """What is earned without being scored."""
    if policy == "mask":
        return Reward(value=None, validity=RewardValidity.MASKED, reason="cut_off")
    return Reward(value=min(0.0, minimum), reason="cut_off")


def overlong_of(policy: OverlongPolicy, max_new_tokens: int) -> Overlong:
    """The policy with its numbers: the buffer of "soft" is the last quarter of max_new_tokens, its penalty 1."""
    return Overlong(policy=policy, buffer_tokens=max(1, max_new_tokens // 4) if policy == "soft" else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlong:
    """What becomes of a rollout that was cut off at max_new_tokens, or had no room left.

    zero    it earns 0, or the recipe's minimum where that is lower
    score   it is scored like any other
    mask    it leaves its group, and is no part of the share that pauses a run
    soft    it is scored, and so are all; but from `buffer_tokens` before the limit on, `penalty` is taken off in a
            line, and all of it at the limit (DAPO's soft overlong punishment, arXiv 2503.14476)
    """

    policy: OverlongPolicy = "zero"
    buffer_tokens: int = 0
    penalty: float = 1.0

    def __post_init__(self) -> None:
        if self.policy == "soft" and (self.buffer_tokens < 1 or not self.penalty > 0):
            raise ValidationError(
                "overlong policy 'soft' needs buffer_tokens >= 1 and a penalty above 0 "
                f"(got {self.buffer_tokens} and {self.penalty})"
            )

    async def applied(
        self, score: Callable[[], Awaitable[Reward]], *, cut_off: bool, length: int, limit: int, minimum: float
    ) -> Reward:
        """The reward of a rollout that said `length` tokens of `limit`; `score` is asked only where it counts."""
        if cut_off and self.policy in ("zero", "mask"):
            return cut_off_reward(self.policy, minimum)
        reward = await score()
        if self.policy != "soft" or reward.value is None:
            return reward
        into_buffer = limit if cut_off else length - (limit - self.buffer_tokens)
        taken = self.penalty * min(1.0, max(0.0, into_buffer / self.buffer_tokens))
        if not taken:
            return reward
        return replace(reward, value=reward.value - taken, parts={**reward.parts, "overlong": -taken})
