"""What a script says of what was left, in an image that has neither bash nor GNU's find."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from harena.core.models import ExecRequest, SandboxSpec
from harena.runtime.host.linux import LinuxRuntime
from harena.scoring.scorers.script_verifier import judged_place
from image_trees import FolderImages, image_root, put_programs, put_python

pytestmark = pytest.mark.asyncio(loop_scope="module")
COMPARES = "#!/usr/bin/env python3\nassert open('out.txt').read() == 'hello\\n'\n"
ENDS = "import os; os._exit(0)"
SITE = "$(python3 -m site --user-site)"
LEFT: dict[str, tuple[str, str, bool]] = {
    # name: (what was done, the script, whether it is right)
    "the file": ("echo hello > out.txt", "grep -q '^hello$' out.txt\n", True),
    "another file": ("echo hell > out.txt", "grep -q '^hello$' out.txt\n", False),
    "nothing": ("true", COMPARES, False),
    "the file, for Python": ("echo hello > out.txt; echo 'A = 1' > json.py", COMPARES, True),
    "a start-up file of Python": (f"mkdir -p {SITE}; echo '{ENDS}' > {SITE}/usercustomize.py", COMPARES, False),
    "a start-up file of the shell": ("echo 'exit 0' > ~/.profile", "#!/bin/sh -l\ngrep -q '^hello$' out.txt\n", False),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runtime(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxRuntime]:
    place: Path = tmp_path_factory.mktemp("layers")
    put_programs(place / "base", ("sh", "cat", "env", "grep", "mkdir", "rm", "readlink", "ls", "stat"))
    (place / "base/work").mkdir()
    put_python(place / "python")
    images = FolderImages({"plain": image_root(place / "python", place / "base", digest="sha256:plain")})
    runtime = LinuxRuntime(home=tmp_path_factory.mktemp("home"), images=images)
    await runtime.start()
    yield runtime
    await runtime.close()


@pytest.mark.parametrize("name", LEFT)
async def test_a_script_judges_in_an_image_without_bash(runtime: LinuxRuntime, name: str) -> None:
    acts, script, is_right = LEFT[name]
    sandbox = await runtime.create(SandboxSpec(image="plain"))
    try:
        place = await judged_place(sandbox, script, workdir="/work")
        request = ExecRequest(argv=("sh", "-c", acts), cwd="/work", timeout_seconds=60)
        done = await (await sandbox.exec(request)).wait()
        assert done.returncode == 0, done.stderr
        judged = await place.judged(sandbox, seconds=60, stdin=b"", code=0)
        assert judged.passed is is_right, judged.done.stderr
        assert not [entry.name for entry in await sandbox.list_dir("/tmp")]
    finally:
        await sandbox.destroy()
