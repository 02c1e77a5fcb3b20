"""What every family of data sets is read into: a problem, how an answer to it becomes a program, and what scores it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from harena.scoring.contracts.contract import Contract
from harena.scoring.explain import explained
from harena.scoring.formats.rows import FieldError, Row
from harena.scoring.reach import NOTHING_SAID, PhasePolicies
from harena.scoring.scenario import DEFAULT_ENTRY, ScenarioBuild, ScenarioLimits

NO_LIMITS = ScenarioLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One row."""

    id: str
    statement: str
    contract: Contract
    class_contract: Contract | None = None
    """in its place for a candidate that defines `class Solution`"""
    solution: str | None = None
    """the row's own, as a whole program; None = it has none"""
    solution_files: Mapping[str, str] = field(default_factory=dict)
    """what stands beside it"""
    sample: str | None = None
    """an answer that the row brings along, whose verdict is not known"""
    read_answer: Callable[[str], str] | None = None
    """what of an answer is judged; None = its program, or all of it"""
    number: str | None = None
    """the right one, where the number that an answer ends with is judged"""
    idle: str = ""
    """an answer that does nothing; empty = the empty answer, which scores 0 without being run"""
    prefix: str = ""
    """stands before an answer that is a completion of the prompt"""
    entry: str = DEFAULT_ENTRY
    files: Mapping[str, str] = field(default_factory=dict)
    limits: ScenarioLimits = NO_LIMITS
    messages: tuple[Mapping[str, Any], ...] = ()
    """the prompt as a conversation, where the row has it as one; then `statement` is only for people"""
    item: Mapping[str, Any] = field(default_factory=dict)
    """fields of the row that are its author's own, for prompts made of them"""
    image: str | None = None
    """image that its candidates run in; None = where the job says"""
    build: ScenarioBuild | None = None
    """an image that is built for them"""
    networks: PhasePolicies = NOTHING_SAID
    """what candidates and verifiers may reach, unless the image is built"""
    honeypot: bool = False
    """no honest answer can pass it"""
    contract_version: str | None = None
    """NAME@2 of the stored contract that `contract` is"""
    note: str = ""
    """why the trust is `shared`, where the family could also have had `separate`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One data format."""

    name: str
    """name that `--format` takes"""
    needs: str
    """what a row has, for the message that none fits"""
    fits: Callable[[Mapping[str, Any]], bool]
    """told from the names (and kinds) of a row's fields"""
    read: Callable[[Row], Task]
    """Raises FieldError."""
    name_of: Callable[[Row], str] | None = None
    """the name of a row that was read before, where reading needs more than the row; None = as it is read. Raises
    FieldError."""


def made(contract: type[Any], field: str, **fields: Any) -> Any:
    """A contract of checked fields. Raises FieldError that names the row's `field` which they were read from."""
    try:
        return contract.model_validate(fields)
    except ValidationError as refusal:
        error = refusal.errors(include_url=False)[0]
        place, message = explained(error, fields, contract)
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
        raise FieldError(field, f"cannot be scored: {where.removeprefix('.')}: {message}") from None
