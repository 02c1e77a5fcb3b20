"""An agent that knows only the OpenAI API is trained by its base URL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from harena.core.errors import HarenaError, PlatformError, ValidationError
from harena.training.agents.rollouts import AgentRollouts
from harena.training.data.prompts import PromptRow
from harena.training.engines.local import LocalEngine
from harena.training.engines.tiny import byte_pair_tokenizer, tiny_llama
from harena.training.loop.batch import TrainingRow
from harena.training.loop.evaluation import Evaluation
from harena.training.loop.rl import RLLoop, RLSettings
from harena.training.rollouts.groups import turns
from harena.training.rollouts.rollout import Policy, RolloutRequest
from harena.training.rollouts.trajectory import Reward, Sampling, StopReason, Trajectory

Make = Callable[..., LocalEngine]
ROW = PromptRow(id="p", prompt="add 3>")


class ChatCharacters:
    """The engine's tokenizer, with a chat template of its own."""

    def __init__(self, engine: LocalEngine) -> None:
        self._inner = engine.tokenizer
        self.end_tokens = engine.tokenizer.end_tokens
        self.end_texts = ("<end>",)
        self.control_texts = frozenset({"<end>"})
        self.chat_template = "one of its own"

    def encode(self, text: str) -> tuple[int, ...]:
        return self._inner.encode(text)

    def decode(self, tokens: Sequence[int]) -> str:
        return self._inner.decode(tokens)

    def render(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]], answer_follows: bool
    ) -> str:
        if any(message["role"] == "tool" for message in messages):
            raise ValueError("there is no such role")
        marks = {"user": "", "assistant": ">"}
        text = "".join(f"{marks[message['role']]}{message['content']}<end>" for message in messages)
        return text + ">" if answer_follows else text


