"""`harena train`: models that learn, by SFT or by RL from what their programs do in sandboxes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.address import server_address
from harena.cli import completion, face
from harena.cli.following import Follower
from harena.cli.interrupts import HeldInterrupts
from harena.cli.report import Format, ListFormat, write_json, write_list
from harena.cli.train_live import one_line
from harena.cli.train_live import watch as show
from harena.cli.train_metrics import metrics_of, write_csv, write_lines, write_overview, write_steps
from harena.cli.train_plan import plan_lines
from harena.cli.train_request import put, put_dataset, put_recipe, put_scenarios, request_of, source
from harena.cli.train_tally import TrainingTally
from harena.core.printable import printable, printable_lines

FAILED_EXIT = 1
INTERRUPTED_EXIT = 130

app = typer.Typer(no_args_is_help=True, help="Train models, by SFT or by RL on rewards from execution.")

JobArgument = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help="Id of the job, or its name (the newest of that name).",
        autocompletion=completion.training_job,
    ),
]
RequestFile = Annotated[
    Path | None,
    typer.Option("--request", metavar="FILE", help="The request, or a part of it, as JSON; options add to it."),
]
Model = Annotated[
    str | None,
    typer.Option(
        help="A shipped model, a directory, NAME@VERSION, ORGANISATION/NAME, or job:NAME or job:NAME@STEP (a job's)."
    ),
]
Name = Annotated[str | None, typer.Option(help="What the job is called.")]
Capability = Annotated[str | None, typer.Option(metavar="NAME@VERSION", help="Whose prompt stands before all others.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="May be given more than once.")]
Config = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="FIELD=VALUE", help="A field of the config, its value as JSON or text; see the reference."
    ),
]
Skip = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave out rows that cannot be used; they are counted and named.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Return when the job has ended; exit code 1 unless it completed.")]
Json = Annotated[bool, typer.Option("--json", help="Print the job as JSON.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print each message as a line of JSON, with its cursor.")]
Plan = Annotated[
    bool, typer.Option("--plan", help="Say what the job would do, and start nothing; with --json as JSON.")
]
Key = Annotated[str | None, typer.Option(help="The same key with the same request is the same job.")]


@app.command()
def sft(
    request: RequestFile = None,
    model: Model = None,
    dataset: Annotated[str | None, typer.Option(metavar="PATH|NAME@VERSION", help="Rows to learn from.")] = None,
    name: Name = None,
    capability: Capability = None,
    tags: Tags = None,
    config: Config = None,
    skip_bad_rows: Skip = False,
    plan: Plan = False,
    wait: Wait = False,
    as_json: Json = False,
    idempotency_key: Key = None,
) -> None:
    """Start an SFT job: learn from demonstrations."""
    asked = request_of(request, "sft", model, name, capability, tags, config)
    put(asked["config"], "dataset_ref", source(dataset))
    put(asked["config"], "skip_bad_rows", skip_bad_rows or None)
    _submit(asked, plan=plan, wait=wait, as_json=as_json, key=idempotency_key)


@app.command()
def rl(
    request: RequestFile = None,
    model: Model = None,
    algorithm: Annotated[
        str | None, typer.Option(help="grpo, ppo (without a critic), cispo, gspo or importance_sampling.")
    ] = None,
    prompts: Annotated[str | None, typer.Option(metavar="PATH|NAME@VERSION", help="Prompts to answer.")] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|NAME@VERSION",
            help="Problems to learn from, in any format; a tenth of them is held out and evaluated, and the algorithm "
            "is grpo, where nothing else is said.",
        ),
    ] = None,
    scenarios: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME[@N]", help="Problems to solve: a scenario file, a data set, or stored ones."),
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="NAME[@VERSION]", help="The task whose verification rewards.")
    ] = None,
    recipe: Annotated[str | None, typer.Option(help="The reward recipe, as code_tests_v1.")] = None,
    template: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The program that is run, with {completion} where the answer goes: of code_tests_v1."
        ),
    ] = None,
    name: Name = None,
    capability: Capability = None,
    tags: Tags = None,
    config: Config = None,
    skip_bad_rows: Skip = False,
    plan: Plan = False,
    wait: Wait = False,
    as_json: Json = False,
    idempotency_key: Key = None,
) -> None:
    """Start an RL job: learn from rewards.

    harena train rl --model ./my-model --dataset problems.jsonl --plan
    """
    asked = request_of(request, "rl", model, name, capability, tags, config)
    put(asked["config"], "algorithm", algorithm)
    put(asked["config"], "prompt_dataset_ref", source(prompts))
    put_scenarios(asked["config"], scenarios)
    put(asked["config"], "skip_bad_rows", skip_bad_rows or None)
    put(asked["config"], "task_ref", task)
    put_dataset(asked["config"], dataset)
    put_recipe(asked["config"], recipe, template)
    _submit(asked, plan=plan, wait=wait, as_json=as_json, key=idempotency_key)


@app.command("list")
def list_jobs(
    form: ListFormat = Format.TABLE,
    name: Annotated[str | None, typer.Option(help="Only those of this name.")] = None,
    state: Annotated[str | None, typer.Option(help="Only those in this state, as 'running'.")] = None,
    trainer_type: Annotated[str | None, typer.Option("--type", help="Only 'sft' or only 'rl'.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="So many at most, the newest.")] = 100,
) -> None:
    """List the jobs, newest first."""
    found = face.load().training_jobs.list(name=name, state=state, trainer_type=trainer_type, limit=limit)
    jobs = face.plain(found)
    rows = [
        (
            job["id"],
            job["name"],
            job["trainer_type"],
            job["state"],
            job["created_at"][:19],
            _progress(job),
            _reached(job),
        )
        for job in jobs
    ]
    header = ("id", "name", "type", "state", "created (UTC)", "step", "newest")
    none = "`harena train rl --model MODEL --dataset FILE` starts one, and --plan says before what it would do"
    write_list(form, jobs, "training jobs", header, rows, none=none, least=("created (UTC)", "newest", "type"))


@app.command()
def get(job: JobArgument) -> None:
    """Print a job as JSON: its state, progress, plan, newest metrics and artifacts."""
    write_json(face.plain(face.load().training_jobs.get(job)))


@app.command()
def wait(
    job: JobArgument,
    timeout: Annotated[float | None, typer.Option("--timeout-sec", min=0.001, help="Give up after so long.")] = None,
    as_json: Json = False,
) -> None:
    """Wait for a job's end. Exit code 0: it completed. 1: it ended otherwise. 2: it had not ended in time."""
    raise typer.Exit(_report_end(face.load().training_jobs.wait(job, timeout=timeout), as_json=as_json))


