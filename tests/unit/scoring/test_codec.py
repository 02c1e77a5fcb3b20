"""Values on the wire: what goes in comes out, and nothing that comes in does harm."""

from __future__ import annotations

from collections import Counter, OrderedDict, namedtuple
from http import HTTPStatus
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harena.scoring import codec, values
from harena.scoring.codec import MalformedError
from harena.scoring.guest import driver as guest_driver
from harena.scoring.values import from_python

PARTS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**400, max_value=10**401),
    st.floats(),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
    st.complex_numbers(),
)
KEYS: st.SearchStrategy[Any] = st.one_of(st.integers(), st.text(), st.tuples(st.booleans(), st.binary()))
VALUES: st.SearchStrategy[Any] = st.recursive(
    PARTS,
    lambda below: st.one_of(
        st.lists(below, max_size=4),
        st.lists(below, max_size=4).map(tuple),
        st.dictionaries(KEYS, below, max_size=4),
        st.sets(KEYS, max_size=4),
        st.frozensets(KEYS, max_size=4),
    ),
    max_leaves=20,
)


@given(VALUES)
def test_what_the_guest_sends_is_what_the_host_gets(value: Any) -> None:
    """Every carried type keeps its type and value on the way out."""
    assert codec.canonical(codec.decode(guest_driver.encode(value))) == codec.canonical(from_python(value))


class Liar(str):
    """Says something else than what it is made of."""

    def __str__(self) -> str:
        return "lie"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Upside(int):
    """An int that turns itself over."""

    def __pos__(self) -> int:
        return -self


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("made", "plain"),
    [
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=Point(1, 2)), {"a": (1, 2)}),
        (Liar("truth"), "truth"),
        ([Upside(7)], [7]),
        (HTTPStatus.OK, 200),
        (np.float64(1.5), 1.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
    ],
)
def test_a_subclass_is_sent_as_what_it_is_made_of_where_that_is_asked_for(made: Any, plain: Any) -> None:
    """By the base class's own methods: what the subclass overrides says nothing."""
    assert codec.canonical(codec.decode(guest_driver.encode(made, True))) == codec.canonical(from_python(plain))
    with pytest.raises(guest_driver.UncarriedError):
        guest_driver.encode(made)


@pytest.mark.parametrize("value", [object(), np.array([1, 2]), iter(()), {1: 2}.values()])
def test_what_is_made_of_nothing_that_is_carried_is_not_sent(value: Any) -> None:
    """Its type is named."""
    with pytest.raises(guest_driver.UncarriedError, match=type(value).__name__):
        guest_driver.encode([value], True)


@given(VALUES)
def test_what_the_host_sends_is_what_the_guest_gets(value: Any) -> None:
    """Every carried type keeps its type and value on the way in."""
    body = codec.encode(from_python(value))
    received, end = guest_driver.decode(body, 0)
    assert end == len(body)
    assert type(received) is type(value)
    assert codec.canonical(from_python(received)) == codec.canonical(from_python(value))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_malformed(body: bytes) -> None:
    """Nothing else is ever raised."""
    try:
        codec.decode(body)
    except MalformedError:
        return


@given(VALUES, st.data())
def test_a_damaged_value_is_refused_or_another_value(value: Any, data: st.DataObject) -> None:
    """Cut short: refused. One byte changed: refused, or read as what it says now."""
    body = guest_driver.encode(value)
    cut = data.draw(st.integers(0, len(body) - 1))
    with pytest.raises(MalformedError):
        codec.decode(body[:cut])
    changed = body[:cut] + data.draw(st.binary(min_size=1, max_size=1)) + body[cut + 1 :]
    try:
        codec.canonical(codec.decode(changed))
    except MalformedError:
        return


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"?",
        b"i;",
        b"i 1;",
        b"i+1;",
        b"i1_0;",
        b"i01;",
        b"i-0;",
        b"iFF;",
        b"f1.5;",
        b"fNaN;",
        b"f0x1.8p+0;",
        b"f0x1.0000000000000p+9999;",
        b"s-1:",
        b"s2:a",
        b"s1:\xff",
        b"s01:a",
        b"l2:N",
        b"l999999999:",
        b"d1:N",
        b"NN",
        b"b99999999999:",
        b"c0x0.0p+0;",
        b"l1:" * 500 + b"N",
    ],
)
def test_spellings_that_the_encoder_would_not_choose_are_refused(body: bytes) -> None:
    """One value has one spelling, and counts are not believed."""
    with pytest.raises(MalformedError):
        codec.decode(body)


