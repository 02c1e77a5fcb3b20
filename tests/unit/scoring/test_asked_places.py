# ruff: noqa: E501 (programs are text, not code of ours)
"""What a stated skip asks for, and what the suite itself puts there."""

from __future__ import annotations

from typing import Any

import pytest

from harena.scoring.scorers.asked_places import Asked
from harena.scoring.scorers.defined_tests import dependence

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
    "a cleanup": (SET_UP % "self.addCleanup(lambda: os.environ.pop('NET', None)); os.environ['NET'] = 'off'", ["off"]),
    "what was asked before": ("NET = os.environ.get('NET')\nos.environ['NET'] = 'x'\n" + TEST + "if NET == 'off': pytest.skip('no')\n", ["x"]),
    "a look at it": (TEST + "assert mode(os.environ.get('NET')) == 1\n    " + SKIP, []),
    "on a condition of its own": ("if sys.platform == 'linux': os.environ['NET'] = 'off'\n" + TEST + SKIP, ["off"]),
}  # fmt: skip


def _asked(text: str) -> list[Asked]:
    return list(dependence({"test_it.py": HEAD + text}, {"pytest"}).asked.values())


@pytest.mark.parametrize("name", OWN)
def test_constants_that_the_suite_puts_there_before_are_its_own(name: str) -> None:
    text, values = OWN[name]
    (asked,) = _asked(text)
    assert ("NET" in (asked.asks or ()), list(asked.own.get("NET", ()))) == (True, values)


def test_a_skip_on_the_platform_asks_for_no_variable_that_is_named_nowhere() -> None:
    (asked,) = _asked("os.environ['NET'] = mode()\n" + TEST + "if sys.platform != 'win32': pytest.skip('there')\n")
    assert asked == Asked(("sys.platform", "there", "win32"), {})


def test_what_is_done_where_the_candidate_says_so_is_not_the_suites_own() -> None:
    (asked,) = _asked(TEST + "if one() == 1: os.environ['NET'] = 'off'\n    " + SKIP)
    assert not asked.own


def test_the_suite_may_change_the_platform() -> None:
    text = TEST + "monkeypatch.setattr(sys, 'platform', 'win32')\n    sys.version_info = (3, 8)\n    "
    (asked,) = _asked(text + "if sys.platform == 'win32' or sys.version_info < (3, 9): pytest.skip('no')\n")
    assert asked.own == {"sys.platform": ("win32",), "sys.version_info": ([3, 8],)}


def test_more_names_than_are_told_apart_are_all() -> None:
    (asked,) = _asked(TEST + f"names = {[f'N{n}' for n in range(101)]}\n    " + SKIP)
    assert asked.asks is None
