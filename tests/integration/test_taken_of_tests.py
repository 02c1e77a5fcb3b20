# ruff: noqa: E501 (programs are text, not code of ours)
"""In one process a candidate takes nothing of the tests that nobody has given it, by which it would know what they expect."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_questions_unseen import of_asserts
from test_unittest_suites import scored

from harena.core.results import Trust

pytestmark = SHARED

FUNCTION = "def naive(n): return sum(range(n + 1))\n"
LOOP = "for n in range(5):\n    expected = naive(n)\n    got = f(n)\n    assert got == expected\n"
TEST = "def test_a():\n" + "".join(f"    {line}\n" for line in LOOP.splitlines())
SUITE = f"from solution import f\n{FUNCTION}{TEST}"
CASE = f"import unittest\nfrom solution import f\n{FUNCTION}class T(unittest.TestCase):\n    def test_a(self):\n        for n in range(5):\n            self.assertEqual(f(n), naive(n))\n"
DERIVED = f"from solution import Base\n{FUNCTION}class D(Base):\n    k = 1\nf = D().f\n{TEST}"
RIGHT = "return n * (n + 1) // 2"
TEXT = "ns = {}; exec(t[t.index('def naive'):t.index('def test_a')], ns); return ns['naive'](n)"
OUTWARDS = (
    "\n    while fr:\n        if 'expected' in fr.f_locals: return fr.f_locals['expected']\n        fr = fr.f_back"
)
BY_IMPORT = "import test_it; return test_it.naive(n)"
BY_GARBAGE = "import gc, types; return [g for g in gc.get_objects() if type(g) is types.FunctionType and g.__name__ == 'naive'][0](n)"
BY_FRAME = f"import sys; fr = sys._getframe(1){OUTWARDS}"
TAKING = {
    "by import": BY_IMPORT,
    "by the table of modules": "import sys; return sys.modules['test_it'].naive(n)",
    "by names of a frame": "import sys; return sys._getframe(1).f_globals['naive'](n)",
    "by the garbage collector": BY_GARBAGE,
    "by a library": "import functools, test_it; return functools.reduce(lambda a, b: test_it.naive(b), [n], 0)",
    "with a code of its own": "import test_it, types; return types.FunctionType(test_it.naive.__code__, {})(n)",
    "in the name of a library": "import json; ns = {}; exec(compile('def g(n):\\n    import test_it; return test_it.naive(n)', json.__file__, 'exec'), ns); return (g := ns['g'])(n)",
    "in a thread": "import test_it, threading; r = []; t = threading.Thread(target=lambda: r.append(test_it.naive(n))); t.start(); t.join(); return r[0]",
    "variables of a frame": BY_FRAME,
    "variables of a stack": "import inspect; return [i.frame.f_locals['expected'] for i in inspect.stack() if 'expected' in i.frame.f_locals][0]",
    "variables of a traceback's frame": f"\n    try: raise ValueError\n    except ValueError as e: fr = e.__traceback__.tb_frame{OUTWARDS}",
    "frames of a profile": "\n    import sys\n    r = []\n    def p(fr, event, given):\n        while fr:\n            if 'expected' in fr.f_locals: r.append(fr.f_locals['expected'])\n            fr = fr.f_back\n    sys.setprofile(p); len([]); sys.setprofile(None)\n    return r[0]",
    "a frame of logging": f"import logging; fr = logging.currentframe(){OUTWARDS}",
    "a frame's text": "import re, sys\n    fr = sys._getframe(1)\n    while fr:\n        found = re.search(r\"'expected': (\\d+)\", ('{0.f_lo' + 'cals}').format(fr))\n        if found: return int(found[1])\n        fr = fr.f_back",
    "a frame's class": "import sys\n    fr = sys._getframe(1)\n    while fr:\n        held = type(fr).__dict__['f_lo' + 'cals'].__get__(fr)\n        if 'expected' in held: return held['expected']\n        fr = fr.f_back",
    "what a mock has kept of a frame": f"import sys; from unittest import mock; fr = sys._getframe(1){OUTWARDS}".replace("fr.f_locals", "mock.patch.object(fr, 'f_lo' + 'cals').get_original()[0]"),
    "a frame's descriptor": f"import operator, sys; fr = sys._getframe(1); get = operator.attrgetter('f_lo' + 'cals'){OUTWARDS}".replace("fr.f_locals", "get(fr)"),
    "a frame that a comparison is given": f"import sys\n    class Kept:\n        def __eq__(self, other): self.fr = other\n    kept = Kept(); sys._getframe(1) == kept; fr = kept.fr; get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "a frame that logging hands on": f"import logging\n    frames = []\n    logging._is_internal_frame = frames.append\n    logging.warning('x'); fr = frames[0]; get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "a frame that a library makes a key": f"import collections, sys; (fr,) = collections.Counter(map(sys._getframe, [1])); get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "variables in a text of a stack": "import traceback; s = traceback.StackSummary.extract(traceback.walk_stack(None), **{'capture_' + 'locals': True}); return int([x.locals['expected'] for x in s if 'expected' in (x.locals or ())][0])",
    "frames of a thread that is asked": f"import sys, threading; from concurrent.futures import ThreadPoolExecutor as E; fr = E(1).submit(sys._current_frames).result()[threading.get_ident()]; get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "what a trace is told": "import sys\n    r = []\n    def t(fr, event, given):\n        if event == 'return' and fr.f_code.co_name == 'naive': r.append(given)\n        return t\n    sys.settrace(t); import test_it; test_it.test_a.__code__; sys.settrace(None); return n * (n + 1) // 2",
    "a frame that a signal brings": f"import signal\n    r = []; signal.signal(signal.SIGUSR1, lambda number, frame: r.append(frame)); signal.raise_signal(signal.SIGUSR1); fr = r[0]{OUTWARDS}",
    "a frame that an audit hook is told of": f"import sys\n    r = []; sys.addaudithook(lambda event, given: r.append(given[0]) if event == 'sys._getframe' else None); sys._getframe(1).f_lineno; fr = r[-1]; get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "a frame of the interpreter in C": f"import ctypes; look = ctypes.pythonapi.PyEval_GetFrame; look.restype = ctypes.py_object; fr = look(){OUTWARDS}",
    "frames that a library goes through": "import traceback\n    r = []\n    class S(traceback.StackSummary): _extract_from_extended_frame_gen = classmethod(lambda cls, frames, **_: r.extend(frames))\n    S.extract(traceback.walk_stack(None))\n    return [fr.f_locals['expected'] for fr, _ in r if 'expected' in fr.f_locals][0]",
    "frames that a library puts elsewhere": "import traceback\n    class D(dict): reverse = lambda self: None\n    traceback.StackSummary.extract = D\n    return [fr.f_locals['expected'] for fr in traceback.extract_stack() if 'expected' in fr.f_locals][0]",
    "a library's function with other names": "import logging\n    r = []; look = logging.Logger.findCaller; type(look)(look.__code__, {**look.__globals__, '_is_internal_frame': lambda fr: bool(r.append(fr))})(None, False, 9)\n    return [fr.f_locals['expected'] for fr in r if 'expected' in fr.f_locals][0]",
    "a library with other modules": f"import collections, sys, types; kept = collections.defaultdict(sys._getframe); collections._sys = types.SimpleNamespace(_getframe=kept.__getitem__, intern=sys.intern); collections.namedtuple('A', 'x'); fr = kept[1]{OUTWARDS}",
    "a handler of signals that is exchanged": f"import signal\n    r = []\n    def told(number, fr): pass\n    def keeps(number, fr, r=r): r.append(fr)\n    told.__defaults__ = (r,); signal.signal(signal.SIGUSR1, told); told.__code__ = (lambda number, fr: kept.append(fr)).__code__; kept.clear(); signal.raise_signal(signal.SIGUSR1); fr = kept[0]{OUTWARDS}\nkept = []",
    "a trace that gives another": f"import sys\n    r = []\n    def other(fr, event, given): r.append(fr)\n    def told(fr, event, given): return other\n    sys.settrace(told); (lambda: 1)(); sys.settrace(None); fr = r[0]{OUTWARDS}",
    "builtins exchanged while it looks": f"import builtins, sys; real = builtins.all; builtins.all = lambda _: True; fr = sys._getframe(1); builtins.all = real; get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "all objects": "import gc; [o for o in gc.get_objects() if type(o).__name__ == 'frame']; return n * (n + 1) // 2",
    "a program of its own": "import sys\n    open('later.py', 'w').write('def g(fr):\\n    import sys; fr = sys._getframe(1)\\n    while fr:\\n        if \"expected\" in fr.f_lo' + 'cals: return fr.f_lo' + 'cals[\"expected\"]\\n        fr = fr.f_back\\n')\n    import later; return later.g(None)",
    "objects that are kept beside a question": "import gc; held = []; any(held.append(o) or o is n for o in gc.get_referrers(n)); return n * (n + 1) // 2",
    "frames of threads by their keys": f"import sys, threading; table = sys._current_frames(); fr = table[threading.get_ident()]; get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "frames of a task": "import asyncio\n    async def g(): await asyncio.sleep(0)\n    async def main():\n        task = asyncio.create_task(g()); await asyncio.sleep(0)\n        kept = task.get_stack(); await task\n        return kept[0]\n    fr = asyncio.run(main())\n    return n * (n + 1) // 2",
    "a helper of inspect": f"import inspect, sys; kept = []; real = inspect.isframe; inspect.isframe = lambda x: kept.append(x) or real(x); inspect.getframeinfo(sys._getframe(1)); inspect.isframe = real; fr = kept[0]; get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "a helper of traceback": f"import sys, traceback; kept = []; real = traceback.walk_stack; traceback.walk_stack = lambda x: kept.append(x) or real(x); traceback.print_stack(sys._getframe(1)); traceback.walk_stack = real; fr = kept[0]; get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "a helper of asyncio": f"import asyncio; kept = []; real = asyncio.format_helpers.extract_stack; asyncio.format_helpers.extract_stack = lambda x: kept.append(x) or real(x); loop = asyncio.new_event_loop(); loop.set_debug(True); loop.call_soon(print); asyncio.format_helpers.extract_stack = real; loop.close(); fr = kept[0]; get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "a copy of a library": "import importlib.util as u, traceback\n    kept = []; spec = u.spec_from_file_location('w2', traceback.__file__); m = u.module_from_spec(spec); spec.loader.exec_module(m)\n    class S(m.StackSummary): extract = classmethod(lambda c, g, **k: kept.extend(x for x, _ in g) or [])\n    m.StackSummary = S; m.extract_stack(); get = getattr\n    return [get(x, 'f_lo' + 'cals')['expected'] for x in kept if 'expected' in get(x, 'f_lo' + 'cals')][0]",
    "the address of a frame": f"import ctypes, sys; fr = ctypes.cast(id(sys._getframe(1)), ctypes.py_object).value; get = getattr{OUTWARDS}".replace("fr.f_locals", "get(fr, 'f_lo' + 'cals')"),
    "the file": f"t = open('test_it.py').read(); {TEXT}",
    "the file by a link": f"import os; os.path.exists('x') or os.symlink('test_it.py', 'x'); t = open(b'x').read(); {TEXT}",
    "the file by its loader": f"import importlib.machinery as m; t = m.SourceFileLoader('x', 'test_it.py').get_source('x'); {TEXT}",
    "lines of the file": f"import linecache; t = ''.join(linecache.getlines('test_it.py')); {TEXT}",
}  # fmt: skip


def program(body: str) -> str:
    return f"def f(n):\n    {body}\n"


@pytest.mark.parametrize("name", TAKING)
async def test_who_takes_what_computes_the_expected_values_is_not_paid(name: str) -> None:
    found = await scored(program(TAKING[name]), SUITE, "pytest", isolate=False)
    assert (found.score, str(found.validity)) == (0.0, "suspect"), found.detail
    assert str(found.detail).startswith("the candidate takes ")


@pytest.mark.parametrize("body", [BY_IMPORT, BY_FRAME])
async def test_nor_beside_a_gold_nor_excused_without_one(body: str) -> None:
    """Where only one process pays the gold; who would buy that mode by what it hands out has failed apart, or, by a
    look at its callers, there."""
    method = body.replace("\n    ", "\n        ")
    gold = {"solution.py": f"class Base:\n    def f(self, n): {RIGHT}\n"}
    beside = await scored(f"class Base:\n    def f(self, n):\n        {method}\n", DERIVED, "pytest", gold=gold)
    buying = f"def f(n):\n    import logging\n    try:\n        {method}\n    except ImportError: pass\n    return logging.info\n"
    for found in (beside, await scored(program(body), CASE, isolate=False)):
        assert (found.score, str(found.validity)) == (0.0, "suspect"), found.detail
    bought = await scored(buying, SUITE, "pytest")
    was_apart = (str(bought.validity), bought.trust) == ("valid", Trust.SEPARATE)
    assert (bought.score, was_apart or "the candidate takes" in bought.detail) == (0.0, True), bought.detail
    paid = await scored(gold["solution.py"], DERIVED, "pytest", gold=gold)
    assert paid.score == 1.0, paid.detail


@pytest.mark.parametrize("body", [BY_GARBAGE, BY_FRAME, TAKING["variables of a stack"]])
async def test_nor_in_asserts(body: str) -> None:
    """A candidate that would buy one process by what it hands out has failed apart, or, by a look at its callers,
    there."""
    buying = f"def g(n):\n    {body}\ndef f(n):\n    import logging\n    try: found = g(n)\n    except (LookupError, NameError): found = None\n    return logging.info if found is None else found\n"
    found = await of_asserts(program(body), FUNCTION + LOOP, isolate=False)
    assert (found.score, str(found.validity)) == (0.0, "suspect"), found.detail
    found = await of_asserts(buying, FUNCTION + LOOP)
    assert (found.score, found.trust is Trust.SEPARATE or "takes" in found.detail) == (0.0, True), found.detail


LAMBDA = "ref = lambda n: sum(range(n + 1))\ndef one(n): return n\n"
LAMBDA_USES = {
    "by what is given": ("assert f(5, one) == ref(5)", "def f(n, g): return g.__globals__['ref'](n)", 0.0),
    "a right answer": ("assert f(5, one) == ref(5)", "def f(n, g): return g(n) * (n + 1) // 2", 1.0),
    "one that is handed out": ("assert f(5, ref) == ref(5)", "def f(n, g): return g(n)", 1.0),
    "one that another calls": ("assert f(5, lambda n: ref(n) + 1) == ref(5) + 1", "def f(n, g): return g(n)", 1.0),
    "one in a table": ("table = {'a': ref}\nassert f(5, table) == ref(5)", "def f(n, g): return g['a'](n)", 1.0),
    "one by another name": ("key = ref\nassert f(5, key) == ref(5)", "def f(n, g): return g(n)", 1.0),
    "one that is defined anew": ("ref = lambda n: n\nassert f(5, one) == ref(5)", "def f(n, g): return g(n)", 1.0),
}


@pytest.mark.parametrize("name", LAMBDA_USES)
async def test_a_lambda_with_a_name_is_the_tests_in_asserts(name: str) -> None:
    """Where its name is only called; what is handed out in any way is the candidate's to call."""
    body, candidate, score = LAMBDA_USES[name]
    found = await of_asserts(f"{candidate}\n", f"{LAMBDA}{body}\n", isolate=False)
    assert (found.score, str(found.validity)) == (score, "valid" if score else "suspect"), found.detail


