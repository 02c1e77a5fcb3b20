"""The rules of a request for training that are about several fields. Pure: a mapping as it was sent, and sentences.

They look at what was sent and not at what was made of it, so that all mistakes can be listed, also where single fields
are wrong: a value of a wrong type is as good as none here.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.worlds import DEFAULT_STRATEGY, SCRIPTED, STRATEGIES
from harena.training.environments.worlds import world_reward
from harena.training.loop.algorithms import ALGORITHMS, loss_spec
from harena.training.rewards import reward_recipe
from harena.training.rewards.registry import OF_EPISODES, TASK_RECIPES

Config = Mapping[str, Any]

PAIRS = (("local", "sft"), ("local", "rl"), ("tinker", "sft"), ("tinker", "rl"), ("ray", "rl"))
"""(backend, trainer_type)"""

_WORLDS = ("world_manifest_id", "world_runtime_id", "world_agent_name", "world_goal", "world_reward")
HOSTED: Mapping[tuple[str, str], frozenset[str]] = {
    ("tinker", "sft"): frozenset(
        {
            *("dataset_ref", "trajectory_dataset_refs", "eval_dataset_ref", "max_sequence_length", "batch_size"),
            *("gradient_accumulation_steps", "learning_rate", "steps", "epochs", "lora_rank", "lora_alpha"),
            "checkpoint_interval",
        }
    ),
    ("tinker", "rl"): frozenset(
        {
            *("algorithm", "task_ref", *_WORLDS, "prompt_dataset_ref", "trajectory_dataset_refs", "reward_recipe"),
            *("execution_mode", "prompt_split", "steps", "lora_rank", "max_turns", "max_episode_steps"),
            *("num_rollouts", "batch_size", "learning_rate", "weight_sync_interval", "max_steps_off_policy"),
            *("max_new_tokens", "temperature", "stop", "checkpoint_interval", "eval_dataset_ref", "eval_interval"),
            "eval_max_rollouts",
        }
    ),
    ("ray", "rl"): frozenset(
        {
            *("algorithm", "task_ref", "prompt_dataset_ref", "reward_recipe", "execution_mode", "max_turns"),
            *("max_episode_steps", "num_rollouts", "batch_size", "learning_rate", "num_rollout_workers"),
            *("buffer_size", "checkpoint_interval"),
        }
    ),
}
"""the fields of the hosted bodies' `config`"""
_CLUSTER = "cluster"
"""the rules' word for backend `ray` where this node has a Ray cluster, so that it is no name for the node's own"""
_ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "tinker": ("importance_sampling", "ppo"),
    "ray": ("grpo",),
    "local": ALGORITHMS,
    _CLUSTER: ALGORITHMS,
}
_MODES: Mapping[str, tuple[str, ...]] = {
    "tinker": ("sync", "one_step_off_async", "fully_async"),
    "ray": ("async", "colocated", "distributed"),
    "local": ("sync", "one_step_off_async", "fully_async"),
    _CLUSTER: ("async", "colocated", "distributed", "sync", "one_step_off_async", "fully_async"),
}
_OF_ROLLOUTS = (
    *("reward_recipe", "task_ref", "execution_mode", "max_steps_off_policy", "staleness_policy", "num_rollouts"),
    *("group_size", "max_turns", "max_episode_steps", "weight_sync_interval", "stop", "overlong"),
    *("temperature", "max_new_tokens", "top_p", "top_k", "eval_dataset_ref", "held_out", "num_rollout_workers"),
    "buffer_size",
)
"""what has no meaning where nothing is sampled"""
_NEEDS_CLUSTER = "needs a Ray cluster, and this node has none: set HARENA_RAY_ADDRESS where it runs"
_OF_ADAPTERS = ("lora_rank", "lora_alpha", "lora_target_modules")


def pair_mistakes(given: Mapping[str, Any], aliases: Sequence[str], *, cluster: bool = False) -> list[str]:
    """Mistakes in the pair of backend and trainer_type. `cluster`: this node has a Ray cluster."""
    backend, trainer = given.get("backend", "local"), given.get("trainer_type")
    if trainer is None:
        return ["trainer_type: missing; it is 'sft' or 'rl'"]
    if (backend, trainer) not in PAIRS:
        pairs = ", ".join("+".join(pair) for pair in PAIRS)
        return [f"backend and trainer_type: {quote(backend)} with {quote(trainer)}; there are {pairs}"]
    if backend != "local" and backend not in aliases and not (backend == "ray" and cluster):
        return [
            f"backend: this node does not take {backend!r} for its own; send 'local', or name it in "
            "HARENA_TRAINING_ALIASES of the node"
        ]
    return []


