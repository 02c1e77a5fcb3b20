# ruff: noqa: E501 (programs are text, not code of ours)
"""Wherever the interpreter goes through an answer, it goes through what a plain value holds, not what a class says."""

from __future__ import annotations

import ast
import builtins
from typing import Any

import pytest

from harena.scoring.guest.comparison_rewriter import Comparisons, judging
from harena.scoring.guest.judged_operations import Judged
from harena.scoring.guest.plain_values import Plain
from harena.scoring.guest.suite_rewriter import ComparisonsBeside

LIAR = """import collections
class L(BASE):
    n = 0
    def __iter__(s): return iter(SAID)
    def __len__(s): return len(SAID)
    def __getitem__(s, i): return [*SAID][i] if isinstance(i, (int, slice)) else SAID[i]
    def __reversed__(s): return iter([*SAID][::-1])
    def keys(s): return [*SAID]
    def values(s): return [*SAID.values()] if isinstance(SAID, dict) else SAID
    def items(s): return [*SAID.items()]
    def get(s, k, d=None): return SAID.get(k, d)
    args = property(lambda s: SAID)
    __hash__ = object.__hash__
def f(x): return L(HELD)
"""
BASES = {
    "list": ("[7]", "[4, 9]"),
    "tuple": ("[7]", "[4, 9]"),
    "set": ("[7]", "[4, 9]"),
    "frozenset": ("[7]", "[4, 9]"),
    "str": ("'abc'", "'49'"),
    "bytes": ("b'abc'", "b'49'"),
    "dict": ("{7: 7}", "{4: 4, 9: 9}"),
    "collections.OrderedDict": ("{7: 7}", "{4: 4, 9: 9}"),
    "collections.Counter": ("{7: 7}", "{4: 4, 9: 9}"),
    "collections.deque": ("[7]", "[4, 9]"),
    "Exception": ("7", "(4, 9)"),
}
LOOPS = (
    "a, b = f(2)\nassert (a, b) == (S[0], S[1])",
    "[a, b] = f(2)\nassert (a, b) == (S[0], S[1])",
    "*a, b = f(2)\nassert (a, b) == ([S[0]], S[1])",
    "x = a, b = f(2)\nassert (a, b) == (S[0], S[1])",
    "(a, b), c = f(2), 3\nassert (a, b) == (S[0], S[1])",
    "c, *d, (a, b) = 1, 2, f(2)\nassert (a, b) == (S[0], S[1])",
    "seen = []\nfor x in f(2): seen.append(x)\nassert seen == S",
    "seen = []\nfor (a, b), c in [(f(2), 3)]: seen += [a, b]\nassert seen == S",
    "assert [x for x in f(2)] == S",
    "assert [a for a, b in [f(2)]] == S[:1]",
    "assert {x: y for x, y in [f(2)]} == {S[0]: S[1]}",
    "assert any(x == S[1] for x in f(2))",
    "assert [*f(2)] == S",
    "assert (lambda *a: a)(*f(2)) == (S[0], S[1])",
    "assert [*map(lambda *a: a, *[f(2), f(2)])] == [(S[0], S[0]), (S[1], S[1])]",
    "def g():\n    yield from f(2)\nassert [*g()] == S",
    "x = [1, 2]\nx[:] = f(2)\nassert x == S",
    "x = []\nx += f(2)\nassert x == S",
    "x = []\nx.extend(f(2))\nassert x == S",
    "assert set().union(f(2)) == set(S)",
    "assert [*zip(f(2), f(2))] == [(S[0], S[0]), (S[1], S[1])]",
    "assert [*enumerate(f(2))] == [(0, S[0]), (1, S[1])]",
    "assert list(map(str, f(2))) == [*map(str, S)]",
    "assert sorted(f(2)) == S and len(f(2)) == 2",
    "import itertools\nassert [*itertools.chain(f(2), [1])] == [*S, 1]",
    "from itertools import islice\nassert [*islice(f(2), 2)] == S",
    "import functools\nassert functools.reduce(lambda a, b: (a, b), f(2)) == (S[0], S[1])",
    "it = iter(f(2))\nassert (next(it), next(it)) == (S[0], S[1])",
    "import contextlib\nwith contextlib.nullcontext(f(2)) as (a, b), contextlib.nullcontext(a) as c:\n    assert (a, b, c) == (S[0], S[1], S[0])",
    "match [f(2)]:\n    case [[a, b]]: assert (a, b) == (S[0], S[1])\n    case _: raise AssertionError",
)  # fmt: skip
MAPPED = (
    "assert {**f(2)} == S",
    "assert (lambda **k: k)(**{str(k): v for k, v in f(2).items()}) == {str(k): v for k, v in S.items()}",
    "assert dict(f(2)) == S",
    "assert list(f(2).keys()) == [*S] and list(f(2).values()) == [*S.values()] and [*f(2).items()] == [*S.items()]",
    "match f(2):\n    case {4: a}: assert a == 4\n    case _: raise AssertionError",
    "x = {}\nx.update(f(2))\nassert x == S",
)
PLACES = (
    "assert f(2)[0] == S[0] and [*f(2)[-1:]] == [*S[-1:]]",
    "r = f(2)\nassert all(r[i] == S[i] for i in range(1))",
)  # fmt: skip


