"""How the program in an answer is run in a task's environment."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import pytest

from harena.training.environments.task_episodes import TaskEnvironment
from harena.training.environments.tasks import task_of


class Place:
    """A sandbox whose files lie in a folder here, and whose commands run there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sandbox = self
        self.directory = str(folder / "work")
        Path(self.directory).mkdir()
        self.seen: list[set[str]] = []

    def at(self, path: str) -> Path:
        return Path(path) if path.startswith(self.directory) else self.folder / path.lstrip("/")

    async def write_file(self, path: str, content: bytes, mode: int = 0o644) -> None:
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        self.at(path).write_bytes(content)

    async def exec(self, argv: Sequence[str], seconds: float) -> Any:
        self.seen.append(set(os.listdir(self.directory)))
        given = [str(self.at(part)) if part.startswith("/tmp/") else part for part in argv]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        run = partial(subprocess.run, capture_output=True, text=True, check=False)
        return await asyncio.to_thread(run, given, cwd=self.directory, env=environment)

    async def remove(self, path: str, *, recursive: bool, missing_ok: bool) -> None:
        shutil.rmtree(self.at(path))


async def _said_by(program: str, acting: Literal["shell", "python"], folder: Path) -> str:
    verification = {"method": "env_flag", "expected": "x"}
    task = task_of({"name": "t", "version": "1.0.0", "instruction": "do it", "verification": verification})
    environment = TaskEnvironment(task, acting=acting, seconds=10.0)
    place = Place(folder)
    Path(place.directory, "beside.py").write_text("SAID = 'bash'\n")
    environment._opened = cast(Any, place)
    environment._ends_at = float("inf")
    await environment.step(program)
    assert place.seen == [{"beside.py"}]
    assert os.listdir(place.directory) == ["beside.py"]
    assert not [path for path in folder.rglob("*") if path.name.startswith("completion")]
    return environment._told[-1].strip()


@pytest.mark.parametrize(
    "program",
    [
        "#!/bin/bash\nset -euo pipefail\necho bash",
        "```bash\nif [[ 1 == 1 ]]; then echo bash; fi\n```",
        'set -o pipefail; a=(bash); echo "${a[0]}"',
        "Sure:\n```sh\ncat <<< bash\n```",
        "function f { echo bash; }; f",
        "printf '%s\\n' bash",
        "#!/usr/bin/env python3\nprint('bash')",
        "#!/bin/sh\necho bash",
        "#!'\necho bash",
    ],
)
async def test_a_program_for_a_shell_is_run_by_the_one_that_it_is_for(program: str, tmp_path: Path) -> None:
    """Its first line says which; without one it is bash, which models write for. No file of it is left."""
    assert await _said_by(program, "shell", tmp_path) == "bash"


async def test_a_program_finds_the_modules_of_the_working_directory(tmp_path: Path) -> None:
    """Though it lies elsewhere, so that what is counted there is what it has made."""
    assert await _said_by("```python\nimport beside\nprint(beside.SAID)\n```", "python", tmp_path) == "bash"
