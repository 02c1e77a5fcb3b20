"""Errors about task directories of a job name no place of the server."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from harena.core.errors import ValidationError
from harena.jobs.benchmark.task_folders import TaskFolders
from harena.scoring.formats import import_scenarios


def test_a_home_that_is_a_link_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a task are read where links lead to."""
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to("real")
    monkeypatch.setenv("HARENA_HOME", str(tmp_path / "home"))
    archive = tmp_path / "tasks.tar"
    with tarfile.open(archive, "w") as tar:
        for name, content in (("t/task.toml", b"\xff"), ("t/tests/test.sh", b""), ("t/instruction.md", b"")):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    folder = TaskFolders(None).unpacked("one", archive)
    with pytest.raises(ValidationError) as raised:
        import_scenarios(folder.path)
    assert str(tmp_path) in str(raised.value)
    assert str(tmp_path) not in folder.shown(str(raised.value))
    folder.remove()
