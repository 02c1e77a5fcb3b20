"""How a suite's clocks are watched, and how they stand while its candidate is asked."""

from __future__ import annotations

import datetime
import inspect
import signal
import time
import timeit
import types
from dataclasses import dataclass, field
from typing import Any

import pytest

from harena.scoring.guest.clocks import Clocks

NAMES = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "clock_gettime",
         "clock_gettime_ns")  # fmt: skip


@dataclass
class Asked:
    """A candidate, as far as clocks know it."""

    asked: int = 0
    asking_seconds: float = 0.0
    is_serving: bool = False
    is_changed: bool = False
    pythons: dict[Any, tuple[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note(self, what: str, *, is_doubt: bool = True) -> bool:
        """A pass is not in doubt for a clock."""
        assert not is_doubt
        self.notes.append(what)
        return True

    def answers(self, seconds: float = 0.0) -> None:
        """One more question has been answered, and took so long."""
        self.asked += 1
        self.asking_seconds += seconds


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the clocks replace is put back."""
    for name in NAMES:
        monkeypatch.setattr(time, name, getattr(time, name))
    for name in ("alarm", "setitimer"):
        monkeypatch.setattr(signal, name, getattr(signal, name))
    monkeypatch.setattr(timeit, "default_timer", timeit.default_timer)
    for function in (timeit.Timer.__init__, timeit.timeit, timeit.repeat):
        monkeypatch.setattr(function, "__defaults__", function.__defaults__)


def followed(candidate: Asked, *, is_known: bool = True, are_stopped: bool = False) -> Clocks:
    """Clocks of a suite that is this file, or none."""
    clocks = Clocks(candidate, frozenset([__file__] if is_known else []), are_stopped=are_stopped)
    clocks.follow()
    return clocks


@pytest.mark.parametrize("name", NAMES)
def test_a_question_between_two_looks_is_noted(name: str) -> None:
    """One look, or two without a question, says nothing of the candidate; and each test begins anew."""
    candidate = Asked()
    clocks = followed(candidate)
    arguments = (time.CLOCK_MONOTONIC,) if "gettime" in name else ()
    look = getattr(time, name)
    candidate.answers()
    look(*arguments)
    look(*arguments)
    clocks.began()
    candidate.answers()
    look(*arguments)
    assert (candidate.notes, clocks.is_timed) == ([], False)
    candidate.answers()
    look(*arguments)
    assert (len(candidate.notes), clocks.is_timed) == (1, True)


def test_a_look_that_the_candidate_asks_for_is_no_excuse() -> None:
    """Nor is one of a library's."""
    candidate = Asked(is_serving=True)
    clocks = followed(candidate)
    for _ in range(3):
        time.time()
        candidate.answers()
    candidate.is_serving = False
    time.time()
    assert not clocks.is_timed
    other = Asked()
    clocks = followed(other, is_known=False)
    for _ in range(3):
        time.time()
        other.answers()
    assert not clocks.is_timed


def test_what_timeit_measures_is_noted() -> None:
    """It has its clock by another name."""
    candidate = Asked()
    clocks = followed(candidate)
    timeit.timeit(candidate.answers, number=2)
    assert clocks.is_timed


@pytest.mark.parametrize("name", NAMES)
def test_a_clock_that_is_stopped_stands_while_the_candidate_is_asked(name: str) -> None:
    """An hour of questions is none of the time that the suite sees; its own time passes."""
    candidate = Asked()
    followed(candidate, are_stopped=True)
    arguments = (time.CLOCK_MONOTONIC,) if "gettime" in name else ()
    hour = 3600 * (10**9 if name.endswith("_ns") else 1)
    before = getattr(time, name)(*arguments)
    candidate.answers(3600.0)
    after = getattr(time, name)(*arguments)
    assert after - before < -hour / 2
    assert type(after) is type(before)


def test_dates_stand_too() -> None:
    """The class that stands for `datetime` makes real ones, and real ones are of it."""
    candidate = Asked()
    exchanged = followed(candidate, are_stopped=True).exchanged()
    stopped = exchanged[datetime.datetime]
    before = stopped.now(datetime.UTC)
    candidate.answers(3600.0)
    assert stopped.now(datetime.UTC) - before < -datetime.timedelta(seconds=1800)
    assert type(before) is datetime.datetime
    assert isinstance(before, stopped)
    assert stopped(2020, 1, 2) == datetime.datetime(2020, 1, 2)
    assert exchanged[datetime].datetime is stopped


def _failed_at(text: str) -> BaseException:
    held: dict[str, Any] = {"datetime": datetime.datetime, "time": time, "clock": time.localtime}
    with pytest.raises(AssertionError) as found:
        exec(compile(text, __file__, "exec"), held)
    error = found.value
    assert error.__traceback__ is not None
    return error.with_traceback(error.__traceback__.tb_next)  # this function names clocks, too


LOOKS = {
    "datetime.now()": True,
    "Clock().now()": False,
    "0": False,
    "time.strftime('%S')": True,
    "time.ctime()": True,
    "clock()": True,
    "Clock().ctime()": False,
    "time.sleep(0)": False,
}


@pytest.mark.parametrize("looks", LOOKS)
@pytest.mark.parametrize("where", ["test", "setUp", "before"])
def test_code_that_asks_what_time_it_is_is_known_by_its_failure(looks: str, where: str) -> None:
    """Nothing can be put into the class, so the code that an error went through is looked at, and what set it up; not
    what another test does."""
    looked = {each: looks if each == where else "0" for each in ("test", "setUp", "before")}
    error = _failed_at(f"""
class Clock:
    def now(self): return 0
    ctime = now
class Base:
    def setUp(self): {looked["setUp"]}
class Case(Base):
    def test_before(self): {looked["before"]}
    def test(self):
        began = {looked["test"]}
        assert not began and began
case = Case()
case.setUp()
case.test()
""")
    candidate = Asked()
    clocks = followed(candidate)
    clocks.failed(error)
    is_timed = LOOKS[looks] and where != "before"
    assert (clocks.is_timed, bool(candidate.notes)) == (is_timed, is_timed)


def test_one_look_counts_for_a_test_that_fails_after_a_question() -> None:
    """The candidate may have looked at a clock of its own, which had gone on meanwhile."""
    candidate = Asked()
    clocks = followed(candidate)
    clocks.began()
    time.time()
    clocks.failed(AssertionError())
    assert not clocks.is_timed
    candidate.answers()
    clocks.began()
    clocks.failed(AssertionError())
    assert not clocks.is_timed
    time.time()
    candidate.answers()
    clocks.failed(AssertionError())
    assert clocks.is_timed


def test_an_alarm_excuses_what_follows() -> None:
    """One that is taken back is none, nor is it a reason to run with stopped clocks."""
    candidate = Asked()
    clocks = followed(candidate)
    signal.alarm(0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert (candidate.notes, candidate.is_changed) == ([], False)
    signal.setitimer(signal.ITIMER_REAL, 1000.0, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert (len(candidate.notes), candidate.is_changed, clocks.is_timed) == (1, True, False)


def test_a_clock_in_a_class_binds_to_no_object() -> None:
    """Python's own are builtin functions: as an attribute of a class each is called without the object."""
    really = time.monotonic
    followed(Asked())

    class Timer:
        now = time.monotonic
        timer = signal.setitimer

    assert really() <= Timer().now() <= really()
    assert Timer().timer(signal.ITIMER_VIRTUAL, 0) == (0.0, 0.0)
    assert isinstance(time.time, types.BuiltinFunctionType)
    assert inspect.isbuiltin(time.perf_counter)
    assert (time.time.__name__, time.time.__module__, repr(time.monotonic)) == ("time", "time", repr(really))
    with pytest.raises(TypeError, match="keyword"):
        time.monotonic(clock=1)  # type: ignore[call-arg]
