"""A suite may derive classes of exceptions from the candidate's, and a right program is paid for what it does with
them."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust, Validity

pytestmark = SHARED

ERRORS = """
class AppError(Exception):
    status = 500
    tries = 5
    made = []
    def __init_subclass__(cls, code=0, **others):
        super().__init_subclass__(**others)
        cls.code = code
        AppError.made.append(cls.__name__)
    def __init__(self, text="", **others):
        super().__init__(text)
        self.others = others
    def told(self):
        return {"status": self.status, "text": str(self), "name": type(self).__name__}
class Described(AppError):
    def told(self):
        return {**super().told(), "described": True}
class Mixed:
    def mixed(self): return "mixed"
def told(error): return error.told()
def called(function):
    try: return function()
    except AppError as error: return error.told()
def retried(function):
    for number in range(1, 100):
        try: return function()
        except AppError as error:
            if number >= error.tries: raise
def raising(cls, *arguments): raise cls(*arguments)
def same(error): return error
def coded(code): return next(cls for cls in AppError.__subclasses__() if cls.code == code)
"""
SUITE = """
import pytest
from solution import AppError, Described, called, coded, raising, retried, same, told
class Missing(AppError):
    "Nothing is there."
    status = 404
    where = ["a", "b"]
class Numbered(AppError):
    def __init__(self, number):
        self.early = number
        super().__init__(f"number {number}")
        self.status = number
class Said(Described):
    tries = 1
    def __str__(self): return "said " + self.args[0]
    def told(self): return {**super().told(), "more": 1}
class Deep(Missing, ValueError):
    @property
    def status(self): return 7
class Coded(AppError, code=3): pass
def raises(cls, *arguments):
    def function(): raise cls(*arguments)
    return function
def test_data():
    assert told(Missing("x")) == {"status": 404, "text": "x", "name": "Missing"}
    assert called(raises(Missing, "x")) == {"status": 404, "text": "x", "name": "Missing"}
    assert Missing("x").told() == {"status": 404, "text": "x", "name": "Missing"}
def test_what_its_init_sets():
    assert called(raises(Numbered, 3)) == {"status": 3, "text": "number 3", "name": "Numbered"}
    assert same(Numbered(4)).early == 4
def test_methods():
    expected = {"status": 500, "text": "said x", "name": "Said", "described": True, "more": 1}
    assert told(Said("x")) == expected and called(raises(Said, "x")) == expected and Said("x").told() == expected
    assert called(raises(Deep, "x"))["status"] == 7
def test_class_attributes_steer():
    seen = []
    def function():
        seen.append(1)
        raise Said("x")
    with pytest.raises(Said): retried(function)
    assert len(seen) == 1
def test_classes():
    with pytest.raises(Missing, match="^y$") as caught: raising(Missing, "y")
    assert caught.value.status == 404 and type(caught.value) is Missing
    with pytest.raises(AppError): raising(Deep, "y")
    assert coded(3) is Coded and Coded.code == 3
    assert AppError.made == ["Described", "Missing", "Numbered", "Said", "Deep", "Coded"]
def test_each_is_itself():
    for error in (Missing("x"), Deep("x"), AppError("x")):
        assert same(error) is error
        with pytest.raises(AppError) as caught: same_raised(error)
        assert caught.value is error
def same_raised(error):
    def function(): raise error
    retried(function)
def test_attributes_that_are_set():
    error = AppError("x")
    error.status = 9
    assert told(error) == {"status": 9, "text": "x", "name": "AppError"}
"""


async def test_derived_exceptions_are_what_they_are_beside_the_suite() -> None:
    """A right program had the lowest score for each of these tests."""
    right = await scored(ERRORS, SUITE, kind="pytest")
    assert (right.score, right.trust) == (1.0, Trust.SEPARATE), right.detail
    beside = await scored(ERRORS, SUITE, kind="pytest", isolate=False)
    assert beside.score == 1.0, beside.detail


@pytest.mark.parametrize(
    ("part", "wrong_part"),
    [
        ('"status": self.status', '"status": 500'),
        ('"name": type(self).__name__', '"name": "AppError"'),
        ("number >= error.tries", "number >= 5"),
        ("raise cls(*arguments)", "raise AppError(*arguments)"),
        ("def same(error): return error", "def same(error): return type(error)(*error.args)"),
        ("AppError.made.append(cls.__name__)", "pass"),
    ],
)
async def test_a_wrong_program_has_the_lowest_score(part: str, wrong_part: str) -> None:
    """Nothing that is served for such classes says more of a program than it does."""
    assert ERRORS.count(part) == 1
    wrong = await scored(ERRORS.replace(part, wrong_part), SUITE, kind="pytest")
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


UNSERVED = {
    "a base that is no exception": "class Own:\n    status = 9\nclass Error(Own, AppError): pass\n"
    "def test(): assert told(Error('x'))['status'] == 9\n",
    "a class and an exception": "class Error(AppError, Mixed): pass\n"
    "def test(): assert told(Error('x'))['status'] == 500 and Error('x').mixed() == 'mixed'\n",
    "an object of the suite's": "class Own: pass\nclass Error(AppError):\n    status = Own()\n"
    "def test(): assert type(told(Error('x'))['status']) is Own\n",
    "a generic class": "class Error(Box[int]):\n    def inner(self): return 3\n"
    "def test(): assert Error().outer() == 3\n",
}
BOX = """
import typing
Item = typing.TypeVar("Item")
class Box(typing.Generic[Item]):
    def outer(self): return self.inner()
"""


@pytest.mark.parametrize("name", UNSERVED)
async def test_what_cannot_be_derived_is_decided_beside(name: str) -> None:
    """A right program has no score where only the suite's own process can tell, and a wrong one the lowest."""
    suite = "from solution import AppError, Box, Mixed, told\n" + UNSERVED[name]
    right = await scored(ERRORS + BOX, suite, kind="pytest")
    assert (right.score, "derives a class of its own" in right.detail) == (None, True), right.detail
    wrong_text = (ERRORS + BOX).replace("self.status", "1").replace("self.inner()", "1")
    wrong = await scored(wrong_text.replace('"mixed"', '"MIXED"'), suite, kind="pytest")
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


@pytest.mark.parametrize("isolate", ["auto", "sandbox"])
async def test_what_a_class_keeps_for_itself_is_not_told(isolate: str) -> None:
    """A suite may keep there what it expects. In one process it can be read, which decides nothing (no score)."""
    suite = (
        "import unittest, solution\n"
        "class Mine(solution.Base): _expected = [3, 5, 8]\n"
        "class T(unittest.TestCase):\n"
        "    def test_a(self): self.assertEqual(solution.f(), Mine._expected)\n"
    )
    base = "class Base(Exception): pass\n"
    reads = base + "def f(): return getattr(Base.__subclasses__()[0], '_expected', None)\n"
    more = {} if isolate == "auto" else {"isolate": isolate}
    result = await scored(reads, suite, kind="unittest", **more)
    assert result.score == (None if isolate == "auto" else 0.0), result.detail
    right = await scored(base + "def f(): return [3, 5, 8]\n", suite, kind="unittest", **more)
    assert right.score == 1.0, right.detail
