"""Whether an answer is right: pure functions of the answer and what was expected.

`compare_values` is for the values of the `tests` contract, `compare_output` for the text of the `stdio` contract.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import zip_longest
from typing import Any, Literal

from harena.scoring.codec import canonical, in_order
from harena.scoring.pairing import pairs_of
from harena.scoring.slices import decoded, lines, sliced, words
from harena.scoring.standard import nearest_float, python_form
from harena.scoring.values import Bag, StandardInstance

ValueComparison = Literal[
    "exact",
    "float",
    "unordered",
    "exact_json",
    "equal",
    "equal_json",
    "close_floats",
    "close_json",
    "items",
    "members",
    "truth",
    "not_none",
]
OutputComparison = Literal["trimmed", "exact", "tokens", "numeric", "float_tokens", "decimal_lines", "folded_lines"]

_ROUNDING = 1e-6
"""how far a float may be from the integer that is expected"""
_ROUNDED_BELOW = 2**33
"""the neighbours of a larger float are further away than that: it is the integer, or another one"""
_ONE_NUMBER_BELOW = 2**53
"""a float below it that is a whole number stands for that number alone"""
_EXACT_BELOW = 2**48
"""a float below it has steps of 1/32 or less. Two whole numbers are then at least 32 steps apart, which is
more than the rounding of a few operations makes; above it, a sum in another order may be another whole number"""
_LARGE_ROUNDING = 1e-12
"""by how much, at most, two float computations of one number beyond `_EXACT_BELOW` may differ, relatively"""

PYTHON_COMPARISONS = frozenset(
    {"equal", "equal_json", "close_floats", "close_json", "items", "members", "truth", "not_none"}
)
"""comparisons that follow Python's `==`, to which a Counter is a dict and a named tuple is a tuple"""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Two numbers are close if they differ by at most `absolute`, or by `relative` times the larger one."""

    relative: float = 1e-9
    absolute: float = 0.0

    def close(self, left: float, right: float) -> bool:
        """NaN is close to NaN only, an infinity to itself only. The distance of whole numbers is exact."""
        if left == right or (left != left and right != right):
            return True
        if _is_whole(left) and _is_whole(right):
            one, other = int(left), int(right)
            distance = abs(one - other)
            return distance <= self.absolute or _is_share(distance, self.relative, max(abs(one), abs(other)))
        try:
            return math.isclose(left, right, rel_tol=self.relative, abs_tol=self.absolute)
        except OverflowError:  # an int that no float can hold
            return False

    def near(self, answer: float, expected: float) -> bool:
        """Whether numbers are close, as `close` says; no whole number is taken for another one: 1000000008 is wrong
        where 1000000007 is right, however large the relative tolerance is. What a float's rounding adds to an expected
        integer is forgiven (0.9999999999999999 for 1), and where two floats are 2**48 or more, what rounding makes of
        one number. Only an absolute tolerance of at least 1 says that integers may differ."""
        if answer == expected or self.absolute >= 1:
            is_by_distance = type(expected) is int
            return answer == expected or replace(self, relative=0.0 if is_by_distance else self.relative).close(
                answer, expected
            )
        if type(expected) is int:
            is_rounded = type(answer) is float and abs(expected) < _ROUNDED_BELOW
            return is_rounded and abs(answer - expected) <= _ROUNDING and self.close(answer, expected)
        if _is_whole(answer) and _is_whole(expected):
            return not _are_exact(answer, expected) and self._is_rounded(answer, expected)
        return self.close(answer, expected)

    def near_as_written(self, answer: float, expected: float) -> bool:
        """For a tolerance that an author wrote: as `close`, but only the absolute one says that two whole numbers may
        differ. A float of 2**53 or more stands for many integers, and two floats of 2**48 or more may be one number but
        for rounding: they are close to all that `close` says."""
        if _is_whole(answer) and _is_whole(expected) and _are_exact(answer, expected):
            return abs(int(answer) - int(expected)) <= self.absolute
        return self.close(answer, expected)

    def near_complex(self, answer: complex, expected: complex) -> bool:
        """Compare by their distance, as `abs` of a difference says it: parts that are each near may be further from
        each other. Parts that are whole numbers differ only as far as the absolute tolerance says."""
        parts = ((answer.real, expected.real), (answer.imag, expected.imag))
        try:
            if not all(math.isfinite(part) for pair in parts for part in pair):
                return all(self.near(*pair) for pair in parts)
            if any(_is_whole(left) and _is_whole(right) and not self.near(left, right) for left, right in parts):
                return False
            distance, largest = abs(answer - expected), max(abs(answer), abs(expected))
        except OverflowError:  # an int that no float can hold
            return False
        return math.isfinite(distance) and distance <= max(self.absolute, self.relative * largest)

    def _is_rounded(self, answer: float, expected: float) -> bool:
        """Whether a large answer is the expected float but for rounding; an int is its nearest float."""
        try:
            nearest = float(answer)
        except OverflowError:  # an int that no float can hold
            return False
        relative = 0.0 if type(answer) is int else min(self.relative, _LARGE_ROUNDING)
        return math.isclose(nearest, expected, rel_tol=relative, abs_tol=0.0)


