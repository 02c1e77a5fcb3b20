# ruff: noqa: E501 (programs are text, not code of ours)
"""What an operator gives for the tests' own operand is what it gave when it was asked among others."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_questions_unseen import of_asserts, suites
from test_unittest_suites import scored

pytestmark = SHARED

AGAIN = "import random\nSEEN = []\nclass E:\n    def _d(s, o):\n        if o in SEEN: return NEAR\n        SEEN.append(o)\n        return FAR\n    def __sub__(s, o): return s._d(o)\n    __rsub__ = __truediv__ = __sub__\n    def __eq__(s, o): return False\n    __hash__ = None\ndef root(x): return E()\n"
FAR = "random.uniform(10**3, 10**6)"
LIARS = {
    "a number": AGAIN.replace("NEAR", "0.0").replace("FAR", FAR),
    "a number of the kernel's": AGAIN.replace("NEAR", "0.0").replace("FAR", "random.SystemRandom().uniform(10**3, 10**6)"),
    "first an object": AGAIN.replace("NEAR", "0.0").replace("FAR", "D()") + "class D:\n    def __abs__(s): return random.uniform(10**3, 10**6)\n",
}  # fmt: skip
CASE = "import unittest\nfrom solution import root\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertAlmostEqual({}, 1.41421356)\n"


@pytest.mark.parametrize("name", LIARS)
async def test_who_tells_an_operand_by_its_coming_again_gains_nothing(name: str) -> None:
    """In asserts, and in suites in one process, also by an assertion that computes for itself."""
    body = "assert abs(root(2) - 1.41421356) < 1e-6"
    for found in (
        await of_asserts(LIARS[name], body),
        await of_asserts(LIARS[name], "assert abs(1.41421356 - root(2)) < 1e-6"),
        await scored(LIARS[name], suites(body)["pytest"], "pytest", isolate=False),
        await scored(LIARS[name], CASE.format("root(2)"), "unittest", isolate=False),
        await scored(LIARS[name], suites(body)["pytest"], "pytest"),
    ):
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


RIGHT = {
    "a draw": ("d = Draw()\nassert all(3 <= d + 3 < 10**9 + 3 for _ in range(3))", "import secrets\nclass Draw:\n    def __add__(s, n): return secrets.randbelow(10**9) + n\n"),
    "a measure": ("assert abs(M(2) - 2.0) < 1e-9\nassert M(3) - 1 == 2 and 5 - M(3) == 2", "class M:\n    def __init__(s, v): s.v = v\n    def __sub__(s, o): return s.v - getattr(o, 'v', o)\n    def __rsub__(s, o): return o - s.v\n"),
    "a stack": ("s = S()\nt = s << 'a'\nassert t is s and s.x == ['a']\ns << 'b'\nassert s.x == ['a', 'b']", "import threading\nclass S:\n    def __init__(s): s.l, s.x = threading.Lock(), []\n    def __lshift__(s, o): s.x.append(o); return s\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
async def test_right_operators_are_used(name: str) -> None:
    """Also where they give another value each time, which nobody foresees."""
    body, candidate = RIGHT[name]
    found = await scored(candidate, suites(body)["pytest"], "pytest", isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


async def test_an_assertion_of_nearness_asks_an_object_once() -> None:
    candidate = "class M:\n    def __init__(s, v): s.v, s.n = v, 0\n    def __eq__(s, o): s.n += 1; return s.v == o\n    def __sub__(s, o): s.n += 1; return s.v - o\n    def __rsub__(s, o): s.n += 1; return o - s.v\n"
    body = "m = M(2.00000001)\nself.assertAlmostEqual(m, 2.0)\nself.assertAlmostEqual(2.0, m, delta=0.1)\nself.assertEqual(m.n, len('abcd'))\nwith self.assertRaises(AssertionError): self.assertAlmostEqual(m, 2.5)"
    found = await scored(candidate, suites(body)["unittest"], "unittest", isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
