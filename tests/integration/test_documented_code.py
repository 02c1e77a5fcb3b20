"""The Python blocks of the README and the documentation, each run alone in a fresh process, as a reader would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from check_docs import Block, blocks, documents  # noqa: E402

BLOCKS = [block for path in documents() for block in blocks(path) if block.is_run]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.path.relative_to(ROOT)}:{block.line}")
def test_documented_code_runs(block: Block, tmp_path: Path) -> None:
    """It ends with exit code 0, in an empty directory and with an empty home."""
    (tmp_path / "example.py").write_text(block.text, encoding="utf-8")
    environment = os.environ | {"HOME": str(tmp_path), "HARENA_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=90
    )
    assert done.returncode == 0, f"{block.path}:{block.line}\n{done.stdout}\n{done.stderr}"


def test_the_readme_has_an_example_that_runs() -> None:
    """The first thing that a reader tries."""
    assert any(block.path.name == "README.md" for block in BLOCKS)
