"""Times of what a candidate leaves, as the verifier sees them."""

from __future__ import annotations

import pytest
from battery_world import Source
from real_sandboxes import source, verified

from harena.core.results import Validity

__all__ = ["source"]  # a fixture
pytestmark = pytest.mark.asyncio(loop_scope="module")

WORK = """cd /app; mkdir d; echo a > d/x; ln -s d/x l; echo b > y
touch -d '2001-02-03 04:05:06.789012345' d/x; touch -h -d '2003-01-01 00:00:00.000000001' l
touch -m -d '2005-01-01' y; touch -a -d '2004-01-01 00:00:00.5' y; touch -d '2002-01-01 00:00:00.999999999' d
"""
ASKS = {
    "a file": "[ \"$(stat -c %y /app/d/x)\" = '2001-02-03 04:05:06.789012345 +0000' ]",
    "a link": "[ \"$(stat -c %y /app/l)\" = '2003-01-01 00:00:00.000000001 +0000' ]",
    "a folder": "[ \"$(stat -c %y /app/d)\" = '2002-01-01 00:00:00.999999999 +0000' ]",
    "the last use": "[ \"$(stat -c %x /app/y)\" = '2004-01-01 00:00:00.500000000 +0000' ]",
}


async def test_times_come_as_they_are(source: Source) -> None:
    """Nanoseconds, those of links and of last use were lost."""
    lines = "".join(f"{asked} || echo {name!r} >&2\n{asked} || r=0\n" for name, asked in ASKS.items())
    script = f"r=1\n{lines}echo $r > /logs/verifier/reward.txt\n"
    right = await verified(source, WORK, {"test.sh": script})
    assert (right.score, right.validity) == (1.0, Validity.VALID), right.detail
    for change in ("touch d/x", "touch -h l", "touch d", "touch -a y"):
        wrong = await verified(source, f"{WORK}{change}\n", {"test.sh": script})
        assert (wrong.score, wrong.validity) == (0.0, Validity.VALID), change
