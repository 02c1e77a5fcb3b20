"""Requests for training: hosted bodies as they are, every rule with its message, and no field without an effect."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harena.core.errors import ValidationError
from harena.core.records.objects import ResolvedReference, ShippedModelDescription, TaskDescription, UsedSplit
from harena.core.records.training_plans import RewardPlan, RLPlan, SFTPlan, plan_from_dict
from harena.training.requests.plan import plan_of, rl_settings, sft_settings
from harena.training.requests.references import ResolvedReferences
from harena.training.requests.request import RLConfig, RLRequest, SFTConfig, backend_aliases, parse_request
from harena.training.requests.text_checks import held_out_warnings
from harena.training.shipped_models import SHIPPED_MODELS

CAPABILITY = {"name": "solver", "version": "1.0.0"}
PROMPTS = {"name": "sums", "version": "2"}
TINKER_SFT = {
    "name": "nightly", "model": "tiny-llama", "project_ref": "p", "run_ref": None, "capability_ref": CAPABILITY,
    "tags": ["a"], "backend": "tinker", "trainer_type": "sft",
    "config": {
        "dataset_ref": PROMPTS, "trajectory_dataset_refs": [], "eval_dataset_ref": None, "max_sequence_length": 512,
        "batch_size": 8, "gradient_accumulation_steps": 2, "learning_rate": 2e-4, "steps": 20, "epochs": None,
        "lora_rank": 8, "lora_alpha": 16, "checkpoint_interval": 5,
    },
}  # fmt: skip
TINKER_RL = {
    "model": "tiny-llama", "capability_ref": CAPABILITY, "backend": "tinker", "trainer_type": "rl",
    "config": {
        "algorithm": "ppo", "task_ref": None, "world_manifest_id": None, "world_runtime_id": None,
        "world_agent_name": None, "world_goal": None, "prompt_dataset_ref": PROMPTS, "trajectory_dataset_refs": [],
        "reward_recipe": {"name": "contains_v1", "params": {"needle": "42"}}, "world_reward": None,
        "execution_mode": "fully_async", "prompt_split": "train", "steps": 30, "lora_rank": 4, "max_turns": 1,
        "max_episode_steps": 1, "num_rollouts": 4, "batch_size": 8, "learning_rate": 1e-5, "weight_sync_interval": 1,
        "max_steps_off_policy": 2, "max_new_tokens": 64, "temperature": 0.7, "stop": [";"], "checkpoint_interval": 10,
        "eval_dataset_ref": PROMPTS, "eval_interval": 5, "eval_max_rollouts": 16,
    },
}  # fmt: skip
RAY_RL = {
    "model": "tiny-llama", "capability_ref": CAPABILITY, "backend": "ray", "trainer_type": "rl",
    "config": {
        "algorithm": "grpo", "task_ref": "add@1.0.0", "prompt_dataset_ref": PROMPTS, "reward_recipe": None,
        "execution_mode": "async", "max_turns": None, "max_episode_steps": None, "num_rollouts": 4, "batch_size": 8,
        "learning_rate": 1e-6, "num_rollout_workers": None, "buffer_size": None, "checkpoint_interval": None,
    },
}  # fmt: skip
SFT = {"trainer_type": "sft", "model": "tiny-llama", "config": {"dataset_ref": "rows.jsonl"}}
RL = {"trainer_type": "rl", "model": "tiny-llama", "config": {"algorithm": "grpo", "prompt_dataset_ref": "p.jsonl"}}

SAMPLED = {
    "trainer_type": "rl",
    "model": "tiny-llama",
    "config": {"algorithm": "grpo", "world_manifest_id": "w", "world_runtime_id": "scripted"},
}
WORLD = {"trainer_type": "rl", "model": "tiny-llama", "config": {"algorithm": "grpo", "world_manifest_id": "w"}}


def changed(body: dict[str, Any], **config: Any) -> dict[str, Any]:
    """With other fields in `config`; None = left out."""
    fields = {**body["config"], **config}
    return {**body, "config": {name: value for name, value in fields.items() if value is not None}}


def resolved(method: str | None = None) -> ResolvedReferences:
    """A shipped model and 3000 prompts, or rows; a task that is verified by `method`."""
    model = ResolvedReference(
        where="model", kind="model", name="tiny-llama", version=None, digest="0" * 64, path=None,
        described=ShippedModelDescription(shipped=SHIPPED_MODELS["tiny-llama"], context_length=256),
    )  # fmt: skip
    used = UsedSplit(rows=3000, split=None, uses=["sft", "prompts"], reward_recipe=None)
    rows = [
        ResolvedReference(
            where=where, kind="dataset", name="d", version="1", digest="1" * 64, path="/d", described=used
        )
        for where in ("config.dataset_ref", "config.prompt_dataset_ref")
    ]
    task = ResolvedReference(
        where="config.task_ref", kind="task", name="add", version="1.0.0", digest="2" * 64, path="/t",
        described=TaskDescription(instruction="Add.", variables=[], inputs={}, method=method or "", blueprint=None),
    )  # fmt: skip
    return ResolvedReferences(refs=(model, *rows) if method is None else (model, *rows, task))


def mistakes_of(body: dict[str, Any]) -> list[str]:
    """The lines below the heading."""
    with pytest.raises(ValidationError) as raised:
        parse_request(body)
    heading, *lines = str(raised.value).split("\n  ")
    assert heading == "this training job cannot run:"
    return lines


@pytest.mark.parametrize("body", [TINKER_SFT, TINKER_RL, RAY_RL], ids=["tinker+sft", "tinker+rl", "ray+rl"])
def test_hosted_bodies_are_taken_as_they_are(body: dict[str, Any]) -> None:
    """Every field that they have, also those that are null; what is asked for is in the plan."""
    request = parse_request(body)
    given = {name: value for name, value in body["config"].items() if value is not None}
    assert request.model_dump(mode="json")["config"].items() >= given.items()
    plan = plan_of(request, resolved())
    assert plan_from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    if isinstance(plan, RLPlan):
        of_a_step = request.backend == "tinker"
        assert (plan.group_size, plan.groups_per_step) == ((1, 4) if of_a_step else (4, 8))


def test_hosted_numbers_reach_the_plan() -> None:
    """Under their own names, or as the slots and groups that they mean."""
    plan = plan_of(parse_request(TINKER_RL), resolved())
    written = plan.to_dict()
    assert written["max_steps_off_policy"] == 2
    stored = {("max_staleness" if name == "max_steps_off_policy" else name): written[name] for name in written}
    stored["reward"] = [written["reward"]["name"], written["reward"]["params"]]
    assert plan_from_dict(stored) == plan  # a job of an earlier version goes on
    assert (written["max_turns"], written["max_new_tokens"], written["temperature"]) == (1, 64, 0.7)
    assert (written["reward"], written["stop"]) == ({"name": "contains_v1", "params": {"needle": "42"}}, [";"])
    assert (written["eval_interval"], written["eval_max_rollouts"], written["tuning"]["rank"]) == (5, 16, 4)
    sft = plan_of(parse_request(TINKER_SFT), resolved()).to_dict()
    assert sft["tuning"] == {"kind": "lora", "rank": 8, "alpha": 16, "target_modules": None}
    assert (sft["max_sequence_length"], sft["steps"], sft["epochs"]) == (256, 20, None)
    for method, recipe in (("script", "task_verifier_v1"), ("env_flag", "task_env_verifier_v1")):
        plan = plan_of(parse_request(RAY_RL), resolved(method))
        assert isinstance(plan, RLPlan)
        assert plan.reward == RewardPlan(name=recipe, params={})


def test_defaults_learn() -> None:
    """Nothing but an algorithm and prompts: groups, temperature 1, a whole pass, and each algorithm's own clip."""
    for algorithm, clips, rate in (
        ("grpo", (0.2, 0.28), 1e-3), ("ppo", (0.2, 0.2), 1e-3), ("importance_sampling", (None, None), 5e-4),
        ("cispo", (None, 4.0), 1e-3), ("gspo", (3e-4, 4e-4), 1e-3),
    ):  # fmt: skip
        plan = plan_of(parse_request(changed(RL, algorithm=algorithm)), resolved())
        assert isinstance(plan, RLPlan)
        assert (plan.loss.clip_low, plan.loss.clip_high, plan.learning_rate) == (*clips, rate)
        assert (plan.steps, plan.groups_per_step, plan.group_size, plan.temperature) == (100, 32, 8, 1.0)
        assert (plan.tuning.kind, plan.warmup_steps, plan.max_steps_off_policy) == ("full", 5, 0)
    sft = plan_of(parse_request(SFT), resolved())
    assert isinstance(sft, SFTPlan)
    assert (sft.epochs, sft.steps, sft.batch_size, sft.learning_rate, sft.warmup_steps) == (1, None, 16, 3e-3, 18)
    assert sft_settings(sft).steps_for(3000) == 188


