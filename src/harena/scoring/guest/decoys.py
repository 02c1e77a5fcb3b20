"""Values that nobody who knows the kind of a known value can tell from it.

An object that says yes to a class of values (capital letters, digits, even numbers, lists of two) knows no value. So
what else it is asked about has the features of the known value: its decoys stand in families, each of which shares some
features with it, and whoever judges by these says yes to most of one family. Each of the values that are like the known
one has such families of its own round it, so that the known one does not stand out by its neighbours.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions

from harena.scoring.guest.decoy_numbers import alike_floats, fine_frame, float_frame, of_size, whole_frame
from harena.scoring.guest.decoy_texts import alike_texts, text_frame
from harena.scoring.guest.secure_random import below, one_of, shuffled, some_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MOST_PARTS = 64
"""parts of a long container that are others in a decoy"""
_MOST_DEPTH = 3
_COEFFICIENTS = (1, 2, 3, 5, 10)
"""a first part that is one less, and a second one that is so much more: what a sum of the two tells"""
_BYTES = "latin-1"


def frame(known: Any, depth: int = 0) -> list[list[Any]]:
    """Families of values round the known one; none holds it, or what an honest object calls equal to it."""
    make = _FRAMES.get(type(known))
    families = make(known, depth) if make is not None else []
    return [found for found in ([each for each in family if _is_another(each, known)] for family in families) if found]


def alike(known: Any, most: int) -> list[Any]:
    """Other values of the kind and size of a known one."""
    make = _ALIKE.get(type(known))
    return [each for each in make(known, most) if _is_another(each, known)] if make is not None else []


def is_long(known: Any) -> bool:
    """So many parts that few decoys are enough."""
    return hasattr(known, "__len__") and not isinstance(known, range) and len(known) > 10 * _MOST_PARTS


def _is_another(value: Any, known: Any) -> bool:
    return type(value) is type(known) and bool(value != known)


def _like(part: Any) -> Any:
    """One value like a part of a container; the part itself where there is none."""
    found = alike(part, 1)
    return found[0] if found else part


def _changed(items: list[Any]) -> list[Any]:
    """The items, with others in the place of all, or of some of many."""
    made = list(items)
    for place in some_of(range(len(items)), _MOST_PARTS):
        made[place] = _like(made[place])
    return made


def _with(items: list[Any], place: int, part: Any) -> list[Any]:
    made = list(items)
    made[place] = part
    return made


def _items_frame(items: list[Any], depth: int) -> list[list[list[Any]]]:
    """Families of lists of items that have the same length, and longer ones."""
    if not items:
        return [[[None]], [[0]], [[""]]]
    families = []
    many = is_long(items)
    places = some_of(range(len(items)), 1 if depth or many else 2) if depth < _MOST_DEPTH else []
    for place in places:
        of_part = frame(items[place], depth + 1)
        families += [[_with(items, place, each) for each in family] for family in (of_part[:4] if many else of_part)]
    families.append([_changed(items) for _ in range(2 if many else 4)])
    families.append([[*items, _like(one_of(items))]])
    if len(items) > 1 and not many:
        families.append([[one_of(items) for _ in items] for _ in range(2)])
        families += _of_one_sum(items, below(len(items) - 1))
        families += _in_order(items)
    return families if many else _in_no_other_order(items, families)


def _in_no_other_order(items: list[Any], families: list[list[list[Any]]]) -> list[list[list[Any]]]:
    """Without the lists of the same items: an honest collection may equal them in any order."""
    wanted = sorted(map(repr, items))
    return [[each for each in family if sorted(map(repr, each)) != wanted] for family in families]


def _of_one_sum(items: list[Any], first: int) -> list[list[list[Any]]]:
    one, other = items[first], items[first + 1]
    if type(one) not in _NUMBERS or type(other) not in _NUMBERS:
        return []
    made = []
    for each in _COEFFICIENTS:
        for side in (each, -each):
            made.append([_with(_with(items, first, one - side // each), first + 1, other + side)])
    if one and other:
        made.append(
            [_with(_with(items, first, 2 * one), first + 1, other / 2 if other % 2 else type(other)(other // 2))]
        )
    return made


def _in_order(items: list[Any]) -> list[list[list[Any]]]:
    """Other items in the same order, where these are in one."""
    if len(items) < 2:
        return []
    try:
        if items == sorted(items):
            return [[sorted(_changed(items)) for _ in range(2)]]
        if items == sorted(items, reverse=True):
            return [[sorted(_changed(items), reverse=True) for _ in range(2)]]
    except TypeError:
        pass
    return []


def _sequence_frame(known: Any, depth: int) -> list[list[Any]]:
    kind = type(known)
    return [[kind(each) for each in family] for family in _items_frame(list(known), depth)]


def _set_frame(known: Any, depth: int) -> list[list[Any]]:
    kind, items = type(known), list(known)
    return [
        [made for made in (kind(each) for each in family if _all_hashed(each)) if made]
        for family in _items_frame(items, depth)
    ]


def _all_hashed(items: list[Any]) -> bool:
    try:
        return hash(tuple(items)) is not None
    except TypeError:
        return False


def _dict_frame(known: dict[Any, Any], depth: int) -> list[list[Any]]:
    if not known:
        return [[{None: None}], [{"": 0}], [{0: 0}]]
    keys, values = list(known), list(known.values())
    families = [
        [dict(zip(keys, each)) for each in family if len(each) == len(keys)]  # noqa: B905 (Python 3.8)
        for family in _items_frame(values, depth)
    ]
    place = below(len(keys))
    families += [
        [dict(zip(_with(keys, place, each), values)) for each in family]  # noqa: B905
        for family in frame(keys[place], depth + 1)[:4]
    ]
    families.append([{**known, _like(keys[place]): _like(values[place])} for _ in range(2)])
    families.append([{**known, keys[one]: values[other]} for one, other in _two_places(len(keys))])
    return families


def _two_places(count: int) -> list[tuple[int, int]]:
    found = some_of(range(count), 2)
    return [(found[0], found[1])] if len(found) > 1 else []


def _like_items(known: Any, most: int) -> list[Any]:
    return [type(known)(_changed(list(known))) for _ in range(most)] if known else []


def _like_dicts(known: dict[Any, Any], most: int) -> list[Any]:
    keys = list(known)
    return [dict(zip(keys, _changed(list(known.values())))) for _ in range(most)]  # noqa: B905 (Python 3.8)


def _bytes_frame(known: Any, _depth: int) -> list[list[Any]]:
    return [[_as_bytes(known, each) for each in family] for family in text_frame(known.decode(_BYTES))]


def _as_bytes(known: Any, text: str) -> Any:
    return type(known)(text.encode(_BYTES, "replace"))


def _complex_frame(known: complex, _depth: int) -> list[list[Any]]:
    real = [[complex(each, known.imag) for each in family] for family in float_frame(known.real)]
    return real + [[complex(known.real, each) for each in family] for family in float_frame(known.imag)]


def _decimal_frame(known: decimal.Decimal, _depth: int) -> list[list[Any]]:
    if not known.is_finite():
        return [[decimal.Decimal(0)], [decimal.Decimal(1)]]
    least = decimal.Decimal((0, (1,), int(known.as_tuple().exponent)))
    return [*fine_frame(known, least), *fine_frame(known, 1), *([[-known]] if known else [])]


def _fraction_frame(known: fractions.Fraction, _depth: int) -> list[list[Any]]:
    turned = [[1 / known]] if known else []
    return [*fine_frame(known, fractions.Fraction(1, known.denominator)), *fine_frame(known, 1), *turned]


def _day_frame(known: Any, _depth: int) -> list[list[Any]]:
    """Days round a day or time: the next ones, the same days of the week, the same days of the year nearly."""
    units = [datetime.timedelta(days=each) for each in (1, 7, 365)]
    if type(known) is not datetime.date:
        units += [datetime.timedelta(seconds=each) for each in (1, 60, 3600)]
    return [family for unit in units for family in fine_frame(known, unit)]


def _time_frame(known: datetime.time, _depth: int) -> list[list[Any]]:
    return [[known.replace(hour=(known.hour + each) % 24)] for each in (1, 5, 12)] + [
        [known.replace(minute=(known.minute + each) % 60)] for each in (1, 30)
    ]


def _range_frame(known: range, _depth: int) -> list[list[Any]]:
    return [
        [range(known.start, known.stop + known.step, known.step)],
        [range(known.start + known.step, known.stop + known.step, known.step)],
        [range(known.start + 1, known.stop + 1, known.step)],
    ]


def _deque_frame(known: Any, depth: int) -> list[list[Any]]:
    return [[collections.deque(each, known.maxlen) for each in family] for family in _items_frame(list(known), depth)]


def _mapping_frame(known: Any, depth: int) -> list[list[Any]]:
    """Families of mappings of a class of the standard library's."""
    return [[_as_mapping(known, each) for each in family] for family in _dict_frame(dict(known), depth)]


