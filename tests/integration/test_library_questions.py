"""What a library asks of something of the candidate's that a suite gives it: a stand-in answers as the real thing does,
or nobody has a valid 0 for that."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED

CANDIDATE = """
import collections.abc, dataclasses, enum, functools, numbers
class Color(enum.Enum):
    RED = 1
    GREEN = 2
    def other(self): return Color(3 - self.value)
class Perm(enum.Flag):
    R = 1
    W = 2
class Scale(collections.abc.Mapping):
    def __init__(self, **items): self.items_ = items
    def __getitem__(self, key): return self.items_[key] * 2
    def __iter__(self): return iter(self.items_)
    def __len__(self): return len(self.items_)
class Row(collections.abc.Sequence):
    def __init__(self, *items): self.held = items
    def __getitem__(self, place): return self.held[place]
    def __len__(self): return len(self.held)
class Half(numbers.Rational):
    numerator, denominator = 1, 2
    def _no(self, *_): raise TypeError
    __add__ = __radd__ = __mul__ = __rmul__ = __pow__ = __rpow__ = __truediv__ = __rtruediv__ = __floordiv__ = _no
    __rfloordiv__ = __mod__ = __rmod__ = __lt__ = __le__ = __neg__ = __pos__ = __abs__ = __trunc__ = __floor__ = _no
    __ceil__ = __round__ = _no
    def __eq__(self, other): return isinstance(other, Half)
    def __hash__(self): return 1
@dataclasses.dataclass
class Point:
    x: int
    tags: tuple = (1, "a")
    def flip(self): return Point(-self.x, self.tags)
class Length:
    __unit__ = "m"
    def double(self): return 2
    @classmethod
    def made(cls): return cls()
@functools.lru_cache
def doubled(n): return n * 2
"""
SERVED = {
    "classes": (
        "pytest",
        """
import collections.abc, collections, copy, fractions, functools, inspect, operator, random
from solution import Color, Half, Perm, Point, Row, Scale, doubled
@functools.singledispatch
def kind(x): return "any"
kind.register(collections.abc.Iterable)(lambda x: "items")
kind.register(type)(lambda x: "class")
def test_abstract():
    assert collections.Counter(Scale(a=1)) == {"a": 2}
    assert sorted(random.sample(Row(1, 2), 2)) == [1, 2]
    assert fractions.Fraction(Half()) == fractions.Fraction(1, 2)
def test_no_container():
    assert kind(Point) == "class" and operator.length_hint(Point, 9) == 9
    for cls in (Point, Row):
        try: iter(cls)
        except TypeError: pass
        else: assert False
def test_container():
    assert len(Color) == 2 and list(Perm) == [Perm.R, Perm.W] and Color["RED"] in Color and kind(Color) == "items"
    assert list(reversed(Color)) == [Color.GREEN, Color.RED]
def test_shown():
    assert repr(Color) == "<enum 'Color'>" and repr(Row(1)).startswith("<solution.Row object at 0x")
    assert functools.wraps(Perm)(lambda: 1).__name__ == "Perm"
    assert not callable(Color.RED) and not hasattr(Color.RED, "__int__")
    assert str(inspect.signature(doubled)) == "(n)" and repr(Point.flip).startswith("<function Point.flip at 0x")
    assert str(inspect.signature(Point)) == "(x: int, tags: tuple = (1, 'a')) -> None"
def test_copied():
    assert copy.copy(Row(1).index)(1) == 0 and copy.deepcopy({"f": Point(2).flip})["f"]() == Point(-2)
def test_values(): assert doubled(2) == 4 and Color.RED.other() is Color.GREEN and Point(1).flip() == Point(-1)
""",
    ),
    "enum of hypothesis": (
        "pytest",
        """
from hypothesis import given, settings, strategies as st
from solution import Color, doubled
@settings(max_examples=5, database=None, deadline=None)
@given(st.sampled_from(Color))
def test_color(color): assert color.other() is not color and color.other().other() is color
def test_doubled(): assert doubled(2) == 4
""",
    ),
}
NOT_SERVED = {
    "the kind of a function": (
        "unittest",
        """
import inspect, unittest
from solution import Length, doubled
class T(unittest.TestCase):
    def test_kind(self): self.assertTrue(inspect.ismethod(Length.made) and inspect.ismethod(Length().double))
    def test_value(self): self.assertEqual(doubled(2), 4)
""",
    ),
    "an attribute": (
        "pytest",
        """
from solution import Length, doubled
def test_unit(): assert "{0.__unit__}".format(Length()) == "m"
def test_value(): assert doubled(2) == 4
""",
    ),
}
WRONG = CANDIDATE.replace("n * 2", "n * 3")


@pytest.mark.parametrize("named", SERVED)
async def test_a_library_is_told_what_the_real_thing_says(named: str) -> None:
    kind, suite = SERVED[named]
    paid = await scored(CANDIDATE, suite, kind, by_this_interpreter=True)
    assert (paid.score, str(paid.validity)) == (1.0, "valid"), paid.detail
    unpaid = await scored(WRONG, suite, kind, by_this_interpreter=True)
    assert (unpaid.score, str(unpaid.validity)) == (0.0, "valid"), unpaid.detail


@pytest.mark.parametrize("named", NOT_SERVED)
async def test_nobody_has_a_valid_nothing_for_what_a_library_is_told_otherwise(named: str) -> None:
    """It has no score and the reason, or it is judged; who is wrong beside the tests, too, has its 0."""
    kind, suite = NOT_SERVED[named]
    right = await scored(CANDIDATE, suite, kind, by_this_interpreter=True)
    assert right.score is None, right.detail
    assert "a library asks" in right.detail
    wrong = await scored(WRONG, suite, kind, by_this_interpreter=True)
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail
    with_gold = await scored(CANDIDATE, suite, kind, by_this_interpreter=True, gold={"solution.py": CANDIDATE})
    assert (with_gold.score, with_gold.trust) == (1.0, Trust.SHARED), with_gold.detail


ENDS = """
import os, sys, unittest
from solution import doubled
class T(unittest.TestCase):
    def test_it(self):
        if "harena.scoring.guest.proxy" in sys.modules:
            os._exit(3)  # as a library may do that meets what it does not know
        assert doubled(3) == 6
"""


@pytest.mark.parametrize("kind", ["pytest", "unittest"])
async def test_a_runner_that_ends_without_a_report_fails_nobody(kind: str) -> None:
    """No test has failed: it may have ended for what stands in for the candidate. Who passes in the suite's own process
    has no score and the reason; who is wrong there, too, has 0."""
    right = await scored(CANDIDATE, ENDS, kind, by_this_interpreter=True)
    assert right.score is None, right.detail
    assert "exit code 3 before its report" in right.detail
    wrong = await scored(WRONG, ENDS, kind, by_this_interpreter=True)
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail
