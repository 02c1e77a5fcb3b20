"""Episodes: tokens by concatenation, why they end, whose a fault is."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from fake_engine import FakeEngine

from harena.core.errors import HarenaError, PlatformError
from harena.training.data.prompts import PromptRow, sample_key
from harena.training.environments.environment import Environment, Step, StillWaitingError, Surroundings
from harena.training.loop.ledger import Ledger
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.rewards import Overlong, Rule
from harena.training.rollouts.conversation import Turns
from harena.training.rollouts.functions import BlockingTurns, FunctionRollouts
from harena.training.rollouts.rollout import Policy, RolloutRequest, Rollouts, SingleTurn
from harena.training.rollouts.trajectory import (
    Reward,
    RewardValidity,
    Sampled,
    SampleRequest,
    Sampling,
    StopReason,
    Trajectory,
)
from harena.training.rollouts.turn_forms import TurnForm
from harena.training.rollouts.turns import Episodes

END = 0
ROW = PromptRow(id="p", prompt="?", metadata={"secret": 3})


class Lossy:
    """Does not round-trip: `ab` may be said as one token (3) or as two (1, 2), and text is always encoded as one."""

    end_tokens = (END,)

    def encode(self, text: str) -> tuple[int, ...]:
        whole = text.replace("ab", "c")
        return tuple({"a": 1, "b": 2, "c": 3}.get(character, ord(character)) for character in whole)

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join({0: "", 1: "a", 2: "b", 3: "ab"}.get(token, chr(token)) for token in tokens)


class Scripted(FakeEngine):
    """Says what the script says, turn by turn; a publication between two turns where `versions` counts on."""

    def __init__(self, *script: tuple[int, ...], context_length: int = 100) -> None:
        super().__init__()
        self.tokenizer: Any = Lossy()
        self.script = script
        self.context_length = context_length

    async def _sample(self, request: SampleRequest) -> Sampled:
        turn = request.key[-1]
        tokens = self.script[turn % len(self.script)][: request.sampling.max_new_tokens]
        stop = StopReason.STOP if tokens[-1:] == (END,) else StopReason.LENGTH
        logprobs = tuple(-0.1 * (place + 1) for place in range(len(tokens)))
        return Sampled(tokens=tokens, logprobs=logprobs, versions=(turn,) * len(tokens), stop=stop)


async def play(rollouts: Rollouts, engine: FakeEngine, **sampling: Any) -> Trajectory:
    policy = Policy(engine, Sampling(**{"max_new_tokens": 8, **sampling}), lockstep=True)
    key = sample_key(7, place=5, sample=2)
    return await rollouts.rollout(RolloutRequest(row=ROW, prompt=(9,), sample=2, key=key), policy)


class Thinking(Scripted):
    """Says texts, each of which is a token."""

    def __init__(self, *texts: str) -> None:
        super().__init__(*((place + 1, END) for place in range(len(texts))), context_length=1000)
        tokenizer = Lossy()
        tokenizer.decode = lambda tokens: "".join(texts[token - 1] for token in tokens if token)  # type: ignore[method-assign]
        self.tokenizer = tokenizer


class Echo:
    """Answers what it was told, in brackets; three times."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.closed = 0

    def reset(self, row: PromptRow) -> str | None:
        return "go"

    def step(self, action: str) -> Any:
        self.heard.append(action)
        return f"[{action}]", 0.25, len(self.heard) == 3

    def close(self) -> None:
        self.closed += 1


async def test_tokens_grow_at_the_end_only_and_sampled_text_is_never_encoded() -> None:
    """The policy says `ab` in two tokens, which no encoding of the text would give."""
    engine = Scripted((1, 2, END), (3, END))
    told = await play(Episodes(Echo, max_turns=5, form=TurnForm(before="<", after=">")), engine)
    go, first, second = (engine.tokenizer.encode(text) for text in ("go", "[ab]", "[ab]"))
    left, right = (ord("<"),), (ord(">"),)
    expected = (9, *left, *go, *right, 1, 2, END, *left, *first, *right, 3, END, *left, *second, *right, 1, 2, END)
    assert told.tokens == expected
    assert [request.prompt for request in engine.asked] == [
        expected[:5], expected[:13], expected[:20],
    ]  # fmt: skip
    chosen = [place for place, chose in enumerate(told.mask) if chose]
    assert [told.tokens[place] for place in chosen] == [1, 2, END, 3, END, 1, 2, END]
    assert engine.tokenizer.encode("ab") != (1, 2)


