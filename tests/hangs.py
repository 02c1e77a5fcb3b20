"""A test that no signal ends is ended with its process: what hangs fails by its name, and the others go on.

pytest-timeout raises an exception in the main thread, which needs the interpreter to run its next step there, and
which an event loop may take for the failure of one of its tasks. A watchdog thread of `faulthandler` needs neither: it
writes where every thread stands and ends the process. pytest-xdist names the test in which the process ended, and
starts another one for the tests that are left.
"""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator
from typing import IO

import pytest

GRACE_SECONDS = 120.0
"""what a test has after its time limit, in which pytest-timeout ends those that can be ended"""
_STDERR = pytest.StashKey[IO[str]]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Keep the standard error that no test's capture replaces."""
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        config.stash[_STDERR] = os.fdopen(os.dup(2), "w")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close it again."""
    if (stderr := config.stash.get(_STDERR, None)) is not None:
        stderr.close()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process some time after the test's limit."""
    seconds = time_limit(item)
    if seconds > 0:
        faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, file=item.config.stash[_STDERR], exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def time_limit(item: pytest.Item) -> float:
    """The seconds that pytest-timeout gives this test; 0 = no limit."""
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0] if mark is not None and mark.args else item.config.getini("timeout"))
