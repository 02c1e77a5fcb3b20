"""Tests whose expected values the candidate's own functions make: with other literals in them.

`assert Vec(1, 2) + Vec(3, 4) == Vec(4, 6)` and `assert norm(f("b a")) == norm(["a", "b"])` say something only if what
was answered does not equal `Vec(5, 9)` and `norm(["x", "q"])` as well. A *place* is such a comparison: one side is made
of literals by functions and classes of the candidate's, or is what the candidate has under a name (`Color.GREEN`); the
other one is the answer. Here these sides are found in the text of tests, and written with others: numbers and texts of
the same kind and size, in the same order, or another name that the tests look up in the same class or module. A changed
place fails the test where the two are equal all the same, and says so by a mark; where they differ the test goes on.
"""

from __future__ import annotations

import ast
import builtins
import copy
import random
import re
import secrets
import string
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.python_source import parts_of, syntax_tree

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Change = Literal["other", "both"]
_MOST_SOURCE = 400_000
_MOST_PLACES = 400
_ASSERTED = frozenset({f"assert{kind}Equal" for kind in ("", "List", "Dict", "Set", "Tuple", "Sequence", "MultiLine")})
_BUILTINS = frozenset(vars(builtins))
_SAY_LITTLE = frozenset({"len", "hash", "type", "bool", "id", "isinstance", "issubclass", "callable", "hasattr"})
"""builtins that give the same for many values"""
_LETTERS = (string.ascii_lowercase, string.ascii_uppercase, string.digits[1:])
_TRIES = 20
_UNWRITTEN = (ValueError, RecursionError, MemoryError)
"""what Python's own writer of programs raises for what its reader has taken: nested deeply, a number of many digits"""
_AS_IT_IS = """
try:
    from ast import literal_eval as {name}_read
    {name}_copy = {name}_read(repr({name})) if type({name}) in (list, tuple, dict, set) else {name}
    {name}_copy = {name}_copy if {name}_copy == {name} else {name}
except Exception:
    {name}_copy = {name}
"""
"""takes a copy of plain values, which nothing that is made later fills in"""
_DICE = random.SystemRandom()


@dataclass(slots=True)
class _Site:
    """One assertion in which a place is compared."""

    statement: ast.stmt
    number: int
    """which part of the assertion it is, of those that `and` joins"""
    answer: ast.expr
    expected: ast.expr
    answer_is_first: bool


@dataclass(slots=True)
class _Place:
    made: list[ast.expr]
    """what makes the expected side: one expression, or one for each row of a table of parameters"""
    is_certain: bool
    """a right program's answer cannot have come from what is made there"""
    sites: list[_Site] = field(default_factory=list)
    assigned: ast.Assign | None = None


_Changed = tuple[int, _Site, ast.expr, ast.expr]
"""number and site of a place, what is expected there, and what other literals make"""


@dataclass(frozen=True, slots=True)
class ChangedTests:
    """Tests with other literals at some places."""

    contract: CommandContract
    _mark: str

    def marked(self, told: str) -> int | None:
        """The number of the place at which the tests say that they failed for what is equal there, or is not; None if
        they say nothing of that."""
        found = re.search(rf"\b{self._mark}_(\d{{1,6}})\b", told)
        return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class LiteralTests:
    """The places in the tests of one contract, by number."""

    places: tuple[int, ...]
    """in the order of the text"""
    certain: frozenset[int]
    """places that say something without a gold solution"""
    _contract: CommandContract
    _modules: frozenset[str]

    def changed(self, places: Collection[int]) -> ChangedTests | None:
        """Tests that fail at the first of these places where the answer equals what other literals make; None where
        such a text cannot be written."""
        try:
            return self._written(self._drawn(places), "other")
        except _UNWRITTEN:
            return None

    def told_apart(self, place: int) -> tuple[ChangedTests, ChangedTests] | None:
        """(as `changed` with this place alone, tests that fail at the same place unless the answer equals both what the
        literals of the text make and what the same other ones make, where both are made before it is asked for, and
        these equal each other)"""
        try:
            drawn = self._drawn((place,))
            return self._written(drawn, "other"), self._written(drawn, "both")
        except _UNWRITTEN:
            return None

    def _drawn(self, places: Collection[int]) -> dict[int, list[ast.expr]]:
        """By the number of a place: what is made there with other literals."""
        _, found = _read(self._contract, self._modules)
        return {
            number: [changed_expression(each, found.looked_up) for each in found.places[number].made]
            for number in places
        }

    def _written(self, drawn: Mapping[int, list[ast.expr]], change: _Change) -> ChangedTests:
        trees, found = _read(self._contract, self._modules)
        mark = f"place_{secrets.token_hex(6)}"
        writer = _Writer(change, mark)
        for number, others in drawn.items():
            writer.change(number, found.places[number], copy.deepcopy(others))
        texts = {
            path: ast.unparse(ast.fix_missing_locations(writer.visit(tree))) + "\n" for path, tree in trees.items()
        }
        if self._contract.asserts is not None:
            update: dict[str, object] = {"asserts": texts[""]}
        else:
            update = {"files": {**self._contract.files, **texts}}
        copied = self._contract.model_copy(update=update)
        vars(copied).pop("fingerprint", None)  # a copy has what was computed of the contract, too
        return ChangedTests(copied, mark)


