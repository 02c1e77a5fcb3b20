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
_KEEPING = frozenset({"list", "tuple", "set", "frozenset", "sorted", "dict", "Counter", "OrderedDict", "deque"})
"""what keeps each thing that a loop gives, so that it is empty only where the loop gives nothing"""
_GOING_ON = frozenset({"starmap", "enumerate", "iter", "map", "chain"})
"""what gives something for each thing that it is given"""
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
            is_open = is_open or id(node) in self._expecting or _is_of_plain(node)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):  # type: ignore[attr-defined]
                found[line, kind] = found.get((line, kind), True) and is_open
        yield from (place for place, is_open in found.items() if is_open)
        yield from self._sized_places(compared)

    def _sized_places(self, compared: list[tuple[ast.AST, str, list[ast.expr]]]) -> Iterator[tuple[int, str]]:
        """(line, kind) of each comparison of a value whose size the tests have asserted."""
        sizes = [size for node in self._nodes for size in self._asserted_sizes(node)]
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

    def _asserted_sizes(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr, bool]]:
        """(statement, what is spoken of, whether it tells of all elements) where a statement asserts a size of what a
        name means or one call gives, or that it is empty, and nothing of the candidate's is in what it is compared
        with."""
        said: list[list[ast.expr]] = []
        if isinstance(node, ast.Assert):
            for test in _all_of(node.test):
                if _is_equality(test):
                    said.append([test.left, *test.comparators])  # type: ignore[attr-defined]
                elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                    said.append([test.operand, ast.Constant(0)])
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and len(node.value.args) > 1:
            func = node.value.func
            said += [node.value.args[:2]] if isinstance(func, ast.Attribute) and func.attr in _EQUALS else []
        for sides in said:
            for side, other in (sides, sides[::-1]):
                is_whole = isinstance(side, ast.Attribute) and side.attr in _WHOLE_SIZES
                is_length = isinstance(side, ast.Call) and getattr(side.func, "id", "") == "len" and len(side.args) == 1
                of = side.value if is_whole else side.args[0] if is_length else None  # type: ignore[attr-defined]
                if of is None and _is_nothing(other):
                    is_list = isinstance(side, ast.Call) and getattr(side.func, "attr", "") == "tolist"
                    of = side.func.value if is_list else side  # type: ignore[attr-defined]
                is_one = isinstance(of, ast.Name) or (isinstance(of, ast.Call) and not self._is_of_tests(of))
                if of is not None and is_one and self._is_of_tests(other):
                    yield node, of, is_whole or _is_nothing(other)

    def _is_of_tests(self, node: ast.AST, known: str = "") -> bool:
        """All that it is made of is the tests' own: constants, what loops go through, rows of a table of cases."""
        if known and ast.dump(node) == known:
            return True
        if known and not isinstance(node, ast.Name):
            return all(self._is_of_tests(part, known) for part in ast.iter_child_nodes(node))
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        return all(self._origins(each, _NONE_YET) <= self._of_tables(each) for each in names)

    def _of_tables(self, node: ast.Name) -> frozenset[str]:
        """Parameters of the function around it that a decorator names."""
        above: ast.AST | None = node
        while above is not None and not isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            above = self._above.get(id(above))
        decorators = above.decorator_list if above is not None else []
        texts = [part.value for each in decorators for part in ast.walk(each) if isinstance(part, ast.Constant)]
        return frozenset(name.strip() for text in texts if isinstance(text, str) for name in text.split(","))

    def _is_sized(
        self, node: ast.AST, sides: list[ast.expr], said: ast.AST, of: ast.expr, is_whole: bool
    ) -> bool | None:
        """The statement says how large a side is; None where it does not."""
        scope = self._scopes[id(said)]
        is_within = any(part is node for part in ast.walk(said))
        at = self._scopes[id(node)]
        if not is_within and (at is not scope or said.lineno >= node.lineno):  # type: ignore[attr-defined]
            return None
        names = [part.id for part in ast.walk(of) if isinstance(part, ast.Name)]
        most = 1 if isinstance(of, ast.Call) else len(scope.bound.get(names[0], ()))
        if most != 1 or any(len(scope.bound.get(name, ())) > 1 for name in names):
            return None
        block, above = self._above.get(id(said)), self._above.get(id(node))
        while above is not None and above is not block:
            above = self._above.get(id(above))
        if above is None:  # it may not have been come to
            return None
        known = ast.dump(of)
        for side, other in (sides, sides[::-1]) if len(sides) == 2 else ():
            is_it = ast.dump(side) == known
            is_of_it = is_it or any(type(part) is type(of) and ast.dump(part) == known for part in ast.walk(side))
            if is_of_it and self._is_of_tests(other) and (is_it or (is_whole and self._is_of_tests(side, known))):
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
        if isinstance(node, ast.Call) and self._keeps_all(node):
            return True
        if isinstance(node, ast.BinOp):
            return self._is_kept(node)
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

    def _keeps_all(self, pairs: ast.Call) -> bool:
        """Each pair that `zip` or `map` gives is a part of something whole that is asserted to be empty, or to be equal
        to something: one that has a part is another one."""
        node: ast.AST = pairs
        if _called_by(pairs) not in ("zip", "map"):
            return False
        while True:
            above = self._above.get(id(node))
            name = _called_by(above) if isinstance(above, ast.Call) and node in above.args else ""
            if isinstance(above, ast.comprehension) and node is above.iter and not above.ifs:
                whole = self._above.get(id(above))
                if not isinstance(whole, (*_COMPREHENSIONS, ast.DictComp)) or len(whole.generators) != 1:
                    return False
                if not isinstance(whole, ast.GeneratorExp):
                    return self._is_kept(whole)
                node = whole
            elif name in _GOING_ON:
                node = above  # type: ignore[assignment]
            elif name in _KEEPING or (name == "join" and _is_something(node)):
                return self._is_kept(above)  # type: ignore[arg-type]
            elif name == "sum" and isinstance(node, ast.GeneratorExp) and isinstance(node.elt, ast.Constant):
                return bool(node.elt.value) and self._is_kept(above)  # type: ignore[arg-type]
            elif name == "next" and isinstance(above, ast.Call) and len(above.args) == 2 and _is_something(node):
                return self._is_compared(above, ast.dump(above.args[1]))
            else:
                return False

    def _is_kept(self, node: ast.AST, depth: int = 0) -> bool:
        """This is asserted to be equal to something, as a whole, or to be nothing; where a function of the tests' own
        returns it, wherever that is called."""
        above = self._above.get(id(node))
        if isinstance(above, ast.Attribute) and above.attr == "tolist":
            node, above = above, self._above.get(id(above))
        if isinstance(above, ast.Call) and _called_by(above) in (*_KEEPING, "tolist", "len"):
            return self._is_kept(above, depth)
        if isinstance(above, ast.Return) and not depth:
            function = self._above.get(id(above))
            if not isinstance(function, ast.FunctionDef) or function.body != [above]:
                return False
            uses = [each for each in self._nodes if isinstance(each, ast.Name) and each.id == function.name]
            calls = [self._above.get(id(each)) for each in uses]
            return bool(calls) and all(
                isinstance(call, ast.Call) and call.func is each and self._is_kept(call, 1)
                for call, each in zip(calls, uses)  # noqa: B905 (Python 3.8)
            )
        if isinstance(node, ast.BinOp):
            return False
        return self._is_compared(node)

    def _is_compared(self, node: ast.AST, other: str = "") -> bool:
        """It is asserted to be equal to something, or to be `other`."""
        above = self._above.get(id(node))
        if isinstance(above, ast.Compare) and len(above.ops) == 1 and isinstance(above.ops[0], (ast.Eq, ast.Is)):
            sides = [above.left, *above.comparators]
            asserted, top = above, self._above.get(id(above))
            while isinstance(top, ast.BoolOp) and isinstance(top.op, ast.And):
                asserted, top = top, self._above.get(id(top))  # type: ignore[assignment]
            is_asserted = isinstance(top, ast.Assert) and top.test is asserted
            return is_asserted and (not other or any(ast.dump(side) == other for side in sides if side is not node))
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and above.func.attr in _EQUALS:
            return not other or any(ast.dump(side) == other for side in above.args if side is not node)
        return False

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


