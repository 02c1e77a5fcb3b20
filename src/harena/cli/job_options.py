"""Options of a benchmark job, declared once for all commands that start one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.cli import completion
from harena.cli.arguments import stored_or_file
from harena.core import settings


def job_request(
    scenarios: Annotated[
        Path, typer.Option(help="Scenario file, data set, task directory, or ref:NAME@2: stored ones.")
    ],
    name: Annotated[str, typer.Option(help="The job's name, to find its results by; else that of the scenarios.")] = "",
    candidates: Annotated[
        str | None, typer.Option(help="File of answers to a data set; 'oracle': its own solutions; 'nop': none.")
    ] = None,
    grader: Annotated[Path | None, typer.Option(help="JSON file of the grader of rows that hold none.")] = None,
    blueprint: Annotated[
        str | None,
        typer.Option(
            help="Name or id of the blueprint that candidates run in; else 'default', or for a data set of Python "
            "programs 'python-warm'.",
            autocompletion=completion.blueprint,
        ),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="Runs at one time, at most; the host's cores may allow fewer. [default: 8]")
    ] = None,
    attempts: Annotated[int | None, typer.Option(help="How often each scenario is run. [default: 1]")] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds that one candidate may take; longer is a score. [default: 120.0]")
    ] = None,
    run_timeout: Annotated[
        float | None,
        typer.Option(help="Seconds that one try of a run may take with its sandboxes and scorer; longer is a fault."),
    ] = None,
    job_timeout: Annotated[
        float | None, typer.Option(help="Seconds that the whole job may run; it ends with the results so far.")
    ] = None,
    retry_attempts: Annotated[
        int | None, typer.Option(help="Further tries when the platform (not the candidate) fails. [default: 1]")
    ] = None,
    retry_on: Annotated[
        list[str] | None,
        typer.Option(help="Try again also after scores of this reason, as 'timeout'; several may be given."),
    ] = None,
    priority: Annotated[
        int | None, typer.Option(help="-100 to 100; higher jobs get free places first. [default: 0]")
    ] = None,
    require_trust: Annotated[
        str | None, typer.Option(help="'separate': take only verdicts no candidate can forge.")
    ] = None,
    rescore_fraction: Annotated[
        float | None,
        typer.Option(
            help="Share of the runs that are executed and scored once more, to see whether they agree. [default: 0.0]"
        ),
    ] = None,
    build_network: Annotated[
        str | None,
        typer.Option(
            metavar="none|open|ENTRIES",
            help="What RUN in the Dockerfiles of task directories may reach, as 'pypi,apt'. [default: open]",
        ),
    ] = None,
    task_network: Annotated[
        str | None,
        typer.Option(
            metavar="none|open|ENTRIES",
            help="What candidates and verifiers of task directories may reach, in place of what each task says",
        ),
    ] = None,
    execution: Annotated[
        str | None,
        typer.Option(metavar="local|ray", help="Where runs are scored: 'ray' spreads them over the node's Ray cluster"),
    ] = None,
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="Leave out rows of a data set that have a mistake; they are named.")
    ] = False,
    webhook: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help=f"Is posted to when the job has ended; signed if {settings.WEBHOOK_SECRET.name} holds a secret.",
        ),
    ] = None,
) -> dict[str, Any]:
    """What `benchmark_jobs.create` is asked; of the configuration what was given, the rest has the job's defaults."""
    given = {
        "concurrency": concurrency,
        "attempts": attempts,
        "timeout_seconds": timeout,
        "run_timeout_seconds": run_timeout,
        "job_timeout_seconds": job_timeout,
        "retry_attempts": retry_attempts,
        "retry_on": list(dict.fromkeys(["platform", *retry_on])) if retry_on else None,
        "priority": priority,
        "require_trust": require_trust,
        "rescore_fraction": rescore_fraction,
        "build_network": build_network,
        "task_network": task_network,
        "execution": execution,
        "skip_bad_rows": skip_bad_rows or None,
    }
    request: dict[str, Any] = {
        "name": name or scenarios.absolute().name.partition(".")[0] or "benchmark",
        "scenarios": stored_or_file(scenarios),
        "config": {field: value for field, value in given.items() if value is not None},
    }
    if webhook is not None:
        request["webhook"] = webhook_of(webhook)
    data_set = {"candidates": candidates, "grader": grader and str(grader), "blueprint_id": blueprint}
    return request | {field: value for field, value in data_set.items() if value is not None}


def webhook_of(url: str) -> dict[str, str]:
    """The webhook field of a job's request. The secret is taken from the environment, because command lines are visible
    to others."""
    secret = settings.WEBHOOK_SECRET.read()
    return {"url": url} | ({"secret": secret} if secret else {})


def with_job_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose first parameter is a request, with all the options that make one in its place."""
    of_job = inspect.signature(job_request, eval_str=True).parameters
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

    def with_options(**given: Any) -> None:
        request = job_request(**{name: given.pop(name) for name in of_job})
        command(request, **given)

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*of_job.values(), *own)]
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {}
    with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
    return with_options
