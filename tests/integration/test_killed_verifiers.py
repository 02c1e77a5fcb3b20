# ruff: noqa: E501 (programs are text, not code of ours)
"""Signals that a candidate's program sends to the verifier that has started it."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified

from harena.core.results import Validity

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

REWARD = "/logs/verifier/reward.txt"
CHECK = {"check.py": "import sys\nsys.exit(open('/app/out.txt').read().strip() != '42')\n"}
STOPS: dict[str, str] = {
    "a subshell": f"set -e\n(cd /app && python3 main.py > out.txt)\npython3 /tests/check.py\necho 1 > {REWARD}\n",
    "the script": f"set -e\ncd /app; python3 main.py > out.txt\npython3 /tests/check.py\necho 1 > {REWARD}\n",
    "a subshell that says it": f"(cd /app && python3 main.py > out.txt && python3 /tests/check.py && echo 1 > {REWARD})\n",
}
"""scripts that leave no reward without a candidate, too"""
KILLS = {
    "its parent": "import os\nos.kill(os.getppid(), 9)",
    "its group": "import os\nos.kill(0, 15)",
    "all": "import os\nos.kill(-1, 9)",
}


def main_py(acts: str, says: int) -> str:
    return f"cat > /app/main.py <<'END'\nprint({says}, flush=True)\n{acts}\nEND\n"


@pytest.mark.parametrize("kill", KILLS)
@pytest.mark.parametrize("name", STOPS)
async def test_who_kills_the_verifier_has_no_excuse(source: Source, name: str, kill: str) -> None:
    """Each had no score, since such a verifier leaves no reward without the candidate either."""
    result = await verified(source, main_py(KILLS[kill], 41), {"test.sh": STOPS[name], **CHECK})
    assert (result.score, result.validity) == (0.0, Validity.VALID), result.detail


@pytest.mark.parametrize("name", STOPS)
async def test_right_answers_are_paid_by_such_verifiers(source: Source, name: str) -> None:
    right = await verified(source, main_py("", 42), {"test.sh": STOPS[name], **CHECK})
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail
    ends_itself = "import subprocess\nserver = subprocess.Popen(['sleep', '60'])\nserver.terminate()\nserver.wait()"
    right = await verified(source, main_py(ends_itself, 42), {"test.sh": STOPS[name], **CHECK})
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail


async def test_a_verifier_that_is_killed_whoever_comes_is_broken(source: Source) -> None:
    """Its own signal is no candidate's doing."""
    result = await verified(source, main_py("", 42), {"test.sh": "kill -9 $$\n"})
    assert (result.score, result.validity) == (None, Validity.INVALID), result.detail
