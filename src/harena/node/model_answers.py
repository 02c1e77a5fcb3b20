"""Answers of models, for the package's face: sampled in this process, without opening a node."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harena.core.errors import ValidationError
from harena.core.home import harena_home

if TYPE_CHECKING:
    from harena.training.model_eval.models import AskedModel
    from harena.training.model_eval.sampling import AskedProblems, SampledAnswers

FOLDER = "evaluations"
"""in `HARENA_HOME`: the files of answers that nobody has named"""
Grader = str | os.PathLike[str] | Mapping[str, Any] | None
"""a file that holds one, what is in it, or none"""
Progress = Callable[[int, int], object]
"""(answers there are, answers wanted)"""


def is_served(model: str) -> bool:
    """It is the URL of a server."""
    return model.startswith(("http://", "https://"))


def is_stored(model: str) -> bool:
    """It is an object of the registry: no shipped model, no path, and no name of Hugging Face's."""
    from harena.training.requests.model_names import model_name_kind

    return not is_served(model) and model_name_kind(model) == "stored"


def problems_of(dataset: Path, *, grader: Grader = None, **asked: Any) -> AskedProblems:
    """The problems of a data set, and what is asked of a model with each; `asked` are the fields of `AnswerSettings`,
    `grader` is that of rows that hold none. No model is loaded, and torch is not either. Raises ValidationError for the
    numbers, and one with every row that cannot be asked."""
    from harena.scoring.formats.graders import grader_in, read_grader_file
    from harena.training.data.row_files import not_there
    from harena.training.model_eval.sampling import AnswerSettings, asked_problems

    chosen = AnswerSettings(**asked)
    if not dataset.exists():
        raise not_there(dataset)
    given = read_grader_file(os.fspath(grader)) if isinstance(grader, str | os.PathLike) else grader
    return asked_problems(dataset, chosen, grader=None if given is None else grader_in(given, "grader"))


async def answers_of(
    model: str,
    problems: AskedProblems,
    *,
    folder: Path | None,
    served_model: str | None,
    progress: Progress,
    answers: Path | None,
) -> SampledAnswers:
    """Ask the model each problem. `folder`: where the model lies, for a model that was fetched from elsewhere. Raises
    ValidationError, PlatformError, OSError."""
    _check_installed(served=is_served(model))
    from harena.training.model_eval.sampling import sampled_answers

    seed = problems.settings.seed
    opened, identity = _open(model, folder, served_model, seed)  # the loop has nothing else to do yet
    try:
        return await sampled_answers(
            opened,
            problems,
            answers=answers,
            folder=harena_home() / FOLDER,
            identity=identity,
            progress=progress,
        )
    finally:
        await opened.close()


def _open(model: str, folder: Path | None, served_model: str | None, seed: int) -> tuple[AskedModel, str]:
    """(the model, a text that another model, or the same with other weights, does not have)."""
    if is_served(model):
        if served_model is None:
            raise ValidationError(f"{model} is a server: name the model that it serves (--served-model NAME)")
        from harena.training.model_eval.served_model import ServedModel

        return ServedModel(model, served_model, api_key=os.environ.get("OPENAI_API_KEY")), f"{served_model} at {model}"
    if served_model is not None:
        raise ValidationError(f"a served model is named, and {model} is no server: give its http(s) URL as the model")
    from harena.training.data.row_files import content_digest
    from harena.training.engines.local_model import LocalModel
    from harena.training.requests.model_names import cached_model, model_name_kind

    if folder is None:
        kind = model_name_kind(model)
        if kind == "shipped":
            return LocalModel.shipped(model, seed=seed), f"{model}, seed {seed}"
        folder = Path(model).expanduser() if kind == "path" else cached_model(model).folder
        return LocalModel.load(folder, name=model), _files_digest(folder)
    # it was fetched just now, so the times of its files tell nothing
    return LocalModel.load(folder, name=model), content_digest(folder)


def _files_digest(folder: Path) -> str:
    """Names, sizes and times of the model's files: to read all of its weights takes too long."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    told = [(file.relative_to(folder).as_posix(), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return f"files {sha256(repr(told).encode()).hexdigest()[:32]}"


def _check_installed(*, served: bool) -> None:
    """Raises ValidationError that says what to install."""
    from harena.training.installed import missing_for_training, missing_package

    advice = missing_package("aiohttp", "http") if served else missing_for_training()
    if advice is not None:
        raise ValidationError(advice.replace("where this node runs", "here"))
