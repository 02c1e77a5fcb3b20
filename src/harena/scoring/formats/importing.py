"""From the files that people have to scenarios: rows of a data set and answers of models, joined by the rows' names.

Nothing is run, unpickled or evaluated here. A data set without answers is scored with its own solutions, whose verdict
is known: they pass.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harena.core.catalog import NO_LINEAGE, Lineage
from harena.core.near_names import MOST_SUGGESTED, cut, nearest_name
from harena.core.outside_json import MOST_BYTES, lines_in, read_outside
from harena.core.results import Trust
from harena.core.row_endings import LINE_ENDINGS
from harena.core.rows import RowsFile
from harena.core.task_archives import task_folders
from harena.scoring.contracts.contract import TestsContract
from harena.scoring.contracts.parts import Contract
from harena.scoring.contracts.stored import ContractLookup
from harena.scoring.formats.continuing import continued, has_solution_class
from harena.scoring.formats.graders import GRADER, grader_in, read_grader_file
from harena.scoring.formats.own_scenarios import NOP, ORACLE, names_asked_by, own_scenarios
from harena.scoring.formats.recognise import FORMATS, SCENARIOS, family_named, is_own, recognised
from harena.scoring.formats.rows import FieldError, Row, Rows, refusal
from harena.scoring.formats.samples import Answer, Samples
from harena.scoring.formats.task import Family, Task
from harena.scoring.load import load_document, load_problems
from harena.scoring.reading import (
    MOST_MISTAKES,
    Mistake,
    ScenarioFileError,
    opened_unpacked,
    read_document,
    too_many_mistakes,
    unpacked_ending,
)
from harena.scoring.scenario import Candidate, Expected, Scenario, ScenarioBatch

Source = str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | RowsFile


def import_scenarios(
    source: Source,
    *,
    candidates: Source | None = None,
    form: str | None = None,
    grader: str | Path | Mapping[str, Any] | None = None,
    contracts: ContractLookup | None = None,
    compact: bool = False,
    skip_bad_rows: bool = False,
    unsolved_too: bool = False,
) -> ScenarioBatch:
    """Scenarios in harena's own format, or in one of other people's (`FORMATS`), told by its shape or given as `form`.

    `grader`: that of rows that hold none of their own (a file, or what is in it). `candidates`: the answers
    (`samples`), or "oracle", or "nop"; None = the oracle's. `contracts`: where stored scoring contracts are. `compact`:
    for batches that stay in memory, see `CompactScenarios`. `skip_bad_rows`: rows of other people's formats that
    have a mistake are left out, and told in the batch. `unsolved_too`: without `candidates`, a problem that has no
    right answer gets one that does nothing, as of "nop". Raises ScenarioFileError with every mistake.
    """
    for given in (source, candidates, grader):
        if isinstance(given, str | Path) and "\0" in str(given):
            raise refusal(ascii(str(given)), None, "is no name of a file: there is a NUL in it")
    if grader is None and (form == SCENARIOS or (form is None and _looks_own(source))):
        return own_scenarios(source, candidates, contracts, compact=compact, unsolved_too=unsolved_too)
    rows = _rows(source)
    rows.look_up(contracts)
    if grader is not None:
        if form == SCENARIOS:
            raise refusal("grader", None, "harena's own scenarios have their scoring in them, and take no grader")
        rows.add(GRADER, read_grader_file(grader) if isinstance(grader, str | Path) else grader_in(grader, "grader"))
    family = None if form is None else family_named(form)
    return _imported(rows, candidates, family, skip_bad_rows=skip_bad_rows, unsolved_too=unsolved_too)


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """What is known of problems that have been checked, with or without candidates."""

    form: str
    """the data format that they are written in"""
    problems: int
    candidates: int
    """number of candidates that came with the problems, in harena's own format"""
    contracts: tuple[Contract, ...]


def import_problems(
    source: Source,
    *,
    form: str | None = None,
    grader: str | Path | Mapping[str, Any] | None = None,
    contracts: ContractLookup | None = None,
) -> ProblemSet:
    """Check problems that candidates will be given to later; arguments as in `import_scenarios`. Raises
    ScenarioFileError with every mistake."""
    if grader is not None or not (form == SCENARIOS or (form is None and _looks_own(source))):
        batch = import_scenarios(source, candidates=NOP, form=form, grader=grader, contracts=contracts)
        made = tuple(scenario.scoring for scenario in batch.scenarios)
        return ProblemSet(batch.form, len({scenario.problem_id for scenario in batch.scenarios}), 0, made)
    document = read_document(source)
    content = document.content
    if isinstance(content, Mapping) and content.get("problems") and not content.get("scenarios"):
        problems = load_problems(document, contracts=contracts)
        scorings = [problem.scoring for problem in problems.values() if problem.scoring is not None]
        return ProblemSet(SCENARIOS, len(problems), 0, tuple(scorings))
    scenarios = load_document(document, contracts=contracts).scenarios
    named = {scenario.problem_id or scenario.id for scenario in scenarios}
    return ProblemSet(SCENARIOS, len(named), len(scenarios), tuple(scenario.scoring for scenario in scenarios))


