"""Who runs a job, and until when: the owner and the lease of a job, as they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

StoredJson = Mapping[str, Any]
"""a JSON object as it is stored; its keys are those of the room that made it, or the user's own"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One process, for all time."""

    pid: int
    started: str
    """clock ticks since boot, as the kernel counts them; empty = the job was let go of"""
    boot: str
    """the kernel's boot id and the pid namespace"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The fencing token of a job's owner. Each owner has the next epoch; a write of an earlier epoch is refused."""

    owner: Owner
    epoch: int
    beat: int
    """grows while the owner lives"""
