"""Which format a source has, how answers find their rows, and what is said where they do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from data_set_rows import HUMANEVAL, MBPP, mistakes_of, only, written

from harena.scoring.formats import FORMATS, import_scenarios
from harena.scoring.formats.recognise import FAMILIES
from harena.scoring.formats.rows import Rows
from harena.scoring.reading import ScenarioFileError
from harena.scoring.scenario import Scenario

TESTS = {"type": "tests", "entry_point": "f", "checks": [{"args": [1], "expected": 1}]}
OWN = {"id": "a", "candidate": "def f(x): return x", "scoring": TESTS}
SECOND = {**HUMANEVAL, "task_id": "HumanEval/901"}


def ids(scenarios: tuple[Scenario, ...]) -> list[str]:
    return [scenario.id for scenario in scenarios]


@pytest.mark.parametrize("ending", [".yaml", ".json", ".jsonl"])
def test_harenas_own_format_is_read_as_ever(tmp_path: Path, ending: str) -> None:
    """The page's candidate batch, in its three spellings; and by its name."""
    path = tmp_path / f"batch{ending}"
    path.write_text(json.dumps(OWN) if ending == ".jsonl" else json.dumps({"scenarios": [OWN]}))
    for form in (None, "scenarios"):
        batch = import_scenarios(path, form=form)
        assert (batch.form, ids(batch.scenarios)) == ("scenarios", ["a"])


@pytest.mark.parametrize("source", [[], [{}], [{"id": "a"}], {}, [3], [{"canidate": "x", "scoring": TESTS}]])
def test_harenas_own_reader_says_what_is_missing(source: Any) -> None:
    """Where there is nothing that looks like a data set."""
    told = " ".join(f"{field} {message}" for _, field, message in mistakes_of(source))
    assert "scenarios" in told or "candidate" in told or "mapping" in told


def test_problems_and_candidates_in_two_files(tmp_path: Path) -> None:
    """Candidates name problems of the other file; mistakes are told where they stand."""
    problems = tmp_path / "problems.yaml"
    problems.write_text("problems:\n  - id: p\n    scoring: " + json.dumps(TESTS) + "\n")
    candidates = written(tmp_path / "candidates.jsonl", [{"id": "c", "problem": "p", "candidate": "def f(x): ..."}])
    (scenario,) = import_scenarios(problems, candidates=candidates).scenarios
    assert (scenario.id, scenario.problem_id) == ("c", "p")
    wrong = written(tmp_path / "wrong.jsonl", [{"id": "c", "problem": "q", "candidate": "x"}])
    assert mistakes_of(problems, candidates=wrong) == [(1, "problem", "no problem has the id 'q'")]
    ((_, _, message),) = mistakes_of([OWN], candidates=[{"id": "c", "candidate": "x", "scoring": TESTS}])
    assert "there are no problems" in message


@pytest.mark.parametrize("field", ["candidate", "completion", "response", "output"])
def test_answers_to_problems_of_ones_own_are_read_like_those_to_rows(field: str) -> None:
    """A chat model's program stands in a block, with words around it; a text that nobody runs stays as it is."""
    text = {"type": "string_check", "input": "{{ sample.output_text }}", "reference": "x", "operation": "like"}
    problems = {"problems": [{"id": "p", "scoring": TESTS}, {"id": "t", "scoring": text}]}
    said = "<think>hm</think>\nHere:\n```python\ndef f(x):\n    return x\n```\nIt returns x."
    plain = 'def f(x):\n    """```no block```"""\n    return x\n'
    answers = [{"id": "a", "problem": "p", field: said}, {"id": "b", "problem": "t", field: said}]
    files = {"files": {"solution.py": "import m", "m.py": said}}
    answers += [{"id": "c", "problem": "p", field: plain}, {"id": "d", "problem": "p", "candidate": files}]
    made = import_scenarios(problems, candidates=answers).scenarios
    assert [one.candidate.source for one in made] == ["def f(x):\n    return x\n", said, plain, "import m"]
    assert made[3].candidate.files["m.py"] == said
    assert [one.answer for one in made] == [said, None, None, None]
    assert import_scenarios([{**OWN, "candidate": said}]).scenarios[0].candidate.source == said