async def test_masks_logprobs_and_versions_are_per_token() -> None:
    told = await play(Episodes(Echo, max_turns=5), Scripted((1, 2, END), (3, END)))
    rows = list(zip(told.mask, told.logprobs, told.versions, strict=True))
    assert [row for row in rows if row[0]] == [
        (1, -0.1, 0), (1, -0.2, 0), (1, pytest.approx(-0.3), 0), (1, -0.1, 1), (1, -0.2, 1),
        (1, -0.1, 2), (1, -0.2, 2), (1, pytest.approx(-0.3), 2),
    ]  # fmt: skip
    assert {row for row in rows if not row[0]} == {(0, 0.0, -1)}
    assert [told.tokens[turn.start : turn.end] for turn in told.turns] == [(1, 2, END), (3, END), (1, 2, END)]
    assert told.oldest_version == 0


async def test_each_turn_has_a_key_of_its_own() -> None:
    engine = Scripted((1, END))
    await play(Episodes(Echo, max_turns=5), engine)
    assert [request.key for request in engine.asked] == [sample_key(7, place=5, sample=2, turn=n) for n in range(3)]


async def test_rewards_of_turns_are_summed_and_kept() -> None:
    told = await play(Episodes(Echo, max_turns=5), Scripted((1, END)))
    assert (told.reward.value, told.stop) == (0.75, StopReason.ANSWER)
    assert [turn.reward for turn in told.turns] == [0.25] * 3
    assert [turn.observation for turn in told.turns] == ["[a]", "[a]", ""]  # nothing is read after the last


@pytest.mark.parametrize(
    ("turns", "context", "sampling", "stop", "value"),
    [
        (2, 100, {}, StopReason.TURN_LIMIT, 0.5),
        (5, 100, {"max_new_tokens": 1}, StopReason.LENGTH, 0.0),
        (5, 10, {}, StopReason.CONTEXT_OVERFLOW, 0.0),
        (5, 8, {}, StopReason.CONTEXT_OVERFLOW, 0.0),
    ],
)
async def test_why_an_episode_ends(
    turns: int, context: int, sampling: Mapping[str, Any], stop: StopReason, value: float
) -> None:
    engine = Scripted((1, 2, END), context_length=context)
    told = await play(Episodes(Echo, max_turns=turns), engine, **sampling)
    assert (told.stop, told.reward.value) == (stop, value)
    assert all(len(request.prompt) + request.sampling.max_new_tokens <= context for request in engine.asked)


async def test_what_cannot_be_read_earns_the_minimum() -> None:
    class Strict(Echo):
        def step(self, action: str) -> Any:
            return Step(done=True, stop=StopReason.PARSE_ERROR, reward=5.0)

    recipe = Rule(lambda row, text: 1.0, minimum=-0.5)
    told = await play(Episodes(Strict, max_turns=5, recipe=recipe), Scripted((1, END)))
    assert (told.stop, told.reward.value, told.reward.reason) == (StopReason.PARSE_ERROR, -0.5, "parse_error")


@pytest.mark.parametrize("overlong", [Overlong(), Overlong(policy="mask")])
@pytest.mark.parametrize("way_out", ["parse_error", "cut_off", "no_room", "fault"])
async def test_an_episode_that_has_cost_something_becomes_no_cheaper_by_breaking_off(
    way_out: str, overlong: Overlong
) -> None:
    """Each turn costs; what ends the episode without a judgement gives nothing of that back."""

    class Costly(Echo):
        def step(self, action: str) -> Any:
            self.heard.append(action)
            if len(self.heard) < 3 or way_out in ("cut_off", "no_room"):
                return "", -0.5, False
            if way_out == "fault":
                raise OSError("the disk is gone")
            return Step(done=True, stop=StopReason.PARSE_ERROR, reward=0.25)

    last = (2, 2, 2, 2) if way_out in ("cut_off", "no_room") else (2, END)
    engine = Scripted((1, END), (1, END), last, context_length=8 if way_out == "no_room" else 100)
    told = await play(Episodes(Costly, max_turns=5, overlong=overlong), engine, max_new_tokens=3)
    is_masked = overlong.policy == "mask" and way_out in ("cut_off", "no_room")
    costs = -0.75 if way_out == "parse_error" else -1.0
    assert told.reward.value == (None if is_masked else costs)


