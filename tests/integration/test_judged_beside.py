# ruff: noqa: E501 (programs are text, not code of ours)
"""Suites beside their candidate compute with values, and not with what an object of the candidate's says of itself."""

from __future__ import annotations

import asyncio

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

NUMBER = "class F(float):\n    def __sub__(s, o): return 0.0\n    __rsub__ = __sub__\n    def __abs__(s): return 0.0\n    def __round__(s, n=None): return 0\n    def __lt__(s, o): return True\n    __gt__ = __le__ = __ge__ = __lt__\ndef f(x): return F(7)\n"
ANY = "from unittest.mock import ANY\ndef f(x): return ANY\n"
OBJECT = "class O:\n    def __sub__(s, o): return 0\n    __rsub__ = __sub__\n    def __lt__(s, o): return True\n    __gt__ = __le__ = __ge__ = __lt__\n    def __contains__(s, o): return True\n    def __iter__(s): return iter([1])\n    def startswith(s, o): return True\ndef f(x): return O()\n"
TEXT = "class F(str):\n    def __contains__(s, o): return True\n    def startswith(s, *a): return True\n    def lower(s): return 'aaa'\ndef f(x): return F('7')\n"
SET = "class F(set):\n    def __contains__(s, o): return True\n    def issuperset(s, o): return True\n    def __ge__(s, o): return True\n    __le__ = __ge__\n    def __xor__(s, o): return set()\ndef f(x): return F([7])\n"
MEAN, DOUBLED, SAME = (
    "def f(x): return sum(x) / len(x)\n",
    "def f(x): return x + x\n",
    "def f(x): return set(x)\n",
)
FORMS = {
    "approx": ("assert f([1, 2, 4]) == pytest.approx(2.3333333)", MEAN, (NUMBER, ANY, OBJECT)),
    "approx of a list": ("assert pytest.approx([2.3333333]) == [f([1, 2, 4])]", MEAN, (NUMBER, ANY)),
    "a difference": ("assert abs(f([1, 2, 4]) - 2.3333333) < 1e-6", MEAN, (NUMBER, OBJECT)),
    "a name": ("found = f([1, 2, 4])\n    found -= 2.3333333\n    assert abs(found) < 1e-6", MEAN, (NUMBER, OBJECT)),
    "nearly": ("unittest.TestCase().assertAlmostEqual(f([1, 2, 4]), 2.3333333)", MEAN, (NUMBER, OBJECT)),
    "an order": ("assert 2.3 < f([1, 2, 4]) < 2.4", MEAN, (NUMBER, OBJECT)),
    "a part": ("assert 'ab' in f('ab') and f('c').startswith('cc')", DOUBLED, (TEXT, OBJECT)),
    "a method": ("assert f('A').lower() == 'aa'", DOUBLED, (TEXT.replace("'aaa'", "'aa'"),)),
    "an item": ("assert 4 in f([4]) and all(n in f([1, 2]) for n in (1, 2))", SAME, (SET, OBJECT)),
    "a subset": ("assert {3} <= f([3]) and f([1, 2]) >= {1, 2}", SAME, (SET, OBJECT)),
    "methods of sets": ("assert f([1, 2]).issuperset([1, 2]) and not f([5]) ^ {5}", SAME, (SET,)),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
async def test_no_object_says_how_near_it_is(name: str) -> None:
    """Neither by its operators, nor by its order, its items or its methods; a plain right answer is paid."""
    assertion, right, forged = FORMS[name]
    suite = f"import unittest, pytest\nfrom solution import f\ndef test_a():\n    {assertion}\n"
    for candidate in (right, *forged):
        found = await scored({"files": {"solution.py": candidate}}, suite, "pytest", isolate=False)
        assert (found.score, str(found.validity)) == (float(candidate is right), "valid"), (candidate, found.detail)


HONEST = {
    "named tuples": ("from typing import NamedTuple\nclass Token(NamedTuple):\n    kind: str\n    value: int\ndef f(n): return (Token('n', each) for each in range(n))\n",
        "    found = sorted(f(3), reverse=True)\n    assert found[0].kind == 'n' and max(f(4)).value == 3 and list(f(1))[0].value - 0 == 0 and ('n', 1) in list(f(2))\n"),
    "flags": ("import enum\nclass Perm(enum.IntFlag):\n    R = 4\n    W = 2\ndef f(): return Perm\n", "    P = f()\n    both = P.R | P.W\n    assert both & P.R and both == 6 and P.R > P.W and solution.Perm.R in (solution.Perm.R | solution.Perm.W)\n"),
    "vectors": ("class Vector:\n    def __init__(s, x, y): s.x, s.y = x, y\n    def __sub__(s, o): return Vector(s.x - o.x, s.y - o.y)\n    def __mul__(s, k): return Vector(s.x * k, s.y * k) if isinstance(k, (int, float)) else s.x * k.x + s.y * k.y\n    __rmul__ = __mul__\n    def __abs__(s): return (s.x ** 2 + s.y ** 2) ** 0.5\n    def __contains__(s, n): return n in (s.x, s.y)\n    def __lt__(s, o): return abs(s) < abs(o)\n    def __eq__(s, o): return isinstance(o, Vector) and (s.x, s.y) == (o.x, o.y)\ndef f(x, y): return Vector(x, y)\n",
        "    v = f(3, 4)\n    assert abs(v) == pytest.approx(5) and v * f(1, 1) == 7 and (2 * v).x == 6 and 3 in v and 5 not in v and f(0, 1) < v\n    v *= 2\n    assert v - f(1, 1) == f(5, 7)\n"),
    "numbers of a class": ("class Money(float):\n    def __add__(s, o): return Money(float(s) + o)\n    def __repr__(s): return f'${float(s):.2f}'\ndef f(x): return Money(x)\n", "    assert f(1.5) + 2 == 3.5 and f(2) > 1.5 and repr(f(2) + f(1)) == '$3.00' and round(f(1.26), 1) == 1.3\n"),
    "a module of a package": ("def f(m):\n    for n in (1, 2): m(n)\n", "    m = mock.Mock()\n    f(m)\n    assert m.call_args_list == [mock.call(1), mock.call(2)] and mock.call(1) in m.mock_calls\n    assert isinstance(mock.Mock(spec=mock.Mock), mock.Mock)\n"),
    "matchers in a name": ("def f(x): return {'n': x / 3, 'id': object(), 'at': [x]}\n", "    want = {'n': pytest.approx(0.6666666), 'id': mock.ANY, 'at': [2]}\n    assert f(2) == want\n    near = pytest.approx([1.0, 2.0])\n    assert [f(3)['n'], f(6)['n']] == near\n"),
    "own classes": ("def f(x): return x\n", "    class Meter:\n        def __init__(s): s.asked = 0\n        def __sub__(s, o): s.asked += 1; return 0\n        def __lt__(s, o): s.asked += 1; return True\n    m = f(Meter())\n    assert m - 1 == 0 and m < 5\n"),
    "iterators": ("import itertools\ndef f():\n    a, b = 0, 1\n    while True:\n        yield a\n        a, b = b, a + b\ng = lambda n: itertools.islice(f(), n)\n",
        "    assert 13 in solution.g(10) and 4 not in solution.g(10) and 21 in map(abs, f())\n"),
    "a name of operator's for something else": ("class C:\n    def __init__(s, f): s.f = f\n    def call(s, *a): return s.f(*a)\ndef f(g): return C(g)\n",
        "    from operator import add, mul\n    assert mul(2, 3) == 6 and f(mul).call(2, 3) == 6\n"
        "def test_b():\n    @f\n    def add(x, y): return x + y\n    assert add.call(1, 2) == 3\n"),
    "paths and dates": ("import datetime, pathlib\ndef f(): return pathlib.Path('a') / 'b'\ndef g(): return datetime.date(2024, 2, 28)\n", "    assert solution.f() / 'c' == solution.pathlib.Path('a/b/c') and solution.g() + solution.datetime.timedelta(days=1) == solution.datetime.date(2024, 2, 29)\n    assert solution.g() < solution.datetime.date.today()\n"),
}  # fmt: skip


async def test_honest_objects_compute_as_they_do_in_plain_python() -> None:
    """Records that are sorted, flags, vectors, matchers in a name, and classes of the tests' own."""
    room = asyncio.Semaphore(2)

    async def one(candidate: str, body: str) -> str:
        suite = "import pytest, solution\nfrom unittest import mock\nfrom solution import f\ndef test_a():\n" + body
        async with room:
            found = await scored({"files": {"solution.py": candidate}}, suite, "pytest", isolate=False)
        return "" if found.score == 1.0 else str(found.detail)

    found = await asyncio.gather(*(one(*case) for case in HONEST.values()))
    assert dict(zip(HONEST, found, strict=True)) == dict.fromkeys(HONEST, "")


SENDS = "from unittest.mock import Mock\nfrom solution import f\ndef test_a():\n    m = Mock()\n    f(m, 'bob')\n    m.send.assert_called_once_with('bob', text='Hello bob')\n    m.send.assert_any_call('bob', text='Hello bob')\n"
ANSWERS = {
    "its own assertion": "def f(m, n):\n    m.send(1)\n    m.send.assert_called_once_with = m.send.assert_any_call = lambda *a, **k: None\n",
    "ANY": "from unittest.mock import ANY\ndef f(m, n): m.send(n, text=ANY)\n",
    "a call that was none": "from unittest import mock\ndef f(m, n):\n    m.send(2)\n    m.send.call_args = mock.call(mock.ANY, text=mock.ANY)\n    m.send.call_args_list[:] = [m.send.call_args]\n",
    "no call": "class C(tuple):\n    def __eq__(s, o): return o is not None and len(o) > 1\n    __ne__ = lambda s, o: not s == o\ndef f(m, n):\n    m.send(2)\n    m.send.call_args = C(((), {}))\n    m.send.call_args_list[:] = [m.send.call_args]\n",
    "a text that equals many": "class A:\n    def __eq__(s, o): return isinstance(o, str) and len(o) > 2\ndef f(m, n): m.send(A(), text=A())\n",
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
async def test_no_mock_of_the_tests_says_what_a_candidate_wants(name: str) -> None:
    """Neither by an attribute that the candidate sets, nor by what it is called with."""
    right = "def f(m, n): m.send(n, text='Hello ' + n)\n"
    for candidate in (right, ANSWERS[name]):
        found = await scored({"files": {"solution.py": candidate}}, SENDS, "pytest", isolate=False)
        assert (found.score, str(found.validity)) == (float(candidate is right), "valid"), (candidate, found.detail)


async def test_mocks_are_asked_as_in_plain_python() -> None:
    """With matchers, specifications, several calls, and functions of the tests by such a name."""
    suite = (
        "from unittest import mock\nfrom unittest.mock import ANY, call, create_autospec\nfrom solution import f\n"
        "class Own:\n    def assert_called(self): return 7\n"
        "def send(to, text=''): pass\n"
        "def test_a():\n    m = mock.MagicMock()\n    f(m.send)\n    m.send.assert_called_with('a', text='b')\n"
        "    m.send.assert_any_call(ANY, text=ANY)\n    m.send.assert_has_calls([call('z'), call('a', text='b')])\n"
        "    m.none.assert_not_called()\n    m.send.assert_called()\n    assert Own().assert_called() == 7\n"
        "    made = create_autospec(send)\n    f(made)\n    made.assert_called_with('a', 'b')\n"
        "    wrapped = mock.Mock(spec=send)\n    f(wrapped)\n    wrapped.assert_called_with('a', 'b')\n"
        "    m.send.reset_mock()\n    m.send.assert_not_called()\n"
    )
    candidate = "def f(send):\n    send('z')\n    send('a', text='b')\n"
    found = await scored({"files": {"solution.py": candidate}}, suite, "pytest", isolate=False)
    assert found.score == 1.0, found.detail
