# ruff: noqa: E501 (programs are text, not code of ours)
"""Whose a function is that tests and a candidate in their process have: a program has not become a library's by the name
of its file, and nothing is given to a candidate by handing back what came from it."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

CODES = "def encode(s): return s[::-1]\ndef decode(s): return s[::-1]\n"
FIND = "next(m for n, m in list(sys.modules.items()) if n.split('.')[-1] == 'test_it')"
SOLVES = f"import sys\ndef solve(n): return {FIND}.ref(n)\n"
WRITES = f"import os, sys, tempfile\nat = tempfile.mkdtemp()\nopen(at + '/other.py', 'w').write({SOLVES!r})\n"
MADE = f"import heapq, marshal, sys, types\ndef _s(n): return {FIND}.ref(n)\n"
SUITE = """
from solution import decode, encode, solve
def ref(n): return n * n + 7
CHECKS = [ref]
def test_codec():
    assert decode(encode("abc")) == "abc"
def test_solve():
    for n in range(3, 9):
        for check in CHECKS:
            assert solve(n) == check(n)
"""
PROGRAMS = {
    "of a folder elsewhere": WRITES + "sys.path.insert(0, at)\nfrom other import solve\n",
    "by a path": WRITES + "import runpy\nsolve = runpy.run_path(at + '/other.py')['solve']\n",
    "in an archive": WRITES + "import zipfile\nwith zipfile.ZipFile(at + '/z.zip', 'w') as z: z.write(at + '/other.py', 'other.py')\nsys.path.insert(0, at + '/z.zip')\nfrom other import solve\n",
    "compiled": WRITES + "import py_compile, os\npy_compile.compile(at + '/other.py', at + '/one.pyc', dfile=os.__file__)\nsys.path.insert(0, at)\nfrom one import solve\n",
    "by bytes": MADE + "b = marshal.dumps(_s.__code__.replace(co_filename='/' * len(heapq.__file__)))\nsolve = types.FunctionType(marshal.loads(b.replace(b'/' * len(heapq.__file__), heapq.__file__.encode())), globals())\n",
    "by a thread": MADE + "from concurrent.futures import ThreadPoolExecutor as E\nwith E(1) as e: c = e.submit(_s.__code__.replace, co_filename=heapq.__file__).result()\nsolve = types.FunctionType(c, globals())\n",
    "by a loader": WRITES + "import importlib.util as u, importlib.machinery as m, heapq\nclass L(m.SourceFileLoader):\n    def get_code(self, name): return compile(open(at + '/other.py').read(), heapq.__file__, 'exec')\ns = u.spec_from_file_location('o', heapq.__file__, loader=L('o', heapq.__file__))\nsolve = u.module_from_spec(s)\ns.loader.exec_module(solve)\nsolve = solve.solve\n",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_program_is_the_candidates_wherever_it_is_and_whatever_it_is_called(name: str) -> None:
    found = await scored(CODES + PROGRAMS[name], SUITE, "pytest", isolate=False)
    assert (found.score, str(found.validity)) == (0.0, "suspect"), found.detail


BACK = {
    "a name": "def encode(s): return 'test_it ' + s\ndef decode(s): return s[8:]\n",
    "a name in a list": "def encode(s): return ['test_it', s]\ndef decode(s): return s[1]\n",
    "a table": f"def encode(s): return {{'v': s, 'f': {FIND}.ref}}\ndef decode(d): return d['v']\n",
    "a set": f"def encode(s): return {{(s, {FIND}.ref)}}\ndef decode(d): return next(iter(d))[0]\n",
    "an object": f"import types\ndef encode(s): return types.SimpleNamespace(v=s, f=[{FIND}.ref])\ndef decode(d): return d.v\n",
    "a module": f"import types\ndef encode(s): return types.SimpleNamespace(v=s, m={FIND})\ndef decode(d): return d.v\n",
    "many": f"import types\ndef encode(s): return [*(types.SimpleNamespace(v=s) for _ in range(9000)), types.SimpleNamespace(f={FIND}.ref)]\ndef decode(d): return d[0].v\n",
}  # fmt: skip


@pytest.mark.parametrize("name", BACK)
async def test_what_came_from_a_candidate_is_not_given_by_handing_it_back(name: str) -> None:
    found = await scored(SOLVES + BACK[name], SUITE, "pytest", isolate=False)
    assert (found.score, str(found.validity)) == (0.0, "suspect"), found.detail


ERROR = "class Bad(Exception):\n    def __init__(self, code): self.args = (code,); self.n = code\n    def __str__(self): return f'bad {self.n}'\n    def code(self): return self.n\ndef fail(n): raise Bad(n)\n"
HONEST = {
    "an error of a helper": (ERROR + "def fetch(n):\n    if n: fail(n)\n    return 0\ndef test_a():\n    assert f(fetch) == [0, 'bad 5', 5]", "def f(g):\n    found = [g(0)]\n    try: g(5)\n    except Exception as e: found += [f'{e}', e.code()]\n    return found"),
    "an error in a thread": (ERROR + "def fetch(n): fail(n)\ndef test_a():\n    assert f(fetch) == 'bad 5'", "from concurrent.futures import ThreadPoolExecutor as E\ndef f(g):\n    with E(1) as e: return str(e.submit(g, 5).exception())"),
    "the cause of an error": (ERROR + "def fetch(n):\n    try: fail(n)\n    except Bad as e: raise ValueError('v') from e\ndef test_a():\n    assert f(fetch) == 'bad 5'", "def f(g):\n    try: g(5)\n    except ValueError as e: return str(e.__cause__)"),
    "an error of an error": (ERROR + "def fetch(n):\n    try: fail(n)\n    except Bad as e:\n        e.n = 6\n        raise\ndef test_a():\n    assert f(fetch) == 6", "def f(g):\n    try: g(5)\n    except Exception as e: return e.code()"),
    "a callback beside many objects": ("class Node:\n    def __init__(self, v, nxt): self.v, self.nxt = v, nxt\nclass Linked:\n    def __init__(self, key): self.key, self.head = key, None\n    def push(self, v): self.head = Node(v, self.head)\ndef test_a():\n    xs = Linked(key=lambda v: v % 100)\n    for n in range(6000): xs.push(n)\n    assert f(xs, 99) == 5999", "def f(xs, v):\n    n = xs.head\n    while xs.key(n.v) != v: n = n.nxt\n    return n.v"),
    "many callbacks": ("def test_a():\n    steps = [eval(f'lambda n: n + {i}') for i in range(700)]\n    def last(n): return n + 1\n    steps.insert(400, last)\n    assert f(steps) == sum(range(700)) + 1", "def f(steps):\n    n = 0\n    for step in steps: n = step(n)\n    return n"),
    "a module that it writes": ("def test_a(tmp_path):\n    (tmp_path / 'plug.py').write_text('import collections\\nP = collections.namedtuple(\"P\", \"x\")\\ndef run(g): return g(P(1).x)')\n    assert f(tmp_path, lambda n: n + 1) == 2", "import importlib.util as u\ndef f(at, g):\n    s = u.spec_from_file_location('plug', at / 'plug.py')\n    m = u.module_from_spec(s)\n    s.loader.exec_module(m)\n    return m.run(g)"),
    "modules of the library": ("def test_a():\n    assert f(lambda n: n + 1) == [2, 2, 'a']", "def f(g):\n    import bisect, colorsys, heapq, marshal, statistics, types, runpy, xml.dom.minidom\n    assert marshal.loads(marshal.dumps([1])) == [1]\n    @types.coroutine\n    def c(): yield 1\n    return [g(1), *map(g, [1]), heapq.nsmallest(1, ['b', 'a'], key=str)[0]]"),
    "a logger": ("import logging\nclass H(logging.Handler):\n    seen = []\n    def emit(self, r): self.seen.append(self.told(r))\n    def told(self, r): return r.getMessage()\ndef test_a():\n    log = get('x'); log.addHandler(H()); log.warning('a'); use(log, lambda n: n)\n    assert H.seen == ['a', '3']", "import logging\ndef get(n): return logging.getLogger(n)\ndef use(log, g): log.warning('%s', g(3))"),
    "what it was given and gives back": ("class K:\n    def x(self): return 1\ndef test_a():\n    d = put({}, 'a', K())\n    assert get(d, 'a') == 1 and get(put(d, 'b', K()), 'b') == 1 and name(K()) and find(f'{name(K())}') == 'K'", "def put(d, k, v): return {**d, k: v}\ndef get(d, k): return d[k].x()\ndef name(o): return f'{type(o).__module__}.{type(o).__name__}'\ndef find(n): return n.rpartition('.')[2]"),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
async def test_what_was_given_is_used_however_it_came(name: str) -> None:
    body, candidate = HONEST[name]
    found = await scored(candidate, f"from solution import *\n{body}\n", "pytest", isolate=False)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
