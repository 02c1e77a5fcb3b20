"""A benchmark job as it is sent: its scenarios line by line where they are rows or lines, or behind the first line as
an archive where they are task directories; else one body of JSON.

Lines of files are sent as they are. Rows that were given as objects are written to a file of this machine first: so
they are in memory one after the other, are taken from whoever makes them only once, and can be sent again.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from harena.core.checked import quote
from harena.core.errors import ValidationError
from harena.core.row_endings import LINE_ENDINGS
from harena.core.rows import check_json, written_rows
from harena.core.task_archives import ENDING, MOST_ARCHIVE_BYTES, archive_of
from harena.sdk.http.given_files import parsed_grader, read_file
from harena.sdk.task_archives import packed_tasks

JSON = "application/json"
LINES = "application/x-ndjson"
PIECE_BYTES = 1 << 18
_WORDS = (("candidates", "oracle"), ("candidates", "nop"))
"""values of a request's fields that name no file"""


class JobUpload:
    """One request to create a job. Made by `opened`; `close` it."""

    def __init__(
        self, head: bytes, lines: Sequence[IO[bytes]], stack: ExitStack, archive: IO[bytes] | None = None
    ) -> None:
        self._head = head
        self._lines = lines
        self._archive = archive
        self.close = stack.close

    @classmethod
    def open_request(cls, request: Mapping[str, Any], *, by_lines: bool = True) -> JobUpload:
        """What is to be sent, with the files of this machine; `by_lines` where the route takes lines. Not for the event
        loop. Raises ValidationError."""
        with ExitStack() as stack:
            content = dict(request)
            archive = _archive(content, stack) if by_lines else None
            scenarios = _lines(content, "scenarios", stack) if by_lines and archive is None else None
            has_lines = archive is not None or scenarios is not None
            candidates = _lines(content, "candidates", stack) if has_lines else None
            if candidates is not None:
                content["candidates"] = {**(content["candidates"] or {}), "lines": _count(candidates)}
            for field in ("scenarios", "candidates", "grader"):
                given = content.get(field)
                if isinstance(given, str | os.PathLike) and (field, given) not in _WORDS:
                    file = read_file(_path(given, field))
                    content[field] = parsed_grader(file) if field == "grader" else file
                elif isinstance(given, tuple | Iterator):
                    content[field] = list(given)
            for field, part in content.items():
                check_json(part, field, finite=True)
            files = [file for file in (candidates, scenarios) if file is not None]
            return cls(json.dumps(content).encode() + b"\n", files, stack.pop_all(), archive)

    @property
    def content_type(self) -> str:
        """Content type of the body."""
        return LINES if self._lines or self._archive is not None else JSON

    async def body(self) -> AsyncIterator[bytes]:
        """From its begin."""
        yield self._head
        for file in self._lines:
            file.seek(0)
            last = b"\n"
            while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
                last = piece[-1:]
                yield piece
            if last != b"\n":
                yield b"\n"
        if self._archive is not None:
            self._archive.seek(0)
            while piece := await asyncio.to_thread(self._archive.read, PIECE_BYTES):
                yield piece


def _archive(content: dict[str, Any], stack: ExitStack) -> IO[bytes] | None:
    """The task directories that are given as scenarios, whose place has the archive's name then; None = they are
    something else."""
    given = content.get("scenarios")
    if not isinstance(given, str | os.PathLike):
        return None
    path = _path(given, "scenarios")
    try:
        if archive_of(path) is not None:
            file: IO[bytes] = stack.enter_context(path.open("rb"))
            content["scenarios"] = {"file_name": path.name}
            return file
        if not path.is_dir():
            return None
        file = stack.enter_context(tempfile.TemporaryFile(prefix="harena-tasks-"))  # noqa: SIM115 - the stack is one
        size = 0
        for piece in packed_tasks(path):
            size += file.write(piece)
            if size > MOST_ARCHIVE_BYTES:
                raise ValidationError(
                    f"the task directories in {path} have more than {MOST_ARCHIVE_BYTES} bytes, the most that one job "
                    "may bring to a server: give it fewer of them, or images that are built already (docker_image)",
                    reason="TOO_LARGE",
                )
    except OSError as error:
        raise _unread(Path(error.filename or path), error) from None
    content["scenarios"] = {"file_name": f"{path.resolve().name}{ENDING}"}
    return file


def _path(given: str | os.PathLike[str], field: str) -> Path:
    if "\0" in (text := os.fspath(given)):
        raise ValidationError(f"{field}: {quote(text)} is no name of a file: there is a NUL in it")
    return Path(given)


def _lines(content: dict[str, Any], field: str, stack: ExitStack) -> IO[bytes] | None:
    """The lines of a field, which holds what else there is to say of them then; None = it is not sent as lines."""
    given = content.get(field)
    if isinstance(given, list | tuple | Iterator):
        spool = stack.enter_context(tempfile.TemporaryFile(prefix="harena-rows-"))  # noqa: SIM115 - the stack is one
        spool.writelines(written_rows(given, field))
        content[field] = None
        return spool
    if not isinstance(given, str | os.PathLike) or Path(given).suffix.lower() not in LINE_ENDINGS:
        return None
    path = _path(given, field)
    try:
        file = stack.enter_context(path.open("rb"))
    except OSError as error:
        raise _unread(path, error) from None
    content[field] = {"file_name": path.name}
    return file


def _count(file: IO[bytes]) -> int:
    file.seek(0)
    lines, last = 0, b"\n"
    while piece := file.read(PIECE_BYTES):
        lines, last = lines + piece.count(b"\n"), piece[-1:]
    return lines if last == b"\n" else lines + 1


def _unread(path: Path, error: OSError) -> ValidationError:
    return ValidationError(f"{path} cannot be read: {error.strerror}")
