"""Expected values that trusted tests hold in tables, constants and arguments of their own functions.

    for n, e in CASES: assert f(n) == e            a column of a table, by the loop's name
    for row in CASES: assert f(row[0]) == row[1]   or by a constant index
    @pytest.mark.parametrize("n, e", CASES)        or by a parameter
    check(4, 8)                                    an argument of a function that compares it
    assertEqual(f(4), self.EXPECTED)               a constant of a class, a module or another trusted file

A value can be taken out of its place where everything that the tests do with it is to compare an answer with it. What
is used in another way, or in a way that the text does not tell, is blocked: it stays.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harena.scoring.scorers.tests_own_text import documentation, words_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Key = tuple[str, str]
"""(path of a text, name bound there)"""
Pairs = Callable[[ast.AST], Iterator[tuple[ast.expr, ast.expr]]]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a syntax tree that holds one expression."""

    holder: Any
    index: Any
    """an index of a list, or the name of an attribute"""

    @property
    def node(self) -> ast.expr:
        """The expression."""
        found: ast.expr = getattr(self.holder, self.index) if isinstance(self.index, str) else self.holder[self.index]
        return found

    def put(self, node: ast.expr) -> None:
        """Replace the expression."""
        if isinstance(self.index, str):
            setattr(self.holder, self.index, node)
        else:
            self.holder[self.index] = node

    @property
    def key(self) -> tuple[int, Any]:
        """What tells it from others."""
        return id(self.holder), self.index

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slot) and self.key == other.key


_Row = Slot | tuple[Any, ...]
"""one expression, or several in their order; () where there is none, as of a key"""


@dataclass(slots=True)
class Tables:
    """Where expected values stand that are compared by a name, and by what they are compared."""

    slots: list[Slot] = field(default_factory=list)
    """in the order of the texts"""
    operands: dict[int, list[Slot]] = field(default_factory=dict)
    """id of an expression that is compared with an answer -> the places of its values"""
    loops: set[int] = field(default_factory=set)
    """ids of loops over tables with at least one row"""
    calls: dict[int, list[Slot]] = field(default_factory=dict)
    """id of a call -> its arguments that are expected values"""
    checks: set[int] = field(default_factory=set)
    """ids of the functions that are called so"""

    def without(self, slots: set[Slot]) -> Tables:
        """What is left where these stay, and what is compared by the same expression."""
        blocked = _spread(self.operands, slots)
        return Tables(
            self.slots,
            {each: found for each, found in self.operands.items() if blocked.isdisjoint(found)},
            self.loops,
            self.calls,
            self.checks,
        )


def tables(trees: Mapping[str, ast.Module], pairs: Pairs, is_literal: Callable[[ast.expr], bool]) -> Tables:
    """What can be taken out of these texts. `pairs`: the two sides of each comparison that can tell an answer."""
    return _Finder(trees, pairs, is_literal).found()


def _spread(operands: Mapping[int, list[Slot]], blocked: set[Slot]) -> set[Slot]:
    """These, and all that are compared by an expression that one of these is compared by."""
    blocked = set(blocked)
    while True:
        more = {slot for found in operands.values() if not blocked.isdisjoint(found) for slot in found} - blocked
        if not more:
            return blocked
        blocked |= more


