"""From a model and a data set to a file of answers, and from that to scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError
from harena.core.home import private_folder
from harena.scoring.formats.rows import numbered
from harena.training.data.row_files import content_digest
from harena.training.model_eval.answers_file import AnswersFile
from harena.training.model_eval.models import AskedModel, Asking
from harena.training.model_eval.problems import ReadProblem, as_scenarios, read_rows, with_prompts
from harena.training.rewards.code_tests import COMPLETION, CodeTests

Progress = Callable[[int, int], object]
"""(answers there are, answers wanted)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSettings:
    """What is asked of a model; None = what fits it."""

    samples: int = 1
    """answers to each problem"""
    temperature: float | None = None
    """None = 0 for one answer to a problem, 0.8 for several"""
    top_p: float = 1.0
    max_new_tokens: int | None = None
    """None = 1024 of a chat model, else 128, where the model's context has room"""
    seed: int = 0
    at_once: int = 16
    """answers that are sampled side by side"""
    split: str | None = None
    """a part of the data set"""
    limit: int | None = None
    """so many of its problems, the first"""
    template: str = COMPLETION
    """the program, with {completion} where the answer goes"""

    def __post_init__(self) -> None:
        """Raises ValidationError that lists everything that is wrong."""
        wrong = [
            f"{name} must be at least 1 (got {value})"
            for name, value in (
                ("samples", self.samples),
                ("at_once", self.at_once),
                ("limit", self.limit),
                ("max_new_tokens", self.max_new_tokens),
            )
            if value is not None and value < 1
        ]
        if self.temperature is not None and not 0 <= self.temperature <= 10:
            wrong.append(f"temperature must be from 0 to 10 (got {self.temperature})")
        if self.samples > 1 and self.temperature == 0:
            wrong.append("temperature 0 gives the same answer each time: ask for one sample, or raise it")
        if not 0 < self.top_p <= 1:
            wrong.append(f"top_p must be above 0 and at most 1 (got {self.top_p})")
        if wrong:
            raise ValidationError("; ".join(wrong))


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledAnswers:
    """What a model said, ready to be scored."""

    path: Path
    """the file of its answers"""
    answers: int
    reused: int
    """answers that were in the file before"""
    cut_off: int
    """answers that reached the longest length"""
    tokens: int
    """tokens of all answers together, as far as the model's server says"""
    problems: int
    max_new_tokens: int
    temperature: float
    scenarios: Mapping[str, list[dict[str, Any]]]
    """{problems, scenarios}, as in a scenario file"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedProblems:
    """What a model is going to be asked, read before it is loaded."""

    dataset: Path
    settings: AnswerSettings
    rows: list[ReadProblem]


def asked_problems(
    dataset: Path, settings: AnswerSettings, *, grader: Mapping[str, Any] | None = None
) -> AskedProblems:
    """Read and check the problems of a data set. `grader`: that of rows that hold none. Raises ValidationError."""
    recipe = CodeTests(template=settings.template)
    rows = read_rows(dataset, recipe, split=settings.split, limit=settings.limit, grader=grader)
    return AskedProblems(dataset=dataset, settings=settings, rows=rows)


async def sampled_answers(
    model: AskedModel,
    asked_of_it: AskedProblems,
    *,
    answers: Path | None = None,
    folder: Path,
    identity: str,
    progress: Progress,
) -> SampledAnswers:
    """Ask the model each problem, and keep what it says in `answers`, or in a file of `folder` that is
    named after what is asked. Answers that are there already are not sampled again. `identity` says which weights the
    model has. Raises ValidationError, PlatformError, OSError."""
    dataset, settings = asked_of_it.dataset, asked_of_it.settings
    recipe = CodeTests(template=settings.template, extract="fenced" if model.in_chat else "raw")
    problems = with_prompts(dataset, asked_of_it.rows, model.with_prompt)
    await recipe.prepare(problems)
    temperature = settings.temperature if settings.temperature is not None else 0.0 if settings.samples == 1 else 0.8
    most = settings.max_new_tokens or model.most_new_tokens(problems)
    asking = Asking(
        samples=settings.samples,
        temperature=temperature,
        top_p=settings.top_p,
        max_new_tokens=most,
        seed=settings.seed,
        at_once=settings.at_once,
    )
    model.check(problems, asking)
    asked = {
        "model": identity,
        "dataset": content_digest(dataset),
        "split": settings.split,
        "settings": {name: value for name, value in asdict(asking).items() if name not in ("samples", "at_once")},
    }
    if any(problem.id == numbered(place) for place, problem in enumerate(problems)):
        asked["unnamed_rows"] = "numbered from 0"  # files of an earlier harena number them from 1
    if answers is None:
        private_folder(folder)
    kept = AnswersFile(answers or folder / f"{sha256(repr(asked).encode()).hexdigest()[:16]}.jsonl", asked)
    wanted = [(problem, sample) for sample in range(settings.samples) for problem in problems]
    missing = [(problem, sample) for problem, sample in wanted if (problem.id, sample) not in kept]
    reused = len(wanted) - len(missing)
    progress(reused, len(wanted))
    done = reused
    async for some in model.answers(missing, asking):
        kept.add(some)
        done += len(some)
        progress(done, len(wanted))
    named = {(problem.id, sample) for problem, sample in wanted}
    said = [answer for answer in kept if answer.key in named]
    return SampledAnswers(
        path=kept.path,
        answers=len(said),
        reused=reused,
        cut_off=sum(answer.cut_off for answer in said),
        tokens=sum(answer.tokens or 0 for answer in said),
        problems=len(problems),
        max_new_tokens=most,
        temperature=temperature,
        scenarios=as_scenarios(problems, said, recipe),
    )
