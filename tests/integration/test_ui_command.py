"""`harena ui` as users have it: it serves the page of its home, or finds the server that does, until Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

END_SECONDS = 60
COMMAND = [sys.executable, "-m", "harena.cli.main", "ui"]


def test_the_page_of_a_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first command serves, the second one prints the same address, and one with another server's prints that."""
    with subprocess.Popen(
        [*COMMAND, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stdout is not None
        page = serving.stdout.readline().strip()
        with urllib.request.urlopen(page, timeout=END_SECONDS) as answer:
            assert b'name="harena-keys" content="no"' in answer.read()
        again = subprocess.run(COMMAND, capture_output=True, text=True, timeout=END_SECONDS)
        assert (again.returncode, again.stdout.strip(), again.stderr) == (0, page, "")
        serving.send_signal(signal.SIGINT)
        _, log = serving.communicate(timeout=END_SECONDS)
    assert (serving.returncode, log) == (0, "")
    monkeypatch.setenv("HARENA_BASE_URL", "http://127.0.0.1:9/")
    named = subprocess.run(COMMAND, capture_output=True, text=True, timeout=END_SECONDS)
    assert named.stdout.strip() == "http://127.0.0.1:9/ui"
    for kept in ("harena.db", "harena.db.lock"):
        (home / kept).unlink(missing_ok=True)
