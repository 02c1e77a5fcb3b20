"""`harena demo`, as whoever has just installed harena starts it: in an empty home, without torch."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 120
VERDICTS = [
    ("right", "1", "1  passed"),
    ("wrong", "0", "0  wrong_answer"),
    ("crash", "0", "0  exception"),
    ("endless", "0", "0  timeout"),
    ("cheat", "1", "0  exited_early"),
]
"""candidate, what an exit code pays, what harena says"""


@pytest.mark.usefixtures("adopting")
def test_the_demo_catches_its_cheat(tmp_path: Path) -> None:
    """The exit code pays for it, harena does not; torch and the server are not needed; it says what to do next."""
    source = "import sys\nfor name in ('torch', 'transformers', 'fastapi', 'aiohttp'):\n    sys.modules[name] = None\n"
    source += "from harena.cli.main import main\nsys.exit(main(['demo']))\n"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HARENA_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", source], cwd="/", env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name, naive, told in VERDICTS:
        assert re.search(rf"^  {name} .* {naive} +{re.escape(told)}$", done.stdout, re.MULTILINE), done.stdout
    assert "cheat: a scorer that appends the tests" in done.stdout
    assert "harena audit problems.jsonl" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
