"""The folders of training jobs that are being accepted or deleted, and what is left of them where a process dies then.

A job's folder and its row change in two steps. Between them the folder has a mark: a file on which the process that is
at work holds a lock (flock), and which names the store with the row. A mark whose lock nobody holds is left over: the
store says whether there is such a job, and a folder without one is removed. What is removed is renamed first, so that
whatever has the name of a removed folder can go.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from harena.core.clock import Clock
from harena.core.errors import PlatformError
from harena.core.home import private_folder
from harena.core.threads import TRAINING

MARK = ".unsettled"
_REMOVED = ".removed-"
_PAUSE_SECONDS = 0.02
"""after which a mark is tried again that somebody has just taken for left over"""
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""what file systems without such locks answer: there no mark is taken for left over"""


class UnsettledFolders:
    """Used from one event loop, by any number of processes that share the folder."""

    def __init__(self, folders: Path, store_place: Path | str, clock: Clock) -> None:
        """`folders`: where each job has a folder with its id as name; `store_place`: where the rows of jobs are."""
        self._folders = folders
        self._store = _without_credentials(store_place)
        self._clock = clock

    @asynccontextmanager
    async def making(self, job_id: str) -> AsyncIterator[Path]:
        """The job's folder, made now: nobody takes it for left over within the block. Raises
        PlatformError."""
        folder = self._folders / job_id
        try:
            while (mark := await TRAINING.run(self._marked, folder, make=True)) is None:
                await self._clock.sleep(_PAUSE_SECONDS)
        except OSError as error:
            raise PlatformError(f"the job's folder {folder} cannot be made: {error}", step="accept job") from error
        try:
            yield folder
        finally:
            await TRAINING.run(_settle, folder, mark)

    @asynccontextmanager
    async def removing(self, job_id: str) -> AsyncIterator[None]:
        """The job is deleted within the block, and its folder after it. Where that is not done, or the block raises,
        the folder stays."""
        folder = self._folders / job_id
        mark = None
        with suppress(OSError):  # without a mark it stays for good where this process dies before it was removed
            mark = await TRAINING.run(self._marked, folder, make=False)
        try:
            yield
            await self.remove(job_id)
        finally:
            if mark is not None:
                await TRAINING.run(_settle, folder, mark)

    async def remove(self, job_id: str) -> None:
        """Remove the folder of a job that is no more, if there is one."""
        await TRAINING.run(_remove, self._folders / job_id)

    async def remove_left(self, is_there: Callable[[str], Awaitable[bool]]) -> None:
        """Remove what processes have left that died while they accepted or deleted jobs; `is_there` tells whether there
        is a job of this id. Raises what it raises."""
        for folder in await TRAINING.run(self._left):
            mark = await TRAINING.run(self._taken, folder)
            if mark is None:
                continue
            try:
                if not await is_there(folder.name):
                    await TRAINING.run(_remove, folder)
            finally:
                await TRAINING.run(_settle, folder, mark)

    def _left(self) -> list[Path]:
        """The folders with a mark; those that were being removed are gone now."""
        found = []
        with suppress(OSError):
            for entry in [*os.scandir(self._folders)]:
                if entry.name.startswith(_REMOVED):
                    shutil.rmtree(entry.path, ignore_errors=True)
                elif os.path.lexists(os.path.join(entry.path, MARK)):
                    found.append(Path(entry.path))
        return found

    def _marked(self, folder: Path, *, make: bool) -> int | None:
        """A descriptor that holds the folder's mark; None = somebody else does, or there is no folder to be marked."""
        if make:
            private_folder(folder.parent)
            private_folder(folder)
        try:
            mark = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # removed just now
            return None
        if not _locked(mark, folder):
            os.close(mark)
            return None
        os.ftruncate(mark, 0)
        os.write(mark, self._store.encode())
        return mark

    def _taken(self, folder: Path) -> int | None:
        """A descriptor that holds a mark which was left over; None = its process lives, or it is another store's."""
        try:
            mark = os.open(folder / MARK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        with suppress(OSError):
            # one that was not written yet marks nothing: its folder has been made just now, or its job stands
            if _locked(mark, folder, or_no_locks=False) and os.pread(mark, 65536, 0) in (self._store.encode(), b""):
                return mark
        os.close(mark)
        return None


def _locked(mark: int, folder: Path, *, or_no_locks: bool = True) -> bool:
    """Whether this descriptor holds the lock of the folder's mark now."""
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS or not or_no_locks:
            return False
    try:
        there = os.stat(folder / MARK)
    except OSError:
        return False
    return os.path.samestat(there, os.fstat(mark))


def _settle(folder: Path, mark: int) -> None:
    with suppress(OSError):  # the folder is gone, and its mark with it
        os.unlink(folder / MARK)
    os.close(mark)


def _remove(folder: Path) -> None:
    removed = folder.with_name(f"{_REMOVED}{secrets.token_hex(8)}")
    with suppress(OSError):  # there is none
        folder.rename(removed)
    shutil.rmtree(removed, ignore_errors=True)


def _without_credentials(place: Path | str) -> str:
    if isinstance(place, Path):
        return str(place.absolute())
    parts = urlsplit(place)
    return f"{parts.hostname}:{parts.port}{parts.path}"
