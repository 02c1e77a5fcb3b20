"""Asserts and a candidate in one process: which names they share, and where a gold solution shows that they must be."""

from __future__ import annotations

from typing import Any

import pytest
from battery_world import Source
from shared_sandboxes import SHARED, judged

from harena.core.models import SandboxSpec
from harena.core.results import RunResult, Validity
from harena.scoring import load_scenarios, score_scenario
from harena.scoring.formats import import_scenarios
from harena.testing import FakeRuntime

pytestmark = SHARED


async def scored(candidate: str, tests: str, **fields: Any) -> RunResult:
    """One run of asserts."""
    scoring = {"type": "command", "asserts": tests, **fields}
    return await judged(load_scenarios([{"id": "one", "candidate": candidate, "scoring": scoring}]).scenarios[0])


ADDING = "total = 0\ndef add(n):\n    global total\n    total += n\n    return total\n"
MAXIMUM = "def max(xs):\n    best = xs[0]\n    for x in xs:\n        best = x if x > best else best\n    return best\n"
ABSOLUTE = "def abs(x): return x if x > 0 else -x\ndef f(x): return abs(x)\n"
NEAR = "assert abs(f(-2) - 2) < 1e-9\n"
HONEST = {
    "a global that changes": ("assert add(2) == 2\nassert total == 2", ADDING, None),
    "a global made late": (
        "assert f(3) == 9 and table[3] == 9",
        "table = None\ndef f(n):\n    global table\n    table = [x * x for x in range(9)]\n    return table[n]\n",
        None,
    ),
    "a global that tests reset": ("assert add(2) == 2\ntotal = 0\nassert add(3) == 3", ADDING, None),
    "a global that tests reset and read": (
        "def reset():\n    global total\n    total = 0\nadd(2)\nreset()\nassert total == 0\n"
        "assert add(3) == 3 == total\ntotal = 7\nassert add(1) == total == 8",
        ADDING,
        ADDING,
    ),
    "a function of the tests": (
        "def is_bad(v): return v >= 4\nassert first(5) == 4",
        "def first(n): return next(v for v in range(1, n + 1) if is_bad(v))\n",
        None,
    ),
    "a class of the tests": (
        "class Node:\n    def __init__(self, v): self.v = v\nassert f(2).v == 2\nassert f(Node(3)).v == 3",
        "def f(v): return v if isinstance(v, Node) else Node(v)\n",
        None,
    ),
    "a builtin that tests replace": (
        "def input(): return '3'\nassert f() == 3",
        "def f(): return int(input())\n",
        "own",
    ),
    "named like a builtin": ("x = sum(3, 4)\nassert x == 7", "def sum(a, b): return a + b\n", None),
    "named like one of several": (
        "for xs in ([1, 2], [3, 1]):\n    assert max(xs) == sorted(xs)[-1]",
        MAXIMUM,
        MAXIMUM,
    ),
    "a helper named like a builtin": (NEAR, ABSOLUTE, ABSOLUTE),
    "no such helper": (NEAR, "def f(x): return -x\n", ABSOLUTE),
    "what it writes": ("assert open('o.txt').read() == '3'", "open('o.txt', 'w').write('3')\n", None),
    "names in classes and texts": (
        "class T:\n    y = f(1)\n    def m(self): return f(2)\ndef t(): return eval('f(3)')\n"
        "assert (T.y, T().m(), t()) == (2, 3, 4)",
        "n = 1\ndef f(x):\n    global n\n    n = 1\n    return x + n\n",
        None,
    ),
}
"""name -> (asserts, a right program, the gold solution)"""


ONLY_BESIDE = ("a class of the tests", "what it writes")


@pytest.mark.parametrize("name", HONEST)
async def test_names_are_shared_as_in_one_module(name: str) -> None:
    """What plain Python makes of them, where no candidate can decide by that."""
    tests, program, gold = HONEST[name]
    fields: dict[str, Any] = {} if gold is None else {"gold": program if gold == "own" else gold}
    if name in ONLY_BESIDE:
        found = await scored(program, tests)
        assert (found.score, "`gold`" in found.detail) == (None, True), found.detail
        fields = {"isolate": False}
    result = await scored(program, tests, **fields)
    assert (result.score, result.detail) == (1.0, "")


