"""Tables that are drawn without rich look as rich draws them."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Sequence

import pytest

from harena.cli.plain_table import plain_table, takes_plain_text
from harena.cli.report import _write_drawn_by_rich

TABLES: dict[str, tuple[str, Sequence[str], list[list[str]]]] = {
    "results": ("rewards", ("problem", "passed", "mean score"), [["HumanEval/1", "1", "1.000"], ["x", "12", "-"]]),
    "no title": ("", ("id", "n"), [["a", "1"]]),
    "a title longer than the lines": ("what was measured in all the steps", ("a", "b"), [["1", "2"]]),
    "no rows": ("rewards", ("problem", "passed"), []),
    "empty cells": ("runs", ("id", "detail"), [["a", ""], ["b", "said nothing at all (and more)"]]),
    "signs": ("x", ("id", "detail"), [["a_b-c.d/e", "{'k'; 1} < 2 | @ ] ^ ` ~ # $ % & * + = ? !"]]),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("right", [False, True])
def test_looks_as_rich_draws_it(table: tuple[str, Sequence[str], list[list[str]]], right: bool) -> None:
    """Every sign of it."""
    title, header, cells = table
    to_right = [False, *[right] * (len(header) - 1)]
    by_rich = io.StringIO()
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    _write_drawn_by_rich(title, header, cells, to_right, by_rich, widths)
    assert plain_table(title, header, cells, to_right, most_width=200) == by_rich.getvalue()


@pytest.mark.parametrize(
    "text", ["é", "漢字", "[bold]", "\\[b", ":smile:", " a", "a ", "x" * 200], ids=lambda text: ascii(text[:9])
)
def test_leaves_the_rest_to_rich(text: str) -> None:
    """Width of signs, markup, emojis, and lines that have to be folded."""
    assert plain_table("t", ("a", "b"), [["1", text]], [False, False], most_width=200) is None
    assert plain_table("t", ("a", text), [["1", "2"]], [False, False], most_width=200) is None
    assert plain_table(text * 2, ("a", "b"), [], [False, False], most_width=200) is None


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE"])
def test_who_asks_for_colours_has_them_of_rich(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """Also where the output is no terminal."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    assert takes_plain_text(io.StringIO())
    assert not takes_plain_text(io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    monkeypatch.setenv(variable, "1")
    assert not takes_plain_text(io.StringIO())


def test_a_table_in_a_pipe_is_written_without_rich() -> None:
    """Loading it takes longer than writing the results of a small job."""
    code = (
        "import sys\n"
        "from harena.cli.report import write_table\n"
        "write_table('rewards', ('problem', 'passed'), [('a', 1)])\n"
        "sys.exit('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "│ a       │      1 │" in done.stdout
