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
import unittest.util

from harena.scoring.guest.module_names import module_name
from harena.scoring.guest.suite import FREE_BUILTINS, Run, Tally, told
from harena.scoring.guest.suite_protocol import ONLY_GOLD

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
    """What the tools of a suite consist of, without what programs replace."""
    return [
        {name: value for name, value in vars(tool).items() if tool is not builtins or name not in FREE_BUILTINS}
        for tool in _TOOLS
    ]


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
        self.returned: set[int] = set()
        """`id` of each test whose method has returned"""

    def begin(self) -> None:
        """The tools are as they shall be from here on."""
        self._before = _as_they_are()

    def taken_of(self, case: Any, method: Callable[..., Any]) -> Callable[..., Any]:
        """The test's method, counted when it returns."""
        if inspect.iscoroutinefunction(method):

            @functools.wraps(method)
            async def awaited(*positional: Any, **keywords: Any) -> Any:
                result = await method(*positional, **keywords)
                self._count(case)
                return result

            return awaited

        @functools.wraps(method)
        def called(*positional: Any, **keywords: Any) -> Any:
            result = method(*positional, **keywords)
            self._count(case)
            return result

        return called

    def _count(self, case: Any) -> None:
        if all(map(_is_same, _TOOLS, self._before, _as_they_are())):
            self._tally.passed += 1
            self.returned.add(id(case))


