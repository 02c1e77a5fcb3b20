"""Finds comparisons of the tests' code of which nobody can say that one without elements has not held.

Both sides come from one value of the candidate's (`zip(found, found[1:])`, where `rest = found[1:]` too), or the tests
expect that nothing is equal (`(found == 18).sum() == 0`), or have asserted before how large the value is, by a size of
their own (`assert found.shape == (n, 2)`). The names of a side are followed through assignments, loops and `with` to
what the tests have not made themselves: the candidate's names, and parameters. What a function of the candidate's was
given says nothing of where its answer comes from. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

EQUAL, MINUS, PAIRED = "==", "-", "zip"
OF_LENGTH = " of a length"
"""what follows the kind of a comparison that may be one of nothing where its side without elements has the length 0"""
_WHOLE_SIZES = frozenset({"shape", "size"})
"""attributes that tell whether there are elements at all; a length says nothing of rows without columns"""
_KINDS = {"eq": EQUAL, "ne": EQUAL, "sub": MINUS, "map": PAIRED, "zip": PAIRED}
"""how a comparison by a function of this name is noted"""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp)
_SELVES = ("self", "cls")
_UNEQUAL = frozenset({"assertFalse"})
_EQUALS = frozenset({"assertEqual", "assertEquals", "assertIs", "assertListEqual", "assertDictEqual", "assertSetEqual"})
_NONE_YET: frozenset[str] = frozenset()
_NOWHERE = frozenset({"True", "False", "None"})


def kind_of(name: str) -> str:
    """How a comparison by a function of this name is noted."""
    return _KINDS.get(name, name)


def open_places(tree: ast.AST, here: str) -> set[tuple[int, str]]:
    """(line, kind of comparison) of such comparisons. `here`: the folder of the suite and the candidate."""
    return set(_Sides(tree, here).open_places())


class _Scope:
    def __init__(self, above: _Scope | None) -> None:
        self.above = above
        self.bound: dict[str, list[ast.expr]] = {}
        self.given: set[str] = set()


class _Sides:
    def __init__(self, tree: ast.AST, here: str) -> None:
        self._here = here
        self._above: dict[int, ast.AST] = {}
        self._scopes: dict[int, _Scope] = {}
        self._of_self: dict[str, list[ast.expr]] = {}
        self._libraries: set[str] = set()
        self._own: set[str] = set()
        self._nodes: list[ast.AST] = []
        self._installed: dict[str, bool] = {}
        self._expecting: set[int] = set()
        """comparisons that say how much is equal: none"""
        self._read(tree, _Scope(None))

    def open_places(self) -> Iterator[tuple[int, str]]:
        """(line, kind) of each comparison that may be one of nothing."""
        found: dict[tuple[int, str], bool] = {}
        compared = [(node, *_compared(node)) for node in self._nodes]
        are_open = [bool(kind) and (self._are_of_one(sides) or self._expects_nothing(node))
                    for node, kind, sides in compared]  # fmt: skip
        for (node, kind, _), is_open in zip(compared, are_open):  # noqa: B905 (Python 3.8)
            if not kind:
                continue
            is_open = is_open or id(node) in self._expecting
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):  # type: ignore[attr-defined]
                found[line, kind] = found.get((line, kind), True) and is_open
        yield from (place for place, is_open in found.items() if is_open)
        yield from self._sized_places(compared)

    def _sized_places(self, compared: list[tuple[ast.AST, str, list[ast.expr]]]) -> Iterator[tuple[int, str]]:
        """(line, kind) of each comparison of a value whose size the tests have asserted."""
        sizes = [size for node in self._nodes if (size := self._asserted_size(node)) is not None]
        lines: dict[tuple[int, str], bool] = {}
        for node, kind, sides in compared if sizes else ():
            if not kind:
                continue
            found = {self._is_sized(node, sides, *size) for size in sizes} - {None}
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):  # type: ignore[attr-defined]
                sort = kind if True in found else kind + OF_LENGTH
                lines[line, sort] = lines.get((line, sort), True) and bool(found)
        for (line, sort), is_sized in lines.items():
            plain = sort[: -len(OF_LENGTH)] if sort.endswith(OF_LENGTH) else sort
            if is_sized and (sort != plain or (line, plain + OF_LENGTH) not in lines):
                yield line, sort

    def _asserted_size(self, node: ast.AST) -> tuple[ast.AST, str, bool] | None:
        """(statement, name, whether it tells of all elements) where a statement asserts a size of what a name means,
        and nothing of the candidate's is in what it is compared with."""
        if isinstance(node, ast.Assert) and _is_equality(node.test):
            sides = [node.test.left, *node.test.comparators]  # type: ignore[attr-defined]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and len(node.value.args) > 1:
            func = node.value.func
            sides = node.value.args[:2] if isinstance(func, ast.Attribute) and func.attr in _EQUALS else []
        else:
            return None
        for side, other in (sides, sides[::-1]) if sides else ():
            is_whole = isinstance(side, ast.Attribute) and side.attr in _WHOLE_SIZES
            is_length = isinstance(side, ast.Call) and getattr(side.func, "id", "") == "len" and len(side.args) == 1
            of = side.value if is_whole else side.args[0] if is_length else None
            if isinstance(of, ast.Name) and self._is_of_tests(other):
                return node, of.id, is_whole
        return None

    def _is_of_tests(self, node: ast.AST, known: str = "") -> bool:
        """All that it is made of is the tests' own: constants, what loops go through, rows of a table of cases."""
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id != known]
        return all(self._origins(each, _NONE_YET) <= self._of_tables(each) for each in names)

    def _of_tables(self, node: ast.Name) -> frozenset[str]:
        """Parameters of the function around it that a decorator names."""
        above: ast.AST | None = node
        while above is not None and not isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            above = self._above.get(id(above))
        decorators = above.decorator_list if above is not None else []
        texts = [part.value for each in decorators for part in ast.walk(each) if isinstance(part, ast.Constant)]
        return frozenset(name.strip() for text in texts if isinstance(text, str) for name in text.split(","))

    def _is_sized(self, node: ast.AST, sides: list[ast.expr], said: ast.AST, name: str, is_whole: bool) -> bool | None:
        """The statement says how large a side is; None where it does not."""
        scope = self._scopes[id(said)]
        if self._scopes[id(node)] is not scope or said.lineno >= node.lineno:  # type: ignore[attr-defined]
            return None
        if len(scope.bound.get(name, ())) != 1:
            return None
        block, above = self._above.get(id(said)), self._above.get(id(node))
        while above is not None and above is not block:
            above = self._above.get(id(above))
        if above is None:  # it may not have been come to
            return None
        for side, other in (sides, sides[::-1]) if len(sides) == 2 else ():
            is_it = isinstance(side, ast.Name) and side.id == name
            is_of_it = any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(side))
            if is_of_it and self._is_of_tests(other) and (is_it or (is_whole and self._is_of_tests(side, name))):
                return is_whole
        return None

    # What the text binds.

    def _read(self, tree: ast.AST, first: _Scope) -> None:
        waiting: list[tuple[ast.AST, _Scope]] = [(tree, first)]
        while waiting:
            node, scope = waiting.pop()
            self._nodes.append(node)
            self._scopes[id(node)] = scope
            inner = scope
            if isinstance(node, _FUNCTIONS):
                inner = _Scope(scope)
                given = node.args
                every = [*getattr(given, "posonlyargs", ()), *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
                inner.given.update(each.arg for each in every if each is not None)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._own.add(node.name)
            self._bind(node, scope)
            for part in ast.iter_child_nodes(node):
                self._above[id(part)] = node
                waiting.append((part, inner))

    def _bind(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind_target(target, node.value, scope)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            self._bind_target(node.target, node.value, scope)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._bind_target(node.target, node.iter, scope)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind_target(node.optional_vars, node.context_expr, scope)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if self._is_installed(alias.name):
                    self._libraries.add(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom) and not node.level and self._is_installed(node.module or ""):
            self._libraries.update(alias.asname or alias.name for alias in node.names)

    def _bind_target(self, target: ast.expr, value: ast.expr, scope: _Scope) -> None:
        if isinstance(target, ast.Name):
            scope.bound.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = _parts(value)
            for index, each in enumerate(target.elts):
                self._bind_target(each, parts[index] if len(parts) == len(target.elts) else value, scope)
        elif isinstance(target, ast.Starred):
            self._bind_target(target.value, value, scope)
        elif isinstance(target, ast.Attribute) and _is_self(target.value):
            self._of_self.setdefault(target.attr, []).append(value)

    def _is_installed(self, module: str) -> bool:
        """It is a module of Python's or of a library's, and not in the folder of the suite and the candidate."""
        top = module.partition(".")[0]
        if top not in self._installed:
            folders = [path for path in sys.path if path and not self._is_here(path)]
            try:
                found = top in sys.builtin_module_names or bool(importlib.machinery.PathFinder.find_spec(top, folders))
            except (ImportError, ValueError):
                found = False
            self._installed[top] = found and not any(
                os.path.exists(os.path.join(self._here, top + end)) for end in (".py", os.sep)
            )
        return self._installed[top]

    def _is_here(self, path: str) -> bool:
        return os.path.join(os.path.realpath(path), "").startswith(os.path.join(self._here, ""))

    # Where a side comes from.

    def _are_of_one(self, sides: list[ast.expr]) -> bool:
        found = [self._origins(side, _NONE_YET) for side in sides]
        return any(one & other for at, one in enumerate(found) for other in found[:at])

    def _origins(self, node: ast.AST, met: frozenset[str]) -> frozenset[str]:
        if isinstance(node, ast.Name):
            return self._origins_of_name(node, met)
        if isinstance(node, ast.Attribute) and _is_self(node.value):
            name = f"self.{node.attr}"
            values = self._of_self.get(node.attr)
            if values is None or name in met:
                return frozenset({name})
            return _union(self._origins(value, met | {name}) for value in values)
        if isinstance(node, ast.Subscript):
            return self._origins(node.value, met)
        if isinstance(node, ast.Call):
            return self._origins_of_call(node, met)
        if isinstance(node, _COMPREHENSIONS):
            return self._origins(node.elt, met)
        if isinstance(node, ast.Lambda):
            return _NONE_YET
        return _union(self._origins(part, met) for part in ast.iter_child_nodes(node))

    def _origins_of_name(self, node: ast.Name, met: frozenset[str]) -> frozenset[str]:
        name = node.id
        scope: _Scope | None = self._scopes[id(node)]
        while scope is not None:
            values = scope.bound.get(name, ())
            mine = frozenset({name}) if name in scope.given else _NONE_YET
            if values or mine:
                key = f"{id(scope)} {name}"
                return mine if key in met else mine | _union(self._origins(each, met | {key}) for each in values)
            scope = scope.above
        is_known = name in self._libraries or name in self._own or name in _NOWHERE or hasattr(builtins, name)
        return _NONE_YET if is_known else frozenset({name})

    def _origins_of_call(self, node: ast.Call, met: frozenset[str]) -> frozenset[str]:
        func = node.func
        given = [*node.args, *(each.value for each in node.keywords)]
        if isinstance(func, ast.Attribute):
            found = self._origins(func.value, met)
            if _is_self(func.value):
                found = frozenset({ast.dump(node)}) if func.attr in self._own else self._origins(func, met)
            return found or _union(self._origins(each, met) for each in given)
        if isinstance(func, ast.Name) and func.id in self._own:  # a helper of the tests': one call has one answer
            inside = _union(self._origins(each, met) for each in given)
            scope: _Scope | None = self._scopes[id(node)]
            while scope is not None:
                inside -= scope.given
                scope = scope.above
            return inside | {ast.dump(node)}
        return self._origins(func, met) or _union(self._origins(each, met) for each in given)

    # What the tests expect.

    def _expects_nothing(self, node: ast.AST) -> bool:
        """The tests expect that nothing is equal, or that there are no pairs."""
        is_kept = False
        if isinstance(node, ast.Call):
            loop = self._above.get(id(node))
            whole = self._above.get(id(loop)) if isinstance(loop, ast.comprehension) else None
            if not isinstance(whole, (*_COMPREHENSIONS, ast.DictComp)):
                return False
            is_kept = not isinstance(whole, ast.GeneratorExp)
            if not is_kept and not (isinstance(whole, _COMPREHENSIONS) and _is_equality(whole.elt)):
                return False
            node = whole
        elif not _is_equality(node):
            return False
        return self._is_expected_empty(node)

    def _is_expected_empty(self, node: ast.AST, depth: int = 0) -> bool:
        above = self._above.get(id(node))
        while isinstance(above, (ast.Attribute, ast.Call)):
            if isinstance(above, ast.Call) and node is not above.func:
                name = above.func.attr if isinstance(above.func, ast.Attribute) else ""
                if name in _UNEQUAL:
                    return True
                if name in _EQUALS and any(map(_is_nothing, above.args)):
                    return True
            node, above = above, self._above.get(id(above))
        if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
            return True
        if isinstance(above, ast.Compare):
            is_same = len(above.ops) == 1 and isinstance(above.ops[0], (ast.Eq, ast.Is))
            is_nothing = is_same and any(map(_is_nothing, (above.left, above.comparators[0])))
            if is_nothing:
                self._expecting.add(id(above))
            return is_nothing
        if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
            name, scope = above.targets[0].id, self._scopes[id(above)]
            uses = [
                each for each in self._nodes
                if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load)
                and self._scopes[id(each)] is scope
            ]  # fmt: skip
            return not depth and bool(uses) and all(self._is_expected_empty(each, 1) for each in uses)
        return False


def _parts(value: ast.expr) -> list[ast.expr]:
    """What stands for each name of several that are bound at once, as far as the text tells."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return value.elts
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        if value.func.id == "zip":
            return value.args
        if value.func.id == "enumerate" and value.args:
            return [ast.Constant(0), value.args[0]]
    return []


def _compared(node: ast.AST) -> tuple[str, list[ast.expr]]:
    """The kind of a comparison, and its sides; an empty kind for what is none."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return EQUAL, [node.left, node.comparators[0]]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return MINUS, [node.left, node.right]
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [*node.args, *(each.value for each in node.keywords if each.arg and "tol" not in each.arg)]
        if name == "map":
            given = given[1:]
        if name and len(given) > 1:
            return kind_of(name), given if kind_of(name) == PAIRED else given[:2]
    return "", []


def _is_equality(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)


def _is_nothing(node: ast.AST) -> bool:
    """It is written 0, False, or as an empty collection."""
    if isinstance(node, ast.Constant):
        return node.value is not None and node.value is not ... and not node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return not node.elts
    return isinstance(node, ast.Dict) and not node.keys


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in _SELVES


def _union(found: Any) -> frozenset[str]:
    return frozenset().union(*found)
