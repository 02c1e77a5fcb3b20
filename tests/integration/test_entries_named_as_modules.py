"""Entries with the name of a module of Python's, under test code that finds the candidate's names without an import."""

from __future__ import annotations

from typing import Any

import pytest
from shared_sandboxes import SHARED, judged

from harena.core.results import Reason, RunResult
from harena.scoring import load_scenarios

pytestmark = SHARED

ADD = "import math\ndef add(a, b): return int(math.fsum([a, b]))\n"
QUEUE = """
class Queue:
    def __init__(self): self.items = []
    def put(self, item): self.items.append(item)
    def size(self): return len(self.items)
"""
QUEUE_ASSERTS = "q = Queue()\nq.put(1)\nassert q.size() == 1\n"


async def asked(files: dict[str, str], asserts: str, **scoring: Any) -> RunResult:
    candidate = {"files": files, "entry": next(iter(files))}
    row = {"id": "one", "candidate": candidate, "scoring": {"type": "command", "asserts": asserts, **scoring}}
    return await judged(load_scenarios([row]).scenarios[0])


@pytest.mark.parametrize(
    "scoring",
    [{}, {"gold": {"math.py": "def add(a, b): return a + b\n"}}, {"calls": {"candidate": "add"}}, {"isolate": False}],
    ids=["apart", "gold", "called", "beside"],
)
async def test_what_the_file_is_called_decides_nothing(scoring: dict[str, Any]) -> None:
    """It imports Python's module of the name, and is paid for what it does."""
    asserts = "assert candidate(1, 2) == 3\n" if "calls" in scoring else "assert add(1, 2) == 3\n"
    result = await asked({"math.py": ADD}, asserts, **scoring)
    assert result.score == 1.0, result.detail
    wrong = await asked({"math.py": ADD.replace("a, b]", "a, a]")}, asserts, **scoring)
    assert (wrong.score, wrong.reason) == (0.0, Reason.SCORER_REJECTED), wrong.detail


async def test_beside_other_files_of_the_candidates() -> None:
    """Which may have the names that it could go by."""
    files = {"queue.py": "from solution import BASE\n" + QUEUE.replace("(self): s", "(self, base=BASE): s")}
    result = await asked({**files, "solution.py": "BASE = 1\n"}, QUEUE_ASSERTS)
    assert result.score == 1.0, result.detail


@pytest.mark.parametrize("where", ["the tests", "a file"])
async def test_a_module_that_is_imported_by_the_name_is_nobodys(where: str) -> None:
    """Nobody can tell which one is meant."""
    files, asserts = {"queue.py": QUEUE}, "from queue import Queue\n" + QUEUE_ASSERTS
    if where == "a file":
        files, asserts = {**files, "helper.py": "import queue\n"}, QUEUE_ASSERTS
    result = await asked(files, asserts)
    assert (result.score, result.reason) == (None, Reason.SCORER_ERROR), result.detail
    assert "give the entry another name" in result.detail
