"""What a job runs: scenarios from what its request names, and the same request as it is kept for another node.

`sources` are {scenarios, candidates, format, grader}, as in a job's request, with its {skip_bad_rows}, and for a
calibration {calibration: {gold_runs, battery_version}}. Everything here is called in a thread of its own: large files
take a while.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

from harena.core.catalog import Lineage, is_reference, referred
from harena.core.errors import ValidationError
from harena.core.rows import check_json
from harena.jobs.benchmark.kept_json import content_of

if TYPE_CHECKING:
    from harena.jobs.catalog import CatalogReader
    from harena.scoring.contracts.contract import Contract
    from harena.scoring.scenario import Scenario, ScenarioBatch

LoadScenarios = Callable[[Any], "Sequence[Scenario]"]

OWN_FORMAT = "scenarios"
_PLAIN = ("format", "calibration", "skip_bad_rows")
_KEPT = "this job is kept as JSON until it has ended"


class LentScenarios(Sequence["Scenario"]):
    """The scenarios of a job for as long as it runs. All who work for it have this, also the frames that an error's
    traceback keeps until the next collection of garbage: so the scenarios go at one moment."""

    def __init__(self, scenarios: Sequence[Scenario]) -> None:
        self._scenarios = scenarios

    def let_go(self) -> None:
        """Nobody asks for one any more."""
        self._scenarios = ()

    @overload
    def __getitem__(self, index: int) -> Scenario: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Scenario]: ...
    def __getitem__(self, index: int | slice) -> Scenario | Sequence[Scenario]:
        return self._scenarios[index]

    def __len__(self) -> int:
        return len(self._scenarios)


def read_scenarios(sources: Mapping[str, Any], reader: CatalogReader) -> Sequence[Scenario]:
    """The scenarios, each with its lineage. Raises ScenarioFileError, ValidationError, NotFoundError."""
    return read_job(sources, reader).scenarios


@dataclass(frozen=True, slots=True, kw_only=True)
class JobScenarios:
    """What a job runs."""

    scenarios: Sequence[Scenario]
    left_out: Sequence[str] = ()
    """rows with a mistake, each with its place and the mistake, in words"""
    starts_warm: bool = False
    """a data set of Python programs: a warm start is faster, and no program can tell where the host hides warm starts
    (docs/explanation/warm-exec.md)"""


def read_job(sources: Mapping[str, Any], reader: CatalogReader) -> JobScenarios:
    """Raises ScenarioFileError, ValidationError, NotFoundError."""
    batch = read_batch(sources, reader, unsolved_too=sources.get("calibration") is not None)
    if sources.get("calibration") is not None:
        return JobScenarios(scenarios=_trials(batch, sources["calibration"]))
    _load_scorers(batch.scenarios)
    return JobScenarios(
        scenarios=batch.scenarios,
        left_out=[str(mistake) for mistake in batch.left_out],
        starts_warm=_starts_warm(batch),
    )


def _load_scorers(scenarios: Sequence[Scenario]) -> None:
    """Here and now, while the first template starts: no run waits for it then."""
    from harena.scoring.compact import CompactScenarios, kinds_of
    from harena.scoring.score import load_scorers

    if isinstance(scenarios, CompactScenarios):
        load_scorers(scenarios.kinds)
    else:
        load_scorers({kind for scenario in scenarios for kind in kinds_of(scenario.scoring)})


def _starts_warm(batch: ScenarioBatch) -> bool:
    """Its rows are another's format, and all that is run of it are Python programs of their own."""
    if batch.form == OWN_FORMAT:
        return False  # a program could tell
    return all(
        scenario.candidate.entry.endswith(".py") and _runs_python_alone(scenario.scoring)
        for scenario in batch.scenarios
    )


def _runs_python_alone(contract: Contract) -> bool:
    """All that is run of a candidate are its own Python programs and functions."""
    from harena.scoring.contracts.contract import CommandContract, ReferenceContract, StdioContract, TestsContract

    if isinstance(contract, CommandContract):
        return contract.asserts is not None
    return isinstance(contract, TestsContract | ReferenceContract | StdioContract)


def read_batch(sources: Mapping[str, Any], reader: CatalogReader, *, unsolved_too: bool = False) -> ScenarioBatch:
    """The batch that is named, with the stored versions that it was made of. `unsolved_too`: problems without a right
    answer are in it as well, see `import_scenarios`."""
    from harena.scoring.formats import import_scenarios

    given, version, digest = sources, None, None
    if is_reference(sources["scenarios"]):
        stored = reader.scenarios(referred(sources["scenarios"]))
        _check_nothing_beside(sources, stored.sources, stored.version)
        given, version, digest = {**sources, **stored.sources}, stored.version, stored.digest
        given["scenarios"] = _named_problems(given["scenarios"], given.get("candidates"))
    if not unsolved_too:
        _check_answered(given, version or "what is given as scenarios")
    batch = import_scenarios(
        given["scenarios"],
        candidates=given.get("candidates"),
        form=given.get("format"),
        grader=given.get("grader"),
        contracts=reader.contract,
        compact=True,
        skip_bad_rows=given.get("skip_bad_rows") is True,
        unsolved_too=unsolved_too,
    )
    if version is None:
        return batch
    made_of = [Lineage(version, digest, scenario.lineage.contract) for scenario in batch.scenarios]
    scenarios = (replace(one, lineage=lineage) for one, lineage in zip(batch.scenarios, made_of, strict=True))
    return replace(batch, scenarios=tuple(scenarios))


