"""Configurations of OCI images as records, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harena.core.image_configs import HealthCheck, ImageConfig
from harena.core.json_steps import parse
from harena.image_store.manifests import read_configuration

_MOST_ENTRIES = 1000
_TIMES = {
    "Interval": "interval",
    "Timeout": "timeout",
    "StartPeriod": "start_period",
    "StartInterval": "start_interval",
}


def read_image_config(raw: bytes) -> ImageConfig:
    """What a configuration says of programs; what is not as it should be is as if it was not said. Raises
    ImagePullError where no image can be made of it."""
    known = read_configuration(raw)
    said: Mapping[str, Any] = parse(raw).get("config") or {}
    return ImageConfig(
        environment=dict(known.environment),
        workdir=known.workdir,
        user=known.user,
        entrypoint=list(known.entrypoint),
        command=list(known.command),
        exposed=_names(said.get("ExposedPorts")),
        labels=_texts(said.get("Labels")),
        volumes=_names(said.get("Volumes")),
        stop_signal=_text(said.get("StopSignal")),
        shell=_words(said.get("Shell")),
        health=_health(said.get("Healthcheck")),
        on_build=_words(said.get("OnBuild")),
    )


def written_image_config(config: ImageConfig, diff_ids: Sequence[str], platform: str) -> bytes:
    """The configuration of an image with these layers. It says no time: the same layers give the same image."""
    system, _, architecture = platform.partition("/")
    fields: dict[str, Any] = {
        "Env": [f"{name}={value}" for name, value in config.environment.items()],
        "WorkingDir": config.workdir,
        "User": config.user,
        "Entrypoint": config.entrypoint,
        "Cmd": config.command,
        "ExposedPorts": {port: {} for port in config.exposed},
        "Labels": config.labels,
        "Volumes": {path: {} for path in config.volumes},
        "StopSignal": config.stop_signal,
        "Shell": config.shell,
        "Healthcheck": _written_health(config.health),
        "OnBuild": config.on_build,
    }
    said = {
        "architecture": architecture,
        "os": system,
        "config": {name: value for name, value in fields.items() if value},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{one}" for one in diff_ids]},
    }
    return json.dumps(said, separators=(",", ":")).encode()


def _written_health(health: HealthCheck | None) -> Mapping[str, Any] | None:
    if health is None:
        return None
    told = {name: getattr(health, field) for name, field in _TIMES.items()}
    said = {"Test": health.test, **told, "Retries": health.retries}
    return {name: value for name, value in said.items() if value is not None}


def _health(given: object) -> HealthCheck | None:
    if not isinstance(given, dict) or not (test := _words(given.get("Test"))):
        return None
    times = {field: _number(given.get(name)) for name, field in _TIMES.items()}
    return HealthCheck(test=test, **times, retries=_number(given.get("Retries")))


def _number(given: object) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 < given < 1 << 62 else None


def _text(given: object) -> str:
    return given if isinstance(given, str) and _is_plain(given) else ""


def _words(given: object) -> list[str]:
    return [_text(word) for word in given[:_MOST_ENTRIES]] if isinstance(given, list) else []


def _names(given: object) -> list[str]:
    return [name for name in [*given][:_MOST_ENTRIES] if _text(name)] if isinstance(given, dict) else []


def _texts(given: object) -> dict[str, str]:
    if not isinstance(given, dict):
        return {}
    return {
        name: value for name, value in [*given.items()][:_MOST_ENTRIES] if isinstance(value, str) and _is_plain(value)
    }


def _is_plain(text: str) -> bool:
    """Without NUL, and without halves of characters."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)
