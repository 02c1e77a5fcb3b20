"""A node for one test whose jobs train, and files of rows for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harena


@pytest.fixture
def one_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A home of its own, and one thread to a worker."""
    harena.shutdown()
    monkeypatch.setenv("HARENA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    yield
    harena.shutdown()


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    """The path of a file that holds these rows."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)
