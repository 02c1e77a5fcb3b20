"""What a runner does, and what the classes of the tests do, while a candidate shares their process.

Functions and methods of the runner's modules (`_pytest`, `pluggy`) and of the tests' classes are what they were, each
time a test begins and ends: else somebody has exchanged how tests are run. What a library or the tests themselves put
there may stay (plugins do so, and `setUpClass`). Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import builtins
import sys
from operator import is_
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

globals()["__builtins__"] = dict(vars(builtins))
"""what this module's functions find, whatever a program puts in the place of a builtin for a while"""
_ABSENT = object()
_MODULES = ("_pytest", "pluggy", "pytest")
_HELD = (staticmethod, classmethod)


class FunctionRecord:
    """The functions of some modules and classes, and what they were."""

    def __init__(self, is_foreign: Callable[[str], bool], is_free: Callable[[Any, str], bool]) -> None:
        """`is_foreign`: the path of code is neither a library's nor the tests'; `is_free`: a class may get this later
        (`guest_added_methods`)."""
        self._is_foreign, self._is_free = is_foreign, is_free
        self._places: list[tuple[str, Any, dict[str, Any], type | None]] = []
        """(name, what holds them, the functions there, the class that it is)"""
        self._fast: list[tuple[Any, tuple[str, ...], tuple[Any, ...], tuple[str, ...] | None]] = []
        """(what finds a name in a place, names of its functions, these, all names of a class), each as `_places`"""
        self._codes: dict[int, tuple[str, FunctionType]] = {}
        """functions whose code is theirs, by `id`"""
        self.replaced = ""
        """the first part that was another; empty where none was"""

    def add_runner(self) -> None:
        """Look at the modules of the runner, as they are now."""
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] not in _MODULES:
                continue
            self._add(name, vars(module))
            for key, value in list(vars(module).items()):
                if isinstance(value, type) and value.__module__ == name:
                    self.add_class(f"{name}.{key}", value)

    def add_class(self, name: str, kind: type) -> None:
        """Look at a class, as it is now."""
        self._add(name, vars(kind), kind)

    def _add(self, name: str, holder: Any, kind: type | None = None) -> None:
        functions = {key: value for key, value in list(holder.items()) if _does(value)}
        self._places.append((name, holder, functions, kind))
        self._fast.append((holder.get, (*functions,), (*functions.values(),), (*holder,) if kind is not None else None))
        for key, value in functions.items():
            for function in _functions(value):
                self._codes[id(function)] = (f"{name}.{key}", function)

    def look(self) -> None:
        """Note what is another than it was."""
        if self.replaced:
            return
        for (find, keys, before_all, class_names), place in zip(self._fast, self._places):  # noqa: B905 (Python 3.8)
            if all(map(is_, map(find, keys), before_all)) and (class_names is None or class_names == (*place[1],)):
                continue
            name, holder, functions, kind = place
            more = [] if kind is None else [key for key in list(holder) if key not in functions]
            for key in [*functions, *(key for key in more if not self._is_free(kind, key))]:
                found, before = holder.get(key, _ABSENT), functions.get(key, _ABSENT)
                if found is not before and _does(found) and self._is_exchanged(found):
                    self.replaced = f"{name}.{key}"
                    return

    def gets_code(self, function: Any) -> None:
        """The candidate gives a function another code: the interpreter has told of it, so that nobody has to look."""
        name, known = self._codes.get(id(function), ("", None))
        if known is function and known is not None and not self.replaced:
            self.replaced = f"{name}.__code__"

    def _is_exchanged(self, found: Any) -> bool:
        functions = list(_functions(found))
        if not functions:
            return callable(found) and not isinstance(found, type)
        return any(self._is_foreign(function.__code__.co_filename) for function in functions)


def _does(value: Any) -> bool:
    """It does something when it is called, or asked for."""
    return callable(value) or isinstance(value, (property, *_HELD))


def _functions(value: Any) -> Iterator[FunctionType]:
    parts = [value.fget, value.fset] if isinstance(value, property) else [getattr(value, "__func__", value)]
    yield from (part for part in parts if isinstance(part, FunctionType))
