"""Functions of the standard library that describe the candidate's objects, classes and functions to a suite."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED

PROGRAM = """
import abc, typing
from dataclasses import dataclass, field
@dataclass
class Item:
    name: str
    price: float = 1.0
    tags: list = field(default_factory=list)
@dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int = 0
@dataclass
class Order:
    number: int
    items: list
    at: Point = Point(0)
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> float: ...
class Square(Shape):
    def __init__(self, side): self.side = side
    def area(self): return self.side ** 2
async def fetch(x): return x
async def pages(n): yield n
def count(n: int): yield from range(n)
def add(a: int, b: typing.Optional[int] = None) -> list[int]: return [a, b]
"""
SUITE = """
import asyncio, collections, dataclasses, inspect, json, typing
from dataclasses import MISSING, asdict, astuple, fields, is_dataclass, replace
from solution import Item, Order, Point, Shape, Square, add, count, fetch, pages
def test_as_values():
    order = Order(1, [Item("a")])
    assert asdict(order) == {
        "number": 1, "items": [{"name": "a", "price": 1.0, "tags": []}], "at": {"x": 0, "y": 0}}
    assert json.loads(json.dumps(asdict(order.items[0]))) == {"name": "a", "price": 1.0, "tags": []}
    assert asdict(Point(1, 2), dict_factory=lambda pairs: {name.upper(): value for name, value in pairs}) == {
        "X": 1, "Y": 2}
    assert astuple(Point(1, 2)) == (1, 2)
def test_a_copy_with_other_values():
    point = Point(1, 2)
    moved = replace(point, y=5)
    assert (moved.x, moved.y) == (1, 5) and point.y == 2 and isinstance(moved, Point)
def test_fields():
    assert [each.name for each in fields(Point)] == ["x", "y"] and fields(Point)[0].type is int
    assert fields(Item)[0].default is MISSING and fields(Item)[1].default == 1.0
    assert fields(Item("a"))[2].default_factory is list
    assert is_dataclass(Point) and is_dataclass(Item("a")) and not is_dataclass(Square)
    assert Point.__dataclass_params__.frozen and not Item.__dataclass_params__.frozen
    @dataclasses.dataclass
    class Holder:
        point: object
    assert asdict(Holder(Point(1, 2))) == {"point": {"x": 1, "y": 2}}
def test_kinds():
    assert typing.get_type_hints(add) == {"a": int, "b": typing.Optional[int], "return": list[int]}
    assert inspect.isabstract(Shape) and not inspect.isabstract(Square)
    assert inspect.iscoroutinefunction(fetch) and asyncio.iscoroutinefunction(fetch)
    assert inspect.isgeneratorfunction(count) and inspect.isasyncgenfunction(pages)
    assert not any(kind(add) for kind in (
        inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction))
"""
ALWAYS_EQUAL = """
import dataclasses, inspect
class Equal(dict):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __getitem__(self, key): return self
class EqualTuple(tuple):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
"""
WRONG = {
    "price: float = 1.0": "price: float = 2.0",
    "y: int = 0": "y: int = 1",
    "tags: list = field(default_factory=list)": "tags: list = None",
    "frozen=True, order=True": "order=True",
    "def area(self): return": "def size(self): return",
    "async def fetch": "def fetch",
    "-> list[int]": "-> list",
}
FORGED = {
    "asdict": "dataclasses.asdict = lambda *_, **__: Equal()",
    "astuple": "dataclasses.astuple = lambda *_, **__: EqualTuple()",
    "fields": "dataclasses.fields = lambda *_: EqualTuple()",
    "is_dataclass": "dataclasses.is_dataclass = lambda *_: Equal()",
    "isabstract": "inspect.isabstract = lambda *_: Equal()",
}


@pytest.mark.parametrize("isolate", ["auto", "sandbox"])
async def test_a_suite_may_have_objects_described(isolate: str) -> None:
    """It had no score apart from the candidate, and a valid 0 with `isolate: sandbox`."""
    result = await scored(PROGRAM, SUITE, kind="pytest", isolate=isolate)
    assert (result.score, result.trust) == (1.0, Trust.SEPARATE), result.detail


@pytest.mark.parametrize("old", WRONG)
async def test_what_is_described_is_the_candidates(old: str) -> None:
    """A candidate with another class or function fails."""
    assert PROGRAM.count(old) == 1
    assert (await scored(PROGRAM.replace(old, WRONG[old]), SUITE, kind="pytest", isolate="sandbox")).score == 0.0


@pytest.mark.parametrize("name", FORGED)
async def test_descriptions_that_equal_everything(name: str) -> None:
    """A candidate that replaces the function in its process gains nothing: the result is judged as any other answer."""
    forged = PROGRAM.replace("price: float = 1.0", "price: float = 2.0").replace("y: int = 0", "y: int = 1")
    forged = ALWAYS_EQUAL + "".join(f"{line}\n" for line in FORGED.values()) + forged
    tests = {
        "asdict": "assert asdict(Item('a')) == {'name': 'a', 'price': 1.0, 'tags': []}",
        "astuple": "assert astuple(Point(1)) == (1, 0)",
        "fields": "assert fields(Item)[1].default == 1.0",
        "is_dataclass": "assert is_dataclass(Item) is True",
        "isabstract": "assert inspect.isabstract(Shape) is True",
    }
    suite = (
        "import inspect\nfrom dataclasses import *\nfrom solution import Item, Point, Shape\n"
        f"def test_one():\n    {tests[name]}\n"
    )
    assert (await scored(forged, suite, kind="pytest", isolate="sandbox")).score == 0.0


NAMED = """
class Table:
    __tablename__ = "users"
    __slots__ = ("a", "b")
    def __init__(self): self.a, self.b = 1, 2
