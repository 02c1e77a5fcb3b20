"""What jobs are asked for, as types: editors refuse fields that are not there, and unknown words.

Made by `python scripts/config_types.py` of the models by which nodes read requests. They are for type checkers: what
does not fit is refused when it is sent, with every mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict


class VersionRef(TypedDict, total=False):
    """A version of something that is stored."""

    name: str
    version: str


class NamedPolicy(TypedDict, total=False):
    """A reward recipe, by name."""

    name: str
    params: dict[str, Any]


class TrainingConfig(TypedDict, total=False):
    """What SFT and RL have in common."""

    trajectory_dataset_refs: list[VersionRef | str]
    eval_dataset_ref: VersionRef | str | None
    skip_bad_rows: bool | None
    """rows of data sets that cannot be used are left out, counted and named, in place of refusing the job"""
    steps: int | None
    """optimizer steps"""
    batch_size: int | None
    """SFT: rows of one micro-step; RL: prompts of one step, each with its group of rollouts"""
    learning_rate: float | None
    lora_rank: int | None
    lora_alpha: int | None
    """adapters are scaled by lora_alpha / lora_rank"""
    checkpoint_interval: int | None
    """steps"""
    tuning: Literal["lora", "full"] | None
    lora_target_modules: list[str] | None
    """last steps of the modules' names, as q_proj"""
    max_grad_norm: float | None
    weight_decay: float | None
    warmup_steps: int | None
    final_learning_rate: float | None
    """share of the learning rate at the last step; 1 = constant"""
    seed: int | None
    keep_checkpoints: int | None
    """the newest that stay; the best and the last stay anyway"""
    eval_interval: int | None
    """steps"""


class SFTConfig(TrainingConfig, total=False):
    """An SFT job's."""

    dataset_ref: VersionRef | str | None
    max_sequence_length: int | None
    """tokens of one row"""
    gradient_accumulation_steps: int | None
    epochs: int | None
    too_long: Literal["left", "right", "leave_out", "error"] | None
    """what becomes of longer rows: they lose their beginning ("left") or end, are left out, or are an error"""


class RLConfig(TrainingConfig, total=False):
    """An RL job's."""

    algorithm: Literal["grpo", "ppo", "importance_sampling", "cispo", "gspo"]
    prompt_dataset_ref: VersionRef | str | None
    prompt_split: str | None
    """split of a prompt data set that has several"""
    scenarios_ref: str | None
    """stored scenarios whose problems are the prompts, in place of a prompt data set: NAME = the newest version, or
    NAME@2"""
    task_ref: str | None
    """NAME = the newest version, or NAME@VERSION"""
    reward_recipe: NamedPolicy | None
    execution_mode: Literal["sync", "one_step_off_async", "fully_async", "async", "colocated", "distributed"] | None
    max_steps_off_policy: int | None
    """the most that a group may be stale"""
    staleness_policy: Literal["wait", "readmit"] | None
    num_rollouts: int | None
    """with backend `tinker` the rollouts of a step, for all of its prompts together; elsewhere group_size under another
    name"""
    group_size: int | None
    """rollouts of each prompt, which are compared with each other"""
    max_turns: int | None
    max_episode_steps: int | None
    """an episode's steps are its turns: the smaller of both holds"""
    weight_sync_interval: int | None
    """steps after which those that sample get the new weights"""
    max_new_tokens: int | None
    """most new tokens of one turn"""
    temperature: float | None
    top_p: float | None
    top_k: int | None
    stop: list[str] | None
    """texts that end an answer, each of one token or several"""
    overlong: Literal["zero", "score", "mask", "soft"] | None
    """what is cut off at max_new_tokens earns nothing, or is scored like any other"""
    held_out: float | None
    """share of the prompts that is not learned from but evaluated, in place of eval_dataset_ref"""
    eval_max_rollouts: int | None
    """prompts of the evaluation that are looked at"""
    loss_agg: Literal["token", "sequence", "constant"] | None
    clip_low: float | None
    clip_high: float | None
    advantage: Literal["group_mean", "group_std", "rloo", "none"] | None
    kl_coef: float | None
    critic: bool | None
    """ppo: advantages are made by a value head that is trained beside the policy"""
    gae_lambda: float | None
    """with a critic: how far advantages look ahead"""
    correction: Literal["bypass", "decoupled"] | None
    correction_cap: float | None
    offline: bool | None
    """learn from the recorded actions of trajectory_dataset_refs and their rewards; nothing is sampled"""
    baseline: Literal["prompt", "dataset"] | None
    """baseline of an offline job: an episode's reward is compared with those of its prompt, or with all"""
    num_rollout_workers: int | None
    """workers on the nodes of a Ray cluster, each with a sampler and sandboxes of its own"""
    buffer_size: int | None
    """groups that may be under way on a Ray cluster beside those of one step"""
    world_manifest_id: str | None
    world_runtime_id: str | None
    world_agent_name: str | None
    world_goal: str | None
    world_reward: NamedPolicy | None


class TrainingFields(TypedDict, total=False):
    """What every training job is asked for."""

    trainer_type: Literal["sft", "rl"]
    model: str
    backend: Literal["local", "tinker", "ray"]
    name: str | None
    project_ref: str | None
    run_ref: str | None
    capability_ref: VersionRef | None
    tags: list[str]
    config: SFTConfig | RLConfig


class BenchmarkConfig(TypedDict, total=False):
    """How a job runs."""

    concurrency: int
    """runs at one time, at most; the machine may allow fewer"""
    timeout_seconds: float
    """time of one candidate, as `harena.scoring.scorers.time_limits` says, unless its scenario says less"""
    retry_attempts: int
    """further tries after the platform (never the candidate) failed"""
    attempts: int
    """times that each scenario is run and scored"""
    retry_on: Sequence[
        Literal[
            "platform",
            "wrong_answer",
            "partial",
            "exception",
            "timeout",
            "memory_limit",
            "output_limit",
            "exited_early",
            "protocol",
            "scorer_rejected",
            "scorer_error",
        ]
    ]
    """what is tried again: failures of the platform, always; beside them, only if asked, reasons of scored results"""
    run_timeout_seconds: float | None
    """wall time of one try of one run, with its sandboxes and its scorer; longer is a failure of the platform"""
    job_timeout_seconds: float | None
    """time that the job may run, all nodes that ran it together; then it ends as timed_out, with its results so far"""
    priority: int
    """jobs of a higher priority get the node's free slots first"""
    require_trust: Literal["separate", "shared"] | None
    """"separate": refuse contracts whose verdict is computed beside the candidate; "shared" or None: take all"""
    rescore_fraction: float
    """share of the runs that are executed and scored once more, in fresh sandboxes; see `rescored` of the summary"""
    build_network: str
    """what RUN of the Dockerfiles of task directories may reach: "none", "open", or entries with commas between them"""
    task_network: str | None
    """what candidates and verifiers of task directories in images may reach, likewise; None = as the tasks say"""
    execution: Literal["local", "ray"]
    """where runs are scored: on the job's node, or spread over the nodes of its Ray cluster"""
    skip_bad_rows: bool
    """rows of a data set that have a mistake are left out, counted and named; False = one such row refuses the job"""


class BenchmarkWebhook(TypedDict, total=False):
    """Where a job's end is told."""

    url: str
    """http or https"""
    secret: str | None
    """what deliveries are signed with; None = they are not"""
