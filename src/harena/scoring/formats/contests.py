"""APPS and TACO, CodeContests, SandboxFusion's CommonOJ, and open-r1's verification_info.

    apps               {"question": ..., "solutions": "[...]", "starter_code": "", "input_output":
                        "{\\"inputs\\": [...], \\"outputs\\": [...], \\"fn_name\\": \\"f\\"}"}          also TACO
                       {"prompt": [messages], "reward_model": {"ground_truth": "{\\"inputs\\": ...}"}}   as verl has it
    codecontests       {"name": ..., "description": ..., "public_tests": {"input": [...], "output": [...]},
                        "private_tests": ..., "generated_tests": ..., "solutions": {"language": [3], "solution": [...]},
                        "time_limit": {"seconds": 2, "nanos": 0}, "memory_limit_bytes": 256000000}
    commonoj           {"id": ..., "content": ..., "test": [{"input": {"stdin": ...}, "output": {"stdout": ...}}]}
    verification_info  {"problem_id": ..., "prompt": ..., "verification_info":
                        {"language": "python", "test_cases": [{"input": ..., "output": ..., "fn_name": null}]}}
                        of a call, the input is a list of arguments as JSON, or each of them is on a line of its own

A row with a `fn_name` is call-based (trust `separate`), every other one is a program that reads and prints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harena.core.outside_json import JsonSizeError, read_outside
from harena.scoring.formats.cases import (
    Run,
    call_contracts,
    call_of,
    function_name,
    json_lines,
    stdio_contract,
    text_of,
)
from harena.scoring.formats.rows import FieldError, Row, json_of, shown
from harena.scoring.formats.task import Family, Task, made
from harena.scoring.scenario import ScenarioLimits

APPS_SECONDS = 4.0
"""time limit of each test in the data set's own grader"""
FUSION_SECONDS = 10.0
"""time limit of each test in SandboxFusion, by default"""
OPEN_R1_SECONDS = 5.0
"""time limit of each test in open-r1's own reward"""
MIB = 1024 * 1024
_PYTHON3 = (3, "3", "PYTHON3", "python3")
_FENCED = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL)


def read_apps(row: Row) -> Task:
    """One row of APPS or TACO. Raises FieldError."""
    field = "input_output" if "input_output" in row.fields else "reward_model"
    tests = row.mapping(field) if field == "input_output" else _tests_of_verl(row.fields)
    inputs, outputs = tests.get("inputs"), tests.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise FieldError(field, "must have two lists of one length, `inputs` and `outputs`")
    solutions = row.texts("solutions")
    messages = _messages(row) if field == "reward_model" else ()
    said = [str(message.get("content") or "") for message in messages if message.get("role") != "system"]
    text = row.optional_text("prompt") if field == "reward_model" and not messages else ""
    asked = (*said, text, row.optional_text("question"), row.optional_text("starter_code"))
    fields: dict[str, Any] = {
        "id": row.id(),
        "statement": "\n\n".join(filter(None, asked)),
        "messages": messages,
        "solution": solutions[0] if solutions else None,
    }
    name = tests.get("fn_name")
    if name:
        calls = [call_of(*pair, field, restores_keys=True) for pair in zip(inputs, outputs, strict=True)]
        plain, in_class = call_contracts(field, function_name(name, field), calls, APPS_SECONDS)
        return Task(contract=plain, class_contract=in_class, **fields)
    runs = [
        Run(stdin=text_of(given, f"{field}.inputs"), stdout=text_of(printed, f"{field}.outputs"))
        for given, printed in zip(inputs, outputs, strict=True)
    ]
    return Task(contract=stdio_contract(field, runs, "floats", APPS_SECONDS), **fields)


