"""What an agent asked a policy over HTTP, put together again to the tokens that were sampled.

An agent sends texts: its whole conversation, each time anew. What the policy said in it is known here token by token,
and is never encoded again. A prompt goes on from what was said before where its text begins with the text of a segment,
or its tokens with the segment's: then the segment's own tokens are the prompt's beginning, and only what is new is
encoded. Any other prompt (the agent rewrote its history, or talks of something else meanwhile) begins a new segment.
Segments are trained apart, with one reward.

An agent sends back what it was answered, not what the policy wrote: calls of tools as objects, an answer without the
text at which it was to stop. Such a message is known by what it says, and stands in the prompt as it was written.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harena.core.records.result_rows import writable
from harena.training.data.conversations import Conversation, Message, messages_of
from harena.training.data.prompts import PromptRow
from harena.training.data.templates import ChatTemplate, for_template
from harena.training.ports import Tokenizer
from harena.training.rollouts.trajectory import Reward, Sampled, StopReason, Trajectory


@dataclass(slots=True)
class Segment:
    """Tokens of which each was sampled, or given, after all before it."""

    text: str = ""
    """text that the template writes"""
    tokens: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    kept: list[tuple[int, ...]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt, and the segment that it goes on."""

    segment: Segment
    tokens: tuple[int, ...]
    """all of the prompt's"""
    text: str


@dataclass(frozen=True, slots=True)
class PolicyAnswer:
    """What the policy answered."""

    sampled: Sampled
    """up to the token that completes the text to stop at, where there is one"""
    written: str
    """all of its text, without the token that ended it"""
    text: str
    """part of the answer that stands before the text to stop at"""


class Exchanges:
    """Exchanges of one rollout, one at a time."""

    def __init__(self, template: ChatTemplate) -> None:
        self.segments: list[Segment] = []
        self.count = 0
        """exchanges that were recorded"""
        self.stop = StopReason.STOP
        """why the last answer ended"""
        self._template = template
        self._tokenizer = template.tokenizer
        self._written: dict[str, str] = {}
        """what was answered -> as the policy wrote it"""

    def chat(self, conversation: Conversation) -> Question:
        """A conversation to be answered. Raises ValueError where the template objects, and for a message that holds
        what only the template may write: it could say where turns end."""
        messages = tuple(self._as_written(message) for message in conversation.messages)
        said = [place for place, message in enumerate(messages) if message is not conversation.messages[place]]
        return self.question(self._template.prompt_text(replace(conversation, messages=messages), said))

    def question(self, text: str) -> Question:
        """A prompt as the policy is to read it; half of a surrogate pair, which no tokenizer reads, becomes `?`."""
        text = writable(text)
        known = [segment for segment in self.segments if text.startswith(segment.text)]
        if known:
            longest = max(known, key=lambda segment: len(segment.text))
            new = text[len(longest.text) :]
            return Question(longest, (*longest.tokens, *(self._tokenizer.encode(new) if new else ())), text)
        tokens = tuple(self._tokenizer.encode(text))
        before = [segment for segment in self.segments if tokens[: len(segment.tokens)] == tuple(segment.tokens)]
        segment = max(before, key=lambda segment: len(segment.tokens), default=Segment())
        return Question(segment, tokens, text)

    def record(self, question: Question, sampled: Sampled, stops: Sequence[str] = ()) -> PolicyAnswer:
        """What was answered, up to the first of the texts to stop at."""
        said = said_until(self._tokenizer, sampled, stops)
        sampled, segment = said.sampled, question.segment
        if not segment.tokens:
            self.segments.append(segment)
        given = question.tokens[len(segment.tokens) :]
        segment.tokens += (*given, *sampled.tokens)
        segment.mask += [0] * len(given) + [1] * len(sampled.tokens)
        segment.logprobs += (*[0.0] * len(given), *sampled.logprobs)
        segment.versions += (*[-1] * len(given), *sampled.versions)
        segment.kept += (*[()] * len(given), *(sampled.kept or [()] * len(sampled.tokens)))
        segment.text = question.text + said.written + self._end(sampled)
        self.count += 1
        self.stop = sampled.stop
        return said

    def answered(self, message: Message, said: PolicyAnswer) -> None:
        """The agent is given this message for what the policy said."""
        [known] = messages_of([message])
        self._written[_key(known)] = said.written

    def _as_written(self, message: Message) -> Message:
        written = self._written.get(_key(message)) if message["role"] == "assistant" else None
        return message if written is None else {"role": "assistant", "content": written}

    def trajectory(
        self, row: PromptRow, sample: int, *, stop: StopReason, reward: Reward, seconds: Mapping[str, float]
    ) -> Trajectory:
        """The record of all that was asked."""
        starts, tokens = [], 0
        for segment in self.segments:
            starts.append(tokens)
            tokens += len(segment.tokens)
        kept = tuple(among for segment in self.segments for among in segment.kept)
        return Trajectory(
            prompt_id=row.id,
            sample=sample,
            tokens=tuple(token for segment in self.segments for token in segment.tokens),
            mask=tuple(chosen for segment in self.segments for chosen in segment.mask),
            logprobs=tuple(logprob for segment in self.segments for logprob in segment.logprobs),
            versions=tuple(version for segment in self.segments for version in segment.versions),
            kept=kept if any(kept) else (),
            starts=tuple(starts[1:]),
            stop=stop,
            text="\n\n".join(segment.text for segment in self.segments),
            reward=reward,
            seconds=seconds,
            metadata={"exchanges": self.count, "segments": len(self.segments)},
        )

    def _end(self, sampled: Sampled) -> str:
        ends = dict(zip(self._tokenizer.end_tokens, self._tokenizer.end_texts, strict=True))
        return ends.get(sampled.tokens[-1], "") if sampled.tokens and sampled.stop == StopReason.STOP else ""


def said_until(tokenizer: Tokenizer, sampled: Sampled, stops: Sequence[str]) -> PolicyAnswer:
    """What was sampled, cut off after the first token with which one of these texts is there. Whether to go on after a
    token depends on those before it only, so the log-probabilities of what is left are those of what was asked for."""
    written = tokenizer.decode(sampled.tokens)

    def has_stopped(length: int) -> bool:
        text = tokenizer.decode(sampled.tokens[:length])
        return any(stop in text for stop in stops)

    if not any(stop in written for stop in stops):
        return PolicyAnswer(sampled, written, written)
    length = bisect_left(range(len(sampled.tokens)), True, key=has_stopped)
    sampled = replace(
        sampled,
        tokens=sampled.tokens[:length],
        logprobs=sampled.logprobs[:length],
        versions=sampled.versions[:length],
        kept=sampled.kept[:length],
        stop=StopReason.STOP,
    )
    written = tokenizer.decode(sampled.tokens)
    return PolicyAnswer(sampled, written, written[: min(written.find(stop) for stop in stops if stop in written)])


def _key(message: Message) -> str:
    """Two messages say the same; agents write the arguments of a call with other spaces."""
    calls = [for_template(call) for call in message.get("tool_calls", ())]
    said = [(call.get("id"), call["function"]["name"], call["function"]["arguments"]) for call in calls]
    return json.dumps([message["content"], said], sort_keys=True)