COMPARED = (
    "expected = [1, 2]\ndef known(xs): return sorted(xs)\n"
    "for xs in ([2, 1], [1, 2]):\n    assert f(xs) == expected == known(xs) == sorted(xs)\n"
)
EMPTIED = "for xs in ([2, 1],):\n    assert f(xs) == sorted(xs)\n"
FORGED = {
    "its own sorted": (EMPTIED, "def sorted(xs): return []\ndef f(xs): return []\n"),
    "rebinds what is expected": (
        "expected = [1]\nassert f(2) == expected",
        "expected = 0\ndef f(n):\n    global expected\n    expected = 3\n    return 3\n",
    ),
    "reads what is expected": (COMPARED, "def f(xs): return expected\n"),
    "looks for what is expected": (COMPARED, "def f(xs): return globals()['expected']\n"),
    "asks the tests": (COMPARED, "def f(xs): return known(xs)\n"),
    "a global sorted in a call": (EMPTIED, "def f(xs):\n    globals()['sorted'] = lambda xs: []\n    return []\n"),
    "a builtin in a call": (
        EMPTIED,
        "import builtins\ndef f(xs):\n    builtins.sorted = lambda xs: []\n    return []\n",
    ),
    "builtins of its own": (EMPTIED, "__builtins__ = {'sorted': lambda xs: []}\ndef f(xs): return []\n"),
    "no syntax tree": (EMPTIED, "import ast\nast.parse = ast.walk = lambda *_: []\ndef f(xs): return []\n"),
}


@pytest.mark.parametrize("gold", [None, "def f(xs):\n    return sorted(xs) if xs != 2 else [1]\n"])
@pytest.mark.parametrize("name", FORGED)
async def test_no_candidate_decides_what_a_name_of_the_tests_is(name: str, gold: str | None) -> None:
    """Names of builtins and names that the tests bind are theirs; what they expect is not shown."""
    tests, program = FORGED[name]
    result = await scored(program, tests, **({} if gold is None else {"gold": gold}))
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


WRONG_NAMED_LIKE_BUILTINS = {
    "max": ("for xs in ([1, 2], [3, 1]):\n    assert max(xs) == sorted(xs)[-1]", MAXIMUM, "def max(xs): return 0\n"),
    "sum": ("x = sum(3, 4)\nassert x == 7", "def sum(a, b): return a + b\n", "def sum(a, b): return 7 * a\n"),
    "not at all": ("x = pow(2, 3)\nassert x == 8", "def pow(a, b): return a ** b\n", "def power(a, b): return 7\n"),
    "sorted": (
        "xs = [3, 1]\nassert sorted(xs) == [1, 3]",
        "def sorted(xs): return xs if xs[0] < xs[-1] else xs[::-1]\n",
        "def sorted(xs): return []\n",
    ),
}


@pytest.mark.parametrize("name", WRONG_NAMED_LIKE_BUILTINS)
async def test_a_function_named_like_a_builtin_is_the_one_that_is_tested(name: str) -> None:
    """In a row of MBPP, and in asserts with a gold solution: the tests do not call Python's own in its place."""
    tests, right, wrong = WRONG_NAMED_LIKE_BUILTINS[name]
    row = {"task_id": 0, "text": name, "code": right, "test_list": [tests]}
    answers = [{"task_id": 0, "solution": right}, {"task_id": 0, "solution": wrong}]
    results = [await judged(one) for one in import_scenarios([row], candidates=answers, form="mbpp").scenarios]
    results += [await scored(program, tests, gold=right) for program in (right, wrong)]
    assert [(one.score, one.validity) for one in results] == [(1.0, Validity.VALID), (0.0, Validity.VALID)] * 2


async def test_asserts_that_name_nothing_of_a_candidate_have_no_score() -> None:
    """Whoever the candidate is: nobody can tell which function is tested."""
    tests = "for xs in ([1, 2], [3, 1]):\n    assert max(xs) == sorted(xs)[-1]"
    for program in (MAXIMUM, "def max(xs): return 0\n", "def f(): pass\n"):
        result = await scored(program, tests)
        assert (result.score, "(max, sorted): say with `calls`" in result.detail) == (None, True)
    assert (await scored(MAXIMUM, tests, calls={"max": "max"})).score == 1.0
    assert (await scored("def max(xs): return 0\n", tests, calls={"max": "max"})).score == 0.0


