"""A large scenario is looked at and digested by a thread beside the event loop; a small one at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from harena.core.models import SandboxSpec
from harena.core.ports import SandboxPort
from harena.core.results import Reason
from harena.scoring import load_scenarios, score, score_scenario
from harena.scoring.contracts import parts
from harena.scoring.contracts.contract import CommandContract, PythonContract, StdioContract
from harena.scoring.digests import digest_of
from harena.scoring.scorers import scorer_blame, suite_without_candidate
from harena.scoring.scorers.program import Bench
from harena.scoring.slices import SMALL, size_at_least

SMALL_CASES = [{"stdin": "", "stdout": "2"}]


class NoSandboxes:
    """Where nothing may be run."""

    def sandbox(self, spec: SandboxSpec) -> AbstractAsyncContextManager[SandboxPort]:
        """Refused."""
        raise AssertionError("a sandbox was asked for")


@pytest.mark.parametrize(
    ("files", "cases", "is_large"),
    [
        ({"a.py": "x"}, SMALL_CASES, False),
        ({"a.py": "x" * 200_000}, SMALL_CASES, True),
        ({"x" * 200_000: "x"}, SMALL_CASES, True),
        ({"a.py": "x"}, [{"stdin": "x" * 200_000, "stdout": "2"}], True),
        ({"a.py": "x"}, SMALL_CASES * 5000, True),
        ({f"{number}.py": "x" for number in range(10_000)}, SMALL_CASES, True),
    ],
)
async def test_where_a_scenario_is_digested(
    files: dict[str, str], cases: list[Any], is_large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its contract, its candidate and what was seen of it."""
    [scenario] = load_scenarios(
        [{"id": "s", "candidate": {"files": files}, "scoring": {"type": "stdio", "cases": cases}}]
    ).scenarios
    in_loop: list[bool] = []

    def watched(made: Any) -> str:
        in_loop.append(threading.current_thread() is threading.main_thread())
        return digest_of(made)

    for module in (score, parts):
        monkeypatch.setattr(module, "digest_of", watched)
    made = await score_scenario(scenario, sandboxes=NoSandboxes(), base_spec=SandboxSpec(), timeout_seconds=1)
    assert made.reason in (Reason.MISSING_ENTRY_POINT, Reason.INVALID_CANDIDATE)
    assert in_loop == [not is_large] * 2


@pytest.mark.parametrize("size", [10, 200_000])
async def test_where_a_problems_files_are_digested(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each question that is asked once for a suite, and once for a scorer."""
    scoring = {"type": "command", "pytest": ["test_a.py"], "files": {"test_a.py": "def test(): assert 1"}}
    problem = {"files": {"a.txt": "x" * size}, "scoring": scoring}
    [scenario] = load_scenarios([{"id": "s", "candidate": "x = 1", "problem": problem}]).scenarios
    in_loop: list[bool] = []

    def watched(made: Any) -> str:
        in_loop.append(threading.current_thread() is threading.main_thread())
        return digest_of(made)

    for module in (suite_without_candidate, scorer_blame):
        monkeypatch.setattr(module, "digest_of", watched)
    bench = Bench(scenario, NoSandboxes(), SandboxSpec(), 1)
    assert isinstance(scenario.scoring, CommandContract)
    keys = [await suite_without_candidate.suite_key(bench, scenario.scoring, more) for more in ("a", "a", "b")]
    assert keys[0] == keys[1] != keys[2]
    scorers = [PythonContract(type="python", source=f"def score(run): return {score}") for score in (0.5, 1.0)]
    assert await scorer_blame._key(bench, scorers[0]) != await scorer_blame._key(bench, scorers[1])
    assert in_loop == [size < 1000] * 5


class _Counted(list[Any]):
    """Parts that count how many were looked at."""

    read = 0

    def __iter__(self) -> Iterator[Any]:
        for part in super().__iter__():
            self.read += 1
            yield part


def test_a_large_value_is_not_looked_through() -> None:
    """The question whether it is large is asked in the event loop."""
    many = _Counted(range(100_000))
    assert size_at_least(many) > SMALL
    few = [_Counted(range(100)) for _ in range(100)]
    assert SMALL < size_at_least(few) < 2 * SMALL
    assert many.read + sum(each.read for each in few) < SMALL
    assert size_at_least({"a": ["bc", {"d": b"ef"}]}) == size_at_least({"a": ["", {"d": b"ef"}]}) + 2
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert size_at_least(deep) > SMALL
    contract = StdioContract.model_validate({"type": "stdio", "cases": [{"stdin": "x" * SMALL, "stdout": ""}]})
    assert size_at_least(contract) > SMALL
