"""What the families of programming contests share: runs of a program (standard input and output), and calls.

Comparison profiles, by the names under which the field knows them:

    lcb      LiveCodeBench: lines, white space at their ends aside; else the same decimal numbers
    fusion   SandboxFusion: lines, large and small letters alike; one number a line may differ by 1e-5 of itself
    floats   words; a number that is expected with a decimal point may differ by 1e-6. For data sets whose own graders
             take more than that for equal: whole numbers 1e-5 apart, lines in any order, prefixes of the output
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harena.core.outside_json import JsonSizeError, read_outside
from harena.scoring.contracts.contract import Contract, StdioContract, TestsContract
from harena.scoring.formats.rows import FieldError, shown
from harena.scoring.formats.task import made
from harena.scoring.values import from_python

PROFILES: dict[str, dict[str, Any]] = {
    "lcb": {"comparison": "decimal_lines"},
    "fusion": {"comparison": "folded_lines", "rel_tol": 1e-5},
    "floats": {"comparison": "float_tokens", "rel_tol": 1e-6, "abs_tol": 1e-6},
}

_MODULES = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics"),
    *("itertools", "functools", "operator", "io", "sys", "json"),
)
"""in the order in which LiveCodeBench's grader has them: a later name takes the place of an earlier one"""
# `builtins` gives back what a star import took (`pow` of math, `compile` of re); `typing` has none of its names, and
# the modules stand last (`time` is also a class of datetime)
CALL_SETUP = (
    "".join(f"from {name} import *\n" for name in (*_MODULES, "builtins", "typing"))
    + f"import {', '.join((*_MODULES, 'time', 'fractions'))}\n"
    + "sys.setrecursionlimit(50000)\n"
)
"""what call-based solutions use without importing it, as `List` and `inf`: their graders import it for them; the
limit of recursion is that of LiveCodeBench's grader"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a program."""

    stdin: str
    stdout: str
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a function."""

    args: Sequence[Any]
    """arguments, as JSON values"""
    expected: Any
    alternatives: tuple[Any, ...] = ()
    hidden: bool = False


def stdio_contract(field: str, runs: Sequence[Run], profile: str, seconds: float | None) -> StdioContract:
    """Each run in a process of its own. Raises FieldError, naming `field`."""
    if not runs:
        raise FieldError(field, "holds no tests: there would be nothing to check")
    if not any(run.stdout.strip() for run in runs):
        raise FieldError(field, "expects no output of any run: a program that does nothing would pass")
    cases = [{"stdin": run.stdin, "stdout": run.stdout, "hidden": run.hidden} for run in runs]
    contract: StdioContract = made(
        StdioContract, field, type="stdio", cases=cases, check_timeout_seconds=seconds, **PROFILES[profile]
    )
    return contract


def call_contracts(
    field: str, function: str, calls: Sequence[Call], seconds: float | None
) -> tuple[Contract, Contract]:
    """(for a candidate that defines the function, for one that has it as a method of `class Solution`).

    Raises FieldError, naming `field`."""
    if not calls:
        raise FieldError(field, "holds no tests: there would be nothing to check")
    if all(any(value is None for value in (call.expected, *call.alternatives)) for call in calls):
        raise FieldError(field, "expects null of every call: a function that does nothing would pass")
    checks = [
        {
            "args": [from_python(argument) for argument in call.args],
            "expected": from_python(call.expected),
            "alternatives": [from_python(value) for value in call.alternatives],
            "hidden": call.hidden,
        }
        for call in calls
    ]
    contract: TestsContract = made(
        TestsContract,
        field,
        type="tests",
        entry_point=function,
        checks=checks,
        comparison="equal_json",
        check_timeout_seconds=seconds,
        setup=CALL_SETUP,
    )
    return contract, contract.model_copy(update={"entry_point": f"Solution.{function}"})


def function_name(value: Any, field: str) -> str:
    """The name of the function that is called; also written `Solution.name`. Raises FieldError."""
    if not isinstance(value, str) or not value.removeprefix("Solution.").isidentifier():
        raise FieldError(field, f"must be the name of a function, not {shown(value)}")
    return value.removeprefix("Solution.")


def text_of(value: Any, field: str) -> str:
    """Text of standard input or output: text, or a list of lines, each of them text, a number, or a list of words.

    Raises FieldError."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_line(line, field) for line in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise FieldError(field, f"must be text or a list of lines, not {shown(value)}")


def _line(value: Any, field: str) -> str:
    words = value if isinstance(value, list) else [value]
    if not all(isinstance(word, str | int | float) and not isinstance(word, bool) for word in words):
        raise FieldError(field, f"must be text or a list of lines, and has {shown(value)} for a line")
    return " ".join(map(str, words))


def json_lines(text: str, field: str) -> list[Any]:
    """Arguments that are written one to a line, each as JSON. Raises FieldError."""
    try:
        return [read_outside(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise FieldError(field, f"must hold one JSON argument on each line: {error}; {shown(text)}") from None


def call_of(given: Any, expected: Any, field: str, *, restores_keys: bool = False) -> Call:
    """A call as APPS writes it: a list of arguments, and a value that may stand in a list of its own; or both as JSON
    text, the arguments one to a line, as verl writes it. An output that is no JSON is text.

    An expected mapping whose keys are all whole numbers as text may have had numbers for keys: JSON has no others, and
    both are right. With `restores_keys` a mapping that is the first argument has them again, as in the grader of APPS;
    no grader restores those of a mapping that is inside another value. Raises FieldError."""
    if isinstance(given, str):
        given = json_lines(given, f"{field}.inputs")
        expected = _decoded(expected, f"{field}.outputs")
    if not isinstance(given, list):
        raise FieldError(f"{field}.inputs", f"must be lists of arguments (there is a fn_name), not {shown(given)}")
    if restores_keys and given:
        given = [_with_number_keys(given[0]), *given[1:]]
    written = [expected, *(expected if isinstance(expected, list) and len(expected) == 1 else ())]
    answers = [answer for value in written for answer in _with_both_keys(value)]
    return Call(args=given, expected=answers[0], alternatives=tuple(answers[1:]))


def _decoded(expected: Any, field: str) -> Any:
    if not isinstance(expected, str):
        return expected
    try:
        return read_outside(expected)
    except JsonSizeError as error:
        raise FieldError(field, str(error)) from None
    except (ValueError, RecursionError):
        return expected


def _with_both_keys(value: Any) -> list[Any]:
    restored = _with_number_keys(value)
    return [value] if restored is value else [restored, value]


def _with_number_keys(value: Any) -> Any:
    """A mapping with integers for keys, where all of its keys are such as text; everything else as it is."""
    if not isinstance(value, Mapping) or not value or not all(isinstance(key, str) for key in value):
        return value
    try:
        return {int(key): item for key, item in value.items()}
    except ValueError:
        return value
