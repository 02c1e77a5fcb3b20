"""Audits of data sets: can their rewards be cheated, and are their tests strong enough?

    report = harena.audit("problems.jsonl")
    harena.audits.write_page(report, "audit.html")

An audit is a calibration of every problem, and what its findings say of the whole. It is the same on a node inside this
process and on a server.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harena.calibration import ended_report
from harena.core.errors import ValidationError
from harena.core.printable import printable
from harena.core.records.audits import SEVERITIES, AuditedProblem, AuditReport
from harena.core.records.calibrations import CalibratedScenario, CalibrationReport
from harena.core.whole_files import replaced
from harena.sdk.audit_pages import badge, openenv, page

if TYPE_CHECKING:
    from harena.sdk.scenario_input import ScenarioInput

__all__ = [
    "audit",
    "badge",
    "check_has_rows",
    "openenv",
    "page",
    "write_badge",
    "write_fit_rows",
    "write_openenv",
    "write_page",
]

Follow = Callable[[Iterable[Any]], object]
"""is given the events of the job, and returns when they end"""
FAIL_ON = ("error", "warning")
_MOST_NAME = 200
"""characters of a job's name"""
UNPROVEN = ("no_gold", "no_mutants")
"""findings of a problem of which something is not known: whether its tests can be passed, or how strong they are"""


def audit(
    data_set: ScenarioInput,
    *,
    candidates: ScenarioInput | None = None,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    gold_runs: int = 5,
    blueprint_id: str | None = None,
    concurrency: int = 8,
    timeout_seconds: float = 5.0,
    fail_on: str = "error",
    resume: str | None = None,
    started: Callable[[str], object] | None = None,
    follow: Follow | None = None,
) -> AuditReport:
    """Find out for each problem of a data set whether its rewards can be cheated and its tests are strong enough.

    `data_set`, `candidates` (right answers, where it holds none), `format` and `grader` are those of a benchmark job;
    a problem that has no right answer, or one of which no mutant can be made, is audited without, and is `unproven`
    where nothing is found against it.
    `fail_on` says how grave a finding makes a problem unfit: "error" or "warning". `resume` is the id of an audit's job
    on a server, which is followed to its end in place of a new one. Blocks; `started` gets the job's id, and `follow`
    its events meanwhile.

    Raises ValidationError that lists every mistake of the data set, and PlatformError if the job could not run to its
    end.
    """
    from harena.sdk import calibrations

    if fail_on not in FAIL_ON:
        raise ValidationError(f"fail_on must be one of {', '.join(FAIL_ON)} (got {fail_on!r})")
    begun = (
        calibrations.get(resume)
        if resume is not None
        else calibrations.create(
            data_set,
            candidates=candidates,
            format=format,
            grader=grader,
            name=printable(f"audit of {_source_name(data_set)}")[:_MOST_NAME],
            gold_runs=gold_runs,
            blueprint_id=blueprint_id,
            config={"concurrency": concurrency, "timeout_seconds": timeout_seconds},
        )
    )
    if started is not None:
        started(begun.id)
    report = ended_report(begun, follow, step="audit", keeps_job=resume is not None)
    return audit_of(report, data_set=data_set, fail_on=fail_on)


def audit_of(report: CalibrationReport, *, data_set: object = "", fail_on: str = "error") -> AuditReport:
    """The audit that a calibration's report makes."""
    grave = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    problems = sorted((_problem(row, grave) for row in report.scenarios), key=_strength)
    found = Counter((finding.severity, finding.kind) for one in problems for finding in one.findings)
    order = sorted(found.items(), key=lambda item: (SEVERITIES.index(item[0][0]), -item[1], item[0][1]))
    name, digest = _source(data_set)
    fit = sum(problem.fit for problem in problems)
    unproven = sum(problem.unproven for problem in problems)
    return AuditReport(
        version=1,
        data_set=name,
        source_digest=digest,
        battery_version=report.battery_version,
        gold_runs=report.gold_runs,
        fail_on=fail_on,
        fit=fit == len(problems),
        fit_problems=fit,
        unproven_problems=unproven,
        kinds={kind: count for (_, kind), count in order},
        flake_rate=report.flake_rate,
        problems=problems,
        job_id=report.job_id,
    )


