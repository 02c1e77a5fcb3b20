"""Task directories that jobs have come with as archives: each lies unpacked in this process's spool until its job has
ended here, because images are built of it meanwhile. What those of one workspace take on the disk has a bound."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from harena.core.errors import LimitExceededError, PlatformError
from harena.core.spool import Spool, spool_folder
from harena.core.task_archives import unpack_tasks
from harena.core.threads import NODE, SCENARIOS
from harena.core.workspace import LimitsOf


class _DiskUse:
    """What the folders of each workspace take on the disk. Counted in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes: dict[str, int] = {}

    def change(self, workspace: str, more: int, most: int | None = None) -> None:
        """Raises LimitExceededError where they would take more than `most`."""
        with self._lock:
            taken = self._bytes.get(workspace, 0) + more
            if most is not None and taken > most:
                raise LimitExceededError(
                    f"the task directories of this workspace's jobs may take {most} bytes on the disk at one time "
                    "(request_disk_bytes): wait until a job of task directories has ended, or give this one fewer",
                    reason="BUSY",
                )
            if taken:
                self._bytes[workspace] = taken
            else:
                self._bytes.pop(workspace, None)


class TaskFolder:
    """The unpacked task directories of one job."""

    def __init__(self, workspace: str, spool: Spool, taken: _DiskUse) -> None:
        self.path = Path(spool.name)
        """the directory that the tasks lie in"""
        self._workspace = workspace
        self._spool = spool
        self._taken = taken
        self._bytes = 0

    def unpack(self, archive: Path, most: int | None) -> None:
        """Write the tasks of an archive. `most`: bytes that all folders of the workspace may take; None = no bound.
        Raises ValidationError, LimitExceededError, OSError. Blocking."""

        def charge(more: int) -> None:
            self._taken.change(self._workspace, more, most)
            self._bytes += more

        with archive.open("rb") as source:
            unpack_tasks(source, self.path, charge)

    def shown(self, message: str) -> str:
        """A message about one of its files, without the place of this process's own."""
        for place in (self.path.resolve(), self.path):  # links are followed where its files are read
            message = message.replace(f"{place}/", "").replace(str(place), "the task directories")
        return message

    async def close(self) -> None:
        """Remove it; may be called more than once."""
        try:
            await SCENARIOS.run_for(self._workspace, self.remove)
        except LimitExceededError:  # the workspace's threads are taken, and its disk is given back all the same
            await NODE.run_for("", self.remove)

    def remove(self) -> None:
        """Blocking. What cannot be removed goes with the next start."""
        with suppress(OSError):
            self._spool.cleanup()
        given_back, self._bytes = self._bytes, 0
        self._taken.change(self._workspace, -given_back)


class TaskFolders:
    """Unpacks and counts them for one node. Used from one event loop."""

    def __init__(self, limits_of: LimitsOf | None) -> None:
        """`limits_of`: what a workspace may use; None = everything."""
        self._limits_of = limits_of
        self._taken = _DiskUse()

    async def opened(self, workspace: str, archive: Path) -> TaskFolder:
        """The tasks of a new job's archive. Raises ValidationError, LimitExceededError, PlatformError (the disk)."""
        most = None if self._limits_of is None else (await self._limits_of(workspace)).request_disk_bytes
        return await SCENARIOS.run_for(workspace, lambda: self.unpacked(workspace, archive, most))

    def unpacked(self, workspace: str, archive: Path, most: int | None = None) -> TaskFolder:
        """Unpack the tasks of an archive. `most`: bytes that all folders of the workspace may take; None = no bound, as
        for a job that a node before this one has accepted. Raises what `opened` raises. Blocking."""
        try:
            folder = TaskFolder(workspace, spool_folder("harena-tasks-"), self._taken)
            try:
                folder.unpack(archive, most)
            except BaseException:  # raised again: nobody else knows of the folder
                folder.remove()
                raise
        except OSError as error:
            raise PlatformError(
                f"task directories cannot be unpacked: {error.strerror or error}", step="task directories"
            ) from error
        return folder
