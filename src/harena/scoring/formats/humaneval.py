"""HumanEval, and HumanEval+ in its form with test code.

    {"task_id": "HumanEval/0", "prompt": "def f(...):\\n    ...", "canonical_solution": "    return ...",
     "test": "def check(candidate):\\n    assert candidate(...) == ...", "entry_point": "f"}

A program is the prompt and what the model wrote after it. `check` is read as calls with known answers (`asserts`),
which are asked one by one and judged outside of the candidate's process: trust `separate`. Where an assert needs more
than that (a loop, an answer that is computed), the whole test code is run and asks a process of the candidate's: trust
`shared`, and the task says so. Where it hands over functions or asks more of an answer than a plain value has, the
candidate has a sandbox of its own: trust `separate`, unless the row's solution is paid only beside the tests.

HumanEval+ keeps its calls and answers in two lists, `inputs` and `results`, which are read like asserts.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from typing import Any

from harena.scoring.contracts.contract import CommandContract, Contract, TestsContract
from harena.scoring.formats.asserted_names import AssertedNames
from harena.scoring.formats.asserts import NotChecksError, asserted_calls, parse_tests, with_collections
from harena.scoring.formats.continuing import whole_prompt
from harena.scoring.formats.crossing import what_cannot_cross
from harena.scoring.formats.literals import NotLiteralError, literal, source_of
from harena.scoring.formats.plus import assigned, is_idle, loop_over_lists, read_assertion
from harena.scoring.formats.rows import FieldError, Row
from harena.scoring.formats.task import Family, Task, made
from harena.scoring.python_source import written
from harena.scoring.scenario import DEFAULT_ENTRY

SECONDS = 1.5
"""Processor time of one program. The rows name no limit. The data set's own harness stops a program after 3 s by the
wall clock and runs four side by side, which on two cores are 1.5 s of a processor for each. The slowest of the 164
canonical solutions took 0.2 s on a host where 40 others wanted its cores."""
TEST_CODE_SECONDS = 3.0
"""time limit of a program and the data set's test code in one process, which may import numpy or compute its answers"""
CANDIDATE = "_candidate"
"""the test code's own name for the candidate's function"""
PLUS_SECONDS = 4.0
"""time limit of one call: the shortest that EvalPlus gives"""
PLUS_TOLERANCE = {"rel_tol": 1e-7, "abs_tol": 1e-6}
"""around floats"""


def read(row: Row) -> Task:
    """One row. Raises FieldError."""
    entry_point = row.text("entry_point")
    if not entry_point.isidentifier():
        raise FieldError("entry_point", f"must be the name of a function, not {entry_point!r}")
    prompt, test = row.text("prompt"), row.text("test")
    solution = row.optional_text("canonical_solution")
    note = ""
    contract: Contract
    try:
        contract = _checks(test, entry_point)
    except NotChecksError as error:
        note = str(error)
        contract, why = _run_tests(prompt, test, entry_point, prompt + solution if solution else None)
        note += f"; `{why}` cannot be given to another process" if why else ""
    return Task(
        id=row.id(),
        statement=prompt,
        contract=contract,
        solution=prompt + solution if solution else None,
        prefix=prompt,
        note=note,
    )


def _run_tests(prompt: str, test: str, entry_point: str, solution: str | None) -> tuple[CommandContract, str | None]:
    """(the contract of test code that is run, what of it cannot be given to another process, if anything)."""
    try:
        tree = parse_tests(test)
        names = {node.arg for node in _check_function(tree).args.args} | {entry_point}
        why = what_cannot_cross(tree, names, solution)
    except NotChecksError:
        why = None
    if why is not None:
        functions = _prompt_functions(prompt, tree, entry_point)
        source = with_collections(f"{functions}{test}\n\ncheck({entry_point})\n", entry_point)
        return test_code(source, "test", TEST_CODE_SECONDS, {}, solution), why
    bound = f"{whole_prompt(prompt)}\n\n{entry_point} = {CANDIDATE}\n"  # the prompt may hold functions that tests call
    source = with_collections(f"{bound}\n{test}\n\ncheck({CANDIDATE})\n", entry_point)
    return test_code(source, "test", TEST_CODE_SECONDS, {CANDIDATE: entry_point}, solution), None


def _prompt_functions(prompt: str, tests: ast.Module, entry_point: str) -> str:
    """The prompt's other functions that the tests call, to be defined again after the candidate, which could have
    redefined them. Raises FieldError."""
    used = {node.id for node in ast.walk(tests) if isinstance(node, ast.Name)} - {entry_point}
    try:
        statements = parse_tests(whole_prompt(prompt)).body
    except NotChecksError:
        return ""
    return "".join(
        f"{_rewritten(part)}\n\n" for part in statements if isinstance(part, ast.FunctionDef) and part.name in used
    )


def _rewritten(function: ast.FunctionDef) -> str:
    """Raises FieldError."""
    source = written(function)
    if source is None:
        raise FieldError("prompt", f"`{function.name}` is nested too deeply, or holds too long a number, to be read")
    return source


