"""What a candidate's decorator reads of the annotations of a suite's function, and what of them cannot be told."""

from __future__ import annotations

import pytest
from test_unittest_suites import scored

from harena.core.results import Validity

SHOWN = """
import functools, inspect
class Square: pass
@functools.singledispatch
def show(value): return "object"
def injected(function):
    def calling(): return function(*[each.annotation() for each in inspect.signature(function).parameters.values()])
    return calling
"""
THEIRS = """
from solution import Square, injected, show
@show.register
def _(value: Square) -> str: return "square"
@injected
def made(square: Square): return type(square).__name__
def test_show(): assert (show(Square()), show(3)) == ("square", "object")
def test_made(): assert made() == "Square"
"""
UNTOLD = {
    "a class of the suite's": "class Own: pass\n@show.register\ndef _(value: Own): return 'own'\n"
    "def test(): assert (show(Own()), show(3)) == ('own', 'object')\n",
    "a text": "class Own: pass\n@show.register\ndef _(value: 'Own'): return 'own'\n"
    "def test(): assert (show(Own()), show(3)) == ('own', 'object')\n",
    "decorated before": "class Own:\n    def go(self): return 5\n@injected\ndef made(own: Own): return own.go()\n"
    "def test(): assert (made(), show(3)) == (5, 'object')\n",
}
IMPORT = "from solution import injected, show\n"


async def test_annotations_that_are_the_candidates_classes_are_told() -> None:
    """They were withheld, and a right program had the lowest score."""
    right = await scored(SHOWN, THEIRS, kind="pytest")
    assert right.score == 1.0, right.detail
    wrong = await scored(SHOWN.replace('"object"', '"thing"'), THEIRS, kind="pytest")
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


@pytest.mark.parametrize("name", UNTOLD)
async def test_what_fails_with_annotations_that_cannot_be_told_is_decided_beside(name: str) -> None:
    """A right program has no score, and a wrong one the lowest. The reason is what was noted first: of these suites
    also that the candidate's `register` is a function of a library's."""
    right = await scored(SHOWN, IMPORT + UNTOLD[name], kind="pytest")
    assert right.score is None, right.detail
    assert any(reason in right.detail for reason in ("annotations cannot be told", "a function of a library's"))
    wrong = await scored(SHOWN.replace('"object"', '"thing"'), IMPORT + UNTOLD[name], kind="pytest")
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail
