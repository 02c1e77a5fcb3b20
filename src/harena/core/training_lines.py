"""What a training worker tells its node: one JSON object to a line, over a pipe.

    {event_type, message, level, metrics, data, artifacts, error}

`event_type` is one of a closed table (`TrainingEventKind`, the worker's group) or "beat", which says only that the
worker lives. An unknown field, kind or level is a broken line. Numbers that are none (NaN, infinities) travel as null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from harena.core.training_jobs import LAST_LINES, ArtifactPaths, MetricValue, TrainingEventKind

BEAT = "beat"
BEAT_SECONDS = 2.0
"""between two beats of a worker, whatever it does meanwhile"""
LEVELS = ("debug", "info", "warning", "error")
MOST_CHARACTERS = 1 << 20
"""size limit of one line"""
NODES_OWN = frozenset(kind for kind in TrainingEventKind if kind.startswith("job_"))
KINDS = frozenset(kind.value for kind in TrainingEventKind) - NODES_OWN | {BEAT}


class BrokenLine(ValueError):  # noqa: N818 - it names what came
    """A line that no worker of ours writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLine:
    """One line."""

    event_type: str
    message: str | None = None
    level: str = "info"
    metrics: Mapping[str, MetricValue] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    artifacts: ArtifactPaths = field(default_factory=dict)
    error: str | None = None

    @property
    def is_last(self) -> bool:
        """The worker says nothing after it."""
        return self.event_type in LAST_LINES


def encode_line(line: WorkerLine) -> bytes:
    """The line in the form that is sent, with its line end."""
    told = {name: value for name, value in asdict(line).items() if value not in (None, {})}
    return json.dumps(_finite(told), allow_nan=False, default=str).encode() + b"\n"


def decode_line(text: bytes) -> WorkerLine:
    """What was sent. Raises BrokenLine."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BrokenLine(f"no JSON: {error}") from None
    if not isinstance(told, dict):
        raise BrokenLine("not an object")
    if unknown := sorted(set(told) - {one.name for one in fields(WorkerLine)}):
        raise BrokenLine(f"unknown fields {', '.join(unknown)}")
    for name, kind in (("message", str), ("error", str), ("metrics", dict), ("data", dict), ("artifacts", dict)):
        if not isinstance(told.get(name, kind()), kind):
            raise BrokenLine(f"{name} is not a {kind.__name__}")
    for name, is_one in (("metrics", _is_metric), ("artifacts", _is_path_or_paths)):
        if wrong := [key for key, value in told.get(name, {}).items() if not is_one(value)]:
            raise BrokenLine(f"{name}: {wrong[0]!r:.80} has a value of another type")
    line = WorkerLine(**{"event_type": "", **told})
    if line.event_type not in KINDS or line.level not in LEVELS:
        raise BrokenLine(f"event_type {line.event_type!r} or level {line.level!r} is unknown")
    return line


def _is_metric(value: object) -> bool:
    return all(_is_number(each) for each in value) if isinstance(value, list) else _is_number(value)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _is_path_or_paths(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(each, str) for each in value))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(name): _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value
