"""What a process keeps on the disk for a short time lies in harena's home, and goes with it."""

from __future__ import annotations

import ast
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import harena
from harena.core.home import SPOOL
from harena.core.spool import remove_left_spools, spool_folder

_HOLDS_ONE = """
import os, signal, sys
from harena.core.spool import spool_folder
folder = spool_folder("harena-test-")
print(folder.name, flush=True)
sys.stdin.read()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_folders_of_killed_processes_are_removed_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of one that lives nor of this one."""
    monkeypatch.setenv("HARENA_HOME", str(tmp_path))
    with (
        spool_folder("harena-test-") as own,
        subprocess.Popen(
            [sys.executable, "-c", _HOLDS_ONE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        other = Path(process.stdout.readline().strip())
        remove_left_spools(tmp_path)
        assert other.is_dir()
        assert stat.S_IMODE(other.parent.stat().st_mode) == 0o700
        process.stdin.close()
        process.wait()
        assert other.is_dir(), "a process that is killed removes nothing"
        remove_left_spools(tmp_path)
        assert not other.parent.exists()
        assert Path(own).is_dir()
    assert not Path(own).exists()
    assert [*(tmp_path / SPOOL).iterdir()] == []


def test_the_folder_of_a_process_goes_with_the_last_that_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that has ended leaves nothing, and keeps no descriptor for what it may never need again."""
    monkeypatch.setenv("HARENA_HOME", str(tmp_path))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        first, second = spool_folder("harena-test-"), spool_folder("harena-test-")
        (Path(first.name) / "lines").write_text("{}")
        first.cleanup()
        first.cleanup()
        assert Path(second.name).is_dir()
        with second:
            pass
        assert [*(tmp_path / SPOOL).iterdir()] == []
    assert len(os.listdir("/proc/self/fd")) == before


def test_no_home_has_nothing_to_remove(tmp_path: Path) -> None:
    """A first start."""
    remove_left_spools(tmp_path)


@pytest.mark.parametrize("room", ["node", "server"])
def test_nothing_that_a_request_brings_goes_to_the_temporary_folder(room: str) -> None:
    """TMPDIR may be the memory of the machine, and is not this process's alone."""
    users = [
        path.name
        for path in (Path(harena.__file__).parent / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Import) and any(alias.name == "tempfile" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "tempfile")
    ]
    assert users == []
