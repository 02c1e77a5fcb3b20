"""A task: a directory with task.yaml; what may stand there is said in `harena.training.environments.tasks`."""

from __future__ import annotations

import re
from pathlib import Path

from harena.core.errors import ValidationError
from harena.core.records.objects import TaskDescription
from harena.training.environments.tasks import Verification
from harena.training.environments.tasks import read_task as read_files
from harena.training.objects.manifest import Manifest

FILE = "task.yaml"
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def read_task(folder: Path, *, name: str, version: str) -> TaskDescription:
    """What task.yaml says. Raises ValidationError that lists every mistake."""
    manifest = Manifest(folder, FILE, what="task")
    manifest.identity(name, version)
    try:
        task = read_files(folder)
    except ValidationError as error:
        manifest.mistakes += [f"{FILE}: {line}" for line in str(error).split("\n  ")[1:]] or [str(error)]
        manifest.check()
        raise
    manifest.mistakes += _wrong_contract(task.verification)
    manifest.check()
    return TaskDescription(
        instruction=task.instruction,
        variables=sorted(set(_VARIABLE.findall(task.instruction))),
        inputs=dict(task.inputs),
        method=task.verification.method,
        blueprint=task.blueprint,
    )


def _wrong_contract(how: Verification) -> list[str]:
    from harena.scoring.contracts.stored import is_contract_reference, load_contract
    from harena.scoring.reading import Document

    if not how.scoring or is_contract_reference(how.scoring):  # one that is stored is looked up when the job begins
        return []
    try:
        load_contract(Document(f"{FILE}: verification.scoring", dict(how.scoring)))
    except ValidationError as error:
        return str(error).split("\n  ")
    return []
