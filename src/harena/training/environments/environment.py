"""What a policy talks to, turn by turn: the interface for users' own environments.

    class Guess:
        def reset(self, row):                 # -> what the policy reads after its prompt, or None
            self.secret = row.metadata["secret"]

        def step(self, action):               # -> Step, or (observation, reward, done)
            if not action.strip().isdecimal():
                return "Say a number.", 0.0, False
            if int(action) == self.secret:
                return "=", 1.0, True
            return ("<" if int(action) < self.secret else ">"), 0.0, False

An environment is made for each episode and used by nobody else. Its methods may be coroutines; plain ones run on
threads, so they may block. Three more methods are optional:

    outcome()   a reward (a number, or a Reward) for the whole episode, asked for at its end
    answer()    what a reward recipe judges at the end, in place of the last text that was said: a text, or a candidate
                of several files
    close()     ends what it holds; called once, also where the episode is cancelled

Whatever the policy says is an action, never an error: an environment answers it, ends the episode, or says that it
cannot be read (`Step(done=True, stop=StopReason.PARSE_ERROR)`). An environment that raises, or takes too long, has a
fault; see `harena.training.rollouts.turns` for what becomes of that.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import math
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from harena.core.errors import PlatformError
from harena.core.records.result_rows import writable
from harena.training.data.prompts import PromptRow
from harena.training.rollouts.trajectory import Candidate, Reward, StopReason

_MOST_TAKEN = 16
_LONGEST_TAKEN = 16_384
"""characters of an action that is remembered"""
_OF_READERS = (ValueError, TypeError, LookupError, SyntaxError, AttributeError, ArithmeticError, AssertionError)
"""what reading a text raises; what is not among them may be anything's doing"""
_SIMPLE = ("0", "{}", "a")
"""actions that a reader of numbers, of objects or of words takes"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What an environment answers to an action."""

    observation: str = ""
    """what the policy reads before its next turn; nothing is read after the last"""
    reward: float | None = None
    """reward of this turn; None = none was given"""
    done: bool = False
    stop: StopReason = StopReason.ANSWER
    """why the episode is over, where it is: ANSWER or PARSE_ERROR"""
    parts: Mapping[str, float] = field(default_factory=dict)
    """what `reward` is made of, by name; for people"""


class Environment(Protocol):
    """One episode's surroundings. The methods may be coroutines; `outcome`, `answer` and `close` may be there too."""

    def reset(self, row: PromptRow) -> str | Awaitable[str | None] | None:
        """Begin; what the policy reads after the row's prompt."""

    def step(self, action: str) -> Any:
        """Do what the policy said: a Step, or (observation, reward, done), or one of them to await."""


class EnvironmentFaultError(Exception):
    """An environment raised, was late, or answered something that is no answer. Data for the episode; it never leaves
    this package."""

    def __init__(self, message: str, *, asked: str = "") -> None:
        super().__init__(message)
        self.asked = asked
        """method that raised, or was late"""


class StillWaitingError(PlatformError):
    """Raised by an environment whose own verification did nothing but wait until its time was over. Where it waits for
    an empty action's outcome, too, it waits for what the task asks for: whoever has not done that has not passed."""


class FaultFollowsError(EnvironmentFaultError):
    """The fault is the doing of whoever acted."""


