"""Folders for what a process keeps on the disk for a short time: bodies that arrive, rows on their way to a reader.

    spool/<process>/<prefix>...    removed by whoever made it; below the folder of a process that was killed, by the
                                   next start

They lie in harena's home and not in TMPDIR, which may be the memory of the machine, a small partition, or shared with
programs that stop working once it is full. A process holds a lock (flock) on its folder for as long as it lives.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harena.core.home import SPOOL, harena_home, private_folder
from harena.core.threads import UPLOADS

_LOCKED = "process-"
"""a folder gets this name once it is locked, so that nobody takes a new one for a left one"""


@dataclass(slots=True)
class _Folder:
    """The folder of this process in one home."""

    path: Path
    descriptor: int
    """holds the lock"""
    users: int = 0


_mine: dict[Path, _Folder] = {}
"""home -> this process's folder, while something is in it"""
_lock = threading.Lock()


class Spool(tempfile.TemporaryDirectory[str]):
    """A folder within that of this process, which goes with the last of them."""

    def __init__(self, prefix: str, home: Path) -> None:
        self._home: Path | None = home
        with _lock:
            folder = _of_process(home)
            folder.users += 1
        try:
            super().__init__(prefix=prefix, dir=folder.path)
        except BaseException:
            self._let_go()
            raise

    def cleanup(self) -> None:
        """Remove the folder and what is in it; may be called more than once."""
        try:
            super().cleanup()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        home, self._home = self._home, None
        if home is None:
            return
        with _lock:
            folder = _mine[home]
            folder.users -= 1
            if folder.users:
                return
            del _mine[home]
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
    """Remove the folders of processes that have ended without doing so."""
    with suppress(FileNotFoundError):
        for entry in os.scandir(home / SPOOL):
            if entry.name.startswith(_LOCKED) and entry.is_dir(follow_symlinks=False):
                _remove_if_left(entry.path)


def _of_process(home: Path) -> _Folder:
    folder = _mine.get(home)
    if folder is None or not folder.path.is_dir():
        name = os.urandom(16).hex()
        made = home / SPOOL / f"new-{name}"
        private_folder(made)
        descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with suppress(OSError):  # a file system without locks: nobody removes it then, because nobody gets one
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder = _mine[home] = _Folder(made.rename(made.with_name(_LOCKED + name)), descriptor)
    return folder


def _remove_if_left(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # another start was faster
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except OSError:  # its process lives
        return
    finally:
        os.close(descriptor)
