"""LiveCodeBench.

    {"question_title": ..., "question_content": ..., "question_id": "1873_A", "starter_code": "",
     "public_test_cases": "[{\\"input\\": ..., \\"output\\": ..., \\"testtype\\": \\"stdin\\"}]",
     "private_test_cases": "..." (the same, or base64 of zlib of a pickle of the same text),
     "metadata": "{\\"func_name\\": \\"solve\\"}"}

Functional tests have one JSON argument on each line of the input, and one JSON value as output. 6 s for each test. The
private tests are read without unpickling anything (`pickled_text`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harena.core.outside_json import JsonSizeError, read_outside
from harena.scoring.formats.cases import Call, Run, call_contracts, function_name, json_lines, stdio_contract
from harena.scoring.formats.pickled_text import Unpacking
from harena.scoring.formats.rows import FieldError, Row, json_of, shown
from harena.scoring.formats.task import Family, Task

SECONDS = 6.0
_FIELDS = ("public_test_cases", "private_test_cases")


def read(row: Row) -> Task:
    """One row. Raises FieldError."""
    tests = [(field, test) for field in _FIELDS for test in _tests(row, field)]
    kinds = {test["testtype"] for _, test in tests}
    if len(kinds) > 1:
        raise FieldError(_FIELDS[0], "must be all stdin or all functional tests, private ones too, not both")
    title, content = row.optional_text("question_title"), row.text("question_content")
    fields: dict[str, Any] = {
        "id": row.id(),
        "statement": "\n\n".join(filter(None, (title, content, row.optional_text("starter_code")))),
    }
    if kinds == {"functional"}:
        metadata = row.mapping("metadata") if row.has("metadata") else {}
        name = function_name(metadata.get("func_name"), "metadata.func_name")
        plain, in_class = call_contracts(_FIELDS[0], name, [_call(*test) for test in tests], SECONDS)
        return Task(contract=plain, class_contract=in_class, **fields)
    runs = [Run(stdin=test["input"], stdout=test["output"], hidden=field == _FIELDS[1]) for field, test in tests]
    return Task(contract=stdio_contract(_FIELDS[0], runs, "lcb", SECONDS), **fields)


def _tests(row: Row, field: str) -> list[Mapping[str, Any]]:
    written = row.fields.get(field)
    if written is None or written == "":
        return []
    tests = _unpacked(written, field, row.unpacking) if isinstance(written, str) else written
    if not isinstance(tests, list):
        raise FieldError(field, f"must be a list of tests, not {shown(tests)}")
    for index, test in enumerate(tests):
        if not isinstance(test, Mapping):
            raise FieldError(field, f"[{index}] must be {{input, output, testtype}}, not {shown(test)}")
        for name in ("input", "output"):
            if not isinstance(test.get(name), str):
                raise FieldError(field, f"[{index}].{name} must be text, not {shown(test.get(name))}")
        if test.get("testtype") not in ("stdin", "functional"):
            kind = shown(test.get("testtype"))
            raise FieldError(field, f"[{index}].testtype must be 'stdin' or 'functional', not {kind}")
    return tests


def _unpacked(written: str, field: str, unpacking: Unpacking) -> Any:
    try:
        return read_outside(written)
    except JsonSizeError as error:
        raise FieldError(field, str(error)) from None
    except (ValueError, RecursionError):
        pass
    try:
        text = unpacking.text_of(written)
    except ValueError as error:
        raise FieldError(field, str(error)) from None
    return json_of(text, field)


def _call(field: str, test: Mapping[str, Any]) -> Call:
    return Call(
        args=json_lines(test["input"], field),
        expected=json_of(test["output"], field),
        hidden=field == _FIELDS[1],
    )


FAMILY = Family(
    name="livecodebench",
    needs="question_id, question_content, public_test_cases, private_test_cases, metadata",
    fits=lambda row: "public_test_cases" in row,
    read=read,
)
