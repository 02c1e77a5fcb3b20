"""Tells of an operator that a program has written whether it may do more than to compute what it gives.

Most are plain: they look at attributes, compare, and make an object of a class. To ask these about other values than
the tests' own leaves no trace. Of any other one nobody knows: it may count, log, store what it was told, or never end.

What is taken for plain is asked where it is; what is not is asked in a copy (`guest_process_copies`), which takes
longer and changes no answer. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import dis
from types import CodeType, FunctionType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_line_of = type.__dict__["__mro__"].__get__
_instructions = dis.get_instructions
_SAFE_BUILTINS = frozenset({
    "NotImplemented", "isinstance", "issubclass", "len", "type", "abs", "int", "float", "str", "bool", "complex",
    "tuple", "list", "set", "frozenset", "dict", "zip", "min", "max", "sum", "all", "any", "sorted", "round", "divmod",
    "enumerate", "reversed", "id", "TypeError", "ValueError", "ZeroDivisionError", "IndexError", "KeyError",
})  # fmt: skip
_PLAIN = frozenset({"builtins", "decimal", "fractions", "datetime", "collections"})
"""modules whose objects are values"""
_SAFE_MODULES = frozenset({"math", "cmath", "operator"})
_SAFE_METHODS = frozenset(
    {name for kind in (int, float, complex, str, bytes, tuple, frozenset) for name in dir(kind) if name[:1] != "_"}
    | {"keys", "values", "items", "get", "__class__", "__name__", "real", "imag"}
)
_DOING = (
    *("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_NAME", "DELETE_", "IMPORT_", "YIELD_", "SEND", "EXEC"),
    *("GET_AWAITABLE", "BEFORE_WITH", "SETUP_WITH", "BEFORE_ASYNC_WITH", "SETUP_ASYNC_WITH", "LOAD_SUPER"),
    "LOAD_SPECIAL",
)
"""beginnings of the names of instructions that change something, or that have others do what is not seen here"""
_COPYING = ("__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__")
_LOOKING = ("__getattribute__", "__getattr__", "__setattr__", "__new__")
_ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None)})
_DEEPEST = 4
"""containers within each other that are looked into"""
_MOST_REMEMBERED = 1000
_known: dict[Any, bool] = {}


def may_have_effects(asked: Any, names: tuple[str, ...]) -> bool:
    """To ask the object by one of these special methods, or by a method, may be seen afterwards."""
    if not names:
        return False
    kind = type(asked)
    try:
        held: dict[str, Any] = object.__getattribute__(asked, "__dict__")
    except AttributeError:
        held = {}
    if type(held) is not dict or any(_is_alive(value) for value in held.values()):
        return any(_found(kind, name) is not None for name in names)
    key = (kind, names, tuple(held))
    if key not in _known:
        if len(_known) >= _MOST_REMEMBERED:
            _known.clear()
        try:
            _known[key] = _does_more(kind, names, frozenset(held))
        except Exception:  # noqa: BLE001 (a class may have anything by any name; then nobody knows)
            _known[key] = True
    return _known[key]


def _is_alive(value: Any, depth: int = 0) -> bool:
    """It is no plain value, or has in it what is none, and may do something when it is used."""
    kind = type(value)
    if kind in _ATOMS:
        return False
    if kind.__module__ not in _PLAIN or callable(value) or depth > _DEEPEST:
        return True
    if isinstance(value, dict):
        return _is_alive([*value], depth + 1) or _is_alive([*value.values()], depth + 1)
    if not isinstance(value, (list, tuple, set, frozenset)) or {*map(type, value)} <= _ATOMS:
        return hasattr(kind, "__next__")
    return any(_is_alive(each, depth + 1) for each in value)


def _found(kind: type, name: str) -> Any:
    """What a program has written by this name; None for what is of Python's own classes."""
    for each in _line_of(kind, type):
        if name in vars(each):
            found = vars(each)[name]
            return (
                found
                if isinstance(found, (FunctionType, property, staticmethod, classmethod))
                else (None if each.__module__ == "builtins" or type(found).__module__ == "builtins" else found)
            )
    return None


def _does_more(kind: type, names: tuple[str, ...], held: frozenset[str]) -> bool:
    if any(_found(kind, name) is not None for name in (*_COPYING, *_LOOKING)):
        return True
    seen: set[CodeType] = set()
    return any(
        found is not None and _function_does_more(found, kind, held, seen)
        for found in (_found(kind, name) for name in names)
    )


def _function_does_more(found: Any, kind: type, held: frozenset[str], seen: set[CodeType]) -> bool:
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    if type(found) is not FunctionType or found.__closure__:
        return True
    return _code_does_more(found.__code__, found.__globals__, kind, held, seen)


def _code_does_more(
    code: CodeType, names: dict[str, Any], kind: type, held: frozenset[str], seen: set[CodeType], makes: bool = False
) -> bool:
    """`makes`: it is an `__init__`, which may set attributes of what it makes."""
    if code in seen:  # a method that calls itself may not end
        return True
    seen = {*seen, code}
    if code.co_flags & 0x20 and not code.co_name.startswith("<"):
        return True
    before: Any = None
    steps = list(_instructions(code))
    at = {step.offset: step for step in steps}
    for step in steps:
        if makes and step.opname == "STORE_ATTR":
            if before is None or before.opname != "LOAD_FAST" or before.argval != code.co_varnames[0]:
                return True
        elif step.opname.startswith(_DOING) and not (step.opname == "YIELD_VALUE" and code.co_name == "<genexpr>"):
            return True
        if "JUMP" in step.opname and isinstance(step.argval, int) and step.argval < step.offset:
            target = at.get(step.argval)
            if target is None or target.opname != "FOR_ITER":
                return True
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and _name_does_more(step.argval, names, kind, held, seen):
            return True
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and _attribute_does_more(step.argval, names, kind, held, seen):
            return True
        before = step
    return any(_code_does_more(each, names, kind, held, seen) for each in code.co_consts if isinstance(each, CodeType))


def _name_does_more(name: str, names: dict[str, Any], kind: type, held: frozenset[str], seen: set[CodeType]) -> bool:
    if name not in names:
        return name not in _SAFE_BUILTINS
    value = names[name]
    if isinstance(value, type):
        if value.__module__ in _PLAIN:
            return False
        made = [_found(value, each) for each in ("__new__", "__init__", "__post_init__", "__call__")]
        if type(value) is not type or made[0] is not None:
            return True
        functions = [each for each in made[1:3] if each is not None]
        return any(
            type(each) is not FunctionType
            or bool(each.__closure__)
            or (each.__code__ not in seen and _code_does_more(each.__code__, each.__globals__, kind, held, seen, True))
            for each in functions
        )
    if type(value) is FunctionType:
        return _function_does_more(value, kind, held, seen)
    if isinstance(value, ModuleType):
        return value.__name__ not in _SAFE_MODULES
    return _is_alive(value)


def _attribute_does_more(
    name: str, names: dict[str, Any], kind: type, held: frozenset[str], seen: set[CodeType]
) -> bool:
    found = _found(kind, name)
    if found is not None:
        return _function_does_more(found, kind, held, seen)
    for each in _line_of(kind, type):
        if name in vars(each):
            value = vars(each)[name]
            is_slot = type(value).__name__ in ("member_descriptor", "wrapper_descriptor", "method_descriptor")
            return not is_slot and _is_alive(value)
    if name in held or name in _SAFE_METHODS:
        return False
    return not any(
        isinstance(value, ModuleType) and value.__name__ in _SAFE_MODULES and hasattr(value, name)
        for value in names.values()
    )
