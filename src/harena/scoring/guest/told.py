"""Tells what tests compare with expected values that they do not hold; see `hidden_expectations`.

The text of this module stands in tests whose expected values were taken out. What a candidate's function answers is
written to a file of the sandbox, as a digest of its canonical form, and the host knows what is right. The candidate
shares the process and may write there what it likes: it does not know what. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import hashlib
import os

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