def _problem(row: CalibratedScenario, grave: tuple[str, ...]) -> AuditedProblem:
    idle = [score for score in (row.empty_score, row.stub_score, row.constants.best_score) if score is not None]
    against = [finding for finding in row.findings if finding.severity in grave and finding.kind not in UNPROVEN]
    # whoever fails by chance, or always, does so with a mistake, too: such a mutant is not noticed by the tests
    is_steady = row.gold.passed == row.gold.scored > 0
    is_proven = all(finding.kind not in UNPROVEN for finding in row.findings)
    return AuditedProblem(
        problem=row.scenario,
        contract=row.contract,
        trust=row.trust,
        fit=not against and is_proven,
        unproven=not against and not is_proven,
        findings=row.findings,
        gold_runs=row.gold.scored,
        gold_passed=row.gold.passed,
        mutants=row.mutants.scored if is_steady else 0,
        mutants_killed=row.mutants.killed if is_steady else 0,
        forgeries=row.battery.tried,
        forgeries_paid=len(row.battery.paid),
        idle_score=max(idle, default=None),
    )


def _strength(problem: AuditedProblem) -> tuple[Any, ...]:
    """Sorts the weakest first."""
    counted = Counter(finding.severity for finding in problem.findings)
    share = problem.kill_share
    return (*(-counted[severity] for severity in SEVERITIES[:2]), 2.0 if share is None else share, problem.problem)


def _source(data_set: object) -> tuple[str, str]:
    """(its name, a digest of its bytes)"""
    name = _source_name(data_set)
    if not isinstance(data_set, str | os.PathLike) or not Path(data_set).is_file():
        return name, ""
    with Path(data_set).open("rb") as file:
        return name, hashlib.file_digest(file, "sha256").hexdigest()


def _source_name(data_set: object) -> str:
    if isinstance(data_set, str | os.PathLike):
        return Path(data_set).name
    ref = data_set.get("ref") if isinstance(data_set, Mapping) else None
    return str(ref or "problems")


def write_page(report: AuditReport, path: str | os.PathLike[str]) -> None:
    """Write the report as one HTML file, which fetches nothing. Whole or not at all."""
    _write(path, page(report))


def write_badge(report: AuditReport, path: str | os.PathLike[str]) -> None:
    """Write a picture (SVG) that says how many problems are fit."""
    _write(path, badge(report))


def write_openenv(report: AuditReport, path: str | os.PathLike[str]) -> None:
    """Write it as a validation report of OpenEnv's, version 2."""
    _write(path, json.dumps(openenv(report), indent=2) + "\n")


def _write(path: str | os.PathLike[str], text: str) -> None:
    with replaced([Path(path)]) as (file,):
        file.write(text.encode("utf-8", "replace"))


def write_fit_rows(
    report: AuditReport,
    data_set: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    keep_unproven: bool = False,
) -> int:
    """Write the rows of the problems that are fit, byte for byte; their number. `keep_unproven`: also those of
    problems that are unproven.

    `data_set` is the file that was audited, JSON with a row to each line (also in .gz); with a `path` that ends in .gz
    it is packed. Raises ValidationError for another kind of file.
    """
    from harena.node.scenario_files import fit_rows

    unfit = {one.problem for one in report.problems if not one.fit and not (keep_unproven and one.unproven)}
    rows = list(fit_rows(data_set, unfit, format=format))
    content = b"".join(rows)
    if Path(path).suffix == ".gz":
        import gzip

        content = gzip.compress(content, mtime=0)
    with replaced([Path(path)]) as (file,):
        file.write(content)
    return len(rows)


def check_has_rows(data_set: str | os.PathLike[str]) -> None:
    """Raises ValidationError for a data set of which `write_fit_rows` cannot take rows."""
    from harena.node.scenario_files import check_has_lines

    check_has_lines(data_set)