def _looks_own(source: Source) -> bool:
    """It is harena's own, or so little that harena's own reader shall say what is missing."""
    if isinstance(source, Mapping):
        return is_own(source) or not source
    if not isinstance(source, str | Path):
        row = next(iter(source), None)
        return not isinstance(row, Mapping) or is_own(row) or row.keys() <= {"id"}
    path = Path(source)
    if os.path.isdir(path):  # a name that is too long for one is no folder
        return False
    ending = unpacked_ending(path)
    if ending in LINE_ENDINGS:
        return _first_line_is_own(path)
    if ending in (".yaml", ".yml"):
        content = read_document(path).content
    elif ending == ".json":
        try:
            with opened_unpacked(path) as file:
                content = read_outside(file.read(MOST_BYTES + 1))
        except (OSError, EOFError, zlib.error, ValueError, RecursionError):
            return True
    else:
        return ending not in (".csv", ".parquet")
    return not isinstance(content, Mapping | list) or _looks_own(content)


def _first_line_is_own(path: Path) -> bool:
    try:
        with opened_unpacked(path) as file:
            first = next((line for line in lines_in(file) if line.strip(b" \t\r\n\xef\xbb\xbf")), b"")
        row = read_outside(first.decode("utf-8-sig"))
    except (OSError, EOFError, zlib.error, ValueError, RecursionError):
        return True
    return not isinstance(row, Mapping) or not row or is_own(row) or row.keys() <= {"id"}


def _imported(
    rows: Rows, candidates: Source | None, family: Family | None, *, skip_bad_rows: bool, unsolved_too: bool
) -> ScenarioBatch:
    if family is None:
        first = rows.first()
        if first is None:
            raise ScenarioFileError(rows.mistakes or [Mistake(rows.name, None, "", "there are no rows")])
        family = recognised(first)
    samples = Samples(candidates) if candidates is not None and candidates not in (ORACLE, NOP) else None
    if samples is not None and samples.is_empty:
        named = str(candidates) if isinstance(candidates, str | Path) else "candidates"
        raise ScenarioFileError(samples.mistakes or [Mistake(named, None, "", "there are no answers")])
    joined = _Join(rows, family, samples, idle=candidates == NOP, unsolved_too=unsolved_too and candidates is None)
    scenarios = tuple(joined.scenarios())
    if joined.mistakes and not (skip_bad_rows and scenarios and len(joined.mistakes) < MOST_MISTAKES):
        raise ScenarioFileError(joined.mistakes)
    if not scenarios:
        raise refusal(rows.name, None, "there are no rows")
    return ScenarioBatch(scenarios, family.name, left_out=tuple(joined.mistakes))


def _rows(source: Source) -> Rows:
    if isinstance(source, str | Path) and os.path.isdir(source):
        return _directories(Path(source))
    return Rows([source] if isinstance(source, Mapping) else source)


def _directories(folder: Path) -> Rows:
    """A row for each task directory."""
    folders = task_folders(folder)
    if not folders:
        raise refusal(
            str(folder),
            None,
            "there is no task.toml in it, nor in a folder in it, nor a task.yaml; only task directories may be folders",
        )
    return Rows.of_folders(folders, str(folder))