def rule_mistakes(given: Mapping[str, Any], fields: Container[str], *, cluster: bool = False) -> list[str]:
    """Mistakes of a request whose pair of backend and trainer_type exists; `fields`: all that its `config` may have;
    `cluster`: this node has a Ray cluster, on which backend `ray` takes what `local` takes, and more."""
    backend, trainer = given.get("backend", "local"), given["trainer_type"]
    backend = _CLUSTER if backend == "ray" and cluster else backend
    mistakes = []
    if backend not in ("local", _CLUSTER) and given.get("capability_ref") is None:
        mistakes.append(f"capability_ref: missing; backend {backend!r} needs one")
    config = given.get("config")
    if not isinstance(config, Mapping):
        return mistakes
    present = {name: value for name, value in config.items() if value is not None and value != []}
    if (hosted := HOSTED.get((backend, trainer))) is not None:
        mistakes += [
            f"config.{name}: backend {backend!r} has no such field; send backend 'local'"
            for name in present
            if name not in hosted and name in fields
        ]
    for rule in (*_BOTH, *(_SFT if trainer == "sft" else _RL)):
        mistakes += [f"config.{mistake}" for mistake in rule(present, backend)]
    return mistakes


def _adapters(config: Config, backend: str) -> Iterator[str]:
    if config.get("tuning") == "full":
        for name in _OF_ADAPTERS:
            if name in config:
                yield f"{name}: tuning 'full' has no adapters; leave it out"


def _evaluation(config: Config, backend: str) -> Iterator[str]:
    if "held_out" in config and "eval_dataset_ref" in config:
        yield "held_out: eval_dataset_ref says what is evaluated; give one of them"
    for name in ("eval_interval", "eval_max_rollouts"):
        if name in config and not {"eval_dataset_ref", "held_out"} & config.keys():
            yield f"{name}: needs eval_dataset_ref" + (" or held_out" if name == "eval_max_rollouts" else "")


def _warm_up(config: Config, backend: str) -> Iterator[str]:
    steps, warm_up = _number(config, "steps"), _number(config, "warmup_steps")
    if steps is not None and warm_up is not None and warm_up >= steps:
        yield f"warmup_steps: must be below steps, {steps} (got {warm_up})"


def _sft_sources(config: Config, backend: str) -> Iterator[str]:
    if not {"dataset_ref", "trajectory_dataset_refs"} & set(config):
        yield "dataset_ref: missing; give it, or at least one of trajectory_dataset_refs"


def _worlds(config: Config, backend: str) -> Iterator[str]:
    if "world_agent_name" in config and "world_runtime_id" not in config:
        yield "world_agent_name: needs world_runtime_id"
    if "world_manifest_id" not in config:
        for name in ("world_goal", "world_reward", "world_runtime_id"):
            if name in config:
                yield f"{name}: needs world_manifest_id"
        return
    if "world_runtime_id" in config:
        yield from _sampled_world(config)
        return
    for name in ("prompt_dataset_ref", "trajectory_dataset_refs", "scenarios_ref", "task_ref", "offline"):
        if config.get(name):
            yield f"{name}: a job learns in a world or from what this names; leave one of the two out"
    if "reward_recipe" in config:
        yield "reward_recipe: rewards in a world are world_reward's; leave it out"
    reward = config.get("world_reward")
    if isinstance(reward, Mapping) and isinstance(reward.get("name"), str):
        params = reward.get("params", {})
        try:
            world_reward(reward["name"], params if isinstance(params, Mapping) else {})
        except ValidationError as error:
            yield f"world_reward: {error}"


def _sampled_world(config: Config) -> Iterator[str]:
    """A world that is sampled before the job learns: it learns from trajectories then."""
    runtime, agent = config["world_runtime_id"], config.get("world_agent_name", DEFAULT_STRATEGY)
    if runtime != SCRIPTED:
        yield (
            f"world_runtime_id: there is no runtime {quote(runtime)}, only {SCRIPTED!r}, whose agents are "
            f"{', '.join(STRATEGIES)}; leave it out where the job's own model shall play"
        )
    elif agent not in STRATEGIES:
        yield f"world_agent_name: runtime {SCRIPTED!r} has the agents {', '.join(STRATEGIES)} (got {quote(agent)})"
    if "world_reward" in config:
        yield "world_reward: belongs to rollouts in the world; leave it or world_runtime_id out"
    for name in ("prompt_dataset_ref", "scenarios_ref", "task_ref"):
        if config.get(name):
            yield f"{name}: a job learns in a world or from what this names; leave one of the two out"


