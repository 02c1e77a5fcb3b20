"""What a training job is asked for. Strict: an unknown key, a number given as text, a field whose feature does not
exist or that the rest of the request would leave without an effect is an error; all mistakes are listed at once.

    request  {trainer_type: "sft" | "rl", model, config, backend = "local", name = None, capability_ref = None: {name,
              version}, project_ref = None, run_ref = None, tags = []}

             `model` is the version of a stored model or checkpoint as NAME@VERSION, the path of a Hugging Face
             directory, the name of a model in this machine's Hugging Face cache (ORGANISATION/NAME, or
             ORGANISATION/NAME@REVISION), or one of the shipped tiny models (`harena.training.shipped_models`).
             `config` is as SFTConfig or RLConfig. A data set is {name, version}, or simply a path.

Backend `ray` (rl) makes its rollouts on a Ray cluster where the node has one (HARENA_RAY_ADDRESS).

The bodies of hosted training are taken as they are: backend `tinker` with sft or rl, and `ray` with rl. Where there is
no cluster, they run on the backend `local`, take the fields that they have there and no others, and `capability_ref` is
needed. Which of the names a node takes is said by `HARENA_TRAINING_ALIASES` (default `tinker,ray`; empty: none).

What is left out (or null) is filled in by `harena.training.requests.plan`: so that it learns, and for each algorithm.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag
from pydantic import ValidationError as PydanticError

from harena.core import settings
from harena.core.errors import ValidationError
from harena.core.records.training_plans import (
    AdvantageRule,
    Aggregation,
    AlgorithmName,
    Baseline,
    Correction,
    OverlongPolicy,
    StalenessPolicy,
    TooLong,
    TuningKind,
)
from harena.core.training_sources import HEADING
from harena.scoring.bounds import AtMost, StrictShape
from harena.training.requests.mistakes import PATH, STORED, sentences
from harena.training.requests.rules import pair_mistakes, rule_mistakes

Backend = Literal["local", "tinker", "ray"]
TrainerType = Literal["sft", "rl"]
ExecutionMode = Literal["sync", "one_step_off_async", "fully_async", "async", "colocated", "distributed"]
ALIASES = ("tinker", "ray")

Count = Annotated[int | None, Field(default=None, ge=1, le=10**9)]
Rate = Annotated[float | None, Field(default=None, gt=0, le=10, allow_inf_nan=False)]
Amount = Annotated[float | None, Field(default=None, ge=0, le=1e6, allow_inf_nan=False)]
Share = Annotated[float | None, Field(default=None, ge=0, le=1, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1, max_length=1000)]


class RequestPart(StrictShape):
    """A part of a request: strict, and never changed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class VersionRef(RequestPart):
    """A version of something that is stored."""

    name: Text
    version: Text


def _source_kind(given: object) -> str:
    return STORED if isinstance(given, Mapping | VersionRef) else PATH


DatasetSource = Annotated[
    Annotated[VersionRef, Tag(STORED)] | Annotated[Text, Tag(PATH)],
    Discriminator(_source_kind),
]
"""a stored version, or the path of a file or directory"""
DatasetSources = Annotated[list[DatasetSource], AtMost(1000), Field(default_factory=list)]


class NamedPolicy(RequestPart):
    """A reward recipe, by name."""

    name: Text
    params: Annotated[dict[str, Any], AtMost(1000)] = Field(default_factory=dict)