CHANGING = "def f(a):\n    a[:] = sorted(set(a))\n    return len(a)\n"
CHANGED = "a = [1, 1, 2]\nk = f(a)\nassert k == 2\nassert a[:k] == [1, 2]"


async def test_the_gold_decides_whether_calls_are_in_another_process() -> None:
    """A right candidate is paid beside the tests, a wrong one scores 0; without a gold it stays apart."""
    fields: dict[str, Any] = {"calls": {"f": "f"}}
    assert (await scored(CHANGING, CHANGED, **fields)).score == 0.0
    assert (await scored(CHANGING, CHANGED, **fields, isolate=False)).score == 1.0
    assert (await scored(CHANGING, CHANGED, **fields, gold=CHANGING)).score == 1.0
    wrong = await scored("def f(a): return 2\n", CHANGED, **fields, gold=CHANGING)
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID)
    apart = await scored("def f(a): return 9\n", "for n in (1, 2):\n    assert f(n) + f(n) == 2 * n", **fields,
                         gold="def f(a): return a\n")  # fmt: skip
    assert (apart.score, apart.validity) == (0.0, Validity.VALID)


@pytest.mark.parametrize("fields", [{}, {"calls": {"f": "f"}}])
async def test_tests_whose_gold_is_not_paid_have_no_score(fields: dict[str, Any]) -> None:
    """What they say about a candidate that fails, nobody knows."""
    result = await scored("def f(): return 3\n", "assert f() == 4", gold="def f(): return 5\n", **fields)
    assert (result.score, result.validity) == (None, Validity.INVALID)
    assert "the gold solution is not paid: " in result.detail


async def test_a_gold_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by each candidate that fails; and not by one that is paid."""
    runtime = FakeRuntime()
    made: list[None] = []
    create = runtime.create

    async def counted(*given: Any, **named: Any) -> Any:
        made.append(None)
        return await create(*given, **named)

    monkeypatch.setattr(runtime, "create", counted)
    scoring = {
        "type": "command",
        "asserts": "assert f(2) + f(3) == 5",
        "calls": {"f": "f"},
        "gold": "def f(n): return n\n",
    }
    source, counts = Source(runtime), []
    for program in ("def f(n): return n\n", "def f(n): return 0\n", "def f(n): return 1\n", "def f(n): return 9\n"):
        rows = [{"id": "one", "candidate": program, "scoring": scoring}]
        before = len(made)
        await score_scenario(
            load_scenarios(rows).scenarios[0], sandboxes=source, base_spec=SandboxSpec(), timeout_seconds=30
        )
        counts.append(len(made) - before)
    assert counts == [1, 2, 1, 1]


IN_PLACE = {
    "a statement": "a = [3, 1]\n    candidate(a)\n    assert a == [1, 3]\n",
    "None": "a = [3, 1]\n    assert candidate(a) is None\n    assert a == [1, 3]\n",
    "not used": "a = [3, 1]\n    x = candidate(a)\n    assert a == [1, 3]\n",
    "another name": "g = candidate\n    a = [3, 1]\n    g(a)\n    assert a == [1, 3]\n",
    "a loop": "for a, b in [([3, 1], [1, 3])]:\n        candidate(a)\n        assert a == b\n",
    "its own name": "a = [3, 1]\n    f(a)\n    assert a == [1, 3]\n",
}


@pytest.mark.parametrize("form", IN_PLACE)
async def test_check_sees_what_a_function_does_in_place(form: str) -> None:
    """In HumanEval's tests, by whatever name they call it; with the row's own solution, and without one."""
    row = {
        "task_id": "H/0",
        "prompt": "def f(a):\n",
        "entry_point": "f",
        "test": f"def check(candidate):\n    {IN_PLACE[form]}",
    }
    answers = [{"task_id": "H/0", "completion": body} for body in ("    a.sort()\n", "    a.reverse(); a.clear()\n")]
    for solution in ({}, {"canonical_solution": "    a.sort()\n"}):
        made = import_scenarios([{**row, **solution}], candidates=answers, form="humaneval").scenarios
        assert [(await judged(one)).score for one in made] == [1.0, 0.0]
