# ruff: noqa: E501 (programs are text, not code of ours)
"""A test that is not defined because of the candidate has not passed; where that cannot be told, nobody is paid."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import RunResult

pytestmark = SHARED
ADD = "def add(a, b): return a + b\n"
LESS = {"solution.py": ADD}
FULL = {"solution.py": ADD + "def mul(a, b): return a * b\n"}
FIRST = "import solution\nfrom solution import add\ndef test_a(): assert add(1, 2) == 3\n"
TEST = "    def test_b(): assert solution.mul(2, 3) == 6\n"
CASE = "import unittest\nimport solution\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(solution.add(1, 2), 3)\n"
BY_PRESENCE = {
    "hasattr": FIRST + "if hasattr(solution, 'mul'):\n" + TEST,
    "a flag of a class": FIRST + "class TestX:\n    __test__ = hasattr(solution, 'mul')\n    def test_b(self): assert solution.mul(2, 3) == 6\n",
    "dir": FIRST + "if 'mul' in dir(solution):\n" + TEST,
    "vars": FIRST + "if 'mul' in vars(solution):\n" + TEST,
    "a dict": FIRST + "HAS = 'mul' in solution.__dict__.keys()\nif HAS:\n" + TEST,
    "getattr": FIRST + "mul = getattr(solution, 'mul', None)\nif mul is not None:\n" + TEST,
    "an import": FIRST + "try:\n    from solution import mul\nexcept ImportError:\n    mul = None\nif mul:\n" + TEST,
    "a deletion": FIRST + "def test_b(): assert solution.mul(2, 3) == 6\nif not hasattr(solution, 'mul'): del test_b\n",
    "parameters": FIRST + "import pytest\n@pytest.mark.parametrize('n', [n for n in ('add', 'mul') if hasattr(solution, n)])\ndef test_b(n): assert getattr(solution, n)(2, 2) == 4\n",
    "a loop": FIRST + "for n in ('add', 'mul'):\n    if n in dir(solution):\n        globals()['test_' + n] = lambda n=n: getattr(solution, n)(2, 2) == 4 or 1 / 0\n",
    "unittest": CASE + "    if hasattr(solution, 'mul'):\n        def test_b(self): self.assertEqual(solution.mul(2, 3), 6)\n",
    "unittest, set": CASE + "for n in ('add', 'mul'):\n    if hasattr(solution, n): setattr(T, 'test_' + n, lambda self, n=n: self.assertEqual(getattr(solution, n)(2, 2), 4))\n",
    "a flag": FIRST + "try:\n    from solution import mul\n    HAS = True\nexcept ImportError:\n    HAS = False\nif HAS:\n" + TEST,
    "a level": FIRST + "LEVEL = 0\nif hasattr(solution, 'mul'): LEVEL = 1\nif LEVEL:\n" + TEST,
    "suppressed": FIRST + "import contextlib\nwith contextlib.suppress(ImportError):\n    from solution import mul\n" + TEST,
    "tests of a base": FIRST + "class Base:\n    name = 'add'\n    def test_b(self): assert getattr(solution, self.name)(2, 2) == 4\nclass TestAdd(Base): pass\nif hasattr(solution, 'mul'):\n    class TestMul(Base): name = 'mul'\n",
    "a class that is deleted": CASE + "class U(unittest.TestCase):\n    def test_b(self): self.assertEqual(solution.mul(2, 3), 6)\nif not hasattr(solution, 'mul'): del U\n",
    "a class that is nothing": CASE + "class U(unittest.TestCase):\n    def test_b(self): self.assertEqual(solution.mul(2, 3), 6)\nif not hasattr(solution, 'mul'): U = None\n",
    "parameters of a fixture": FIRST + "import pytest\n@pytest.fixture(params=[n for n in ('add', 'mul') if hasattr(solution, n)])\ndef name(request): return request.param\ndef test_b(name): assert getattr(solution, name)(2, 2) == 4\n",
}  # fmt: skip
"""suites that define a test only where the candidate has `mul`"""


async def _tried(suite: str, candidate: dict[str, str], **scoring: Any) -> RunResult:
    kind = "unittest" if "unittest.TestCase" in suite else "pytest"
    return await scored({"files": candidate, "entry": "solution.py"}, suite, kind, **scoring)


@pytest.mark.parametrize("name", BY_PRESENCE)
async def test_who_lacks_a_name_does_not_pass_its_test(name: str) -> None:
    """Without a gold, in a sandbox of its own and beside the suite; who has everything is paid, but where the names are
    shown in the suite's process alone, and nobody has chosen that."""
    for scoring in ({}, {"isolate": False}):
        less, full = await asyncio.gather(
            _tried(BY_PRESENCE[name], LESS, **scoring), _tried(BY_PRESENCE[name], FULL, **scoring)
        )
        assert (less.score, str(less.validity)) == (0.0, "valid"), (scoring, less.detail)
        is_shown = bool(scoring) or name not in ("vars", "a dict")
        assert full.score == (1.0 if is_shown else None), (scoring, full.detail)


