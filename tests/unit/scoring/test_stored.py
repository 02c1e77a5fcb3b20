"""Scoring contracts by name: found, pinned, and named in what is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harena.core.catalog import Lineage
from harena.core.errors import NotFoundError
from harena.scoring import ScenarioFileError, load_scenarios
from harena.scoring.contracts.stored import StoredContract, load_contract, pinned
from harena.scoring.formats import import_scenarios
from harena.scoring.load import load_problems
from harena.scoring.reading import Document, read_document

ADDING = {"type": "tests", "checks": [{"args": [1, 2], "expected": 3}]}


def lookup(name: str) -> StoredContract:
    """One contract, in two versions."""
    versions = {"adding": "adding@2", "adding@2": "adding@2", "adding@1": "adding@1"}
    if name not in versions:
        raise NotFoundError(f"there is no {name}")
    return StoredContract(versions[name], load_contract(Document("contract", ADDING)))


def problem(**fields: Any) -> dict[str, Any]:
    """With a function to call."""
    return {"id": "p", "entry_point": "add", "scoring": {"contract": "adding"}, **fields}


def test_scenarios_say_which_version_scores_them() -> None:
    """By problem, by themselves, in place, and with candidates of another file; a contract in place has no version."""
    rows = {
        "problems": [problem()],
        "scenarios": [
            {"id": "a", "problem": "p", "candidate": "x = 1"},
            {"id": "b", "problem": "p", "candidate": "x = 1", "scoring_contract": {"contract": "adding@1"}},
            {"id": "c", "problem": problem(), "candidate": "x = 1"},
            {"id": "d", "problem": "p", "candidate": "x = 1", "scoring": ADDING},
        ],
    }
    made = load_scenarios(rows, contracts=lookup).scenarios
    versions = [scenario.lineage.contract for scenario in made]
    assert versions == ["adding@2", "adding@1", "adding@2", None]
    assert {scenario.scoring.fingerprint for scenario in made} == {made[0].scoring.fingerprint}
    joined = import_scenarios({"problems": [problem()]}, candidates=rows["scenarios"][:1], contracts=lookup)
    assert joined.scenarios[0].lineage == Lineage(contract="adding@2")


def test_a_reference_is_pinned_wherever_it_may_stand() -> None:
    """What is pinned means the same later; nothing else changes, not even what is wrong."""
    rows = {
        "version": 1,
        "problems": [problem(), {"id": "q", "scoring": {"contract": "unknown"}}, 7],
        "scenarios": [
            {"id": "c", "problem": problem(), "scoring_contract": {"contract": "adding@1"}},
            {"id": "d", "scoring": {"contract": "adding", "type": "tests"}},
        ],
    }
    fixed = {"contract": "adding@2"}
    assert pinned(rows, lookup) == {
        "version": 1,
        "problems": [problem(scoring=fixed), rows["problems"][1], 7],
        "scenarios": [
            {"id": "c", "problem": problem(scoring=fixed), "scoring_contract": {"contract": "adding@1"}},
            rows["scenarios"][1],
        ],
    }
    assert pinned(rows["scenarios"], lookup)[0]["problem"] == problem(scoring=fixed)
    assert pinned({"task_id": "HumanEval/0"}, lookup) == {"task_id": "HumanEval/0"}


@pytest.mark.parametrize(
    ("scoring", "says"),
    [
        ("{contract: nothing}", r"f.yaml:3: \[0\].scoring.contract: there is no nothing"),
        ("{contract: adding@0}", "no stored version: write NAME or NAME@2"),
        ("{contract: 7}", "int is no stored version"),
        ("{contract: adding, timeout_seconds: 1}", "without `timeout_seconds`"),
    ],
)
def test_a_reference_that_names_nothing_is_one_mistake_with_its_line(tmp_path: Path, scoring: str, says: str) -> None:
    """And no mistakes follow from it."""
    file = tmp_path / "f.yaml"
    file.write_text(f"- id: a\n  candidate: x\n  scoring: {scoring}\n- id: b\n- null\n")
    with pytest.raises(ScenarioFileError, match=says) as caught:
        load_scenarios(file, contracts=lookup)
    mistakes = [str(mistake) for mistake in caught.value.mistakes]
    assert len(mistakes) == 3
    assert "candidate: is required" in mistakes[1]
    assert "must be a mapping" in mistakes[2]


def test_without_a_catalogue_a_reference_is_refused() -> None:
    """A file is checked where no stored contracts are."""
    with pytest.raises(ScenarioFileError, match="known where scenarios are submitted"):
        load_scenarios([{"id": "a", "candidate": "x", "scoring": {"contract": "adding"}}])


def test_a_contract_alone_is_checked_like_one_in_a_file(tmp_path: Path) -> None:
    """Every mistake, with file, line and field."""
    file = tmp_path / "contract.yaml"
    file.write_text("type: tests\nchecks:\n  - {args: [1]}\npartial: true\n")
    with pytest.raises(ScenarioFileError) as caught:
        load_contract(read_document(file))
    told = [str(mistake) for mistake in caught.value.mistakes]
    assert len(told) == 2
    assert any(f"{file}:3: checks[0]: " in line and "`expected` is required" in line for line in told)
    assert any(f"{file}:4: partial: unknown field; did you mean `partial_credit`?" in line for line in told)
    with pytest.raises(ScenarioFileError, match="there is no contract"):
        load_contract(Document("contract", None))
    with pytest.raises(ScenarioFileError, match="must be one of tests"):
        load_contract(Document("contract", {"type": "best"}))
    with pytest.raises(ScenarioFileError, match="not 'test'; did you mean 'tests'"):
        load_contract(Document("contract", {"type": "test"}))
    part = {"scoring": {"type": "regex", "pattern": "x"}}
    with pytest.raises(ScenarioFileError, match="`formula`: 'b' is none of a"):
        load_contract(Document("contract", {"type": "weighted", "formula": "a * b", "parts": {"a": part}}))


def test_problems_alone() -> None:
    """A file may hold problems and no candidates."""
    assert [*load_problems(Document("f", {"problems": [problem()]}), contracts=lookup)] == ["p"]
    with pytest.raises(ScenarioFileError, match="there are no problems"):
        load_problems(Document("f", {"problems": []}))
