"""Assertions that say something of each part of an answer say nothing of an empty one."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED
from test_unittest_suites import scored

from harena.core.results import RunResult

pytestmark = SHARED

EMPTY_ARRAY = "import numpy as np\ndef f(n): return np.empty((0, 1))\n"
EMPTY_LIST = "def f(n): return []\n"
ARRAY = "import numpy as np\ndef f(n): return np.ones(n)\n"
LIST = "def f(n): return [1] * n\n"
OF_ARRAYS = {
    "greater": "assert (f(3) > 0).all()",
    "by a function": "assert np.all(f(3) > 0)",
    "one of some": "assert np.isin(f(3), [1, 2]).all()",
    "finite": "assert np.isfinite(f(3)).all()",
    "in a range": "r = f(3)\n    assert ((r > 0) & (r < 5)).all()",
    "by two functions": "r = f(3)\n    assert np.logical_and(r > 0, r < 5).all() and np.all(r < 9)",
    "none is": "assert not (f(3) < 0).any()",
    "none by a function": "assert not np.any(f(3) < 0)",
    "differences": "assert (np.diff(f(3)) >= 0).all()",
}
OF_LISTS = {
    "each": "assert all(x > 0 for x in f(3))",
    "each kind": "assert all(isinstance(x, int) for x in f(3))",
    "each of a list": "assert all([x > 0 for x in f(3)])",
    "none": "assert not any(x < 0 for x in f(3))",
    "by map": "assert all(map(bool, f(3)))",
    "in a method": "import unittest\n    t = unittest.TestCase()\n    t.assertTrue(all(x > 0 for x in f(3)))",
    "none in a method": "import unittest\n    t = unittest.TestCase()\n    t.assertFalse(any(x < 0 for x in f(3)))",
}


async def of(candidate: str, body: str, **scoring: Any) -> RunResult:
    suite = f"import numpy as np\nfrom solution import f\ndef test_f():\n    {body}\n"
    return await scored(candidate, suite, "pytest", with_numpy=True, **scoring)


@pytest.mark.parametrize("body", [*OF_ARRAYS.values(), *OF_LISTS.values()], ids=[*OF_ARRAYS, *OF_LISTS])
async def test_what_holds_of_nothing_pays_nobody(body: str) -> None:
    """Whoever answers with something is paid."""
    is_array = body in OF_ARRAYS.values()
    found = await of(EMPTY_ARRAY if is_array else EMPTY_LIST, body)
    assert (found.score, str(found.validity)) == (None, "invalid"), found.detail
    assert "executed no assertion" in str(found.detail)
    paid = await of(ARRAY if is_array else LIST, body)
    assert (paid.score, str(paid.validity)) == (1.0, "valid"), paid.detail


@pytest.mark.parametrize("body", [OF_ARRAYS["greater"], OF_LISTS["each"]])
async def test_a_gold_solution_tells_whether_something_is_judged(body: str) -> None:
    is_array = body in OF_ARRAYS.values()
    full, empty = (ARRAY, EMPTY_ARRAY) if is_array else (LIST, EMPTY_LIST)
    found = await of(empty, body, gold={"solution.py": full})
    assert (found.score, str(found.validity)) == (0.0, "valid"), found.detail
    right = await of(f"{empty}x = 1\n", body, gold={"solution.py": empty})
    assert (right.score, str(right.validity)) == (1.0, "valid"), right.detail


RIGHTLY = {
    "of an empty argument": ("assert all(x > 0 for x in f([]))", "def f(xs): return [x for x in xs if x > 0]\n"),
    "of a size of nothing": ("assert all(x > 0 for x in f(0))", LIST),
    "beside a judgement": ("assert f(3) == []\n    assert all(x > 0 for x in f(3))", EMPTY_LIST),
    "beside a size": ("r = f(3)\n    assert len(r) == 0\n    assert not any(x < 0 for x in r)", EMPTY_LIST),
    "beside a class": ("r = f(3)\n    assert isinstance(r, list)\n    assert not any(x < 0 for x in r)", EMPTY_LIST),
    "in one of many turns": ("for n in range(4): assert all(x == 1 for x in f(n))", LIST),
    "of the tests' own": ("rows = []\n    assert all(r == 1 for r in rows) and f(1)[0] == 1", LIST),
    "with a function of their own": ("def any(xs): return len(xs) > 0\n    assert not any(f(0)) and any(f(1))", LIST),
    "with more": ("assert f(3) and all(x == 1 for x in f(3))", LIST),
}


@pytest.mark.parametrize("name", RIGHTLY)
async def test_who_answers_with_nothing_rightly_is_paid(name: str) -> None:
    body, candidate = RIGHTLY[name]
    found = await of(candidate, body)
    assert (found.score, str(found.validity)) == (1.0, "valid"), found.detail
