"""A Python function as a program: its source, and what it refers to.

The program is self-contained: plain functions that it calls come along as source, modules as imports, and every other
value as JSON. Nothing is pickled, on either side.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from harena.core.errors import AsyncFunctionError, FunctionError

_RUNNER = """

if __name__ == "__main__":
    def _harena_run():
        import json, sys, traceback
        call = json.loads({call!r})
        try:
            value = globals()[call["function"]](*call["args"], **call["kwargs"])
        except BaseException as error:
            answer = {{"raised": [type(error).__name__, str(error)]}}
            traceback.print_exc()
        else:
            try:
                answer = {{"value": value}}
                json.dumps(answer)
            except (TypeError, ValueError, RecursionError) as error:
                answer = {{"unsendable": [type(value).__name__, str(error)]}}
        with open({answer!r}, "w", encoding="utf-8") as out:
            json.dump(answer, out)
        sys.exit(0 if "value" in answer else 1)

    _harena_run()
"""


@dataclass
class _ProgramParts:
    """What a program is put together from."""

    imports: dict[str, str] = field(default_factory=dict)
    """name -> statement"""
    values: dict[str, Any] = field(default_factory=dict)
    """name -> value of JSON types"""
    functions: dict[str, tuple[FunctionType, str]] = field(default_factory=dict)
    """name -> the function and its definition"""


class FunctionSource:
    """A function that can be written down as a program. Raises FunctionError, AsyncFunctionError."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not isinstance(function, FunctionType):
            raise FunctionError(f"{function!r} is not a plain Python function: decorate a `def`")
        self.name = function.__name__
        parts = _ProgramParts()
        _collect(function, parts)
        self._head = _program_text(parts)

    def program(self, args: tuple[Any, ...], kwargs: dict[str, Any], answer_path: str) -> str:
        """The source of a program that makes this call and writes its JSON answer to `answer_path`."""
        call = {"function": self.name, "args": list(args), "kwargs": kwargs}
        try:
            text = json.dumps(call)
        except (TypeError, ValueError, RecursionError) as error:
            raise FunctionError(f"the arguments of {self.name} cannot be sent as JSON: {error}") from error
        return self._head + _RUNNER.format(call=text, answer=answer_path)


def _collect(function: FunctionType, parts: _ProgramParts) -> None:
    name = function.__name__
    known = parts.functions.get(name)
    if known is not None:
        if known[0] is not function:
            raise FunctionError(f"two different functions are called {name!r}: rename one, both cannot be sent")
        return
    parts.functions[name] = (function, _definition(function))
    for reference, value in _references(function):
        if value is not function:
            _collect_value(name, reference, value, parts)
    for kind, defaults in (("defaults", function.__defaults__), ("kwdefaults", function.__kwdefaults__)):
        if defaults:
            value = list(defaults) if kind == "defaults" else dict(defaults)
            parts.values[f"_harena_{kind}_of_{name}"] = _checked_json(f"a default of {name}", value)


def _collect_value(user: str, name: str, value: Any, parts: _ProgramParts) -> None:
    if isinstance(value, ModuleType):
        parts.imports[name] = f"import {value.__name__} as {name}"
    elif (home := _importable_home(value)) is not None:
        parts.imports[name] = f"from {home} import {value.__name__} as {name}"
    elif isinstance(value, FunctionType):
        if value.__name__ != name:
            raise FunctionError(f"{user} calls the function {value.__name__!r} by the name {name!r}: use its own name")
        _collect(value, parts)
    else:
        checked = _checked_json(f"{name!r}, which {user} refers to,", value)
        if name in parts.values and parts.values[name] != checked:
            raise FunctionError(f"{name!r} means different values in the functions that {user} needs: rename one")
        parts.values[name] = checked


def _definition(function: FunctionType) -> str:
    """Source without decorators, and with defaults left for later (they are values of this process)."""
    name = function.__name__
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise FunctionError(
            f"the source of {name} cannot be read ({error}): define it with `def` in a file or a notebook"
        ) from error
    definition = tree.body[0] if tree.body else None
    if isinstance(definition, ast.AsyncFunctionDef) or inspect.iscoroutinefunction(function):
        raise AsyncFunctionError(f"{name} is `async def`: a remote function is plain, and its call can be awaited")
    if not isinstance(definition, ast.FunctionDef):
        raise FunctionError(f"{name} is not a `def`: a lambda or an expression cannot be sent")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise FunctionError(f"{name} is a generator: return a list instead, which can be sent")
    if "__class__" in function.__code__.co_freevars:
        raise FunctionError(f"{name} is a method that uses super() or __class__: a remote function is plain")
    definition.decorator_list = []
    empty = ast.Constant(None)
    definition.args.defaults = [empty for _ in definition.args.defaults]
    definition.args.kw_defaults = [None if default is None else empty for default in definition.args.kw_defaults]
    source = ast.unparse(ast.fix_missing_locations(definition))
    try:
        compile(source, name, "exec")
    except SyntaxError as error:
        raise FunctionError(f"{name} cannot stand on its own ({error.msg}): avoid `nonlocal` in it") from error
    return source


def _references(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Names from outside that the function uses, with their values now."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            raise FunctionError(f"{function.__name__} uses {name!r}, which has no value yet") from None
    for name in sorted(_global_names(function.__code__)):
        if name in function.__globals__:
            yield name, function.__globals__[name]
        elif not hasattr(builtins, name):
            raise FunctionError(f"{function.__name__} uses {name!r}, which is not defined anywhere")


def _global_names(code: CodeType) -> set[str]:
    names = {
        str(instruction.argval)
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _global_names(constant)
    return names


def _importable_home(value: Any) -> str | None:
    """The standard library's module that has this function or class under its own name."""
    if not isinstance(value, type | FunctionType | BuiltinFunctionType):
        return None
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or module.partition(".")[0] not in sys.stdlib_module_names or module == "__main__":
        return None
    found = getattr(sys.modules.get(module), value.__name__, None)
    return module if found is value else None


def _checked_json(what: str, value: Any) -> Any:
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise FunctionError(
            f"{what} cannot be sent: {error}. A remote function may refer to modules, plain functions and JSON values"
        ) from error


def _program_text(parts: _ProgramParts) -> str:
    lines = ["from __future__ import annotations", "import json as _harena_json"]
    lines += [parts.imports[name] for name in sorted(parts.imports)]
    if parts.values:
        lines.append(f"globals().update(_harena_json.loads({json.dumps(parts.values)!r}))")
    for name, (function, definition) in parts.functions.items():
        lines += ["", definition]
        if function.__defaults__:
            lines.append(f"{name}.__defaults__ = tuple(_harena_defaults_of_{name})")
        if function.__kwdefaults__:
            lines.append(f"{name}.__kwdefaults__ = _harena_kwdefaults_of_{name}")
    return "\n".join(lines)
