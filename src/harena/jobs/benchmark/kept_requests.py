"""The stored request of a durable job: everything that another node needs to continue it, until it has ended.

Files are stored byte by byte and read again with the same reader; objects are stored as JSON. So the runs before and
after a crash are made of the same input. A kept request is one line of JSON, {blueprint, format,
scenarios, candidates, grader, files}, and behind it the files that `files` names, [field, file name or None for rows,
bytes] each, in this order; all of it compressed.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from harena.core.errors import ValidationError
from harena.core.json_steps import parse_kept
from harena.core.rows import RowsFile, check_json
from harena.core.task_archives import archive_of
from harena.jobs.benchmark.job_scenarios import sources_to_store

if TYPE_CHECKING:
    from harena.jobs.catalog import CatalogReader

PIECE_BYTES = 1 << 20
PACKED_PIECE_BYTES = 1 << 16
"""decompressed at a time; becomes at most a thousand times as much"""
_SOURCES = ("scenarios", "candidates", "grader")


@dataclass(frozen=True, slots=True)
class KeptParts:
    """A request that can be kept: what of it is JSON, and the files beside that."""

    header: dict[str, Any]
    files: list[tuple[str, str | None, Path]]


def parts_to_store(sources: Mapping[str, Any], reader: CatalogReader) -> KeptParts:
    """The request's parts. Files and `RowsFile`s are kept as they are, unless they may name stored contracts: those are
    kept with the versions that they mean now. Raises ValidationError for what cannot be kept."""
    files: list[tuple[str, str | None, Path]] = []
    for field in _SOURCES:
        source = sources.get(field)
        if isinstance(source, RowsFile):
            files.append((field, None, source.path))
        elif isinstance(source, str | os.PathLike) and os.path.isfile(source):
            files.append((field, Path(source).name, Path(source)))
    files = [one for one in files if archive_of(one[2]) is not None or not _may_refer(one[2])]
    header = sources_to_store({**sources, **{field: None for field, _, _ in files}}, reader)
    for field, part in header.items():
        check_json(part, field)
    return KeptParts(header, files)


def pack_request(parts: KeptParts, blueprint: str | None) -> bytes:
    """The request as it is stored."""
    files = parts.files
    sizes = [path.stat().st_size for _, _, path in files]
    named = [[field, name, size] for (field, name, _), size in zip(files, sizes, strict=True)]
    header = {**parts.header, "blueprint": blueprint, "files": named}
    compress = zlib.compressobj(level=1)
    pieces = [compress.compress(json.dumps(header).encode() + b"\n")]
    for (_, _, path), size in zip(files, sizes, strict=True):
        with path.open("rb") as file:
            pieces += (compress.compress(piece) for piece in _exactly(file, size))
    return b"".join([*pieces, compress.flush()])


def unpacked(request: bytes, folder: Path) -> dict[str, Any]:
    """The sources and the blueprint of a kept request; its files are put into `folder`, and are the caller's to remove.
    Raises ValueError, KeyError or zlib.error for what is none."""
    rest = _Decompressor(request)
    header: dict[str, Any] = parse_kept(rest.line())
    for field, name, size in header.pop("files", ()):
        path = folder / field / Path(name or "rows").name
        path.parent.mkdir()
        with path.open("wb") as file:
            for piece in rest.pieces(size):
                file.write(piece)
        header[field] = RowsFile(path, field) if name is None else path
    return header


class _Decompressor:
    """Decompressed piece by piece."""

    def __init__(self, request: bytes) -> None:
        self._decompress = zlib.decompressobj()
        self._request = memoryview(request)
        self._at = 0
        self._ready = b""

    def line(self) -> bytes:
        """Read to the next line's end, or all there is."""
        found = [self._ready]
        while b"\n" not in found[-1] and (piece := self._piece()):
            found.append(piece)
        line, _, self._ready = b"".join(found).partition(b"\n")
        return line

    def pieces(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes. Raises ValueError where they are not there."""
        while size:
            piece = self._ready or self._piece()
            if not piece:
                raise ValueError(f"{size} bytes are missing")
            taken, self._ready = piece[:size], piece[size:]
            size -= len(taken)
            yield taken

    def _piece(self) -> bytes:
        piece = b""
        while not piece and self._at < len(self._request):
            piece = self._decompress.decompress(self._request[self._at : self._at + PACKED_PIECE_BYTES])
            self._at += PACKED_PIECE_BYTES
        return piece


def _may_refer(path: Path) -> bool:
    """Somewhere in the file is the word with which scenarios name a stored contract."""
    with path.open("rb") as lines:
        return any(b"contract" in line for line in lines)


def _exactly(file: IO[bytes], size: int) -> Iterator[bytes]:
    while size:
        piece = file.read(min(size, PIECE_BYTES))
        if not piece:
            raise ValidationError(f"{file.name} changed while it was read; ask again")
        size -= len(piece)
        yield piece
