"""Suites of many small tests, each of which costs more in one process with the candidate than the candidate does."""

from __future__ import annotations

from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

PROGRAM = "def f(n): return n * (n + 1) // 2\n"
SUITE = "from solution import f\ndef brute(n): return sum(range(n + 1))\n" + "".join(
    f"def test_{n}():\n    a, b = brute({n}), brute({n} + 1)\n    assert f({n}) == a\n    assert f({n} + 1) == b\n"
    for n in range(120)
)


async def test_a_suite_that_takes_long_by_itself_has_its_own_time() -> None:
    """The candidate has two seconds, which such a suite takes whoever it is."""
    found = await scored(PROGRAM, SUITE, "pytest", isolate=False, timeout_seconds=2.0)
    assert found.score == 1.0, found.detail
    wrong = await scored(PROGRAM.replace("n + 1", "n + 2"), SUITE, "pytest", isolate=False, timeout_seconds=2.0)
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail


async def test_a_small_suite_is_not_long_for_a_small_limit() -> None:
    """What starting Python and pytest takes is no suite's own: nobody buys time with it."""
    slow = "import time\ndef f(n):\n    while time.process_time() < 6: pass\n    return 6\n"
    suite = "from solution import f\ndef test_a(): assert f(3) == 6\n"
    found = await scored(slow, suite, "pytest", isolate=False, timeout_seconds=1.0, scorer_timeout_seconds=20.0)
    assert (found.score, str(found.validity), str(found.reason)) == (0.0, "valid", "timeout"), found.detail


async def test_who_does_not_end_is_wrong_in_any_suite() -> None:
    endless = "def f(n):\n    while True: pass\n"
    for suite in (SUITE, "from solution import f\ndef test_a(): assert f(3) == 6\n"):
        found = await scored(endless, suite, "pytest", isolate=False, timeout_seconds=2.0, scorer_timeout_seconds=6.0)
        assert (found.score, str(found.validity), str(found.reason)) == (0.0, "valid", "timeout"), found.detail
