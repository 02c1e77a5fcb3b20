"""Locks on the trees of published objects: who publishes a content and who removes its files take turns.

A tree is shared by all workspaces, and a row of the store says who has it. Rows and files change in two steps, so both
steps are done under one lock, chosen by the digest's first two digits: an `asyncio.Lock` within the process, and an
advisory lock (flock) on a file beside the trees between servers that share the folder. Nothing under a lock waits for
threads of a workspace, and no caller who leaves can end it halfway.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from harena.core.clock import Clock
from harena.core.home import private_folder
from harena.core.threads import NODE, work_for

T = TypeVar("T")

POLL_SECONDS = 0.02
"""pause after which a lock that another server holds is tried again; a thread that waited for it would be missing where
its holder needs one"""
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""what file systems without such locks answer: there one server alone may use the folder"""


class TreeLocks:
    """The locks of one folder of trees. Used from one event loop."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        """`folder` need not be there yet."""
        self._folder = folder
        self._clock = clock
        self._locks: dict[str, asyncio.Lock] = {}
        self._under_way: set[asyncio.Task[object]] = set()

    async def hold(self, digest: str, work: Callable[[], Awaitable[T]]) -> T:
        """What `work` returns or raises, done while nobody else works on the tree. It goes on to its end where the
        caller is cancelled. Raises OSError."""
        task = asyncio.ensure_future(self._done(digest[:2], work))
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Returns when nothing is under way."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    async def _done(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        work_for.set("")  # of this task only: who holds a lock of all waits in no line of a workspace
        async with self._locks.setdefault(name, asyncio.Lock()):
            while (file := await NODE.run_for("", lambda: self._locked(name))) is None:
                await self._clock.sleep(POLL_SECONDS)
            try:
                return await work()
            finally:
                os.close(file)

    def _locked(self, name: str) -> int | None:
        """A descriptor that holds the lock until it is closed; None = another process has it."""
        private_folder(self._folder)
        file = os.open(self._folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                os.close(file)
                raise
        return file

    def _ended(self, task: asyncio.Task[object]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # its caller has it, or has gone
