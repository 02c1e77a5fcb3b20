# ruff: noqa: E501 (programs are text, not code of ours)
"""Candidates in the process of tests that compute what they expect: who reads it there answers with what it reads."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import RunResult, Trust

pytestmark = SHARED

HEAD = """
from solution import Base, f
def brute(n):
    return sum(i for i in range(n + 1))
class D(Base):
    def name(self):
        return "d"
def test_label():
    assert D().label() == "<d>"
"""
"""needs the candidate in the tests' process"""
BASE = "class Base:\n    def label(self):\n        return '<' + self.name() + '>'\n"
GOLD = BASE + "def f(n):\n    return n * (n + 1) // 2\n"
RIGHT = BASE + "def f(n):\n    found = 0\n    for i in range(n):\n        found += i + 1\n    return found\n"
NUMBERS = "NUMBERS = [3, 5, 8]\n"
LOOP = "    for n, w in zip(NUMBERS, {}): assert f(n) == w\n"
TOP = f"{HEAD}{NUMBERS}WANTED = [brute(n) for n in NUMBERS]\ndef test_f():\n{LOOP.format('WANTED')}"
CASE = f"{HEAD}import unittest\n{NUMBERS}class T(unittest.TestCase):\n    {{}}\n    def test_f(self):\n        for n, w in zip(NUMBERS, self.wanted): self.assertEqual(f(n), w)\n"
TESTS: dict[str, str] = {
    "at the top": TOP,
    "by a library": f"{HEAD}{NUMBERS}import itertools\nWANTED = [list(itertools.accumulate(range(n + 1)))[-1] for n in NUMBERS]\ndef test_f():\n{LOOP.format('WANTED')}",
    "in a table": f"{HEAD}CASES = [(n, brute(n)) for n in range(3, 9)]\ndef test_f():\n    for n, w in CASES: assert f(n) == w\n",
    "in a table that grows": f"{HEAD}{NUMBERS}CASES = []\nfor n in NUMBERS: CASES.append((n, brute(n)))\ndef test_f():\n    for n, w in CASES: assert f(n) == w\n",
    "in a dictionary": f"{HEAD}{NUMBERS}WANTED = {{}}\nfor n in NUMBERS: WANTED[n] = brute(n)\ndef test_f():\n    for n in NUMBERS: assert f(n) == WANTED[n]\n",
    "all at once": f"{HEAD}{NUMBERS}WANTED = [brute(n) for n in NUMBERS]\ndef test_f():\n    assert [f(n) for n in NUMBERS] == WANTED\n    assert all(f(n) == w for n, w in zip(NUMBERS, WANTED))\n",
    "in a variable": f"{HEAD}{NUMBERS}def test_f():\n    for n in NUMBERS:\n        w = brute(n)\n        got = f(n)\n        assert got == w\n",
    "in defaults": f"{HEAD}{NUMBERS}def test_f(wanted=[brute(n) for n in NUMBERS]):\n{LOOP.format('wanted')}",
    "in variables of a function around": f"{HEAD}{NUMBERS}def checked(n):\n    w = brute(n)\n    def check(): assert f(n) == w\n    return check\nCHECKS = [checked(n) for n in NUMBERS]\ndef test_f():\n    for check in CHECKS: check()\n",
    "in a fixture": f"{HEAD}{NUMBERS}import pytest\n@pytest.fixture(scope='session')\ndef wanted(): return {{n: brute(n) for n in NUMBERS}}\ndef test_f(wanted):\n    for n, w in wanted.items(): assert f(n) == w\n",
    "in parameters": f"{HEAD}import pytest\n@pytest.mark.parametrize('n, w', [(n, brute(n)) for n in range(3, 9)])\ndef test_f(n, w): assert f(n) == w\n",
    "in a class": f"{HEAD}{NUMBERS}class TestF:\n    WANTED = [brute(n) for n in NUMBERS]\n    def test_f(self):\n        for n, w in zip(NUMBERS, self.WANTED): assert f(n) == w\n",
    "by setUp": CASE.format("def setUp(self): self.wanted = [brute(n) for n in NUMBERS]"),
    "by setUpClass": CASE.format("@classmethod\n    def setUpClass(cls): cls.wanted = [brute(n) for n in NUMBERS]"),
    "by a method": CASE.format("def setUp(self): self.wanted = self.made()\n    def made(self): return tuple(brute(n) for n in NUMBERS)"),
    "of numbers that are drawn": f"{HEAD}import random\nNUMBERS = [random.randrange(5, 99) for _ in range(9)]\nWANTED = list(map(brute, NUMBERS))\ndef test_f():\n{LOOP.format('WANTED')}",
    "in a function that compares": f"{HEAD}def check(n, w): assert f(n) == w\ndef test_f():\n    for n in range(3, 9): check(n, brute(n))\n",
}  # fmt: skip
"""where tests keep what they have computed"""
WALKS = """
import sys, types
def _parts(o):
    k = type(o)
    if isinstance(o, types.ModuleType): return list(types.ModuleType.__dict__["__dict__"].__get__(o).values())
    if k in (list, tuple, set, frozenset): return list(o)
    if k is dict or k is types.MappingProxyType: return [*o.values(), *o]
    if k is types.FunctionType:
        cells = []
        for c in o.__closure__ or ():
            try: cells.append(c.cell_contents)
            except ValueError: pass
        return [*cells, o.__globals__, o.__dict__]
    if k is types.MethodType: return [o.__self__, o.__func__]
    if isinstance(o, type): return [*type.__dict__["__dict__"].__get__(o).values(), *type.__subclasses__(o)] if o is not type else []
    try: return list(object.__getattribute__(o, "__dict__").values())
    except Exception: return []
def f(n):
    right = n * (n + 1) // 2  # to find whether it is there; the answer is what is read
    level, seen = [sys.modules, Base], {}
    while level and len(seen) < 300000:
        more = []
        for o in level:
            k = type(o)
            if k in (int, str, float, bytes, bool, type(None)) or id(o) in seen: continue
            seen[id(o)] = o
            if k in (list, tuple) and right in o or k is dict and right in o.values():
                return right
            try: more += _parts(o)
            except Exception: pass
        level = more
    return -1
"""
BY_MODULE = "import sys\ndef f(n):\n    found = sys.modules['test_it'].WANTED\n    return found[[3, 5, 8].index(n)]\n"
FORGERIES: dict[str, tuple[str, str]] = {
    "by the table of modules": (TESTS["at the top"], BASE + BY_MODULE),
    "by an import": (TESTS["at the top"], BASE + "def f(n):\n    import test_it\n    return dict(zip(test_it.NUMBERS, test_it.WANTED))[n]\n"),
    "by the globals of a method that is given": (TESTS["at the top"], BASE.replace("return '<'", "global G; G = type(self).name.__globals__; return '<'") + "def f(n): return G['WANTED'][G['NUMBERS'].index(n)]\n"),
    "by the classes that are made of its own": (TESTS["at the top"], BASE + "def f(n):\n    g = Base.__subclasses__()[0].name.__globals__\n    return g['WANTED'][g['NUMBERS'].index(n)]\n"),
    "of a library's": (TESTS["by a library"], BASE + BY_MODULE),
    "of a table": (TESTS["in a table"], BASE + "import sys\ndef f(n): return dict(sys.modules['test_it'].CASES)[n]\n"),
    "of a table that grows": (TESTS["in a table that grows"], BASE + "import sys\ndef f(n): return dict(sys.modules['test_it'].CASES)[n]\n"),
    "of a dictionary": (TESTS["in a dictionary"], BASE + "import sys\ndef f(n): return sys.modules['test_it'].WANTED[n]\n"),
    "of what is compared at once": (TESTS["all at once"], BASE + BY_MODULE),
    "by defaults": (TESTS["in defaults"], BASE + "import sys\ndef f(n): return sys.modules['test_it'].test_f.__defaults__[0][[3, 5, 8].index(n)]\n"),
    "by cells of a function": (TESTS["in variables of a function around"], BASE + "import sys\ndef f(n):\n    for c in sys.modules['test_it'].CHECKS:\n        held = [x.cell_contents for x in c.__closure__]\n        if n in held: return next(x for x in held if x != n)\n"),
    "by the runner": (TESTS["in a fixture"], BASE + "import sys\ndef f(n):\n    held = [c.cell_contents for c in sys.modules['_pytest.assertion.util']._reprcompare.__closure__]\n    return next(x for x in held if hasattr(x, 'funcargs')).funcargs['wanted'][n]\n"),
    "by parameters of the runner": (TESTS["in parameters"], BASE + "import sys\ndef f(n):\n    held = [c.cell_contents for c in sys.modules['_pytest.assertion.util']._reprcompare.__closure__]\n    return next(x for x in held if hasattr(x, 'callspec')).callspec.params['w']\n"),
    "by a mark": (TESTS["in parameters"], BASE + "import sys\ndef f(n): return dict(sys.modules['test_it'].test_f.pytestmark[0].args[1])[n]\n"),
    "by the name of the test": (TESTS["in parameters"], BASE + "import os\ndef f(n): return int(os.environ['PYTEST_CURRENT_TEST'].split(']')[0].split('-')[-1])\n"),
    "by an attribute of a class": (TESTS["in a class"], BASE + "import sys\ndef f(n): return sys.modules['test_it'].TestF.WANTED[[3, 5, 8].index(n)]\n"),
    "by all test cases": (TESTS["by setUpClass"], BASE + "import unittest\ndef f(n):\n    for k in unittest.TestCase.__subclasses__():\n        if hasattr(k, 'wanted'): return k.wanted[[3, 5, 8].index(n)]\n"),
    "by the object of a test": (TESTS["by setUp"], BASE + "import sys\ndef f(n):\n    held = [c.cell_contents for c in sys.modules['_pytest.assertion.util']._reprcompare.__closure__]\n    return next(x for x in held if hasattr(x, '_instance'))._instance.wanted[[3, 5, 8].index(n)]\n"),
    "of numbers that are drawn": (TESTS["of numbers that are drawn"], BASE + "import sys\ndef f(n):\n    t = sys.modules['test_it']\n    return t.WANTED[t.NUMBERS.index(n)]\n"),
    "of numbers that it draws, too": (TESTS["of numbers that are drawn"], BASE + "import random, sys\ndef f(n):\n    random.random()\n    t = sys.modules['test_it']\n    return t.WANTED[t.NUMBERS.index(n)]\n"),
    "only where it is not looked for": (TESTS["at the top"], BASE + "import sys\ndef f(n):\n    t = sys.modules['test_it']\n    if hasattr(t, '__harena_told__'): return t.brute(n)\n    return t.WANTED[t.NUMBERS.index(n)]\n"),
    "and ends where it is looked for": (TESTS["at the top"], BASE + "import os, sys\ndef f(n):\n    t = sys.modules['test_it']\n    if hasattr(t, '__harena_told__'): os._exit(0)\n    return t.WANTED[t.NUMBERS.index(n)]\n"),
}  # fmt: skip


