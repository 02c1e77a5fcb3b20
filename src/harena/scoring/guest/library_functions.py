"""Functions of Python's library that both sides have, by module and path. Standard library only, Python 3.8 and up.

A candidate may hold one (`key=math.sqrt`) and hand it to a suite, which compares it with its own. It crosses by its
name if its module is one of those listed here, and if what that module has under the name, where the candidate is, is
this object: what an object says of itself names nothing. A function crosses so only if it depends on nothing but what
the suite gives it, and runs no text: one that ends, seeds, imports or evaluates is never lent. Any other function of a
library (`random.choice`, `logging.info`), and any class, stays a stand-in, which runs where the candidate is. It is the
suite's own wherever the suite compares it with what its own module has under that name.
"""

from __future__ import annotations

import importlib
import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OF_INPUT = frozenset({
    "_bisect", "_functools", "_hashlib", "_heapq", "_operator", "_statistics", "_struct", "base64", "binascii",
    "bisect", "builtins", "cmath", "collections", "colorsys", "copy", "difflib", "fnmatch", "functools", "hashlib",
    "heapq", "html", "json", "math", "operator", "re", "statistics", "string", "textwrap", "unicodedata",
    "urllib.parse", "zlib",
})  # fmt: skip
"""modules whose functions depend on nothing but what they are given"""
_WITH_STATE = frozenset({
    "_random", "datetime", "genericpath", "os", "posix", "posixpath", "random", "secrets", "sys", "time", "uuid",
})  # fmt: skip
"""modules whose functions also depend on the process, which each side has for itself"""
_SOME = {
    "builtins": frozenset({"callable", "format", "hash", "isinstance", "issubclass"}),
    "collections": frozenset[str](),
    "os": frozenset({"fspath", "getenv", "urandom"}),
    "posix": frozenset({"cpu_count", "fspath", "getcwd", "getpid", "getppid", "urandom"}),
    "sys": frozenset({"getrecursionlimit", "getsizeof", "intern"}),
}  # fmt: skip
"""functions that are lent of a module of which not all are; methods of its classes are"""
_HELD = {
    "os.environ": frozenset({"get", "items", "keys", "values"}),
    "sys.stdout": frozenset({"flush", "isatty", "write", "writelines"}),
    "sys.stderr": frozenset({"flush", "isatty", "write", "writelines"}),
}  # fmt: skip
"""objects of modules, and their methods that are lent"""
_NEVER = frozenset({
    "clock_settime", "clock_settime_ns", "main", "pthread_getcpuclockid", "seed", "setstate", "test", "tzset",
})  # fmt: skip
"""names of what changes the process, or is a program"""
FUNCTIONS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
)  # fmt: skip
_LIBRARY = os.path.dirname(os.__file__) + os.sep


def has_state(module: str) -> bool:
    """Functions of this module depend on the process that calls them."""
    return module in _WITH_STATE


def is_lent(module: str, path: str) -> bool:
    """A function of this name is lent."""
    names = path.split(".")
    if (module not in _OF_INPUT and module not in _WITH_STATE) or any(name[:1] == "_" for name in names):
        return False
    if names[-1] in _NEVER:
        return False
    if len(names) > 1:
        holder = f"{module}.{'.'.join(names[:-1])}"
        return names[-1] in _HELD.get(holder, ()) if module in ("os", "sys") else True
    return module not in _SOME or path in _SOME[module]


def place_of(value: Any) -> tuple[str, str] | None:
    """(module, path) of a function that is lent; None of any other."""
    for module, path in _named(value):
        if type(module) is str and type(path) is str and is_lent(module, path):
            found = _at(sys.modules.get(module), path)
            is_bound = getattr(value, "__self__", None) is not None
            is_same = found is value or (is_bound and type(found) is type(value) and found == value)
            if is_same and _is_of_library(value):
                return module, path
    return None


def function_at(module: str, path: str) -> Any:
    """The function of this process that has the name. Raises ValueError where none is lent by it."""
    found = _at(importlib.import_module(module), path) if is_lent(module, path) else None
    # a module has the names of what it imports, too
    if not isinstance(found, FUNCTIONS) or (module, path) not in _named(found):
        raise ValueError(f"{module}.{path} is no function of both sides")
    return found


def name_of(value: Any) -> tuple[str, str] | None:
    """(module, path) by which a function of a library's is found in its module, ("", "") for one that is not; None of
    any other function."""
    if not is_of_library(value):
        return None
    for module, path in _named(value):
        if type(module) is str and type(path) is str:
            found = own_by_name(module, path)
            if found is value or (type(found) is type(value) and found == value):
                return module, path
    return "", ""


def own_by_name(module: str, path: str) -> Any:
    """The function or class of this process that a loaded module of a library's has under this name, or the module
    itself where the name is empty; None where there is none."""
    found: Any = sys.modules.get(module)
    if type(found) is not types.ModuleType or not _is_installed(module):
        return None
    if path and is_lent(module, path):
        found = _at(found, path)
    elif path:
        *owners, last = path.split(".")
        for name in owners:
            found = vars(found).get(name)
            if type(found) is not type:
                return None
        # of a class, what it inherits, too, bound as it is for everybody
        found = vars(found).get(last) if isinstance(found, types.ModuleType) else getattr(found, last, None)
    return found if isinstance(found, (*FUNCTIONS, type, types.ModuleType)) else None


def is_of_library(value: Any) -> bool:
    """A function that a module of Python's or of a package has, or a method of an object of such a class."""
    owner = getattr(value, "__self__", None)
    cls = getattr(value, "__objclass__", None)
    if cls is None and owner is not None and not isinstance(owner, types.ModuleType):
        cls = owner if isinstance(owner, type) else type(owner)
    module = getattr(cls or value, "__module__", None)
    if cls is None and isinstance(owner, types.ModuleType):
        module = owner.__name__
    if type(module) is not str:
        return False
    return _is_installed(module)


def _is_installed(module: str) -> bool:
    if module in sys.builtin_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return type(file) is str and file.startswith((sys.prefix + os.sep, sys.base_prefix + os.sep))


def _named(value: Any) -> list[tuple[Any, Any]]:
    """Under which names the function may be found."""
    owner, name = getattr(value, "__self__", None), getattr(value, "__name__", None)
    qualified = getattr(value, "__qualname__", None)
    if type(name) is not str:
        return []
    if (cls := getattr(value, "__objclass__", None)) is not None:
        return [(cls.__module__, f"{cls.__qualname__}.{name}")]
    if owner is None or isinstance(owner, types.ModuleType):
        module = getattr(value, "__module__", None) or "builtins"
        return [(module, qualified), (module, name)]
    if isinstance(owner, type):
        return [(owner.__module__, f"{owner.__qualname__}.{name}")]
    places = [(type(owner).__module__, name)]
    for holder in _HELD:
        module, _, attribute = holder.partition(".")
        if _at(sys.modules.get(module), attribute) is owner:
            places.append((module, f"{attribute}.{name}"))
    return places


def _at(found: Any, path: str) -> Any:
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def _is_of_library(function: Any) -> bool:
    """It is written in C, or in a file of the library."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is None or str(code.co_filename).startswith((_LIBRARY, "<frozen "))
