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
    found = await of_asserts(candidate, body, isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


@pytest.mark.parametrize("name", RIGHT)
async def test_a_right_program_has_no_valid_nothing_apart(name: str) -> None:
    """What a stand-in cannot serve is decided in one process, or is no score."""
    candidate, body = RIGHT[name]
    for found in (await scored(candidate, suites(body)["pytest"], "pytest"), await of_asserts(candidate, body)):
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


FIELDS = "class Cond:\n    def __init__(s, *p): s.p = p\n    def sql(s): return ' '.join(map(str, s.p))\n    def __and__(s, o): return Cond(s.sql(), 'AND', o.sql())\nclass Field:\n    def __init__(s, n): s.n = n\n    def __eq__(s, o): return Cond(s.n, '=', o)\n    def __gt__(s, o): return Cond(s.n, '>', o)\n    __hash__ = None\nclass Query:\n    def __init__(s): s.parts = []\n    def where(s, *c): s.parts += c; return s\n    def sql(s): return ' AND '.join(c.sql() for c in s.parts)\ndef field(n): return Field(n)\n"
ARRAY = "class Arr:\n    def __init__(s, d): s.d = list(d)\n    def _b(s, o, f): return Arr(f(a, b) for a, b in zip(s.d, o.d if isinstance(o, Arr) else [o] * len(s.d)))\n    def __eq__(s, o): return s._b(o, lambda a, b: a == b)\n    def __gt__(s, o): return s._b(o, lambda a, b: a > b)\n    def __add__(s, o): return s._b(o, lambda a, b: a + b)\n    def __getitem__(s, i): return Arr(x for x, m in zip(s.d, i.d) if m) if isinstance(i, Arr) else s.d[i]\n    def __len__(s): return len(s.d)\n    def __iter__(s): return iter(s.d)\n    def all(s): return all(s.d)\n    def any(s): return any(s.d)\n    def tolist(s): return list(s.d)\n    __hash__ = None\n"
FOLLOWED = {
    "its class": (FIELDS, "    assert isinstance(Field('a') == 3, Cond)\n    assert type(field('a') == 3) is Cond\n    assert hasattr(Field('a') > 1, 'sql')\n"),
    "its class by a name": (FIELDS, "    q = Field('a') == 3\n    assert isinstance(q, Cond)\n    assert q.sql() == 'a = 3'\n"),
    "a function of the tests'": (FIELDS, "    def sql(c, more=''): return c.sql() + more\n    assert sql(field('a') == 3) == 'a = 3'\n    assert sql(more='!', c=Field('a') > 3) == 'a > 3!'\n"),
    "what a function gives": (FIELDS, "    def made(n): return Field('a') == n\n    assert made(3).sql() == 'a = 3'\n    q = made(4)\n    assert q.sql() == 'a = 4'\n"),
    "a list": (FIELDS, "    cs = [Field('a') == 1, Field('b') > 2]\n    assert len(cs) == 2\n    assert [c.sql() for c in cs] == ['a = 1', 'b > 2']\n    assert cs[1].sql() == 'b > 2'\n"),
    "places of a tuple": (FIELDS, "    a, b = Field('a') == 1, Field('b') > 2\n    assert (a & b).sql() == 'a = 1 AND b > 2'\n"),
    "side by side": (FIELDS, "    for q, want in zip([Field('a') == 1, Field('b') > 2], ['a = 1', 'b > 2']):\n        assert q.sql() == want\n    for i, q in enumerate([Field('a') == 0, Field('a') == 1]):\n        assert q.sql() == f'a = {i}'\n"),
    "a table": (FIELDS, "    for q, want in [(Field('a') == 1, 'a = 1'), (Field('b') > 2, 'b > 2')]:\n        assert q.sql() == want\n"),
    "given on": (FIELDS, "    assert Query().where(*[Field('a') == 1, Field('b') > 2]).sql() == 'a = 1 AND b > 2'\n"),
    "in a text": (FIELDS.replace("    def __and__", "    __str__ = sql\n    def __and__"), "    assert f\"WHERE {Field('a') == 1}\" == 'WHERE a = 1'\n"),
    "parameters": (FIELDS, "    pass\n@pytest.mark.parametrize('c, want', [(Field('a') == 1, 'a = 1'), pytest.param(Field('b') > 2, 'b > 2', id='b')])\ndef test_b(c, want):\n    assert c.sql() == want\n@pytest.mark.parametrize('one', [Field('a') == 1])\ndef test_c(one):\n    assert one.sql() == 'a = 1'\n"),
    "a fixture": (FIELDS, "    pass\n@pytest.fixture\ndef cond():\n    return Field('a') == 1\ndef test_b(cond):\n    assert cond.sql() == 'a = 1'\n"),
    "all of many": (ARRAY, "    a = Arr([1, 2, 3])\n    assert (a == Arr([1, 2, 3])).all()\n    assert not (a == Arr([1, 0, 3])).all()\n    assert (a + a == Arr([2, 4, 6])).all()\n    assert (a > 2).any() and not (a > 3).any()\n"),
    "each of many": (ARRAY, "    a = Arr([1, 2, 3])\n    assert (a == 2).tolist() == [False, True, False]\n    assert list(a > 1) == [False, True, True]\n    assert len(a == 2) == 3 and (a == 2)[1]\n    m = a > 1\n    assert a[m].tolist() == [2, 3]\n"),
}  # fmt: skip
WRONG = {
    "its class": ("return Cond(s.n, '=', o)", "return s.n == o"), "its class by a name": ("'='", "'=='"),
    "a function of the tests'": ("'>'", "'<'"), "what a function gives": ("'='", "'is'"), "a list": ("'>'", "'<'"),
    "places of a tuple": ("'AND'", "'OR'"), "side by side": ("'='", "'!='"), "a table": ("'>'", "'>='"),
    "given on": ("' AND '", "' OR '"), "in a text": ("__str__ = sql", "__str__ = lambda s: 'True'"),
    "parameters": ("'>'", "'<'"), "a fixture": ("return Cond(s.n, '=', o)", "return True"),
    "all of many": ("a == b)", "a is not None)"), "each of many": ("a > b)", "a >= b)"),
}  # fmt: skip


def _followed(name: str, edit: tuple[str, str] | None = None) -> tuple[str, str]:
    candidate, body = FOLLOWED[name]
    assert edit is None or edit[0] in candidate
    return candidate.replace(
        *edit
    ) if edit else candidate, f"import pytest\nfrom solution import *\ndef test_a():\n{body}"


@pytest.mark.parametrize("name", FOLLOWED)
async def test_an_object_is_followed_to_where_it_is_used(name: str) -> None:
    """With a gold it is paid; without one nothing is known of it, and not that it is wrong."""
    candidate, suite = _followed(name)
    found = await scored(candidate, suite, "pytest", gold={"solution.py": candidate + "x = 1\n"})
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
    found = await scored(candidate, suite, "pytest")
    assert (found.score, str(found.validity)) in ((1.0, "valid"), (None, "invalid")), found.detail


@pytest.mark.parametrize("name", FOLLOWED)
async def test_a_wrong_object_has_nothing_wherever_it_is_used(name: str) -> None:
    candidate, suite = _followed(name, WRONG[name])
    for gold in ({}, {"gold": {"solution.py": FOLLOWED[name][0]}}):
        found = await scored(candidate, suite, "pytest", **gold)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (gold, found.detail)


FOLLOWED_LIES = {
    "a list": "found = [f(5) == 25, f(3) == 9]\nassert all(found)",
    "each of a list": "for q in [f(5) == 25, f(3) == 9]: assert q",
    "a list by a name": "found = [f(5) == 25]\nassert found[0]",
    "a list of truths": "found = [f(5) == 25]\nassert found == [True]",
    "places of a tuple": "a, b = f(5) == 25, f(3) == 9\nassert a and b",
    "side by side": "for q, want in zip([f(5) == 25], [True]): assert q == want",
    "what a function gives": "def same(a, b): return a == b\nassert same(f(5), 25)",
    "what a function gives by a name": "def same(a, b): return a == b\nq = same(f(5), 25)\nassert q",
    "a parameter": "def check(q, more): assert q\ncheck(more=1, q=f(5) == 25)",
    "a parameter's own all": "def check(q): assert q.all()\ncheck(f(5) == 25)",
    "no object": "assert type(f(5) == 25) is bool",
    "no object of a class": "assert isinstance(f(5) == 25, bool)",
    "its length": "assert len(f(5) == 25) == 1",
    "each of many": "assert list(f(5) == 25) == [True]",
    "its first": "assert (f(5) == 25)[0]",
    "made by what is no class": "assert (F(5) == 25).all()",
    "made by what is no class, by a name": "x = F(5)\nassert (x == 25).all()",
    "a class that is no class's": "assert (E(5) == 25).all()",
    "two of them": "assert (E(5) == E(25)).all()",
    "sorted": "assert max([f(5) == 25, f(3) == 9])",
}  # fmt: skip


@pytest.mark.parametrize("name", LIARS)
async def test_nothing_that_is_followed_is_a_truth(name: str) -> None:
    """Neither in lists, nor by parameters, nor for a class all of whose objects equal everything."""
    liar = LIARS[name].replace("class E:\n", "class E:\n    def __init__(s, *a): pass\n") + "def F(x): return E()\n"
    for lie, body in FOLLOWED_LIES.items():
        found = await scored(liar, suites(body)["pytest"], "pytest", isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), (lie, found.detail)
