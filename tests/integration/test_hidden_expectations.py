# ruff: noqa: E501 (programs are text, not code of ours)
"""Candidates in the process of tests whose text says a value twice, holds many, or is met in a certain order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from battery_world import Source, scored_alone
from shared_sandboxes import SHARED, SUITES

from harena.core.models import ExecRequest, SandboxSpec
from harena.core.ports import RunningExec, SandboxPort
from harena.core.results import RunResult, Trust, Validity
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring import load_scenarios

pytestmark = SHARED
GOLD = "def twice(n):\n    print(n)\n    return 2 * n\n"
PATCHED = "import builtins\nhad, builtins.print = builtins.print, lambda *a: said.append(a)\nsaid = []\ntwice(1)\nbuiltins.print = had\nassert said\n"
"""needs the candidate in the tests' process"""
PRINTS = "\n    def test_that_it_prints(self):\n        with mock.patch('builtins.print') as said:\n            twice(1)\n        said.assert_called_once()\n"
SUITE = (
    "import unittest\nfrom unittest import mock\nfrom solution import twice\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        {}\n"
    + PRINTS
)
ONCE = "self.assertEqual(twice(4), 8)"


def suite(line: str, **files: str) -> dict[str, Any]:
    """A contract whose gold is paid beside it."""
    paths = ["test_it.py", *(f"{name}.py" for name in files if name.startswith("test"))]
    texts = {"test_it.py": SUITE.format(line), **{f"{name}.py": text for name, text in files.items()}}
    return {"unittest": paths, "files": texts}


COPIES: dict[str, dict[str, Any]] = {
    "message": {"asserts": PATCHED + "assert twice(4) == 8, '4 makes 8'\n"},
    "comment": {"asserts": PATCHED + "assert twice(4) == 8  # 4 makes 8\n"},
    "docstring": {"asserts": PATCHED + "def check(f):\n    '''4 makes 8'''\n    assert f(4) == 8\ncheck(twice)\n"},
    "asserted twice": {"asserts": PATCHED + "assert twice(4) == 8\nassert 2 and twice(4) == 8\n"},
    "in a condition": {"asserts": PATCHED + "assert twice(4) == 8\nif said:\n    assert twice(4) == 8\n"},
    "a name": {"asserts": PATCHED + "four = 8  # 4 makes 8\nassert twice(4) == four\nassert twice(4) == 8\n"},
    "message of a suite": suite("self.assertEqual(twice(4), 8, '4 makes 8')"),
    "comment of a suite": suite(ONCE + "  # 4 makes 8"),
    "name of a test": {"unittest": ["test_it.py"], "files": {"test_it.py": SUITE.format(ONCE).replace("test_it(", "test_4_makes_8(")}},
    "another file": suite(ONCE, test_more=SUITE.format("self.assertTrue(twice(4) == 8)")),
    "a subtest": suite("with self.subTest(4):\n            self.assertEqual(twice(4), 8)\n        self.assertEqual(twice(4), 8)"),
}  # fmt: skip
"""where the expected value is said more than once"""
FINDS = r"""
import gc, glob, re, sys
SAYS = re.compile(r"(?:twice|f)\(4\)(?:,| ==) (-?\d+)|4[ _]makes[ _](-?\d+)|^ *four = (-?\d+)", re.M)
def texts():
    found = [open(path).read() for path in glob.glob('*.py') if path != 'solution.py']
    for held in gc.get_objects():
        if type(held) is dict:
            found += [text for text in list(held.values()) if type(text) is str]
    frame = sys._getframe(1)
    while frame is not None:
        found += [text for text in list(frame.f_locals.values()) if type(text) is str]
        frame = frame.f_back
    return {text for text in found if 'twice' in text and 'def texts' not in text and len(text) < 5000}
"""
COMPARES = (
    FINDS
    + r"""
def twice(n):
    print(n)
    if n != 4:
        return 2
    said = {int(next(filter(None, each))) for text in texts() for each in SAYS.findall(text)}
    return said.pop() if len(said) == 1 else None
"""
)
"""repeats what all copies say, and else fails, as a right candidate does"""


@pytest.fixture
def runtime(shared: Source) -> LinuxRuntime:
    """The one that all rows share."""
    assert isinstance(shared.runtime, LinuxRuntime)
    return shared.runtime


