"""Scenarios of harena's own form, with candidates from where the form has them, or from elsewhere.

What a data set of another form is scored with (`harena.scoring.formats.importing`) is had here, too: the right answers
that are in the file ("oracle"), answers that do nothing ("nop"), or a file of answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harena.core.row_endings import LINE_ENDINGS
from harena.core.rows import RowsFile
from harena.scoring.contracts.contract import PythonContract, WeightedContract
from harena.scoring.contracts.judge import JudgeContract
from harena.scoring.contracts.parts import Contract
from harena.scoring.contracts.stored import ContractLookup
from harena.scoring.contracts.text import TextContract
from harena.scoring.formats.asked_names import FIELDS, asked_names
from harena.scoring.formats.rows import refusal
from harena.scoring.formats.samples import ONE_ANSWER
from harena.scoring.load import OTHER_NAMES, load_document
from harena.scoring.reading import Document, read_document
from harena.scoring.scenario import DEFAULT_ENTRY, Candidate, Expected, Scenario, ScenarioBatch

Source = str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]] | RowsFile

ORACLE, NOP = "oracle", "nop"
"""in place of answers: the rows' own solutions, which must pass, and answers that do nothing, which must not"""
_NAMES_OF_ANSWERS = {**OTHER_NAMES, **{name: "candidate" for name in ONE_ANSWER if name != "candidate"}}


def own_scenarios(
    source: Source,
    candidates: Source | None,
    contracts: ContractLookup | None,
    *,
    compact: bool = False,
    unsolved_too: bool = False,
) -> ScenarioBatch:
    """The scenarios of a source, as `import_scenarios` describes its arguments. Raises ScenarioFileError."""
    if candidates is None and unsolved_too and _has_problems(source):
        return _with_the_unsolved(source, contracts)
    if candidates is None:
        is_lines = isinstance(source, RowsFile) or (
            isinstance(source, str | Path) and Path(source).suffix.lower() in LINE_ENDINGS
        )
        return load_document(read_document(source), contracts=contracts, compact=compact and is_lines)
    if candidates == ORACLE:
        return _of_right_ones(source, contracts)
    if candidates == NOP:
        return _of_idle_ones(source, contracts)
    batch = load_document(
        read_document(candidates), problems=read_document(source), contracts=contracts, other_names=_NAMES_OF_ANSWERS
    )
    return replace(batch, scenarios=tuple(map(_of_an_answer, batch.scenarios)))


def _has_problems(source: Source) -> bool:
    """Candidates may be missing: rows without problems of their own each have one."""
    content = read_document(source).content
    return isinstance(content, Mapping) and bool(content.get("problems"))


def _written(source: Source, contracts: ContractLookup | None) -> Sequence[Scenario]:
    """The scenarios that are in the source, which may have problems alone."""
    content = read_document(source).content
    if isinstance(content, Mapping) and content.get("problems") and not content.get("scenarios"):
        return ()
    return load_document(read_document(source), contracts=contracts).scenarios


def _of_right_ones(source: Source, contracts: ContractLookup | None) -> ScenarioBatch:
    right = [one for one in _written(source, contracts) if one.expected is None or one.expected.passed]
    if not right:
        named = str(source) if isinstance(source, str | Path) else "scenarios"
        raise refusal(named, None, "holds no solution of its own; give answers with --candidates FILE, or nop")
    return ScenarioBatch(tuple(right))


def _of_idle_ones(source: Source, contracts: ContractLookup | None) -> ScenarioBatch:
    """For each problem, under each of its contracts, an answer that does nothing."""
    made: dict[tuple[str, str], Scenario] = {}
    written = _written(source, contracts)
    for one in written:
        named = one.problem_id or one.id
        idle = Candidate(files={one.candidate.entry: ""}, entry=one.candidate.entry)
        key = (named, one.scoring.fingerprint)
        made.setdefault(key, replace(one, id=f"{named}/{NOP}", candidate=idle, expected=Expected(passed=False)))
    of_problems: dict[str, int] = {}
    scenarios = []
    for one in made.values():
        count = of_problems[one.id] = of_problems.get(one.id, 0) + 1
        scenarios.append(one if count == 1 else replace(one, id=f"{one.id}/{count}"))
    return ScenarioBatch((*scenarios, *_idle_ones(source, contracts, written)))


def _with_the_unsolved(source: Source, contracts: ContractLookup | None) -> ScenarioBatch:
    """The scenarios, and an answer that does nothing for each problem that no scenario answers."""
    written = _written(source, contracts)
    return ScenarioBatch((*written, *_idle_ones(source, contracts, written)))


def _idle_ones(source: Source, contracts: ContractLookup | None, written: Sequence[Scenario]) -> Iterator[Scenario]:
    """Answers that do nothing to the problems that no scenario in the source answers."""
    content = read_document(source).content
    problems = content.get("problems") if isinstance(content, Mapping) else None
    named = {one.problem_id for one in written}
    ids = [str(row["id"]) for row in problems or () if isinstance(row, Mapping) and "id" in row]
    rows: list[dict[str, Any]] = [
        {"id": f"{name}/{NOP}", "problem": name, "candidate": "", "expected": {"passed": False}}
        for name in ids
        if name not in named
    ]
    if rows:
        yield from load_document(
            Document(str(source) if isinstance(source, str | Path) else "scenarios", rows),
            problems=read_document(source),
            contracts=contracts,
        ).scenarios


def _of_an_answer(scenario: Scenario) -> Scenario:
    """What a model said to a problem is an answer, and its program what a data set's is. A candidate of several files,
    or of one with a name, is one already; so is a text that no contract runs."""
    written = scenario.candidate
    if written.files.keys() != {DEFAULT_ENTRY} or not runs_programs(scenario.scoring):
        return scenario
    from harena.scoring.formats.answers import program_in  # most files have programs, and no answers to be read

    program = program_in(written.source, names_asked_by(scenario.scoring))
    if program == written.source:
        return scenario
    return replace(scenario, candidate=Candidate(files={DEFAULT_ENTRY: program}), answer=written.source)


def runs_programs(contract: Contract) -> bool:
    """Whether the contract, or a part of it, runs what it judges; the others judge a text."""
    if isinstance(contract, WeightedContract):
        return any(runs_programs(part.scoring) for part in contract.parts.values())
    if isinstance(contract, PythonContract):
        return contract.run_candidate
    return not isinstance(contract, TextContract | JudgeContract)


def names_asked_by(contract: Contract) -> list[str]:
    """Names of which a program must define one, where the contract calls some."""
    return asked_names(contract.model_dump(include=set(FIELDS)))
