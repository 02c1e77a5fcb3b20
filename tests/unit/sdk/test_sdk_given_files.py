"""Files that are named in a request to a server: their content goes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from harena.core.errors import ValidationError
from harena.sdk.http.given_files import with_contents

TEXT = '{"task_id": "ü"}\n'


async def test_a_compressed_file_is_sent_as_what_is_in_it(tmp_path: Path) -> None:
    """The server tells the format from the name, which is that of the file inside."""
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(TEXT.encode(), mtime=0))
    (tmp_path / "rows.jsonl").write_text(TEXT, encoding="utf-8")
    for name in ("rows.jsonl.gz", "rows.jsonl"):
        request = {"scenarios": str(tmp_path / name), "candidates": "oracle", "name": "n"}
        sent = await with_contents(request)
        assert sent == {**request, "scenarios": {"file_name": "rows.jsonl", "text": TEXT}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"no gzip", "cannot be read: Not a gzipped file"),
        (gzip.compress(TEXT.encode(), mtime=0)[:-9], "cannot be read: Compressed file ended before"),
        (gzip.compress(b"\xff", mtime=0), "is not UTF-8"),
    ],
)
async def test_what_cannot_be_read_is_told(tmp_path: Path, content: bytes, says: str) -> None:
    """Before anything is sent."""
    (tmp_path / "rows.jsonl.gz").write_bytes(content)
    with pytest.raises(ValidationError, match=says):
        await with_contents({"scenarios": str(tmp_path / "rows.jsonl.gz")})
