"""Requests that name files: a file is this machine's, and its content is sent."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harena.core.errors import ValidationError

_WORDS = (("candidates", "oracle"), ("candidates", "nop"))
"""values of a request's fields that name no file"""


async def with_contents(
    request: Mapping[str, Any], fields: tuple[str, ...] = ("scenarios", "candidates", "grader", "contract")
) -> dict[str, Any]:
    """The request with the content of each file that one of `fields` names. Raises ValidationError."""
    content = dict(request)
    for field in fields:
        given = content.get(field)
        if isinstance(given, str | Path) and (field, given) not in _WORDS:
            file = await asyncio.to_thread(read_file, Path(given))
            content[field] = parsed_grader(file) if field == "grader" else file
    return content


def parsed_grader(file: Mapping[str, str]) -> Any:
    """The grader that is in a file. Raises ValidationError."""
    try:
        return json.loads(file["text"])
    except ValueError as error:
        raise ValidationError(f"{file['file_name']}: a grader is one JSON object; {error}") from None


def read_file(path: Path) -> dict[str, str]:
    """A file as the server takes it: its name, which says the format, and its text, uncompressed."""
    try:
        if path.suffix == ".gz":
            return {"file_name": path.stem, "text": gzip.decompress(path.read_bytes()).decode("utf-8")}
        return {"file_name": path.name, "text": path.read_text(encoding="utf-8")}
    except UnicodeDecodeError as error:
        raise ValidationError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ValidationError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
