"""What the control of other literals costs who is rightly equal everywhere, and that it finds who forges."""

from __future__ import annotations

import types
from typing import Any, cast

import pytest

from harena.scoring.contracts.command import CommandContract
from harena.scoring.scorers.changed_literals import literal_tests
from harena.scoring.scorers.literal_control import _Control
from harena.scoring.scorers.program import Bench
from harena.scoring.verdict import Verdict

ALL_EQUAL = """
class V:
    def __init__(self, number): pass
    def __eq__(self, other): return isinstance(other, V)
    def __hash__(self): return 1
    def __add__(self, other): return V(1)
class W:
    def __init__(self, number): self.number = number
    def __eq__(self, other): return self.number == other.number
    def __hash__(self): return 1
    def __add__(self, other): return W(self.number + other.number)
"""
FILLED_IN = """
last = []
class V:
    def __init__(self, number): self.number = number; last[:] = [number]
    def __eq__(self, other): return last[0] in (self.number, other.number)
    def __hash__(self): return 1
    def __add__(self, other): return V(0)
W = V
"""
TESTS = "from solution import V, W\n" + "".join(
    f"def test_{name}_{number}(): assert {name}({number}) + {name}(1) == {name}({number + 1})\n"
    for name in "VW"
    for number in range(1, 5)
)


async def _runs(source: str) -> tuple[bool, int]:
    """(whether it is found to have computed nothing, how many runs that took)"""
    contract = CommandContract.model_validate(
        {"type": "command", "pytest": ["test_it.py"], "files": {"test_it.py": TESTS}}
    )
    scenario = types.SimpleNamespace(files={}, candidate=types.SimpleNamespace(entry="solution.py"))
    bench: Any = types.SimpleNamespace(
        scenario=scenario, base_spec=None, spec=None, sandboxes=None, timeout_seconds=1.0
    )
    bench.again = lambda: bench
    runs = 0

    async def judge(bench: Bench, changed: CommandContract) -> Verdict:
        nonlocal runs
        runs += 1
        names: dict[str, Any] = {}
        exec(source, names)
        text = changed.files["test_it.py"].replace("from solution import V, W\n", "")
        detail = ""
        try:
            exec(text, names)
            for test in [value for name, value in names.items() if name.startswith("test_")]:
                test()
        except AssertionError as error:
            detail = f"{type(error).__name__}: {error}"
        return cast(Verdict, types.SimpleNamespace(passed=not detail, detail=detail, reason=None))

    tests = literal_tests(contract, {"solution"})
    assert tests is not None
    return await _Control(bench, contract, judge, tests).finds(), runs


@pytest.mark.parametrize("_", range(8))
async def test_who_is_rightly_equal_costs_a_few_runs(_: int) -> None:
    """Two for each of three places, where the places are drawn."""
    found, runs = await _runs(ALL_EQUAL)
    assert not found
    assert 1 <= runs <= 6


async def test_who_is_filled_in_is_found() -> None:
    assert (await _runs(FILLED_IN))[0]