async def test_turns_outcome_and_answer_are_added_and_told_apart() -> None:
    class Judged(Echo):
        async def outcome(self) -> float:
            return 2.0

        def answer(self) -> str:
            return "/".join(self.heard)

    recipe = Rule(lambda row, text: float(text == "a/ab/a"))
    told = await play(Episodes(Judged, max_turns=5, recipe=recipe), Scripted((1, END), (3, END)))
    assert told.reward.value == 3.75
    assert told.reward.parts == {"turns": 0.75, "outcome": 2.0, "answer": 1.0}


async def test_plain_methods_run_on_threads_and_coroutines_do_not() -> None:
    where: dict[str, threading.Thread] = {}

    class Both(Echo):
        def reset(self, row: PromptRow) -> str | None:
            where["reset"] = threading.current_thread()
            return None

        async def step(self, action: str) -> Any:
            where["step"] = threading.current_thread()
            return "", 1.0, True

    assert (await play(Episodes(Both, max_turns=2), Scripted((1, END)))).reward.value == 1.0
    assert where["step"] is threading.main_thread()
    assert where["reset"] is not threading.main_thread()


def breaking(when: Callable[[int, str], bool]) -> tuple[Callable[[], Environment], list[Echo]]:
    """Environments that raise where (which one is it, action) says so."""
    made: list[Echo] = []

    class Breaking(Echo):
        def __init__(self) -> None:
            super().__init__()
            self.number = len(made)
            made.append(self)

        def step(self, action: str) -> Any:
            if when(self.number, action):
                raise OSError("the disk is gone")
            return super().step(action)

    return Breaking, made


@pytest.mark.parametrize(
    ("when", "value", "reason"),
    [
        (lambda number, action: action == "ab", 0.0, "fault_follows_candidate"),
        (lambda number, action: True, None, "environment_fault"),
        (lambda number, action: action in ("ab", ""), 0.0, "fault_follows_candidate"),
        (lambda number, action: action in ("a", ""), None, "environment_fault"),
        (lambda number, action: action == "ab" if number == 0 else action == "a", 0.0, "fault_follows_candidate"),
    ],
)
async def test_whose_a_fault_is(when: Any, value: float | None, reason: str) -> None:
    """It follows the actions; the environment is broken for everybody; it comes again elsewhere."""
    make, made = breaking(when)
    rollouts = Episodes(make, max_turns=5)
    told = await play(rollouts, Scripted((1, END), (3, END)))
    assert (told.stop, told.reward.value, told.reward.reason) == (StopReason.ENVIRONMENT_FAULT, value, reason)
    assert told.reward.validity == (RewardValidity.VALID if value is not None else RewardValidity.INFRA)
    assert "the disk is gone" in told.reward.detail
    assert [environment.closed for environment in made] == [1] * len(made)
    counts = rollouts.metrics()
    assert counts["environment_fault_share"] == 1.0
    assert counts["fault_follows_candidate_share"] == float(value is not None)


class BackendError(Exception):
    """Raised by a client of a service that is down; no error of the system's."""


class Reading(Echo):
    """Reads a whole number."""

    def step(self, action: str) -> Any:
        return "", float(int(action) == 3), True


class Parsing(Echo):
    """Reads an object with an answer."""

    def step(self, action: str) -> Any:
        return "", float(json.loads(action)["answer"] == 42), True


class Down(Echo):
    """Reads an object, and asks a service that is down."""

    def step(self, action: str) -> Any:
        json.loads(action)
        raise BackendError("502")


class DownInJSON(Echo):
    """Reads an object, and what a service that is down says in place of one."""

    def step(self, action: str) -> Any:
        json.loads(action)
        json.loads("<html>Bad Gateway</html>")


