"""Whether an answer is right: pure functions of the answer and what was expected.

`compare_values` is for the values of the `tests` contract, `compare_output` for the text of the `stdio` contract.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from harena.scoring.codec import canonical
from harena.scoring.values import Bag

ValueComparison = Literal["exact", "float", "unordered", "exact_json"]
OutputComparison = Literal["trimmed", "exact", "tokens", "numeric"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Two numbers are close if they differ by at most `absolute`, or by `relative` times the larger one."""

    relative: float = 1e-9
    absolute: float = 0.0

    def close(self, left: float, right: float) -> bool:
        """NaN is close to NaN only, an infinity to itself only."""
        if left == right or (left != left and right != right):
            return True
        try:
            return math.isclose(left, right, rel_tol=self.relative, abs_tol=self.absolute)
        except OverflowError:  # an int that no float can hold
            return False


def compare_values(answer: Any, expected: Any, comparison: ValueComparison, tolerance: Tolerance) -> bool:
    """Type-strict: tuple is not list, bool is not int, 1 is not 1.0; NaN equals NaN. What each comparison loosens:

    exact: nothing. exact_json: lists and tuples are alike. unordered: the order of the items of the outermost list or
    tuple. float: int and float are alike, at any depth, and need only be close.
    """
    if comparison == "float":
        return _close(answer, expected, tolerance)
    if comparison == "unordered" and type(expected) in (list, tuple):
        if type(answer) is not type(expected) or len(answer) != len(expected):
            return False
        return sorted(map(canonical, answer)) == sorted(map(canonical, expected))
    alike = comparison == "exact_json"
    return canonical(answer, lists_alike=alike) == canonical(expected, lists_alike=alike)


def _close(answer: Any, expected: Any, tolerance: Tolerance) -> bool:
    kind = type(expected)
    if kind in (int, float):
        return type(answer) in (int, float) and tolerance.close(answer, expected)
    if type(answer) is not kind:
        return False
    if kind is complex:
        return tolerance.close(answer.real, expected.real) and tolerance.close(answer.imag, expected.imag)
    if kind in (list, tuple):
        return len(answer) == len(expected) and all(
            _close(left, right, tolerance) for left, right in zip(answer, expected, strict=True)
        )
    if kind is Bag:
        return _bags_close(answer, expected, tolerance)
    return canonical(answer) == canonical(expected)


def _bags_close(answer: Bag, expected: Bag, tolerance: Tolerance) -> bool:
    if answer.kind != expected.kind or len(answer.items) != len(expected.items):
        return False
    if expected.kind == "dict":
        found = {canonical(key): value for key, value in answer.items}
        wanted = {canonical(key): value for key, value in expected.items}
        return found.keys() == wanted.keys() and all(_close(found[key], wanted[key], tolerance) for key in wanted)
    if all(type(item) in (int, float) for item in (*answer.items, *expected.items)):
        return all(
            tolerance.close(left, right)
            for left, right in zip(sorted(answer.items), sorted(expected.items), strict=True)
        )
    return canonical(answer) == canonical(expected)


_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def parse_number(text: str) -> float | None:
    """The finite number that `text` is, or None: no NaN, no infinity, no underscores, at most 400 characters."""
    if len(text) > 400 or not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def compare_output(printed: bytes, expected: str, comparison: OutputComparison, tolerance: Tolerance) -> bool:
    """Always over the whole of both, so that a prefix of the expected output is never enough.

    exact: the same bytes. trimmed: white space at the ends of lines and empty lines at the end do not count. tokens:
    the same words. numeric: the same words, where numbers need only be close.
    """
    if comparison == "exact":
        return printed == expected.encode("utf-8", "surrogatepass")
    text = printed.decode("utf-8", "replace")
    if comparison == "trimmed":
        return _trimmed_lines(text) == _trimmed_lines(expected)
    words, wanted = text.split(), expected.split()
    if comparison == "tokens" or len(words) != len(wanted):
        return words == wanted
    return all(_word_close(word, want, tolerance) for word, want in zip(words, wanted, strict=True))


def _trimmed_lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().replace("\r\n", "\n").split("\n")]


def _word_close(word: str, wanted: str, tolerance: Tolerance) -> bool:
    if word == wanted:
        return True
    left, right = parse_number(word), parse_number(wanted)
    return left is not None and right is not None and tolerance.close(left, right)
