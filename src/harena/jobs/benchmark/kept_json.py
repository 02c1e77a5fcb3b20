"""Stored JSON documents: requests of durable jobs, and entries of the catalogue."""

from __future__ import annotations

import json
import os
import zlib
from typing import Any

from harena.core.errors import ValidationError
from harena.core.json_steps import parse_kept
from harena.core.rows import RowsFile


def pack(value: Any) -> bytes:
    """JSON, compressed."""
    return zlib.compress(json.dumps(value).encode(), level=1)


def unpack(packed: bytes) -> Any:
    """What was packed. Raises ValueError and zlib.error."""
    return parse_kept(zlib.decompress(packed))


def content_of(source: Any, why: str) -> Any:
    """What a file holds; everything else as it is, the words for a data set's own answers too. Raises ValidationError
    for a folder, and what reading a scenario file raises."""
    from harena.scoring.formats.importing import NOP, ORACLE

    if isinstance(source, RowsFile):
        return [*source]
    if not isinstance(source, str | os.PathLike) or source in (NOP, ORACLE) or not os.path.exists(source):
        return source
    if os.path.isdir(source):
        raise ValidationError(f"{os.fspath(source)} is a folder, and {why}; give task directories to a job itself")
    from harena.scoring.reading import LinesDocument, read_document

    document = read_document(os.fspath(source))
    if not isinstance(document, LinesDocument):
        return document.content
    rows = [*document.content["scenarios"]]  # which are read as they are taken
    # a mapping with `scenarios` is harena's own, and these may be others'
    return rows if document.content.keys() == {"scenarios"} else {**document.content, "scenarios": rows}
