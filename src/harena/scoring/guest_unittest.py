"""Runs unittest over trusted tests that import the candidate, and gives the proof that all of them really passed.

As `guest_pytest`: the tests see stand-ins for the candidate's modules unless the suite needs it beside itself. What is
done then stops ending the process, skipped tests, emptied assertions and results, and objects that equal everything,
and not digging in this process for the word.

The verdict of each test is taken where the test method returns. It counts if nothing of unittest and no builtin has
been exchanged since before the candidate was loaded.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import sys
import traceback
import unittest
import unittest.case
import unittest.result
import unittest.suite

from harena.scoring.guest_suite import Run, Tally, module_name, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_TOOLS = (
    builtins,
    unittest,
    unittest.case,
    unittest.case.TestCase,
    unittest.case._Outcome,  # type: ignore[attr-defined]
    unittest.result.TestResult,
    unittest.suite.TestSuite,
    unittest.suite.BaseTestSuite,
)


def _as_they_are() -> list[dict[str, Any]]:
    """What the tools of a suite consist of. Builtins: without `_`, which an interactive interpreter writes."""
    return [{name: value for name, value in vars(tool).items() if name != "_"} for tool in _TOOLS]


def _is_same(tool: Any, before: dict[str, Any], now: dict[str, Any]) -> bool:
    """A module may get more names, as `unittest` does when its parts are imported; a class may not."""
    if isinstance(tool, type) and now.keys() != before.keys():
        return False
    return all(now.get(name) is value for name, value in before.items())


class Verdicts:
    """Counts tests whose method has returned while the tools were as they had been."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._before = _as_they_are()

    def begin(self) -> None:
        """The tools are as they shall be from here on."""
        self._before = _as_they_are()

    def taken_of(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, counted when it returns."""
        if inspect.iscoroutinefunction(method):

            @functools.wraps(method)
            async def awaited(*positional: Any, **keywords: Any) -> Any:
                result = await method(*positional, **keywords)
                self._count()
                return result

            return awaited

        @functools.wraps(method)
        def called(*positional: Any, **keywords: Any) -> Any:
            result = method(*positional, **keywords)
            self._count()
            return result

        return called

    def _count(self) -> None:
        self._tally.passed += all(map(_is_same, _TOOLS, self._before, _as_they_are()))


class Result(unittest.TestResult):
    """Remembers what each test had asked of the candidate when it came to its end."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run = run
        self._asked = run.asked
        self._notes = run.notes
        self._failures = 0
        self.excused: set[str] = set()

    def startTest(self, test: Any) -> None:  # noqa: N802
        """See TestResult."""
        self._run.began()
        self._asked, self._notes = self._run.asked, self._run.notes
        self._failures = len(self._run.tally.failures)
        super().startTest(test)

    def stopTest(self, test: Any) -> None:  # noqa: N802
        """See TestResult."""
        super().stopTest(test)
        if self._run.is_unserved(self._notes):
            self._run.tally.ended_unserved(self._failures)
        self._asked, self._notes = self._run.asked, self._run.notes

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802
        """See TestResult."""
        self._failed(test, told(err[1]))
        super().addError(test, err)

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        """See TestResult."""
        self._failed(test, told(err[1]))
        super().addFailure(test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        """See TestResult."""
        if err is not None:
            self._failed(subtest, told(err[1]))
        super().addSubTest(test, subtest, err)

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
        """See TestResult."""
        self._failed(test, "passes, and is expected to fail")
        super().addUnexpectedSuccess(test)

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
        """See TestResult."""
        if self._run.asked == self._asked:
            self._excused(test)
        else:
            self._failed(test, f"it skips itself after the candidate was asked: {reason}")
        super().addSkip(test, reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        """See TestResult."""
        self._excused(test)
        super().addExpectedFailure(test, err)

    def _excused(self, test: Any) -> None:
        if test.id() not in self.excused:
            self.excused.add(test.id())
            self._run.tally.excused.append(test.id())

    def _failed(self, test: Any, error: str) -> None:
        unasked = self._run.asked == self._asked
        self._run.tally.failed(str(test.id()), error, unasked, self._run.is_unserved(self._notes))


def _cases(suite: Any) -> Iterator[Any]:
    for part in suite:
        if isinstance(part, unittest.TestCase):
            yield part
        else:
            yield from _cases(part)


def main() -> None:
    """See `guest_suite`; what is to be run are test files."""
    run = Run()
    tally = run.tally
    verdicts = Verdicts(tally)
    loader = unittest.TestLoader()
    suite = unittest.TestSuite()
    for path in run.words:
        asked, notes = run.asked, run.notes
        try:
            suite.addTest(loader.loadTestsFromModule(importlib.import_module(module_name(path))))
        except BaseException as error:  # noqa: BLE001 (whatever a trusted file raises when it is read, SystemExit too)
            traceback.print_exc()
            if not (isinstance(error, unittest.SkipTest) and run.asked == asked):
                tally.failed(path, f"cannot be read: {told(error)}", run.asked == asked, run.is_unserved(notes))
            else:
                tally.excused.append(path)
    cases = list(_cases(suite))
    tally.planned = len(cases)
    for case in cases:
        name = case._testMethodName
        setattr(case, name, verdicts.taken_of(getattr(case, name)))
    run.collected()
    if run.candidate is not None:  # nothing of it is in this process, and the watch has put itself around the tools
        verdicts.begin()
    result = Result(run)
    suite.run(result)
    for _, text in [*result.errors, *result.failures]:
        sys.stderr.write(text)
    all_passed = not tally.failures and not result.errors and not result.failures and not result.unexpectedSuccesses
    counted = 0 < tally.passed == len(cases) - len(result.excused)
    sys.stderr.write(f"{result.testsRun} tests run, {tally.passed} of {len(cases)} passed\n")
    sys.stderr.flush()
    run.end(all_passed and counted, 0 if all_passed and counted else 1)