def _all_of(test: ast.expr) -> Iterator[ast.expr]:
    """Conditions of which each has to hold."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for each in test.values:
            yield from _all_of(each)
    else:
        yield test


def _is_something(node: ast.AST) -> bool:
    """What a loop gives for each pair is of the pair, and not what says how its parts differ."""
    made: ast.AST | None = getattr(node, "elt", None)
    if isinstance(node, ast.Call) and isinstance(node.args[0], ast.Lambda):
        made = node.args[0].body
    is_text = isinstance(made, ast.Call) and getattr(made.func, "id", "") == "str"
    is_sum = isinstance(made, ast.BinOp) and isinstance(made.op, ast.Add)
    return is_text or is_sum or isinstance(made, (ast.Name, ast.Tuple, ast.JoinedStr))


def _called_by(node: ast.AST | None) -> str:
    """The name by which something is called."""
    func = getattr(node, "func", None)
    return str(getattr(func, "attr", getattr(func, "id", "")))


def _is_of_plain(node: ast.AST) -> bool:
    """It compares a number or a list that is made of an array, which has or has not the elements of another one."""
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    return any(
        isinstance(side, ast.Call) and not side.args and _called_by(side) in ("tolist", "item", "sum", "any", "all")
        for side in sides
    )


def _is_nothing(node: ast.AST) -> bool:
    """It is written 0, False, or as an empty collection."""
    if isinstance(node, ast.Call):
        return not node.args and not node.keywords and getattr(node.func, "id", "") in ("set", "frozenset", "list",
                                                                                        "dict", "tuple")  # fmt: skip
    if isinstance(node, ast.Constant):
        return node.value is not None and node.value is not ... and not node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return not node.elts
    return isinstance(node, ast.Dict) and not node.keys


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in _SELVES


def _union(found: Any) -> frozenset[str]:
    return frozenset().union(*found)
