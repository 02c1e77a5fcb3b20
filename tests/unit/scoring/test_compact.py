from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harena.core.rows import RowsFile, written_rows
from harena.scoring.compact import KEPT, CompactScenarios
from harena.scoring.formats import import_scenarios
from harena.scoring.reading import ScenarioFileError
from harena.scoring.scenario import Scenario

CHECKS = [{"args": [1], "expected": {"$tuple": [1, {"$float": "nan"}]}}]
PROBLEMS = [
    {"id": "p", "entry_point": "f", "scoring": {"type": "tests", "checks": CHECKS}, "limits": {"memory_mb": 64}},
    {"id": "q", "scoring": {"type": "command", "pytest": ["t.py"], "files": {"t.py": "def test(): pass"}}},
]
ROWS: list[dict[str, Any]] = [
    {"id": "a", "problem": "p", "solution": "def f(x): return x", "limits": {"pids": 9}, "metadata": {"k": [1, None]}},
    {"id": "b", "problem": "p", "candidate": {"files": {"x/y.py": "\ud800"}, "entry": "x/y.py"}, "honeypot": True},
    {"id": "c", "problem": "q", "candidate": "", "expected": {"passed": False}},
    {"id": "d", "candidate": "print(1)", "scoring": {"type": "stdio", "cases": [{"stdout": "1"}]}},
    {"id": "e", "problem": {"entry_point": "f"}, "candidate": "", "scoring": {"type": "tests", "checks": CHECKS}},
]


@pytest.fixture(params=["lines", "rows"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Sequence[Scenario], Sequence[Scenario]]:
    """The same scenarios, as they are and compact."""
    if request.param == "lines":
        file = tmp_path / "x.jsonl"
        file.write_text("\n".join(json.dumps(row) for row in [{"problems": PROBLEMS}, *ROWS]))
        return import_scenarios(file).scenarios, import_scenarios(file, compact=True).scenarios
    rows = tmp_path / "rows"
    rows.write_bytes(b"".join(written_rows(ROWS[3:])))
    return import_scenarios(ROWS[3:]).scenarios, import_scenarios(RowsFile(rows), compact=True).scenarios


def test_they_are_the_same(both: tuple[Sequence[Scenario], Sequence[Scenario]]) -> None:
    """In every field, however they are asked for."""
    plain, compact = both
    assert isinstance(compact, CompactScenarios)
    assert len(compact) == len(plain) > 1
    assert compact.ids == [scenario.id for scenario in plain]
    for index, scenario in enumerate(plain):
        # what is compared holds NaN, which is no other NaN's equal
        assert repr(compact[index]) == repr(scenario)
        assert compact[index] is compact[index]
    assert repr([*compact]) == repr([*plain]) == repr(compact[:])
    assert repr(compact[-2:]) == repr([*plain[-2:]])
    with pytest.raises(IndexError):
        compact[len(plain)]


def test_what_is_shared_stays_shared(tmp_path: Path) -> None:
    """A problem's contract is one object, and those of rows are not kept."""
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in [{"problems": PROBLEMS}, *ROWS]))
    compact = import_scenarios(file, compact=True).scenarios
    assert compact[0].scoring is compact[1].scoring
    assert next(iter(compact)).scoring is compact[1].scoring


def test_only_the_last_are_kept(tmp_path: Path) -> None:
    """As many as may run at one time."""
    rows = tmp_path / "rows"
    rows.write_bytes(b"".join(written_rows({**ROWS[3], "id": f"s{number}"} for number in range(KEPT + 2))))
    compact = import_scenarios(RowsFile(rows), compact=True).scenarios
    first = compact[0]
    assert [compact[index].id for index in range(1, KEPT)][-1] == f"s{KEPT - 1}"
    assert compact[0] is first
    assert (compact[KEPT].id, compact[KEPT + 1].id) == (f"s{KEPT}", f"s{KEPT + 1}")
    assert compact[1].id == "s1"
    assert compact._lately.cache_info().currsize == KEPT  # type: ignore[attr-defined]


def test_mistakes_are_told_as_ever(tmp_path: Path) -> None:
    """All of them, with their places."""
    rows = tmp_path / "rows"
    rows.write_bytes(b"".join(written_rows([ROWS[3], {"id": 5}, ROWS[3]])))
    with pytest.raises(ScenarioFileError) as caught:
        import_scenarios(RowsFile(rows), compact=True)
    assert {mistake.field for mistake in caught.value.mistakes} == {"[1].id", "[1].candidate", "[2].id"}