UNDOES = (
    BASE
    + """import sys
def f(n):
    t = sys.modules['test_it']
    w = t.WANTED[t.NUMBERS.index(n)]
    return w - 1 - (w - 1) * 4 % 7 if hasattr(t, '__harena_told__') else w
"""
)
PUTS = (
    BASE
    + """import sys
tools = getattr(sys.modules.get('test_it'), '__harena_told__', {})
tools.update(other=lambda value, path=(): value, drawn=lambda place: [6, 15, 36], recorded=lambda place, value: value)
"""
    + BY_MODULE
)
COMPUTES = BASE + "import sys\ndef f(n): return sys.modules['test_it'].brute(n)\n"
SPELT = TOP.replace("return sum(i for i in range(n + 1))", "return ','.join(map(str, range(n)))")
ODD = TOP.replace("return sum(i for i in range(n + 1))", "return n % 3 == 1").replace("[3, 5, 8]", "[*range(3, 40)]")
UNDONE = {
    "texts": (SPELT, "def f(n): return ','.join(map(str, range(n)))\n", "w[:-1][::-1]"),
    "truths": (ODD, "def f(n): return n % 3 == 1\n", "not w"),
}
FORGERIES |= {
    "and undoes a change": (TOP, UNDOES),
    "and takes the change away": (TOP, PUTS),
    "and says that nobody asks": (TOP, BASE + "import hashlib, sys\nUNASKED = hashlib.sha256(repr('harena asks nobody').encode()).hexdigest()[:32]\nopen('/tmp/.harena-told', 'a').write(''.join(f'{n} {c}:{UNASKED}\\n' for n in range(20) for c in range(20)))\n" + BY_MODULE),
    "of tables that are unpacked": (TOP.replace("brute(n) for n in NUMBERS", "brute(*c) for c in zip(NUMBERS)"), BASE + BY_MODULE),
    "with what the tests compute by": (TOP, COMPUTES),
}  # fmt: skip
FORMS: dict[str, tuple[str, str]] = {
    "if and raise": ("WANTED", LOOP.format("WANTED").replace("assert f(n) == w", "\n        if f(n) != w: raise AssertionError(n)")),
    "if and fail": ("WANTED", "    import pytest\n" + LOOP.format("WANTED").replace("assert f(n) == w", "\n        if not f(n) == w: pytest.fail('no')")),
    "not unequal": ("WANTED", LOOP.format("WANTED").replace("assert f(n) == w", "assert not f(n) != w")),
    "in a list": ("WANTED", LOOP.format("WANTED").replace("assert f(n) == w", "assert f(n) in [w]")),
    "in all": ("WANTED", "    for n in NUMBERS: assert f(n) in WANTED\n"),
    "a chain": ("WANTED", LOOP.format("WANTED").replace("assert f(n) == w", "assert f(n) == w == f(n)")),
    "what is bad": ("WANTED", "    assert not [n for n, w in zip(NUMBERS, WANTED) if f(n) != w]\n"),
    "what is bad and kept": ("WANTED", "    bad = []\n" + LOOP.format("WANTED").replace("assert f(n) == w", "\n        if f(n) != w: bad.append(n)") + "    assert bad == []\n"),
    "what is well": ("WANTED", LOOP.format("WANTED").replace("assert f(n) == w", "\n        ok = f(n) == w\n        assert ok")),
    "how many are well": ("WANTED", "    assert sum(f(n) == w for n, w in zip(NUMBERS, WANTED)) == 3\n"),
    "a difference": ("WANTED", LOOP.format("WANTED").replace("assert f(n) == w", "assert f(n) - w == 0")),
    "a function of the tests": ("WANTED", "    def same(a, b): return a == b\n" + LOOP.format("WANTED").replace("assert f(n) == w", "assert same(f(n), w)")),
    "rows of mappings": ("[{'n': 3, 'w': brute(3)}, {'n': 5, 'w': brute(5)}, {'n': 8, 'w': brute(8)}]", "    for c in WANTED: assert f(c['n']) == c['w']\n"),
    "looked up by a function": ("[brute(n) for n in range(9)]", "    def expected(n): return WANTED[n]\n    for n in NUMBERS: assert f(n) == expected(n)\n"),
    "looked up by a method": ("[brute(n) for n in range(9)]", "    pass\nclass TestG:\n    table = WANTED\n    def expected(self, n): return self.table[n]\n    def test_g(self):\n        for n in NUMBERS: assert f(n) == self.expected(n)\n"),
    "looked up by a property": ("[brute(n) for n in range(9)]", "    pass\nclass TestG:\n    @property\n    def wanted(self): return WANTED\n    def test_g(self):\n        for n in NUMBERS: assert f(n) == self.wanted[n]\n"),
    "looked up by a fixture's function": ("[brute(n) for n in range(9)]", "    pass\nimport pytest\n@pytest.fixture\ndef expected(): return lambda n: WANTED[n]\ndef test_g(expected):\n    for n in NUMBERS: assert f(n) == expected(n)\n"),
    "kept by a function": ("{}", "    def memo(n):\n        if n not in WANTED: WANTED[n] = brute(n)\n        return WANTED[n]\n    for n in NUMBERS:\n        w = memo(n)\n        assert f(n) == w\n"),
    "of a class": ("0", "    pass\nclass C:\n    WANTED = [brute(n) for n in NUMBERS]\ndef test_g():\n    for n, w in zip(NUMBERS, C.WANTED): assert f(n) == w\n"),
    "with names of their own": ("0", "    pass\nimport pytest\n@pytest.mark.parametrize('n, w', [pytest.param(n, brute(n), id=f'n{n}') for n in NUMBERS])\ndef test_g(n, w): assert f(n) == w\n"),
    "stated in rows": ("[(3, 6), (5, 15), (8, 36)]", "    bad = [n for n, w in WANTED if f(n) != w]\n    assert not bad\n"),
    "stated where it is compared": ("0", "    if f(3) != 6: raise AssertionError\n    if f(5) != 15: raise AssertionError\n"),
    "rows that are turned": ("[(n, brute(n)) for n in NUMBERS]", "    ns, ws = zip(*WANTED)\n    assert [f(n) for n in ns] == list(ws)\n"),
}  # fmt: skip
"""how tests keep what they have computed, and compare with it"""
READS = {
    "rows of mappings": "next(c['w'] for c in t.WANTED if c['n'] == n)",
    "rows that are turned": "dict(t.WANTED)[n]",
    "stated in rows": "dict(t.WANTED)[n]",
    "looked up by a function": "t.WANTED[n]",
    "looked up by a method": "t.WANTED[n]",
    "looked up by a property": "t.WANTED[n]",
    "looked up by a fixture's function": "t.WANTED[n]",
    "kept by a function": "t.WANTED[n]",
    "of a class": "t.C.WANTED[t.NUMBERS.index(n)]",
    "with names of their own": "next(p.values[1] for p in t.test_g.pytestmark[0].args[1] if p.values[0] == n)",
    "stated where it is compared": "[c for c in t.test_f.__code__.co_consts if type(c) is int][1 if n == 3 else 3]",
}


