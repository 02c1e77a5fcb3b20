# ruff: noqa: E501 (programs are text, not code of ours)
"""A library's function that the tests use is exchanged by a candidate in their process, and puts itself back when the
tests call it: at the end of the tests everything is what it was."""

from __future__ import annotations

from typing import Any

import pytest
from battery_world import Source

from harena.core.models import SandboxSpec
from harena.core.results import RunResult
from harena.scoring import load_scenarios, score_scenario
from harena.testing import FakeRuntime


async def scored(candidate: str, scoring: dict[str, Any]) -> RunResult:
    """One run, by this environment's interpreter."""
    row = {"id": "one", "candidate": {"files": {"solution.py": candidate}}, "scoring": {"type": "command", **scoring}}
    (made,) = load_scenarios([row]).scenarios
    return await score_scenario(made, sandboxes=Source(FakeRuntime()), base_spec=SandboxSpec(), timeout_seconds=60)


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
