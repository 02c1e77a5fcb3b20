"""Files in requests: read as files are, so that a mistake is told with its line."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from harena.core.errors import ValidationError
from harena.core.spool import spooled
from harena.core.threads import UPLOADS
from harena.server import shapes


@asynccontextmanager
async def with_files(given: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """`given` with each `ScenarioFile` as the path of a file, gone at the end. In messages it has its own name."""
    files = {field: file for field, file in given.items() if isinstance(file, shapes.ScenarioFile)}
    if not files:
        yield {**given}
        return
    async with spooled("harena-scenarios-") as folder:
        written = {field: await _write_file(folder, field, file) for field, file in files.items()}
        try:
            yield {**given, **written}
        except ValidationError as error:
            text = str(error)
            for field in files:
                text = text.replace(f"{folder}/{field}/", "")
            raise ValidationError(text, reason=error.reason) from error


async def _write_file(folder: str, field: str, given: shapes.ScenarioFile) -> Path:
    name = PurePosixPath(given.file_name).name
    if not name or name in (".", "..") or "\0" in name or len(name.encode("utf-8", "replace")) > 255:
        raise ValidationError(f"{field}.file_name {given.file_name!r}: give the name of a file, as a.yaml")
    path = Path(folder) / field / name
    await UPLOADS.run(path.parent.mkdir)
    await UPLOADS.run(path.write_text, given.text, encoding="utf-8")
    return path
