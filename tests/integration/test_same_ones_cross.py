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


MANY = """
class Own(Exception): pass
class Batch:
    def __init__(self, cls, count): self.errors = [cls(number) for number in range(count)]
    def report(self): return {"errors": self.errors}
    def go(self, number): raise self.errors[number]
    def has(self, error): return any(error is each for each in self.errors)
def make(cls, number): return cls(number)
def same(error): return error
"""
MANY_SUITE = """
import pytest
from solution import Batch, Own, make, same
EARLY = Batch(Own, 20)
FIRST = EARLY.errors
def test_what_was_met_as_the_file_was_read():
    assert EARLY.errors == FIRST and EARLY.errors[0] is FIRST[0]
@pytest.mark.parametrize("cls", [Own, ValueError])
def test_each_is_itself(cls):
    batch = Batch(cls, 70)
    assert batch.report()["errors"] == batch.errors
    seen = []
    for number in range(70):
        with pytest.raises(cls) as caught: batch.go(number)
        seen.append(caught.value)
    assert all(here is there for here, there in zip(seen, batch.errors))
    for number in range(70):
        with pytest.raises(cls) as caught: batch.go(number)
        assert caught.value is seen[number] and batch.has(seen[number])
@pytest.mark.parametrize("cls", [Own, ValueError])
def test_those_that_only_the_suite_has(cls):
    mine = [make(cls, number) for number in range(300)]
    assert all(same(each) is each for each in mine) and all(same(each) is each for each in mine)
"""
WRITTEN = """
import pytest
from solution import Batch, Own
def test_what_is_written_on_one_that_is_let_go():
    batch = Batch(Own, 100)
    for number in range(100):
        with pytest.raises(Own) as caught: batch.go(number)
        caught.value.mark = number
        del caught
    assert [each.mark for each in batch.errors] == list(range(100))
"""


async def test_many_exceptions_are_themselves() -> None:
    """More than eight were other ones when they crossed again, and a right program had the lowest score."""
    result = await scored(MANY, MANY_SUITE, kind="pytest")
    assert (result.score, result.trust) == (1.0, Trust.SEPARATE), result.detail
    for right, wrong_part in (
        ('{"errors": self.errors}', '{"errors": [Own(1) for each in self.errors]}'),
        ("raise self.errors[number]", "raise type(self.errors[number])(number)"),
        ("def same(error): return error", "def same(error): return type(error)(*error.args)"),
    ):
        assert MANY.count(right) == 1
        wrong = await scored(MANY.replace(right, wrong_part), MANY_SUITE, kind="pytest")
        assert (wrong.score, wrong.trust) == (0.0, Trust.SEPARATE), wrong.detail


async def test_what_the_border_cannot_keep_of_an_exception_is_told() -> None:
    """What a suite writes on an exception that it lets go is lost: a right program has no score, a wrong one the
    lowest."""
    written = WRITTEN.replace("Own", "ValueError").replace("Batch, ValueError", "Batch")
    right = await scored(MANY, written, kind="pytest")
    assert (right.score, "held no more" in right.detail) == (None, True), right.detail
    wrong = await scored(MANY.replace("raise self.errors[number]", "raise ValueError(number)"), written, kind="pytest")
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail


async def test_what_is_written_on_an_exception_of_the_candidates_class_is_kept() -> None:
    """Its class's exceptions have what the suite sets where the candidate is."""
    right = await scored(MANY, WRITTEN, kind="pytest")
    assert (right.score, right.trust) == (1.0, Trust.SEPARATE), right.detail
    wrong = await scored(MANY.replace("raise self.errors[number]", "raise Own(number)"), WRITTEN, kind="pytest")
    assert (wrong.score, str(wrong.validity)) == (0.0, "valid"), wrong.detail
