"""Values of the standard library: they cross the border, and equal what they equal in Python."""

from __future__ import annotations

import datetime
from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from itertools import count, islice
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.scoring import codec
from harena.scoring.codec import MalformedError
from harena.scoring.compare import Tolerance, compare_values
from harena.scoring.guest import driver as guest_driver
from harena.scoring.values import StandardInstance, from_python, show

Point = namedtuple("Point", "x y")


class Colour(IntEnum):
    """A subclass of a number."""

    RED = 1


class Half(Fraction):
    """A subclass of a standard class that says that it equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = Fraction.__hash__


EAST = datetime.timezone(datetime.timedelta(hours=2))
NOON = datetime.datetime(2024, 5, 6, 12, 0, 0, 7)
# fmt: off
VALUES: list[Any] = [
    *(0, 1, True, False, 1.0, -0.0, 0.5, 0.1, 10**30, 1e30, float("inf"), 1 + 0j, None, "", "1", b"1", b""),
    *(Fraction(1, 2), Fraction(1), Fraction(1, 3), Fraction(1, 10), Fraction(10**400, 3), Fraction(1, 2**1074)),
    *(
        Decimal("0.5"),
        Decimal("0.50"),
        Decimal(1),
        Decimal("0.1"),
        Decimal("-0"),
        Decimal("1E+30"),
        Decimal("Infinity"),
    ),
    *(Decimal("1E+9000"), Decimal("1E-9000")),
    *(Decimal(2) ** -60, 2.0**-60, Colour.RED),
    *(bytearray(b"1"), bytearray(), memoryview(b"1"), "1" * 3, UserString("1")),
    *(
        [],
        [1],
        [True],
        (),
        (1,),
        (1, 2),
        [1, 2],
        Point(1, 2),
        deque([1, 2]),
        deque([1, 2], 5),
        deque(),
        UserList([1, 2]),
    ),
    *(range(0), range(1, 1), range(1, 3), range(1, 4, 2), range(1, 5, 2), range(3, 0, -1), range(3, 1, -1), [3, 2]),
    *({1}, {1.0}, frozenset({1}), {1: 2}.keys(), {(1, 2)}, {1: 2}.items(), set(), {Fraction(1, 2)}, {0.5}),
    *({}, {1: 2}, OrderedDict({1: 2}), Counter({1: 2}), defaultdict(int, {1: 2}), UserDict({1: 2}), ChainMap({1: 2})),
    *(MappingProxyType({1: 2}), {0.5: [Decimal(1)]}, {Fraction(1, 2): [1]}, {Decimal("0.5"): [True]}),
    *(array("i", [1, 2]), array("d", [1, 2]), array("u", "1")),
    *(NOON, NOON.replace(tzinfo=datetime.UTC), NOON.replace(hour=14, tzinfo=EAST), NOON.date(), datetime.date(1, 1, 1)),
    *(
        NOON.time(),
        NOON.timetz(),
        NOON.replace(tzinfo=EAST).timetz(),
        datetime.timedelta(1),
        datetime.timedelta(hours=24),
    ),
    *([Fraction(1, 2), (Decimal(1), {"a": bytearray(b"1")})], [0.5, (1, {"a": b"1"})]),
]
# fmt: on


def crossed(value: Any, subclasses: Any = True) -> Any:
    """The host value of what a candidate returned."""
    return codec.decode(guest_driver.encode(value, subclasses))


def test_equal_is_what_python_calls_equal() -> None:
    """Of every two of these values, one of which a candidate returned and the other a trusted solution."""
    here = [crossed(value) for value in VALUES]
    wrong = [
        f"{left!r} == {right!r}"
        for left, left_here in zip(VALUES, here, strict=True)
        for right, right_here in zip(VALUES, here, strict=True)
        if compare_values(left_here, right_here, "equal", Tolerance()) is not bool(left == right)
    ]
    assert wrong == []


def test_what_a_subclass_says_of_itself_does_not_count() -> None:
    """It is worth what it is made of."""
    assert not compare_values(crossed(Half(1, 3)), 0.5, "equal", Tolerance())
    assert compare_values(crossed(Half(1, 2)), 0.5, "equal", Tolerance())


def _own(base: Any, **overridden: Any) -> Any:
    """A class of the candidate's whose instances show something else than what they are made of."""
    said = {name: property(lambda _: "two") if value is None else value for name, value in overridden.items()}
    return type("Own", (base,), said)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (_own(Decimal, __str__=lambda _: "$2.50")("2.50"), Decimal("2.50")),
        (_own(Fraction, numerator=None, denominator=None)(5, 2), 2.5),
        (_own(bytearray, __bytes__=lambda _: b"y", __iter__=None)(b"x"), b"x"),
        (_own(deque, __iter__=lambda _: iter("y"), maxlen=None)([1, 2], 3), deque([1, 2])),
        (_own(array, tolist=lambda _: "y", typecode=None)("i", [1]), array("i", [1])),
        (_own(datetime.date, year=None, day=None)(2024, 5, 6), datetime.date(2024, 5, 6)),
        (_own(datetime.time, hour=None, utcoffset=None)(1, 2), datetime.time(1, 2)),
        (_own(datetime.datetime, year=None, utcoffset=None)(2024, 5, 6), datetime.datetime(2024, 5, 6)),
        (_own(datetime.timedelta, days=None)(1), datetime.timedelta(1)),
    ],
)
def test_what_a_subclass_shows_is_not_what_it_is_made_of(value: Any, plain: Any) -> None:
    """It is read by its standard class's own methods and descriptors, so that an honest one is never malformed."""
    assert compare_values(crossed(value), crossed(plain), "equal", Tolerance())


