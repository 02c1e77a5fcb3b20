"""A benchmark job whose scenarios are sent line by line: they go to a file as they come, and never all into the memory.
The first line is held in it, as a body of JSON is, and has room of the same share.

line 1             the job, as in a body of JSON; `scenarios` is left out, or {"file_name": NAME} where the lines are
                   those of a file; `candidates` may be {"lines": N}, with or without "file_name"
the next N lines   the candidates, where line 1 says so
all others         the scenarios, one to a line

Where line 1 names a file that ends in `.tar`, an archive of task directories comes in place of the scenarios' lines
(`harena.core.task_archives`). What it holds is read into the memory while the job is accepted, and has room there.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, cast

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError as PydanticError

from harena.core.errors import ValidationError
from harena.core.models import MIB
from harena.core.requests import BenchmarkJobFields
from harena.core.rows import RowsFile
from harena.core.spool import Spool
from harena.core.task_archives import ENDING, MOST_ARCHIVE_BYTES
from harena.core.threads import UPLOADS
from harena.core.workspace import WorkspaceLimits
from harena.server import shapes
from harena.server.bodies import read_json
from harena.server.bounds import MOST_JSON_BYTES
from harena.server.request_shares import Share, needed_for_more

WRITTEN_BYTES = MIB
"""put into a file at a time"""
_FIRST = "the first line"


class Upload:
    """One request's lines, in files; `close` removes them."""

    def __init__(self, folder: Spool, disk: Share, memory: Share, limits: WorkspaceLimits) -> None:
        """`folder`: where they lie; `disk`, `memory`: shares of what the workspace's requests may have together."""
        self._folder = folder
        self._disk = disk
        self._memory = memory
        self._limits = limits
        self._digest = hashlib.sha256()
        self._ahead = b""
        self._sources: dict[str, Path | RowsFile] = {}
        self._line = 1
        self._line_bytes = 0
        self._has_lines = True
        self._asked: shapes.JobLinesBody | None = None

    async def close(self) -> None:
        """Remove the files, and give back their room."""
        try:
            await UPLOADS.run(self._folder.cleanup)
        finally:
            self._disk.release()
            self._memory.release()

    @property
    def fingerprint(self) -> bytes:
        """A digest that is equal for equal uploads only."""
        return self._digest.digest()

    def request(self) -> BenchmarkJobFields:
        """The request in the form that the node takes."""
        assert self._asked is not None
        request = self._asked.model_dump(include={"name", "blueprint_id", "format", "grader"})
        request["config"] = self._asked.config.model_dump(exclude_unset=True)
        return cast("BenchmarkJobFields", {**request, "candidates": self._asked.candidates, **self._sources})

    def without_folder(self, message: str) -> str:
        """An error's message, with the names that the sender gave."""
        for field in ("scenarios", "candidates"):
            message = message.replace(f"{self._folder.name}/{field}/", "")
        return message

    async def read(self, body: AsyncIterator[bytes]) -> None:
        """Take all of it. Raises ValidationError (also 413), RequestValidationError and LimitExceededError."""
        pieces = self._check_pieces(body)
        self._asked = asked = await _read_job(await self._first_line(pieces))
        candidates = asked.candidates
        if isinstance(candidates, shapes.LinesBody):
            await self._write("candidates", candidates.file_name, pieces, lines=candidates.lines)
        elif isinstance(candidates, shapes.ScenarioFile):
            path = await self._path("candidates", candidates.file_name)
            await UPLOADS.run(path.write_text, candidates.text, encoding="utf-8")
            self._sources["candidates"] = path
        named = None if asked.scenarios is None else asked.scenarios.file_name
        if named is not None and named.endswith(ENDING):
            await self._write_archive(named, pieces)
        else:
            await self._write("scenarios", named, pieces)

    async def _check_pieces(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for piece in body:
            self._disk.grow(len(piece), self._limits.request_disk_bytes)
            self._digest.update(piece)
            if not self._has_lines:
                yield piece
                continue
            first, last = piece.find(b"\n"), piece.rfind(b"\n")
            self._line_bytes += len(piece) if first < 0 else first
            if self._line_bytes > MOST_JSON_BYTES:
                message = (
                    f"line {self._line} is larger than {MOST_JSON_BYTES} bytes, the most that one scenario may have"
                )
                raise ValidationError(message, reason="TOO_LARGE")
            if last >= 0:
                self._line += piece.count(b"\n")
                self._line_bytes = len(piece) - last - 1
            if piece:
                yield piece

    async def _first_line(self, pieces: AsyncIterator[bytes]) -> bytes:
        found: list[bytes] = []
        size = 0
        async for piece in pieces:
            line, end, self._ahead = piece.partition(b"\n")
            self._memory.grow(needed_for_more(size, len(line)), self._limits.request_memory_bytes)
            size += len(line)
            found.append(line)
            if end:
                break
        return b"".join(found)

    async def _write(
        self, field: str, file_name: str | None, pieces: AsyncIterator[bytes], *, lines: int | None = None
    ) -> None:
        """Put the next `lines` (None = all that come) into a file of this name, or of rows."""
        path = await self._path(field, file_name or "rows.jsonl")
        self._sources[field] = path if file_name is not None else RowsFile(path, field)
        with await UPLOADS.run(path.open, "wb") as file:
            waiting, size = [], 0
            while lines is None or lines > 0:
                piece, self._ahead = self._ahead or await anext(pieces, b""), b""
                if not piece:
                    break
                if lines is not None:
                    piece, self._ahead, lines = _first_lines(piece, lines)
                waiting.append(piece)
                if has_room := self._memory.has_room(len(piece), self._limits.request_memory_bytes):
                    self._memory.grow(len(piece), self._limits.request_memory_bytes)
                    size += len(piece)
                if size >= WRITTEN_BYTES or not has_room:
                    await UPLOADS.run(_put, file, waiting)
                    self._memory.shrink(size)
                    waiting, size = [], 0
            await UPLOADS.run(_put, file, waiting)
            self._memory.shrink(size)
        if path.suffix == ".gz":
            await UPLOADS.run(_check_unpacked, path, field, self._limits.request_bytes)
        if lines:
            raise ValidationError(f"{field}.lines: {lines} more lines were to come when the body ended")

    async def _write_archive(self, file_name: str, pieces: AsyncIterator[bytes]) -> None:
        self._has_lines = False
        self._sources["scenarios"] = path = await self._path("scenarios", file_name)
        with await UPLOADS.run(path.open, "wb") as file:
            piece, self._ahead, size = self._ahead, b"", 0
            while piece or (piece := await anext(pieces, b"")):
                size += len(piece)
                if size > MOST_ARCHIVE_BYTES:
                    raise ValidationError(
                        f"{path.name} has more than {MOST_ARCHIVE_BYTES} bytes, the most that tasks of one job "
                        "may have",
                        reason="TOO_LARGE",
                    )
                self._memory.grow(len(piece), self._limits.request_memory_bytes)
                await UPLOADS.run(file.write, piece)
                piece = b""

    async def _path(self, field: str, file_name: str) -> Path:
        path = Path(self._folder.name) / field / checked_file_name(field, file_name)
        await UPLOADS.run(path.parent.mkdir)
        return path


def checked_file_name(field: str, given: str) -> str:
    """The last step of a file's name. Raises ValidationError."""
    name = PurePosixPath(given).name
    if not name or name in (".", "..") or "\0" in name or len(name.encode("utf-8", "replace")) > 255:
        raise ValidationError(f"{field}.file_name {given!r}: give the name of a file, as a.yaml")
    return name


async def _read_job(line: bytes) -> shapes.JobLinesBody:
    if not line.strip():
        raise ValidationError(f'{_FIRST} is the job, as {{"name": "nightly"}}, and it is empty')
    value = await read_json(line, _FIRST)
    try:
        return shapes.JobLinesBody.model_validate(value)
    except PydanticError as error:
        mistakes = [{**mistake, "loc": ("body", *mistake["loc"])} for mistake in error.errors(include_url=False)]
        raise RequestValidationError(mistakes) from None


def _first_lines(piece: bytes, lines: int) -> tuple[bytes, bytes, int]:
    """(up to the end of that many lines, what is behind them, how many are still to come)"""
    there = piece.count(b"\n")
    if there < lines:
        return piece, b"", lines - there
    end = 0
    for _ in range(lines):
        end = piece.index(b"\n", end) + 1
    return piece[:end], piece[end:], 0


def _check_unpacked(path: Path, field: str, most_bytes: int) -> None:
    """Raises ValidationError where a packed file holds more than could have been sent as it is. Whoever reads it says
    what else is wrong with it."""
    size = line = 0
    with suppress(OSError, EOFError, zlib.error), gzip.open(path, "rb") as file:
        while piece := file.read(MIB):
            size += len(piece)
            first, last = piece.find(b"\n"), piece.rfind(b"\n")
            line += len(piece) if first < 0 else first
            if size > most_bytes or line > MOST_JSON_BYTES:
                what = f"{most_bytes} bytes" if size > most_bytes else f"{MOST_JSON_BYTES} bytes in one line"
                raise ValidationError(f"{field}: {path.name} unpacks to more than {what}", reason="TOO_LARGE")
            if last >= 0:
                line = len(piece) - last - 1


def _put(file: IO[bytes], pieces: list[bytes]) -> None:
    file.write(b"".join(pieces))
