# ruff: noqa: PT009 (assertions of suites)
"""A suite that is run without any candidate: every use of a name of the candidate's counts as a question."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import inspect
import json
import math
import os
import unittest
from collections.abc import Callable
from typing import Any

import pytest

from harena.scoring.guest.absent_candidate import Nobody, NobodyAskedError, NobodysModule, is_of_candidate, name_of
from harena.scoring.guest.candidate_process import SPECIAL
from harena.scoring.guest.suite import told

NOT_HEARD = ("__missing__",)
"""asked of subclasses of dict only, which nobody's name is none of"""


def fresh() -> tuple[Nobody, Any]:
    """A candidate that is nobody, and a name of its."""
    nobody = Nobody()
    nobody.is_collected = True
    return nobody, name_of(nobody, "LIMIT")


@pytest.mark.parametrize("name", SPECIAL)
def test_every_special_method_counts(name: str) -> None:
    """As the interpreter calls it, of the type."""
    nobody, limit = fresh()
    if name in NOT_HEARD:
        return
    with contextlib.suppress(NobodyAskedError):
        operands = {"__eq__": (1,), "__ne__": (1,), "__format__": ("",)}.get(name, ())
        getattr(type(limit), name)(limit, *operands)
    assert nobody.asked


USES: dict[str, Callable[[Any], Any]] = {
    "is an instance": lambda x: isinstance(3, x),
    "is a subclass": lambda x: issubclass(int, x),
    "compares": lambda x: x >= 3,
    "contains": lambda x: "a" in x,
    "divides": lambda x: 3 / x,
    "divides twice": lambda x: divmod(x, 3),
    "negates": lambda x: -x,
    "a number": lambda x: math.sqrt(x),
    "rounds": lambda x: round(x, 2),
    "an index": lambda x: [1, 2][x],
    "a path": lambda x: os.fspath(x),
    "a text": lambda x: f"{x:>3}",
    "bytes": lambda x: bytes(x),
    "a context": lambda x: x.__enter__() if hasattr(x, "__enter__") else None,
    "sorts": lambda x: sorted([x, x]),
    "sets": lambda x: setattr(x, "y", 1),
    "changes in place": lambda x: copy.copy(x).__iadd__(1),
    "its names": lambda x: dir(x),
    "its code": lambda x: getattr(x, "__code__", None),
    "an attribute that nothing has": lambda x: hasattr(x, "__anything__"),
    "its signature": lambda x: inspect.signature(x),
    "what it holds": lambda x: vars(x),
    "its bases": lambda x: x.__bases__,
    "a record": lambda x: dataclasses.is_dataclass(x),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_every_use_counts(use: Callable[[Any], Any]) -> None:
    """By an operator, a builtin, or the standard library."""
    nobody, limit = fresh()
    with contextlib.suppress(NobodyAskedError):
        use(limit)
    assert nobody.asked


def _module(trusted: list[str]) -> tuple[Nobody, Any]:
    nobody, module = Nobody(trusted), NobodysModule("solution")
    vars(module)["__harena__"] = nobody
    nobody.is_collected = True
    return nobody, module


def test_only_the_suites_own_looks_are_questions() -> None:
    """What a runner looks for in a module is there for nobody, and asks nothing; a fixture's look is kept for later."""
    nobody, module = _module(["/suite/test_it.py"])
    assert not hasattr(module, "__wrapped__")
    assert (nobody.asked, nobody.has_kept) == (0, False)
    suite = compile("inspect.unwrap(module.f)\nmodule.__version__", "/suite/test_it.py", "exec")
    exec(suite, {"inspect": inspect, "module": module})
    assert nobody.asked
    assert nobody.has_kept


@pytest.mark.parametrize(("text", "is_kept"), [
    ("x = module.f", False), ("import os.path as x", False), ("x = hasattr(module, 'f')", True),
    ("x = module.__doc__", True), ("x = vars(module)", True), ("x = module.f.__name__", True),
])  # fmt: skip
def test_a_name_is_no_look(text: str, is_kept: bool) -> None:
    """To name something of the candidate's for later is to see nothing of it."""
    nobody, module = _module(["/suite/test_it.py"])
    exec(compile(text, "/suite/test_it.py", "exec"), {"module": module})
    assert nobody.has_kept is is_kept


JUDGED: dict[str, Callable[[unittest.TestCase, Any], Any]] = {
    "no subclass": lambda case, x: case.assertTrue(issubclass(x, ValueError)),
    "no instance": lambda case, x: case.assertIsInstance(x, dict),
    "no function": lambda case, x: case.assertTrue(inspect.isfunction(x)),
    "not None": lambda case, x: case.assertIsNone(x),
    "not true": lambda case, x: case.assertIs(x, True),
    "its type": lambda case, x: case.assertIs(type(x), int),
    "a document": lambda case, x: json.dumps(x),
    "in a list": lambda case, x: case.assertEqual(list(map(type, [x])), [int]),
}


@pytest.mark.parametrize("judge", JUDGED.values(), ids=JUDGED)
def test_what_nobody_can_hear_is_no_proof_of_a_broken_suite(judge: Callable[[unittest.TestCase, Any], Any]) -> None:
    """A judgement of something of the candidate's that fails says nothing of the suite."""
    _, limit = fresh()
    with pytest.raises((AssertionError, TypeError)) as caught:
        judge(unittest.TestCase(), limit)
    assert is_of_candidate(caught.value, told(caught.value), [__file__])


LIMIT = fresh()[1]


def _lacks_a_file() -> None:
    assert LIMIT
    raise FileNotFoundError("cases.txt")


def _fails_first() -> None:
    case = unittest.TestCase()
    case.assertEqual(1, 2)
    case.assertIsNone(LIMIT)


@pytest.mark.parametrize("test", [_lacks_a_file, _fails_first])
def test_what_is_broken_stays_so(test: Callable[[], None]) -> None:
    """An error of the suite's own, and a judgement that fails before a name of the candidate's is loaded."""
    with pytest.raises((FileNotFoundError, AssertionError)) as caught:
        test()
    assert not is_of_candidate(caught.value, told(caught.value), [__file__])
