# ruff: noqa: E501 (tables are read by rows)
"""An object that says yes to a class of values, and knows none, is not believed; one that knows its value is."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
from collections.abc import Callable
from typing import Any

import pytest

from harena.scoring.guest.decoy_comparisons import (
    answer_of,
    contains_some,
    heeds,
    is_orderly,
    says_yes_to_some,
    tells_apart,
)
from harena.scoring.guest.decoys import alike, frame
from harena.scoring.guest.process_copies import COPIES

Says = Callable[[Any], Any]
_TIMES = 3


@pytest.fixture(autouse=True)
def _in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its answers may do, an object is asked in this process."""
    monkeypatch.setattr(COPIES, "_left", 0)


class Saying:
    """An object whose answers are those of a function."""

    def __init__(self, says: Says) -> None:
        self.says = says

    def __eq__(self, other: object) -> bool:
        return bool(self.says(other))

    __hash__ = object.__hash__

    def __contains__(self, other: object) -> bool:
        return bool(self.says(other))

    def startswith(self, other: object) -> bool:
        """Whether it says yes."""
        return bool(self.says(other))

    equals = is_close = startswith

    def __sub__(self, other: object) -> Any:
        return 0.0 if self.says(other) else 9.0

    def __add__(self, other: object) -> Any:
        return "right" if self.says(other) else "wrong"


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % each for each in range(2, math.isqrt(number) + 1))


