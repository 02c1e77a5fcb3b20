"""From what people write to scenarios. Everything is checked before anything runs; every mistake is told at once."""

from __future__ import annotations

import posixpath
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pydantic

from harena.core.catalog import NO_LINEAGE, Lineage
from harena.core.default_image import is_default
from harena.core.near_names import MOST_SUGGESTED
from harena.core.rows import RowsFile
from harena.scoring.compact import CompactScenarios
from harena.scoring.contracts.contract import (
    CommandContract,
    Contract,
    Strict,
    TestsContract,
)
from harena.scoring.contracts.stored import (
    FIELD,
    ContractLookup,
    UnknownContractError,
    is_contract_reference,
    looked_up,
)
from harena.scoring.explain import explanations, guess, unknown_field
from harena.scoring.places import why_not_in_image
from harena.scoring.reach import gateways_of, phases_of
from harena.scoring.reading import (
    MOST_MISTAKES,
    Document,
    Mistake,
    Place,
    ScenarioFileError,
    read_document,
    too_many_mistakes,
)
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

_TOLD = object()
"""in the place of a row of which a mistake has been noted that leaves nothing to check"""
_MOST_NAMED = 10
_FILE_FIELDS = ("version", "problems", "scenarios")


def load_scenarios(
    source: str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | RowsFile,
    *,
    contracts: ContractLookup | None = None,
) -> ScenarioBatch:
    """Scenarios from a file (YAML, JSON, JSONL, by its name's ending) or from objects made in Python; `contracts`:
    where the stored ones are that they may refer to.

    Raises ScenarioFileError with every mistake; then nothing is loaded.
    """
    return load_document(read_document(source), contracts=contracts)


def load_problems(document: Document, *, contracts: ContractLookup | None = None) -> dict[str, Problem]:
    """The problems of a document that may hold no scenarios, by id. Raises ScenarioFileError."""
    loader = _Loader(document, contracts)
    mistakes = loader.take_problems(document)
    if mistakes:
        raise ScenarioFileError(mistakes)
    return loader.problems


def load_document(
    document: Document,
    problems: Document | None = None,
    *,
    contracts: ContractLookup | None = None,
    compact: bool = False,
    other_names: Mapping[str, str] = OTHER_NAMES,
) -> ScenarioBatch:
    """Scenarios from a document that has been read; with `problems`, a document whose problems they may name.

    `compact`, for rows that are JSON: as `CompactScenarios`. `other_names` of rows' fields are taken, too. Raises
    ScenarioFileError."""
    loader = _Loader(document, contracts, other_names)
    mistakes: list[Mistake] = []
    if problems is not None:
        mistakes = loader.take_problems(problems)
    scenarios: Sequence[Scenario] = loader.compact_scenarios() if compact else tuple(loader.scenarios())
    mistakes += sorted([*document.early_mistakes, *loader.mistakes], key=lambda mistake: mistake.line or 0)
    if mistakes:
        raise ScenarioFileError(mistakes)
    return ScenarioBatch(scenarios)


