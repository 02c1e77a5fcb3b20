"""What files hold, as it is kept for later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.jobs.benchmark.kept_json import content_of
from harena.scoring.formats import import_scenarios

TASK = {"task_id": "t/0", "prompt": "def f(x):\n    ...\n", "entry_point": "f"}
ROWS = [{**TASK, "canonical_solution": "    return x\n", "test": "def check(c):\n    assert c(1) == 1\n"}]
ANSWERS = [{"task_id": "t/0", "completion": "    return x\n"}, {"task_id": "t/0", "completion": "    return 1\n"}]
SCENARIO = {"id": "a", "candidate": "x", "scoring": {"type": "stdio", "cases": [{"stdout": "1"}]}}


def lines(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_a_data_set_in_lines_stays_one(tmp_path: Path) -> None:
    """Its shape is told from its rows, as it is from the file's."""
    rows, answers = lines(tmp_path / "rows.jsonl", ROWS), lines(tmp_path / "answers.jsonl", ANSWERS)
    kept = content_of(rows, "kept"), content_of(answers, "kept")
    assert kept == (ROWS, ANSWERS)
    batch, again = import_scenarios(rows, candidates=answers), import_scenarios(kept[0], candidates=kept[1])
    assert again.form == batch.form == "humaneval"
    assert [one.digest for one in again.scenarios] == [one.digest for one in batch.scenarios]


def test_scenarios_in_lines_with_problems_stay_together(tmp_path: Path) -> None:
    """A first line of problems belongs to the rest."""
    head = {"problems": [{"id": "p", "scoring": SCENARIO["scoring"]}]}
    row = {"id": "a", "problem": "p", "candidate": "x"}
    assert content_of(lines(tmp_path / "a.jsonl", [head, row]), "kept") == {**head, "scenarios": [row]}
    assert content_of(lines(tmp_path / "b.jsonl", [SCENARIO]), "kept") == [SCENARIO]


def test_what_is_no_file_stays_as_it_is(tmp_path: Path) -> None:
    """Words and content; a folder cannot be kept."""
    for given in ("oracle", "nop", [SCENARIO], {"scenarios": [SCENARIO]}, "no such file"):
        assert content_of(given, "kept") == given
    with pytest.raises(ValidationError, match="is a folder, and it is kept; give task directories to a job itself"):
        content_of(tmp_path, "it is kept")
