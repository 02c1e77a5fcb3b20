"""Runs pytest over trusted tests that import the candidate, and gives the proof that all of them really passed.

The candidate shares this process, so none of this is out of its reach; it is out of reach of every forgery that is
known: ending the process, conftest.py and plugins, another `pytest` beside the tests, rewritten reports, skipped tests,
and objects that equal everything. The verdict of each test is taken where the test function returns, before any
report of it exists.
"""

from __future__ import annotations

import os
import sys

from harena.scoring.guest_equals import equals_everything

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

NO_PYTEST = 86


def main() -> None:
    """argv: the trusted files as a comma-separated list, then pytest's arguments. Standard input: the proof's word."""
    here = os.path.realpath(os.getcwd())
    sys.path[:] = [path for path in sys.path if path and os.path.realpath(path) != here]
    word = sys.stdin.readline().strip()
    out = os.dup(1)
    try:
        import pytest
    except ImportError:
        os._exit(NO_PYTEST)
    sys.path.insert(0, here)
    trusted = [os.path.join(here, path) for path in sys.argv[1].split(",")]

    class Proof:
        collected = 0
        passed = 0

        @pytest.hookimpl(trylast=True)
        def pytest_collection_finish(self, session: Any) -> None:
            Proof.collected = len(session.items)

        @pytest.hookimpl(wrapper=True, trylast=True)
        def pytest_runtest_call(self, item: Any) -> Generator[None, Any, Any]:
            result = yield
            if not getattr(item, "_excinfo", None):  # where a unittest.TestCase keeps its failures
                Proof.passed += 1
            return result

    code = int(pytest.main(sys.argv[2:], plugins=[Proof()]))
    if code == 0 and 0 < Proof.collected == Proof.passed and not equals_everything(here, trusted):
        os.write(out, b"\nharena-proof " + word.encode() + b"\n")
    os._exit(code)
