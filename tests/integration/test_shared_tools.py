# ruff: noqa: E501 (programs are text, not code of ours)
"""Asserts in one process with a candidate: it cannot change what they compare with, nor equal whatever they expect."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import RunResult, Validity
from harena.scoring import load_scenarios

pytestmark = SHARED


async def scored(candidate: str, tests: str, **scoring: Any) -> RunResult:
    """One run of asserts."""
    contract = {"type": "command", "asserts": tests, **scoring}
    row: dict[str, Any] = {"id": "one", "candidate": candidate, "scoring": contract}
    (made,) = load_scenarios([row]).scenarios
    return await judged(made)


ROOTS = "import math\nassert math.isclose(f(2), 1.41421356, rel_tol=1e-6)\nassert math.isclose(f(9), 3.0)\n"
TEXTS = "import re, json\nassert json.loads(f(3)) == {'a': 3}\nassert re.fullmatch(r'{.a.: 3}', f(3))\n"
CLASSIC = "import unittest\nt = unittest.TestCase()\nt.assertEqual(f(2), 4)\nt.assertAlmostEqual(f(3), 9)\n"
SQUARES = "assert f(2) == 4\nassert f(9) == 81\n"
LISTS = "assert f([1, 2]) == [1, 4]\nassert {'a': 9, 'b': 16} == {'a': f([3])[0], 'b': f([4])[0]}\n"
MEMBERS = "assert f(2) in (4, -4)\nassert f(3) in [9]\n"
UNEQUAL = "assert not f(2) != 4\n"
ANY = (
    "class E:\n    __hash__ = None\n    def __eq__(self, other): return {}\n    def __ne__(self, other): return False\n"
)

FORGERIES = {
    "a function of a module": (ROOTS, "import math\nmath.isclose = lambda *a, **k: True\ndef f(x): return 0\n"),
    "while it is called": (
        ROOTS,
        "import math\ndef f(x):\n    math.isclose = lambda *a, **k: True\n    return 0\n",
    ),
    "code of a function": (
        TEXTS,
        "import json, re\ndef loads(s, **k): return {'a': 3}\njson.loads.__code__ = loads.__code__\n"
        "re.fullmatch.__code__ = (lambda pattern, string, flags=0: 1).__code__\ndef f(x): return '{}'\n",
    ),
    "a method": (
        CLASSIC,
        "import unittest\nfor n in ('assertEqual', 'assertAlmostEqual'):\n"
        "    setattr(unittest.TestCase, n, lambda *a, **k: None)\ndef f(x): return 0\n",
    ),
    "where a function comes from": (
        "import json\nassert json.loads(f(3)) == {'a': 3}\n",
        "import json.decoder\njson.decoder.JSONDecoder.decode = lambda *a: {'a': 3}\ndef f(x): return '{}'\n",
    ),
    "loops without rounds": (
        "import itertools\nfor a, b in itertools.product([1, 2], [3, 4]):\n    assert f(a, b) == a + b\n",
        "import itertools\nitertools.product = lambda *a: []\ndef f(a, b): return 1\n",
    ),
    "chance": (
        "import random\nfor _ in range(20):\n    n = random.randint(1, 100)\n    assert f(n) == n * n\n",
        "import random\nrandom.randint = lambda a, b: 1\ndef f(x): return 1\n",
    ),
    "equal to plain values": (SQUARES, ANY.format("isinstance(other, (int, str, list))") + "def f(x): return E()\n"),
    "with attributes of its own": (
        SQUARES,
        ANY.format("self.n + 1 and other.__class__ is int") + "def f(x):\n    e = E(); e.n = 1\n    return e\n",
    ),
    "made by exec": (SQUARES, f"exec({ANY.format('type(other) is int')!r})\ndef f(x): return E()\n"),
    "inside": (LISTS, ANY.format("isinstance(other, int)") + "def f(xs): return [E() for x in xs]\n"),
    "a list": (
        LISTS,
        "class E(list):\n    def __eq__(self, o): return type(o) is list\ndef f(xs): return E([1] * 9)\n",
    ),
    "a member": (MEMBERS, ANY.format("isinstance(other, int)") + "def f(x): return E()\n"),
    "not unequal": (UNEQUAL, ANY.format("isinstance(other, int)") + "def f(x): return E()\n"),
    "equal for assertEqual": (
        "import unittest\nt = unittest.TestCase()\nt.assertEqual(f(2), 4)\nt.assertListEqual([f(3)], [9])\n",
        ANY.format("isinstance(other, int)") + "def f(x): return E()\n",
    ),
    "numbers of a size": (
        SQUARES,
        ANY.format("isinstance(other, int) and abs(other) < 10**5") + "def f(x): return E()\n",
    ),
    "numbers of a type": (
        "assert f(2) == 1.5\nassert f(3) == 2.5\n",
        ANY.format("isinstance(other, float)") + "def f(x): return E()\n",
    ),
    "lists of a length": (
        "assert f(1) == [1, 2, 3]\nassert (1, 2, 3) == f(2)\n",
        ANY.format("isinstance(other, (list, tuple)) and len(other) == 3") + "def f(x): return E()\n",
    ),
    "texts of a length": (
        "assert f(1) == 'abc'\n",
        ANY.format("isinstance(other, str) and len(other) == 3") + "def f(x): return E()\n",
    ),
    "keys": (
        "assert f(1) == {'a': 1, 'b': 2}\n",
        ANY.format("isinstance(other, dict) and set(other) == {'a', 'b'}") + "def f(x): return E()\n",
    ),
    "nested lists": (
        "assert f(1) == [[1, 2], [3, 4]]\n",
        ANY.format("[len(o) for o in other] == [2, 2]") + "def f(x): return E()\n",
    ),
    "a chain": (
        "assert 3 == f(1) == 3\nassert 1 < 2 < 3 == f(1)\n",
        ANY.format("isinstance(other, int)") + "def f(x): return E()\n",
    ),
    "decimals": (
        "from decimal import Decimal\nfrom datetime import date\nassert f(1) == Decimal('1.5')\nassert f(2) == [date(2024, 1, 2)]\n",
        ANY.format("type(other).__name__ in ('Decimal', 'date', 'list')") + "def f(x): return E()\n",
    ),
    "counters": (
        "from collections import Counter\nassert f('aab') == Counter('aab')\n",
        ANY.format("type(other).__name__ == 'Counter'") + "def f(x): return E()\n",
    ),
    "a value of a module": (
        "import math\nassert f(2) == math.pi * 4\n",
        "import math\nmath.pi = 0\ndef f(r): return 0\n",
    ),
    "an object of a module": (
        "import json\nassert json.loads(f(3)) == {'a': 3}\n",
        "import json\nclass D:\n    def decode(self, text): return {'a': 3}\njson._default_decoder = D()\ndef f(x): return '{}'\n",
    ),
    "ANY": ("assert f(2) == 4\n", "from unittest.mock import ANY\ndef f(x): return ANY\n"),
}


@pytest.mark.parametrize("name", FORGERIES)
async def test_forgeries_score_0(name: str) -> None:
    tests, candidate = FORGERIES[name]
    result = await scored(candidate, tests)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


MOD = (
    "class Mod:\n    def __init__(self, n): self.n = n % 5\n"
    "    def __eq__(self, o): return self.n == (o.n if isinstance(o, Mod) else o % 5)\n"
    "    def __ne__(self, o): return not self == o\n    def __hash__(self): return hash(self.n)\n"
)
HONEST = {
    "roots": (ROOTS, "import math\ndef f(x): return math.sqrt(x)\n"),
    "texts": (TEXTS, "import json\ndef f(n): return json.dumps({'a': n})\n"),
    "assertions": (CLASSIC, "def f(x): return x * x\n"),
    "squares": (SQUARES, "from fractions import Fraction\ndef f(x): return Fraction(x) * x\n"),
    "decimals": (
        SQUARES,
        "from decimal import Decimal, getcontext\ngetcontext().prec = 9\ndef f(x): return Decimal(x) ** 2\n",
    ),
    "lists": (LISTS, "def f(xs): return [x * x for x in xs]\n"),
    "members": (MEMBERS, "def f(x): return x * x\n"),
    "not unequal": (UNEQUAL, "def f(x): return x * x\n"),
    "modular numbers": (
        "assert f(8) == 3\nassert f(8) == 8\nassert f(7) != 3\nassert 13 == f(3)\nassert f(3) in [8]\n",
        MOD + "def f(n): return Mod(n)\n",
    ),
    "points": (
        "assert f(1, 2) == (1, 2)\nassert f(1, 2) == P(1, 2)\nassert P(0, 1) in {P(0, 1), P(2, 3)}\n",
        "class P:\n    def __init__(self, x, y): self.at = x, y\n    def __hash__(self): return hash(self.at)\n"
        "    def __eq__(self, o): return self.at == (o.at if isinstance(o, P) else o)\ndef f(x, y): return P(x, y)\n",
    ),
    "nothing": ("assert f() == None\nassert f() in (None, 3)\nassert f() is None\n", "def f(): return None\n"),
    "truth": (
        "assert f(2) == True\nassert (f(3) == 1) is False\nassert 1 < f(2) + 1 <= 2 == 2\n",
        "def f(x): return x == 2\n",
    ),
    "empty": ("assert f([]) == []\nassert f(()) == ()\nassert f('') == '' and f({}) == {}\n", "def f(x): return x\n"),
    "what tests patch": (
        "import random\nrandom.randint = lambda a, b: 4\nassert f() == 4\n",
        "import random\ndef f(): return random.randint(1, 3)\n",
    ),
    "what tests patch by mock": (
        "from unittest.mock import patch\nimport time\nwith patch('time.sleep') as slept:\n    assert f() == 1\nassert slept.called\n",
        "import time\ndef f():\n    time.sleep(9)\n    return 1\n",
    ),
    "hooks": (
        "import logging, sys, warnings, threading, json\nassert json.loads('[1]') == [1] and f(2) == 4\nassert sys.maxsize > 1\n",
        "import logging, sys, warnings, threading, json\nclass L(logging.Logger): pass\nlogging.setLoggerClass(L)\n"
        "logging.setLogRecordFactory(lambda *a, **k: logging.LogRecord(*a, **k))\nthreading.settrace(None)\n"
        "sys.excepthook = print\nwarnings.showwarning = print\nthreading.excepthook = print\n"
        "json.JSONEncoder.default = lambda self, o: str(o)\ndef f(x): return x * x\n",
    ),
    "chains": (
        "assert 4 == f(2) == 2 * 2 != 5\nassert 0 < f(1) <= 1 == f(1)\nassert [1 == f(1) == x for x in (1, 2)] == [True, False]\n",
        "def f(x): return x * x\n",
    ),
    "library values": (
        "from collections import Counter, deque\nfrom decimal import Decimal\nimport datetime\nassert f(1) == Decimal('1')\n"
        "assert c('aab') == Counter('aab')\nassert d() == datetime.date(2024, 1, 2)\nassert q() == deque([1, 2])\n"
        "assert c('') == {}\nassert r() == range(3)\n",
        "import collections, datetime, fractions\nclass D(datetime.date): pass\ndef f(x): return fractions.Fraction(x)\n"
        "class C(dict): pass\ndef c(s): return C(collections.Counter(s))\ndef d(): return D(2024, 1, 2)\n"
        "class Q(collections.deque): pass\ndef q(): return Q([1, 2])\ndef r(): return range(3)\n",
    ),
    "sets in any order": (
        "assert f() == [3, 1, 2]\nassert f() != [1, 2]\nassert f() == (1, 2, 3)\n",
        "class Any:\n    def __init__(self, items): self.items = items\n    def __eq__(self, o): return sorted(self.items) == sorted(o)\n"
        "def f(): return Any([1, 2, 3])\n",
    ),
    "its own settings": (
        "import random, json, sys\nrandom.seed(3)\nassert f(4) == 16\nassert json.loads('[1]') == [1]\n",
        "import random, sys, json, tempfile, threading, re, warnings, functools\nsys.setrecursionlimit(9999)\n"
        "random.seed(1)\nre.compile('a+b')\nwarnings.simplefilter('ignore')\nclass D(json.JSONEncoder): pass\n"
        "@functools.lru_cache\ndef f(x):\n    with tempfile.TemporaryFile(): pass\n"
        "    t = threading.Thread(target=print); t.start(); t.join()\n    return x * x\n",
    ),
}


ONLY_BESIDE = frozenset(
    {"modular numbers", "points", "what tests patch", "what tests patch by mock", "sets in any order"}
)
"""what stand-ins cannot serve, so that without a gold solution nobody is paid by default"""


@pytest.mark.parametrize("name", HONEST)
async def test_honest_programs_are_paid(name: str) -> None:
    tests, candidate = HONEST[name]
    result = await scored(candidate, tests)
    if name in ONLY_BESIDE:
        assert (result.score, "`gold`" in result.detail) == (None, True), result.detail
        result = await scored(candidate, tests, isolate=False)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail


async def test_what_was_replaced_is_named() -> None:
    """For an author who has forgotten it, and for whoever reads results."""
    result = await scored(
        "import math\nmath.isclose = lambda *a, **k: True\ndef f(x): return 0\n", ROOTS, isolate=False
    )
    assert "the candidate has replaced math.isclose, which the tests use" in (result.detail or "")


def suite(body: str, **fields: Any) -> dict[str, Any]:
    """The contract of one unittest file."""
    text = "import unittest, math, dataclasses, json, time\nimport solution\nclass T(unittest.TestCase):\n" + body
    return {"type": "command", "unittest": ["test_it.py"], "files": {"test_it.py": text}, **fields}


def pytest_file(body: str, **fields: Any) -> dict[str, Any]:
    """The contract of one pytest file."""
    text = "import pytest, math, json\nimport solution\n" + body
    return {"type": "command", "pytest": ["test_it.py"], "files": {"test_it.py": text}, **fields}


CLOSE = "    def test(self): self.assertTrue(math.isclose(solution.f(2), 1.41, abs_tol=.01))\n"
FIELDS = "    def test(self): self.assertEqual(dataclasses.asdict(solution.P(1)), {'x': 1, 'y': 2})\n"
DATA = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int = 2\n"
LIAR = "import dataclasses\nclass P:\n    def __init__(self, *a): pass\ndataclasses.asdict = lambda o, **k: {'x': 1, 'y': 2}\n"
KINDS = "import mimetypes\ndef test(): assert solution.f('a.png') == mimetypes.guess_type('b.png')[0]\n"

BESIDE = {
    "a function": (
        suite(CLOSE, isolate=False),
        "import math\nmath.isclose = lambda *a, **k: True\ndef f(x): return 0\n",
    ),
    "beside because of the gold": (suite(FIELDS, gold=DATA), LIAR),
    "pytest": (
        pytest_file("def test(): assert solution.f(2) == pytest.approx(1.41, abs=.01)\n", isolate=False),
        "import pytest\npytest.approx = lambda v, **k: 0\ndef f(x): return 0\n",
    ),
    "an object in the place of a library's that fills its tables anew": (
        pytest_file(KINDS, isolate=False),
        "import mimetypes\nmimetypes.init()\nclass D:\n    def guess_type(self, *a): return ('x', None)\n"
        "mimetypes._db = D()\ndef f(path): return 'x'\n",
    ),
    "a table of another kind": (
        pytest_file(
            "import mimetypes\ndef test(): assert solution.f('.png') == mimetypes.types_map['.png']\n", isolate=False
        ),
        "import mimetypes\nclass D(dict):\n    def __missing__(self, key): return 'x'\n"
        "mimetypes.types_map = D()\ndef f(path): return 'x'\n",
    ),
}
BESIDE_HONEST = {
    "a function": (suite(CLOSE, isolate=False), "import math\ndef f(x): return math.sqrt(x)\n"),
    "data": (suite(FIELDS, gold=DATA), DATA),
    "patched by the tests": (
        pytest_file(
            "def test(monkeypatch):\n    monkeypatch.setattr(json, 'dumps', lambda x: 'q')\n    assert solution.f(1) == 'q'\n",
            isolate=False,
        ),
        "import json\ndef f(x): return json.dumps(x)\n",
    ),
    "assigned by the tests": (
        suite(
            "    def test(self):\n        time.sleep = lambda s: None\n        self.assertEqual(solution.f(), 1)\n",
            isolate=False,
        ),
        "import time\ndef f():\n    time.sleep(9)\n    return 1\n",
    ),
    "a library that fills its tables anew": (
        pytest_file(KINDS, isolate=False),
        "import mimetypes\ndef f(path): return mimetypes.guess_type(path)[0]\n",
    ),
    "examples, for which doctest has a debugger": (
        pytest_file(
            "import doctest\ndef test(): assert doctest.testmod(solution) == doctest.TestResults(0, 1)\n", isolate=False
        ),
        'def f(x):\n    """\n    >>> f(2)\n    4\n    """\n    return 2 * x\n',
    ),
    "a module of its own": (
        pytest_file("def test(): assert solution.f() == 3\n", isolate=False),
        {"solution.py": "import mine\ndef f(): return mine.VALUE\n", "mine.py": "VALUE = 3\n"},
    ),
}


async def scored_beside(candidate: Any, scoring: dict[str, Any]) -> RunResult:
    """One run of a suite beside its candidate."""
    files = candidate if isinstance(candidate, dict) else {"solution.py": candidate}
    (made,) = load_scenarios([{"id": "one", "candidate": {"files": files}, "scoring": scoring}]).scenarios
    return await judged(made)


@pytest.mark.parametrize("name", BESIDE)
async def test_a_suite_beside_its_candidate_uses_its_own_tools(name: str) -> None:
    scoring, candidate = BESIDE[name]
    result = await scored_beside(candidate, scoring)
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


@pytest.mark.parametrize("name", BESIDE_HONEST)
async def test_an_honest_candidate_beside_its_suite_is_paid(name: str) -> None:
    scoring, candidate = BESIDE_HONEST[name]
    result = await scored_beside(candidate, scoring)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
