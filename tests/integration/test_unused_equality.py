# ruff: noqa: E501 (programs are text, not code of ours)
"""A class of the candidate's that equals everything counts only where something else than its own program compares it."""

from __future__ import annotations

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

pytestmark = SHARED
WILD = "class Wild:\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n    def __hash__(self): return hash(4)\n"
TEST = "from solution import f\ndef test_a():\n    "
RIGHT = {
    "used by nobody": ("def f(x): return x + 1\n", "assert f(1) == 2"),
    "its own matching": ("ANY = Wild()\ndef f(x): return len(x) == 3 and all(a == b for a, b in zip([1, ANY, 3], x))\n", "assert f([1, 7, 3]) and not f([1, 7, 4])"),
    "its own, by a library": ("import difflib\ndef f(x): return difflib.SequenceMatcher(None, [Wild()], [x]).ratio() + [Wild()].count(x)\n", "assert f(7) == 2.0"),
    "a class within a function": ("def f(x):\n    class Any:\n        def __eq__(self, other): return True\n    return [1, Any()] == [1, x]\n", "assert f(3) is True"),
    "in a thread": ("import threading\ndef f(x):\n    out = []\n    t = threading.Thread(target=lambda: out.append(Wild() == x))\n    t.start()\n    t.join()\n    return out\n", "assert f(1) == [True]"),
}  # fmt: skip
LIAR = WILD + "def f(x): return Wild()\n"
LIES = {
    "an item that is removed": ("", "left = [4]\n    left.remove(f(2))\n    assert left == []"),
    "a key": ("", "assert {4: 'x'}.get(f(2)) == 'x'"),
    "an item that is discarded": ("", "left = {4}\n    left.discard(f(2))\n    assert len(left) == 0"),
    "a library": ("import difflib", "assert difflib.SequenceMatcher(None, [f(2)], [4]).ratio() == 1.0"),
    "a collection": ("from collections import deque", "assert deque([f(2)]) == deque([4])"),
    "a record of the tests": ("from dataclasses import dataclass\n@dataclass\nclass R:\n    x: object", "assert R(f(2)) == R(4)"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
async def test_a_class_that_its_own_program_compares_is_no_forgery(name: str) -> None:
    """Nor one that is compared by nobody."""
    candidate, body = RIGHT[name]
    for isolate in (False, "auto"):
        found = await scored(WILD + candidate, TEST + body + "\n", "pytest", isolate=isolate)
        assert (found.score, str(found.validity)) == (1.0, "valid"), (isolate, found.detail)


@pytest.mark.parametrize("name", LIES)
async def test_one_that_a_library_compares_for_the_tests_is_not_paid(name: str) -> None:
    """Whatever compares it, and whoever asks another object for it."""
    imports, body = LIES[name]
    outer = "class Outer:\n    def __init__(self): self.inner = Wild()\n    def __eq__(self, other): return self.inner == other\n    __hash__ = Wild.__hash__\ndef f(x): return Outer()\n"
    for candidate in (LIAR, WILD + outer)[: 2 if name == "a key" else 1]:
        found = await scored(candidate, f"{imports}\n{TEST}{body}\n", "pytest", isolate=False)
        assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail


async def test_who_takes_the_profiler_away_is_not_believed() -> None:
    """Also where it is there again when the tests have ended."""
    candidate = "import sys\n" + LIAR.replace(
        "def f(x): return", "kept = sys.getprofile()\ndef f(x):\n    sys.setprofile(None)\n    return"
    )
    candidate += "def g(): sys.setprofile(kept)\n"
    suite = f"from solution import g\n{TEST}{LIES['an item that is removed'][1]}\n    g()\n"
    found = await scored(candidate, suite, "pytest", isolate=False)
    assert (found.score, str(found.reason)) == (0.0, "exited_early"), found.detail
