"""A file of a model's answers, which an evaluation goes on from."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from harena.core.errors import ValidationError
from harena.training.model_eval.answers_file import AnswersFile, ModelAnswer

ASKED = {"model": "m", "settings": {"temperature": 0.0}}


def answer(problem: str, sample: int = 0, text: str = "x") -> ModelAnswer:
    return ModelAnswer(problem=problem, sample=sample, text=text, tokens=1, cut_off=False)


def test_answers_are_there_again(tmp_path: Path) -> None:
    path = tmp_path / "of a new folder" / "answers.jsonl"
    AnswersFile(path, ASKED).add([answer("a"), answer("b", text="é\n\u2028")])
    again = AnswersFile(path, ASKED)
    assert list(again) == [answer("a"), answer("b", text="é\n\u2028")]
    assert ("a", 0) in again
    assert ("a", 1) not in again
    again.add([answer("a", text="another"), answer("c")])
    assert [one.text for one in AnswersFile(path, ASKED)] == ["x", "é\n\u2028", "x"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("cut", range(0, 260, 7))
def test_a_writer_that_was_killed_within_a_line_loses_that_answer_alone(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "answers.jsonl"
    AnswersFile(path, ASKED).add([answer("a"), answer("b")])
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    again = AnswersFile(path, ASKED)
    assert len(again) == max(0, whole[:cut].count(b"\n") - 1)
    again.add([answer("a"), answer("b")])
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "content", ["{}\n", '{"model": "other", "settings": {}, "format": 1}\n', "[]\n", "no JSON\n", "\n", '{"a": 1}\nx\n']
)
def test_a_file_of_something_else_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(content)
    with pytest.raises(ValidationError, match=r"name another file, or delete this one"):
        AnswersFile(path, ASKED)
    assert path.read_text() == content


@pytest.mark.parametrize("line", ['{"problem": "a"}', "[1]", "nothing", '{"problem": "a", "sample": 0, "more": 1}'])
def test_a_line_that_is_no_answer_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "answers.jsonl"
    AnswersFile(path, ASKED).add([answer("a")])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ValidationError, match=r"answers\.jsonl:3: this is no answer"):
        AnswersFile(path, ASKED)
