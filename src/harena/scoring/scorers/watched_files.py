"""What is read, and what is watched, of files that a candidate's program may have changed."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Protocol

from harena.core.errors import SandboxFileError
from harena.scoring.contracts.parts import folders_of


class ReadsFiles(Protocol):
    """A sandbox, as far as its files are read."""

    def read_file(self, path: str, *, max_bytes: int) -> Awaitable[bytes]:
        """The whole file; one that is larger than `max_bytes` is refused. Raises SandboxFileError."""


async def content_of(sandbox: ReadsFiles, path: str, *, max_bytes: int) -> bytes | None:
    """A file's content; None where it cannot be read, or is larger. Raises SandboxFileError where reading itself failed
    (IO_FAILED): of a regular file that is nothing that a candidate did."""
    try:
        return await sandbox.read_file(path, max_bytes=max_bytes)
    except SandboxFileError as error:
        if error.reason == "IO_FAILED":
            raise
        return None


def folders_above(paths: Iterable[str]) -> list[str]:
    """Every folder above these absolute paths but the root: none of them may take another one's place for a while."""
    return sorted(folders_of(paths))
