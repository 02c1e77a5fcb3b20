"""Rows of a prompt and a scoring contract, as models are trained on them; any answer to them can be scored.

    {"id": "add-1", "prompt": "add 1>", "scoring": {"type": "tests", ...}}     also `messages`, `question`, `statement`
    {..., "solution": "def f(x): ..."}                                         with a right answer (or `own_solution`)
    {..., "program": {"prefix": ..., "entry": ..., "problem": ..., "limits": ...}}     how an answer becomes a program

Whether a row is one of these, and what its prompt is, is decided here alone: training reads its prompts by the same
functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from harena.scoring.contracts.stored import is_contract_reference
from harena.scoring.formats.asked_fields import asked_in, given
from harena.scoring.formats.graders import conversation_asked
from harena.scoring.formats.gsm8k import number_in, wanted_number
from harena.scoring.formats.rows import ID_FIELDS, FieldError, Row, shown
from harena.scoring.formats.task import Family, Task
from harena.scoring.load import load_scenarios
from harena.scoring.reading import ScenarioFileError
from harena.scoring.scenario import DEFAULT_ENTRY, Scenario

SOLUTION_FIELDS = ("own_solution", "solution", "candidate", "candidate_solution")
"""where a row may say what is right"""
PROGRAM_FIELDS = ("prefix", "entry", "class_scoring", "problem", "limits", "number")
_SCORING_FIELDS = ("scoring", "scoring_contract")
_OF_PROBLEM = ("entry_point", "files", "language", "honeypot")
_OF_OWN = frozenset({"candidate", "candidate_solution", "scenarios", "problems"})
"""fields of harena's own scenarios that tell their rows from prompts that are called `statement`"""


def is_prompt_row(values: Any) -> bool:
    """It has a prompt and a scoring contract, and is no scenario of harena's own form."""
    if not isinstance(values, Mapping):
        return False
    problem = values.get("problem")
    holder = problem if isinstance(problem, Mapping) else values
    if values.get("messages") is not None or asked_in(values) is not None:
        return given(values, _SCORING_FIELDS) is not None
    is_stated = isinstance(holder.get("statement"), str) and _OF_OWN.isdisjoint(map(str, values))
    return is_stated and (given(values, _SCORING_FIELDS) or given(holder, _SCORING_FIELDS)) is not None


