"""From a request and what it refers to, to a plan with nothing left open. Pure.

Defaults, where a request leaves a number out:

    learning_rate        shipped model: SFT 3e-3, RL 1e-3; adapters (LoRA): 1e-4; all weights of another model: SFT
                         2e-5, RL 2e-6; half of it for importance_sampling, which is not clipped
    tuning               full for shipped models, else lora with rank 16 and alpha twice the rank, on all linear layers
    batch_size           SFT 16 rows; RL 32 prompts, each with a group of 8; with the num_rollouts of backend `tinker`,
                         which are those of a step, as many prompts, and 8 at most
    steps                SFT one epoch; RL one pass over the prompts, and 100 at the least
    advantage            group_std; group_mean for importance_sampling; none for groups of one and with a critic
    loss_agg             token; sequence for gspo
    clip_low, clip_high  as `harena.training.loop.algorithms` has them for each algorithm
    temperature          1.0; top_p 1; top_k all
    max_new_tokens       128; of a model with a chat template 1024; more where a row's own solution is longer; at most
                         half of what the longest prompt leaves of the model's context, where that is more than 128
    max_grad_norm        1.0; final_learning_rate 0.1; weight_decay 0
    warmup_steps         a tenth of the steps, at most 5 (RL) or 20 (SFT)
    checkpoint_interval  10, and 2 are kept; eval_interval 10, eval_max_rollouts 128, held_out nothing,
                         also of a single prompt; both intervals the next multiple of weight_sync_interval, 1
    reward_recipe        of a task task_verifier_v1, or task_env_verifier_v1 where its flag or script is in the
                         environment; of trajectories trajectory_imitation_v1; of prompts what all rows have: scoring
                         code_tests_v1, the answers of GSM8K gsm8k_v1, answers in a box math_v1, an expected output
                         exact_match_v1, else row_reward_v1 (which is refused)
                         in a world world_episode_v1, by world_reward (heuristic_v1), with 8 turns
    extract              of code_tests_v1, where the model has a chat template: fenced
    execution_mode       sync; of backend `ray` async, which is one_step_off_async; its colocated is sync, its
                         distributed is async, and the workers compute parts of each step's gradient
    buffer_size          batch_size; a larger one lets groups be staler, by a step for each batch_size
    num_rollout_workers  as many as the nodes of the Ray cluster have slots for
    max_sequence_length  2048, and no more than the model has; too_long left
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from harena.core.records.objects import TaskDescription
from harena.core.records.training_plans import (
    AdvantageRule,
    AlgorithmName,
    RewardPlan,
    RLPlan,
    SFTPlan,
    TuningKind,
    TuningPlan,
)
from harena.training.loop.algorithms import loss_spec
from harena.training.loop.rl import RLSettings
from harena.training.loop.sft import SFTSettings
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import RLConfig, RLRequest, SFTRequest, TrainingConfig
from harena.training.rewards.recipe import overlong_of
from harena.training.rollouts.trajectory import Sampling

PROMPTS, GROUP_SIZE, LEAST_RL_STEPS = 32, 8, 100
NEW_TOKENS, NEW_TOKENS_IN_CHAT = 128, 1024
_RATES = {
    ("sft", "shipped"): 3e-3, ("sft", "lora"): 1e-4, ("sft", "full"): 2e-5,
    ("rl", "shipped"): 1e-3, ("rl", "lora"): 1e-4, ("rl", "full"): 2e-6,
}  # fmt: skip
_RATE_OF: dict[AlgorithmName, float] = {"importance_sampling": 0.5}
_ADVANTAGES: dict[AlgorithmName, AdvantageRule] = {"importance_sampling": "group_mean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFacts:
    """What is known of a job's texts before its model is loaded."""

    in_chat: bool = False
    """the model has a chat template: it answers with explanations and fenced code"""
    longest_prompt: int = 0
    """tokens, at least; 0 = it is not known"""
    longest_solution: int = 0
    """tokens of the longest answer that the rows say is right; 0 = they say none, or it is not known"""


