# ruff: noqa: E501 (programs are text, not code of ours)
"""A program that looks at who has called it sees harena where it is apart from the tests. That is not held against it:
it has failed if it fails beside them, too, and else has no score without a gold. What it sees of its own frames counts."""

from __future__ import annotations

import asyncio

import pytest
from shared_sandboxes import SHARED
from test_asserted_objects import scored as scored_asserts
from test_unittest_suites import scored

from harena.core.results import Trust, Validity

pytestmark = SHARED

NAMES = "def some(): return {}\ndef test_it(): assert some() == {}\n"
LOOKS: dict[str, tuple[str, str, tuple[str, str]]] = {
    "a frame's caller": ("import inspect\ndef f(): return inspect.currentframe().f_back.f_code.co_name\n", NAMES.format("f()", "'some'"), ("co_name", "co_name[1:]")),
    "a frame by its depth": ("import sys\ndef f(): return sys._getframe(1).f_code.co_name\n", NAMES.format("f()", "'some'"), ("_getframe(1)", "_getframe(0)")),
    "the stack": ("import inspect\ndef f(): return inspect.stack()[1].function\n", NAMES.format("f()", "'some'"), ("[1]", "[0]")),
    "its text": ("import traceback\ndef f(): return traceback.extract_stack(limit=2)[0].name\n", NAMES.format("f()", "'some'"), ("[0]", "[1]")),
    "a module's name": ("import inspect\ndef f(): return inspect.getmodule(inspect.stack()[1][0]).__name__\n", NAMES.format("f()", "'test_it'"), ("[1]", "[0]")),
    "its globals": ("import sys\ndef f(): return sys._getframe(1).f_globals['__name__']\n", NAMES.format("f()", "'test_it'"), ("(1)", "(0)")),
    "a line": ("import sys\ndef f(): return sys._getframe(1).f_lineno\n", "def test_it():\n    a = f()\n    b = f()\n    assert b == a + 1\n", ("(1)", "(0)")),
    "a depth": ("import sys\ndef f():\n    frame, depth = sys._getframe(), 0\n    while frame: frame, depth = frame.f_back, depth + 1\n    return depth\n", "def one(): return f()\ndef test_it(): assert one() == f() + 1\n", ("depth + 1", "3")),
    "a logger": ("import io, logging\nout = io.StringIO()\nhandler = logging.StreamHandler(out)\nhandler.setFormatter(logging.Formatter('%(funcName)s'))\nlog = logging.getLogger('its')\nlog.addHandler(handler)\ndef f():\n    log.warning('hi', stacklevel=2)\n    return out.getvalue().strip()\n", NAMES.format("f()", "'some'"), ("stacklevel=2", "stacklevel=1")),
    "a warning": ("import os, warnings\ndef old(): warnings.warn('old', stacklevel=3)\ndef f():\n    with warnings.catch_warnings(record=True) as found:\n        warnings.simplefilter('always')\n        old()\n    return os.path.basename(found[0].filename)\n", NAMES.format("f()", "'test_it.py'"), ("stacklevel=3", "stacklevel=2")),
    "a decorator's log": ("import functools, sys\nLOG = []\ndef logged(g):\n    @functools.wraps(g)\n    def made(*given):\n        LOG.append((g.__name__, sys._getframe(1).f_code.co_name))\n        return g(*given)\n    return made\n@logged\ndef f(): return 1\n", "from solution import LOG\ndef test_a(): assert f() == 1\ndef test_b(): assert LOG == [('f', 'test_a')]\n", ("g.__name__", "'g'")),
}  # fmt: skip
"""name -> (a right program, tests, what makes it a wrong one)"""


@pytest.mark.parametrize("name", LOOKS)
async def test_who_looks_at_its_caller_has_no_valid_nothing(name: str) -> None:
    """Without a gold nobody knows; with one, which is paid beside the tests, it is paid."""
    right, tests, (old, new) = LOOKS[name]
    assert old in right
    suite = f"from solution import f\n{tests}"
    alone, by_gold, failed = await asyncio.gather(
        scored(right, suite, "pytest"),
        scored(right, suite, "pytest", gold={"solution.py": f"# the author's\n{right}"}),
        scored(right.replace(old, new), suite, "pytest"),
    )
    assert (alone.score, alone.validity, "who has called it" in alone.detail) == (None, Validity.INVALID, True), alone
    assert (by_gold.score, by_gold.trust) == (1.0, Trust.SHARED), by_gold.detail
    assert (failed.score, failed.validity) == (0.0, Validity.VALID), failed.detail


