"""`harena sft`: training data out of candidates that pass."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from harena.cli import face
from harena.cli.arguments import STORED
from harena.cli.job_options import job_request, with_job_options
from harena.cli.progress import follow
from harena.cli.report import MAX_PROBLEM_ROWS, AnswerFormat, write_json, write_table
from harena.cli.tally import Tally

CHANGED_EXIT = 1
NOTHING_EXIT = 3
INTERRUPTED_EXIT = 130
MOST_NAMED = 20

app = typer.Typer(no_args_is_help=True, help="Training data for supervised fine-tuning, verified by execution.")


ShownOption = Annotated[AnswerFormat, typer.Option("--show", help="How to print the report.")]


@app.command()
@with_job_options
def validate(
    request: dict[str, Any],
    output: Annotated[Path, typer.Option(help="The JSONL file to write; its lineage is written beside it.")],
    form: Annotated[
        str,
        typer.Option(help="chat, prompt-completion, preference (pairs as texts) or preference-chat (as messages)."),
    ] = "chat",
    keep: Annotated[
        str,
        typer.Option(
            help="Which of a problem's passing candidates: all; or best-of-n (by score), shortest, first, random: one, "
            "or as many as --max-per-problem says."
        ),
    ] = "all",
    dedupe: Annotated[
        str, typer.Option(help="Programs that count as one: exact, normalized (comments and layout aside), none.")
    ] = "exact",
    max_per_problem: Annotated[int | None, typer.Option(help="Keep so many candidates of a problem, at most.")] = None,
    max_pairs: Annotated[
        int | None, typer.Option(help="Make so many pairs of a problem, at most. [default: no candidate in two pairs]")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Keep what scored at least this. [default: what passed]")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="For --keep random. [default: 0]")] = None,
    completion: Annotated[
        str, typer.Option(help="What is learned: the original text (reasoning, fences and all), or the code that ran.")
    ] = "original",
    system: Annotated[str | None, typer.Option(help="A system message for each conversation.")] = None,
    prompt_template: Annotated[
        Path | None, typer.Option(help="File that makes the prompts, as 'Solve this: {{ item.statement }}'.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write the whole report as JSON.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    job: Annotated[
        str | None, typer.Option(help="Run nothing: take the results of this job (id or name) of the same files.")
    ] = None,
    data_format: Annotated[
        str | None, typer.Option("--format", help="The data set's format, where its shape does not tell.")
    ] = None,
    shown: ShownOption = AnswerFormat.TABLE,
) -> None:
    """Run candidates, keep those that pass, and write them as training data. With --attempts or --rescore-fraction,
    those that pass each time.

    Exit code 0: there are rows. 2: it could not be done. 3: nothing passed, and the file is empty. 130: interrupted.
    """
    given = {
        "max_per_problem": max_per_problem,
        "max_pairs": max_pairs,
        "min_score": min_score,
        "seed": seed,
        "system": system,
        "prompt_template": prompt_template and str(prompt_template),
        "report": report and str(report),
        "format": data_format,
        "job": job,
    }
    if job is not None:
        request = _without_defaults(request)
    try:
        answer = face.load().sft.validate(
            request.pop("scenarios"),
            output=str(output),
            form=form,
            keep=keep,
            dedupe=dedupe,
            completion=completion,
            overwrite=overwrite,
            follow=lambda events: follow(events.after, Tally(), name=output.name),
            **request,
            **{option: value for option, value in given.items() if value is not None},
        )
    except KeyboardInterrupt:
        sys.stderr.write(
            "\ninterrupted: nothing was written; a job that this command had started was stopped "
            "(`harena benchmark ls` names it, and --job makes training data of what had run)\n"
        )
        raise typer.Exit(INTERRUPTED_EXIT) from None
    if shown is AnswerFormat.JSON:
        write_json(answer)
    else:
        _write_report(answer)
    if not answer["totals"]["rows"]:
        sys.stderr.write(f"harena: there is nothing to learn from, and {output} is empty: {_why_empty(answer)}\n")
        raise typer.Exit(NOTHING_EXIT)


@app.command()
def verify(
    data: Annotated[Path, typer.Argument(help="The JSONL file; its lineage stands beside it.")],
    shown: ShownOption = AnswerFormat.TABLE,
) -> None:
    """Check that training data and its lineage still belong together, line by line.

    Exit code 0: they do. 1: they do not; the output says where. 2: one of them cannot be read.
    """
    answer = face.load().sft.verify(str(data))
    if shown is AnswerFormat.JSON:
        write_json(answer)
    else:
        sys.stdout.writelines(f"{data}: {fault}\n" for fault in answer["faults"])
        if (more := answer["faulty"] - len(answer["faults"])) > 0:
            sys.stdout.write(f"{data}: and {_count(more, 'line')} more\n")
        jobs = ", ".join(answer["job_ids"])
        if answer["ok"]:
            origin = f" of {_count(answer['problems'], 'problem')}, from {jobs}" if answer["rows"] else ""
            sys.stdout.write(f"{data}: {_count(answer['rows'], 'row')}{origin}: ok\n")
    raise typer.Exit(0 if answer["ok"] else CHANGED_EXIT)


def _without_defaults(request: dict[str, Any]) -> dict[str, Any]:
    """The request without its defaults. Nothing of an existing job can be changed, so only what the user asked for is
    passed on, to be refused."""
    given = request["scenarios"]
    defaults = job_request(Path(given if isinstance(given, str) else STORED + given["ref"]))
    of_job = ("name", "blueprint_id", "config")
    return {name: value for name, value in request.items() if name not in of_job or value != defaults.get(name)}


def _write_report(answer: dict[str, Any]) -> None:
    pairs = answer["rule"]["form"].startswith("preference")
    columns = ("candidates", "valid", "passed", "kept", *(("pairs",) if pairs else ()))
    rows = answer["problems"]
    write_table(
        "yield",
        ("problem", *columns),
        [(row["problem"], *(row[column] for column in columns)) for row in rows[:MAX_PROBLEM_ROWS]],
    )
    if (left_out := len(rows) - MAX_PROBLEM_ROWS) > 0:
        sys.stdout.write(f"... and {left_out} more problems (--report FILE has all)\n")
    sys.stdout.writelines(f"{line}\n" for line in summary_lines(answer))


def summary_lines(answer: dict[str, Any]) -> list[str]:
    """What was kept of what, in a few sentences."""
    totals = answer["totals"]
    lines = [
        f"{answer['output']}: {_count(totals['rows'], 'row')} of {_count(totals['problems_with_rows'], 'problem')}, "
        f"from job {answer['job_id']} ({answer['job_state']})",
        f"passed {totals['passed']}: {_percent(totals['pass_rate'])} of {totals['scored']} scored, "
        f"{_percent(totals['pass_rate_of_all'])} of all {_count(totals['candidates'], 'candidate')}",
    ]
    dropped = _counts(totals, ("duplicates", "beyond_limit", "unwritable"))
    lines += [f"passed and not kept: {dropped}"] if dropped else []
    others = _counts(totals, ("flaky", "suspect", "honeypot", "invalid", "infra", "not_run"))
    lines += [f"neither passed nor failed: {others}"] if others else []
    without = answer["problems_without_pass"]
    if without:
        more = f" and {len(without) - MOST_NAMED} more" if len(without) > MOST_NAMED else ""
        lines.append(f"without any pass: {_count(len(without), 'problem')}: {', '.join(without[:MOST_NAMED])}{more}")
    return lines


def _why_empty(answer: dict[str, Any]) -> str:
    totals = answer["totals"]
    if totals["kept"]:
        return f"of {totals['passed']} that passed, none has a valid fail of the same problem beside it"
    if totals["passed"]:
        return f"the {totals['passed']} that passed are no one text each (several files, or no UTF-8)"
    return f"none of {_count(totals['candidates'], 'candidate')} passed; {totals['scored']} scored"


def _counts(totals: dict[str, Any], names: tuple[str, ...]) -> str:
    return ", ".join(f"{totals[name]} {name.replace('_', ' ')}" for name in names if totals[name])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1%}"