def post(url: str, body: Any) -> dict[str, Any]:
    """As any client would, on a thread. Raises HTTPError."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with urlopen(Request(url, data=raw, headers={"Content-Type": "application/json"})) as answer:
        said: dict[str, Any] = json.load(answer)
        return said


def chat(base_url: str, *texts: str, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    return post(f"{base_url}/chat/completions", {"model": "policy", "messages": messages, **more})


def content(answer: Mapping[str, Any]) -> str:
    return str(answer["choices"][0]["message"]["content"])


async def one_rollout(engine: LocalEngine, agent: Any, **sampling: Any) -> Trajectory:
    how = Sampling(**{"max_new_tokens": 8, "stop_tokens": engine.tokenizer.end_tokens, **sampling})
    policy = Policy(engine, how, lockstep=True)
    async with AgentRollouts(agent, ChatCharacters(engine)) as rollouts:
        request = RolloutRequest(row=ROW, prompt=(1,), sample=0, key=(0, 0, 0, 0, 0))
        return await rollouts.rollout(request, policy)


async def test_two_turns_are_one_trajectory(engines: Make) -> None:
    """What the answers say of tokens is what is trained on, and the trainer's log-probabilities are the sampler's."""
    engine, answers = engines(), []

    def agent(row: PromptRow, base_url: str) -> float:
        answers.append(chat(base_url, row.prompt, max_tokens=6, temperature=1.0, logprobs=True))
        answers.append(chat(base_url, row.prompt, content(answers[0]), "again"))
        return 0.5

    got = await one_rollout(engine, agent)
    assert got.reward == Reward(value=0.5)
    assert got.metadata == {"exchanges": 2, "segments": 1}
    first, second = (answer["choices"][0] for answer in answers)
    assert answers[1]["prompt_token_ids"][: len(answers[0]["prompt_token_ids"])] == answers[0]["prompt_token_ids"]
    assert [*answers[1]["prompt_token_ids"], *second["token_ids"]] == list(got.tokens)
    assert sum(got.mask) == len(first["token_ids"]) + len(second["token_ids"])
    assert len(first["token_ids"]) <= 6
    told = [entry["logprob"] for choice in (first, second) for entry in choice["logprobs"]["content"]]
    assert told == [logprob for logprob, chosen in zip(got.logprobs, got.mask, strict=True) if chosen]
    assert answers[0]["usage"]["completion_tokens"] == len(first["token_ids"])
    assert {choice["finish_reason"] for choice in (first, second)} <= {"stop", "length"}


async def test_completions_and_models(engines: Make) -> None:
    engine, seen = engines(), {}

    def agent(row: PromptRow, base_url: str) -> float:
        seen.update(post(f"{base_url}/completions", {"model": "policy", "prompt": "add 3>", "max_tokens": 4}))
        with urlopen(f"{base_url}/models") as answer:
            assert json.load(answer)["data"][0]["id"] == "policy"
        return 1.0

    got = await one_rollout(engine, agent)
    assert got.tokens == (*engine.tokenizer.encode("add 3>"), *seen["choices"][0]["token_ids"])
    assert engine.tokenizer.decode(seen["choices"][0]["token_ids"]) == seen["choices"][0]["text"]


async def test_an_agent_is_evaluated_greedily_without_knowing(engines: Make) -> None:
    """It asks as it does while it is trained."""

    def agent(row: PromptRow, base_url: str) -> float:
        chat(base_url, row.prompt, max_tokens=6, temperature=1.0)
        return 0.5

    evaluation = Evaluation(rows=[ROW], every=1)
    engine = engines()
    async with AgentRollouts(agent, ChatCharacters(engine)) as rollouts:
        found = await evaluation.run(engine, rollouts, Sampling(max_new_tokens=6), seed=0)
    assert (found["eval/reward"], found["eval/greedy_reward"]) == (0.5, 0.5)


async def test_a_job_that_goes_on_says_nothing_of_an_agent_again(engines: Make) -> None:
    """Nobody waits for its exchanges; together its segments may be longer than the context."""

    def agent(row: PromptRow, base_url: str) -> float:
        for name in "abcd":
            chat(base_url, name * 20)
        return 0.5

    engine = engines()
    made = await one_rollout(engine, agent)
    assert len(made.tokens) > engine.context_length
    assert turns(made) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "no JSON"),
        (b"[]", "must be a JSON object"),
        ({"messages": []}, "at least one message"),
        ({"messages": ["hello"]}, r"messages\[0\] is an object"),
        ({"messages": [{"role": "nobody", "content": "a"}]}, r"messages\[0\].role is one of"),
        ({"messages": [{"role": "tool", "content": "a"}]}, "template refuses these messages: there is no such role"),
        ({"messages": [{"role": "user", "content": "a<end>"}]}, "message 1 contains <end>"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "a list of texts"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "has no name of a function"),
        ({"temperature": 0.2, "seed": 1, "tools": [{}], "max_tokens": 0}, "temperature.*seed.*max_tok.*tools must"),
        ({"n": 2, "stop": [""], "stream": 1, "stream_options": 1}, "n=2.*stream_options must.*stop must.*stream must"),
        ({"tools": [], "tool_choice": "required", "parallel_tool_calls": 0}, "cannot be forced.*parallel_tool_calls"),
    ],
)
async def test_what_is_not_understood_is_refused_in_words(engines: Make, body: Any, said: str) -> None:
    if isinstance(body, dict) and "messages" not in body:
        body = {"messages": [{"role": "user", "content": "add"}], **body}

    def agent(row: PromptRow, base_url: str) -> float:
        with pytest.raises(HTTPError) as caught:
            post(f"{base_url}/chat/completions", body)
        with caught.value as answer:
            assert answer.code == 400
            error = json.load(answer)["error"]
        with pytest.raises(AssertionError, match=said):
            raise AssertionError(error["message"])
        return 0.0

    assert (await one_rollout(engines(), agent)).length == 0


@pytest.mark.parametrize(("max_new_tokens", "stop"), [(8, StopReason.CONTEXT_OVERFLOW), (1, StopReason.TURN_LIMIT)])
async def test_no_room_and_no_end(engines: Make, max_new_tokens: int, stop: StopReason) -> None:
    """The agent's client raises what the endpoint said; the rollout earns 0 and is no error of the job."""

    def agent(row: PromptRow, base_url: str) -> float:
        text = "add" if stop is StopReason.TURN_LIMIT else "add" * 25
        for _ in range(100):
            chat(base_url, text)
        return 1.0

    got = await one_rollout(engines(), agent, max_new_tokens=max_new_tokens)
    assert got.stop is stop
    assert got.reward.value == 0.0


async def test_what_an_agent_raises(engines: Make) -> None:
    async def broken(row: PromptRow, base_url: str) -> float:
        raise KeyError("mistake")

    async def lost(row: PromptRow, base_url: str) -> float:
        raise PlatformError("the sandbox was lost", step="create")

    async def nothing(row: PromptRow, base_url: str) -> Any:
        return None

    engine = engines()
    with pytest.raises(HarenaError, match="agent raised for row p: KeyError"):
        await one_rollout(engine, broken)
    with pytest.raises(HarenaError, match="gave None for row p"):
        await one_rollout(engine, nothing)
    assert (await one_rollout(engine, lost)).reward.value is None


