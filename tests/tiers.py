"""Which tests `make test` runs, and which `make test-rest` runs: each test is in exactly one of the two parts.

The first part is small enough to be run before every push. It has the tests that bear no mark of `LEFT`; but of the
files of a folder in `SHARES` a draw of one in so many, and of a function with more rows than `ROWS` allows in its
folder, a draw of so many. The draw is the same in every process that is given the same words (`--draw`), and what is
not drawn is in the second part. `make` draws by the commit, so that in time every file and row is run first.

`--halve-tables` takes the second part with half of each function's rows: every function is run, and the other rows with
another draw.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence

import pytest

ROWS = {"component": 3, "integration": 2, "escape": 2, "battery": 2}
"""By folder of tests/: the most rows that the first part has of one test function. Folders that are not here: all."""
SHARES = {"component": 3, "integration": 6, "escape": 6, "battery": 2}
"""By folder of tests/: the first part has one in so many of its files. Folders that are not here: all."""
LEFT = {"thorough", "alone"}
"""Marks of tests that the first part does without."""
WHOLE_ROWS = 3
"""With `--halve-tables`, the second part has as many rows of a test function in any case."""
FIRST, REST, ALL = "first", "rest", "all"


def drawn(rows: Iterable[str], count: int, draw: str) -> set[str]:
    """So many of the rows, as `draw` decides; a row's chance does not depend on what other rows there are."""
    return set(sorted(rows, key=lambda row: hashlib.sha256(f"{draw}:{row}".encode()).digest())[:count])


def is_drawn(file: str, share: int, draw: str) -> bool:
    """Whether the first part has a file, by chance of one in `share`, whatever other files there are."""
    return int.from_bytes(hashlib.sha256(f"{draw}:{file}".encode()).digest()[:8], "big") % share == 0


def first_part(tests: Sequence[tuple[str, bool]], draw: str) -> set[str]:
    """The ids of those tests that are in the first part, of (id, whether it is left to the second part in any case)."""
    functions: dict[str, list[str]] = defaultdict(list)
    for name, is_left in tests:
        if not is_left:
            functions[name.partition("[")[0]].append(name)
    found: set[str] = set()
    for function, rows in functions.items():
        folder = function.removeprefix("tests/").partition("/")[0]
        if is_drawn(function.partition("::")[0], SHARES.get(folder, 1), draw):
            found |= drawn(rows, ROWS.get(folder, len(rows)), draw)
    return found


def halved(tests: Iterable[str], draw: str) -> set[str]:
    """Of each function every second row, as `draw` decides, and no fewer than `WHOLE_ROWS` where there are as many."""
    functions: dict[str, list[str]] = defaultdict(list)
    for name in tests:
        functions[name.partition("[")[0]].append(name)
    return {row for rows in functions.values() for row in drawn(rows, max(WHOLE_ROWS, (len(rows) + 1) // 2), draw)}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that `make` gives."""
    parser.addoption("--part", choices=[FIRST, REST, ALL], default=ALL, help="which of the two parts is run")
    parser.addoption(
        "--halve-tables", action="store_true", help="of the rows that a test function has in the second part, draw half"
    )
    parser.addoption("--draw", default="", metavar="WORDS", help="what decides which rows the first part has")


def pytest_report_header(config: pytest.Config) -> str | None:
    """What repeats this choice of tests."""
    part, draw = config.getoption("--part"), config.getoption("--draw")
    half = " --halve-tables" if config.getoption("--halve-tables") else ""
    return None if part == ALL else f"tests of one part: --part={part} --draw={draw}{half}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the part that is asked for."""
    part = config.getoption("--part")
    if part == ALL:
        return
    tests = [(item.nodeid, any(mark.name in LEFT for mark in item.iter_markers())) for item in items]
    draw = config.getoption("--draw")
    first = first_part(tests, draw)
    wanted = first if part == FIRST else {name for name, _ in tests} - first
    if part == REST and config.getoption("--halve-tables"):
        wanted = halved(wanted, draw)
    others = [item for item in items if item.nodeid not in wanted]
    items[:] = [item for item in items if item.nodeid in wanted]
    config.hook.pytest_deselected(items=others)
