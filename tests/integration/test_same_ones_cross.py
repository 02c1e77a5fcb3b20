"""Exceptions and functions of Python's own that cross between a suite and its candidate are the same ones again."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED

PROGRAM = """
import functools, operator
class ParseError(Exception):
    def __init__(self, message, position, errors=()):
        super().__init__(message)
        self.position, self.errors = position, list(errors)
class Parser:
    def __init__(self): self.errors, self.by_name = [], {}
    def run(self):
        self.errors += [ParseError("bad", 3), ParseError("worse", 5, [ValueError("inner")])]
        self.by_name["first"] = self.errors[0]
        return len(self.errors)
    def check(self):
        raise ParseError("all", 0, self.errors)
class Task:
    def __init__(self, error): self.error, self.result = error, None
    def run(self): raise self.error
LAST = []
def fail():
    LAST.append(ParseError("x", 1))
    raise LAST[-1]
def wrapped():
    try:
        int("x")
    except ValueError as error:
        new = ParseError("outer", 2)
        new.inner = error
        raise new from error
OPERATORS = {"+": operator.add, "-": operator.sub, "max": max, "len": len}
class Printer:
    def __init__(self, out=print): self.out = out
def key(name): return getattr(str, name)
square = functools.partial(pow, exp=2)
"""
SUITE = """
import operator, pytest
from solution import LAST, OPERATORS, ParseError, Parser, Printer, Task, fail, key, square, wrapped
def test_exceptions_that_are_held():
    parser = Parser()
    assert parser.run() == 2 and parser.errors[0].position == 3 and parser.by_name["first"] is parser.errors[0]
    assert [str(each) for each in parser.errors] == ["bad", "worse"] and isinstance(parser.errors[1], ParseError)
    with pytest.raises(ParseError) as caught:
        parser.check()
    assert [each.position for each in caught.value.errors] == [3, 5]
    assert isinstance(caught.value.errors[1].errors[0], ValueError)
def test_exceptions_are_themselves():
    error = ValueError("mine")
    task = Task(error)
    assert task.error is error and task.error is task.error
    with pytest.raises(ValueError) as caught:
        task.run()
    assert caught.value is error
    with pytest.raises(ParseError) as caught:
        fail()
    assert LAST[-1] is caught.value and LAST[-1].position == 1
    with pytest.raises(ParseError) as caught:
        wrapped()
    assert caught.value.__cause__ is caught.value.inner
def test_functions_are_themselves():
    assert OPERATORS["+"] is operator.add and OPERATORS["max"] is max and OPERATORS["-"](3, 1) == 2
    assert OPERATORS["len"] is not OPERATORS["max"] and OPERATORS["len"]([1, 2]) == 2
    assert Printer().out is print and key("lower") is str.lower and key("upper")("a") == "A"
    assert square.func is pow and square(3) == 9
"""


@pytest.mark.parametrize("isolate", ["auto", "sandbox"])
async def test_what_crosses_is_itself(isolate: str) -> None:
    """All of this gave a right program the lowest score; exceptions with attributes in a list were not read at all."""
    result = await scored(PROGRAM, SUITE, kind="pytest", isolate=isolate)
    assert (result.score, result.trust) == (1.0, Trust.SEPARATE), result.detail
    for edit in (
        ('ParseError("bad", 3)', 'ParseError("bad", 4)'),
        ("raise self.error", "raise ValueError('mine')"),
        ('"max": max', '"max": min'),
        ("raise LAST[-1]", 'raise ParseError("x", 1)'),
        ("out=print", "out=repr"),
    ):
        assert PROGRAM.count(edit[0]) == 1
        wrong = await scored(PROGRAM.replace(*edit), SUITE, kind="pytest", isolate="sandbox")
        assert wrong.score == 0.0, edit
