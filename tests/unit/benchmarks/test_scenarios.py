"""The workload as scenarios: each is one that harena's loader reads, and its verdict is the program's."""

from __future__ import annotations

import pytest
from benchmarks.scenarios import scenario_row, scenario_rows
from benchmarks.verdicts import Verdict
from benchmarks.workload import Character, suite

from harena.scoring.formats import import_scenarios


def test_every_program_with_asserts_is_a_scenario() -> None:
    """Same order, same known verdict, one check for each assert."""
    programs = suite("mixed", 60)
    scenarios = import_scenarios(scenario_rows(programs)).scenarios
    assert [scenario.id for scenario in scenarios] == [f"program-{index}" for index in range(60)]
    for program, scenario in zip(programs, scenarios, strict=True):
        assert scenario.expected is not None
        assert scenario.expected.passed is (program.expected_verdict is Verdict.PASS)
        assert len(scenario.scoring.checks) == program.source.count("\nassert ") == 3  # type: ignore[attr-defined]


def test_the_candidate_is_the_program_without_its_asserts() -> None:
    """So that nothing of the checks is in the sandbox before they are asked."""
    for program in suite("clean", 20):
        row = scenario_row(program)
        assert program.source.startswith(row["candidate"])
        assert "assert" not in row["candidate"]


def test_what_is_right_is_expected_and_what_is_wrong_is_not() -> None:
    """Of a wrong program the last check asks for another value, as its last assert does."""
    for program in suite("clean", 40):
        names: dict[str, object] = {}
        if program.character is Character.RAISE:
            continue
        row = scenario_row(program)
        exec(row["candidate"], names)
        answers = [names[program.entry_point](*check["args"]) for check in row["scoring"]["checks"]]  # type: ignore[operator]
        expected = [check["expected"] for check in row["scoring"]["checks"]]
        assert answers[:-1] == expected[:-1]
        assert (answers[-1] == expected[-1]) is (program.character is Character.OK)


def test_a_program_that_reads_is_none() -> None:
    """It has no calls to ask for."""
    with pytest.raises(ValueError, match="checked by its output"):
        scenario_row(suite("stdio", 1)[0])
