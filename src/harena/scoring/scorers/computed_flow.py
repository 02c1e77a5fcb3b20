"""Where trusted tests compute what they compare answers with, and from what.

An answer is compared with a computed value where one side of an assertion comes from the candidate and the other one
does not: no name that it is computed from, through variables, loops, tables, attributes, parameters, fixtures and the
tests' own functions, leads to anything but the tests, builtins and libraries. So it is where `==`, `!=` or `in` stands
elsewhere, and its being equal is what a test wants: in `if f(n) != w: raise ...`, `bad = [n for ... if f(n) != w]`,
`ok = f(n) == w`, `assertIn(f(n), WANTED)`. `points` are the expressions whose values
become such sides and become no argument of the candidate's: there the value can be another without any right answer
being another. Whether it really is so is for a run with the gold solution to say (`computed_answers`).
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harena.scoring.scorers.hidden_assertions import EQUAL, Assertions, assertions_of
from harena.scoring.scorers.public_packages import PUBLIC_PACKAGES

Path = tuple[Any, ...]
"""the part of a value that counts: places and keys of it, "item" for each of its items, "value" for each value of a
mapping, "any" for one that is looked up by a variable"""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_LIBRARIES = sys.stdlib_module_names | PUBLIC_PACKAGES
_CHANGING = frozenset({"time", "os", "sys", "socket", "subprocess", "threading", "multiprocessing", "asyncio", "io",
                       "logging", "gc", "weakref", "inspect", "tempfile", "pathlib", "shutil", "contextlib", "unittest",
                       "pytest", "hypothesis", "warnings", "tracemalloc", "platform", "uuid", "secrets", "builtins",
                       "importlib", "types", "traceback", "signal", "queue", "concurrent", "copyreg"})  # fmt: skip
"""libraries whose answers may depend on what a candidate has done"""
_CHANGING_BUILTINS = frozenset({"globals", "locals", "vars", "eval", "exec", "open", "input", "id", "dir", "getattr",
                                "setattr", "delattr", "hasattr", "__import__", "compile", "next", "iter", "super",
                                "print", "object", "__name__", "__file__", "callable", "type"})  # fmt: skip
_KEEPING_ITEMS = frozenset({"list", "tuple", "sorted", "reversed", "iter", "set"})
_ADDING = {"append": ("item",), "add": ("item",), "insert": ("item",), "appendleft": ("item",)}
_MOST_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Computed:
    """One comparison of an answer with a computed value."""

    parent: ast.AST
    name: str
    """field of the parent that holds the comparison"""
    index: int | None
    answer: ast.expr
    expected: ast.expr
    sign: str = ""
    """`==`, `!=` or `in`, where the comparison gives a truth to what stands around it; "" = it is an assertion's own"""
    shared: tuple[ast.expr, ...] = ()
    """names in the expected side of what the candidate is given, too, and may change, where that side is computed of
    nothing else"""


