"""The candidate that does nothing, where a command loads a library of JavaScript: it has to be one that loads."""

from __future__ import annotations

import pytest
from battery_world import Source, scored_alone
from real_sandboxes import source

from harena.core.results import Reason, RunResult, Validity
from harena.scoring import load_scenarios

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

LOADS = "read -r w\nnode -e \"require('./lib.js')\" </dev/null || exit 1\n"
ASKS = '[ "$(node -p "require(\'./lib.js\').f()" </dev/null)" = 42 ] || exit 1\necho "harena-proof $w"\n'
COUNTS = f"{LOADS}echo run >> log.txt\n[ $(wc -l < log.txt) = 1 ] || exit 1\n{ASKS}"
HANGS = f"{LOADS}sleep 60\n{ASKS}"
RIGHT, WRONG = "exports.f = () => 42\n", "exports.f = () => 41\n"


async def scored(source: Source, check: str, library: str, seconds: float) -> RunResult:
    scoring = {"type": "command", "command": ["bash", "check.sh"], "files": {"check.sh": check, "log.txt": ""}}
    candidate = {"files": {"lib.js": library}, "entry": "lib.js"}
    row = {"id": "one", "candidate": candidate, "scoring": scoring, "limits": {"timeout_seconds": seconds}}
    (scenario,) = load_scenarios([row]).scenarios
    return await scored_alone(source, scenario, timeout_seconds=30)


async def test_a_command_may_change_its_files_with_a_library_of_any_language(source: Source) -> None:
    """A right candidate was taken for who had changed them: without it the command did not come so far."""
    right, wrong = await scored(source, COUNTS, RIGHT, 10.0), await scored(source, COUNTS, WRONG, 10.0)
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail


async def test_a_command_that_hangs_with_everybody_is_broken(source: Source) -> None:
    """It had the lowest score, as if the candidate had kept the command from its end."""
    result = await scored(source, HANGS, RIGHT, 1.0)
    assert (result.score, result.reason) == (None, Reason.SCORER_ERROR), result.detail
