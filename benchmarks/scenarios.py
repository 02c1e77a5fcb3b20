"""The workload's programs as scenarios: the same functions, the same calls, the same verdicts, the `tests` contract.

A program with asserts decides about itself; as a scenario it is asked call by call, and its values are compared outside
its process. So a benchmark job does more for a verdict than who starts `python -c PROGRAM` and looks at the exit code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.verdicts import Verdict
from benchmarks.workload import Character, Program


def scenario_row(program: Program) -> dict[str, Any]:
    """One scenario in harena's own format, with its known verdict. Raises ValueError for a program that reads stdin."""
    if program.stdin is not None:
        raise ValueError(f"program {program.index} is checked by its output: only programs with asserts have calls")
    checks = [{"args": list(arguments), "expected": value} for arguments, value in program.calls]
    if program.character is Character.WRONG:  # as the last assert of such a program asks for another value
        checks[-1]["expected"] = f"not {checks[-1]['expected']!r}"
    return {
        "id": f"program-{program.index}",
        "candidate": program.solution,
        "scoring": {"type": "tests", "entry_point": program.entry_point, "checks": checks},
        "expected": {"passed": program.expected_verdict is Verdict.PASS},
    }


def scenario_rows(programs: Sequence[Program]) -> list[dict[str, Any]]:
    """All of them, in order."""
    return [scenario_row(program) for program in programs]
