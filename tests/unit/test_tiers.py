"""Two parts of the suite: what one run leaves, the other has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tiers import FEW_ROWS, FEW_ROWS_OF, ROWS, SHARES, drawn, few_of, first_part, in_order, is_drawn, shortened

pytest_plugins = ["pytester"]

MANY = [f"tests/component/test_a.py::test_rows[{number}]" for number in range(40)]
TESTS = {
    "component/test_a.py": """
        import pytest
        @pytest.mark.parametrize("row", range(20))
        def test_rows(row): pass
        @pytest.mark.thorough
        def test_thorough(): pass
        @pytest.mark.alone
        def test_alone(): pass
        def test_single(): pass
    """,
    "unit/test_b.py": """
        import pytest
        @pytest.mark.parametrize("row", range(20))
        def test_rows(row): pass
    """,
}


def parts(pytester: pytest.Pytester, draw: str, *options: str) -> tuple[set[str], set[str]]:
    """The ids of the first part and of the rest of `TESTS`."""
    found = []
    for part in ("first", "rest"):
        result = pytester.runpytest_inprocess(
            "-p", "no:asyncio", "-q", "--collect-only", f"--part={part}", f"--draw={draw}", *options, "tests"
        )
        found.append({line for line in result.outlines if "::" in line})
    return found[0], found[1]


def test_each_test_is_in_one_part(pytester: pytest.Pytester) -> None:
    """Drawn rows of long tables and single tests are first; the other rows, thorough tests and lonely ones are left."""
    hooks = "pytest_addoption, pytest_collection_modifyitems, pytest_report_header"
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests/conftest.py").write_text(f"from tiers import {hooks}\n")
    pytester.makeini("[pytest]\nmarkers =\n    thorough\n    alone\n    soak\n")
    for name, text in TESTS.items():
        pytester.makepyfile(**{f"tests/{name.removesuffix('.py')}": text})
    with_it, without = (
        next(
            draw
            for draw in map(str, range(100))
            if is_drawn("tests/component/test_a.py", SHARES["component"], draw) is found
        )
        for found in (True, False)
    )
    first, rest = parts(pytester, with_it)
    assert len(first | rest) == 43
    assert not first & rest
    assert sum("component/test_a.py::test_rows" in name for name in first) == ROWS["component"]
    assert sum("unit/test_b.py::test_rows" in name for name in first) == 20
    assert "tests/component/test_a.py::test_single" in first
    assert {"tests/component/test_a.py::test_thorough", "tests/component/test_a.py::test_alone"} <= rest
    assert parts(pytester, with_it) == (first, rest)
    left_out = parts(pytester, without)
    assert {name for name in left_out[0] if "component" in name} == set()
    assert left_out[0] | left_out[1] == first | rest
    assert parts(pytester, with_it, "--short-tables") == (first, shortened(rest, first, [], with_it))


def test_a_draw_knows_neither_order_nor_company() -> None:
    """Processes that collect in another order, or with -k, agree."""
    tests = [(name, False) for name in MANY]
    for draw in "xyz":
        assert first_part(tests, draw) == first_part(tests[::-1], draw)
    chosen = drawn(MANY, 6, "x")
    assert chosen == drawn(chosen, 6, "x")


def test_every_file_is_drawn_in_time() -> None:
    """And about as many at each time."""
    files = {f"tests/integration/test_{number}.py" for number in range(200)}
    draws = [{file for file in files if is_drawn(file, 4, str(draw))} for draw in range(100)]
    assert set.union(*draws) == files
    assert all(25 <= len(found) <= 75 for found in draws)


def test_every_row_is_drawn_in_time() -> None:
    """None is left for ever."""
    draws = [drawn(MANY, 6, str(number)) for number in range(100)]
    assert set.union(*draws) == set(MANY)
    assert all(len(rows) == 6 for rows in draws)


def test_a_few_rows_of_a_table_are_drawn_in_time() -> None:
    """Every function is run each time, a table of two whole, and no row of a long one is left for ever."""
    short = [f"tests/escape/test_b.py::test_few[{number}]" for number in range(FEW_ROWS)]
    tests = {*MANY, *short, "tests/escape/test_b.py::test_one"}
    draws = [shortened(tests, [], [], str(number)) for number in range(100)]
    assert set.union(*draws) == tests
    assert all(tests - set(MANY) < found for found in draws)
    assert all(len(found & set(MANY)) == few_of(len(MANY), "component") for found in draws)
    assert [few_of(rows, "escape") for rows in (1, 3, 4, 24, 36, 37, 204)] == [1, 2, 2, 2, 3, 4, 17]
    assert [few_of(rows, "integration") for rows in (1, 2, 12, 13)] == [FEW_ROWS_OF["integration"]] * 3 + [2]


def test_a_soak_is_left_to_the_whole_suite() -> None:
    """A function all of whose rows are soaks is left out, too, and of others a row is drawn that is none."""
    rows = ["tests/integration/test_c.py::test_waits[503]", "tests/integration/test_c.py::test_waits[404]"]
    tests = [*rows, "tests/integration/test_c.py::test_soak"]
    soaks = [rows[0], tests[-1]]
    assert {frozenset(shortened(tests, [], soaks, str(number), soaks=soaks)) for number in range(20)} == {
        frozenset({rows[1]})
    }
    assert first_part([(name, True) for name in tests], "x") == set()


def test_rows_of_the_first_part_count() -> None:
    """Both parts together have so many rows of a function, and those that are cheap are all in the second."""
    tests = [(name, False) for name in MANY]
    draw = next(draw for draw in map(str, range(100)) if first_part(tests, draw))
    first = first_part(tests, draw)
    rest = set(MANY) - first
    assert len(first) == ROWS["component"]
    assert len(shortened(rest, first, [], draw)) == few_of(len(MANY), "component") - ROWS["component"]
    assert shortened(rest, first, MANY, draw) == rest


def test_long_files_come_first() -> None:
    """One that is marked slow counts as many tests do, and the order does not depend on that of the tests."""
    tests = [("b", False), ("a", False), ("c", True), ("d", False), ("d", False)]
    assert list(in_order(tests)) == list(in_order(tests[::-1])) == ["c", "d", "a", "b"]


def test_tests_that_run_alone_name_the_mark_in_their_own_file() -> None:
    """`make test-rest` runs those of the files that name it, so the mark comes from nowhere else."""
    tests = Path(__file__).parents[1]
    named = {
        path.relative_to(tests)
        for folder in ("integration", "escape", "battery")
        for path in (tests / folder).rglob("*.py")
        if re.search(r"\bmark\.alone\b", path.read_text(encoding="utf-8"))
    }
    assert named
    assert {path for path in named if not path.name.startswith("test_")} == set()
    assert all("pytest.mark.alone" in (tests / path).read_text(encoding="utf-8") for path in named)
