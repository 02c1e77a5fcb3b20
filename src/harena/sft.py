"""Training data for supervised fine-tuning, verified by execution.

Candidates run as a benchmark job, and what passes is kept. `validate` is built on the verbs of `harena.benchmark_jobs`,
so it is the same on a node inside this process and on a server. `verify` says later whether the data is still what was
written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harena.core.catalog import is_reference, referred
from harena.core.errors import PlatformError, ValidationError
from harena.core.whole_files import output_mistakes, replaced
from harena.sdk import benchmark_jobs, scoring_contracts
from harena.sdk import scenarios as stored_scenarios
from harena.sdk.scenario_input import ScenarioInput, plain_sources

if TYPE_CHECKING:
    from harena.sdk.benchmark_jobs import BenchmarkJob
    from harena.sdk.config_types import BenchmarkConfig


@dataclass(frozen=True, slots=True)
class JobEvents:
    """The events of a job, from its first to its end."""

    job_id: str

    def __iter__(self) -> Iterator[Any]:
        """All of them."""
        return iter(self.after(0))

    def after(self, cursor: int) -> Iterable[Any]:
        """Events after `cursor`, for a caller that has lost the connection."""
        return benchmark_jobs.events(self.job_id, after=cursor)


Follow = Callable[[JobEvents], object]
"""is given the events of the job, and returns when they end"""

WORDS = ("oracle", "nop")
"""values of `candidates` that name no file"""


def validate(
    scenarios: ScenarioInput,
    candidates: ScenarioInput | None = None,
    *,
    output: str | os.PathLike[str],
    form: str = "chat",
    keep: str = "all",
    dedupe: str = "exact",
    max_per_problem: int | None = None,
    max_pairs: int | None = None,
    min_score: float | None = None,
    seed: int | None = None,
    completion: str = "original",
    system: str | None = None,
    prompt_template: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    job: str | None = None,
    name: str | None = None,
    format: str | None = None,  # noqa: A002 - the option's name, as on the command line
    grader: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    blueprint_id: str | None = None,
    config: BenchmarkConfig | None = None,
    follow: Follow | None = None,
) -> dict[str, Any]:
    """Run all candidates, keep what passes, and write it to `output` (JSON lines), with its lineage beside it.

    `scenarios`, `candidates`, `format`, `grader`, `blueprint_id` and `config` are those of `benchmark_jobs.create`;
    `job` takes the results of a job that was made of the same ones instead, and then there is no `name`, blueprint and
    config. `form`, `keep`, `dedupe`, `max_per_problem`, `max_pairs`, `min_score`, `seed`, `completion` and `system` are
    those of `harena.scoring.verified_data.rule.Rule`; `prompt_template` is a file. `report`: a file for the answer,
    too.

    The answer is what `harena.scoring.verified_data.selection.Selection.report` says, with job_id, job_state, output
    and lineage. Where nothing passes, the files are written, empty, and `totals["rows"]` is 0. Blocks; `follow` gets
    the job's events.

    Raises ValidationError that lists every mistake, before anything runs; NotFoundError (`job`, blueprint); and
    PlatformError if the job could not run to its end, or a file could not be written: then the files are untouched.
    """
    from harena.node.sft import checked_rule, planned_selection, refuse

    rule, mistakes = checked_rule(
        {
            "form": form,
            "keep": keep,
            "dedupe": dedupe,
            "max_per_problem": max_per_problem,
            "max_pairs": max_pairs,
            "min_score": min_score,
            "seed": seed,
            "completion": completion,
            "system": system,
        }
    )
    data, lineage = Path(output), lineage_path(output)
    outputs = {"output": data, "lineage": lineage, **({"report": Path(report)} if report is not None else {})}
    made_of = plain_sources(scenarios, candidates=candidates, form=format, grader=grader)
    read = [given for name, given in made_of.items() if name != "format"]
    inputs = [Path(str(given)) for given in (*read, prompt_template) if _is_file(given)]
    mistakes += output_mistakes(outputs, inputs=inputs, overwrite=overwrite)
    mistakes += _job_mistakes(job, {"name": name, "blueprint_id": blueprint_id, "config": config})
    template, mistake = _template(prompt_template)
    refuse([*mistakes, *mistake])
    made_of, content = _with_stored(made_of)
    selection = planned_selection(
        content, rule=rule, template=template, contract=lambda ref: scoring_contracts.get(ref).to_dict()
    )
    if job is None:
        made = benchmark_jobs.create(
            name="sft-validation" if name is None else name,
            blueprint_id=blueprint_id,
            config=config,
            **made_of,
        )
    else:
        made = benchmark_jobs.get(job)
    ended = _follow_to_end(made, follow, own=job is None)
    for page in benchmark_jobs.results_pages(ended.id):
        for run in page.runs:
            selection.add(run.to_dict())
    selection.finish(attempts=ended.config["attempts"])
    answer = {
        **selection.report(),
        "job_id": ended.id,
        "job_state": ended.state,
        "output": str(data),
        "lineage": str(lineage),
    }
    _write(selection.lines(job_id=ended.id, harena_version=_version()), answer, list(outputs.values()), ended.id)
    return answer


def verify(data: str | os.PathLike[str]) -> dict[str, Any]:
    """Whether each line of `data` is the one that its lineage, beside it, is about.

    {ok, rows, faulty, problems, job_ids, harena_versions, faults: [sentence]}, as
    `harena.scoring.verified_data.lineage.compared` says. Raises ValidationError for a file that is not there, or cannot
    be read.
    """
    from harena.node.sft import compared

    path = Path(data)
    try:
        with path.open("rb") as lines, lineage_path(path).open("rb") as origins:
            return compared(lines, origins)
    except OSError as error:
        raise ValidationError(
            f"{error.filename or path} cannot be read: {error.strerror}; data and lineage ({lineage_path(path).name}) "
            "stand beside each other"
        ) from None


def lineage_path(data: str | os.PathLike[str]) -> Path:
    """verified.jsonl -> verified.lineage.jsonl"""
    return Path(f"{os.fspath(Path(data)).removesuffix('.jsonl')}.lineage.jsonl")


def _version() -> str:
    from harena import __version__

    return __version__


def _is_file(given: object) -> bool:
    return isinstance(given, str | os.PathLike) and given not in WORDS


def _with_stored(made_of: dict[str, Any]) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """(what a job is made of, the same with what is in stored scenarios): both of one version. Raises NotFoundError."""
    if not is_reference(made_of["scenarios"]):
        return made_of, made_of
    stored = stored_scenarios.get(referred(made_of["scenarios"]), content=True)
    held = {name: stored[name] for name in ("scenarios", "format", "grader")}
    return {**made_of, "scenarios": {"ref": stored.ref}}, {**made_of, **held}


def _job_mistakes(job: str | None, options: Mapping[str, Any]) -> list[str]:
    """A job that exists has its options already."""
    if job is None:
        return []
    return [
        f"{name}: {', '.join(given) if isinstance(given, Mapping) else given} is for a new job, and job {job!r} exists"
        for name, given in options.items()
        if given is not None and given != {}
    ]


def _template(path: str | os.PathLike[str] | None) -> tuple[str | None, list[str]]:
    if path is None:
        return None, []
    try:
        return Path(path).read_text(encoding="utf-8-sig"), []
    except UnicodeDecodeError as error:
        return None, [f"prompt_template: {os.fspath(path)} is not UTF-8 (byte {error.start}); save it as UTF-8"]
    except OSError as error:
        return None, [f"prompt_template: {os.fspath(path)} cannot be read: {error.strerror}; check the path"]


def _follow_to_end(job: BenchmarkJob, follow: Follow | None, *, own: bool) -> BenchmarkJob:
    """The job when it has ended. Raises PlatformError if a job of our own did not run to its end."""
    try:
        if job.ended_at is None:
            (follow or _exhaust)(JobEvents(job.id))
    except KeyboardInterrupt:
        if own:
            benchmark_jobs.cancel(job.id)
        raise
    ended = benchmark_jobs.get(job.id)
    if own and ended.state != "completed":
        raise PlatformError(
            f"benchmark job {ended.id} is {ended.state}: {ended.error or 'it was ended'}; nothing was written (job "
            f"{ended.id!r} makes training data of what has run)",
            step="run the candidates",
        )
    return ended


def _exhaust(events: Iterable[Any]) -> None:
    for _ in events:
        pass


def _write(lines: Iterable[tuple[bytes, bytes]], report: Mapping[str, Any], paths: Sequence[Path], job_id: str) -> None:
    data, lineage, *reports = paths
    try:
        # the lineage first: where only it could take its place, `verify` sees that the data is another's
        with replaced([lineage, data, *reports]) as (origins, rows, *others):
            for row, origin in lines:
                rows.write(row + b"\n")
                origins.write(origin + b"\n")
            for other in others:
                other.write(json.dumps(report, indent=2).encode() + b"\n")
    except PlatformError as error:
        raise PlatformError(
            f"{error}; the job's results are kept: make room, then give job {job_id!r}", step=error.step
        ) from error


__all__ = ["JobEvents", "lineage_path", "validate", "verify"]
