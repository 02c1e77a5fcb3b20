"""Patterns of paths mean what Docker means by them, and none takes long."""

from __future__ import annotations

import posixpath
import time
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harena.core.path_patterns import PathPatternError, PathRules, rules_of_file, wildcard

FILE = """
# a comment
*.pyc
**/node_modules
!keep/node_modules/x
/abs
docs/**
!docs/README.md
a/*/c
temp?
[a-c]x
[^q]z
src/**/gen/*.c
trailing/
"""


@pytest.mark.parametrize(
    ("path", "is_left_out"),
    [
        ("a.pyc", True),
        ("d/a.pyc", False),
        ("node_modules/q", True),
        ("q/w/node_modules", True),
        ("keep/node_modules/x/y", False),
        ("abs/z", True),
        ("docs/a/b", True),
        ("docs", False),
        ("docs/README.md", False),
        ("a/b/c/d", True),
        ("a/b/d/c", False),
        ("tempa", True),
        ("tempab", False),
        ("temp/", False),
        ("bx", True),
        ("dx", False),
        ("az", True),
        ("qz", False),
        ("src/gen/x.c", True),
        ("src/a/b/gen/x.c", True),
        ("src/a/b/gen/y/x.c", False),
        ("trailing/x", True),
    ],
)
def test_rules_of_a_file(path: str, is_left_out: bool) -> None:
    assert rules_of_file(FILE).leaves_out(path) == is_left_out


def means(pattern: str, path: str) -> bool:
    """The same, slowly."""

    @cache
    def at(i: int, j: int) -> bool:
        if i == len(pattern):
            return j == len(path)
        if pattern[i : i + 2] == "**":
            end = i
            while end < len(pattern) and pattern[end] == "*":
                end += 1
            if pattern[end : end + 1] == "/" and (i == 0 or pattern[i - 1] == "/"):
                return at(end + 1, j) or any(path[x] == "/" and at(end + 1, x + 1) for x in range(j, len(path)))
            return any(at(end, x) for x in range(j, len(path) + 1))
        if pattern[i] == "*":
            if at(i + 1, j):
                return True
            return j < len(path) and path[j] != "/" and at(i, j + 1)
        here = j < len(path) and (pattern[i] == path[j] or (pattern[i] == "?" and path[j] != "/"))
        return here and at(i + 1, j + 1)

    return at(0, 0)


@settings(max_examples=500)
@given(
    st.lists(st.sampled_from(["a", "b", "/", "*", "**", "?", "**/", "/**/"]), min_size=1, max_size=7),
    st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=4),
)
def test_stars_mean_what_a_slow_reading_means(pieces: list[str], parts: list[str]) -> None:
    pattern = posixpath.normpath("".join(pieces)).lstrip("/")
    if pattern in ("", "."):
        return
    expected = any(means(pattern, "/".join(parts[:depth])) for depth in range(1, len(parts) + 1))
    assert PathRules.of([pattern]).leaves_out("/".join(parts)) == expected


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 30 + "b", "a" * 4000),
        ("**a" * 15 + "b", "a" * 4000),
        ("**/a/" * 10 + "b", "a/" * 2000),
        ("**" + "*a**/" * 5 + "b", "a/" * 2000),
        ("**a*" + "[a-z]" * 120 + "b", ("a" * 255 + "/") * 250),
        ("**a*" + "?" * 120 + "b", ("a" * 255 + "/") * 250),
    ],
)
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    """With backtracking, it would be for ever."""
    rules = PathRules.of([pattern])
    begin = time.process_time()
    rules.leaves_out(path)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize("pattern", ["[", "[a", "[]", "[b-a]", "a\\", "a" * 1001, "*a" * 40])
def test_what_is_no_pattern_is_told(pattern: str) -> None:
    with pytest.raises(PathPatternError):
        wildcard(pattern)
    with pytest.raises(PathPatternError, match="line 2"):
        rules_of_file(f"fine\n{pattern}")


def test_no_pattern_takes_more_steps_than_a_path_has_characters() -> None:
    path = ("a" * 255 + "/") * 15
    spent: list[int] = []
    PathRules.of(["**a*" + "[a-z]" * 120 + "b", "x", "**a"]).leaves_out(path, spent.append)
    assert all(steps <= 1 + len(path) for steps in spent)


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("[a-cx]", "abcx", "dw/"),
        ("[^a-cx]", "dw\n\U0010ffff", "abcx/"),
        ("[a-cb-d]", "abcd", "e/"),
        ("[^\0-\U0010ffff]", "", "ab/"),
        ("[\\]a]", "]a", "\\b"),
    ],
)
def test_classes_mean_their_characters_and_no_slash(pattern: str, fitting: str, others: str) -> None:
    made = wildcard(f"*{pattern}?")
    assert all(made.matches(f"..{char}.") for char in fitting)
    assert not any(made.matches(f"..{char}.") for char in others)


def test_lines_are_counted_before_any_is_read() -> None:
    with pytest.raises(PathPatternError, match="more than 1000 patterns"):
        rules_of_file("fine\n" * 1500 + "[")
    with pytest.raises(PathPatternError, match="characters"):
        rules_of_file("#" * 300_000)
    with pytest.raises(PathPatternError, match="characters"):
        PathRules.of(["x" * 999] * 400)
