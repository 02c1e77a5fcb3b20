"""Answers that cannot cross, and candidates that end: no test can expect those, whatever it catches."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged
from test_unittest_suites import scored

from harena.core.results import Reason
from harena.scoring import load_scenarios

pytestmark = SHARED

IMPORTS = "import contextlib, pytest, unittest\nfrom solution import f\n"
RIGHT = "def f(x):\n    if not isinstance(x, int): raise TypeError(x)\n    return x\n"
NO_ANSWERS = {
    "deep": "    t = x\n    for _ in range(400): t = (t,)\n    return t\n",
    "large": "    return 'x' * 20_000_000\n",
    "ended": "    import os; os._exit(0)\n",
    "interrupted": "    raise KeyboardInterrupt\n",
    "nameless class": (
        "    class Kind(type):\n        def __repr__(cls): raise TypeError\n"
        "        def __eq__(cls, other): raise TypeError\n        __hash__ = None\n    return Kind('A', (), {})\n"
    ),
}
"""bodies of functions whose answer to a text is none"""
EXPECTING = {
    "raises": "    with pytest.raises(TypeError): f('a')\n",
    "except": "    try: f('a')\n    except Exception: pass\n    else: assert False\n",
    "except all": "    try: f('a')\n    except BaseException: pass\n    else: assert False\n",
    "bare": "    try: f('a')\n    except: return\n    assert False\n",
    "unittest": "    unittest.TestCase().assertRaises((TypeError, RuntimeError), f, 'a')\n",
    "suppress": "    with contextlib.suppress(BaseException):\n        f('a')\n        raise SystemExit(1)\n",
}


def wrong(name: str) -> str:
    """A program that answers right where a number is given."""
    return "def f(x):\n    if isinstance(x, int): return x\n" + NO_ANSWERS[name]


@pytest.mark.parametrize("expecting", EXPECTING)
@pytest.mark.parametrize("name", NO_ANSWERS)
@pytest.mark.parametrize("isolate", ["sandbox", "auto"])
async def test_no_suite_expects_what_is_no_answer(isolate: str, name: str, expecting: str) -> None:
    """The border said that such an answer was a TypeError, and a test that expects one was content."""
    suite = f"{IMPORTS}def test():\n    assert f(1) == 1\n{EXPECTING[expecting]}"
    result = await scored(wrong(name), suite, kind="pytest", isolate=isolate)
    if expecting not in ("except all", "bare", "suppress"):
        assert result.score == 0.0, result.detail
    elif name == "interrupted":  # what catches all catches that in one process, too
        assert result.score == 1.0, result.detail
    else:
        assert result.score in (0.0, None), result.detail


@pytest.mark.parametrize("isolate", ["sandbox", "auto"])
async def test_right_programs_raise_what_is_expected(isolate: str) -> None:
    """All of these expectations are met by a program that raises."""
    tests = "".join(
        f"def test_{number}():\n    assert f(1) == 1\n{text}" for number, text in enumerate(EXPECTING.values())
    )
    suite = f"import contextlib, pytest, unittest\nfrom solution import f\n{tests}"
    assert (await scored(RIGHT, suite, kind="pytest", isolate=isolate)).score == 1.0


async def test_an_interrupt_that_a_test_waits_for_is_nobodys_zero() -> None:
    """Right without a gold has no score, since what ends a run of tests is not raised in it; wrong has 0."""
    suite = f"{IMPORTS}def test():\n    assert f(1) == 1\n    with pytest.raises(KeyboardInterrupt): f('a')\n"
    right = await scored(wrong("interrupted"), suite, kind="pytest", by_this_interpreter=True)
    assert (right.score, right.reason) == (None, Reason.SCORER_ERROR), right.detail
    paid = await scored(wrong("interrupted"), suite, kind="pytest", by_this_interpreter=True, gold=wrong("interrupted"))
    assert paid.score == 1.0, paid.detail
    assert (await scored(RIGHT, suite, kind="pytest", by_this_interpreter=True)).score == 0.0


async def called(program: Any, **scoring: Any) -> Any:
    """The score of asserts that call a function in a process of its own."""
    contract = {"type": "command", "calls": {"f": "f"}, **scoring}
    row = {"id": "one", "candidate": program, "scoring": contract}
    return (await judged(load_scenarios([row]).scenarios[0])).score


ASSERTS = {
    "except": "assert f(1) == 1\ntry: f('a')\nexcept TypeError: pass\nelse: assert False\n",
    "except all": "assert f(1) == 1\ntry: f('a')\nexcept BaseException: pass\nelse: assert False\n",
    "runtime": "assert f(1) == 1\ntry: f('a')\nexcept (TypeError, RuntimeError): pass\nelse: assert False\n",
}


@pytest.mark.parametrize("tests", ASSERTS)
@pytest.mark.parametrize("name", ["deep", "large", "ended", "object", "function"])
async def test_no_asserts_expect_what_is_no_answer(name: str, tests: str) -> None:
    """An object, or the end of the candidate's process, was a TypeError or RuntimeError of harena's own."""
    bodies = {**NO_ANSWERS, "object": "    return object()\n", "function": "    return lambda: x\n"}
    program = "def f(x):\n    if isinstance(x, int): return x\n" + bodies[name]
    assert await called(program, asserts=ASSERTS[tests]) == 0.0
    assert await called(program, asserts=ASSERTS[tests], gold=RIGHT) == 0.0
    assert await called(RIGHT, asserts=ASSERTS[tests]) == 1.0
