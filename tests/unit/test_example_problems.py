"""The demo's input: it loads, it is large and mixed enough, and the verdicts that it states are true.

Only candidates named `right-` and `wrong-` are executed here, in this process: those are harmless. The crashing, slow,
memory-hungry and cheating ones need a sandbox, and are run by `make demo`.
"""

from __future__ import annotations

import importlib.util
import io
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from harena.scoring import codec
from harena.scoring.compare import compare_output, compare_values
from harena.scoring.contracts import contract as contracts
from harena.scoring.guest import driver as guest_driver
from harena.scoring.load import load_scenarios
from harena.scoring.scenario import Scenario, ScenarioBatch
from harena.scoring.values import Bag

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KINDS = {"right", "wrong", "crash", "syntax", "missing", "slow", "memory", "cheat"}


@cache
def batch() -> ScenarioBatch:
    """The demo's input, as the program reads it."""
    return load_scenarios(EXAMPLES / "candidate-solutions.yaml")


def kind_of(scenario: Scenario) -> str:
    """What its author says it is: the first word of its name."""
    return scenario.id.partition("/")[2].partition("-")[0]


def harmless(contract: type[contracts.TestsContract] | type[contracts.StdioContract]) -> list[object]:
    """Those that may be executed in this process."""
    return [
        pytest.param(scenario, id=scenario.id)
        for scenario in batch().scenarios
        if isinstance(scenario.scoring, contract) and kind_of(scenario) in ("right", "wrong")
    ]


def every_call_gives_what_is_expected(scenario: Scenario, contract: contracts.TestsContract) -> bool:
    """All checks in one interpreter, through the half of the contract that runs in the candidate's sandbox."""
    module = ModuleType("candidate")
    exec(compile(scenario.candidate.source, scenario.id, "exec"), module.__dict__)
    entry = guest_driver.find_entry(module, contract.entry_point or "")
    return all(call_gives_what_is_expected(entry, check, contract) for check in contract.checks)


def call_gives_what_is_expected(
    entry: Callable[[], object], check: contracts.Check, contract: contracts.TestsContract
) -> bool:
    """One check, with the values going through the codec in both directions."""
    question = (check.args, Bag("dict", tuple(check.kwargs.items())), None, contract.takes_subclasses(check))
    request, _ = guest_driver.decode(codec.encode(question), 0)
    reply = guest_driver.call(entry, request)
    if reply.startswith(b"r"):
        names, _message = codec.decode(reply[1:])
        return check.raises in names
    if not reply.startswith(b"v") or check.raises is not None:
        return False
    return compare_values(
        codec.decode(reply[1:]), check.expected, check.comparison or contract.comparison, contract.tolerance(check)
    )


def printed(source: str, stdin: str, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What a program prints, run as `__main__` in this process."""
    output = io.BytesIO()
    monkeypatch.setattr(sys, "argv", ["solution.py"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, write_through=True))
    exec(compile(source, "solution.py", "exec"), {"__name__": "__main__"})
    return output.getvalue()


def test_there_are_enough_problems_and_candidates() -> None:
    """At least 48 problems with 6 to 9 candidates each, and at least 340 candidates."""
    sizes = Counter(scenario.problem_id for scenario in batch().scenarios)

    assert len(sizes) >= 48
    assert len(batch()) >= 340
    assert {problem: size for problem, size in sizes.items() if not 6 <= size <= 9} == {}


def test_every_kind_of_contract_is_there() -> None:
    """Most problems call a function; the other four contracts occur too."""
    types = {scenario.problem_id: scenario.scoring.type for scenario in batch().scenarios}  # type: ignore[attr-defined]
    count = Counter(types.values())

    assert count["tests"] > len(types) / 2
    assert count["stdio"] >= 8
    assert min(count[name] for name in ("numeric", "python", "command")) >= 3


def test_ids_say_the_problem_and_the_kind() -> None:
    """`problem/kind-name`, each id once."""
    ids = [scenario.id for scenario in batch().scenarios]

    assert len(set(ids)) == len(ids)
    assert [s.id for s in batch().scenarios if s.id.partition("/")[0] != s.problem_id or kind_of(s) not in KINDS] == []


def test_every_candidate_has_a_known_verdict_that_fits_its_kind() -> None:
    """Exactly the right ones pass, and every verdict names its reason."""
    for scenario in batch().scenarios:
        assert scenario.expected is not None, scenario.id
        assert scenario.expected.passed == (kind_of(scenario) == "right"), scenario.id
        assert scenario.expected.reason, scenario.id
        assert scenario.expected.passed == (scenario.expected.reason == ("passed",)), scenario.id


def test_no_verdict_blames_the_platform() -> None:
    """What a candidate does is never the platform's failure."""
    blamed = {"platform_error", "starved", "scorer_error", "cancelled"}

    assert [s.id for s in batch().scenarios if s.expected and blamed & set(s.expected.reason)] == []


def test_every_problem_has_right_and_wrong_candidates() -> None:
    """Two right ones at least, one wrong one, and something worse."""
    kinds: dict[str | None, Counter[str]] = {}
    for scenario in batch().scenarios:
        kinds.setdefault(scenario.problem_id, Counter())[kind_of(scenario)] += 1

    for problem, count in kinds.items():
        assert count["right"] >= 2, problem
        assert count["wrong"] >= 1, problem
        assert count.total() > count["right"] + count["wrong"], problem


def test_the_demo_stays_quick() -> None:
    """Few candidates wait for their time to be over, and those have little of it; few take much memory."""
    slow = [scenario for scenario in batch().scenarios if kind_of(scenario) == "slow"]
    hungry = [scenario for scenario in batch().scenarios if kind_of(scenario) == "memory"]

    assert 6 <= len(slow) <= 12
    assert [scenario.id for scenario in slow if scenario.limits.timeout_seconds != 2] == []
    assert 4 <= len(hungry) <= 8
    assert [scenario.id for scenario in batch().scenarios if scenario.limits.memory_mb != 256] == []


def test_there_are_many_cheats_and_no_two_alike() -> None:
    """At least 40 cheating candidates; no candidate's text occurs twice."""
    assert sum(kind_of(scenario) == "cheat" for scenario in batch().scenarios) >= 40
    doubles = Counter((s.problem_id, tuple(s.candidate.files.items())) for s in batch().scenarios)
    assert [key for key, count in doubles.items() if count > 1] == []


def test_the_built_file_is_up_to_date() -> None:
    """`examples/problems/build.py` would write exactly what is there."""
    spec = importlib.util.spec_from_file_location("build_example_problems", EXAMPLES / "problems" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)

    assert build.TARGET.read_text(encoding="utf-8") == build.build(), "run python examples/problems/build.py"


@pytest.mark.parametrize("scenario", harmless(contracts.TestsContract))
def test_function_candidates_deserve_their_verdict(scenario: Scenario) -> None:
    """A right function gives every expected value, a wrong one misses at least one, type by type."""
    assert isinstance(scenario.scoring, contracts.TestsContract)

    assert every_call_gives_what_is_expected(scenario, scenario.scoring) == (kind_of(scenario) == "right")


@pytest.mark.parametrize("scenario", harmless(contracts.StdioContract))
def test_program_candidates_deserve_their_verdict(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """A right program prints every expected output, a wrong one misses at least one."""
    contract = scenario.scoring
    assert isinstance(contract, contracts.StdioContract)
    passed = all(
        compare_output(
            printed(scenario.candidate.source, case.stdin, monkeypatch),
            case.stdout,
            contract.comparison,
            contract.tolerance,
        )
        for case in contract.cases
    )

    assert passed == (kind_of(scenario) == "right")