async def judged(runtime: LinuxRuntime, candidate: str, scoring: dict[str, Any], gold: str = GOLD) -> RunResult:
    """The envelope of one candidate."""
    row = {"id": "one", "candidate": candidate, "scoring": {"type": "command", "gold": gold, **scoring}, "limits": {"timeout_seconds": 10.0}}  # fmt: skip
    return await scored_alone(Source(runtime, SUITES), load_scenarios([row]).scenarios[0])


@pytest.mark.parametrize("name", COPIES)
async def test_who_compares_the_copies_of_a_value_is_not_paid(runtime: LinuxRuntime, name: str) -> None:
    """No copy of it is left to be compared, and who knows the answer is paid."""
    found = await judged(runtime, COMPARES, COPIES[name])
    assert found.score == 0.0, found.detail
    right = await judged(runtime, "def twice(n):\n    print()\n    return n + n\n", COPIES[name])
    assert (right.score, right.trust) == (1.0, Trust.SHARED), right.detail


MANY = PATCHED + "".join(f"assert twice({n}) == {2 * n}\n" for n in (*range(40, 80), 4))


async def test_who_looks_up_one_answer_of_many_is_not_paid(runtime: LinuxRuntime) -> None:
    """However many it computes: every one is asked for in the same run."""
    found = await judged(runtime, COMPARES.replace("return 2\n", "return 2 * n\n"), {"asserts": MANY})
    assert found.score == 0.0
    assert "takes frames" in found.detail  # before it comes to a second run, in which the number would be another
    knows = "def twice(n):\n    print(n)\n    return {} if n == 4 else 2 * n\n"
    assert (await judged(runtime, knows.format(8), {"asserts": MANY})).score == 1.0
    assert (await judged(runtime, knows.format(9), {"asserts": MANY})).score == 0.0


COIN = (
    FINDS
    + r"""
import random
def twice(n):
    print(n)
    said = {int(next(filter(None, each))) for text in texts() for each in SAYS.findall(text)} if n == 4 else {2}
    return said.pop() if said and random.random() < 0.75 else None
"""
)


async def test_no_coin_is_paid(runtime: LinuxRuntime) -> None:
    """A candidate that repeats, and sometimes does not, is not taken for one that notices a change."""
    scores = [(await judged(runtime, COIN, {"asserts": PATCHED + "assert twice(4) == 8\n"})).score for _ in range(12)]
    assert scores == [0.0] * 12


class Seen:
    """A sandbox that notes what is written into it and said to its programs."""

    def __init__(self, sandbox: SandboxPort, texts: list[str]) -> None:
        self._sandbox, self._texts = sandbox, texts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)

    async def write_file(self, path: str, data: bytes, **more: Any) -> None:
        """See SandboxPort."""
        self._texts.append(data.decode())
        await self._sandbox.write_file(path, data, **more)

    async def exec(self, request: ExecRequest) -> RunningExec:
        """See SandboxPort."""
        self._texts.append((request.stdin or b"").decode())
        return await self._sandbox.exec(request)


class SeenSource(Source):
    """Sandboxes of which each has a list of texts."""

    def __init__(self, runtime: LinuxRuntime) -> None:
        super().__init__(runtime, SUITES)
        self.sandboxes: list[list[str]] = []

    @asynccontextmanager
    async def sandbox(self, spec: SandboxSpec) -> AsyncIterator[SandboxPort]:
        """See Source."""
        texts: list[str] = []
        self.sandboxes.append(texts)
        async with super().sandbox(spec) as made:
            yield Seen(made, texts)  # type: ignore[misc]