def test_a_shape_that_no_format_has_is_described(tmp_path: Path) -> None:
    """With what it has, and what each format needs."""
    ((line, _, message),) = mistakes_of(written(tmp_path / "rows.jsonl", [{"question": "?", "answer": "!"}]))
    assert line == 1
    assert "it has answer, question" in message
    assert all(f"{family.name}: {family.needs}" in message for family in FAMILIES)
    assert "nearest" not in message


def test_a_shape_that_lacks_a_field_is_answered_with_the_nearest_format() -> None:
    """The one of which it has most, and which field it lacks."""
    ((_, _, message),) = mistakes_of([{name: HUMANEVAL[name] for name in HUMANEVAL if name != "entry_point"}])
    assert ", which is nearest to humaneval without entry_point; there are" in message
    ((_, _, message),) = mistakes_of([{"task_id": 1, "prompt": "?", "code": "x"}])
    assert ", which is nearest to mbpp without test_list; there are" in message


def test_a_shape_that_two_formats_have_is_asked_about() -> None:
    """Until --format says which it is."""
    both = {**HUMANEVAL, "test_list": ["assert double(1) == 2"]}
    ((_, _, message),) = mistakes_of([both])
    assert "fits humaneval" in message
    assert "--format humaneval or --format mbpp" in message
    assert import_scenarios([both], form="humaneval").form == "humaneval"


def test_a_format_that_does_not_exist_is_answered_with_those_that_do() -> None:
    """And with the nearest."""
    ((_, field, message),) = mistakes_of([HUMANEVAL], form="humanevl")
    assert field == ""
    assert "did you mean 'humaneval'?" in message
    assert all(name in message for name in FORMATS)


def test_answers_find_their_rows_by_name() -> None:
    """A row without an answer is left out; numbers and text are alike."""
    batch = import_scenarios(
        [HUMANEVAL, SECOND], candidates=[{"task_id": "HumanEval/901", "completions": ["    a", "    b"]}]
    )
    assert ids(batch.scenarios) == ["HumanEval/901/1", "HumanEval/901/2"]
    assert only([MBPP], candidates=[{"task_id": "902", "code": "x"}]).id == "902/1"


def test_answers_without_names_are_taken_in_order() -> None:
    """The first for the first."""
    batch = import_scenarios([HUMANEVAL, SECOND], candidates=[{"completion": "    a"}, {"completion": "    b"}])
    assert [scenario.candidate.source[-1] for scenario in batch.scenarios] == ["a", "b"]


def test_answers_by_name_in_one_mapping(tmp_path: Path) -> None:
    """As some harnesses write them; a row of its own in a .json file is no such mapping."""
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"902": ["a", "b"]}))
    assert ids(import_scenarios([MBPP], candidates=path).scenarios) == ["902/1", "902/2"]
    path.write_text(json.dumps({"task_id": 902, "code": "a"}))
    assert ids(import_scenarios([MBPP], candidates=path).scenarios) == ["902/1"]


@pytest.mark.parametrize(
    ("answers", "field", "message"),
    [
        ([{"task_id": "HumanEval/90", "code": "x"}], "", "no row of rows is named 'HumanEval/90'; did you mean"),
        ([{"task_id": "HumanEval/900"}], "completion", "is required (or solution, code"),
        ([{"task_id": "HumanEval/900", "code": 3}], "code", "must be text (the answer) or a list of texts, not 3"),
        ([{"task_id": ["x"], "code": "x"}], "task_id", "must be the id of a problem, not a list"),
        ([{"task_id": "HumanEval/900", "code": "x"}, {"code": "y"}], "task_id", "name it in all, or in none"),
        ([{"code": "x"}, {"code": "y"}], "", "there are 1 rows and more answers"),
        (["x"], "[0]", "a row is a mapping of fields, not 'x'"),
        ([], "", "there are no answers"),
        ({}, "", "there are no answers"),
    ],
)
def test_each_wrong_answer_is_named(answers: Any, field: str, message: str) -> None:
    """And nothing is run."""
    ((_, wrong, said),) = mistakes_of([HUMANEVAL], candidates=answers)
    assert wrong.rpartition("].")[2] == field
    assert message in said


