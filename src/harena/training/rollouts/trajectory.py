"""What a policy said, token by token, and what became of it.

Token ids in, token ids out: text is made of tokens for people and for scorers, and is never turned back into tokens.
Log-probabilities are those of the distribution that was sampled from: after temperature, and after truncation where
there was any. Truncation depends on weights, so a trainer with newer ones cannot find out what was left out: the tokens
that were not (`kept`) travel with each token, and the trainer's distribution is over the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from harena.core.errors import ValidationError


class StopReason(StrEnum):
    """Why a sequence or an episode ended."""

    STOP = "stop"
    """the policy said an end-of-turn token"""
    LENGTH = "length"
    """it reached max_new_tokens"""
    ABORTED = "aborted"
    """somebody took its slot back"""
    ANSWER = "answer"
    """the environment said that the episode is over"""
    TURN_LIMIT = "turn_limit"
    CONTEXT_OVERFLOW = "context_overflow"
    PARSE_ERROR = "parse_error"
    ENVIRONMENT_FAULT = "environment_fault"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How tokens are drawn."""

    max_new_tokens: int = 128
    temperature: float = 1.0
    """0 = the most probable token; its log-probability is then that of temperature 1"""
    top_k: int | None = None
    """draw among so many of the most probable tokens; None = all"""
    top_p: float = 1.0
    """draw among the fewest most probable tokens that together have this probability (after top_k, as elsewhere)"""
    stop_tokens: tuple[int, ...] = ()
    """each of these ends a sequence, and is its last token"""
    stop_texts: tuple[str, ...] = ()
    """each of these ends a sequence with the token that completes it; more tokens than one may write it"""

    def __post_init__(self) -> None:
        """Raises ValidationError that lists everything that is wrong."""
        mistakes = []
        if self.max_new_tokens < 1:
            mistakes.append(f"max_new_tokens must be at least 1 (got {self.max_new_tokens})")
        if not 0 <= self.temperature < math.inf:
            mistakes.append(f"temperature must be at least 0, and finite (got {self.temperature})")
        if self.top_k is not None and self.top_k < 1:
            mistakes.append(f"top_k must be at least 1 (got {self.top_k}); leave it out to draw among all tokens")
        if not 0 < self.top_p <= 1:
            mistakes.append(f"top_p must be above 0 and at most 1 (got {self.top_p})")
        if "" in self.stop_texts:
            mistakes.append("stop_texts: every text ends with an empty one; leave it out")
        if mistakes:
            raise ValidationError("\n  ".join(["tokens cannot be drawn like this:", *mistakes]))

    @property
    def truncated(self) -> bool:
        """Some tokens may be left out."""
        return self.top_k is not None or self.top_p < 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRequest:
    """One sequence to be sampled."""

    prompt: tuple[int, ...]
    key: tuple[int, ...]
    """the source of its randomness: the same key, weights and prompt draw the same, whatever is sampled beside it"""
    sampling: Sampling = field(default_factory=Sampling)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """One sequence that was sampled; its tuples are of one length."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    versions: tuple[int, ...]
    """the policy version that each token was sampled by"""
    stop: StopReason
    kept: tuple[tuple[int, ...], ...] = ()
    """for each token, those that it was drawn among, ascending; () = all of them, for one token or for the sequence"""


class RewardValidity(StrEnum):
    """Whether a reward may be trained on."""

    VALID = "valid"
    INFRA = "infra"
    """the platform failed, and again in a fresh sandbox: the rollout leaves its group"""
    MASKED = "masked"
    """it leaves its group because the job's policy says so, for being too long"""


MINIMUM = 0.0
"""what is earned where a recipe names no minimum of its own"""
Candidate = str | Mapping[str, Any]
"""what is judged: a text, or {"files": {path: text}, "entry": path}"""


def is_learnable(value: Any) -> bool:
    """A finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """What training sees of a score. `value` is a finite number where it is VALID, and None exactly where it is not;
    everything else raises ValidationError."""

    value: float | None
    validity: RewardValidity = RewardValidity.VALID
    parts: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    detail: str = ""

    def __post_init__(self) -> None:
        valid = self.validity == RewardValidity.VALID
        if valid and not is_learnable(self.value):
            raise ValidationError(
                f"a reward that is valid must be a finite number (got {self.value!r:.100}); one that the platform lost "
                "is Reward(value=None, validity=RewardValidity.INFRA, reason=...)"
            )
        if not valid and self.value is not None:
            raise ValidationError(
                f"a reward that is {self.validity} has no value, for it would be learnt (got {self.value!r:.100}): "
                "give value=None"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing that the policy said, and what it was told then."""

    start: int
    end: int
    """its tokens are those from `start` to before `end` of the trajectory"""
    text: str
    stop: StopReason
    observation: str = ""
    reward: float | None = None
    """reward that the environment gave for the turn"""
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """One rollout. `tokens`, `mask`, `logprobs` and `versions` are of one length.

    mask       1 where the policy chose the token, 0 where it was given (prompt, tool output)
    logprobs   of the sampled distribution; 0.0 where mask is 0
    versions   of the policy that sampled the token; -1 where mask is 0
    """

    prompt_id: str
    sample: int
    tokens: tuple[int, ...]
    mask: tuple[int, ...]
    logprobs: tuple[float, ...]
    versions: tuple[int, ...]
    stop: StopReason
    text: str
    """what was said, for people and scorers"""
    reward: Reward
    kept: tuple[tuple[int, ...], ...] = ()
    """kept token ids of each of `tokens`, as in `Sampled`; () = the whole vocabulary"""
    starts: tuple[int, ...] = ()
    """places where a new sequence begins that knows nothing of what stands before it; the first begins at 0"""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """where its time went: {generate, reward}"""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()
    """turns of an episode; empty for a prompt and its one answer"""

    @property
    def oldest_version(self) -> int:
        """The oldest policy version that chose one of its tokens; -1 = none was chosen."""
        return min((version for version in set(self.versions) if version >= 0), default=-1)

    @property
    def length(self) -> int:
        """Tokens that the policy chose."""
        return sum(self.mask)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The siblings of one prompt, in the order of their sample numbers."""

    number: int
    """its place in the order of admission, from 0"""
    prompt_id: str
    trajectories: tuple[Trajectory, ...]

    @property
    def valid(self) -> tuple[Trajectory, ...]:
        """Trajectories that have a reward."""
        return tuple(trajectory for trajectory in self.trajectories if trajectory.reward.value is not None)

    @property
    def oldest_version(self) -> int:
        """The oldest policy version of any token of the group."""
        return min((t.oldest_version for t in self.trajectories if t.oldest_version >= 0), default=-1)


def single_turn(
    *, prompt_id: str, sample: int, prompt: tuple[int, ...], sampled: Sampled, text: str, reward: Reward,
    seconds: Mapping[str, float],
) -> Trajectory:  # fmt: skip
    """A prompt and its one answer."""
    given = len(prompt)
    return Trajectory(
        prompt_id=prompt_id,
        sample=sample,
        tokens=prompt + sampled.tokens,
        mask=(0,) * given + (1,) * len(sampled.tokens),
        logprobs=(0.0,) * given + sampled.logprobs,
        versions=(-1,) * given + sampled.versions,
        kept=((),) * given + sampled.kept if sampled.kept else (),
        stop=sampled.stop,
        text=text,
        reward=reward,
        seconds=seconds,
    )
