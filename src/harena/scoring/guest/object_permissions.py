"""What a candidate may do with an object of the trusted suite that it was given. Standard library only.

In one process a generator leads to its frame, a frame to everybody's names, a mock to its own verdicts. So each kind of
object has a list of what it allows, and what belongs to the tests (frames, code, test cases, results) is never given.
"""

from __future__ import annotations

import functools
import io
import operator
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OF_TESTS = ("unittest", "pytest", "_pytest", "pluggy", "harena", "doctest", "bdb")
"""packages whose objects judge"""
_CALLED_ONLY = (
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType, functools.partial,
    operator.itemgetter, operator.attrgetter, operator.methodcaller,
)  # fmt: skip
_STEPPED = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_STEPS = frozenset({"send", "throw", "close", "asend", "athrow", "aclose"})
_STEP_METHODS = frozenset({"__next__", "__iter__", "__await__", "__aiter__", "__anext__"})
_STREAM = frozenset({
    "write", "writelines", "read", "read1", "readinto", "readline", "readlines", "getvalue", "seek", "tell", "truncate",
    "flush", "close", "closed", "readable", "writable", "seekable", "isatty", "encoding", "errors", "newlines", "name",
    "mode", "peek", "line_buffering", "detach", "buffer",
})  # fmt: skip
_COMPARED = frozenset({"__eq__", "__ne__", "__hash__", "__repr__", "__str__"})
_NEVER = (
    types.FrameType, types.CodeType, types.TracebackType, types.MappingProxyType, types.GetSetDescriptorType,
    types.MemberDescriptorType, type((lambda part: lambda: part)(0).__closure__[0]),  # type: ignore[index]
)  # fmt: skip
_INNER = frozenset(
    name for cls in (*_STEPPED, *_NEVER[:3]) for name in vars(cls) if name[:2] in ("gi", "cr", "ag", "f_", "tb", "co")
)
_OF_MOCKS = frozenset({"method_calls", "called", "call_count", "call_args", "call_args_list", "mock_calls", "awaited",
                       "await_count", "await_args", "await_args_list", "return_value", "side_effect"})  # fmt: skip
_DATA = (type(None), bool, int, float, complex, str, bytes)


def is_called_only(value: Any) -> bool:
    """A function, or what is no more than one."""
    return issubclass(type(value), _CALLED_ONLY)


def is_mock(value: Any) -> bool:
    """Whatever `unittest.mock` makes. (A mock lies about `__class__`, not about its type.)"""
    return type(value).__module__ == "unittest.mock"


def is_outcome(error: BaseException) -> bool:
    """It says that a test fails, or is skipped."""
    return isinstance(error, AssertionError) or any(
        str(cls.__module__).partition(".")[0] in ("unittest", "pytest", "_pytest") for cls in type(error).__mro__
    )


def is_own_error(value: Any) -> bool:
    """A class of exceptions that the suite defines, and that is of nothing but exceptions."""
    return type(value) is type and issubclass(value, BaseException) and _is_of_suite(value) and all(
        is_own_error(base) or (base.__module__ == "builtins" and issubclass(base, BaseException))
        for base in value.__bases__
    )  # fmt: skip


def plain_fields(value: Any) -> tuple[tuple[str, Any], ...]:
    """Name and value of the plain data that an object or a class holds itself."""
    return tuple(
        (name, held)
        for name, held in list(vars(value).items())
        if type(name) is str and name[:1] != "_" and type(held) in _DATA
    )


def is_withheld(value: Any) -> bool:
    """It belongs to the interpreter or to the tests, and no candidate is given it."""
    cls = type(value)
    if issubclass(cls, _NEVER):
        return True
    if issubclass(cls, io.IOBase) or issubclass(cls, _CALLED_ONLY):
        return False
    lineage = type.__dict__["__mro__"].__get__(value) if issubclass(cls, type) else cls.__mro__
    return any(_is_of_tests(part) and (part.__module__ != "unittest.mock" or issubclass(cls, type)) for part in lineage)


