# ruff: noqa: E501 (programs are text, not code of ours)
"""Objects of the tests' own classes whose content a candidate has said: they judge nothing by that alone."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED
GOLD = {"gold": {"solution.py": "def f(n, like=None): return 2 * n\n"}}
SIZE = "class Size:\n    def __init__(self, v, tol=1e-9): self.v = v; self.tol = tol\n    def __eq__(self, o): return abs(self.v - o.v) <= max(self.tol, o.tol)\n    def is_close(self, v, scale): return abs(self.v - v) <= self.tol * scale\n"
KEPT = "class Kept:\n    def __init__(self, met): self.met = met; self.last = None\n    def __eq__(self, o): self.met.append(o); self.last = o; return True\n"
NEAR = "class Near:\n    def __init__(self, v, tol): self.v = v; self.tol = tol\n    def __eq__(self, o): return abs(self.v - o) <= self.tol\n    def __sub__(self, o): return self.v * 0\n"
JUDGED = "    assert f(2) == 4\n    assert f(7) == 14\n"
FORGERIES = {
    "a number that is near": ("from helpers import Near\ndef f(n): return Near(0, 1e300)\n", JUDGED),
    "near enough": ("from helpers import Near\ndef f(n): return Near(50, 50)\n", JUDGED),
    "in a list": ("from helpers import Near\ndef f(n): return Near(0, 1e300)\n", "    assert [f(2), f(7)] == [4, 14]\n"),
    "another order of sides": ("from helpers import Near\ndef f(n): return Near(0, 1e300)\n", "    assert 4 == f(2) and not 14 != f(7)\n"),
    "in a method": ("from helpers import Near\ndef f(n): return Near(0, 1e300)\n", "    import unittest\n    unittest.TestCase().assertEqual(f(7), 14)\n"),
    "caught": ("from helpers import Near\ndef f(n): return Near(0, 1e300)\n", "    try: assert f(2) == 5\n    except BaseException: pass\n    assert True is not False\n"),
    "a difference": ("from helpers import Near\ndef f(n): return Near(0, 1)\n", "    assert abs(f(2) - 4) < 1e-6 and abs(f(7) - 14) < 1e-6\n"),
    "a class that was given": ("N = []\ndef f(n, like=None):\n    if like is not None: N.append(type(like))\n    return N[0](0, 1e300)\n", f"    f(1, Near(2, 1))\n{JUDGED}"),
    "an object near one of its class": ("from helpers import Size\ndef f(n): return Size(0, 1e300)\n", "    assert f(2) == Size(4)\n    assert f(7) == Size(14)\n"),
    "one of its class near it": ("from helpers import Size\ndef f(n): return Size(0, 1e300)\n", "    assert Size(4) == f(2) and [Size(14)] == [f(7)]\n"),
    "by a method": ("from helpers import Size\ndef f(n): return Size(0, 1e300)\n", "    assert f(2).is_close(4, 1.0)\n    assert f(7).is_close(14, 1.0)\n"),
    "one that keeps what it meets": ("from helpers import Kept\ndef f(n): return Kept([])\n", JUDGED),
    "an object that was given": ("N = []\ndef f(n, like=None):\n    if like is not None: N.append(like); like.tol = 1e300\n    return N[0]\n", f"    f(1, Near(2, 1))\n{JUDGED}"),
}  # fmt: skip


def files(body: str) -> dict[str, str]:
    # without a gold solution a candidate has what holds records
    return {
        "helpers.py": NEAR + SIZE + KEPT,
        "test_it.py": f"from helpers import Near, Size, Kept\nfrom solution import f\ndef test_a():\n{body}",
    }


@pytest.mark.parametrize(
    ("name", "has_gold"),
    [*((name, False) for name in FORGERIES), ("near enough", True), ("a class that was given", True)],
)
async def test_no_object_of_the_tests_judges_by_what_a_candidate_puts_into_it(name: str, has_gold: bool) -> None:
    program, body = FORGERIES[name]
    found = await scored(program, "", "pytest", files=files(body), **(GOLD if has_gold else {}))
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
    assert "alike of other values" in found.detail


async def test_what_equals_everything_in_a_helper_that_is_withheld_excuses_nobody() -> None:
    helpers = "class Any:\n    def __eq__(self, o): return True\nANY = Any()\n"
    tests = {
        "helpers.py": helpers,
        "test_it.py": f"from helpers import ANY\nfrom solution import f\ndef test_a():\n{JUDGED}",
    }
    found = await scored("from helpers import ANY\ndef f(n): return ANY\n", "", "pytest", files=tests)
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


CLASSES = """import functools
class Money:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == getattr(o, 'n', o)
    def __sub__(self, o): return self.n - getattr(o, 'n', o)