def _as_mapping(known: Any, each: dict[Any, Any]) -> Any:
    if type(known) is collections.defaultdict:
        return collections.defaultdict(known.default_factory, each)
    return type(known)(each)


_NUMBERS = (int, float)
_FRAMES: dict[type, Callable[[Any, int], list[list[Any]]]] = {
    bool: lambda known, _depth: [[not known]],
    int: lambda known, _depth: whole_frame(known),
    float: lambda known, _depth: float_frame(known),
    complex: _complex_frame,
    str: lambda known, _depth: text_frame(known),
    bytes: _bytes_frame,
    bytearray: _bytes_frame,
    list: _sequence_frame,
    tuple: _sequence_frame,
    set: _set_frame,
    frozenset: _set_frame,
    dict: _dict_frame,
    range: _range_frame,
    collections.deque: _deque_frame,
    collections.Counter: _mapping_frame,
    collections.OrderedDict: _mapping_frame,
    collections.defaultdict: _mapping_frame,
    decimal.Decimal: _decimal_frame,
    fractions.Fraction: _fraction_frame,
    datetime.date: _day_frame,
    datetime.datetime: _day_frame,
    datetime.timedelta: _day_frame,
    datetime.time: _time_frame,
}


def _some_of_frame(known: Any, most: int) -> list[Any]:
    return shuffled([family[0] for family in frame(known)])[:most]


_ALIKE: dict[type, Callable[[Any, int], list[Any]]] = {
    int: lambda known, most: of_size(known, 1, most),
    float: lambda known, most: alike_floats(known, most) if known and abs(known) < float("inf") else [],
    str: alike_texts,
    bytes: lambda known, most: [_as_bytes(known, each) for each in alike_texts(known.decode(_BYTES), most)],
    bytearray: lambda known, most: [_as_bytes(known, each) for each in alike_texts(known.decode(_BYTES), most)],
    list: _like_items,
    tuple: _like_items,
    set: _like_items,
    frozenset: _like_items,
    dict: _like_dicts,
    bool: _some_of_frame,
    **dict.fromkeys(
        (
            complex, decimal.Decimal, fractions.Fraction, datetime.date, datetime.datetime, datetime.timedelta,
            datetime.time,
        ),
        _some_of_frame,
    ),
}  # fmt: skip