class Broken(Echo):
    """Has a mistake of its own, whatever is said."""

    def step(self, action: str) -> Any:
        return self.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("environment", "said", "value"),
    [
        (Reading, "3", 1.0),
        (Reading, "4", 0.0),
        (Reading, "abc", -1.0),
        (Reading, " the answer is 3\n", -1.0),
        (Parsing, '{"answer": 42}', 1.0),
        (Parsing, "I do not know", -1.0),
        (Parsing, '{"answer": 41', -1.0),
        (Parsing, '{"answer": 42} }', -1.0),
        (Parsing, '{"x": 1}', None),
        (Down, '{"answer": 42}', None),
        (Down, "I do not know", -1.0),
        (DownInJSON, '{"answer": 42}', None),
        (Broken, "3", None),
    ],
)
async def test_what_an_environment_cannot_read_is_whose_doing_it_was(
    environment: type[Echo], said: str, value: float | None
) -> None:
    """At the first turn, too, though it takes no empty text either: that was a way out of all costs. One that is broken
    for everybody, or whose service is down, excuses a right answer all the same."""
    told = await play(Episodes(environment, max_turns=3, minimum=-1.0), Thinking(said))
    assert told.reward.value == value


async def test_what_another_episode_began_with_tells_whose_a_fault_is() -> None:
    """The same words were nobody's doing while no environment had taken any."""
    episodes = Episodes(Parsing, max_turns=3, minimum=-1.0)
    values = [
        (await play(episodes, Thinking(said))).reward.value for said in ('{"x": 1}', '{"answer": 41}', '{"x": 1}')
    ]
    assert values == [None, 0.0, -1.0]


@pytest.mark.parametrize(
    ("said", "sampling", "value"),
    [
        (("right",), {}, 1.0),
        (("wrong",), {}, -5.0),
        (("boom",), {}, -5.0),
        (("wrong", "boom"), {}, -5.0),
        (("worse", "boom"), {}, -7.0),
        (("spoilt", "boom"), {}, -5.0),
        (("wrong",), {"max_new_tokens": 1}, -5.0),
        (("spoilt",), {"max_new_tokens": 1}, -5.0),
        (("unreadable",), {}, -5.0),
    ],
)
async def test_an_outcome_that_costs_is_escaped_by_nobody(said: Any, sampling: Mapping[str, Any], value: float) -> None:
    """Neither by a fault of the environment, nor by being cut off, nor by spoiling what says it."""

    class Outcome:
        def reset(self, row: PromptRow) -> str:
            self.worth: Any = -5.0
            return ""

        def step(self, action: str) -> Any:
            if action == "boom":
                raise RuntimeError(action)
            self.worth = {"right": 1.0, "worse": -7.0, "spoilt": None}.get(action, -5.0)
            if action == "unreadable":
                return Step(done=True, stop=StopReason.PARSE_ERROR)
            return "", None, action == "right"

        def outcome(self) -> float:
            return float(self.worth)

    told = await play(Episodes(Outcome, max_turns=2), Thinking(*said), **sampling)
    assert told.reward.value == value


async def test_what_a_recipe_would_cost_is_added_to_what_the_turns_have_cost() -> None:
    """Breaking the environment gave the turns' costs back."""

    class Costly(Echo):
        def step(self, action: str) -> Any:
            if action == "boom":
                raise RuntimeError(action)
            return "", -0.4, action == "wrong"

    recipe = Rule(lambda row, text: -1.0, minimum=-1.0)
    for said in (("wrong",), ("on", "boom")):
        told = await play(Episodes(Costly, max_turns=2, recipe=recipe), Thinking(*said))
        assert told.reward.value == -1.4


async def test_an_episode_goes_on_after_a_fault_that_does_not_come_again() -> None:
    """What it comes to counts, right or wrong: a fault by chance, or by the clock, was a way out of a bad reward."""
    for faulty in ("a", "ab", "end"):
        make, made = breaking(lambda number, action, faulty=faulty: number == 0 and action == faulty)

        class Judged(make):  # type: ignore[misc, valid-type]
            def outcome(self) -> float:
                if self.number == 0 and faulty == "end":  # noqa: B023 - it is used before the next turn of the loop
                    raise OSError("the disk is gone")
                return 2.0

        rollouts = Episodes(Judged, max_turns=5)
        told = await play(rollouts, Scripted((1, END), (3, END)))
        plain = await play(Episodes(Echo, max_turns=5), Scripted((1, END), (3, END)))
        assert (told.stop, told.text) == (StopReason.ANSWER, plain.text)
        assert told.reward.value == (plain.reward.value or 0.0) + 2.0
        assert [environment.closed for environment in made] == [1, 1]
        assert rollouts.metrics()["environment_fault_share"] == 1.0
        assert rollouts.metrics()["fault_follows_candidate_share"] == 0.0


