"""The image of a task directory: a name with a digest of its Dockerfile and of the files that it is built of."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harena.core.ports.image_builds import FolderBuild
from harena.scoring.formats.rows import FieldError

REGISTRY = "localhost/harbor"
"""where the names of such images are: no registry has them"""
_MOST_NAME, _DIGITS = 60, 16
_MOST_FILES, _MOST_BYTES = 200_000, 4 << 30
_PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFields:
    """What a task says of its build."""

    context: Path
    dockerfile: Path
    arguments: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    timeout_seconds: float = 600.0
    memory_mb: int = 2048


def image_build(task: Path, said: BuildFields) -> FolderBuild:
    """The build of a task's image. Two tasks whose Dockerfiles and contexts are the same have one digest. Raises
    FieldError."""
    try:
        digest = _digest(said)
    except OSError as error:
        raise FieldError("", f"{error.filename or said.context} cannot be read: {error.strerror or error}") from None
    return FolderBuild(
        reference=f"{REGISTRY}/{_slug(task.resolve().name)}:{digest}",
        context=said.context,
        dockerfile=said.dockerfile,
        arguments=said.arguments,
        target=said.target,
        memory_mb=said.memory_mb,
        timeout_seconds=said.timeout_seconds,
    )


def _slug(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_MOST_NAME].strip("-")
    return plain or "task"


def _digest(said: BuildFields) -> str:
    whole = hashlib.sha256()
    for text in (said.target, *(word for pair in sorted(said.arguments.items()) for word in pair)):
        whole.update(f"{len(text.encode())}:{text}".encode())
    whole.update(_content(said.dockerfile, os.stat(said.dockerfile)))
    files, size, waiting = 0, 0, [""]
    while waiting:
        above = waiting.pop()
        with os.scandir(said.context / above) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = f"{above}/{entry.name}" if above else entry.name
            about = entry.stat(follow_symlinks=False)
            files, size = files + 1, size + about.st_size
            if files > _MOST_FILES or size > _MOST_BYTES:
                raise FieldError("", f"{said.context} has more files, or more bytes, than a build may be given")
            whole.update(os.fsencode(f"{len(os.fsencode(path))}:{path}:{about.st_mode:o}:"))
            if stat.S_ISDIR(about.st_mode):
                waiting.append(path)
            elif stat.S_ISLNK(about.st_mode):
                whole.update(os.fsencode(os.readlink(entry.path)))
            elif stat.S_ISREG(about.st_mode):
                whole.update(_content(Path(entry.path), about))
    return whole.hexdigest()[:_DIGITS]


def _content(path: Path, about: os.stat_result) -> bytes:
    own = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            own.update(piece)
    own.update(str(about.st_size).encode())
    return own.digest()