def read(value: Any, name: Any) -> Any:
    """Its attribute. Raises AttributeError for what it does not allow."""
    cls = type(value)
    allowed = type(name) is str and name[:1] != "_" and name not in _INNER
    if issubclass(cls, _CALLED_ONLY):
        raise AttributeError("a function of the suite's can be called, and no more")
    if issubclass(cls, _STEPPED):
        allowed = allowed and name in _STEPS
    elif issubclass(cls, io.IOBase):
        allowed = allowed and name in _STREAM
    elif is_mock(value):
        allowed = allowed and _is_child(value, name)
    elif cls.__module__ == "contextlib":
        allowed = False
    if not allowed:
        raise AttributeError(f"{name!r} of an object of the suite's is not the candidate's to read")
    return getattr(value, name)


def special_methods(value: Any, known: Any) -> list[str]:
    """Which of these special methods it has and allows."""
    cls = type(value)
    if issubclass(cls, _CALLED_ONLY):
        return []
    own = {name for part in cls.__mro__ if part is not object for name in vars(part)}
    if issubclass(cls, _STEPPED):
        own &= _STEP_METHODS
    elif is_mock(value) and not _is_made_of_calls(value):
        own &= _STEP_METHODS if "__anext__" in own else _COMPARED
    return [name for name in known if name in own]


def special_method(value: Any, name: str) -> Any:
    """Its special method, bound as Python binds it where it asks for one by itself: a mock's takes no object."""
    cls = type(value)
    found = next(vars(part)[name] for part in cls.__mro__ if name in vars(part))
    bind = getattr(type(found), "__get__", None)
    return found if bind is None else bind(found, value, cls)


def write(value: Any, name: Any, held: Any) -> None:
    """Set its attribute, if it is a record's data, or a mock's child that becomes plain data."""
    allowed = type(name) is str and name[:1] != "_" and name not in _INNER
    if allowed and is_mock(value):
        allowed = _is_child(value, name) and type(held) in _DATA
    elif allowed:
        cls = type(value)
        is_record = cls is types.SimpleNamespace or (type(cls) is type and _is_of_suite(cls))
        allowed = is_record and not hasattr(cls, "__getattr__") and (is_data(cls, name) or _has_setter(cls, name))
    if not allowed:
        raise AttributeError(f"{name!r} of an object of the suite's is not the candidate's to set")
    setattr(value, name, held)


def is_data(cls: Any, name: Any) -> bool:
    """An attribute of this name is data of the instance: no method, property or the like of its class."""
    if type(name) is not str or name[:2] == "__" == name[-2:]:
        return False
    found = next((vars(part)[name] for part in cls.__mro__ if name in vars(part)), None)
    return type(found) is types.MemberDescriptorType or not (callable(found) or hasattr(type(found), "__get__"))


def _has_setter(cls: Any, name: str) -> bool:
    found = next((vars(part)[name] for part in cls.__mro__ if name in vars(part)), None)
    return type(found) is property and found.fset is not None


def _is_of_tests(cls: Any) -> bool:
    return str(cls.__module__).partition(".")[0] in OF_TESTS


def _is_of_suite(cls: Any) -> bool:
    """A class of a file that is neither of the standard library nor installed."""
    file = getattr(sys.modules.get(str(cls.__module__)), "__file__", None)
    return type(file) is str and not file.startswith((sys.prefix, sys.base_prefix))


def _is_made_of_calls(value: Any) -> bool:
    return any(
        part.__name__ == "NonCallableMock" and part.__module__ == "unittest.mock" for part in type(value).__mro__
    )


def _is_child(mock: Any, name: str) -> bool:
    """It is an attribute that the mock has because it was asked for, or given by its author."""
    if not _is_made_of_calls(mock) or name in _OF_MOCKS or name.startswith("assert"):
        return False
    # each mock has a class of its own, which has what the tests have put there (`PropertyMock`)
    return not any(name in vars(part) for part in type(mock).__mro__[1:] if part.__module__ == "unittest.mock")
