"""How values cross from the process that reads to the one that asked: JSON, and tagged texts for what JSON has not.

Tags have a key that is drawn for each question, so that no content looks like one. Nothing is constructed but plain
values, whatever was sent.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from harena.core.errors import PlatformError

HEADER = struct.Struct("=d")
"""the seconds that a question may take; sent with three descriptors: a file with the Question, and two pipes, for the
answer and for how its process ended"""
_MADE: Mapping[str, Callable[[str], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda text: timedelta(microseconds=int(text)),
    "decimal": Decimal,
    "bytes": base64.b64decode,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one question."""

    memory_bytes: int
    seconds: float
    answer_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is to be called, on what."""

    function: str
    place: str
    folder: str
    """in which relative names are looked up"""
    named: dict[str, Any]
    key: str
    limits: Limits

    def to_bytes(self) -> bytes:
        """JSON."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Question:
        """What `to_bytes` made."""
        read = json.loads(content)
        return cls(**{**read, "limits": Limits(**read["limits"])})


def written(value: Any, key: str) -> bytes:
    """Raises ValueError, TypeError or RecursionError for what is no plain value."""
    return json.dumps(value, default=lambda other: _tagged(other, key)).encode()


def read(content: bytes, key: str) -> Any:
    """What `written` made. Raises ValueError."""
    try:
        if key.encode() not in content:
            return json.loads(content)
        return json.loads(content, object_hook=lambda found: _untagged(found, key))
    except (RecursionError, ArithmeticError, TypeError) as error:
        raise ValueError(str(error)) from None


def _tagged(value: Any, key: str) -> dict[str, list[str]]:
    for kind, text in (
        (datetime, lambda: value.isoformat()),
        (date, lambda: value.isoformat()),
        (time, lambda: value.isoformat()),
        (timedelta, lambda: str(value // timedelta(microseconds=1))),
        (Decimal, lambda: str(value)),
        (bytes, lambda: base64.b64encode(value).decode()),
    ):
        if isinstance(value, kind):
            return {key: [kind.__name__.lower(), text()]}
    return {key: ["text", str(value)]}


def _untagged(found: dict[str, Any], key: str) -> Any:
    if found.keys() != {key}:
        return found
    kind, text = found[key]
    return _MADE.get(kind, str)(text)


def not_started(why: object) -> PlatformError:
    """The process that reads what users pushed is not there."""
    return PlatformError(f"the process that reads data sets and models could not be started: {why}", step="reading")
