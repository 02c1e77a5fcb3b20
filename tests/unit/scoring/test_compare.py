"""Whether an answer is right."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.scoring.compare import (
    OutputComparison,
    Tolerance,
    ValueComparison,
    compare_output,
    compare_values,
    parse_number,
)
from harena.scoring.contracts.contract import NumericContract
from harena.scoring.scorers.output import numeric_score
from harena.scoring.values import from_python

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("answer", "expected", "comparison", "right"),
    [
        ([1, 2], [1, 2], "exact", True),
        ((1, 2), [1, 2], "exact", False),
        ((1, (2,)), [1, [2]], "exact_json", True),
        ([1], [True], "exact_json", False),
        ([1], [1.0], "exact_json", False),
        ({"a": (1,)}, {"a": [1]}, "exact_json", True),
        ([2, 1, 1], [1, 2, 1], "unordered", True),
        ([2, 2, 1], [1, 2, 1], "unordered", False),
        ((2, 1), [1, 2], "unordered", False),
        ([[2, 1]], [[1, 2]], "unordered", False),
        ([1], [1, 1], "unordered", False),
        ("ba", "ab", "unordered", False),
        (0.1 + 0.2, 0.3, "exact", False),
        (0.1 + 0.2, 0.3, "float", True),
        (1, 1.0, "float", True),
        (True, 1.0, "float", False),
        ("1.0", 1.0, "float", False),
        (NAN, NAN, "float", True),
        (NAN, 1.0, "float", False),
        (INF, INF, "float", True),
        (INF, -INF, "float", False),
        (INF, 1e308, "float", False),
        (10**400, 1.0, "float", False),
        (10**400, 10**400, "float", True),
        ([0.3], (0.3,), "float", False),
        ({"x": [0.1 + 0.2]}, {"x": [0.3]}, "float", True),
        ({"x": 1.0, "y": 1.0}, {"x": 1.0}, "float", False),
        ({0.1 + 0.2, 1.0}, {1, 0.3}, "float", True),
        ({"a"}, {"a"}, "float", True),
        ({(1, 2), (3, 4)}, {(3.0, 4.0), (1.0, 2.0)}, "float", True),
        ({(1, 2), (3, 5)}, {(3.0, 4.0), (1.0, 2.0)}, "float", False),
        ({(0.1 + 0.2, 1), (0.3, 2)}, {(0.3, 1), (0.1 + 0.2, 2)}, "float", True),
        ({(0.1 + 0.2, "a"), "b", None}, {"b", None, (0.3, "a")}, "float", True),
        ({(0.1 + 0.2, "a"), "b", None}, {"b", None, (0.3, "b")}, "float", False),
        ({frozenset({(0.3, 1j)})}, {frozenset({(0.1 + 0.2, 1j)})}, "float", True),
        ({1, "a"}, {1.0, "a"}, "float", True),
        ({True, "a"}, {1.0, "a"}, "float", False),
        ({(True,)}, {(1.0,)}, "float", False),
        ({(1000000008, 0.3)}, {(1000000007, 0.3)}, "float", False),
        ({1.0, NAN, 2.0}, {NAN, 2.0, 1.0}, "float", True),
        ({1.0, NAN, 2.0}, {NAN, 2.0, 3.0}, "float", False),
        ({(NAN, 0.3)}, {(NAN, 0.1 + 0.2)}, "float", True),
        ({1: "a", 2: 0.3}, {2.0: 0.1 + 0.2, 1.0: "a"}, "float", True),
        ({1: "a", 2: "b"}, {2.0: "a", 1.0: "b"}, "float", False),
        ({0.1 + 0.2: 1.0}, {0.3: 1}, "float", True),
        ({(1, 2): 0.5}, {(1.0, 2.0): 0.5}, "float", True),
        ({1: "a"}, {True: "a"}, "float", False),
        (1 + 0.3j, 1 + 0.1j + 0.2j, "float", True),
        (True, 1.0, "equal", True),
        (1, 1.5, "equal", False),
        ([1, 2], (1, 2), "equal", False),
        ([1, (2,)], [1.0, [2]], "equal_json", True),
        ({1: "a"}, {1.0: "a"}, "equal", True),
        (frozenset({1}), {True}, "equal", True),
        ("1", 1, "equal", False),
        (0.1 + 0.2, 0.3, "equal", False),
        (0.1 + 0.2, 0.3, "close_floats", True),
        (3, 3.0, "close_floats", True),
        (10**12 + 1, 10**12, "close_floats", False),
        ([1, 0.1 + 0.2], [1, 0.3], "close_floats", True),
        ((0.3,), [0.3], "close_floats", False),
        ((0.1 + 0.2,), [0.3], "close_json", True),
        ([(0.3, 1)], ([0.1 + 0.2, 1],), "close_json", True),
        ((0.3, 0.3), [0.3], "close_json", False),
        ({0.3}, [0.3], "close_json", False),
        ({"x": (1,)}, {"x": [1]}, "close_json", True),
        ({"x": 0.1 + 0.2}, {"x": 0.3}, "close_floats", True),
        ({"y": 0.3}, {"x": 0.3}, "close_floats", False),
        ("0.3", 0.3, "close_floats", False),
        (None, 0.0, "close_floats", False),
        ((2, 1, 1), [1, 2, 1], "items", True),
        ([2, 1], [1, 2, 1], "items", False),
        ("ba", ["a", "b"], "items", True),
        (3, [3], "items", False),
        ([2, 1, 1], {1, 2}, "members", True),
        ([3], {1, 2}, "members", False),
        ({1: 5, 2: 6}, [2, 1], "members", True),
        ([0], True, "truth", True),
        ({}, False, "truth", True),
        ("", True, "truth", False),
        (0, "x", "not_none", True),
        (None, "x", "not_none", False),
        (True, "x", "not_none", True),
        (False, None, "not_none", True),
        (False, "x", "not_none", False),
        (True, None, "not_none", False),
        (1000000008, 1000000007, "float", False),
        (1000000007.0, 1000000007, "float", True),
        (1000000007.5, 1000000007, "float", False),
        (1000000008, 1000000007.0, "float", False),
        (2**53 + 1, float(2**53), "float", True),
        (1000000008.0, 1000000007.0, "float", False),
        (1000000008.0, 1000000007.0, "close_floats", False),
        ([complex(1000000008, 0.5)], [complex(1000000007, 0.5)], "close_floats", False),
        (10**18 + 10**8, 1e18, "float", False),
        (float(10**18 + 10**8), 1e18, "float", False),
        (10**23, 1e23, "float", True),
        (10.0**22 * 10, 1e23, "float", True),
        (10**400, 1e300, "float", False),
        (1000000.9999999999, 1000001.0, "float", True),
        (0.9999999999999999, 1, "float", True),
        ([{"x": (1000000008, 0.1 + 0.2)}], [{"x": (1000000007, 0.3)}], "float", False),
        ({1000000008, 0.3}, {1000000007, 0.3}, "float", False),
        (1000000008, 1000000007.0, "close_floats", False),
        (True, 1, "float", False),
        (-0.0, 0, "float", True),
        (NAN, 0, "float", False),
        (INF, 10**400, "float", False),
        (None, None, "float", True),
        (None, 0, "float", False),
    ],
)
def test_values(answer: Any, expected: Any, comparison: ValueComparison, right: bool) -> None:
    """What each comparison loosens, and what it does not."""
    assert compare_values(from_python(answer), from_python(expected), comparison, Tolerance(1e-9)) is right


def test_tolerances_are_relative_and_absolute() -> None:
    """Either is enough."""
    assert compare_values(100.5, 101.0, "float", Tolerance(0.01))
    assert not compare_values(100.5, 102.0, "float", Tolerance(0.01))
    assert compare_values(0.0, 0.4, "float", Tolerance(0, 0.5))


def test_only_an_absolute_tolerance_lets_integers_differ() -> None:
    """A relative one is for what rounding does to floats."""
    assert not compare_values(101, 100, "float", Tolerance(0.5, 0.999))
    assert not compare_values(101, 100.0, "float", Tolerance(0.5, 0.999))
    assert not compare_values(101.0, 100.0, "float", Tolerance(0.5, 0.999))
    assert compare_values(102.0, 100.0, "float", Tolerance(0.0, 2.0))
    assert compare_values(102, 100, "float", Tolerance(0.0, 2.0))
    assert not compare_values(103, 100, "float", Tolerance(0.5, 2.0))


@pytest.mark.parametrize(
    ("answer", "expected", "tolerance", "right"),
    [
        (10**18 + 60, 10**18, Tolerance(0.0, 1.0), False),
        (10**18 + 1, 10**18, Tolerance(0.0, 1.0), True),
        (10**17 + 7, 10**17, Tolerance(0.0, 3.0), False),
        (1e17, 10**17 + 7, Tolerance(0.0, 3.0), False),
        (1e17, 10**17 + 7, Tolerance(0.0, 7.0), True),
        (10**400 + 1, 10**400, Tolerance(0.0, 1.0), True),
        (10**400 + 2, 10**400, Tolerance(0.0, 1.0), False),
        (-(10**400) - 1, -(10**400), Tolerance(0.0, 1.0), True),
        (10**400, 1.0, Tolerance(1e-9, 1.0), False),
        (10**18 + 60, 1e18, Tolerance(0.0, 1.0), False),
        (complex(10**17 + 16), complex(10**17), Tolerance(0.0, 3.0), False),
    ],
)
def test_whole_numbers_are_subtracted_exactly(answer: Any, expected: Any, tolerance: Tolerance, right: bool) -> None:
    """No distance of integers goes through a float, whether it would lose digits or overflow."""
    assert compare_values(answer, expected, "float", tolerance) is right
    if type(answer) is not complex:
        assert tolerance.near(answer, expected) is right
        assert tolerance.near_as_written(answer, expected) is right
        assert tolerance.close(answer, expected) is right


@pytest.mark.parametrize("terms", [2, 6, 30])
@pytest.mark.parametrize("magnitude", range(40, 60))
def test_a_sum_in_another_order_is_right_at_any_magnitude(magnitude: int, terms: int) -> None:
    """Rounding makes another whole number of a large float; both comparisons of numbers take it for the same."""
    chance, tolerance = random.Random(magnitude * terms), Tolerance(1e-7, 1e-6)
    for _ in range(300):
        numbers = [chance.uniform(0, 2.0 ** (magnitude + 1) / terms) for _ in range(terms)]
        expected, answer = sum(numbers), sum(reversed(numbers))
        assert tolerance.near(answer, expected), (answer, expected)
        assert tolerance.near_as_written(answer, expected), (answer, expected)


@pytest.mark.parametrize("number", [7, 10**9 + 7, 2**40, 2**47, 2**48 - 1])
def test_another_whole_number_is_wrong_where_rounding_is_not_at_work(number: int) -> None:
    """A float below 2**48 stands for itself, whatever a relative tolerance says."""
    tolerance = Tolerance(1e-3, 0.5)
    for answer, expected in ((number + 1, number), (float(number + 1), number), (float(number + 1), float(number))):
        assert not tolerance.near(answer, expected)
        assert not tolerance.near_as_written(answer, expected)
    for large in (2**48, 2**52, 2**53 - 2):
        assert not tolerance.near(large + 1, float(large))
        assert not tolerance.near_as_written(large + 1, float(large))
        assert not tolerance.near(float(large + 1), large)


@pytest.mark.parametrize(
    ("target", "fields", "number", "score"),
    [
        (1000000007, {}, "1000000008", 0.0),
        (1000000007, {}, "1000000007.0", 1.0),
        (1000000007.0, {}, "1000000008", 0.0),
        (1000000007.0, {}, "1000000008.0", 0.0),
        (1e18, {}, "1000000000100000000", 0.0),
        (2**60 + 1, {}, str(2**60), 0.0),
        (2**60 + 1, {}, str(2**60 + 1), 1.0),
        (100, {"abs_tol": 5}, "104.5", 1.0),
        (100, {"abs_tol": 0.5}, "99.75", 1.0),
        (100, {"abs_tol": 1, "rel_tol": 0.5}, "102", 0.0),
        (100, {"rel_tol": 0.01}, "101", 0.0),
        (100, {"rel_tol": 0.01}, "100.5", 1.0),
        (1000000007, {"rel_tol": 1e-6}, "1000000008", 0.0),
        (1000000007.0, {"rel_tol": 1e-6}, "1000000008.0", 0.0),
        (2**60 + 1, {"rel_tol": 1e-6}, str(2**60), 0.0),
        (2**60 + 1, {"abs_tol": 1}, str(2**60), 1.0),
        (3.0, {"abs_tol": 1}, "9" * 308, 0.0),
        (6.022e23, {"rel_tol": 0.001}, "6.0221e23", 1.0),
        (0.5, {"rel_tol": 0.01}, "0.501", 1.0),
        (0.3, {}, "0.30000000000000004", 1.0),
    ],
)
def test_a_whole_target_is_met_exactly(target: float, fields: dict[str, float], number: str, score: float) -> None:
    """Unless its author writes an absolute tolerance: a relative one says nothing of two whole numbers."""
    contract = NumericContract.model_validate({"type": "numeric", "target": target, **fields})
    found = parse_number(number)
    assert found is not None
    assert numeric_score(contract, found) == score


@pytest.mark.parametrize(
    ("printed", "expected", "comparison", "right"),
    [
        (b"a\nb\n", "a\nb\n", "exact", True),
        (b"a\nb", "a\nb\n", "exact", False),
        (b"a\nb", "a\nb\n", "trimmed", True),
        (b"a  \r\nb\n\n\n", "a\nb", "trimmed", True),
        (b" a\nb", "a\nb", "trimmed", False),
        (b"\na\nb", "a\nb", "trimmed", False),
        (b"a\n\nb", "a\nb", "trimmed", False),
        (b"a", "a\nb", "trimmed", False),
        (b"a\nb\nc", "a\nb", "trimmed", False),
        (b"", "a", "trimmed", False),
        (b"", "", "trimmed", True),
        (b"1   2\n3", "1 2 3", "tokens", True),
        (b"1 2", "1 2 3", "tokens", False),
        (b"1 2 3 4", "1 2 3", "tokens", False),
        (b"A", "a", "tokens", False),
        (b"0.3000000000001 ok", "0.3 ok", "numeric", True),
        (b"0.31 ok", "0.3 ok", "numeric", False),
        (b"3", "3.0", "numeric", True),
        (b"nan", "3.0", "numeric", False),
        (b"nan", "nan", "numeric", True),
        (b"1_0", "10", "numeric", False),
        (b"\xff", "\ufffd", "exact", False),
    ],
)
def test_output(printed: bytes, expected: str, comparison: OutputComparison, right: bool) -> None:
    """White space, words and numbers, each as its comparison says."""
    assert compare_output(printed, expected, comparison, Tolerance(1e-9)) is right


@given(st.text("ab 1\n", max_size=30), st.integers(0, 30))
def test_a_prefix_of_the_output_never_passes(expected: str, cut: int) -> None:
    """Unless what is missing is white space at the end."""
    prefix = expected[:cut]
    for comparison in ("trimmed", "tokens", "numeric"):
        right = compare_output(prefix.encode(), expected, comparison, Tolerance())
        assert right is (not expected[cut:].strip() and prefix.split() == expected.split())


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1.0), ("-.5e1", -5.0), ("+3.", 3.0), ("1e999", None), ("nan", None), ("inf", None), ("1_0", None),
     ("", None), ("0x1", None), ("1 ", None), ("1" * 500, None), ("\u0661", None)],
)  # fmt: skip
def test_only_plain_finite_numbers_are_numbers(text: str, number: float | None) -> None:
    """What Python's float() would take besides is refused."""
    assert parse_number(text) == number


