# ruff: noqa: E501 (programs are text, not code of ours)
"""Suites whose task is to catch what a callback raises: the gold solution tells which failed assertions may be caught."""

from __future__ import annotations

import asyncio

import pytest
from shared_sandboxes import SHARED
from test_swallowed_assertions import EACH, PYTEST, RIGHT_EACH, TRIES, UNITTEST, judged, runtime

from harena.core.results import Validity
from harena.runtime.host.linux import LinuxRuntime

__all__ = ["runtime"]  # a fixture
pytestmark = SHARED
RUN_ALL = "def run_all(callbacks):\n    found = []\n    for callback in callbacks:\n        try: found.append(callback())\n        except Exception as error: found.append(error)\n    return found\n"
SAFE = "def safe_call(function, *given, default=None):\n    try: return function(*given)\n    except Exception: return default\n"
RETRY = "def retry(function, times):\n    for _ in range(times):\n        try: return function()\n        except Exception: pass\n    return None\n"
BUS = "class Bus:\n    def __init__(self): self.handlers, self.errors = [], []\n    def on(self, handler): self.handlers.append(handler)\n    def emit(self, *given):\n        for handler in self.handlers:\n            try: handler(*given)\n            except Exception as error: self.errors.append(error)\n"
CATCHING = "import functools\ndef catching(function):\n    @functools.wraps(function)\n    def run(*given):\n        try: return function(*given)\n        except Exception as error: return type(error).__name__\n    return run\n"
LATER = "def unless(done, function): return None if done else function()\n"
ONLY_IF = (
    "def only_if(yes): return lambda function: function if yes else (lambda *given: None)\ndef twice(n): return 2 * n\n"
)
FAILING = "    def bad(): assert False, 'bad'\n"
Case = tuple[str, str, str, str]
CASES: dict[str, Case] = {
    # name: (runner, suite, right candidate, wrong candidate)
    "run all, assert": ("pytest", PYTEST + "def test_a():\n" + FAILING + "    found = run_all([lambda: 1, bad, lambda: 2])\n    assert found[::2] == [1, 2]\n    assert isinstance(found[1], AssertionError)\n", RUN_ALL, RUN_ALL.replace("found.append(error)", "break")),
    "run all, a comparison": ("pytest", PYTEST + "def test_a():\n    def bad(): assert 1 == 2\n    found = run_all([lambda: 1, bad, lambda: 2])\n    assert found[::2] == [1, 2]\n    assert isinstance(found[1], AssertionError)\n", RUN_ALL, RUN_ALL.replace("found.append(error)", "break")),
    "run all, raise": ("unittest", UNITTEST + "    def test_a(self):\n        def bad(): raise AssertionError('bad')\n        found = run_all([bad, lambda: 2])\n        self.assertEqual(str(found[0]), 'bad')\n        self.assertEqual(found[1], 2)\n", RUN_ALL, RUN_ALL.replace("append(error)", "append(None)")),
    "a function with a precondition": ("pytest", PYTEST + "def positive(n):\n    assert n > 0\n    return n\ndef test_a():\n    assert safe_call(positive, 2) == 2\n    assert safe_call(positive, -1, default=7) == 7\n", SAFE, SAFE.replace("return default", "return None")),
    "as often as asked": ("pytest", PYTEST + "def test_a():\n" + FAILING + "    assert retry(bad, 3) is None\n", RETRY, RETRY.replace("range(times)", "range(times + 1)")),
    "a handler that fails": ("unittest", UNITTEST + "    def test_a(self):\n        bus, seen = Bus(), []\n        def bad(n): self.fail(n)\n        bus.on(bad); bus.on(seen.append); bus.emit(3)\n        self.assertEqual(seen, [3])\n        self.assertEqual(len(bus.errors), 1)\n", BUS, BUS.replace("self.errors.append(error)", "return")),
    "a decorator": ("pytest", PYTEST + "def test_a():\n    @catching\n    def positive(n):\n        assert n > 0\n        return n\n    assert positive(1) == 1\n    assert positive(-1) == 'AssertionError'\n", CATCHING, CATCHING.replace("type(error).__name__", "str(type(error))")),
    "another assertion": ("pytest", PYTEST + "def test_a():\n" + FAILING + "    assert isinstance(run_all([bad])[0], AssertionError)\n    def check(n): assert twice(n) == 2 * n\n    each(check, [1, 2])\n", RUN_ALL + RIGHT_EACH, RUN_ALL + EACH.format(TRIES, 3)),
    "what must not be called": ("pytest", PYTEST + "def test_a():\n    def never(): raise AssertionError('called')\n    assert unless(True, never) is None\n    assert unless(False, lambda: 1) == 1\n", LATER, "def unless(done, function):\n    try: found = function()\n    except Exception: return None\n    return None if done else found\n"),
    "tests that are left out": ("pytest", PYTEST + "@only_if(False)\ndef test_a():\n    pytest.fail('it is run')\nclass TestB:\n    @only_if(False)\n    def test_b(self):\n        'It is not run.'\n        assert False\n    @only_if(True)\n    def test_c(self):\n        assert twice(2) == 4\n", ONLY_IF, ONLY_IF.replace("if yes else", "if yes is None else")),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_what_the_gold_solution_catches_others_may_catch(runtime: LinuxRuntime, name: str) -> None:
    """A right candidate that is written otherwise is paid; who catches more, or elsewhere, is not."""
    kind, suite, right, wrong = CASES[name]
    otherwise = right + "# written otherwise\n"
    paid, unpaid = await asyncio.gather(*(judged(runtime, each, kind, suite, right) for each in (otherwise, wrong)))
    assert paid.score == 1.0, paid.detail
    assert (unpaid.score, unpaid.validity) == (0.0, Validity.VALID), unpaid.detail


SURE = ("run all, assert", "run all, a comparison", "run all, raise", "tests that are left out")


@pytest.mark.parametrize("name", SURE)
async def test_without_gold_nobody_can_tell_what_is_to_be_caught(runtime: LinuxRuntime, name: str) -> None:
    """A callback that fails in any case may be there to be caught: there is no score, and the reason says what helps.
    A candidate that fails otherwise is wrong."""
    kind, suite, right, wrong = CASES[name]
    untold, unpaid = await asyncio.gather(*(judged(runtime, each, kind, suite) for each in (right, wrong)))
    assert untold.score is None
    assert "`gold`" in untold.detail
    assert (unpaid.score, unpaid.validity) == (0.0, Validity.VALID), unpaid.detail


async def test_without_gold_an_assertion_that_judges_is_not_to_be_caught(runtime: LinuxRuntime) -> None:
    """What depends on the candidate, or on what it gives, has failed; also beside a callback that fails in any case."""
    kind, suite, _, wrong = CASES["another assertion"]
    found = await judged(runtime, wrong, kind, suite)
    assert (found.score, found.validity) == (0.0, Validity.VALID), found.detail
