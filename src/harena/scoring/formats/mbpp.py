"""MBPP: full, sanitised, as SandboxFusion has it, and MBPP+ in its form with test code.

    full        {"task_id": 2, "text": ..., "code": ..., "test_list": ["assert f(1) == 2"], "test_setup_code": "",
                 "challenge_test_list": []}
    sanitised   {"task_id": 2, "prompt": ..., "code": ..., "test_imports": ["import math"], "test_list": [...]}
    Fusion      {"id": 2, "content": ..., "canonical_solution": ..., "test_list": [...],
                 "labels": {"test_setup_code": "", "challenge_test_list": []}}
    MBPP+       sanitised, and "test": code with `inputs`, `results` and a loop of `assertion(f(*inp), exp, ...)`

All asserts must hold. They are read as calls with known answers where they are such (trust `separate`); where one is
more than that, they are all run, and ask a process of the candidate's (trust `shared`, and the task says why) or, where
values do not cross, one in a sandbox of its own (trust `separate`, unless the row's solution is paid only beside them).
`challenge_test_list` is left out, as the data set's authors do. The statement holds the asserts, as the published
prompt does: they name the function.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from harena.scoring.contracts.contract import Contract, TestsContract
from harena.scoring.formats.asserted_names import AssertedNames
from harena.scoring.formats.asserts import (
    AssertedCall,
    NotChecksError,
    asserted_calls,
    called_names,
    parse_tests,
    with_collections,
)
from harena.scoring.formats.crossing import what_cannot_cross
from harena.scoring.formats.humaneval import test_code
from harena.scoring.formats.literals import NotLiteralError, literal
from harena.scoring.formats.plus import assigned, is_idle, loop_over_lists, read_assertion
from harena.scoring.formats.rows import FieldError, Row, shown
from harena.scoring.formats.task import Family, Task, made
from harena.scoring.scorers.assert_names import tested_builtins

_SECONDS = 10.0
"""time limit of one program; the published rows say nothing"""


def read(row: Row) -> Task:
    """One row. Raises FieldError."""
    asserts = row.texts("test_list")
    if not asserts:
        raise FieldError("test_list", "is required: a list of asserts, and at least one")
    labels = row.mapping("labels") if row.has("labels") else {}
    setup = "\n".join([*row.texts("test_imports"), _setup(row, labels)]).strip()
    plus = row.optional_text("test")
    note = ""
    contract: Contract
    try:
        contract = _plus_checks(plus) if plus else _checks(asserts, setup)
    except NotChecksError as error:
        note = str(error)
        code = with_collections(plus or "\n".join([setup, *asserts]))
        field, seconds = ("test", 60.0) if plus else ("test_list", _SECONDS)
        solution = row.optional_text("code", "canonical_solution") or None
        calls, why = _called_functions(code, setup, solution)
        note += f"; `{why}` cannot be given to another process" if why else ""
        contract = test_code(code + "\n", field, seconds, calls, solution)
    text = row.text("text", "prompt", "content")
    statement = (
        f"{text}\nYour code should pass these tests:\n\n" + "\n".join(asserts) if asserts[0] not in text else text
    )
    code = row.optional_text("code", "canonical_solution")
    return Task(
        id=row.id(),
        statement=statement,
        contract=contract,
        solution=code or None,
        note=note,
    )


def _setup(row: Row, labels: Mapping[str, Any]) -> str:
    value = row.fields.get("test_setup_code", labels.get("test_setup_code"))
    if value is not None and not isinstance(value, str):
        raise FieldError("test_setup_code", f"must be text, not {shown(value)}")
    return value or ""


def _called_functions(code: str, setup: str, solution: str | None) -> tuple[dict[str, str], str | None]:
    """(the names that the test code takes from the candidate, if it only calls them with values that cross; what does
    not cross). A set-up's classes cannot cross."""
    try:
        if any(not isinstance(statement, ast.Import | ast.ImportFrom) for statement in parse_tests(setup).body):
            return {}, None
        tests = parse_tests(code)
    except NotChecksError:
        return {}, None
    names = called_names(tests, tested_builtins(code, solution))
    why = what_cannot_cross(tests, names, solution)
    return ({name: name for name in names} if why is None else {}), why


def _checks(asserts: list[str], setup: str) -> TestsContract:
    """Raises NotChecksError, and FieldError for asserts that are not Python."""
    calls: list[AssertedCall] = []
    around: AssertedNames | None = None
    for index, text in enumerate(asserts):
        try:
            tree = parse_tests(text)
        except NotChecksError as error:
            raise FieldError("test_list", f"[{index}] cannot be read: {error}") from None
        try:
            if around is None:
                around = AssertedNames.of(parse_tests(setup).body)
            calls += asserted_calls(tree.body, around=around)
        except NotChecksError as error:
            raise NotChecksError(None, f"test_list[{index}]: {error}") from None
    names = {call.name for call in calls}
    if len(names) != 1:
        raise NotChecksError(None, f"test_list calls {len(names)} functions: {', '.join(sorted(names)) or 'none'}")
    for statement in parse_tests(setup).body:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            # classes and functions of the set-up may be what the candidate builds on, or what it must not see
            raise NotChecksError(None, "test_setup_code does more than import")
    return _contract(names.pop(), [call.check() for call in calls], comparison="equal", timeout_seconds=_SECONDS)


def _contract(entry_point: str, checks: list[dict[str, Any]], **fields: Any) -> TestsContract:
    try:
        contract: TestsContract = made(
            TestsContract, "test_list", type="tests", entry_point=entry_point, checks=checks, **fields
        )
    except FieldError as error:
        raise NotChecksError(None, error.message) from None
    return contract


def _plus_checks(test: str) -> TestsContract:
    """`inputs`, `results`, and at the end `for i, (inp, exp) in ...: assertion(f(*inp), exp, TOLERANCE)`."""
    body = parse_tests(test).body
    functions = [part for part in body if isinstance(part, ast.FunctionDef)]
    listed = loop_over_lists([part for part in body if part not in functions and (not is_idle(part) or assigned(part))])
    if listed is None:
        raise NotChecksError(
            None, "`test` is not a loop of `assertion(f(*inp), exp, tolerance)` over inputs and results"
        )
    *lists, name, tolerance = listed
    tolerances: dict[str, float]
    assertion = read_assertion(functions)
    if assertion.compares_sets:
        comparison, tolerances = "members", {}
    else:
        comparison, tolerances = "close_floats", {"rel_tol": 1e-7, "abs_tol": tolerance or 1e-6}
    try:
        inputs, results = literal(lists[0]), literal(lists[1])
    except NotLiteralError as error:
        raise NotChecksError(None, f"`{error}` is not a literal") from None
    if type(inputs) is not list or type(results) is not list or len(inputs) != len(results) or not inputs:
        raise NotChecksError(None, "`inputs` and `results` are not two lists of one length")
    if not all(isinstance(args, list | tuple) for args in inputs):
        raise NotChecksError(None, "`inputs` is not a list of argument lists")
    pairs = zip(inputs, results, strict=True)
    checks = [assertion.check(tuple(args), result, tolerance) for args, result in pairs]
    return _contract(name, checks, comparison=comparison, check_timeout_seconds=4.0, **tolerances)


def _fits(fields: Mapping[str, Any]) -> bool:
    return "test_list" in fields and bool(fields.keys() & {"text", "prompt", "content"})


FAMILY = Family(name="mbpp", needs="task_id, text (or prompt), code, test_list", fits=_fits, read=read)