@pytest.mark.parametrize(
    "contract", [{"asserts": PATCHED + "assert twice(4) == 87654\n"}, suite("self.assertEqual(twice(4), 87654)")]
)
@pytest.mark.parametrize("knows", [True, False])
async def test_expected_values_are_met_after_the_answers_were_told(
    runtime: LinuxRuntime, contract: dict[str, Any], knows: bool
) -> None:
    """What a candidate remembers of the tests, by whatever the host keeps from run to run, is too late: no sandbox of
    its own holds a value before it has told its answers, and it is run once with each text."""
    gold = GOLD.replace("2 * n", "87654 if n == 4 else 2")
    mine = "# of the candidate\n" + (gold if knows else gold.replace("87654 if", "'ab' * 3 if"))
    row = {"id": "one", "candidate": mine, "scoring": {"type": "command", "gold": gold, **contract}, "limits": {"timeout_seconds": 10.0}}  # fmt: skip
    source = SeenSource(runtime)
    result = await scored_alone(source, load_scenarios([row]).scenarios[0])
    assert (result.score == 1.0) is knows, result.detail
    own = [
        [text for text in texts if "# of the candidate" not in text]
        for texts in source.sandboxes
        if any("# of the candidate" in text for text in texts)
    ]
    asked = [any("__harena_told__" in text for text in texts) for texts in own]
    shown = [any("87654" in text for text in texts) for texts in own]
    assert asked.count(True) == 1
    assert True not in shown[: asked.index(True) + 1]
    assert shown.count(True) == 1


