"""What pydantic found, in the words and places of the person who wrote the file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from harena.scoring import contracts, scenario
from harena.scoring.contracts import Strict

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from harena.scoring.reading import Place

_MODELS_BELOW: dict[str, type[Strict]] = {
    "problem": scenario.InlineProblem,
    "candidate": scenario.Candidate,
    "limits": scenario.ScenarioLimits,
    "expected": scenario.Expected,
    "checks": contracts.Check,
    "cases": contracts.Case,
    "proof": contracts.Proof,
    "source": contracts.NumericSource,
    "tests": contracts.TestsContract,
    "stdio": contracts.StdioContract,
    "command": contracts.CommandContract,
    "numeric": contracts.NumericContract,
    "python": contracts.PythonContract,
}
"""whose fields stand below a step of an error's path; "tests" to "python" are the tags of the contracts"""

_MESSAGES = {
    "missing": "is required",
    "string_type": "must be text; put quotes around it",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}


def explained(error: ErrorDetails, row: Any, model: type[Strict]) -> tuple[Place, str]:
    """(where below the row, what is wrong and what to write)."""
    place, steps = _place(error["loc"], row)
    kind = error["type"]
    if kind == "extra_forbidden":
        return place, unknown_field(str(error["loc"][-1]), _model_at(error["loc"][:-1], model).model_fields)
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        types = "tests, stdio, command, numeric, python"
        return (*place, "type"), f"must be one of {types}" if kind.endswith(
            "invalid"
        ) else f"is required: one of {types}"
    if kind == "literal_error":
        return place, f"must be one of {error['ctx']['expected']}, not {_shown(error['input'])}"
    message = _MESSAGES.get(kind) or error["msg"].removeprefix("Value error, ")
    if kind.endswith("_type"):
        message += f", not {_shown(error['input'])}"
    if steps and steps[-1] == "[key]":
        message = f"the name {_shown(error['input'])} {message}"
    return place, message


def _place(location: tuple[str | int, ...], row: Any) -> tuple[Place, list[str | int]]:
    """The steps of an error's path that exist in what was written; the tags of unions do not."""
    place: list[str | int] = []
    here = row
    for index, step in enumerate(location):
        is_last = index == len(location) - 1
        if (isinstance(here, Mapping) and step in here) or (
            isinstance(here, list | tuple) and isinstance(step, int) and step < len(here)
        ):
            here = here[step]  # type: ignore[index]
            place.append(step)
        elif isinstance(here, Mapping) and is_last and step != here.get("type") and step not in ("id", "inline"):
            place.append(step)
    return tuple(step for step in place if step != "[key]"), list(location)


def _model_at(location: tuple[str | int, ...], model: type[Strict]) -> type[Strict]:
    for step in reversed(location):
        if isinstance(step, str) and step in _MODELS_BELOW:
            return _MODELS_BELOW[step]
    return model


def _shown(value: Any) -> str:
    text = repr(value) if type(value) in (str, int, float, bool, type(None)) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def guess(name: str, known: Iterable[str]) -> str:
    """The name, and the nearest one that exists."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"{name!r}; did you mean {near[0]!r}?" if near else f"{name!r}"


def unknown_field(name: str, known: Iterable[str]) -> str:
    """What to say of a field that does not exist."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    advice = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names)}"
    return f"unknown field; {advice}"
