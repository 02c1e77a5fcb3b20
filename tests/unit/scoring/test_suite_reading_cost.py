"""What the text of a suite says of its skips is read in time that grows with the text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FrameType

import pytest

from harena.scoring.scorers.defined_tests import dependence

HEAD = "import os, sys, pytest, unittest\nfrom solution import one, main\n"
SKIP = "def test_z():\n    if os.environ.get('A'): pytest.skip('x')\n"


def _joined(lines: Iterable[str]) -> str:
    return "".join(lines)


SUITES: dict[str, Callable[[int], str]] = {
    "parameters": lambda n: f"def f({','.join(f'a{i}' for i in range(n))}): pass\nf({','.join('0' * n)})\n{SKIP}",
    "functions of one name": lambda n: "def f(a): f(0)\n" * n + "main(f)\n" + SKIP,
    "parametrized tests": lambda n: _joined(
        f"@pytest.mark.parametrize('x', [{i}, 2])\ndef test_{i}(x): one(x)\n" for i in range(n)
    )
    + SKIP,
    "skips in a try": lambda n: "def test_z():\n try:\n" + "  pytest.skip('x')\n" * n + " except OSError: pass\n",
    "names in a try": lambda n: (
        "def g():\n try:\n" + _joined(f"  a{i} = 1\n" for i in range(n)) + " except OSError: pass\n" + SKIP
    ),
    "values of a name": lambda n: _joined(f"x = {i}\n" for i in range(n)) + "os.environ['A'] = x\n" * (n // 10) + SKIP,
    "tests with a skip": lambda n: _joined(f"def test_{i}():\n if X: pytest.skip('x')\n" for i in range(n)) + "X = 1\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", SUITES)
def test_a_suite_is_read_in_linear_time(kind: str) -> None:
    """Calls of functions are counted, for a text and for one that is three times as long. They grew with the square."""
    text = SUITES[kind]
    assert _calls(text(240)) < 5 * _calls(text(80))


def _calls(text: str) -> int:
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        dependence({"test_it.py": HEAD + text}, {"pytest"})
    finally:
        sys.setprofile(before)
    return count
