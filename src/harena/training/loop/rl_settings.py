"""How an RL job runs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from harena.core.errors import ValidationError
from harena.core.records.training_plans import AdvantageRule, LossSpec, StalenessPolicy
from harena.training.rewards import Overlong
from harena.training.rollouts.trajectory import Sampling

Decay = Literal["constant", "linear", "cosine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RLSettings:
    """How an RL job runs. There is one optimizer step for each batch."""

    steps: int
    groups_per_step: int = 32
    group_size: int = 8
    """rollouts of a prompt; 2 at least where the advantage compares them: fewer than two rewards are not trained"""
    sampling: Sampling
    loss: LossSpec = field(default_factory=LossSpec)
    advantage: AdvantageRule = "group_std"
    max_steps_off_policy: int = 0
    staleness_policy: StalenessPolicy = "wait"
    buffer_size: int | None = None
    """groups that may be under way beside those of one step; None = as many as max_steps_off_policy allows"""
    learning_rate: float = 1e-3
    warmup_steps: int = 5
    decay: Decay = "linear"
    """how the learning rate falls after the warm-up"""
    final_learning_rate: float = 0.1
    """share of the learning rate that is left at the end; of no effect where it is constant"""
    max_gradient_norm: float = 1.0
    weight_decay: float = 0.0
    overlong: Overlong = field(default_factory=Overlong)
    """what becomes of answers that were cut off at max_new_tokens; rollouts of one's own have a policy of their own"""
    seed: int = 0
    checkpoint_interval: int = 10
    """steps; there is one after the last, too. Without effect for a loop without checkpoints"""
    weight_sync_interval: int = 1
    """steps after which those that sample get the new weights; checkpoints and evaluations come at its multiples"""
    masked_limit: float = 0.05
    """the job pauses when the platform lost more than this share of the last `masked_window` rollouts"""
    masked_window: int | None = None
    """rollouts; None = those of one step, 64 at least"""

    @property
    def in_lockstep(self) -> bool:
        """Each rollout is sampled by the weights that it trains."""
        return self.max_steps_off_policy == 0

    def __post_init__(self) -> None:
        """Raises ValidationError that lists every number that makes no sense."""
        mistakes = [
            f"{name} must be at least {least} (got {getattr(self, name)})"
            for name, least in {
                "steps": 0, "groups_per_step": 1, "group_size": 1 if self.advantage == "none" else 2,
                "max_steps_off_policy": 0, "warmup_steps": 0, "weight_sync_interval": 1, "checkpoint_interval": 1,
                "learning_rate": 0, "masked_limit": 0, "weight_decay": 0,
            }.items()
            if not getattr(self, name) >= least
        ]  # fmt: skip
        most = self.max_steps_off_policy * self.groups_per_step
        if self.buffer_size is not None and not 0 <= self.buffer_size <= most:
            mistakes.append(f"buffer_size must be from 0 to {most}, by max_steps_off_policy (got {self.buffer_size})")
        if self.masked_window is not None and self.masked_window < 1:
            mistakes.append(f"masked_window must be at least 1 (got {self.masked_window})")
        if not mistakes and self.checkpoint_interval % self.weight_sync_interval:
            mistakes.append(
                f"checkpoint_interval must be a multiple of weight_sync_interval, {self.weight_sync_interval} (got "
                f"{self.checkpoint_interval})"
            )
        if mistakes:
            raise ValidationError("\n  ".join(["these settings cannot be run:", *mistakes]))

    def syncs_after(self, step: int) -> bool:
        """Whether samplers get the weights that step `step`, which counts from 0, has made."""
        return (step + 1) % self.weight_sync_interval == 0 or step + 1 == self.steps

    def identity(self) -> dict[str, Any]:
        """What tells jobs apart. Settings that came later count only where they are used: jobs of earlier versions go
        on."""
        told = asdict(self)
        if self.weight_sync_interval == 1:
            del told["weight_sync_interval"]
        if self.buffer_size is None:
            del told["buffer_size"]
        if not self.loss.critic:
            for name in ("critic", "gae_lambda", "value_coefficient"):
                del told["loss"][name]
        if not self.sampling.stop_texts:
            del told["sampling"]["stop_texts"]
        return told

    def learning_rate_at(self, step: int) -> float:
        """Learning rate of step `step`, which counts from 0."""
        if step < self.warmup_steps:
            return self.learning_rate * (step + 1) / self.warmup_steps
        if self.decay == "constant":
            return self.learning_rate
        share = (step - self.warmup_steps) / max(1, self.steps - self.warmup_steps)
        left = 1 - share if self.decay == "linear" else 0.5 * (1 + math.cos(math.pi * share))
        return self.learning_rate * (self.final_learning_rate + (1 - self.final_learning_rate) * left)

    @property
    def window(self) -> int:
        """`masked_window`, with nothing left open."""
        return self.masked_window or max(64, self.groups_per_step * self.group_size)