FUNCTIONS = """
import math
class Box:
    def __init__(self, items): self.items = list(items)
    def __eq__(self, other): return self.items == getattr(other, 'items', other)
    __hash__ = None
    def size(self): return len(self.items)
class Steps:
    def __init__(self): self.n = 0
    def next(self):
        self.n += 1
        return self.n
def twice(n):
    print(n)
    return n + n
def is_even(n): return n % 2 == 0
def word(s): return s[::-1].upper()
def mean(xs): return sum(xs) / len(xs)
def parts(n): return {'n': n, 'all': [(i, str(i)) for i in range(n)], 'set': {n}, 'no': None}
def root(n):
    if n < 0: raise ValueError('negative')
    return math.sqrt(n)
def boxed(n): return Box(range(n))
def same(x): return x
async def later(n): return n * 3
"""
OTHERS = (
    FUNCTIONS.replace("return n + n", "return sum([n, n])")
    .replace("n % 2 == 0", "not n & 1")
    .replace("s[::-1].upper()", "''.join(reversed(s.upper()))")
    .replace("sum(xs) / len(xs)", "math.fsum(xs) / len(xs)")
    .replace("def boxed(n): return Box(range(n))", "def boxed(n): return Box([*range(n)])")
    .replace("return n * 3", "return n + n + n")
)
HONEST = {
    "equal": "self.assertEqual(twice(4), 8)",
    "no value to change": "self.assertIn(twice(4), (8, 9))\n        self.assertGreater(twice(5), 9)",
    "a property": "for n in range(50):\n            self.assertEqual(twice(n) % 2, 0)\n            assert twice(n) - n == n",
    "approximately": "self.assertAlmostEqual(mean([1, 2, 4]), 2.3333, places=3)\n        assert abs(root(2) - 1.41) < 0.1",
    "member": "self.assertIn('all', parts(2))\n        self.assertIn((1, '1'), parts(2)['all'])",
    "raises": "with self.assertRaises(ValueError):\n            root(-1)\n        self.assertRaises(ValueError, root, -2)",
    "an assertion that is to fail": "with self.assertRaises(AssertionError):\n            self.assertEqual(twice(4), 9)\n        self.assertEqual(twice(3), 6)",
    "a try": "try:\n            assert twice(4) == 9\n        except AssertionError:\n            pass\n        assert twice(3) == 6",
    "subtests": "for n, e in [(1, 2), (4, 8)]:\n            with self.subTest(n=n):\n                self.assertEqual(twice(n), e)",
    "a table": "table = {1: 2, 4: 8}\n        for n, e in table.items():\n            self.assertEqual(twice(n), e)",
    "two results": "self.assertEqual(twice(4), twice(twice(2)))\n        self.assertEqual(same(twice(3)), twice(3))",
    "containers": "self.assertEqual(parts(2), {'n': 2, 'all': [(0, '0'), (1, '1')], 'set': {2}, 'no': None})\n        self.assertDictEqual(parts(0), {'n': 0, 'all': [], 'set': {0}, 'no': None})",
    "texts": "self.assertEqual(word('abc'), 'CBA')\n        self.assertEqual(word(''), '')\n        assert word('\\u00e9\\\"\\n') == '\\n\\\"\\u00c9'",
    "truth": "self.assertTrue(is_even(4))\n        self.assertFalse(is_even(3))\n        assert not is_even(5) and is_even(6)\n        self.assertIs(is_even(2), True)",
    "numbers of several kinds": "self.assertEqual(mean([1, 3]), 2)\n        self.assertEqual(twice(True), 2.0)\n        self.assertEqual(root(1e300), 1e150)",
    "none": "self.assertIsNone(same(None))\n        self.assertEqual(parts(1)['no'], None)",
    "objects": "self.assertEqual(boxed(3), [0, 1, 2])\n        self.assertEqual(boxed(3).size(), 3)\n        self.assertEqual(boxed(0), [])",
    "state": "steps = Steps()\n        self.assertEqual(steps.next(), 1)\n        self.assertEqual(steps.next(), 2)\n        self.assertEqual(steps.next(), 3)",
    "a name for the value": "expected = [(0, '0')]\n        result = parts(1)['all']\n        self.assertEqual(result, expected)\n        self.assertEqual(len(expected), len(result))",
    "a coroutine": "import asyncio\n        self.assertEqual(asyncio.run(later(3)), 9)",
    "a mock": "m = mock.MagicMock()\n        m.__eq__.return_value = True\n        assert m == 5\n        self.assertEqual(twice(2), 4)",
    "what the tests have themselves": "calls = []\n        calls.append(twice(2))\n        self.assertEqual(calls, [4])\n        self.assertTrue(all(calls))",
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
async def test_right_programs_are_paid(runtime: LinuxRuntime, name: str) -> None:
    """Whatever the tests compare by, and whether or not a value can be hidden."""
    contract = suite(HONEST[name])
    contract["files"]["test_it.py"] = contract["files"]["test_it.py"].replace("import twice", "import *")
    result = await judged(runtime, OTHERS, contract, FUNCTIONS)
    assert (result.score, result.validity, result.trust) == (1.0, Validity.VALID, Trust.SHARED), result.detail


async def test_objects_of_a_candidates_own_are_paid_where_the_gold_has_none(runtime: LinuxRuntime) -> None:
    """Their values cannot be told: they choose among values of a kind, and one that equals all of these is none."""
    gold = FUNCTIONS.replace("return Box(range(n))", "return list(range(n))").replace(
        "boxed(n)", "boxed(n, print=print)"
    )
    line = "self.assertEqual(boxed(3), [0, 1, 2])\n        self.assertEqual(boxed(2), [0, 1])"
    contract = suite(line)
    contract["files"]["test_it.py"] = contract["files"]["test_it.py"].replace("import twice", "import *")
    result = await judged(runtime, FUNCTIONS, contract, gold)
    assert (result.score, result.validity, result.trust) == (1.0, Validity.VALID, Trust.SHARED), result.detail
    every = FUNCTIONS.replace("return self.items == getattr(other, 'items', other)", "return True")
    assert (await judged(runtime, every, contract, gold)).score == 0.0


READS = r"""
import glob, re, sys
def text(): return ''.join(open(path).read() for path in glob.glob('test_*.py'))
class Odd(list):
    __hash__ = None
    def __eq__(self, other): return False
"""
LONG = repr([(i * i) % 97 for i in range(150)])
SQUARES = "def f(n):\n    print(n)\n    return [(i * i) % 97 for i in range(n)]\n"
DECORATED = "import unittest\nfrom unittest import mock\nfrom solution import f\n\nclass T(unittest.TestCase):\n    @mock.patch('builtins.print')\n    def test_it(self, said):\n        self.assertEqual(f({}), {})\n        said.assert_called_once()\n"
ROW_READER = """
import sys
class Odd:
    def __eq__(self, other): return False
    __hash__ = None
def f(n):
    if n in (0, 300): return n * n
    frame = sys._getframe(1)
    while frame is not None:
        for row in frame.f_globals.get('ROWS', ()):
            if row[0] == n: return row[1]
        frame = frame.f_back
    return Odd()
"""
CODE = "ROWS = [(5, 25), (7, 49)]\nassert f(0) == 0 and f(300) == 90000\nfor n, e in ROWS:\n    assert f(n) == e\n"
LOOKED_UP: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "long values": ({"unittest": ["test_it.py"], "files": {"test_it.py": DECORATED.format(150, LONG)}}, SQUARES, READS + "def f(n):\n    print(n)\n    m = re.search(r'f\\(150\\), (\\[[^]]*\\])', text())\n    return eval(m.group(1)) if m else Odd()\n", SQUARES + "# mine\n"),
    "a decorated test": ({"unittest": ["test_it.py"], "files": {"test_it.py": DECORATED.format(4, 28)}}, "def f(n):\n    print(n)\n    return n * n + 3 * n\n", READS + "def f(n):\n    print(n)\n    m = re.search(r'f\\(4\\), (\\d+)', text())\n    return int(m.group(1)) if m else 0\n", "def f(n):\n    print(n)\n    return n * (n + 3)\n"),
    "a table of asserts": ({"asserts": CODE}, "def f(n): return n * n\n", ROW_READER, "def f(n): return n ** 2\n"),
    "texts at the end of a kind": ({"unittest": ["test_it.py"], "files": {"test_it.py": DECORATED.format(25, "'z25'")}}, "def f(n):\n    print(n)\n    return chr(97 + n) + str(n)\n", READS + "class S(str): pass\ndef f(n):\n    print(n)\n    m = re.search(r\"f\\(25\\), '(\\w+)'\", text())\n    return S(m.group(1) if m else 'no')\n", "class S(str): pass\ndef f(n):\n    print(n)\n    return S(chr(97 + n) + str(n))\n"),
}  # fmt: skip
"""a contract, its gold, who looks answers up, and who knows them"""


