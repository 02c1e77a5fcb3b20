"""What a scored run says: the envelope that every score travels in.

A score is None exactly when the platform failed (`validity` "infra") or the contract itself could not be applied
("invalid"); it is then no reward at all, and never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from harena.core.profiles import Profile
from harena.core.records.record import Record


class Validity(StrEnum):
    """Whether a score may be trained on."""

    VALID = "valid"
    INFRA = "infra"
    """the platform failed, also after its retries; score is None"""
    INVALID = "invalid"
    """the scoring contract itself is broken (its scorer crashed on a good sandbox); score is None"""
    SUSPECT = "suspect"
    """scored, and something about the run looks like tampering; the score is the minimum"""


class Trust(StrEnum):
    """Where the verdict was computed."""

    SEPARATE = "separate"
    """candidate and verdict in different processes: cannot be forged from inside"""
    SHARED = "shared"
    """a trusted command over the candidate's files: hardened, not unforgeable"""


class Reason(StrEnum):
    """Why a run got its score: the closed table."""

    PASSED = "passed"
    WRONG_ANSWER = "wrong_answer"
    PARTIAL = "partial"
    """some checks passed and some did not"""
    EXCEPTION = "exception"
    """the candidate raised, or ended with a non-zero exit code"""
    SYNTAX_ERROR = "syntax_error"
    MISSING_ENTRY_POINT = "missing_entry_point"
    TIMEOUT = "timeout"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    EXITED_EARLY = "exited_early"
    """the candidate ended before every planned check had run"""
    BAD_VALUE = "bad_value"
    """the candidate returned a value that the codec does not carry"""
    PROTOCOL = "protocol"
    """the candidate's side of the border said something that it may not say"""
    EMPTY_CANDIDATE = "empty_candidate"
    INVALID_CANDIDATE = "invalid_candidate"
    """its files cannot be written: their names, their number or their size; nothing was run"""
    SCORER_REJECTED = "scorer_rejected"
    """a custom scorer or trusted command gave less than the pass mark"""
    SCORER_ERROR = "scorer_error"
    PLATFORM_ERROR = "platform_error"
    STARVED = "starved"
    """out of time on a host that did not give it the processor"""
    CANCELLED = "cancelled"
    HONEYPOT = "honeypot"
    """passed a scenario that no honest candidate can pass"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescore(Record):
    """What the same candidate got when it was executed and scored once more, in fresh sandboxes."""

    score: float | None
    """None where the second try gave none"""
    reason: Reason | None = None
    error: str = ""
    """why the platform could not score it again"""

    def agrees(self, score: float | None) -> bool | None:
        """Both scores are the same; None where the platform failed, which says nothing about the candidate."""
        if self.error:
            return None
        return score is not None and self.score is not None and abs(score - self.score) < _SAME_SCORE


_SAME_SCORE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(Record):
    """One attempt of one scenario, scored (or explicitly not)."""

    scenario_id: str
    attempt: int = 1
    score: float | None
    passed: bool
    validity: Validity
    trust: Trust
    reason: Reason
    detail: str = ""
    """one line for people; never parsed"""
    duration_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    checks_planned: int = 0
    checks_run: int = 0
    checks_passed: int = 0
    scorer_version: str = ""
    evidence: str = ""
    """sha256 over contract, candidate, scorer version and observations"""
    scenario_digest: str = ""
    """sha256 over all but the candidate that decides the score; empty where nothing was scored"""
    candidate_digest: str = ""
    """sha256 over the candidate's files; empty where nothing was scored"""
    profile: Profile | Literal[""] = ""
    """what programs could do in the candidate's sandbox; empty where it was in none"""
    image_digest: str = ""
    """`sha256:...` of the image that the candidate's sandbox was made of, or the interpreter of the default one, as
    python:3.11.2; empty where it was in none"""
    blueprint_digest: str = ""
    """sha256 over the blueprint that it was made of; empty = none"""
    platform_retries: int = 0
    rescore: Rescore | None = None
    """None = it was scored once"""
    metadata: Mapping[str, Any] = field(default_factory=dict)
