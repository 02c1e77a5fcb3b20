# ruff: noqa: E501 (programs are text, not code of ours)
"""Operators between plain operands and objects of classes that a suite does not name: the run in one process decides."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_standins_serve import suite_of
from test_unittest_suites import scored

pytestmark = SHARED
VEC = "class Vec:\n    def __init__(self, x, y): self.x, self.y = x, y\n    def __mul__(self, n): return Vec(self.x * n, self.y * n)\n    __rmul__ = __mul__\n    def __eq__(self, o): return (self.x, self.y) == (o if isinstance(o, tuple) else (o.x, o.y))\n    def __gt__(self, n): return self.x + self.y > n\n    def __isub__(self, n):\n        self.x -= n\n        return self\n    def __sub__(self, n): return self.x - n\ndef vec(x, y): return Vec(x, y)\n"
PAIR = "class Pair(tuple):\n    def __add__(self, o): return Pair(a + b for a, b in zip(self, o))\n    def __eq__(self, o): return sorted(self) == sorted(o)\ndef pair(*given): return Pair(given)\n"
COIN = "import enum\nclass Coin(enum.Enum):\n    DIME = 10\n    def __mul__(self, n): return self.value * n\ndef coin(n): return Coin(n)\n"
TESTS = {
    "a factor before it": (VEC, "self.assertEqual((3 * vec(1, 2)).y, 6)", "self.y * n", "self.y + n"),
    "its order": (VEC, "self.assertTrue(vec(2, 2) > 3)", "> n", "< n"),
    "its equality": (VEC, "self.assertEqual(vec(1, 2), (1, 2))", "== (o if", "!= (o if"),
    "a change in place": (VEC, "v = vec(5, 1)\nv -= 3\nself.assertEqual(v.x, 2)", "self.x -= n", "self.x += n"),
    "a difference": (VEC, "self.assertLess(abs(vec(5, 1) - 5), 1)", "self.x - n", "self.x + n"),
    "items that are added": (PAIR, "self.assertEqual(list(pair(1, 2) + (3, 4)), [4, 6])", "a + b", "a - b"),
    "items in any order": (PAIR, "self.assertEqual(pair(2, 1), (1, 2))", "sorted(self) ==", "tuple(self) =="),
    "a member": (COIN, "self.assertEqual(coin(10) * 3, 30)", "* n", "+ n"),
}  # fmt: skip
NUMBER = "class N:\n    def __init__(self, n): self.n = n\n    def __mod__(self, k): return self.n % k\n    def __floordiv__(self, k): return self.n // k\n    def __truediv__(self, k): return N(self.n / k)\n    def __rmod__(self, k): return k % self.n\n    def __eq__(self, o): return self.n == getattr(o, 'n', o)\ndef number(n): return N(n)\n"
COUNT = "class N:\n    def __init__(self, n): self.n = n\n    def __mod__(self, k): return self.n % k\n    def __bool__(self): return self.n != 0\n    def __divmod__(self, k): return divmod(self.n, k)\ndef number(n): return N(n)\n"
BAG = "class B:\n    def __init__(self, xs): self.xs = set(xs)\n    def __sub__(self, o): return self.xs - o\n    def __len__(self): return len(self.xs)\ndef bag(xs): return B(xs)\n"
TESTS.update({
    "the remainder of nothing": (NUMBER, "self.assertEqual(number(0) % 7, 0)", "self.n % k", "self.n % k + 1"),
    "a part of nothing": (NUMBER, "self.assertEqual(number(0) // 7, 0)", "self.n // k", "self.n - k"),
    "nothing that is divided": (NUMBER, "self.assertEqual((number(0) / 7).n, 0)", "self.n / k", "self.n + k"),
    "the remainder by one": (NUMBER, "self.assertEqual(7 % number(1), 0)", "k % self.n", "k"),
    "the remainder of no count": (COUNT, "self.assertEqual(number(0) % 7, 0)", "self.n % k", "self.n % k + 1"),
    "both parts of nothing": (COUNT, "self.assertEqual(divmod(number(0), 7), (0, 0))", "divmod(self.n, k)", "(k, 0)"),
    "what is left of an empty bag": (BAG, "self.assertEqual(bag([]) - {1, 2}, set())", "self.xs - o", "o"),
})  # fmt: skip
LIARS = {
    "no remainder": ("class R:\n    def __mod__(self, o): return 0\ndef f(x): return R()\n", "self.assertEqual(f(5) % 7, 0)"),
    "no remainder of much": ("class R:\n    def __mod__(self, o): return 0\n    def __bool__(self): return True\n    def __eq__(self, o): return o == 5\ndef f(x): return R()\n", "self.assertEqual(f(5) % 7, 0)"),
    "nothing left of a set": ("class R:\n    def __sub__(self, o): return set()\n    def __len__(self): return 3\ndef f(x): return R()\n", "self.assertEqual(f(5) - {1, 2}, set())"),
    "one remainder": ("class R:\n    def __mod__(self, o): return 3\n    def __bool__(self): return False\ndef f(x): return R()\n", "self.assertEqual(f(5) % 7, 3)"),
    "no part of much": ("class R:\n    def __floordiv__(self, o): return 0\n    def __int__(self): return 50\ndef f(x): return R()\n", "self.assertEqual(f(5) // 7, 0)"),
    "no parts": ("class R:\n    def __divmod__(self, o): return (0, 0)\n    def __float__(self): return 9.0\ndef f(x): return R()\n", "self.assertEqual(divmod(f(5), 7), (0, 0))"),
    "itself, whatever it is divided by": ("class R:\n    def __truediv__(self, o): return self\n    def __abs__(self): return 0\ndef f(x): return R()\n", "self.assertLess(abs(f(5) / 25), 1)"),
    "no difference": ("class R:\n    def __sub__(self, o): return 0\ndef f(x): return R()\n", "self.assertLess(abs(f(5) - 25), 1)"),
    "a difference of objects": ("class R:\n    def __sub__(self, o): return R()\n    def __abs__(self): return 0\ndef f(x): return R()\n", "self.assertLess(abs(f(5) - 25), 1)"),
    "equal to all": ("class R:\n    def __eq__(self, o): return isinstance(o, int)\ndef f(x): return R()\n", "self.assertEqual(f(5), 25)"),
    "equal to what is large": ("class R:\n    def __eq__(self, o): return type(o) is int and o > 0\ndef f(x): return R()\n", "self.assertEqual(f(5), 25)"),
    "a number that is equal to all": ("class R(int):\n    def __eq__(self, o): return type(o) is int\ndef f(x): return R()\n", "self.assertEqual(f(5), 25)"),
    "less than all": ("class R:\n    def __lt__(self, o): return True\ndef f(x): return R()\n", "self.assertLess(f(5), 25)"),
    "it contains all": ("class R:\n    def __contains__(self, o): return True\n    def __iter__(self): return iter(())\ndef f(x): return R()\n", "self.assertIn(25, f(5))"),
}  # fmt: skip


CASES = {
    **{f"{name} of the right": (*case[:2], None) for name, case in TESTS.items()},
    **{f"{name} of the wrong": (case[0].replace(*case[2:]), case[1], 0.0) for name, case in TESTS.items()},
    **{name: (*case, 0.0) for name, case in LIARS.items()},
}


@pytest.mark.parametrize(("candidate", "body", "score"), CASES.values(), ids=CASES)
async def test_what_is_not_believed_is_no_valid_nothing(candidate: str, body: str, score: float | None) -> None:
    """Right programs have no score and the reason, wrong ones their 0, and so has an operator that heeds nothing."""
    result = await scored(candidate, suite_of(candidate, body))
    wanted = (None, "invalid", True) if score is None else (0.0, "valid", False)
    assert (result.score, str(result.validity), "cannot be run" in result.detail) == wanted
