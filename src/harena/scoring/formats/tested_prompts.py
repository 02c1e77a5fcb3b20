"""Rows of a prompt and its tests, as people write them into a table of their own.

    {"prompt": ..., "tests": "assert f(1) == 2\\nassert f(2) == 4", "solution": "def f(x): ..."}
    {"prompt": ..., "tests": ["assert f(1) == 2", ...]}                            a list of asserts
    {"prompt": ..., "tests": "def test_one():\\n    assert f(1) == 2"}              functions, all of which are called
    {"prompt": ..., "tests": [{"input": "1 2", "output": "3"}]}                    a program's input and output

A list may be JSON text, as it is in a CSV file. `solution` (or `code`, `canonical_solution`) may be missing. Asserts
are read as calls with known answers where they are such (trust `separate`), as those of MBPP are; other Python is run
as it is. The tests are not shown; where the prompt does not name what they call, its statement does.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from harena.scoring.contracts.contract import Contract, StdioContract
from harena.scoring.formats import mbpp
from harena.scoring.formats.asked_fields import asked_in, given
from harena.scoring.formats.asserts import NotChecksError, parse_tests
from harena.scoring.formats.own_scenarios import names_asked_by
from harena.scoring.formats.rows import FieldError, Row, json_of, shown
from harena.scoring.formats.task import Family, Task, made
from harena.scoring.python_source import sources_of

_MORE_PROMPTS = ("text", "statement", "content")
_SOLUTIONS = ("solution", "code", "canonical_solution")
_INPUTS, _OUTPUTS = ("input", "stdin"), ("output", "stdout")
_CANDIDATE_MODULES = frozenset({"solution", "main", "candidate", "your_module"})
"""where tests import from what they test; the candidate's names are there without it"""
_UNSHOWN = "the prompt"
"""stands where a row of MBPP has its text"""
_PAIR_SECONDS = 10.0
_PAIR = "{input, output}"


def read(row: Row) -> Task:
    """One row. Raises FieldError."""
    field, prompt = _prompt(row.fields) or ("prompt", None)
    if not isinstance(prompt, str) or not prompt.strip():
        raise FieldError(field, f"must be text that asks for something, not {shown(prompt)}")
    solution = row.optional_text(*_SOLUTIONS) or None
    tests = _decoded(row.fields["tests"])
    note = ""
    contract: Contract
    if isinstance(tests, list) and tests and all(isinstance(entry, Mapping) for entry in tests):
        contract = _pairs(tests)
    else:
        contract, note = _of_code(row, tests, solution)
    missing = sorted(name for name in names_asked_by(contract) if name not in prompt)
    asked = f"{prompt}\n\nThe tests call {', '.join(f'`{name}`' for name in missing)}." if missing else prompt
    return Task(id=row.id(), statement=asked, contract=contract, solution=solution, note=note)


def _prompt(fields: Mapping[str, Any]) -> tuple[str, Any] | None:
    return asked_in(fields) or given(fields, _MORE_PROMPTS)


def _decoded(tests: Any) -> Any:
    """A list, where the text is one of JSON; Python that begins with a bracket is what it is."""
    if isinstance(tests, str) and tests.lstrip().startswith("["):
        try:
            return json_of(tests, "tests")
        except FieldError:
            return tests
    return tests


def _pairs(tests: list[Mapping[str, Any]]) -> StdioContract:
    cases = []
    for number, pair in enumerate(tests):
        ends = given(pair, _INPUTS), given(pair, _OUTPUTS)
        texts = ["" if end is None else end[1] for end in ends]
        if ends[1] is None or not all(isinstance(text, str) for text in texts):
            raise FieldError("tests", f"[{number}] must be {{input, output}}, two texts, not {shown(pair)}")
        cases.append({"stdin": texts[0], "stdout": texts[1]})
    contract: StdioContract = made(StdioContract, "tests", type="stdio", cases=cases, timeout_seconds=_PAIR_SECONDS)
    return contract


def _of_code(row: Row, tests: Any, solution: str | None) -> tuple[Contract, str]:
    """(the contract, why its trust is `shared` where it is)."""
    if not tests:
        raise FieldError("tests", f"must not be empty: give Python, or a list of asserts or of {_PAIR}")
    parts = tests if isinstance(tests, list) else [tests]
    for number, part in enumerate(parts):
        if not isinstance(part, str) or not part.strip():
            raise FieldError(
                "tests", f"[{number}] must be Python, and all entries asserts or {_PAIR}, not {shown(part)}"
            )
    code = "\n".join(parts)
    try:
        body = parse_tests(code).body
    except NotChecksError as error:
        raise FieldError("tests", f"cannot be read as Python: {error}") from None
    body = [part for part in body if not _imports_candidate(part)]
    asserts = [part for part in body if isinstance(part, ast.Assert)]
    imports = [part for part in body if isinstance(part, ast.Import | ast.ImportFrom)]
    if len(asserts) + len(imports) == len(body) and asserts:
        fields = {
            "text": _UNSHOWN,
            "code": solution,
            "test_imports": sources_of(code, imports),
            "test_list": sources_of(code, asserts),
        }
        return _as_mbpp(row, fields)
    functions = [part for part in body if isinstance(part, ast.FunctionDef) and part.name.startswith("test")]
    if wanting := [part.name for part in functions if part.args.args or part.decorator_list]:
        raise FieldError(
            "tests", f"`{wanting[0]}` takes arguments or is decorated, as pytest alone can call it: {_ELSE}"
        )
    if not functions and not any(isinstance(part, ast.Assert) for part in ast.walk(ast.Module(body, []))):
        raise FieldError("tests", f"there is no assert in it: {_ELSE}")
    lines = sources_of(code, body) + [f"{part.name}()" for part in functions]
    return _as_mbpp(row, {"text": _UNSHOWN, "code": solution, "test_list": ["\n".join(lines)]})


_ELSE = "write a contract that runs it (`scoring`, docs/reference/scenario.md)"


def _imports_candidate(part: ast.stmt) -> bool:
    return isinstance(part, ast.ImportFrom) and part.module in _CANDIDATE_MODULES


def _as_mbpp(row: Row, fields: Mapping[str, Any]) -> tuple[Contract, str]:
    try:
        task = mbpp.read(Row(fields, row.number, row.file, line=row.line))
    except FieldError as error:
        raise FieldError("tests", error.message) from None
    return task.contract, task.note.removeprefix("test_list[0]: ")


def _fits(fields: Mapping[str, Any]) -> bool:
    has_tests = isinstance(fields.get("tests"), str | list) and "test_list" not in fields
    return has_tests and fields.get("scoring") is None and _prompt(fields) is not None


FAMILY = Family(
    name="tests",
    needs="a prompt (prompt, question, instruction, text), tests; a solution may be there",
    fits=_fits,
    read=read,
)