@pytest.mark.parametrize("name", ["hasattr", "vars", "parameters"])
async def test_one_sandbox_alone_pays_nobody_who_lacks_a_name(name: str) -> None:
    """With `isolate: sandbox` no second run follows: what stand-ins do not show has no score."""
    less, full = await asyncio.gather(
        _tried(BY_PRESENCE[name], LESS, isolate="sandbox"), _tried(BY_PRESENCE[name], FULL, isolate="sandbox")
    )
    assert (less.score, full.score) == ((None, None) if name == "vars" else (0.0, 1.0)), (less.detail, full.detail)


UNTOLD: dict[str, tuple[str, dict[str, str], dict[str, str] | None]] = {
    "types": (FIRST + "if type(solution.add) is not type(solution.mul):\n" + TEST, {"solution.py": FULL["solution.py"].replace("* b", "- b")}, None),
    "a value": (FIRST + "if solution.mul(2, 3) != 0:\n" + TEST, {"solution.py": ADD + "def mul(a, b): return 0\n"}, FULL),
    "an instance": (FIRST + "if isinstance(solution.LIMIT, int):\n    def test_b(): assert solution.LIMIT == 3\n", {"solution.py": ADD + "LIMIT = '4'\n"}, {"solution.py": ADD + "LIMIT = 3\n"}),
    "names that begin alike": (FIRST + "import pytest\n@pytest.mark.parametrize('n', [n for n in dir(solution) if n.startswith('f')])\ndef test_b(n): assert getattr(solution, n)() == {'f1': 1, 'f2': 2}[n]\n", {"solution.py": ADD + "def f1(): return 1\n"}, None),
    "all names": (FIRST + "import pytest\n@pytest.mark.parametrize('n', solution.__all__)\ndef test_b(n): assert getattr(solution, n)(2, 2) == 4\n", {"solution.py": ADD + "__all__ = ['add']\n"}, None),
    "all names, in a loop": (FIRST + "for n in solution.__all__:\n    globals()['test_' + n] = lambda n=n: getattr(solution, n)(2, 2) == 4 or 1 / 0\n", {"solution.py": ADD + "__all__ = ['add']\n"}, None),
    "cases": (FIRST + "import pytest\n@pytest.mark.parametrize('n', solution.CASES)\ndef test_b(n): assert add(n, 1) == n + 1\n", {"solution.py": ADD + "CASES = [1]\n"}, None),
    "a data file": (FIRST + "import os\nif os.path.exists('cases.txt'):\n    for n, line in enumerate(open('cases.txt')): globals()[f'test_{n}'] = lambda line=line: add(int(line), 1) == int(line) + 1 or 1 / 0\n", LESS, {**LESS, "cases.txt": "1\n2\n"}),
    "where it is missing": (FIRST + "if 'extra' not in dir(solution):\n    def test_b(): assert solution.add(2, 3) == 5\n", {"solution.py": "extra = 1\ndef add(a, b): return 3\n"}, LESS),
    "a hook": (FIRST + "def test_b(): assert solution.mul(2, 3) == 6\n", LESS, FULL),
    "cases that are added": (FIRST + "import pytest\nCASES = ['add']\nif hasattr(solution, 'mul'): CASES.append('mul')\n@pytest.mark.parametrize('n', CASES)\ndef test_b(n): assert getattr(solution, n)(2, 2) == 4\n", LESS, None),
    "one or the other": (FIRST + "if hasattr(solution, 'mul'):\n" + TEST + "else:\n    def test_c(): assert add(1, 1) == 2\n", LESS, None),
}  # fmt: skip
"""suites; who must not be paid, and who is"""
HOOK = "import solution\ndef pytest_collection_modifyitems(items):\n    if not hasattr(solution, 'mul'): items[:] = [each for each in items if each.name != 'test_b']\n"