def outcome(candidate: str, tests: str, *, named: str = "", beside: bool = False, **more: Any) -> str:
    """The exception that the tests end with, in the process of a candidate; empty where there is none."""
    module: dict[str, Any] = {}
    exec(candidate, module)
    judged = judging(Judged(Plain(lambda kind: kind.__name__ == named)))
    tree = (ComparisonsBeside if beside else Comparisons)(found := ast.parse(tests)).visit(found)
    code = compile(tree, "<asserts>", "exec", dont_inherit=True)
    try:
        exec(code, {**module, **more, "__builtins__": {**vars(builtins), **judged}})
    except Exception as error:  # noqa: BLE001 (whatever the tests end with)
        return f"{type(error).__name__}: {error}"
    return ""


def liar(base: str) -> tuple[str, Any]:
    held, said = BASES[base]
    return LIAR.replace("BASE", base).replace("HELD", held).replace("SAID", said), eval(said)


@pytest.mark.parametrize("base", BASES)
def test_no_class_says_what_its_value_does_not_hold(base: str) -> None:
    """Not wherever the interpreter goes through it, nor what loops over it; and one that the tests name may."""
    candidate, said = liar(base)
    shown = [*said]
    for tests in LOOPS:
        assert outcome(candidate, tests, S=shown), tests
        assert not outcome("", tests, S=shown, f=lambda _: shown), tests
    for tests in LOOPS[:3]:
        assert not outcome(candidate, tests, named="L", S=shown), tests


@pytest.mark.parametrize("base", ["dict", "collections.OrderedDict"])
def test_no_mapping_shows_what_it_does_not_hold(base: str) -> None:
    """By stars, patterns, and its own methods."""
    candidate, said = liar(base)
    for tests in MAPPED:
        assert outcome(candidate, tests, S=said), tests
        assert not outcome("", tests, S=said, f=lambda _: dict(said)), tests


@pytest.mark.parametrize("base", ["list", "tuple", "str", "bytes"])
def test_no_place_has_what_a_value_does_not_hold_there(base: str) -> None:
    """What lies beyond its places, or under other keys, is the class's own affair."""
    candidate, said = liar(base)
    for tests in PLACES:
        assert outcome(candidate, tests, S=said), tests
        assert not outcome("", tests, S=said, f=lambda _: said), tests
    assert not outcome(candidate, PLACES[0], named="L", S=said)


def test_arguments_of_an_exception_are_those_that_it_was_made_with() -> None:
    candidate, _ = liar("Exception")
    raising = candidate + "def g(): raise L(7)\n"
    tests = "try: g()\nexcept Exception as error:\n    assert error.args == ({},)"
    assert not outcome(raising, tests.format(7))
    assert outcome(raising, tests.format("4, 9"))
    assert outcome(raising, "try: g()\nexcept Exception as error:\n    a, b = error")


