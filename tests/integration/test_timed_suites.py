# ruff: noqa: E501 (programs are text, not code of ours)
"""Suites that look at a clock around calls of a candidate in a sandbox of its own: the way of each call is not its time.

A test takes the best of ten batches of 50 calls. By messages none takes less than 5 ms, on any machine, in one process the best
one takes less on any that is not ten times too slow, and a program that sleeps 1 ms in each call takes 50 ms or more.
"""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED
RIGHT = "def f(n): return n + 1\n"
SLOW = "import time\ndef f(n): time.sleep(0.001); return n + 1\n"
WRONG = "def f(n): return n + 1 if n < 49 else n\n"
STOPS = "import time\ndef f(n):\n    time.sleep(0.001)\n    time.perf_counter = lambda: 0.0\n    return n + 1\n"
HEAD = "import datetime as dates, time, timeit, unittest\nfrom datetime import datetime\nfrom time import monotonic\nfrom solution import f\n"
LOOP = """
class T(unittest.TestCase):
    def test(self):
        best = 9.0
        for _ in range(10):
            began = {clock}
            found = [f(n) for n in range(50)]
            best = min(best, {clock} - began)
            self.assertEqual(found, list(range(1, 51)))
        self.assertLess(best, 0.005)
"""
STARTED = """
class T(unittest.TestCase):
    def setUp(self): self.spent, self.began = [], time.time_ns()
    def tearDown(self): self.assertLess(min(self.spent), 5_000_000)
    def test(self):
        for _ in range(10):
            for n in range(50): self.assertEqual(f(n), n + 1)
            self.spent.append(time.time_ns() - self.began); self.began = time.time_ns()
"""
CLOCKS = {
    "perf_counter": HEAD + LOOP.format(clock="time.perf_counter()"),
    "monotonic": HEAD + LOOP.format(clock="monotonic()"),
    "datetime": HEAD + LOOP.format(clock="datetime.now().timestamp()"),
    "module": HEAD + LOOP.format(clock="dates.datetime.now(dates.timezone.utc).timestamp()"),
    "timeit": HEAD + "class T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(49), 50)\n        self.assertLess(min(timeit.repeat(lambda: f(1), number=50, repeat=10)), 0.005)\n",
    "set up": HEAD + STARTED,
    "a class's": HEAD + "class Timer:\n    now = time.monotonic\n" + LOOP.format(clock="Timer().now()"),
    "default": HEAD + "def now(clock=time.perf_counter): return clock()\n" + LOOP.format(clock="now()"),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOCKS)
async def test_a_right_program_is_not_charged_for_the_way(name: str) -> None:
    """Its values are judged apart, its time in one process: so its trust is that of the latter."""
    result = await scored(RIGHT, CLOCKS[name])
    assert (result.score, str(result.trust)) == (1.0, "shared"), result.detail


@pytest.mark.parametrize("gold", [{}, {"solution.py": RIGHT}], ids=["alone", "gold"])
@pytest.mark.parametrize("name", ["perf_counter", "datetime"])
async def test_a_slow_or_wrong_program_is_not_excused_for_a_clock(name: str, gold: dict[str, str]) -> None:
    """Its time is its own in one process; and what it answers is judged where no clock matters."""
    for program in (SLOW, WRONG):
        result = await scored(program, CLOCKS[name], gold=gold)
        assert (result.score, str(result.validity)) == (0.0, "valid"), (program, result.detail)


STAMPS = "import time\ndef f(n): return n + 1\ndef stamp(): return time.time() - {late}\n"
STAMPED = (
    HEAD
    + """
from solution import stamp
class T(unittest.TestCase):
    def setUp(self): self.set_up = {set_up}
    def test(self):
        began = {began}
        list(map(f, range(2000)))
        self.assertLess(abs(stamp() - began), 0.15)
"""
)
STAMPED_BY = {
    "one look": STAMPED.format(set_up="0", began="time.time()"),
    "a look by its set-up": STAMPED.format(set_up="datetime.now().timestamp()", began="self.set_up"),
}


@pytest.mark.parametrize("name", STAMPED_BY)
async def test_a_time_that_the_candidate_tells_is_not_held_against_it(name: str) -> None:
    """Between the suite's look at a clock and the candidate's are 2,000 messages, which take 0.2 s on any machine."""
    right = await scored(STAMPS.format(late=0), STAMPED_BY[name])
    assert (right.score, str(right.reason)) == (None, "scorer_error"), right.detail


async def test_a_wrong_time_is_not_excused_for_a_clock() -> None:
    """It is as wrong in one process."""
    wrong = await scored(STAMPS.format(late=9), STAMPED_BY["one look"])
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail


async def test_who_stops_the_clock_of_the_tests_is_not_paid() -> None:
    """In one process it could, and is found out there."""
    result = await scored(STOPS, CLOCKS["perf_counter"])
    assert (result.score, str(result.validity)) == (0.0, "valid"), result.detail


ALARM = """import signal, unittest
import solution
class T(unittest.TestCase):
    def test_a(self):
        def late(*_): raise TimeoutError
        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, 1000 if type(solution).__name__ == "module" else 0.01)
        try: self.assertEqual([solution.f(n) for n in range(200)], list(range(1, 201)))
        finally: signal.setitimer(signal.ITIMER_REAL, 0)
    def test_b(self): self.assertEqual(solution.f(1), 2)
"""


@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
async def test_an_alarm_that_goes_off_on_the_way_is_no_valid_nothing(is_right: bool) -> None:
    """It breaks the conversation, so that nothing is known from then on; the run in one process decides."""
    result = await scored(RIGHT if is_right else WRONG, ALARM)
    assert (result.score, str(result.validity)) == ((None, "invalid") if is_right else (0.0, "valid")), result.detail


async def test_a_clock_that_the_candidate_is_given_is_pythons_own() -> None:
    """Whoever compares it finds the same one, as before; and a test that passes by its clock has no doubt."""
    program = "import time\nclass C:\n    def __init__(self, timer=time.monotonic): self.timer = timer\n    def now(self): return self.timer()\n"
    suite = "import time\nfrom solution import C\ndef test_a():\n    began = time.monotonic()\n    c = C(time.monotonic)\n    assert c.timer is time.monotonic and C().timer is time.monotonic\n    assert began <= c.now() <= time.monotonic()\n"
    result = await scored(program, suite, "pytest")
    assert (result.score, str(result.trust)) == (1.0, "separate"), result.detail
