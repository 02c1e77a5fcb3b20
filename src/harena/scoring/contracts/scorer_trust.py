"""Whether a `python` scorer could execute text that a candidate wrote: then its verdict can be forged from inside.

Python has more ways to execute a text than a list of them can name. So the question is the other way round: a scorer is
`separate` only if all that it imports, and all that it uses of what it imports, is known to execute none (`MAY_USE`).
Any doubt makes it `shared`, also whether a text that it fills in as a template is the candidate's (`Templates`). The
source is its author's, who hides nothing: what is looked for are the ways that an author would write down.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping

from harena.scoring.contracts.scorer_names import MAY_USE
from harena.scoring.contracts.scorer_templates import Templates
from harena.scoring.python_source import MOST_SCORER_TOKENS, syntax_tree

_NAMES_THAT_EXECUTE = frozenset({
    "breakpoint", "compile", "delattr", "eval", "exec", "getattr", "globals", "help", "locals", "setattr", "vars",
})  # fmt: skip
_ATTRIBUTES_THAT_EXECUTE = frozenset({
    "ag_frame", "cr_frame", "ctypes", "dump", "f_back", "f_builtins", "f_globals", "f_locals", "get_field", "gi_frame",
    "load", "open", "open_code", "tb_frame", "tofile",
})  # fmt: skip
"""attributes of objects by which a text could be executed, also one that was written to a file before"""
_HIDDEN_THAT_ARE_PLAIN = frozenset({
    "_asdict", "_attributes", "_field_defaults", "_fields", "_make", "_name_", "_replace", "_value_",
})  # fmt: skip
"""harmless names with an underscore: those of named tuples, syntax trees and members of enumerations"""
_DUNDERS = frozenset({"__name__", "__doc__", "__class__", "__init__", "__post_init__", "__len__", "__contains__"})
_READ_MODES = ("r", "rb", "rt")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_Modules = Mapping[str, str]
"""name in the source -> module that it stands for"""


_known: OrderedDict[bytes, str | None] = OrderedDict()
"""digest of a source -> what was found: many scenarios share one source, which may be large"""
_MOST_KNOWN = 4096
_MOST_TOLD = 1000
"""characters of a doubt: names in a source may be long"""


def may_execute_text(source: str) -> str | None:
    """Why a scorer cannot be told to execute no text, with the line; None = it executes none."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()
    try:
        return _known[digest]
    except KeyError:
        doubt = _first_doubt(source, {})
    if doubt is not None and len(doubt) > _MOST_TOLD:
        doubt = f"{doubt[:_MOST_TOLD]}..."
    _known[digest] = doubt
    while len(_known) > _MOST_KNOWN:
        with contextlib.suppress(KeyError):  # another thread has removed the last one
            _known.popitem(last=False)
    return doubt


def _first_doubt(source: str, outer: _Modules) -> str | None:
    try:
        tree = syntax_tree(source, most_tokens=MOST_SCORER_TOKENS)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it cannot be read"
    own_names, modules = frozenset(_names_of_its_own(tree)), {**outer, **_imported(tree)}
    others = any(_constant_program(node) is not None and _shares_names(node) for node in ast.walk(tree))
    templates = Templates(tree, modules, others_bind_names=others)
    return next(_doubts(tree, modules, own_names, templates), None)


