"""A suite that asks more often than two processes can answer in time is not the candidate's timeout."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Reason

pytestmark = SHARED

SUITE = """\
from solution import even
def test_a():
    for n in range(60_000):
        assert even(n) == (n % 2 == 0)
"""
RIGHT = "def even(n): return n % 2 == 0\n"
LIMITS = {"timeout_seconds": 1.0, "scorer_timeout_seconds": 10.0}


async def test_the_time_of_the_border_is_no_timeout() -> None:
    """A right program had the lowest score for what its calls cost on the way. In one process it is right, and nobody
    is paid there for what could not be judged apart."""
    found = await scored({"files": {"solution.py": RIGHT}}, SUITE, "pytest", **LIMITS)
    assert (found.score, str(found.validity)) == (None, "invalid"), found.detail
    assert "answers of the candidate's the time was over" in found.detail


@pytest.mark.parametrize(
    ("body", "reasons"),
    [
        ("time.sleep(0.05); return n % 2 == 0", {Reason.TIMEOUT}),
        ("\n    while n > 3000: pass\n    return n % 2 == 0", {Reason.TIMEOUT, Reason.SCORER_REJECTED}),
        ("return n % 2 == 0 or n == 59_999", {Reason.SCORER_REJECTED}),
    ],
)
async def test_no_slow_or_wrong_candidate_is_excused_by_it(body: str, reasons: set[Reason]) -> None:
    """One that sleeps, that never ends after many quick answers, and that answers wrongly in the end."""
    program = f"import time\ndef even(n): {body}\n"
    found = await scored({"files": {"solution.py": program}}, SUITE, "pytest", **LIMITS)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
    assert found.reason in reasons, found.detail
