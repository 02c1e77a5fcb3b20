"""What the names of a `python` scorer's source are bound to, for `harena.scoring.contracts.scorer_templates`.

Scopes are not told apart: a name that is bound twice in a source may be either wherever it is read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_NUMBER_TYPES = frozenset({"Decimal", "Fraction", "bool", "complex", "float", "int"})

_A_NUMBER = ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="", ctx=ast.Load()))
"""whose value is no constant"""


def has_stars(call: ast.Call) -> bool:
    return any(isinstance(part, ast.Starred) for part in call.args) or any(part.arg is None for part in call.keywords)


class Bindings:
    """What the names of a source are bound to, wherever that is: scopes are not told apart."""

    def __init__(self, tree: ast.AST) -> None:
        self.of: dict[str, list[ast.expr]] = {}
        self.called_numbers: set[str] = set()
        """parameters whose annotation says so: their author knows"""
        self.unknown: set[str] = set()
        nodes = list(ast.walk(tree))
        self.origins = _origins(nodes)
        """name -> what binds it: the whole name of an import, or a place of the source; of builtin names nothing"""
        in_classes = [part for node in nodes if isinstance(node, ast.ClassDef) for part in _of_body(node)]
        self.own_attributes = frozenset(_own_attributes(nodes, in_classes))
        """what an object of the source's own classes may have"""
        defined = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        functions = frozenset(node.name for node in defined)
        methods = {id(part) for part in in_classes}
        self.sole_functions = frozenset(
            node.name
            for node in defined
            if id(node) not in methods and not node.decorator_list and len(self.origins[node.name]) == 1
        )
        """names that stand for one function wherever they are read"""
        calls, values = _uses(nodes, functions)
        values |= functions - self.sole_functions
        explained: set[int] = set()
        for node in nodes:
            for target, value in _bound_by(node):
                explained |= {id(name) for name in ast.walk(target)}
                self._bind(target, value)
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                own = [] if isinstance(node, ast.Lambda) or node.name in values else calls.get(node.name, [])
                self._bind_parameters(node.args, own)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in explained:
                self.unknown.add(node.id)
            else:
                self.unknown |= set(_other_names(node))
        self.unknown |= functions

    def _bind(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            if value is None:
                self.unknown.add(target.id)
            else:
                self.of.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple | ast.List):
            is_same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            stars = any(isinstance(part, ast.Starred) for part in ast.walk(target))
            values = value.elts if is_same and not stars and isinstance(value, ast.Tuple | ast.List) else None
            for index, part in enumerate(target.elts):
                self._bind(part, None if values is None else values[index])
        elif isinstance(target, ast.Starred):
            self._bind(target.value, None)

    def _bind_parameters(self, every: ast.arguments, calls: list[ast.Call]) -> None:
        plain = [*every.posonlyargs, *every.args]
        called = {parameter.arg for parameter in [*plain, *every.kwonlyargs] if _is_called_number(parameter)}
        self.called_numbers |= called
        given: list[tuple[str, ast.expr]] = []
        for call in calls:
            given += zip((part.arg for part in plain), call.args, strict=False)
            given += ((part.arg, part.value) for part in call.keywords if part.arg is not None)
        given += zip((part.arg for part in reversed(plain)), reversed(every.defaults), strict=False)
        given += (
            (part.arg, value)
            for part, value in zip(every.kwonlyargs, every.kw_defaults, strict=True)
            if value is not None
        )
        for name, value in given:
            if name not in called:
                self.of.setdefault(name, []).append(value)
        for name in called:
            self.of.setdefault(name, [])
        if not calls or any(map(has_stars, calls)):
            self.unknown |= {parameter.arg for parameter in [*plain, *every.kwonlyargs]} - called
        self.unknown |= {part.arg for part in (every.vararg, every.kwarg) if part is not None}


def _is_called_number(parameter: ast.arg) -> bool:
    return isinstance(parameter.annotation, ast.Name) and parameter.annotation.id in _NUMBER_TYPES


def _uses(nodes: list[ast.AST], functions: frozenset[str]) -> tuple[dict[str, list[ast.Call]], set[str]]:
    """The calls of each function by its name, and the functions that are used as values."""
    calls: dict[str, list[ast.Call]] = {}
    called: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
            calls.setdefault(node.func.id, []).append(node)
            called.add(id(node.func))
    names = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return calls, {name.id for name in names if name.id in functions and id(name) not in called} | {"score"}


def _bound_by(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """(what is bound, to what; None = nobody knows), of the statements and expressions that are looked into."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None or not isinstance(node.target, ast.Name):
            yield node.target, node.value
    elif isinstance(node, ast.NamedExpr):
        yield node.target, node.value
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target, ast.BinOp(left=ast.Name(id=node.target.id, ctx=ast.Load()), op=node.op, right=node.value)
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield from _of_loop(node.target, node.iter)


def _of_loop(target: ast.expr, items: ast.expr) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    called = items.func.id if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) else ""
    first = items.args[0] if isinstance(items, ast.Call) and items.args else None
    if isinstance(items, ast.List | ast.Tuple | ast.Set) and items.elts:
        yield from ((target, item) for item in items.elts)
    elif called == "range" or (called == "map" and isinstance(first, ast.Name) and first.id in ("int", "float")):
        yield target, _A_NUMBER if isinstance(target, ast.Name) else None
    elif called == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        yield target.elts[0], _A_NUMBER
        yield from _of_loop(target.elts[1], ast.Name(id="") if first is None else first)
    else:
        yield target, None


def _other_names(node: ast.AST) -> Iterator[str]:
    """Names that are bound by something else than an assignment, a loop or a call."""
    if isinstance(node, ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names if alias.asname)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name is not None:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest


def _origins(nodes: list[ast.AST]) -> dict[str, frozenset[str]]:
    """What binds each name, wherever that is."""
    found: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                found.setdefault(alias.asname or first, set()).add(alias.name if alias.asname else first)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, set()).add(f"{node.module}.{alias.name}")
        else:
            for name in _bound_names(node):
                found.setdefault(name, set()).add(f"<{id(node)}>")
    return {name: frozenset(origins) for name, origins in found.items()}


def _bound_names(node: ast.AST) -> Iterator[str]:
    """Names that a node binds itself, imports apart."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    else:
        yield from _other_names(node)


def _of_body(made: ast.ClassDef) -> Iterator[ast.AST]:
    """The nodes of a class that run in its own scope."""
    waiting: list[ast.AST] = [*made.body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _own_attributes(nodes: Iterable[ast.AST], in_classes: Iterable[ast.AST]) -> Iterator[str]:
    """Methods and fields of classes, attributes that are set, and what may name either: keywords and texts."""
    for node in in_classes:
        yield from _bound_names(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.keyword) and node.arg is not None:
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
