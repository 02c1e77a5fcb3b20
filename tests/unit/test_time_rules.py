"""Nobody but the clock asks the system for the time of day: it is for records, and never for a deadline."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import harena
from parsed_sources import tree_of

ROOT = Path(harena.__file__).parent
CLOCK = Path("core/clock.py")
TIME_OF_DAY = {
    "time": {"time", "time_ns", "localtime", "gmtime", "ctime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}
ELSEWHERE = ("scoring/battery/", "scoring/guest/unauthorized_access.py", "sdk/webhooks.py", "testing/")
"""programs that are candidates; what compares with the times of files; what receivers of webhooks run, who compare with
the time in a message; tests"""


def asked(tree: ast.AST) -> list[int]:
    """The lines on which the system is asked for the time of day."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in TIME_OF_DAY.get(node.value.id, ())
    ]


def test_only_the_clock_asks() -> None:
    """Others are handed a clock, whose `now()` is monotonic."""
    found = {}
    for path in ROOT.rglob("*.py"):
        name = path.relative_to(ROOT)
        if name != CLOCK and not name.as_posix().startswith(ELSEWHERE):
            lines = asked(tree_of(path))
            found.update({f"{name}:{line}": line for line in lines})
    assert found == {}


@pytest.mark.parametrize("line", ["time.time()", "datetime.now(UTC)", "x = time.time_ns", "date.today()"])
def test_the_rule_finds_them(line: str) -> None:
    """And lets monotonic clocks be."""
    assert asked(ast.parse(line)) == [1]
    assert asked(ast.parse("time.monotonic(); clock.utcnow(); loop.time()")) == []
