# ruff: noqa: E501 (programs are text, not code of ours)
"""What a stated skip asks for, and what the suite itself puts there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest

from harena.scoring.scorers import skip_conditions
from harena.scoring.scorers.defined_tests import dependence
from harena.scoring.scorers.skip_conditions import SkipCondition

HEAD = "import os, sys, shutil, pytest, unittest\nfrom unittest import mock\nimport solution\nfrom solution import D, one, mode, each\n"
SKIP = "if os.environ.get('NET') == 'off': pytest.skip('no')\n"
SET_UP = "class T(unittest.TestCase):\n    def setUp(self):\n        %s\n    def test_b(self):\n        " + SKIP
TEST = "def test_b(monkeypatch):\n    "
OWN: dict[str, tuple[str, list[Any]]] = {
    "nothing": (TEST + SKIP, []),
    "another variable": ("os.environ['APP'] = 'test'\n" + TEST + SKIP, []),
    "in the module": ("os.environ['NET'] = 'off'\n" + TEST + SKIP, ["off"]),
    "by a name": ("MODE = 'off'\nos.environ['NET'] = MODE\n" + TEST + SKIP, ["off"]),
    "one of two": ("os.environ['NET'] = 'off' if sys.platform == 'linux' else 'on'\n" + TEST + SKIP, ["off", "on"]),
    "by default": ("os.environ.setdefault('NET', '')\n" + TEST + SKIP, [""]),
    "several": ("os.environ.update({'NET': 'off', 'B': 'c'}, A='b')\n" + TEST + SKIP, ["off"]),
    "by keywords": ("os.environ.update(NET='off')\n" + TEST + SKIP, ["off"]),
    "taken away": ("os.environ.pop('NET', None)\n" + TEST + SKIP, [None]),
    "deleted": (TEST + "del os.environ['NET']\n    " + SKIP, [None]),
    "in a setUp": (SET_UP % "os.environ['NET'] = 'off'", ["off"]),
    "patched": (SET_UP % "p = mock.patch.dict(os.environ, {'NET': 'off'}); p.start()", ["off"]),
    "by a decorator": ("@mock.patch.dict(os.environ, NET='off')\n" + TEST + SKIP, ["off"]),
    "by a fixture": ("@pytest.fixture(autouse=True)\ndef e(monkeypatch): monkeypatch.setenv('NET', 'off')\n" + TEST + SKIP, ["off"]),
    "by a fixture that is asked for": ("@pytest.fixture\ndef e(monkeypatch): monkeypatch.setenv('NET', 'off')\n" + TEST.replace("monkeypatch", "e") + SKIP, ["off"]),
    "by another fixture": ("@pytest.fixture\ndef e(monkeypatch): monkeypatch.setenv('NET', 'off')\ndef test_c(e): pass\n" + TEST + SKIP, []),
    "by another test": ("def test_c(): os.environ['NET'] = 'off'\n" + TEST + SKIP, []),
    "after it": (TEST + SKIP + "    monkeypatch.setenv('NET', mode())\n", []),
    "in a helper": ("def offline(): os.environ['NET'] = 'off'\n" + TEST + "offline()\n    " + SKIP, ["off"]),
    "by a function": ("def configure(): os.environ['NET'] = 'off'\nconfigure()\n" + TEST + SKIP, ["off"]),
    "by a method of setUp's": (SET_UP % "self.use()" + "    def use(self): os.environ['NET'] = 'off'\n", ["off"]),
    "by a fixture that a mark asks for": ("@pytest.fixture\ndef e(monkeypatch): monkeypatch.setenv('NET', 'off')\n@pytest.mark.usefixtures('e')\n" + TEST + SKIP, ["off"]),
    "by a function of an autouse fixture": ("def use(): os.environ['NET'] = 'off'\n@pytest.fixture(autouse=True)\ndef e(): use()\n" + TEST + SKIP, ["off"]),
    "a cleanup": (SET_UP % "self.addCleanup(lambda: os.environ.pop('NET', None)); os.environ['NET'] = 'off'", ["off"]),
    "what was asked before": ("NET = os.environ.get('NET')\nos.environ['NET'] = 'x'\n" + TEST + "if NET == 'off': pytest.skip('no')\n", ["x"]),
    "a look at it": (TEST + "assert mode(os.environ.get('NET')) == 1\n    " + SKIP, []),
    "on a condition of its own": ("if sys.platform == 'linux': os.environ['NET'] = 'off'\n" + TEST + SKIP, ["off"]),
}  # fmt: skip
FREE = {
    "a path": "os.environ['NET'] = os.path.join('a', 'b')\n" + TEST + SKIP,
    "a parameter": "@pytest.mark.parametrize('n', ['a', 'b'])\ndef test_b(monkeypatch, n):\n    monkeypatch.setenv('NET', n)\n    " + SKIP,
    "more": "os.environ['NET'] += 'x'\n" + TEST + SKIP,
    "some": "os.environ.update(os.environ)\n" + TEST + SKIP,
}  # fmt: skip
THEIRS = {
    "an answer": TEST + "monkeypatch.setenv('NET', mode())\n    " + SKIP,
    "a text of it": TEST + "os.environ['NET'] = str(mode())\n    " + SKIP,
    "an answer that is kept": TEST + "v = mode()\n    os.environ['NET'] = v\n    " + SKIP,
    "many": TEST + "os.environ.update(mode())\n    " + SKIP,
    "many, for a while": TEST + "p = mock.patch.dict(os.environ, mode()); p.start()\n    " + SKIP,
    "a name": TEST + "os.environ[mode()] = 'off'\n    " + SKIP,
    "the environment": TEST + "mode(os.environ)\n    " + SKIP,
    "the module": TEST + "mode(os)\n    " + SKIP,
    "a callback": TEST + "each(lambda k, v: monkeypatch.setenv(k, v))\n    " + SKIP,
    "a callback of constants": TEST + "each(lambda: monkeypatch.setenv('NET', 'off'))\n    " + SKIP,
    "a function that it is given": "def off(): os.environ['NET'] = 'off'\n" + TEST + "each(off)\n    " + SKIP,
    "a function within": TEST + "def put(v): os.environ['NET'] = v\n    each(put)\n    " + SKIP,
    "a condition": TEST + "if one() == 1: os.environ['NET'] = 'off'\n    " + SKIP,
    "a condition in an expression": TEST + "one() and os.environ.update(NET='off')\n    " + SKIP,
    "a loop": TEST + "for _ in D().items(): os.environ['NET'] = 'off'\n    " + SKIP,
    "an error": TEST + "try: one()\n    except Exception: os.environ['NET'] = 'off'\n    " + SKIP,
    "a helper on a condition": "def off(): os.environ['NET'] = 'off'\n" + TEST + "if one(): off()\n    " + SKIP,
    "a setUp that ends": SET_UP % "if one(): return\n        os.environ['NET'] = 'off'",
    "in the module": "os.environ['NET'] = solution.MODE\n" + TEST + SKIP,
    "later in a loop": TEST + "for n in (1, 2):\n        " + SKIP + "        os.environ['NET'] = mode()\n",
    "what was printed": "import io, contextlib\n" + TEST + "buf = io.StringIO()\n    with contextlib.redirect_stdout(buf): one()\n    os.environ['NET'] = buf.getvalue()\n    " + SKIP,
    "what was printed, asked first": "import io, contextlib\n" + TEST + "buf = io.StringIO()\n    with contextlib.redirect_stdout(buf): one()\n    if 'off' in buf.getvalue(): os.environ['NET'] = 'off'\n    " + SKIP,
    "a clock": "import time\n" + TEST + "start = time.time()\n    one()\n    if time.time() - start > 1: os.environ['NET'] = 'off'\n    " + SKIP,
    "a queue": "from queue import Queue\n" + TEST + "q = Queue()\n    each([q])\n    os.environ['NET'] = q.get()\n    " + SKIP,
    "a helper that is told the name": "def need(name):\n    if os.environ.get(name) == 'off': pytest.skip('no')\n" + TEST + "monkeypatch.setenv('NET', mode())\n    need('NET')\n",
    "a platform": TEST + "monkeypatch.setattr(sys, 'platform', mode())\n    if sys.platform == 'off': pytest.skip('no')\n",
    "a platform by its name": TEST + "monkeypatch.setattr('sys.platform', mode())\n    if sys.platform == 'off': pytest.skip('no')\n",
    "a platform, assigned": TEST + "sys.platform = mode()\n    if sys.platform == 'off': pytest.skip('no')\n",
    "a path": TEST + "os.environ['PATH'] = mode()\n    if not shutil.which('git'): pytest.skip('no')\n",
}  # fmt: skip


def _asked(text: str) -> list[SkipCondition]:
    return list(dependence({"test_it.py": HEAD + text}, {"pytest"}).asked.values())


@pytest.mark.parametrize("name", OWN)
def test_constants_that_the_suite_puts_there_before_are_its_own(name: str) -> None:
    text, values = OWN[name]
    (asked,) = _asked(text)
    assert ("NET" in (asked.asks or ()), list(asked.own.get("NET", ())), asked.free) == (True, values, frozenset())


@pytest.mark.parametrize("name", FREE)
def test_other_values_of_the_suites_are_told_as_free(name: str) -> None:
    (asked,) = _asked(FREE[name])
    assert asked.free in ({"NET"}, {""})


@pytest.mark.parametrize("name", THEIRS)
def test_a_skip_that_asks_for_what_the_candidate_has_said_is_not_stated(name: str) -> None:
    assert not dependence({"test_it.py": HEAD + THEIRS[name]}, {"pytest"}).skips


def test_a_mark_that_asks_for_what_the_candidate_has_said_expects_nothing() -> None:
    """A condition of a mark is asked as the file is read."""
    mark = "@pytest.mark.xfail(os.environ.get('NET') == 'off', reason='')\ndef test_b(): assert one()\n"
    later = "def test_c(monkeypatch): monkeypatch.setenv('NET', mode())\n"
    expected = {
        put: dependence({"test_it.py": HEAD + put + mark}, {"pytest"}).expected
        for put in ("", later, "os.environ['NET'] = 'off'\n", "os.environ['NET'] = solution.MODE\n",
                    "def put(): os.environ['NET'] = mode()\nput()\n")
    }  # fmt: skip
    assert [bool(each) for each in expected.values()] == [True, True, True, False, False]


def test_a_skip_on_the_platform_asks_for_no_variable_that_is_named_nowhere() -> None:
    (asked,) = _asked("os.environ['NET'] = mode()\n" + TEST + "if sys.platform != 'win32': pytest.skip('there')\n")
    assert asked == SkipCondition(("sys.platform", "there", "win32"), {}, frozenset())


def test_the_suite_may_change_the_platform() -> None:
    text = TEST + "monkeypatch.setattr(sys, 'platform', 'win32')\n    sys.version_info = (3, 8)\n    "
    (asked,) = _asked(text + "if sys.platform == 'win32' or sys.version_info < (3, 9): pytest.skip('no')\n")
    assert asked.own == {"sys.platform": ("win32",), "sys.version_info": ([3, 8],)}


def test_more_names_than_are_told_apart_are_all() -> None:
    (asked,) = _asked(TEST + f"names = {[f'N{n}' for n in range(101)]}\n    " + SKIP)
    assert asked.asks is None


def test_many_skips_in_one_function_take_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each skip all of the function was gone through four times: 84 s for 71 KB. What is walked through is counted,
    for one number of skips and for four times as many."""

    def walked(skips: int) -> int:
        steps = 0
        walk = ast.walk

        def counted(node: ast.AST) -> Iterator[ast.AST]:
            nonlocal steps
            for each in walk(node):
                steps += 1
                yield each

        monkeypatch.setattr(ast, "walk", counted)
        found = _asked(TEST + ("os.environ['NET'] = 'x'\n    " + SKIP + "    ") * skips)
        monkeypatch.setattr(ast, "walk", walk)
        assert len(found) == skips
        return steps

    assert walked(400) < 6 * walked(100)


def test_what_is_compared_for_all_skips_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skips beyond are not stated."""
    monkeypatch.setattr(skip_conditions, "_MOST_PAIRS", 100)
    assert 0 < len(_asked(TEST + ("os.environ['NET'] = 'x'\n    " + SKIP + "    ") * 30)) < 5


def test_a_constant_is_the_suites_own_beside_another_value() -> None:
    """The other value came after it in the text, and took it away."""
    (asked,) = _asked("os.environ['NET'] = os.path.join('a', 'b')\nos.environ['NET'] = 'off'\n" + TEST + SKIP)
    assert (asked.own, asked.free) == ({"NET": ("off",)}, {"NET"})
    (asked,) = _asked("os.environ['NET'] = 'off'\nos.environ['NET'] = os.path.join('a', 'b')\n" + TEST + SKIP)
    assert (asked.own, asked.free) == ({"NET": ("off",)}, {"NET"})
