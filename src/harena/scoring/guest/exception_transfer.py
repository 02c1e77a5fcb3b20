"""What exceptions are told as between a suite and a candidate that lives in another process. Standard library only.

A class of Python's library or of a package is there on both sides, and is named by its module and path; the nearest
builtin that it derives from stands for it where it cannot be had. What an exception holds goes with it. Python 3.8 and
up.
"""

from __future__ import annotations

import builtins
import importlib
import re
import sys
import types

from harena.scoring.guest.object_permissions import is_withheld

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

_NEVER = (AssertionError, StopIteration, StopAsyncIteration)
"""what decides of a test or a loop is never told as more than that"""
_OF_TRACES = re.compile(r"__traceback__|\btraceback\b|\btb_[a-z]|with_traceback|format_exc")
GROUPS: tuple[Any, ...] = tuple(
    found for found in (getattr(builtins, "BaseExceptionGroup", None),) if isinstance(found, type)
)


def is_library_class(cls: Any, named: tuple[str, str] | None) -> bool:
    """An exception of a library's that both sides have by this name."""
    if named is None or named[0] == "builtins" or named[0].partition(".")[0] == "harena":
        return False
    return issubclass(cls, Exception) and not issubclass(cls, _NEVER)


def class_here(module: Any, path: Any, base: Any) -> type[BaseException]:
    """The exception of this name where it is a library's, else the builtin one that stands for it."""
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
        if isinstance(found, type) and issubclass(found, Exception) and found.__module__ == module:
            return found
    except Exception:  # noqa: BLE001, S110 (a candidate's module of this name may do anything)
        pass
    stands_for = getattr(builtins, base, None) if isinstance(base, str) else None
    is_error = isinstance(stands_for, type) and issubclass(stands_for, BaseException)
    return stands_for if is_error else Exception  # type: ignore[return-value]


def arguments_of(error: BaseException, arguments: tuple[Any, ...], is_plain: Callable[[Any], bool]) -> tuple[Any, ...]:
    """What it was made of, as far as it crosses; those that a group holds are in it."""
    if GROUPS and isinstance(error, GROUPS) and arguments is error.args:
        return (error.message, tuple(error.exceptions))
    return tuple(part for part in arguments if is_plain(part))


def fields_of(error: BaseException, is_plain: Callable[[Any], bool]) -> tuple[tuple[str, Any], ...]:
    """What an exception holds beside its arguments, as far as a candidate may see it."""
    return tuple(
        (name, held)
        for name, held in (*builtin_fields(error), *list(vars(error).items()))
        if type(name) is str and name[:1] != "_" and _may_cross(held, is_plain)
    )


def _may_cross(held: Any, is_plain: Callable[[Any], bool]) -> bool:
    return is_plain(held) or not (isinstance(held, (BaseException, type)) or is_withheld(held))


def builtin_fields(error: BaseException) -> list[tuple[str, Any]]:
    """What Python's own exceptions hold beside their arguments: `errno` and `filename`, `code`, `name`, `start`."""
    return [
        (name, found)
        for part in type.__dict__["__mro__"].__get__(type(error))
        if part.__module__ == "builtins" and part not in (BaseException, object)
        for name, field in vars(part).items()
        if isinstance(field, (types.MemberDescriptorType, types.GetSetDescriptorType))
        and name[:1] != "_"
        and name != "obj"
        for found in [getattr(error, name, None)]
        if found is not None
    ]


def remade(cls: Any, arguments: Any, message: str, fields: Any = (), *, is_named: bool = False) -> BaseException:
    """An exception of this class. What a class of a library's does to make one is done already, and what came of it is
    in its fields; `is_named`: the class is told by the name of a builtin that stands for it."""
    is_made_here = not _is_made_by_python(cls)
    try:
        made: BaseException = cls(*arguments) if is_made_here else cls.__new__(cls, *arguments)
    except TypeError:
        made = Exception(message) if is_named else cls.__new__(cls, *arguments)
    if not is_made_here:
        made.args = tuple(arguments)
    for name, held in fields:
        _give(made, name, held)
    return made


def _is_made_by_python(cls: Any) -> bool:
    """A class of a library's that is written in Python makes its objects."""
    maker = next((vars(part)["__init__"] for part in cls.__mro__ if "__init__" in vars(part)), None)
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    is_installed = type(file) is str and file.startswith((sys.prefix, sys.base_prefix))
    return isinstance(maker, types.FunctionType) and is_installed


def trace_elsewhere() -> types.TracebackType:
    """What an exception has here that was caught where the candidate is: a traceback, of no frame of anybody's."""
    return types.TracebackType(None, sys._getframe(), 0, 1)


def names_traces(texts: Iterable[str]) -> bool:
    """Tests of these texts have a word for tracebacks."""
    return any(map(_OF_TRACES.search, texts))


def _give(made: BaseException, name: str, held: Any) -> None:
    kept = next((vars(part)[name] for part in type(made).__mro__ if name in vars(part)), None)
    if isinstance(kept, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        try:
            BaseException.__setattr__(made, name, held)
        except (AttributeError, TypeError):
            return  # it comes of the arguments
    else:
        vars(made)[name] = held


def names_of(cls: Any) -> Iterator[str]:
    """The builtin exceptions that it is or derives from, the nearest one first."""
    return (part.__name__ for part in cls.__mro__ if _is_builtin(part))


def _is_builtin(cls: type) -> bool:
    found: object = vars(builtins).get(cls.__name__)
    return found is cls
