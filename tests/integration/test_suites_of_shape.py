# ruff: noqa: E501 (programs are text, not code of ours)
"""Suites without gold that look at the shape of what a candidate gives: who fails them has a 0, and only a suite that
nobody can pass has no score."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

WRONG = "def f(a): return 3\ndef g(): pass\nx = len\nclass P: pass\n"
HEAD = "import dataclasses, inspect, json, typing, unittest\nimport pytest\nimport solution\nfrom solution import P, f, g, x\n"
IN_BODIES = (
    "f.__code__.co_argcount == 2",
    "solution.f.__defaults__ == (1,)",
    "f.__annotations__['return'] is int",
    "list(inspect.signature(f).parameters) == ['a', 'b']",
    "'for' in inspect.getsource(f)",
    "typing.get_type_hints(f)['return'] is bool",
    "P.__slots__ == ('x',)",
    "P.__mro__[1].__name__ == 'Base'",
    "P.__doc__.startswith('A')",
    "[each.name for each in dataclasses.fields(P)] == ['x']",
    "hasattr(f, '__wrapped__')",
    "hasattr(P, 'anything') and 'anything' not in vars(P)",
    "not callable(x)",
    "type(x) is int",
    "inspect.iscoroutinefunction(f)",
    "'g' not in dir(solution)",
    "'g' not in vars(solution)",
    "solution.__all__ == ['f']",
    "solution.__doc__.strip()",
    "solution.__name__ == 'other'",
    "solution.__version__ == '1.0'",
    "getattr(solution, '__author__') == 'me'",
    "[n for n, _ in inspect.getmembers(solution, inspect.isfunction)] == ['f', 'g']",
)
SHAPES = {
    "in bodies": HEAD + "".join(f"def test_{n}(): assert {each}\n" for n, each in enumerate(IN_BODIES)),
    "in helpers": HEAD + "def names(c): return [b.__name__ for b in c.__bases__]\ndef check(got): assert got == ['Base']\ndef test_a():\n    got = names(P)\n    check(got)\n",
    "in fixtures": HEAD + "@pytest.fixture(scope='module')\ndef names(): return list(inspect.signature(f).parameters)\n@pytest.fixture\ndef count(): return f.__code__.co_argcount\ndef test_a(names): assert names == ['a', 'b']\ndef test_b(names): assert names[1] == 'b'\ndef test_c(count): assert count == 2\n",
    "in set-ups": HEAD + "class T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): cls.has = hasattr(solution, 'nothing')\n    def setUp(self): self.names = list(inspect.signature(f).parameters)\n    def test_a(self): self.assertEqual(self.names, ['a', 'b'])\n    def test_b(self): self.assertFalse(self.has)\n    def test_c(self): self.assertEqual({True: 1}[self.has is None], 1)\n",
    "in a set-up that fails": HEAD + "class T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): cls.count = f.__code__.co_kwonlyargcount\n    def test_a(self): self.assertEqual(self.count, 2)\n",
    "as the module is read": HEAD + "NAMES = list(inspect.signature(f).parameters)\nHAS = not hasattr(solution, 'g')\nDOC = P.__doc__\ndef test_d(): assert DOC\ndef test_a(): assert NAMES == ['a', 'b']\ndef test_b(): assert HAS\ndef test_c(): assert {'a': 1}[NAMES[1]]\n",
    "as the module fails": HEAD + "COUNT = f.__code__.co_argcount\ndef test_a(): assert COUNT == 2\n",
    "as tests are chosen": HEAD + "@pytest.mark.parametrize('n', [n for n in dir(solution) if n.startswith('check_')])\ndef test_a(n): assert getattr(solution, n)()\n",
    "as tests are skipped": HEAD + "@pytest.mark.skipif(not hasattr(f, '__code__'), reason='no function')\ndef test_a(): assert f(1) == 2\n",
}  # fmt: skip
BROKEN = {
    "a file": HEAD + "def test_a():\n    open('no.txt')\n    assert f(1) == 2\n",
    "a fixture": HEAD + "COUNT = len(dir(f))\ndef test_a(nothing): assert f(1) == 2\n",
    "a file, after a look": HEAD + "NAMES = inspect.signature(f)\ndef test_a():\n    open('no.txt')\n    assert f(1) == 2\n",
    "a file, beside names": HEAD + "@pytest.mark.parametrize('each', [f, g])\ndef test_a(each):\n    open('no.txt')\n    assert each(1) == 2\n",
    "a file as it is read": HEAD + "COUNT = hasattr(f, 'x')\nDATA = open('no.txt').read()\ndef test_a(): assert f(1) == DATA\n",
    "values": HEAD + "def test_a():\n    given = json.loads('{')\n    assert f(given) == 2\n",
    "a name": HEAD + "def test_a(): assert total(1) == f(1)\n",
    "a judgement of its own": HEAD + "def test_a(): assert len(inspect.signature(f).parameters) == 2\ndef test_b(): assert 1 == 2\n",
    "any test": HEAD + "class T(unittest.TestCase): pass\n",
}  # fmt: skip


async def _found(suite: str) -> tuple[float | None, str]:
    kind = "pytest" if "TestCase" not in suite else "unittest"
    result = await scored({"files": {"solution.py": WRONG}}, suite, kind)
    return result.score, result.detail


@pytest.mark.parametrize("where", SHAPES)
async def test_a_wrong_shape_is_the_candidates(where: str) -> None:
    """The idle candidate fails, too, after the suite has looked at it: this proves no broken suite."""
    score, detail = await _found(SHAPES[where])
    assert score == 0.0, detail


@pytest.mark.parametrize("suite", BROKEN.values(), ids=BROKEN)
async def test_what_no_candidate_can_mend_has_no_score(suite: str) -> None:
    """Whatever was looked at before: what is missing is no candidate's, and neither is what fails before a look."""
    score, detail = await _found(suite)
    assert score is None, detail
    assert "without any candidate" in detail
