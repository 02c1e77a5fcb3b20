"""`harena benchmark`: run scenarios, follow them wherever they run, and look at what came of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.address import server_address
from harena.cli import completion, face
from harena.cli.diff_report import write_diff
from harena.cli.job_options import with_job_options
from harena.cli.live import STATE_STYLES
from harena.cli.progress import follow
from harena.cli.report import (
    AnswerFormat,
    Format,
    JobReport,
    ListFormat,
    summary_lines,
    write_json,
    write_list,
    write_results,
)
from harena.cli.tally import Tally
from harena.core.errors import ValidationError
from harena.core.printable import printable

REGRESSION_EXIT = 1
FAILED_EXIT = 2
WRONG_VERDICT_EXIT = 3
INTERRUPTED_EXIT = 130

app = typer.Typer(no_args_is_help=True, help="Run scenarios in fresh sandboxes and score them.")

JobArgument = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help="Id of the job, or its name (the newest of that name).",
        autocompletion=completion.benchmark_job,
    ),
]
ShowRuns = Annotated[int, typer.Option(min=0, help="Also list so many runs: wrong verdicts first, then the slowest.")]
Output = Annotated[
    Path | None,
    typer.Option(help="Write every run to this file; .json, .jsonl, .csv or .parquet says how. Whole or not at all."),
]


class FailOn(StrEnum):
    """When a comparison fails."""

    REGRESSION = "regression"
    """a scenario passes no longer, or has a lower score"""
    SIGNIFICANT = "significant"
    """the pass rate or the mean score fell by more than chance explains"""


@app.command()
@with_job_options
def run(
    request: dict[str, Any],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help="How to print the results (table, json, jsonl, csv), or the data set's format where its shape does "
            "not tell (humaneval, mbpp, ...); may be given once for each.",
        ),
    ] = None,
    show_runs: ShowRuns = 0,
    output: Output = None,
) -> None:
    """Run a benchmark job to its end, and print its rewards. Ctrl-C ends the job.

    Exit code 0: the job ran. 2: it could not. 3: a known verdict was wrong, or no run, or none whose verdict is known,
    has a score. 130: interrupted; results so far are kept.
    """
    form, data_format = _both_formats(formats or [])
    if data_format is not None:
        request["format"] = data_format
    job = face.load().benchmark_jobs.create(**request)
    tell_what_was_chosen(job, request)
    raise typer.Exit(to_its_end(job, form, show_runs=show_runs, output=output))


def tell_what_was_chosen(job: Any, request: Mapping[str, Any]) -> None:
    """Rows that are left out, and the blueprint where none was asked for."""
    told = face.plain(job)
    if left_out := told.get("left_out"):
        more = [f"... and {left_out['rows'] - len(left_out['told'])} more"]
        lines = left_out["told"] + (more if left_out["rows"] > len(left_out["told"]) else [])
        sys.stderr.write("".join(f"left out: {printable(line)}\n" for line in lines))
        sys.stderr.write(f"{left_out['rows']} rows with a mistake are left out\n")
    if "blueprint_id" not in request and told.get("blueprint", "default") != "default":
        sys.stderr.write(
            f"blueprint {told['blueprint']}: programs are forked from a started Python, which is faster "
            "(--blueprint default: each starts Python)\n"
        )


def to_its_end(job: Any, form: Format, *, show_runs: int, output: Path | None) -> int:
    """Follow a job that was just started, print its rewards, and end it on Ctrl-C; the exit code."""
    jobs = face.load().benchmark_jobs
    if server_address() is not None:  # whoever loses sight of it can come back to it
        sys.stderr.write(f"{job.name}: {job.id}\n")
    interrupted = False
    try:
        follow(lambda after: jobs.events(job.id, after=after), Tally.of(job), name=job.name)
    except KeyboardInterrupt:
        interrupted = True
        sys.stderr.write("\nstopping the job; what has finished is kept\n")
        jobs.cancel(job.id)
    if output is not None:
        jobs.save_results(job.id, output)
    told = write_results(jobs, job.id, form, show_runs=show_runs)
    sys.stdout.flush()
    return _exit_code(told, form, interrupted=interrupted)


@app.command()
@with_job_options
def submit(
    request: dict[str, Any],
    data_format: Annotated[
        str | None, typer.Option("--format", help="The data set's format where its shape does not tell.")
    ] = None,
) -> None:
    """Start a benchmark job on the server, and print its id. The job does not need this command any more."""
    if server_address() is None:
        raise ValidationError(
            "a job of this process would end with it: use `harena benchmark run`; or start `harena serve` and set "
            "HARENA_BASE_URL to its address, so that the job has a server to run on"
        )
    if data_format is not None:
        request["format"] = data_format
    job = face.load().benchmark_jobs.create(**request)
    tell_what_was_chosen(job, request)
    sys.stdout.write(f"{job.id}\n")


@app.command()
def watch(
    job: JobArgument,
    from_now: Annotated[
        bool, typer.Option("--from-now", help="Count from its progress, without reading what happened before.")
    ] = False,
) -> None:
    """Follow a job to its end, wherever it was started; Ctrl-C leaves it alone.

    A lost connection is opened again where it broke off. Exit code 0: the job completed. 2: it ended otherwise.
    130: interrupted; the job goes on.
    """
    jobs = face.load().benchmark_jobs
    found = jobs.get(job)
    tally = Tally.of(found, seen=from_now)
    try:
        follow(
            lambda after: jobs.events(found.id, after=after),
            tally,
            name=found.name,
            after=found.cursor if from_now else 0,
        )
    except KeyboardInterrupt:
        sys.stderr.write(f"\nthe job goes on: harena benchmark watch {found.id}\n")
        raise typer.Exit(INTERRUPTED_EXIT) from None
    told = jobs.summary(found.id).to_dict()
    sys.stdout.write("".join(f"{line}\n" for line in summary_lines(told)))
    raise typer.Exit(0 if told["state"] == "completed" else FAILED_EXIT)


@app.command()
def results(
    job: Annotated[
        str | None,
        typer.Argument(metavar="[JOB]", help="Id of the job, or its name.", autocompletion=completion.benchmark_job),
    ] = None,
    named: Annotated[
        str | None,
        typer.Option("--job", metavar="JOB", help="The same.", autocompletion=completion.benchmark_job),
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="table, json, jsonl or csv; with --output also parquet.")
    ] = None,
    output: Output = None,
    show_runs: ShowRuns = 0,
) -> None:
    """Print the results of a job, or write them to a file; also while it runs; in the order of the scenarios."""
    asked = job or named
    if asked is None or (job is not None and named is not None):
        raise typer.BadParameter("give one job, by its id or its name", param_hint="JOB")
    jobs = face.load().benchmark_jobs
    if output is not None:
        jobs.save_results(asked, output, format=form)
        return
    if form is not None and form not in tuple(Format):
        hint = ": a terminal cannot show it, give --output FILE" if form == "parquet" else ""
        raise typer.BadParameter(f"{form!r} is none of {', '.join(Format)}{hint}", param_hint="--format")
    write_results(jobs, asked, Format(form or Format.TABLE), show_runs=show_runs)


@app.command()
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="The job before, by its id or name.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The job after.")],
    form: Annotated[AnswerFormat, typer.Option("--format", help="table or json.")] = AnswerFormat.TABLE,
    show: Annotated[int, typer.Option(min=0, help="Scenarios to list in the table.")] = 50,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            help="Exit with 1 for a regression (a scenario passes no longer, or has a lower score), or only where the "
            "fall is significant (the 95% interval of pass rate or mean score lies below 0)."
        ),
    ] = None,
) -> None:
    """Compare two jobs scenario by scenario. What the platform lost is no change.

    Exit code 0: compared. 1: `--fail-on` was met. 2: they could not be compared.
    """
    answer = face.load().benchmark_jobs.diff(a, b)
    if form is AnswerFormat.TABLE:
        write_diff(answer.to_dict(), show=show)
    else:
        write_json(answer.to_dict())
    met = {FailOn.REGRESSION: answer.regressed, FailOn.SIGNIFICANT: answer.significantly_worse}
    if fail_on is None or not met[fail_on]:
        raise typer.Exit
    sys.stderr.write(f"harena: --fail-on {fail_on}: b is worse than a\n")
    raise typer.Exit(REGRESSION_EXIT)


@app.command("ls")
def list_jobs(
    form: ListFormat = Format.TABLE,
    name: Annotated[str | None, typer.Option(help="Only those of this name.")] = None,
    state: Annotated[str | None, typer.Option(help="Only those in this state, as 'running'.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="So many at most, the newest.")] = 100,
) -> None:
    """List the jobs, newest first."""
    if state is not None and state not in STATE_STYLES:
        raise typer.BadParameter(f"{state!r} is none of {', '.join(STATE_STYLES)}", param_hint="--state")
    found = face.load().benchmark_jobs.list(name=name, limit=limit if state is None else None)
    jobs = face.plain([job for job in found if state in (None, job.state)][:limit])
    rows = [
        (job["id"], job["name"], job["state"], job["created_at"][:19], f"{progress['done']}/{progress['total']}",
         progress["passed"], progress["infra"], progress["invalid"])
        for job in jobs
        for progress in [job["progress"]]
    ]  # fmt: skip
    write_list(
        form,
        jobs,
        "benchmark jobs",
        ("id", "name", "state", "created (UTC)", "done", "passed", "infra", "invalid"),
        rows,
        none="`harena benchmark run --scenarios FILE` starts one",
        least=("invalid", "infra", "created (UTC)"),
    )


@app.command()
def get(job: JobArgument) -> None:
    """Print a job's state and progress as JSON."""
    write_json(face.plain(face.load().benchmark_jobs.get(job)))