def as_prompt(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """A prompt row with `scoring` as it is; a problem, or a scenario, of harena's own form with its statement as the
    prompt. Raises ValueError."""
    problem = values.get("problem")
    problem = problem if isinstance(problem, Mapping) else values
    is_prompt = values.get("messages") is not None or asked_in(values) is not None
    if is_prompt and values.get("scoring") is None and values.get("scoring_contract") is not None:
        return {**values, "scoring": values["scoring_contract"]}
    if is_prompt or not ({"statement"} & set(problem) or "candidate" in values):
        return values
    if not isinstance(statement := problem.get("statement"), str) or not statement.strip():
        raise ValueError("its problem has no `statement`: there is nothing to ask for")
    scoring = values.get("scoring") or values.get("scoring_contract") or problem.get("scoring")
    if scoring is None:
        raise ValueError("neither it nor its problem has a scoring contract (`scoring`)")
    return {
        **{name: values[name] for name in ID_FIELDS if values.get(name) is not None},
        "id": values.get("id") or values.get("scenario_id"),
        "prompt": statement,
        "scoring": scoring,
        "program": beside_of(problem, values),
        "metadata": values.get("metadata") or {},
    }


def beside_of(problem: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """What of a problem and of its scenario decides a score, beside the contract, as the fields of its `program`."""
    fields = {name: problem[name] for name in _OF_PROBLEM if problem.get(name)}
    limits = {**(problem.get("limits") or {}), **(row.get("limits") or {})}
    return {name: value for name, value in {"problem": fields, "limits": limits}.items() if value}


def read(row: Row) -> Task:
    """One row. Raises FieldError."""
    try:
        values = as_prompt(row.fields)
    except ValueError as error:
        raise FieldError("", str(error)) from None
    solution = given(row.fields, SOLUTION_FIELDS)
    row.fields = {**row.fields, **values}
    program = _program(row)
    statement, messages = conversation_asked(row)
    scenario = _scenario(row, program, row.mapping("scoring"))
    in_class = program.get("class_scoring")
    number = _text(program, "number") or None
    if number is not None and wanted_number(number) is None:
        raise FieldError("program.number", f"must be a number as text, not {shown(number)}")
    entry, right, beside = _right_answer(solution, _text(program, "entry") or DEFAULT_ENTRY)
    return Task(
        id=row.id("scenario_id"),
        statement=statement,
        messages=messages,
        contract=scenario.scoring,
        contract_version=scenario.lineage.contract,
        class_contract=None if in_class is None else _scenario(row, program, in_class, "program.class_scoring").scoring,
        solution=right,
        solution_files=beside,
        prefix=_text(program, "prefix"),
        number=number,
        read_answer=None if number is None else partial(number_in, wanted=number),
        entry=entry,
        files=scenario.files,
        limits=scenario.limits,
        honeypot=scenario.honeypot,
    )


def _name(row: Row) -> str:
    return row.id("scenario_id")


def _program(row: Row) -> Mapping[str, Any]:
    """A column of this name that is no object is the author's own."""
    program = row.fields.get("program")
    if not isinstance(program, Mapping):
        return {}
    if unknown := sorted(set(map(str, program)) - set(PROGRAM_FIELDS)):
        raise FieldError(
            "program", f"has the unknown fields {', '.join(unknown)}; there are {', '.join(PROGRAM_FIELDS)}"
        )
    return {str(name): value for name, value in program.items() if value is not None}


def _text(program: Mapping[str, Any], name: str) -> str:
    value = program.get(name, "")
    if not isinstance(value, str):
        raise FieldError(f"program.{name}", f"must be text, not {shown(value)}")
    return value


def _scenario(row: Row, program: Mapping[str, Any], scoring: Any, field: str = "scoring") -> Scenario:
    """A scenario with this contract, by which everything is checked that harena's own scenarios are checked by."""
    if isinstance(scoring, Mapping) and "type" not in scoring and "scenario" in scoring:
        raise FieldError(
            field,
            f"names the stored scenarios {scoring['scenario']!r}, which training jobs look up; here they are named as "
            f"the data set itself: ref:{scoring['scenario']}",
        )
    written = {"id": "row", "candidate": "", "scoring": scoring}
    beside = {"problem": program.get("problem"), "limits": program.get("limits")}
    written |= {name: value for name, value in beside.items() if value}
    contracts = row.contracts if is_contract_reference(scoring) else None
    try:
        (scenario,) = load_scenarios([written], contracts=contracts).scenarios
    except ScenarioFileError as error:
        first = error.mistakes[0]
        place = first.field.removeprefix("[0]").removeprefix(".")
        place = place if place.partition(".")[0] == "scoring" or not place else f"program.{place}"
        raise FieldError(place.replace("scoring", field, 1) if place else field, first.message) from None
    return scenario


def _right_answer(solution: tuple[str, Any] | None, entry: str) -> tuple[str, str | None, Mapping[str, str]]:
    """(the file that answers are written to, the row's right one, what stands beside it)"""
    if solution is None or solution[1] in ("", {}):
        return entry, None, {}
    name, value = solution
    if isinstance(value, str):
        return entry, value, {}
    files = value.get("files") if isinstance(value, Mapping) else None
    if not isinstance(files, Mapping) or not all(isinstance(text, str) for text in (*files, *files.values())):
        raise FieldError(name, f"must be text, or {{files, entry}}, not {shown(value)}")
    entry = str(value.get("entry") or entry)
    if entry not in files:
        raise FieldError(f"{name}.entry", f"{entry!r} is not among its files")
    return entry, files[entry], {path: text for path, text in files.items() if path != entry}


FAMILY = Family(
    name="prompts",
    needs="a prompt (messages, prompt, question, instruction, statement), scoring",
    fits=is_prompt_row,
    read=read,
    name_of=_name,
)
