"""The files of a training job that others may have: those that its artifacts name, and nothing else of its folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from harena.core.errors import PlatformError
from harena.core.records.training_jobs import TrainingFile
from harena.core.threads import TRAINING

PIECE_BYTES = 1 << 20


def files_below(folder: Path, artifacts: Mapping[str, Any]) -> list[TrainingFile]:
    """Every file that `artifacts` (name -> path or paths, below the folder) mean, by path. Links,
    and what has been removed since, are left out. Raises PlatformError."""
    found: dict[str, int] = {}
    try:
        for value in artifacts.values():
            for named in value if isinstance(value, list) else [value]:
                place = folder / str(named)
                if not place.resolve().is_relative_to(folder.resolve()):
                    continue
                for path in (place, *(sorted(place.rglob("*")) if place.is_dir() else ())):
                    if path.is_file() and not path.is_symlink():
                        found[path.relative_to(folder).as_posix()] = path.stat().st_size
    except OSError as error:
        raise PlatformError(f"the files of {folder} cannot be listed: {error}", step="artifacts") from error
    return [TrainingFile(path=path, size_bytes=found[path]) for path in sorted(found)]


def _piece(path: Path, begin: int) -> bytes:
    with path.open("rb") as file:
        file.seek(begin)
        return file.read(PIECE_BYTES)


def size_below(folders: Iterable[Path]) -> int:
    """Bytes of all files in these folders, as they lie on the disk; what is removed meanwhile is left out."""
    return sum(_disk_bytes(folder) for folder in folders)


def _disk_bytes(folder: Path) -> int:
    size, waiting = 0, [str(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return size


async def pieces_of(path: Path) -> AsyncIterator[bytes]:
    """The content of a file, which is not open while nobody takes the next piece. Raises PlatformError."""
    begin = 0
    try:
        while piece := await TRAINING.run(_piece, path, begin):
            begin += len(piece)
            yield piece
    except OSError as error:
        raise PlatformError(f"{path.name} cannot be read: {error.strerror}", step="artifacts") from error
