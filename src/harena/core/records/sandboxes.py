"""Sandboxes: where one is in its life, what it may use, and what is known of it and of its processes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Self

from harena.core.checked import LEAST_CORES, MOST_BYTES, MOST_CORES, MOST_PIDS, checked_seconds, quote
from harena.core.errors import SandboxValidationError
from harena.core.profiles import Profile
from harena.core.records.record import Record

_MIB = 1024 * 1024
_MOST_TAGS = 100_000
"""entries, a bound that the OpenAPI document states"""


class SandboxStatus(StrEnum):
    """Where a sandbox is in its life."""

    PENDING = "pending"
    CREATING = "creating"
    PREPARING = "preparing"
    """no sandbox of harena has it: programs that were written for cwsandbox name it (see `harena.aliases`)"""
    RUNNING = "running"
    PAUSED = "paused"
    """no sandbox of harena has it, as with PREPARING"""
    TERMINATING = "terminating"
    COMPLETED = "completed"
    """stopped because somebody asked"""
    FAILED = "failed"
    """could not start, or ended by itself"""
    TERMINATED = "terminated"
    """ended by its lifetime limit"""
    UNSPECIFIED = "unspecified"
    """a status that a later server has told, and this client does not know"""

    @property
    def is_terminal(self) -> bool:
        """No transition leaves this status."""
        return self in _TERMINAL


_TERMINAL = frozenset({SandboxStatus.COMPLETED, SandboxStatus.FAILED, SandboxStatus.TERMINATED})


@dataclass(frozen=True, slots=True)
class _Range:
    """Whole numbers that a limit may be."""

    least: int
    most: int
    why: str
    may_be_none: bool = False


_WHOLE = {
    "memory_bytes": _Range(8 * _MIB, MOST_BYTES, "bytes; a sandbox needs 8 MiB to start", may_be_none=True),
    "pids": _Range(4, MOST_PIDS, "processes and threads; a sandbox needs 4", may_be_none=True),
    "disk_bytes": _Range(_MIB, MOST_BYTES, "bytes, at least 1 MiB"),
    "inodes": _Range(100, 1 << 40, "files, directories and links"),
    "output_bytes": _Range(0, MOST_BYTES, "bytes; 0 keeps nothing"),
    "open_files": _Range(64, 1_048_576, "descriptors per process"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Record):
    """What one sandbox may use. None = no limit of that kind. Raises SandboxValidationError for other types and for
    numbers that no sandbox can have."""

    memory_bytes: int | None = 512 * _MIB
    """all processes of the sandbox, its files (they live in memory) and its commands' standard inputs together"""
    pids: int | None = 256
    """processes and threads at one time"""
    cpu: float | None = None
    """cores; 0.5 = half of one core"""
    disk_bytes: int = 512 * _MIB
    """bytes that can be written to the sandbox's writable directories"""
    inodes: int = 200_000
    """files, directories and links in the writable directories"""
    output_bytes: int = 64 * _MIB
    """kept per stream and exec; the rest is read, dropped and reported as truncated"""
    open_files: int = 1024
    """descriptors per process"""
    lifetime_seconds: float | None = 24 * 3600.0
    """wall time after which the sandbox is ended"""

    def __post_init__(self) -> None:
        for name, allowed in _WHOLE.items():
            value = getattr(self, name)
            if value is None and allowed.may_be_none:
                continue
            if type(value) is not int or not allowed.least <= value <= allowed.most:
                none = ", or None" if allowed.may_be_none else ""
                raise SandboxValidationError(
                    f"limits: {name} must be a whole number from {allowed.least} to {allowed.most}{none} "
                    f"({allowed.why}); got {quote(value)}"
                )
        if self.cpu is not None and (
            isinstance(self.cpu, bool)
            or not isinstance(self.cpu, int | float)
            or not math.isfinite(self.cpu)
            or not LEAST_CORES < self.cpu <= MOST_CORES
        ):
            raise SandboxValidationError(
                f"limits: cpu must be a number of cores above {LEAST_CORES} and up to {MOST_CORES}, or None "
                f"(no limit); got {quote(self.cpu)}"
            )
        if self.lifetime_seconds is not None:
            checked_seconds(self.lifetime_seconds, "limits: lifetime_seconds")


NO_LIMITS_SAID = Limits()
"""what a sandbox has where nobody says anything"""


LIMIT_NAMES = frozenset(each.name for each in fields(Limits))


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxInfo(Record):
    """What is known of a sandbox at one moment."""

    MOST_ITEMS: ClassVar[Mapping[str, int]] = {"tags": _MOST_TAGS}

    id: str
    """names the sandbox on its server"""
    status: SandboxStatus
    """where it is in its life"""
    image: str
    """name of its image"""
    blueprint: str | None
    """name or id of its blueprint; null = it has none"""
    tags: tuple[str, ...]
    """the user's own words, by which lists are narrowed"""
    annotations: Mapping[str, str]
    """the user's own notes"""
    limits: Limits
    """what it may use"""
    enforcement: Mapping[str, str]
    """limit name -> how this host enforces it ("cgroup v1", "rlimit per process", "not enforced: ..."); with an image's
    layers also `users` -> how many users it has"""
    created_at: datetime
    """when it was asked for"""
    profile: Profile = "strict"
    """what programs may do inside"""
    image_digest: str = ""
    """`sha256:...` of what its image was when it was made, or the interpreter of the default one, as `python:3.11.2`;
    empty = it was not made, or its server does not tell"""
    blueprint_digest: str = ""
    """digest of its blueprint; empty = it has none, or its server does not tell"""
    started_at: datetime | None = None
    """when programs could run in it; null = they never could"""
    stopped_at: datetime | None = None
    """when nothing of it ran any more; null = it has not ended"""
    expires_at: datetime | None = None
    """when it is ended by its lifetime limit; null = never"""
    status_reason: str | None = None
    """why it failed or ended, for people; null = nothing is to be said"""

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Build the record from an answer. A status of a later version is read as UNSPECIFIED."""
        info = super(SandboxInfo, cls).from_dict(given)
        return info if isinstance(info.status, SandboxStatus) else replace(info, status=SandboxStatus.UNSPECIFIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxUsage(Record):
    """What the programs of a sandbox use, measured from outside."""

    processor_seconds: float
    """processor time of all that has run in there; 0 = it cannot be known"""
    memory_bytes: int
    """what its programs and its files, which lie in memory, hold now, without pages that the kernel can drop"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessInfo(Record):
    """A process inside a sandbox, as the sandbox itself sees it."""

    pid: int
    """its number inside"""
    parent_pid: int
    """number of the process that has started it, or has taken it over"""
    state: str
    """the kernel's letter: R, S, D, T, Z ..."""
    command: tuple[str, ...]
    """its words"""
