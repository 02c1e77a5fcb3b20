from __future__ import annotations

import json
import random
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harena.core.errors import ValidationError
from harena.core.rows import RowsFile, written_rows
from harena.jobs.benchmark import kept_requests
from harena.jobs.benchmark.kept_requests import pack_request, parts_to_store, unpacked

NOTHING = cast("Any", SimpleNamespace(contract=None))
"""a catalogue in which there is nothing"""


def kept(sources: dict[str, Any], blueprint: str | None = None) -> bytes:
    nothing = dict.fromkeys(("scenarios", "candidates", "format", "grader", "calibration"))
    return pack_request(parts_to_store({**nothing, **sources}, NOTHING), blueprint)


def again(kept: bytes, folder: Path) -> dict[str, Any]:
    folder.mkdir()
    return unpacked(kept, folder)


def test_objects_come_back(tmp_path: Path) -> None:
    """Rows, the words, and what is not there."""
    sources = {
        "scenarios": [{"a": [1, 2.5, None, "\ud800"]}],
        "candidates": "oracle",
        "format": "mbpp",
        "grader": {"b": 1},
    }
    back = again(kept(sources, "bp_1"), tmp_path / "x")
    assert back == {**sources, "calibration": None, "blueprint": "bp_1"}
    assert [*(tmp_path / "x").iterdir()] == []


@pytest.mark.parametrize("size", [0, 1, kept_requests.PIECE_BYTES, 3 * kept_requests.PIECE_BYTES + 7])
@pytest.mark.parametrize("kind", ["random", "same"])
def test_files_come_back_byte_by_byte(tmp_path: Path, size: int, kind: str) -> None:
    """Under their names, whatever is in them, one behind the other."""
    content = random.Random(1).randbytes(size) if kind == "random" else b"\n" * size
    first, second = tmp_path / "a.jsonl", tmp_path / "b.yaml"
    first.write_bytes(content)
    second.write_bytes(b"behind\n")
    packed_files = kept({"scenarios": str(first), "candidates": second, "format": None, "grader": None})
    back = again(packed_files, tmp_path / "x")
    assert (back["scenarios"].name, back["scenarios"].read_bytes()) == ("a.jsonl", content)
    assert (back["candidates"].name, back["candidates"].read_bytes()) == ("b.yaml", b"behind\n")
    assert back["blueprint"] is None


def test_rows_in_a_file_come_back(tmp_path: Path) -> None:
    """As rows, under what errors call them."""
    file = tmp_path / "rows"
    file.write_bytes(b"".join(written_rows([{"id": 1}, {"id": 2}])))
    back = again(kept({"scenarios": RowsFile(file)}), tmp_path / "x")
    assert isinstance(back["scenarios"], RowsFile)
    assert ([*back["scenarios"]], back["scenarios"].name) == ([{"id": 1}, {"id": 2}], "scenarios")


def test_what_an_earlier_version_kept_is_read(tmp_path: Path) -> None:
    """One JSON object, with the content of files in it."""
    sources = {"scenarios": [{"id": "a"}], "candidates": None, "format": None, "grader": None}
    earlier = zlib.compress(json.dumps({**sources, "blueprint": "bp_1"}).encode(), level=1)
    assert again(earlier, tmp_path / "x") == {**sources, "blueprint": "bp_1"}


def test_a_file_that_is_not_there_is_left_to_its_reader(tmp_path: Path) -> None:
    """Who says what is wrong with it."""
    back = again(kept({"scenarios": "/nowhere.yaml"}), tmp_path / "x")
    assert back["scenarios"] == "/nowhere.yaml"


@pytest.mark.parametrize(
    ("scenarios", "says"), [([(1,)], "holds a tuple"), ("FOLDER", "is a folder"), ([{1: 2}], "not text")]
)
def test_what_cannot_be_kept(tmp_path: Path, scenarios: Any, says: str) -> None:
    """Is refused when the job is asked for."""
    with pytest.raises(ValidationError, match=says):
        kept({"scenarios": tmp_path if scenarios == "FOLDER" else scenarios})


@pytest.mark.parametrize(
    "broken", [b"", b"x", zlib.compress(b"{"), zlib.compress(b'{"files": [["scenarios", "a", 5]]}\nabc')]
)
def test_what_is_no_kept_request(tmp_path: Path, broken: bytes) -> None:
    """Is an error of the kinds that whoever resumes a job knows."""
    with pytest.raises((ValueError, LookupError, zlib.error)):
        again(broken, tmp_path / "x")