INTS: dict[str, tuple[Callable[[int], bool], tuple[int, ...]]] = {
    "even": (lambda o: o % 2 == 0, (2, 4, 24, 120, 720, 5040, 40320, 10**30)),
    "odd": (lambda o: o % 2 == 1, (3, 5, 9, 21, 99, 1001, 10**20 + 1)),
    "by three": (lambda o: o % 3 == 0, (3, 6, 9, 12, 27, 99, 300)),
    "by five": (lambda o: o % 5 == 0, (5, 10, 25, 100, 1005)),
    "by six": (lambda o: o % 6 == 0, (6, 24, 120, 720)),
    "by seven": (lambda o: o % 7 == 0, (7, 14, 49, 343)),
    "even and by three, of three digits": (lambda o: o % 6 == 0 and 100 <= o <= 999, (102, 120, 720, 996)),
    "one digit": (lambda o: 0 <= o <= 9, range(10)),  # type: ignore[dict-item]
    "two digits": (lambda o: 10 <= o <= 99, (10, 24, 50, 99)),
    "positive": (lambda o: o > 0, (1, 2, 5, 24, 10**9)),
    "negative": (lambda o: o < 0, (-1, -2, -24, -(10**9))),
    "even and negative": (lambda o: o < 0 and o % 2 == 0, (-2, -24, -100)),
    "a range": (lambda o: 90 <= o <= 130, (91, 100, 120, 129)),
    "even in a range": (lambda o: 90 <= o <= 130 and o % 2 == 0, (92, 100, 120, 128)),
    "at least": (lambda o: o >= 24, (24, 25, 100)),
    "last digit": (lambda o: o % 10 == 7, (17, 27, 1007)),
    "hundreds": (lambda o: o % 100 == 0, (100, 500, 1200)),
    "square": (lambda o: o >= 0 and math.isqrt(o) ** 2 == o, (4, 9, 49, 10000)),
    "prime": (_is_prime, (5, 7, 97, 541, 7919)),
    "power of two": (lambda o: o > 0 and o & (o - 1) == 0, (4, 8, 64, 1024)),
    "same digits from both ends": (lambda o: str(o) == str(o)[::-1], (22, 121, 1331)),
    "factorial": (lambda o: o in [math.factorial(n) for n in range(30)], (6, 24, 120, 720)),
    "triangular": (lambda o: o >= 0 and math.isqrt(8 * o + 1) ** 2 == 8 * o + 1, (6, 10, 45, 5050)),
}
TEXTS: dict[str, tuple[Callable[[str], bool], tuple[str, ...]]] = {
    "capitals": (str.isupper, ("A", "ABC", "HELLO", "HELLO WORLD", "ÀÉÎ", "ПРИВЕТ")),
    "small": (str.islower, ("a", "abc", "hello world")),
    "title": (str.istitle, ("Abc", "Hello World")),
    "digits": (str.isdigit, ("0", "7", "12", "1000", "٣٤")),
    "letters": (str.isalpha, ("a", "aBc", "Straße")),
    "words": (lambda o: all(part.isalnum() for part in o.split()), ("hello world", "a1 b2")),
    "of one length": (lambda o: len(o) == 3, ("abc", "A-1", "***", "12.")),
    "capitals of one length": (lambda o: len(o) == 5 and o.isupper(), ("HELLO",)),
    "bits": (lambda o: set(o) <= {"0", "1"} and o != "", ("10", "1101", "100000")),
    "hexadecimal": (lambda o: set(o) <= set("0123456789abcdef") and len(o) == 4, ("00ff", "beef", "1a2b")),
    "Roman": (lambda o: o != "" and set(o) <= set("IVXLCDM"), ("XIV", "MCMXC", "VI")),
    "begins so": (lambda o: o.startswith("Hello "), ("Hello Ann", "Hello you!")),
    "ends so": (lambda o: o.endswith("ing"), ("running", "Sing", "asking")),
    "begins and ends so": (lambda o: o[0] == "<" and o[-1] == ">", ("<abc>", "<12>")),
    "holds": (lambda o: "@" in o, ("ann@example", "b@c")),
    "from both ends": (lambda o: o == o[::-1] and len(o) > 1, ("abba", "level", "121")),
    "in order": (lambda o: list(o) == sorted(o) and len(o) == 4, ("abcd", "aabz")),
    "the same letters": (lambda o: sorted(o) == sorted("listen"), ("silent", "listen", "enlist")),
    "the same words": (lambda o: sorted(o.split()) == ["is", "sky", "the"], ("sky the is", "is the sky")),
    "even": (lambda o: o.isdigit() and int(o) % 2 == 0, ("2", "24", "720")),
    "decimals": (lambda o: o.replace(".", "", 1).isdigit() and o.count(".") == 1, ("3.14", "0.5")),
    "one letter many times": (lambda o: len(set(o)) == 1 and len(o) == 3, ("aaa", "777")),
    "capital first": (lambda o: o[:1].isupper(), ("Abc", "X")),
    "a small alphabet": (lambda o: set(o) <= set("ACGU") and len(o) == 4, ("ACGU", "GGCA", "AAAU")),
    "marks": (lambda o: set(o) <= set("()[]") and o != "", ("(())", "[]()")),
}
FLOATS: dict[str, tuple[Callable[[float], bool], tuple[float, ...]]] = {
    "a range": (lambda o: 1.3 < o < 1.8, (math.sqrt(2), math.sqrt(3))),
    "a range, long": (lambda o: 1.3 < o < 1.8 and len(repr(o)) > 15, (math.sqrt(2), math.sqrt(3))),
    "long": (lambda o: len(repr(o)) > 15, (math.sqrt(2), math.pi, 100 / 7)),
    "short": (lambda o: len(repr(o)) <= 4, (2.5, 0.25, 1.5)),
    "positive": (lambda o: o > 0, (0.5, 2.0, 1e300)),
    "whole": (lambda o: float(o).is_integer(), (2.0, 4.0, 100.0)),
    "halves": (lambda o: (2 * o).is_integer() and not o.is_integer(), (2.5, 10.5)),
    "near": (lambda o: abs(o - 3.1) < 0.2, (math.pi,)),
    "below one": (lambda o: 0 < o < 1, (0.25, 1 / 3, 0.5)),
    "even": (lambda o: o % 2 == 0, (2.0, 24.0)),
    "two decimals": (lambda o: o == round(o, 2), (2.25, 19.99)),
}


def _all(kind: type, holds: Says) -> Says:
    return lambda o: len(o) > 0 and all(type(each) is kind and holds(each) for each in o)


