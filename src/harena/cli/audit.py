"""`harena audit`: can a data set's rewards be cheated, and are its tests strong enough?"""

from __future__ import annotations

import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from harena.address import server_address
from harena.cli import face
from harena.cli.arguments import stored_or_file
from harena.cli.calibration_options import (
    Blueprint,
    Candidates,
    Concurrency,
    DataFormat,
    GoldRuns,
    Grader,
    RunTimeout,
)
from harena.cli.progress import follow
from harena.cli.report import AnswerFormat, write_json, write_table
from harena.cli.tally import Tally
from harena.core.errors import ValidationError
from harena.core.printable import printable, printable_lines
from harena.core.records.audits import AuditedProblem, AuditReport
from harena.core.whole_files import output_mistakes

UNFIT_EXIT = 1
BAD_INPUT_EXIT = 2
INTERRUPTED_EXIT = 130
SIGNAL_EXIT = 128
"""added to the number of a signal that ends the command"""


class FailOn(StrEnum):
    """How grave a finding makes a problem unfit."""

    ERROR = "error"
    """what is learned from it is wrong, or nothing is known"""
    WARNING = "warning"
    """also what makes it weaker than it looks"""


def audit(
    data_set: Annotated[
        Path,
        typer.Argument(metavar="DATASET", help="Data set, scenario file, task directory, or ref:NAME@2 (stored ones)."),
    ],
    candidates: Candidates = None,
    form: Annotated[AnswerFormat, typer.Option("--format", help="table or json.")] = AnswerFormat.TABLE,
    data_format: DataFormat = None,
    grader: Grader = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page: one file that fetches nothing.")
    ] = None,
    badge: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Write a badge.")] = None,
    openenv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a validation report of OpenEnv's (version 2).")
    ] = None,
    fix: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the rows of the problems that are fit, byte for byte.")
    ] = None,
    keep_unproven: Annotated[
        bool,
        typer.Option(
            "--keep-unproven",
            help="Problems without a right answer, or without a mutant of it, are no failure, and --fix keeps their "
            "rows.",
        ),
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")] = False,
    fail_on: Annotated[FailOn, typer.Option(help="How grave a finding makes a problem unfit.")] = FailOn.ERROR,
    show: Annotated[int, typer.Option(min=0, help="Problems to list in the table, the weakest ones.")] = 30,
    gold_runs: GoldRuns = 5,
    blueprint: Blueprint = "default",
    concurrency: Concurrency = 8,
    timeout: RunTimeout = 5.0,
    resume: Annotated[
        str | None, typer.Option(metavar="JOB", help="Go on with an audit's job on a server, also one that has ended.")
    ] = None,
) -> None:
    """Find out whether a data set's rewards can be cheated, and whether its tests are strong enough.

    Example: harena audit problems.jsonl --html audit.html --fix fit.jsonl

    Exit code 0: every problem is fit. 1: some are not (see `--fail-on`), or it is not known, for want of a right
    answer or of mutants of it. 2: the data set has mistakes, or the audit could not run. 130: interrupted.
    """
    harena = face.load()
    begun = [resume] if resume is not None else []
    try:
        _check_outputs(data_set, {"html": html, "badge": badge, "openenv": openenv, "fix": fix}, overwrite=overwrite)
        with _ends_by_sigterm(begun):
            report = harena.audit(
                stored_or_file(data_set),
                candidates=candidates,
                format=data_format,
                grader=None if grader is None else str(grader),
                gold_runs=gold_runs,
                blueprint_id=blueprint,
                concurrency=concurrency,
                timeout_seconds=timeout,
                fail_on=str(fail_on),
                resume=resume,
                started=begun.append if resume is not None else lambda job: _tell_job(job, begun),
                follow=lambda events: follow(lambda _: events, Tally(mixes=True), name=f"audit of {data_set.name}"),
            )
    except KeyboardInterrupt:
        if begun:
            _tell_interrupted(begun[0], goes_on=resume is not None)
        raise typer.Exit(INTERRUPTED_EXIT) from None
    except ValidationError as error:
        if not hasattr(error, "mistakes"):
            raise
        told = [printable_lines(str(mistake)) for mistake in error.mistakes]
        sys.stderr.writelines(f"{line}\n" for line in told)
        raise typer.Exit(BAD_INPUT_EXIT) from None
    if form is AnswerFormat.TABLE:
        _write_audit(report, show=show)
    else:
        write_json(report.to_dict())
    for path, write in (
        (html, harena.audits.write_page),
        (badge, harena.audits.write_badge),
        (openenv, harena.audits.write_openenv),
    ):
        if path is not None:
            write(report, path)
    if fix is not None:
        kept = {"keep_unproven": True} if keep_unproven else {}
        count = harena.audits.write_fit_rows(report, data_set, fix, format=data_format, **kept)
        named = "fit and unproven problems" if keep_unproven else "fit problems"
        sys.stderr.write(f"{fix}: {count} rows of {named}\n")
    passed = all(one.fit or (keep_unproven and one.unproven) for one in report.problems)
    raise typer.Exit(0 if passed else UNFIT_EXIT)


