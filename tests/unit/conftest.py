"""Unit tests start no process, serve nobody and load no torch: what needs that belongs into tests/component.

That is what keeps them fast. An audit hook, which Python calls in every thread and in the midst of whatever a library
does there, only notes what it sees: one that raised would break a pool's or an event loop's own steps, and hang them.
The test during which something was noted fails when it ends.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest

REFUSED = {
    "subprocess.Popen": "a process was started",
    "os.posix_spawn": "a process was started",
    "os.system": "a process was started",
    "os.fork": "the process was forked",
    "os.forkpty": "the process was forked",
    "pty.spawn": "a process was started",
    "socket.bind": "a socket was bound, as servers do",
}
_noted: list[str] = []


def _note(event: str, arguments: tuple[Any, ...], refused: dict[str, str] = REFUSED, note: Any = _noted.append) -> None:
    # nothing global, which is gone while the interpreter ends
    if event in refused:
        note(f"{refused[event]}: {event}")
    elif event == "import" and arguments[0] == "torch":
        note("torch was imported")


sys.addaudithook(_note)


def taken() -> list[str]:
    """What has been noted since the last call."""
    seen = _noted[:]
    del _noted[: len(seen)]
    return seen


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fails the module or folder whose loading needed more."""
    taken()  # what other folders' modules did, where they are loaded by the same process
    report = yield
    if seen := taken():
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} belongs into tests/component: {', '.join(seen)}"
    return report


@pytest.fixture(scope="module", autouse=True)
def _of_this_module() -> None:
    """What tests of other folders did before, in the same process, is no module's of this one."""
    taken()


@pytest.fixture(autouse=True)
def _nothing_but_python() -> Iterator[None]:
    """Fails the test that needed more, as it ends. Fixtures of wider scope count for the first test that has them."""
    yield
    assert taken() == [], "this test belongs into tests/component"