@dataclass(slots=True)
class Flow:
    """What is known of a contract's tests."""

    places: list[Computed] = field(default_factory=list)
    points: dict[int, tuple[ast.expr, set[Path]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Binding:
    value: ast.expr
    path: Path


class _UnknownError(Exception):
    """Where a value comes from is not to be seen, or it is the candidate's."""


def computed_flow(
    trees: Mapping[str, ast.Module], modules: Collection[str], *, without: Collection[ast.AST] = ()
) -> Flow:
    """The comparisons and points in these texts, by path. `modules`: names of modules that are no candidate's.
    `without`: functions whose comparisons are left out."""
    return _Flow(trees, modules, without).found()


class _Flow:
    def __init__(self, trees: Mapping[str, ast.Module], modules: Collection[str], without: Collection[ast.AST]) -> None:
        self._trees, self._modules, self._without = trees, modules, without
        self._parents = {
            child: node for tree in trees.values() for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }
        self._bindings: dict[tuple[ast.AST, str], list[_Binding]] = defaultdict(list)
        self._defined: dict[tuple[ast.AST, str], ast.AST] = {}
        self._imported: dict[tuple[ast.AST, str], tuple[str, str]] = {}
        self._attributes: dict[str, list[_Binding]] = defaultdict(list)
        self._methods: dict[str, list[ast.AST]] = defaultdict(list)
        self._fixtures: dict[str, list[Any]] = defaultdict(list)
        self._unclear: set[tuple[ast.AST, str]] = set()
        self._calls: dict[str, list[ast.Call]] = defaultdict(list)
        self._handed: set[str] = set()
        self._globals: set[tuple[ast.AST, str]] = set()
        self._reached: set[str] = set()
        self._steps = 0
        self._scopes: dict[ast.AST, ast.AST] = {}
        self._own_functions: dict[tuple[ast.AST, str], bool] = {}
        self._asserted: set[int] = set()
        self._given_away: set[Any] | None = None
        self._closed: set[int] = set()
        self._held: set[int] = set()
        """functions that are being read, which may call themselves"""
        self._unknown: set[int] = set()
        self._reading: dict[int, list[ast.AST]] = {}
        nodes = [node for tree in trees.values() for node in ast.walk(tree)]
        for node in nodes:
            if isinstance(node, ast.Global):
                self._globals.update((self._scope(node), name) for name in node.names)
        for node in nodes:
            self._bind(node)

    def found(self) -> Flow:
        """The comparisons and points."""
        found = Flow()
        assertions = assertions_of(self._trees.values(), self._modules)
        for tree in self._trees.values():
            for node in ast.walk(tree):
                found.places += self._compared(node, assertions)
        for tree in self._trees.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.Compare) and id(node) not in self._asserted:
                    found.places += self._compared_within(node)
        theirs: set[tuple[int, Path]] = set()
        places = []
        for place in found.places:
            try:
                self._closure(place.expected, (), set())
            except _UnknownError:
                continue
            places.append(place)
        found.places = places
        if not places:
            return found
        for tree in self._trees.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and not self._is_own(node.func):
                    for each in [*node.args, *(keyword.value for keyword in node.keywords)]:
                        self._reach(each, (), theirs)
        for place in places:
            self._reach(place.answer, (), theirs)
        found.places = []
        for place in places:
            changing = [
                (point, path)
                for each in self._kept(place.expected, stated=bool(place.sign))
                for point, path in self._points(each, (), set())
                if not any(number == id(point) and _overlap(path, their) for number, their in theirs)
            ]
            for point, path in changing:
                found.points.setdefault(id(point), (point, set()))[1].add(path)
            shared = () if changing else tuple(self._shared(place.expected))
            if not (shared and place.sign):
                found.places.append(replace(place, shared=shared))
        return found

    def _shared(self, expected: ast.expr) -> Iterator[ast.expr]:
        nodes = list(ast.walk(expected))
        inner = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        inner.update(node.arg for node in nodes if isinstance(node, ast.arg))
        inner.update(key[1] for key in (*self._defined, *self._imported))
        for each in self._names(expected):
            name = getattr(each, "id", getattr(each, "attr", ""))
            if name in self._reached and name not in inner:
                yield each

    # what binds

    def _scope(self, node: ast.AST) -> ast.AST:
        """The function, class or module in which a node stands; what is in a comprehension stands around it."""
        if node not in self._scopes:
            self._scopes[node] = self._scope_of(node)
        return self._scopes[node]

    def _scope_of(self, node: ast.AST) -> ast.AST:
        child, above = node, self._parents.get(node)
        while above is not None:
            if isinstance(above, (*_FUNCTIONS, ast.ClassDef)):
                is_outside = isinstance(above, ast.ClassDef) and not isinstance(child, ast.stmt)
                if not is_outside and child not in getattr(above, "decorator_list", ()):
                    return above
            child, above = above, self._parents.get(above)
        return child

    def _scopes_around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The scope in which a node stands, and those around it, to the module."""
        scope = self._scope(node)
        yield scope
        while self._parents.get(scope) is not None:
            scope = self._scope(scope)
            yield scope

    def _key(self, node: ast.AST, name: str) -> tuple[ast.AST, str]:
        scope = self._scope(node)
        if (scope, name) in self._globals:
            scope = self._module(scope)
        return scope, name

    def _module(self, node: ast.AST) -> ast.AST:
        while (above := self._parents.get(node)) is not None:
            node = above
        return node

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._target(target, node.value, ())
        elif isinstance(node, ast.AugAssign):
            self._target(node.target, node.value, ())
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._target(node.target, node.iter, ("item",))
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                for part in ast.walk(item.optional_vars) if item.optional_vars is not None else ():
                    if isinstance(part, ast.Name):
                        self._unclear.add(self._key(node, part.id))
        elif (isinstance(node, ast.ExceptHandler) and node.name) or (
            isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name
        ):
            self._unclear.add(self._key(node, node.name))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            of = getattr(node, "module", None) or ""
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                top = alias.name if isinstance(node, ast.Import) else of
                level = getattr(node, "level", 0)
                inner = alias.name if isinstance(node, ast.ImportFrom) else ""
                self._imported[self._key(node, name)] = ("?" if level else top, inner)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            key = self._key(node, node.name)
            if key in self._defined:
                self._unclear.add(key)
            self._defined[key] = node
            if isinstance(node, ast.ClassDef):
                return
            if isinstance(self._parents.get(node), ast.ClassDef):
                self._methods[node.name].append(node)
            if any("fixture" in ast.unparse(each) for each in node.decorator_list):
                self._fixtures[node.name].append(node)
        elif isinstance(node, ast.Call):
            self._calls[_name_of(node.func)].append(node)
            function = node.func
            if isinstance(function, ast.Attribute) and function.attr in _ADDING and node.args:
                self._add(function.value, node.args[-1], ("item",))
            elif isinstance(function, ast.Attribute) and function.attr in ("extend", "update") and node.args:
                self._add(function.value, node.args[0], ())
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            above = self._parents.get(node)
            if not (isinstance(above, ast.Call) and above.func is node):
                self._handed.add(node.id)

    def _add(self, owner: ast.expr, value: ast.expr, path: Path) -> None:
        """A part is put into what a name or an attribute holds; where, is marked by a leading dot."""
        if isinstance(owner, ast.Name):
            self._bindings[self._owner(owner)].append(_Binding(value, (".", *path)))
        elif isinstance(owner, ast.Attribute):
            self._attributes[owner.attr].append(_Binding(value, (".", *path)))

    def _owner(self, node: ast.Name) -> tuple[ast.AST, str]:
        """The scope in which a name that is read is bound, as far as is known of those around."""
        for scope in self._scopes_around(node):
            if (scope, node.id) in self._bindings or _has_parameter(scope, node.id):
                return scope, node.id
        return self._key(node, node.id)

    def _target(self, target: ast.expr, value: ast.expr, path: Path) -> None:
        if isinstance(target, ast.Name):
            self._bindings[self._key(target, target.id)].append(_Binding(value, path))
            if isinstance(self._scope(target), ast.ClassDef):
                self._attributes[target.id].append(_Binding(value, path))
        elif isinstance(target, ast.Attribute):
            self._attributes[target.attr].append(_Binding(value, path))
        elif isinstance(target, (ast.Tuple, ast.List)):
            has_star = any(isinstance(each, ast.Starred) for each in target.elts)
            for place, each in enumerate(target.elts):
                inner = each.value if isinstance(each, ast.Starred) else each
                self._target(inner, value, path if has_star else (*path, place))
        elif isinstance(target, ast.Subscript):
            self._add(target.value, value, ("any",))

    # what is compared

    def _compared(self, node: ast.AST, assertions: Assertions) -> Iterator[Computed]:
        if isinstance(node, ast.Assert):
            yield from self._positive(node, "test", None, node.test)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call, name = node.value, assertions.name(node.value)
            if name in EQUAL and name != "assertIs" and len(call.args) >= 2:
                yield from self._sides(node, "value", None, call.args[0], call.args[1])
            elif name == "assertTrue" and call.args:
                yield from self._positive(call, "args", 0, call.args[0])
            elif name == "assertIn" and len(call.args) >= 2:
                yield from self._ordered(node, "value", None, call.args[0], call.args[1], "in")

    def _compared_within(self, node: ast.Compare) -> Iterator[Computed]:
        """A comparison that is no assertion by itself, where right answers are those that are equal, or among what the
        tests have computed: nothing around it says that another one will do, too."""
        sign = _SIGNS.get(type(node.ops[0])) if len(node.ops) == 1 else None
        if sign is None or not self._wants_equality(node, sign):
            return
        above = self._parents[node]
        name, index = _place_in(above, node)
        left, right = _operands(node)
        if sign == "in":
            yield from self._ordered(above, name, index, left, right, sign)
            return
        for place in self._sides(above, name, index, left, right, stated=True):
            yield replace(place, sign=sign)

    def _wants_equality(self, node: ast.expr, sign: str) -> bool:
        """In its statement the comparison leads to a failure by `!=`, or to none by `==` and `in`."""
        child: ast.AST = node
        above, is_denied = self._parents.get(node), sign == "!="
        while above is not None and not isinstance(above, ast.stmt):
            if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
                is_denied = not is_denied
            elif _is_choice(above):
                return False
            elif isinstance(above, ast.comprehension):
                return is_denied and child is not above.iter
            child, above = above, self._parents.get(above)
        if isinstance(above, ast.If):
            return is_denied and not above.orelse
        return not isinstance(above, (ast.While, ast.For, ast.AsyncFor, ast.Match))

    def _ordered(
        self, parent: ast.AST, name: str, index: int | None, answer: ast.expr, expected: ast.expr, sign: str
    ) -> Iterator[Computed]:
        """The place, if the first side is the candidate's and the second one is not."""
        for place in self._sides(parent, name, index, answer, expected, stated=True):
            if place.answer is answer:
                yield replace(place, sign=sign)

    def _positive(self, parent: ast.AST, name: str, index: int | None, test: ast.expr) -> Iterator[Computed]:
        """Comparisons without whose truth this has none."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for place, each in enumerate(test.values):
                yield from self._positive(test, "values", place, each)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            self._asserted.add(id(test))
            yield from self._sides(parent, name, index, *_operands(test))
        elif isinstance(test, ast.Call) and _name_of(test.func) == "all":
            for each in test.args:
                if isinstance(each, (ast.GeneratorExp, ast.ListComp)):
                    yield from self._positive(each, "elt", None, each.elt)

    def _sides(
        self,
        parent: ast.AST,
        name: str,
        index: int | None,
        left: ast.expr,
        right: ast.expr,
        *,
        stated: bool = False,
    ) -> Iterator[Computed]:
        """`stated`: a value that stands in the comparison counts, too; where an assertion has it, others hide it."""
        if self._is_left_out(parent):
            return
        for answer, expected in ((left, right), (right, left)):
            is_literal = not any(isinstance(each, (ast.Name, ast.Attribute)) for each in ast.walk(expected))
            if (is_literal and not (stated and _is_telling(expected))) or _waits(expected):
                continue
            try:
                self._closure(expected, (), set())
            except _UnknownError:
                continue
            try:
                self._closure(answer, (), set())
            except _UnknownError:
                yield Computed(parent, name, index, answer, expected)
            return

    def _is_left_out(self, node: ast.AST) -> bool:
        """It stands in a function that a candidate is given, which calls it as often as it likes, and with what. Or it
        stands in one of those that are left out."""
        while self._parents.get(scope := self._scope(node)) is not None:
            if scope in self._without or (isinstance(scope, _FUNCTIONS) and self._is_given_away(scope)):
                return True
            node = scope
        return False

    def _is_given_away(self, function: ast.AST) -> bool:
        """A call of the candidate's has it, or one of its name, among its arguments."""
        if self._given_away is None:
            calls = [each for found in self._calls.values() for each in found if not self._is_own(each.func)]
            given = [each for call in calls for each in (*call.args, *(keyword.value for keyword in call.keywords))]
            self._given_away = {getattr(each, "attr", getattr(each, "id", each)) for each in given}
        return getattr(function, "name", function) in self._given_away

    # from what a value is computed

    def _closure(self, node: ast.AST, path: Path, seen: set[tuple[int, Path]]) -> None:
        """Go to all that a value is computed from. Raises _UnknownError where that leads to a candidate, or nowhere.
        What was found of a node once is so for good."""
        if id(node) in self._unknown or self._steps > _MOST_STEPS:
            raise _UnknownError
        if (id(node), path) in seen or id(node) in self._closed:
            return
        self._steps += 1
        is_first = not seen
        seen.add((id(node), path))
        try:
            self._parts_closure(node, seen)
        except _UnknownError:
            self._unknown.add(id(node))
            raise
        if is_first:
            self._closed.update(number for number, _ in seen)

    def _parts_closure(self, node: ast.AST, seen: set[tuple[int, Path]]) -> None:
        for part in self._readers(node):
            if isinstance(part, ast.Name):
                self._name_closure(part, seen)
            elif isinstance(part, ast.Attribute):
                self._attribute_closure(part.attr, seen)
            else:
                raise _UnknownError

    def _readers(self, node: ast.AST) -> list[ast.AST]:
        """What in a node reads a name or an attribute of the test's object, or binds in a way that is not followed."""
        if id(node) not in self._reading:
            parts = list(ast.walk(node))
            marking = {id(part.value) for part in parts if isinstance(part, ast.Attribute) and part.attr in _MARKING}
            self._reading[id(node)] = [part for part in parts if _is_reader(part) and id(part) not in marking]
        return self._reading[id(node)]

    def _attribute_closure(self, name: str, seen: set[tuple[int, Path]]) -> None:
        methods, bound = self._methods.get(name, []), self._attributes.get(name, [])
        if not methods and not bound:
            raise _UnknownError
        for each in methods:
            self._function_closure(each, seen)
        for binding in bound:
            self._closure(binding.value, (), seen)

    def _function_closure(self, function: Any, seen: set[tuple[int, Path]]) -> None:
        if any(_last_name(each) not in _PLAIN_DECORATORS for each in function.decorator_list):
            raise _UnknownError
        body = function.body if isinstance(function.body, list) else [function.body]
        for each in [*body, function.args]:
            self._closure(each, (), seen)

    def _name_closure(self, node: ast.Name, seen: set[tuple[int, Path]]) -> None:
        name = node.id
        if _is_self(node):
            above = self._parents.get(node)
            if isinstance(above, ast.Attribute):
                return
            raise _UnknownError
        for scope in self._scopes_around(node):
            key = (scope, name)
            if key in self._unclear:
                raise _UnknownError
            bound = self._bindings.get(key, [])
            is_defined = key in self._defined
            if key in self._imported:
                self._import_closure(*self._imported[key])
            if is_defined:
                made = self._defined[key]
                if isinstance(made, ast.ClassDef):
                    self._class_closure(made, seen)
                else:
                    self._function_closure(made, seen)
            for binding in bound:
                self._closure(binding.value, (), seen)
            if _has_parameter(scope, name):
                for value, _ in self._given(scope, name):
                    self._closure(value, (), seen)
                return
            if bound or is_defined or key in self._imported:
                return
        if not hasattr(builtins, name) or name in _CHANGING_BUILTINS:
            raise _UnknownError

    def _class_closure(self, node: ast.ClassDef, seen: set[tuple[int, Path]]) -> None:
        if node.decorator_list or node.keywords:
            raise _UnknownError
        for each in [*node.bases, *node.body]:
            self._closure(each, (), seen)

    def _import_closure(self, module: str, inner: str) -> None:
        top = module.partition(".")[0]
        if top in _LIBRARIES and top not in self._modules:
            if top in _CHANGING:
                raise _UnknownError
            return
        tree = self._trees.get(module.replace(".", "/") + ".py")
        if tree is None or top not in self._modules or inner == "*":
            raise _UnknownError
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._import_closure(alias.name, "")
            elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
                self._import_closure("?" if node.level else node.module or "?", "")

    def _given(self, function: Any, name: str) -> Iterator[tuple[ast.expr, Path]]:
        """What a parameter is bound to. Raises _UnknownError where that is not to be seen."""
        if isinstance(function, ast.Lambda):
            return
        parameters = [*function.args.posonlyargs, *function.args.args]
        names = [each.arg for each in parameters]
        if name not in names + [each.arg for each in function.args.kwonlyargs]:
            raise _UnknownError
        defaults = dict(zip(reversed(names), reversed(function.args.defaults), strict=False))
        defaults.update({
            each.arg: value
            for each, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
            if value is not None
        })  # fmt: skip
        tables = list(_parametrized(function, name, self._parents.get(function)))
        if tables:
            yield from tables
            return
        is_test = function.name.startswith("test") or any("fixture" in ast.unparse(e) for e in function.decorator_list)
        if is_test or function.name.lower().startswith(("setup", "teardown")):
            made = self._fixtures.get(name, [])
            if len(made) == 1:
                if any("params" in ast.unparse(each) for each in made[0].decorator_list):
                    raise _UnknownError
                for part in _own(made[0]):
                    if isinstance(part, (ast.Return, ast.Yield)) and part.value is not None:
                        yield part.value, ()
            elif name in defaults:
                yield defaults[name], ()
            else:
                raise _UnknownError
            return
        if function.name in self._handed:
            return  # called by whoever has it; what its caller gives is the caller's
        is_method = isinstance(self._parents.get(function), ast.ClassDef)
        names = names[1:] if is_method else names
        for call in self._calls.get(function.name, []):
            unpacked = [each.value for each in call.args if isinstance(each, ast.Starred)]
            unpacked += [each.value for each in call.keywords if each.arg is None]
            if unpacked:  # any parameter may be any part of it
                given = [each for each in call.args if not isinstance(each, ast.Starred)]
                yield from ((each, ()) for each in (*given, *(e.value for e in call.keywords if e.arg is not None)))
                yield from ((each, ("any",)) for each in unpacked)
                continue
            by_name = {each.arg: each.value for each in call.keywords}
            if name in by_name:
                yield by_name[name], ()
            elif name in names and names.index(name) < len(call.args):
                yield call.args[names.index(name)], ()
            elif name in defaults:
                yield defaults[name], ()

    # what reaches the candidate, and what may be another value

    def _held_by_functions(self, node: ast.expr) -> Iterator[ast.expr]:
        """What functions of the tests that this expression calls, or is, read outside of themselves, tables most of
        all."""
        for function in self._functions_in(node):
            if id(function) in self._held:
                continue
            self._held.add(id(function))
            for each in ast.walk(function):
                is_table = isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Load) and _is_look_up(each)
                is_read = is_table or (isinstance(each, (ast.Name, ast.Attribute)) and _is_reader(each))
                if is_read and self._is_outside(each, function):
                    yield each  # type: ignore[misc]
            self._held.discard(id(function))

    def _functions_in(self, node: ast.expr) -> list[Any]:
        found: list[Any] = []
        for each in ast.walk(node):
            if isinstance(each, ast.Lambda):
                found.append(each)
            elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and self._is_of_tests(each):
                found.append(self._definition(each))
            elif isinstance(each, ast.Attribute) and _is_self(each.value):
                found += self._methods.get(each.attr, [])
        return found

    def _definition(self, name: ast.Name) -> ast.AST:
        return next(
            self._defined[key] for scope in self._scopes_around(name) if (key := (scope, name.id)) in self._defined
        )

    def _is_outside(self, node: ast.AST, function: ast.AST) -> bool:
        """What it reads is bound at the top, in a class, or as an attribute; not in the function."""
        below = node
        while isinstance(below, ast.Subscript):
            below = below.value
        if isinstance(below, ast.Attribute):
            return self._is_held(below)
        if not isinstance(below, ast.Name):
            return False
        for scope in self._scopes_around(below):
            if (scope, below.id) in self._bindings:
                return isinstance(scope, (ast.Module, ast.ClassDef))
            if (scope, below.id) in self._defined or _has_parameter(scope, below.id):
                return False
        return False

    def _is_own(self, function: ast.expr) -> bool:
        """A function of the tests', of a library or a builtin: what it is given goes to no candidate by that."""
        key = self._scope(function), ast.dump(function)
        if key not in self._own_functions:
            self._own_functions[key] = self._is_own_function(function)
        return self._own_functions[key]

    def _is_own_function(self, function: ast.expr) -> bool:
        if self._is_of_tests(function):
            return True  # what it hands on counts where it calls others
        try:
            self._closure(function, (), set())
        except (_UnknownError, RecursionError):
            return _name_of(function).startswith("assert") or _last_name(function) in ("parametrize", "param")
        return True

    def _is_of_tests(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Attribute):
            return _is_self(function.value) and function.attr in self._methods
        if not isinstance(function, ast.Name):
            return False
        for scope in self._scopes_around(function):
            if (scope, function.id) in self._defined:
                is_clear = (scope, function.id) not in self._unclear and (scope, function.id) not in self._bindings
                return is_clear and isinstance(self._defined[scope, function.id], _FUNCTIONS)
            if (scope, function.id) in self._bindings or _has_parameter(scope, function.id):
                return False
        return False

    def _reach(self, node: ast.expr, path: Path, seen: set[tuple[int, Path]]) -> None:
        """Note every expression, and the part of it, from which this one is computed."""
        self._steps += 1
        if (id(node), path) in seen or self._steps > _MOST_STEPS * 5:
            return
        seen.add((id(node), path))
        self._reached.add(getattr(node, "id", getattr(node, "attr", "")))
        if isinstance(node, ast.Name):
            for value, part in self._sources(node):
                self._reach_part(value, part, path, seen)
            return
        if isinstance(node, ast.Attribute) and self._is_held(node):
            for binding in self._attributes.get(node.attr, []):
                self._reach_part(binding.value, binding.path, path, seen)
            return
        inner = list(_projected(node, path))
        if inner:
            for value, part in inner:
                self._reach(value, part, seen)
            if isinstance(node, (*_COMPREHENSIONS, ast.DictComp)):
                pass  # its loops count by the names that are read
            return
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            self._reach(node.value, (_place(node), *path), seen)
            self._reach(node.slice, (), seen)
            return
        for each in self._held_by_functions(node) if isinstance(node, (ast.Call, ast.Lambda)) else ():
            self._reach(each, (), seen)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.comprehension):
                continue
            if isinstance(child, ast.keyword):
                self._reach(child.value, (), seen)
            elif isinstance(child, ast.expr):
                self._reach(child, (), seen)

    def _reach_part(self, value: ast.expr, bound: Path, path: Path, seen: set[tuple[int, Path]]) -> None:
        if bound[:1] == (".",):
            self._reach(value, path[1:] if bound[1:] else path, seen)
        else:
            self._reach(value, (*bound, *path), seen)

    def _sources(self, node: ast.Name) -> Iterator[tuple[ast.expr, Path]]:
        for scope in self._scopes_around(node):
            found = [(each.value, each.path) for each in self._bindings.get((scope, node.id), [])]
            if _has_parameter(scope, node.id):
                with contextlib.suppress(_UnknownError):
                    found += list(self._given(scope, node.id))
                yield from found
                return
            if found or (scope, node.id) in self._defined:
                yield from found
                return

    def _is_held(self, node: ast.Attribute) -> bool:
        """An attribute of the test's own object, or of a class of the tests by its name."""
        if _is_self(node.value):
            return True
        if not isinstance(node.value, ast.Name) or node.attr not in self._attributes:
            return False
        return isinstance(self._defined.get((self._module(node), node.value.id)), ast.ClassDef)

    def _names(self, node: ast.AST) -> Iterator[ast.expr]:
        for part in ast.walk(node):
            if (isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and not _is_self(part)) or (
                isinstance(part, ast.Attribute) and _is_self(part.value)
            ):
                yield part

    def _kept(self, node: ast.AST, *, stated: bool) -> Iterator[ast.expr]:
        """What is read in an expression: names and attributes, and look-ups in these; and values that are stated."""
        is_own = isinstance(node, ast.Attribute) and self._is_held(node)
        is_stated = stated and isinstance(node, ast.Constant)
        if is_own or is_stated or isinstance(node, ast.Name) or (isinstance(node, ast.Subscript) and _is_look_up(node)):
            yield node  # type: ignore[misc]
        else:
            if isinstance(node, ast.Call):
                yield from self._held_by_functions(node)
            for child in ast.iter_child_nodes(node):
                yield from self._kept(child, stated=stated)

    def _points(self, node: ast.expr, path: Path, seen: set[tuple[int, Path]]) -> Iterator[tuple[ast.expr, Path]]:
        """The expressions, and the parts of their values, that this one gets its value from."""
        if (id(node), path) in seen:
            return
        seen.add((id(node), path))
        sources: list[tuple[ast.expr, Path]] = []
        if isinstance(node, ast.Name):
            sources = list(self._sources(node))
        elif isinstance(node, ast.Attribute) and self._is_held(node) and node.attr in self._attributes:
            sources = [(each.value, each.path) for each in self._attributes[node.attr]]
        else:
            inner = list(_projected(node, path))
            if inner:
                for value, part in inner:
                    yield from self._points(value, part, seen)
            elif isinstance(node, ast.Subscript) and _is_look_up(node):
                yield from self._points(node.value, (_place(node), *path), seen)
            else:
                for each in self._held_by_functions(node):
                    yield from self._points(each, (), seen)
                yield node, path
            return
        for value, bound in sources:
            if bound[:1] == (".",):
                yield from self._points(value, path[1:] if bound[1:] else path, seen)
            else:
                yield from self._points(value, (*bound, *path), seen)