def _check_outputs(data_set: Path, given: dict[str, Path | None], *, overwrite: bool) -> None:
    """Before an hour of work. Raises ValidationError."""
    outputs = {f"--{name}": path for name, path in given.items() if path is not None}
    if mistakes := output_mistakes(outputs, inputs=[data_set], overwrite=overwrite):
        raise ValidationError("\n  ".join(["this audit cannot be written:", *mistakes]))
    if given["fix"] is not None:
        face.load().audits.check_has_rows(data_set)


def _tell_job(job_id: str, begun: list[str]) -> None:
    """Whoever loses sight of a server's job can come back to it."""
    begun.append(job_id)
    if server_address() is not None:
        sys.stderr.write(
            f"audit: {job_id} (--resume {job_id} goes on with it if this command is lost; Ctrl-C cancels it)\n"
        )


def _tell_interrupted(job_id: str, *, goes_on: bool) -> None:
    """What became of the job, and what can be done."""
    if server_address() is None:
        told = "nothing is kept of it, since it ran in this process: start it again (on a server, --resume goes on)"
    elif goes_on:
        told = f"{job_id} goes on at the server: --resume {job_id} waits for its report"
    else:
        told = f"{job_id} is cancelled, and makes no report: start the audit again, as a new job"
    sys.stderr.write(f"audit: {told}\n")


@contextmanager
def _ends_by_sigterm(begun: list[str]) -> Iterator[None]:
    """SIGTERM meanwhile is told before it ends this process; a server's job goes on."""
    if threading.current_thread() is not threading.main_thread():  # no other may have handlers
        yield
        return

    def end(number: int, _: object) -> NoReturn:
        if begun:
            _tell_interrupted(begun[0], goes_on=True)
        raise SystemExit(SIGNAL_EXIT + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _write_audit(report: AuditReport, *, show: int) -> None:
    rows = [
        (one.problem, _VERDICTS[one.verdict], ", ".join(_kinds(one)) or "-", _of(one.gold_passed, one.gold_runs),
         _of(one.mutants_killed, one.mutants), _of(one.forgeries_paid, one.forgeries))
        for one in report.problems[:show]
    ]  # fmt: skip
    header = ("problem", "fit", "findings", "right answer", "mutants killed", "forgeries paid")
    if rows:
        write_table(f"audit of {printable(report.data_set)}, the weakest first", header, rows)
    if len(report.problems) > show:
        sys.stdout.write(f"... and {len(report.problems) - show} more problems (--show, --format json, --html)\n")
    for one in report.problems[:show]:
        for finding in one.findings:
            said = printable(f"{one.problem}: {finding.severity}: {finding.says}")
            if finding.severity != "note":
                sys.stdout.write(f"{said}\n    {finding.advice}\n")
            elif finding.kind not in _OF_CONTRACTS:
                sys.stdout.write(f"{said}\n")
    kinds = ", ".join(f"{kind} {count}" for kind, count in report.kinds.items())
    for kind, says in _UNPROVEN.items():
        unproven = sum(one.unproven and kind in _kinds(one) for one in report.problems)
        if unproven:
            sys.stdout.write(f"unproven: {unproven} of {len(report.problems)} problems {says}\n")
    sys.stdout.write(f"fit: {report.fit_problems} of {len(report.problems)} problems{f' ({kinds})' if kinds else ''}\n")


_OF_CONTRACTS = frozenset({"shared_trust", "not_attacked"})
"""notes that say the same of every problem under a contract: the table has them, no line does"""
_UNPROVEN = {
    "no_gold": "have no right answer, so nobody knows whether their tests can be passed: give some with "
    "--candidates FILE",
    "no_mutants": "have a right answer of which no mutant can be made, so nobody knows how strong their tests are: "
    "look at those, and keep them with --keep-unproven",
}
"""finding -> what is not known"""
_VERDICTS = {"fit": "yes", "unproven": "unproven", "not fit": "NO"}


def _kinds(problem: AuditedProblem) -> Iterator[str]:
    for kind, count in Counter(finding.kind for finding in problem.findings).items():
        yield kind if count == 1 else f"{kind} x{count}"


def _of(part: int, whole: int) -> str:
    return f"{part}/{whole}" if whole else "-"