def _rl_sources(config: Config, backend: str) -> Iterator[str]:
    prompts, trajectories = "prompt_dataset_ref" in config, "trajectory_dataset_refs" in config
    stored = "scenarios_ref" in config
    if stored and prompts:
        yield "scenarios_ref: prompts come from prompt_dataset_ref or from stored scenarios; leave one of the two out"
    if (
        stored
        and isinstance(config["scenarios_ref"], str)
        and config["scenarios_ref"].startswith(("/", "./", "../", "~"))
    ):
        yield "scenarios_ref: names stored scenarios, NAME or NAME@2; a file is given as prompt_dataset_ref"
    if backend == "ray":
        for name in ("task_ref", "prompt_dataset_ref"):
            if name not in config:
                yield f"{name}: missing; backend 'ray' needs it"
    elif (
        not prompts and not trajectories and not stored and not {"world_manifest_id", "world_runtime_id"} & set(config)
    ):
        yield "prompt_dataset_ref: missing; give it, at least one of trajectory_dataset_refs, or world_manifest_id"
    if (prompts or stored) and trajectories:
        yield "trajectory_dataset_refs: a job learns from prompts or from trajectories; leave one of the two out"
    if "prompt_split" in config and not prompts:
        yield "prompt_split: needs prompt_dataset_ref"


def _names(config: Config, backend: str) -> Iterator[str]:
    for name, there in (("algorithm", _ALGORITHMS), ("execution_mode", _MODES)):
        value = config.get(name)
        known = [entry for entries in there.values() for entry in entries]
        if value in known and value not in there[backend]:
            yield f"{name}: backend {backend!r} takes {', '.join(there[backend])} (got {value!r})"


def _modes(config: Config, backend: str) -> Iterator[str]:
    mode, staleness = config.get("execution_mode", "sync"), _number(config, "max_steps_off_policy")
    if backend == "ray":
        if mode == "distributed":
            yield f"execution_mode: 'distributed' {_NEEDS_CLUSTER}, or use 'async' or 'colocated'"
        for name in ("num_rollout_workers", "buffer_size"):
            if name in config:
                yield f"{name}: {_NEEDS_CLUSTER}, or leave it out"
        return
    if backend == _CLUSTER:
        yield from _modes_of_cluster(config)
        return
    if mode in ("one_step_off_async", "fully_async") and "max_steps_off_policy" not in config:
        yield f"max_steps_off_policy: missing; execution_mode {mode!r} needs it"
    if mode == "one_step_off_async" and staleness not in (None, 1):
        yield f"max_steps_off_policy: execution_mode 'one_step_off_async' means 1 (got {staleness})"
    if mode == "sync" and backend == "local":
        for name in ("max_steps_off_policy", "staleness_policy"):
            if name in config:
                yield f"{name}: execution_mode 'sync' has no staleness; leave it out"
    for name in ("num_rollout_workers", "buffer_size"):
        if name in config and backend == "local":
            yield f"{name}: belongs to backend 'ray'; leave it out"


def _modes_of_cluster(config: Config) -> Iterator[str]:
    mode, staleness = config.get("execution_mode", "async"), _number(config, "max_steps_off_policy")
    buffer, groups = _number(config, "buffer_size"), _number(config, "batch_size")
    if mode in ("colocated", "sync"):
        for name in ("max_steps_off_policy", "staleness_policy", "buffer_size"):
            if name in config:
                yield f"{name}: in execution_mode {mode!r} learners and samplers take turns; leave it out"
    elif buffer is not None and staleness is not None and groups is not None and buffer > staleness * groups:
        most = int(staleness * groups)
        yield f"buffer_size: max_steps_off_policy allows {most} groups beside those of a step (got {int(buffer)})"


def _groups(config: Config, backend: str) -> Iterator[str]:
    hosted, size = _number(config, "num_rollouts"), _number(config, "group_size")
    alone = False
    """each prompt has one rollout, which is compared with nothing"""
    if backend == "tinker" and hosted is not None:
        prompts = min(hosted, _number(config, "batch_size") or 8)
        if prompts >= 1 and hosted % prompts:
            yield (
                f"num_rollouts: rollouts of a step, the same number for each of its {prompts:g} prompts (batch_size): "
                f"give a multiple of {prompts:g} (got {hosted:g})"
            )
        alone = hosted == prompts
    elif hosted is not None and size is not None and hosted != size:
        yield f"num_rollouts: is group_size under another name, and they differ ({hosted} and {size})"
    elif hosted == 1:
        yield "num_rollouts: must be at least 2: a rollout is compared with others of its prompt (got 1)"
    if "temperature" in config and _number(config, "temperature") == 0 and not alone:
        yield "temperature: must be above 0: all rollouts of a prompt would be the same, and teach nothing (got 0)"


