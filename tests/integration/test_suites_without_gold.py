# ruff: noqa: E501 (programs are text, not code of ours)
"""Ordinary suites without a gold solution: what stand-ins cannot serve ends without a score, and never with a 0."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import RunResult, Trust, Validity

pytestmark = SHARED

ONE = "def one(): return 1\n"
LOGS = "import logging\ndef f(): logging.getLogger('app').warning('bad')\n" + ONE
WARNS = "import warnings\ndef f(): warnings.warn('old', DeprecationWarning); return 1\n" + ONE
ERRORS = "import sys\ndef f(): print('out'); print('bad', file=sys.stderr)\n" + ONE
WRITES = (
    "import os\ndef f(p='o.txt'):\n    with open(p, 'w') as file: file.write('q')\ndef g(p='o.txt'): return open(p).read() if os.path.exists(p) else None\n"
    + ONE
)
MODE = "import os\ndef f(): return os.environ.get('MODE')\ndef g(): os.environ['ZED'] = '1'\n" + ONE
RECORD = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 0\n" + ONE
TYPED = "def f(a: int) -> bool: return True\n" + ONE
META = "class Meta(type): pass\nclass A(metaclass=Meta): pass\n" + ONE
LOGGED = "def logged(function):\n    def run(*given): return function(*given)\n    return run\n" + ONE
SLEEPS = "import time\ndef f():\n    while time.time() < 1e12: pass\n    return 1\n" + ONE
HONEST: dict[str, tuple[str, str]] = {
    "exists": (WRITES, "import os\nfrom solution import f\ndef test_a(): f(); assert os.path.exists('o.txt')\n"),
    "is file": (WRITES, "from pathlib import Path\nfrom solution import f\ndef test_a(): f(); assert Path('o.txt').is_file()\n"),
    "list": (WRITES, "import os\nfrom solution import f\ndef test_a(): f(); assert 'o.txt' in os.listdir()\n"),
    "glob": (WRITES, "import glob\nfrom solution import f\ndef test_a(): f(); assert glob.glob('*.txt') == ['o.txt']\n"),
    "between": (WRITES, "import os, unittest\nfrom solution import f, g\nclass T(unittest.TestCase):\n    def tearDown(self):\n        if os.path.exists('o.txt'): os.remove('o.txt')\n    def test_1(self): f()\n    def test_2(self): self.assertIsNone(g())\n"),
    "once for all": (WRITES, "import tempfile, unittest\nfrom solution import f, g\nclass T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): cls.p = tempfile.mkdtemp() + '/x'\n    def test_0(self): pass\n    def test_1(self): f(self.p); self.assertEqual(g(self.p), 'q')\n"),
    "tmp_path": (WRITES, "from solution import f\ndef test_a(tmp_path): f(str(tmp_path / 'a')); assert (tmp_path / 'a').exists()\n"),
    "source": (ONE, "import pathlib, solution\ndef test_a(): assert solution.one() == 1 and 'eval' not in pathlib.Path('solution.py').read_text()\n"),
    "time": (SLEEPS, "from unittest.mock import patch\nimport solution\ndef test_a():\n    with patch('time.time', return_value=2e12): assert solution.f() == 1\n"),
    "setenv": (MODE, "import solution\ndef test_a(monkeypatch): monkeypatch.setenv('MODE', 't'); assert solution.f() == 't'\n"),
    "setitem": (MODE, "import os, solution\ndef test_a(monkeypatch): monkeypatch.setitem(os.environ, 'MODE', 't'); assert solution.f() == 't'\n"),
    "patch.dict": (MODE, "import os, solution\nfrom unittest import mock\n@mock.patch.dict(os.environ, {'MODE': 't'})\ndef test_a(): assert solution.f() == 't'\n"),
    "environ": (MODE, "import os, solution\ndef test_a(): solution.g(); assert os.getenv('ZED') == '1'\n"),
    "chdir": (WRITES, "import solution\ndef test_a(monkeypatch, tmp_path): monkeypatch.chdir(tmp_path); solution.f(); assert solution.g() == 'z' or (tmp_path / 'o.txt').exists()\n"),
    "capsys.err": (ERRORS, "import solution\ndef test_a(capsys): solution.f(); assert capsys.readouterr().err == 'bad\\n'\n"),
    "out, err": (ERRORS, "import solution\ndef test_a(capsys):\n    solution.f(); out, err = capsys.readouterr()\n    assert out == 'out\\n' and 'bad' in err\n"),
    "redirect_stderr": (ERRORS, "import contextlib, io, solution\ndef test_a():\n    with contextlib.redirect_stderr(io.StringIO()) as s: solution.f()\n    assert s.getvalue() == 'bad\\n'\n"),
    "caplog": (LOGS, "import solution\ndef test_a(caplog): solution.f(); assert 'bad' in caplog.text\n"),
    "assertLogs": (LOGS, "import unittest, solution\nclass T(unittest.TestCase):\n    def test_a(self):\n        with self.assertLogs('app', 'WARNING'): solution.f()\n"),
    "handler": (LOGS, "import logging, solution\ndef test_a():\n    seen = []\n    h = logging.Handler(); h.emit = seen.append; logging.getLogger('app').addHandler(h); solution.f(); assert seen\n"),
    "warns": (WARNS, "import pytest, solution\ndef test_a():\n    with pytest.warns(DeprecationWarning, match='old'): assert solution.f() == 1\n"),
    "deprecated_call": (WARNS, "import pytest, solution\ndef test_a():\n    with pytest.deprecated_call(): solution.f()\n"),
    "assertWarns": (WARNS, "import unittest, solution\nclass T(unittest.TestCase):\n    def test_a(self):\n        with self.assertWarns(DeprecationWarning): solution.f()\n"),
    "catch_warnings": (WARNS, "import warnings, solution\ndef test_a():\n    with warnings.catch_warnings(record=True) as w: warnings.simplefilter('always'); solution.f()\n    assert len(w) == 1\n"),
    "numpy": ("import numpy as np\ndef f(): return float(np.random.rand())\n" + ONE, "from numpy.random import seed\nfrom solution import f\ndef test_a(): seed(3); a = f(); seed(3); assert f() == a\n"),
    "ordered": ("from collections import OrderedDict\ndef f():\n    d = OrderedDict([('a', 2), ('b', 1)]); d.move_to_end('a'); return d\n" + ONE, "import solution\ndef test_a(): d = solution.f(); assert list(d) == ['b', 'a'] and d.popitem() == ('a', 2) and len(d) == 1\n"),
    "asdict": (RECORD, "from dataclasses import asdict\nfrom solution import P\ndef test_a(): assert asdict(P(1)) == {'x': 1}\n"),
    "replace": (RECORD, "import dataclasses\nfrom solution import P\ndef test_a(): assert dataclasses.replace(P(1), x=5) == P(5)\n"),
    "fields": (RECORD, "import dataclasses\nfrom solution import P\ndef test_a(): assert [f.name for f in dataclasses.fields(P)] == ['x']\n"),
    "metaclass": (META, "import solution\ndef test_a(): assert type(solution.A) is solution.Meta\n"),
    "metaclass by name": (META, "from solution import A\ndef test_a(): assert type(A()) is A and type(A).__name__ == 'Meta'\n"),
    "hints": (TYPED, "import typing\nfrom solution import f\ndef test_a(): assert typing.get_type_hints(f)['return'] is bool\n"),
    "getsource": (TYPED, "import inspect\nfrom solution import f\ndef test_a(): assert f(1) and 'for' not in inspect.getsource(f)\n"),
    "decorator of a test": (LOGGED, "from solution import logged, one\n@logged\ndef test_a(): assert one() == 1\n"),
}  # fmt: skip
FIRST = "import solution as _solution\ndef test_0(): assert _solution.one() == 1\n"


async def _results(candidates: dict[str, tuple[str, str]], **scoring: Any) -> dict[str, RunResult]:
    room = asyncio.Semaphore(2)

    async def one(candidate: str, suite: str) -> RunResult:
        async with room:
            return await scored(
                {"files": {"solution.py": candidate}},
                suite,
                "pytest",
                with_numpy="numpy" in candidate,
                timeout_seconds=2.0,
                **scoring,
            )

    found = await asyncio.gather(*(one(*case) for case in candidates.values()))
    return dict(zip(candidates, found, strict=True))


@pytest.mark.parametrize("part", range(4))
async def test_a_right_answer_never_gets_nothing(part: int) -> None:
    """It is paid, or there is no score and the reason says what cannot be served."""
    results = await _results({name: HONEST[name] for name in list(HONEST)[part::4]})
    wrong = {name: (found.score, found.detail) for name, found in results.items() if found.score == 0.0}
    assert wrong == {}
    unsaid = {
        name: found.detail for name, found in results.items() if found.score is None and "`gold`" not in found.detail
    }
    assert unsaid == {}


async def test_a_wrong_answer_to_what_is_served_gets_nothing() -> None:
    """A test that failed, and did none of these things before, says what the candidate is worth."""
    wrong = {
        name: (HONEST[name][0].replace(ONE, "def one(): return 2\n"), FIRST + HONEST[name][1])
        for name in ("exists", "time", "caplog", "asdict")
    }
    results = await _results(wrong)
    assert {name: found.detail for name, found in results.items() if found.score != 0.0} == {}


OBJECT = "class R: pass\ndef f(x): return R()\n" + ONE
BOUGHT: dict[str, tuple[str, str]] = {
    "pickle": (OBJECT, "import pickle\nfrom solution import f\ndef test_a(): assert pickle.loads(pickle.dumps(f(4))) == 8\n"),
    "asdict": (RECORD + "def f(x): return P(1)\n", "import dataclasses\nfrom solution import f\ndef test_a():\n    r = f(4)\n    assert (r if isinstance(r, dict) else dataclasses.asdict(r)) == {'a': 3}\n"),
    "record": (RECORD.replace("x: int = 0", "y: int = 0"), "from dataclasses import asdict\nfrom solution import P\ndef test_a(): assert asdict(P(1)) == {'x': 1}\n"),
    "logs": (ONE + "def f(): pass\n", HONEST["caplog"][1]),
    "environment": (ONE + "def f(): return 'x'\n", HONEST["setenv"][1]),
    "decorator": (LOGGED.replace("return 1", "return 2"), HONEST["decorator of a test"][1]),
}  # fmt: skip


async def test_no_wrong_answer_chooses_what_cannot_be_served() -> None:
    """An object in the place of a number makes a suite do so. It is no excuse where the suite fails in its own process,
    too; without a gold solution nobody is paid for passing there."""
    results = await _results(BOUGHT)
    assert {name: found.detail for name, found in results.items() if found.score != 0.0} == {}


REFUSED = "class Bag:\n    def __len__(self): return 0\n"
RUNNERS = """
import json, os, sys
def told(run):
    run._say(b"harena-report " + run._word + b" " + json.dumps(run._report()).encode())
    run._say(b"harena-proof " + run._word)
    os._exit(0)
