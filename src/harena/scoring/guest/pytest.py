"""Runs pytest over trusted tests that import the candidate, and gives the proof that all of them really passed.

The tests see stand-ins for the candidate's modules, which live in a process of their own (`guest_proxy`), so that the
word of the proof, the frames and the assertions are out of the candidate's reach.

Where a suite needs the candidate beside itself (`isolate: false`) none of this is out of its reach. What is done then
stops ending the process, conftest.py and plugins, another `pytest` beside the tests, rewritten reports, skipped tests,
and classes of the candidate that equal everything. What it does not stop: digging in this process for the word.

The verdict of each test is taken where the test function returns, before any report of it exists.
"""

from __future__ import annotations

import os

from harena.scoring.guest.hidden_sources import sealed
from harena.scoring.guest.proxy import Candidate
from harena.scoring.guest.suite import Run, told
from harena.scoring.guest.suite_protocol import NO_PYTEST, ONLY_GOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any


def _compare_as_believed(rewrite: Any, comparisons: Any) -> None:
    """pytest compiles the tests by itself; see `guest_suite_equality`."""
    rewrite_asserts, rewrite_test = rewrite.rewrite_asserts, rewrite._rewrite_test

    def rewritten(tree: Any, source: bytes, path: Any = None, *more: Any) -> None:
        if not comparisons.is_trusted(path):
            rewrite_asserts(tree, source, path, *more)
            return
        comparisons.put_names(tree)
        rewrite_asserts(tree, source, path, *more)
        comparisons.put_marks(tree, path)

    def compiled(path: Any, config: Any) -> Any:
        stat, code = rewrite_test(comparisons.path_of(path), config)
        return stat, comparisons.with_asked(code)

    rewrite.rewrite_asserts, rewrite._rewrite_test = sealed(rewritten), sealed(compiled)


def _explain_without_excuse(rewrite: Any, candidate: Candidate) -> None:
    """pytest shows the sides of an assertion that has failed: it asks for their texts, and whether they have a loop.
    None of that is why the test fails."""

    def explained(really: Any) -> Any:
        def explain(*given: Any, **keywords: Any) -> Any:
            with candidate.explaining():
                return really(*given, **keywords)

        return explain

    for name in ("_saferepr", "_call_reprcompare", "_format_assertmsg"):
        setattr(rewrite, name, explained(getattr(rewrite, name)))


def _watch_comparisons(rewrite: Any, run: Run) -> None:
    """The tests tell what they compare; see `guest_vacuous_comparisons`."""
    rewrite_asserts = rewrite.rewrite_asserts

    def rewritten(tree: Any, source: bytes, path: Any = None, *more: Any) -> None:
        is_trusted = path is not None and os.path.realpath(os.fspath(path)) in run.trusted
        if is_trusted:
            run.hollow.put_statements(tree)
        rewrite_asserts(tree, source, path, *more)
        if is_trusted:
            run.hollow.put_calls(tree, is_apart=True)

    rewrite.rewrite_asserts = rewritten


def _is_expected(item: Any, error: BaseException | None) -> bool:
    """A mark says that the test fails, and it does; no call of `pytest.xfail` has ended it."""
    import unittest

    import pytest

    marked = getattr(getattr(item, "obj", None), "__unittest_expecting_failure__", False)
    of_class = getattr(getattr(item, "cls", None), "__unittest_expecting_failure__", False)
    is_case = isinstance(getattr(item, "cls", None), type) and issubclass(item.cls, unittest.TestCase)
    return (is_case and bool(marked or of_class)) or not isinstance(error, pytest.xfail.Exception)