def formed(name: str) -> str:
    kept, body = FORMS[name]
    table = "[brute(n) for n in NUMBERS]" if kept == "WANTED" else kept
    return f"{HEAD}{NUMBERS}WANTED = {table}\ndef test_f():\n{body}"


async def beside(candidate: str, suite: str, kind: str = "pytest", **scoring: Any) -> RunResult:
    return await scored(candidate, suite, kind, gold={"solution.py": GOLD}, **scoring)


@pytest.mark.parametrize("name", FORGERIES)
async def test_who_reads_what_the_tests_have_computed_is_not_paid(name: str) -> None:
    suite, candidate = FORGERIES[name]
    found = await beside(candidate, suite)
    assert (found.score, str(found.validity), found.trust) == (0.0, "suspect", Trust.SHARED), found.detail


@pytest.mark.parametrize("kind", UNDONE)
async def test_nobody_undoes_what_was_changed(kind: str) -> None:
    """What was drawn says nothing about the value in whose place it stands."""
    suite, gold, undoing = UNDONE[kind]
    forged = f"{UNDOES.partition('    return w')[0]}    return {undoing} if hasattr(t, '__harena_told__') else w\n"
    found = await scored(forged, suite, "pytest", gold={"solution.py": BASE + gold})
    assert (found.score, str(found.validity), found.trust) == (0.0, "suspect", Trust.SHARED), found.detail