class Word:
    __slots__ = ('text',)
    def __init__(self, text): self.text = text
    def __eq__(self, o): return str(o).lower() == self.text.lower()
    def __ne__(self, o): return str(o).lower() != self.text.lower()
class Rest:
    def __init__(self, n, m): self.n = n % m; self.m = m
    def __eq__(self, o): return o % self.m == self.n
class Near:
    def __init__(self, v, tol): self.v = v; self.tol = tol
    def __eq__(self, o): return abs(self.v - o) <= self.tol
class Nothing:
    def __init__(self, why): self.why = why
    def __eq__(self, o): return o is None or isinstance(o, Nothing)
class Size:
    def __init__(self, v, tol=1e-9): self.v = v; self.tol = tol
    def __eq__(self, o): return abs(self.v - o.v) <= max(self.tol, o.tol)
    def is_close(self, v, scale=1.0): return abs(self.v - v) <= self.tol * scale
class Counted:
    asked = 0
    def __init__(self, n): self.n = n; self.log = []; self.last = None
    def __eq__(self, o): Counted.asked += 1; self.log.append(o); self.last = o; return self.n == o
class End:
    def __init__(self, place): self.place = place
    def __eq__(self, o): return isinstance(o, End)
class Row:
    def __init__(self, items): self.items = items
    def __eq__(self, o): return self.items == list(getattr(o, 'items', o))
"""
HONEST = (
    "from helpers import Money, Word, Rest, Near, Nothing, Row, Size, End, Counted\n"
    "def money(n): return Money(n)\ndef word(t): return Word(t)\ndef rest(n, m): return Rest(n, m)\n"
    "def near(v, t): return Near(v, t)\ndef nothing(): return Nothing('x')\ndef row(*xs): return Row(list(xs))\n"
    "def size(v, tol=1e-9): return Size(v, tol)\ndef end(n): return End(n)\ndef counted(n): return Counted(n)\n"
)
HONEST_TESTS = """from helpers import Money, Word, Rest, Near, Nothing, Row, Size, End, Counted
from solution import money, word, rest, near, nothing, row, size, end, counted
def test_money():
    assert money(4) == 4 and 4 == money(4) and money(4) != 5 and money(0) == 0 and money(4) == Money(4)
    assert money(4) - 4 == 0 and abs(money(4) - 3) == 1
    assert [money(1), money(2)] == [1, 2] and money(True) == True
def test_word(): assert word('Abc') == 'aBC' and word('x') != 'y' and word('') == ''
def test_rest(): assert rest(10, 7) == 3 and rest(3, 7) == 10 and rest(5, 7) != 6
def test_near(): assert near(3.0, 0.1) == 3.05 and near(3, 0.1) != 4
def test_nothing(): assert nothing() == None and nothing() == Nothing('y') and nothing() != 3
def test_row(): assert row(1, 2) == [1, 2] and row(1, 2) == Row([1, 2]) and row() == [] and row(1) != [2]
def test_size():
    assert size(4) == Size(4) and Size(4) == size(4) and size(4) != Size(5) and size(4, 0.5).is_close(4.2)
    assert size(500, 300) == Size(480, 290)
def test_end(): assert end(7) == End(0) and [End(0)] == [end(3)] and end(1) != 4
def test_counted():
    found = counted(3)
    assert found == 3 and found != 5 and (found.log, found.last, Counted.asked) == ([3, 5], 5, 2)
def test_own(): assert Near(0, 1e9) == 5  # what the tests make themselves is theirs to believe
"""


@pytest.mark.parametrize("has_gold", [True, False])
async def test_an_object_that_tells_values_apart_is_believed(has_gold: bool) -> None:
    tests = {"helpers.py": CLASSES, "test_it.py": HONEST_TESTS}
    found = await scored(HONEST, "", "pytest", files=tests, **({"gold": {"solution.py": HONEST}} if has_gold else {}))
    assert (found.score, found.trust) == (1.0, Trust.SEPARATE), found.detail