_MARKING = ("param", "mark")
"""what rows of parameters have of pytest, which says nothing of their values"""
_PLAIN_DECORATORS = frozenset(
    {"cache", "lru_cache", "staticmethod", "classmethod", "fixture", "parametrize", "property", "cached_property"}
)


_SIGNS: Mapping[type[ast.cmpop], str] = {ast.Eq: "==", ast.NotEq: "!=", ast.In: "in"}


def _is_reader(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Load) and _is_self(node.value)
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal))


def _is_choice(node: ast.AST) -> bool:
    """What is false in it may be no failure."""
    if isinstance(node, ast.Call):
        return _name_of(node.func) in ("any", "next", "filter")
    return isinstance(node, (ast.IfExp, ast.Lambda)) or (isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or))


def _operands(node: ast.Compare) -> tuple[ast.expr, ast.expr]:
    """The two sides; of `a - b == 0`, these two."""
    left, right = node.left, node.comparators[0]
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Sub) and getattr(right, "value", None) == 0:
        return left.left, left.right
    return left, right


def _is_telling(node: ast.expr) -> bool:
    """A value that is not guessed, and says no more than that there is one."""
    values = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return any(value not in (None, True, False, 0, 1, -1, "", b"", ...) for value in values)


def _place_in(above: ast.AST, node: ast.AST) -> tuple[str, int | None]:
    """Field and index of a node in the one above it."""
    for name, value in ast.iter_fields(above):
        if value is node:
            return name, None
        if isinstance(value, list):
            for index, each in enumerate(value):
                if each is node:
                    return name, index
    raise ValueError(f"{type(above).__name__} does not hold it")


