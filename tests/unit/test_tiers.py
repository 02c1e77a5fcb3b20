"""Two parts of the suite: what one run leaves, the other has."""

from __future__ import annotations

import pytest

from tiers import ROWS, drawn, first_part

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


def parts(pytester: pytest.Pytester, draw: str) -> tuple[set[str], set[str]]:
    """The ids of the first part and of the rest of `TESTS`."""
    found = []
    for part in ("first", "rest"):
        result = pytester.runpytest_inprocess(
            "-p", "no:asyncio", "-q", "--collect-only", f"--part={part}", f"--draw={draw}", "tests"
        )
        found.append({line for line in result.outlines if "::" in line})
    return found[0], found[1]


def test_each_test_is_in_one_part(pytester: pytest.Pytester) -> None:
    """Drawn rows of long tables and single tests are first; the other rows, thorough tests and lonely ones are left."""
    hooks = "pytest_addoption, pytest_collection_modifyitems, pytest_report_header"
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests/conftest.py").write_text(f"from tiers import {hooks}\n")
    pytester.makeini("[pytest]\nmarkers =\n    thorough\n    alone\n")
    for name, text in TESTS.items():
        pytester.makepyfile(**{f"tests/{name.removesuffix('.py')}": text})
    first, rest = parts(pytester, "one")
    assert len(first | rest) == 43
    assert not first & rest
    assert sum("component/test_a.py::test_rows" in name for name in first) == ROWS["component"]
    assert sum("unit/test_b.py::test_rows" in name for name in first) == 20
    assert "tests/component/test_a.py::test_single" in first
    assert {"tests/component/test_a.py::test_thorough", "tests/component/test_a.py::test_alone"} <= rest
    assert parts(pytester, "one") == (first, rest)
    assert parts(pytester, "two")[0] != first


def test_a_draw_knows_neither_order_nor_company() -> None:
    """Processes that collect in another order, or with -k, agree."""
    tests = [(name, False) for name in MANY]
    assert first_part(tests, "x") == first_part(tests[::-1], "x")
    chosen = drawn(MANY, 6, "x")
    assert chosen == drawn(chosen, 6, "x")


def test_every_row_is_drawn_in_time() -> None:
    """None is left for ever."""
    draws = [drawn(MANY, 6, str(number)) for number in range(100)]
    assert set.union(*draws) == set(MANY)
    assert all(len(rows) == 6 for rows in draws)