def sft_settings(plan: SFTPlan) -> SFTSettings:
    """What the loop is told."""
    return SFTSettings(
        steps=plan.steps,
        epochs=plan.epochs,
        batch_size=plan.batch_size,
        gradient_accumulation_steps=plan.gradient_accumulation_steps,
        checkpoint_interval=plan.checkpoint_interval,
        eval_interval=plan.eval_interval,
        learning_rate=plan.learning_rate,
        warmup_steps=plan.warmup_steps,
        final_learning_rate=plan.final_learning_rate,
        max_gradient_norm=plan.max_gradient_norm,
        weight_decay=plan.weight_decay,
        seed=plan.seed,
    )


def rl_settings(plan: RLPlan, stop_tokens: tuple[int, ...]) -> RLSettings:
    """What the loop is told; `stop_tokens`: those that the tokenizer ends an answer with."""
    return RLSettings(
        steps=plan.steps,
        groups_per_step=plan.groups_per_step,
        group_size=plan.group_size,
        sampling=Sampling(
            max_new_tokens=plan.max_new_tokens,
            temperature=plan.temperature,
            top_p=plan.top_p,
            top_k=plan.top_k,
            stop_tokens=stop_tokens,
            stop_texts=tuple(plan.stop),
        ),
        loss=plan.loss,
        advantage=plan.advantage,
        max_steps_off_policy=plan.max_steps_off_policy,
        staleness_policy=plan.staleness_policy,
        buffer_size=plan.buffer_size,
        learning_rate=plan.learning_rate,
        warmup_steps=plan.warmup_steps,
        final_learning_rate=plan.final_learning_rate,
        max_gradient_norm=plan.max_gradient_norm,
        weight_decay=plan.weight_decay,
        overlong=overlong_of(plan.overlong, plan.max_new_tokens),
        seed=plan.seed,
        checkpoint_interval=plan.checkpoint_interval,
        weight_sync_interval=plan.weight_sync_interval,
    )


def plan_of(
    request: SFTRequest | RLRequest,
    resolved: ResolvedReferences,
    texts: TextFacts | None = None,
    *,
    cluster: bool = False,
) -> SFTPlan | RLPlan:
    """The plan. `texts`: what is known of the job's, see `harena.training.requests.text_checks`; `cluster`: this node
    has a Ray cluster, which backend `ray` is then."""
    return (
        _rl_plan(request, resolved, texts or TextFacts(), on_cluster=cluster and request.backend == "ray")
        if isinstance(request, RLRequest)
        else _sft_plan(request, resolved)
    )


def _sft_plan(request: SFTRequest, resolved: ResolvedReferences) -> SFTPlan:
    config = request.config
    batch, accumulated = config.batch_size or 16, config.gradient_accumulation_steps or 1
    epochs = 1 if config.steps is None and config.epochs is None else config.epochs
    sources = [*filter(None, [resolved.find("config.dataset_ref")])]
    sources += resolved.trajectories
    passes = math.ceil(sum(ref.rows for ref in sources) / (batch * accumulated)) * (epochs or 1)
    steps = passes if config.steps is None else min(config.steps, passes) if epochs else config.steps
    context = _context_length(resolved)
    return SFTPlan(
        **_for_every_plan(config, resolved, "sft", 1.0, steps=steps, most_warm_up=20),
        steps=config.steps,
        epochs=epochs,
        batch_size=batch,
        gradient_accumulation_steps=accumulated,
        max_sequence_length=min(config.max_sequence_length or 2048, context or 2**31),
        too_long=config.too_long or "left",
    )


