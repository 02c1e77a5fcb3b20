"""Rows of fit problems, as they stand in the file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from harena.core.errors import ValidationError
from harena.node.scenario_files import fit_rows

HUMANEVAL = [
    json.dumps({"task_id": f"H/{n}", "prompt": "def f(x):\n", "canonical_solution": "    return x\n",
                "test": "def check(candidate):\n    assert candidate(1) == 1\n", "entry_point": "f"})
    for n in range(3)
]  # fmt: skip
OWN = [
    '{"id":"a/1", "problem": {"id": "a"}, "candidate": "x", "scoring": {"type": "tests"}}',
    '{"id": "b",   "candidate": "\\u0041", "scoring": {"type": "tests"}}',
    '{"id": "a/2", "problem": "a", "candidate": "x"}',
]


@pytest.mark.parametrize(
    ("lines", "unfit", "left"),
    [
        (HUMANEVAL, {"H/1"}, [0, 2]),
        (HUMANEVAL, set(), [0, 1, 2]),
        (OWN, {"a"}, [1]),
        (OWN, {"a#2"}, [1]),
        (OWN, {"b"}, [0, 2]),
        (OWN, {"a#1", "b#x"}, [0, 1, 2]),
    ],
)
def test_lines_are_left_as_they_are(tmp_path: Path, lines: list[str], unfit: set[str], left: list[int]) -> None:
    """Those of problems that are unfit, in whichever contract, are left out; so are lines with nothing on them."""
    file, packed = tmp_path / "rows.jsonl", tmp_path / "rows.jsonl.gz"
    text = "\n\n".join(lines)
    file.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    wanted = [lines[index].encode() + b"\n" for index in left]
    assert list(fit_rows(file, unfit)) == wanted
    assert list(fit_rows(packed, unfit)) == wanted


def test_only_rows_to_a_line_are_taken_out(tmp_path: Path) -> None:
    """Of other files the reason is told."""
    for name in ("rows.yaml", "rows.json", ""):
        with pytest.raises(ValidationError, match="one to a line"):
            list(fit_rows(tmp_path / name, set()))
