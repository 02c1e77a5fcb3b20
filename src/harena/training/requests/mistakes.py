"""What is wrong with single fields of a request for training, as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel
from pydantic import ValidationError as PydanticError
from pydantic_core import ErrorDetails

from harena.core.mistakes import given_in, nearest_key, reason_of
from harena.core.near_names import cut

ELSEWHERE: Mapping[str, str] = {
    "tis_cap": "it is called correction_cap here",
    "filter_constant_groups": "groups of equal rewards teach nothing, are left out and counted, always",
    "resume_from": "a job that has ended goes on with `retry`",
    "lr_schedule": "the learning rate rises for warmup_steps and falls to final_learning_rate of itself",
    "max_staleness": "it is called max_steps_off_policy here",
}
"""keys that people know from elsewhere, and why they are none here"""
SAME: Mapping[str, str] = {
    "lr": "learning_rate",
    "num_generations": "group_size",
    "samples_per_prompt": "group_size",
    "max_completion_length": "max_new_tokens",
    "max_tokens": "max_new_tokens",
    "max_length": "max_sequence_length",
    "max_seq_length": "max_sequence_length",
    "max_steps": "steps",
    "num_train_epochs": "epochs",
    "num_epochs": "epochs",
    "per_device_train_batch_size": "batch_size",
    "beta": "kl_coef",
    "epsilon": "clip_low",
    "epsilon_high": "clip_high",
    "save_steps": "checkpoint_interval",
    "save_total_limit": "keep_checkpoints",
    "eval_steps": "eval_interval",
    "dataset": "dataset_ref",
    "train_dataset": "dataset_ref",
    "eval_dataset": "eval_dataset_ref",
    "prompts": "prompt_dataset_ref",
    "reward": "reward_recipe",
    "reward_funcs": "reward_recipe",
    "lora_r": "lora_rank",
    "target_modules": "lora_target_modules",
}
"""key of TRL, peft or our command line -> the key of a config that means the same"""
STORED, PATH = ":stored", ":path"
"""which of the two a data set is, in the locations of mistakes"""


def sentences(error: PydanticError, model: type[BaseModel]) -> list[str]:
    """One for each mistake, in the order of the fields."""
    return list(dict.fromkeys(_sentence(detail, model) for detail in error.errors(include_url=False)))


def _sentence(detail: ErrorDetails, model: type[BaseModel]) -> str:
    location = [part for part in detail["loc"] if part not in (STORED, PATH)]
    where = _written(location)
    last = str(location[-1])
    if detail["type"] == "extra_forbidden":
        if last in ELSEWHERE and len(location) == 2:
            return f"{where}: unknown key; {ELSEWHERE[last]}"
        return f"{where}: unknown key; {_nearest(location, model)}"
    if detail["type"] == "missing":
        choice = ", ".join(_choices(location, model))
        return f"{where}: missing; give one of {choice}" if choice else f"{where}: missing"
    if detail["loc"][-1] == PATH:
        return f"{where}: must be {{'name': ..., 'version': ...}} or the path of a file or directory"
    if detail["type"] in ("model_type", "dict_type", "model_attributes_type"):
        return f"{where}: must be a mapping (got {given_in(detail)})"
    return f"{where}: {reason_of(detail)} (got {given_in(detail)})"


def _written(location: list[str | int]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{cut(part)}" if text else cut(part)
    return text


def _nearest(location: list[str | int], model: type[BaseModel]) -> str:
    name = str(location[-1])
    valid = list(_model_above(location, model).model_fields)
    if SAME.get(name) in valid:
        return f"it is called {SAME[name]} here"
    return nearest_key(name, valid)


def _choices(location: list[str | int], model: type[BaseModel]) -> list[str]:
    """The words that a field may hold, if it may hold nothing else."""
    field = _model_above(location, model).model_fields.get(str(location[-1]))
    words = get_args(field.annotation) if field else ()
    return [*words] if all(isinstance(word, str) for word in words) else []


def _model_above(location: list[str | int], model: type[BaseModel]) -> type[BaseModel]:
    return _model_at([part for part in location[:-1] if isinstance(part, str)], model)


def _model_at(steps: list[str], model: type[BaseModel]) -> type[BaseModel]:
    for step in steps:
        model = next((part for part in _models(model.model_fields[step].annotation)), model)
    return model


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [found for part in get_args(annotation) for found in _models(part)]