@pytest.mark.parametrize("answer", ["x", ("x", float("nan"), False), ("x", 1.0, "yes"), None])
async def test_what_is_no_answer_is_a_fault(answer: Any) -> None:
    class Odd(Echo):
        def step(self, action: str) -> Any:
            return answer

    told = await play(Episodes(Odd, max_turns=5), Scripted((1, END)))
    assert (told.stop, told.reward.value) == (StopReason.ENVIRONMENT_FAULT, None)


@pytest.mark.parametrize(
    ("error", "value", "reason"),
    [
        (StillWaitingError("the verification took longer than 2 s"), 0.0, "fault_follows_candidate"),
        (PlatformError("the verification took longer than 2 s"), None, "environment_fault"),
    ],
)
async def test_a_verification_that_waits_for_what_was_not_done_is_not_passed(
    error: Exception, value: float | None, reason: str
) -> None:
    """Doing nothing was free: it waited for an empty action's outcome, too, which was nobody's doing."""

    class Waiting(Echo):
        def step(self, action: str) -> Any:
            return "", None, True

        def outcome(self) -> float:
            raise error

    told = await play(Episodes(Waiting, max_turns=5), Scripted((1, END)))
    assert (told.reward.value, told.reward.reason) == (value, reason)


async def test_whose_a_fault_is_is_found_out_where_there_is_one_place() -> None:
    """The faulty environment's is free before an empty action is tried in another one."""
    places = asyncio.Semaphore(1)

    class Placed(Echo):
        async def reset(self, row: PromptRow) -> str | None:  # type: ignore[override]
            async with asyncio.timeout(1.0):
                await places.acquire()
            return None

        def step(self, action: str) -> Any:
            if action:
                raise OSError("the disk is gone")
            return "", 0.0, True

        async def close(self) -> None:  # type: ignore[override]
            places.release()

    told = await play(Episodes(Placed, max_turns=5), Scripted((1, END)))
    assert (told.reward.value, told.reward.reason) == (0.0, "fault_follows_candidate")


async def test_methods_that_block_take_no_thread_of_other_episodes() -> None:
    """The event loop shares out 32 threads at most: who blocks for ever would take them from episodes that do not."""
    goes_on = threading.Event()

    class Blocking(Echo):
        def step(self, action: str) -> Any:
            goes_on.wait()
            return super().step(action)

    others = [Surroundings(Blocking, timeout_seconds=60.0) for _ in range(40)]
    await asyncio.gather(*(other.reset(ROW) for other in others))
    blocked = [asyncio.ensure_future(other.step("a")) for other in others]
    await asyncio.sleep(0)
    try:
        told = await play(Episodes(Echo, max_turns=5, timeout_seconds=5.0), Scripted((1, END)))
        assert (told.stop, told.reward.value) == (StopReason.ANSWER, 0.75)
    finally:
        goes_on.set()
    assert [step.observation for step in await asyncio.gather(*blocked)] == ["[a]"] * 40


@pytest.mark.parametrize("error", [ValueError("x"), StopIteration("x")])
async def test_what_a_plain_method_raises_is_a_fault(error: Exception) -> None:
    class Raising(Echo):
        def step(self, action: str) -> Any:
            raise error

    told = await play(Episodes(Raising, max_turns=5), Scripted((1, END)))
    assert (told.stop, told.reward.value) == (StopReason.ENVIRONMENT_FAULT, None)