@pytest.mark.parametrize("text", ["NaN7", "-NaN7", "sNaN7", "-sNaN", "1E-1999999999999999997"])
def test_every_decimal_crosses(text: str) -> None:
    """A NaN with digits of its own, and the least exponent."""
    assert isinstance(crossed([Decimal(text)], False)[0], StandardInstance)


def test_strict_comparisons_keep_the_type() -> None:
    """A Fraction is no float, a bytearray no bytes; each equals another one of its own class."""
    for value, plain in ((Fraction(1, 2), 0.5), (Decimal(1), 1), (bytearray(b"1"), b"1"), (deque([1]), [1])):
        assert not compare_values(crossed(value, False), from_python(plain), "exact", Tolerance())
        assert compare_values(crossed(value, False), crossed(value, False), "exact", Tolerance())
    assert compare_values(crossed(Decimal("1.0"), False), crossed(Decimal("1.00"), False), "exact", Tolerance())
    assert not compare_values(crossed(deque([1]), False), crossed(deque([True]), False), "exact", Tolerance())


def test_a_close_number_may_be_a_fraction() -> None:
    """Where floats need only be close. From a Decimal Python subtracts no float, so that one must be equal."""
    assert compare_values(crossed([Fraction(1, 3)]), [0.33333333333], "close_floats", Tolerance(1e-9))
    assert not compare_values(crossed([Decimal("0.3333333333333")]), [0.33333333333], "close_floats", Tolerance(1e-9))
    assert compare_values(crossed([Decimal("0.5")]), [0.5], "close_floats", Tolerance(1e-9))
    assert compare_values([3.05 + 0j], [3.0], "close_floats", Tolerance(0.0, 0.1))
    assert compare_values([3.0 + 1e-3j], [3.0], "close_floats", Tolerance(0.0, 0.1))
    assert not compare_values([3.0 + 0.11j], [3.0], "close_floats", Tolerance(0.0, 0.1))
    assert not compare_values(complex(1, 1), complex(0.9, 0.9), "close_floats", Tolerance(0.0, 0.11))


_PARTS = st.floats(-1e6, 1e6).map(lambda part: round(part, 3) + 0.0004)


@given(
    st.one_of(_PARTS, st.builds(complex, _PARTS, _PARTS), st.integers(-50, 50), st.booleans()),
    st.one_of(_PARTS, st.builds(complex, _PARTS, _PARTS)),
    st.builds(complex, st.floats(-2, 2), st.floats(-2, 2)),
    st.sampled_from([0.0, 1e-6, 0.5, 0.999, 1.5]),
)
def test_a_distance_is_judged_as_plain_python_would(
    far: complex, known: complex, off: complex, tolerance: float
) -> None:
    """`abs(f(1) - known) <= tolerance`, whatever number the candidate gives."""
    for answer in (far, known + off, known + off.real):
        if type(answer) is complex and abs(abs(answer - known) - tolerance) < 1e-9:
            continue
        verdict = compare_values(answer, known, "close_floats", Tolerance(0.0, tolerance))
        assert verdict is (abs(answer - known) <= tolerance), (answer, known, tolerance)


class Lying(complex):
    """A number that says of every difference that there is none."""

    def __sub__(self, other: object) -> int:
        return 0

    __rsub__ = __sub__

    def __abs__(self) -> float:
        return 0.0


