"""The dearest answers that fit into a frame: to read and to compare them takes time in proportion to their size.

An operation on a number or a text is one step, in which no other thread of the host has a turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest

from harena.scoring import codec, standard
from harena.scoring.codec import MalformedError
from harena.scoring.compare import Tolerance, ValueComparison, compare_values, python_equal
from harena.scoring.values import show

SIZE = codec.MAX_BYTES - 500
TIMES_A_PASS = 100
"""by how much more a linear step may take than one pass over the bytes; a quadratic one takes 10,000 times as much"""


def integer(digits: int, last: bytes = b"f", sign: bytes = b"") -> bytes:
    """A number of so many hexadecimal digits."""
    return b"i" + sign + b"f" * (digits - 1) + last + b";"


def text(content: bytes) -> bytes:
    """Text, by its bytes."""
    return b"s%d:%b" % (len(content), content)


def parts(*items: bytes, tag: bytes = b"t") -> bytes:
    """A container."""
    return b"%b%d:" % (tag, len(items)) + b"".join(items)


def made(name: str, *items: bytes) -> bytes:
    """A value of the standard library."""
    return b"o%d:%b" % (len(name), name.encode()) + parts(*items)


HALF, THIRD, SIXTH = SIZE // 2, SIZE // 3, SIZE // 6
ZERO, ONE = b"i0;", b"i1;"
WORST: dict[str, list[Callable[[], bytes]]] = {
    "fractions.Fraction": [
        lambda: made("fractions.Fraction", integer(HALF), integer(HALF, b"e")),
        lambda: made("fractions.Fraction", integer(100), b"i8" + b"0" * (SIZE - 200) + b";"),
    ],
    "decimal.Decimal": [
        lambda: made("decimal.Decimal", text(b"9" * SIZE)),
        lambda: made("decimal.Decimal", text(b"9" * HALF + b"." + b"9" * (HALF - 100) + b"x")),
        lambda: made("decimal.Decimal", text(b"1E" + b"9" * 19)),
        lambda: made("decimal.Decimal", text(b"NaN" + b"9" * (SIZE - 100) + b"x")),
    ],
    "builtins.range": [
        lambda: made("builtins.range", ZERO, integer(2 * THIRD), integer(THIRD)),
        lambda: made("builtins.range", integer(2 * THIRD), ZERO, integer(THIRD, sign=b"-")),
        lambda: made("builtins.range", integer(HALF // 2, sign=b"-"), integer(HALF), integer(HALF // 2)),
        lambda: made("builtins.range", ZERO, integer(SIZE - 100), integer(60)),
        lambda: made("builtins.range", ZERO, integer(HALF + 30), integer(HALF - 30)),
    ],
    "builtins.bytearray": [lambda: made("builtins.bytearray", b"b%d:" % (SIZE - 100) + b"a" * (SIZE - 100))],
    "builtins.memoryview": [lambda: made("builtins.memoryview", b"b%d:" % (SIZE - 100) + b"a" * (SIZE - 100))],
    "builtins.dict_keys": [
        lambda: made("builtins.dict_keys", parts(*(text(b"a" * (SIZE // 50) + b"%d" % n) for n in range(49))))
    ],
    "builtins.dict_items": [
        lambda: made("builtins.dict_items", parts(*(integer(SIZE // 50, b"%x" % n) for n in range(16))))
    ],
    "collections.deque": [lambda: made("collections.deque", parts(integer(SIZE - 100), tag=b"l"), b"N")],
    "array.array": [lambda: made("array.array", text(b"q"), parts(integer(SIZE - 100), tag=b"l"))],
    "datetime.date": [lambda: made("datetime.date", integer(SIZE - 100), ONE, ONE)],
    "datetime.time": [lambda: made("datetime.time", ONE, ONE, ONE, ONE, integer(SIZE - 100))],
    "datetime.datetime": [
        lambda: made("datetime.datetime", ONE, ONE, ONE, ONE, ONE, ONE, ONE, integer(SIZE - 100)),
        lambda: made("datetime.datetime", ONE, ONE, integer(SIZE - 100), ONE, ONE, ONE, ONE, b"N"),
    ],
    "datetime.timedelta": [lambda: made("datetime.timedelta", *(integer(THIRD) for _ in range(3)))],
    "i": [lambda: integer(SIZE), lambda: integer(SIZE, sign=b"-")],
    "s": [
        lambda: text(b"a" * SIZE),
        lambda: text("\U0001f600".encode() * (SIZE // 4)),
        lambda: text(b"\xed\xa0\x80" * THIRD),
    ],
    "b": [lambda: b"b%d:" % SIZE + b"a" * SIZE],
    "l": [lambda: b"l1:" * 99 + integer(SIZE)],
    "e": [
        lambda: b"e1:" * 99 + text(b"a" * SIZE),
        lambda: parts(*(integer(SIZE // 17, b"%x" % n) for n in range(16)), tag=b"e"),
    ],
    "d": [lambda: b"d1:" + integer(HALF) + integer(HALF - 100)],
}
COMPARISONS: tuple[ValueComparison, ...] = ("exact", "float", "close_floats")
EXPECTED = (1.5, 10**400)


def seconds_of(work: Callable[[], object]) -> float:
    """Processor time of this thread."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def test_every_constructor_has_its_worst_values() -> None:
    """A class that is carried one day is asked the same."""
    assert standard._FORMS.keys() <= WORST.keys()


