"""A test that holds the interpreter is ended, and named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CONFTEST = """
import hangs

hangs.GRACE_SECONDS = 0.2

def pytest_configure(config):
    config.pluginmanager.register(hangs)
"""
TEST = """
import itertools
import pytest

@pytest.mark.timeout(0.2)
def test_in_machine_code():
    sum(itertools.repeat(0))

def test_beside_it():
    pass
"""


def test_a_test_that_no_signal_ends_is_ended(tmp_path: Path) -> None:
    """Where it stands is written, and its process has failed."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "none.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    command = [sys.executable, "-m", "pytest", "-c", "none.ini", "--rootdir", str(tmp_path), str(tmp_path)]
    path = str(Path(__file__).parents[1])
    ended = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": path}, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1, ended.stdout
    assert "line 7 in test_in_machine_code" in ended.stderr
    assert "passed" not in ended.stdout