def main() -> None:
    """Run the suite with pytest; the words of the run are pytest's arguments."""
    run = Run()
    try:
        import pytest
    except ImportError:
        os._exit(NO_PYTEST)
    from _pytest.assertion import rewrite

    # a candidate in the same sandbox could leave compiled tests in the place of those that are collected later
    rewrite._read_pyc = lambda *_, **__: None
    if run.candidate is None:
        _compare_as_believed(rewrite, run.comparisons)
    elif isinstance(run.candidate, Candidate):
        _explain_without_excuse(rewrite, run.candidate)
        _watch_comparisons(rewrite, run)
    hook: Any = rewrite.AssertionRewritingHook
    hook._find_spec = staticmethod(run.first.found)
    if run.parts is not None:
        run.parts.add_runner()
    tally = run.tally

    class Proof:
        asked = 0
        notes = 0
        failures = 0
        has_swallowed = False
        settled: set[str] = set()
        returned: set[str] = set()
        has_skipped: set[str] = set()

        @pytest.hookimpl(wrapper=True, trylast=True)
        def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, Any]:
            asked, notes, unheard = run.asked, run.notes, run.unheard()
            report = yield
            if report.failed:
                error = str(getattr(getattr(report.longrepr, "reprcrash", None), "message", report.longrepr))
                lines = [line for line in error.splitlines() if line.strip()]
                found = next(
                    (line[1:].strip() for line in reversed(lines) if line[:1] == "E"), lines[-1] if lines else ""
                )
                raised = getattr(getattr(getattr(report, "call", None), "excinfo", None), "value", None)
                unasked = run.is_unasked(asked, raised)
                tally.unread.append(collector.nodeid)
                run.is_unread(unheard)
                tally.failed(collector.nodeid, f"cannot be collected: {found}", unasked, run.is_unserved(notes))
            elif not report.skipped:
                tally.read.append(collector.nodeid)
            elif not run.is_answered_by_nobody(asked):
                tally.excused.append(collector.nodeid)  # the host compares it with what is skipped for others
            return report

        def pytest_internalerror(self, excinfo: Any) -> None:
            run.has_broken(excinfo.value)

        @pytest.hookimpl(trylast=True)
        def pytest_collection_finish(self, session: Any) -> None:
            tally.planned = len(session.items)
            run.collected()

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
            run.began()
            Proof.asked, Proof.notes, Proof.failures = run.asked, run.notes, len(tally.failures)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
            if not tally.excused or tally.excused[-1] != nodeid:
                tally.ran.append(nodeid)
            name = ".".join(nodeid.partition(".py::")[2].partition("[")[0].split("::"))
            swallowed = run.swallowed(name, has_passed=nodeid in Proof.returned)
            if swallowed and nodeid in Proof.returned | Proof.has_skipped:
                tally.failed(nodeid, swallowed, False, False)
                Proof.has_swallowed = True
            if run.is_unserved(Proof.notes):
                tally.ended_unserved(Proof.failures)

        @pytest.hookimpl(wrapper=True, trylast=True)
        def pytest_runtest_call(self, item: Any) -> Generator[None, Any, Any]:
            run.in_body(True)
            try:
                result = yield
            finally:
                run.in_body(False)
            if not getattr(item, "_excinfo", None):  # where a unittest.TestCase keeps its failures
                tally.passed += 1
                Proof.returned.add(item.nodeid)
            return result

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, Any]:
            raised = call.excinfo.value if call.excinfo is not None else None  # pytest makes its own of unittest's
            report = yield
            if report.passed or item.nodeid in Proof.settled:
                return report
            Proof.settled.add(item.nodeid)
            error = call.excinfo.value if call.excinfo is not None else None
            is_xfail = hasattr(report, "wasxfail")
            if is_xfail and _is_expected(item, error):
                tally.excused.append(item.nodeid)
                tally.expected.append(item.nodeid)
            elif report.skipped and (
                is_xfail or run.asked == Proof.asked or run.skip_place(error) or run.skip_place(raised)
            ):
                place = run.skip_place(error) or run.skip_place(raised)
                tally.excused.append(item.nodeid)
                tally.skips.append((item.nodeid, place or (run.mark_of(error) and run.mark_of(raised))))
                Proof.has_skipped.update([item.nodeid] if place else [])
            else:
                is_skip = f" (it skips itself after the candidate was asked{ONLY_GOLD})" if report.skipped else ""
                unasked = run.is_unasked(Proof.asked, error)
                tally.failed(item.nodeid, told(error) + is_skip, unasked, run.is_unserved(Proof.notes, error))
            return report

    options = run.words if run.candidate is None else ["--import-mode=importlib", *run.words]
    code = int(pytest.main(options, plugins=[Proof()])) or int(Proof.has_swallowed)
    excused = [name for name in tally.excused if name in Proof.settled - Proof.returned]
    run.end(code == 0 and not tally.failures and 0 < tally.passed == tally.planned - len(excused), code)