class Surroundings:
    """An environment as the episode uses it: everything is awaited, has a time limit, and faults in one way. Halves of
    surrogate pairs in what it says, as in names of files that are no UTF-8, become `?`: no tokenizer reads them."""

    def __init__(self, make: Callable[[], Environment], *, timeout_seconds: float) -> None:
        """`make` is called by `reset`. `timeout_seconds`: of each of its methods."""
        self._make = make
        self._timeout = timeout_seconds
        self._environment: Environment | None = None
        self.taken = 0
        """actions that went through since `reset`"""

    async def reset(self, row: PromptRow) -> str:
        """What the policy reads first. Raises EnvironmentFaultError."""
        self.taken = 0
        self._environment = await self._asked(self._make, "cannot be made")
        observation = await self._asked(self._environment.reset, "reset", row)
        if observation is not None and not isinstance(observation, str):
            raise EnvironmentFaultError(
                f"reset gave {type(observation).__name__}: a text, or None, is what can be read"
            )
        return writable(observation or "")

    async def step(self, action: str) -> Step:
        """Raises EnvironmentFaultError."""
        assert self._environment is not None
        step = _as_step(await self._asked(self._environment.step, "step", action))
        self.taken += 1
        return step

    async def answer(self, said: str) -> Candidate:
        """What is scored: what the environment says, else what the policy said last. Raises EnvironmentFaultError."""
        ask = getattr(self._environment, "answer", None)
        if ask is None:
            return said
        given = await self._asked(ask, "answer")
        if not isinstance(given, str | Mapping):
            raise EnvironmentFaultError(
                f"answer gave {type(given).__name__}: a text or a candidate is what can be scored"
            )
        return writable(given) if isinstance(given, str) else given

    async def outcome(self) -> Reward | None:
        """What the environment says of the whole episode, where it says something. Raises EnvironmentFaultError."""
        ask = getattr(self._environment, "outcome", None)
        if ask is None:
            return None
        given = await self._asked(ask, "outcome")
        if isinstance(given, Reward):
            return given
        _check_reward(given, "outcome")
        return None if given is None else Reward(value=float(given))

    async def close(self) -> None:
        """End what the environment holds. May be called more than once. A fault of `close` changes nothing that was
        said or earned: it is not told."""
        environment, self._environment = self._environment, None
        if (close := getattr(environment, "close", None)) is not None:
            with suppress(EnvironmentFaultError):
                await self._asked(close, "close")

    async def _asked(self, ask: Callable[..., Any], name: str, *given: Any) -> Any:
        try:
            async with asyncio.timeout(self._timeout):
                if inspect.iscoroutinefunction(ask):
                    return await ask(*given)
                answer = await _on_a_thread(ask, *given)
                return await answer if inspect.isawaitable(answer) else answer
        except TimeoutError as error:
            raise EnvironmentFaultError(f"{name}: no answer after {self._timeout} s", asked=name) from error
        except Exception as error:
            raise EnvironmentFaultError(f"{name}: {type(error).__name__}: {error}", asked=name) from error