class Result(unittest.TestResult):
    """Remembers what each test had asked of the candidate when it came to its end."""

    def __init__(self, run: Run, verdicts: Verdicts) -> None:
        super().__init__()
        self._run, self._verdicts = run, verdicts
        self._asked = run.asked
        self._notes = run.notes
        self._failures = 0
        self._asked_in_subtest = run.asked
        self._excused: dict[str, None] = {}
        self._has_skipped: set[int] = set()
        self._excused_cases: set[int] = set()

    def startTest(self, test: Any) -> None:  # noqa: N802
        """Note that a test begins, and what was asked of the candidate so far."""
        self._run.began()
        self._run.in_body(True)
        self._asked, self._notes = self._run.asked, self._run.notes
        self._asked_in_subtest = self._asked
        self._failures = len(self._run.tally.failures)
        super().startTest(test)

    def stopTest(self, test: Any) -> None:  # noqa: N802
        """Note that a test has ended, and fail it for what it swallowed."""
        super().stopTest(test)
        self._run.in_body(False)
        name = f"{type(test).__qualname__}.{getattr(test, '_testMethodName', '')}"
        has_ended = id(test) in self._verdicts.returned or id(test) in self._has_skipped
        if (swallowed := self._run.swallowed(name, has_passed=id(test) in self._verdicts.returned)) and has_ended:
            self._failed(test, swallowed)
        if test.id() not in self._excused:
            self._run.tally.ran.append(test.id())
        self._run.tally.read += _fixtures(type(test))
        if self._run.is_unserved(self._notes):
            self._run.tally.ended_unserved(self._failures)
        self._asked, self._notes = self._run.asked, self._run.notes

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802
        """Count a test that raised as failed."""
        self._failed(test, told(err[1]), err[1])
        super().addError(test, err)

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        """Count a test that failed."""
        self._failed(test, told(err[1]), err[1])
        super().addFailure(test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        """Count a failed subtest, and note what was asked up to its end."""
        if err is not None:
            self._failed(subtest, told(err[1]), err[1])
        self._asked_in_subtest = self._run.asked
        super().addSubTest(test, subtest, err)

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
        """Count as failed a test that passes though it says that it fails."""
        self._failed(test, "passes, and is expected to fail")
        super().addUnexpectedSuccess(test)

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
        """Excuse a test that is skipped before the candidate was asked, or where the suite's own text says so; count
        any other as failed."""
        before = self._asked_in_subtest if isinstance(test, unittest.case._SubTest) else self._asked  # type: ignore[attr-defined]
        self._asked_in_subtest = self._run.asked
        error = sys.exc_info()[1]
        place = self._run.skip_place(error)
        if self._run.asked == before or place:
            self._excuse(test)
            self._has_skipped.add(id(test) if place else 0)
            self._run.tally.skips.append((test.id(), place or self._run.mark_of(error)))
        else:
            self._failed(test, f"it skips itself after the candidate was asked{ONLY_GOLD}: {reason}")
        super().addSkip(test, reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        """Excuse a test that fails as it says."""
        self._excuse(test)
        self._run.tally.expected.append(test.id())
        super().addExpectedFailure(test, err)

    def excuses(self, case: Any) -> bool:
        """It was skipped as a whole, by itself or with its class or module, or failed as expected."""
        return id(case) in self._excused_cases or any(fixture in self._excused for fixture in _fixtures(type(case)))

    def _excuse(self, test: Any) -> None:
        self._excused_cases.add(id(test))
        if test.id() not in self._excused:
            self._excused[test.id()] = None
            self._run.tally.excused.append(test.id())

    def _failed(self, test: Any, error: str, raised: BaseException | None = None) -> None:
        unasked = self._run.is_unasked(self._asked, raised)
        self._run.tally.failed(str(test.id()), error, unasked, self._run.is_unserved(self._notes, raised))


def _fixtures(cls: type) -> list[str]:
    """What unittest calls the fixtures of a class and of its module."""
    return [f"setUpClass ({unittest.util.strclass(cls)})", f"setUpModule ({cls.__module__})"]


def _cases(suite: Any) -> Iterator[Any]:
    for part in suite:
        if isinstance(part, unittest.TestCase):
            yield part
        else:
            yield from _cases(part)


def _is_waited_for_by_nobody(case: Any) -> bool:
    """The test is a coroutine in a class that calls its tests as a plain TestCase does: whoever the candidate is,
    nothing of it is run."""
    cls, plain = type(case), unittest.TestCase
    is_plain = cls.run is plain.run and cls._callTestMethod is plain._callTestMethod  # type: ignore[attr-defined]
    return is_plain and inspect.iscoroutinefunction(getattr(case, case._testMethodName))


def main() -> None:
    """Run the suite with unittest; the words of the run are test files."""
    run = Run()
    tally = run.tally
    verdicts = Verdicts(tally)
    loader = unittest.TestLoader()
    suite = unittest.TestSuite()
    for path in run.words:
        asked, notes, unheard = run.asked, run.notes, run.unheard()
        try:
            suite.addTest(loader.loadTestsFromModule(importlib.import_module(module_name(path))))
            tally.read.append(path)
        except BaseException as error:  # noqa: BLE001 (whatever a trusted file raises when it is read, SystemExit too)
            traceback.print_exc()
            if not isinstance(error, unittest.SkipTest) or run.is_answered_by_nobody(asked):
                unasked = run.is_unasked(asked, error)
                tally.unread.append(path)
                run.is_unread(unheard)
                tally.failed(path, f"cannot be read: {told(error)}", unasked, run.is_unserved(notes))
            else:
                tally.excused.append(path)
    cases = list(_cases(suite))
    tally.planned = len(cases)
    for case in cases:
        name = case._testMethodName
        setattr(case, name, verdicts.taken_of(case, getattr(case, name)))
    run.collected()
    for case in filter(_is_waited_for_by_nobody, cases):
        tally.failed(str(case.id()), "is a coroutine, and its class waits for none", True, False)
    if run.candidate is not None:  # nothing of it is in this process, and the watch has put itself around the tools
        verdicts.begin()
    result = Result(run, verdicts)
    suite.run(result)
    for _, text in [*result.errors, *result.failures]:
        sys.stderr.write(text)
    all_passed = not tally.failures and not result.errors and not result.failures and not result.unexpectedSuccesses
    counted = tally.passed > 0 and all(id(case) in verdicts.returned or result.excuses(case) for case in cases)
    sys.stderr.write(f"{result.testsRun} tests run, {tally.passed} of {len(cases)} passed\n")
    sys.stderr.flush()
    run.end(all_passed and counted, 0 if all_passed and counted else 1)
