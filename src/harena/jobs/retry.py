"""Whether a run is tried again: a pure function of what failed and how often.

Failures of the platform are tried again. What a program did (a wrong answer, a time-out) is a score and is not
repeated, because repeating it until it passes would teach a lie; a job may ask for it all the same, reason by reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from harena.core.errors import HarenaError, HostUnsupportedError, NotFoundError, ValidationError
from harena.core.results import Reason

ALONE_AFTER_INTERRUPTIONS = 2
"""lost nodes after which a run goes on with nothing else of its job beside it"""
STARVED_RETRIES = 1
"""further tries of a run that looked starved, also where a job asks for none"""
MOST_INTERRUPTIONS = 5
"""lost nodes after which a run is given up: it was alone under the last ones, so it is what ends them"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often, and how patiently, a run that the platform failed is tried again."""

    retry_attempts: int = 1
    """further tries after the first; 0 = none"""
    retry_reasons: frozenset[str] = frozenset()
    """reasons of scored results that are tried again, too"""
    first_delay_seconds: float = 0.1
    factor: float = 2.0
    """each further delay is this many times the one before"""
    max_delay_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """Try again, not before `delay_seconds` have passed."""

    delay_seconds: float


@dataclass(frozen=True, slots=True)
class RetryAlone:
    """Try again when nothing else of the job runs."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Do not try again. `whole_job`: no other run of the job could fare better."""

    whole_job: bool = False


def decide(policy: RetryPolicy, error: Exception, *, failures: int) -> RetryAfter | GiveUp:
    """What follows the `failures`-th (1, 2, ...) platform failure of one run.

    A host that forbids what isolation needs, or an image that does not exist, stops the whole job: the next run would
    meet the same answer. What a run itself asks for wrongly stays wrong, for this run. A delay that the error asks for
    is kept when it is longer than ours. A run that looked starved is always tried again, alone: what it did then says
    whether the host or the candidate was to blame.
    """
    if isinstance(error, HostUnsupportedError | NotFoundError):
        return GiveUp(whole_job=True)
    starved = isinstance(error, HarenaError) and error.reason == Reason.STARVED
    most = max(policy.retry_attempts, STARVED_RETRIES) if starved else policy.retry_attempts
    if failures > most or isinstance(error, ValidationError):
        return GiveUp()
    delay = _delay(policy, failures)
    if isinstance(error, HarenaError) and error.retry_delay is not None:
        delay = max(delay, error.retry_delay.total_seconds())
    return RetryAfter(delay)


def decide_interrupted(interruptions: int) -> RetryAlone | GiveUp | None:
    """What follows when so many nodes were lost (killed, not stopped) while a run was under way; None = it is tried
    again like any other. Whoever shares a node with a run that ends it is under way then, too: only a run that was
    alone is given up.

    >>> [decide_interrupted(lost) for lost in (1, 2, 4, 5)]
    [None, RetryAlone(), RetryAlone(), GiveUp(whole_job=False)]
    """
    if interruptions >= MOST_INTERRUPTIONS:
        return GiveUp()
    return RetryAlone() if interruptions >= ALONE_AFTER_INTERRUPTIONS else None


def decide_scored(policy: RetryPolicy, reason: str, *, failures: int) -> RetryAfter | None:
    """What follows a scored result after so many failures and repetitions; None = it stands."""
    if reason not in policy.retry_reasons or failures >= policy.retry_attempts:
        return None
    return RetryAfter(_delay(policy, failures + 1))


def _delay(policy: RetryPolicy, failures: int) -> float:
    # the exponent is bounded so that a large count cannot overflow a float
    return min(policy.max_delay_seconds, policy.first_delay_seconds * policy.factor ** min(failures - 1, 60))
