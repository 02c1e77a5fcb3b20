"""Data sets in Parquet: their rows are read where the file is, in types of JSON."""

from __future__ import annotations

import datetime
import json
import sys
from decimal import Decimal
from pathlib import Path

import pytest

import harena
from harena.core.errors import ValidationError
from harena.sdk.scenario_input import plain_sources
from harena.sdk.table_rows import parquet_rows, table_rows

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402 - after it is known to be there

ROW = {
    "id": "add", "prompt": "add", "solution": "def add(a, b):\n    return a + b\n",
    "scoring": {"type": "tests", "entry_point": "add", "checks": [{"args": [1, 2], "expected": 3}]},
}  # fmt: skip


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Two problems."""
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([ROW, {**ROW, "id": "again"}]), path)
    return path


def test_every_door_takes_the_file(written: Path) -> None:
    """What a client sends are the rows, and a check of the file counts them."""
    sent = plain_sources(str(written), candidates=written)
    assert [row["id"] for row in sent["scenarios"]] == [row["id"] for row in sent["candidates"]] == ["add", "again"]
    batch = harena.load_scenarios(written)
    assert (batch.form, [scenario.problem_id for scenario in batch.scenarios]) == ("prompts", ["add", "again"])
    assert plain_sources("rows.jsonl") == {"scenarios": "rows.jsonl"}


def test_values_become_those_of_json(tmp_path: Path) -> None:
    """Times and decimals are texts; bytes are refused by their row."""
    when = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
    path = tmp_path / "more.parquet"
    parquet.write_table(pyarrow.table({"when": [when], "cost": [Decimal("1.50")], "none": [None]}), path)
    assert list(parquet_rows(path)) == [{"when": when.isoformat(), "cost": "1.50", "none": None}]
    parquet.write_table(pyarrow.table({"raw": [None, b"\xff"]}), path)
    with pytest.raises(ValidationError, match=r"more\.parquet: row 2 holds bytes"):
        json.dumps([*parquet_rows(path)])


@pytest.mark.parametrize(
    ("header", "told"), [("prompt;tests;solution", "semicolons"), ("prompt\ttests", "tabs"), ("a|b", r"bars \(\|\)")]
)
def test_another_delimiter_is_told(tmp_path: Path, header: str, told: str) -> None:
    """Cells between quotation marks would be told of as no CSV at all."""
    path = tmp_path / "rows.csv"
    path.write_text(f'{header}\n"write `f`, it adds";"assert f(1) == 2";"x"\n')
    with pytest.raises(ValidationError, match=rf"rows\.csv:1: the columns are separated by {told}: save"):
        list(table_rows(path))
    path.write_text('"a; of it",b\n1,2\n')
    assert list(table_rows(path)) == [{"a; of it": "1", "b": "2"}]
    path.write_text('"a;\nname",b\n1,2\n')
    assert list(table_rows(path)) == [{"a;\nname": "1", "b": "2"}]
    path.write_text("alone\n1;2\n")
    assert list(table_rows(path)) == [{"alone": "1;2"}]


def test_a_missing_file_is_told_before_a_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody installs anything for a name that is wrong."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValidationError, match=r"gone\.parquet: cannot be read: No such file .*; check the path"):
        list(parquet_rows(tmp_path / "gone.parquet"))
    (tmp_path / "there.parquet").touch()
    with pytest.raises(ValidationError, match="pip install"):
        list(parquet_rows(tmp_path / "there.parquet"))


def test_mistakes_of_a_table_name_its_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("prompt,test\nadd,assert f(1) == 2\n")
    with pytest.raises(ValidationError, match=r"rows\.csv: \[0\]: `test`: did you mean `tests`\?"):
        harena.load_scenarios(path)


@pytest.mark.parametrize(("content", "says"), [(b"PAR1 no", "is not Parquet"), (None, "check the path")])
def test_a_file_that_is_none_is_named(tmp_path: Path, content: bytes | None, says: str) -> None:
    """One that is not there, and one of another kind."""
    path = tmp_path / "wrong.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValidationError, match=says):
        list(parquet_rows(path))
