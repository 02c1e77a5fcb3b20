"""Problems that a model is asked, and the scenarios that its answers become.

What `harena train rl` takes as prompts is taken here, read by the same readers, and an answer becomes a program in the
same way: an evaluation before and after training measures what training rewards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.scoring.formats.graders import GRADER
from harena.scoring.formats.recognise import misspelt_field
from harena.scoring.formats.rows import numbered
from harena.training.data.conversations import Conversation, prompt_conversation_of
from harena.training.data.datasets import prompt_row_of
from harena.training.data.imported_rows import imported
from harena.training.data.prompts import PromptRow, as_judged
from harena.training.data.row_files import Mistakes, rows_of
from harena.training.model_eval.answers_file import ModelAnswer
from harena.training.rewards.code_tests import CodeTests
from harena.training.rollouts.scored import allowed_seconds

LEAST_SECONDS = 10.0
"""time of a program whose contract says nothing of time"""
COMPARED = (
    "it has a right answer and no scoring contract (`scoring`): training compares such answers by a reward recipe "
    "(math_v1, exact_match_v1), and an evaluation runs contracts: give it one, as {type: string_check, reference: ...}"
)
WithPrompt = Callable[[PromptRow, Conversation], PromptRow]
"""puts the text that the model reads into a row. Raises ValueError"""


@dataclass(frozen=True, slots=True)
class ReadProblem:
    """A problem that can be scored, as it stands in its data set: its prompt is not yet a model's."""

    row: PromptRow
    conversation: Conversation
    origin: str
    """file and line, or file and row"""


def read_rows(
    path: Path,
    recipe: CodeTests,
    *,
    split: str | None = None,
    limit: int | None = None,
    grader: Mapping[str, Any] | None = None,
) -> list[ReadProblem]:
    """The problems of a file or directory, the first `limit` of them, with this `grader`, if there is one. Raises
    ValidationError: one, with every row that cannot be asked or scored."""
    mistakes = Mistakes(str(path))
    made: list[ReadProblem] = []
    ids: dict[str, str] = {}
    for number, row in enumerate(rows_of(path, mistakes, split=split, most=limit)):
        try:
            given = row.values if grader is None else {**row.values, GRADER: grader}
            values = imported(given, by_contract=True)
            problem, conversation = prompt_row_of(values, id=numbered(number)), prompt_conversation_of(values)
        except ValueError as error:
            mistakes.add(row.origin, str(error))
            continue
        if problem.id in ids:
            mistakes.add(row.origin, f"its id {problem.id!r} is that of {ids[problem.id]} too")
        ids.setdefault(problem.id, row.origin)
        for mistake in _mistakes_of(problem, given, recipe):
            mistakes.add(row.origin, mistake)
        made.append(ReadProblem(problem, conversation, row.origin))
    mistakes.check()
    if not made:
        raise ValidationError(f"{path}: there is no problem in it")
    return made


def with_prompts(path: Path, rows: Iterable[ReadProblem], with_prompt: WithPrompt) -> list[PromptRow]:
    """The problems with the text that a model reads. Raises ValidationError: one, with every row that it cannot
    read."""
    mistakes = Mistakes(str(path))
    made: list[PromptRow] = []
    for row in rows:
        try:
            made.append(with_prompt(row.row, row.conversation))
        except ValueError as error:
            mistakes.add(row.origin, str(error))
    mistakes.check()
    return made


def _mistakes_of(problem: PromptRow, values: Mapping[str, Any], recipe: CodeTests) -> list[str]:
    """Why answers to this row, which has these fields, cannot be scored."""
    if problem.scoring is None and (meant := misspelt_field(values)) is not None:
        return [meant]
    return [COMPARED] if _is_compared(problem) else recipe.check(problem)


def _is_compared(problem: PromptRow) -> bool:
    """It has a right answer, and nothing that says which other answers are right."""
    return problem.scoring is None and problem.expected_output is not None


def as_scenarios(
    problems: Sequence[PromptRow], answers: Iterable[ModelAnswer], recipe: CodeTests
) -> Mapping[str, list[dict[str, Any]]]:
    """{problems, scenarios}, as a scenario file has them: a scenario `ID/1`, `ID/2`, ... for each answer to `ID`, in
    the order of the problems."""
    said: dict[str, list[ModelAnswer]] = {problem.id: [] for problem in problems}
    for answer in answers:
        if answer.problem in said:
            said[answer.problem].append(answer)
    usual = {problem.id: recipe.scenario(problem, "")[1] for problem in problems}
    return {
        "problems": [_problem(problem, usual[problem.id]) for problem in problems],
        "scenarios": [
            row for problem in problems for row in _scenarios(problem, said[problem.id], recipe, usual[problem.id])
        ],
    }


def _problem(problem: PromptRow, judged_by: Mapping[str, Any]) -> dict[str, Any]:
    limits = dict(judged_by.get("limits") or {})
    limits.setdefault("timeout_seconds", allowed_seconds(judged_by, LEAST_SECONDS))
    beside = dict(judged_by.get("problem") or {})
    return {**beside, "id": problem.id, "statement": problem.prompt, "scoring": judged_by["scoring"], "limits": limits}


def _scenarios(
    problem: PromptRow, answers: Iterable[ModelAnswer], recipe: CodeTests, usual: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    for answer in sorted(answers, key=lambda answer: answer.sample):
        candidate, judged_by = recipe.scenario(problem, as_judged(problem, answer.text))
        row = {"id": f"{problem.id}/{answer.sample + 1}", "problem": problem.id, "candidate": candidate}
        if judged_by["scoring"] != usual["scoring"]:  # a program that defines `class Solution`
            row["scoring"] = judged_by["scoring"]
        yield {**row, "metadata": {"tokens": answer.tokens, "cut_off": answer.cut_off}}
