"""Runs pytest over trusted tests that import the candidate, and gives the proof that all of them really passed.

The tests see stand-ins for the candidate's modules, which live in a process of their own (`guest_proxy`), so that the
word of the proof, the frames and the assertions are out of the candidate's reach. Its files lie in the same sandbox,
and it may signal this process: hence the trusted files are read before any of its code runs, nothing is imported from
the working directory but by name, and a process that ends proves nothing.

Where a suite needs the candidate beside itself (`isolate: false`) none of this is out of its reach. What is done then
stops ending the process, conftest.py and plugins, another `pytest` beside the tests, rewritten reports, skipped tests,
and classes of the candidate that equal everything. What it does not stop: digging in this process for the word.

The verdict of each test is taken where the test function returns, before any report of it exists.
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


def module_name(path: str) -> str:
    """`pkg/mod.py` -> pkg.mod"""
    name = path[:-3].replace("/", ".")
    return name[: -len(".__init__")] if name.endswith(".__init__") else name


def isolate(program: str, theirs: list[str], trusted: list[str]) -> Any:
    """From here on, the candidate's modules are stand-ins, and trusted ones are what they are now. The candidate."""
    from harena.scoring.guest_proxy import Candidate, Finder

    def sources(paths: list[str]) -> dict[str, str]:
        found = {}
        for path in paths:
            if path.endswith(".py") and os.path.isfile(path):
                with open(path, encoding="utf-8") as file:
                    found[module_name(path)] = file.read()
        return found

    candidate = Candidate(program)
    sys.meta_path.insert(0, Finder(candidate, sources(theirs), sources(trusted)))
    return candidate


def contents(paths: list[str]) -> list[bytes]:
    """Of the trusted files. A missing one has none."""
    found = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                found.append(file.read())
        except OSError:
            found.append(b"")
    return found


def main() -> None:
    """argv: the trusted files and the candidate's, each as a comma-separated list, the candidate's program or nothing,
    then pytest's arguments. Standard input: the proof's word."""
    here = os.path.realpath(os.getcwd())
    sys.path[:] = [path for path in sys.path if path and os.path.realpath(path) != here]
    word = sys.stdin.readline().strip()
    out = os.dup(1)
    try:
        import pytest
    except ImportError:
        os._exit(NO_PYTEST)
    ours, theirs, program = sys.argv[1].split(","), sys.argv[2].split(","), sys.argv[3]
    options = sys.argv[4:]
    trusted = [os.path.join(here, path) for path in ours]
    before = contents(trusted)
    candidate = None
    if program:
        candidate = isolate(program, theirs, ours)
        options = ["--import-mode=importlib", *options]
    else:
        sys.path.insert(0, here)

    class Proof:
        collected = 0
        passed = 0

        @pytest.hookimpl(trylast=True)
        def pytest_collection_finish(self, session: Any) -> None:
            Proof.collected = len(session.items)
            if candidate is not None:
                candidate.may_run = True

        @pytest.hookimpl(wrapper=True, trylast=True)
        def pytest_runtest_call(self, item: Any) -> Generator[None, Any, Any]:
            result = yield
            if not getattr(item, "_excinfo", None):  # where a unittest.TestCase keeps its failures
                Proof.passed += 1
            return result

    code = int(pytest.main(options, plugins=[Proof()]))
    all_passed = code == 0 and 0 < Proof.collected == Proof.passed and contents(trusted) == before
    if all_passed and (program or not equals_everything(here, trusted)):
        os.write(out, b"\nharena-proof " + word.encode() + b"\n")
    os._exit(code)