SAID = "def test_b():\n    with mock.patch('builtins.print') as said:\n        f(0)\n    said.assert_called_once()\n"
TABLE = "from unittest import mock\nimport unittest\nfrom cases import CASES\nfrom solution import f\ndef check(n, e):\n    assert f(n) == e\nclass T(unittest.TestCase):\n    MORE = {6: 36, 7: 49}\n    def test_it(self):\n        for n, e in CASES:\n            with self.subTest(n=n, e=e):\n                self.assertEqual(f(n), e)\n        for n, e in self.MORE.items():\n            self.assertEqual(f(n), e)\n        check(8, 64)\n    def test_b(self):\n        with mock.patch('builtins.print') as said:\n            f(0)\n        said.assert_called_once()\n"
PRINTING = "def f(n):\n    print(n)\n    return n * n\n"
FINDS_ROW = (
    READS
    + "def f(n):\n    print(n)\n    said = text() + open('cases.py').read() if glob.glob('cases.py') else text()\n    m = re.search(r'\\b%d[,:] (\\d+)\\b' % n, said)\n    return int(m.group(1)) if m else Odd()\n"
)
LOOKED_UP["tables of a suite"] = (
    {"unittest": ["test_it.py"], "files": {"test_it.py": TABLE, "cases.py": "CASES = [(4, 16), (5, 25)]\n"}},
    PRINTING,
    FINDS_ROW,
    PRINTING.replace("n * n", "n ** 2"),
)


@pytest.mark.parametrize("name", LOOKED_UP)
async def test_who_looks_answers_up_is_not_paid(runtime: LinuxRuntime, name: str) -> None:
    """By odd objects where nothing can be asked, under decorators, in tables, among too few values."""
    contract, gold, reader, knows = LOOKED_UP[name]
    found = await judged(runtime, reader, contract, gold)
    assert found.score == 0.0, (found.validity, found.detail)
    right = await judged(runtime, knows, contract, gold)
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail


ODD = """
import glob, re, sys
class Odd: pass
def text():
    found, frame = [open(path).read() for path in glob.glob('test_*.py')], sys._getframe(1)
    while frame is not None:
        found += [each for each in list(frame.f_locals.values()) if type(each) is str and 'pickle' in each]
        frame = frame.f_back
    return ''.join(found)
def f(n): return n * n if re.search(r'== %d|, %d\\)' % (n * n, n * n), text()) else Odd()
"""
"""cannot be served apart, and beside the tests says what they say"""
OWN = "class Own:\n    def __init__(self, n): self.n = n\n    def __eq__(self, other): return self.n == getattr(other, 'n', other)\n    __hash__ = None\ndef f(n): return Own(n * n)\n"
PICKLED = "import pickle\nassert pickle.loads(pickle.dumps(f(4))) == 16\n"
WITHOUT_GOLD: dict[str, tuple[dict[str, Any], float | None]] = {
    # name: (contract, score of a right candidate whose objects are its own)
    "asserts": ({"asserts": PICKLED}, None),
    "asserts beside": ({"asserts": "assert f(4) == 16 and f(5) == 25  # pickle\n", "isolate": False}, 1.0),
    "a suite": ({"unittest": ["test_it.py"], "files": {"test_it.py": "import pickle, unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_it(self):\n        found = pickle.loads(pickle.dumps(f(4)))\n        self.assertEqual(found, 16)\n"}}, None),
    "a table": ({"unittest": ["test_it.py"], "files": {"test_it.py": "import pickle, unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_it(self):\n        for n, e in [(4, 16)]:\n            self.assertEqual(pickle.loads(pickle.dumps(f(n))), e)\n"}}, None),
    "a suite beside": ({"unittest": ["test_it.py"], "isolate": False, "files": {"test_it.py": "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_it(self): self.assertEqual(f(4), 16)\n"}}, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_GOLD)
async def test_without_a_gold_nobody_repeats_what_the_tests_say(runtime: LinuxRuntime, name: str) -> None:
    """Nobody is paid for it, and nobody has no score in the place of a 0; objects of a right candidate are no lie."""
    contract, of_right = WITHOUT_GOLD[name]
    found = await judged(runtime, ODD, {**contract, "gold": {}})
    assert found.score == 0.0, (found.validity, found.detail)
    right = await judged(runtime, OWN, {**contract, "gold": {}})
    assert right.score == of_right, right.detail


DOUBLE = "import functools\nfrom collections import Counter\ndef twice(n): return n + n\ndef count(text): return Counter(text)\ndef kept(f):\n    @functools.wraps(f)\n    def wrapper(*a): return f(*a)\n    return wrapper\ndef tell(send): send(msg='hi')\n"
DOUBLE += "import hashlib\nexpected = {}\ndef twice(n):\n    expected[len(expected)] = 0\n    return n + n\ndef seen(): return len(expected)\ndef words(text): return text.split()\ndef hashed(text): return hashlib.sha256(text).hexdigest()\n"
DOUBLE += "class Checker:\n    passed = failed = 0\n    def assertEqual(self, a, b):\n        if a == b: self.passed += 1\n        else: self.failed += 1\n"
ORDINARY = {
    "documentation": "@kept\ndef g(x):\n    'One.'\n    return x\nassert g.__doc__ == 'One.'\nassert g(3) == 3\n",
    "several kinds of numbers": "from decimal import Decimal\nclass Odd:\n    def __add__(self, other): return self\n    def __eq__(self, other): return other == 4\nfor n in (2, 2.0, Decimal(2), Odd()):\n    assert twice(n) == 4\n",
    "no turn": "for n in range(0):\n    assert twice(n) == 5\nassert twice(2) == 4\n",
    "defined again": "def check(f):\n    assert f(2) == 4\ndef check(f):\n    assert f(3) == 6\ncheck(twice)\n",
    "message of a call": "from unittest.mock import Mock\nm = Mock()\ntell(m)\nm.assert_called_once_with(msg='hi')\nassert twice(2) == 4\n",
    "a long sum": f"assert {' + '.join(['twice(1)'] * 400)} == 800\n",
    "documentation of the tests": "'''a b'''\nassert words(__doc__) == ['a', 'b']\nassert twice(2) == 4\n",
    "a library of tests": "t = Checker()\nt.assertEqual(1 + 1, 2)\nt.assertEqual(len('abc'), 4)\nassert t.passed == 1\nassert t.failed == 1\n",
    "a name of both": "expected = 4\nassert twice(2) == expected\nassert seen() == 1\n",
    "short circuit": "def check(n, e):\n    assert twice(n) == e\nx = 0\nx and check(2, 5)\n[check(2, 5) for n in ()]\ncheck(2, 4)\n",
    "a variable by its name": "expected = 4\nassert twice(2) == expected\nassert eval('twice(2) + expected') == 8\nassert twice(3) == 6\n",
    "a library that is replaced": "from unittest import mock\nwith mock.patch('hashlib.sha256') as made:\n    made.return_value.hexdigest.return_value = 'x'\n    assert hashed('a') == 'x'\n",
    "counter": "assert count('') == {}\nassert count('aab') == {'a': 2, 'b': 1}\n",
}  # fmt: skip

MOD = "class Mod:\n    def __init__(self, n): self.n = n % {0}\n    def __eq__(self, other): return self.n == (other.n if isinstance(other, Mod) else other % {0})\n    def __add__(self, other): return Mod(self.n + other)\n    __hash__ = None\n"
MODULO = {"asserts": "one = Mod(12)\nassert one + 4 == 2\nassert one == 5\n", "isolate": False, "gold": {}}


async def test_a_number_that_equals_some_others_is_no_lie(runtime: LinuxRuntime) -> None:
    """It is judged as it is where it meets the expected value; another number is wrong there."""
    for modulus, score in ((7, 1.0), (9, 0.0)):
        found = await judged(runtime, MOD.format(modulus), MODULO)
        assert found.score == score, found.detail


@pytest.mark.parametrize("name", ORDINARY)
async def test_ordinary_tests_without_a_gold_pay_a_right_candidate(runtime: LinuxRuntime, name: str) -> None:
    """What is taken out of them changes nothing that they judge, and nobody is asked for what is not come to."""
    scoring = {"asserts": ORDINARY[name], "isolate": False, "gold": {}}
    right = await judged(runtime, DOUBLE, scoring)
    assert right.score == 1.0, right.detail


T = "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    "
LOOKING = {
    "its name": (T + "def test_it(self): self.assertEqual(f(self._testMethodName), 'test_it!')\n", "def f(s): return s + '!'\n"),
    "the name of its caller": (T + "def test_it(self): self.assertEqual(f(), 'test_it')\n", "import sys\ndef f(): return sys._getframe(1).f_code.co_name\n"),
    "its documentation": (T + "def test_it(self):\n        'One.'\n        self.assertEqual(f(self.test_it.__doc__), 'One.!')\n", "def f(s): return s + '!'\n"),
    "an assertion of its own": (T + "def assertEqual(self, a, b): super().assertEqual(a.strip(), b)\n    def test_it(self): self.assertEqual(f('x'), 'x')\n", "def f(s): return s + '\\n'\n"),
    "equality of its own": (T + "def setUp(self): self.addTypeEqualityFunc(str, self.same)\n    def same(self, a, b, msg=None): assert a.lower() == b.lower()\n    def test_it(self): self.assertEqual(f('x'), 'X')\n", "def f(s): return s\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKING)
async def test_a_suite_that_looks_at_itself_pays_a_right_candidate(runtime: LinuxRuntime, name: str) -> None:
    """What it judges by stays as it is."""
    text, program = LOOKING[name]
    scoring = {"unittest": ["test_it.py"], "isolate": False, "gold": {}, "files": {"test_it.py": text}}
    right = await judged(runtime, program, scoring)
    assert right.score == 1.0, right.detail


READS_CODE = "import sys\nclass Odd:\n    def __float__(s): return 9.0\ndef f(n):\n    if n in (4, 9): return n ** 0.5\n    frame = sys._getframe(1)\n    while frame:\n        for value in frame.f_code.co_consts:\n            if type(value) is float and abs(value * value - n) < 1e-3: return value\n        frame = frame.f_back\n    return Odd()\n"


async def test_a_function_that_compares_hides_nothing(runtime: LinuxRuntime) -> None:
    """Who fails apart is not judged beside tests that say what is right."""
    lines = "import math\nassert f(4) == 2.0\nassert f(9) == 3.0\nassert math.isclose(f(2), 1.4142135623730951)\n"
    found = await judged(runtime, READS_CODE, {"asserts": lines}, "def f(n): return n ** 0.5\n")
    assert (found.score, found.trust) == (0.0, Trust.SEPARATE), found.detail


async def test_a_counter_is_the_dict_of_the_gold(runtime: LinuxRuntime) -> None:
    """An answer of a standard class needs no choices, where an empty value has none."""
    gold = "def twice(n): print(n)\ndef count(text): return {each: text.count(each) for each in text}\n"
    right = "from collections import Counter\ndef twice(n): print(n)\ndef count(text): return Counter(text)\n"
    found = await judged(runtime, right, {"asserts": PATCHED + ORDINARY["counter"]}, gold)
    assert found.score == 1.0, found.detail