def _imported(tree: ast.AST) -> dict[str, str]:
    """What stands for a module, also in the constant programs that run among the same names."""
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                modules[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            whole = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            modules |= {name: module for name, module in whole.items() if module in MAY_USE}
        elif (constant := _constant_program(node)) is not None and _shares_names(node):
            try:
                modules |= _imported(syntax_tree(constant, most_tokens=MOST_SCORER_TOKENS))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # `_doubts` finds it
    return modules


def _names_of_its_own(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _doubts(tree: ast.AST, modules: _Modules, own_names: frozenset[str], templates: Templates) -> Iterator[str]:
    waiting: list[tuple[ast.AST, _Modules]] = [(tree, modules)]
    while waiting:
        node, modules = waiting.pop()
        if (constant := _constant_program(node)) is not None:
            assert isinstance(node, ast.Call)
            if (below := _first_doubt(constant, modules if _shares_names(node) else {})) is not None:
                yield f"{below}, in the text that line {node.lineno} executes"
            waiting += [(argument, modules) for argument in node.args[1:]]
            continue
        if _is_reading(node):
            assert isinstance(node, ast.Call)
            waiting += [(argument, modules) for argument in node.args]
            waiting += [(keyword.value, modules) for keyword in node.keywords]
            continue
        if (what := _doubt(node, modules, own_names) or templates.doubt(node)) is not None:
            yield f"line {getattr(node, 'lineno', 1)} has {what}"
        if isinstance(node, ast.Attribute) and _chain(node, modules) is not None:
            continue  # the whole of it was looked at
        waiting += reversed(list(_below(node, modules)))


def _below(node: ast.AST, modules: _Modules) -> Iterator[tuple[ast.AST, _Modules]]:
    """The parts of a node, each with what its names stand for: variables of a function stand for no module."""
    if isinstance(node, _FUNCTIONS):
        inner = _without(modules, _variables(node))
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        inside = {id(child) for child in body}
        outside = [child for child in ast.iter_child_nodes(node) if id(child) not in inside]
        yield from ((child, modules) for child in outside)
        yield from ((child, inner) for child in body)
    elif isinstance(node, _COMPREHENSIONS):
        stored = {name.id for part in node.generators for name in ast.walk(part.target) if isinstance(name, ast.Name)}
        inner, first = _without(modules, stored), node.generators[0]
        yield first.iter, modules
        yield from ((child, inner) for child in ast.iter_child_nodes(node) if child is not first)
        yield from ((child, inner) for child in [first.target, *first.ifs])
    else:
        yield from ((child, modules) for child in ast.iter_child_nodes(node))


def _without(modules: _Modules, names: set[str]) -> _Modules:
    return {name: module for name, module in modules.items() if name not in names} if names & set(modules) else modules


def _variables(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Names that a function itself binds, other than by `import`."""
    every = function.args
    bound = {argument.arg for argument in [*every.posonlyargs, *every.args, *every.kwonlyargs]}
    bound |= {argument.arg for argument in (every.vararg, every.kwarg) if argument is not None}
    not_bound: set[str] = set()
    waiting: list[ast.AST] = [] if isinstance(function, ast.Lambda) else list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            not_bound |= set(node.names)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            not_bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        if not isinstance(node, (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return bound - not_bound


def _constant_program(node: ast.AST) -> str | None:
    """The text of `exec(compile("...", ...), ...)`, which the author wrote."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "exec" and node.args):
        return None
    made = node.args[0]
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id == "compile" and made.args:
        made = made.args[0]
    return made.value if isinstance(made, ast.Constant) and isinstance(made.value, str) else None


def _shares_names(node: ast.AST) -> bool:
    """Whether a constant program is given no names of its own."""
    return isinstance(node, ast.Call) and len(node.args) == 1


def _is_reading(node: ast.AST) -> bool:
    """`open(path)` and `open(path, "r")`: a file that is written could be a module that is imported later."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"):
        return False
    modes = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
    named = all(keyword.arg in ("mode", "encoding", "errors", "newline") for keyword in node.keywords)
    return named and all(isinstance(mode, ast.Constant) and mode.value in _READ_MODES for mode in modes)


def _doubt(node: ast.AST, modules: _Modules, own_names: frozenset[str]) -> str | None:
    if isinstance(node, ast.Import):
        return next((f"`import {alias.name}`" for alias in node.names if alias.name not in MAY_USE), None)
    if isinstance(node, ast.ImportFrom):
        return _doubt_of_names(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id in modules:
            return f"the module `{node.id}` as a value"
        doubtful = node.id in _NAMES_THAT_EXECUTE or node.id == "open" or _is_dunder(node.id)
        return f"`{node.id}`" if doubtful else None
    if isinstance(node, ast.Attribute):
        return _doubt_of_attribute(node, modules, own_names)
    if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
        return "`allow_pickle`"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
        is_question = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
        return None if is_question else "`type` that makes a class"
    return None


def _doubt_of_names(node: ast.ImportFrom) -> str | None:
    module = node.module or ""
    if node.level or module not in MAY_USE:
        return f"`from {'.' * node.level}{module} import ...`"
    known = MAY_USE[module]
    doubtful = (n.name for n in node.names if n.name not in known and f"{module}.{n.name}" not in MAY_USE)
    return next((f"`from {module} import {name}`" for name in doubtful), None)


def _chain(node: ast.Attribute, modules: _Modules) -> tuple[str, list[str]] | None:
    """(module, attributes) of `module.a.b`; None where it begins with something else."""
    attributes = [node.attr]
    base: ast.expr = node.value
    while isinstance(base, ast.Attribute):
        attributes.append(base.attr)
        base = base.value
    if not (isinstance(base, ast.Name) and base.id in modules):
        return None
    return modules[base.id], attributes[::-1]


def _doubt_of_attribute(node: ast.Attribute, modules: _Modules, own_names: frozenset[str]) -> str | None:
    chain = _chain(node, modules)
    if chain is None:
        return f"`.{node.attr}`" if _is_doubtful(node.attr, own_names) else None
    module, attributes = chain
    while attributes and f"{module}.{attributes[0]}" in MAY_USE:
        module = f"{module}.{attributes.pop(0)}"
    if not attributes:
        return f"the module `{module}` as a value"
    if len(attributes) == 1 and not isinstance(node.ctx, ast.Load):
        return f"another `{module}.{attributes[0]}`"
    if attributes[0] not in MAY_USE.get(module, ()):
        return f"`.{attributes[0]}`"
    return next((f"`.{name}`" for name in attributes[1:] if _is_doubtful(name, own_names)), None)


def _is_doubtful(attribute: str, own_names: frozenset[str]) -> bool:
    """Objects whose class nobody knows."""
    if attribute in _ATTRIBUTES_THAT_EXECUTE or _is_dunder(attribute):
        return True
    return attribute.startswith("_") and attribute not in _DUNDERS | _HIDDEN_THAT_ARE_PLAIN | own_names


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _DUNDERS
