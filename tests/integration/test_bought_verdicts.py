"""What a candidate tried to buy: a pass by the end of a loop of the tests, no score by files in the way of others."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import Reason, RunResult, Validity
from harena.scoring import load_scenarios

pytestmark = SHARED

RIGHT = "def add(a, b):\n    return a + b\n"
MAPPED = """
def is_right(case):
    return add(*case[:2]) == case[2]
assert all(map(is_right, [(1, 2, 3), (4, 5, 9)]))
assert len(list(filter(is_right, [(1, 2, 3), (4, 5, 0)]))) == 1
assert list(map(max, (1, 5), (3, 2))) == [3, 5] and list(filter(None, (0, 1))) == [1]
"""
SUITE = "from solution import add\ndef test_add():\n" + "".join(f"    {line}\n" for line in MAPPED.splitlines())
CLASSIC = "import unittest\n" + SUITE + "class T(unittest.TestCase):\n    def test_all(self): test_add()\n"
HOMES: dict[str, dict[str, Any]] = {
    "asserts": {"asserts": MAPPED},
    "asserts, called": {"asserts": MAPPED, "calls": {"add": "add"}},
    **{
        f"{kind}, isolate: {isolate}": {kind: ["test_it.py"], "files": {"test_it.py": suite}, "isolate": isolate}
        for kind, suite in (("pytest", SUITE), ("unittest", CLASSIC))
        for isolate in (False, True, "sandbox")
    },
}
STOPPING = {
    "itself": "def add(a, b):\n    raise StopIteration\n",
    "asynchronously": "def add(a, b):\n    raise StopAsyncIteration\n",
    "by another name": "class End(StopIteration): pass\ndef add(a, b):\n    raise End\n",
    "in an object": "class Add:\n    def __call__(self, a, b): raise StopIteration\nadd = Add()\n",
    "after a right one": "left = [3]\ndef add(a, b):\n    if not left: raise StopIteration\n    return left.pop()\n",
}


async def scored(candidate: Any, scoring: dict[str, Any], **fields: Any) -> RunResult:
    """The envelope, by this environment's interpreter."""
    row = {"id": "one", "candidate": candidate, "scoring": scoring, **fields}
    made = load_scenarios([row]).scenarios[0]
    return await judged(made)


@pytest.mark.parametrize("home", HOMES)
async def test_no_loop_of_the_tests_ends_by_a_call(home: str) -> None:
    """`map` and `filter` of the builtins take StopIteration out of a call for their own end."""
    contract = {"type": "command", **HOMES[home]}
    assert (await scored(RIGHT, contract)).score == 1.0
    for name, candidate in STOPPING.items():
        result = await scored(candidate, contract)
        assert (name, result.score, result.validity) == (name, 0.0, Validity.VALID), result.detail


@pytest.mark.parametrize("home", ["asserts", "asserts, called", "unittest, isolate: True", "unittest, isolate: False"])
async def test_annotations_are_evaluated_as_everywhere(home: str) -> None:
    """A program that names what it has not imported does not start, whoever runs it."""
    unimported = "def add(a: List[int], b) -> int:\n    return a + b\n"
    assert (await scored(unimported, {"type": "command", **HOMES[home]})).score == 0.0
    kept = RIGHT + "assert add.__annotations__ == {}\ndef one(a: int): pass\nassert one.__annotations__['a'] is int\n"
    assert (await scored(kept, {"type": "command", **HOMES[home]})).score == 1.0


STDIO = {"type": "stdio", "cases": [{"stdout": "1"}]}


@pytest.mark.parametrize(
    ("candidate", "problem"),
    [
        ({"data": "x"}, {"data/rows.txt": "1"}),
        ({"data/rows.txt": "x"}, {"data": "1"}),
        ({"data": "x"}, {"data": "1"}),
    ],
)
async def test_a_candidates_file_in_the_place_of_a_trusted_one_is_left_out(
    candidate: dict[str, str], problem: dict[str, str]
) -> None:
    """It cannot break the sandbox by being there."""
    (path,) = problem
    files = {"solution.py": f"print(open({path!r}).read())\n", **candidate}
    result = await scored({"files": files}, STDIO, problem={"files": problem})
    assert (result.score, result.detail) == (1.0, "")


@pytest.mark.parametrize("scoring", [STDIO, {"type": "tests", "entry_point": "f", "checks": [{"expected": 1}]}])
async def test_an_entry_in_the_place_of_a_trusted_folder_scores_0(scoring: dict[str, Any]) -> None:
    """Nothing of it can be run."""
    result = await scored({"files": {"data": "x"}, "entry": "data"}, scoring, problem={"files": {"data/rows": ""}})
    assert (result.score, result.reason) == (0.0, Reason.MISSING_ENTRY_POINT)
    assert "takes the place of data" in result.detail


ITERABLE = [
    "range(1, 3)",
    "{2: 0, 1: 0}.keys()",
    "map(int, '12')",
    "(x for x in (2, 1))",
    "deque([1, 2])",
    "iter([2, 1])",
]


@pytest.mark.parametrize("comparison", ["items", "members"])
async def test_items_are_compared_whatever_gives_them(comparison: str) -> None:
    """As `sorted` and `set` take them; an endless answer is none."""
    contract: dict[str, Any] = {
        "type": "tests",
        "entry_point": "f",
        "checks": [{"expected": [1, 2]}],
        "comparison": comparison,
    }
    for answer in ITERABLE:
        result = await scored(f"from collections import deque\ndef f():\n    return {answer}\n", contract)
        assert (answer, result.score) == (answer, 1.0), result.detail
    for answer, reason in {
        "__import__('itertools').count()": Reason.BAD_VALUE,
        "range(3)": Reason.WRONG_ANSWER,
        "12": Reason.WRONG_ANSWER,
        "object()": Reason.EXCEPTION,
    }.items():
        result = await scored(f"def f():\n    return {answer}\n", contract)
        assert (answer, result.score, result.reason) == (answer, 0.0, reason)


async def test_a_mark_of_utf_8_is_no_part_of_a_program() -> None:
    """Editors leave it, and an interpreter takes it from a file."""
    marked = "\ufeff" + RIGHT
    called = {"type": "tests", "entry_point": "add", "checks": [{"args": [1, 2], "expected": 3}]}
    for contract in (called, *({"type": "command", **home} for name, home in HOMES.items() if "asserts" in name)):
        assert (await scored(marked, contract)).score == 1.0
