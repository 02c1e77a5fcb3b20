"""What a suite asks about the nature of something of the candidate's: its class's class, the name of a generator, what
an error was raised in the place of, a method of `object` called with it. A right program once had a valid 0 for it."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

PROGRAM = """
import abc, enum, functools
class Meta(type): pass
class Made(metaclass=Meta): pass
class Named(type):
    def __repr__(cls): return f"<{cls.__name__}>"
    def __format__(cls, spec): return cls.__name__ + spec
    def __lt__(cls, other): return cls.__name__ < other.__name__
    def __add__(cls, other): return cls.__name__ + other.__name__
    def __bool__(cls): return False
class Valued(enum.EnumMeta):
    def __contains__(cls, item): return item in cls._value2member_map_
class Color(enum.Enum, metaclass=Valued): RED = 1
def named(module): return module.__name__
class Ant(metaclass=Named): pass
class Bee(metaclass=Named): pass
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
class Point:
    def __init__(self, x: int): self.x = x
    def __repr__(self): return f"Point({self.x})"
    def stretched(self): self.__class__ = Far; return self
    def moved(self): return Point(self.x + 1)
class Far(Point):
    pass
class Kept(Point):
    def __getstate__(self): return {"kept": self.x}
    def __copy__(self): return Kept(self.x)
class Errors(ExceptionGroup):
    def derive(self, errors): return Errors(self.message, errors)
class Steps:
    def __iter__(self): return iter(())
    def __length_hint__(self): return 3
class Missing(Exception): pass
def find(table, key):
    try: return table[key]
    except KeyError: raise Missing(key) from None
def look(table, key):
    try: return table[key]
    except KeyError as error: raise Missing(key) from error
def nest(): raise ExceptionGroup("out", [ValueError("a"), ExceptionGroup("in", [KeyError("k")])])
def check(): raise Errors("two", [ValueError("a"), TypeError("b")])
def count(n): yield from range(n)
async def wait(): return 1
async def pages(): yield 1
@functools.lru_cache
def double(n): return 2 * n
def result(): return 5
"""
SUITE = """
import abc, copy
import pytest
from solution import *
from solution import Ant, Errors, Far, Kept, Made, Meta, Missing, Point, Shape
def test_classes():
    assert type(Point) is type and Point.__class__ is type and isinstance(Point, type)
    assert type(Made) is Meta and type(Shape) is abc.ABCMeta and type(Point(1)) is Point
    assert Far.mro() == [Far, Point, object] and type("New", (), {"a": 1}).a == 1
def test_texts_of_metaclasses():
    assert (repr(Ant), str(Ant), f"{Ant:!}", repr([Ant])) == ("<Ant>", "<Ant>", "Ant!", "[<Ant>]")
def test_methods():
    assert (Point.__init__.__name__, Point.__init__.__qualname__) == ("__init__", "Point.__init__")
    assert Point.__init__.__annotations__ == {"x": int}
    assert (Point.__repr__.__name__, Point.__repr__.__qualname__) == ("__repr__", "Point.__repr__")
    assert Point(1).moved.__qualname__ == "Point.moved"
    assert repr(Point(1).moved) == "<bound method Point.moved of Point(1)>"
    assert Point(1).__eq__(Point(1)) is NotImplemented and Point(1) != Point(1)
    assert Kept(1).__getstate__() == {"kept": 1} and Point(2).__getstate__() == {"x": 2}
    assert hasattr(Kept(1), "__copy__") and not hasattr(Kept(1), "__deepcopy__") and not hasattr(Point, "__copy__")
    assert copy.copy(Kept(1)).x == 1 and copy.deepcopy([Point(3)])[0].x == 3
def test_past_the_class():
    point = Point.__new__(Point)
    assert not hasattr(point, "x") and isinstance(point, Point)
    object.__setattr__(point, "x", 4)
    assert point.x == 4
    point.__class__ = Far
    assert isinstance(point, Far) and type(point) is Far and point.moved().x == 5
def test_names():
    assert (count(1).__name__, count(1).__qualname__, pages().__name__) == ("count", "count", "pages")
    assert repr(count(1)).startswith("<generator object count at")
    waiting = wait()
    assert waiting.__name__ == "wait"
    waiting.close()
    assert double.__module__ == "solution" and double(2) == 4
def test_errors():
    with pytest.raises(Missing) as caught:
        find({}, "a")
    assert isinstance(caught.value.__context__, KeyError) and caught.value.__cause__ is None
    with pytest.raises(Missing) as caught:
        look({}, "a")
    assert isinstance(caught.value.__cause__, KeyError) and caught.value.__context__ is caught.value.__cause__
    with pytest.raises(Errors) as caught:
        check()
    part = caught.value.subgroup(ValueError)
    assert type(part) is Errors and part.exceptions[0].args == ("a",)
    with pytest.raises(ExceptionGroup) as caught:
        nest()
    assert caught.value.exceptions[1].exceptions[0].args == ("k",)
def test_a_local_name():
    result = 3
    assert result == 3
def test_a_starred_name():
    assert result() == 5
"""
WRONG = {
    "another metaclass": ("class Made(metaclass=Meta)", "class Made(metaclass=type)"),
    "another text of a class": ('return f"<{cls.__name__}>"', 'return f"({cls.__name__})"'),
    "another name of a generator": ("def count(n): yield from range(n)", "def count(n): return (x for x in range(n))"),
    "another context": ("raise Missing(key) from None", "pass\n    raise Missing(key) from None"),
    "another class of a part": ("return Errors(self.message, errors)", "return ExceptionGroup(self.message, errors)"),
    "an __eq__ of its own": ("def moved", "def __eq__(self, other): return False\n    def moved"),
}


async def test_a_suite_sees_what_things_are() -> None:
    """Apart, with nobody in the tests' process."""
    right = await scored(PROGRAM, SUITE, kind="pytest", isolate="sandbox")
    assert (right.score, right.detail) == (1.0, "")


@pytest.mark.parametrize("name", WRONG)
async def test_who_is_something_else_is_not_paid(name: str) -> None:
    """What is told is the candidate's statement, as a value is."""
    assert PROGRAM.count(WRONG[name][0]) == 1
    wrong = await scored(PROGRAM.replace(*WRONG[name]), SUITE, kind="pytest", isolate="sandbox")
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail


UNSERVED = """
import inspect, operator, sys
import pytest
from solution import Ant, Bee, Color, Far, Point, Shape, Steps, double, named
@pytest.mark.parametrize("asks", [
    lambda: Point.__eq__ is object.__eq__,
    lambda: Point.__new__ is object.__new__,
    lambda: super(Far, Far(2)).moved().x == 3,
    lambda: issubclass(int, Shape),
    lambda: type(Point(1).stretched()) is Far,
    lambda: inspect.ismethod(Point(1).moved),
    lambda: operator.length_hint(Steps()) == 3,
    lambda: sorted([Bee, Ant]) == [Ant, Bee],
    lambda: Ant + Bee == "AntBee",
    lambda: not Ant,
    lambda: 1 in Color and Color.RED in [Color.RED],
    lambda: named(sys.modules[__name__]) == __name__,
])
def test_it(asks):
    assert asks() and double(2) == 4
"""


async def test_what_a_stand_in_cannot_be_is_no_valid_zero() -> None:
    """Nobody is paid for it, and who is wrong has a 0."""
    whole = PROGRAM + "Shape.register(int)\n"
    for text, score in ((whole, None), (whole.replace("2 * n", "3 * n"), 0.0)):
        result = await scored(text, UNSERVED, kind="pytest")
        assert result.score == score, result