def literal_tests(contract: CommandContract, modules: Iterable[str]) -> LiteralTests | None:
    """The places of a contract's tests; None if there are none. `modules`: names of the candidate's modules."""
    theirs = frozenset(modules)
    try:
        _, found = _read(contract, theirs)
    except (SyntaxError, *_UNWRITTEN):
        return None
    numbers = range(min(len(found.places), _MOST_PLACES))
    certain = frozenset(number for number in numbers if found.places[number].is_certain)
    return LiteralTests(tuple(numbers), certain, contract, theirs) if numbers else None


@dataclass(slots=True)
class _ExpectedPlaces:
    places: list[_Place]
    looked_up: Mapping[str, list[str]]


def _read(contract: CommandContract, modules: frozenset[str]) -> tuple[dict[str, ast.Module], _ExpectedPlaces]:
    texts = {"": contract.asserts} if contract.asserts is not None else dict(contract.files)
    trees, places, looked_up = {}, list[_Place](), defaultdict[str, list[str]](list)
    for path, text in texts.items():
        if path and not path.endswith(".py"):
            continue
        if len(text) > _MOST_SOURCE:
            raise ValueError("the tests are too long to be read")
        tree = syntax_tree(text)
        reader = _Reader(tree, modules, is_asserts=not path)
        if reader.theirs:
            trees[path] = tree
            places += reader.found()
            for prefix, names in reader.looked_up.items():
                looked_up[prefix] += [name for name in names if name not in looked_up[prefix]]
    return trees, _ExpectedPlaces(places, looked_up)