async def test_half_of_a_surrogate_pair_reaches_no_tokenizer() -> None:
    """Names of files that are no UTF-8 hold them, and the policy makes such files: what it is told has `?` there."""
    judged: list[str] = []

    class Named(Echo):
        def reset(self, row: PromptRow) -> str | None:
            return "\udcff go"

        def step(self, action: str) -> Any:
            self.heard.append(action)
            return "a\udcff", 0.0, len(self.heard) == 2

        def answer(self) -> str:
            return "\ud83d"

    recipe = Rule(lambda row, text: judged.append(text) or 1.0)
    told = await play(Episodes(Named, max_turns=5, recipe=recipe), Scripted((1, END)))
    assert (told.stop, told.reward.value, told.text) == (StopReason.ANSWER, 1.0, "aa?a")
    assert max(told.tokens) < 0x80
    assert judged == ["?"]


async def test_an_environment_that_hangs_is_a_fault() -> None:
    class Hanging(Echo):
        async def step(self, action: str) -> Any:
            await asyncio.Event().wait()

    told = await play(Episodes(Hanging, max_turns=5, timeout_seconds=0.001), Scripted((1, END)))
    assert (told.stop, told.reward.value) == (StopReason.ENVIRONMENT_FAULT, None)


async def test_a_beginning_that_fails_once_begins_again() -> None:
    made: list[int] = []

    class Late(Echo):
        def reset(self, row: PromptRow) -> str | None:
            made.append(1)
            if len(made) == 1:
                raise PlatformError("no room")
            return None

    assert (await play(Episodes(Late, max_turns=5), Scripted((1, END)))).stop == StopReason.ANSWER


async def test_cancelling_closes_the_environment() -> None:
    made: list[Echo] = []
    begun = asyncio.Event()

    class Slow(Echo):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

        async def step(self, action: str) -> Any:
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(play(Episodes(Slow, max_turns=5), Scripted((1, END))))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [environment.closed for environment in made] == [1]


async def guess(row: PromptRow, turns: Turns) -> float:
    said = await turns.say()
    turns.tell("[more]", reward=0.5, parts={"tried": 0.5})
    return float(said == "a" and await turns.say() == "ab")


async def test_a_rollout_function_of_ones_own() -> None:
    told = await play(FunctionRollouts(guess), Scripted((1, END), (3, END)))
    assert (told.reward.value, told.stop, told.text) == (1.0, StopReason.ANSWER, "a[more]ab")
    assert (told.turns[0].reward, told.turns[0].parts) == (0.5, {"tried": 0.5})


async def test_a_plain_function_runs_on_a_thread() -> None:
    def guess_here(row: PromptRow, turns: BlockingTurns) -> float:
        assert threading.current_thread() is not threading.main_thread()
        said = turns.say()
        turns.tell("[more]", reward=0.5)
        return float([said, turns.say()] == turns.said == ["a", "ab"])

    told = await play(FunctionRollouts(guess_here), Scripted((1, END), (3, END)))
    assert (told.reward.value, told.text) == (1.0, "a[more]ab")


@pytest.mark.parametrize("blocks", [True, False])
async def test_many_functions_at_once_wait_for_each_other_in_lockstep(blocks: bool) -> None:
    """More than the default executor has threads."""

    def here(row: PromptRow, turns: BlockingTurns) -> float:
        return float(turns.say() == turns.say())

    async def there(row: PromptRow, turns: Turns) -> float:
        return float(await turns.say() == await turns.say())

    engine = Scripted((1, END))
    policy = Policy(engine, Sampling(max_new_tokens=4), lockstep=True)
    rollouts = FunctionRollouts(here if blocks else there)
    asked = [RolloutRequest(row=ROW, prompt=(9,), sample=n, key=sample_key(0, place=0, sample=n)) for n in range(50)]
    told = await asyncio.gather(*(rollouts.rollout(request, policy) for request in asked))
    assert [one.reward.value for one in told] == [1.0] * 50


async def test_a_plain_function_that_is_not_wanted_any_more_ends() -> None:
    ended = threading.Event()

    def here(row: PromptRow, turns: BlockingTurns) -> float:
        try:
            while True:
                turns.say()
        finally:
            ended.set()

    class Slow(Scripted):
        async def _sample(self, request: SampleRequest) -> Sampled:
            if request.key[-1] == 2:
                begun.set()
                await asyncio.Event().wait()
            return await super()._sample(request)

    begun = asyncio.Event()
    task = asyncio.create_task(play(FunctionRollouts(here), Slow((1, END))))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 30)


