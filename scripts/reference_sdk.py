"""The page of the SDK: public names of `harena` with signatures and docstrings, read from the source."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from reference_text import GENERATED, sentence, table

import harena
from harena.core.errors import HarenaError

_LINE = 110
BETWEEN_MODULES = frozenset(
    {
        *("check_may_block", "watch", "unwatch", "on_loop", "settle", "settle_error", "cancelled_before_it_began"),
        *("running_exec", "running_port", "of", "listed", "found", "forget", "note_end", "release"),
    }
)
"""methods that modules of the SDK call on each other's objects, and users never do"""
_HOLDERS = ("aio",)
"""names of modules that hold the same verbs in another form, explained once above"""


def page() -> str:
    """All of it."""
    values = {name: getattr(harena, name) for name in harena.__all__ if name != "__version__"}
    modules = {name: value for name, value in values.items() if isinstance(value, ModuleType)}
    functions = {name: value for name, value in values.items() if not isinstance(value, ModuleType | type)}
    classes = {
        name: value for name, value in values.items() if isinstance(value, type) and not issubclass(value, HarenaError)
    }
    overview = [
        (f"[`{name}`](#{name.lower()})", _kind(value), _first_sentence(_doc(value)))
        for name, value in {**classes, **functions, **modules}.items()
    ]
    parts = [
        *(_class(name, value, "##") for name, value in classes.items()),
        *(_function(name, value, "##") for name, value in functions.items()),
        *(_module(name, value) for name, value in modules.items()),
    ]
    return f"""{GENERATED}
# SDK

The public names of `harena`. Verbs of sandboxes return an `OperationRef` or a `Process` at once: `.result()` waits for
it, and `await` works in any event loop. Verbs of modules block; `harena.MODULE.aio` has the same verbs to await.
Exceptions are on [the page of errors](errors.md), and `harena.__version__` is the version.

{table(("name", "kind", "what it is"), overview)}
{chr(10).join(parts)}"""


def _kind(value: object) -> str:
    return "module" if isinstance(value, ModuleType) else "class" if isinstance(value, type) else "function"


def _doc(value: Any) -> str:
    return inspect.getdoc(inspect.unwrap(value) if callable(value) else value) or ""


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.split("\n\n")[0].split())
    end = paragraph.find(". ")
    return paragraph if end < 0 else paragraph[: end + 1]


def _module(name: str, module: ModuleType) -> str:
    parts = [f"## {name}\n", _doc(module) + "\n"]
    for each in module.__all__:
        value = getattr(module, each)
        if each in _HOLDERS:
            continue
        if isinstance(value, type):
            parts.append(_reference(name, each, value))
        elif callable(value):
            parts.append(_function(f"{name}.{each}", value, "###"))
        else:
            parts.append(f"### {name}.{each}\n\n`{value!r}`\n")
    return "\n".join(parts)


def _reference(module: str, name: str, value: type) -> str:
    if name in harena.__all__:
        return f"### {module}.{name}\n\nSee [`{name}`](#{name.lower()}).\n"
    return _class(f"{module}.{name}", value, "###")


def _function(name: str, value: Any, level: str) -> str:
    function = inspect.unwrap(value)
    definition = _definition(function)
    return f"{level} {name}\n\n{_code([_signature(definition, name.rpartition('.')[2])])}\n{_doc(value)}\n"


def _class(name: str, kind: type, level: str) -> str:
    definition = _definition(kind)
    bases = ", ".join(ast.unparse(base) for base in definition.bases)
    parts = [f"{level} {name}\n"]
    made = [each for each in definition.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    head = f"class {kind.__name__}{f'({bases})' if bases else ''}: ..."
    parts.append(_code([head]))
    parts += [_code([_signature(each, kind.__name__)]) for each in made if _doc_of(each)]
    parts.append(_doc(kind) + "\n")
    parts += [_doc_of(each) + "\n" for each in made if _doc_of(each)]
    fields = [
        (f"`{field}`", f"`{annotation}`" if annotation else "", default, text)
        for one in _own_classes(kind)
        for field, annotation, default, text in _fields(one)
    ]
    parts.append(table(("field", "type", "default", "meaning"), fields))
    for each in _methods(kind):
        parts.append(_method(name, each, f"{level}#"))
    return "\n".join(part for part in parts if part)


def _own_classes(kind: type) -> Iterator[ast.ClassDef]:
    """The class, and bases of harena's that have no place of their own on the page."""
    for each in kind.__mro__:
        if each is kind or (each.__module__.startswith("harena.") and each.__name__ not in harena.__all__):
            yield _definition(each)


def _methods(kind: type) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    found: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    for definition in _own_classes(kind):
        for each in definition.body:
            if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) or each.name.startswith("_"):
                continue
            if each.name not in BETWEEN_MODULES and not _is_overload(each):
                found.setdefault(each.name, each)
    yield from found.values()