def test_numbers_chosen_to_collide_are_only_parts() -> None:
    """A set of integers with equal hashes is decoded in linear time, because nothing is hashed."""
    step = 2**61 - 1
    colliding = b"e100000:" + b"".join(b"i%x;" % (n * step) for n in range(1, 100_001))
    assert len(codec.decode(colliding).items) == 100_000


def test_both_halves_agree_on_the_limits() -> None:
    """What the guest agrees to send, the host agrees to read."""
    assert guest_driver.MAX_DEPTH == values.MAX_DEPTH
    assert guest_driver.MAX_PARTS == codec.MAX_PARTS
    assert guest_driver.MAX_BYTES == codec.MAX_BYTES


def nested(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = (value,)
    return value


def test_the_deepest_value_passes_and_a_deeper_one_does_not() -> None:
    """Both sides stop at the same depth, without running out of stack."""
    deepest = guest_driver.encode(nested(guest_driver.MAX_DEPTH))
    assert codec.canonical(codec.decode(deepest)) == deepest
    with pytest.raises(guest_driver.UncarriedError, match="deeper"):
        guest_driver.encode(nested(guest_driver.MAX_DEPTH + 1))
    with pytest.raises(MalformedError, match="deeper"):
        codec.decode(b"t1:" + deepest)


def test_too_many_parts_are_refused_on_both_sides() -> None:
    """A value's size is bounded by its parts, however small they are."""
    with pytest.raises(guest_driver.UncarriedError, match="parts"):
        guest_driver.encode([None] * guest_driver.MAX_PARTS)
    with pytest.raises(MalformedError, match="parts"):
        codec.decode(b"l%d:" % codec.MAX_PARTS + b"N" * codec.MAX_PARTS)


class LyingInt(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class LyingObject:
    __class__ = int  # type: ignore[assignment]


@pytest.mark.parametrize(
    "value",
    [LyingInt(3), LyingObject(), object(), iter([1]), [LyingInt(1)], {LyingInt(1): 1}],
    ids=lambda value: type(value).__name__,  # the same name in every process
)
def test_subclasses_and_other_types_are_not_carried(value: Any) -> None:
    """`type(x) is int`, and not what x says of itself."""
    with pytest.raises(guest_driver.UncarriedError):
        guest_driver.encode(value)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, True, False),
        (1, 1.0, False),
        (0, False, False),
        ((1, 2), [1, 2], False),
        ("a", b"a", False),
        (float("nan"), float("nan"), True),
        (0.0, -0.0, True),
        ({1, 2}, {2, 1}, True),
        ({1}, frozenset({1}), False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({1: "x"}, {True: "x"}, False),
        ([1, [2, (3,)]], [1, [2, (3,)]], True),
        (None, False, False),
        ("", [], False),
    ],
)
def test_canonical_bytes_are_type_strict_equality(left: Any, right: Any, equal: bool) -> None:
    """The table of what equals what."""
    assert (codec.canonical(from_python(left)) == codec.canonical(from_python(right))) is equal


@pytest.mark.parametrize(
    "body",
    [
        b"s01:t",
        b"s+1:t",
        b"s 1:t",
        b"s1_0:tttttttttt",
        b"b-1:t",
        b"t00:",
        b"i0x1;",
        b"i01;",
        b"iA;",
        b"t1:" * 300 + b"N",
    ],
)
def test_the_guest_reads_only_what_its_own_encoder_writes(body: bytes) -> None:
    """What counts an answer's parts by their spelling counts all of them."""
    with pytest.raises(ValueError):  # noqa: PT011 (whatever it says: it is not taken)
        guest_driver.decode(body, 0)
