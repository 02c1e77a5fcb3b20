"""Runs pytest over trusted tests that import the candidate, and gives the proof that all of them really passed.

The tests see stand-ins for the candidate's modules, which live in a process of their own (`guest_proxy`), so that the
word of the proof, the frames and the assertions are out of the candidate's reach. If its files lie in the same sandbox,
it may signal this process: hence the trusted files are read before any of its code runs, nothing is imported from
the working directory but by name, and a process that ends proves nothing.

Where a suite needs the candidate beside itself (`isolate: false`) none of this is out of its reach. What is done then
stops ending the process, conftest.py and plugins, another `pytest` beside the tests, rewritten reports, skipped tests,
and classes of the candidate that equal everything. What it does not stop: digging in this process for the word.

The verdict of each test is taken where the test function returns, before any report of it exists.
"""

from __future__ import annotations

import os

from harena.scoring.guest_suite import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

NO_PYTEST = 86


def main() -> None:
    """See `guest_suite`; what is to be run are pytest's arguments."""
    run = Run()
    try:
        import pytest
    except ImportError:
        os._exit(NO_PYTEST)

    class Proof:
        collected = 0
        passed = 0

        @pytest.hookimpl(trylast=True)
        def pytest_collection_finish(self, session: Any) -> None:
            Proof.collected = len(session.items)
            run.collected()

        @pytest.hookimpl(wrapper=True, trylast=True)
        def pytest_runtest_call(self, item: Any) -> Generator[None, Any, Any]:
            result = yield
            if not getattr(item, "_excinfo", None):  # where a unittest.TestCase keeps its failures
                Proof.passed += 1
            return result

    options = run.words if run.candidate is None else ["--import-mode=importlib", *run.words]
    code = int(pytest.main(options, plugins=[Proof()]))
    run.end(code == 0 and 0 < Proof.collected == Proof.passed, code)
