"""Rows out of files, and every broken one told with its place."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest

from harena.core.errors import ValidationError
from harena.training.data.datasets import prompt_row_of
from harena.training.data.row_files import content_digest, read_rows, splits_of

ROWS = [{"prompt": "a", "completion": "b"}, {"prompt": "c", "completion": "d"}]


def values(path: Path, **more: Any) -> list[dict[str, Any]]:
    return [dict(row.values) for row in read_rows(path, **more)]


def write_arrow(path: Path, rows: list[dict[str, Any]]) -> None:
    table = pyarrow.Table.from_pylist(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def save_to_disk(folder: Path, rows: list[dict[str, Any]], shards: int = 2) -> None:
    """As `datasets.Dataset.save_to_disk` lays it out."""
    names = [f"data-{shard:05d}-of-{shards:05d}.arrow" for shard in range(shards)]
    for shard, name in enumerate(names):
        write_arrow(folder / name, rows[shard::shards])
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names]}))
    (folder / "dataset_info.json").write_text("{}")


def test_every_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, ROWS)) + "\n\n")
    (tmp_path / "a.json").write_text(json.dumps(ROWS))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    save_to_disk(tmp_path / "saved", ROWS)
    for name in ("a.jsonl", "a.json", "a.parquet", "saved"):
        assert values(tmp_path / name) == ROWS
    origins = [row.origin for name in ("a.jsonl", "a.json", "saved") for row in read_rows(tmp_path / name)]
    assert origins == [
        "a.jsonl:1", "a.jsonl:2", "a.json: row 1", "a.json: row 2",
        "data-00000-of-00002.arrow: row 1", "data-00001-of-00002.arrow: row 1",
    ]  # fmt: skip
    (tmp_path / "one.json").write_text(json.dumps(ROWS[0]))
    assert values(tmp_path / "one.json") == ROWS[:1]


def test_every_broken_row_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines = [
        b'{"prompt": "a"}', b"{", b"[1]", b'{"reward": NaN}', b"\xff", b'{"prompt": "\\ud800"}', b"[" * 100_000,
        b'{"prompt": "b"}',
    ]  # fmt: skip
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(ValidationError) as caught:
        read_rows(path)
    told = str(caught.value).splitlines()
    assert told[0] == f"{path}: 6 rows cannot be used:"
    assert [line.split(": ")[0].strip() for line in told[1:]] == [f"rows.jsonl:{n}" for n in (2, 3, 4, 5, 6, 7)]
    for line, text in zip(told[1:], ("not JSON", "not list", "NaN", "UTF-8", "surrogate", "deeply"), strict=True):
        assert text in line


def test_many_mistakes_are_one_short_error(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("{\n" * 1000)
    with pytest.raises(ValidationError, match=r"1000 rows cannot be used") as caught:
        read_rows(tmp_path / "rows.jsonl")
    assert str(caught.value).endswith("and 980 more")
    assert len(str(caught.value).splitlines()) == 22


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.parquet", b"no parquet", "not Parquet"),
        ("a.json", b"[1, 2", "not JSON"),
        ("a.tsv", b"a,b", "rows are read from files that end in"),
    ],
)
def test_what_is_no_data_set(tmp_path: Path, name: str, content: bytes, text: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValidationError, match=text):
        read_rows(tmp_path / name)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="cannot be read: No such file"):
        read_rows(tmp_path / "nothing.jsonl")
    with pytest.raises(ValidationError, match="holds no data set"):
        read_rows(tmp_path)
    save_to_disk(tmp_path / "saved", ROWS)
    os.remove(tmp_path / "saved" / "data-00001-of-00002.arrow")
    with pytest.raises(ValidationError, match=r"data-00001-of-00002\.arrow"):
        read_rows(tmp_path / "saved")


def test_splits(tmp_path: Path) -> None:
    for split, rows in (("train", ROWS[:1]), ("test", ROWS[1:])):
        save_to_disk(tmp_path / "saved" / split, rows, shards=1)
    (tmp_path / "saved" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "train-00000-of-00002.jsonl").write_text(json.dumps(ROWS[0]))
    (tmp_path / "files" / "test.jsonl").write_text(json.dumps(ROWS[1]))
    (tmp_path / "one.jsonl").write_text(
        "\n".join(json.dumps({**row, "split": s}) for row, s in zip(ROWS, "ab", strict=True))
    )
    for name in ("saved", "files"):
        assert splits_of(tmp_path / name) == ["test", "train"]
        assert values(tmp_path / name) == ROWS[:1]
        assert values(tmp_path / name, split="test") == ROWS[1:]
        with pytest.raises(ValidationError, match="no split 'dev'; it has test, train"):
            read_rows(tmp_path / name, split="dev")
    assert splits_of(tmp_path / "one.jsonl") == splits_of(tmp_path / "saved" / "test") == [None]
    assert values(tmp_path / "one.jsonl", split="b") == [{**ROWS[1], "split": "b"}]
    with pytest.raises(ValidationError, match="no row says split: 'c'"):
        read_rows(tmp_path / "one.jsonl", split="c")


def test_a_digest_is_of_names_and_contents(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        save_to_disk(folder, ROWS)
    assert content_digest(one) == content_digest(other)
    assert len(content_digest(one / "state.json")) == len("sha256:") + 64
    (other / "state.json").rename(other / "other.json")
    assert content_digest(one) != content_digest(other)
    with pytest.raises(ValidationError, match="cannot be read: No such file"):
        content_digest(tmp_path / "nothing")


def test_a_csv_file(tmp_path: Path) -> None:
    """Rows are prompts with their contracts, as those of other data sets are, and mistakes have their line."""
    path = tmp_path / "rows.csv"
    row_of_it = '"Write f(x).","assert f(1) == 2\nassert f(2) == 3",def f(x): return x + 1'
    path.write_text(f"prompt,tests,solution\n{row_of_it}\n")
    (row,) = read_rows(path)
    assert row.origin == "rows.csv:2"
    made = prompt_row_of(row.values, id=row.origin)
    assert (made.prompt, made.scoring["entry_point"]) == ("Write f(x).", "f")
    path.write_text("prompt,tests\na,b\nc,d,e\n")
    with pytest.raises(ValidationError, match=r"rows\.csv.*3: the row has 3 cells"):
        read_rows(path)
