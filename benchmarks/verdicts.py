"""From how a program ended to its verdict: pure, and the same for every peer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a program earned."""

    PASS = "pass"
    FAIL = "fail"
    TIMEOUT = "timeout"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How one program ended, in words that every peer can fill in."""

    returncode: int
    """exit code, or minus the signal that ended it"""
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    """the peer killed it at its deadline"""
    out_of_memory: bool = False
    """the peer knows that the memory limit killed it"""


def verdict_of(ending: Ending, expected_stdout: bytes | None) -> Verdict:
    """The verdict. `expected_stdout` None: the exit code decides; else the exact output must match as well.

    Peers with an address-space limit let the allocation fail instead of killing the program, so an uncaught
    MemoryError counts as the memory limit.
    """
    if ending.timed_out:
        return Verdict.TIMEOUT
    if ending.out_of_memory or (ending.returncode != 0 and _last_line(ending.stderr).startswith(b"MemoryError")):
        return Verdict.MEMORY
    if ending.returncode == 0 and expected_stdout in (None, ending.stdout):
        return Verdict.PASS
    return Verdict.FAIL


def _last_line(stderr: bytes) -> bytes:
    return stderr.rstrip().rpartition(b"\n")[2]
