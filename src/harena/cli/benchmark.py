"""`harena benchmark`: run scenarios, and look at what came of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.cli import face
from harena.cli.progress import follow
from harena.cli.report import Format, summary_lines, write_json, write_results, write_table, wrong_verdict_lines

INTERRUPTED_EXIT = 130
WRONG_VERDICT_EXIT = 3
FAILED_EXIT = 2

app = typer.Typer(no_args_is_help=True, help="Run scenarios in fresh sandboxes and score them.")

JobName = Annotated[str, typer.Option("--job", help="Id of the job, or its name (the newest of that name).")]
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job, or its name.")]
FormatOption = Annotated[Format, typer.Option("--format", help="How to write the results.")]
ShowRuns = Annotated[int, typer.Option(min=0, help="Also list so many runs: wrong verdicts first, then the slowest.")]


@app.command()
def run(
    scenarios: Annotated[Path, typer.Option(help="Scenario file, data set (.yaml, .json, .jsonl), or task directory.")],
    name: Annotated[str, typer.Option(help="The job's name, to find its results by; else that of the scenarios.")] = "",
    candidates: Annotated[
        str | None, typer.Option(help="File of answers to a data set; 'oracle': its own solutions; 'nop': none.")
    ] = None,
    grader: Annotated[Path | None, typer.Option(help="JSON file of the grader of rows that hold none.")] = None,
    blueprint: Annotated[str, typer.Option(help="Name or id of the blueprint that candidates run in.")] = "default",
    concurrency: Annotated[int, typer.Option(help="Runs at one time, at most; the host's cores may allow fewer.")] = 8,
    timeout: Annotated[float, typer.Option(help="Seconds that one candidate may take.")] = 120.0,
    retry_attempts: Annotated[int, typer.Option(help="Further tries when the platform (not the candidate) fails.")] = 1,
    attempts: Annotated[int, typer.Option(help="How often each scenario is run.")] = 1,
    require_trust: Annotated[
        str | None, typer.Option(help="'separate': take only verdicts no candidate can forge.")
    ] = None,
    rescore_fraction: Annotated[
        float, typer.Option(help="Share of the runs that are executed and scored once more, to see whether they agree.")
    ] = 0.0,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help="How to write the results (table, json, jsonl, csv), or the data set's format where its shape does "
            "not tell (humaneval, mbpp, ...); may be given once for each.",
        ),
    ] = None,
    show_runs: ShowRuns = 0,
) -> None:
    """Run a benchmark job here, and print its rewards.

    Exit code 0: the job ran. 2: it could not. 3: a known verdict was wrong. 130: interrupted; results so far are kept.
    """
    form, data_format = _both_formats(formats or [])
    name = name or scenarios.absolute().name.partition(".")[0] or "benchmark"
    jobs = face.load().benchmark_jobs
    config: dict[str, Any] = {
        "concurrency": concurrency,
        "timeout_seconds": timeout,
        "retry_attempts": retry_attempts,
        "attempts": attempts,
    }
    if require_trust is not None:
        config["require_trust"] = require_trust
    if rescore_fraction:
        config["rescore_fraction"] = rescore_fraction
    given = {"candidates": candidates, "format": data_format, "grader": grader and str(grader)}
    asked = {name: value for name, value in given.items() if value is not None}
    job = jobs.create(name=name, scenarios=str(scenarios), blueprint_id=blueprint, config=config, **asked)
    interrupted = False
    try:
        follow(jobs.events(job.id), name=name)
    except KeyboardInterrupt:
        interrupted = True
        sys.stderr.write("\nstopping the job; what has finished is kept\n")
        jobs.cancel(job.id)
    results = face.plain(jobs.results(job.id))
    write_results(results, form, show_runs=show_runs)
    sys.stdout.flush()
    raise typer.Exit(_exit_code(results, form, interrupted=interrupted))


def _both_formats(words: list[str]) -> tuple[Format, str | None]:
    """(how the results are written, the data set's format or None)."""
    results = [word for word in words if word in tuple(Format)]
    data_sets = [word for word in words if word not in tuple(Format)]
    if len(results) > 1 or len(data_sets) > 1:
        raise typer.BadParameter(
            f"{' and '.join(results if len(results) > 1 else data_sets)} are two of a kind; give one format for the "
            "results, and one for the data set",
            param_hint="--format",
        )
    return Format(results[0]) if results else Format.TABLE, data_sets[0] if data_sets else None


def _exit_code(results: dict[str, Any], form: Format, *, interrupted: bool) -> int:
    if interrupted:
        return INTERRUPTED_EXIT
    if results["state"] != "completed":
        reason = f": {results['error']}" if results.get("error") else ""
        sys.stderr.write(f"harena: the job did not complete, it is {results['state']}{reason}\n")
        return FAILED_EXIT
    wrong = wrong_verdict_lines(results)
    if wrong:
        sys.stderr.write("\n".join([f"harena: {len(wrong)} known verdicts are wrong:", *wrong, ""]))
        return WRONG_VERDICT_EXIT
    if form is not Format.TABLE:  # the table says it itself
        sys.stderr.write("\n".join([*summary_lines(results), ""]))
    return 0


@app.command()
def results(job: JobName, form: FormatOption = Format.TABLE, show_runs: ShowRuns = 0) -> None:
    """Print the results of a job, also while it runs."""
    write_results(face.plain(face.load().benchmark_jobs.results(job)), form, show_runs=show_runs)


@app.command("ls")
def list_jobs(form: Annotated[Format, typer.Option("--format", help="table or json.")] = Format.TABLE) -> None:
    """List the jobs, newest first."""
    jobs = face.plain(face.load().benchmark_jobs.list())
    if form is not Format.TABLE:
        write_json(jobs)
        return
    rows = [
        (job["id"], job["name"], job["state"], job["created_at"][:19], f"{progress['done']}/{progress['total']}",
         progress["passed"], *_unscored(job))
        for job in jobs
        for progress in [job["progress"]]
    ]  # fmt: skip
    write_table("benchmark jobs", ("id", "name", "state", "created (UTC)", "done", "passed", "infra", "invalid"), rows)


def _unscored(job: dict[str, Any]) -> tuple[int, int]:
    """How many of its runs the platform lost, and how many had a scoring contract that could not be applied.

    A job's progress counts them together; its results are read only where there are some.
    """
    progress = job["progress"]
    if "invalid" in progress or not progress["infra"]:
        return progress["infra"], progress.get("invalid", 0)
    summary = face.load().benchmark_jobs.results(job["id"]).summary
    return summary["infra"], summary["invalid"]


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
