"""The Python blocks of the README and the documentation, run in fresh processes, as a reader would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from check_docs import Block, documents, programs  # noqa: E402

pytestmark = pytest.mark.thorough

BLOCKS = [block for path in documents() for block in programs(path)]
SECONDS, LONG_SECONDS = 90, 580


def named(block: Block) -> str:
    return f"{block.path.relative_to(ROOT)}:{block.line}"


@pytest.mark.parametrize("block", [block for block in BLOCKS if not block.is_long], ids=named)
def test_documented_code_runs(block: Block, tmp_path: Path) -> None:
    """It ends with exit code 0, in an empty directory and with an empty home."""
    run(block, tmp_path, SECONDS)


@pytest.mark.slow
@pytest.mark.timeout(LONG_SECONDS + 20)
@pytest.mark.parametrize("block", [block for block in BLOCKS if block.is_long], ids=named)
def test_a_tutorial_runs_from_its_first_block_to_its_last(block: Block, tmp_path: Path) -> None:
    """What it trains learns: the assertions of the tutorial hold."""
    run(block, tmp_path, LONG_SECONDS)


def run(block: Block, tmp_path: Path, seconds: float) -> None:
    (tmp_path / "example.py").write_text(block.text, encoding="utf-8")
    environment = os.environ | {"HOME": str(tmp_path), "HARENA_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=seconds
    )
    assert done.returncode == 0, f"{block.path}:{block.line}\n{done.stdout}\n{done.stderr}"


def test_the_readme_has_an_example_that_runs() -> None:
    """The first thing that a reader tries."""
    assert any(block.path.name == "README.md" for block in BLOCKS)
