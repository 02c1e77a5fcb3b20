"""Rows of a prompt and its tests, as users have them in tables of their own."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import harena
from harena.core.csv_rows import csv_rows
from harena.core.errors import ValidationError
from harena.scoring.contracts.contract import StdioContract, TestsContract
from harena.scoring.formats import import_scenarios

ADD = "def add(a, b):\n    return a + b\n"
ASSERTS = "assert add(1, 2) == 3\nassert add(-1, 1) == 0"


def one(**row: Any) -> Any:
    """The scenario of one row, which is told by its shape."""
    batch = import_scenarios([{"prompt": "Write add(a, b).", "solution": ADD, **row}])
    assert batch.form == "tests"
    return batch.scenarios[0]


@pytest.mark.parametrize(
    "tests", [ASSERTS, ASSERTS.splitlines(), json.dumps(ASSERTS.splitlines()), f"from solution import add\n{ASSERTS}"]
)
def test_asserts_are_calls_with_known_answers(tests: Any) -> None:
    """However they are written down."""
    made = one(tests=tests)
    assert isinstance(made.scoring, TestsContract)
    assert (made.scoring.entry_point, len(made.scoring.checks), made.scoring.trust) == ("add", 2, "separate")
    assert made.statement == "Write add(a, b)."
    assert made.candidate.source == ADD


def test_what_the_prompt_does_not_name() -> None:
    """A model is told what it must define, and no answer."""
    made = one(prompt="Sum two numbers.", tests=ASSERTS)
    assert made.statement == "Sum two numbers.\n\nThe tests call `add`."


def test_test_functions_are_all_called() -> None:
    """What is more than asserts is run as it is."""
    made = one(tests="def test_one():\n    assert add(1, 2) == 3\n\ndef test_two():\n    assert add(0, 0) == 0\n")
    assert made.scoring.asserts.splitlines()[-2:] == ["test_one()", "test_two()"]
    assert made.metadata["shared_because"].startswith("line 1 of the tests")


def test_pairs_of_input_and_output() -> None:
    """They are a program's."""
    made = one(tests=json.dumps([{"input": "1 2\n", "output": "3\n"}, {"output": "0\n"}]))
    assert isinstance(made.scoring, StdioContract)
    assert [(case.stdin, case.stdout) for case in made.scoring.cases] == [("1 2\n", "3\n"), ("", "0\n")]


@pytest.mark.parametrize(
    ("tests", "says"),
    [
        ("x =", "cannot be read as Python"),
        ("add(1, 2)", "there is no assert in it"),
        ("def test_a(tmp_path):\n    assert add(1, 2)", "`test_a` takes arguments"),
        ([], "must not be empty: give Python, or a list of asserts"),
        ([{"input": "1"}], r"\[0\] must be \{input, output\}"),
        (["assert add(1, 2) == 3", 4], r"\[1\] must be Python, .*, not 4"),
    ],
)
def test_what_cannot_be_read_is_said(tests: Any, says: str) -> None:
    """With the field."""
    with pytest.raises(ValidationError, match=rf"rows: \[0\]\.tests: {says}"):
        one(tests=tests)


def test_many_asserts_are_taken_out_of_their_text_once() -> None:
    """To take each of these out of the whole text anew took a minute."""
    began = time.process_time()
    made = one(tests="\n".join(f"assert add({number}, 1) == {number + 1}" for number in range(5_000)))
    assert len(made.scoring.checks) == 5_000
    assert time.process_time() - began < 10


def test_a_number_that_python_does_not_write() -> None:
    """It stays as it is written."""
    made = one(tests=f"def test_a():\n    assert add(0x{'f' * 5000}, 0) > 1\n")
    assert f"0x{'f' * 5000}, 0) > 1" in made.scoring.asserts


def test_a_csv_file(tmp_path: Path) -> None:
    """Lines within quotation marks belong to their cell, an empty cell is no field."""
    path = tmp_path / "rows.csv"
    quoted = ASSERTS.replace('"', '""')
    path.write_text(
        f'\ufeffprompt,tests,solution\r\n"Write add(a, b).","{quoted}","{ADD}"\r\nWrite add.,"{quoted}",\r\n'
    )
    batch = harena.load_scenarios(path, candidates="nop")
    assert (batch.form, len(batch.scenarios)) == ("tests", 2)
    assert [scenario.scoring.entry_point for scenario in batch.scenarios] == ["add", "add"]
    assert [row.get("solution") for _, row in csv_rows(path)] == [ADD, None]
    assert [line for line, _ in csv_rows(path)] == [2, 6]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prompt,tests\na,b,c\n", ":2: the row has 3 cells and the file 2 columns"),
        ("prompt,prompt\na,b\n", ":1: the first line must name the columns"),
        ("", ":1: the first line must name the columns"),
        ('prompt,tests\na,"b\n', "not CSV: unexpected end of data"),
    ],
)
def test_what_is_no_csv_is_said_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    """And nothing is read."""
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(ValidationError, match=says):
        harena.load_scenarios(path)
