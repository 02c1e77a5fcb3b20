"""Folders for what a process keeps on the disk for a short time: bodies that arrive, rows on their way to a reader.

    spool/<process>/<prefix>...    removed by whoever made it; below the folder of a process that was killed, by the
                                   next start
    objects/incoming/<process>/...    likewise, what is on its way to the objects beside it

They lie in harena's home and not in TMPDIR, which may be the memory of the machine, a small partition, or shared with
programs that stop working once it is full. A process holds a lock (flock) on its folder for as long as it lives.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harena.core.file_trees import remove_tree
from harena.core.home import INCOMING, SPOOL, harena_home, private_folder
from harena.core.threads import UPLOADS

LOCKED = "process-"
"""a folder gets this name once it is locked, so that nobody takes a new one for a left one"""


@dataclass(slots=True)
class _Folder:
    """The folder of this process in one place."""

    path: Path
    descriptor: int
    """holds the lock"""
    users: int = 0


_mine: dict[Path, _Folder] = {}
"""place -> this process's folder in it, while something is in that"""
_lock = threading.Lock()


class Spool(tempfile.TemporaryDirectory[str]):
    """A folder within that of this process, which goes with the last of them."""

    def __init__(self, prefix: str, home: Path) -> None:
        self._place: Path | None = home / SPOOL
        folder = held_folder(self._place)
        try:
            super().__init__(prefix=prefix, dir=folder)
        except BaseException:  # raised again: whatever stopped it, this folder has one user less
            self._let_go()
            raise

    def cleanup(self) -> None:
        """Remove the folder and what is in it; may be called more than once."""
        try:
            super().cleanup()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        place, self._place = self._place, None
        if place is not None:
            let_go(place)


def held_folder(place: Path) -> Path:
    """This process's folder in a place, locked until `let_go` was called as often as this. Raises OSError."""
    with _lock:
        folder = _of_process(place)
        folder.users += 1
        return folder.path


def let_go(place: Path) -> None:
    """Undo one `held_folder`."""
    with _lock:
        folder = _mine[place]
        folder.users -= 1
        if folder.users:
            return
        del _mine[place]
        with suppress(OSError):  # something could not be removed: the next start does
            folder.path.rmdir()
        os.close(folder.descriptor)


def spool_folder(prefix: str) -> Spool:
    """An empty folder that nobody else can enter, gone when it is cleaned up. Raises OSError."""
    return Spool(prefix, harena_home())


@asynccontextmanager
async def spooled(prefix: str) -> AsyncIterator[str]:
    """The path of such a folder within the block, made and removed in threads of the present task's workspace. Raises
    OSError, LimitExceededError."""
    folder = await UPLOADS.run(spool_folder, prefix)
    try:
        yield folder.name
    finally:
        await UPLOADS.run(folder.cleanup)


def remove_left_spools(home: Path) -> None:
    """Remove what processes have left in a home that have ended without doing so."""
    remove_left(home / SPOOL)
    remove_left(home / INCOMING)


def remove_left(place: Path) -> None:
    """Remove the folders in a place of processes that have ended without doing so."""
    with suppress(FileNotFoundError):
        for entry in os.scandir(place):
            if entry.name.startswith(LOCKED) and entry.is_dir(follow_symlinks=False):
                _remove_if_left(entry.path)


def _of_process(place: Path) -> _Folder:
    folder = _mine.get(place)
    if folder is None or not folder.path.is_dir():
        name = os.urandom(16).hex()
        made = place / f"new-{name}"
        private_folder(made)
        descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with suppress(OSError):  # a file system without locks: nobody removes it then, because nobody gets one
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder = _mine[place] = _Folder(made.rename(made.with_name(LOCKED + name)), descriptor)
    return folder


def _remove_if_left(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # another start was faster
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(Path(path))
    except OSError:  # its process lives
        return
    finally:
        os.close(descriptor)