@pytest.mark.parametrize(
    ("printed", "expected", "comparison", "right"),
    [
        ("1.0 2\n3\n", "1 2.00\n 3", "decimal_lines", True),
        ("1\n2", "1 2", "decimal_lines", False),
        ("1", "1\n2", "decimal_lines", False),
        ("0.1", "0.10000001", "decimal_lines", False),
        ("a 1", "a 1.0", "decimal_lines", False),
        ("nan", "NaN", "decimal_lines", False),
        ("1_0", "10", "decimal_lines", False),
        ("0.3333333 7", "0.33333333\n7", "float_tokens", True),
        ("1000000008", "1000000007", "float_tokens", False),
        ("1000000008", "1000000007", "numeric", False),
        ("1000000007.0", "1000000007", "numeric", True),
        ("1000000007.5", "1000000007", "numeric", False),
        ("1000000008", "1000000007.0", "numeric", False),
        ("1000000008.0", "1000000007.0", "numeric", False),
        ("1000000008.0", "1000000007.0", "float_tokens", False),
        ("1000000008.0", "1000000007.0", "folded_lines", False),
        ("1000000000100000000", "1e18", "numeric", False),
        ("100000000000000000000000", "1e23", "numeric", True),
        ("7", "007", "decimal_lines", False),
        ("a 123", "a 00123", "decimal_lines", False),
        ("007", "007", "decimal_lines", True),
        ("007 1.50", "007 1.5", "decimal_lines", True),
        ("0.50", "0.5", "decimal_lines", True),
        ("0", "0.0", "decimal_lines", True),
        ("0.9999999999", "1", "numeric", True),
        ("9007199254740993.0", "9007199254740992", "numeric", False),
        ("-0.0", "0", "numeric", True),
        ("1e400", "1e401", "numeric", False),
        ("100001", "100000", "folded_lines", False),
        ("100000.0", "100000", "folded_lines", True),
        ("100001.5", "100001.0", "folded_lines", True),
        ("2.0", "2", "float_tokens", False),
        ("2", "2.0", "float_tokens", True),
        ("x 0.5", "y 0.5", "float_tokens", False),
        ("YES\n", "yes", "folded_lines", True),
        ("0.333333", "0.3333333", "folded_lines", True),
        ("0.33 YES", "0.3300 yes", "folded_lines", False),
        ("yes\nno", "yes", "folded_lines", False),
    ],
)
def test_output_as_data_sets_compare_it(printed: str, expected: str, comparison: OutputComparison, right: bool) -> None:
    """Line by line and whole: a prefix is never enough."""
    assert compare_output(printed.encode(), expected, comparison, Tolerance(1e-5, 0.0)) is right


@pytest.mark.parametrize("answer", [10**400, -(10**400)])
def test_an_integer_that_no_float_can_hold_is_near_no_complex_number(answer: int) -> None:
    """A candidate's answer may be any integer, and none of them is the host's fault."""
    assert not compare_values(answer, 3 + 1j, "close_floats", Tolerance(1e-6, 1e-9))
    assert not compare_values(answer, 3 + 1j, "close", Tolerance(1e-6, 1e-9))
