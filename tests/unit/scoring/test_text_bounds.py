"""Files, lines, fields and packed texts become bounded values, and a document has a bounded number of mistakes."""

from __future__ import annotations

import base64
import gzip
import json
import pickle
import pickletools
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harena.core import outside_json
from harena.scoring import yaml_nodes
from harena.scoring.formats import import_scenarios, pickled_text, rows
from harena.scoring.load import load_scenarios
from harena.scoring.reading import MOST_MISTAKES, ScenarioFileError
from harena.scoring.yaml_nodes import Loader

MANY = "[" + "{}," * 500 + "{}]"
SAYS = "holds more than 300 values"
LCB = {"question_content": "q", "question_id": "1", "starter_code": "", "public_test_cases": "[]", "metadata": "{}"}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One text may hold 300 values."""
    monkeypatch.setattr(outside_json, "MOST_VALUES", 300)
    monkeypatch.setattr(Loader, "most_nodes", 300)


def packed(text: str) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(text, 4), 9)).decode()


def refused(source: Any, **options: Any) -> ScenarioFileError:
    with pytest.raises(ScenarioFileError) as refusal:
        import_scenarios(source, **options)
    return refusal.value


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.yaml"])
@pytest.mark.parametrize("form", ["humaneval", "scenarios", None])
@pytest.mark.parametrize("part", ["scenarios", "candidates"])
def test_a_file_of_many_values(name: str, form: str | None, part: str, tmp_path: Path) -> None:
    """Neither scenarios nor answers, in no format."""
    (tmp_path / name).write_text(MANY)
    row = {"task_id": "1", "prompt": "def f():\n", "entry_point": "f", "test": "def check(c):\n    assert c()\n"}
    given: dict[str, Any] = {"scenarios": [row], "candidates": [{"task_id": "1", "completion": "x"}]}
    given[part] = tmp_path / name
    wrong = refused(given["scenarios"], candidates=given["candidates"], form=form)
    if form != "scenarios" or part == "candidates":
        assert any("values: write many rows as JSONL" in one.message for one in wrong.mistakes), wrong


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.yaml"])
def test_a_file_of_own_scenarios(name: str, tmp_path: Path) -> None:
    """And of problems."""
    (tmp_path / name).write_text(MANY)
    with pytest.raises(ScenarioFileError, match="holds more than"):
        load_scenarios(tmp_path / name)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("field", ["public_test_cases", "private_test_cases"])
@pytest.mark.parametrize("written", [MANY, packed(MANY)], ids=["plain", "packed"])
def test_a_field_of_many_values(field: str, written: str) -> None:
    """JSON text in a field is counted, as it is or unpacked."""
    row = {**LCB, field: written}
    [mistake] = refused([row], candidates=[{"question_id": "1", "code_list": ["x"]}]).mistakes
    assert mistake.field == f"[0].{field}"
    assert SAYS in mistake.message


@pytest.mark.usefixtures("few")
def test_an_answer_of_many_values_is_no_text() -> None:
    """What is too large is not taken for what it is not: an output that is no JSON would be text."""
    tests = json.dumps({"fn_name": "f", "inputs": ["1"], "outputs": [MANY]})
    row = {"problem_id": "1", "question": "q", "input_output": tests}
    assert SAYS in str(refused([row], form="apps", candidates=[{"problem_id": "1", "code": "x"}]))


def test_packed_texts_have_a_budget_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may be large, and those that pack badly may be many."""
    monkeypatch.setattr(pickled_text, "LEAST_BYTES", 100_000)
    tests = json.dumps([{"input": "1" * 40_000, "output": "1", "testtype": "stdin"}])
    data = [{**LCB, "question_id": str(n), "private_test_cases": packed(tests)} for n in range(4)]
    candidates = [{"question_id": str(n), "code_list": ["x"]} for n in range(4)]
    assert len(import_scenarios(data[:2], candidates=candidates[:2]).scenarios) == 2
    mistakes = refused(data, candidates=candidates).mistakes
    assert [mistake.field for mistake in mistakes] == ["[2].private_test_cases", "[3].private_test_cases"]
    assert "unpacks to more than" in mistakes[0].message
    monkeypatch.setattr(pickled_text, "BYTES_FOR_EACH", 10_000)
    assert len(import_scenarios(data, candidates=candidates).scenarios) == 4


