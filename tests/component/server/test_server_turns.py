"""The event loop of a server has the interpreter soon, whatever threads of workspaces compute."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from harena.core import settings
from harena.server.serve import SWITCH_SECONDS

_SERVE = """
import sys
import harena
before = sys.getswitchinterval()
from harena.core.errors import ValidationError
from harena.server.serve import run
try:
    run(host="0.0.0.0", port=0)
except ValidationError as refused:
    assert "this server has no API keys" in str(refused)
print(before, sys.getswitchinterval())
"""
"""a server that ends as soon as it has begun"""


def test_the_process_of_a_server_has_short_turns_and_no_other_process_has(tmp_path: Path) -> None:
    """An embedded node lives in its user's process, whose interval is the user's own."""
    done = subprocess.run(
        [sys.executable, "-c", _SERVE],
        env={**os.environ, settings.HOME.name: str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=True,
    )
    usual, of_the_server = map(float, done.stdout.split())
    assert of_the_server == SWITCH_SECONDS < usual == sys.getswitchinterval()