def _rl_plan(request: RLRequest, resolved: ResolvedReferences, texts: TextFacts, *, on_cluster: bool) -> RLPlan:
    config = request.config
    groups, group_size = step_of(config, request.backend)
    steps = config.steps or max(LEAST_RL_STEPS, math.ceil(_prompts(resolved) / groups))
    staleness = _staleness(config, groups, on_cluster=on_cluster)
    algorithm = config.algorithm
    loss = loss_spec(
        algorithm,
        max_steps_off_policy=staleness,
        clip_low=config.clip_low,
        clip_high=config.clip_high,
        correction=config.correction or "bypass",
        correction_cap=config.correction_cap,
        kl_coefficient=config.kl_coef or 0.0,
        aggregation=config.loss_agg or ("sequence" if algorithm == "gspo" else "token"),
        critic=config.critic or False,
        gae_lambda=config.gae_lambda,
    )
    alone = group_size == 1 or loss.critic  # rollouts are not compared with each other
    # where a world is sampled first, max_episode_steps is said of the episodes that are sampled
    steps_of_rollouts = config.max_episode_steps if config.world_runtime_id is None else None
    turns = [count for count in (config.max_turns, steps_of_rollouts) if count is not None]
    return RLPlan(
        **_for_every_plan(config, resolved, "rl", _RATE_OF.get(algorithm, 1.0), steps=steps, most_warm_up=5),
        steps=steps,
        groups_per_step=groups,
        group_size=group_size,
        weight_sync_interval=config.weight_sync_interval or 1,
        loss=loss,
        advantage=config.advantage or ("none" if alone else _ADVANTAGES.get(algorithm, "group_std")),
        max_steps_off_policy=staleness,
        staleness_policy=config.staleness_policy or "wait",
        max_new_tokens=config.max_new_tokens or _answer_length(resolved, texts),
        temperature=1.0 if config.temperature is None else config.temperature,
        top_p=config.top_p or 1.0,
        top_k=config.top_k,
        stop=list(config.stop or ()),
        overlong=config.overlong or "zero",
        max_turns=min(turns) if turns else None,
        offline=config.offline or False,
        baseline=config.baseline or "prompt",
        held_out=held_out_share(config, resolved),
        eval_max_rollouts=config.eval_max_rollouts or 128,
        reward=_with_extraction(_reward(config, resolved), texts),
        backend="ray" if on_cluster else "local",
        rollout_workers=config.num_rollout_workers,
        buffer_size=config.buffer_size,
        data_parallel=on_cluster and config.execution_mode == "distributed",
    )


def step_of(config: RLConfig, backend: str) -> tuple[int, int]:
    """(prompts of a step, rollouts of each). `num_rollouts` are those of a step where the backend is `tinker`, and
    those of a prompt elsewhere."""
    if backend != "tinker" or config.num_rollouts is None:
        return config.batch_size or PROMPTS, config.group_size or config.num_rollouts or GROUP_SIZE
    prompts = min(config.num_rollouts, config.batch_size or GROUP_SIZE)
    return prompts, config.num_rollouts // prompts


