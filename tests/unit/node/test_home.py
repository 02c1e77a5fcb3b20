"""The place where a node keeps what outlives it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harena.core.errors import ValidationError
from harena.node import open_embedded


async def test_a_home_that_cannot_be_used_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file, something below a file, and where nothing can be made; with the variable to set."""
    (tmp_path / "file").write_text("")
    for home, why in (
        (tmp_path / "file", "it is not a directory"),
        (tmp_path / "file" / "below", "Not a directory"),
        (Path("/proc/none"), "No such file or directory"),
    ):
        monkeypatch.setenv("HARENA_HOME", str(home))
        with pytest.raises(ValidationError, match="set HARENA_HOME to a directory that you can write to") as caught:
            await open_embedded()
        assert f"harena cannot keep anything in {home}: {why}" in str(caught.value)
