from __future__ import annotations

import json
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harena.core.garbage import collection_paused
from harena.core.rows import RowsFile, written_rows
from harena.jobs.benchmark.job_scenarios import held_bytes_of
from harena.scoring.compact import KEPT, KEPT_BYTES, CompactScenarios
from harena.scoring.contracts.contract import StdioContract
from harena.scoring.contracts.stored import StoredContract
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
    assert len(compact._lately) == KEPT  # type: ignore[attr-defined]


def test_of_long_rows_fewer_are_kept(tmp_path: Path) -> None:
    """The last one, however long it is."""
    long = {**ROWS[3], "candidate": "x" * (KEPT_BYTES // 2)}
    rows = tmp_path / "rows"
    rows.write_bytes(b"".join(written_rows({**long, "id": f"s{number}"} for number in range(4))))
    compact = import_scenarios(RowsFile(rows), compact=True).scenarios
    first = compact[0]
    assert compact[0] is first
    assert len({id(compact[number]) for number in (1, 2)}) == 2
    assert compact[2] is compact[2]
    assert len(compact._lately) == 1  # type: ignore[attr-defined]


def test_they_go_with_the_last_who_uses_them(tmp_path: Path) -> None:
    """Without a collection of garbage, which may be long in coming."""
    rows = tmp_path / "rows"
    rows.write_bytes(b"".join(written_rows(ROWS[3:])))
    compact = import_scenarios(RowsFile(rows), compact=True).scenarios
    assert compact[0].id == "d"
    gone = weakref.ref(compact)
    with collection_paused():
        del compact
        assert gone() is None


@pytest.mark.parametrize("name", ["rows", "problems", "contract"])
def test_what_they_hold_is_told(tmp_path: Path, name: str) -> None:
    """Texts of rows, of problems and of stored contracts; one that many share counts once."""
    size = 1_000_000
    long = {"type": "stdio", "cases": [{"stdin": "x" * size, "stdout": "1"}]}
    stored = StoredContract("c@1", StdioContract.model_validate(long))
    top: list[dict[str, Any]] = []
    if name == "rows":
        made = [{"id": f"s{number}", "candidate": "c" * size, "scoring": ROWS[3]["scoring"]} for number in range(8)]
    elif name == "problems":
        top = [{"problems": [{"id": "p", "scoring": long}]}]
        made = [{"id": f"s{number}", "candidate": "c", "problem": "p"} for number in range(8)]
    else:
        made = [{"id": f"s{number}", "candidate": "c", "scoring": {"contract": "c@1"}} for number in range(8)]
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in [*top, *made]))
    compact = import_scenarios(file, compact=True, contracts=lambda _: stored).scenarios
    plain = import_scenarios(file, contracts=lambda _: stored).scenarios
    held = [held_bytes_of(compact), held_bytes_of(plain)]
    least = 8 * size if name == "rows" else size
    assert least < held[1] < least + 100_000
    assert least < held[0] < least + 2 * KEPT_BYTES + 100_000


def test_mistakes_are_told_as_ever(tmp_path: Path) -> None:
    """All of them, with their places."""
    rows = tmp_path / "rows"
    rows.write_bytes(b"".join(written_rows([ROWS[3], {"id": 5}, ROWS[3]])))
    with pytest.raises(ScenarioFileError) as caught:
        import_scenarios(RowsFile(rows), compact=True)
    assert {mistake.field for mistake in caught.value.mistakes} == {"[1].id", "[1].candidate", "[2].id"}