def test_a_single_prompt_is_learned_from_and_none_is_held_out() -> None:
    """The job would fail when its model has been loaded; with two, one is held out."""
    asked = parse_request(changed(RL, held_out=0.1))
    for rows, share, every in ((1, None, None), (2, 0.1, 10)):
        refs = [
            replace(ref, described=replace(ref.described, rows=rows)) if isinstance(ref.described, UsedSplit) else ref
            for ref in resolved().refs
        ]
        found = ResolvedReferences(refs=tuple(refs))
        plan = plan_of(asked, found)
        assert isinstance(plan, RLPlan)
        assert (plan.held_out, plan.eval_interval) == (share, every)
        told = [*held_out_warnings(plan, 0.1)]
        assert any("there is one prompt" in warning for warning in told) == (rows == 1)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "trainer_type: missing; it is 'sft' or 'rl'"),
        ({**SFT, "backend": "ray"}, "backend and trainer_type: 'ray' with 'sft'; there are local+sft,"),
        ({**SFT, "backend": "gpu"}, "backend and trainer_type: 'gpu' with 'sft'"),
        ({**SFT, "trainer_type": "dpo"}, "'local' with 'dpo'"),
        ({**TINKER_SFT, "capability_ref": None}, "capability_ref: missing; backend 'tinker' needs one"),
        ({**SFT, "capability_ref": "solver@1.0.0"}, "capability_ref: must be a mapping (got 'solver@1.0.0')"),
        ({**SFT, "colour": 1}, "colour: unknown key; valid keys are trainer_type, model,"),
        ({**SFT, "modell": "x"}, "modell: unknown key; did you mean 'model'?"),
        ({"trainer_type": "sft", "config": SFT["config"]}, "model: missing"),
        ({**SFT, "config": None}, "config: must be a mapping (got None)"),
        (changed(SFT, dataset_ref=None), "config.dataset_ref: missing; give it, or at least one of trajectory_data"),
        (changed(SFT, dataset_ref={"name": "a"}), "config.dataset_ref.version: missing"),
        (changed(SFT, dataset_ref=7), "config.dataset_ref: must be {'name': ..., 'version': ...} or the path of a"),
        (changed(SFT, dataset_ref={"name": "a", "version": "1", "tag": 1}), "config.dataset_ref.tag: unknown key"),
        (changed(SFT, batch_size="8"), "config.batch_size: input should be a valid integer (got '8')"),
        (changed(SFT, batch_size=0), "config.batch_size: input should be greater than or equal to 1 (got 0)"),
        (changed(SFT, learning_rate=0), "config.learning_rate: input should be greater than 0 (got 0)"),
        (changed(SFT, learning_rate=float("nan")), "config.learning_rate: "),
        (changed(SFT, group_size=4), "config.group_size: unknown key"),
        (changed(SFT, lr=1e-4), "config.lr: unknown key; it is called learning_rate here"),
        (changed(SFT, num_generations=4), "config.num_generations: unknown key; valid keys are"),
        (changed(RL, num_generations=4), "config.num_generations: unknown key; it is called group_size here"),
        (changed(RL, max_completion_length=4), "config.max_completion_length: unknown key; it is called max_new_tok"),
        (changed(SFT, lr_schedule="cosine"), "config.lr_schedule: unknown key; the learning rate rises"),
        (changed(SFT, tuning="full", lora_rank=4), "config.lora_rank: tuning 'full' has no adapters"),
        (changed(SFT, eval_interval=4), "config.eval_interval: needs eval_dataset_ref"),
        (changed(SFT, steps=5, warmup_steps=5), "config.warmup_steps: must be below steps, 5 (got 5)"),
        (changed(TINKER_SFT, seed=1), "config.seed: backend 'tinker' has no such field; send backend 'local'"),
        (changed(RL, algorithm=None), "config.algorithm: missing; give one of grpo, ppo, importance_sampling, cispo"),
        (changed(RL, algorithm="reinforce"), "config.algorithm: input should be 'grpo', 'ppo',"),
        (changed(TINKER_RL, algorithm="grpo"), "config.algorithm: backend 'tinker' takes importance_sampling, ppo"),
        (changed(RAY_RL, algorithm="ppo"), "config.algorithm: backend 'ray' takes grpo (got 'ppo')"),
        (changed(RAY_RL, task_ref=None), "config.task_ref: missing; backend 'ray' needs it"),
        (changed(RAY_RL, prompt_dataset_ref=None), "config.prompt_dataset_ref: missing; backend 'ray' needs it"),
        (changed(RAY_RL, execution_mode="sync"), "config.execution_mode: backend 'ray' takes async, colocated, dis"),
        (changed(RAY_RL, execution_mode="distributed"), "config.execution_mode: 'distributed' needs a Ray cluster"),
        (changed(RAY_RL, num_rollout_workers=2), "config.num_rollout_workers: needs a Ray cluster"),
        (changed(RAY_RL, buffer_size=2), "config.buffer_size: needs a Ray cluster, and this node"),
        (changed(RL, buffer_size=2), "config.buffer_size: belongs to backend 'ray'; leave it out"),
        (changed(RL, prompt_dataset_ref=None), "config.prompt_dataset_ref: missing; give it, at least one of"),
        (changed(RL, trajectory_dataset_refs=["t"]), "config.trajectory_dataset_refs: a job learns from prompts or"),
        (changed(RL, prompt_dataset_ref=None, trajectory_dataset_refs=["t"], prompt_split="x"), "config.prompt_split"),
        (changed(RL, execution_mode="fully_async"), "config.max_steps_off_policy: missing; execution_mode 'fully_as"),
        (changed(RL, execution_mode="one_step_off_async", max_steps_off_policy=2), "means 1 (got 2)"),
        (changed(RL, max_steps_off_policy=1), "config.max_steps_off_policy: execution_mode 'sync' has no staleness"),
        (changed(RL, staleness_policy="wait"), "config.staleness_policy: execution_mode 'sync' has no staleness"),
        (changed(RL, eval_max_rollouts=4), "config.eval_max_rollouts: needs eval_dataset_ref or held_out"),
        (changed(RL, held_out=0.1, eval_dataset_ref="e"), "config.held_out: eval_dataset_ref says what is evaluated"),
        (changed(RL, num_rollouts=1), "config.num_rollouts: must be at least 2"),
        (changed(RL, num_rollouts=4, group_size=8), "config.num_rollouts: is group_size under another name, and they"),
        (changed(RL, temperature=0), "config.temperature: must be above 0: all rollouts of a prompt would be the same"),
        (changed(TINKER_RL, num_rollouts=12), "config.num_rollouts: rollouts of a step, the same number for each of"),
        (changed(TINKER_RL, num_rollouts=16, temperature=0), "config.temperature: must be above 0: all rollouts of a"),
        (changed(RL, critic=True), "config.critic belongs to ppo; grpo has none"),
        (changed(RL, gae_lambda=0.9), "config.gae_lambda belongs to a critic; leave it out"),
        (changed(RL, algorithm="ppo", critic=True, advantage="rloo"), "config.advantage: with a critic each token has"),
        (changed(RL, weight_sync_interval=3, checkpoint_interval=10), "config.checkpoint_interval: must be a multiple"),
        (changed(RL, weight_sync_interval=2, eval_dataset_ref="e", eval_interval=5), "config.eval_interval: must be a"),
        (changed(RL, world_manifest_id="w"), "config.prompt_dataset_ref: a job learns in a world or from what this"),
        (changed(WORLD, task_ref="t"), "config.task_ref: a job learns in a world or from what this names"),
        (changed(WORLD, reward_recipe={"name": "exact_match_v1"}), "config.reward_recipe: rewards in a world are"),
        (changed(WORLD, world_runtime_id="w"), "config.world_runtime_id: there is no runtime 'w', only 'scripted'"),
        (changed(WORLD, world_agent_name="greedy"), "config.world_agent_name: needs world_runtime_id"),
        (changed(SAMPLED, world_agent_name="w"), "config.world_agent_name: runtime 'scripted' has the agents random"),
        (changed(SAMPLED, world_reward={"name": "goal_only_v1"}), "config.world_reward: belongs to rollouts in the"),
        (changed(SAMPLED, task_ref="t"), "config.task_ref: a job learns in a world or from what this names"),
        (changed(SAMPLED, world_manifest_id=None), "config.world_runtime_id: needs world_manifest_id"),
        (changed(WORLD, world_reward={"name": "best"}), "config.world_reward: no world reward is called 'best'"),
        (
            changed(WORLD, world_reward={"name": "goal_only_v1", "params": {"host_discovery_reward": 1.0}}),
            "config.world_reward: world reward goal_only_v1: 'host_discovery_reward': goal_only_v1 has no such part",
        ),
        (changed(RL, world_goal="w"), "config.world_goal: needs world_manifest_id"),
        (changed(RL, world_reward={"name": "goal_only_v1"}), "config.world_reward: needs world_manifest_id"),
        (changed(RL, tis_cap=2.0), "config.tis_cap: unknown key; it is called correction_cap here"),
        (changed(RL, reward_recipe={"name": "best_v1"}), "config.reward_recipe: no reward recipe is called 'best_v1'"),
        (changed(RL, reward_recipe={"name": "code_tests_v1", "params": {"blueprint": "x", "zzz": 1}}),
         "reward recipe code_tests_v1: blueprint: unknown parameter; did you mean 'blueprint_id'?; zzz: unknown"),
        (changed(RL, reward_recipe={"name": "contains_v1"}), "config.reward_recipe: reward recipe contains_v1: needle"),
        (changed(RL, reward_recipe={"name": "row_reward_v1", "params": {"default": "a"}}),
         "config.reward_recipe: reward recipe row_reward_v1: default: input should be a valid number (got 'a')"),
        (changed(RL, reward_recipe={"name": "code_tests_v1", "params": {"credit": "some", "timeout_seconds": "9"}}),
         "credit: input should be 'all' or 'fraction' (got 'some'); timeout_seconds: input should be a valid number"),
        (changed(RL, baseline="dataset"), "config.baseline: belongs to offline jobs"),
        (changed(RL, task_ref="add", reward_recipe={"name": "gsm8k_v1"}), "config.task_ref: reward recipe 'gsm8k_v1'"),
        (changed(RL, max_turns=4), "config.max_turns: only reward recipes task_env_agent_v1 and world_episode"),
        (changed(RL, max_episode_steps=4), "config.max_episode_steps: only reward recipes task_env_agent_v1 and worl"),
        (changed(RL, max_turns=4, reward_recipe={"name": "task_env_agent_v1", "params": {"max_turns": 5}}),
         "config.max_turns: the reward recipe's max_turns says otherwise (5)"),
        (changed(RL, offline=True), "config.offline: needs trajectory_dataset_refs"),
        (changed(RL, prompt_dataset_ref=None, trajectory_dataset_refs=["t"], offline=True, loss_agg="constant"),
         "config.loss_agg: 'constant' divides by max_new_tokens"),
        (changed(RL, prompt_dataset_ref=None, trajectory_dataset_refs=["t"], offline=True, group_size=4),
         "config.group_size: an offline job samples nothing"),
        (changed(RL, algorithm="importance_sampling", execution_mode="fully_async", max_steps_off_policy=2),
         "config.algorithm: importance_sampling is not clipped, and unstable above staleness 1 (got 2)"),
        (changed(RL, algorithm="cispo", clip_low=0.2), "config.clip_low: cispo has no such clip; leave it out"),
        (changed(RL, algorithm="gspo", correction="decoupled"), "config.correction 'decoupled' belongs to ppo"),
        (changed(RL, correction_cap=2.0), "config.correction_cap belongs to correction 'decoupled'"),
        (changed(RL, correction="tis"), "config.correction: input should be 'bypass' or 'decoupled' (got 'tis')"),
        (changed(RL, clip_high=0.0), "config.clip_high: input should be greater than 0 (got 0.0)"),
        (changed(RL, advantage="maxrl"), "config.advantage: input should be 'group_mean', 'group_std',"),
        (changed(RL, loss_agg="seq"), "config.loss_agg: input should be 'token', 'sequence' or 'constant'"),
    ],
)  # fmt: skip
def test_every_rule_has_its_message(body: dict[str, Any], says: str) -> None:
    """One line each, and nothing else is said."""
    (line,) = mistakes_of(body)
    assert says in line


