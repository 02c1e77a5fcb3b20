# ruff: noqa: E501 (programs are text, not code of ours)
"""Functions of Python's that a suite hands to its candidate are Python's own, and are judged where the suite calls them."""

from __future__ import annotations

import asyncio

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

PROGRAM = """\
import builtins, functools, inspect, operator, pickle
OPS = {"+": operator.add, "-": operator.sub, "<": operator.lt}
SIGNS = {operator.add: "+", operator.lt: "<", map: "m", isinstance: "i"}
def curry(f):
    n = len(inspect.signature(f).parameters)
    def c(*a): return f(*a) if len(a) >= n else lambda *b: c(*a, *b)
    return c
def name(f): return f.__name__
def sign(f): return SIGNS[f]
def is_own(f): return f is getattr(builtins, f.__name__, None) or f is getattr(operator, f.__name__, None)
def looks(f): return (f.__module__, f.__qualname__, type(f).__name__, repr(f))
def copies(f): return pickle.loads(pickle.dumps(f)) is f
def logged(f):
    @functools.wraps(f)
    def w(*a):
        print(f.__name__, *a)
        return f(*a)
    return w
def call(f, *a): return f(*a)
"""
SUITE = """\
import functools, operator
from operator import add, lt
import pytest
from solution import OPS, call, copies, curry, is_own, logged, looks, name, sign
HERE = {"+": operator.add, "-": operator.sub, "<": lt}
def test_a(capsys):
    assert curry(operator.add)(1)(2) == 3 and curry(lt)(1)(2) is True
    assert OPS == HERE and OPS["+"] is operator.add and OPS["<"] is HERE["<"] and OPS["<"] is lt
    assert logged(operator.add)(1, 2) == 3
    assert capsys.readouterr().out == "add 1 2\\n"
@pytest.mark.parametrize("f", [add, operator.sub, operator.truediv, operator.mod, operator.eq, lt, operator.ge, map, filter, iter, isinstance, issubclass, len])
def test_b(f):
    assert name(f) in ("add", "sub", "truediv", "mod", "eq", "lt", "ge", "map", "filter", "iter", "isinstance", "issubclass", "len")
    assert is_own(f) and copies(f) and looks(f)[0] in ("_operator", "builtins") and looks(f)[1] == name(f)
    assert looks(f)[3].startswith("<") and name(f) in looks(f)[3]
def test_c():
    assert sign(operator.add) == "+" and sign(lt) == "<" and sign(map) == "m" and sign(isinstance) == "i"
    assert call(isinstance, 1, int) and list(call(map, abs, [-1])) == [1] and call(operator.lt, 1, 2)
def test_d():
    mapped = map(abs, [-1])
    assert isinstance(mapped, map) and isinstance(mapped, (filter, map)) and not isinstance([], (list, map)) is False
    assert functools.reduce(HERE["+"], [1, 2, 3]) == 6 and functools.partial(operator.sub, 3)(1) == 2
    with pytest.raises(TypeError):
        HERE["+"](1)
"""


@pytest.mark.parametrize("isolate", ["auto", False])
async def test_a_function_of_pythons_is_itself_to_the_candidate(isolate: str | bool) -> None:
    """A right program that looks at what it is given had the lowest score: the function was another object."""
    result = await scored({"files": {"solution.py": PROGRAM}}, SUITE, "pytest", isolate=isolate)
    assert result.score == 1.0, result.detail


LIES = "class E:\n    def __eq__(s, o): return True\n    __hash__ = None\n    __lt__ = __gt__ = __eq__\ndef f(x): return E()\n"
STOPS = "def f(x): raise StopIteration\n"
RIGHT = "def f(x): return x * x\n"
CALLED = {
    "a named tuple": ("c = collections.namedtuple('Case', 'op want')(operator.eq, 4)\n    assert c.op(f(2), c.want)", LIES),
    "an object": ("c = types.SimpleNamespace(op=operator.eq)\n    assert c.op(f(2), 4)", LIES),
    "an attribute that is set": ("class T: pass\n    setattr(T, 'op', operator.eq)\n    assert T.op(f(2), 4)", LIES),
    "a name that is set": ("globals()['same'] = operator.eq\n    assert same(f(2), 4)", LIES),
    "a name": ("same = operator.eq\n    assert same(f(2), 4)", LIES),
    "a name of an assertion's": ("check = operator.eq\n    assert check(f(2), 4)", LIES),
    "a table": ("ops = {'==': operator.eq}\n    assert ops['=='](f(2), 4)", LIES),
    "a parameter": ("def holds(op, *sides): return op(*sides)\n    assert holds(operator.eq, f(2), 4)", LIES),
    "an attribute": ("class T: op = operator.lt\n    assert T.op(f(2), 5) and not T.op(f(3), 5)", LIES),
    "a part": ("same = functools.partial(operator.eq, 4)\n    assert same(f(2))", LIES),
    "a choice": ("assert (operator.eq if f else operator.ne)(f(2), 4)", LIES),
    "a star": ("assert all(map(*[operator.eq, [f(2)], [4]]))", LIES),
    "a loop of its own": ("assert all(functools.reduce(lambda a, op: a + [op(f(2), 4)], [operator.eq], []))", LIES),
    "another file": ("import helper\n    assert helper.holds(operator.eq, f(2), 4)", LIES),
    "a name of another file": ("from helper import EQ\n    assert EQ(f(2), 4)", LIES),
    "an attribute of another file": ("import helper\n    assert helper.EQ(f(2), 4)", LIES),
    "map by a name": ("each = map\n    assert all(each(lambda x: f(x) == x * x, [1, 2]))", STOPS),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
async def test_what_the_suite_calls_is_judged_by_whatever_name(name: str) -> None:
    """Beside the suite an object that calls itself equal to everything is not paid for it, and an end of the
    candidate's ends no loop; what has the value is paid."""
    body, forgery = CALLED[name]
    suite = f"import collections, functools, operator, types\nfrom solution import f\ndef test_a():\n    {body}\n"
    files = {
        "test_it.py": suite,
        "helper.py": "import operator\nEQ = operator.eq\ndef holds(op, *sides): return op(*sides)\n",
    }

    async def one(program: str) -> tuple[float | None, str]:
        found = await scored({"files": {"solution.py": program}}, suite, "pytest", isolate=False, files=files)
        return found.score, str(found.validity)

    assert await asyncio.gather(one(forgery), one(RIGHT)) == [(0.0, "valid"), (1.0, "valid")]
