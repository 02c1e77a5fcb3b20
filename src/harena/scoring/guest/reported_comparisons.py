"""Tells what tests compare with expected values that they do not hold; see `hidden_expectations`.

The text of this module stands in tests whose expected values were taken out, or are others where tests compute them
(`computed_answers`). What a candidate's function answers is written to a file of the sandbox, as a digest of its
canonical form, and the host knows what is right. The candidate shares the process and may write there what it likes: it
does not know what. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast as _ast
import hashlib
import os
import random as _random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOLD_PATH = "/tmp/.harena-told"
OPAQUE = "?"
"""what is told of an answer that is no plain value"""
_BRACKETS: dict[type, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}"}
_MOST_TOLD = 10_000


def canonical(value: Any) -> str:
    """A text that is the same for plain values that are equal. Raises TypeError for what is no plain value."""
    kind = type(value)
    if kind is bool or kind is int:
        return hex(value)
    if kind is float:
        return hex(int(value)) if value.is_integer() else value.hex()
    if kind is str or kind is bytes or value is None:
        return repr(value)
    if kind is dict:
        return "{:" + ",".join(sorted(canonical(key) + ":" + canonical(each) for key, each in value.items())) + "}"
    if kind not in _BRACKETS:
        return canonical(_base_value(value, kind))
    parts = [canonical(each) for each in value]
    if kind is set or kind is frozenset:
        parts.sort()
    return _BRACKETS[kind][0] + ",".join(parts) + _BRACKETS[kind][1]


_PLAINLY: tuple[tuple[Any, Any], ...] = (
    (int, lambda value: int.__add__(value, 0)),
    (float, lambda value: float.__add__(value, 0.0)),
    (str, lambda value: str.__getitem__(value, slice(None))),
    (bytes, lambda value: bytes.__getitem__(value, slice(None))),
    (list, lambda value: [*list.__iter__(value)]),
    (tuple, lambda value: (*tuple.__iter__(value),)),
    (set, lambda value: {*set.__iter__(value)}),
    (frozenset, lambda value: {*frozenset.__iter__(value)}),
    (dict, lambda value: {key: dict.__getitem__(value, key) for key in dict.__iter__(value)}),
)


def _number(value: Any) -> Any:
    """The plain number that equals this one. Raises ArithmeticError, ValueError, TypeError where there is none."""
    found = value.real if value.imag == 0 else None
    for made in (int, float):
        if found is not None and made(found) == value:
            return made(found)
    raise TypeError(type(value))


_STANDARD: dict[tuple[str, str], Any] = {
    ("collections", "Counter"): dict,
    ("collections", "OrderedDict"): dict,
    ("builtins", "bytearray"): bytes,
    ("builtins", "dict_keys"): set,
    ("builtins", "dict_items"): set,
    ("builtins", "mappingproxy"): dict,
    ("builtins", "memoryview"): bytes,
    ("collections", "ChainMap"): dict,
    ("collections", "UserDict"): dict,
    ("collections", "UserList"): list,
    ("collections", "UserString"): str,
    ("builtins", "complex"): _number,
    ("decimal", "Decimal"): _number,
    ("fractions", "Fraction"): _number,
}
"""module and name of standard classes -> what makes the plain value that equals an object of them"""


def _standard_value(value: Any, kind: type) -> Any:
    """The plain value that equals an object of a standard class or a number of numpy; None where there is none. Who
    gives its own class such a name has told nothing by that."""
    plainly = _STANDARD.get((kind.__module__, kind.__name__))
    if plainly is None and kind.__module__ == "numpy" and getattr(value, "shape", None) == ():
        plainly = kind.item  # type: ignore[attr-defined]
    try:
        found = None if plainly is None else plainly(value)
    except (ArithmeticError, ValueError) as error:
        raise TypeError(kind) from error
    return None if type(found) is kind else found


def _base_value(value: Any, kind: type) -> Any:
    """The plain value of an object of another class that compares as this value does. Raises TypeError for others."""
    if (standard := _standard_value(value, kind)) is not None:
        return standard
    for base, plainly in _PLAINLY:
        if issubclass(kind, base):
            if kind.__eq__ is base.__eq__ and type(found := plainly(value)) is not kind:
                return found
            break
    raise TypeError(kind)


def digest(value: Any, made: Any = hashlib.sha256) -> str:
    """Digest of the canonical form, in hexadecimal digits. Raises as `canonical`. `made`: bound here, because tests
    replace functions of libraries for a while."""
    found: str = made(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return found


def chosen(answer: Any, choices: list[Any]) -> str:
    """`#` and the indices of the choices that the answer equals."""
    return "#" + ",".join(str(index) for index, choice in enumerate(choices) if _equals(answer, choice))


def _equals(answer: Any, choice: Any) -> bool:
    try:
        return bool(answer == choice)
    except Exception:  # noqa: BLE001 (an object that reads what it is compared with cannot read most texts)
        return False


def _path() -> str:
    """Where a program of the sandbox finds that path: below a folder, where one stands for the sandbox's root."""
    here = os.getcwd()
    return here[: -len(_WORKSPACE)] + TOLD_PATH if here.endswith(_WORKSPACE) else TOLD_PATH


