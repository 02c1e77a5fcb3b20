"""code_tests_v1: what the policy said becomes a program, and a scoring contract its judge, in fresh sandboxes.

The contract is any of docs/reference/scenario.md. A row names its own in `scoring`:

    {"type": "tests", "entry_point": "f", ...}   the contract itself
    {"contract": "NAME@2"}                       a stored contract
    {"scenario": "NAME@2", "id": "add"}          that of a stored problem or scenario, with its files and limits

What is stored is read once, before the first rollout. A fault that follows the candidate into a fresh sandbox, while
another program runs there, is the candidate's own, and earns the minimum: otherwise breaking the sandbox would be a way
out of a bad reward.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from harena.core.errors import NotFoundError, ValidationError
from harena.scoring.formats.answers import PYTHON, program_in
from harena.sdk import scenarios, scoring_contracts
from harena.training.prompts import PromptRow
from harena.training.rewards.recipe import rows_error
from harena.training.scored import asks_a_model, contract_mistakes, judged
from harena.training.trajectory import MINIMUM, Candidate, Reward

COMPLETION = "{completion}"
ENTRY = "solution.py"
_IDLE = {".py": "pass\n", ".sh": "true\n", ".bash": "true\n"}
"""programs that do nothing, by the ending of their file"""
_SHELL = ("sh", "bash", "shell", "console")
_LANGUAGES = {
    ".sh": _SHELL,
    ".bash": _SHELL,
    ".pl": ("perl", "pl"),
    ".rb": ("ruby", "rb"),
    ".js": ("javascript", "js", "node"),
    ".lua": ("lua",),
    ".php": ("php",),
}
"""marks of fenced blocks that hold a program, by the ending of the file"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTests:
    """The reward is 1 where the program passed and 0 where it did not ("all"), or the score ("fraction")."""

    template: str = COMPLETION
    """the program, with {completion} where the text goes"""
    extract: Literal["raw", "fenced"] = "raw"
    """"fenced": the program in the text, by the rule of `harena.scoring.formats.answers`"""
    entry: str = ENTRY
    """the file that the program is written to"""
    credit: Literal["all", "fraction"] = "all"
    blueprint_id: str | None = None
    timeout_seconds: float = 10.0
    deterministic: bool = True
    """contracts whose scorer draws lots, and judges that are models, are not"""
    _stored: dict[str, Mapping[str, Any]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """what references name"""

    name = "code_tests_v1"
    minimum = MINIMUM

    def __post_init__(self) -> None:
        wrong = []
        if COMPLETION not in self.template:
            wrong.append(f"template must have {COMPLETION} where the text goes")
        if self.extract not in ("raw", "fenced"):
            wrong.append(f"extract must be raw or fenced (got {self.extract!r})")
        if self.credit not in ("all", "fraction"):
            wrong.append(f"credit must be all or fraction (got {self.credit!r})")
        if not self.timeout_seconds > 0:
            wrong.append(f"timeout_seconds must be above 0 (got {self.timeout_seconds})")
        if wrong:
            raise ValidationError("; ".join(wrong))

    def check(self, row: PromptRow) -> list[str]:
        """The row's contract is one. What is stored is known after `prepare`."""
        if row.scoring is None:
            return ["it has no scoring contract (`scoring`)"]
        if _reference(row.scoring) and _key(row.scoring) not in self._stored:
            return []
        mistakes = contract_mistakes(self._idle, self._judged_by(row))
        if not mistakes and self.deterministic and asks_a_model(self._judged_by(row)["scoring"]):
            mistakes.append("a model judges it, whose answers differ: set `deterministic: false`, or twins share one")
        return mistakes

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Read what rows refer to. Raises one ValidationError for all that is not there."""
        references = {_key(row.scoring): row for row in rows if row.scoring is not None and _reference(row.scoring)}
        found = await asyncio.gather(*(_looked_up(row.scoring or {}) for row in references.values()))
        wrong = []
        for (key, row), answer in zip(references.items(), found, strict=True):
            if isinstance(answer, str):
                wrong.append(f"row {row.id}: {answer}")
            else:
                self._stored[key] = answer
        if wrong:
            raise rows_error(self.name, wrong, len(rows))

    async def reward(self, row: PromptRow, text: Candidate) -> Reward:
        """See RewardRecipe. Raises ValidationError for a row without a scoring contract."""
        if row.scoring is None:
            raise ValidationError(f"row {row.id} has no scoring contract (`scoring`)")
        if _reference(row.scoring) and _key(row.scoring) not in self._stored:
            await self.prepare([row])
        judged_by = self._judged_by(row)
        candidate = self._file(self.program(text, _names(judged_by))) if isinstance(text, str) else text
        return await judged(
            candidate,
            judged_by,
            idle=self._idle,
            credit=self.credit,
            minimum=self.minimum,
            blueprint_id=self.blueprint_id,
            timeout_seconds=self.timeout_seconds,
        )

    def program(self, text: str, names: Sequence[str] = ()) -> str:
        """What is run. `names`: what it shall define."""
        if self.extract == "fenced":
            text = program_in(text, names, languages=_LANGUAGES.get(PurePosixPath(self.entry).suffix, PYTHON))
        return self.template.replace(COMPLETION, text)

    @property
    def _idle(self) -> Candidate:
        return self._file(_IDLE.get(PurePosixPath(self.entry).suffix, "\n"))

    def _file(self, program: str) -> Candidate:
        return program if self.entry == ENTRY else {"files": {self.entry: program}, "entry": self.entry}

    def _judged_by(self, row: PromptRow) -> Mapping[str, Any]:
        scoring = row.scoring or {}
        return self._stored[_key(scoring)] if _reference(scoring) else {"scoring": dict(scoring)}


def _reference(scoring: Mapping[str, Any]) -> bool:
    return "type" not in scoring and bool({"contract", "scenario"} & set(scoring))


def _key(scoring: Mapping[str, Any]) -> str:
    return f"{scoring['contract']}" if "contract" in scoring else f"{scoring['scenario']}#{scoring.get('id', '')}"


async def _looked_up(scoring: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """The scenario's fields that a reference stands for; or what is wrong with it."""
    try:
        if "contract" in scoring:
            return {"scoring": dict((await scoring_contracts.get.aio(scoring["contract"])).contract)}
        stored = await scenarios.get.aio(scoring["scenario"], content=True)
        fields = _found_in(stored["scenarios"], str(scoring.get("id", "")), scoring["scenario"])
        if isinstance(fields, str) or not _reference(named := fields["scoring"]):
            return fields
        contract = await _looked_up(named)
        return contract if isinstance(contract, str) else {**fields, **contract}
    except (NotFoundError, ValidationError) as error:
        return str(error)


def _found_in(content: Any, wanted: str, ref: str) -> Mapping[str, Any] | str:
    """A problem of this id, else what the scenario of this id is judged by."""
    if isinstance(content, Mapping):
        problems, rows = content.get("problems", ()), content.get("scenarios", ())
    else:
        problems, rows = (), content
    known = {str(entry.get("id")): entry for entry in problems}
    if wanted in known:
        return _apart({"problem": known[wanted]})
    for row in rows:
        if wanted in (row.get("id"), row.get("scenario_id")):
            fields = {name: row[name] for name in ("scoring", "limits", "problem") if name in row}
            if isinstance(fields.get("problem"), str):
                fields["problem"] = known[fields["problem"]]
            return _apart(fields)
    return f"{ref} holds neither a problem nor a scenario with the id {wanted!r}"


def _apart(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario's fields, with the contract beside the problem."""
    problem = dict(fields.get("problem") or {})
    scoring = problem.pop("scoring", {})
    return {"scoring": scoring, **({"problem": problem} if problem else {}), **_without(fields, "problem")}


def _without(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def _names(judged_by: Mapping[str, Any]) -> list[str]:
    """The function or class that a contract calls."""
    entry = judged_by["scoring"].get("entry_point") or (judged_by.get("problem") or {}).get("entry_point") or ""
    return [entry.partition(".")[0]] if entry else []