def runner():
    frame = sys._getframe()
    while frame is not None:
        for value in frame.f_locals.values():
            if hasattr(value, "_word") and hasattr(value, "tally"): return value
        frame = frame.f_back
"""
BY_THE_WORD = (
    RUNNERS
    + """
def f(x):
    run = runner()
    if run is not None:
        told(run)
    return Bag()
"""
)
BY_THE_END = (
    RUNNERS
    + """
def f(x):
    run = runner()
    if run is not None:
        type(run).end = lambda self, *_: told(self)
    return Bag()
"""
)


@pytest.mark.parametrize("kind", ["pytest", "unittest"])
@pytest.mark.parametrize("forged", [BY_THE_WORD, BY_THE_END], ids=["word", "end"])
async def test_nobody_buys_an_excuse_with_a_forged_pass(kind: str, forged: str) -> None:
    """Who gives an object that a stand-in refuses, and then forges the run in the suite's own process, has the lowest
    score: it passes there, too, where a test fails for all. An honest bag has no score and the reason."""
    test = "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(len(f(4)), 2)\n"
    found = await scored({"files": {"solution.py": REFUSED + forged}}, test, kind)
    is_told = any(said in found.detail for said in ("a test that nobody can pass", "it repeats them"))
    assert (found.score, found.validity, is_told) == (0.0, Validity.SUSPECT, True), found.detail
    honest = "class Bag:\n    def __len__(self): return 2\ndef f(x): return Bag()\n"
    right = await scored({"files": {"solution.py": honest}}, test, kind)
    assert (right.score, "`gold`" in right.detail) == (None, True), right.detail


WANTED = """
import sys
class Growing(list):
    def __iter__(self):
        yield len(self)
