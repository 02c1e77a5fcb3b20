# ruff: noqa: E501 (programs are text, not code of ours)
"""What the tests use is exchanged by a candidate in their process: a library's function, which puts itself back when the
tests call it, so that everything is what it was at the end; a name of the tests' own module; what their imports give."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import RunResult
from harena.scoring import load_scenarios

pytestmark = SHARED


async def scored(candidate: str, scoring: dict[str, Any]) -> RunResult:
    """One run, by this environment's interpreter."""
    row = {"id": "one", "candidate": {"files": {"solution.py": candidate}}, "scoring": {"type": "command", **scoring}}
    (made,) = load_scenarios([row]).scenarios
    return await judged(made)


def suite(imports: str, body: str) -> dict[str, Any]:
    text = f"from solution import f\n{imports}\ndef test_it():\n    " + body.replace("\n", "\n    ") + "\n"
    return {"pytest": ["test_it.py"], "files": {"test_it.py": text}, "isolate": False}


def asserts(imports: str, body: str) -> dict[str, Any]:
    return {"asserts": f"{imports}\n{body}\n"}


KINDS = {"suite": suite, "asserts": asserts}


def exchanged(module: str, name: str, says: str, answer: str) -> str:
    """A candidate whose function answers wrongly, and exchanges a function of a library until that is called."""
    return (
        f"import importlib\nM = importlib.import_module({module!r})\ndef f(*xs):\n    real = M.{name}\n"
        f"    def fake(*a, **k):\n        M.{name} = real\n        return {says}\n    M.{name} = fake\n    return {answer}\n"
    )


CODE = (
    "import statistics\nOLD = statistics.mean.__code__\ndef fake(data):\n    import statistics, solution\n"
    "    statistics.mean.__code__ = solution.OLD\n    return 0\n"
    "def f(*xs):\n    statistics.mean.__code__ = fake.__code__\n    return 0\n"
)
METHOD = (
    "import collections\ndef f(*xs):\n    C = collections.Counter\n    real = C.__init__\n"
    "    def fake(self, *a, **k):\n        C.__init__ = real\n        real(self)\n    C.__init__ = fake\n    return {}\n"
)
FORGERIES = {
    "behind the call": ("import math", "assert f(5) == math.factorial(5)", exchanged("math", "factorial", "0", "0")),
    "in a loop": ("import math", "for n in range(2, 5):\n    assert f(n) == math.factorial(n)", exchanged("math", "factorial", "0", "0")),
    "a judge": ("import math", "x = f()\nassert math.isclose(x, 3.7)", exchanged("math", "isclose", "True", "0.0")),
    "by another name": ("import math as m", "x = f()\nassert x == m.sqrt(2)", exchanged("math", "sqrt", "0", "0")),
    "a module of a module": ("import os", "assert f() == os.path.join('a', 'b')", exchanged("os.path", "join", "''", "''")),
    "a class": ("import decimal", "assert f() == decimal.Decimal('1.5')", exchanged("decimal", "Decimal", "0", "0")),
    "what it calls": ("from statistics import mean", "x = f()\nassert x == mean([1, 2, 6])", exchanged("statistics", "_sum", "(int, __import__('fractions').Fraction(0), 3)", "0")),
    "its code": ("from statistics import mean", "x = f()\nassert x == mean([1, 2, 6])", CODE),
    "a method of a class": ("import collections", "x = f()\nassert x == collections.Counter('hello')", METHOD),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FORGERIES)
async def test_an_exchange_that_ends_before_the_tests_do_pays_nothing(name: str, kind: str) -> None:
    imports, body, candidate = FORGERIES[name]
    result = await scored(candidate, KINDS[kind](imports, body))
    assert result.score == 0.0, result.detail


