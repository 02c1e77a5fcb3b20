"""The policy, as one rollout talks to it: its tokens grow at their end, and nowhere else."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harena.core.records.result_rows import writable
from harena.scoring.formats.answers import with_opened_reasoning
from harena.training.rollouts.rollout import Policy, RolloutRequest, Seat
from harena.training.rollouts.trajectory import Reward, Sampled, SampleRequest, StopReason, Trajectory, Turn
from harena.training.rollouts.turn_forms import TurnForm


@dataclass(slots=True)
class Conversation:
    """One rollout's tokens. They grow at the end only."""

    tokens: list[int]
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    kept: list[tuple[int, ...]] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def __post_init__(self) -> None:
        given, self.tokens = self.tokens, []
        self.told(given)

    def told(self, tokens: Sequence[int]) -> None:
        """Tokens that the policy did not choose."""
        self.tokens += tokens
        self.mask += [0] * len(tokens)
        self.logprobs += [0.0] * len(tokens)
        self.versions += [-1] * len(tokens)
        self.kept += [()] * len(tokens)

    def said(self, sampled: Sampled, text: str) -> None:
        """A turn of the policy's."""
        start = len(self.tokens)
        self.tokens += sampled.tokens
        self.mask += [1] * len(sampled.tokens)
        self.logprobs += sampled.logprobs
        self.versions += sampled.versions
        self.kept += sampled.kept or [()] * len(sampled.tokens)
        self.turns.append(Turn(start=start, end=len(self.tokens), text=text, stop=sampled.stop))


class EpisodeEndedError(Exception):
    """The policy has nothing more to say: `stop` tells why. Let it through."""

    def __init__(self, stop: StopReason) -> None:
        super().__init__(stop.value)
        self.stop = stop


class Turns:
    """The policy, as one rollout talks to it."""

    def __init__(self, request: RolloutRequest, policy: Policy, seat: Seat, form: TurnForm) -> None:
        self.conversation = Conversation(list(request.prompt))
        self.seconds = 0.0
        """spent on sampling"""
        self._request = request
        self._policy = policy
        self._seat = seat
        self._form = form
        self.said: list[str] = []
        """what the policy said so far, turn by turn; where the template has opened a reasoning that a turn never ends,
        with the mark that opened it in front"""

    async def say(self) -> str:
        """The policy's next turn. Raises EpisodeEndedError where there is no room for one, or where it was cut off."""
        room = self._policy.context_length - len(self.conversation.tokens)
        if room < 1:
            raise EpisodeEndedError(StopReason.CONTEXT_OVERFLOW)
        sampling = self._policy.sampling
        most = min(room, sampling.max_new_tokens)
        key = (*self._request.key[:-1], len(self.conversation.turns))
        began = time.perf_counter()
        sampled = await self._seat.sample(
            SampleRequest(
                prompt=tuple(self.conversation.tokens), key=key, sampling=replace(sampling, max_new_tokens=most)
            )
        )
        self.seconds += time.perf_counter() - began
        text = self._policy.tokenizer.decode(sampled.tokens)
        self.conversation.said(sampled, text)
        before = self._form.after if len(self.said) else self._request.row.prompt
        text = with_opened_reasoning(before, text)
        self.said.append(text)
        if sampled.stop == StopReason.LENGTH:
            raise EpisodeEndedError(
                StopReason.LENGTH if most == sampling.max_new_tokens else StopReason.CONTEXT_OVERFLOW
            )
        return text

    def tell(self, observation: str, *, reward: float | None = None, parts: Mapping[str, float] | None = None) -> None:
        """What the policy reads before its next turn, and what its last turn earned."""
        turns, observation = self.conversation.turns, writable(observation)
        if turns:
            turns[-1] = replace(turns[-1], observation=observation, reward=reward, parts=dict(parts or {}))
        if observation:
            self.conversation.told(self._form.tokens(self._policy.tokenizer, observation))


def trajectory(
    request: RolloutRequest, turns: Turns, stop: StopReason, reward: Reward, seconds: Mapping[str, float]
) -> Trajectory:
    """The record of what was said and told."""
    spoken = turns.conversation
    return Trajectory(
        prompt_id=request.row.id,
        sample=request.sample,
        tokens=tuple(spoken.tokens),
        mask=tuple(spoken.mask),
        logprobs=tuple(spoken.logprobs),
        versions=tuple(spoken.versions),
        kept=tuple(spoken.kept) if any(spoken.kept) else (),
        stop=stop,
        text="".join(turn.text + turn.observation for turn in spoken.turns),
        reward=reward,
        seconds=seconds,
        turns=tuple(spoken.turns),
    )