class _Loader:
    def __init__(
        self, document: Document, contracts: ContractLookup | None, other_names: Mapping[str, str] = OTHER_NAMES
    ) -> None:
        self.document = document
        self._other_names = other_names
        self.mistakes: list[Mistake] = []
        self._told_of_many = False
        self.problems: dict[str, Problem] = {}
        self._lookup = None if contracts is None else cache(contracts)
        self._versions: dict[int, str] = {}
        # id of a contract that the lookup keeps -> the stored version that it is
        self._broken_problems: set[str] = set()
        self._problem_places: dict[str, Place] = {}
        self._first_rows: dict[str, Place] = {}
        self._checked_commands: dict[int, CommandContract] = {}
        self._contracts: dict[int, tuple[Contract, Contract]] = {}
        # id -> (the contract itself, so that its id stays its own; with its entry point)

    def take_problems(self, document: Document) -> list[Mistake]:
        """Take over the problems of another document, and return the mistakes in it."""
        other = _Loader(document, self._lookup)
        content = document.content
        if isinstance(content, Mapping) and content.get("problems"):
            other._check_top(content)
            other._load_problems(content.get("problems"))
        else:
            other._note((), "there are no problems; it is a mapping with `problems: [...]`")
        self.problems, self._broken_problems = other.problems, other._broken_problems
        self._problem_places, self._versions = other._problem_places, other._versions
        if isinstance(content, Mapping) and isinstance(rows := content.get("scenarios"), Iterator):
            deque(rows, maxlen=0)  # for the mistakes in them
        return [*document.early_mistakes, *other.mistakes]

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios that are right; the mistakes of the others are noted."""
        for row, place in self._rows():
            made = self._scenario(row, place)
            if made is not None:
                yield made

    def compact_scenarios(self) -> CompactScenarios:
        """Collect what `scenarios` yields. This loader goes on to make them, and lets go of what only mistakes need."""
        kept = CompactScenarios(self._again)
        for row, place in self._rows():
            made = self._scenario(row, place)
            if made is not None:
                kept.add(made, row)
        kept.add_shared(self.problems)
        self._first_rows, self.document = {}, Document(self.document.file, None)
        return kept

    def _again(self, row: Any) -> Scenario:
        checked = self._validated(ScenarioRow, self._renamed(row, ()), ())
        made = None if checked is None else self._assembled(checked, ())
        assert made is not None, "it was right before"
        return made

    def _rows(self) -> Iterator[tuple[Any, Place]]:
        content = self.document.content
        prefix: Place = ()
        if isinstance(content, Mapping):
            prefix = ("scenarios",)
            self._check_top(content)
            self._load_problems(content.get("problems"))
            content = content.get("scenarios")
        count = 0
        for row in content if isinstance(content, list | tuple | Iterator | RowsFile) else ():
            if self._are_too_many():
                return
            yield row, (*prefix, count)
            count += 1
        if not count and not self.document.early_mistakes:
            self._note(
                prefix, "there are no scenarios; a file is a list of scenarios, or a mapping with `scenarios: [...]`"
            )

    def _note(self, place: Place, message: str) -> None:
        field = self.document.field_of(place)
        self.mistakes.append(Mistake(self.document.file, self.document.line_of(place), field, message))

    def _are_too_many(self) -> bool:
        """There are so many mistakes that the reading ends, which is told."""
        if len(self.mistakes) < MOST_MISTAKES:
            return False
        if not self._told_of_many:
            self._told_of_many = True
            self.mistakes.append(too_many_mistakes(self.document.file))
        return True

    def _check_top(self, content: Mapping[str, Any]) -> None:
        for name in content:
            if name not in _FILE_FIELDS and not self._are_too_many():
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
            if self._are_too_many():
                return
            place: Place = ("problems", index)
            problem = self._validated(Problem, self._filled(self._renamed(row, place), place), place)
            if problem is None:
                self._broken_problems.add(str(row.get("id")) if isinstance(row, Mapping) else "")
            elif problem.id in self.problems:
                self._note((*place, "id"), f"{problem.id!r} is the id of an earlier problem; ids must differ")
            else:
                self.problems[problem.id] = problem
                self._problem_places[problem.id] = place

    def _renamed(self, row: Any, place: Place) -> Any:
        if not isinstance(row, Mapping) or not (row.keys() & self._other_names.keys()):
            return row
        renamed: dict[str, Any] = {}
        for name, value in row.items():
            target: Any = self._other_names.get(name, name)
            if target in renamed:
                self._note((*place, name), f"is another name of `{target}`, which is there too; keep one of them")
            renamed[target] = value
        return renamed

    def _filled(self, row: Any, place: Place) -> Any:
        """The row with stored contracts in the place of their names; _TOLD where one is unknown, which is noted."""
        if not isinstance(row, Mapping):
            return row
        made = row
        if isinstance(row.get("problem"), Mapping):
            problem = self._filled(row["problem"], (*place, "problem"))
            if problem is _TOLD:
                return _TOLD
            made = {**made, "problem": problem}
        if not is_contract_reference(row.get("scoring")):
            return made
        try:
            found = looked_up(row["scoring"], self._lookup)
        except UnknownContractError as error:
            self._note((*place, "scoring", FIELD), str(error))
            return _TOLD
        self._versions[id(found.contract)] = found.version
        return {**made, "scoring": found.contract}

    def _validated(self, model: type[Model], row: Any, place: Place) -> Model | None:
        if row is _TOLD:
            return None
        try:
            return model.model_validate(row)
        except pydantic.ValidationError as refusal:
            for below, message in explanations(refusal, row, model):
                self._note((*place, *below), message)
        return None

    def _scenario(self, row: Any, place: Place) -> Scenario | None:
        made = self._validated(ScenarioRow, self._filled(self._renamed(row, place), place), place)
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
            problem = self.problems.get(row.problem)
            if problem is None:
                if row.problem not in self._broken_problems:
                    known = self.problems if len(self.mistakes) < MOST_SUGGESTED else ()
                    self._note((*place, "problem"), f"no problem has the id {guess(row.problem, known)}")
                return None
        else:
            problem = row.problem
        contract = row.scoring or (problem.scoring if problem else None)
        if contract is None:
            self._note(place, "`scoring` is required, here or in the scenario's problem")
            return None
        if isinstance(contract, CommandContract):
            owner = place if row.scoring else self._problem_places.get(str(row.problem), (*place, "problem"))
            self._check_suite(contract, problem, (*owner, "scoring"))
        resolved = self._resolved(contract, problem, place)
        if resolved is None:
            return None
        placed = row if row.image is not None or row.blueprint is not None or problem is None else problem
        image = placed.image
        if image is not None and (why := why_not_in_image(resolved)) is not None and not is_default(image):
            self._note((*place, "scoring"), f"the contract cannot be scored in the image {image!r}: {why}")
            return None
        network = row.network if row.network is not None or problem is None else problem.network
        gateways = row.gateways if row.gateways is not None or problem is None else problem.gateways
        phases = phases_of(network)
        return Scenario(
            id=row.id,
            candidate=row.candidate,
            scoring=resolved,
            network=phases.agent,
            verifier_network=phases.verifier,
            gateways=None if gateways is None else gateways_of(gateways),
            limits=_merged(problem.limits if problem else None, row.limits),
            image=placed.image,
            blueprint=placed.blueprint,
            expected=row.expected,
            metadata={**problem.metadata, **row.metadata} if problem else row.metadata,
            problem_id=problem.id if problem else None,
            statement=problem.statement if problem else "",
            files=problem.files if problem else {},
            honeypot=row.honeypot or (problem is not None and problem.honeypot),
            lineage=self._lineage(contract),
        )

    def _lineage(self, contract: Contract) -> Lineage:
        version = self._versions.get(id(contract))
        return NO_LINEAGE if version is None else Lineage(contract=version)

    def _check_suite(self, contract: CommandContract, problem: InlineProblem | None, place: Place) -> None:
        """Test files are trusted ones: none may come from elsewhere, the candidate least of all."""
        if id(contract) in self._checked_commands:
            return
        if isinstance(problem, Problem) and contract is problem.scoring:
            self._checked_commands[id(contract)] = contract
        trusted = {**contract.files, **(problem.files if problem else {})}
        there = ", ".join(list(trusted)[:_MOST_NAMED]) + (", ..." if len(trusted) > _MOST_NAMED else "") or "none"
        field = "unittest" if contract.unittest else "pytest"
        paths = {index: argument.partition("::")[0] for index, argument in enumerate(contract.suite)}
        outside = {index: path for index, path in paths.items() if path.startswith(("/", "../"))}
        for index, path in {**contract.test_files, **outside}.items():
            if posixpath.normpath(path) not in trusted:
                self._note((*place, field, index), f"{path!r} is not among the trusted `files`: {there}")
                if self._are_too_many():
                    return

    def _resolved(self, contract: Contract, problem: InlineProblem | None, place: Place) -> Contract | None:
        """The contract with the entry point in it; one object for all scenarios of a problem."""
        if not isinstance(contract, TestsContract) or contract.entry_point is not None:
            return contract
        if problem is None or problem.entry_point is None:
            self._note(
                (*place, "scoring"),
                "`entry_point` is required, in the contract or in the problem: the function to call",
            )
            return None
        if id(contract) in self._contracts:
            return self._contracts[id(contract)][1]
        resolved = contract.model_copy(update={"entry_point": problem.entry_point})
        if contract is problem.scoring and isinstance(problem, Problem):
            self._contracts[id(contract)] = (contract, resolved)
        return resolved


def _merged(shared: ScenarioLimits | None, own: ScenarioLimits | None) -> ScenarioLimits:
    if shared is None or own is None:
        return own or shared or _NO_LIMITS
    return shared.model_copy(update=own.model_dump(exclude_none=True))


_NO_LIMITS = ScenarioLimits()