async def _on_a_thread(ask: Callable[..., Any], *given: Any) -> Any:
    """What it gives, called in a thread of its own: one that blocks for longer than it is waited for goes on, and takes
    none of the threads that the event loop shares out, so that no other episode waits for it. Raises what it raises."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def tell(give: Callable[[Any], None], value: Any) -> None:
        if not answer.done():
            give(value)

    def work() -> None:
        try:
            told = partial(tell, answer.set_result, context.run(ask, *given))
        except BaseException as error:  # noqa: BLE001 (raised where it is waited for)
            if isinstance(error, StopIteration):  # no future can hold it
                error = RuntimeError(f"StopIteration: {error}")
            told = partial(tell, answer.set_exception, error)
        with suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(told)

    threading.Thread(target=work, name="environment", daemon=True).start()
    return await answer


async def begun(surroundings: Surroundings, row: PromptRow) -> str:
    """What the policy reads first. It has said nothing yet, so a fault is nobody's but the platform's: a second
    environment is tried, then it stands. Raises EnvironmentFaultError."""
    try:
        return await surroundings.reset(row)
    except EnvironmentFaultError:
        await surroundings.close()
        return await surroundings.reset(row)


@dataclass(slots=True)
class TakenActions:
    """First actions of episodes that an environment has taken lately, by row: what a broken one would not take."""

    _lately: deque[tuple[str, str]] = field(default_factory=partial(deque, maxlen=_MOST_TAKEN))

    def add(self, row: PromptRow, action: str) -> None:
        """An environment of this row has taken it, before any other."""
        if action and len(action) <= _LONGEST_TAKEN and (row.id, action) not in self._lately:
            self._lately.appendleft((row.id, action))

    def tried(self, row: PromptRow) -> list[str]:
        """Actions to try in an environment of this row, the likeliest first."""
        known = sorted(self._lately, key=lambda taken: taken[0] != row.id)
        return list(dict.fromkeys([*(action for _, action in known), *_SIMPLE]))


class Faults:
    """Whose the faults of one episode are. After the first, the same actions are done in a fresh environment, and the
    episode goes on from there: so a fault that does not come again changes no verdict. A second one is the candidate's
    wherever it comes, if the fresh environment has taken other actions of the episode before, or another one takes an
    empty action. One that reads numbers, or JSON, takes no empty text: an error such as readers raise is the
    candidate's, too, where it quotes what was said, or where another action is taken."""

    def __init__(
        self,
        surroundings: Surroundings,
        idle: Callable[[], Surroundings],
        row: PromptRow,
        *,
        taken: TakenActions | None = None,
        asks_outcomes: bool = False,
    ) -> None:
        """`asks_outcomes`: note what environments say of the whole episode where it came to a fault."""
        self._surroundings = surroundings
        self._idle = idle
        self._row = row
        self._taken = taken or TakenActions()
        self._asks_outcomes = asks_outcomes
        self.count = 0
        self.outcomes: list[float] = []
        """what the environments in which a fault came, or in which nothing was done, say of the whole episode"""

    async def resumed(self, fault: EnvironmentFaultError, said: Sequence[str]) -> Step:
        """What the last of these actions gives in the fresh environment. Raises FaultFollowsError for the candidate's
        fault, and EnvironmentFaultError for the platform's: nothing begins, or no other action is taken."""
        self.count += 1
        if self.count == 1:
            await self._surroundings.close()
            await self._surroundings.reset(self._row)
            try:
                return await _repeated(self._surroundings, said)
            except EnvironmentFaultError as again:
                fault = again
        took_others = fault.asked == "step" and self._surroundings.taken > 0
        if fault.asked == "step":
            await self._note_outcome(self._surroundings)
        await self._surroundings.close()  # its place may be the only one in which an empty action can be tried
        is_noted = self.outcomes or not self._asks_outcomes
        if (took_others and is_noted) or await self._is_well(fault, said) or took_others:
            raise FaultFollowsError(str(fault)) from fault
        raise fault

    async def _is_well(self, fault: EnvironmentFaultError, said: Sequence[str]) -> bool:
        """Whether an environment in which nothing was done works."""
        idle = self._idle()
        try:
            await idle.reset(self._row)
            await self._note_outcome(idle)
            try:
                await idle.step("")
            except EnvironmentFaultError as again:
                return fault.asked == "step" and await self._takes_others(idle, (fault, again), said)
            await self._note_outcome(idle)
            await idle.outcome()
            await idle.answer("")
        except EnvironmentFaultError as again:
            return isinstance(again.__cause__, StillWaitingError)
        finally:
            await idle.close()
        return True

    async def _takes_others(
        self, idle: Surroundings, faults: Sequence[EnvironmentFaultError], said: Sequence[str]
    ) -> bool:
        """Whether it reads what is said, and would go on with something else."""
        causes = [fault.__cause__ for fault in faults]
        if not all(isinstance(cause, _OF_READERS) for cause in causes):
            return False
        if any(_quotes(causes[0], action) for action in said):
            return True
        for action in self._taken.tried(self._row):
            try:
                await idle.step(action)
            except EnvironmentFaultError as other:
                if not isinstance(other.__cause__, _OF_READERS):
                    return False
            else:
                return True
        return False

    async def _note_outcome(self, surroundings: Surroundings) -> None:
        """What it says of the episode, if it can say so now."""
        if not self._asks_outcomes:
            return
        with suppress(EnvironmentFaultError):
            outcome = await surroundings.outcome()
            if outcome is not None and outcome.value is not None:
                self.outcomes.append(outcome.value)


def _quotes(error: BaseException | None, action: str) -> bool:
    """Whether an error says of a text that was said that it cannot be read."""
    if not action.strip():
        return False
    if isinstance(error, json.JSONDecodeError):
        return error.doc.strip() != "" and error.doc.strip() in action
    if isinstance(error, SyntaxError):
        return bool((error.text or "").strip()) and (error.text or "").strip() in action
    return isinstance(error, ValueError) and any(repr(text) in str(error) for text in (action, action.strip()))


async def _repeated(surroundings: Surroundings, said: Sequence[str]) -> Step:
    step = Step()
    for action in said:
        step = await surroundings.step(action)
        if step.done:
            break
    return step


def _as_step(answer: Any) -> Step:
    if isinstance(answer, tuple) and len(answer) == 3:
        observation, reward, done = answer
        if isinstance(observation, str | None) and isinstance(done, bool):
            answer = Step(observation=observation or "", reward=reward, done=done)
    if not isinstance(answer, Step):
        raise EnvironmentFaultError(f"step gave {answer!r:.100}: a Step or (observation, reward, done) is expected")
    _check_reward(answer.reward, "step")
    return replace(answer, observation=writable(answer.observation))


def _check_reward(value: Any, asked: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (number and math.isfinite(value)):
        raise EnvironmentFaultError(
            f"{asked} gave the reward {value!r:.100}: a finite number is what can be learnt from"
        )