def _is_look_up(node: ast.expr) -> bool:
    """`rows[i][1]`, of a name or an attribute of the test's object"""
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
        return False
    below = node.value
    return (
        isinstance(below, ast.Name)
        or _is_look_up(below)
        or (isinstance(below, ast.Attribute) and _is_self(below.value))
    )


def _place(node: ast.Subscript) -> Any:
    return node.slice.value if isinstance(node.slice, ast.Constant) else "any"


def _overlap(one: Path, other: Path) -> bool:
    """Two parts of a value may have something in common."""
    for left, right in zip(one, other, strict=False):
        is_place = type(left) is int or type(right) is int
        if left != right and "any" not in (left, right) and not (is_place and "item" in (left, right)):
            return False
    return True


def _projected(node: ast.expr, path: Path) -> Iterator[tuple[ast.expr, Path]]:
    """The expressions that make a part of a value; nothing where the text does not tell."""
    first, rest = path[:1], path[1:]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and not any(isinstance(e, ast.Starred) for e in node.elts):
        if first in (("item",), ("any",)):
            yield from ((each, rest) for each in node.elts)
        elif path and type(path[0]) is int and not isinstance(node, ast.Set) and path[0] < len(node.elts):
            yield node.elts[path[0]], rest
    elif isinstance(node, _COMPREHENSIONS) and (first in (("item",), ("any",)) or (path and type(path[0]) is int)):
        yield node.elt, rest
    elif isinstance(node, ast.DictComp) and first == ("item",):
        yield node.key, rest
    elif isinstance(node, ast.DictComp) and path:
        yield node.value, rest
    elif isinstance(node, ast.Dict) and path and first != ("item",):
        found = [value for key, value in zip(node.keys, node.values, strict=True) if _may_be(key, path[0])]
        yield from ((each, rest) for each in found)
    elif isinstance(node, ast.Call) and _name_of(node.func) == "param":
        if path and type(path[0]) is int and path[0] < len(node.args):
            yield node.args[path[0]], rest
    elif isinstance(node, ast.Call) and not node.keywords:
        name = _name_of(node.func)
        if path and name == "zip" and len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
            if type(path[0]) is int:
                yield node.args[0].value, ("item", path[0], *rest[1:])
        elif first == ("item",) and isinstance(node.func, ast.Name):
            if name == "zip" and rest and type(rest[0]) is int and rest[0] < len(node.args):
                yield node.args[rest[0]], ("item", *rest[1:])
            elif name == "enumerate" and rest[:1] == (1,) and node.args:
                yield node.args[0], ("item", *rest[1:])
            elif name in _KEEPING_ITEMS and node.args:
                yield node.args[0], path
        elif first == ("item",) and isinstance(node.func, ast.Attribute) and not node.args:
            if name == "items" and rest[:1] == (1,):
                yield node.func.value, ("value", *rest[1:])
            elif name == "items" and rest[:1] == (0,):
                yield node.func.value, ("item", *rest[1:])
            elif name == "values":
                yield node.func.value, ("value", *rest)
            elif name == "keys":
                yield node.func.value, path