def _for_every_plan(
    config: TrainingConfig, resolved: ResolvedReferences, trainer: str, share: float, *, steps: int, most_warm_up: int
) -> dict[str, Any]:
    model = resolved.find("model")
    shipped = model is not None and model.shipped is not None
    kind: TuningKind = config.tuning or ("full" if shipped and not _asks_for_adapters(config) else "lora")
    rank = config.lora_rank or 16
    modules = config.lora_target_modules
    lora = TuningPlan(kind="lora", rank=rank, alpha=config.lora_alpha or 2 * rank, target_modules=modules)
    rate = _RATES[trainer, "shipped" if shipped else kind] * share
    return {
        "seed": config.seed or 0,
        "learning_rate": rate if config.learning_rate is None else config.learning_rate,
        "final_learning_rate": 0.1 if config.final_learning_rate is None else config.final_learning_rate,
        "warmup_steps": min(most_warm_up, steps // 10) if config.warmup_steps is None else config.warmup_steps,
        "max_gradient_norm": config.max_grad_norm or 1.0,
        "weight_decay": config.weight_decay or 0.0,
        "tuning": lora if kind == "lora" else TuningPlan(kind="full"),
        "checkpoint_interval": config.checkpoint_interval or _multiple(config, 10),
        "keep_checkpoints": config.keep_checkpoints or 2,
        "eval_interval": config.eval_interval or _multiple(config, 10) if _is_evaluated(config, resolved) else None,
    }


def _multiple(config: TrainingConfig, steps: int) -> int:
    """About so many steps: sampled weights and trained ones are the same then."""
    every = (config.weight_sync_interval or 1) if isinstance(config, RLConfig) else 1
    return every * math.ceil(steps / every)


def held_out_share(config: TrainingConfig, resolved: ResolvedReferences) -> float | None:
    """The share of the prompts that is held out; None = none is asked for, or of a single prompt none can be."""
    if not isinstance(config, RLConfig) or config.held_out is None:
        return None
    return config.held_out if _prompts(resolved) > 1 else None


def _is_evaluated(config: TrainingConfig, resolved: ResolvedReferences) -> bool:
    return config.eval_dataset_ref is not None or held_out_share(config, resolved) is not None


def _asks_for_adapters(config: TrainingConfig) -> bool:
    return any((config.lora_rank, config.lora_alpha, config.lora_target_modules))


def _staleness(config: RLConfig, groups: int, *, on_cluster: bool) -> int:
    mode = config.execution_mode or ("async" if on_cluster else "sync")
    if mode in ("sync", "colocated"):
        return 0
    of_buffer = None if config.buffer_size is None else math.ceil(config.buffer_size / groups)
    return config.max_steps_off_policy or of_buffer or 1


def _reward(config: RLConfig, resolved: ResolvedReferences) -> RewardPlan | None:
    """The recipe that is asked for, or that belongs to what there is: a task, trajectories, or the rows' own fields."""
    if config.offline:
        return None
    if config.world_manifest_id is not None and config.world_runtime_id is None:
        given = config.world_reward
        asked = {} if given is None else {"policy": given.name, "values": given.params}
        return RewardPlan(name="world_episode_v1", params=asked)
    if config.reward_recipe is not None:
        return RewardPlan(name=config.reward_recipe.name, params=config.reward_recipe.params)
    return RewardPlan(name=_recipe_of(config, resolved), params={})


def _recipe_of(config: RLConfig, resolved: ResolvedReferences) -> str:
    if (task := resolved.find("config.task_ref")) is not None:
        in_environment = isinstance(task.described, TaskDescription) and task.described.method.startswith("env_")
        return "task_env_verifier_v1" if in_environment else "task_verifier_v1"
    if config.trajectory_dataset_refs or config.world_runtime_id is not None:
        return "trajectory_imitation_v1"
    prompts = resolved.prompts
    return (prompts and prompts.used and prompts.used.reward_recipe) or "row_reward_v1"


def _answer_length(resolved: ResolvedReferences, texts: TextFacts) -> int:
    wanted = max(NEW_TOKENS_IN_CHAT if texts.in_chat else NEW_TOKENS, texts.longest_solution)
    if (context := _context_length(resolved)) is None:
        return wanted
    return max(NEW_TOKENS, min(wanted, (context - texts.longest_prompt) // 2))


def _with_extraction(reward: RewardPlan | None, texts: TextFacts) -> RewardPlan | None:
    """The recipe, which takes programs out of a chat model's answers unless it is asked otherwise."""
    if reward is None or not texts.in_chat:
        return reward
    if reward.name == "code_tests_v1":
        return replace(reward, params={"extract": "fenced", **reward.params})
    if reward.name == "composite_v1":
        parts = {part: _part_with_extraction(written) for part, written in reward.params["parts"].items()}
        return replace(reward, params={**reward.params, "parts": parts})
    return reward


def _part_with_extraction(part: Mapping[str, Any]) -> Mapping[str, Any]:
    params = part.get("params", {})
    if part["recipe"] == "composite_v1" and isinstance(params.get("parts"), Mapping):
        parts = {name: _part_with_extraction(inner) for name, inner in params["parts"].items()}
        return {**part, "params": {**params, "parts": parts}}
    if part["recipe"] != "code_tests_v1":
        return part
    return {**part, "params": {"extract": "fenced", **params}}


def _prompts(resolved: ResolvedReferences) -> int:
    prompts = resolved.prompts
    refs = resolved.trajectories if prompts is None else (prompts,)
    return sum(ref.rows for ref in refs)


def _context_length(resolved: ResolvedReferences) -> int | None:
    model = resolved.find("model")
    return None if model is None else model.context_length
