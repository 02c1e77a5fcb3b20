"""What a suite asks of a candidate's class itself that this has of a metaclass of its own: its text is told, as that of
any object is; what else the metaclass decides (operators, orders, truth, equality) cannot be served, and is no failure.
Standard library only, Python 3.8 and up."""

from __future__ import annotations

import abc
import enum
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

TEXTS = ("__repr__", "__str__", "__format__")
CONTAINS = "its own __contains__"
"""what is told of a class whose metaclass says otherwise than Python's own what is in it"""
_PYTHONS = (type, object, abc.ABCMeta, enum.EnumMeta)
_HERE = "<harena."
"""beginning of the names of harena's own files in a sandbox"""
_ELSEWHERE = frozenset({"__iter__", "__reversed__", "__len__", "__contains__", "__getitem__", "__call__", "__next__",
                        "__missing__", "__await__"})  # fmt: skip
"""methods that are told otherwise, or that no class is asked for"""
_KEPT = frozenset({"__eq__", "__ne__", "__hash__", "__bool__"})
"""methods that every class has: what is kept by classes needs them"""


def own_of_metaclass(cls: type, names: Iterable[str]) -> list[str]:
    """The methods among these that the metaclass of a class has, and none of Python's own metaclasses."""
    parts = [part for part in type.__dict__["__mro__"].__get__(type(cls)) if part not in _PYTHONS]
    has = [name for name in names if any(name in vars(part) for part in parts)]
    return [
        CONTAINS if name == "__contains__" else name for name in has if name not in _ELSEWHERE or name == "__contains__"
    ]


def methods_of_metaclasses(stand_in_class: type, names: Iterable[str]) -> dict[str, Any]:
    """What a stand-in for a class has in these methods' places, where the class has them of its metaclass."""
    return {
        name: _told(name) if name in TEXTS else _unserved(name, getattr(stand_in_class, name, None))
        for name in names
        if name not in _ELSEWHERE
    }


def _told(name: str) -> Any:
    def method(cls: Any, *positional: Any) -> Any:
        said = cls._harena_candidate.ask("special", cls, name, positional)
        if type(said) is not str:
            raise TypeError(f"{name} returned non-string")
        return said

    return method


def _unserved(name: str, otherwise: Any) -> Any:
    def method(cls: Any, *operands: Any, **keywords: Any) -> Any:
        is_asked = cls._harena_is_named and not sys._getframe(1).f_code.co_filename.startswith(_HERE)
        if is_asked:  # of an answer nobody is told what its class says of itself
            cls._harena_candidate.note(f"it asks the metaclass of the candidate's {cls.__name__} for {name}")
        if name in _KEPT:
            return otherwise(cls, *operands)
        raise TypeError(f"{name} of the metaclass of {cls.__name__!r} is in another process")

    return method
