"""The time that the cases of a `stdio` contract have together, where some are run once more."""

from __future__ import annotations

import pytest
from battery_world import Source, scored_alone
from real_sandboxes import source

from harena.core.results import RunResult, Validity
from harena.scoring import load_scenarios

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

MARKED = "import os, time\nn = int(input())\nif n % 2 == 0:\n    open('/tmp/mark', 'w').close()\n    print(n)\n"
WAITS_ALONE = f"{MARKED}elif not os.path.exists('/tmp/mark'):\n    time.sleep(60)\n"
FAILS_ALIKE = f"{MARKED}else:\n    time.sleep(0.5)\n"


async def scored(source: Source, program: str, *, cases: int, seconds: float) -> RunResult:
    asked = [{"stdin": f"{number}\n", "stdout": f"{number}\n"} for number in range(cases)]
    scoring = {"type": "stdio", "partial_credit": True, "cases": asked}
    row = {"id": "one", "candidate": program, "scoring": scoring, "limits": {"timeout_seconds": seconds}}
    (scenario,) = load_scenarios([row]).scenarios
    return await scored_alone(source, scenario, timeout_seconds=30)


async def test_a_program_that_waits_where_it_is_run_once_more_has_no_time_for_it(source: Source) -> None:
    """Each wrong case waited for the whole limit in a fresh sandbox, which cost nothing: with a limit of 2 s a run of
    20 cases took 65 s, and one of some hundreds as long as a job gives a run, which then has no score."""
    result = await scored(source, WAITS_ALONE, cases=12, seconds=1.0)
    assert result.validity is Validity.VALID
    assert result.checks_passed <= 3, result.detail


async def test_what_fails_alike_twice_costs_once(source: Source) -> None:
    """A program that is right in half of its cases is paid for them, however slow the others are within the limit."""
    result = await scored(source, FAILS_ALIKE, cases=8, seconds=3.6)
    assert (result.score, result.checks_run) == (0.5, 8), result.detail
