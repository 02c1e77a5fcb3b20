"""Values of Python's standard library on the host: what crosses the border besides plain values, and what equals them.

The guest states the name of a class and what an instance is made of; nothing is imported or built by a name that it
sent. A `StandardInstance` is compared by the plain value that equals it (`python_form`): a Fraction or a Decimal by its
number, a bytearray by its bytes, a view of a dict by its set, a datetime with a time zone by its moment.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from harena.scoring.values import Bag, StandardInstance

_WRITTEN_DECIMAL = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,19}+)?")
_NOT_A_NUMBER = re.compile(r"-?s?NaN[0-9]*+")
"""a NaN of Decimal may have digits of its own"""
_MOST_DIGITS = 100
"""a number with more digits, or further from 1 than that, is compared as it is written: 100,000 longer ones would take
minutes"""
_MOST_QUOTIENT_BITS = 256
"""the length of a range is computed where its step, or the length itself, is about that long at most: else the division
would take quadratic time, minutes for parts of millions of digits, in one step that no other thread can interrupt"""
_MICROSECOND = datetime.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Form:
    """What all instances that are equal to one another have in common, where no plain value equals them."""

    name: str
    parts: tuple[Any, ...]


def checked(name: str, parts: Any) -> StandardInstance:
    """What the guest sent. Raises ValueError for a class that is not carried, and for parts that it does not have."""
    if name not in _FORMS or type(parts) is not tuple:
        raise ValueError(f"not a standard value: {name[:60]}")
    made = StandardInstance(name, parts)
    try:
        python_form(made, lambda item: item)
    except (TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ValueError(f"not a {name}: {error}") from None
    return made


def python_form(made: StandardInstance, form_of: Callable[[Any], Any]) -> Any:
    """One host value for all that Python's `==` takes for equal; `form_of` gives it for the items of containers."""
    return _FORMS[made.name](made.parts, form_of)


def nearest_float(number: Any) -> Any:
    """The float that is nearest to a fraction; everything else as it is."""
    if type(number) is not Form or number.name != "fractions.Fraction":
        return number
    try:
        return number.parts[0] / number.parts[1]
    except OverflowError:
        return number


def _fraction(parts: tuple[Any, ...], _: Any) -> Any:
    numerator, denominator = _integers(parts, 2)
    if denominator < 1:
        raise ValueError("not a fraction")
    return _rational(numerator, denominator)


def _rational(numerator: int, denominator: int) -> Any:
    """An int, or the float that is exactly this number, or else the fraction; in lowest terms, as Python keeps them."""
    if denominator == 1:
        return numerator
    if denominator & (denominator - 1) == 0 and denominator.bit_length() < 1100 and numerator.bit_length() < 2200:
        try:
            near = numerator / denominator
        except OverflowError:
            near = 0.0
        if near.as_integer_ratio() == (numerator, denominator):
            return near
    return Form("fractions.Fraction", (numerator, denominator))


def _decimal(parts: tuple[Any, ...], _: Any) -> Any:
    (text,) = parts
    if text in ("Infinity", "-Infinity"):
        return float(text)
    if _NOT_A_NUMBER.fullmatch(text):
        return float("nan")
    if not _WRITTEN_DECIMAL.fullmatch(text):
        raise ValueError("not a decimal number")
    if len(text) <= _MOST_DIGITS:
        try:
            number = Decimal(text)
        except InvalidOperation:  # an exponent that no Decimal has
            raise ValueError("not a decimal number") from None
        if not number:
            return 0
        if abs(number.adjusted()) <= _MOST_DIGITS:
            return _rational(*Fraction(number).as_integer_ratio())
    return Form("decimal.Decimal", (text,))


def _range(parts: tuple[Any, ...], _: Any) -> Any:
    start, stop, step = _integers(parts, 3)
    if step == 0:
        raise ValueError("not a range")
    way, step_size = (stop - start, step) if step > 0 else (start - stop, -step)
    if way <= 0:
        return Form("builtins.range", (0, 0, 0))
    shorter = min(step_size.bit_length(), way.bit_length() - step_size.bit_length())
    if shorter > _MOST_QUOTIENT_BITS:  # compared as it is written
        return Form("builtins.range", (start, stop, step))
    size = -(-way // step_size)
    return Form("builtins.range", (size, start, step if size > 1 else 0))


def _bytes(parts: tuple[Any, ...], _: Any) -> bytes:
    (data,) = parts
    if type(data) is not bytes:
        raise ValueError("not bytes")
    return data


def _view(parts: tuple[Any, ...], form_of: Callable[[Any], Any]) -> Bag:
    (items,) = parts
    if type(items) is not tuple:
        raise ValueError("not a view")
    return Bag("set", tuple(map(form_of, items)))


def _deque(parts: tuple[Any, ...], form_of: Callable[[Any], Any]) -> Form:
    items, _ = parts
    return Form("collections.deque", _items(items, form_of))


def _array(parts: tuple[Any, ...], form_of: Callable[[Any], Any]) -> Form:
    _, items = parts
    return Form("array.array", (items,) if type(items) is str else _items(items, form_of))


def _date(parts: tuple[Any, ...], _: Any) -> Form:
    year, month, day = _integers(parts, 3)
    return Form("datetime.date", (datetime.date(year, month, day).toordinal(),))


def _time(parts: tuple[Any, ...], _: Any) -> Form:
    hour, minute, second, microsecond = _integers(parts[:4], 4)
    datetime.time(hour, minute, second, microsecond)
    total = ((hour * 60 + minute) * 60 + second) * 1_000_000 + microsecond
    return Form("datetime.time", _zoned(total, parts[4]))


def _datetime(parts: tuple[Any, ...], _: Any) -> Form:
    year, month, day, hour, minute, second, microsecond = _integers(parts[:7], 7)
    moment = datetime.datetime(year, month, day, hour, minute, second, microsecond)
    return Form("datetime.datetime", _zoned((moment - datetime.datetime.min) // _MICROSECOND, parts[7]))


def _zoned(microseconds: int, offset: Any) -> tuple[Any, ...]:
    """(a number, whether there is a time zone): moments with and without one are never equal."""
    if offset is None:
        return (microseconds, False)
    (ahead,) = _integers((offset,), 1)
    return (microseconds - ahead, True)


def _timedelta(parts: tuple[Any, ...], _: Any) -> Form:
    days, seconds, microseconds = _integers(parts, 3)
    return Form("datetime.timedelta", ((days * 86_400 + seconds) * 1_000_000 + microseconds,))


def _integers(parts: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    if len(parts) != count or any(type(part) is not int for part in parts):
        raise ValueError("not integers")
    return parts


def _items(items: Any, form_of: Callable[[Any], Any]) -> tuple[Any, ...]:
    if type(items) is not list:
        raise ValueError("not items")
    return tuple(map(form_of, items))


_FORMS: dict[str, Callable[[tuple[Any, ...], Callable[[Any], Any]], Any]] = {
    "fractions.Fraction": _fraction,
    "decimal.Decimal": _decimal,
    "builtins.bytearray": _bytes,
    "builtins.memoryview": _bytes,
    "builtins.range": _range,
    "builtins.dict_keys": _view,
    "builtins.dict_items": _view,
    "collections.deque": _deque,
    "array.array": _array,
    "datetime.date": _date,
    "datetime.time": _time,
    "datetime.datetime": _datetime,
    "datetime.timedelta": _timedelta,
}