def test_a_file_without_answers_is_named_and_not_the_data_set(tmp_path: Path) -> None:
    """An empty file, or an empty list in one."""
    for name, content in (("answers.jsonl", "\n"), ("answers.json", "[]"), ("more.json", "{}")):
        path = tmp_path / name
        path.write_text(content)
        with pytest.raises(ScenarioFileError, match=rf"{name}: there are no answers"):
            import_scenarios([HUMANEVAL], candidates=path)


def test_a_name_that_is_too_long_for_a_file_is_told(tmp_path: Path) -> None:
    """As any other file that cannot be read."""
    for ending in ("json", "yaml", "jsonl", "jsonl.gz"):
        with pytest.raises(ScenarioFileError, match="cannot be read: File name too long"):
            import_scenarios(tmp_path / f"{'x' * 300}.{ending}")


def test_lines_that_are_no_rows_are_told_together(tmp_path: Path) -> None:
    """Each with its line."""
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(HUMANEVAL) + "\n{\n\n[1]\n" + json.dumps(HUMANEVAL) + "\n")
    found = mistakes_of(path)
    assert [line for line, _, _ in found] == [5, 2, 4]
    assert "is the name of the row on line 1 too" in found[0][2]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.parquet", b"PAR1", "rows of CSV and Parquet are read by the client"),
        ("rows.jsonl", b'{"a": "\xff"}', "not UTF-8"),
        ("rows.jsonl.gz", b"no gzip", "cannot be read"),
        ("rows.json", b"[", "not JSON"),
        ("rows.jsonl", b"\n", "there are no"),
        ("rows.csv", b"a,b", "name"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """One sentence each, with what to do."""
    (tmp_path / name).write_bytes(content)
    assert message in " ".join(said for _, _, said in mistakes_of(tmp_path / name, form=None))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """Of rows and of answers alike."""
    assert "cannot be read" in mistakes_of(tmp_path / "none.jsonl")[0][2]
    assert "cannot be read" in mistakes_of([HUMANEVAL], candidates=tmp_path / "none.jsonl")[0][2]


def test_a_file_is_read_line_by_line(tmp_path: Path) -> None:
    """What comes after the first row has not been looked at when that one is there."""
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(HUMANEVAL) + "\nnot JSON\n")
    rows = Rows(path)
    first = rows.first()
    assert first is not None
    assert (first.fields, rows.mistakes) == (HUMANEVAL, [])
    assert [row.line for row in rows] == [1]
    assert [mistake.line for mistake in rows.mistakes] == [2]


def test_rows_are_read_one_by_one(tmp_path: Path) -> None:
    """A later row that is wrong stops nothing, and very many wrong ones are not all told, which the last one says."""
    rows = [{**HUMANEVAL, "task_id": number, "prompt": 3} for number in range(1100)]
    assert len(mistakes_of(written(tmp_path / "rows.jsonl", [HUMANEVAL, *rows]))) == 1001


def test_rows_with_a_mistake_are_left_out_on_request() -> None:
    """They are named; a data set in which nothing is right is still refused, and so are all mistakes by default."""
    rows = [{**HUMANEVAL, "task_id": "a"}, {**HUMANEVAL, "task_id": "b", "entry_point": "no name"}, {"task_id": "c"}]
    batch = import_scenarios(rows, form="humaneval", skip_bad_rows=True)
    assert [scenario.id for scenario in batch.scenarios] == ["a/oracle"]
    assert [str(mistake).partition(": ")[2][:30] for mistake in batch.left_out] == [
        "[1].entry_point: must be the n",
        "[2].entry_point: is required",
    ]
    with pytest.raises(ScenarioFileError):
        import_scenarios(rows, form="humaneval")
    with pytest.raises(ScenarioFileError):
        import_scenarios(rows[1:], form="humaneval", skip_bad_rows=True)
