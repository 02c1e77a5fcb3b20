"""Scoring contracts that are kept by name: `scoring: {contract: NAME@2}` in a scenario or a problem.

A reference is pinned where scenarios are taken in: from then on it names one version, whatever is stored later. Where
the contracts are kept is not known here; a lookup is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import pydantic

from harena.core.catalog import parse_reference
from harena.core.errors import HarenaError
from harena.scoring.contracts.parts import Contract
from harena.scoring.explain import explanations
from harena.scoring.reading import Document, Mistake, ScenarioFileError
from harena.scoring.scenario import InlineProblem

FIELD = "contract"


@dataclass(frozen=True, slots=True)
class StoredContract:
    """A scoring contract, and the version that it is."""

    version: str
    """NAME@2"""
    contract: Contract


ContractLookup = Callable[[str], StoredContract]
"""From NAME or NAME@2. Raises NotFoundError, ValidationError."""


class UnknownContractError(ValueError):
    """A reference that names nothing; the message is for people."""


def is_contract_reference(scoring: Any) -> TypeGuard[Mapping[str, Any]]:
    """It is {contract: NAME}, or is meant to be."""
    return isinstance(scoring, Mapping) and FIELD in scoring and "type" not in scoring


def looked_up(scoring: Mapping[str, Any], lookup: ContractLookup | None) -> StoredContract:
    """What {contract: NAME} names. Raises UnknownContractError."""
    if set(scoring) != {FIELD}:
        others = ", ".join(f"`{name}`" for name in scoring if name != FIELD)
        raise UnknownContractError(f"a stored contract is taken as it is, without {others}: leave only `contract`")
    try:
        parse_reference(scoring[FIELD])
        if lookup is None:
            raise UnknownContractError(
                f"{scoring[FIELD]!r} is a stored contract, and those are known where scenarios are submitted or "
                "stored, not here"
            )
        return lookup(scoring[FIELD])
    except HarenaError as error:
        raise UnknownContractError(str(error)) from error


def pinned(content: Any, lookup: ContractLookup) -> Any:
    """The content of a scenario file with every reference to a contract naming its version. What is wrong in it is left
    for whoever loads it."""
    if isinstance(content, Mapping):
        lists = {name: _pinned_rows(content[name], lookup) for name in ("problems", "scenarios") if name in content}
        return {**content, **lists}
    return _pinned_rows(content, lookup)


def _pinned_rows(rows: Any, lookup: ContractLookup) -> Any:
    return [_pinned_row(row, lookup) for row in rows] if isinstance(rows, list | tuple) else rows


def _pinned_row(row: Any, lookup: ContractLookup) -> Any:
    if not isinstance(row, Mapping):
        return row
    made = dict(row)
    for name in ("scoring", "scoring_contract"):
        if is_contract_reference(made.get(name)):
            try:
                made[name] = {FIELD: looked_up(made[name], lookup).version}
            except UnknownContractError:
                continue
    if isinstance(made.get("problem"), Mapping):
        made["problem"] = _pinned_row(made["problem"], lookup)
    return made


def references(content: Any) -> list[str]:
    """The stored contracts that pinned content refers to, sorted, each once."""
    parts = [content.get("problems"), content.get("scenarios")] if isinstance(content, Mapping) else [content]
    found: set[str] = set()
    waiting: list[Any] = [row for part in parts if isinstance(part, list | tuple) for row in part]
    while waiting:
        row = waiting.pop()
        if isinstance(row, Mapping):
            scorings = (row.get("scoring"), row.get("scoring_contract"))
            found.update(str(scoring[FIELD]) for scoring in scorings if is_contract_reference(scoring))
            waiting.append(row.get("problem"))
    return sorted(found)


def load_contract(document: Document) -> Contract:
    """A scoring contract that stands alone. Raises ScenarioFileError with every mistake."""
    row = {"scoring": document.content}
    mistakes = list(document.early_mistakes)
    try:
        made = InlineProblem.model_validate(row).scoring
    except pydantic.ValidationError as refusal:
        made = None
        for place, message in explanations(refusal, row, InlineProblem):
            below = place[1:]
            mistakes.append(Mistake(document.file, document.line_of(below), document.field_of(below), message))
    else:
        if made is None:
            mistakes.append(Mistake(document.file, None, "", "there is no contract; it is a mapping with `type`"))
    if mistakes or made is None:
        raise ScenarioFileError(mistakes)
    return made