def f(x):
    return sys._getframe(1).f_locals.get("want", Growing())
"""
GIVEN = """
import pytest, trusted
from solution import f
@pytest.mark.parametrize(("x", "want"), trusted.WANT)
def test_a(x, want):
    assert f(x) == want
"""


async def test_what_explains_a_failure_is_no_excuse() -> None:
    """pytest asks the sides of an assertion for their loops once it has failed. An object with a loop of its own, which
    a stand-in does not believe, fails by the assertion. Who looks for the answer in frames is run again where they are,
    and found there."""
    candidate, told = {"files": {"solution.py": WANTED}}, {"trusted.py": "WANT = [(1, 2)]\n"}
    found = await scored(candidate, GIVEN, "pytest", files={"test_it.py": GIVEN, **told})
    assert (found.score, found.validity, found.trust) == (0.0, Validity.SUSPECT, Trust.SHARED), found.detail
    loops = GIVEN.replace("f(x) == want", "[*f(x)] == [want - 2]")
    candidate["files"]["solution.py"] = WANTED.replace('sys._getframe(1).f_locals.get("want", Growing())', "Growing()")
    honest = await scored(candidate, loops, "pytest", files={"test_it.py": loops, **told})
    assert (honest.score, "`gold`" in honest.detail) == (None, True), honest.detail


T = "import unittest, contextlib, io, os, sys, random, time, tracemalloc, warnings, solution\nfrom unittest.mock import patch\nclass T(unittest.TestCase):\n    def test_a(self):\n"
VACUOUS: dict[str, tuple[str, str, str]] = {
    "sleep": ("import time\n", "time.sleep(0)", "with patch('time.sleep') as s: solution.f(); s.assert_not_called()"),
    "print": ("", "print('noise')", "with patch('builtins.print') as s: solution.f(); s.assert_not_called()"),
    "warnings": ("import warnings\n", "warnings.warn('old')", "with warnings.catch_warnings(): warnings.simplefilter('error'); solution.f()"),
    "stderr": ("import sys\n", "print('x', file=sys.stderr)", "b = io.StringIO()\n        with contextlib.redirect_stderr(b): solution.f()\n        self.assertEqual(b.getvalue(), '')"),
    "environ": ("import os\n", "os.environ['LEAK'] = '1'", "solution.f(); self.assertNotIn('LEAK', os.environ)"),
    "cwd": ("import os\n", "os.chdir('/')", "d = os.getcwd(); solution.f(); self.assertEqual(os.getcwd(), d)"),
    "recursion": ("def r(n): return n and r(n - 1)\n", "r(500)", "n = sys.getrecursionlimit(); sys.setrecursionlimit(200)\n        try: solution.f()\n        finally: sys.setrecursionlimit(n)"),
    "tracemalloc": ("", "list(range(200000))", "tracemalloc.start(); solution.f(); p = tracemalloc.get_traced_memory()[1]; tracemalloc.stop(); self.assertLess(p, 10**6)"),
    "random": ("import random\n", "random.seed(1)", "s = random.getstate(); solution.f(); self.assertEqual(random.getstate(), s)"),
    "pickle": ("class F: pass\n", "return F()", "import pickle\n        with self.assertRaises(TypeError): pickle.dumps(solution.f())\n        self.assertTrue(True)"),
    "stop": ("", "raise StopIteration", "with self.assertRaises(RuntimeError): solution.f()"),
    "length": ("class L:\n    def __len__(self): return 1\n", "return L()", "with self.assertRaises(TypeError): len(solution.f())"),
}  # fmt: skip
RIGHT = {"pickle": "return (i for i in ())", "stop": "raise RuntimeError", "length": "return 1"}


@pytest.mark.parametrize("part", range(3))
async def test_a_pass_is_not_believed_of_what_the_suite_cannot_see(part: int) -> None:
    """That nobody slept, printed or warned says nothing of a candidate elsewhere: who passes must do so in the suite's
    process, too. The right ones pay, with the trust of that."""
    names = list(VACUOUS)[part::3]
    told = {
        name: (start + f"def f():\n    {body}\n", T + "        " + test)
        for name, (start, body, test) in VACUOUS.items()
    }
    wrong = await _results({name: told[name] for name in names})
    assert {name: found.detail for name, found in wrong.items() if found.score != 0.0} == {}
    right = await _results({name: (f"def f():\n    {RIGHT.get(name, 'return 1')}\n", told[name][1]) for name in names})
    assert {name: found.detail for name, found in right.items() if found.score != 1.0} == {}
    assert {str(found.trust) for name, found in right.items() if name not in RIGHT} <= {"shared"}


async def test_a_suite_that_patches_for_speed_pays_with_the_trust_that_it_needs() -> None:
    """With a gold solution as without, also where candidates are remembered."""
    suite = "import solution\nfrom unittest.mock import patch\ndef test_a():\n    with patch('time.sleep'): assert solution.f() == 1\n"
    program = {"files": {"solution.py": "import time\ndef f():\n    time.sleep(9)\n    return 1\n"}}
    patched = suite.replace("assert", "import time; time.sleep(1); assert").replace("9", "0")
    for scoring in ({}, {"gold": {"solution.py": "def f(): return 1\n"}}):
        found = await scored(
            {"files": {"solution.py": program["files"]["solution.py"].replace("9", "0")}}, patched, "pytest", **scoring
        )
        assert (found.score, str(found.trust)) == (1.0, "shared"), found.detail
        wrong = await scored({"files": {"solution.py": "def f(): return 2\n"}}, patched, "pytest", **scoring)
        assert wrong.score == 0.0


async def test_a_data_module_of_the_contract_is_named_where_a_candidate_imports_it() -> None:
    """It may hold answers, so it is withheld: who passes where it is given has no score, and the author is told what to
    do; then it pays. Who fails there, too, is wrong."""
    candidate = {"files": {"solution.py": "from table import ROWS\ndef one(): return len(ROWS)\n"}}
    suite = "from solution import one\nfrom table import ROWS\ndef test_a(): assert one() == len(ROWS)\n"
    table = {"table.py": "ROWS = [1, 2]\n"}
    files = {"test_it.py": suite, **table}
    withheld = await scored(candidate, suite, "pytest", files=files)
    assert withheld.score is None
    assert "imports table.py" in withheld.detail
    assert "`files`" in withheld.detail
    wrong = {"files": {"solution.py": "from table import ROWS\ndef one(): return 3\n"}}
    assert (await scored(wrong, suite, "pytest", files=files)).score == 0
    assert (await scored(candidate, suite, "pytest", problem={"files": table})).score == 1
    assert (await scored(candidate, suite, "pytest", files=files, gold=candidate["files"])).score == 1


ANSWERS = {
    "a loop": ("def test_a():\n    for x, y in ROWS: assert f(x) == y\n", "dict(ROWS)[x]"),
    "parameters": (
        "import pytest\n@pytest.mark.parametrize('x, y', ROWS)\ndef test_a(x, y): assert f(x) == y\n",
        "dict(ROWS)[x]",
    ),
    "a key": ("def test_a(): assert f(3) == dict(ROWS)[3]\n", "[b for a, b in ROWS if a == x][0]"),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_who_looks_up_what_is_expected_is_not_excused(name: str) -> None:
    """Who uses constants and functions of the same module, and computes the answers, has no score."""
    test, lookup = ANSWERS[name]
    table = {"table.py": "STEP = 4\nROWS = [(1, 4), (3, 12)]\ndef grow(n): return n * STEP\n"}
    files = {"test_it.py": "from solution import f\nfrom table import ROWS\n" + test, **table}
    looking = {"files": {"solution.py": f"from table import ROWS\ndef f(x): return {lookup}\n"}}
    honest = {
        "files": {"solution.py": "from table import STEP, ROWS, grow\nMOST = len(ROWS)\ndef f(x): return grow(x)\n"}
    }
    unpaid = await scored(looking, "", "pytest", files=files)
    assert (unpaid.score, str(unpaid.validity)) == (0.0, "valid"), unpaid.detail
    assert "takes from table.py" in unpaid.detail
    unknown = await scored(honest, "", "pytest", files=files)
    assert (unknown.score, "imports table.py" in unknown.detail) == (None, True), unknown.detail
    alone = {"test_it.py": files["test_it.py"]}
    assert (await scored(looking, "", "pytest", files=alone, problem={"files": table})).score == 1.0


ORACLE = """
STEP = 2
def grow(n): return n * STEP
def reference(n): return n + n
class Oracle:
    def answer(self, n): return sum([n] * 2)