async def test_environments_may_be_limited_in_lockstep() -> None:
    """Whoever waits for a place has no seat yet, so nobody waits for it."""
    here: list[int] = []
    most: list[int] = []

    class Counted(Echo):
        def reset(self, row: PromptRow) -> str | None:
            here.append(1)
            most.append(len(here))
            return None

        def close(self) -> None:
            here.pop()

    policy = Policy(Scripted((1, END)), Sampling(max_new_tokens=4), lockstep=True)
    rollouts = Episodes(Counted, max_turns=5, most_at_once=3)
    asked = [RolloutRequest(row=ROW, prompt=(9,), sample=n, key=sample_key(0, place=0, sample=n)) for n in range(10)]
    told = await asyncio.gather(*(rollouts.rollout(request, policy) for request in asked))
    assert [one.reward.value for one in told] == [0.75] * 10
    assert max(most) <= 3


@pytest.mark.parametrize(("overlong", "value"), [("zero", 0.0), ("mask", None)])
async def test_a_function_whose_policy_has_no_room(overlong: Any, value: float | None) -> None:
    told = await play(FunctionRollouts(guess, overlong=overlong), Scripted((1, END), (3, END)), max_new_tokens=1)
    assert (told.stop, told.reward.value, told.reward.reason) == (StopReason.LENGTH, value, "cut_off")
    rollouts = FunctionRollouts(guess, overlong=overlong, minimum=-1.0)  # to be cut off must not pay
    told = await play(rollouts, Scripted((1, END), (3, END)), max_new_tokens=1)
    assert told.reward.value == (None if value is None else -1.0)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda row: 1 / 0, "ZeroDivisionError"),
        (lambda row: "much", "'much'"),
        (lambda row: float("nan"), "nan"),
        (lambda row: None, "None"),
    ],
)
async def test_a_function_that_raises_or_gives_no_number_names_itself_and_the_row(function: Any, says: str) -> None:
    async def broken(row: PromptRow, turns: Turns) -> float:
        return function(row)  # type: ignore[no-any-return]

    with pytest.raises(HarenaError, match=rf"broken.* row p.*{says}|{says}.* row p"):
        await play(FunctionRollouts(broken), Scripted((1, END)))


async def test_a_function_says_what_the_platform_did() -> None:
    async def lost(row: PromptRow, turns: Turns) -> Reward:
        return Reward(value=None, validity=RewardValidity.INFRA, reason="platform_error")

    assert (await play(FunctionRollouts(lost), Scripted((1, END)))).reward.value is None


@pytest.mark.parametrize("staleness", [0, 2])
async def test_the_loop_trains_episodes_and_the_ledger_keeps_their_turns(staleness: int, tmp_path: Any) -> None:
    class Right(Echo):
        def step(self, action: str) -> Any:
            self.heard.append(action)
            return "more", float(action == "right") / 2, len(self.heard) == 2

        def outcome(self) -> float:
            return 0.25

    class Words(FakeEngine):
        """Words that can be told too."""

        def __init__(self) -> None:
            super().__init__(chance=0.4)

    engine, ledger = Words(), Ledger(tmp_path / "ledger.sqlite")
    settings = RLSettings(
        steps=15, groups_per_step=3, group_size=4, sampling=Sampling(max_new_tokens=4), learning_rate=0.02,
        max_steps_off_policy=staleness,
    )  # fmt: skip
    told: list[Mapping[str, float]] = []
    loop = RLLoop(engine, [ROW], None, settings, rollouts=Episodes(Right, max_turns=3), ledger=ledger)
    await loop.run(on_step=lambda step, metrics: told.append(metrics))
    assert told[-1]["reward"] > told[0]["reward"]
    assert [metrics["reward_part/outcome"] for metrics in told] == [0.25] * 15
    assert all(metrics["reward_part/turns"] == pytest.approx(metrics["reward"] - 0.25) for metrics in told)
    assert [metrics["stop_share/answer"] for metrics in told] == [1.0] * 15
    assert [metrics["turns/mean"] for metrics in told] == [2.0] * 15
    assert max(metrics["staleness/max"] for metrics in told) <= staleness
    found = ledger.group(0)
    assert found is not None
    turns = [turn for trajectory in found[0].trajectories for turn in trajectory.turns]
    assert len(turns) == 8
    assert {(turn.stop, turn.observation) for turn in turns} == {(StopReason.STOP, "more"), (StopReason.STOP, "")}
    ledger.close()


