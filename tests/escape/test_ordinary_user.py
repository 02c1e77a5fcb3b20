"""The same attacks on a node of an ordinary user, who has no control groups here: limits are kept by other means."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ordinary_user import NAMES

import harena

PYTHON = "/usr/bin/python3"
NOBODY = 65534
SECONDS = 200


@pytest.fixture(scope="module")
def found(host: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str | None]]:
    """What came of each attack, from one run as `nobody`."""
    if os.geteuid() != 0:
        pytest.skip("not root: the whole suite runs as an ordinary user already")
    source = str(Path(harena.__file__).parents[1])
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"}
    as_nobody: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}
    look = "import sys, harena.runtime.host.linux; assert sys.version_info >= (3, 11)"
    try:
        subprocess.run([PYTHON, "-c", look], env=environment, check=True, capture_output=True, **as_nobody)
        script = Path(__file__).with_name("ordinary_user.py")
        subprocess.run(["/bin/cat", str(script)], check=True, capture_output=True, **as_nobody)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"nobody cannot run harena here ({PYTHON}, Python >= 3.11, a readable checkout): {error}")
    home = Path("/tmp") / f"harena-escape-{os.getpid()}"  # where nobody can reach it
    home.mkdir(mode=0o700)
    os.chown(home, NOBODY, NOBODY)
    facts = {name: host[name] for name in ("file", "socket", "pid", "port", "abstract")}
    try:
        ended = subprocess.run(
            [PYTHON, str(script), json.dumps(facts)],
            env={**environment, "HARENA_HOME": str(home), "HARENA_ESCAPE_CANARY": host["secret"]},
            capture_output=True, text=True, timeout=SECONDS, check=False, **as_nobody,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        yield json.loads(ended.stdout)
    finally:
        shutil.rmtree(home)


@pytest.mark.cheap  # one run has them all
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.timeout(SECONDS + 20)
def test_as_an_ordinary_user(found: dict[str, str | None], name: str) -> None:
    """The attack was contained, and the next sandbox worked."""
    assert found[name] is None, found[name]