@app.command()
def cancel(job: JobArgument) -> None:
    """End a running job; its results so far are kept."""
    ended = face.plain(face.load().benchmark_jobs.cancel(job))
    progress = ended["progress"]
    sys.stdout.write(
        f"{ended['id']} ({ended['name']}): {ended['state']}; {progress['done']} of {progress['total']} runs had ended\n"
    )


@app.command()
def delete(jobs: Annotated[list[str], typer.Argument(metavar="JOB...", help="Ids of jobs that have ended.")]) -> None:
    """Delete jobs that have ended, with their results and events, for good."""
    deleting = face.load().benchmark_jobs
    for job in jobs:
        deleting.delete(job)
        sys.stdout.write(f"{job}: deleted\n")


def _both_formats(words: list[str]) -> tuple[Format, str | None]:
    """(how the results are printed, the data set's format or None)."""
    printed = [word for word in words if word in tuple(Format)]
    if "parquet" in words:
        raise typer.BadParameter("a terminal cannot show parquet: give --output FILE.parquet", param_hint="--format")
    if meant := [near for word in words if word not in printed for near in get_close_matches(word, Format, 1, 0.75)]:
        raise typer.BadParameter(
            f"{', '.join(words)}: did you mean {meant[0]}? Results are printed as {', '.join(Format)}",
            param_hint="--format",
        )
    data_sets = [word for word in words if word not in tuple(Format)]
    if len(printed) > 1 or len(data_sets) > 1:
        raise typer.BadParameter(
            f"{' and '.join(printed if len(printed) > 1 else data_sets)} are two of a kind; give one format for the "
            "results, and one for the data set",
            param_hint="--format",
        )
    return Format(printed[0]) if printed else Format.TABLE, data_sets[0] if data_sets else None


