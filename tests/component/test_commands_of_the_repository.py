"""The repository's one-command verbs and its shell scripts."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", ["demo", "test", "test-unit", "test-all", "test-battery", "lint", "bench", "docs"])
def test_make_has_the_verb_and_explains_it(target: str) -> None:
    """`make help` lists it."""
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.search(rf"^  make {target} +\w", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("name", [".ci/run", "scripts/setup", "scripts/system-packages"])
def test_shell_scripts_are_executable_and_parse(name: str) -> None:
    """bash -n reads them without running them."""
    assert os.access(ROOT / name, os.X_OK)
    subprocess.run(["bash", "-n", ROOT / name], check=True)