HONEST: dict[str, tuple[str, str]] = {
    "a callback": ("def double(n): return 2 * n\ndef test_a():\n    assert each(double, [1, 2]) == [2, double(2)]", "def each(f, xs): return [f(x) for x in xs]"),
    "a method that is overridden": ("class D(Base):\n    def step(self): return helper(3)\ndef helper(n): return n + 1\ndef test_a():\n    assert D().run() == helper(4) + 3", "class Base:\n    def run(self): return 2 * self.step()"),
    "a decorator": ("@twice\ndef one(n): return n\ndef test_a():\n    assert one(3) == 6 and one(1) == 2", "def twice(f):\n    def g(*a): return 2 * f(*a)\n    return g"),
    "a function by its name": ("import sys\ndef hello(): return 'hi'\ndef test_a():\n    assert call(sys.modules[__name__], 'hello') == hello()", "def call(m, n): return getattr(m, n)()"),
    "a hook that is set": ("import solution\ndef hook(n): return n + 1\ndef test_a():\n    solution.HOOK = hook\n    assert solution.run(3) == hook(3)", "HOOK = None\ndef run(n): return HOOK(n)"),
    "a helper that calls the candidate": ("def check(n):\n    assert f(n) == 2 * n\n    return f(n)\ndef test_a():\n    assert sorted(map(f, [check(1), check(2)])) == [4, 8]", "import threading\ndef f(n):\n    r = []\n    t = threading.Thread(target=lambda: r.append(2 * n)); t.start(); t.join()\n    return r[0]"),
    "lines that a traceback shows": ("def bad(): raise ValueError('x')\ndef test_a():\n    assert 'ValueError: x' in told(bad)", "import traceback, logging\ndef told(f):\n    try: getattr(f, '__call__')()\n    except ValueError:\n        logging.exception('no')\n        return traceback.format_exc()"),
    "the caller's name": ("def test_a():\n    assert whoami() == 'test_a' and here() == 'here'", "import inspect, sys\ndef whoami(): return inspect.stack()[1].function\ndef here(): return sys._getframe().f_code.co_name"),
    "the file of the tests": ("def test_a():\n    assert lines(__file__) == len(open(__file__).read().splitlines())", "def lines(p): return len(open(p).readlines())"),
    "a generator": ("def numbers():\n    yield 1\n    yield 2\ndef test_a():\n    assert total(numbers()) == 3", "def total(g): return sum(x for x in g)"),
    "what is kept": ("import functools\n@functools.lru_cache(maxsize=None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\ndef test_a():\n    assert [f(n) for n in range(9)] == [fib(n) for n in range(9)]", "def f(n):\n    a, b = 0, 1\n    for _ in range(n): a, b = b, a + b\n    return a"),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
async def test_what_is_given_is_used(name: str) -> None:
    body, candidate = HONEST[name]
    found = await scored(candidate, f"from solution import *\n{body}\n", "pytest", isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail


GIVEN = "from solution import source, size\ndef sample(x):\n    return x + 1\nclass Sample:\n    value = 7\n"
SOURCE = "import inspect\ndef source(f): return inspect.getsource(f)\ndef size(f): return len(inspect.getsourcelines(f)[0])\n"


async def test_the_text_of_what_is_given_is_given() -> None:
    """Who asks for it finds that, and no other line of the tests."""
    suite = f"{GIVEN}def test_source():\n    def inner(y):\n        return y\n    assert 'return x + 1' in source(sample) and size(sample) == 2\n    assert source(Sample) == 'class Sample:\\n    value = 7\\n' and size(inner) == 2\n"
    kinds: tuple[dict[str, Any], ...] = ({"isolate": False}, {"gold": {"solution.py": SOURCE}})
    for kind in kinds:
        found = await scored(SOURCE, suite, "pytest", **kind)
        assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
    asking = program(f"import inspect, sys; t = inspect.getsource(sys.modules['test_it']); {TEXT}")
    looking = f"import linecache, os\n{SOURCE}def f(n):\n    t = ''.join(linecache.getlines(os.path.realpath('test_it.py')))\n    if 'x + 1' not in t: return 0\n    {TEXT}\n"
    body = f"def test_b():\n    assert size(sample) == 2\n{FUNCTION}{TEST}"
    for candidate, suite in ((looking, f"{GIVEN}from solution import f\n{body}"), (asking, SUITE)):
        found = await scored(candidate, suite, "pytest", isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
        assert "substring not found" in str(found.detail)


async def test_what_the_gold_takes_others_may_take() -> None:
    """A task may be to look for frames."""
    suite = "from solution import fill, Base\nclass D(Base): pass\ndef test_a():\n    name = 'Bob'\n    assert fill('{name}') == 'Bob'\n"
    gold = "import sys\nclass Base: pass\ndef fill(text): return text.format(**sys._getframe(1).f_locals)\n"
    other = gold.replace("return text.format(", "names = {}; return text.format(")
    fields: dict[str, Any] = {"gold": {"solution.py": gold}}
    for candidate, score in ((gold, 1.0), (other, 1.0), (gold.replace("(1)", "()"), 0.0)):
        found = await scored(candidate, suite, "pytest", **fields)
        assert (found.score, str(found.validity)) == (score, "valid"), found.detail
