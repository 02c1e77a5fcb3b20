"""What a suite sees of how a candidate's classes are made is what plain Python shows."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED

IMPORTS = (
    "import abc, collections, collections.abc, contextlib, dataclasses, datetime, decimal, enum, fractions, inspect\n"
    "import json, string, threading, typing\n"
)
CLASSES = (
    IMPORTS
    + """
T = typing.TypeVar("T")
class Plain: pass
class Mixin:
    def hello(self): return "hi"
class Derived(Mixin, Plain): pass
class Number(int): pass
class Mixed(Mixin, int): pass
class Real(float): pass
class Pair(complex): pass
class Text(str): pass
class Raw(bytes): pass
class Row(tuple): pass
class Frozen(frozenset): pass
class Items(list): pass
class Bag(set): pass
class Table(dict): pass
class Buffer(bytearray): pass
class Queue(collections.deque): pass
class Ordered(collections.OrderedDict): pass
class Counts(collections.Counter): pass
class Default(collections.defaultdict): pass
class Wrapped(collections.UserDict): pass
class Money(decimal.Decimal): pass
class Share(fractions.Fraction): pass
class Day(datetime.date): pass
class Moment(datetime.datetime): pass
class Hour(datetime.time): pass
class Span(datetime.timedelta): pass
class Shown:
    def __init__(self, c, d: int = 1): self.c = c
    def go(self, x, *, y="a") -> str: return x
    @classmethod
    def of(cls, c): return cls(c)
    @staticmethod
    def plus(a, b): return a + b
class Child(Shown): pass
class Refused(Exception):
    def __init__(self, why, *, code=3): super().__init__(why)
class Colour(enum.Enum):
    FIRST = "r"
class Level(enum.IntEnum):
    FIRST = 1
class Word(str, enum.Enum):
    FIRST = "w"
    def upper(self): return "changed"
class Rate(float, enum.Enum):
    FIRST = 0.5
class Bits(bytes, enum.Enum):
    FIRST = b"b"
class Place(tuple, enum.Enum):
    FIRST = (1, 2)
class Feast(datetime.date, enum.Enum):
    FIRST = (2020, 1, 2)
class Wait(datetime.timedelta, enum.Enum):
    FIRST = 3
class Price(decimal.Decimal, enum.Enum):
    FIRST = "1.5"
class Perm(enum.Flag):
    FIRST = 1
class Mask(enum.IntFlag):
    FIRST = 1
class TextBase(str, enum.Enum): pass
class Late(TextBase):
    FIRST = "l"
class Named(Mixin, enum.IntEnum):
    FIRST = 2
@dataclasses.dataclass
class Record:
    a: int = 1
class Shape(abc.ABC): pass
class Square(Shape): pass
class Fields(typing.NamedTuple):
    a: int = 1
Classic = collections.namedtuple("Classic", "a", defaults=[1])
class Speaks(typing.Protocol):
    def hello(self) -> str: ...
class Speaker(Speaks):
    def hello(self): return "hi"
class Box(typing.Generic[T]): pass
class Table2(collections.abc.Mapping):
    def __getitem__(self, key): return 1
    def __iter__(self): return iter(())
    def __len__(self): return 0