def test_values_in_packed_texts_have_a_budget_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that are JSON inside the tests."""
    monkeypatch.setattr(pickled_text, "LEAST_SIGNS", 3000)
    tests = json.dumps([{"input": "[" + "1," * 2000 + "1]", "output": "1", "testtype": "functional"}])
    data = [
        {**LCB, "question_id": str(n), "private_test_cases": packed(tests), "metadata": '{"func_name": "f"}'}
        for n in range(3)
    ]
    candidates = [{"question_id": str(n), "code_list": ["x"]} for n in range(3)]
    [*mistakes] = refused(data, candidates=candidates).mistakes
    assert "commas and brackets: give fewer rows" in mistakes[-1].message
    assert mistakes[0].field != "[0].private_test_cases"


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.json.gz"])
def test_no_more_is_unpacked_than_a_line_may_have(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of lines of any length, and of a document."""
    monkeypatch.setattr(outside_json, "MOST_BYTES", 1000)
    monkeypatch.setattr(rows, "MOST_BYTES", 1000)
    (tmp_path / name).write_bytes(gzip.compress(b" " * 5_000_000))
    read: list[int] = []
    plain = gzip.GzipFile.readline

    def noted(file: gzip.GzipFile, size: int | None = -1) -> bytes:
        line = plain(file, -1 if size is None else size)
        read.append(len(line))
        return line

    monkeypatch.setattr(gzip.GzipFile, "readline", noted)
    assert "is longer than" in str(refused(tmp_path / name, form="humaneval"))
    assert sum(read) <= 1001


def test_many_lines_of_a_packed_file_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them together may be larger than a line may be."""
    monkeypatch.setattr(outside_json, "MOST_BYTES", 1000)
    row = {"prompt": "def f():\n", "entry_point": "f", "test": "def check(c):\n    assert c() == 1\n"}
    text = "".join(
        json.dumps({**row, "task_id": f"{n}", "canonical_solution": "    return 1\n"}) + "\n" for n in range(50)
    )
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    assert len(import_scenarios(tmp_path / "a.jsonl.gz").scenarios) == 50


def _lines(line: str, count: int = 2000) -> Callable[[Path], Path]:
    def written(folder: Path) -> Path:
        (folder / "a.jsonl").write_text((line + "\n") * count)
        return folder / "a.jsonl"

    return written


@pytest.mark.parametrize("line", ["{", "1", '{"id": "a"}'], ids=["no JSON", "no row", "bad row"])
@pytest.mark.parametrize("form", ["humaneval", "scenarios"])
@pytest.mark.parametrize("part", ["scenarios", "candidates"])
def test_a_document_has_a_bounded_number_of_mistakes(line: str, form: str, part: str, tmp_path: Path) -> None:
    """Then its reading ends, and that is said."""
    path = _lines(line)(tmp_path)
    row = {"task_id": "1", "prompt": "def f():\n", "entry_point": "f", "test": "def check(c):\n    assert c()\n"}
    problems = [row] if form == "humaneval" else {"problems": [{"id": "p"}]}
    given = {"candidates": path} if part == "candidates" else {}
    mistakes = refused(path if part == "scenarios" else problems, form=form, **given).mistakes
    assert MOST_MISTAKES < len(mistakes) <= MOST_MISTAKES + 10
    assert any("mistakes or more; what follows was not read" in one.message for one in mistakes)


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_names_that_are_written_twice_are_bounded(name: str, tmp_path: Path) -> None:
    """Each is looked for in the text."""
    text = ",\n".join(f'"k{n}": 1' for n in range(3000))
    (tmp_path / name).write_text("{" + text + ",\n" + text + "}")
    with pytest.raises(ScenarioFileError) as refusal:
        load_scenarios(tmp_path / name)
    assert len([one for one in refusal.value.mistakes if "twice" in one.message]) <= MOST_MISTAKES


def test_lines_of_a_large_text_are_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To find them takes a hundred times as long as to read it; in a small one they are told."""
    (tmp_path / "a.json").write_text('[\n{"id": "a"},\n{"id": "b"}\n]')
    assert {one.line for one in refused(tmp_path / "a.json").mistakes} == {2, 3}
    monkeypatch.setattr(yaml_nodes, "_MOST_PLACED_NODES", 3)
    assert {one.line for one in refused(tmp_path / "a.json").mistakes} == {None}


def test_a_pickle_of_many_opcodes_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them becomes an object, and a small packed text holds a million."""
    pickled = b"\x80\x04\x8c\x02[]" + b"\x94" * 1_000_000 + b"."
    read: list[str] = []
    plain = pickletools.genops

    def noted(given: bytes) -> Iterator[Any]:
        for opcode in plain(given):
            read.append(opcode[0].name)
            yield opcode

    monkeypatch.setattr(pickletools, "genops", noted)
    with pytest.raises(ValueError, match="more than 100 opcodes, and one text needs five"):
        pickled_text.text_of(base64.b64encode(zlib.compress(pickled)).decode())
    assert len(read) < 200
    assert {
        pickled_text.text_of(base64.b64encode(zlib.compress(pickle.dumps("é" * 100_000, protocol))).decode())
        for protocol in range(6)
    } == {"é" * 100_000}
