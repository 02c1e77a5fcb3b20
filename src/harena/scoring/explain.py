"""What pydantic found, in the words and places of the person who wrote the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import pydantic

from harena.core.near_names import cut, nearest_name
from harena.scoring import reach, scenario
from harena.scoring.contracts import contract as contracts
from harena.scoring.contracts.contract import Strict

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from harena.scoring.reading import Place

MOST_EXPLAINED = 1000
"""mistakes of one row that are put into words"""
_MODELS_BELOW: dict[str, type[Strict]] = {
    "problem": scenario.InlineProblem,
    "candidate": scenario.Candidate,
    "limits": scenario.ScenarioLimits,
    "expected": scenario.Expected,
    "parts": contracts.Part,
    "checks": contracts.Check,
    "cases": contracts.Case,
    "proof": contracts.Proof,
    "source": contracts.NumericSource,
    "inputs": contracts.Inputs,
    "tests": contracts.TestsContract,
    "reference": contracts.ReferenceContract,
    "stdio": contracts.StdioContract,
    "command": contracts.CommandContract,
    "numeric": contracts.NumericContract,
    "python": contracts.PythonContract,
    "string_check": contracts.StringCheckContract,
    "text_similarity": contracts.TextSimilarityContract,
    "regex": contracts.RegexContract,
    "score_model": contracts.ScoreModelContract,
    "label_model": contracts.LabelModelContract,
    "messages": contracts.JudgeMessage,
    "sampling_params": contracts.SamplingParams,
    "harbor": contracts.HarborContract,
    "weighted": contracts.WeightedContract,
    "policy": reach.WrittenPolicy,
    "phases": reach.NetworkPhases,
    "gateways": reach.WrittenGateway,
    "rules": reach.WrittenRule,
}
"""whose fields stand below a step of an error's path; "tests" to "weighted" are the tags of the contracts"""

_TYPES = (
    "tests", "reference", "stdio", "command", "numeric", "python", "string_check", "text_similarity", "regex",
    "score_model", "label_model", "harbor", "weighted",
)  # fmt: skip

_REACH = ("network", "agent", "verifier")
"""fields whose value has one of several forms, told apart by `reach.REACH_TAGS`"""

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
    "finite_number": "must be a finite number",
    "int_from_float": "must be a whole number",
    "string_unicode": scenario.LONE_SURROGATE,
}

_BOUNDS = {
    "greater_than": ("gt", "must be more than"),
    "greater_than_equal": ("ge", "must be at least"),
    "less_than": ("lt", "must be less than"),
    "less_than_equal": ("le", "must be at most"),
}
_SHOWING = ("finite_number", "int_from_float")
_PATTERNS = {"entry_point": "must be a name, as `function` or `Class.method`"}
_NOTES = {("memory_mb", "ge"): " (in less, an interpreter does not start)"}


def explanations(refusal: pydantic.ValidationError, row: Any, model: type[Strict]) -> Iterator[tuple[Place, str]]:
    """(where below the row, what is wrong and what to write) of everything that pydantic refuses. Of more than
    MOST_EXPLAINED mistakes, those of the first items of each list: to put a million into words takes a minute and
    gigabytes."""
    if refusal.error_count() > MOST_EXPLAINED:
        row, fewer = _shortened(row, model)
        yield (), f"has more than {MOST_EXPLAINED} mistakes; of each list, those of the first items are told"
        if fewer is None:
            return
        refusal = fewer
    for error in refusal.errors(include_url=False):
        if error["type"] == "too_short" and error["input"]:
            continue  # its items are wrong, which is told for each of them
        yield explained(error, row, model)


def _shortened(row: Any, model: type[Strict]) -> tuple[Any, pydantic.ValidationError | None]:
    """The row with no more of each list than leaves few mistakes, and what is wrong with it then; None = nothing."""
    for most in (100, 10, 1):
        short = _cut(row, most)
        try:
            model.model_validate(short)
        except pydantic.ValidationError as refusal:
            if refusal.error_count() <= MOST_EXPLAINED:
                return short, refusal
        else:
            return short, None
    return row, None


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, Mapping):
        return {name: _cut(below, most) for name, below in islice(value.items(), MOST_EXPLAINED // 2)}
    return [_cut(below, most) for below in value[:most]] if isinstance(value, list | tuple) else value


def explained(error: ErrorDetails, row: Any, model: type[Strict]) -> tuple[Place, str]:
    """(where below the row, what is wrong and what to write)."""
    place, is_name = _place(error["loc"], row)
    kind = error["type"]
    if kind == "extra_forbidden":
        return place, unknown_field(str(error["loc"][-1]), _model_at(error["loc"][:-1], model).model_fields)
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        types = ", ".join(_TYPES)
        if kind.endswith("not_found"):
            return (*place, "type"), f"is required: one of {types}"
        given = error["ctx"]["tag"]
        return (*place, "type"), f"must be one of {types}, not {_shown(given)}{_meant(given, _TYPES)}"
    if kind == "literal_error":
        return place, f"must be one of {error['ctx']['expected']}, not {_shown(error['input'])}"
    message = _message(error, place)
    return place, f"the name {_shown(error['input'])} {message}" if is_name else message


def _message(error: ErrorDetails, place: Place) -> str:
    kind, given, context = error["type"], _shown(error["input"]), error.get("ctx", {})
    field = str(place[-1]) if place else ""
    if field == "candidate" and kind.endswith("_type"):
        return f"must be text (the program) or a mapping with `files`, not {given}"
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"{words} {_number(context[name])}, not {given}{_NOTES.get((field, name), '')}"
    if kind == "string_too_long":
        return f"is longer than the {context['max_length']} characters allowed"
    if kind == "too_long":
        return f"has {context['actual_length'] or 'too many'} parts, more than the {context['max_length']} allowed"
    if kind == "string_pattern_mismatch":
        return f"{_PATTERNS.get(field, 'is not written right')}, not {given}"
    message = _MESSAGES.get(kind) or error["msg"].removeprefix("Value error, ")
    return f"{message}, not {given}" if kind.endswith("_type") or kind in _SHOWING else message


def _number(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) else str(bound)


def _place(location: tuple[str | int, ...], row: Any) -> tuple[Place, bool]:
    """(the steps of an error's path that lead through what was written, whether it is the last step's name that is
    wrong). The tags of unions, and the parts of what stands for something longer, were not written."""
    is_name = bool(location) and location[-1] == "[key]"
    tags = {1} if location[:1] in (("scoring",), ("problem",)) else set()
    tags |= {
        index for index in range(1, len(location)) if location[index - 1] == "scoring" and location[index] in _TYPES
    }
    tags |= {
        index
        for index in range(1, len(location))
        if location[index - 1] in _REACH and location[index] in reach.REACH_TAGS
    }
    place: list[str | int] = []
    here = row
    for index, step in enumerate(location[: len(location) - is_name]):
        if index in tags:
            continue
        if isinstance(here, Mapping):
            here = here.get(step)
        elif isinstance(here, list | tuple) and isinstance(step, int):
            here = here[step] if step < len(here) else None
        else:
            break
        place.append(step)
    return tuple(place), is_name


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
    return f"{cut(name)!r}{_meant(name, known)}"


def _meant(name: str, known: Iterable[str]) -> str:
    near = nearest_name(name, known)
    return f"; did you mean {near!r}?" if near is not None else ""


def unknown_field(name: str, known: Iterable[str]) -> str:
    """What to say of a field that does not exist."""
    names = list(known)
    near = nearest_name(name, names)
    advice = f"did you mean `{near}`?" if near is not None else f"there are {', '.join(names)}"
    return f"unknown field; {advice}"
