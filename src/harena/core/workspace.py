"""Workspaces: what one has (jobs, blueprints, scenarios) does not exist for another; and what each may use."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, fields

from harena.core.checked import shown
from harena.core.errors import ValidationError
from harena.core.models import MIB

DEFAULT_WORKSPACE = "default"
"""An embedded node's, and that of a server without keys."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def checked_workspace(name: object) -> str:
    """A workspace's name, which is also a directory's. Raises ValidationError."""
    return checked_word(name, "workspace")


def checked_word(value: object, field: str) -> str:
    """A name that is plain enough for a path, a URL and a log. Raises ValidationError."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValidationError(
            f"{field} {shown(value)}: use 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit "
            "first"
        )
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceLimits:
    """What one workspace may use of a server. The defaults are those of a server that is told nothing."""

    requests_per_second: float = 2000.0
    """of each of its API keys, on average"""
    request_burst: int = 10_000
    """requests that a key may send at once, after it was quiet"""
    request_bytes: int = 1024 * MIB
    """of one request's body, where that is JSON or lines of scenarios; files have no such bound"""
    sandboxes: int = 10_000
    """that live at one time; those that jobs make are not counted here, but by `runs`"""
    open_jobs: int = 1000
    """benchmark jobs that have not ended"""
    runs: int | None = None
    """of benchmark jobs, under way at one time; None = as many as the node has slots"""


LIMITS = tuple(field.name for field in fields(WorkspaceLimits))
LimitsOf = Callable[[str], Awaitable[WorkspaceLimits]]
"""what a workspace may use now; raises PlatformError"""

_RANGES: Mapping[str, tuple[float, float]] = {
    "requests_per_second": (0.001, 1e6),
    "request_burst": (1, 10**6),
    "request_bytes": (1, 2**40),
    "sandboxes": (0, 10**6),
    "open_jobs": (0, 10**6),
    "runs": (0, 10**6),
}


def parse_limits(words: Iterable[str]) -> dict[str, float | int | None]:
    """Limits as `NAME=NUMBER` or, for what all may use, `NAME=default` (None). Raises ValidationError that lists every
    mistake."""
    found: dict[str, float | int | None] = {}
    mistakes = []
    for word in words:
        name, _, number = word.partition("=")
        if name not in _RANGES:
            mistakes.append(f"{shown(word)}: there is no such limit; there are {', '.join(LIMITS)}")
        elif number == "default":
            found[name] = None
        elif (value := _number(name, number)) is None:
            least, most = _RANGES[name]
            mistakes.append(f"{shown(word)}: give a number from {least:g} to {most:g}, or {name}=default")
        else:
            found[name] = value
    if mistakes:
        raise ValidationError("\n  ".join(["these limits cannot be set:", *mistakes]))
    return found


def _number(name: str, text: str) -> float | int | None:
    least, most = _RANGES[name]
    try:
        value = float(text) if name == "requests_per_second" else int(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and least <= value <= most else None
