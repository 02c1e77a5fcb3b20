"""From what people write to scenarios. Everything is checked before anything runs; every mistake is told at once."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pydantic

from harena.scoring.contracts import CommandContract, Contract, Strict, TestsContract
from harena.scoring.explain import explained, guess, unknown_field
from harena.scoring.reading import Document, Mistake, Place, ScenarioFileError, read_document
from harena.scoring.scenario import (
    InlineProblem,
    Problem,
    Scenario,
    ScenarioBatch,
    ScenarioLimits,
    ScenarioRow,
)

__all__ = ["Mistake", "ScenarioFileError", "load_scenarios"]

Model = TypeVar("Model", bound=Strict)

OTHER_NAMES = {
    "candidate_solution": "candidate",
    "solution": "candidate",
    "scenario_id": "id",
    "scoring_contract": "scoring",
}
"""accepted in rows, for files written for other platforms"""

_FILE_FIELDS = ("version", "problems", "scenarios")


def load_scenarios(source: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> ScenarioBatch:
    """Scenarios from a file (YAML, JSON, JSONL, by its name's ending) or from objects made in Python.

    Raises ScenarioFileError with every mistake; then nothing is loaded.
    """
    return load_document(read_document(source))


def load_document(document: Document, problems: Document | None = None) -> ScenarioBatch:
    """Scenarios from a document that has been read; with `problems`, a document whose problems they may name.

    Raises ScenarioFileError."""
    loader = _Loader(document)
    mistakes: list[Mistake] = []
    if problems is not None:
        mistakes = loader.take_problems(problems)
    scenarios = tuple(loader.scenarios())
    mistakes += sorted(loader.mistakes, key=lambda mistake: mistake.line or 0)
    if mistakes:
        raise ScenarioFileError(mistakes)
    return ScenarioBatch(scenarios)


class _Loader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.mistakes: list[Mistake] = list(document.early_mistakes)
        self._problems: dict[str, Problem] = {}
        self._broken_problems: set[str] = set()
        self._problem_places: dict[str, Place] = {}
        self._first_rows: dict[str, Place] = {}
        self._checked_commands: dict[int, CommandContract] = {}
        self._contracts: dict[int, tuple[Contract, Contract]] = {}
        # id -> (the contract itself, so that its id stays its own; with its entry point)

    def take_problems(self, document: Document) -> list[Mistake]:
        """Those of another document; the mistakes in it."""
        other = _Loader(document)
        content = document.content
        if isinstance(content, Mapping) and content.get("problems"):
            other._check_top(content)
            other._load_problems(content.get("problems"))
        else:
            other._note((), "there are no problems; it is a mapping with `problems: [...]`")
        self._problems, self._broken_problems = other._problems, other._broken_problems
        self._problem_places = other._problem_places
        return other.mistakes

    def scenarios(self) -> Iterator[Scenario]:
        """Those that are right; the mistakes of the others are noted."""
        content = self.document.content
        prefix: Place = ()
        if isinstance(content, Mapping):
            prefix = ("scenarios",)
            self._check_top(content)
            self._load_problems(content.get("problems"))
            content = content.get("scenarios")
        if not isinstance(content, list | tuple) or not content:
            self._note(
                prefix, "there are no scenarios; a file is a list of scenarios, or a mapping with `scenarios: [...]`"
            )
            return
        for index, row in enumerate(content):
            made = self._scenario(row, (*prefix, index))
            if made is not None:
                yield made

    def _note(self, place: Place, message: str) -> None:
        field = self.document.field_of(place)
        self.mistakes.append(Mistake(self.document.file, self.document.line_of(place), field, message))

    def _check_top(self, content: Mapping[str, Any]) -> None:
        for name in content:
            if name not in _FILE_FIELDS:
                self._note((str(name),), unknown_field(str(name), _FILE_FIELDS))
        version = content.get("version", 1)
        if version != 1 or isinstance(version, bool):
            self._note(("version",), f"this harena reads version 1, not {version!r}")

    def _load_problems(self, written: Any) -> None:
        if written is None:
            return
        if not isinstance(written, list | tuple):
            self._note(("problems",), "must be a list of problems")
            return
        for index, row in enumerate(written):
            place: Place = ("problems", index)
            problem = self._validated(Problem, self._renamed(row, place), place)
            if problem is None:
                self._broken_problems.add(str(row.get("id")) if isinstance(row, Mapping) else "")
            elif problem.id in self._problems:
                self._note((*place, "id"), f"{problem.id!r} is the id of an earlier problem; ids must differ")
            else:
                self._problems[problem.id] = problem
                self._problem_places[problem.id] = place

    def _renamed(self, row: Any, place: Place) -> Any:
        if not isinstance(row, Mapping) or not (row.keys() & OTHER_NAMES.keys()):
            return row
        renamed: dict[str, Any] = {}
        for name, value in row.items():
            target: Any = OTHER_NAMES.get(name, name)
            if target in renamed:
                self._note((*place, name), f"is another name of `{target}`, which is there too; keep one of them")
            renamed[target] = value
        return renamed

    def _validated(self, model: type[Model], row: Any, place: Place) -> Model | None:
        try:
            return model.model_validate(row)
        except pydantic.ValidationError as refusal:
            for error in refusal.errors(include_url=False):
                if error["type"] == "too_short" and error["input"]:
                    continue  # its items are wrong, which is told for each of them
                below, message = explained(error, row, model)
                self._note((*place, *below), message)
        return None

    def _scenario(self, row: Any, place: Place) -> Scenario | None:
        made = self._validated(ScenarioRow, self._renamed(row, place), place)
        row_id: Any = made.id if made is not None else row.get("id") if isinstance(row, Mapping) else None
        if isinstance(row_id, str):
            first = self._first_rows.setdefault(row_id, place)
            if first != place:
                line = self.document.line_of(first)
                earlier = f"on line {line}" if line is not None else f"at [{first[-1]}]"
                self._note((*place, "id"), f"{row_id!r} is the id of the scenario {earlier} too; ids must differ")
        if made is None:
            return None
        return self._assembled(made, place)

    def _assembled(self, row: ScenarioRow, place: Place) -> Scenario | None:
        problem: InlineProblem | None
        if isinstance(row.problem, str):
            problem = self._problems.get(row.problem)
            if problem is None:
                if row.problem not in self._broken_problems:
                    self._note((*place, "problem"), f"no problem has the id {guess(row.problem, self._problems)}")
                return None
        else:
            problem = row.problem
        contract = row.scoring or (problem.scoring if problem else None)
        if contract is None:
            self._note(place, "`scoring` is required, here or in the scenario's problem")
            return None
        if isinstance(contract, CommandContract):
            owner = place if row.scoring else self._problem_places.get(str(row.problem), (*place, "problem"))
            self._check_pytest(contract, problem, (*owner, "scoring", "pytest"))
        resolved = self._resolved(contract, problem.entry_point if problem else None, place)
        if resolved is None:
            return None
        return Scenario(
            id=row.id,
            candidate=row.candidate,
            scoring=resolved,
            limits=_merged(problem.limits if problem else None, row.limits),
            expected=row.expected,
            metadata={**problem.metadata, **row.metadata} if problem else row.metadata,
            problem_id=problem.id if problem else None,
            statement=problem.statement if problem else "",
            files=problem.files if problem else {},
            honeypot=row.honeypot or (problem is not None and problem.honeypot),
        )

    def _check_pytest(self, contract: CommandContract, problem: InlineProblem | None, place: Place) -> None:
        """Test files are trusted ones: none may come from elsewhere, the candidate least of all."""
        if contract.pytest is None or id(contract) in self._checked_commands:
            return
        self._checked_commands[id(contract)] = contract
        trusted = {*contract.files, *(problem.files if problem else ())}
        for index, argument in enumerate(contract.pytest):
            path = argument.partition("::")[0]
            if argument.startswith("-") or not (path.endswith(".py") or path.startswith(("/", "../"))):
                continue
            if posixpath.normpath(path) not in trusted:
                self._note(
                    (*place, index), f"{path!r} is not among the trusted `files`: {', '.join(trusted) or 'none'}"
                )

    def _resolved(self, contract: Contract, entry_point: str | None, place: Place) -> Contract | None:
        """The contract with the entry point in it; one object for all scenarios of a problem."""
        if not isinstance(contract, TestsContract) or contract.entry_point is not None:
            return contract
        if entry_point is None:
            self._note(
                (*place, "scoring"),
                "`entry_point` is required, in the contract or in the problem: the function to call",
            )
            return None
        if id(contract) not in self._contracts:
            resolved = contract.model_copy(update={"entry_point": entry_point})
            self._contracts[id(contract)] = (contract, resolved)
        return self._contracts[id(contract)][1]


def _merged(shared: ScenarioLimits | None, own: ScenarioLimits | None) -> ScenarioLimits:
    if shared is None or own is None:
        return own or shared or _NO_LIMITS
    return shared.model_copy(update=own.model_dump(exclude_none=True))


_NO_LIMITS = ScenarioLimits()