class TrainingConfig(RequestPart):
    """What SFT and RL have in common."""

    trajectory_dataset_refs: DatasetSources
    eval_dataset_ref: DatasetSource | None = None
    skip_bad_rows: bool | None = None
    """rows of data sets that cannot be used are left out, counted and named, in place of refusing the job"""
    steps: Count
    """optimizer steps"""
    batch_size: Count
    """SFT: rows of one micro-step; RL: prompts of one step, each with its group of rollouts"""
    learning_rate: Rate
    lora_rank: Annotated[int | None, Field(default=None, ge=1, le=4096)]
    lora_alpha: Annotated[int | None, Field(default=None, ge=1, le=65536)]
    """adapters are scaled by lora_alpha / lora_rank"""
    checkpoint_interval: Count
    """steps"""
    tuning: TuningKind | None = None
    lora_target_modules: Annotated[list[Text], AtMost(1000, 1000)] | None = Field(default=None, min_length=1)
    """last steps of the modules' names, as q_proj"""
    max_grad_norm: Annotated[float | None, Field(default=None, gt=0, le=1e6, allow_inf_nan=False)]
    weight_decay: Amount
    warmup_steps: Annotated[int | None, Field(default=None, ge=0, le=10**9)]
    final_learning_rate: Share
    """share of the learning rate at the last step; 1 = constant"""
    seed: Annotated[int | None, Field(default=None, ge=0, le=2**31 - 1)]
    keep_checkpoints: Annotated[int | None, Field(default=None, ge=1, le=1000)]
    """the newest that stay; the best and the last stay anyway"""
    eval_interval: Count
    """steps"""


class SFTConfig(TrainingConfig):
    """An SFT job's."""

    dataset_ref: DatasetSource | None = None
    max_sequence_length: Annotated[int | None, Field(default=None, ge=2, le=10**7)]
    """tokens of one row"""
    gradient_accumulation_steps: Annotated[int | None, Field(default=None, ge=1, le=10**6)]
    epochs: Annotated[int | None, Field(default=None, ge=1, le=10**6)]
    too_long: TooLong | None = None
    """what becomes of longer rows: they lose their beginning ("left") or end, are left out, or are an error"""


class RLConfig(TrainingConfig):
    """An RL job's."""

    algorithm: AlgorithmName
    prompt_dataset_ref: DatasetSource | None = None
    prompt_split: Text | None = None
    """split of a prompt data set that has several"""
    scenarios_ref: Text | None = None
    """stored scenarios whose problems are the prompts, in place of a prompt data set: NAME = the newest version, or
    NAME@2"""
    task_ref: Text | None = None
    """NAME = the newest version, or NAME@VERSION"""
    reward_recipe: NamedPolicy | None = None
    execution_mode: ExecutionMode | None = None
    max_steps_off_policy: Annotated[int | None, Field(default=None, ge=1, le=1000)]
    """the most that a group may be stale"""
    staleness_policy: StalenessPolicy | None = None
    num_rollouts: Annotated[int | None, Field(default=None, ge=1, le=10_000)]
    """with backend `tinker` the rollouts of a step, for all of its prompts together; elsewhere group_size under another
    name"""
    group_size: Annotated[int | None, Field(default=None, ge=2, le=10_000)]
    """rollouts of each prompt, which are compared with each other"""
    max_turns: Annotated[int | None, Field(default=None, ge=1, le=10_000)]
    max_episode_steps: Annotated[int | None, Field(default=None, ge=1, le=10_000)]
    """an episode's steps are its turns: the smaller of both holds"""
    weight_sync_interval: Count
    """steps after which those that sample get the new weights"""
    max_new_tokens: Annotated[int | None, Field(default=None, ge=1, le=10**6)]
    """most new tokens of one turn"""
    temperature: Annotated[float | None, Field(default=None, ge=0, le=100, allow_inf_nan=False)]
    top_p: Annotated[float | None, Field(default=None, gt=0, le=1, allow_inf_nan=False)]
    top_k: Annotated[int | None, Field(default=None, ge=1, le=10**6)]
    stop: Annotated[list[Text], AtMost(1000, 1000)] | None = None
    """texts that end an answer, each of one token or several"""
    overlong: OverlongPolicy | None = None
    """what is cut off at max_new_tokens earns nothing, or is scored like any other"""
    held_out: Annotated[float | None, Field(default=None, gt=0, le=0.5, allow_inf_nan=False)]
    """share of the prompts that is not learned from but evaluated, in place of eval_dataset_ref"""
    eval_max_rollouts: Count
    """prompts of the evaluation that are looked at"""
    loss_agg: Aggregation | None = None
    clip_low: Annotated[float | None, Field(default=None, gt=0, lt=1, allow_inf_nan=False)]
    clip_high: Annotated[float | None, Field(default=None, gt=0, le=1e6, allow_inf_nan=False)]
    advantage: AdvantageRule | None = None
    kl_coef: Amount
    critic: bool | None = None
    """ppo: advantages are made by a value head that is trained beside the policy"""
    gae_lambda: Share
    """with a critic: how far advantages look ahead"""
    correction: Correction | None = None
    correction_cap: Annotated[float | None, Field(default=None, ge=1, le=1e6, allow_inf_nan=False)]
    offline: bool | None = None
    """learn from the recorded actions of trajectory_dataset_refs and their rewards; nothing is sampled"""
    baseline: Baseline | None = None
    """baseline of an offline job: an episode's reward is compared with those of its prompt, or with all"""
    num_rollout_workers: Annotated[int | None, Field(default=None, ge=1, le=10_000)]
    """workers on the nodes of a Ray cluster, each with a sampler and sandboxes of its own"""
    buffer_size: Count
    """groups that may be under way on a Ray cluster beside those of one step"""
    world_manifest_id: Text | None = None
    world_runtime_id: Text | None = None
    world_agent_name: Text | None = None
    world_goal: Annotated[str, Field(max_length=65536)] | None = None
    world_reward: NamedPolicy | None = None


