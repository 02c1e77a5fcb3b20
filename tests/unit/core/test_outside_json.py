"""What JSON from outside may hold is counted before any of it is made."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest

from harena.core import outside_json
from harena.core.errors import ValidationError
from harena.core.models import MIB
from harena.core.outside_json import JsonSizeError, LineTooLongError, lines_in, read_outside
from harena.core.rows import RowsFile


@pytest.mark.parametrize("text", ["[" + "{}," * 200_000 + "{}]", '{"ä":1' + ',"a":[]' * 200_000 + "}"])
def test_many_values_are_never_made(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of text nor of bytes."""
    monkeypatch.setattr(outside_json, "MOST_VALUES", 1000)
    for given in (text, text.encode()):
        tracemalloc.start()
        try:
            with pytest.raises(JsonSizeError, match="holds more than 1000 values: write many rows as JSONL"):
                read_outside(given)
            assert tracemalloc.get_traced_memory()[1] < 2 * len(text) + MIB
        finally:
            tracemalloc.stop()


def test_values_are_counted_and_not_their_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs hold many commas and brackets, and a caller may allow more."""
    monkeypatch.setattr(outside_json, "MOST_VALUES", 1000)
    assert read_outside('["' + "[{,]" * 1000 + '", "\\"[,"]') == ["[{,]" * 1000, '"[,']
    assert read_outside("[" + "1," * 999 + "1]", most_values=2000) == [1] * 1000
    assert len(read_outside("[" + "1," * 998 + "1]")) == 999


def test_no_text_is_longer_than_one_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is in it."""
    monkeypatch.setattr(outside_json, "MOST_BYTES", 100)
    with pytest.raises(JsonSizeError, match="is longer than"):
        read_outside(" " * 100 + "1")


def test_a_long_line_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those before it are there; its number is told."""
    monkeypatch.setattr(outside_json, "MOST_BYTES", 100)
    file = io.BytesIO(b"1\n" + b"x" * 99 + b"\n" + b"x" * 10_000)
    lines = lines_in(file)
    assert [next(lines), next(lines)] == [b"1\n", b"x" * 99 + b"\n"]
    with pytest.raises(LineTooLongError, match="one line may have") as refusal:
        next(lines)
    assert (refusal.value.number, file.tell()) == (3, 203)


@pytest.mark.parametrize(
    ("line", "says"), [(b"[" + b"[]," * 50 + b"[]]", "holds more than 40 values"), (b" " * 201, "is longer than")]
)
def test_rows_in_a_file_are_bounded(line: bytes, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them, and its place is told."""
    monkeypatch.setattr(outside_json, "MOST_VALUES", 40)
    monkeypatch.setattr(outside_json, "MOST_BYTES", 200)
    (tmp_path / "rows").write_bytes(b"{}\n" + line)
    rows = iter(RowsFile(tmp_path / "rows"))
    assert next(rows) == {}
    with pytest.raises(ValidationError, match=rf"scenarios: \[1\]: {says}"):
        next(rows)