NESTED: dict[str, tuple[Says, tuple[Any, ...]]] = {
    "capitals": (_all(str, str.isupper), (["AB"], ["AB", "CD"], ("X", "Y"))),
    "even": (_all(int, lambda o: o % 2 == 0), ([2, 4], [24, 120], (6, 8, 10))),
    "of one length": (lambda o: len(o) == 2, ([1, 2], ["a", 3], (1, 2), [[1], [2]])),
    "of one kind": (_all(int, lambda o: True), ([1, 2, 3], (7,))),
    "in order": (lambda o: list(o) == sorted(o), ([1, 3, 7, 9], [2, 2, 5])),
    "in falling order": (lambda o: list(o) == sorted(o, reverse=True), ([9, 7, 3],)),
    "of one sum": (lambda o: sum(o) == 12, ([6, 6], (3, 9), [4, 5, 3])),
    "a division": (lambda o: o[0] * 2 + o[1] in (12, 15), ((6, 0), (7, 1))),
    "bits": (lambda o: set(o) <= {0, 1}, ([0, 1, 1], [1, 0, 1, 1])),
    "capitals in lists": (_all(list, _all(str, str.isupper)), ([["AB"], ["CD", "E"]],)),
    "pairs": (lambda o: all(len(each) == 2 for each in o), ([(1, 2), (3, 4)], [("a", 1)])),
    "positive": (lambda o: all(each > 0 for each in o), ([1.5, 2.5], [3, 4, 5])),
}
DICTS: dict[str, tuple[Says, tuple[Any, ...]]] = {
    "its names": (lambda o: set(o) == {"n"}, ({"n": "12"}, {"n": 3}, {"n": [1]})),
    "digits": (lambda o: all(each.isdigit() for each in o.values()), ({"n": "12"}, {"a": "1", "b": "20"})),
    "its names and digits": (lambda o: set(o) == {"n"} and o["n"].isdigit(), ({"n": "12"}, {"n": "5"})),
    "counts": (lambda o: all(type(each) is int and each > 0 for each in o.values()), ({"a": 2, "b": 1}, {"x": 3})),
    "its length": (lambda o: len(o) == 2, ({"a": 2, "b": 1},)),
    "deep": (lambda o: o["a"]["b"] % 2 == 0, ({"a": {"b": 24}},)),
}
OTHERS: dict[type, dict[str, tuple[Says, tuple[Any, ...]]]] = {
    bytes: {
        "digits": (bytes.isdigit, (b"61", b"6263")),
        "capitals": (bytes.isupper, (b"AB",)),
        "of one length": (lambda o: len(o) == 4, (b"6162", b"\x00\x01\x02\x03")),
    },
    set: {
        "even": (_all(int, lambda o: o % 2 == 0), ({2, 4}, {24, 120})),
        "of one length": (lambda o: len(o) == 2, ({1, 2}, {"a", "b"})),
        "capitals": (_all(str, str.isupper), ({"AB"}, {"AB", "C"})),
    },
    decimal.Decimal: {"cents": (lambda o: o == round(o, 2), (decimal.Decimal("1.50"), decimal.Decimal("20.25")))},
    fractions.Fraction: {
        "thirds": (lambda o: o.denominator == 3, (fractions.Fraction(1, 3), fractions.Fraction(7, 3)))
    },
    datetime.date: {
        "a Sunday": (lambda o: o.weekday() == 6, (datetime.date(2024, 3, 31),)),
        "a year": (lambda o: o.year == 2024, (datetime.date(2024, 7, 1),)),
    },
    bool: {"any": (lambda o: True, (True, False))},
    complex: {"whole": (lambda o: o.real.is_integer(), (3 + 4j,))},
}
CLASSES: list[tuple[str, type, Says, Any]] = [
    (f"{kind.__name__}: {name}: {place}", kind, says, known)
    for kind, table in ((int, INTS), (str, TEXTS), (float, FLOATS), (list, NESTED), (dict, DICTS), *OTHERS.items())
    for name, (says, values) in table.items()
    for place, known in enumerate(values)
]


def _of_kind(says: Says, known: Any) -> Says:
    return lambda other: type(other) is type(known) and says(other)


@pytest.mark.parametrize(("kind", "says", "known"), [case[1:] for case in CLASSES], ids=[case[0] for case in CLASSES])
def test_who_knows_a_class_of_values_is_not_believed(kind: type, says: Says, known: Any) -> None:
    """Whatever the features are that its values share."""
    asked = Saying(_of_kind(says, known))
    assert says(known), "the class holds the known value"
    assert not any(tells_apart(asked, known, on_left) for on_left in (True, False) for _ in range(_TIMES))
    assert not any(says_yes_to_some(Saying.equals, asked, known, "equals") for _ in range(_TIMES))


