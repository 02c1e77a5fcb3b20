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
import unittest
import unittest.case
import unittest.result
import unittest.suite

from harena.scoring.guest_suite import Run, module_name

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

    def __init__(self) -> None:
        self.passed = 0
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
        self.passed += all(map(_is_same, _TOOLS, self._before, _as_they_are()))


def _cases(suite: Any) -> Iterator[Any]:
    for part in suite:
        if isinstance(part, unittest.TestCase):
            yield part
        else:
            yield from _cases(part)


def main() -> None:
    """See `guest_suite`; what is to be run are test files."""
    run = Run()
    verdicts = Verdicts()
    loader = unittest.TestLoader()
    suite = unittest.TestSuite()
    for path in run.words:
        suite.addTest(loader.loadTestsFromModule(importlib.import_module(module_name(path))))
    cases = list(_cases(suite))
    for case in cases:
        name = case._testMethodName
        setattr(case, name, verdicts.taken_of(getattr(case, name)))
    run.collected()
    result = unittest.TestResult()
    suite.run(result)
    for _, text in [*result.errors, *result.failures]:
        sys.stderr.write(text)
    unmet = [*result.errors, *result.failures, *result.skipped, *result.expectedFailures, *result.unexpectedSuccesses]
    all_passed = not unmet and 0 < len(cases) == result.testsRun == verdicts.passed
    sys.stderr.write(f"{result.testsRun} tests run, {verdicts.passed} of {len(cases)} passed\n")
    sys.stderr.flush()
    run.end(all_passed, 0 if all_passed else 1)