TESTS = "import sys, builtins, types\nreal = builtins.__import__\nfake = types.SimpleNamespace(factorial=lambda n: 0)\n"
NAMES = {
    "a reference": ("def ref(n): return n * n + 7", "assert f(5) == ref(5)", "T.ref = lambda n: 0"),
    "a reference by lambda": ("ref = lambda n: n * n + 7", "assert f(5) == ref(5)", "T.ref = lambda n: 0"),
    "a constant": ("WANT = 5 ** 7", "assert f(5) == WANT", "T.WANT = 0"),
    "a module": ("import math", "assert f(5) == math.factorial(5)", "T.math = fake"),
    "what comes from one": ("from math import factorial", "assert f(5) == factorial(5)", "T.factorial = lambda n: 0"),
    "a helper": ("def check(a, b): return abs(a - b) < 1e-9", "assert check(f(5), 3.7)", "T.check = lambda a, b: True"),
    "an import behind the candidate's": ("import math", "assert f(5) == math.factorial(5)", "0"),
    "an import in a test": ("", "import math\nassert f(5) == math.factorial(5)", "0"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
async def test_names_of_the_tests_are_what_they_have_bound(name: str) -> None:
    imports, body, act = NAMES[name]
    taken = "builtins.__import__ = lambda name, *a: fake if name == 'math' else real(name, *a)\n" if act == "0" else ""
    candidate = f"{TESTS}{taken}def f(x):\n    T = sys.modules['test_it']\n    {act}\n    return 0\n"
    result = await scored(candidate, suite(imports, body))
    assert result.score == 0.0, result.detail


OWN = {
    "a table that grows": ("WANT = [1, 2]\nCALLS = []\ndef note(x):\n    CALLS.append(x)\n    return x", "assert f(1) == WANT[0] and note(f(2)) == WANT[1]\nassert CALLS == [2]"),
    "a global": ("N = 0\ndef bump():\n    global N\n    N += 1\n    return N", "assert bump() == f(1)\nassert bump() == f(2)"),
    "a loop at the top": ("for i in range(200):\n    LAST = i\nX = [i for i in range(3)]", "assert f(199) == LAST and X[2] == f(2)"),
    "an import that may fail": ("try:\n    import tomllib as toml\nexcept ImportError:\n    toml = None\nif toml is None:\n    raise SystemExit", "assert toml.loads('a = 1') == {'a': f(1)}"),
    "annotations": ("from dataclasses import dataclass\nfrom typing import List, get_type_hints\n@dataclass\nclass P:\n    x: List[int]\ndef g(p: P) -> P: return p", "assert get_type_hints(g)['return'] is P and get_type_hints(P)['x'] == List[int] and f(1)"),
    "fixtures and tables of cases": ("import pytest\n@pytest.fixture\ndef two(): return 2\n@pytest.mark.parametrize('a', [1, 2])\ndef test_p(a, two): assert f(a) * two == a * 2\nCASES = [(1, 1), (2, 2)]\n@pytest.mark.parametrize('a,b', CASES)\ndef test_q(a, b): assert f(a) == b", "assert f(1) == 1"),
    "classes of tests": ("import unittest\nclass Base(unittest.TestCase):\n    def check(self, a): self.assertEqual(f(a), a)\nclass T(Base):\n    def test_x(self):\n        super().setUp()\n        self.check(3)", "assert f(1) == 1"),
    "one name in many places": ("result = 3\ndef helper(result): return result\ndef f2():\n    result = 4\n    return result", "result = f(5)\nassert result == 5 and helper(1) == 1 and f2() == 4"),
    "what a set-up binds": ("STATE = {}\nHANDLE = None\ndef setup_module(module):\n    module.HANDLE = 5\n    STATE['a'] = 1", "assert STATE['a'] == f(1) and HANDLE == f(5)"),
}  # fmt: skip


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"], ids=["", "future"])
@pytest.mark.parametrize("name", OWN)
async def test_tests_may_bind_their_names_as_they_like(name: str, future: str) -> None:
    made = suite(*OWN[name])
    made["files"] = {"test_it.py": future + made["files"]["test_it.py"]}
    result = await scored("def f(x): return x\n", made)
    assert result.score == 1.0, result.detail


HONEST = {
    "what a library binds itself": ("import mimetypes", "assert f() == mimetypes.guess_type('a.png')[0]", "import mimetypes\ndef f(): return mimetypes.guess_type('a.png')[0]\n"),
    "a seed": ("import random", "assert f() == 5 or f() != 5\nassert random.Random(1).random() < 1", "import random\ndef f():\n    random.seed(3)\n    return random.randint(0, 9)\n"),
    "paths": ("import os, pathlib, tempfile", "assert f() == os.path.join('a', 'b')\nassert pathlib.Path(tempfile.gettempdir()).exists()", "import os\ndef f(): return os.path.join('a', 'b')\n"),
    "threads": ("import concurrent.futures, queue", "assert f() == 1\nassert concurrent.futures.ThreadPoolExecutor(1).submit(f).result() == 1\nassert queue.Queue().empty()", "import threading\ndef f():\n    t = threading.Thread(target=int)\n    t.start()\n    t.join()\n    return 1\n"),
    "a loop of its own": ("import asyncio", "assert f() == 1\nassert asyncio.run(asyncio.sleep(0, 2)) == 2", "import asyncio\nasync def g(): return 1\ndef f(): return asyncio.run(g())\n"),
    "logs and warnings": ("import logging, warnings", "assert f() == 1\nassert logging.getLogger('a').name == 'a'\nwith warnings.catch_warnings():\n    assert f() == 1", "import logging, warnings\ndef f():\n    logging.getLogger('a').warning('x')\n    warnings.warn('x')\n    return 1\n"),
    "names in patterns and handlers": ("import json, math", "match f():\n    case math.pi:\n        raise AssertionError\n    case 1:\n        pass\ntry:\n    json.loads('{')\nexcept json.JSONDecodeError:\n    pass\nassert math.isclose(f(), 1)", "def f(): return 1\n"),
    "a local name of a module's": ("import math, statistics", "def g(math):\n    return math.real\nassert g(f()) == 3\nassert statistics.mean([f(), 5]) == math.sqrt(16)", "def f(): return 3\n"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HONEST)
async def test_a_right_program_that_uses_the_same_libraries_is_paid(name: str, kind: str) -> None:
    imports, body, candidate = HONEST[name]
    result = await scored(candidate, KINDS[kind](imports, body))
    assert result.score == 1.0, result.detail