HONEST = {
    "records": (
        "import collections, dataclasses, enum, typing\nclass P(typing.NamedTuple):\n    x: int\n    y: int\n    def far(self): return self.x + self.y\n"
        "def f(n): return P(n, n + 1)\ndef c(xs): return collections.Counter(xs)\ndef o(xs): return collections.OrderedDict(xs)\n"
        "@dataclasses.dataclass\nclass D:\n    x: int\n    def __iter__(s): return iter((s.x, 2))\ndef d(): return D(1)\n"
        "class E(str, enum.Enum):\n    A = 'a'\ndef e(): return E.A\nclass F(enum.Flag):\n    A = 1\n    B = 2\ndef fl(): return F.A | F.B\n",
        "x, y = f(1)\nassert (x, y) == (1, 2) and f(1).far() == 3 and f(1)[0] == 1 and f(1)._asdict() == {'x': 1, 'y': 2}\n"
        "assert c('aab').most_common(1)[0] == ('a', 2) and c('aab')['z'] == 0 and [*c('aab').items()] == [('a', 2), ('b', 1)]\n"
        "d1 = o([(1, 2)])\nd1.move_to_end(1)\nassert [*d1] == [1] and d1[1] == 2\na, b = d()\nassert (a, b) == (1, 2)\n"
        "assert e().name == 'A' and [x for x in e()] == ['a'] and e().value.join(['b', 'c']) == 'bac'\n",
    ),
    "more than a list": (
        "class Row(list):\n    def __init__(s, it, label): super().__init__(it); s.label = label\n    def total(s): return sum(s)\n    def __getitem__(s, i): return Row(list.__getitem__(s, i), s.label) if isinstance(i, slice) else list.__getitem__(s, i % len(s))\n"
        "def f(): return Row([1, 2, 3], 'a')\ndef g(): return [f(), f()]\n",
        "r = f()\nassert r.label == 'a' and r.total() == 6 and r[4] == 2 and r[-1] == 3 and r[1:].label == 'a' and r[1:] == [2, 3]\n"
        "first, *rest = g()\nassert first.label == 'a' and rest[0].label == 'a'\nfor row in g(): row.append(4); assert row.total() == 10\n"
        "(p, q, s), t = g()\nassert s == 3 and t.label == 'a'\n",
    ),
    "keys of its own": (
        "class D(dict):\n    def __getitem__(s, k): return dict.__getitem__(s, k.lower())\n    def get(s, k, d=None): return dict.get(s, k.lower(), d)\n    def __missing__(s, k): return k\ndef f(): return D(a=1)\nclass W(dict):\n    def __getitem__(s, k): return dict.__getitem__(s, k)[0]\ndef w(): return W(a=(5, 'now'))\nclass H(list):\n    asked = 0\n    def __getitem__(s, i):\n        s.asked += 1\n        return list.__getitem__(s, i)\ndef h(): return H([1, 2])\n",
        "assert f()['A'] == 1 and f().get('A') == 1 and f().get('z', 3) == 3 and f()['a'] == 1 and f()['q'] == 'q' and {**f()} == {'a': 1}\nassert w()['a'] == 5\nx = h()\nassert x[0] == 1 and x[1] == 2 and x.asked == 2\n",
    ),
    "iterators": (
        "import itertools\ndef f(): return itertools.count(3)\ndef g():\n    yield 1, (2, 3)\n    yield 4, (5, 6)\nclass R:\n    def __iter__(s): return iter([1, 2])\n    def keys(s): return ['a']\n    def __getitem__(s, k): return 7\ndef r(): return R()\n",
        "import itertools\nassert [*zip(f(), 'ab')] == [(3, 'a'), (4, 'b')]\nassert [(a, b, c) for a, (b, c) in g()] == [(1, 2, 3), (4, 5, 6)]\nassert [*itertools.islice(f(), 2)] == [3, 4]\n"
        "try: (a, (b, c)), d = f(), 1\nexcept ValueError as error: assert 'too many' in str(error)\ntry: a, b = f()\nexcept ValueError as error: assert 'too many' in str(error)\n"
        "a, b = r()\nassert {**r()} == {'a': 7} and (a, b) == (1, 2) and r()[0] == 7\nx = [0]\nx[0] = r()\nassert [*x[0]] == [1, 2]\n",
    ),
    "texts of the tests": (
        "def f(x): return x\n",
        "from typing import Dict\ntable: Dict[str, list[int]] = {'a': [1, 2]}\ndef g(x: list[int], *, y: 'int' = 1) -> dict[str, int]: return {'a': x[0]}\nassert g.__annotations__['x'] == list[int] and g(table['a'])['a'] == 1\n"
        "m = {(0, 1): 2}\nassert m[0, 1] == 2 and f('abc')[::-1] == 'cba' and f([1, 2, 3])[1:][0] == 2 and f(b'ab')[:1] == b'a'\nm[0, 1] += 3\nassert m == {(0, 1): 5}\ndel m[0, 1]\nassert not m\n"
        "try: f({})['a']\nexcept KeyError as error: assert error.args == ('a',) and error.args[0] == 'a'\nx = y = z, = f([1])\nassert x == [1] and z == 1 and x is y\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("beside", [False, True])
def test_what_honest_programs_give_is_gone_through_as_it_is(name: str, beside: bool) -> None:
    """Records, counters, classes with more than a list has, iterators without an end, and what the tests write."""
    assert not outcome(*HONEST[name], beside=beside)