@pytest.mark.parametrize(
    ("overlong", "length", "cut_off", "value"),
    [
        (Overlong(policy="zero"), 10, True, -1.0),
        (Overlong(policy="score"), 10, True, 0.5),
        (Overlong(policy="mask"), 10, True, None),
        (Overlong(policy="soft", buffer_tokens=4), 6, False, 0.5),
        (Overlong(policy="soft", buffer_tokens=4), 8, False, 0.0),
        (Overlong(policy="soft", buffer_tokens=4), 10, False, -0.5),
        (Overlong(policy="soft", buffer_tokens=4, penalty=0.5), 10, True, 0.0),
    ],
)
async def test_overlong(overlong: Overlong, length: int, cut_off: bool, value: float | None) -> None:
    async def score() -> Reward:
        return Reward(value=0.5)

    given = await overlong.applied(score, cut_off=cut_off, length=length, limit=10, minimum=-1.0)
    assert given.value == value
    assert given.validity == (RewardValidity.MASKED if value is None else RewardValidity.VALID)


class Gone(Echo):
    """There is none to be had."""

    def reset(self, row: PromptRow) -> str | None:
        raise PlatformError("the node is gone")


class Unjudged(Echo):
    """Who says what the episode is worth, does not answer."""

    def outcome(self) -> Reward:
        return Reward(value=None, validity=RewardValidity.INFRA, reason="down")


class Numbers(Echo):
    """Takes no empty action."""

    def step(self, action: str) -> Any:
        return "", float(int(action)), True


@pytest.mark.parametrize(("environment", "works"), [(Echo, True), (Gone, False), (Unjudged, False), (Numbers, True)])
async def test_whether_rewards_can_be_had(environment: type[Echo], works: bool) -> None:
    made: list[Echo] = []

    def make() -> Echo:
        made.append(environment())
        return made[-1]

    assert await Episodes(make, max_turns=1).works(ROW) is works
    assert [entry.closed for entry in made] == [1] * len(made)


async def test_whether_the_recipe_of_an_episode_answers() -> None:
    def lost(row: PromptRow, text: str) -> float:
        raise PlatformError("the judge is down")

    assert not await Episodes(Echo, max_turns=1, recipe=Rule(lost)).works(ROW)
    assert await Episodes(Echo, max_turns=1, recipe=Rule(lambda row, text: 0.0)).works(ROW)


@pytest.mark.parametrize(("said", "judged"), [("a draft", "<think>a draft"), ("hm</think>42", "hm</think>42")])
async def test_a_reasoning_that_the_prompt_opened_is_told_to_whoever_judges(said: str, judged: str) -> None:
    """One that never ends would be an answer else. What is kept of the turn is what was sampled."""
    row = PromptRow(id="p", prompt="<|im_start|>assistant\n<think>\n")
    heard: list[str] = []
    recipe = Rule(lambda row, text: heard.append(text) or 1.0)
    key = sample_key(7, place=5, sample=2)
    policy = Policy(Thinking(said, said), Sampling(max_new_tokens=8), lockstep=True)
    request = RolloutRequest(row=row, prompt=(9,), sample=2, key=key)
    single = SingleTurn(recipe)
    got = await single.rollout(request, policy)
    assert (got.text, heard) == (said, [judged])
    assert (await single.again(row, got, Sampling())).value == 1.0
    form = TurnForm(before="<|im_end|>", after="<|im_start|>assistant\n<think>\n")
    for this_row, this_form in ((row, TurnForm()), (ROW, form)):  # of the first turn, and of one after an observation
        played: list[Echo] = []
        episodes = Episodes(lambda played=played: played.append(Echo()) or played[-1], max_turns=2, form=this_form)
        got = await episodes.rollout(RolloutRequest(row=this_row, prompt=(9,), sample=2, key=key), policy)
        assert played[0].heard == ([judged, said] if this_row is row else [said, judged])
        assert [turn.text for turn in got.turns] == [said, said]
