"""EvalPlus rows, HumanEval+ and MBPP+, whose expected values are what the canonical solution returns.

    {"task_id": "HumanEval/0", "prompt": ..., "entry_point": "f", "canonical_solution": ..., "base_input": [[...], ...],
     "plus_input": [[...], ...], "atol": 0}

The canonical solution is run in a sandbox of its own (the `reference` contract), never here. `contract`, the code that
tells which inputs are allowed, is not needed: the inputs are given. All inputs must pass, base and plus. Times: 4 s a
call, or four times the canonical solution's longest call.

MBPP+ rows keep tuples, sets and complex numbers as JSON lists and text; which they were is known by task number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harena.scoring.compare import ValueComparison
from harena.scoring.contracts.contract import Contract, ReferenceContract
from harena.scoring.formats.humaneval import PLUS_SECONDS, test_code
from harena.scoring.formats.rows import FieldError, Row, shown
from harena.scoring.formats.task import Family, Task, made
from harena.scoring.values import Bag, from_python

_SECONDS_OF_TEST_CODE = 60.0
_SLOWDOWN = 4.0


def read(row: Row) -> Task:
    """One row. Raises FieldError."""
    entry_point, prompt = row.text("entry_point"), row.text("prompt")
    task_id = row.id()
    is_mbpp = task_id.lower().startswith("mbpp")
    canonical = row.text("canonical_solution")
    solution = canonical if is_mbpp and f"def {entry_point}" in canonical else prompt + canonical
    calls = [*_calls(row, "base_input", task_id), *_calls(row, "plus_input", task_id)]
    if not calls:
        raise FieldError("base_input", "must not be empty: there would be nothing to check")
    contract: Contract
    note = ""
    if entry_point == "find_zero":
        note = "any root is right, so the answers are put into the polynomial beside the candidate"
        functions = {entry_point: entry_point}
        contract = test_code(_root_test(calls), "base_input", _SECONDS_OF_TEST_CODE, functions, solution)
    else:
        contract = made(
            ReferenceContract,
            "base_input",
            type="reference",
            entry_point=entry_point,
            solution=solution,
            inputs=[{"args": args} for args in calls],
            comparison=_comparison(entry_point, is_mbpp),
            rel_tol=1e-7,
            abs_tol=_tolerance(row) or 1e-6,
            check_timeout_seconds=PLUS_SECONDS,
            slowdown=_SLOWDOWN,
        )
    prefix = "" if is_mbpp else prompt
    return Task(id=task_id, statement=prompt, contract=contract, solution=solution, prefix=prefix, note=note)


def _tolerance(row: Row) -> float:
    value = row.fields.get("atol", 0)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e300:
        raise FieldError("atol", f"must be a number, at least 0, not {shown(value)}")
    return float(value)


_MEMBERS = frozenset(
    {
        *("similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly"),
        *("larg_nnum", "intersection_array", "find_dissimilar", "Diff"),
    }
)
"""functions of MBPP+ whose answers are compared as sets"""
_NOT_NONE = frozenset({"check_str", "text_match_three", "text_starta_endb"})
"""functions of MBPP+ that search: their answer is a match or None, or whether there is one"""


def _comparison(entry_point: str, is_mbpp: bool) -> ValueComparison:
    if is_mbpp and entry_point in _MEMBERS:
        return "members"
    return "not_none" if is_mbpp and entry_point in _NOT_NONE else "close_floats"


def _root_test(calls: list[tuple[Any, ...]]) -> str:
    """Test code for HumanEval/32: a polynomial has several roots, and each is right."""
    coefficients = [args[0] for args in calls if args and isinstance(args[0], list)]
    if len(coefficients) != len(calls) or not all(type(c) in (int, float) for each in coefficients for c in each):
        raise FieldError("base_input", "must be lists of one list of coefficients each, for `find_zero`")
    return (
        f"for _coefficients in {coefficients!r}:\n"
        "    _root = find_zero(list(_coefficients))\n"
        "    assert type(_root) in (int, float)\n"
        "    assert abs(sum(_c * _root ** _power for _power, _c in enumerate(_coefficients))) < 1e-4\n"
    )


def _calls(row: Row, field: str, task_id: str) -> list[tuple[Any, ...]]:
    """The argument lists of one field, as host values."""
    value = row.decoded(field)
    if value is None or value == {}:  # some releases write an empty list as {}
        return []
    if not isinstance(value, list) or not all(isinstance(args, list) for args in value):
        raise FieldError(field, f"must be a list of argument lists, not {shown(value)}")
    number = task_id.rpartition("/")[2]
    restore = _RESTORE.get(int(number)) if task_id.lower().startswith("mbpp") and number.isdecimal() else None
    calls = []
    for index, args in enumerate(value):
        try:
            calls.append(tuple(from_python(args if restore is None else restore(args))))
        except (TypeError, ValueError, IndexError, AttributeError):
            message = f"[{index}] does not have the arguments of {task_id}"
            raise FieldError(field, message) from None
    return calls


def _tuple_items(args: Any) -> Any:
    return [tuple(item) for item in args]


def _tuple_items_below(args: Any) -> Any:
    return [_tuple_items(item) for item in args]


def _first(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda args: [change(args[0]), *args[1:]]


def _all_tuples(value: Any) -> Any:
    return tuple(_all_tuples(item) for item in value) if isinstance(value, list) else value


def _sets(value: Any) -> Any:
    """Lists that were sets; all else was an empty dict."""
    return [
        Bag("set", tuple(dict.fromkeys(item))) if item and type(item) is list else Bag("dict", ()) for item in value
    ]


def _tuple_of_tuples(args: Any) -> Any:
    return [tuple(tuple(item) if isinstance(item, list) else item for item in value) for value in args]


_RESTORE: dict[int, Callable[[Any], Any]] = {
    **dict.fromkeys(
        (2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809),
        _tuple_items,
    ),
    **dict.fromkeys((63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780), _tuple_items_below),
    **dict.fromkeys((75, 413, 444, 753), _first(_tuple_items)),
    **dict.fromkeys((106, 750), lambda args: [args[0], tuple(args[1])]),
    **dict.fromkeys((250, 307, 405, 446, 617, 720, 763, 808), _first(tuple)),
    **dict.fromkeys((259, 401, 445), lambda args: _tuple_items(_tuple_items_below(args))),
    **dict.fromkeys((580, 615, 791), _all_tuples),
    115: _first(_sets),
    124: lambda args: [float(args[0]), complex(args[1])],
    252: lambda args: [complex(args[0])],
    278: _tuple_of_tuples,
    722: _first(lambda students: {name: tuple(value) for name, value in students.items()}),
}
"""number of an MBPP+ task -> what its arguments were before they became JSON"""


def _fits(fields: Mapping[str, Any]) -> bool:
    return fields.keys() >= {"prompt", "entry_point", "canonical_solution", "base_input"}


FAMILY = Family(
    name="evalplus",
    needs="task_id, prompt, entry_point, canonical_solution, base_input, plus_input",
    fits=_fits,
    read=read,
)
