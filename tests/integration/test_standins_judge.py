# ruff: noqa: E501 (programs are text, not code of ours)
"""Stand-ins of a candidate's objects say nothing of what is right, in any of the ways that have been tried."""

from __future__ import annotations

import textwrap

import pytest
from test_unittest_suites import scored

FORGERIES = {
    "an exception of the runner's": (
        "class E(Exception): pass\nE.__module__, E.__qualname__ = 'test_it', 'unittest.case._ShouldStop'\ndef f(x): raise E()\n",
        "for a in (1, 2):\n    with self.subTest(a=a): self.assertEqual(f(a), 2 * a)",
    ),
    "a name of a star import": (
        "def f(x): return 0.0\ndef isclose(a, b): return True\n",
        "self.assertTrue(isclose(f(2), 12.5))",
    ),
}


def suite_of(body: str) -> str:
    """A suite of one test."""
    return (
        "import unittest\nfrom math import *\nfrom solution import *\nfrom solution import f\nclass T(unittest.TestCase):\n    def test(self):\n"
        + textwrap.indent(body, " " * 8)
        + "\n"
    )


@pytest.mark.parametrize(("candidate", "body"), FORGERIES.values(), ids=FORGERIES)
async def test_no_object_judges_itself(candidate: str, body: str) -> None:
    """Each of these was paid once."""
    result = await scored(candidate, suite_of(body))
    assert (result.score, str(result.validity)) == (0.0, "valid"), result.detail
