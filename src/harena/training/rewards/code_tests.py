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
from harena.scoring.formats.answers import JAVASCRIPT, PYTHON, SHELLS, program_in
from harena.scoring.formats.asked_names import asked_names
from harena.scoring.formats.continuing import continued, has_solution_class
from harena.scoring.formats.gsm8k import number_in
from harena.scoring.scorers.languages import NOTHING_BY_ENDING
from harena.scoring.slices import aside
from harena.sdk import scenarios, scoring_contracts
from harena.training.data.imported_rows import ProgramForm
from harena.training.data.prompts import PromptRow
from harena.training.data.stored_problems import is_reference, reference_key, scored_as
from harena.training.rewards.recipe import rows_error
from harena.training.rollouts.scored import (
    allowed_seconds,
    asks_a_model,
    contract_mistakes,
    judged,
    nobodys_score,
    passes_all,
    runs_programs,
    unseen,
)
from harena.training.rollouts.trajectory import MINIMUM, Candidate, Reward

COMPLETION = "{completion}"
ENTRY = "solution.py"
_LEAST_SECONDS = 10.0
_MOST_TRIED = 3
"""rows whose contracts are tried before the first rollout"""
_IDLE = {".py": "pass\n", ".sh": "true\n", ".bash": "true\n", **NOTHING_BY_ENDING}
_IDLE_REMARK = "# nothing\n"
"""programs that do nothing, by the ending of their file"""
_LANGUAGES = {
    **dict.fromkeys((".sh", ".bash"), SHELLS),
    **dict.fromkeys((".js", ".mjs", ".cjs"), JAVASCRIPT),
    ".pl": frozenset({"perl", "pl"}),
    ".rb": frozenset({"ruby", "rb"}),
    ".lua": frozenset({"lua"}),
    ".php": frozenset({"php"}),
}
"""marks of fenced blocks that hold a program, by the ending of the file"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTests:
    """The reward is 1 where the program passed and 0 where it did not ("all"), or the score ("fraction")."""

    template: str = COMPLETION
    """the program, with {completion} where the text goes"""
    extract: Literal["raw", "fenced"] = "raw"
    """"fenced": the program in the text, by the rule of `harena.scoring.formats.answers`, where the contract runs one;
    one that judges a text gets all of it"""
    entry: str = ENTRY
    """the file that the program is written to"""
    credit: Literal["all", "fraction"] = "all"
    blueprint_id: str | None = None
    timeout_seconds: float | None = None
    """time of everything that a candidate runs, also where its contract says more; None = what the contract allows
    (`harena.training.rollouts.scored.allowed_seconds`), and 10 s at least"""
    deterministic: bool = True
    """contracts whose scorer draws lots, and judges that are models, are not"""
    _stored: dict[str, tuple[Mapping[str, Any], ProgramForm | None]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
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
        if self.timeout_seconds is not None and not self.timeout_seconds > 0:
            wrong.append(f"timeout_seconds must be above 0 (got {self.timeout_seconds})")
        if wrong:
            raise ValidationError("; ".join(wrong))

    def check(self, row: PromptRow) -> list[str]:
        """The row's contract is one. What is stored is known after `prepare`."""
        if row.scoring is None:
            return ["it has no scoring contract (`scoring`)"]
        if is_reference(row.scoring) and reference_key(row.scoring) not in self._stored:
            return []
        mistakes = contract_mistakes(self._idle(self._form(row)), self._judged_by(row))
        if not mistakes and self.deterministic and asks_a_model(self._judged_by(row)["scoring"]):
            mistakes.append("a model judges it, whose answers differ: set `deterministic: false`, or twins share one")
        return mistakes or unseen(self._judged_by(row)["scoring"])

    def constant(self, row: PromptRow) -> float | None:
        """1 where the row's contract passes every answer; None = it depends on the answer, or is not known yet."""
        if row.scoring is None or (is_reference(row.scoring) and reference_key(row.scoring) not in self._stored):
            return None
        return 1.0 if passes_all(self._judged_by(row)["scoring"], self.credit) else None

    async def prepare(self, rows: Sequence[PromptRow]) -> None:
        """Read what rows refer to. Raises one ValidationError for all that is not there."""
        references = {
            reference_key(row.scoring): row for row in rows if row.scoring is not None and is_reference(row.scoring)
        }
        found = await asyncio.gather(*(_looked_up(row.scoring or {}) for row in references.values()))
        wrong = []
        for (key, row), answer in zip(references.items(), found, strict=True):
            if isinstance(answer, str):
                wrong.append(f"row {row.id}: {answer}")
            else:
                self._stored[key] = answer
        if wrong:
            raise rows_error(self.name, wrong, len(rows))

    async def try_out(self, rows: Sequence[PromptRow]) -> None:
        """Score a program that does nothing by the contracts of a few rows. Raises ValidationError where none of them
        has a score: the image lacks what the contract needs, or the entry's language, or the scorer is broken."""
        able = [row for row in rows if row.scoring is not None]
        few = [row for row in able[:: max(1, len(able) // 2)][:_MOST_TRIED] if not self._is_asked(row)]
        found = await asyncio.gather(*(self._nobodys(row) for row in few))
        if few and all(found):
            told = [f"row {row.id}: no program would have a score: {why}" for row, why in zip(few, found, strict=True)]
            raise rows_error(self.name, told, len(rows))

    def _is_asked(self, row: PromptRow) -> bool:
        """A model judges it: it is asked where there is an answer."""
        return asks_a_model(self._judged_by(row)["scoring"])

    async def _nobodys(self, row: PromptRow) -> str:
        judged_by = self._judged_by(row)
        seconds = self.timeout_seconds or allowed_seconds(judged_by, _LEAST_SECONDS)
        idle = self._idle(self._form(row))
        return await nobodys_score(idle, judged_by, blueprint_id=self.blueprint_id, timeout_seconds=seconds)

    async def reward(self, row: PromptRow, text: Candidate) -> Reward:
        """Score the candidate by the row's contract. Raises ValidationError for a row without a scoring contract."""
        if row.scoring is None:
            raise ValidationError(f"row {row.id} has no scoring contract (`scoring`)")
        if is_reference(row.scoring) and reference_key(row.scoring) not in self._stored:
            await self.prepare([row])
        form = self._form(row)
        candidate, judged_by = text, self._judged_by(row)
        if isinstance(text, str):
            candidate, judged_by = await aside(len(text), self.scenario, row, text)
        return await judged(
            candidate,
            judged_by,
            idle=self._idle(form),
            credit=self.credit,
            minimum=self.minimum,
            blueprint_id=self.blueprint_id,
            timeout_seconds=self.timeout_seconds or allowed_seconds(judged_by, _LEAST_SECONDS),
        )

    def scenario(self, row: PromptRow, text: str) -> tuple[Candidate, Mapping[str, Any]]:
        """(candidate that a text becomes, fields of a scenario that judge it: `scoring`, and what the row has of
        `problem` and `limits`). What the row refers to has been read by `prepare`."""
        judged_by, form = self._judged_by(row), self._form(row)
        if form is not None and form.number is not None:
            text = number_in(text, form.number)
        in_class = form.class_scoring if form is not None and form.class_scoring else {}
        owner, _, method = str(in_class.get("entry_point") or "").rpartition(".")
        names = [*_names(judged_by), *filter(None, (owner,))]
        if runs_programs(judged_by["scoring"]):
            program = self.program(text, names, form)
        else:
            program = self.template.replace(COMPLETION, text)
        if in_class and has_solution_class(program, method):
            judged_by = {**judged_by, "scoring": dict(in_class)}
        return self._file(program, form), judged_by

    def program(self, text: str, names: Sequence[str] = (), form: ProgramForm | None = None) -> str:
        """What is run. `names`: what it shall define. `form`: of a row whose prompt is the beginning of the program."""
        code = text
        if self.extract == "fenced":
            suffix = PurePosixPath(self._entry(form)).suffix
            code = program_in(text, names, languages=_LANGUAGES.get(suffix, PYTHON))
        if form is not None and form.prefix:
            code = continued(form.prefix, code, is_rest=code is text)
        return self.template.replace(COMPLETION, code)

    def _idle(self, form: ProgramForm | None) -> Candidate:
        entry = self._entry(form)
        return self._file(_IDLE.get(PurePosixPath(entry).suffix, _IDLE_REMARK), form)

    def _file(self, program: str, form: ProgramForm | None) -> Candidate:
        entry = self._entry(form)
        return program if entry == ENTRY else {"files": {entry: program}, "entry": entry}

    def _entry(self, form: ProgramForm | None) -> str:
        return self.entry if form is None or form.entry is None else form.entry

    def _judged_by(self, row: PromptRow) -> Mapping[str, Any]:
        scoring, form = row.scoring or {}, self._form(row)
        found = self._stored[reference_key(scoring)][0] if is_reference(scoring) else scoring
        beside = {} if form is None else {"problem": dict(form.problem), "limits": dict(form.limits)}
        return {**{name: fields for name, fields in beside.items() if fields}, "scoring": dict(found)}

    def _form(self, row: PromptRow) -> ProgramForm | None:
        """Program form of the stored scenario that the row names; None where it names none."""
        if row.scoring is not None and is_reference(row.scoring):
            stored = self._stored.get(reference_key(row.scoring))
            return row.program if stored is None or stored[1] is None else stored[1]
        return row.program


async def _looked_up(scoring: Mapping[str, Any]) -> tuple[Mapping[str, Any], ProgramForm | None] | str:
    """The contract that a reference stands for, and what belongs to it; or what is wrong with the reference."""
    try:
        if "contract" in scoring:
            return dict((await scoring_contracts.get.aio(scoring["contract"])).contract or {}), None
        stored = await scenarios.get.aio(scoring["scenario"], content=True)
        fields = scored_as(
            stored.scenarios,
            str(scoring.get("id", "")),
            scoring["scenario"],
            form=stored.format,
            grader=stored.grader,
        )
        contract = fields["scoring"]
        if is_reference(contract):
            contract = dict((await scoring_contracts.get.aio(contract["contract"])).contract or {})
        return contract, ProgramForm.of(fields.get("program"))
    except (NotFoundError, ValidationError) as error:
        return str(error)


def _names(judged_by: Mapping[str, Any]) -> list[str]:
    """The functions and classes that a contract calls, or that its problem names."""
    entry = str((judged_by.get("problem") or {}).get("entry_point") or "").partition(".")[0]
    return asked_names(judged_by["scoring"]) or ([entry] if entry else [])
