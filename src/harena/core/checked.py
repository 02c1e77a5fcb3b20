"""What may be asked for: one place that says which numbers, texts and limits are good, before any work is done.

Every function raises SandboxValidationError, which names the field and shows what was given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from harena.core.errors import SandboxValidationError
from harena.core.models import MIB, Limits

MOST_SECONDS = 1e9
"""about 31 years: beyond it, deadlines cannot be written as dates"""
MOST_PIDS = 4_194_304
"""the kernel's own limit for process numbers"""
MOST_MODE = 0o7777
MOST_BYTES = 1 << 60


def checked_seconds(value: Any, name: str) -> float:
    """A length of time: finite, above zero, below MOST_SECONDS."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MOST_SECONDS:
        raise SandboxValidationError(
            f"{name} must be a positive number of seconds, below {MOST_SECONDS:.0e} (got {shown(value)})"
        )
    return float(value)


def checked_count(value: Any, name: str, *, least: int, most: int | None = None) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        bounds = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise SandboxValidationError(f"{name} must be a whole number {bounds} (got {shown(value)})")
    return value


def checked_mode(value: Any, name: str = "mode") -> int:
    """Permission bits."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_MODE:
        raise SandboxValidationError(f"{name} must be permission bits from 0 to 0o7777, as 0o644 (got {shown(value)})")
    return value


def encodable(text: str, name: str) -> str:
    """Text that UTF-8 can carry: half of a surrogate pair alone has no bytes."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise SandboxValidationError(
                f"{name}: {shown(text)} cannot be written as UTF-8: character {error.start} is half of a surrogate "
                "pair; remove it, or pass bytes where bytes are taken"
            ) from None
    return text


def checked_text(value: Any, name: str) -> str:
    """Text that is not empty and can be sent."""
    if not isinstance(value, str) or not value:
        raise SandboxValidationError(f"{name}: must be text that is not empty (got {shown(value)})")
    return encodable(value, name)


def checked_texts(value: Any, name: str) -> dict[str, str]:
    """A mapping from text to text; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SandboxValidationError(f'{name} must be a mapping, as {{"NAME": "value"}} (got {shown(value)})')
    checked = dict(value)
    for key, text in checked.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise SandboxValidationError(f"{name}: names and values must be text (got {shown(key)}: {shown(text)})")
        encodable(key, name)
        encodable(text, name)
    return checked


def content_bytes(value: Any, name: str) -> bytes:
    """Bytes, or text as UTF-8."""
    if isinstance(value, str):
        return encodable(value, name).encode()
    if not isinstance(value, bytes | bytearray | memoryview):
        raise SandboxValidationError(f"{name} must be bytes or text (got {type(value).__name__})")
    return bytes(value)


def shown(value: Any) -> str:
    """A value in the form that an error message shows: never longer than a line."""
    if isinstance(value, int) and value.bit_length() > 300:  # Python refuses to write very long ones
        return f"a whole number of {value.bit_length()} bits"
    text = ascii(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


@dataclass(frozen=True, slots=True)
class _Range:
    least: int
    most: int
    why: str
    may_be_none: bool = False


_WHOLE = {
    "memory_bytes": _Range(8 * MIB, MOST_BYTES, "bytes; a sandbox needs 8 MiB to start", may_be_none=True),
    "pids": _Range(4, MOST_PIDS, "processes and threads; a sandbox needs 4", may_be_none=True),
    "disk_bytes": _Range(MIB, MOST_BYTES, "bytes, at least 1 MiB"),
    "inodes": _Range(100, 1 << 40, "files, directories and links"),
    "output_bytes": _Range(0, MOST_BYTES, "bytes; 0 keeps nothing"),
    "open_files": _Range(64, 1_048_576, "descriptors per process"),
}
LEAST_CORES, MOST_CORES = 0.001, 4096


def check_limits(limits: Limits) -> None:
    """Types and ranges of everything that a sandbox may use; see `Limits` for the meaning and the units."""
    for name, allowed in _WHOLE.items():
        value = getattr(limits, name)
        if value is None and allowed.may_be_none:
            continue
        if type(value) is not int or not allowed.least <= value <= allowed.most:
            none = ", or None" if allowed.may_be_none else ""
            raise SandboxValidationError(
                f"limits: {name} must be a whole number from {allowed.least} to {allowed.most}{none} "
                f"({allowed.why}); got {shown(value)}"
            )
    cpu = limits.cpu
    if cpu is not None and (
        isinstance(cpu, bool)
        or not isinstance(cpu, int | float)
        or not math.isfinite(cpu)
        or not LEAST_CORES < cpu <= MOST_CORES
    ):
        raise SandboxValidationError(
            f"limits: cpu must be a number of cores above {LEAST_CORES} and up to {MOST_CORES}, or None "
            f"(no limit); got {shown(cpu)}"
        )
    if limits.lifetime_seconds is not None:
        checked_seconds(limits.lifetime_seconds, "limits: lifetime_seconds")


LIMIT_NAMES = frozenset(field.name for field in fields(Limits))