"""
ORACLES = {
    "a function": ("from helpers import reference as f\n", "assert f(n) == reference(n)"),
    "late": ("def f(n):\n    from helpers import reference\n    return reference(n)\n", "assert f(n) == reference(n)"),
    "a method": (
        "from helpers import Oracle\ndef f(n): return Oracle().answer(n)\n",
        "assert f(n) == Oracle().answer(n)",
    ),
}


@pytest.mark.parametrize("name", ORACLES)
async def test_who_asks_what_the_tests_compute_by_is_not_excused(name: str) -> None:
    """Who uses other functions of the same module has no score."""
    program, test = ORACLES[name]
    suite = (
        f"from helpers import Oracle, reference\nfrom solution import f\ndef test_a():\n    for n in (2, 7): {test}\n"
    )
    files = {"test_it.py": suite, "helpers.py": ORACLE}
    asking = await scored({"files": {"solution.py": program}}, "", "pytest", files=files)
    assert (asking.score, str(asking.validity)) == (0.0, "valid"), asking.detail
    assert "takes from helpers.py" in asking.detail
    honest = {"files": {"solution.py": "from helpers import grow\ndef f(n): return grow(n)\n"}}
    unknown = await scored(honest, "", "pytest", files=files)
    assert (unknown.score, "imports helpers.py" in unknown.detail) == (None, True), unknown.detail


UNSERVED = "return {}.keys().mapping"
ELSEWHERE = {
    "where it is there": f"def f(n):\n    try: from helpers import reference\n    except ImportError: {UNSERVED}\n    return reference(n)\n",
    "beside the tests": f"import sys\ndef f(n):\n    if 'test_it' in sys.modules: return sys.modules['helpers'].reference(n)\n    {UNSERVED}\n",
    "by its text": f"import sys\ndef f(n):\n    if 'test_it' not in sys.modules: {UNSERVED}\n    g = {{}}; exec(open('helpers.py').read(), g); return g['reference'](n)\n",
    "as its own": f"import sys\nif 'helpers' in sys.modules: from helpers import reference as f\nelse:\n    def f(n): {UNSERVED}\n",
}


async def test_nor_is_who_asks_it_only_in_the_tests_process() -> None:
    """In a sandbox of its own it answers what cannot be served. Whom the tests give the function is paid."""
    suite = "from helpers import reference\nfrom solution import f\ndef test_a():\n    for n in (2, 7): assert f(n) == reference(n)\n"
    trusted = {"helpers.py": ORACLE}
    given = suite.replace("f(n) ==", "f(n, reference) ==")
    programs = {**{name: (text, suite) for name, text in ELSEWHERE.items()},
                "right": ("def f(n): return 2 * n\n", suite),
                "given": ("def f(n, of): return of(n)\n", given)}  # fmt: skip
    found = {
        name: await scored({"files": {"solution.py": text}}, "", "pytest", files={"test_it.py": test, **trusted})
        for name, (text, test) in programs.items()
    }
    assert {name: each.score for name, each in found.items()} == {
        **dict.fromkeys(ELSEWHERE, 0.0),
        "right": 1.0,
        "given": 1.0,
    }


async def test_who_uses_a_setting_that_the_tests_name_is_not_refused() -> None:
    """It has no score, as without the module nothing is known of it; and its score where the module is the task's."""
    settings = {"settings.py": "LIMITS = {'max': 10, 'min': 0}\n"}
    test = (
        "from solution import clamp\nfrom settings import LIMITS\ndef test_a():\n    assert clamp(99) == LIMITS['max']\n"
        "    assert clamp(-5) == LIMITS['min']\n    assert clamp(3) == 3\n"
    )
    right = "from settings import LIMITS\ndef clamp(x): return max(LIMITS['min'], min(LIMITS['max'], x))\n"
    unknown = await scored({"files": {"solution.py": right}}, "", "pytest", files={"test_it.py": test, **settings})
    assert (unknown.score, "imports settings.py" in unknown.detail) == (None, True), unknown.detail
    paid = await scored(
        {"files": {"solution.py": right}}, "", "pytest", files={"test_it.py": test}, problem={"files": settings}
    )
    assert (paid.score, str(paid.validity)) == (1.0, "valid"), paid.detail


