"""Runs pytest over trusted tests that import the candidate, and gives the proof that all of them really passed.

The candidate shares this process, so none of this is out of its reach; it is out of reach of every forgery that is
known: ending the process, conftest.py and plugins, another `pytest` beside the tests, rewritten reports, skipped tests,
and objects that equal everything. The verdict of each test is taken where the test function returns, before any
report of it exists.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

NO_PYTEST = 86


def equals_everything(here: str, trusted: list[str]) -> bool:
    """A class defined in the candidate's files calls two unrelated objects equal."""
    for found in gc.get_objects():
        if not isinstance(found, type):
            continue
        for name, wanted in (("__eq__", True), ("__ne__", False)):
            method = vars(found).get(name)
            code = getattr(method, "__code__", None)
            path = os.path.realpath(getattr(code, "co_filename", "/"))
            if code is None or not path.startswith(here + "/") or path in trusted:
                continue
            try:
                if method(type("Probe", (), {})(), object()) is wanted:  # type: ignore[misc]
                    return True
            except BaseException:  # noqa: BLE001, S112 (an honest comparison needs its own attributes)
                continue
    return False


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