def sources_to_store(sources: Mapping[str, Any], reader: CatalogReader, why: str = _KEPT) -> dict[str, Any]:
    """Sources as JSON: files as their content, and stored nouns by their versions. Raises ValidationError, whose
    messages say `why`."""
    from harena.scoring.contracts.stored import pinned

    kept = {name: source if name in _PLAIN else content_of(source, why) for name, source in sources.items()}
    if is_reference(kept["scenarios"]):
        kept["scenarios"] = {"ref": reader.version(referred(kept["scenarios"]))}
    for name in ("scenarios", "candidates"):
        kept[name] = pinned(kept[name], reader.contract)
    for name, source in kept.items():
        check_json(source, name)
    return kept


def lineage_of(scenarios: Sequence[Scenario]) -> dict[str, Any] | None:
    """What a job says of the stored versions that it runs; None = of none."""
    from harena.scoring.compact import CompactScenarios

    if isinstance(scenarios, CompactScenarios):
        made_of = scenarios.lineages
    else:
        made_of = {scenario.lineage for scenario in scenarios}
    contracts = sorted({lineage.contract for lineage in made_of if lineage.contract is not None})
    version, digest = next(((one.scenarios, one.digest) for one in made_of if one.scenarios is not None), (None, None))
    if version is None and not contracts:
        return None
    return {"scenarios": version, "digest": digest, "contracts": contracts}


def metadata_bytes_of(scenarios: Sequence[Scenario]) -> int:
    """Size of all their metadata, as JSON."""
    from harena.scoring.compact import CompactScenarios, metadata_bytes

    if isinstance(scenarios, CompactScenarios):
        return scenarios.metadata_bytes
    return sum(metadata_bytes(scenario.metadata) for scenario in scenarios)


def held_bytes_of(scenarios: Sequence[Scenario]) -> int:
    """Memory that they take, and all that they are made of."""
    from harena.scoring.compact import CompactScenarios
    from harena.scoring.memory_size import HeldBytes

    return scenarios.held_bytes if isinstance(scenarios, CompactScenarios) else HeldBytes().of(scenarios)


def _check_nothing_beside(sources: Mapping[str, Any], stored: Mapping[str, Any], version: str) -> None:
    """Format and grader are stored; what is asked for beside them must be the same, or nothing."""
    for name in ("format", "grader"):
        if sources.get(name) is not None and sources[name] != stored[name]:
            raise ValidationError(f"{name}: {version} is stored with its own; leave {name} out")


def _check_answered(sources: Mapping[str, Any], name: str) -> None:
    """Problems alone have nothing that could be run."""
    content = sources["scenarios"]
    alone = isinstance(content, Mapping) and content.get("problems") and not content.get("scenarios")
    if alone and sources.get("candidates") is None:
        raise ValidationError(
            f"candidates: missing; {name} holds problems only; give rows of {{id, problem, candidate}}, or 'nop'"
        )


def _named_problems(stored: Any, candidates: Any) -> Any:
    """Stored problems that the candidates name. All were checked when they were stored, and a step of a
    training names few of many. All of them where a name is unknown: whoever tells of that mistake shall know all."""
    from harena.scoring.reading import read_document

    if not isinstance(stored, Mapping) or not stored.get("problems") or candidates is None:
        return stored
    if isinstance(candidates, str | os.PathLike):
        if candidates in ("oracle", "nop"):
            return stored
        candidates = read_document(os.fspath(candidates)).content
    rows = candidates.get("scenarios") if isinstance(candidates, Mapping) else candidates
    if not isinstance(rows, list):
        return stored
    named = {row["problem"] for row in rows if isinstance(row, Mapping) and isinstance(row.get("problem"), str)}
    found = [problem for problem in stored["problems"] if problem["id"] in named]
    return {**stored, "problems": found} if found and len(found) == len(named) else stored


def _trials(batch: ScenarioBatch, asked: Mapping[str, Any]) -> Sequence[Scenario]:
    """What a calibration of the batch runs. Raises ValidationError, also where this harena has another battery than the
    one that the job was accepted with: its runs are numbered otherwise."""
    from harena.scoring.battery import battery_version
    from harena.scoring.calibration import Calibration
    from harena.scoring.load import load_scenarios

    if asked["battery_version"] != battery_version():
        raise ValidationError("this harena has another exploit battery than the calibration was begun with; start anew")
    rows = load_scenarios(Calibration(batch, gold_runs=asked["gold_runs"]).rows).scenarios
    lineage = batch.scenarios[0].lineage
    return [replace(row, lineage=replace(lineage, contract=None)) for row in rows]
