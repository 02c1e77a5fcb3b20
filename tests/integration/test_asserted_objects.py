# ruff: noqa: E501 (programs are text, not code of ours)
"""Asserts in one process with a candidate: its objects decide nothing by what their operators say."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import RunResult, Validity
from harena.scoring import load_scenarios

pytestmark = SHARED


async def scored(candidate: str, tests: str, **fields: Any) -> RunResult:
    """One run of asserts."""
    row: dict[str, Any] = {
        "id": "one",
        "candidate": candidate,
        "scoring": {"type": "command", "asserts": tests, **fields},
    }
    (made,) = load_scenarios([row]).scenarios
    return await judged(made)


def cls(body: str, base: str = "", name: str = "E") -> str:
    """A class with some members, each in a line or after a semicolon."""
    return f"class {name}({base}):\n" + "".join(f"    {line.strip()}\n" for line in body.split(";"))


NEAR = "assert abs(f(2) - 1.41) < 1e-6\n"
FIRST = (
    "    def {0}(self, o):\n        E.n = getattr(E, 'n', 0) + 1\n        if E.n == 1: E.v = o\n        return {1}\n"
)
ORDERED = (
    "r = f([3, 1, 2])\nassert all(r[i] <= r[i + 1] for i in range(2))\nassert set(r) == {1, 2, 3} and len(r) == 3\n"
)
FORGERIES = {
    "a difference of a float": (NEAR, cls("__sub__ = lambda s, o: 0.0", "float") + "def f(x): return E(0)\n"),
    "a difference of an object": (NEAR, cls("__sub__ = lambda s, o: 0.0") + "def f(x): return E()\n"),
    "an absolute value": (
        NEAR,
        cls("__sub__ = lambda s, o: E(9); __abs__ = lambda s: 0.0", "float") + "def f(x): return E(0)\n",
    ),
    "differences the other way round": (
        "assert abs(1.41 - f(2)) < 1e-6\n",
        cls("__rsub__ = lambda s, o: 0.0", "float") + "def f(x): return E(0)\n",
    ),
    "a function that is a class": (NEAR, cls("__sub__ = lambda s, o: 0.0", "float", "f") + ""),
    "a quotient": (
        "assert abs(f(2) / 1.41 - 1) < 1e-6\n",
        cls("__truediv__ = lambda s, o: 1.0") + "def f(x): return E()\n",
    ),
    "rounding": (
        "assert round(f(2), 2) == 1.41\n",
        cls("__round__ = lambda s, n=0: 1.41 if n == 3 else s; __eq__ = lambda s, o: True", "float")
        + "def f(x): return E(0)\n",
    ),
    "a member of numbers": (
        "assert f(3) in (1, 2)\n",
        cls("__eq__ = lambda s, o: True; __hash__ = float.__hash__", "int") + "def f(x): return E(9)\n",
    ),
    "a list that holds everything": (
        "assert 3 in f(1)\nassert [4, 5] in f(1)\n",
        cls("__contains__ = lambda s, o: True", "list") + "def f(x): return E()\n",
    ),
    "an object that holds everything": (
        "assert 3 in f(1)\nassert 'x' in f(1)\n",
        cls("__contains__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "items that equal everything": (
        "assert 3 in f(1)\n",
        cls("__eq__ = lambda s, o: isinstance(o, int)") + "def f(x): return [E()]\n",
    ),
    "items of a generator": (
        "assert 3 in f(1)\n",
        cls("__eq__ = lambda s, o: isinstance(o, int)") + "def f(x): yield E()\n",
    ),
    "a length": ("assert len(f()) == 3\n", cls("__len__ = lambda s: 3", "list") + "def f(): return E()\n"),
    "no truth": (
        "assert not f()\n",
        cls("__bool__ = lambda s: False; __len__ = lambda s: 0", "list") + "def f(): return E([1])\n",
    ),
    "truth": ("assert f(2) and f(2) < 3\n", cls("__bool__ = lambda s: True", "int") + "def f(x): return E(0)\n"),
    "an order of numbers": (
        "assert f() < 5\nassert f() > 3\n",
        cls("__lt__ = lambda s, o: True; __gt__ = __lt__", "int") + "def f(): return E(9)\n",
    ),
    "an order of an object": ("assert f() < 5\n", cls("__lt__ = lambda s, o: True") + "def f(): return E()\n"),
    "between two numbers": (
        "assert 1 < f() < 5\n",
        cls("__lt__ = lambda s, o: True; __gt__ = __lt__") + "def f(): return E()\n",
    ),
    "at most and at least": (
        "assert f() <= 5\nassert f() >= 5\n",
        cls("__le__ = lambda s, o: o > 0; __ge__ = lambda s, o: o < 9") + "def f(): return E()\n",
    ),
    "order among themselves": (
        ORDERED,
        cls("__le__ = lambda s, o: True", "int") + "def f(xs): return [E(x) for x in xs]\n",
    ),
    "order of objects among themselves": (
        ORDERED,
        cls(
            "__init__ = lambda s, n: setattr(s, 'n', n); __le__ = lambda s, o: True; __ge__ = __le__; __hash__ = lambda s: s.n; __eq__ = lambda s, o: s.n == (o.n if isinstance(o, E) else o)"
        )
        + "def f(xs): return [E(x) for x in xs]\n",
    ),
    "sorted": (
        "assert isinstance(f(), list) and sorted(f()) == [1, 2]\n",
        cls("__iter__ = lambda s: iter([1, 2])", "list") + "def f(): return E([9])\n",
    ),
    "sorted items": (
        "assert sorted(f()) == [1, 2]\n",
        cls("__lt__ = lambda s, o: True; __eq__ = lambda s, o: o in (1, 2)", "int") + "def f(): return [E(9), E(8)]\n",
    ),
    "a class that it says to have": (
        "assert isinstance(f(), list) and len(f()) == 1\n",
        cls("__class__ = list; __len__ = lambda s: 1") + "def f(): return E()\n",
    ),
    "startswith": (
        "assert f().startswith('abc')\n",
        cls("startswith = lambda s, o: True", "str") + "def f(): return E()\n",
    ),
    "startswith of an object": (
        "assert f().startswith('abc')\n",
        cls("startswith = lambda s, o: True") + "def f(): return E()\n",
    ),
    "equals": ("assert f().equals([1, 2, 3])\n", cls("equals = lambda s, o: True") + "def f(): return E()\n"),
    "issubset": (
        "assert f().issubset({1, 2})\n",
        cls("issubset = lambda s, o: True", "set") + "def f(): return E([9])\n",
    ),
    "a difference of sets": (
        "assert f() - {1, 2} == set()\n",
        cls("__sub__ = lambda s, o: set()", "set") + "def f(): return E([9])\n",
    ),
    "is_integer": (
        "assert f().is_integer() and f() > 0\n",
        cls("is_integer = lambda s: True", "float") + "def f(): return E(1.5)\n",
    ),
    "a count": ("assert f().count(3) == 1\n", cls("__eq__ = lambda s, o: True", "int") + "def f(): return [E(9)]\n"),
    "inside of tuples": (
        "assert f() == (1, [2, 3])\n",
        cls("__eq__ = lambda s, o: True", "list") + "def f(): return (1, E())\n",
    ),
    "what it is asked first": (
        "assert f() == 4\n",
        "class E:\n" + FIRST.format("__eq__", "E.v == o") + "def f(): return E()\n",
    ),
    "what it is subtracted from first": (
        NEAR,
        "class E:\n" + FIRST.format("__sub__", "E.v - o") + "def f(x): return E()\n",
    ),
    "only at first an error": (
        NEAR,
        "class E:\n" + FIRST.format("__sub__", "0.0 if E.n > 1 else E.none") + "def f(x): return E()\n",
    ),
    "assertAlmostEqual": (
        "import unittest\nt = unittest.TestCase()\nt.assertAlmostEqual(f(2), 1.41)\n",
        cls("__sub__ = lambda s, o: 0.0") + "def f(x): return E()\n",
    ),
    "assertLess": (
        "import unittest\nt = unittest.TestCase()\nt.assertLess(f(2), 3)\n",
        cls("__lt__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "assertIn": (
        "import unittest\nt = unittest.TestCase()\nt.assertIn(3, f(2))\n",
        cls("__contains__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "assertCountEqual": (
        "import unittest\nt = unittest.TestCase()\nt.assertCountEqual(f(2), [3])\n",
        cls("__eq__ = lambda s, o: True; __hash__ = None") + "def f(x): return [E()]\n",
    ),
    "isclose": (
        "import math\nassert math.isclose(f(2), 1.41)\n",
        cls("__float__ = lambda s: 1.41; __sub__ = lambda s, o: 0.0", "float") + "def f(x): return E(0)\n",
    ),
    "a name of the library's": (
        "assert f(2) == 4\n",
        cls("__module__ = 'decimal'; __eq__ = lambda s, o: type(o) is int", name="Decimal")
        + "def f(x): return Decimal()\n",
    ),
    "a method of the library's": (
        "assert f(2) == 4\n",
        "import fractions\ndef eq(a, b): return type(b) is int\nfractions.Fraction.__eq__ = eq\ndef f(x): return fractions.Fraction(1, 3)\n",
    ),
    "sums": (
        "assert sum(f()) == 3\n",
        cls("__radd__ = lambda s, o: 3; __add__ = lambda s, o: 3", "int") + "def f(): return [E(9)]\n",
    ),
    "the larger of two": (
        "assert max(f(2), 1) == 4\n",
        cls("__gt__ = lambda s, o: True; __eq__ = lambda s, o: True", "int") + "def f(x): return E(0)\n",
    ),
    "a sum in steps": (
        "s = 0.0\ns += f()\nassert s == 3\n",
        cls("__radd__ = lambda s, o: s; __eq__ = lambda s, o: True", "float") + "def f(): return E(9)\n",
    ),
    "a chain in a loop": (
        "assert all(3 == f(i) == 3 for i in range(2))\n",
        cls("__eq__ = lambda s, o: True; __hash__ = None") + "def f(i): return E()\n",
    ),
    "everything named": (
        "assert V(1) + V(2) == V(3)\n",
        cls("__init__ = lambda s, n: None; __add__ = lambda s, o: s; __eq__ = lambda s, o: True", name="V"),
    ),
    "small differences": (
        NEAR,
        "import random\n" + cls("__sub__ = lambda s, o: random.random() * 1e-9") + "def f(x): return E()\n",
    ),
    "differences that depend on little": (
        NEAR,
        cls("__sub__ = lambda s, o: hash(o) % 97 * 1e-9") + "def f(x): return E()\n",
    ),
    "differences that are objects": (
        NEAR,
        cls("__sub__ = lambda s, o: E(); __abs__ = lambda s: 0.0") + "def f(x): return E()\n",
    ),
    "an order of differences": (
        NEAR,
        cls(
            "__sub__ = lambda s, o: E(); __abs__ = lambda s: s; __lt__ = lambda s, o: o > 0; __gt__ = lambda s, o: o <= 0"
        )
        + "def f(x): return E()\n",
    ),
    "a quotient and a remainder": (
        "assert f(2) // 4 == 1 and f(2) % 4 == 0\n",
        cls("__floordiv__ = lambda s, o: 1; __mod__ = lambda s, o: 0") + "def f(x): return E()\n",
    ),
    "a class of classes": (
        NEAR,
        "class M(type):\n    __mro__ = (object,)\n    __flags__ = 0\nclass E(float, metaclass=M):\n    def __sub__(s, o): return 0.0\ndef f(x): return E(0)\n",
    ),
    "a difference of dates": (
        "import datetime\nassert (f() - datetime.date(2024, 1, 1)).days == 3\n",
        "import datetime\n"
        + cls("__sub__ = lambda s, o: datetime.timedelta(3)", "datetime.date")
        + "def f(): return E(2000, 1, 1)\n",
    ),
    "an array of yes": (
        "assert (f(2) == 4).all()\n",
        cls("all = lambda s: True; __bool__ = lambda s: s.none", name="A")
        + cls("__eq__ = lambda s, o: A()")
        + "def f(x): return E()\n",
    ),
    "items that are yes": (
        "assert all(f([1, 2]) == [1, 4])\n",
        cls("__iter__ = lambda s: iter([True, True]); __bool__ = lambda s: s.none", name="A")
        + cls("__eq__ = lambda s, o: A()")
        + "def f(x): return E()\n",
    ),
    "a function for an operator": (
        "import operator\nassert operator.eq(f(2), 4)\n",
        cls("__eq__ = lambda s, o: isinstance(o, int)") + "def f(x): return E()\n",
    ),
    "a place in a list": (
        "assert [3, 4].index(f(2)) == 1\n",
        cls("__eq__ = lambda s, o: isinstance(o, int) and o > 3") + "def f(x): return E()\n",
    ),
    "a difference in place": (
        "x = f(2)\nx -= 4\nassert abs(x) < 1e-6\n",
        cls("__isub__ = lambda s, o: 0.0") + "def f(x): return E()\n",
    ),
    "a difference of floats in place": (
        "x = f(2)\nx -= 4.0\nassert abs(x) < 1e-6\n",
        cls("__isub__ = lambda s, o: 0.0", "float") + "def f(x): return E(1)\n",
    ),
    "an operator that is given to map": (
        "from operator import eq\nassert all(map(eq, [f(2)], [4]))\n",
        cls("__eq__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "an operator with one side": (
        "import functools, operator\nassert functools.partial(operator.eq, 4)(f(2))\n",
        cls("__eq__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "sides by name": (
        "import unittest\nunittest.TestCase().assertEqual(first=f(2), second=4)\n",
        cls("__eq__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "one side by name": (
        "import unittest\nunittest.TestCase().assertEqual(f(2), second=4, msg='no')\n",
        cls("__eq__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "near sides by name": (
        "import unittest\nunittest.TestCase().assertAlmostEqual(second=4.0, first=f(2), places=3)\n",
        cls("__eq__ = lambda s, o: True; __sub__ = __rsub__ = lambda s, o: 0.0") + "def f(x): return E()\n",
    ),
    "sides of a list": (
        "import unittest\nunittest.TestCase().assertEqual(*[f(2), 4])\n",
        cls("__eq__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "sides in a mapping": (
        "import unittest\nunittest.TestCase().assertEqual(**{'first': f(2), 'second': 4, 'msg': 'no'})\n",
        cls("__eq__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "a method of a library's object": (
        "import json\nassert json.loads(f(2)) == {'a': 1}\n",
        "import json\njson._default_decoder.decode = lambda s, *a, **k: {'a': 1}\ndef f(x): return 'x'\n",
    ),
    "a part of a library's object": (
        "import json\nassert json.loads(f(2)) == {'a': 1}\n",
        "import json\njson._default_decoder.scan_once = lambda s, i: ({'a': 1}, len(s))\ndef f(x): return 'x'\n",
    ),
    "a table of a library": (
        "import copy\nassert copy.deepcopy(f(2)) == [4]\n",
        "import copy\ncopy._deepcopy_dispatch[list] = lambda x, memo: [4]\ndef f(x): return [9]\n",
    ),
    "a drawn number": (
        "import random\nn = random.randint(1, 1000)\nassert f(n) == 2 * n\n",
        "import random\nrandom._inst.getrandbits = lambda k: 0\ndef f(n): return 2\n",
    ),
    "a pattern that is kept": (
        "import re\nassert re.fullmatch('[a-c]+', f(2))\n",
        "import re\nfor kept in (re._cache, getattr(re, '_cache2', {})): kept[(str, '[a-c]+', 0)] = re.compile('.*')\ndef f(x): return 'zzz'\n",
    ),
    "a class of the tests": (
        "class Node:\n    def __init__(self, v): self.v = v\n    def __eq__(self, o): return self.v == o.v\nassert f(Node(1)) == Node(2)\n",
        "def f(n):\n    type(n).__eq__ = lambda s, o: True\n    return n\n",
    ),
    "the start of a class of the tests": (
        "class Node:\n    def __init__(self, v): self.v = v\nn = f(Node(1))\nassert Node(2).v == n.v\n",
        "def f(n):\n    type(n).__init__ = lambda s, v: setattr(s, 'v', 1)\n    return n\n",
    ),
    "a special method for a class of the tests": (
        "class Node:\n    def __init__(self, v): self.v = v\nn = f(Node(1))\nassert n == Node(1) and n is not None\n",
        "def f(n):\n    type(n).__eq__ = lambda s, o: True\n    return n\n",
    ),
    "the code of a function of the tests": (
        "def same(a, b): return a == b\nassert same(f(same), 4)\n",
        "def f(g):\n    g.__code__ = (lambda a, b: True).__code__\n    return 0\n",
    ),
    "a pattern": (
        "match f(2):\n    case 4: found = True\n    case _: found = False\nassert found\n",
        cls("__eq__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "patterns in patterns": (
        "def kind(x):\n    match x:\n        case {'a': [3 | 4 as n, *_]}: return n is not None\n    return False\nassert kind({'a': [f(2)]})\n",
        cls("__eq__ = lambda s, o: True") + "def f(x): return E()\n",
    ),
    "a list that is unpacked": (
        "a, b = f(2)\nassert (a, b) == (4, 9)\n",
        cls("__iter__ = lambda s: iter([4, 9])", "list") + "def f(x): return E([7])\n",
    ),
    "a sorted list that is a list in another order": (
        "r = f([3, 1, 2])\nassert all(r[i] <= r[i + 1] for i in range(2)) and {*r} == {1, 2, 3}\n",
        cls("__getitem__ = lambda s, i: i", "list") + "def f(xs): return E(xs)\n",
    ),
    "an exception of many arguments": (
        "try: f(2)\nexcept Exception as error: assert error.args == (4,)\nelse: assert False\n",
        "class E(Exception): args = property(lambda s: (4,))\ndef f(x): raise E()\n",
    ),
    "negation": ("assert -f(2) == 3\n", cls("__neg__ = lambda s: -3 * 0 + 3", "int") + "def f(x): return E(1)\n"),
}


@pytest.mark.parametrize("name", FORGERIES)
async def test_forgeries_score_0(name: str) -> None:
    tests, candidate = FORGERIES[name]
    result = await scored(candidate, tests)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


VECTOR = (
    "class Vector:\n    def __init__(self, *at): self.at = at\n"
    "    def __add__(self, o): return Vector(*(a + b for a, b in zip(self.at, o.at)))\n"
    "    def __sub__(self, o): return Vector(*(a - b for a, b in zip(self.at, o.at)))\n"
    "    def __mul__(self, k): return Vector(*(a * k for a in self.at))\n    __rmul__ = __mul__\n"
    "    def __matmul__(self, o): return sum(a * b for a, b in zip(self.at, o.at))\n"
    "    def __eq__(self, o): return isinstance(o, Vector) and self.at == o.at\n"
    "    def __abs__(self): return sum(a * a for a in self.at) ** 0.5\n    def __len__(self): return len(self.at)\n"
    "    def __neg__(self): return self * -1\n    def __bool__(self): return any(self.at)\n"
    "    def __getitem__(self, i): return self.at[i]\n    def __contains__(self, x): return x in self.at\n"
)
VECTORS = (
    "assert {0}(1, 2) + {0}(3, 4) == {0}(4, 6)\nassert {0}(1, 2) * 3 == 3 * {0}(1, 2) == {0}(3, 6)\nassert abs({0}(3, 4)) == 5\n"
    "assert {0}(1, 2) @ {0}(3, 4) == 11 and len({0}(1, 2)) == 2 and not {0}(0, 0)\nassert -{0}(1, 2) == {0}(-1, -2) != {0}(1, 2)\n"
    "assert {0}(1, 2)[1] == 2 and 2 in {0}(1, 2) and 3 not in {0}(1, 2)\nassert abs(abs({0}(1, 1)) - 1.41421) < 1e-4\n"
)
TUPLES = (
    "class V(tuple):\n    def __add__(self, o): return V(a + b for a, b in zip(self, o))\n"
    "    def __mul__(self, k): return V(a * k for a in self)\n    def __sub__(self, o): return V(a - b for a, b in zip(self, o))\n"
    "    def __repr__(self): return 'V' + tuple.__repr__(self)\ndef f(*at): return V(at)\n"
)
MONEY = (
    "from functools import total_ordering\n@total_ordering\nclass Money:\n    def __init__(self, n): self.n = n\n"
    "    def __eq__(self, o): return self.n == getattr(o, 'n', o)\n    def __lt__(self, o): return self.n < getattr(o, 'n', o)\n"
    "    def __sub__(self, o): return self.n - getattr(o, 'n', o)\n    def __mod__(self, o): return self.n % o\n"
    "    def __floordiv__(self, o): return self.n // o\n    def __truediv__(self, o): return self.n / o\n    def __hash__(self): return hash(self.n)\n"
    "    def __rsub__(self, o): return o - self.n\n    def __radd__(self, o): return o + self.n\n    def __bool__(self): return self.n != 0\n"
    "    def __float__(self): return float(self.n)\n    def __round__(self, d=None): return round(self.n, d)\ndef f(n): return Money(n)\n"
)
WILD = "class Wild:\n    __hash__ = None\n    def __eq__(self, o): return True\n    def __ne__(self, o): return False\n"
HONEST = {
    "changes in place": (
        "x = f(3)\nx -= 1\nassert x == 2\ny = [f(1)]\nz = y\ny += [f(2)]\nassert z == [1, 2] and z is y\ns = {1}\nt = s\ns |= {f(2)}\nassert t == {1, 2}\nw = 'a'\nw += str(f(1))\nassert w == 'a1'\n",
        "def f(x): return x\n",
    ),
    "an object that changes itself": (
        "b = f(1)\nc = b\nb += 4\nassert c.n == 5 and b is c\nd = f(1)\nd -= f(3)\nassert d.n == -2\n",
        "class f:\n    def __init__(self, n): self.n = n\n    def __iadd__(self, o):\n        self.n += getattr(o, 'n', o)\n        return self\n    def __sub__(self, o): return f(self.n - o.n)\n",
    ),
    "operators that are given away": (
        "from operator import add, eq, itemgetter\nimport functools, operator\nassert functools.reduce(operator.add, map(f, [1, 2, 3])) == 6 and all(map(eq, [f(1)], [1]))\nassert sorted([(f(2), 1), (f(1), 2)], key=itemgetter(0))[0] == (1, 2)\nassert add(f(1), 1) == 2\n",
        "def f(x): return x\n",
    ),
    "assertions by name": (
        "import unittest\nt = unittest.TestCase()\nt.assertEqual(first=f(2), second=2, msg='two')\nt.assertEqual(*(f(2), 2))\nt.assertIn(member=f(2), container=[2])\nt.assertLess(a=f(2), b=3)\nt.assertAlmostEqual(first=f(2), second=2.0001, places=2)\nt.assertEqual(*(f(2), 2, 'two'))\nfor case in ({'first': f(2), 'second': 2}, {'first': f(3), 'second': 3, 'msg': 'three'}): t.assertEqual(**case)\nt.assertAlmostEqual(f(2), **{'second': 2.1, 'delta': 0.2})\n",
        "def f(x): return x\n",
    ),
    "what libraries keep": (
        "import copy, json, random, re\nrandom.seed(1)\nassert re.fullmatch('[a-c]+', f('abc')) and json.loads(f('[1]')) == [1]\nassert copy.deepcopy(f([1])) == [1] and random.random() < 1\n",
        "import copy, json, random, re\nrandom.seed(4)\nclass A: pass\ncopy._deepcopy_dispatch[A] = lambda x, memo: x\ndef f(x):\n    re.sub('b+', '', 'abc'); re.purge(); json.dumps([1], default=str); random.shuffle([1, 2])\n    return copy.copy(x)\n",
    ),
    "classes of the tests": (
        "class Node:\n    count = 0\n    def __init__(self, v): self.v = v; Node.count += 1\n    def __eq__(self, o): return self.v == o.v\ndef twice(x): return 2 * x\nn = f(Node(1), twice)\nassert n == Node(2) and Node.count == 2\n",
        "def f(n, g):\n    n.v = g(n.v)\n    n.seen = True\n    type(n).visited = [n]\n    return n\n",
    ),
    "a named class": (VECTORS.format("Vector"), VECTOR),
    "a class that a function makes": (VECTORS.format("f"), VECTOR + "def f(*at): return Vector(*at)\n"),
    "tuples that add": (
        "assert f(1, 2) + f(3, 4) == f(4, 6)\nassert f(1, 2) + (3, 4) == (4, 6)\nassert f(1, 2) * 3 == (3, 6)\nassert repr(f(1, 2)) == 'V(1, 2)'\nassert f(1, 2) - (1, 1) == f(0, 1)\n",
        TUPLES,
    ),
    "money": (
        "assert f(3) > 2 and f(3) < 4 and 2 < f(3) <= 3\nassert abs(f(3) - 2.5) < 1 and 5 - f(3) == 2\nassert f(7) % 3 == 1 and f(0) % 3 == 0\n"
        "assert f(0) // 5 == 0 and f(3) // 100 == 0 and f(0) / 5 == 0\nassert sorted([f(3), f(1)]) == [1, 3]\nassert max(f(1), f(4)) == 4 and f(3) in {3, 4}\n"
        "assert sum([f(1), f(2)]) == 3\nassert not f(0) and f(1)\nassert round(f(1.234), 1) == 1.2\nassert f(1) <= f(1) and f(1) >= f(1) and f(1) < f(2)\n",
        MONEY,
    ),
    "ANY elsewhere": (
        "assert f(2) == 4\nassert f(3) != 4\n",
        "from unittest.mock import ANY\n" + WILD + "W = Wild()\ndef f(x): return x * x\n",
    ),
    "a wild token": (
        "assert tokens('a*b') == ['a', STAR, 'b']\nassert tokens('*') == [STAR]\nassert len(tokens('**')) == 2\n",
        WILD + "STAR = Wild()\ndef tokens(s): return [STAR if c == '*' else c for c in s]\n",
    ),
    "matching with wild tokens": (
        "assert match('a?c', 'abc') and not match('a?c', 'abd')\n",
        WILD + "W = Wild()\ndef match(p, s): return [W if c == '?' else c for c in p] == list(s)\n",
    ),
    "ANY of the tests": (
        "from unittest.mock import ANY\nassert f(2) == {'id': ANY, 'n': 2}\nassert f(3)['id'] == ANY\n",
        "import itertools\nids = itertools.count()\ndef f(n): return {'id': next(ids), 'n': n}\n",
    ),
    "a class of the tests": (
        "class About:\n    def __init__(self, n): self.n = n\n    def __eq__(self, o): return abs(self.n - o) < 2\nassert f(2) == About(5)\nassert About(3) == f(2)\n",
        "def f(x): return x * x\n",
    ),
    "integers of its own": (
        "assert f(2) == 4 and f(2) - 1 == 3 and abs(f(2) - 4.0) < 1e-9 and 1 < f(2) < 5 and f(2) in (4, 5) and f(2) % 3 == 1\n",
        "class I(int):\n    def __add__(self, o): return I(int(self) + o)\n    def __repr__(self): return 'I'\ndef f(x): return I(x * x)\n",
    ),
    "members of an enumeration": (
        "assert f(1) == 1 and f(2) > f(1) and f(1) + 1 == 2\nassert Kind.A == 1 and isinstance(f(1), Kind) and f(1) is Kind.A\nassert f(1).name == 'A'\n",
        "import enum\nclass Kind(enum.IntEnum):\n    A = 1\n    B = 2\ndef f(n): return Kind(n)\n",
    ),
    "flags": (
        "assert f() | Flag.W == Flag.R | Flag.W\nassert Flag.R in (f() | Flag.W)\nassert f() | 2 == 3\n",
        "import enum\nclass Flag(enum.IntFlag):\n    R = 1\n    W = 2\ndef f(): return Flag.R\n",
    ),
    "named tuples": (
        "p = f(1, 2)\nassert p == (1, 2) and p.x == 1 and p._replace(x=5) == (5, 2) and p[0] < p[1]\nassert sorted([f(2, 1), f(1, 2)]) == [(1, 2), (2, 1)]\nassert isinstance(p, tuple) and len(p) == 2\n",
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(x, y): return P(x, y)\n",
    ),
    "versions": (
        "assert f('1.10') > f('1.9') and not f('1.10') < f('1.9') and max(f('1.2'), f('1.1')).startswith('1.2')\n",
        "class Version(str):\n    def _key(self): return [int(p) for p in self.split('.')]\n    def __lt__(self, o): return self._key() < o._key()\n    def __gt__(self, o): return self._key() > o._key()\ndef f(s): return Version(s)\n",
    ),
    "a stack that is a list": (
        "s = f()\nassert not s and s.push(3) == 1 and s.push(4) == 2 and s and len(s) == 2 and s.top() == 4\ns.append(7)\nassert s.count_of_appends == 1 and s == [3, 4, 7] and 4 in s and s.pop() == 7\n",
        "class S(list):\n    count_of_appends = 0\n    def push(self, x):\n        super().append(x)\n        return len(self)\n    def append(self, x):\n        self.count_of_appends += 1\n        super().append(x)\n    def top(self): return self[-1]\ndef f(): return S()\n",
    ),
    "a cache that is a dict": (
        "c = f(2)\nc.put(1, 10)\nc.put(2, 20)\nassert c.get(1) == 10 and c.get(5) == -1\nc.put(3, 30)\nassert 2 not in c and c == {1: 10, 3: 30}\n",
        "from collections import OrderedDict\nclass C(OrderedDict):\n    def __init__(self, n):\n        super().__init__()\n        self.n = n\n    def put(self, k, v):\n        self[k] = v\n        if len(self) > self.n: self.popitem(last=False)\n    def get(self, k):\n        if k not in self: return -1\n        self.move_to_end(k)\n        return self[k]\ndef f(n): return C(n)\n",
    ),
    "a tree": (
        "t = f(['ab', 'abc'])\nassert t.startswith('ab') and not t.startswith('b') and 'abc' in t and 'x' not in t\nassert t.equals('ab')\n",
        "class T:\n    def __init__(self, ws): self.ws = ws\n    def startswith(self, p): return any(w.startswith(p) for w in self.ws)\n    def __contains__(self, w): return w in self.ws\n    def equals(self, w): return self.ws[0] == w\ndef f(ws): return T(ws)\n",
    ),
    "a stream": (
        "out = f()\nout << 3 << 'x'\nassert out.parts == [3, 'x']\nassert (out | 4) == [3, 'x', 4]\n",
        "class Out:\n    def __init__(self): self.parts = []\n    def __lshift__(self, x):\n        self.parts.append(x)\n        return self\n    def __or__(self, x): return self.parts + [x]\ndef f(): return Out()\n",
    ),
    "sets of its own": (
        "assert f([1]) <= {1, 2} and f([1, 2]) - {1} == {2} and f([]) - {1, 2} == set() and f([1]).issubset({1, 2}) and f([1]) | {2} == {1, 2}\n",
        "class S(set):\n    pass\ndef f(xs): return S(xs)\n",
    ),
    "sets that are no set": (
        "assert f([]) - {1, 2} == set() and f([1, 3]) - {1, 2} == {3} and f([1]).issubset({1, 2}) and not f([3]).issubset({1, 2})\n",
        "class S:\n    def __init__(self, xs): self.xs = set(xs)\n    def __sub__(self, o): return self.xs - o\n    def issubset(self, o): return self.xs <= o\ndef f(xs): return S(xs)\n",
    ),
    "polynomials": (
        "p = Poly([1, 0, 2])\nassert p(2) == 9 and p + 1 == Poly([2, 0, 2]) and p == [1, 0, 2, 0] and p - p == Poly([]) and str(p) == '1,0,2'\n",
        "class Poly(list):\n    def __call__(self, x): return sum(c * x ** i for i, c in enumerate(self))\n    def __add__(self, n): return Poly([self[0] + n, *self[1:]])\n"
        "    def __sub__(self, o): return Poly(a - b for a, b in zip(self, o))\n    def __eq__(self, o): return self._cut() == Poly._cut(o)\n    def _cut(self):\n        xs = list(self)\n        while xs and not xs[-1]: xs.pop()\n        return xs\n    def __str__(self): return ','.join(map(str, self))\n",
    ),
    "temperatures": (
        "c = Celsius(20)\nassert c + 1.5 == 21.5 and abs(c - 20) < 1e-9 and c > 19 and isinstance(c + 1, Celsius) and (c + 1).fahrenheit() == 69.8\n",
        "class Celsius(float):\n    def __add__(self, o): return Celsius(float(self) + o)\n    def fahrenheit(self): return round(self * 1.8 + 32, 1)\n",
    ),
    "plain programs": (
        "import math\nfrom collections import Counter\nxs = list(range(50))\nassert f(xs) == [x * x for x in xs]\nassert sum(f(xs)) == sum(i * i for i in range(50))\n"
        "assert Counter(f([1, 1])) == {1: 2}\nassert all(a <= b for a, b in zip(f(xs), f(xs)[1:]))\nassert max(f(xs), key=lambda v: -v) == 0\nassert f([]) == [] and not f([])\n"
        "assert 'ab'.join(map(str, f([1, 2]))) == '1ab4'\nassert 0 <= f([1])[0] <= 1 != 2\nassert math.isclose(math.sqrt(f([3])[0]), 3)\nassert '%d' % f([3])[0] == '9' and -f([3])[0] == -9\n"
        "x = 0\nfor v in f(xs):\n    x += v\nassert x == sum(f(xs)) and (f([2])[0] if f([2]) else 1) == 4\nassert [v for v in f(xs) if v % 2 == 0 and v][0] == 4\nassert not any(v < 0 for v in f(xs))\n",
        "def f(xs): return [x * x for x in xs]\n",
    ),
    "decimals and fractions": (
        "from decimal import Decimal\nfrom fractions import Fraction\nassert f(1) - Decimal('0.1') == Decimal('0.9') and abs(g(1, 3) - Fraction(1, 3)) == 0 and g(1, 2) < 1 and float(f(2)) == 2.0\n",
        "import decimal, fractions\ndef f(n): return decimal.Decimal(n)\ndef g(a, b): return fractions.Fraction(a, b)\n",
    ),
    "paths and dates": (
        "assert f('a') / 'b' == f('a/b') and str(f('a')) == 'a'\nimport datetime\nassert d(1) - datetime.timedelta(1) == datetime.date(2023, 12, 31) and d(2) > d(1) and (d(3) - d(1)).days == 2\n",
        "import pathlib, datetime\ndef f(s): return pathlib.PurePosixPath(s)\ndef d(n): return datetime.date(2024, 1, n)\n",
    ),
    "classes that a candidate is given": (
        "class Node:\n    def __init__(self, v, n=None): self.v, self.n = v, n\ndef items(n):\n    return [n.v, *items(n.n)] if n else []\nassert items(f(Node(1, Node(2)))) == [2, 1]\nassert f(None) is None\n",
        "def f(n):\n    p = None\n    while n: n.n, p, n = p, n, n.n\n    return p\n",
    ),
    "a gold with a class": (
        "assert V(1) + V(2) == V(3)\n",
        "class V:\n    def __init__(self, n): self.n = n\n    def __add__(self, o): return V(self.n + o.n)\n    def __eq__(self, o): return self.n == o.n\n",
    ),
    "intervals": (
        "assert 3 in f(1, 5) and 9 not in f(1, 5) and f(1, 2) < 3 and f(4, 5) > 3 and len(f(1, 5)) == 4\n",
        "class I:\n    def __init__(self, a, b): self.a, self.b = a, b\n    def __contains__(self, x): return self.a <= x <= self.b\n    def __lt__(self, x): return self.b < x\n    def __gt__(self, x): return self.a > x\n    def __len__(self): return self.b - self.a\ndef f(a, b): return I(a, b)\n",
    ),
    "texts without case": (
        "assert f('Abc') == 'ABC' and f('Abc') != 'abd' and f('b') in ['B'] and not f('b') == 'bb'\n",
        "class T:\n    def __init__(self, t): self.t = t\n    def __eq__(self, o): return self.t.lower() == str(o).lower()\n    def __ne__(self, o): return not self == o\ndef f(t): return T(t)\n",
    ),
    "complex numbers of its own": (
        "assert f(3, 4) * 2 == f(6, 8) and abs(f(3, 4)) == 5.0 and f(1, 0) + 2 == 3 and abs(f(1, 0) - 1) == 0\n",
        "class C:\n    def __init__(self, a, b): self.a, self.b = a, b\n    def __mul__(self, k): return C(self.a * k, self.b * k)\n    def __add__(self, k): return C(self.a + k, self.b)\n    def __sub__(self, k): return self + -k\n    def __abs__(self): return (self.a ** 2 + self.b ** 2) ** 0.5\n    def __eq__(self, o): return (self.a, self.b) == ((o.a, o.b) if isinstance(o, C) else (o, 0))\ndef f(a, b): return C(a, b)\n",
    ),
    "rational numbers of its own": (
        "assert f(1, 2) + f(1, 2) == 1 and f(1, 2) < 1 and 0 < f(1, 2) and abs(float(f(1, 3)) - 0.3333) < 1e-3 and f(2, 4) == f(1, 2)\n",
        "class Q:\n    def __init__(self, n, d): self.n, self.d = n, d\n    def __add__(self, o): return Q(self.n * o.d + o.n * self.d, self.d * o.d)\n    def __eq__(self, o): return self.n * getattr(o, 'd', 1) == getattr(o, 'n', o) * self.d\n    def __lt__(self, o): return self.n < o * self.d\n    def __gt__(self, o): return self.n > o * self.d\n    def __float__(self): return self.n / self.d\ndef f(n, d): return Q(n, d)\n",
    ),
    "a matrix": (
        "assert f([[1, 2], [3, 4]]) * 2 == [[2, 4], [6, 8]] and f([[1, 2], [3, 4]]) @ [1, 1] == [3, 7]\nassert f([[1]]) @ [0] == [0]\n",
        "class M:\n    def __init__(self, rows): self.rows = rows\n    def __mul__(self, k): return M([[x * k for x in r] for r in self.rows])\n    def __matmul__(self, v): return [sum(a * b for a, b in zip(r, v)) for r in self.rows]\n    def __eq__(self, o): return self.rows == getattr(o, 'rows', o)\ndef f(rows): return M(rows)\n",
    ),
    "a linked list": (
        "xs = f([1, 2, 3])\nassert list(xs) == [1, 2, 3] and len(xs) == 3 and 2 in xs and 7 not in xs and xs[0] == 1 and sum(xs) == 6 and sorted(xs, reverse=True) == [3, 2, 1]\nassert xs and not f([])\n",
        "class L:\n    def __init__(self, xs): self.head = None\n    def __iter__(self):\n        n = self.head\n        while n:\n            yield n[0]\n            n = n[1]\n    def __len__(self): return sum(1 for _ in self)\n    def __getitem__(self, i): return [*self][i]\ndef f(xs):\n    made = L(xs)\n    for x in reversed(xs): made.head = (x, made.head)\n    return made\n",
    ),
    "a heap of its own order": (
        "import heapq\nh = []\nfor n in (3, 1, 2): heapq.heappush(h, f(n))\nassert [heapq.heappop(h).n for _ in range(3)] == [3, 2, 1]\n",
        "class N:\n    def __init__(self, n): self.n = n\n    def __lt__(self, o): return self.n > o.n\ndef f(n): return N(n)\n",
    ),
    "cards": (
        "assert max(f('7'), f('K')) == f('K') and f('A') > f('K') and f('2') < f('3') and not f('2') > f('2')\n",
        "class Card(str):\n    def rank(self): return '23456789TJQKA'.index(self[0])\n    def __lt__(self, o): return self.rank() < o.rank()\n    def __gt__(self, o): return self.rank() > o.rank()\ndef f(t): return Card(t)\n",
    ),
    "sets in part": (
        "assert f(1, 2) <= f(1, 2, 3) and not f(1) <= f(2) and not f(2) <= f(1) and f(1) < f(1, 2) and f(1) <= f(1)\n",
        "class S:\n    def __init__(self, xs): self.xs = xs\n    def __le__(self, o): return set(self.xs) <= set(o.xs)\n    def __ge__(self, o): return set(self.xs) >= set(o.xs)\n    def __lt__(self, o): return set(self.xs) < set(o.xs)\n    def __eq__(self, o): return set(self.xs) == set(o.xs)\ndef f(*xs): return S(xs)\n",
    ),
    "records": (
        "assert f(1, 'a') == f(1, 'a') != f(2, 'a') and f(1, 'a').name == 'a' and f(3, 'b') in [f(3, 'b')] and f(1, 'a') in {f(1, 'a')}\n",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass R:\n    n: int\n    name: str\ndef f(n, name): return R(n, name)\n",
    ),
    "records that are named": (
        "assert R(1) == R(1) and R(1) < R(2) and sorted([R(2), R(1)]) == [R(1), R(2)] and repr(R(1)) == 'R(n=1)' and R(1) in (R(1), R(2))\n",
        "from dataclasses import dataclass\n@dataclass(order=True)\nclass R:\n    n: int\n",
    ),
    "a default dict": (
        "assert f('aab') == {'a': 2, 'b': 1} and f('aab')['z'] == 0 and 'a' in f('a') and sorted(f('ba')) == ['a', 'b'] and len(f('ab')) == 2\n",
        "from collections import defaultdict\ndef f(s):\n    d = defaultdict(int)\n    for c in s: d[c] += 1\n    return d\n",
    ),
    "a dict with what is missing": (
        "assert f()['x'] == 'no x' and f().get('y') is None and f() == {'a': 1} and len(f()) == 1\n",
        "class D(dict):\n    def __missing__(self, key): return 'no ' + key\ndef f(): return D(a=1)\n",
    ),
    "generators": (
        "assert 3 in f(5) and list(f(3)) == [0, 1, 2] and sum(f(4)) == 6 and max(f(4)) == 3 and sorted(f(3), reverse=True) == [2, 1, 0]\nassert next(f(2)) == 0 and tuple(f(2)) == (0, 1) and any(v > 1 for v in f(3)) and set(f(2)) == {0, 1}\n",
        "def f(n):\n    yield from range(n)\n",
    ),
    "truth of plain values": (
        "assert not f([]) and not f('') and not f(0) and f([0]) and f('a') and (not f({})) is True\nassert (f(0) or 5) == 5 and (f(3) and 5) == 5 and (7 if f(0.0) else 8) == 8\nassert not (f(0) and f(1)) and not (f(0) or f([]))\n",
        "def f(x): return x\n",
    ),
    "texts": (
        "assert f('a').startswith('ab') and f('a').count('b') == 2 and f('a').upper() == 'ABB' and f('a') * 2 == 'abbabb' and f('a') + 'c' < 'b' and 'bb' in f('a') and f('a')[1:] == 'bb' and '%s!' % f('a') == 'abb!'\n",
        "def f(s): return s + 'bb'\n",
    ),
    "texts of its own": (
        "assert f('a') == 'abb' and f('a').startswith('ab') and f('a').upper() == 'ABB' and f('a') + 'c' == 'abbc' and len(f('a')) == 3 and f('a').title_of() == 'Abb' and 'b' in f('a') and f('a') < 'b'\n",
        "class T(str):\n    def title_of(self): return self.title()\ndef f(s): return T(s + 'bb')\n",
    ),
    "bits": (
        "x = 0\nfor i in range(4):\n    x |= f(i)\n    x += 0\nassert x == 15 and f(2) << 1 == 8 and f(3) ^ 1 == 9 and ~f(0) == -2 and f(3) & 8 and f(3) >> 3 == 1 and f(1) | 1 == 3\n",
        "def f(i): return 1 << i\n",
    ),
    "comparisons of classes": (
        "assert type(f(1)) is int and isinstance(f(1), (int, float)) and not isinstance(f(1), str) and isinstance(f(1), int | str)\nassert f(True) is True and f(None) is None and callable(f)\n",
        "def f(x): return x\n",
    ),
    "asserts of unittest": (
        "import unittest\nt = unittest.TestCase()\nt.assertLess(f(2), 5)\nt.assertIn(f(2), [4])\nt.assertAlmostEqual(f(0.1), 0.01)\nt.assertCountEqual([f(1), f(2)], [4, 1])\nt.assertTrue(f(1))\nt.assertNotEqual(f(2), 5)\nt.assertSetEqual({f(2)}, {4})\nwith t.assertRaises(TypeError): f('a')\n",
        "def f(x): return x * x\n",
    ),
    "places in lists": (
        "assert [3, 4].index(f(2)) == 1 and [4, 5, 4].count(f(2)) == 2 and f(2).real == 4 and (4, 4).index(f(2), 1) == 1 and [f(1)].index(1) == 0 and [[1], [4]].index([f(2)]) == 1\n",
        "def f(x): return x * x\n",
    ),
    "functions for operators": (
        "import operator\nassert operator.eq(f(2), 4) and operator.lt(f(1), 4) and operator.sub(f(2), 4) == 0 and operator.itemgetter(0)([f(2)]) == 4\n",
        "def f(x): return x * x\n",
    ),
    "an array of its own": (
        "assert (f([1, 2]) == 1).items == [True, False] and (f([1, 1]) == 1).all() and not (f([1, 2]) == 1).all() and (f([3]) - 3).items == [0]\n",
        "class A:\n    def __init__(self, items): self.items = items\n    def __eq__(self, o): return A([x == o for x in self.items])\n    def __sub__(self, o): return A([x - o for x in self.items])\n    def __bool__(self): raise ValueError('which')\n    def all(self): return all(self.items)\ndef f(xs): return A(xs)\n",
    ),
    "dates of its own": (
        "import datetime\nassert (f(4) - datetime.date(2024, 1, 1)).days == 3 and f(1) < datetime.date(2024, 1, 2) and f(1) == datetime.date(2024, 1, 1) and f(2) - f(1) == datetime.timedelta(1) and f(3).is_odd() and f(3).year == 2024\n",
        "import datetime\nclass D(datetime.date):\n    def is_odd(self): return self.day % 2 == 1\ndef f(n): return D(2024, 1, n)\n",
    ),
    "times of its own": (
        "import datetime\nfrom decimal import Decimal\nassert f(5) == datetime.datetime(2024, 1, 1, 5, tzinfo=datetime.timezone.utc) and (f(5) - f(3)).seconds == 7200 and g(3) == Decimal(3) and g(3) * 2 == 6 and h(60) + h(60) == datetime.timedelta(minutes=2)\n",
        "import datetime, decimal\nclass T(datetime.datetime): pass\nclass D(decimal.Decimal): pass\nclass H(datetime.timedelta): pass\ndef f(n): return T(2024, 1, 1, n, tzinfo=datetime.timezone.utc)\ndef g(n): return D(n)\ndef h(n): return H(seconds=n)\n",
    ),
    "distances": (
        "assert f(7) - 7 == 0 and f(7) - 3 == 4 and abs(f(7) - 7.0) < 1e-9 and f(7) + 0 == 7 and f(7) / 7 == 1 and f(6) ^ 6 == 0 and f(9) // 4 == 2 and f(9) % 4 == 1 and f(0) * 5 == 0 and (f(7) - 6.5).n == 0.5\n",
        "class N:\n    def __init__(self, n): self.n = n\n    def __sub__(self, o): return N(self.n - o)\n    def __add__(self, o): return self.n + o\n    def __truediv__(self, o): return self.n / o\n    def __xor__(self, o): return self.n ^ o\n    def __floordiv__(self, o): return self.n // o\n    def __mod__(self, o): return self.n % o\n    def __mul__(self, o): return self.n * o\n    def __abs__(self): return abs(self.n)\n    def __eq__(self, o): return self.n == getattr(o, 'n', o)\ndef f(n): return N(n)\n",
    ),
    "arrays": (
        "import array\nassert f([1, 2]) == array.array('i', [1, 2]) and f([1, 2])[1] == 2 and 2 in f([1, 2]) and list(f([3])) == [3] and len(f([3])) == 1\n",
        "import array\ndef f(xs): return array.array('i', xs)\n",
    ),
    "dict views": (
        "assert f().keys() == {'a', 'b'} and list(f().values()) == [1, 2] and ('a', 1) in f().items() and f().keys() - {'a'} == {'b'} and set(f()) <= {'a', 'b', 'c'}\n",
        "def f(): return {'a': 1, 'b': 2}\n",
    ),
    "ranges": (
        "assert f(3) == range(3) and 2 in f(3) and list(f(2)) == [0, 1] and f(3)[1] == 1 and memoryview(b'ab') == g() and bytearray(b'ab') == g()\n",
        "def f(n): return range(n)\ndef g(): return memoryview(b'ab')\n",
    ),
    "bounds": (
        "import math\nassert f(1) < math.inf and f(1) > -math.inf and f(10 ** 40) > 10 ** 39 and f(1.5) < 2 and f(-3) < 0\n",
        "class N:\n    def __init__(self, n): self.n = n\n    def __lt__(self, o): return self.n < o\n    def __gt__(self, o): return self.n > o\ndef f(n): return N(n)\n",
    ),
    "an odd order": (
        "assert f(1, 5) < f(2, 0) and not f(2, 0) < f(1, 5)\nassert sorted([f(2, 1), f(1, 1)])[0].a == 1\nassert f(1, 1) <= f(1, 1)\n",
        "from dataclasses import dataclass\n@dataclass(order=True)\nclass D:\n    a: int\n    b: int\ndef f(a, b): return D(a, b)\n",
    ),
    "many members": (
        "seen = set()\nfor i in range(20000):\n    assert f(i) not in seen\n    seen.add(f(i))\nxs = list(range(3000))\nassert all(f(i) in xs for i in range(3000))\nassert len(seen) == 20000\n",
        "def f(i): return i\n",
    ),
}


ONLY_BESIDE = frozenset({
    "an object that changes itself", "a class that a function makes", "tuples that add", "money", "versions",
    "a cache that is a dict", "a tree", "a stream", "sets that are no set", "polynomials", "intervals",
    "texts without case", "complex numbers of its own", "rational numbers of its own", "a matrix", "cards",
    "an array of its own", "distances", "bounds",
})  # fmt: skip
"""what stand-ins cannot serve, so that without a gold solution nobody is paid by default"""


@pytest.mark.parametrize("name", HONEST)
async def test_honest_programs_are_paid(name: str) -> None:
    """In one process all of them; apart those whose objects say nothing there that only they can know. The others have
    no score and the reason."""
    tests, candidate = HONEST[name]
    result = await scored(candidate, tests)
    if name in ONLY_BESIDE:
        assert (result.score, "`gold`" in result.detail) == (None, True), result.detail
        result = await scored(candidate, tests, isolate=False)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