_WORKSPACE = "/workspace"
_seen: set[tuple[int, str]] = set()
_there = _path()


def told(place: int, answer: Any, choices: Any = None) -> bool:
    """Tell the answer at a place of the tests. `choices`: it is told which of these it equals."""
    try:
        said = digest(answer) if choices is None else chosen(answer, choices)
    except Exception:  # noqa: BLE001 (whatever an object of the candidate's raises)
        said = OPAQUE if choices is None else "#"
    _write(place, said)
    return True


def told_of(cell: Any, answer: Any) -> bool:
    """Tell the answer at the place that stands where the tests had the value: its number, or that and choices."""
    place, choices = cell if type(cell) is tuple else (cell, None)
    return told(place, answer, choices)


def truth(place: int, answer: Any) -> bool:
    """Tell whether the answer is true."""
    _write(place, digest(bool(answer)))
    return True


def _write(place: int, said: str, opened: Any = os.open, written: Any = os.write, closed: Any = os.close) -> None:
    if (place, said) in _seen or len(_seen) >= _MOST_TOLD:
        return
    _seen.add((place, said))
    file = opened(_there, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        written(file, f"{place} {said}\n".encode())
    finally:
        closed(file)


UNASKED = "harena asks nobody"
_counts: dict[int, int] = {}
_numbers = iter(range(1 << 60))


def nth(place: int, answer: Any) -> bool:
    """Tell the answer at a place that is come to again and again, and how often it was before."""
    count = _counts[place] = _counts.get(place, -1) + 1
    try:
        said = digest(answer)
    except Exception:  # noqa: BLE001 (whatever an object of the candidate's raises)
        said = OPAQUE
    _write(place, f"{count}:{said}")
    return True


def nth_of(place: int, before: Any, answer: Any, after: Any) -> bool:
    """Tell the answer as `nth` does, where it is compared with what is computed of what the candidate was given:
    `before` is what `kept` says of that, and nobody is asked who has changed it."""
    return nth(place, answer if kept(after) == before else UNASKED)


def kept(values: Any) -> str:
    """What plain values are; for others, each time another text."""
    try:
        return digest(values)
    except Exception:  # noqa: BLE001 (of an object that is no plain value)
        return str(next(_numbers))


def as_computed(place: int, before: Any, answer: Any, after: Any) -> bool:
    """Tell the answer where it is the plain value that the tests have computed before and after it."""
    try:
        is_equal = digest(before) == digest(answer) == digest(after)
    except Exception:  # noqa: BLE001 (of an object that is no plain value)
        is_equal = False
    return nth(place, answer if is_equal else is_equal.__class__)


_LONGEST_RECORD = 16 * 1024
_MOST_AMONG = 200
values: dict[int, Any] = {}
"""number of a place where the tests compute a value -> what stands there in place of it, each time anew"""


def recorded(place: int, value: Any) -> Any:
    """Write down what tests have computed at a place, and give it. Only the gold solution is there."""
    count = _counts[place] = _counts.get(place, -1) + 1
    made = [*value] if type(value) in _WAITING else value
    try:
        written = repr(made)
        is_plain = _is_the_same(_ast.literal_eval(written), made)
    except Exception:  # noqa: BLE001 (of an object that no text makes)
        is_plain = False
    if not is_plain or len(written) > _LONGEST_RECORD:
        _write(place, f"{count}=")
        return value
    _write(place, f"{count}={written}")
    return made


def _is_the_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and digest(one) == digest(other)


def drawn(place: int) -> Any:
    """What stands in place of a value that the tests compute; see `values`."""
    count = _counts[place] = _counts.get(place, -1) + 1
    held = values[place]
    return held[min(count, len(held) - 1)]


def outcome(place: int, before: Any, answer: Any, after: Any, sign: str) -> Any:
    """Compare an answer with what the tests have computed, and tell both where it is the same. The gold solution alone
    is there."""
    found = answer in after if sign == "in" else answer == after if sign == "==" else answer != after
    among = [before] if sign != "in" else list(before) if type(before) in _BRACKETS or type(before) is dict else []
    count = _counts.get(place, -1) + 1
    try:
        said = {digest(each) for each in among[:_MOST_AMONG]}
        is_right = digest(answer) in said and (sign == "in" or digest(after) in said)
        truth = f"{count}?{int(bool(found))}"
    except Exception:  # noqa: BLE001 (of an object that is no plain value)
        said, is_right, truth = set(), False, f"{count}?"
    _write(place, truth)
    for each in said:
        _write(place, f"{count}~{each}")
    nth(place, answer if is_right else _NO_VALUE)
    return found


def settled(place: int, answer: Any, outcomes: str) -> bool:
    """Tell the answer as `nth` does, and give what came of the comparison with the gold solution."""
    nth(place, answer)
    return outcomes[min(_counts[place], len(outcomes) - 1)] == "1"


_NO_VALUE = object()
_WAITING: tuple[Any, ...] = (zip, map, filter, enumerate, reversed, type(iter([])), type(_ for _ in ()))


def other(value: Any, path: Any = ()) -> Any:
    """Another value of the kind and size of this one; `path`: of the part of it that is another (places and keys,
    "item" for each item, "value" for each value of a mapping, "any" for both)."""
    kind = type(value)
    if not path:
        return _other(value, kind)
    first, rest = path[0], path[1:]
    if kind is dict and first != "item":
        return {key: other(each, rest) if first in (key, "value", "any") else each for key, each in value.items()}
    if first in ("item", "any"):
        if kind in (list, tuple, set, frozenset):
            return kind(other(each, rest) for each in value)
        return [other(each, rest) for each in value] if kind in _WAITING else value
    if kind in (list, tuple) and type(first) is int and -len(value) <= first < len(value):
        made = list(value)
        made[first] = other(made[first], rest)
        return kind(made)
    return value


def _other(value: Any, kind: Any) -> Any:
    if kind is bool:
        return not value
    if kind is int:
        return value + _dice.randrange(1, 10 + abs(value))
    if kind is float:
        return value + 1.5 + _dice.random() * (1 + abs(value))
    if kind is str:
        return "".join(_dice.sample(value, len(value))) + _dice.choice("~^&$")
    if kind is bytes:
        return bytes(_dice.sample(value, len(value))) + b"~"
    if kind in (list, tuple, set, frozenset):
        return kind(_other(each, type(each)) for each in value)
    if kind is dict:
        return {key: _other(each, type(each)) for key, each in value.items()}
    if kind in _WAITING:
        return [_other(each, type(each)) for each in value]
    if kind.__module__ in ("decimal", "fractions", "numpy", "builtins"):
        try:
            return value + _dice.randrange(1, 10)
        except Exception:  # noqa: BLE001 (a number to which nothing can be added)
            return value
    return value


_dice = _random.SystemRandom()
"""nothing that is drawn is kept: who knows how another value is made does not find the first one by it"""


class _Dice(_random.Random):
    """What tests draw their numbers from, so that a candidate that draws some, too, changes none of theirs."""

    def seed(self, *given: Any, **keywords: Any) -> None:
        """Begin anew; what a candidate draws from begins anew, too."""
        super().seed(*given, **keywords)
        _random.seed(*given, **keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(_random, name)


def dice() -> Any:
    """The one of these that all test files have."""
    if not hasattr(_random, "__harena_dice__"):
        _random.__harena_dice__ = _Dice(1)  # type: ignore[attr-defined]
    return _random.__harena_dice__  # type: ignore[attr-defined]
