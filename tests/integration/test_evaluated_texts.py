"""Texts and bytes of a candidate's that a suite evaluates: values are, and programs are not."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

POINT = """
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
    def __eq__(self, o): return (self.x, self.y) == (o.x, o.y)
    def __repr__(self): return f"Point(x={self.x!r}, y={self.y!r})"
"""
DUMP = "import pickle\ndef dump(x): return pickle.dumps(x)\n"
EVALUATES = """
import ast, dataclasses, inspect, textwrap, timeit
from solution import Point
@dataclasses.dataclass
class Own:
    a: int
def test():
    p = Point(1, 2)
    assert eval(repr(p)) == p and eval("p.x + 1") == 2 and eval(f"{p.x} + {p.y}") == 3
    assert eval(f"{p.x} * ({p.y} - 3) / 2") == -0.5 and eval(textwrap.dedent("    p.x + 1")) == 2
    names = {}
    exec("a = 1\\nb = a + 1", names)
    exec("def f(x: int): return x", names)
    assert names["f"].__annotations__ == {"x": int}
    assert inspect.signature(Own).parameters["a"].annotation is int and Own.__init__.__annotations__["a"] is int
    assert timeit.timeit("p.x", globals={"p": p}, number=1) >= 0 and ast.parse(repr(p))
    assert names["b"] == 2 and [eval(text) for text in ("1", "[2]")] == [1, [2]]
"""
UNPICKLES = """
import collections, datetime, io, pickle
from solution import dump
class Own: pass
def test():
    for value in ([1, {"a": (2,)}], datetime.date(2024, 1, 2), collections.Counter("aab"), {1, 2}):
        assert pickle.loads(dump(value)) == pickle.load(io.BytesIO(dump(value))) == value
    assert type(pickle.loads(pickle.dumps(Own()))) is Own
"""
HONEST = {
    "a representation": (POINT, EVALUATES, "y={self.y!r}", "y=0"),
    "a pickle": (DUMP, UNPICKLES, "dumps(x)", "dumps(1)"),
}

PROGRAM = "__import__('sys').modules['test_it'].__dict__.update(check=lambda *a: None)"
SHOWN = POINT.replace('f"Point(x={self.x!r}, y={self.y!r})"', f'"({PROGRAM}, Point(0, 0))[1]"')
SHOWN = SHOWN.replace("= x, y", "= 0, 0")
FORGED = {
    "a representation": (
        SHOWN,
        "from solution import Point\ndef check(a, b): assert a == b\n"
        "def test():\n    p = Point(1, 2)\n    assert eval(repr(p)) == p\n    check(p.x, 1)\n",
    ),
    "a representation among others": (
        SHOWN,
        "from solution import Point\ndef check(a, b): assert a == b\n"
        "def test():\n    p = Point(1, 2)\n    assert eval(f'[{p!r}]') == [p]\n    check(p.x, 1)\n",
    ),
    "code that is compiled first": (
        f'def make(): return "{PROGRAM}"\n',
        "from solution import make\ndef check(a, b): assert a == b\n"
        "def test():\n    exec(compile(make(), '<made>', 'exec'), {})\n    check(make(), 'def f(): pass')\n",
    ),
    "code that is timed": (
        f'def make(): return "{PROGRAM}"\n',
        "import timeit\nfrom solution import make\ndef check(a, b): assert a == b\n"
        "def test():\n    timeit.timeit(make(), number=1)\n    check(make(), 'pass')\n",
    ),
    "a pickle": (
        "import pickle\nclass Made:\n"
        f'    def __reduce__(self): return exec, ("{PROGRAM}",)\n'
        "def dump(x): return pickle.dumps(Made())\n",
        "import pickle\nfrom solution import dump\ndef check(a, b): assert a == b\n"
        "def test(): check(pickle.loads(dump([1])), [1])\n",
    ),
    "examples of a docstring": (
        f'def f(x):\n    """\n    >>> {PROGRAM}\n    """\n    return 0\n',
        "import doctest, solution\ndef check(a, b): assert a == b\n"
        "def test():\n    doctest.run_docstring_examples(solution.f, {})\n    check(solution.f(1), 1)\n",
    ),
}


CHANGED = {
    "its indent is taken off": ("'\\n        x = 1\\n        ' + P + '\\n    '", "exec(textwrap.dedent(make()), {})"),
    "it comes in pieces": ("list(P)", "eval(''.join(make()))"),
    "it is a format": ("P.replace('sys', '{name}')", "eval(make().format(name='sys'))"),
    "a part is replaced": ("P.replace('update', 'print')", "eval(make().replace('print', 'update'))"),
    "it is put into a function": ("P", "exec('def f():\\n' + textwrap.indent(make(), '    ') + '\\nf()', {})"),
    "it was compressed": ("zlib.compress(P.encode())", "exec(zlib.decompress(make()), {})"),
    "it was parsed": ("P", "exec(ast.unparse(ast.parse(make())), {})"),
    "its tree is compiled": ("P", "exec(compile(ast.parse(make()), '<made>', 'exec'), {})"),
    "it is compiled": ("P[::-1]", "exec(compile(make()[::-1], '<made>', 'exec'), {})"),
}


@pytest.mark.parametrize("isolate", ["auto", "sandbox", True])
@pytest.mark.parametrize("way", CHANGED)
async def test_a_text_that_was_changed_on_its_way_is_known_again(way: str, isolate: Any) -> None:
    """What a suite evaluates stands in its own files or states a value, wherever it comes from."""
    made, evaluated = CHANGED[way]
    candidate = f"import zlib\nP = {PROGRAM!r}\ndef make(): return {made}\n"
    suite = "import ast, textwrap, zlib\nfrom solution import make\ndef check(a, b): assert a == b\n"
    suite += f"def test():\n    {evaluated}\n    check(1, 2)\n"
    assert (await scored(candidate, suite, kind="pytest", isolate=isolate)).score in (0.0, None)


NAMED = {
    "a name of the suite's": ("WANT = [1, 2]\n", "assert eval(show([1])) == WANT", "WANT"),
    "what equals everything": ("from unittest.mock import ANY\n", "assert eval(show([1])) == [1, 2]", "ANY"),
    "a parameter": ("", "x = [3, 4]\n    assert eval(show(x[:1])) == x", "x"),
}


@pytest.mark.parametrize("name", NAMED)
async def test_no_name_of_the_suites_is_a_value(name: str) -> None:
    """It may be what the suite expects."""
    head, check, said = NAMED[name]
    suite = f"{head}from solution import show\ndef test():\n    {check}\n"
    found = await scored(f"def show(x): return {said!r}\n", suite, kind="pytest")
    assert found.score in (0.0, None)


@pytest.mark.parametrize("name", HONEST)
async def test_values_that_a_suite_evaluates_are_paid(name: str) -> None:
    """A right program is paid, and a wrong one is not."""
    candidate, suite, old, new = HONEST[name]
    assert (await scored(candidate, suite, kind="pytest")).score == 1.0
    assert (await scored(candidate.replace(old, new), suite, kind="pytest")).score == 0.0


@pytest.mark.parametrize("isolate", ["auto", "sandbox", True])
@pytest.mark.parametrize("name", FORGED)
async def test_no_program_of_a_candidate_runs_beside_the_suite(name: str, isolate: Any) -> None:
    """It would change there what judges."""
    candidate, suite = FORGED[name]
    assert (await scored(candidate, suite, kind="pytest", isolate=isolate)).score in (0.0, None)
