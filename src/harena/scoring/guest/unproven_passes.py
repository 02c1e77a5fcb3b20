"""Finds the passes that rest on a candidate's word, where its objects live in another process. Standard library only.

A value of Python's own kinds is compared here, and the candidate is never told what with. An object of the candidate's
answers itself, and whoever is told what is expected can say that it is there. So a pass is in doubt as soon as an
object that is no plain value was told an operand of the suite's, whatever the operation is called. There is no list of
operations that judge; these are all that is free of doubt:

* calls of functions, modules and classes that the suite names, and of functions that a call gives back: no plain value
  can be called, so the suite means them, and their operands are inputs;
* what the suite asks of an object that it made itself, by a call of a class that it names, as long as no message of the
  candidate's has carried that object since: an answer can be such an object, too. With an operator, or a method of a
  name that plain values have, that is free only where the suite uses the class as one somewhere, by an attribute that
  no plain value has: else a function whose name begins with a capital letter could be a class;
* questions without an operand: what they give is judged here. Truth, length and hash are not.
"""

from __future__ import annotations

import contextlib
import sys

from harena.scoring.guest.standins import (
    BASES,
    JUDGES,
    StandInClass,
    carried,
    class_names,
    is_stand_in_object,
    origin_of,
    own_names,
    times_carried,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_PLAIN_NAMES = frozenset({"get", *JUDGES, *(name for base in BASES.values() for name in dir(base))})
_FROM_PACKAGES = (("numpy", "ndarray"), ("pandas", "DataFrame"), ("pandas", "Series"))
"""answers of such classes are values, too: a suite uses their methods"""
_UNTOLD = frozenset({"__exit__", "__aexit__", "__get__", "__set__", "__delete__", "__set_name__", "__fspath__"})
"""special methods whose operands are what Python gives them"""
_BELIEVED = frozenset({"__bool__", "__len__", "__hash__"})
_MOST_PARTS_SEEN = 1000


def is_own(value: Any) -> bool:
    """It is an object that the suite made, or a member of an enumeration or a class that it named, and no answer."""
    if isinstance(value, StandInClass):
        return bool(value._harena_is_named) and own_names(value).get("_harena_class_carried", 0) <= 0
    if not isinstance(type(value), StandInClass) or times_carried(value) > 0:
        return False
    return origin_of(value) == "made" or bool(type(value)._harena_is_named and type(value)._harena_kind == "enum")


def _holds_answer(operand: Any, depth: int = 2) -> bool:
    """It is an object of the candidate's that the suite did not make, or a container that holds one."""
    if is_stand_in_object(operand):
        return not is_own(operand)
    if not depth or type(operand) not in (list, tuple, set, frozenset, dict):
        return False
    parts = [*operand, *operand.values()] if type(operand) is dict else list(operand)
    return any(_holds_answer(part, depth - 1) for part in parts[:_MOST_PARTS_SEEN])


def is_plain_name(name: str) -> bool:
    """Plain values have an attribute of this name: who asks for it may take what it asks for one."""
    if name in _PLAIN_NAMES or name[:2] == "__":
        return True
    classes = (getattr(sys.modules.get(package), kind, None) for package, kind in _FROM_PACKAGES)
    return any(cls is not None and hasattr(cls, name) for cls in classes)


class Trust:
    """What the candidate was told by way of its objects."""

    def __init__(self, doubts: list[str]) -> None:
        """`doubts`: where each is added."""
        self._doubts = doubts
        self._waiting: dict[Any, str] = {}
        """class -> what is in doubt unless the suite uses it as a class"""
        self._used: set[Any] = set()
        self.is_computed = False
        """what is asked now is judged here, or its answer is not believed"""

    def waiting(self) -> list[str]:
        """What is in doubt because the suite did not use a class as one."""
        known = [cls for cls in self._waiting if own_names(cls).get("_harena_is_known") or cls._harena_kind == "enum"]
        return [what for cls, what in self._waiting.items() if cls not in self._used and cls not in known]

    @contextlib.contextmanager
    def computing(self, is_computed: bool = True) -> Iterator[None]:
        """What is asked in the meantime is judged here, or not believed."""
        before, self.is_computed = self.is_computed, is_computed
        try:
            yield
        finally:
            self.is_computed = before

    def asked(self, verb: str, target: Any, name: str, positional: Any, keywords: Any) -> None:
        """The suite asks for this."""
        if self.is_computed or verb not in ("call", "special", "isinstance", "issubclass"):
            return
        operands = (positional,) if verb[:2] == "is" else (*positional, *(value for _, value in keywords))
        if verb[:2] == "is":
            if not is_own(positional):
                self._doubt(target, verb)
            return
        if verb == "call" and not name:
            if getattr(target, "_harena_is_attribute", False) is True and operands:
                self._doubts.append("a function that an object has as an attribute is told an operand")
            return
        if verb == "special" and (name in _UNTOLD or (name == "__format__" and operands == ("",))):
            return
        if isinstance(target, StandInClass):
            if operands and not is_own(target):
                self._doubt(target, name)
        elif is_stand_in_object(target):
            self._asked_of_object(verb, target, name, operands)
        elif isinstance(target, BaseException) and operands:
            self._doubt(target, name)

    def _asked_of_object(self, verb: str, target: Any, name: str, operands: Any) -> None:
        if name == "__call__" and _is_function(target):
            return
        if not is_own(target):
            if operands or name in _BELIEVED:
                self._doubt(target, name)
        elif operands:
            is_operator = verb == "special" and name not in ("__call__", "__getitem__", "__setitem__", "__delitem__")
            if (is_operator and any(map(is_stand_in_object, operands))) or any(map(_holds_answer, operands)):
                self._doubt(target, name)
            elif name != "__call__" and is_plain_name(name):
                self._waiting.setdefault(type(target), _told(target, name))

    def given(self, verb: str, target: Any, name: str, found: Any) -> None:
        """The candidate has answered."""
        if type(target) is str:  # a module
            return
        if not is_own(target):
            if verb == "get" and hasattr(type(found), "_harena_is_attribute"):
                object.__setattr__(found, "_harena_is_attribute", True)
            return
        if isinstance(target, StandInClass):
            return
        cls = type(target)
        is_use = name in ("__call__", "__enter__", "__aenter__") if verb == "special" else bool(name)
        if cls not in self._used and is_use and (verb == "special" or not is_plain_name(name)):
            self._used.add(cls)

    def _doubt(self, target: Any, name: str) -> None:
        self._doubts.append(_told(target, name))


def _told(target: Any, name: str) -> str:
    kind = target if isinstance(target, type) else type(target)
    return f"what {name} of a {kind.__name__!r} object says was not judged apart from the candidate"


def _is_function(stand_in: Any) -> bool:
    """A callable object that the suite has from a module of the candidate's by its name, as it has functions, and that
    was no answer since."""
    try:
        return bool(object.__getattribute__(stand_in, "_harena_global") == times_carried(stand_in))
    except AttributeError:
        return False


def named_by_suite(found: Any, name: str) -> None:
    """The suite has this from a module of the candidate's by its name."""
    if isinstance(found, StandInClass):
        carried(found, -1)
        type.__setattr__(found, "_harena_is_known", name in class_names)
    elif is_stand_in_object(found):
        object.__setattr__(found, "_harena_global", times_carried(found))
