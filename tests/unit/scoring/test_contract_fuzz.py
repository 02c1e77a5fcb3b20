"""A contract that is merely wrong is refused in words, whatever is wrong with it: no field raises anything else."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from harena.core.errors import ValidationError
from harena.scoring.contracts.contract import AnyContract
from harena.scoring.contracts.stored import load_contract
from harena.scoring.reading import Document

TESTS: dict[str, Any] = {
    "type": "tests",
    "entry_point": "f",
    "checks": [{"args": [1], "kwargs": {"a": 1}, "expected": 1}],
}
CONTRACTS: tuple[dict[str, Any], ...] = (
    TESTS,
    {"type": "reference", "entry_point": "f", "solution": "def f(x): return x", "inputs": [{"args": [1]}]},
    {"type": "stdio", "cases": [{"stdin": "1", "stdout": "1"}]},
    {"type": "numeric", "source": {"pattern": "x", "file": "a"}, "range": [1, 0]},
    {"type": "numeric", "target": 5},
    {"type": "python", "source": "def score(run): return 1"},
    {"type": "command", "command": ["true"], "requires": ["numpy"]},
    {"type": "command", "asserts": "assert f(1) == 1", "calls": {"f": "f"}},
    {"type": "command", "pytest": ["test_a.py"], "files": {"test_a.py": "def test_a(): pass"}},
    {"type": "string_check", "reference": "{{ item.a }}", "item": {"a": "x"}, "operation": "ne"},
    {"type": "text_similarity", "reference": "x", "evaluation_metric": "fuzzy_match"},
    {"type": "regex", "pattern": "x?"},
    {"type": "score_model", "model": "j", "messages": [{"role": "user", "content": "{{ sample.output_text }}"}]},
    {"type": "harbor", "tests": {"test.sh": "true"}},
    {"type": "weighted", "parts": {"a": {"scoring": TESTS}}, "formula": "min(1, 0.5 + a)"},
)


def nested(depth: int) -> Any:
    """Lists in each other."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


TEXTS = (
    *(
        "",
        "\0",
        "\ud800",
        "a{99999999999}",
        "(" * 4900 + ")" * 4900,
        "(?:" * 3000,
        "[" * 5000,
        "{" * 20_000,
        "(?<=a*)b",
    ),
    *(
        "-" * 5000 + "1",
        "1+" * 5000 + "1",
        "not " * 5000 + "1",
        "f(" * 3000,
        "(" * 150 + ")" * 150,
        "9" * 5000,
        "1e999",
    ),
    *(
        "a" + ".a" * 5000,
        "lambda: " * 3000 + "1",
        "\n".join(" " * n + "if 1:" for n in range(200)),
        "1**9**9",
        "9**9**9",
    ),
    *(
        "x" * 300,
        "../x",
        "{{item" + "[0]" * 3000 + "}}",
        "def f(): " + "[" * 199,
        "async " * 2000,
        "f'" + "{x" * 300,
        "a/" * 600,
    ),
    *("assert " + "~" * 5000 + "1", "assert f(" + "(" * 90 + "1" + ")" * 90 + ")", "@" * 1000, "x = '''", "\\" * 1001),
)
VALUES: tuple[Any, ...] = (
    *(
        10**400,
        -(10**400),
        2**63,
        0,
        -1,
        1e308,
        5e-324,
        float("nan"),
        float("inf"),
        True,
        None,
        [],
        {},
        [[]],
        {"": None},
    ),
    *(
        nested(200),
        nested(900),
        {"$int": "0x" + "f" * 9000},
        {"$float": "x"},
        {"$set": [[]]},
        {"$bytes": "!"},
        {"$x": 1},
    ),
    *([10**400], {"a": 10**400}, ["a"] * 2000, [{"args": [10**400], "expected": nested(300)}], [{"a": nested(800)}]),
)


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document, and those of fields that are not written."""
    if above:
        yield above
    if isinstance(value, dict):
        for key, below in value.items():
            yield from places(below, (*above, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from places(below, (*above, index))


def changed(contract: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """With another value there."""
    made = copy.deepcopy(contract)
    below: Any = made
    for step in place[:-1]:
        below = below[step]
    below[place[-1]] = value
    return made


MODELS = {
    get_args(model.model_fields["type"].annotation)[0]: model
    for kinds in get_args(get_args(AnyContract)[0])
    for model in (get_args(get_args(kinds)[0]) if get_args(kinds) else (kinds,))
}


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
@pytest.mark.parametrize("number", range(len(CONTRACTS)), ids=lambda number: f"{number}-{CONTRACTS[number]['type']}")
def test_what_is_wrong_with_a_contract_is_a_validation_error(number: int) -> None:
    """Also where it is too large for a float, too deep for a parser, or repeats too often for a pattern."""
    contract = CONTRACTS[number]
    load_contract(Document("contract", contract))
    unwritten = [(field,) for field in MODELS[contract["type"]].model_fields if field not in contract]
    for place in [*places(contract), *unwritten]:
        for index, value in enumerate((*TEXTS, *VALUES)):
            try:
                load_contract(Document("contract", changed(contract, place, value)))
            except ValidationError:
                continue
            except Exception as error:
                raise AssertionError(f"{place}, value {index}: {type(error).__name__}: {error!s:.200}") from error