def test_all_mistakes_are_listed_at_once() -> None:
    """Those of fields and those of several fields together."""
    body = changed(RL, steps="many", num_rollouts=1, colour="red", prompt_dataset_ref=None)
    assert [line.split(":")[0] for line in mistakes_of({**body, "tags": [""]})] == [
        "tags[0]", "config.steps", "config.colour", "config.prompt_dataset_ref", "config.num_rollouts",
    ]  # fmt: skip


def test_hosted_backends_are_taken_where_the_node_says_so() -> None:
    """The setting names them; empty means none."""
    assert backend_aliases({}) == ("tinker", "ray")
    assert backend_aliases({"HARENA_TRAINING_ALIASES": ""}) == ()
    aliases = backend_aliases({"HARENA_TRAINING_ALIASES": " ray "})
    with pytest.raises(ValidationError, match="this node does not take 'tinker' for its own"):
        parse_request(TINKER_RL, aliases=aliases)
    assert parse_request(RAY_RL, aliases=aliases).backend == "ray"
    with pytest.raises(ValidationError, match="gpu is none of tinker, ray"):
        backend_aliases({"HARENA_TRAINING_ALIASES": "gpu"})


RAY = {**RL, "backend": "ray"}


@pytest.mark.parametrize(
    ("config", "staleness", "slots"),
    [
        ({}, 1, None),
        ({"execution_mode": "colocated"}, 0, None),
        ({"execution_mode": "async", "buffer_size": 9}, 3, 9),
        ({"execution_mode": "distributed", "buffer_size": 3}, 1, 3),
        ({"max_steps_off_policy": 4, "buffer_size": 5}, 4, 5),
        ({"execution_mode": "fully_async", "max_steps_off_policy": 2, "seed": 3}, 2, None),
    ],
)
def test_backend_ray_is_a_cluster_where_there_is_one(config: dict[str, Any], staleness: int, slots: int | None) -> None:
    """It takes what `local` takes and needs no capability; a buffer of groups says how stale they may become."""
    request = parse_request(changed(RAY, batch_size=4, num_rollout_workers=3, **config), aliases=(), cluster=True)
    plan = plan_of(request, resolved(), cluster=True)
    assert isinstance(plan, RLPlan)
    assert (plan.backend, plan.rollout_workers) == ("ray", 3)
    assert plan.data_parallel == (config.get("execution_mode") == "distributed")
    assert (plan.max_steps_off_policy, plan.buffer_size) == (staleness, slots)
    assert rl_settings(plan, ()).buffer_size == slots
    assert RLPlan.from_dict(plan.to_dict()) == plan


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"execution_mode": "colocated", "buffer_size": 1}, "config.buffer_size: in execution_mode 'colocated' learn"),
        ({"max_steps_off_policy": 1, "batch_size": 4, "buffer_size": 5}, "config.buffer_size: max_steps_off_policy al"),
        ({"offline": True, "prompt_dataset_ref": None, "trajectory_dataset_refs": ["t"]}, "config.offline: backend 'r"),
        ({"algorithm": "ppo", "critic": True}, "config.critic: jobs over a Ray cluster have none"),
    ],
)
def test_what_a_cluster_cannot_do_is_said(config: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as raised:
        parse_request(changed(RAY, **config), aliases=(), cluster=True)
    assert says in str(raised.value)


def test_without_a_cluster_backend_ray_is_a_name_for_the_nodes_own() -> None:
    plan = plan_of(parse_request(RAY_RL), resolved())
    assert isinstance(plan, RLPlan)
    assert (plan.backend, plan.rollout_workers, plan.buffer_size) == ("local", None, None)
    assert plan.max_steps_off_policy == 1


OTHER_VALUES: dict[str, Any] = {
    "steps": 7, "batch_size": 5, "learning_rate": 3e-5, "lora_rank": 3, "lora_alpha": 5, "checkpoint_interval": 3,
    "tuning": "lora", "lora_target_modules": ["q_proj"], "max_grad_norm": 0.5, "weight_decay": 0.1, "warmup_steps": 1,
    "final_learning_rate": 0.5, "seed": 9, "keep_checkpoints": 4, "eval_interval": 3, "max_sequence_length": 99,
    "gradient_accumulation_steps": 3, "epochs": 3, "algorithm": "ppo", "num_rollouts": 5, "group_size": 6,
    "execution_mode": "one_step_off_async", "max_steps_off_policy": 3, "staleness_policy": "readmit", "max_turns": 2,
    "max_episode_steps": 2, "max_new_tokens": 9, "temperature": 0.5, "stop": ["x"], "overlong": "score",
    "eval_max_rollouts": 9, "loss_agg": "constant", "clip_low": 0.1, "clip_high": 0.1, "advantage": "rloo",
    "kl_coef": 0.1, "correction": "decoupled", "correction_cap": 3.0, "offline": True, "weight_sync_interval": 2,
    "critic": True, "gae_lambda": 0.5,
    "too_long": "error", "held_out": 0.2, "top_p": 0.9, "top_k": 7, "baseline": "dataset",
    "reward_recipe": {"name": "gsm8k_v1", "params": {}},
    "world_reward": {"name": "goal_only_v1", "params": {}},
}  # fmt: skip
FOUND = {
    *("dataset_ref", "trajectory_dataset_refs", "prompt_dataset_ref", "scenarios_ref", "eval_dataset_ref"),
    *("prompt_split", "task_ref", "skip_bad_rows", "world_manifest_id", "world_goal"),
    *("world_runtime_id", "world_agent_name"),
}
"""have their effect where references are resolved: see the tests of the registry"""
REFUSED = {
    *("num_rollout_workers", "buffer_size"),
}
BESIDE: dict[str, dict[str, Any]] = {
    "eval_interval": {"eval_dataset_ref": "e"},
    "eval_max_rollouts": {"eval_dataset_ref": "e"},
    "execution_mode": {"max_steps_off_policy": 1},
    "max_steps_off_policy": {"execution_mode": "fully_async"},
    "staleness_policy": {"execution_mode": "fully_async", "max_steps_off_policy": 2},
    "correction_cap": {"correction": "decoupled"},
    "tuning": {"lora_rank": None},
    "critic": {"algorithm": "ppo"},
    "gae_lambda": {"algorithm": "ppo", "critic": True},
    "offline": {"prompt_dataset_ref": None, "trajectory_dataset_refs": ["t"]},
    "epochs": {"steps": None},
    "max_turns": {"reward_recipe": {"name": "task_env_agent_v1"}},
    "max_episode_steps": {"reward_recipe": {"name": "task_env_agent_v1"}},
    "world_reward": {"world_manifest_id": "w", "prompt_dataset_ref": None},
    "baseline": {"offline": True, "prompt_dataset_ref": None, "trajectory_dataset_refs": ["t"]},
}
"""what else a request needs before the field may be there"""


@pytest.mark.parametrize(
    ("body", "name"),
    [(body, name) for body, model in ((SFT, SFTConfig), (RL, RLConfig)) for name in model.model_fields],
)
def test_no_field_is_taken_and_ignored(body: dict[str, Any], name: str) -> None:
    """Each changes the plan, is looked up, or is refused."""
    if name in FOUND:
        return
    if name in REFUSED:
        assert any(name in line for line in mistakes_of(changed(body, **{name: {"name": "x"}})))
        return
    beside = BESIDE.get(name, {})
    without = {**beside, **({"max_steps_off_policy": None} if name == "execution_mode" else {})}
    if name == "max_steps_off_policy":
        without = {"execution_mode": "fully_async", "max_steps_off_policy": 1}
    with_it = plan_of(parse_request(changed(body, **beside, **{name: OTHER_VALUES[name]})), resolved())
    assert with_it != plan_of(parse_request(changed(body, **without)), resolved())


@pytest.mark.parametrize(
    ("given", "prompts", "group"),
    [
        ({"num_rollouts": 16, "batch_size": 4}, 4, 4),
        ({"num_rollouts": 16}, 8, 2),
        ({"num_rollouts": 8, "batch_size": 8}, 8, 1),
        ({"num_rollouts": 4, "batch_size": 8}, 4, 1),
        ({"batch_size": 4}, 4, 8),
    ],
)
def test_num_rollouts_of_tinker_are_those_of_a_step(given: dict[str, int], prompts: int, group: int) -> None:
    """And elsewhere those of a prompt: the same numbers give another plan."""
    body = changed(changed(TINKER_RL, num_rollouts=None, batch_size=None), **given)
    plan = plan_of(parse_request(body), resolved())
    assert isinstance(plan, RLPlan)
    assert (plan.groups_per_step, plan.group_size) == (prompts, group)
    assert (plan.advantage == "none") == (group == 1)
    local = plan_of(parse_request(changed(RL, **given)), resolved())
    assert isinstance(local, RLPlan)
    assert local.group_size == given.get("num_rollouts", 8)


def test_a_greedy_policy_learns_from_one_rollout_of_each_prompt() -> None:
    """The hosted default: its reward is its advantage."""
    body = changed(TINKER_RL, num_rollouts=8, batch_size=8, temperature=0, weight_sync_interval=4, eval_interval=8)
    with pytest.raises(ValidationError, match="checkpoint_interval: must be a multiple of weight_sync_interval, 4"):
        parse_request(body)
    plan = plan_of(parse_request(changed(body, checkpoint_interval=None)), resolved())
    assert isinstance(plan, RLPlan)
    assert (plan.temperature, plan.advantage, plan.weight_sync_interval) == (0, "none", 4)
    assert plan.checkpoint_interval == 12


def test_a_request_is_known_by_its_type() -> None:
    """RL is an RLRequest with all that it was given."""
    request = parse_request(RL)
    assert isinstance(request, RLRequest)
    assert (request.backend, request.config.prompt_dataset_ref) == ("local", "p.jsonl")


NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["rl", "ppo", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = sorted({*RLConfig.model_fields, *SFTConfig.model_fields})


@settings(max_examples=300, deadline=None)
@given(
    trainer=st.sampled_from(["sft", "rl"]) | NONSENSE,
    backend=st.sampled_from(["local", "tinker", "ray"]) | NONSENSE,
    around=st.dictionaries(st.sampled_from(["model", "name", "tags", "capability_ref", "run_ref"]), NONSENSE),
    config=st.dictionaries(st.sampled_from(FIELDS), NONSENSE | st.sampled_from(list(OTHER_VALUES.values()))) | NONSENSE,
)
def test_nonsense_is_a_mistake_and_nothing_else(
    trainer: Any, backend: Any, around: dict[str, Any], config: Any
) -> None:
    """Whatever is sent is taken, or is a ValidationError of lines that say where."""
    body = {"trainer_type": trainer, "backend": backend, "config": config, **around}
    with contextlib.suppress(ValidationError):
        assert parse_request(body).trainer_type == trainer
