"""Rows of code data sets and problems of scenario files, as prompts with their scoring contracts.

What `harena benchmark run` reads as a data set (HumanEval, MBPP, APPS and others: `harena.scoring.formats`) has tests
in a form of its own. Without them such a row is a prompt and nothing that an answer could be rewarded by; so the same
readers make a prompt row of it:

    {id, prompt | messages, scoring, program: {prefix, entry, class_scoring, problem, limits}, own_solution}

`prefix` stands before an answer that goes on where the prompt ends. Rows that say `scoring` themselves, and rows of
other forms, are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harena.scoring.formats.asked_fields import ANSWER_FIELDS, given
from harena.scoring.formats.prompt_rows import PROGRAM_FIELDS, as_prompt, is_prompt_row
from harena.training.data.conversations import of_mathematics

OWN_SOLUTION = "own_solution"
"""field of a prompt row: the data set's right answer; it says how long answers are, and is never part of a prompt"""
OWN_FORMAT = "scenarios"
"""harena's own"""
_NEED_A_GRADER = frozenset({"rft", "grader", "harbor"})
"""formats whose rows are plain conversations, or directories: not told by the shape of a row"""
_COMPARED = frozenset({"gsm8k"})
"""formats whose answers a reward recipe of their own compares"""
_UNNUMBERED = -1
"""stands for a row's number, which only its reader knows: one without an id is called by that"""
_OF_FILES = ("problems", "scenarios")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramForm:
    """How an answer to one row becomes the program that is judged, and what stands beside it."""

    prefix: str = ""
    """stands before an answer that is a completion of the prompt"""
    entry: str | None = None
    """the file that the program is written to; None = the recipe's"""
    class_scoring: Mapping[str, Any] | None = None
    """judges, in place of `scoring`, a program that defines `class Solution`"""
    problem: Mapping[str, Any] = field(default_factory=dict)
    """entry_point and files, as in a scenario"""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """limits, as in a scenario"""
    number: str | None = None
    """the right number, where the number that an answer ends with is what `scoring` judges"""

    @classmethod
    def of(cls, written: Any) -> ProgramForm | None:
        """What a row's `program` says; None = it says nothing of this kind. Raises ValueError."""
        if not isinstance(written, Mapping):
            return None
        if unknown := sorted(set(map(str, written)) - set(PROGRAM_FIELDS)):
            there_are = ", ".join(PROGRAM_FIELDS)
            raise ValueError(f"its program has the unknown fields {', '.join(unknown)}; there are {there_are}")
        return cls(**{str(name): value for name, value in written.items() if value is not None})


def problems_in(content: Any) -> Iterator[Any] | None:
    """The problems of a scenario file, one row for each; None = it is no such file. Scenarios that share a problem are
    one prompt, and what they bring along as candidates is left out."""
    if not isinstance(content, Mapping) or not any(isinstance(content.get(name), list) for name in _OF_FILES):
        return None
    return _problems(content)


def _problems(content: Mapping[str, Any]) -> Iterator[Any]:
    named: set[str] = set()
    for problem in content.get("problems") or ():
        if isinstance(problem, Mapping):
            named.add(str(problem.get("id")))
        yield problem
    for row in content.get("scenarios") or ():
        problem = row.get("problem") if isinstance(row, Mapping) else None
        if not isinstance(problem, str) or problem not in named:
            yield row


def imported(values: Mapping[str, Any], *, form: str | None = None, by_contract: bool = False) -> Mapping[str, Any]:
    """The row as a prompt row. `form`: its data format, where that is known. `by_contract`: also rows whose answers a
    reward recipe compares have a scoring contract then. Raises ValueError, whose text says what is wrong with it."""
    if "scoring" in values or "scoring_contract" in values or isinstance(values.get("problem"), Mapping):
        return as_prompt(values)
    from harena.scoring.formats.recognise import FAMILIES
    from harena.scoring.formats.rows import FieldError, Row

    if form is None:
        left_to_others = (_NEED_A_GRADER - _graded(values)) | (frozenset() if by_contract else _COMPARED)
        fitting = [one for one in FAMILIES if one.name not in left_to_others and one.fits(values)]
    else:
        fitting = [one for one in FAMILIES if one.name == form]
    if not fitting:
        return of_mathematics(values)
    if len(fitting) > 1:
        names = " and ".join(one.name for one in fitting)
        raise ValueError(f"it has the shape of the formats {names}: store it with its format (`harena scenario push`)")
    try:
        task = fitting[0].read(Row(values, _UNNUMBERED, ""))
    except FieldError as error:
        raise ValueError(f"it has the shape of {fitting[0].name}, and {error}") from None
    return {**_kept(values), **_of_task(task, fitting[0].name)}


def format_of(values: Mapping[str, Any]) -> str:
    """One word for the format of a row, by which it is read: of a data set, or of what is written for training."""
    from harena.scoring.formats.recognise import FAMILIES

    if is_prompt_row(values):
        return "prompts"
    left_to_others = _NEED_A_GRADER - _graded(values)
    fitting = [one.name for one in FAMILIES if one.name not in left_to_others and one.fits(values)]
    if fitting:
        return " or ".join(fitting)
    if of_mathematics(values) is not values:
        return "math"
    if values.get("steps") is not None:
        return "trajectories"
    return "conversations" if values.get("messages") is not None else "prompts and answers"


def _graded(values: Mapping[str, Any]) -> frozenset[str]:
    """Formats that a row has because it brings its grader along."""
    return frozenset({"rft"}) if values.get("grader") and values.get("messages") is not None else frozenset()


def _kept(values: Mapping[str, Any]) -> dict[str, Any]:
    """What other reward recipes than code_tests_v1 look at."""
    answer = given(values, ANSWER_FIELDS)
    kept = {name: values[name] for name in ("reward", "task", "split") if values.get(name) is not None}
    return {**kept, **({"expected_output": answer[1]} if answer is not None else {})}


def _of_task(task: Any, form: str) -> dict[str, Any]:
    from harena.scoring.contracts.written import written_contract

    asked = {"messages": [dict(message) for message in task.messages]} if task.messages else {"prompt": task.statement}
    other = None if task.class_contract is None else written_contract(task.class_contract)
    program = {
        "prefix": task.prefix,
        "entry": task.entry,
        "class_scoring": other,
        "problem": {"files": dict(task.files)} if task.files else {},
        "limits": task.limits.model_dump(exclude_none=True),
        "number": task.number,
    }
    return {
        "id": task.id if task.id != str(_UNNUMBERED) else None,
        **asked,
        "scoring": written_contract(task.contract),
        "program": {name: value for name, value in program.items() if value},
        OWN_SOLUTION: task.solution,
        "metadata": {"format": form},
    }
