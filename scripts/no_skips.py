"""A pytest plugin: a skipped test fails the session unless a file allows it. `-p no_skips --allowed-skips=FILE`."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest


def read_allowed(text: str) -> dict[str, str]:
    """Pattern -> reason. Raises ValueError for a line without a reason."""
    allowed = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            pattern, _, reason = (part.strip() for part in line.partition("|"))
            if not reason:
                raise ValueError(f"line {number}: {pattern!r} has no reason; write PATTERN | REASON")
            allowed[pattern] = reason
    return allowed


class NoSkips:
    """Collects skips that nothing allows."""

    def __init__(self, allowed: dict[str, str]) -> None:
        self.allowed = allowed
        self.refused: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of one test has ended."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self._skipped(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A whole file may be skipped while it is collected."""
        if report.skipped:
            self._skipped(report.nodeid)

    def _skipped(self, nodeid: str) -> None:
        if not any(fnmatchcase(nodeid, pattern) for pattern in self.allowed):
            self.refused.append(nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Turn a good session with refused skips into a failed one."""
        if self.refused and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which."""
        if self.refused:
            terminalreporter.section("skips that are not allowed here", red=True)
            for nodeid in self.refused:
                terminalreporter.line(nodeid)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that names the file."""
    parser.addoption("--allowed-skips", metavar="FILE", help="fail on every skip but those in FILE (PATTERN | REASON)")


def pytest_configure(config: pytest.Config) -> None:
    """Start collecting if the option was given."""
    name = config.getoption("--allowed-skips")
    if name is not None:
        try:
            allowed = read_allowed(Path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise pytest.UsageError(f"--allowed-skips={name}: {error}") from None
        config.pluginmanager.register(NoSkips(allowed), "no-skips")