@app.command()
def logs(
    job: JobArgument,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job has ended.")] = False,
    after: Annotated[int, typer.Option(min=0, help="Only what follows this cursor.")] = 0,
    as_json: JsonLines = False,
) -> None:
    """Print what was said about a job, and with --follow what is said, each with its time and level."""
    jobs = face.load().training_jobs
    said = _followed(jobs, job, after) if follow else iter(jobs.logs(job, after=after))
    for item in said:
        if as_json:
            sys.stdout.write(json.dumps(face.plain(item)) + "\n")
        else:
            sys.stdout.write(f"{item.at[:19]} {item.level:<7} {printable(one_line(item.message))}\n")
        if follow:
            sys.stdout.flush()


@app.command()
def watch(job: JobArgument) -> None:
    """Show a job while it runs: how far it is, how well it learns, where its time goes, and what it says. Ctrl-C ends
    the watching, not the job.

    Exit code 0: the job completed. 1: it ended otherwise. 130: interrupted; the job goes on.
    """
    jobs = face.load().training_jobs
    found = jobs.get(job)
    try:
        _show(jobs, found, after=0)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED_EXIT) from None
    raise typer.Exit(_report_end(jobs.get(found.id), as_json=False))


@app.command()
def plot(
    jobs: Annotated[
        list[str],
        typer.Argument(
            metavar="JOB...",
            help="Ids or names; several are drawn together.",
            autocompletion=completion.training_job,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="A .svg, .png or .pdf file; without it JOB.svg, here."),
    ] = None,
    title: Annotated[str, typer.Option(help="What is written above.")] = "",
) -> None:
    """Draw the metrics of jobs: a panel for each question, a line for each job."""
    place = output or Path(f"{re.sub(r'[^A-Za-z0-9_]+', '-', jobs[0])[:100].strip('-') or 'curves'}.svg")
    face.load().training_jobs.plot(jobs, place, title=title)
    sys.stdout.write(f"{printable(str(place))}\n")


@app.command()
def metrics(
    job: JobArgument,
    names: Annotated[
        list[str] | None, typer.Option("--name", help="Only these, as train/reward; may be given more than once.")
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="csv and jsonl: step by step. json: an array for each metric.")
    ] = Format.TABLE,
) -> None:
    """Print what was measured. The table has a line for each metric; with --name, one for each step."""
    found = metrics_of(job, face.plain(face.load().training_jobs.metrics(job))["metrics"], names)
    if not found:
        sys.stderr.write(f"{printable(job)}: nothing has been measured yet\n")
    if form is Format.JSON:
        write_json(found)
    elif form is Format.JSONL:
        write_lines(found)
    elif form is Format.CSV:
        write_csv(found)
    elif names:
        write_steps(found)
    else:
        write_overview(found)


@app.command()
def artifacts(
    job: JobArgument,
    output: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Fetch the files into this folder.")] = None,
    below: Annotated[str, typer.Option(help="Only files whose path begins so, as model/.")] = "",
) -> None:
    """Print what a job has written (checkpoints, the model, sampled rollouts) as JSON, or fetch it."""
    jobs = face.load().training_jobs
    if output is None:
        write_json(face.plain(jobs.artifacts(job)))
        return
    for place in jobs.download(job, output, below=below):
        sys.stdout.write(f"{printable(str(place))}\n")