class Row(Table):
    __slots__ = ("c",)
    __tablename__ = "rows"
"""
NAMES = """
from solution import Row, Table
def test_names_between_underscores():
    assert Table.__tablename__ == "users" == Table().__tablename__ and Row.__tablename__ == "rows"
    assert getattr(Table, "__labels__", None) is None and not hasattr(Row(), "__labels__")
    assert Table.__slots__ == ("a", "b") == Table().__slots__ and Row().__slots__ == ("c",)
    assert not hasattr(Table(), "__dict__")
"""


@pytest.mark.parametrize("isolate", ["auto", "sandbox"])
async def test_names_that_only_their_author_means(isolate: str) -> None:
    """A suite may ask for `__tablename__`, and an object for the `__slots__` of its class."""
    result = await scored(NAMED, NAMES, kind="pytest", isolate=isolate)
    assert (result.score, result.trust) == (1.0, Trust.SEPARATE), result.detail
    for edit in (('"users"', '"user"'), ('("c",)', '("d",)'), ('    __slots__ = ("a", "b")\n', "")):
        assert (await scored(NAMED.replace(*edit), NAMES, kind="pytest", isolate=isolate)).score == 0.0


CONTAINERS = """
import enum, typing
class Stack:
    def __len__(self): return 0
    def __iter__(self): return iter(())
class Empty: pass
class Listed(type):
    def __len__(cls): return 3
    def __iter__(cls): return iter("abc")
class Counted(metaclass=Listed): pass
class Color(enum.Enum):
    RED = 1
T = typing.TypeVar("T")
class Box(typing.Generic[T]):
    def __contains__(self, item): return False
"""
HAVE = """
from solution import Box, Color, Counted, Empty, Stack
def test_what_classes_have():
    for name in ("__len__", "__iter__"):
        assert hasattr(Stack, name) and hasattr(Stack(), name) and hasattr(Counted, name) and hasattr(Color, name)
        assert not hasattr(Empty, name) and not hasattr(Empty(), name) and not hasattr(Counted(), name)
    assert hasattr(Box, "__contains__") and not hasattr(Stack, "__contains__") and not hasattr(Empty, "__getitem__")
    assert len(Counted) == 3 and list(Counted) == ["a", "b", "c"] and len(Color) == 1 and Color["RED"] in Color
    assert Box[int] is not None and bool(Empty) and Empty and not len(Stack())
"""


@pytest.mark.parametrize("isolate", ["auto", "sandbox"])
async def test_special_methods_that_classes_have(isolate: str) -> None:
    """A class has those of its own and of its metaclass, and none of its stand-in's."""
    result = await scored(CONTAINERS, HAVE, kind="pytest", isolate=isolate)
    assert result.score == 1.0, result.detail
    for edit in (("def __len__(self)", "def size(self)"), ("def __iter__(cls)", "def items(cls)"),
                 ("class Empty: pass", "class Empty:\n    def __len__(self): return 1")):  # fmt: skip
        assert CONTAINERS.count(edit[0]) == 1
        wrong = await scored(CONTAINERS.replace(*edit), HAVE, kind="pytest", isolate=isolate)
        assert wrong.score == 0.0