def _is_whole(number: float) -> bool:
    return type(number) is int or (type(number) is float and number.is_integer())


def _are_exact(answer: float, expected: float) -> bool:
    """Whether each of two whole numbers says which one it is: what is expected, and what the answer is."""
    below = _ONE_NUMBER_BELOW if type(answer) is int else _EXACT_BELOW
    return type(expected) is int or abs(expected) < below


def _is_share(distance: int, share: float, whole: int) -> bool:
    """`distance <= share * whole`, without rounding."""
    if math.isinf(share):
        return True
    numerator, denominator = share.as_integer_ratio()
    return distance * denominator <= numerator * whole


def compare_values(answer: Any, expected: Any, comparison: ValueComparison, tolerance: Tolerance) -> bool:
    """Type-strict: tuple is not list, bool is not int, 1 is not 1.0; NaN equals NaN. What each comparison loosens:

    exact: nothing. exact_json: lists and tuples are alike. unordered: the order of the items of the outermost list or
    tuple. float: int and float are alike, at any depth, and need only be close.

    Those of data sets whose checks are Python's own asserts: equal: numbers and sets as `==` takes them (1 is 1.0 and
    True), a tuple is not a list. equal_json: the same, lists and tuples alike. close_floats: as equal, but where a
    float is expected, at any depth, a number need only be close. close_json: the same, lists and tuples alike. items:
    the same items in any order, whatever holds them. members: the same, and how often does not count. truth: true or
    false alike. not_none: both None or False, or neither: a program that searches may answer with the match or with
    whether there is one.
    """
    if comparison in PYTHON_COMPARISONS:
        return _compare_as_python(answer, expected, comparison, tolerance)
    if comparison == "float":
        return _close(answer, expected, tolerance)
    if comparison == "unordered" and type(expected) in (list, tuple):
        if type(answer) is not type(expected) or len(answer) != len(expected):
            return False
        pairs = zip(in_order(map(canonical, answer)), in_order(map(canonical, expected)), strict=True)
        return all(left == right for left, right in pairs)
    alike = comparison == "exact_json"
    return canonical(answer, lists_alike=alike) == canonical(expected, lists_alike=alike)


def python_equal(value: Any) -> Any:
    """One host value for all that Python's `==` takes for equal: 1 for 1.0 and True, 0.5 for Fraction(1, 2), a set for
    a frozenset."""
    kind = type(value)
    if kind is StandardInstance:
        return python_form(value, python_equal)
    if kind is bool:
        return int(value)
    if kind is complex and value.imag == 0:
        return python_equal(value.real)
    if kind is float and value.is_integer():
        return int(value)
    if kind is list or kind is tuple:
        return kind(map(python_equal, value))
    if kind is Bag:
        return Bag("dict" if value.kind == "dict" else "set", tuple(map(python_equal, value.items)))
    return value


