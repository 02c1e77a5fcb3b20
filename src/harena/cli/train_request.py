"""A training job's request, from a file and the options of a command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harena.cli.arguments import STORED
from harena.core.errors import ValidationError

OF_TEMPLATES = "code_tests_v1"
"""the reward recipe that has a template"""
HELD_OUT = 0.1
"""share of the prompts of `--dataset` that is evaluated and not learned from"""


def request_of(
    file: Path | None,
    trainer_type: str,
    model: str | None,
    name: str | None,
    capability: str | None,
    tags: list[str] | None,
    config: list[str] | None,
) -> dict[str, Any]:
    """A request with a config: what the file has, and over it what the options say. Raises ValidationError."""
    asked = _read(file) if file is not None else {}
    if asked.setdefault("trainer_type", trainer_type) != trainer_type:
        raise ValidationError(f"{file} asks for trainer_type {asked['trainer_type']!r}: use that command")
    for field, value in (("model", model), ("name", name), ("tags", tags)):
        put(asked, field, value)
    put(asked, "capability_ref", _version(capability, "--capability") if capability else None)
    given = asked.get("config", {})
    if not isinstance(given, dict):
        raise ValidationError(f"{file}: config must be an object")
    asked["config"] = {**given, **dict(_field(word) for word in config or [])}
    return asked


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValidationError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ValidationError(f"{file} is no JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValidationError(f"{file} must hold an object, a training job's request")
    return content


def _field(word: str) -> tuple[str, Any]:
    name, sign, value = word.partition("=")
    if not sign or not name:
        raise ValidationError(f"--set {word}: give FIELD=VALUE, as --set steps=100")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def put(asked: dict[str, Any], field: str, value: Any) -> None:
    """What an option says, if it was given."""
    if value is not None:
        asked[field] = value


def source(given: str | None) -> str | dict[str, str] | None:
    """A path where there is one of that name (relative to here), else NAME@VERSION."""
    if given is None:
        return None
    path = Path(given)
    if path.exists() or "@" not in given:
        return str(path.absolute())
    return _version(given, "a data set")


def put_dataset(config: dict[str, Any], given: str | None) -> None:
    """A data set of prompts, with what most people want to know of it: whether what is learned holds for problems that
    were not learned from. Raises ValidationError beside prompts of another option."""
    if given is None:
        return
    if beside := sorted({"prompt_dataset_ref", "scenarios_ref"} & config.keys()):
        raise ValidationError(f"--dataset names the prompts, as {beside[0]} does: give one of them")
    config["prompt_dataset_ref"] = source(given)
    config.setdefault("algorithm", "grpo")
    if "eval_dataset_ref" not in config:
        config.setdefault("held_out", HELD_OUT)


def put_recipe(config: dict[str, Any], name: str | None, template: Path | None) -> None:
    """A reward recipe, over what the request's file says of it. Raises ValidationError."""
    if name is None and template is None:
        return
    given = config.get("reward_recipe")
    made = dict(given) if isinstance(given, dict) else {}
    made["name"] = name or made.get("name") or OF_TEMPLATES
    if template is not None:
        params = made.get("params")
        made["params"] = {**(params if isinstance(params, dict) else {}), "template": template_in(template)}
    config["reward_recipe"] = made


def template_in(file: Path) -> str:
    """The program in the file that `--template` names. Raises ValidationError."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ValidationError(f"--template: {file} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValidationError(f"--template: {file} is no text in UTF-8") from None


def put_scenarios(config: dict[str, Any], given: str | None) -> None:
    """A file of problems is a data set of prompts; every other word names stored scenarios, as `ref:` before it says,
    too."""
    if given is None:
        return
    if Path(given).exists() or "/" in given:
        put(config, "prompt_dataset_ref", str(Path(given).absolute()))
    else:
        put(config, "scenarios_ref", given.removeprefix(STORED))


def _version(given: str, what: str) -> dict[str, str]:
    name, sign, version = given.rpartition("@")
    if not sign or not name or not version:
        raise ValidationError(f"{what}: {given!r} must be NAME@VERSION")
    return {"name": name, "version": version}
