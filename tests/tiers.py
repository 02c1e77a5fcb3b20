"""Which tests `make test` runs, and which `make test-rest` runs: each test is in exactly one of the two parts.

The first part is small enough to be run before every push. It has the tests that bear no mark of `LEFT`; but of the
files of a folder in `SHARES` a draw of one in so many, and of a function with more rows than `ROWS` allows in its
folder, a draw of so many. The draw is the same in every process that is given the same words (`--draw`), and what is
not drawn is in the second part. `make` draws by the commit, so that in time every file and row is run first.

`--short-tables` takes of the second part so many rows of a test function that both parts together have `FEW_ROWS` of
it, or one in `FEW_SHARE` of a longer table: every function is run, and the other rows with another draw. Rows that bear
the mark `cheap` are all taken, and those that bear `soak` are left out: they take minutes by their nature, and each
says where its shorter witness is.

Files whose tests are marked `slow` come first, then those with the most tests: two processes that take a file at a time
end together only where the last files are short.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import pytest

ROWS = {"component": 3, "integration": 2, "escape": 2, "battery": 2}
"""By folder of tests/: the most rows that the first part has of one test function. Folders that are not here: all."""
SHARES = {"component": 4, "integration": 10, "escape": 10, "battery": 2}
"""By folder of tests/: the first part has one in so many of its files. Folders that are not here: all."""
LEFT = {"thorough", "alone", "soak"}
"""Marks of tests that the first part does without."""
FEW_ROWS, FEW_ROWS_OF = 2, {"integration": 1}
"""With `--short-tables`, so many rows of a test function are in both parts together, where it has as many; by folder of
tests/ where that has another number. A row of `tests/integration` judges programs, which takes about a second."""
FEW_SHARE = 12
"""With `--short-tables`, one in so many rows of a test function is there, where that is more than `FEW_ROWS`."""
CHEAP = "cheap"
"""The mark of rows that `--short-tables` leaves in: they take next to no time."""
SOAK = "soak"
"""The mark of tests that `--short-tables` leaves out: `make test-all` alone runs them."""
SLOW_WEIGHT = 20
"""As many ordinary tests take about the time of one that is marked `slow`."""
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
            functions[_function(name)].append(name)
    found: set[str] = set()
    for function, rows in functions.items():
        folder = _folder(function)
        if is_drawn(_file(function), SHARES.get(folder, 1), draw):
            found |= drawn(rows, ROWS.get(folder, len(rows)), draw)
    return found


def shortened(
    tests: Iterable[str], first: Iterable[str], cheap: Iterable[str], draw: str, *, soaks: Iterable[str] = ()
) -> set[str]:
    """What `--short-tables` leaves of the second part's tests: of each function so many rows, as `draw` decides, that
    both parts together have a few, at least one where the first part has none; all rows that are `cheap`, and no
    `soaks`."""
    functions: dict[str, list[str]] = defaultdict(list)
    whole = set(cheap)
    for name in set(tests) - set(soaks):
        functions[_function(name)].append(name)
    before = Counter(map(_function, first))
    found = whole & {row for rows in functions.values() for row in rows}
    for function, rows in functions.items():
        few = few_of(len(rows) + before[function], _folder(function))
        found |= drawn(rows, max(0, few - before[function]), draw)
    return found


def few_of(rows: int, folder: str) -> int:
    """How many of so many rows of a test function in a folder of tests/ `--short-tables` takes."""
    return min(rows, max(FEW_ROWS_OF.get(folder, FEW_ROWS), -(-rows // FEW_SHARE)))


def _folder(name: str) -> str:
    return name.removeprefix("tests/").partition("/")[0]


def _function(name: str) -> str:
    return name.partition("[")[0]


def in_order(files: Sequence[tuple[str, bool]]) -> dict[str, int]:
    """Each file's place, of the (file, whether it is marked slow) of each test."""
    weights: Counter[str] = Counter()
    for file, is_slow in files:
        weights[file] += SLOW_WEIGHT if is_slow else 1
    return {file: place for place, file in enumerate(sorted(weights, key=lambda file: (-weights[file], file)))}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that `make` gives."""
    parser.addoption("--part", choices=[FIRST, REST, ALL], default=ALL, help="which of the two parts is run")
    parser.addoption(
        "--short-tables", action="store_true", help="of the rows of a test function in the second part, draw a few"
    )
    parser.addoption("--draw", default="", metavar="WORDS", help="what decides which rows the first part has")


def pytest_report_header(config: pytest.Config) -> str | None:
    """What repeats this choice of tests."""
    part, draw = config.getoption("--part"), config.getoption("--draw")
    short = " --short-tables" if config.getoption("--short-tables") else ""
    return None if part == ALL else f"tests of one part: --part={part} --draw={draw}{short}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the part that is asked for, the longest files first."""
    part = config.getoption("--part")
    if part == ALL:
        return
    marks = {item.nodeid: {mark.name for mark in item.iter_markers()} for item in items}
    draw = config.getoption("--draw")
    first = first_part([(name, bool(of & LEFT)) for name, of in marks.items()], draw)
    wanted = first if part == FIRST else marks.keys() - first
    if part == REST and config.getoption("--short-tables"):
        cheap, soaks = ([name for name, of in marks.items() if mark in of] for mark in (CHEAP, SOAK))
        wanted = shortened(wanted, first, cheap, draw, soaks=soaks)
    others = [item for item in items if item.nodeid not in wanted]
    kept = [item for item in items if item.nodeid in wanted]
    places = in_order([(_file(item.nodeid), "slow" in marks[item.nodeid]) for item in kept])
    items[:] = sorted(kept, key=lambda item: places[_file(item.nodeid)])
    config.hook.pytest_deselected(items=others)


def _file(name: str) -> str:
    return name.partition("::")[0]
