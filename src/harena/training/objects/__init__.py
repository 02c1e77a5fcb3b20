"""Reads what is pushed: an object's files are checked and described when it is published (`core.records.objects`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.records.objects import Description
from harena.core.registry import ObjectKind
from harena.training.reading import apart

MOST_DESCRIBED = 1024 * 1024
"""size of what is said of an object, as JSON: it is a part of every answer about the object"""


@apart
def describe(folder: Path, *, kind: ObjectKind, name: str, version: str) -> dict[str, Any]:
    """The description of the object in this directory, as JSON types. Raises ValidationError, which lists what is wrong
    with it."""
    described = _described(folder, kind=kind, name=name, version=version).to_dict()
    if (size := len(json.dumps(described, default=str))) > MOST_DESCRIBED:
        longest = max(described, key=lambda field: len(json.dumps(described[field], default=str)))
        raise ValidationError(
            f"{kind} {name}@{version} cannot be published: what is kept of it beside its files has {size} bytes as "
            f"JSON, and may have {MOST_DESCRIBED}; most of it is its `{longest}`"
        )
    return described


def _described(folder: Path, *, kind: ObjectKind, name: str, version: str) -> Description:
    if kind == "capability":
        from harena.training.objects.capability import read_capability

        return read_capability(folder, name=name, version=version)
    if kind == "task":
        from harena.training.objects.task import read_task

        return read_task(folder, name=name, version=version)
    if kind == "dataset":
        from harena.training.objects.dataset import read_dataset

        return read_dataset(folder)
    from harena.training.objects.model import read_model

    return read_model(folder, may_be_adapter=kind == "checkpoint")