def _compare_as_python(answer: Any, expected: Any, comparison: ValueComparison, tolerance: Tolerance) -> bool:
    if comparison == "truth":
        return is_true(answer) is is_true(expected)
    if comparison == "not_none":
        return (answer is None or answer is False) is (expected is None or expected is False)
    if comparison in ("close_floats", "close_json"):
        return _close_floats(answer, expected, tolerance, lists_alike=comparison == "close_json")
    if comparison in ("items", "members"):
        found, wanted = _item_names(answer), _item_names(expected)
        if found is None or wanted is None:
            return False
        if comparison == "members":
            return set(found) == set(wanted)
        pairs = zip_longest(in_order(found), in_order(wanted))
        return all(left == right for left, right in pairs)
    alike = comparison == "equal_json"
    return canonical(python_equal(answer), lists_alike=alike) == canonical(python_equal(expected), lists_alike=alike)


def is_true(value: Any) -> bool:
    """What `bool` says of it."""
    return bool(value.items) if isinstance(value, Bag) else bool(value)


def _item_names(value: Any) -> list[bytes] | None:
    """The encodings of what a loop over the value would give; None if there can be none."""
    if isinstance(value, Bag):
        items: Any = (item[0] for item in value.items) if value.kind == "dict" else value.items
    elif type(value) in (list, tuple, str, bytes):
        items = value
    else:
        return None
    return [canonical(python_equal(item)) for item in items]


def _close_floats(answer: Any, expected: Any, tolerance: Tolerance, *, lists_alike: bool) -> bool:
    kind = type(expected)
    if type(answer) is StandardInstance:
        if answer.name == "decimal.Decimal":  # from which Python subtracts no float
            return canonical(python_equal(answer)) == canonical(python_equal(expected))
        answer = nearest_float(python_equal(answer))
    if kind is float:
        number = python_equal(answer)  # 3.05+0j is 3.05
        if type(number) is complex:
            return tolerance.near_complex(number, expected)
        return type(number) in (int, float) and tolerance.near(number, expected)
    if kind is complex:
        number = python_equal(answer)
        return type(number) in (int, float, complex) and tolerance.near_complex(number, expected)
    if kind in (list, tuple):
        if type(answer) not in ((list, tuple) if lists_alike else (kind,)) or len(answer) != len(expected):
            return False
        pairs = zip(answer, expected, strict=True)
        return all(_close_floats(left, right, tolerance, lists_alike=lists_alike) for left, right in pairs)
    if kind is Bag and expected.kind == "dict" and isinstance(answer, Bag) and answer.kind == "dict":
        found = {canonical(python_equal(key)): value for key, value in answer.items}
        wanted = {canonical(python_equal(key)): value for key, value in expected.items}
        return found.keys() == wanted.keys() and all(
            _close_floats(found[key], wanted[key], tolerance, lists_alike=lists_alike) for key in wanted
        )
    found_name, wanted_name = (canonical(python_equal(value), lists_alike=lists_alike) for value in (answer, expected))
    return found_name == wanted_name


def _close(answer: Any, expected: Any, tolerance: Tolerance) -> bool:
    kind = type(expected)
    if kind in (int, float):
        return type(answer) in (int, float) and tolerance.near(answer, expected)
    if type(answer) is not kind:
        return False
    if kind is complex:
        return tolerance.near_complex(answer, expected)
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
    if expected.kind != "dict" and all(_is_number(item) for item in (*answer.items, *expected.items)):
        return all(
            tolerance.near(left, right)
            for left, right in zip(sorted(answer.items), sorted(expected.items), strict=True)
        )
    return all(
        _close(key, wanted_key, tolerance) and _close(value, wanted, tolerance)
        for (key, value), (wanted_key, wanted) in pairs_of(answer, expected)
    )


def _is_number(value: Any) -> bool:
    """An int or a float that has a place in an order, as NaN has not."""
    return type(value) in (int, float) and value == value


_LITTLE = 16
_LONGEST_NUMBER = 400
_ROOM_BETWEEN_NUMBERS = 1 << 18
"""characters by which a line of numbers may be longer than it is expected to be: white space, mostly"""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def parse_number(text: str) -> float | None:
    """The finite number that `text` is, or None: no NaN, no infinity, no underscores, at most 400 characters.

    It is an int where only digits are written, a float where there is a decimal point or an exponent."""
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    return int(text) if text.lstrip("+-").isdecimal() else number


