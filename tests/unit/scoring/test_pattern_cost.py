"""A regular expression is checked without being compiled, which can take 19 s."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.scoring.contracts.parts import regular_expression
from harena.scoring.contracts.patterns import check_pattern

SECONDS = 1.0
"""of processor time, for all: compiling the first one takes nineteen"""
WIDE = "[\u0100-\uffff]"


@pytest.mark.parametrize(
    "pattern",
    [
        "(?i)00000" + WIDE * 1990,
        WIDE * 1990,
        "(?i:" + WIDE * 1600 + ")",
        "(?i)" + "[^\u0100-\uffff]" * 1600,
        "(?i)(?:a|" + "(?:b|" * 20 + f"(?={WIDE}+)(?!{WIDE})(?<!{WIDE})({WIDE}*?)" * 30 + ")" * 21,
        "(?i)(a)" + f"(?(1){WIDE}|{WIDE})" * 400,
        "(?i)" + "[\U00000100-\U0010ffff]" * 900,
    ],
    ids=["letters", "plain", "within", "not", "groups", "conditions", "all"],
)
def test_wide_classes_are_counted_and_not_compiled(pattern: str) -> None:
    """Wherever they stand."""
    before = time.process_time()
    with pytest.raises(ValueError, match="the ranges of its classes hold more than"):
        regular_expression(pattern)
    assert time.process_time() - before < SECONDS


def test_what_is_allowed_is_not_compiled_either() -> None:
    """A pattern of 40 characters would take 60 ms: as many as a request may hold would take hours."""
    before = time.process_time()
    for number in range(1000):
        regular_expression(f"(?i){number}" + WIDE * 7)
        regular_expression(f"(?i){number}" + "[\u0100\u0300-\u0302\u0500\u0700]" * 20)
    assert time.process_time() - before < 10 * SECONDS


@pytest.mark.parametrize(
    "pattern",
    [
        "[\u4e00-\u9fff\u3400-\u4dbf]+[\u3000-\u303f\uff00-\uffef]*" * 10,
        r"[^\x00-\x7F]+" * 500,
        r"(?i)^\s*(?P<answer>[-+]?\d[\d,]*(?:\.\d+)?)\s*(?:\$|€|[A-Za-z°%]+)?$",
        r"(?:[\u0400-\u04FF]+\s?){1,5}",
        "[\U00010000-\U0010ffff]" * 500,
    ],
)
def test_patterns_that_people_write(pattern: str) -> None:
    """Also with letters of other scripts."""
    assert regular_expression(pattern) == pattern


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
@given(st.text(alphabet="ab[]^-()?*+{}|\\dwWbBAZ<=!:P>1,0iLu.$", max_size=14))
def test_it_takes_what_python_takes(pattern: str) -> None:
    """And refuses what Python refuses."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        wrong = True
    else:
        wrong = False
    try:
        check_pattern(pattern)
    except ValueError:
        assert wrong, pattern
    else:
        assert not wrong, pattern


@pytest.mark.parametrize(
    "pattern", ["(", "(?<=a*)b", "a{99999999999}", "[b-a]", "(?P<a>b)(?P<a>c)", r"\1", "(?:" * 3000]
)
def test_what_is_no_pattern_is_said(pattern: str) -> None:
    """Also where only the compiler finds it."""
    with pytest.raises(ValueError, match="is not a regular expression"):
        regular_expression(pattern)


def test_other_patterns_stay_as_they_are() -> None:
    """The parser's lists of what is in a class are shared by all patterns."""
    for pattern in (r"\d+\s\w", r"(?:\D|\S|\W)*[\d\s]", "[abc]"):
        regular_expression(pattern)
        re.purge()
        assert re.fullmatch(r"\d\s\w[\D][\S]\W[abc]", "1 2xx-b")