class _Reader:
    """The places in one text."""

    def __init__(self, tree: ast.Module, modules: frozenset[str], *, is_asserts: bool) -> None:
        self._tree = tree
        imported, trusted, bound = set[str](), set[str](), set[str]()
        is_starred = is_asserts
        nodes = list(parts_of(tree))
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    module = alias.name if isinstance(node, ast.Import) else node.module or ""
                    first = module.partition(".")[0]
                    name = alias.asname or alias.name.partition(".")[0]
                    is_theirs = first in modules and not (isinstance(node, ast.ImportFrom) and node.level)
                    is_starred = is_starred or (is_theirs and alias.name == "*")
                    if alias.name != "*":
                        (imported if is_theirs else trusted if first in sys.stdlib_module_names else bound).add(name)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, _Function | ast.ClassDef | ast.ExceptHandler):
                bound.add(node.name or "")
        free = {node.id for node in nodes if isinstance(node, ast.Name)} - bound - trusted - _BUILTINS
        self.theirs = frozenset((imported - bound) | (free if is_starred else set()))
        self._plain = (_BUILTINS | trusted) - bound - self.theirs
        self.looked_up = self._looked_up(nodes)

    def _looked_up(self, nodes: list[ast.AST]) -> dict[str, list[str]]:
        """What is looked up in a class or module of the candidate's, and neither called nor looked into, by whose."""
        within = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        within |= {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        found = defaultdict[str, list[str]](list)
        for node in nodes:
            if isinstance(node, ast.Attribute) and id(node) not in within and self._is_rooted(node):
                names = found[ast.unparse(node.value)]
                if node.attr not in names:
                    names.append(node.attr)
        return found

    def _is_rooted(self, node: ast.expr) -> bool:
        """`solution`, `Color`, `Color.GREEN`, `Tree.from_list`: names alone, of which the first is the candidate's."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.theirs

    def found(self) -> Iterator[_Place]:
        """The places, in their order."""
        yield from self._places_in(self._tree)

    def _places_in(self, scope: ast.AST) -> Iterator[_Place]:
        own = list(_own(scope))
        stored = defaultdict[str, list[ast.AST]](list)
        loads = defaultdict[str, int](int)
        for node in own:
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    loads[node.id] += 1
                else:
                    stored[node.id].append(node)
        inner = [node for node in own if isinstance(node, _Function | ast.Lambda)]
        for each in inner:
            for node in ast.walk(each):
                if isinstance(node, ast.Name):
                    loads[node.id] += 2  # it is used elsewhere, too
        assigned = {
            node.targets[0].id: node
            for node in own
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
            and len(stored[node.targets[0].id]) == 1
        }  # fmt: skip
        rows = self._rows(scope)
        for node in own:
            if isinstance(node, ast.For) and isinstance(node.iter, ast.List | ast.Tuple):
                targets = node.target.elts if isinstance(node.target, ast.Tuple | ast.List) else [node.target]
                names = [each.id for each in targets if isinstance(each, ast.Name) and len(stored[each.id]) == 1]
                rows.update(_columns(names if len(names) == len(targets) else [], node.iter))
        made: dict[str, _Place] = {}
        places: list[_Place] = []
        for statement in own:
            if not isinstance(statement, ast.stmt):
                continue
            for number, (left, right) in _compared(statement):
                place = self._place(left, right, statement, number, assigned, rows, made)
                if place is not None and place not in places:
                    places.append(place)
        for name, place in made.items():
            if loads[name] != len(place.sites):  # it is given to something else
                places.remove(place)
        yield from places
        for node in own:
            if isinstance(node, _Function | ast.ClassDef):
                yield from self._places_in(node)

    def _place(
        self,
        left: ast.expr,
        right: ast.expr,
        statement: ast.stmt,
        number: int,
        assigned: Mapping[str, ast.Assign],
        rows: Mapping[str, list[ast.expr]],
        made: dict[str, _Place],
    ) -> _Place | None:
        ways: list[tuple[int, ast.expr, ast.expr]] = []
        for side, other in ((right, left), (left, right)):
            exprs = self._made(side, assigned, rows)
            if exprs and self._may_answer(other, assigned) and not _are_one_call(side, other):
                ways.append((_steps(exprs[0]), side, other))
        if not ways:
            return None
        _, expected, answer = min(ways, key=lambda way: way[0])
        site = _Site(statement, number, answer, expected, answer is left)
        source = expected.id if isinstance(expected, ast.Name) else ""
        if source in made:
            made[source].sites.append(site)
            return made[source]
        value = assigned[answer.id].value if isinstance(answer, ast.Name) and answer.id in assigned else answer
        if source in assigned:
            is_named = isinstance(answer, ast.Name) and answer.id in assigned
            is_after = is_named and _where(assigned[answer.id]) < _where(assigned[source])  # type: ignore[attr-defined]
        else:
            is_after = not source and (answer is left or value is not answer)
        is_operator = isinstance(value, ast.BinOp) or (
            isinstance(value, ast.UnaryOp) and not isinstance(value.op, ast.Not)
        )
        place = _Place(self._made(expected, assigned, rows), is_after or is_operator, [site], assigned.get(source))
        if source:
            made[source] = place
        return place

    def _made(
        self, side: ast.expr, assigned: Mapping[str, ast.Assign], rows: Mapping[str, list[ast.expr]]
    ) -> list[ast.expr]:
        """What makes this side, if it is made of literals by the candidate's functions, or looked up; else nothing."""
        if isinstance(side, ast.Name) and side.id in assigned:
            exprs = [assigned[side.id].value]
        elif isinstance(side, ast.Name) and side.id in rows:
            exprs = rows[side.id]
        else:
            exprs = [side]
        exprs = [each for each in exprs if not isinstance(each, ast.Constant)]
        if not exprs or not all(map(self._is_pure, exprs)) or any(map(_says_little, exprs)):
            return []
        are_theirs = any(self._has_theirs(each) and _Changes(each, self.looked_up).are_any for each in exprs)
        return exprs if are_theirs else []

    def _is_pure(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in self.theirs or node.id in self._plain
        if isinstance(node, ast.Attribute):
            return self._is_pure(node.value)
        if isinstance(node, ast.Call):
            return all(map(self._is_pure, (node.func, *node.args, *(each.value for each in node.keywords))))
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return all(map(self._is_pure, node.elts))
        if isinstance(node, ast.Dict):
            return None not in node.keys and all(map(self._is_pure, (*node.keys, *node.values)))  # type: ignore[arg-type]
        if isinstance(node, ast.UnaryOp):
            return self._is_pure(node.operand)
        if isinstance(node, ast.BinOp):
            return self._is_pure(node.left) and self._is_pure(node.right)
        if isinstance(node, ast.Subscript):
            return self._is_pure(node.value) and self._is_pure(node.slice)
        return isinstance(node, ast.Starred) and self._is_pure(node.value)

    def _has_theirs(self, node: ast.expr) -> bool:
        return any(isinstance(each, ast.Name) and each.id in self.theirs for each in ast.walk(node))

    def _may_answer(self, node: ast.expr, assigned: Mapping[str, ast.Assign]) -> bool:
        """It may come from the candidate, and not by a look-up alone."""
        if isinstance(node, ast.Name) and node.id in assigned:
            node = assigned[node.id].value
        if isinstance(node, ast.Attribute) and self._is_rooted(node):
            return False
        return any(isinstance(each, ast.Name) and each.id not in self._plain for each in ast.walk(node))

    def _rows(self, scope: ast.AST) -> dict[str, list[ast.expr]]:
        """By the name of a parameter of a test: what the rows of its table have for it."""
        found: dict[str, list[ast.expr]] = {}
        for call in scope.decorator_list if isinstance(scope, _Function) else ():
            if not isinstance(call, ast.Call) or len(call.args) != 2 or not isinstance(call.func, ast.Attribute):
                continue
            named, table = call.args
            if call.func.attr != "parametrize" or not isinstance(table, ast.List | ast.Tuple):
                continue
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                names = [each.strip() for each in named.value.split(",") if each.strip()]
            elif isinstance(named, ast.List | ast.Tuple):
                names = [str(each.value) for each in named.elts if isinstance(each, ast.Constant)]
            else:
                continue
            found.update(_columns(names, table))
        return found


def _columns(names: list[str], table: ast.List | ast.Tuple) -> dict[str, list[ast.expr]]:
    """By name: what the rows have for it."""
    rows = [_cells(row, len(names)) for row in table.elts]
    if not rows or any(len(row) != len(names) for row in rows):
        return {}
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def _cells(row: ast.expr, count: int) -> list[ast.expr]:
    if isinstance(row, ast.Call) and getattr(row.func, "attr", getattr(row.func, "id", "")) == "param":
        return list(row.args)
    if count == 1:
        return [row]
    return list(row.elts) if isinstance(row, ast.Tuple | ast.List) else []


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The parts of a scope in the order of the text, with functions and classes in it, and not what is in these."""
    for node in scope.body if isinstance(scope, ast.Module | ast.ClassDef | _Function) else ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, _Function | ast.ClassDef | ast.Lambda):
            yield from _own(node)


def _parts(test: ast.expr) -> list[ast.expr]:
    """What `and` joins."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [part for each in test.values for part in _parts(each)]
    return [test]


def _compared(statement: ast.stmt) -> Iterator[tuple[int, tuple[ast.expr, ast.expr]]]:
    """The pairs that an assertion says are equal, by the number of its part."""
    if isinstance(statement, ast.Assert):
        parts = _parts(statement.test)
    elif (call := _asserting(statement)) is not None and call.func.attr == "assertTrue":  # type: ignore[attr-defined]
        parts = call.args[:1]
    elif call is not None:
        yield 0, (call.args[0], call.args[1])
        return
    else:
        return
    for number, part in enumerate(parts):
        if isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], ast.Eq):
            yield number, (part.left, part.comparators[0])


