from __future__ import annotations

import gc
import math
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harena.core.errors import ValidationError
from harena.core.garbage import collection_paused
from harena.core.rows import MOST_BITS, MOST_LEVELS, RowsFile, check_json, written_rows


def nested(levels: int) -> Any:
    value: Any = None
    for _ in range(levels):
        value = [value]
    return value


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    """As often as they are asked for; also what JSON has no word for, and what is no text."""
    rows = [
        {"a": [1, 2.5, None, True, "\ud800 \u2028 ä"]},
        {"b": -math.inf},
        {"c": 2**MOST_BITS - 1},
        nested(MOST_LEVELS),
    ]
    file = tmp_path / "rows"
    file.write_bytes(b"\n".join(written_rows(rows)))
    assert [*RowsFile(file)] == [*RowsFile(file)] == rows


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"a": [1, (2,)]}, r"rows: \[1\].a: .* a tuple"),
        ({"a": {"b": {1: 2}}}, r"rows: \[1\].a.b: .* keys that are not text"),
        ({"a": b""}, r"a bytes"),
        ({"a": {1, 2}}, r"a set"),
        (2**MOST_BITS, "too long"),
        (nested(MOST_LEVELS + 1), "nested more than 200"),
        (nested(100_000), "nested more than 200"),
    ],
)
def test_what_json_would_change_is_refused(row: Any, says: str) -> None:
    """With its place."""
    with pytest.raises(ValidationError, match=says):
        [*written_rows([1, row], "rows")]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_have(number: float) -> None:
    """Where that matters."""
    check_json({"a": number}, "x")
    with pytest.raises(ValidationError, match=r"x\.a: must be a finite number"):
        check_json({"a": number}, "x", finite=True)


@pytest.mark.parametrize(
    ("line", "says"), [(b"{", "not JSON"), (b"\xff", "not UTF-8"), (b"[" * 100_000, "nested too deeply")]
)
def test_lines_that_are_no_rows(tmp_path: Path, line: bytes, says: str) -> None:
    """The row is counted, empty lines are not."""
    file = tmp_path / "rows"
    file.write_bytes(b'{"a": 1}\n\n' + line + b"\n")
    rows = iter(RowsFile(file, "candidates"))
    assert next(rows) == {"a": 1}
    with pytest.raises(ValidationError, match=rf"candidates: \[1\]: {says}"):
        next(rows)


def test_pauses_of_the_collector() -> None:
    """May be in each other, and end with the last one."""
    assert gc.isenabled()
    with suppress(KeyError), collection_paused():
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()


@pytest.mark.parametrize("keeps", [True, False])
def test_what_pauses_made_can_be_kept_from_the_collector(keeps: bool) -> None:
    """In a process of its own, since that is for the rest of a process: one that says so, and no other."""
    code = (
        "import gc, sys\n"
        "from harena.core.garbage import collection_paused, keep_what_pauses_made\n"
        "if sys.argv[1] == 'True':\n    keep_what_pauses_made()\n"
        "with collection_paused():\n    made = [[] for _ in range(10_000)]\n"
        "print(gc.isenabled(), gc.get_freeze_count() > 10_000)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(keeps)], capture_output=True, text=True, check=True)
    assert done.stdout == f"True {keeps}\n"