async def test_a_rollout_that_has_ended_is_answered_no_more(engines: Make) -> None:
    engine, urls = engines(), []

    def agent(row: PromptRow, base_url: str) -> float:
        urls.append(base_url)
        return 0.0

    async with AgentRollouts(agent, ChatCharacters(engine)) as rollouts:
        policy = Policy(engine, Sampling(max_new_tokens=4), lockstep=False)
        await rollouts.rollout(RolloutRequest(row=ROW, prompt=(1,), sample=0, key=(0,)), policy)
        for url in (urls[0], urls[0].replace("/v1", "x/v1")):
            with pytest.raises(HTTPError, match="404"):
                await asyncio.to_thread(chat, url, "add")


async def test_byte_pairs_and_a_template_of_their_own() -> None:
    """What is said is a sequence of tokens that encoding its text would not give; the conversation is one segment."""
    tokenizer = byte_pair_tokenizer(["add three then double", "double then add three", "negate and add"], 320)
    model = tiny_llama(len(tokenizer), seed=0, width=32, layers=2, heads=2, context_length=256)
    engine = LocalEngine(model, tokenizer)
    answers: list[dict[str, Any]] = []

    def agent(row: PromptRow, base_url: str) -> float:
        answers.append(chat(base_url, "add three"))
        answers.append(chat(base_url, "add three", content(answers[0]), "then double"))
        return 1.0

    sampling = Sampling(max_new_tokens=12, stop_tokens=engine.tokenizer.end_tokens)
    async with AgentRollouts(agent, engine.tokenizer) as rollouts:
        request = RolloutRequest(row=ROW, prompt=(1,), sample=0, key=(3, 0, 0, 0, 0))
        got = await rollouts.rollout(request, Policy(engine, sampling, lockstep=True))
    said = [answer["choices"][0]["token_ids"] for answer in answers]
    assert tuple(said[0]) != engine.tokenizer.encode(content(answers[0]))
    assert got.metadata == {"exchanges": 2, "segments": 1}
    assert [*answers[1]["prompt_token_ids"], *said[1]] == list(got.tokens)
    (seen,) = await engine.logprobs([TrainingRow(tokens=got.tokens, mask=got.mask)])
    wanted = [logprob for logprob, chosen in zip(got.logprobs, got.mask, strict=True) if chosen]
    assert seen == pytest.approx(wanted, abs=1e-5)
    await engine.close()


def test_a_tokenizer_without_a_template(engines: Make) -> None:
    with pytest.raises(ValidationError, match="no chat template"):
        AgentRollouts(lambda row, url: 0.0, engines().tokenizer)


@pytest.mark.parametrize("staleness", [0, 2])
async def test_an_agent_is_trained_by_its_base_url(engines: Make, staleness: int) -> None:
    """Two calls for each rollout, a reward for each "x" in the answers: it says more of them."""
    engine = engines()

    def agent(row: PromptRow, base_url: str) -> float:
        first = content(chat(base_url, row.prompt))
        second = content(chat(base_url, row.prompt, first, "again"))
        return ("x" in first) + ("x" in second)

    settings = RLSettings(
        steps=12,
        groups_per_step=2,
        group_size=8,
        sampling=Sampling(max_new_tokens=6, stop_tokens=engine.tokenizer.end_tokens),
        learning_rate=1e-2,
        max_steps_off_policy=staleness,
    )
    told: list[dict[str, float]] = []
    async with AgentRollouts(agent, ChatCharacters(engine)) as rollouts:
        rows = [PromptRow(id=f"p{place}", prompt=f"add {place}>") for place in range(4)]
        loop = RLLoop(engine, rows, None, settings, rollouts=rollouts)
        await asyncio.wait_for(loop.run(on_step=lambda step, metrics: told.append(dict(metrics))), 60)
        assert rollouts.metrics() == {"exchanges": 2.0, "segments": 1.0}
    assert max(metrics["reward"] for metrics in told[-3:]) > told[0]["reward"] + 0.4
    if staleness == 0:
        assert max(abs(metrics.get("k3_mu", 0.0)) for metrics in told) < 1e-5
