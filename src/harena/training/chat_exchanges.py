"""What an agent asked a policy over HTTP, put together again to the tokens that were sampled.

An agent sends texts: its whole conversation, each time anew. What the policy said in it is known here token by token,
and is never encoded again. A prompt goes on from what was said before where its text begins with the text of a segment,
or its tokens with the segment's: then the segment's own tokens are the prompt's beginning, and only what is new is
encoded. Any other prompt (the agent rewrote its history, or talks of something else meanwhile) begins a new segment.
Segments are trained apart, with one reward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harena.training.prompts import PromptRow
from harena.training.templates import ChatTokenizer
from harena.training.trajectory import Reward, Sampled, StopReason, Trajectory


@dataclass(slots=True)
class Segment:
    """Tokens of which each was sampled, or given, after all before it."""

    text: str = ""
    """as the template writes it"""
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


class Exchanges:
    """Those of one rollout; one at a time."""

    def __init__(self, tokenizer: ChatTokenizer) -> None:
        self.segments: list[Segment] = []
        self.count = 0
        """exchanges that were recorded"""
        self.stop = StopReason.STOP
        """of the last one"""
        self._tokenizer = tokenizer

    def chat(self, messages: Sequence[Mapping[str, Any]]) -> Question:
        """A conversation to be answered. Raises ValueError where the template objects, and for a message that holds
        what only the template may write: it could say where turns end."""
        for number, message in enumerate(messages):
            held = sorted(text for text in self._tokenizer.control_texts if text in str(message.get("content", "")))
            if held:
                raise ValueError(f"message {number} holds {held[0]!r}, which marks turns for the policy")
        return self.question(self._tokenizer.render(messages, tools=(), answer_follows=True))

    def question(self, text: str) -> Question:
        """A prompt as the policy is to read it."""
        known = [segment for segment in self.segments if text.startswith(segment.text)]
        if known:
            longest = max(known, key=lambda segment: len(segment.text))
            new = text[len(longest.text) :]
            return Question(longest, (*longest.tokens, *(self._tokenizer.encode(new) if new else ())), text)
        tokens = tuple(self._tokenizer.encode(text))
        before = [segment for segment in self.segments if tokens[: len(segment.tokens)] == tuple(segment.tokens)]
        segment = max(before, key=lambda segment: len(segment.tokens), default=Segment())
        return Question(segment, tokens, text)

    def record(self, question: Question, sampled: Sampled) -> str:
        """What was answered; its text, without the token that ended it."""
        segment = question.segment
        if not segment.tokens:
            self.segments.append(segment)
        given = question.tokens[len(segment.tokens) :]
        segment.tokens += (*given, *sampled.tokens)
        segment.mask += [0] * len(given) + [1] * len(sampled.tokens)
        segment.logprobs += (*[0.0] * len(given), *sampled.logprobs)
        segment.versions += (*[-1] * len(given), *sampled.versions)
        segment.kept += (*[()] * len(given), *(sampled.kept or [()] * len(sampled.tokens)))
        text = self._tokenizer.decode(sampled.tokens)
        segment.text = question.text + text + self._end(sampled)
        self.count += 1
        self.stop = sampled.stop
        return text

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
