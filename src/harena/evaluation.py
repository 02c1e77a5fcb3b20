"""How good a model is at the problems of a data set: its answers are sampled, and run as a benchmark job."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from harena.core.errors import PlatformError
from harena.core.records.evaluations import FailedAnswer, ModelEvaluation

if TYPE_CHECKING:
    from harena.core.records.benchmark_jobs import BenchmarkResults

T = TypeVar("T")
Progress = Callable[[int, int], object]
"""is given (answers there are, answers wanted) while they are sampled"""
Follow = Callable[[Any], object]
"""is given the benchmark job, and returns when it has ended"""


def evaluate(
    model: str | os.PathLike[str],
    dataset: str | os.PathLike[str],
    *,
    samples: int = 1,
    temperature: float | None = None,
    top_p: float = 1.0,
    max_new_tokens: int | None = None,
    limit: int | None = None,
    split: str | None = None,
    seed: int = 0,
    at_once: int = 16,
    template: str | None = None,
    grader: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    served_model: str | None = None,
    name: str | None = None,
    blueprint_id: str | None = None,
    concurrency: int = 8,
    answers: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    follow: Follow | None = None,
) -> ModelEvaluation:
    """Ask a model each problem of a data set, `samples` times, and run its answers.

    `model` is a Hugging Face directory, ORGANISATION/NAME in the Hugging Face cache, NAME@VERSION of the registry,
    `tiny-llama`, "job:NAME" (the newest training job of that name, or an id), or the URL of a server with OpenAI's
    interface, as "http://127.0.0.1:8000/v1", which serves `served_model` (its key is `OPENAI_API_KEY`). `dataset` is a
    file or directory that `train rl` takes as prompts, and whose rows have a scoring contract. A model is
    sampled in this process, on a GPU where torch has one; its answers run where benchmark jobs run.

    With one sample the most probable tokens are taken, with several the temperature is 0.8, where none is given. An
    answer has at most `max_new_tokens` (1024 of a chat model, else 128). `limit`: the first problems only. `template`:
    the program, with {completion} where the answer goes. `grader`: that of rows that hold none (a file, or what is in
    it). `at_once`: answers that are sampled side by side.

    Answers are kept in a file as they are sampled (`answers`, or one in `HARENA_HOME`): the same evaluation, begun
    again after it was interrupted, takes them from there. `progress` hears how many there are; `follow` gets the
    benchmark job.

    Raises ValidationError for what is wrong with the model, the data set or the numbers, before anything is sampled;
    PlatformError where the model or the job could not be run to the end; OSError for the file of answers.
    """
    from harena.node import model_answers
    from harena.sdk import benchmark_jobs

    problems = model_answers.problems_of(  # before a model is fetched or loaded, which takes a while
        Path(dataset),
        samples=samples,
        temperature=temperature,
        top_p=top_p,
        max_new_tokens=max_new_tokens,
        limit=limit,
        split=split,
        seed=seed,
        at_once=at_once,
        grader=grader,
        **({} if template is None else {"template": template}),
    )
    with ExitStack() as fetched:
        sampled = _aside(
            model_answers.answers_of(
                str(model),
                problems,
                folder=_fetched(str(model), fetched),
                served_model=served_model,
                progress=progress or (lambda _done, _wanted: None),
                answers=None if answers is None else Path(answers),
            )
        )
    job = benchmark_jobs.create(
        name=name or f"eval {Path(dataset).name}",
        scenarios=sampled.scenarios,
        config={"concurrency": concurrency},
        blueprint_id=blueprint_id,
    )
    try:
        if follow is not None:
            follow(job)
        ended = benchmark_jobs.wait(job.id)
    except KeyboardInterrupt:
        benchmark_jobs.cancel(job.id)
        raise
    if ended.state != "completed":
        raise PlatformError(
            f"the answers are in {sampled.path}; their job {job.id} is {ended.state}: {ended.error or 'no reason'}",
            step="run the answers",
        )
    return _evaluation(str(model), str(dataset), sampled, ended)


def _fetched(model: str, stack: ExitStack) -> Path | None:
    """The folder of a model that a job has made, or one of the registry's that is there as long as `stack` is; None =
    it is neither."""
    from harena.core.training_sources import JOB_PREFIX
    from harena.node import model_answers
    from harena.sdk import registry, training_jobs

    if model.startswith(JOB_PREFIX):
        return training_jobs.model(model.removeprefix(JOB_PREFIX))
    if model_answers.is_stored(model):
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="harena-model-"))) / "model"
        registry.pull("model", model, place)
        return place
    return None


def _aside(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives, run on an event loop of its own: the caller may have one, as notebooks do. Ctrl-C ends
    it."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def run() -> T:
        try:
            return loop.run_until_complete(task)
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    with ThreadPoolExecutor(1, thread_name_prefix="evaluation") as thread:
        ended = thread.submit(run)
        try:
            return ended.result()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(task.cancel)
            raise


def _example(run: Any, asked: Mapping[str, list[dict[str, Any]]]) -> FailedAnswer:
    candidate = next((row["candidate"] for row in asked["scenarios"] if row["id"] == run.scenario_id), "")
    if isinstance(candidate, Mapping):
        candidate = candidate["files"].get(candidate["entry"], "")
    return FailedAnswer(
        scenario_id=run.scenario_id, reason=str(run.reason), detail=run.detail or "", candidate=str(candidate)
    )


def _evaluation(model: str, dataset: str, sampled: Any, results: BenchmarkResults) -> ModelEvaluation:
    from harena.core.pass_rates import pass_rates

    failed = [run for run in results.runs if not run.passed]
    reasons = Counter(str(run.reason) for run in failed)
    commonest = reasons.most_common(1)[0][0] if reasons else None
    first = next((run for run in failed if str(run.reason) == commonest), None)
    problems: dict[str, list[int]] = {}
    for run in results.runs:
        counts = problems.setdefault(run.problem or run.scenario_id, [0, 0])
        counts[0] += run.score is not None
        counts[1] += bool(run.passed)
    return ModelEvaluation(
        model=model,
        dataset=dataset,
        job_id=results.job_id,
        job_name=results.name,
        problems=sampled.problems,
        answers=sampled.answers,
        scored=results.summary.scored,
        passed=results.summary.passed,
        mean_score=results.summary.mean_score,
        pass_rates=pass_rates([(n, c) for n, c in problems.values()]),
        cut_off=sampled.cut_off,
        tokens=sampled.tokens,
        max_new_tokens=sampled.max_new_tokens,
        temperature=sampled.temperature,
        reasons=dict(reasons.most_common()),
        example=None if first is None else _example(first, sampled.scenarios),
        answers_file=str(sampled.path),
    )