def compare_output(printed: bytes, expected: str, comparison: OutputComparison, tolerance: Tolerance) -> bool:
    """Always over the whole of both, so that a prefix of the expected output is never enough; but read no further than
    to the first difference, and in slices, so that the memory that it takes does not grow with what was printed.

    exact: the same bytes. trimmed: white space at the ends of lines and empty lines at the end do not count. tokens:
    the same words. numeric: the same words, where numbers need only be close. float_tokens:
    the same words, where a number need only be close if it is expected with a decimal point or an exponent.

    Line by line, white space at both ends of the whole and of each line aside: decimal_lines: the same lines, or the
    same decimal numbers in them, however they are written (007 is text). folded_lines: the same lines, large and small
    letters alike, or lines of one number each that are close.
    """
    if comparison == "exact":
        return printed == expected.encode("utf-8", "surrogatepass")
    if _is_the_same(printed, expected):
        return True
    if comparison in ("trimmed", "decimal_lines", "folded_lines"):
        return _compare_lines(printed, expected, comparison, tolerance)
    longest = max(len(expected), _LONGEST_NUMBER)
    pairs = zip_longest(words(decoded(printed), longest), words(sliced(expected), longest))
    return all(
        word == want
        or (
            word is not None
            and want is not None
            and comparison != "tokens"
            and _may_be_near(want, comparison)
            and _word_close(word, want, tolerance)
        )
        for word, want in pairs
    )


def _is_the_same(printed: bytes, expected: str) -> bool:
    """Byte for byte, but for a little white space at the end: as most right answers are, which is soon seen."""
    if len(expected) > len(printed) + _LITTLE:
        return False
    try:
        wanted = expected.encode()
    except UnicodeEncodeError:
        return False
    return abs(len(wanted) - len(printed)) <= _LITTLE and printed.rstrip() == wanted.rstrip()


def _compare_lines(printed: bytes, expected: str, comparison: OutputComparison, tolerance: Tolerance) -> bool:
    both_sides = comparison != "trimmed"
    # `casefold` makes up to three characters of one
    longest = 3 * len(expected) + (_ROOM_BETWEEN_NUMBERS if comparison == "decimal_lines" else _LONGEST_NUMBER)
    pairs = zip_longest(
        lines(decoded(printed), longest, both_sides=both_sides),
        lines(sliced(expected), longest, both_sides=both_sides),
    )
    if comparison == "trimmed":
        return all(line == want for line, want in pairs)
    same = _same_decimals if comparison == "decimal_lines" else partial(_same_folded, tolerance=tolerance)
    return all(line is not None and want is not None and same(line, want) for line, want in pairs)


def _may_be_near(wanted: str, comparison: OutputComparison) -> bool:
    return comparison == "numeric" or not wanted.lstrip("+-").isdecimal()


def _same_decimals(line: str, wanted: str) -> bool:
    if line == wanted:
        return True
    wanted_words = wanted.split()
    found = line.split(None, len(wanted_words))
    if len(found) != len(wanted_words):
        return False
    return all(
        (left := _decimal(word)) is not None and (word == want if _LEADING_ZERO.match(want) else left == _decimal(want))
        for word, want in zip(found, wanted_words, strict=True)
    )


_LEADING_ZERO = re.compile(r"[+-]?0[0-9]")
"""007 is a name, not the number 7"""


def _decimal(word: str) -> Decimal | None:
    if len(word) > _LONGEST_NUMBER or not _NUMBER.fullmatch(word):
        return None
    try:
        return Decimal(word)
    except InvalidOperation:  # an exponent of more digits than there are
        return None


def _same_folded(line: str, wanted: str, *, tolerance: Tolerance) -> bool:
    return line.casefold() == wanted.casefold() or _word_close(line, wanted, tolerance)


def _word_close(word: str, wanted: str, tolerance: Tolerance) -> bool:
    if word == wanted:
        return True
    left, right = parse_number(word), parse_number(wanted)
    if left is None or right is None:
        return False
    if type(right) is int and type(left) is float and left == right:
        return _decimal(word) == right  # 9007199254740993.0 is the float 9007199254740992.0
    if type(left) is int and _decimal(wanted) == left:
        return True
    return tolerance.near(left, right)