def _exit_code(told: JobReport, form: Format, *, interrupted: bool) -> int:
    if interrupted:
        return INTERRUPTED_EXIT
    results, verdicts = told.results, told.results["summary"]["verdicts"]
    if results["state"] != "completed":
        reason = f": {results['error']}" if results.get("error") else ""
        sys.stderr.write(f"harena: the job did not complete, it is {results['state']}{reason}\n")
        return FAILED_EXIT
    if verdicts and verdicts["wrong"]:
        more = [f"  ... and {verdicts['wrong'] - len(told.wrong)} more"] if verdicts["wrong"] > len(told.wrong) else []
        sys.stderr.write("\n".join([f"harena: {verdicts['wrong']} known verdicts are wrong:", *told.wrong, *more, ""]))
        return WRONG_VERDICT_EXIT
    if form is not Format.TABLE:  # the table says it itself
        sys.stderr.write("\n".join([*summary_lines(results), ""]))
    code = _unscored_exit_code(verdicts)
    if not code and results["summary"]["total"] and not results["summary"]["scored"]:
        sys.stderr.write("harena: no run has a score: nothing was judged (`--show-runs 3` says why)\n")
        return WRONG_VERDICT_EXIT
    return code


def _unscored_exit_code(verdicts: Mapping[str, int] | None) -> int:
    """What follows of runs without a score, none of the others having a wrong verdict."""
    if not verdicts or not verdicts.get("no_score"):
        return 0
    if verdicts["no_score"] == verdicts["expected"]:
        sys.stderr.write(
            f"harena: none of the {verdicts['expected']} runs whose verdict is known has a score: nothing is shown "
            "(`--show-runs 3` says why)\n"
        )
        return WRONG_VERDICT_EXIT
    sys.stderr.write(
        f"harena: {verdicts['no_score']} of {verdicts['expected']} runs whose verdict is known have no score, and so "
        "are neither right nor wrong (`--show-runs 3` says why; where the host was overloaded, lower the concurrency)\n"
    )
    return 0
