"""What is wrong with single fields of a request for training, as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel
from pydantic import ValidationError as PydanticError
from pydantic_core import ErrorDetails

from harena.core.mistakes import given_in, nearest_key, reason_of

ELSEWHERE: Mapping[str, str] = {
    "tis_cap": "it is called correction_cap here",
    "filter_constant_groups": "groups of equal rewards teach nothing, are left out and counted, always",
    "resume_from": "a job that has ended goes on with `retry`",
    "lr_schedule": "the learning rate rises for warmup_steps and falls to final_learning_rate of itself",
    "max_staleness": "it is called max_steps_off_policy here",
}
"""keys that people know from elsewhere, and why they are none here"""
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
        return f"{where}: missing"
    if detail["loc"][-1] == PATH:
        return f"{where}: must be {{'name': ..., 'version': ...}} or the path of a file or directory"
    if detail["type"] in ("model_type", "dict_type", "model_attributes_type"):
        return f"{where}: must be a mapping (got {given_in(detail)})"
    return f"{where}: {reason_of(detail)} (got {given_in(detail)})"


def _written(location: list[str | int]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _nearest(location: list[str | int], model: type[BaseModel]) -> str:
    valid = list(_model_at([part for part in location[:-1] if isinstance(part, str)], model).model_fields)
    return nearest_key(str(location[-1]), valid)


def _model_at(steps: list[str], model: type[BaseModel]) -> type[BaseModel]:
    for step in steps:
        model = next((part for part in _models(model.model_fields[step].annotation)), model)
    return model


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [found for part in get_args(annotation) for found in _models(part)]
