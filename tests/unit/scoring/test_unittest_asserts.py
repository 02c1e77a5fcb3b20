"""Every assertion of unittest, asked about an object of a candidate's: none tells it what is expected."""

from __future__ import annotations

import unittest
from typing import Any

import pytest
from test_special_methods import SECRET, Yes, names

from harena.scoring.guest.candidate_process import SPECIAL
from harena.scoring.guest.standins import make_class
from harena.scoring.guest.suite import judge_by_values

EXPECTED: dict[str, Any] = {
    "assertCountEqual": [SECRET], "assertDictEqual": {SECRET: SECRET}, "assertListEqual": [SECRET],
    "assertMultiLineEqual": str(SECRET), "assertRegex": str(SECRET), "assertSequenceEqual": [SECRET],
    "assertSetEqual": {SECRET}, "assertTupleEqual": (SECRET,),
}  # fmt: skip
"""what is expected; else the secret itself"""
OTHERS = names(
    "assertEqual assertAlmostEqual assertGreater assertGreaterEqual assertLess assertLessEqual assertIs assertIn"
)
NOT_OF_VALUES = names(
    "assertTrue assertFalse assertIsNone assertIsNotNone assertIsInstance assertNotIsInstance assertRaises "
    "assertRaisesRegex assertWarns assertWarnsRegex assertLogs assertNoLogs assertNotEqual assertNotAlmostEqual "
    "assertNotIn assertIsNot assertNotRegex assertIsSubclass assertNotIsSubclass assertHasAttr assertNotHasAttr "
    "assertStartsWith assertNotStartsWith assertEndsWith assertNotEndsWith assertDictContainsSubset"
)
"""there is no expected value, or a no is wanted"""
METHODS = names("difference symmetric_difference union intersection startswith endswith search match equals")


class Judged(unittest.TestCase):
    """Of the assertions as a suite has them."""


judge_by_values(Judged)


def test_no_assertion_is_forgotten() -> None:
    """A new one of unittest's needs a row."""
    known = {name for name in dir(unittest.TestCase) if name.startswith("assert") and not name.endswith("_")}
    deprecated = {name for name in known if name.endswith("Equals") or name == "assertNotRegexpMatches"}
    assert known - deprecated - {"assertRaisesRegexp", "assertRegexpMatches"} <= {*EXPECTED, *OTHERS, *NOT_OF_VALUES}


@pytest.mark.parametrize(
    ("name", "is_first"),
    # a pattern of the candidate's is asked about the suite's text: that is what is tested
    [(name, is_first) for name in (*EXPECTED, *OTHERS) for is_first in (True, name == "assertRegex")],
)
def test_no_assertion_tells_what_is_expected(name: str, is_first: bool) -> None:
    """An object that agrees to everything passes none, and hears nothing."""
    candidate = Yes()
    special = [each for each in SPECIAL if each != "__repr__"]  # what was told is looked at as text
    cls = make_class(candidate, 0, "Liar", "Liar", "solution", None, [], special, METHODS, "", False)
    liar = object.__new__(cls)
    object.__setattr__(liar, "_harena_item", ("o", 1))
    expected = EXPECTED.get(name, SECRET)
    expected = [expected] if name == "assertIn" else expected
    with pytest.raises((AssertionError, TypeError, AttributeError)):
        getattr(Judged(), name)(*((liar, expected) if is_first else (expected, liar)))
    assert str(SECRET) not in str(candidate.told)
