"""Whether a `python` scorer could execute text that a candidate wrote: then its verdict can be forged from inside.

Python has more ways to execute a text than a list of them can name. So the question is the other way round: a scorer is
`separate` only if all that it imports and calls by name is known to execute none. Any doubt makes it `shared`.
The source is its author's, who hides nothing: what is looked for are the ways that an author would write down.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import lru_cache

_HARMLESS_MODULES = frozenset({
    "__future__", "abc", "array", "ast", "base64", "binascii", "bisect", "calendar", "cmath", "collections", "copy",
    "contextlib", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions", "functools", "hashlib",
    "heapq", "html", "io", "itertools", "json", "keyword", "math", "numbers", "numpy", "operator", "random", "re",
    "secrets", "shlex", "statistics", "string", "struct", "textwrap", "time", "tokenize", "typing", "unicodedata",
    "uuid", "zlib", "zoneinfo",
})  # fmt: skip
_HARMLESS_BELOW = frozenset({"collections.abc", "html.parser", "json.decoder"})
_NAMES_THAT_EXECUTE = frozenset({
    "breakpoint", "compile", "delattr", "eval", "exec", "getattr", "globals", "help", "locals", "setattr", "vars",
})  # fmt: skip
_ATTRIBUTES_THAT_EXECUTE = frozenset({
    "ForwardRef", "FileIO", "ag_frame", "attrgetter", "cr_frame", "ctypeslib", "distutils", "f2py", "f_back",
    "f_builtins", "f_globals", "f_locals", "get_type_hints", "gi_frame", "load", "make_dataclass", "methodcaller",
    "open", "open_code", "run_module", "tb_frame", "testing",
})  # fmt: skip
"""of harmless modules, or of objects, by which a text could be executed, be it written to a file before"""
_ARE_FUNCTIONS_TOO = frozenset({"select", "trace"})
"""of numpy"""
_JSON_LOAD = ("json", "load")
_DUNDERS = frozenset({"__name__", "__doc__", "__class__", "__init__", "__post_init__", "__len__", "__contains__"})
_READ_MODES = ("r", "rb", "rt")


@lru_cache(256)  # many scenarios share one
def may_execute_text(source: str) -> str | None:
    """Why a scorer cannot be told to execute no text, with the line; None = it executes none."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it cannot be read"
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return next(_doubts(tree, frozenset(modules)), None)


def _doubts(tree: ast.AST, modules: frozenset[str]) -> Iterator[str]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if (constant := _constant_program(node)) is not None:
            if (below := may_execute_text(constant)) is not None:
                yield f"{below}, in the text that line {node.lineno} executes"  # type: ignore[attr-defined]
            assert isinstance(node, ast.Call)
            waiting += node.args[1:]
            continue
        if _is_reading(node):
            assert isinstance(node, ast.Call)
            waiting += [*node.args, *(keyword.value for keyword in node.keywords)]
            continue
        if (what := _doubt(node, modules)) is not None:
            yield f"line {getattr(node, 'lineno', 1)} has {what}"
        waiting += reversed(list(ast.iter_child_nodes(node)))


def _constant_program(node: ast.AST) -> str | None:
    """The text of `exec(compile("...", ...), ...)`, which the author wrote."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "exec" and node.args):
        return None
    made = node.args[0]
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id == "compile" and made.args:
        made = made.args[0]
    return made.value if isinstance(made, ast.Constant) and isinstance(made.value, str) else None


def _is_reading(node: ast.AST) -> bool:
    """`open(path)` and `open(path, "r")`: a file that is written could be a module that is imported later."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"):
        return False
    modes = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
    named = all(keyword.arg in ("mode", "encoding", "errors", "newline") for keyword in node.keywords)
    return named and all(isinstance(mode, ast.Constant) and mode.value in _READ_MODES for mode in modes)


def _doubt(node: ast.AST, modules: frozenset[str]) -> str | None:
    if isinstance(node, ast.Import):
        return next((f"`import {alias.name}`" for alias in node.names if not _is_harmless(alias.name)), None)
    if isinstance(node, ast.ImportFrom):
        return _doubt_of_names(node)
    if isinstance(node, ast.Name):
        doubtful = node.id in _NAMES_THAT_EXECUTE or node.id == "open" or _is_hidden(node.id)
        return f"`{node.id}`" if doubtful and isinstance(node.ctx, ast.Load) else None
    if isinstance(node, ast.Attribute):
        base = node.value.id if isinstance(node.value, ast.Name) and node.value.id in modules else None
        if (base, node.attr) == _JSON_LOAD:
            return None
        if (
            (base is not None and _is_doubtful_module(node.attr))
            or node.attr in _ATTRIBUTES_THAT_EXECUTE
            or _is_hidden(node.attr)
        ):
            return f"`.{node.attr}`"
    return None


def _doubt_of_names(node: ast.ImportFrom) -> str | None:
    if node.level or not _is_harmless(node.module or ""):
        return f"`from {'.' * node.level}{node.module or ''} import ...`"
    for alias in node.names:
        if (node.module, alias.name) == _JSON_LOAD:
            continue
        named = alias.name in _ATTRIBUTES_THAT_EXECUTE or _is_hidden(alias.name) or _is_doubtful_module(alias.name)
        if alias.name == "*" or named:
            return f"`from {node.module} import {alias.name}`"
    return None


def _is_doubtful_module(name: str) -> bool:
    """Modules hold those that they import: `re.sys`, `random._os`."""
    name = name.lstrip("_")
    return name in sys.stdlib_module_names - _HARMLESS_MODULES - _ARE_FUNCTIONS_TOO


def _is_hidden(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _DUNDERS


def _is_harmless(module: str) -> bool:
    return module in _HARMLESS_MODULES or module in _HARMLESS_BELOW