@pytest.mark.parametrize("name", UNTOLD)
async def test_where_it_cannot_be_told_nobody_is_paid(name: str) -> None:
    """There is no score and a reason, or a 0; a gold solution ends this."""
    suite, less, full = UNTOLD[name]
    scoring = {"files": {"test_it.py": suite, "conftest.py": HOOK}} if name == "a hook" else {}
    for way in ({}, {"isolate": False}):
        unpaid = await _tried(suite, less, **scoring, **way)
        assert unpaid.score in (0.0, None), (way, unpaid.detail)
        assert unpaid.score == 0.0 or "`gold`" in unpaid.detail, unpaid.detail
        if full is not None and name != "a data file":
            paid = await _tried(suite, full, **scoring, **way)
            assert paid.score == 1.0, (way, paid.detail)


SAME = {
    "a loop over constants, by a star": "from solution import *\ndef made(n):\n    def run(): assert add(n, n) == 2 * n\n    return run\nfor n in range(3): globals()[f'test_{n}'] = made(n)\n",
    "objects of the candidate's": "import pytest, solution\n@pytest.mark.parametrize('v, n', [(solution.add(1, 1), 2), (solution.add(2, 1), 3)])\ndef test_a(v, n): assert v == n\n",
    "answers as the file is read": "import pytest, solution\nFOUND = [solution.add(n, n) for n in range(3)]\n@pytest.fixture\ndef found(): return FOUND\ndef test_a(found): assert found == [0, 2, 4]\n",
    "a table": "import pytest\nfrom solution import *\nCASES = [(n, m, n + m) for n in range(3) for m in range(2) if n > m]\n@pytest.mark.parametrize('a, b, c', CASES)\ndef test_a(a, b, c): assert add(a, b) == c\n",
    "made in a loop": "import unittest\nfrom solution import add\nclass T(unittest.TestCase): pass\ndef made(n): return lambda self: self.assertEqual(add(n, n), 2 * n)\nfor n in range(3): setattr(T, f'test_{n}', made(n))\n",
    "one of two modules": "try:\n    from fast_solution import add\nexcept ImportError:\n    from solution import add\ndef test_a(): assert add(1, 2) == 3\n",
    "a platform": "import sys, os, shutil\nfrom solution import add\nif sys.platform == 'win32':\n    def test_b(): assert 0\nif os.path.exists('/nowhere'):\n    def test_c(): assert 0\ndef test_a(): assert add(1, 2) == 3\n",
    "a base class": "import unittest, solution\nclass Base(unittest.TestCase):\n    one = 1\n    def test_a(self): self.assertEqual(solution.add(self.one, 1), self.one + 1)\nclass TestTwo(Base):\n    one = 2\n",
}  # fmt: skip
"""suites that define the same tests for all, or tests that nobody has"""


@pytest.mark.parametrize("name", SAME)
async def test_suites_that_adapt_to_nothing_of_the_candidates_are_paid(name: str) -> None:
    """In a sandbox of its own and beside the suite; a wrong one has a 0."""
    for scoring in ({}, {"isolate": False}):
        right, wrong = await asyncio.gather(
            _tried(SAME[name], LESS, **scoring),
            _tried(SAME[name], {"solution.py": "def add(a, b): return 7\n"}, **scoring),
        )
        assert right.score == 1.0, (scoring, right.detail)
        assert wrong.score == 0.0, (scoring, wrong.detail)


async def test_a_star_beside_the_suite_hides_no_test() -> None:
    """The candidate lists `__test__` among its names, so that pytest leaves the file out that imports them all."""
    files = {
        "test_it.py": "from solution import *\ndef test_a(): assert add(1, 2) == 3\n",
        "test_x.py": "def test_x(): pass\n",
    }
    scoring = {"pytest": list(files), "files": files, "isolate": False}
    hidden = {"solution.py": "__test__ = False\n__all__ = ['add', '__test__']\ndef add(a, b): return 0\n"}
    unpaid = await _tried("", hidden, **scoring)
    assert (unpaid.score, str(unpaid.validity)) == (0.0, "valid"), unpaid.detail
    assert (await _tried("", LESS, **scoring)).score == 1.0
