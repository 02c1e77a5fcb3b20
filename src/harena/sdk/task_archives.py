"""The archive in which task directories are sent to a server, see `harena.core.task_archives`."""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

from harena.core.errors import ValidationError
from harena.core.task_archives import CONFIGURATIONS, task_folders
from harena.sdk.build_contexts import entry_of


def packed_tasks(folder: Path) -> Iterator[bytes]:
    """A tar stream of the folder, if it is a task, else of the tasks below it; the same bytes for the same files.
    Raises ValidationError, OSError."""
    tasks = task_folders(folder)
    if not tasks:
        raise ValidationError(
            f"{folder}: there is no {' or '.join(CONFIGURATIONS)} in it, nor in a folder in it; only task directories "
            "may be folders"
        )
    for task, _ in tasks:
        yield from _entries(task.resolve())
    yield bytes(2 * tarfile.BLOCKSIZE)


def _entries(task: Path) -> Iterator[bytes]:
    yield from entry_of(str(task), task.name, os.stat(task))
    waiting = [""]
    while waiting:
        above = waiting.pop()
        with os.scandir(task / above) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            path = f"{above}/{entry.name}" if above else entry.name
            about = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(about.st_mode):
                waiting.append(path)
            if not stat.S_ISSOCK(about.st_mode):
                yield from entry_of(entry.path, f"{task.name}/{path}", about)