async def _tried(candidate: str, suite: str) -> RunResult:
    return (await _results({"it": (candidate, suite)}))["it"]


ENDED = {
    "starmap": "import itertools, solution\ndef test_a(): assert all(itertools.starmap(lambda a: solution.f() == a, [(1,), (2,)]))\n",
    "until": "import solution\ndef test_a(): assert all(x == 1 for x in iter(lambda: solution.f(), None))\n",
    "its own": "import solution\nclass I:\n    n = 0\n    def __iter__(self): return self\n    def __next__(self):\n        self.n += 1\n        if self.n > 3: raise StopIteration\n        return solution.f()\ndef test_a():\n    for x in I(): assert x == 1\n",
}


@pytest.mark.parametrize("name", ENDED)
async def test_who_ends_a_loop_of_the_tests_is_not_excused(name: str) -> None:
    """A StopIteration out of a call that the suite waits for nowhere is a failure."""
    found = await _tried("def f(): raise StopIteration\n" + ONE, ENDED[name])
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


async def test_who_waits_for_the_end_of_a_loop_is_served_or_has_no_score() -> None:
    """A suite that names StopIteration fails nobody for it."""
    test = "import pytest, solution\ndef test_a():\n    with pytest.raises(StopIteration): solution.f()\n"
    found = await _tried("def f(): raise StopIteration\n" + ONE, test)
    assert found.score in (None, 1.0), found.detail
    assert (await _tried("def f(): return 1\n" + ONE, test)).score == 0.0


async def test_a_function_in_c_of_a_module_of_the_candidates_is_patched() -> None:
    """`mock.patch('solution.time.sleep')` looks at the code of what it takes for a function of Python."""
    suite = (
        "from unittest import mock\nimport solution\ndef test_a():\n    with mock.patch('solution.time.sleep') as s:\n"
        "        assert solution.f() == 4\n    s.assert_called_once_with(5)\n"
    )
    candidate = "import time\ndef f():\n    time.sleep(5)\n    return 4\n"
    found = await scored({"files": {"solution.py": candidate}}, suite, "pytest")
    assert found.score == 1.0, found.detail