@pytest.mark.parametrize("expected", [10.0, complex(10, 0.5), [10.0]])
def test_a_number_that_judges_itself_is_compared_by_its_value(expected: Any) -> None:
    """What crosses is the value of its base class; its operators stay where it was made."""
    liar = Lying(3.5, 1)
    assert abs(liar - 10) < 0.5
    answer = crossed([liar] if isinstance(expected, list) else liar)
    assert not compare_values(answer, expected, "close_floats", Tolerance(0.0, 0.5))


@pytest.mark.parametrize(
    "value",
    [
        *(Fraction(1, 3), Decimal("1.10"), bytearray(b"x"), range(1, 9, 2), deque([1, [2]], 4), array("d", [0.5])),
        *(NOON, NOON.replace(tzinfo=EAST), NOON.date(), NOON.timetz(), datetime.timedelta(-1, 5, 7), {1: 2}.keys()),
        *({1: [2]}.items(), Counter("aab"), OrderedDict(b=1, a=2), defaultdict(list, {1: [2]})),
    ],
)
def test_trusted_test_code_gets_the_value_itself(value: Any) -> None:
    """Of its own class, with all that belongs to it."""
    found, end = guest_driver.decode(guest_driver.encode(value, "wide"), 0)
    assert (type(found), found) == (type(value), value)
    assert repr(found) == repr(value)
    assert end == len(guest_driver.encode(value, "wide"))


def test_trusted_test_code_gets_iterators() -> None:
    """What they give; one without end is not carried."""
    for made in ((n for n in (1, 2)), iter([1, 2]), map(int, "12"), islice(count(1), 2), {"a": 1, "b": 2}.values()):
        found, _ = guest_driver.decode(guest_driver.encode(made, "wide"), 0)
        assert list(found) == [1, 2]
    with pytest.raises(guest_driver.UncarriedError, match="parts"):
        guest_driver.encode(count(), "wide")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("os.system", ("true",)),
        ("builtins.iterator", ([1],)),
        ("fractions.Fraction", (1, 0)),
        ("fractions.Fraction", (1.5, 2)),
        ("fractions.Fraction", 1),
        ("decimal.Decimal", ("1_0",)),
        ("decimal.Decimal", (1,)),
        ("decimal.Decimal", ("1e99999999999999999999",)),
        ("decimal.Decimal", ("11e999999999999999999",)),
        ("decimal.Decimal", ("+NaN",)),
        ("builtins.range", (1, 2, 0)),
        ("builtins.bytearray", ("x",)),
        ("builtins.dict_keys", ([1],)),
        ("collections.deque", ((1,), None)),
        ("datetime.date", (0, 1, 1)),
        ("datetime.date", (10**30, 1, 1)),
        ("datetime.time", (25, 0, 0, 0, None)),
        ("datetime.datetime", (2024, 1, 1)),
        ("datetime.datetime", (2024, 1, 1, 0, 0, 0, 0, "east")),
        ("datetime.timedelta", (1, 2)),
        ("array.array", ("d", 3)),
    ],
)
def test_what_no_such_value_has_is_malformed(name: str, parts: Any) -> None:
    """Nothing is looked up by a name that was sent, and nothing but a verdict comes of it."""
    body = b"o%d:%b" % (len(name), name.encode()) + codec.encode(from_python(parts))
    with pytest.raises(MalformedError):
        codec.decode(body)


@pytest.mark.parametrize("text", ["1E+999999999", "-1e-999999999", "9" * 6000, "0E+99999"])
def test_a_huge_decimal_costs_nothing(text: str) -> None:
    """It is compared as it is written, and has no billion digits here."""
    (value,) = crossed([Decimal(text)], False)
    assert isinstance(value, StandardInstance)
    assert compare_values(value, value, "equal", Tolerance())
    assert not compare_values(value, 1, "equal", Tolerance())
    assert len(show(value)) < 130


@pytest.mark.parametrize("parts", [(0, 1 << 400_000, (1 << 200_000) + 1), (1 << 300_000, 3)])
def test_no_large_fraction_or_range_is_made_for_the_tests(parts: tuple[int, ...]) -> None:
    """Python would divide integers that the candidate chose: an answer with them is none."""
    name = "builtins.range" if len(parts) == 3 else "fractions.Fraction"
    with pytest.raises(ValueError, match="longer number"):
        guest_driver.rebuilt(name, parts)
    assert guest_driver.rebuilt("fractions.Fraction", (1 << 200_000, 3)) == Fraction(1 << 200_000, 3)