def _asserting(statement: ast.stmt) -> ast.Call | None:
    """`self.assertEqual(a, b)` and the like."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if not isinstance(call.func, ast.Attribute) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    if call.func.attr in _ASSERTED:
        return call if 2 <= len(call.args) <= 3 and all(each.arg == "msg" for each in call.keywords) else None
    return call if call.func.attr == "assertTrue" and 1 <= len(call.args) <= 2 else None


def _where(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _are_one_call(one: ast.expr, other: ast.expr) -> bool:
    """`Vec(1, 2) == Vec(1, 2)`: two of a class, of which neither is an answer."""
    if not isinstance(one, ast.Call) or not isinstance(other, ast.Call):
        return False
    name = getattr(one.func, "attr", getattr(one.func, "id", ""))
    return str(name).lstrip("_")[:1].isupper() and ast.dump(one.func) == ast.dump(other.func)


def _steps(node: ast.expr) -> int:
    """How much is done to make it: an answer takes more than what is expected."""
    return sum(isinstance(each, ast.Call | ast.BinOp | ast.UnaryOp) for each in ast.walk(node))


def _says_little(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SAY_LITTLE


class _Changes:
    """What can be another in one expression."""

    def __init__(self, made: ast.expr, looked_up: Mapping[str, list[str]]) -> None:
        self.literals: list[ast.Constant] = []
        self.names: list[tuple[ast.Attribute, list[str]]] = []
        self._looked_up = looked_up
        self._find(made, is_given=False)

    @property
    def are_any(self) -> bool:
        """Something can."""
        return bool(self.literals or self.names)

    def _find(self, node: ast.AST, *, is_given: bool) -> None:
        if isinstance(node, ast.Constant):
            if is_given and _may_change(node.value):
                self.literals.append(node)
            return
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                self._find(node.func.value, is_given=is_given)
            for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                self._find(each, is_given=True)
            return
        if isinstance(node, ast.Subscript):
            self._find(node.value, is_given=is_given)
            return
        if isinstance(node, ast.Attribute):
            names = self._looked_up.get(ast.unparse(node.value), [])
            if node.attr in names and len(names) > 1:
                self.names.append((node, [name for name in names if name != node.attr]))
                return
        for part in ast.iter_child_nodes(node):
            self._find(part, is_given=is_given)


def _may_change(value: Any) -> bool:
    if isinstance(value, str | bytes):
        text = value if isinstance(value, str) else value.decode("latin-1")
        return any(letter in each for letter in text for each in _LETTERS)
    return type(value) in (int, float)


def changed_expression(made: ast.expr, looked_up: Mapping[str, list[str]]) -> ast.expr:
    """A copy with other literals, or another name that is looked up."""
    before = ast.dump(made)
    changed = made
    for _ in range(_TRIES):
        changed = copy.deepcopy(made)
        changes = _Changes(changed, looked_up)
        others = _others([each.value for each in changes.literals])
        for constant in changes.literals:
            constant.value = others[_key(constant.value)]
        for node, names in changes.names:
            node.attr = _DICE.choice(names)
        if ast.dump(changed) != before:
            break
    return changed


def _key(value: Any) -> tuple[type, Any]:
    return type(value), value


def _others(values: list[Any]) -> dict[tuple[type, Any], Any]:
    """Other values for these, by type and value. Numbers keep their order, and are about as large: what a class refuses
    (`Interval(5, 1)`), or what takes very long, tells nothing."""
    found: dict[tuple[type, Any], Any] = {}
    numbers = sorted({each for each in values if type(each) is int})
    if numbers:
        most = numbers[-1] + 3 if numbers[-1] < 8 else numbers[-1] + max(1, min(3, numbers[-1] // 8))
        least = min(1, numbers[0])
        drawn = sorted(_DICE.sample(range(least, most + 1), len(numbers)))
        found |= {(int, number): other for number, other in zip(numbers, drawn, strict=True)}
    factor, more = _DICE.choice((0.75, 1.25, 1.5)), _DICE.choice((0.5, 0.25))
    for value in values:
        if type(value) is float:
            found[float, value] = round(value * factor + more, 9)
        elif isinstance(value, str):
            found[str, value] = "".join(_letter(each) for each in value)
        elif isinstance(value, bytes):
            found[bytes, value] = "".join(_letter(each) for each in value.decode("latin-1")).encode("latin-1")
    return found


def _letter(letter: str) -> str:
    kind = next((each for each in _LETTERS if letter in each), "")
    return _DICE.choice(kind.replace(letter, "")) if kind else letter


class _Writer(ast.NodeTransformer):
    """Writes the changed places into a tree."""

    def __init__(self, change: _Change, mark: str) -> None:
        self._change, self._mark = change, mark
        self._sites: dict[int, dict[int, _Changed]] = defaultdict(dict)
        self._replaced: dict[int, ast.expr] = {}
        self._guarded: dict[int, ast.expr] = {}
        self._names = [f"{name}_{secrets.token_hex(3)}" for name in ("answer", "expected", "another", "are_equal")]
        self._are_swapped = _DICE.random() < 0.5

    def change(self, number: int, place: _Place, others: list[ast.expr]) -> None:
        """Change this place."""
        is_table = place.assigned is None and place.sites[0].expected is not place.made[0]
        for site in place.sites:
            expected, other = copy.deepcopy(place.made[0]), others[0]
            if is_table and self._change == "both":  # each row has both
                expected, other = (_item(site.expected, index) for index in range(2))
            elif self._change == "other" and site.expected is not place.made[0]:
                other = site.expected
            self._sites[id(site.statement)][site.number] = number, site, expected, other
        if self._change == "other" and place.assigned is not None:
            self._guarded[id(place.assigned)] = others[0]
        elif is_table:
            pairs = zip(place.made, others, strict=True)
            self._replaced.update({id(old): self._cell(old, new) for old, new in pairs})

    def _cell(self, old: ast.expr, new: ast.expr) -> ast.expr:
        return new if self._change == "other" else ast.Tuple([copy.deepcopy(old), new], ast.Load())

    def visit(self, node: Any) -> Any:
        """A node, and all within it."""
        if id(node) in self._replaced:
            return self._replaced[id(node)]
        if id(node) in self._guarded:
            return self._tried([ast.Assign(node.targets, self._guarded[id(node)])], node.targets[0])
        if id(node) in self._sites:
            return self._written(node, self._sites[id(node)])
        return self.generic_visit(node)

    def _tried(self, body: list[ast.stmt], name: ast.expr) -> ast.Try:
        """An error of what is made otherwise tells nothing."""
        nothing = ast.Assign([copy.deepcopy(name)], ast.Call(ast.Name("object", ast.Load()), [], []))
        return ast.Try(body, [ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [nothing])], [], [])

    def _written(self, statement: ast.stmt, sites: Mapping[int, _Changed]) -> list[ast.stmt]:
        call = _asserting(statement)
        test = statement.test if isinstance(statement, ast.Assert) else call.args[0] if call else None
        is_true = call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "assertTrue"
        parts = _parts(test) if test is not None and (call is None or is_true) else [ast.Constant(True)]
        message = statement.msg if isinstance(statement, ast.Assert) else None
        made: list[ast.stmt] = []
        for index, part in enumerate(parts):
            if index in sites:
                made += self._told(*sites[index])
            else:
                made.append(ast.Assert(part, copy.deepcopy(message)))
        return made

    def _told(self, number: int, site: _Site, expected: ast.expr, other: ast.expr) -> list[ast.stmt]:
        answer, one, another, equal = self._names
        are_both = self._change == "both"
        asked = [_set(answer, site.answer)]
        if are_both:
            made = [self._made(one, expected), self._made(another, other)]
            body = [each for part in (reversed(made) if self._are_swapped else made) for each in part] + asked
            truth: ast.expr = ast.BoolOp(
                ast.And(),
                [
                    *(self._or_one(_compare(site, answer, f"{name}_copy"), answer, name) for name in (one, another)),
                    self._or_one(
                        ast.Compare(_name(f"{one}_copy"), [ast.Eq()], [_name(f"{another}_copy")]), one, another
                    ),
                ],
            )
        else:
            sides = [asked, [_set(another, other)]]
            body = [each for part in (sides if site.answer_is_first else reversed(sides)) for each in part]
            truth = _compare(site, answer, another)
        handler = ast.ExceptHandler(_name("Exception"), None, [_set(equal, ast.Constant(are_both))])
        told: ast.expr = _name(equal)
        return [
            ast.Try([*body, _set(equal, ast.IfExp(truth, ast.Constant(True), ast.Constant(False)))], [handler], [], []),
            ast.Assert(told if are_both else ast.UnaryOp(ast.Not(), told), ast.Constant(f"{self._mark}_{number}")),
        ]

    def _made(self, name: str, value: ast.expr) -> list[ast.stmt]:
        return [_set(name, value), *ast.parse(_AS_IT_IS.format(name=name)).body]

    def _or_one(self, are_equal: ast.expr, left: str, right: str) -> ast.expr:
        """They are equal, or one object, which may have changed since."""
        return ast.BoolOp(ast.Or(), [ast.Compare(_name(left), [ast.Is()], [_name(right)]), are_equal])


def _compare(site: _Site, answer: str, expected: str) -> ast.expr:
    names = [_name(answer), _name(expected)]
    if not site.answer_is_first:
        names.reverse()
    return ast.Compare(names[0], [ast.Eq()], [names[1]])


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _item(value: ast.expr, index: int) -> ast.expr:
    return ast.Subscript(copy.deepcopy(value), ast.Constant(index), ast.Load())


def _set(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)