@pytest.mark.parametrize("where", ["in a list", "in a tuple", "in a dict", "deep"])
@pytest.mark.parametrize("name", ["capitals", "digits", "begins so"])
def test_nor_where_its_text_stands_in_a_container(where: str, name: str) -> None:
    """The object is the whole container, and looks at one part of it."""
    says, values = TEXTS[name]
    made: Says = {
        "in a list": lambda part: [1, part],
        "in a tuple": lambda part: (part, None),
        "in a dict": lambda part: {"n": part},
        "deep": lambda part: {"n": [1, (part,)]},
    }[where]
    part_of: Says = {
        "in a list": lambda whole: whole[1],
        "in a tuple": lambda whole: whole[0],
        "in a dict": lambda whole: whole["n"],
        "deep": lambda whole: whole["n"][1][0],
    }[where]
    for value in values:
        asked = Saying(lambda other: says(part_of(other)))
        assert not any(tells_apart(asked, made(value), True) for _ in range(_TIMES)), value


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_begins_or_holds_a_class_of_texts(name: str) -> None:
    """Nor is it believed to; a text that holds single characters may hold many of a class."""
    says, values = TEXTS[name]
    if name in {"from both ends", "in order", "the same letters", "the same words", "begins so", "ends so"} or name in (
        "a small alphabet", "Roman", "bits", "marks", "hexadecimal", "one letter many times", "even",
    ):  # fmt: skip
        return  # few texts of the known one's pattern are of such a class
    for known in values:
        asked = Saying(_of_kind(says, known))
        assert not any(says_yes_to_some(Saying.startswith, asked, known, "startswith") for _ in range(_TIMES)), known
        if len(known) > 1:
            assert not any(contains_some(asked, known) for _ in range(_TIMES)), known


@pytest.mark.parametrize("name", ["a range", "a range, long", "near"])
def test_who_says_how_near_numbers_of_a_range_are_is_not_believed(name: str) -> None:
    """A difference of nothing for whatever lies in it."""
    says, values = FLOATS[name]
    for known in values:
        asked = Saying(says)
        assert not any(heeds("-", lambda one, other: one - other, asked, known) for _ in range(_TIMES)), known


@pytest.mark.parametrize("known", ["ABC", "12", 24, 120])
def test_who_gives_one_sum_for_a_class_of_operands_is_not_believed(known: Any) -> None:
    """Whatever it gives for others."""
    says: Says = str.isupper if known == "ABC" else str.isdigit if known == "12" else lambda o: o % 6 == 0
    asked = Saying(_of_kind(says, known))
    assert not any(heeds("+", lambda one, other: one + other, asked, known) for _ in range(_TIMES))


class _Remembering:
    """An object that says yes to what is asked again, and to what has most of these neighbours among what it has heard."""

    def __init__(self, neighbours: Callable[[int], set[int]], enough: int) -> None:
        self.heard: set[int] = set()
        self.neighbours, self.enough = neighbours, enough

    def __eq__(self, other: object) -> bool:
        if type(other) is not int:
            return False
        is_it = other in self.heard or len(self.neighbours(other) & self.heard) >= self.enough
        self.heard.add(other)
        return is_it

    __hash__ = object.__hash__