class TrainingRequest(RequestPart):
    """What every training job is asked for."""

    trainer_type: TrainerType
    model: Text
    backend: Backend = "local"
    name: Annotated[str | None, Field(default=None, min_length=1, max_length=200)]
    project_ref: Text | None = None
    run_ref: Text | None = None
    capability_ref: VersionRef | None = None
    tags: Annotated[list[Text], AtMost(100, 1000)] = Field(default_factory=list)


class SFTRequest(TrainingRequest):
    """An SFT job as it is asked for."""

    trainer_type: Literal["sft"]
    config: SFTConfig


class RLRequest(TrainingRequest):
    """An RL job as it is asked for."""

    trainer_type: Literal["rl"]
    config: RLConfig


def backend_aliases(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Names of hosted backends that run on this node's own, from `HARENA_TRAINING_ALIASES`. Raises ValidationError."""
    written = settings.TRAINING_ALIASES.read(environ)
    if written is None:
        return ALIASES
    names = tuple(name.strip() for name in written.split(",") if name.strip())
    if unknown := sorted(set(names) - set(ALIASES)):
        raise ValidationError(f"{settings.TRAINING_ALIASES.name}: {', '.join(unknown)} is none of {', '.join(ALIASES)}")
    return names


def parse_request(
    body: Mapping[str, Any], *, aliases: Sequence[str] = ALIASES, cluster: bool = False
) -> SFTRequest | RLRequest:
    """The checked request; `cluster`: this node has a Ray cluster. Raises ValidationError that lists every mistake, one
    to a line."""
    given = dict(body)
    mistakes = pair_mistakes(given, aliases, cluster=cluster)
    if mistakes:  # which fields there are depends on the pair
        raise ValidationError("\n  ".join([HEADING, *mistakes]))
    model = RLRequest if given["trainer_type"] == "rl" else SFTRequest
    request = None
    try:
        request = model.model_validate(given)
    except PydanticError as error:
        mistakes += sentences(error, model)
    known = frozenset((RLConfig if model is RLRequest else SFTConfig).model_fields)
    mistakes += rule_mistakes(given, known, cluster=cluster)
    if mistakes or request is None:
        raise ValidationError("\n  ".join([HEADING, *dict.fromkeys(mistakes)]))
    return request
