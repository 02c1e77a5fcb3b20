"""Answers of models, in the files that people have: one row for each, or lists of them.

    {"task_id": "HumanEval/0", "completion": "    return ..."}        what follows the prompt
    {"task_id": "Mbpp/2", "solution": "def f(x): ..."}                a whole program (also code, output, ...)
    {"question_id": "1873_A", "code_list": ["...", "..."]}            several
    {"0": ["...", "..."], "1": ["..."]}                               JSON only: the row's id, and its answers

Rows that name no problem answer the data set's rows in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harena.core.outside_json import read_outside
from harena.core.rows import RowsFile
from harena.scoring.formats.rows import FieldError, Row, Rows, shown
from harena.scoring.reading import MOST_MISTAKES, Mistake, too_many_mistakes

PROBLEM_FIELDS = (
    "task_id",
    "question_id",
    "problem_id",
    "problem",
    "instance_id",
    "scenario_id",
    "id",
    "index",
    "item_id",
)
ONE_ANSWER = (
    "completion", "solution", "code", "candidate", "candidate_solution", "program", "output_text", "output", "response",
    "generation",
)  # fmt: skip
"""fields of one answer"""
COMPLETIONS = ("completion", "completions")
PROGRAMS = (
    *ONE_ANSWER[1:],
    "solutions", "code_list", "candidates", "programs", "outputs", "responses", "generations",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to one problem."""

    text: str
    is_completion: bool
    """it follows the prompt; otherwise it is whole"""
    row: Row


class Samples:
    """The answers of one source, by problem."""

    def __init__(self, source: str | Path | Sequence[Any] | RowsFile | Mapping[str, Any]) -> None:
        self.by_problem: dict[str, list[Answer]] = {}
        self.in_order: list[list[Answer]] = []
        """answers that name no problem, for each row"""
        content = source if isinstance(source, Mapping) else _mapping_in(source)
        if content is not None:
            rows = Rows([{"id": name, "solutions": texts} for name, texts in content.items()])
            rows.name = str(source) if isinstance(source, str | Path) else "candidates"
        else:
            assert not isinstance(source, Mapping)
            rows = Rows(source)
        self.name = rows.name
        self.mistakes: list[Mistake] = []
        for row in rows:
            try:
                self._add(row)
            except FieldError as error:
                self.mistakes.append(row.mistake(error))
                if len(self.mistakes) == MOST_MISTAKES:
                    self.mistakes.append(too_many_mistakes(self.name))
                    break
        self.mistakes += rows.mistakes
        if self.in_order and self.by_problem:
            answers = self.in_order[0]
            message = "some rows name their problem (task_id) and this one does not; name it in all, or in none"
            self.mistakes.append(answers[0].row.mistake(FieldError("task_id", message)))

    @property
    def is_empty(self) -> bool:
        """There is no answer in it."""
        return not self.by_problem and not self.in_order

    def _add(self, row: Row) -> None:
        answers = _answers(row)
        named = next((name for name in PROBLEM_FIELDS if row.fields.get(name) is not None), None)
        if named is None:
            self.in_order.append(answers)
            return
        value = row.fields[named]
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise FieldError(named, f"must be the id of a problem, not {shown(value)}")
        self.by_problem.setdefault(str(value), []).extend(answers)

    def take(self, problem: str, number: int) -> list[Answer]:
        """The answers to one problem, by its id or by its row's number; they are not there afterwards."""
        if self.by_problem or not self.in_order:
            return self.by_problem.pop(problem, [])
        return self.in_order[number] if number < len(self.in_order) else []


def _answers(row: Row) -> list[Answer]:
    for name in (*COMPLETIONS, *PROGRAMS):
        value = row.fields.get(name)
        if value is None:
            continue
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise FieldError(name, f"must be text (the answer) or a list of texts, not {shown(value)}")
        return [Answer(text, name in COMPLETIONS, row) for text in texts]
    raise FieldError("completion", "is required (or solution, code, output_text, or a list of them)")


def _mapping_in(source: str | Path | Sequence[Any] | RowsFile) -> Mapping[str, Any] | None:
    """The content of a JSON file that holds answers by id; None for every other file."""
    if not isinstance(source, str | Path) or Path(source).suffix.lower() != ".json":
        return None
    try:
        content = read_outside(Path(source).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None  # the reader of rows says what is wrong
    is_row = isinstance(content, Mapping) and any(name in content for name in (*COMPLETIONS, *PROGRAMS))
    return content if isinstance(content, Mapping) and not is_row else None
