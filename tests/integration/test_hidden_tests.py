# ruff: noqa: E501 (programs are text, not code of ours)
"""The text of tests that share their process with a candidate is out of its reach, and tests that read themselves find it."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED

SUITE = "from solution import f\ndef test_a():\n    w = [ord(c) for c in 'q7z']\n    assert f(5) == sum(w) + 1\n"
CASE = "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self):\n        w = [ord(c) for c in 'q7z']\n        self.assertEqual(f(5), sum(w) + 1)\n"
READING = {
    "by a folder": "d = os.open(os.getcwd(), 0); os.chdir('/'); n = os.open('test_it.py', 0, dir_fd=d); s = os.read(n, 9999).decode()",
    "by another name": "os.path.exists('zz') or os.link('test_it.py', 'zz'); s = open('zz').read()",
    "as it is moved": "os.rename('test_it.py', 'zz'); s = open('zz').read(); os.rename('zz', 'test_it.py')",
    "by a library in C": "import readline; readline.read_history_file('test_it.py'); s = '\\n'.join(readline.get_history_item(i + 1) or '' for i in range(9))",
    "by the machine's": "import ctypes; s = os.read(ctypes.CDLL(None).open(b'test_it.py', 0), 9999).decode()",
    "by a program": "import subprocess; s = subprocess.run(['cat', 'test_it.py'], capture_output=True, text=True).stdout",
    "in lines that were shown": "import linecache; linecache.updatecache('test_it.py'); linecache.updatecache(os.path.realpath('test_it.py')); s = str(linecache.cache)",
    "where a library keeps it": "import linecache; s = str([c.cell_contents for c in linecache.updatecache.__closure__ or ()] + list(map(str, linecache.updatecache.__globals__)))",
    "where pytest compiles it": "import _pytest.assertion.rewrite as r, pathlib; s = str([c.cell_contents for c in r._rewrite_test.__closure__ or ()]); s += str(r._rewrite_test(pathlib.Path('test_it.py').resolve(), None)) if 0 else ''",
}


def reading(way: str) -> str:
    return f"import os, re\ndef f(n):\n    {way}\n    return sum(map(ord, re.search(r\"in '(\\w+)'\", s)[1])) + 1\n"


@pytest.mark.parametrize("way", READING)
async def test_no_way_to_read_a_test_file_tells_anything(way: str) -> None:
    found = await scored(reading(READING[way]), SUITE, "pytest", isolate=False)
    assert found.score == 0.0, found.detail


async def test_nor_that_of_unittest_nor_the_memory() -> None:
    found = await scored(reading(READING["by a program"]), CASE, isolate=False)
    assert found.score == 0.0, found.detail
    memory = "s = ''\n    for l in open('/proc/self/maps'):\n        a, b = [int(x, 16) for x in l.split()[0].split('-')]\n        if 'rw' not in l.split()[1]: continue\n        with open('/proc/self/mem', 'rb', 0) as m:\n            m.seek(a); q = re.search(rb\"for c in '(\\w+)'\", m.read(b - a))\n        if q: s = q[0].decode()"
    code = "s = \"in '\" + [c for c in __import__('sys').modules['test_it'].test_a.__code__.co_consts if type(c) is str][0] + \"'\""
    sealed = "import linecache; s = str(linecache.updatecache.__code__.co_consts)"
    for way in (memory, code, sealed):
        found = await scored(reading(way), SUITE, "pytest", isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "suspect"), found.detail


FINDING: dict[str, tuple[str, dict[str, str]]] = {
    "their own source": (
        "import inspect\ndef one():\n    return 'q7z'\ndef test_a():\n    assert \"return 'q7z'\" in inspect.getsource(one) and f(1) == 2",
        {},
    ),
    "lines of an error": (
        "import traceback\ndef bad(): raise ValueError('q7z')\ndef test_a():\n    try: bad()\n    except ValueError: t = traceback.format_exc()\n    assert \"raise ValueError('q7z')\" in t and f(1) == 2",
        {},
    ),
    "their file": (
        "def test_a():\n    assert 'q' + '7z' not in open('solution.py').read() and 'def test_a' in open(__file__).read() and f(1) == 2",
        {},
    ),
    "data beside them": (
        "import json, os\nfrom pathlib import Path\nHERE = os.path.dirname(os.path.abspath(__file__))\ndef test_a():\n    assert json.loads((Path(__file__).parent / 'd.json').read_text()) == [f(0)]\n    assert json.load(open(os.path.join(HERE, 'd.json'))) == [f(0)]",
        {"d.json": "[1]"},
    ),
    "a helper and a fixture": (
        "from helper import up\ndef test_a(one):\n    assert f(one) == up(one)",
        {
            "helper.py": "def up(n): return n + 1\n",
            "conftest.py": "import pytest\n@pytest.fixture\ndef one(): return 1\n",
        },
    ),
    "their size and lines": (
        "import os\ndef test_a():\n    assert f(1) == 2 and os.path.getsize('solution.py') > 0",
        {},
    ),
    "themselves once more": (
        "import importlib, sys\nN = [1]\ndef test_a():\n    m = importlib.reload(sys.modules[__name__])\n    assert m.N == [1] and f(1) == 2",
        {},
    ),
    "examples in their texts": (
        'import doctest, sys\ndef up(n):\n    """\n    >>> up(1)\n    2\n    """\n    return f(n)\ndef test_a():\n    assert doctest.testmod(sys.modules[__name__]) == (0, 1)',
        {},
    ),
}

ONLY = {"a helper and a fixture": "pytest", "examples in their texts": "unittest"}


@pytest.mark.parametrize(
    ("name", "runner"),
    [(name, kind) for name in FINDING for kind in ("pytest", "unittest") if ONLY.get(name, kind) == kind],
)
async def test_tests_that_read_themselves_find_it(name: str, runner: str) -> None:
    body, files = FINDING[name]
    suite = f"from solution import f\n{body}\n"
    if runner == "unittest":
        suite += "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): test_a()\n"
    fields: dict[str, Any] = {"isolate": False, "files": {"test_it.py": suite, **files}}
    found = await scored("def f(n): return n + 1\n", suite, runner, **fields)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
