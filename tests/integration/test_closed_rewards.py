# ruff: noqa: E501 (programs are text, not code of ours)
"""Programs that a verifier starts, and that leave a reward which the verifier's own cannot replace."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified

from harena.core.results import RunResult, Validity

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

PLACE = "/logs/verifier"
ASKS = 'cd /app\nif [ "$(python3 prog.py)" = 42 ]; then r=1; else r=0; fi\n'
SAYS = f"{ASKS}echo $r > {PLACE}/reward.txt\n"
CLOSES = f"{SAYS}chmod 444 {PLACE}/reward.txt\n"
PAID = f"import os\nopen('{PLACE}/reward.%s', 'w').write('1')\n%s\nprint(1)\n"
FORGERIES = {
    "a file that nobody writes": PAID % ("txt", f"os.chmod('{PLACE}/reward.txt', 0o444)"),
    "in a folder that nobody writes": PAID % ("txt", f"os.chmod('{PLACE}/reward.txt', 0o444); os.chmod('{PLACE}', 0o555)"),
    "another file, and a folder that nobody writes": PAID % ("json", f"os.chmod('{PLACE}', 0o555)"),
    "another file, and a folder in its place": PAID % ("json", f"os.mkdir('{PLACE}/reward.txt')"),
    "another file, and a link in its place": PAID % ("json", f"os.symlink('/dev/full', '{PLACE}/reward.txt')"),
}  # fmt: skip


async def scored(source: Source, program: str, verifier: str) -> RunResult:
    return await verified(source, f"cat > prog.py <<'END'\n{program}END\n", {"test.sh": verifier})


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_reward_that_cannot_be_written_over_pays_nobody(source: Source, name: str) -> None:
    """Each was paid: the verifier's own `echo 0` failed, and no text of it asked whether it did."""
    result = await scored(source, FORGERIES[name], SAYS)
    assert (result.score, result.validity in (Validity.VALID, Validity.SUSPECT)) == (0.0, True), result.detail


@pytest.mark.parametrize("verifier", [SAYS, CLOSES], ids=["as always", "closed by itself"])
async def test_a_verifier_may_close_its_reward(source: Source, verifier: str) -> None:
    result = await scored(source, "print(42)\n", verifier)
    assert (result.score, result.validity) == (1.0, Validity.VALID), result.detail
    wrong = await scored(source, "print(1)\n", verifier)
    assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), wrong.detail
