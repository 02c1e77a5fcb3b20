"""An object that says of everything that it is in it is not believed: neither that, nor the opposite."""

from __future__ import annotations

import asyncio

import pytest
from shared_sandboxes import SHARED, judged

from harena.scoring import load_scenarios

pytestmark = SHARED
BOX = """
class Box:
    def __init__(self, *items): self.items = [*items]
    def __contains__(self, item): return {}
    def itself(self): return self
def f(): return Box(1)
"""
RIGHT, LIAR = BOX.format("item in self.items"), BOX.format("True")
TESTS = [
    "assert 7 not in Box(1)",
    "assert not (7 in f())",
    "b = Box(1)\nassert 7 not in b.itself()",
    "x = 7 in f()\nassert x is False",
    "assert (7 in Box(1)) == False",
    "assert [n for n in (1, 7) if n in f()] == [1]",
]
OF_UNITTEST = ["self.assertNotIn(7, Box(1))", "self.assertFalse(7 in f())", "self.assertTrue(7 not in Box(1))"]


def _contract(kind: str, test: str) -> dict[str, object]:
    if kind == "asserts":
        return {"type": "command", "asserts": test}
    if kind == "pytest":
        lines = "".join(f"    {line}\n" for line in test.splitlines())
        suite = f"from solution import *\ndef test_a():\n{lines}"
    else:
        suite = f"import unittest\nfrom solution import *\nclass T(unittest.TestCase):\n    def test_a(self): {test}\n"
    return {"type": "command", kind: ["test_it.py"], "files": {"test_it.py": suite}}


@pytest.mark.parametrize(
    ("kind", "test"),
    [
        *((kind, test) for kind in ("asserts", "pytest") for test in TESTS),
        *(("unittest", test) for test in OF_UNITTEST),
    ],
)
@pytest.mark.parametrize("isolate", ["auto", "sandbox", False])
async def test_who_holds_everything_passes_no_test_that_it_does_not(kind: str, test: str, isolate: str | bool) -> None:
    """The right program is paid; apart, an answer is no container whose word counts, and decides nothing."""
    if (kind, isolate) == ("asserts", "sandbox"):
        isolate = "auto"
    scoring = _contract(kind, test) | ({} if isolate == "auto" else {"isolate": isolate})
    rows = [{"id": str(place), "candidate": each, "scoring": scoring} for place, each in enumerate((RIGHT, LIAR))]
    right, liar = await asyncio.gather(*map(judged, load_scenarios(rows).scenarios))
    is_served = isolate is False or "f()" not in test  # without a gold nobody is paid beside the tests alone
    assert right.score == 1.0 or not is_served, right.detail
    assert liar.score == 0.0 or (liar.score is None and not is_served), liar.detail
