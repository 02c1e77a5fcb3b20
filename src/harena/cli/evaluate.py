"""`harena eval`: how good a model is at the problems of a data set."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from harena.cli import completion, face
from harena.cli.diff_report import write_diff
from harena.cli.progress import follow
from harena.cli.report import AnswerFormat, pass_words, write_json
from harena.cli.tally import Tally
from harena.cli.train_request import template_in
from harena.core.printable import printable
from harena.core.records.evaluations import ModelEvaluation

UNSCORED_EXIT = 3
INTERRUPTED_EXIT = 130
MOST_LINES, MOST_DETAIL = 8, 200
"""lines of an example's program, characters of each and of what happened"""
LINES = 10
"""lines of progress outside of a terminal"""


def evaluate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="Directory (./my-model), ORGANISATION/NAME, NAME@VERSION, job:NAME (what a training job has made), "
            "tiny-llama, or the URL of a server with OpenAI's interface.",
        ),
    ],
    dataset: Annotated[
        Path,
        typer.Argument(
            metavar="DATASET",
            help="Problems with tests, as `train rl` takes them: code sets, scenario files, rows with `scoring`.",
        ),
    ],
    samples: Annotated[int, typer.Option("--samples", "-n", help="Answers to each problem.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(help="0: the most probable token each time. [default: 0; of several samples 0.8]")
    ] = None,
    top_p: Annotated[float, typer.Option(help="Draw among the most probable tokens of this sum.")] = 1.0,
    max_new_tokens: Annotated[
        int | None, typer.Option(help="Length of an answer. [default: 1024 of a chat model, else 128]")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="So many problems, the first.")] = None,
    split: Annotated[str | None, typer.Option(help="A part of the data set, as 'test'.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of what is drawn.")] = 0,
    at_once: Annotated[int, typer.Option(help="Answers that are sampled side by side.")] = 16,
    template: Annotated[
        Path | None, typer.Option(help="File with the program that is run, with {completion} where the answer goes.")
    ] = None,
    grader: Annotated[Path | None, typer.Option(help="JSON file of the grader of rows that hold none.")] = None,
    served_model: Annotated[str | None, typer.Option(help="Name of the model, where MODEL is a server.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the benchmark job. [default: eval DATASET]")] = None,
    blueprint: Annotated[
        str | None, typer.Option(help="Blueprint that answers run in.", autocompletion=completion.blueprint)
    ] = None,
    concurrency: Annotated[int, typer.Option(help="Answers that run at one time, at most.")] = 8,
    answers: Annotated[
        Path | None, typer.Option(help="File of the answers; an evaluation that was interrupted goes on from it.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(metavar="JOB", help="Compare with an earlier evaluation, by its job's id or name.")
    ] = None,
    form: Annotated[AnswerFormat, typer.Option("--format", help="table or json.")] = AnswerFormat.TABLE,
) -> None:
    """Ask a model each problem of a data set, and run its answers: pass@k, with intervals.

    harena eval ./my-model problems.jsonl -n 4

    Exit code 0: done. 2: it could not be done. 3: no answer has a score. 130: interrupted; the same command goes on.
    """
    harena = face.load()
    program = None if template is None else template_in(template)
    earlier = None if compare is None else harena.benchmark_jobs.get(compare)  # one that is not there is told at once
    shown = _Sampling(sys.stderr)
    try:
        found = harena.evaluate(
            model,
            dataset,
            samples=samples,
            temperature=temperature,
            top_p=top_p,
            max_new_tokens=max_new_tokens,
            limit=limit,
            split=split,
            seed=seed,
            at_once=at_once,
            template=program,
            grader=None if grader is None else str(grader),
            served_model=served_model,
            name=name,
            blueprint_id=blueprint,
            concurrency=concurrency,
            answers=answers,
            progress=shown,
            follow=lambda job: follow(
                lambda after: harena.benchmark_jobs.events(job.id, after=after), Tally.of(job), name=job.name
            ),
        )
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted: the same command goes on with the answers that there are\n")
        raise typer.Exit(INTERRUPTED_EXIT) from None
    compared = None if earlier is None else harena.benchmark_jobs.diff(earlier.id, found.job_id)
    if form is AnswerFormat.JSON:
        answer: dict[str, Any] = found.to_dict()
        write_json(answer if compared is None else {**answer, "compared": compared.to_dict()})
    else:
        sys.stdout.write("".join(f"{line}\n" for line in evaluation_lines(found)))
        if compared is not None:
            write_diff(compared.to_dict(), show=50)
    if not found.scored:
        sys.stderr.write(f"harena: no answer has a score: harena benchmark results {found.job_id} --show-runs 3\n")
        raise typer.Exit(UNSCORED_EXIT)


def evaluation_lines(found: ModelEvaluation) -> list[str]:
    """What an evaluation found, in a few sentences."""
    drawn = "the most probable tokens" if found.temperature == 0 else f"temperature {found.temperature:g}"
    lines = [
        f"{found.model} on {found.dataset}: {found.problems} problems, {found.answers} answers ({drawn})",
        f"passed {found.passed} of {found.scored} scored",
    ]
    if found.pass_rates:
        lines.append(f"{pass_words(found.pass_rates)}: means over problems, with their 95% intervals")
    if found.reasons:
        lines.append("not passed: " + ", ".join(f"{reason} {count}" for reason, count in found.reasons.items()))
    if found.example is not None:
        told = found.example
        detail = f": {' '.join(told.detail.split())[:MOST_DETAIL]}" if told.detail else ""
        lines.append(f"for example {told.scenario_id} ({told.reason}{detail}):")
        lines += [f"    {line}" for line in _shortened(told.candidate)]
    if found.scored < found.answers:
        lines.append(f"{found.answers - found.scored} answers have no score")
    if found.cut_off:
        lines.append(
            f"{found.cut_off} of {found.answers} answers were cut off at {found.max_new_tokens} tokens: "
            "raise --max-new-tokens"
        )
    lines += [f"answers: {found.answers_file}", f"runs: harena benchmark results {found.job_id}"]
    return [printable(line) for line in lines]


def _shortened(text: str) -> list[str]:
    """The first lines of what was judged."""
    lines = text.strip("\n").split("\n")
    more = [f"... ({len(lines)} lines)"] if len(lines) > MOST_LINES else []
    shown = [line[:MOST_DETAIL] for line in lines[:MOST_LINES]] + more
    return shown if text.strip() else ["(nothing)"]


class _Sampling:
    """Shows how many answers there are: one line that changes in a terminal, a few lines elsewhere."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._begun: tuple[float, int] | None = None
        self._tenth = -1
        if out.isatty():
            out.write("loading the model ...\r")
            out.flush()

    def __call__(self, done: int, wanted: int) -> None:
        """There are so many of the answers that are wanted."""
        now = time.monotonic()
        if self._begun is None:
            self._begun = now, done
        began, there = self._begun
        rate = (done - there) / (now - began) if now > began and done > there else 0.0
        left = f", {(wanted - done) / rate:.0f} s left" if rate and done < wanted else ""
        text = f"answers {done}/{wanted}" + (f"  {rate:.1f}/s{left}" if rate else "")
        if self._out.isatty():
            self._out.write(f"\r{text}\x1b[K" + ("\n" if done == wanted else ""))
        elif done * LINES // max(1, wanted) > self._tenth:
            self._tenth = done * LINES // max(1, wanted)
            self._out.write(f"{text}\n")
        self._out.flush()
