"""Tables in narrow lines: no id and no state is ever broken, and no line is longer than was asked for."""

from __future__ import annotations

import contextlib
import io
import os
import termios
from collections.abc import Sequence

import pytest
from rich.cells import cell_len

from harena.cli.report import write_table

HEADER = ("id", "name", "state", "created (UTC)", "done", "passed", "infra", "invalid")
LEAST = ("invalid", "infra", "created (UTC)")
JOBS = [
    ("job_2de2386fb4fa4926", "epoch-42", "completed", "2026-01-30T18:10:59", "38211/100000", 17022, 21, 0),
    ("job_97ba6f5a05ff4923", "an audit of \u6f22\u5b57 and more", "cancelled", "2026-01-30T18:10:59", "1/10", 1, 0, 0),
]


def drawn(columns: int | None, monkeypatch: pytest.MonkeyPatch, rows: Sequence[Sequence[object]] = JOBS) -> str:
    """The table in a pipe, in lines of so many columns."""
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(columns))
    out = io.StringIO()
    write_table("benchmark jobs", HEADER, rows, out, least=LEAST)
    return out.getvalue()


def test_eighty_columns_leave_out_what_matters_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of several words goes on in the next line; what is left out is named."""
    told = drawn(80, monkeypatch)
    assert max(map(cell_len, told.splitlines())) <= 80
    for whole in ("job_2de2386fb4fa4926", "job_97ba6f5a05ff4923", "completed", "cancelled", "38211/100000", "17022"):
        assert whole in told
    assert told.endswith("not shown in lines of 80 columns: created (UTC), infra, invalid\n")
    assert "2026" not in told


def test_fifty_columns_have_a_block_for_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every column."""
    told = drawn(50, monkeypatch)
    assert max(map(cell_len, told.splitlines())) <= 50
    title, first, second = told.split("\n\n")
    assert title == "benchmark jobs"
    assert first.splitlines()[:3] == [
        "id:            job_2de2386fb4fa4926",
        "name:          epoch-42",
        "state:         completed",
    ]
    assert len(first.splitlines()) == len(second.splitlines()) == len(HEADER)


@pytest.mark.parametrize("columns", [50, 80])
def test_a_terminal_is_as_wide_as_it_is(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a pipe with COLUMNS, but for colours."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("COLUMNS", raising=False)
    ours, its = os.openpty()
    termios.tcsetwinsize(its, (24, columns))
    with open(its, "w", encoding="utf-8") as terminal:
        write_table("benchmark jobs", HEADER, JOBS, terminal, least=LEAST)
    told = b""
    with contextlib.suppress(OSError):  # nothing is left, and nobody writes
        while part := os.read(ours, 65_536):
            told += part
    os.close(ours)
    assert [line.rstrip() for line in told.decode().splitlines()] == drawn(columns, monkeypatch).splitlines()


def test_a_pipe_has_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """An id that is longer than any line is one line, too."""
    whole = drawn(None, monkeypatch, [("x" * 300, *JOBS[0][1:])])
    assert "x" * 300 in whole
    assert "invalid" in whole
    assert "not shown" not in whole


def test_what_fits_is_drawn_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [JOBS[0]]
    assert drawn(200, monkeypatch, rows) == drawn(None, monkeypatch, rows)