def test_code(
    source: str, field: str, seconds: float, calls: Mapping[str, str], solution: str | None
) -> CommandContract:
    """The contract that runs the data set's own test code; `calls`: its names for the candidate's functions, or none if
    it needs the candidate in its own process; `solution`: the row's own, which shows whether it does. Raises
    FieldError."""
    contract: CommandContract = made(
        CommandContract, field, type="command", asserts=source, calls=dict(calls), timeout_seconds=seconds,
        requires=_required(source), gold={DEFAULT_ENTRY: solution} if solution else {},
    )  # fmt: skip
    return contract


def _required(source: str) -> tuple[str, ...]:
    """Modules that the tests import and the standard library lacks: the image is to have them, since a candidate of a
    data set is one program."""
    try:
        body = parse_tests(source).body
    except NotChecksError:
        return ()
    names = [alias.name for part in body if isinstance(part, ast.Import) for alias in part.names]
    names += [part.module for part in body if isinstance(part, ast.ImportFrom) and part.module and not part.level]
    return tuple(sorted({name.partition(".")[0] for name in names} - sys.stdlib_module_names))


def _checks(test: str, entry_point: str) -> TestsContract:
    """The contract of test code that can be read. Raises NotChecksError."""
    tree = parse_tests(test)
    function = _check_function(tree)
    functions = _beside(tree, function, entry_point)
    listed = loop_over_lists([part for part in function.body if not is_idle(part) or assigned(part)])
    if listed is not None:
        return _plus_checks(listed, functions, function, entry_point)
    if functions:
        raise NotChecksError(functions[0], f"`{functions[0].name}` stands beside `check`")
    calls = asserted_calls(function.body, frozenset({_parameter(function)}), around=AssertedNames.of(tree.body))
    if not calls:
        raise NotChecksError(function, "there is no assert in `check`")
    return _contract(entry_point, [call.check() for call in calls], {"comparison": "equal", "timeout_seconds": SECONDS})


def _contract(entry_point: str, checks: list[dict[str, Any]], fields: Mapping[str, Any]) -> TestsContract:
    try:
        contract: TestsContract = made(
            TestsContract, "test", type="tests", entry_point=entry_point, checks=checks, **fields
        )
    except FieldError as error:  # a value that no program can be given: the test code can still be run
        raise NotChecksError(None, error.message) from None
    return contract


def _check_function(tree: ast.Module) -> ast.FunctionDef:
    """`check` of the test code. Raises NotChecksError."""
    found = None
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "check":
            found = statement
    if found is None:
        raise NotChecksError(None, "the tests define no `check`")
    return found


def _beside(tree: ast.Module, function: ast.FunctionDef, entry_point: str) -> list[ast.FunctionDef]:
    """The functions beside `check`, where nothing else stands there that could check something: what is left out would
    never be asked. Raises NotChecksError."""
    if function.decorator_list:
        raise NotChecksError(function, "`check` is decorated")
    functions = []
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name != "check":
            functions.append(statement)
        elif statement is not function and not is_idle(statement) and source_of(statement) != f"check({entry_point})":
            raise NotChecksError(statement, f"`{source_of(statement)}` stands beside `check`")
    return functions


def _parameter(function: ast.FunctionDef) -> str:
    if len(function.args.args) != 1:
        raise NotChecksError(function, "`check` has more than one parameter")
    return function.args.args[0].arg


def _plus_checks(
    listed: tuple[ast.expr, ast.expr, str, float],
    functions: list[ast.FunctionDef],
    function: ast.FunctionDef,
    entry_point: str,
) -> TestsContract:
    """The contract of EvalPlus's loop. Raises NotChecksError."""
    *lists, called, tolerance = listed
    assertion = read_assertion(functions)
    if called != _parameter(function) or assertion.compares_sets:
        raise NotChecksError(function, "it is not a loop of `assertion(candidate(*inp), exp, tolerance)`")
    try:
        inputs, results = literal(lists[0]), literal(lists[1])
    except NotLiteralError as error:
        raise NotChecksError(function, f"`{error}` is not a literal") from None
    if not isinstance(inputs, list) or not isinstance(results, list) or len(inputs) != len(results) or not inputs:
        raise NotChecksError(function, "`inputs` and `results` are not two lists of one length")
    if not all(isinstance(arguments, list | tuple) for arguments in inputs):
        raise NotChecksError(function, "`inputs` is not a list of argument lists")
    pairs = zip(inputs, results, strict=True)
    checks = [assertion.check(tuple(args), result, tolerance) for args, result in pairs]
    fields = {**PLUS_TOLERANCE, "comparison": "close_floats", "check_timeout_seconds": PLUS_SECONDS}
    return _contract(entry_point, checks, fields | ({"abs_tol": tolerance} if tolerance else {}))


def _fits(fields: Mapping[str, Any]) -> bool:
    return fields.keys() >= {"prompt", "test", "entry_point"} and "base_input" not in fields


FAMILY = Family(name="humaneval", needs="task_id, prompt, test, entry_point", fits=_fits, read=read)