def _critic(config: Config, backend: str) -> Iterator[str]:
    if config.get("critic") is not True:
        return
    if config.get("advantage") not in (None, "none"):
        yield "advantage: with a critic each token has its own; leave it out"
    if config.get("offline") is True:
        yield "critic: an offline job has none; leave it out"
    if backend == _CLUSTER:
        yield "critic: jobs over a Ray cluster have none; leave it out, or send backend 'local'"


def _sync(config: Config, backend: str) -> Iterator[str]:
    """Sampled weights and trained ones are the same where a checkpoint is saved, and where something is evaluated."""
    every = _number(config, "weight_sync_interval")
    for name in ("checkpoint_interval", "eval_interval"):
        steps = _number(config, name)
        if every and steps and steps % every:
            yield f"{name}: must be a multiple of weight_sync_interval, {every:g} (got {steps:g})"


def _offline(config: Config, backend: str) -> Iterator[str]:
    if config.get("offline") is True and backend == _CLUSTER:
        yield "offline: backend 'ray' is for rollouts, and an offline job makes none; send backend 'local'"
    if config.get("offline") is not True:
        if "baseline" in config:
            yield "baseline: belongs to offline jobs; `advantage` says how rollouts are compared"
        return
    if not {"trajectory_dataset_refs", "world_runtime_id"} & config.keys():
        yield "offline: needs trajectory_dataset_refs"
    for name in _OF_ROLLOUTS:
        if name in config and not (name == "max_episode_steps" and "world_runtime_id" in config):
            yield f"{name}: an offline job samples nothing; leave it out"
    if config.get("loss_agg") == "constant":
        yield "loss_agg: 'constant' divides by max_new_tokens, and an offline job has none; use token or sequence"


def _loss(config: Config, backend: str) -> Iterator[str]:
    """What `loss_spec` says, of the fields that are right alone."""
    algorithm = config.get("algorithm")
    if algorithm not in ALGORITHMS:
        return
    correction, low, cap = config.get("correction"), _number(config, "clip_low"), _number(config, "correction_cap")
    try:
        loss_spec(
            algorithm,
            max_steps_off_policy=int(_number(config, "max_steps_off_policy") or 0),
            clip_low=low if low is not None and 0 < low < 1 else None,
            clip_high=high if (high := _number(config, "clip_high")) is not None and high > 0 else None,
            correction="decoupled" if correction == "decoupled" else "bypass",
            correction_cap=cap if cap is not None and cap >= 1 else None,
            critic=config.get("critic") is True,
            gae_lambda=_number(config, "gae_lambda"),
        )
    except ValidationError as error:
        for line in str(error).split("\n  ")[1:]:
            yield line if line.replace(":", " ").split()[0] in config else f"algorithm: {line}"


def _episodes(config: Config, backend: str) -> Iterator[str]:
    """Tasks and turns belong to recipes over tasks."""
    recipe = config.get("reward_recipe")
    name = recipe.get("name") if isinstance(recipe, Mapping) else None
    name = name if isinstance(name, str) else None
    if "task_ref" in config and name is not None and name not in TASK_RECIPES:
        yield (
            f"task_ref: reward recipe {quote(name)} is not about tasks; use one of {', '.join(sorted(TASK_RECIPES))}, "
            "or leave the task out"
        )
    params = recipe.get("params") if isinstance(recipe, Mapping) else None
    own = params.get("max_turns") if isinstance(params, Mapping) else None
    for field in ("max_turns", "max_episode_steps"):
        most = _number(config, field)
        if most is not None and most > 1 and name not in OF_EPISODES and "world_manifest_id" not in config:
            told = " and ".join(sorted(OF_EPISODES))
            yield f"{field}: only reward recipes {told} make episodes of several turns; leave it out"
        elif most is not None and own is not None and most != own:
            yield f"{field}: the reward recipe's max_turns says otherwise ({own}); give one of the two"


def _recipe(config: Config, backend: str) -> Iterator[str]:
    recipe = config.get("reward_recipe")
    if isinstance(recipe, Mapping) and isinstance(recipe.get("name"), str):
        params = recipe.get("params", {})
        try:
            reward_recipe(recipe["name"], params if isinstance(params, Mapping) else {})
        except ValidationError as error:
            yield f"reward_recipe: {error}"


def _number(config: Config, name: str) -> float | None:
    value = config.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


Rule = Callable[[Config, str], Iterator[str]]
_BOTH: tuple[Rule, ...] = (_adapters, _evaluation, _warm_up)
_SFT: tuple[Rule, ...] = (_sft_sources,)
_RL: tuple[Rule, ...] = (
    _worlds,
    _rl_sources,
    _names,
    _modes,
    _groups,
    _critic,
    _sync,
    _offline,
    _loss,
    _episodes,
    _recipe,
)
