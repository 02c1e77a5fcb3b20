"""What an array of a candidate's is worth by itself, whatever numpy's protocols would have its class say.

A class that derives from `numpy.ndarray`, or has `__array__`, `__array_ufunc__` or `__array_function__`, decides what
numpy does with its objects, and so do the objects in an array of objects. Where test code compares them, computes with
them or gives them to a library, such an object is the array of its own data, and an object within an array is asked as
it is outside. A class that the tests name is what they test, and stays what it is; so do the classes of libraries.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import sys

from harena.scoring.guest.plain_values import ATOMS, CONTAINERS, is_known, is_static, line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_PROTOCOLS = frozenset({
    "__array__", "__array_interface__", "__array_struct__", "__array_ufunc__", "__array_function__",
    "__array_namespace__",
})  # fmt: skip
_MOST_ITEMS, _DEEPEST = 10_000, 4
_members_of = type.__dict__["__dict__"].__get__
_module_of = type.__dict__["__module__"].__get__


class Arrays:
    """The arrays behind objects. It is made before the candidate's first instruction, and takes numpy from what has
    been imported by then, or from what the tests import later."""

    def __init__(self, is_named: Callable[[type], bool], is_installed: Callable[[Any], bool]) -> None:
        """`is_named`: whether tests name a class; `is_installed`: whether a module is a library's."""
        self._is_named, self._is_installed = is_named, is_installed
        self._numpy: Any = None
        self._odd: dict[type, str] = {}

    def plain(self, value: Any, depth: int = 0) -> Any:
        """The value, or the plain array that is behind it."""
        kind = type(value)
        if kind in ATOMS:
            return value
        if kind in (list, tuple):
            if depth > _DEEPEST or len(value) > _MOST_ITEMS or {*map(type, value)} <= ATOMS:
                return value
            parts = [self.plain(each, depth + 1) for each in value]
            is_same = all(each is part for each, part in zip(value, parts))  # noqa: B905 (Python 3.8)
            return value if is_same else kind(parts)
        if kind in CONTAINERS:
            return value
        way = self._odd.get(kind)
        if way is None:
            way = self._odd[kind] = self._way(kind)
        if way == "array" and value.dtype == object:
            return self._with_plain_items(value)
        if way != "data":
            return value
        try:
            found = self._numpy.asarray(value)
        except Exception:  # noqa: BLE001 (of the candidate's own methods)
            return object()
        if found.dtype == object:
            return self._with_plain_items(found) if found.shape else object()
        return found if found.shape or self._numpy.ndarray in line_of(kind, type) else found[()]

    def _way(self, kind: type) -> str:
        """`data` of a class whose data count, `array` of numpy's own, and nothing of any other."""
        numpy: Any = sys.modules.get("numpy")
        if numpy is None or not hasattr(numpy, "ndarray"):
            return ""
        self._numpy = self._numpy or numpy
        line = line_of(kind, type)
        is_of_library = self._is_of_library(kind)
        if self._numpy.ndarray in line and is_of_library:
            return "array"
        if is_of_library or self._is_named(kind):
            return ""
        is_odd = any(name in _members_of(each, type) for each in line for name in _PROTOCOLS)
        return "data" if is_odd else ""

    def _is_of_library(self, kind: type) -> bool:
        module = _module_of(kind, type)
        if not self._is_installed(module):
            return False
        found = getattr(sys.modules.get(module), kind.__name__, None)
        return found is kind or any(found is each for each in line_of(kind, type)[:1])

    def _with_plain_items(self, value: Any) -> Any:
        """An array of objects, in which none decides what it is compared with."""
        if value.size > _MOST_ITEMS or type(value) is not self._numpy.ndarray:
            return value
        made = None
        for at, item in enumerate(value.flat):
            if not self._is_free(item):
                made = value.copy() if made is None else made
                made.flat[at] = object()
        return value if made is None else made

    def _is_free(self, item: Any) -> bool:
        kind = type(item)
        return is_known(item) or is_static(item) or self._is_named(kind) or self._is_of_library(kind)
