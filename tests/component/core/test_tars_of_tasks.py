"""Archives of task directories as the system's `tar` makes them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harena.core.task_archives import unpack_tasks


def taken(folder: Path) -> dict[str, tuple[int, bytes | str | None]]:
    """path -> (mode, content) of all that lies below."""
    found: dict[str, tuple[int, bytes | str | None]] = {}
    for path in sorted(folder.rglob("*")):
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[path.relative_to(folder).as_posix()] = (path.lstat().st_mode, content)
    return found


@pytest.mark.parametrize("form", ["gnu", "posix"])
def test_what_tar_itself_writes_of_a_folder_is_taken(tmp_path: Path, form: str) -> None:
    """Files and links with two names, and files with holes: more parts than one header has room for, and none."""
    task, arrived = tmp_path / "given/t", tmp_path / "arrived"
    task.mkdir(parents=True)
    arrived.mkdir()
    (task / "run.sh").write_text("#!/bin/sh\n")
    (task / "run.sh").chmod(0o755)
    (task / "run2.sh").hardlink_to(task / "run.sh")
    (task / "link").symlink_to("run.sh")
    os.link(task / "link", task / "link2", follow_symlinks=False)
    for name, parts in {"one": 1, "many": 60, "none": 0}.items():
        with (task / name).open("wb") as out:
            for number in range(parts):
                out.seek(number * 65536 + 4096)
                out.write(b"x" * 4096)
            out.truncate(parts * 65536 + 100_000)
    packed = tmp_path / "tasks.tar"
    subprocess.run(["tar", "-S", "-cf", packed, f"--format={form}", "-C", task.parent, "t"], check=True)
    assert packed.stat().st_size < 1_000_000
    charged: list[int] = []
    with packed.open("rb") as stream:
        unpack_tasks(stream, arrived, charged.append)
    assert taken(arrived) == taken(task.parent)
    assert sum(charged) > 61 * 65536