def _method(holder: str, definition: ast.FunctionDef | ast.AsyncFunctionDef, level: str) -> str:
    decorators = [ast.unparse(each) for each in definition.decorator_list]
    shown = [f"@{each}" for each in decorators if each in ("property", "classmethod", "staticmethod")]
    text = _doc_of(definition)
    code = _code([*shown, _signature(definition, definition.name)])
    return f"{level} {holder}.{definition.name}\n\n{code}\n{text}\n"


def _doc_of(definition: ast.AST) -> str:
    return ast.get_docstring(definition) or ""  # type: ignore[arg-type]


def _fields(definition: ast.ClassDef) -> Iterator[tuple[str, str, str, str]]:
    """Name, type, default and meaning of fields and of an enumeration's members."""
    for field, below in zip(definition.body, [*definition.body[1:], None], strict=True):
        text = ""
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            text = sentence(below.value.value)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            annotation = ast.unparse(field.annotation)
            default = "" if field.value is None else f"`{ast.unparse(field.value)}`"
            if not field.target.id.startswith("_") and "ClassVar" not in annotation:
                yield field.target.id, annotation, default, text
        elif isinstance(field, ast.Assign) and isinstance(target := field.targets[0], ast.Name) and target.id[0] != "_":
            yield target.id, "", f"`{ast.unparse(field.value)}`", text


def _definition(value: Any) -> Any:
    """The node of a class or function in its module's source."""
    tree = _tree(inspect.getsourcefile(value) or "")
    body: list[ast.stmt] = tree.body
    found: Any = None
    for name in value.__qualname__.split("."):
        found = next(
            each
            for each in body
            if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and each.name == name
        )
        body = found.body
    return found


def _is_overload(definition: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """One of the forms of a call for type checkers; the function itself, with its docstring, stands below them."""
    return any(ast.unparse(each).endswith("overload") for each in definition.decorator_list)


@functools.cache
def _tree(path: str) -> ast.Module:
    with open(path, encoding="utf-8") as source:
        return ast.parse(source.read())


def _signature(definition: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> str:
    """`def name(...) -> ...: ...`, with one parameter on a line where it is long. `async` is left out: see the page."""
    arguments = definition.args
    if arguments.posonlyargs and arguments.posonlyargs[0].arg == "self":
        arguments = copy.copy(arguments)
        arguments.posonlyargs = arguments.posonlyargs[1:]
    elif arguments.args and arguments.args[0].arg in ("self", "cls"):
        arguments = ast.arguments(
            posonlyargs=arguments.posonlyargs,
            args=arguments.args[1:],
            vararg=arguments.vararg,
            kwonlyargs=arguments.kwonlyargs,
            kw_defaults=arguments.kw_defaults,
            kwarg=arguments.kwarg,
            defaults=arguments.defaults,
        )
    returned = f" -> {ast.unparse(definition.returns)}" if definition.returns is not None else ""
    one_line = f"def {name}({', '.join(_parameters(arguments))}){returned}: ..."
    if len(one_line) <= _LINE:
        return one_line
    lines = [f"    {each}," for each in _parameters(arguments)]
    return "\n".join([f"def {name}(", *lines, f"){returned}: ..."])


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + [*arguments.defaults]
    for place, (each, default) in enumerate(zip(plain, defaults, strict=True), 1):
        yield _parameter(each, default)
        if place == len(arguments.posonlyargs):
            yield "/"
    if arguments.vararg:
        yield "*" + _parameter(arguments.vararg, None)
    elif arguments.kwonlyargs:
        yield "*"
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(each, default)
    if arguments.kwarg:
        yield "**" + _parameter(arguments.kwarg, None)


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = argument.arg if argument.annotation is None else f"{argument.arg}: {ast.unparse(argument.annotation)}"
    if default is None:
        return text
    return f"{text}{' = ' if argument.annotation else '='}{ast.unparse(default)}"


def _code(lines: list[str]) -> str:
    """Code as the formatter would have it, which looks at the pages, too."""
    text = re.sub(r"'([^'\"\\\n]*)'", r'"\1"', "\n".join(lines))
    return f"```python no-run\n{text}\n```\n"
