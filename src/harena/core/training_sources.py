"""The paths in a request for training: where they may be, and how versions that are named by their content take their
place. A path is one of the machine of whoever asks: a client sends what lies there, and a server takes none. Pure but
for `path_version`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from harena.core.errors import ValidationError
from harena.core.registry import ObjectKind

HEADING = "this training job cannot run:"
JOB_PREFIX = "job:"
"""before the id or name of a training job, whose model is meant"""
_DATASETS = ("dataset_ref", "prompt_dataset_ref", "eval_dataset_ref")
_TRAJECTORIES = "trajectory_dataset_refs"
CONTENT_PREFIX = "sha256-"
"""how the version of what lay at a path begins, before the digest of its content"""
MOST_TOLD = 20
"""paths that one refusal names"""


class GivenPath(NamedTuple):
    """One path of a request."""

    where: str
    """the field, as "config.trajectory_dataset_refs[0]\""""
    kind: ObjectKind
    path: str


def is_model_path(model: str) -> bool:
    """It begins as paths do; all other words are names."""
    return model.startswith(("/", "./", "../", "~")) or model in (".", "..")


def paths_of(request: Mapping[str, Any]) -> list[GivenPath]:
    """In the order of the fields. What has a wrong type is none."""
    return [*_each_path(request)]


def _each_path(request: Mapping[str, Any]) -> Iterator[GivenPath]:
    model, config = request.get("model"), request.get("config")
    if isinstance(model, str) and is_model_path(model):
        yield GivenPath("model", "model", model)
    if not isinstance(config, Mapping):
        return
    for field in _DATASETS:
        if (source := config.get(field)) and isinstance(source, str):
            yield GivenPath(f"config.{field}", "dataset", source)
    trajectories = config.get(_TRAJECTORIES)
    for place, source in enumerate(trajectories if isinstance(trajectories, list) else ()):
        if source and isinstance(source, str):
            yield GivenPath(f"config.{_TRAJECTORIES}[{place}]", "dataset", source)


def with_versions(request: Mapping[str, Any], versions: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """The request with (name, version) in place of the path of each of these fields."""
    made = dict(request)
    if "model" in versions:
        made["model"] = "@".join(versions["model"])
    if isinstance(request.get("config"), Mapping):
        config = dict(request["config"])
        for field in _DATASETS:
            if (version := versions.get(f"config.{field}")) is not None:
                config[field] = _ref(version)
        if isinstance(trajectories := config.get(_TRAJECTORIES), list):
            config[_TRAJECTORIES] = [
                _ref(versions[where]) if (where := f"config.{_TRAJECTORIES}[{place}]") in versions else source
                for place, source in enumerate(trajectories)
            ]
        made["config"] = config
    return made


def check_no_paths(request: Mapping[str, Any]) -> None:
    """Raises ValidationError, which names the first MOST_TOLD paths: a server reads no file because somebody names
    it."""
    found = [*islice(_each_path(request), MOST_TOLD + 1)]
    if found:
        lines = [
            f"{where}: {path[:200]!r:.200} is a path of your own machine: harena's clients send what lies there; else "
            f"publish it (`harena push {kind} PATH NAME@VERSION`) and name the version"
            for where, kind, path in found[:MOST_TOLD]
        ]
        more = ["... and perhaps more"] if len(found) > MOST_TOLD else []
        raise ValidationError("\n  ".join([HEADING, *lines, *more]))


def path_version(place: Path) -> tuple[str, str]:
    """The name and version that a path's content gets. Reads all of it. Raises ValidationError, OSError."""
    from harena.core.file_trees import files_of, tree_of

    digest = tree_of(files_of(place)).digest
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", place.stem).lstrip("._-")[:100] or "data"
    return name, f"{CONTENT_PREFIX}{digest[:16]}"


def _ref(version: tuple[str, str]) -> dict[str, str]:
    return {"name": version[0], "version": version[1]}