class _Finder:
    def __init__(self, trees: Mapping[str, ast.Module], pairs: Pairs, is_literal: Callable[[ast.expr], bool]) -> None:
        self._trees, self._is_literal = trees, is_literal
        self._nodes = {path: list(ast.walk(tree)) for path, tree in trees.items()}
        self._sides: set[int] = set()
        """ids of expressions that an answer is compared with"""
        for nodes in self._nodes.values():
            for left, right in (pair for node in nodes for pair in pairs(node)):
                if not is_literal(left) and not is_literal(right):
                    self._sides |= {id(left), id(right)}
        self._pairs = [pair for nodes in self._nodes.values() for node in nodes for pair in pairs(node)]
        self._bound = {path: _bound_once(nodes) for path, nodes in self._nodes.items()}
        self._imported = {path: self._imports(nodes) for path, nodes in self._nodes.items()}
        self._used: Counter[_Key] = Counter()
        """how often a name is used in ways that are followed"""
        self._seen: set[int] = set()
        self._of_fixtures = {
            each.arg
            for nodes in self._nodes.values()
            for node in nodes
            if isinstance(node, _FUNCTIONS) and any("fixture" in ast.unparse(mark) for mark in node.decorator_list)
            for each in (*node.args.args, *node.args.kwonlyargs)
        }
        """names that a fixture asks for, which may be a test's parameters"""
        self._parents_of: dict[int, dict[int, ast.AST]] = {}
        self._made = Tables()
        self._blocked: set[Slot] = set()
        self._of_key: dict[_Key, set[Slot]] = defaultdict(set)

    def found(self) -> Tables:
        for path, nodes in self._nodes.items():
            for scope in (self._trees[path], *(node for node in nodes if isinstance(node, _FUNCTIONS))):
                self._loops(path, scope)
            for node in nodes:
                if isinstance(node, _FUNCTIONS):
                    self._parameters(path, node)
                    self._arguments(node)
            for node in nodes:
                if id(node) in self._sides and isinstance(node, ast.Attribute | ast.Subscript | ast.Name):
                    self._constant(path, node)
        uses = self._uses()
        for key, slots in self._of_key.items():
            if uses[key] != self._used[key]:
                self._blocked |= slots
        made = self._made
        every = {slot for slots in made.operands.values() for slot in slots}
        self._blocked |= {slot for slot in every if not self._is_literal(slot.node)}
        for slot in every:
            if within := every.intersection(_leaves_within(slot.node)):
                self._blocked |= {slot, *within}
        for left, right in self._pairs:
            if id(left) in made.operands and id(right) in made.operands:
                self._blocked.update(made.operands[id(left)], made.operands[id(right)])
        left_over = made.without(self._blocked)
        kept = {slot for slots in left_over.operands.values() for slot in slots}
        left_over.slots = [slot for slot in dict.fromkeys(made.slots) if slot in kept]
        left_over.calls = {call: [each for each in slots if each in kept] for call, slots in made.calls.items()}
        return left_over

    def _claim(self, operand: ast.expr, slots: list[Slot]) -> None:
        self._made.operands.setdefault(id(operand), []).extend(slots)
        self._made.slots += slots

    # names that are bound once

    def _imports(self, nodes: list[ast.AST]) -> dict[str, _Key]:
        """Names that a text has from another one."""
        found = {}
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module:
                ending = node.module.replace(".", "/") + ".py"
                paths = [path for path in self._trees if path == ending or path.endswith(f"/{ending}")]
                if len(paths) == 1:
                    found.update({alias.name: (paths[0], alias.name) for alias in node.names if not alias.asname})
        return found

    def _key(self, path: str, node: ast.AST) -> _Key | None:
        """The binding that a name, or an attribute of `self`, `cls` or a class, stands for."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            name = node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
            name = node.attr
        else:
            return None
        if name in self._bound[path]:
            return path, name
        imported = self._imported[path].get(name) if isinstance(node, ast.Name) else None
        return imported if imported is not None and imported[1] in self._bound[imported[0]] else None

    def _uses(self) -> Counter[_Key]:
        """How often each of the names is used, as far as one can tell."""
        names = defaultdict(list)
        for key in self._of_key:
            names[key[1]].append(key)
        uses: Counter[_Key] = Counter()
        for path, nodes in self._nodes.items():
            alone = documentation(self._trees[path])
            for node in nodes:
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                    for word in words_of(node.value):  # a text that is run or filled in may use the name
                        uses.update(names.get(word, ()))
                name = str(getattr(node, "id", None) or getattr(node, "attr", ""))
                if name not in names or isinstance(getattr(node, "ctx", None), ast.Store):
                    continue
                found = self._key(path, node)
                uses.update([found] if found is not None else names[name])
        return uses

    def _value(self, path: str, node: ast.expr) -> tuple[Slot, _Key] | None:
        key = self._key(path, node)
        if key is None:
            return None
        return Slot(self._bound[key[0]][key[1]], "value"), key

    def _use(self, uses: Mapping[int, _Key]) -> None:
        """These expressions use a name in a way that is followed."""
        for node, key in uses.items():
            if node not in self._seen:
                self._seen.add(node)
                self._used[key] += 1

    def _constant(self, path: str, node: ast.expr) -> None:
        """A value by its name, or by constant indices in what has a name."""
        indices: list[ast.expr] = []
        base = node
        while isinstance(base, ast.Subscript):
            indices.insert(0, base.slice)
            base = base.value
        if self._key(path, base) is None or (value := self._value(path, base)) is None:
            return
        slot, key = value
        inner: _Row | None = slot
        for index in indices:
            inner = _at(inner, index)
        if isinstance(inner, Slot):
            self._use({id(base): key})
            self._of_key[key].add(inner)
            self._claim(node, [inner])

    # tables

    def _rows(self, path: str, node: ast.expr, keys: dict[int, _Key]) -> list[_Row | None] | None:
        """The rows over which a loop runs; `keys`: where the names are put by which it has them."""
        if isinstance(node, ast.List | ast.Tuple):
            if any(isinstance(each, ast.Starred) for each in node.elts):
                return None
            return [Slot(node.elts, index) for index in range(len(node.elts))]
        if isinstance(node, ast.Call) and not node.keywords and isinstance(node.func, ast.Attribute):
            held = self._literal(path, node.func.value, keys)
            if not isinstance(held, ast.Dict) or None in held.keys or node.args:
                return None
            slots = [Slot(held.values, index) for index in range(len(held.values))]
            found: dict[str, list[_Row | None]] = {"items": [((), slot) for slot in slots], "values": [*slots]}
            return found.get(node.func.attr)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            inner = [self._rows(path, each, keys) for each in node.args[: 1 if node.func.id == "enumerate" else None]]
            if node.func.id not in ("enumerate", "zip") or None in inner:
                return None
            if node.func.id == "enumerate":
                return [((), each) for each in inner[0] or ()]
            return [*zip(*(each or () for each in inner), strict=False)]
        held = self._literal(path, node, keys)
        return self._rows(path, held, keys) if held is not None and held is not node else None

    def _literal(self, path: str, node: ast.expr, keys: dict[int, _Key]) -> ast.expr | None:
        if (value := self._value(path, node)) is None:
            return node if isinstance(node, ast.Dict) else None
        keys[id(node)] = value[1]
        return value[0].node

    def _loops(self, path: str, scope: ast.AST) -> None:
        """Loops of one function, or of a module outside of functions."""
        nodes = list(_own(scope))
        loops = [node for node in nodes if isinstance(node, ast.For)]
        bodies: dict[str, set[int]] = defaultdict(set)
        targets: dict[str, set[int]] = defaultdict(set)
        for loop in loops:
            inside = {id(part) for statement in loop.body for part in ast.walk(statement)}
            for part in ast.walk(loop.target):
                if isinstance(part, ast.Name):
                    bodies[part.id] |= inside
                    targets[part.id].add(id(part))
        names = [node for node in ast.walk(scope) if isinstance(node, ast.Name)]
        for loop in loops:
            keys: dict[int, _Key] = {}
            rows = self._rows(path, loop.iter, keys)
            if rows is None:
                continue
            self._use(keys)
            if rows:
                self._made.loops.add(id(loop))
            inside = {id(part) for statement in loop.body for part in ast.walk(statement)}
            by_name = _by_name(loop.target, rows)
            for name, bound in by_name.items():
                is_own = all(
                    id(each) in (bodies[name] if isinstance(each.ctx, ast.Load) else targets[name])
                    for each in names
                    if each.id == name
                )
                self._column(name, bound, scope, keys.values(), is_own=is_own, inside=inside)
            if not by_name:
                self._block(rows, keys.values())

    def _parameters(self, path: str, function: Any) -> None:
        for mark in function.decorator_list:
            name = ast.unparse(mark.func).rpartition(".")[2] if isinstance(mark, ast.Call) else ""
            if name == "parametrize" and len(mark.args) >= 2:
                names, given = _names_of(mark.args[0]), mark.args[1]
            elif name == "expand" and mark.args:
                names, given = [each.arg for each in function.args.args[1:]], mark.args[0]
            else:
                continue
            keys: dict[int, _Key] = {}
            rows = self._rows(path, given, keys)
            if rows is None:
                continue
            self._use(keys)
            rows = [_parameter_set(row) for row in rows]
            if len(names) == 1 and name == "parametrize":
                rows = [row if isinstance(row, tuple) else (row,) for row in rows]
            target = ast.Tuple([ast.Name(each, ast.Store()) for each in names], ast.Store())
            is_direct = len(mark.args) == 2 and all(each.arg in ("ids", "argvalues") for each in mark.keywords)
            for column, bound in _by_name(target, rows).items():
                is_own = (is_direct or name == "expand") and not _is_stored(function, column)
                is_own = is_own and column not in self._of_fixtures
                self._column(column, bound, function, keys.values(), is_own=is_own)

    def _column(
        self,
        name: str,
        rows: list[_Row | None],
        scope: ast.AST,
        keys: Iterable[_Key],
        *,
        is_own: bool,
        inside: Collection[int] | None = None,
    ) -> None:
        """One variable and what it is bound to: each use of it is a comparison, or blocks what it uses."""
        known = [row for row in rows if row is not None]
        for key in keys:
            self._of_key[key].update(leaf for row in known for leaf in _leaves(row))
        if not is_own or len(known) < len(rows):
            self._block(known, keys)
            return
        parents = self._parents(scope)
        for node in ast.walk(scope):
            if not isinstance(node, ast.Name) or node.id != name or not isinstance(node.ctx, ast.Load):
                continue
            if inside is not None and id(node) not in inside:
                continue
            for row in known:
                used: ast.expr = node
                part = row
                while isinstance(parent := parents.get(id(used)), ast.Subscript) and parent.value is used:
                    inner = _at(part, parent.slice)
                    if inner is None:
                        break
                    used, part = parent, inner
                if id(used) in self._sides and isinstance(part, Slot):
                    for key in keys:
                        self._of_key[key].add(part)
                    self._claim(used, [part])
                else:
                    self._block([part], keys)

    def _parents(self, scope: ast.AST) -> dict[int, ast.AST]:
        if id(scope) not in self._parents_of:
            self._parents_of[id(scope)] = {
                id(child): node for node in ast.walk(scope) for child in ast.iter_child_nodes(node)
            }
        return self._parents_of[id(scope)]

    def _block(self, rows: Iterable[_Row | None], keys: Iterable[_Key]) -> None:
        slots = {slot for row in rows if row is not None for leaf in _leaves(row) for slot in _with_inner(leaf)}
        self._blocked |= slots
        for key in keys:
            self._of_key[key] |= slots

    # functions that compare what they are given

    def _arguments(self, function: Any) -> None:
        spec = function.args
        if function.name.startswith("test") or function.decorator_list or spec.vararg or spec.kwarg or spec.posonlyargs:
            return
        calls, others = [], 0
        for nodes in self._nodes.values():
            for node in nodes:
                if isinstance(node, ast.Call) and _called(node) == function.name:
                    calls.append(node)
                elif isinstance(node, _FUNCTIONS) and node.name == function.name and node is not function:
                    return
                elif function.name in (getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "value", "")):
                    others += 1
        if not calls or others != len(calls):
            return
        names = [each.arg for each in (*spec.args, *spec.kwonlyargs)]
        is_method = bool(spec.args) and spec.args[0].arg in ("self", "cls")
        given = [_given(call, names[1:] if is_method else names) for call in calls]
        if any(each is None for each in given):
            return
        for name in names:
            slots = [each[name] for each in given if each is not None and name in each]
            loads = [
                node
                for node in ast.walk(function)
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
            ]
            if len(slots) != len(calls) or not loads or _is_stored(function, name):
                continue
            if all(id(node) in self._sides for node in loads) and all(self._is_literal(each.node) for each in slots):
                self._made.checks.add(id(function))
                for node in loads:
                    self._claim(node, slots)
                for call, slot in zip(calls, slots, strict=True):
                    self._made.calls.setdefault(id(call), []).append(slot)


def _bound_once(nodes: list[ast.AST]) -> dict[str, Any]:
    """Names that a text binds once, by an assignment outside of functions or in one, with that statement."""
    stores = Counter(node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    stores.update(node.arg for node in nodes if isinstance(node, ast.arg))
    stores.update(node.attr for node in nodes if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load))
    stores.update(node.name for node in nodes if isinstance(node, (*_FUNCTIONS, ast.ClassDef)))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    stores.update(alias.asname or alias.name for node in imports for alias in node.names)
    stores.update(name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names)
    found = {}
    for node in nodes:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and node.value is not None:  # type: ignore[attr-defined]
            found[targets[0].id] = node
    return {name: node for name, node in found.items() if stores[name] == 1}


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            yield node
            yield from _own(node)


def _at(row: _Row | None, index: ast.expr) -> _Row | None:
    """A part of a row by a constant index; None where that cannot be told."""
    held = row.node if isinstance(row, Slot) else None
    if isinstance(held, ast.List | ast.Tuple) and not any(isinstance(each, ast.Starred) for each in held.elts):
        row = tuple(Slot(held.elts, place) for place in range(len(held.elts)))
    try:
        if isinstance(index, ast.Slice):
            ends = (index.lower, index.upper, index.step)
            at = slice(*(None if each is None else ast.literal_eval(each) for each in ends))
        else:
            at = ast.literal_eval(index)
        if isinstance(row, tuple):
            found: _Row | None = row[at]
            return found
        if isinstance(held, ast.Dict):
            keys = [ast.literal_eval(key) for key in held.keys if key is not None]
            if len(keys) == len(held.keys) and keys.count(at) == 1:
                return Slot(held.values, keys.index(at))
    except (ValueError, TypeError, IndexError, KeyError, SyntaxError, MemoryError, RecursionError):
        pass
    return None


def _leaves(row: _Row | None) -> list[Slot]:
    if isinstance(row, tuple):
        return [leaf for each in row for leaf in _leaves(each)]
    return [row] if row is not None else []


def _with_inner(slot: Slot) -> set[Slot]:
    return {slot, *_leaves_within(slot.node)}


def _leaves_within(node: ast.AST) -> Iterator[Slot]:
    """The places in a literal."""
    for part in ast.walk(node):
        if isinstance(part, ast.List | ast.Tuple | ast.Set):
            yield from (Slot(part.elts, index) for index in range(len(part.elts)))
        elif isinstance(part, ast.Dict):
            yield from (Slot(part.values, index) for index in range(len(part.values)))
        elif isinstance(part, ast.Call):
            yield from (Slot(part.args, index) for index in range(len(part.args)))


def _by_name(target: ast.expr, rows: list[_Row | None]) -> dict[str, list[_Row | None]]:
    found: dict[str, list[_Row | None]] = {}
    for name, row in _named(target, rows):
        found.setdefault(name, []).append(row)
    return found


def _named(target: ast.expr, rows: list[_Row | None]) -> Iterator[tuple[str, _Row | None]]:
    """The names of a loop's target, each with every part of the rows that it is bound to."""
    for row in rows:
        if isinstance(target, ast.Name):
            yield target.id, row
        elif isinstance(target, ast.Tuple | ast.List):
            for index, each in enumerate(target.elts):
                yield from _named(each, [_at(row, ast.Constant(index))])


def _names_of(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [each.strip() for each in node.value.split(",") if each.strip()]
    if isinstance(node, ast.Tuple | ast.List):
        return [str(each.value) for each in node.elts if isinstance(each, ast.Constant)]
    return []


def _parameter_set(row: _Row | None) -> _Row | None:
    """`pytest.param(1, 2)` -> its arguments."""
    if isinstance(row, Slot) and isinstance(call := row.node, ast.Call):
        if _called(call) != "param" or any(each.arg != "id" for each in call.keywords):
            return row
        return tuple(Slot(call.args, index) for index in range(len(call.args)))
    return row


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "id", None) or getattr(call.func, "attr", ""))


def _given(call: ast.Call, names: list[str]) -> dict[str, Slot] | None:
    """The arguments of a call by the names of parameters."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return None
    found = {name: Slot(call.args, index) for index, name in zip(range(len(call.args)), names, strict=False)}
    return found | {str(each.arg): Slot(each, "value") for each in call.keywords}


def _is_stored(function: ast.AST, name: str) -> bool:
    stored = (node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name)
    return any(not isinstance(node.ctx, ast.Load) for node in stored)
