"""Users of the host that a spawner claims, beside other processes that do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harena.runtime.spawner import single_users


def test_what_a_process_holds_is_free_when_it_has_been_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And not before, also where whoever claims is another process; the file grows by nothing."""
    monkeypatch.setattr(single_users, "CLAIMS", str(tmp_path / "run" / "ids"))
    monkeypatch.setattr(single_users, "_drawn", lambda: 7)
    program = (
        "import sys; from harena.runtime.spawner import single_users as users; users.CLAIMS = sys.argv[1]; "
        "users._drawn = lambda: 7; print(users.claimed()[0], flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, single_users.CLAIMS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert int(holder.stdout.readline()) == 1_900_000_000 + 7 * 500
    with pytest.raises(BlockingIOError, match="no block of user ids is free"):
        single_users.claimed()
    holder.kill()
    holder.communicate()
    first, lock = single_users.claimed()
    assert first == 1_900_000_000 + 7 * 500
    assert Path(single_users.CLAIMS).stat().st_size == 0
    os.close(lock)