@pytest.mark.parametrize("name", FORMS)
async def test_in_whatever_form_tests_compare_a_reader_is_not_paid(name: str) -> None:
    """And who computes it himself is."""
    read = READS.get(name, "t.WANTED[t.NUMBERS.index(n)]")
    found = await beside(
        f"{BASE}import sys\ndef f(n):\n    t = sys.modules['test_it']\n    return {read}\n", formed(name)
    )
    assert (found.score, str(found.validity), found.trust) == (0.0, "suspect", Trust.SHARED), found.detail
    found = await beside(RIGHT, formed(name))
    assert (found.score, str(found.validity), found.trust) == (1.0, "valid", Trust.SHARED), found.detail


@pytest.mark.parametrize("name", TESTS)
async def test_who_computes_it_is_paid(name: str) -> None:
    found = await beside(RIGHT, TESTS[name])
    assert (found.score, str(found.validity), found.trust) == (1.0, "valid", Trust.SHARED), found.detail


HONEST: dict[str, tuple[str, str, str]] = {
    "an answer of another class": (TESTS["in a table"], GOLD, BASE + "def f(n): return float(n * (n + 1) // 2)\n"),
    "a mapping of another class": (f"{HEAD}def counts(n): return {{i: i * i for i in range(n)}}\ndef test_f():\n    for n in range(5): assert f(n) == counts(n)\n", BASE + "def f(n): return {i: i * i for i in range(n)}\n", BASE + "import collections\ndef f(n): return collections.OrderedDict((i, i * i) for i in reversed(range(n)))\n"),
    "numbers that it draws, too": (TESTS["of numbers that are drawn"].replace("NUMBERS = [random.randrange(5, 99) for _ in range(9)]\nWANTED = list(map(brute, NUMBERS))", "").replace(LOOP.format("WANTED"), "    for _ in range(9):\n        n = random.randrange(5, 99)\n        assert f(n) == brute(n)\n"), GOLD, BASE + "import random\ndef f(n):\n    xs = list(range(n + 1)); random.shuffle(xs)\n    return sum(xs)\n"),
    "numbers of a seed that it draws, too": (f"{HEAD}from random import randrange, seed\ndef test_f():\n    seed(5)\n    for _ in range(9):\n        n = randrange(5, 99)\n        assert f(n) == brute(n)\n", GOLD, BASE + "import random\ndef f(n): return random.choice([n * (n + 1)]) // 2\n"),
    "a choice of its own": (f"{HEAD}def ways(n): return len(str(n))\ndef test_f():\n    for n in range(5):\n        got = f(n)\n        assert len(got) == sum(1 for _ in got)\n        assert sum(got) == brute(n)\n", BASE + "def f(n): return [n * (n + 1) // 2]\n", BASE + "def f(n): return list(range(n + 1))\n"),
    "an order of its own": (f"{HEAD}def test_f():\n    for n in range(5):\n        xs = list(range(n))\n        assert sorted(f(xs)) == sorted(xs)\n", BASE + "def f(xs): return list(xs)\n", BASE + "def f(xs):\n    xs.reverse()\n    return xs\n"),
    "what it arranges in place": (f"{HEAD}def test_f():\n    for n in range(5):\n        xs = list(range(n))\n        assert f(xs) == xs\n", BASE + "def f(xs): return xs\n", BASE + "def f(xs):\n    xs.reverse()\n    return xs\n"),
    "what it adds to in place": (f"{HEAD}def size(xs): return len(xs)\ndef test_f():\n    for n in range(5):\n        xs = list(range(n))\n        assert len(f(xs)) == size(xs)\n", BASE + "def f(xs): return xs\n", BASE + "def f(xs):\n    xs.append(1)\n    return xs\n"),
    "calls that are counted": (f"{HEAD}def test_f():\n    seen = []\n    assert f(seen.append, 5) == len(seen)\n    assert set(seen) == set(range(5))\n", BASE + "def f(g, n):\n    for i in range(n): g(i)\n    return n\n", BASE + "def f(g, n):\n    for i in [*range(n), *range(n)]: g(i)\n    return 2 * n\n"),
    "both sides are its own": (f"{HEAD}from solution import size\ndef test_f():\n    for n in range(5):\n        made = f(n)\n        assert len(made) == size(made)\n        assert made.count('x') == n\n", BASE + "def f(n): return 'x' * n\ndef size(s): return len(s)\n", BASE + "def f(n): return 'x' * n + '.'\ndef size(s): return len(s)\n"),
    "an order of texts in a set": (f"{HEAD}WORDS = {{'a', 'bb', 'ccc', 'dddd'}}\ndef test_f():\n    for w in WORDS: assert f(len(w)) == brute(len(w))\n", GOLD, RIGHT),
    "threads": (f"{HEAD}from concurrent.futures import ThreadPoolExecutor\ndef check(n): assert f(n) == brute(n)\ndef test_f():\n    with ThreadPoolExecutor(4) as pool: list(pool.map(check, range(20)))\n", GOLD, BASE + "import time\ndef f(n):\n    time.sleep((7 * n % 5) / 100)\n    return n * (n + 1) // 2\n"),
    "a callback that computes": (f"{HEAD}def test_f():\n    for n in range(1, 5): assert f(brute, n) == max(map(brute, range(n)))\n", BASE + "def f(g, n): return max(map(g, range(n)))\n", BASE + "def f(g, n):\n    best = g(0)\n    for i in range(n):\n        if g(i) > best: best = g(i)\n    return best\n"),
    "a number near enough": (f"{HEAD}import pytest\ndef test_f():\n    for n in range(1, 5): assert f(n) == pytest.approx(brute(n))\n", GOLD, BASE + "def f(n): return n * (n + 1) / 2 + 1e-9\n"),
    "values that steer the tests": (f"{HEAD}def test_f():\n    for n in range(5):\n        w = brute(n)\n        if w > 3: assert f(w) == brute(w)\n        assert f(n) == w\n", GOLD, RIGHT),
    "an error beside values": (f"{HEAD}import pytest\ndef test_f():\n    for n in range(-2, 5):\n        if n < 0:\n            with pytest.raises(ValueError): f(n)\n        else: assert f(n) == brute(n)\n", GOLD.replace("return n", "if n < 0: raise ValueError(n)\n    return n"), RIGHT.replace("found = 0", "found = 0\n    if n < 0: raise ValueError")),
    "objects that equal": (f"{HEAD}class P:\n    def __init__(self, n): self.n = n\n    def __eq__(self, other): return self.n == other\ndef test_f():\n    for n in range(5): assert P(f(n)) == brute(n)\n", GOLD, RIGHT),
    "one of several that will do": (f"{HEAD}def all_of(n): return [i for i in range(n * n) if i % n == 1]\ndef test_f():\n    for n in range(2, 6): assert f(n) in all_of(n)\n", BASE + "def f(n): return 1\n", BASE + "def f(n): return n + 1\n"),
    "another that will do": (f"{HEAD}def test_f():\n    for n in range(2, 6):\n        if f(n) == brute(n): continue\n        assert f(n) == -1\n", GOLD, BASE + "def f(n): return -1\n"),
    "either": (f"{HEAD}def test_f():\n    for n in range(2, 6): assert f(n) == brute(n) or f(n) == -1\n", GOLD, BASE + "def f(n): return -1\n"),
    "a callback in another order": (f"{HEAD}from solution import weight\ndef test_f():\n    seen = []\n    def visit(n):\n        seen.append(n)\n        assert weight(n) == sum(range(n + 1))\n    f(visit, 4)\n    assert sorted(seen) == [0, 1, 2, 3]\n", BASE + "def weight(n): return n * (n + 1) // 2\ndef f(g, n):\n    for i in range(n): g(i)\n", BASE + "def weight(n): return sum(range(n + 1))\ndef f(g, n):\n    for i in reversed(range(n)): g(i)\n"),
    "a mapping that cannot be changed": (f"{HEAD}def counts(n): return {{i: i * i for i in range(n)}}\nWANTED = [counts(n) for n in range(5)]\ndef test_f():\n    for n in range(5): assert f(n) == WANTED[n]\n", BASE + "def f(n): return {i: i * i for i in range(n)}\n", BASE + "import types\ndef f(n): return types.MappingProxyType({i: i * i for i in range(n)})\n"),
    "a list of the library's": (f"{HEAD}WANTED = [list(range(n)) for n in range(5)]\ndef test_f():\n    for n in range(5): assert f(n) == WANTED[n]\n", BASE + "def f(n): return list(range(n))\n", BASE + "import collections\ndef f(n): return collections.UserList(range(n))\n"),
    "what it keeps between calls": (f"{HEAD}def test_f():\n    for n in [3, 3, 4]: assert f(n) == brute(n)\n", GOLD, BASE + "import functools\n@functools.lru_cache(None)\ndef f(n): return n and n + f(n - 1)\n"),
}  # fmt: skip
"""(suite, gold, another right program)"""


@pytest.mark.parametrize("name", HONEST)
async def test_a_right_program_of_another_kind_is_paid(name: str) -> None:
    suite, gold, candidate = HONEST[name]
    found = await scored(candidate, suite, "pytest", gold={"solution.py": gold})
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
