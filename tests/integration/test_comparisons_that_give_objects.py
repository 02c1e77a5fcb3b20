# ruff: noqa: E501 (programs are text, not code of ours)
"""Operators of a candidate's that compare may give objects: conditions, expressions, masks. They are no truths."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_questions_unseen import of_asserts, suites
from test_unittest_suites import scored

pytestmark = SHARED

QUERY = "class Cond:\n    def __init__(s, f): s.f = f\n    def __call__(s, d): return s.f(d)\n    def __and__(s, o): return Cond(lambda d: s(d) and o(d))\n    def __or__(s, o): return Cond(lambda d: s(d) or o(d))\n    def __invert__(s): return Cond(lambda d: not s(d))\nclass Field:\n    def __init__(s, n): s.n = n\n    def __eq__(s, v): return Cond(lambda d: d.get(s.n) == v)\n    def __ne__(s, v): return Cond(lambda d: d.get(s.n) != v)\n    def __lt__(s, v): return Cond(lambda d: d[s.n] < v)\n    def __gt__(s, v): return Cond(lambda d: d[s.n] > v)\n    __hash__ = None\ndef field(n): return Field(n)\nclass Table:\n    def __init__(s, rows): s.rows = rows\n    def where(s, q): return [r for r in s.rows if q(r)]\n"
SQL = "class Expr:\n    def __init__(s, t): s.t = t\n    def __eq__(s, o): return Expr(f'({s.t} = {o!r})')\n    def __gt__(s, o): return Expr(f'({s.t} > {o!r})')\n    def __add__(s, o): return Expr(f'({s.t} + {o!r})')\n    def __str__(s): return s.t\n    __hash__ = None\ndef col(n): return Expr(n)\n"
LIST = "class Series:\n    def __init__(s, x): s.x = x\n    def __eq__(s, o): return [a == o for a in s.x]\n    def __gt__(s, o): return [a > o for a in s.x]\n    def __getitem__(s, m): return Series([a for a, b in zip(s.x, m) if b])\n    __hash__ = None\n"
MASK = "class Series:\n    def __init__(s, x): s.x = x\n    def __eq__(s, o): return Series([a == o for a in s.x])\n    def __gt__(s, o): return Series([a > o for a in s.x])\n    def __getitem__(s, m): return Series([a for a, b in zip(s.x, m.x) if b])\n    __hash__ = None\n"
LITERAL = "class Lit:\n    def __init__(s, v): s.value = v\n    def __eq__(s, o): return Lit(s.value == (o.value if isinstance(o, Lit) else o))\n    def __lt__(s, o): return Lit(s.value < (o.value if isinstance(o, Lit) else o))\n    __hash__ = None\n"
RIGHT = {
    "a query": (QUERY, "q = Field('a') == 1\nassert q({'a': 1})\nassert not q({'a': 2})"),
    "a query of a function": (QUERY, "q = field('a') == 'x'\nassert q({'a': 'x'})\nassert not q({'a': 'y'})"),
    "conditions that are joined": (QUERY, "q = (Field('a') < 5) & (Field('a') > 1)\nassert q({'a': 3})\nassert not q({'a': 7})"),
    "what is not equal": (QUERY, "q = Field('a') != 1\nassert q({'a': 3})\nassert not q({'a': 1})"),
    "what is handed on": (QUERY, "t = Table([{'a': 1}, {'a': 2}])\nassert t.where(Field('a') == 2) == [{'a': 2}]\nq = Field('a') > 0\nassert len(t.where(~q)) == 0"),
    "expressions": (SQL, "assert str(col('age') > 5) == '(age > 5)'\nassert str(col('name') == 'bob') == \"(name = 'bob')\"\nassert str(col('x') + 1) == '(x + 1)'"),
    "a list of truths": (LIST, "s = Series([1, 2, 3])\nassert (s == 2) == [False, True, False]\nassert (s > 1) == [False, True, True]\nassert s[s > 1].x == [2, 3]"),
    "a mask": (MASK, "s = Series([1, 2, 3])\nm = s == 2\nassert m.x == [False, True, False]\nassert (s > 1).x == [False, True, True]\nassert s[s > 1].x == [2, 3]"),
    "literals": (LITERAL, "assert (Lit(3) < Lit(5)).value is True\nassert (Lit(3) == Lit(5)).value is False\nassert (Lit(3) == 3).value is True"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
async def test_an_object_is_given_as_it_is(name: str) -> None:
    """In one process with the tests, of each kind."""
    candidate, body = RIGHT[name]
    for kind in ("pytest", "unittest"):
        found = await scored(candidate, suites(body)[kind], kind, isolate=False)
        assert (found.score, str(found.validity)) == (1.0, "valid"), (kind, found.detail)
    found = await of_asserts(candidate, body)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


@pytest.mark.parametrize("name", RIGHT)
async def test_a_right_program_has_no_valid_nothing_apart(name: str) -> None:
    """What a stand-in cannot serve is decided in one process, or is no score."""
    candidate, body = RIGHT[name]
    found = await scored(candidate, suites(body)["pytest"], "pytest")
    assert (found.score, str(found.validity)) in ((1.0, "valid"), (None, "invalid")), found.detail


LIAR = "class R:\n    value = True\n    def __call__(s, *a): return True\n    def __eq__(s, o): return o is True or isinstance(o, R)\n    __and__ = __or__ = __xor__ = __rand__ = lambda s, o: s\n    __hash__ = lambda s: 1\n    __index__ = __int__ = __len__ = lambda s: 1\n    __iter__ = lambda s: iter([True])\n    __str__ = __repr__ = lambda s: 'True'\n    all = any = lambda s: True\nclass E:\n    def __eq__(s, o): return GIVEN\n    __ne__ = lambda s, o: R() if GIVEN is None else False\n    __lt__ = __gt__ = __le__ = __ge__ = __eq__\n    __hash__ = None\ndef f(x): return E()\n"
LIARS = {"an object": LIAR.replace("GIVEN", "R()"), "a list": LIAR.replace("GIVEN", "[True]")}
LIES = {
    "itself": "assert f(5) == 25",
    "an order": "assert f(5) < 26",
    "a name": "q = f(5) == 25\nassert q",
    "a condition": "if not (f(5) == 25): raise AssertionError",
    "a condition by a name": "q = f(5) == 25\nif not q: raise AssertionError",
    "compared": "assert (f(5) == 25) == True",
    "compared by a name": "q = f(5) == 25\nassert q == True",
    "joined": "assert (f(5) == 25) & (f(3) == 9)",
    "joined by a name": "q = (f(5) == 25) & (f(3) == 9)\nassert q",
    "joined with a truth": "assert (f(5) == 25) & (len('ab') == 2)",
    "and": "a, b = f(5) == 25, len('ab') == 2\nq = a and b\nassert q",
    "all": "assert all([f(5) == 25, f(3) == 9])",
    "all of one": "assert all(f(5) == 25)" ,
    "its own all": "assert (f(5) == 25).all()",
    "its own all by a name": "q = f(5) == 25\nassert q.all()",
    "a list of them": "found = []\nfor n in (5, 3):\n    q = f(n) == n * n\n    found.append(q)\nassert found == [True, True]",
    "none is not": "found = []\nfor n in (5, 3): found.append(f(n) == n * n)\nassert False not in found",
    "a helper": "def same(a, b):\n    q = a == b\n    return q\nassert same(f(5), 25)",
    "a helper that asserts": "def check(q): assert q\ncheck(f(5) == 25)",
    "a function without a name": "assert (lambda a, b: a == b)(f(5), 25)",
    "its text": "assert str(f(5) == 25) == 'True'",
    "its truth": "assert bool(f(5) == 25)",
    "a table": "assert {True: 'yes', False: 'no'}.get(f(5) == 25) == 'yes'",
    "a place in a table": "names = ['no', 'yes']\nassert names[f(5) == 25] == 'yes'",
    "in": "assert f(5) in [25]",
    "a function of both": "def g(a, b): assert a == b\ng(f(5), 25)",
}  # fmt: skip


@pytest.mark.parametrize("name", LIARS)
async def test_such_an_object_is_no_truth(name: str) -> None:
    """However a test asks whether two values are equal."""
    for lie, body in LIES.items():
        found = await scored(LIARS[name], suites(body)["pytest"], "pytest", isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (lie, found.detail)


@pytest.mark.parametrize("name", LIARS)
async def test_nor_is_it_by_an_assertion(name: str) -> None:
    for body in (
        "self.assertTrue(f(5) == 25)",
        "self.assertEqual(f(5) == 25, True)",
        "self.assertEqual(f(5), 25)",
        "q = f(5) == 25\nself.assertTrue(q)",
        "q = f(5) == 25\nself.assertEqual(q, True)",
        "self.assertTrue((f(5) == 25) & (f(3) == 9))",
        "self.assertTrue(all([f(5) == 25]))",
        "self.assertIn(f(5) == 25, [True])",
    ):
        found = await scored(LIARS[name], suites(body)["unittest"], "unittest", isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (body, found.detail)


@pytest.mark.parametrize("lie", ["itself", "a name", "joined", "all", "its own all", "compared by a name"])
async def test_nor_is_it_apart_or_in_asserts(lie: str) -> None:
    for found in (
        await scored(LIARS["an object"], suites(LIES[lie])["pytest"], "pytest"),
        await of_asserts(LIARS["an object"], LIES[lie]),
    ):
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