class _Join:
    """Rows and answers, joined as they are read."""

    def __init__(self, rows: Rows, family: Family, samples: Samples | None, *, idle: bool, unsolved_too: bool) -> None:
        self._rows = rows
        self._family = family
        self._samples = samples
        self._idle = idle
        self._unsolved_too = unsolved_too
        self._ids: dict[str, int | None] = {}
        self._row_count = 0
        self.mistakes: list[Mistake] = list(samples.mistakes) if samples is not None else []

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios of the rows that are right; the mistakes of the others are noted."""
        for row in self._rows:
            self._row_count += 1
            try:
                task = self._family.read(row)
                if task.id in self._ids:
                    earlier = self._ids[task.id]
                    where = f"the row on line {earlier}" if earlier is not None else "an earlier row"
                    raise FieldError("", f"{task.id!r} is the name of {where} too; names must differ")
                self._ids[task.id] = row.line
                yield from self._of(task, row.number)
            except FieldError as error:
                self.mistakes.append(row.mistake(error))
                self._forgive(row)
                if len(self.mistakes) >= MOST_MISTAKES:
                    self.mistakes.append(too_many_mistakes(self._rows.name))
                    return
        self.mistakes += self._rows.mistakes
        self._note_what_is_left()

    def _forgive(self, row: Row) -> None:
        """The answers to a row that is wrong are not wrong as well."""
        try:
            name = row.id()
        except FieldError:
            return
        if self._samples is not None and name not in self._ids:
            self._samples.take(name, row.number)

    def _of(self, task: Task, number: int) -> Iterator[Scenario]:
        if self._samples is not None:
            for count, answer in enumerate(self._samples.take(task.id, number), 1):
                made = self._scenario(task, f"{task.id}/{count}", _program(task, answer), None)
                yield replace(made, answer=answer.text)
        elif task.sample is not None:
            yield self._scenario(task, f"{task.id}/sample", task.sample, None)
        elif self._idle or (task.solution is None and self._unsolved_too):
            yield self._scenario(task, f"{task.id}/{NOP}", task.idle, Expected(passed=False))
        elif task.solution is not None:
            yield self._scenario(task, f"{task.id}/{ORACLE}", task.solution, Expected(passed=True), task.solution_files)
        else:
            raise FieldError(
                "",
                f"{task.id!r} holds no solution of its own; give answers with --candidates FILE, or --candidates nop",
            )

    def _scenario(
        self,
        task: Task,
        scenario_id: str,
        program: str,
        expected: Expected | None,
        beside: Mapping[str, str] | None = None,
    ) -> Scenario:
        contract = task.contract
        if isinstance(task.class_contract, TestsContract):
            method = (task.class_contract.entry_point or "").rpartition(".")[2]
            contract = task.class_contract if has_solution_class(program, method) else contract
        metadata = {"format": self._family.name}
        if task.note and contract.trust is Trust.SHARED:
            metadata["shared_because"] = task.note
        return Scenario(
            id=scenario_id,
            candidate=Candidate(files={**(beside or {}), task.entry: program}, entry=task.entry),
            scoring=contract,
            limits=task.limits,
            expected=expected,
            metadata=metadata,
            problem_id=task.id,
            statement=task.statement,
            files=task.files,
            messages=task.messages,
            item=task.item,
            honeypot=task.honeypot,
            lineage=NO_LINEAGE if task.contract_version is None else Lineage(contract=task.contract_version),
            image=task.image,
            network=task.networks.agent,
            verifier_network=task.networks.verifier,
            yields_place=True,
            build=task.build,
        )

    def _note_what_is_left(self) -> None:
        """Answers to what is not there: most likely another data set's."""
        if self._samples is None:
            return
        for name, answers in self._samples.by_problem.items():
            if len(self.mistakes) >= MOST_MISTAKES:
                self.mistakes.append(too_many_mistakes(self._samples.name))
                return
            near = nearest_name(name, self._ids) if len(self.mistakes) < MOST_SUGGESTED else None
            advice = f"; did you mean {near!r}?" if near is not None else ""
            message = f"no row of {self._rows.name} is named {cut(name)!r}{advice}"
            self.mistakes.append(answers[0].row.mistake(FieldError("", message)))
        if len(self._samples.in_order) > self._row_count:
            extra = self._samples.in_order[self._row_count][0].row
            message = f"there are {self._row_count} rows and more answers than that; name the row of each (task_id)"
            self.mistakes.append(extra.mistake(FieldError("", message)))


def _program(task: Task, answer: Answer) -> str:
    """What is run of an answer, or judged."""
    if task.read_answer is not None:
        return task.read_answer(answer.text)
    if not task.entry.endswith(".py"):
        return answer.text
    from harena.scoring.formats.answers import program_in  # a data set that is scored with its own needs none of it

    code = program_in(answer.text, _asked_for(task))
    if not answer.is_completion:
        return code
    return continued(task.prefix, code, is_rest=code is answer.text)


def _asked_for(task: Task) -> set[str]:
    """Names of which a program must define one, where the contract calls some."""
    contracts = [contract for contract in (task.contract, task.class_contract) if contract is not None]
    return {name for contract in contracts for name in names_asked_by(contract)}


__all__ = ["FORMATS", "NOP", "ORACLE", "SCENARIOS", "ProblemSet", "import_problems", "import_scenarios"]