def _tests_of_verl(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tests that are the ground truth of a row; none where that is an answer, or there is none."""
    rewarded_by = fields.get("reward_model")
    truth = rewarded_by.get("ground_truth") if isinstance(rewarded_by, Mapping) else None
    if isinstance(truth, str) and truth.lstrip()[:1] == "{":
        try:
            truth = json_of(truth, "reward_model.ground_truth")
        except FieldError:
            return {}
    return truth if isinstance(truth, Mapping) and {"inputs", "outputs"} <= truth.keys() else {}


def _messages(row: Row) -> tuple[Mapping[str, Any], ...]:
    """The prompt, if it is a conversation."""
    prompt = row.fields.get("prompt")
    if prompt is None or isinstance(prompt, str):
        return ()
    if isinstance(prompt, list) and prompt and all(isinstance(each, Mapping) for each in prompt):
        return tuple(prompt)
    raise FieldError("prompt", f"must be a text or a list of messages, not {shown(prompt)}")


def read_codecontests(row: Row) -> Task:
    """One row of CodeContests. Raises FieldError."""
    for name in ("input_file", "output_file"):
        if row.has(name):
            message = f"the program would have to use the file {shown(row.fields[name])}, not its standard streams"
            raise FieldError(name, f"{message}; leave this row out")
    runs = [
        *_runs(row, "public_tests", hidden=False),
        *_runs(row, "private_tests", hidden=True),
        *_runs(row, "generated_tests", hidden=True),
    ]
    memory = row.fields.get("memory_limit_bytes")
    if memory is not None and (isinstance(memory, bool) or not isinstance(memory, int)):
        raise FieldError("memory_limit_bytes", f"must be a whole number, not {shown(memory)}")
    return Task(
        id=row.id("name"),
        statement=row.optional_text("description"),
        contract=stdio_contract("public_tests", runs, "floats", _time_limit(row)),
        solution=_python_solution(row),
        # 0 stands for none; in less than 64 MiB an interpreter with a few modules does not start
        limits=made(ScenarioLimits, "memory_limit_bytes", memory_mb=max(64, -(-memory // MIB)) if memory else None),
    )


def _runs(row: Row, field: str, *, hidden: bool) -> list[Run]:
    if not row.has(field):
        return []
    tests = row.mapping(field)
    inputs, outputs = tests.get("input"), tests.get("output")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise FieldError(field, "must have two lists of one length, `input` and `output`")
    return [
        Run(stdin=text_of(given, f"{field}.input"), stdout=text_of(printed, f"{field}.output"), hidden=hidden)
        for given, printed in zip(inputs, outputs, strict=True)
    ]


def _time_limit(row: Row) -> float | None:
    if not row.has("time_limit"):
        return None
    limit = row.mapping("time_limit")
    seconds, nanos = limit.get("seconds", 0), limit.get("nanos", 0)
    if not all(isinstance(part, int | float) and not isinstance(part, bool) for part in (seconds, nanos)):
        raise FieldError("time_limit", "must be {seconds, nanos}, both numbers")
    total = seconds + nanos / 1e9
    if not 0 < total <= 3600:
        raise FieldError("time_limit", f"must be more than 0 and at most an hour, not {total:g} seconds")
    return float(total)


def _python_solution(row: Row) -> str | None:
    if not row.has("solutions"):
        return None
    solutions = row.mapping("solutions")
    languages, texts = solutions.get("language"), solutions.get("solution")
    if not isinstance(languages, list) or not isinstance(texts, list) or len(languages) != len(texts):
        raise FieldError("solutions", "must have two lists of one length, `language` and `solution`")
    for language, text in zip(languages, texts, strict=True):
        if language in _PYTHON3 and isinstance(text, str):
            return text
    return None


def read_commonoj(row: Row) -> Task:
    """One row of SandboxFusion's CommonOJ. Raises FieldError."""
    tests = row.decoded("test")
    runs = []
    for index, test in enumerate(tests if isinstance(tests, list) else []):
        given, printed = (test.get(name) if isinstance(test, Mapping) else None for name in ("input", "output"))
        if not isinstance(given, Mapping) or not isinstance(printed, Mapping):
            raise FieldError("test", f"[{index}] must be {{input: {{stdin}}, output: {{stdout}}}}, not {shown(test)}")
        stdin = text_of(given.get("stdin", ""), f"test[{index}].input.stdin")
        runs.append(Run(stdin=stdin, stdout=text_of(printed.get("stdout"), f"test[{index}].output.stdout")))
    solution = row.optional_text("canonical_solution") or None
    contract = stdio_contract("test", runs, "fusion", FUSION_SECONDS)
    return Task(id=row.id(), statement=row.optional_text("content"), contract=contract, solution=solution)


def read_verification_info(row: Row) -> Task:
    """One row with open-r1's verification_info. Raises FieldError."""
    field = "verification_info"
    written = row.mapping(field)
    language = written.get("language", "python")
    if language not in ("python", "python3", "py"):
        raise FieldError(field, f"language: harena runs python, not {shown(language)}; leave this row out")
    tests = written.get("test_cases")
    if isinstance(tests, str):
        tests = json_of(tests, f"{field}.test_cases")
    if not isinstance(tests, list) or not all(isinstance(test, Mapping) for test in tests):
        raise FieldError(field, f"test_cases must be a list of mappings, not {shown(tests)}")
    solution = row.optional_text("gold_standard_solution", "solution")
    fenced = _FENCED.search(solution)
    fields: dict[str, Any] = {
        "id": row.id(),
        "statement": row.optional_text("problem", "prompt", "question"),
        "solution": (fenced[1] if fenced else solution) or None,
    }
    names = {test.get("fn_name") or None for test in tests}
    if len(names) > 1:
        raise FieldError(field, f"test_cases name {len(names)} functions (fn_name); all must be of one, or of none")
    name = names.pop() if names else None
    if name is None:
        runs = [_run(test, field) for test in tests]
        return Task(contract=stdio_contract(field, runs, "lcb", OPEN_R1_SECONDS), **fields)
    calls = [
        call_of(_arguments(test.get("input"), field), _returned(test.get("output"), field), field) for test in tests
    ]
    plain, in_class = call_contracts(field, function_name(name, field), calls, OPEN_R1_SECONDS)
    return Task(contract=plain, class_contract=in_class, **fields)


def _run(test: Mapping[str, Any], field: str) -> Run:
    if "output" not in test:
        raise FieldError(field, "test_cases: a test without `output`")
    stdin = text_of(test.get("input") or "", f"{field}.test_cases.input")
    return Run(stdin=stdin, stdout=text_of(test["output"], f"{field}.test_cases.output"))


def _arguments(value: Any, field: str) -> Any:
    """A list of arguments as JSON text; or, as verl and LiveCodeBench write them, each on a line of its own."""
    if not isinstance(value, str):
        return value
    try:
        written = read_outside(value)
    except JsonSizeError as error:
        raise FieldError(f"{field}.test_cases", str(error)) from None
    except (ValueError, RecursionError):
        return json_lines(value, f"{field}.test_cases.input")
    return written if isinstance(written, list) else [written]


def _returned(value: Any, field: str) -> Any:
    """A value as JSON text, or a text that is none."""
    if not isinstance(value, str):
        return value
    try:
        return read_outside(value)
    except JsonSizeError as error:
        raise FieldError(f"{field}.test_cases", str(error)) from None
    except (ValueError, RecursionError):
        return value


def _has_tests_of_commonoj(fields: Mapping[str, Any]) -> bool:
    return "test" in fields and "content" in fields and not isinstance(fields["test"], str)


APPS = Family(
    name="apps",
    needs="question, input_output, solutions",
    fits=lambda row: "input_output" in row or bool(_tests_of_verl(row)),
    read=read_apps,
)
CODECONTESTS = Family(
    name="codecontests",
    needs="name, description, public_tests, private_tests, generated_tests",
    fits=lambda row: "public_tests" in row,
    read=read_codecontests,
)
COMMONOJ = Family(name="commonoj", needs="id, content, test", fits=_has_tests_of_commonoj, read=read_commonoj)
VERIFICATION_INFO = Family(
    name="verification_info",
    needs="verification_info",
    fits=lambda row: "verification_info" in row,
    read=read_verification_info,
)