class Failed(Exception): pass
class Missing(KeyError, AttributeError): pass
class Tagged(Mixin, ValueError): pass
class Boxed(Exception, typing.Generic[T]): pass
class Based(Exception, abc.ABC): pass
class Meta(type): pass
class Manager(contextlib.ContextDecorator): pass
class Encoder(json.JSONEncoder): pass
class Form(string.Formatter): pass
class Worker(threading.Thread): pass
"""
)
BASES = [
    "object",
    "int",
    "bool",
    "float",
    "complex",
    "str",
    "bytes",
    "tuple",
    "frozenset",
    "list",
    "set",
    "dict",
    "bytearray",
    "type",
    "BaseException",
    "Exception",
    "ValueError",
    "KeyError",
    "LookupError",
    "AttributeError",
    "TypeError",
    "collections.deque",
    "collections.OrderedDict",
    "collections.Counter",
    "collections.defaultdict",
    "collections.UserDict",
    "collections.abc.Mapping",
    "collections.abc.Sized",
    "collections.abc.Hashable",
    "decimal.Decimal",
    "fractions.Fraction",
    "datetime.date",
    "datetime.datetime",
    "datetime.time",
    "datetime.timedelta",
    "enum.Enum",
    "enum.IntEnum",
    "enum.Flag",
    "enum.IntFlag",
    "typing.Generic",
    "contextlib.ContextDecorator",
    "json.JSONEncoder",
    "string.Formatter",
    "threading.Thread",
    "Mixin",
    "Plain",
    "TextBase",
    "Shape",
]
NAMES = [node.name for node in ast.parse(CLASSES).body if isinstance(node, ast.ClassDef)] + ["Classic"]
MADE = {
    "Shown": "Shown(1)",
    "Child": "Child(1)",
    "Refused": "Refused(1)",
    "Day": "Day(2020, 1, 2)",
    "Moment": "Moment(2020, 1, 2)",
    "Meta": "None",
    "Speaks": "None",
}


PLAIN: dict[str, Any] = {"__name__": __name__}
exec(compile(CLASSES, "solution.py", "exec", dont_inherit=True), PLAIN)


def made(name: str) -> str:
    """An expression for an object of the class."""
    is_enum = issubclass(PLAIN[name], PLAIN["enum"].Enum) and name != "TextBase"
    return f"{name}.FIRST" if is_enum else "None" if name == "TextBase" else MADE.get(name, f"{name}()")


def told(expression: str) -> str:
    """What plain Python makes of it: a value, or the class of an exception."""
    try:
        return repr(eval(expression, PLAIN))
    except TypeError as error:
        return type(error).__name__


def suite_of(lines: list[str]) -> str:
    """Each line is an expression, and must come to what plain Python makes of it."""
    checks = "".join(f"        self.same({line!r}, lambda: {line}, {told(line)!r})\n" for line in lines)
    return (
        f"import unittest\n{IMPORTS}from solution import {', '.join(NAMES)}\n"
        "class T(unittest.TestCase):\n    def setUp(self): self.wrong = []\n"
        "    def same(self, what, ask, wanted):\n"
        "        try: found = repr(ask())\n        except TypeError as error: found = type(error).__name__\n"
        "        if found != wanted: self.wrong.append(f'{what} is {found}')\n"
        f"    def test(self):\n{checks}        self.assertEqual('; '.join(self.wrong), '')\n"
    )


@pytest.mark.parametrize("isolate", ["auto", True])
async def test_each_class_derives_here_from_what_it_derives_from_there(isolate: Any) -> None:
    """Every kind of class, and an object of it, beside every standard base: both that it is one and that it is none."""
    # what an abstract class takes for its own depends on what a process has loaded: of these, only what derives from it
    lines = [f"issubclass({name}, {base})" for name in NAMES for base in BASES]
    lines += [f"isinstance({made(name)}, {base})" for name in NAMES for base in BASES]
    lines += [f"issubclass({name}, abc.ABC)" for name in ("Shape", "Square", "Based", "Table2")]
    lines += [f"issubclass({name}, typing.Protocol)" for name in ("Speaks", "Speaker")]
    result = await scored(CLASSES, suite_of(lines), isolate=isolate, timeout_seconds=60.0)
    assert not result.detail
    assert result.score == 1.0


async def test_members_are_values_for_code_in_c() -> None:
    """Which reads them where they are; and what a class has by a name is the class's own."""
    lines = [
        "json.dumps({'l': Level.FIRST, Word.FIRST: [Rate.FIRST, Mask.FIRST]})",
        "'-'.join([Word.FIRST, Late.FIRST])",
        "b'-'.join([Bits.FIRST, Bits.FIRST])",
        "[10, 20][Level.FIRST]",
        "divmod(7, Named.FIRST)",
        "'%d %s' % (Level.FIRST, Word.FIRST + '!')",
        "datetime.datetime.combine(Feast.FIRST, datetime.time(1))",
        "datetime.date(2020, 1, 1) + Wait.FIRST",
        "sum([Price.FIRST, Price.FIRST])",
        "[*Place.FIRST]",
        "{'w': 1}[Word.FIRST]",
        "(Word.FIRST.upper(), Word.FIRST.title(), Word.FIRST.name, Word.FIRST.value, Named.FIRST.hello())",
        "(str(Level.FIRST), repr(Word.FIRST), f'{Rate.FIRST}')",
        "Level.FIRST == 1 and Level.FIRST is Level(1) and Word('w') is Word.FIRST and Level.FIRST < 2",
        "round(Rate.FIRST + 0.25, 1)",
    ]
    result = await scored(CLASSES, suite_of(lines))
    assert (result.score, result.trust, result.detail) == (1.0, Trust.SEPARATE, "")


async def test_signatures_of_classes_and_methods_are_the_candidates() -> None:
    """Also of a class that inherits its own, of a record, and of an exception."""
    objects = "Shown(1).go Shown.go Shown.of Shown(1).of Shown.plus Child(2).go Named.FIRST.hello"
    classes = "Shown Shown.__init__ Child Child.__init__ Record Record.__init__ Fields Refused"
    seen = f"{classes} {objects}".split()
    lines = [f"inspect.signature({each})" for each in seen]
    result = await scored(CLASSES, suite_of(lines))
    assert not result.detail
    assert result.score == 1.0