@pytest.mark.parametrize(
    ("name", "index"), [(name, index) for name, made in WORST.items() for index in range(len(made))]
)
def test_the_dearest_answer_takes_linear_time(name: str, index: int) -> None:
    """Read, named, compared in every way, and shown."""
    body = WORST[name][index]()
    assert len(body) <= codec.MAX_BYTES
    digits = b"f" * max(len(body), 1 << 20)
    most = TIMES_A_PASS * seconds_of(lambda: int(digits, 16))
    began = time.thread_time()
    try:
        value = codec.decode(body)
    except MalformedError:  # also to refuse it may take no longer
        assert time.thread_time() - began < most
        return
    assert time.thread_time() - began < most
    steps: list[Callable[[], object]] = [
        lambda: codec.canonical(value),
        lambda: codec.canonical(python_equal(value)),
        lambda: show(value),
    ]
    for comparison in COMPARISONS:
        for expected in EXPECTED:
            steps.append(partial(compare_values, value, expected, comparison, Tolerance(1e-300, 0.5)))
    for step in steps:
        assert seconds_of(step) < most


def test_ranges_of_large_numbers_are_compared() -> None:
    """Equal ranges are so where their length is computed, and where they are written alike; others never are."""
    huge = 1 << 5000

    def crossed(*of: int) -> object:
        return codec.decode(made("builtins.range", *(codec.encode(part) for part in of)))

    def same(left: tuple[int, int, int], right: tuple[int, int, int]) -> bool:
        return compare_values(crossed(*left), crossed(*right), "equal", Tolerance())

    assert same((0, huge, 2), (0, huge - 1, 2))
    assert same((0, huge, huge), (0, 1, 1))
    assert same((huge, 0, 1), (7, 7, -3))
    assert same((0, 3 * huge, huge), (0, 3 * huge - 1, huge))
    assert same((0, -huge, -2), (0, 1 - huge, -2))
    assert same((0, huge, 1 << 2500), (0, huge, 1 << 2500))
    assert not same((0, huge, 2), (0, huge + 1, 2))
    assert not same((0, huge, 1 << 2500), (0, huge, (1 << 2500) + 1))
    assert not same((0, huge, 1 << 2500), (1, huge, 1 << 2500))


@pytest.mark.parametrize("sizes", [(65_535, 3), (65_536, 1), (65_534, 2), (21_845, 65_537)])
@pytest.mark.parametrize("character", ["\ud800", "é", "\U0001f600"])
def test_text_with_surrogates_is_whole(sizes: tuple[int, int], character: str) -> None:
    """It is decoded in slices, none of which ends within a character."""
    before, after = sizes
    value = "a" * before + character * after + "\ud800"
    assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize("tail", [b"\x80" * 5, b"\xed\xa0", b"\xff", b"\xf0\x9f\x98"])
def test_text_that_is_no_utf8_is_refused(tail: bytes) -> None:
    """Also far behind, and after a surrogate."""
    for before in (0, 65_534, 65_535, 65_536):
        with pytest.raises(MalformedError):
            codec.decode(text(b"\xed\xa0\x80" + b"a" * before + tail))
