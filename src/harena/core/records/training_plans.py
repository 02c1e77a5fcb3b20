"""What a training job does, with nothing left open: made of its request, what that refers to, and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from harena.core.records.record import Record

AlgorithmName = Literal["grpo", "ppo", "importance_sampling", "cispo", "gspo"]
Correction = Literal["bypass", "decoupled"]
Aggregation = Literal["token", "sequence", "constant"]
AdvantageRule = Literal["group_mean", "group_std", "rloo", "none"]
StalenessPolicy = Literal["wait", "readmit"]
OverlongPolicy = Literal["zero", "score", "mask", "soft"]
TuningKind = Literal["lora", "full"]
Baseline = Literal["prompt", "dataset"]
PlannedBackend = Literal["local", "ray"]
TooLong = Literal["left", "right", "leave_out", "error"]

DEFAULT_CORRECTION_CAP = 2.0
"""cap of prox / mu"""
DEFAULT_GAE_LAMBDA = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan(Record):
    """Which weights are trained."""

    kind: TuningKind
    """full = all weights; lora = adapters beside them"""
    rank: int | None = None
    """rank of the adapters; null = there are none"""
    alpha: int | None = None
    """scale of the adapters, divided by their rank; null = there are none"""
    target_modules: list[str] | None = None
    """names of the layers that have adapters; null = every linear layer but the last"""

    @property
    def in_words(self) -> str:
        """What is trained, as people say it."""
        return "all weights" if self.kind == "full" else f"LoRA of rank {self.rank}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSpec(Record):
    """A loss; the formulas are those of `harena.training.loop.algorithms`."""

    algorithm: AlgorithmName = "grpo"
    """its formula"""
    clip_low: float | None = 0.2
    """ratios are clipped at 1 less this; null = not on that side"""
    clip_high: float | None = 0.28
    """ratios are clipped at 1 and this; null = not on that side"""
    correction: Correction = "bypass"
    """how weights that sampled and weights that are trained are set against each other"""
    correction_cap: float = DEFAULT_CORRECTION_CAP
    """the most that `decoupled` multiplies a token's term by"""
    kl_coefficient: float = 0.0
    """weight of the divergence from the reference weights; 0 = none are kept"""
    aggregation: Aggregation = "token"
    """what the sum over tokens is divided by"""
    critic: bool = False
    """advantages are made by a critic that is trained beside the policy; see `harena.training.engines.critic`"""
    gae_lambda: float = DEFAULT_GAE_LAMBDA
    """with a critic: how far advantages look ahead; 1 = to the reward at the end"""
    value_coefficient: float = 0.5
    """with a critic: weight of its loss"""

    @property
    def needs_prox(self) -> bool:
        """It asks for log-probabilities under the weights at the start of the step."""
        return self.correction == "decoupled"

    @property
    def needs_reference(self) -> bool:
        """It asks for log-probabilities under the reference weights."""
        return self.kl_coefficient > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardPlan(Record):
    """The recipe that rewards come from."""

    name: str
    """a built-in recipe, such as code_tests_v1, or one that was registered"""
    params: Mapping[str, Any]
    """its parameters, as the request or the defaults have them"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan(Record):
    """What every plan says."""

    seed: int
    """seed of the order of rows, of sampling and of new adapters"""
    learning_rate: float
    """the highest, which is reached after the warm-up"""
    final_learning_rate: float
    """share of it that is left at the last step"""
    warmup_steps: int
    """steps in which the learning rate rises from 0"""
    max_gradient_norm: float
    """gradients are scaled down to it"""
    weight_decay: float
    """weight decay of AdamW"""
    tuning: TuningPlan
    """which weights are trained"""
    checkpoint_interval: int
    """steps from one checkpoint to the next"""
    keep_checkpoints: int
    """number of the newest that are kept"""
    eval_interval: int | None
    """steps from one evaluation to the next; null = nothing is evaluated"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SFTPlan(TrainingPlan):
    """What an SFT job does."""

    trainer_type: Literal["sft"] = "sft"
    """tells the plans apart"""
    steps: int | None
    """null = as many as `epochs` takes; with both, whichever ends first"""
    epochs: int | None
    """passes over the rows; null = `steps` alone ends it"""
    batch_size: int
    """rows of a micro-batch"""
    gradient_accumulation_steps: int
    """micro-batches of a step"""
    max_sequence_length: int
    """tokens of a row"""
    too_long: TooLong
    """what is done with a row that has more: cut at its left or right, left out, or the job fails"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RLPlan(TrainingPlan):
    """What an RL job does."""

    trainer_type: Literal["rl"] = "rl"
    """tells the plans apart"""
    steps: int
    """updates of the weights"""
    groups_per_step: int
    """prompts of a step"""
    group_size: int
    """rollouts of a prompt; 1 = they are compared with nothing"""
    weight_sync_interval: int = 1
    """steps from one publication of new weights to those that sample to the next"""
    loss: LossSpec
    """what is minimised"""
    advantage: AdvantageRule
    """how advantages are made of a group's rewards"""
    max_steps_off_policy: int
    """updates that the trained weights may be ahead of those that sampled; 0 = none"""
    staleness_policy: StalenessPolicy
    """what is done with a rollout that would come too late: the trainer waits, or it is begun anew"""
    max_new_tokens: int
    """the most tokens of an answer"""
    temperature: float
    """temperature of sampling"""
    top_p: float
    """share of the probability that tokens are drawn from; 1 = all tokens"""
    top_k: int | None
    """number of the likeliest tokens that are drawn from; null = all tokens"""
    stop: list[str]
    """texts that end an answer, beside the tokenizer's own end"""
    overlong: OverlongPolicy
    """what an answer that was cut off earns"""
    max_turns: int | None
    """null = as the reward recipe has it"""
    offline: bool
    """it trains on recorded rollouts and their rewards"""
    baseline: Baseline
    """offline: rewards are set against those of the same prompt, or of the whole data set"""
    held_out: float | None = None
    """share of the prompts that is evaluated and not learned from; null = none"""
    eval_max_rollouts: int
    """the most rollouts of one evaluation"""
    backend: PlannedBackend = "local"
    """where rollouts are made: by the worker of the job, or by workers on the nodes of a Ray cluster"""
    rollout_workers: int | None = None
    """workers on the cluster; null = as many as its nodes have slots for"""
    buffer_size: int | None = None
    """groups that may be under way beside those of one step; null = as many as max_steps_off_policy allows"""
    data_parallel: bool = False
    """the workers on the cluster compute parts of each step's gradient, too"""
    reward: RewardPlan | None
    """null = offline, where the recorded rewards are taken"""

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Build the plan from its stored form, including that of an earlier version: its jobs go on in this one."""
        fields = {_RENAMED.get(name, name): value for name, value in given.items()}
        if isinstance(reward := fields.get("reward"), list | tuple):
            fields["reward"] = dict(zip(("name", "params"), reward, strict=True))
        return super(RLPlan, cls).from_dict(fields)


_RENAMED = {"max_staleness": "max_steps_off_policy"}
"""name of a field in plans that earlier versions have stored -> its name now"""


def plan_from_dict(written: Mapping[str, Any]) -> SFTPlan | RLPlan:
    """The plan that `to_dict` gave. Raises ValueError, which names the field."""
    return (RLPlan if written.get("trainer_type") == "rl" else SFTPlan).from_dict(written)