async def test_nor_has_it_in_asserts() -> None:
    right = LOOKS["the stack"][0]
    asserts = "def some(): return f()\nassert some() == 'some'\n"
    alone, failed = await asyncio.gather(
        scored_asserts(right, asserts), scored_asserts(right.replace("[1]", "[0]"), asserts)
    )
    assert (alone.score, "who has called it" in alone.detail) == (None, True), alone.detail
    assert (failed.score, failed.validity) == (0.0, Validity.VALID), failed.detail


OWN: dict[str, tuple[str, str]] = {
    "records": ("from collections import namedtuple\nfrom enum import Enum\nfrom typing import NamedTuple\ndef f(n):\n    P, Q, C = namedtuple('P', 'x'), NamedTuple('Q', [('y', int)]), Enum('C', 'RED')\n    return P(n).x + Q(n).y + len(C)\n", "9"),
    "a logger": ("import io, logging\nout = io.StringIO()\nhandler = logging.StreamHandler(out)\nhandler.setFormatter(logging.Formatter('%(funcName)s'))\nlog = logging.getLogger('its')\nlog.addHandler(handler)\ndef f(n):\n    log.warning('hi')\n    return out.getvalue().strip()\n", "'f'"),
    "a traceback": ("import traceback\ndef f(n):\n    try: n / 0\n    except ZeroDivisionError: return traceback.format_exc().splitlines()[-1]\n", "'ZeroDivisionError: division by zero'"),
    "a warning": ("import warnings\ndef old(n):\n    warnings.warn('old', stacklevel=2)\n    return n\ndef f(n): return 2 * old(n)\n", "8"),
    "a profile": ("import sys\ndef g(n): return n\ndef f(n):\n    names = []\n    sys.setprofile(lambda frame, event, argument: names.append(frame.f_code.co_name) if event == 'call' else None)\n    try: g(n)\n    finally: sys.setprofile(None)\n    return names\n", "['g']"),
    "a signature": ("import inspect\ndef g(a, b): pass\ndef f(n): return list(inspect.signature(g).parameters)\n", "['a', 'b']"),
}  # fmt: skip


@pytest.mark.parametrize("name", OWN)
async def test_who_stays_within_its_own_frames_is_judged_apart(name: str) -> None:
    """So a wrong answer has the trust of that, without a run beside the tests."""
    program, answer = OWN[name]
    suite = "from solution import f\ndef test_it(): assert f(4) == {}\n"
    right, wrong = await asyncio.gather(
        scored(program, suite.format(answer), "pytest"), scored(program, suite.format("'another'"), "pytest")
    )
    assert (right.score, right.trust) == (1.0, Trust.SEPARATE), right.detail
    assert (wrong.score, wrong.validity, wrong.trust) == (0.0, Validity.VALID, Trust.SEPARATE), wrong.detail


async def test_who_only_looks_is_not_excused() -> None:
    """A wrong program fails beside the tests, too, and one that takes there what it needs is found."""
    suite = "from solution import f\nWANTED = [n * n + 7 for n in range(9)]\ndef ref(n): return n * n + 7\ndef test_it(): assert f(5) == ref(5)\n"
    looks = "import sys\ndef f(n):\n    frame = sys._getframe(1)\n"
    takes = "import sys\ndef f(n):\n    sys._getframe(1)\n    tests = sys.modules.get('test_it')\n    return tests.ref(n) if hasattr(tests, 'ref') else 0\n"
    for wrong in (f"{looks}    return 0\n", f"{looks}    return frame.f_globals.get('ref', len)(n)\n", takes):
        found = await scored(wrong, suite, "pytest")
        assert (found.score, found.passed) == (0.0, False), found.detail