def _may_be(key: ast.expr | None, place: Any) -> bool:
    """A look-up by what the path says may find what has this key in a display of a mapping."""
    return not isinstance(key, ast.Constant) or place in ("value", "any") or key.value == place


def _parametrized(function: Any, name: str, above: ast.AST | None) -> Iterator[tuple[ast.expr, Path]]:
    decorators = [*function.decorator_list, *(above.decorator_list if isinstance(above, ast.ClassDef) else [])]
    for call in decorators:
        if not isinstance(call, ast.Call) or _last_name(call) != "parametrize" or len(call.args) < 2:
            continue
        said = call.args[0]
        names: list[Any] = []
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            names = [each.strip() for each in said.value.split(",") if each.strip()]
        elif isinstance(said, (ast.List, ast.Tuple)):
            names = [getattr(each, "value", None) for each in said.elts]
        if name in names:
            is_one = len(names) == 1 and isinstance(said, ast.Constant) and "," not in str(said.value)
            yield call.args[1], ("item",) if is_one else ("item", names.index(name))


def _own(function: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield node
            yield from _own(node)


def _waits(node: ast.AST) -> bool:
    return any(isinstance(each, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)) for each in ast.walk(node))


def _has_parameter(scope: ast.AST, name: str) -> bool:
    if not isinstance(scope, _FUNCTIONS):
        return False
    return any(isinstance(each, ast.arg) and each.arg == name for each in _own_arguments(scope.args))


def _own_arguments(given: ast.arguments) -> list[ast.arg]:
    more = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *more]


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _name_of(function: ast.expr) -> str:
    return str(getattr(function, "id", getattr(function, "attr", "")))


def _last_name(node: ast.expr) -> str:
    return _name_of(node.func if isinstance(node, ast.Call) else node)