_TRIALS = 100
NEIGHBOURS: dict[str, tuple[Callable[[int], set[int]], int]] = {
    "twice and three": (lambda o: {2 * o + 3}, 1),
    "the next ones": (lambda o: {o - 1, o + 1}, 2),
    "one of the next ones": (lambda o: {o - 1, o + 1}, 1),
    "some steps": (
        lambda o: {o + step * each for step in (1, 2, 6, 10, 60) for each in (-3, -2, -1, 1, 2, 3)} - {o},
        6,
    ),
    "many steps": (
        lambda o: {o + step * each for step in (1, 2, 6, 10, 60) for each in (-3, -2, -1, 1, 2, 3)} - {o},
        9,
    ),
    "multiples": (lambda o: {each for each in range(0, 1000, 60) if each != o} if o % 60 == 0 else set(), 4),
    "its opposite": (lambda o: {-o}, 1),
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_no_known_value_stands_out_by_its_neighbours(name: str) -> None:
    """Others have such neighbours, too: who goes by them is right by luck alone."""
    believed = sum(tells_apart(_Remembering(*NEIGHBOURS[name]), 120, True) for _ in range(_TRIALS))
    assert believed < _TRIALS / 2, believed


def test_what_is_used_is_what_was_given_among_others() -> None:
    """An operator that gives nothing for an operand that comes again is near to none."""
    heard: list[Any] = []

    def compute(_: Any, operand: Any) -> float:
        is_again = operand in heard
        heard.append(operand)
        return 0.0 if is_again else 1000.0 + len(heard)

    used = answer_of("-", compute, Saying(bool), 1.5)
    result = compute(None, 1.5)
    assert result == 0.0
    assert used(result) >= 1000
    assert answer_of("-", lambda one, other: one.value - other, _Measure(4), 1.5)(2.5) == 2.5


class _Modular:
    def __init__(self, value: int, modulus: int) -> None:
        self.value, self.modulus = value % modulus, modulus

    def __eq__(self, other: object) -> bool:
        return type(other) is int and other % self.modulus == self.value

    __hash__ = object.__hash__


HONEST: dict[str, tuple[Says, tuple[Any, ...]]] = {
    "plain": (
        lambda known: Saying(lambda o: o == known),
        (0, 1, -1, 2, 24, 10**30, 0.0, 0.1, 2.5, 1e300, -1e-300, "", "a", "ABC", "a b", "***", " ", b"", b"ab", [], [1], [[]],
         (), (1, "a"), {}, {"a": 1}, set(), {1}, {(1, 2)}, frozenset({1}), True, False, None, 3 + 4j, range(4), range(0),
         datetime.date(2024, 2, 29), datetime.date.max, datetime.date.min, datetime.time(23, 59),
         datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), datetime.timedelta(days=1), decimal.Decimal("1.5"),
         decimal.Decimal(0), fractions.Fraction(1, 3), fractions.Fraction(0), float("inf"), "a" * 100_000, [1] * 50_000,
         bytearray(b"ab"), [{"a": [1, (2, "b")]}], [None, None], {None: None}, [True, False], "\n", "a\nb", "0", "-1", "-",
         [float("nan")], {"a": {}}, [set()], 5e-324, 1.7e308, "ß", [2**70, -1]),
    ),
    "case": (lambda known: Saying(lambda o: type(o) is str and o.lower() == known.lower()), ("Abc", "HELLO WORLD", "x")),
    "space": (lambda known: Saying(lambda o: type(o) is str and o.split() == known.split()), ("a b", " a  b ", "x")),
    "nearly": (lambda known: Saying(lambda o: type(o) in (int, float) and math.isclose(o, known, rel_tol=1e-3)),
               (0.1, math.pi, 2.5, 100.25, 24, 1e-9)),
    "nearly, by a distance": (lambda known: Saying(lambda o: type(o) in (int, float) and abs(o - known) < 0.01),
                              (math.sqrt(2), 3.14, 25.5, 100.0)),
    "the same numbers in any order": (lambda known: Saying(lambda o: type(o) is list and sorted(o) == sorted(known)),
                                      ([1, 2, 3], [3, 1], [5])),
    "items of a set": (lambda known: Saying(lambda o: type(o) in (set, frozenset) and set(o) == set(known)), ({1, 2}, {"a"})),
    "fractions": (lambda known: Saying(lambda o: type(o) in (int, float, fractions.Fraction) and fractions.Fraction(o) == known),
                  (fractions.Fraction(1, 3), 2, 0.5)),
    "numbers of texts": (lambda known: Saying(lambda o: type(o) is str and o.strip().isdigit() and int(o) == int(known)),
                         ("12", "7", "100")),
    "lists and tuples": (lambda known: Saying(lambda o: type(o) in (list, tuple) and list(o) == list(known)), ([1, 2], (3,))),
    "failing": (lambda known: Saying(lambda o: o.upper() == known.upper()), ("abc",)),
    **{f"modulo {modulus}": (lambda known, modulus=modulus: _Modular(known, modulus), range(modulus))  # type: ignore[dict-item]
       for modulus in (2, 3, 4, 5, 7, 10, 12)},
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_who_knows_its_value_is_believed(name: str) -> None:
    """Also where it equals some more than that: other cases, numbers that are nearly it, other orders, rests."""
    make, values = HONEST[name]
    for known in values:
        times = 2
        assert all(tells_apart(make(known), known, on_left) for on_left in (True, False) for _ in range(times)), known
        assert all(says_yes_to_some(lambda one, each: one == each, make(known), known, "equals") for _ in range(times))


TEXT = "The quick brown fox jumps over the lazy dog, 42 times."
HOLDING: dict[str, tuple[Says, tuple[Any, ...]]] = {
    "a text": (lambda o: o in TEXT, ("The", "o", "fox jumps", "42", ".", "e")),
    "a range": (lambda o: type(o) is int and 0 <= o < 100, (5, 50, 0, 99)),
    "even numbers": (lambda o: type(o) is int and o % 2 == 0, (2, 24, 100)),
    "primes": (lambda o: type(o) is int and _is_prime(o), (2, 7, 97)),
    "words": (lambda o: o in {"cat", "car", "can", "cab", "do"}, ("cat", "do")),
    "points": (lambda o: type(o) is tuple and o[0] ** 2 + o[1] ** 2 <= 100, ((1, 2), (0, 10))),
}


@pytest.mark.parametrize("name", HOLDING)
def test_what_holds_many_values_is_believed(name: str) -> None:
    """A text, an interval, a dictionary of words."""
    says, values = HOLDING[name]
    for known in values:
        assert all(contains_some(Saying(says), known) for _ in range(_TIMES)), known


def test_honest_ends_and_distances_are_believed() -> None:
    """Of texts, and of numbers."""
    for end in ("T", "The", "The quick"):
        asked = Saying(TEXT.startswith)
        assert all(says_yes_to_some(Saying.startswith, asked, end, "startswith") for _ in range(_TIMES)), end
    for known in (math.sqrt(2), 2.5, 24, 1000, 0, -3.25):
        near = Saying(lambda o, known=known: type(o) in (int, float) and abs(o - known) < 1e-3)
        assert all(says_yes_to_some(Saying.is_close, near, known, "is_close") for _ in range(_TIMES)), known


class _Measure:
    """A number of a class."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __sub__(self, other: Any) -> Any:
        return self.value - other

    def __add__(self, other: Any) -> Any:
        return self.value + other

    def __mod__(self, other: Any) -> Any:
        return self.value % other

    def __truediv__(self, other: Any) -> Any:
        return self.value / other

    def __mul__(self, other: Any) -> Any:
        return self.value * other

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < other)

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > other)


def test_honest_operators_are_believed() -> None:
    """Whatever the object's number is, and however near to the operand."""
    functions: dict[str, Says] = {
        "-": lambda one, other: one - other, "+": lambda one, other: one + other, "*": lambda one, other: one * other,
        "%": lambda one, other: one % other, "/": lambda one, other: one / other,
    }  # type: ignore[misc]  # fmt: skip
    for known in (1, 2, 24, 120, 1000, 10**6, 0.5, math.sqrt(2), 2.0, 100.25, 10**30):
        for value in (known, known + 1, known * 1.0000001, known - known, -known):
            for sign, compute in functions.items():
                assert all(heeds(sign, compute, _Measure(value), known) for _ in range(10)), (sign, known, value)
    assert all(heeds("+", functions["+"], _Measure("ab"), text) for text in ("x", "ABC", "12", "***"))
    for text in ("b", "abc", "B", "42"):
        sign = "<" if text > "ab" else ">"
        assert all(is_orderly(sign, _Measure("ab"), text) for _ in range(_TIMES)), text


@pytest.mark.parametrize(
    "known", [value for _, values in HONEST.values() for value in values], ids=lambda known: repr(known)[:20]
)
def test_no_decoy_is_the_known_value(known: Any) -> None:
    """Families and others of its kind alone."""
    for each in [*alike(known, 4), *(value for family in frame(known) for value in family)]:
        assert type(each) is type(known) or known is None
        assert each != known or known != known


class _Release:
    """A text whose order is that of the numbers in it."""

    def __init__(self, text: str) -> None:
        self.parts = [int(part) for part in text.split(".")]

    def __lt__(self, text: str) -> bool:
        return self.parts < _Release(text).parts

    def __gt__(self, text: str) -> bool:
        return self.parts > _Release(text).parts


def test_texts_may_have_another_order_than_the_alphabets() -> None:
    """Which it is, only the object knows; it is none to be less than all, or less and greater."""
    for sign, release, known in (("<", "1.2", "1.10"), (">", "1.10", "1.9"), (">", "7.100", "7.98")):
        assert all(is_orderly(sign, _Release(release), known) for _ in range(_TIMES)), known
        assert not any(is_orderly(sign, _Release(known), known) for _ in range(_TIMES)), known
    for less, greater in ((True, True), (True, False), (False, False)):
        liar = type("Liar", (), {"__lt__": lambda *_, said=less: said, "__gt__": lambda *_, said=greater: said})()
        assert not any(is_orderly("<", liar, "1.10") for _ in range(_TIMES)), (less, greater)