@app.command()
def cancel(job: JobArgument) -> None:
    """End a job, its worker and its sandboxes; what it had stays."""
    _tell(face.plain(face.load().training_jobs.cancel(job)))


@app.command()
def retry(
    job: JobArgument,
    start: Annotated[
        str, typer.Option("--from", help="checkpoint: go on where it was; scratch: begin anew, in a new folder.")
    ] = "checkpoint",
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Queue a job that has ended once more."""
    jobs = face.load().training_jobs
    with HeldInterrupts(active=server_address() is None) as interrupts:
        ended = jobs.get(job)
        again = jobs.retry(ended.id, start=start)
        for said in jobs.logs(again.id, after=ended.cursor):
            if said.kind == "job_queued":
                sys.stderr.write(f"{printable(said.message)}\n")
        if wait or server_address() is None:
            raise typer.Exit(_to_its_end(jobs, again, interrupts, as_json=as_json))
    _tell(face.plain(again))


@app.command()
def delete(jobs: Annotated[list[str], typer.Argument(metavar="JOB...", help="Ids of jobs that have ended.")]) -> None:
    """Delete jobs that have ended, with all that they wrote, for good."""
    deleting = face.load().training_jobs
    for job in jobs:
        deleting.delete(job)
        sys.stdout.write(f"{job}: deleted\n")


def _submit(asked: Mapping[str, Any], *, plan: bool, wait: bool, as_json: bool, key: str | None) -> None:
    jobs = face.load().training_jobs
    if plan:
        found = jobs.plan(asked)
        if as_json:
            write_json(face.plain(found))
        else:
            sys.stdout.writelines(f"{printable(line)}\n" for line in plan_lines(found))
        return
    with HeldInterrupts(active=server_address() is None) as interrupts:
        job = jobs.create(asked, idempotency_key=key)
        for said in jobs.logs(job.id):
            if said.level == "warning":
                sys.stderr.write(f"harena: warning: {printable(said.message)}\n")
        if wait or server_address() is None:  # a job of this process would end with it
            raise typer.Exit(_to_its_end(jobs, job, interrupts, as_json=as_json))
    if as_json:
        write_json(face.plain(job))
    else:
        sys.stdout.write(f"{job.id}\n")


def _to_its_end(jobs: Any, job: Any, interrupts: HeldInterrupts, *, as_json: bool) -> int:
    """Say what happens, end the job on Ctrl-C where it is this process's; its exit code. `interrupts` come in here
    alone: everywhere else they wait, so that the job ends as cancelled."""
    sys.stderr.write(f"{job.name}: {job.id}\n")
    try:
        with interrupts.delivered():
            _show(jobs, job, after=job.cursor)
    except KeyboardInterrupt:
        if server_address() is not None:
            sys.stderr.write(f"\nthe job goes on: harena train logs --follow {job.id}\n")
            return INTERRUPTED_EXIT
        sys.stderr.write("\nstopping the job; what it has is kept\n")
        ended = jobs.cancel(job.id)
        if ended.state != "cancelled":  # it was faster
            return _report_end(ended, as_json=as_json)
        return INTERRUPTED_EXIT
    return _report_end(jobs.get(job.id), as_json=as_json)


def _show(jobs: Any, job: Any, *, after: int) -> None:
    tally = TrainingTally.of(job) if after else TrainingTally()
    show(lambda cursor: map(face.plain, jobs.events(job.id, after=cursor)), tally, name=job.name, after=after)


def _followed(jobs: Any, job: str, after: int) -> Iterator[Any]:
    follower = Follower(lambda cursor: jobs.events(job, after=cursor), cursor=after)
    return (event for event in follower if event["message"] is not None)


def _report_end(job: Any, *, as_json: bool) -> int:
    if as_json:
        write_json(face.plain(job))
    else:
        _tell(face.plain(job))
    return 0 if job.state == "completed" else FAILED_EXIT


def _tell(job: Mapping[str, Any]) -> None:
    error = f"\n{printable_lines(job['error'])}" if job["error"] else ""
    sys.stdout.write(f"{job['id']} ({printable(job['name'])}): {job['state']}, step {_progress(job)}{error}\n")


def _progress(job: Mapping[str, Any]) -> str:
    progress = job["progress"]
    return f"{progress['step']}/{'?' if progress['steps'] is None else progress['steps']}"


def _reached(job: Mapping[str, Any]) -> str:
    """The one number that says most."""
    newest = job["metrics"]
    for name in ("eval/pass_rate", "eval/loss", "train/reward", "train/loss"):
        if isinstance(value := newest.get(name), int | float):
            return f"{name} {value:.3f}"
    return ""
