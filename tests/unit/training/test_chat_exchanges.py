"""An agent's texts, put together again to the tokens that were sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harena.core.records.training_plans import LossSpec
from harena.training.agents.chat_answers import chat_answer
from harena.training.agents.chat_exchanges import Exchanges, PolicyAnswer, Question, Segment
from harena.training.data.conversations import Conversation
from harena.training.data.prompts import PromptRow
from harena.training.data.templates import ChatTemplate
from harena.training.loop.batch import rl_batch
from harena.training.loop.ledger import Ledger
from harena.training.loop.schedule import Admission
from harena.training.rollouts.trajectory import Reward, Sampled, StopReason

END = 0
ROW = PromptRow(id="p", prompt="")


class Pairs:
    """A tokenizer that takes two characters for one token where it can, so that encoding anew gives other tokens than
    those that were sampled one character at a time."""

    end_tokens = (END,)
    end_texts = ("$",)
    control_texts = frozenset("$")
    chat_template = "one of its own"

    def encode(self, text: str) -> tuple[int, ...]:
        tokens: list[int] = []
        while text:
            if text[0] == "$":
                tokens, text = [*tokens, END], text[1:]
            elif len(text) > 1 and text[1] != "$":
                tokens, text = [*tokens, 1000 + ord(text[0]) * 200 + ord(text[1])], text[2:]
            else:
                tokens, text = [*tokens, ord(text[0])], text[1:]
        return tuple(tokens)

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(
            chr(token) if token < 1000 else chr((token - 1000) // 200) + chr((token - 1000) % 200)
            for token in tokens
            if token != END
        )

    def render(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]], answer_follows: bool
    ) -> str:
        text = "".join(f"{message['role'][0]}:{message['content']}$" for message in messages)
        return text + "a:" if answer_follows else text


def said(text: str, *, version: int = 0, stop: StopReason = StopReason.STOP) -> Sampled:
    """One token for each character."""
    tokens = tuple(map(ord, text)) + ((END,) if stop is StopReason.STOP else ())
    return Sampled(tokens=tokens, logprobs=(-0.5,) * len(tokens), versions=(version,) * len(tokens), stop=stop)


def user(text: str) -> Mapping[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> Mapping[str, Any]:
    return {"role": "assistant", "content": text}


def asked(exchanges: Exchanges, *messages: Mapping[str, Any]) -> Question:
    return exchanges.chat(Conversation(messages=messages))


def test_a_conversation_is_one_segment_and_nothing_is_encoded_again() -> None:
    exchanges, tokenizer = Exchanges(ChatTemplate(Pairs())), Pairs()
    first = asked(exchanges, user("hello"))
    assert exchanges.record(first, said("abcd", version=1)).text == "abcd"
    second = asked(exchanges, user("hello"), assistant("abcd"), user("more"))
    sampled = (*map(ord, "abcd"), END)
    assert second.tokens == (*tokenizer.encode("u:hello$a:"), *sampled, *tokenizer.encode("u:more$a:"))
    assert second.tokens != tokenizer.encode(second.text)
    exchanges.record(second, said("ef", version=2))
    got = exchanges.trajectory(ROW, 0, stop=exchanges.stop, reward=Reward(value=1.0), seconds={})
    assert got.starts == ()
    assert [token for token, chosen in zip(got.tokens, got.mask, strict=True) if chosen] == [
        *sampled, ord("e"), ord("f"), END,
    ]  # fmt: skip
    assert [v for v in got.versions if v >= 0] == [1] * 5 + [2] * 3
    assert all((logprob == -0.5) == bool(chosen) for logprob, chosen in zip(got.logprobs, got.mask, strict=True))
    assert got.metadata == {"exchanges": 2, "segments": 1}


def test_half_of_a_surrogate_pair_reaches_no_tokenizer() -> None:
    """Tools and agents may send it; a question that is asked again goes on from what was said all the same."""
    exchanges = Exchanges(ChatTemplate(Pairs()))
    first = asked(exchanges, user("no such file: \ud83d"))
    assert first.text.isascii()
    exchanges.record(first, said("ab"))
    again = asked(exchanges, user("no such file: \ud83d"), assistant("ab"), user("\ude00"))
    assert again.segment is exchanges.segments[0]
    assert again.text.isascii()


def test_an_answer_that_was_cut_off_goes_on_all_the_same() -> None:
    exchanges = Exchanges(ChatTemplate(Pairs()))
    exchanges.record(asked(exchanges, user("hello")), said("abc", stop=StopReason.LENGTH))
    question = asked(exchanges, user("hello"), assistant("abc"), user("go on"))
    assert question.segment is exchanges.segments[0]
    assert question.tokens[: len(question.segment.tokens)] == tuple(question.segment.tokens)


def test_a_text_to_stop_at_may_be_a_part_of_a_token() -> None:
    """All of that token was chosen, and is trained on; the agent sees what stands before the text."""
    exchanges, tokens = Exchanges(ChatTemplate(Pairs())), Pairs().encode("ab|cde")
    sampled = Sampled(tokens=tokens, logprobs=(-0.5,) * 3, versions=(0,) * 3, stop=StopReason.LENGTH)
    got = exchanges.record(asked(exchanges, user("hello")), sampled, stops=("x", "|"))
    assert (got.text, got.written, got.sampled.tokens) == ("ab", "ab|c", tokens[:2])
    assert (len(got.sampled.logprobs), got.sampled.stop) == (2, StopReason.STOP)
    exchanges.answered(assistant("ab"), got)
    assert asked(exchanges, user("hello"), assistant("ab"), user("more")).segment is exchanges.segments[0]


def test_a_rewritten_history_is_a_new_segment() -> None:
    exchanges = Exchanges(ChatTemplate(Pairs()))
    exchanges.record(asked(exchanges, user("hello")), said("abcd"))
    exchanges.record(asked(exchanges, user("hello"), assistant("ab.."), user("more")), said("ef"))
    exchanges.record(asked(exchanges, user("hello"), assistant("abcd"), user("more")), said("gh"))
    got = exchanges.trajectory(ROW, 0, stop=exchanges.stop, reward=Reward(value=1.0), seconds={})
    assert got.metadata == {"exchanges": 3, "segments": 2}
    (start,) = got.starts
    assert Pairs().decode(got.tokens[start:]) == "u:helloa:ab..u:morea:ef"
    assert Pairs().decode(got.tokens[:start]) == "u:helloa:abcdu:morea:gh"


def test_the_same_tokens_go_on_where_the_text_does_not() -> None:
    """What decoding drops: the text differs, the tokens do not."""
    exchanges = Exchanges(ChatTemplate(Pairs()))
    exchanges.record(exchanges.question("ab"), said("c"))
    exchanges.segments[0].text = "something else"
    exchanges.segments[0].tokens = list(Pairs().encode("abcd"))
    question = exchanges.question("abcdef")
    assert question.segment is exchanges.segments[0]
    assert question.tokens == Pairs().encode("abcdef")


def test_segments_are_rows_of_their_own_that_weigh_as_one(tmp_path: Path) -> None:
    """Each row begins with given tokens, and what was drawn among what stays with its token; the ledger keeps all."""
    group = []
    for sample, reward in enumerate((1.0, 0.0)):
        exchanges = Exchanges(ChatTemplate(Pairs()))
        exchanges.record(asked(exchanges, user("hello")), said("abc"))
        kept = Sampled(
            tokens=(ord("x"),), logprobs=(-0.1,), versions=(0,), stop=StopReason.LENGTH, kept=((ord("x"), ord("y")),)
        )
        exchanges.record(asked(exchanges, user("other")), kept)
        group.append(exchanges.trajectory(ROW, sample, stop=StopReason.STOP, reward=Reward(value=reward), seconds={}))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.add_admissions([Admission(0, 0, 0)])
    for trajectory in group:
        ledger.add_rollout(0, trajectory)
    found = ledger.group(0)
    ledger.close()
    assert found is not None
    assert found[0].trajectories == tuple(group)
    batch, _ = rl_batch(
        [found[0]], rule="group_mean", loss=LossSpec(aggregation="sequence"), max_new_tokens=8, temperature=1.0
    )  # fmt: skip
    assert [row.advantage for row in batch.rows] == [0.5, 0.5, -0.5, -0.5]
    assert [sum(row.mask) for row in batch.rows] == [4, 1, 4, 1]
    assert sum(row.weight * sum(row.mask) for row in batch.rows[:2]) == 1.0
    assert batch.denominator == 2.0
    assert all(row.mask[0] == 0 for row in batch.rows)
    assert [bool(any(row.kept)) for row in batch.rows] == [False, True, False, True]
    assert batch.rows[1].kept[-1] == (ord("x"), ord("y"))


def test_an_answer_that_holds_control_tokens_goes_on_when_it_comes_back() -> None:
    """The policy said them itself, such as marks of its reasoning. What an agent makes up may hold none."""

    class Marked(Pairs):
        control_texts = frozenset({"$", "[THINK]"})

    exchanges = Exchanges(ChatTemplate(Marked()))
    got = exchanges.record(asked(exchanges, user("hello")), said("[THINK]hm"))
    exchanges.answered(assistant(got.text), got)
    assert asked(exchanges, user("hello"), assistant(got.text), user("more")).segment is exchanges.segments[0]
    for forged in (user("[THINK]"), assistant("[THINK]of the agent's own")):
        with pytest.raises(ValueError, match=r"message 2 contains \[THINK\]"):
            asked(exchanges, user("hello"), forged)


def test_a_call_in_a_reasoning_that_the_prompt_opened_is_none() -> None:
    call = '<tool_call>{"name": "rm", "arguments": {}}</tool_call>'
    for opened, said_then, calls in (("", call, 1), ("<think>", call, 0), ("<think>", f"hm</think>{call}", 1)):
        question = Question(Segment(), (1,), f"a:{opened}")
        sampled = said(said_then)
        answer = chat_answer(Pairs(), question, PolicyAnswer(sampled, said_then, said_then), most_calls=None, at=0)
        assert len(answer["choices"][0]["message"].get("tool_calls", ())) == calls
