"""What test code uses of libraries, looked at when it is used.

While a candidate shares the tests' process, a function of a library that it has exchanged may have put itself back by
the end. So where the tests name something of a module that they import (`math.factorial`, `np.testing.assert_allclose`,
`approx` after `from pytest import approx`), it is compared with what it was before the candidate's first instruction,
and with it the functions and classes of the same library that it calls. What the tests have bound at the top of their
own modules is what it was when they bound it, wherever they name it. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import builtins
from types import CodeType, FunctionType, MethodType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from harena.scoring.guest.library_integrity import Tools

    Part = tuple[str, Any, Any, Any]
    """full name, what holds it, the key there, what it was"""
    Names = dict[str, str]

globals()["__builtins__"] = dict(vars(builtins))
"""what this module's functions find, whatever a program puts in the place of a builtin for a while"""
LOOK, OWN, BOUND = "__harena_look__", "__harena_own__", "__harena_bound__"
_OF_PYTEST = "@py_"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BY_NAME = frozenset({"globals", "modules", "__dict__"})
"""words by which tests bind names of their own modules without writing them"""
_LEFT_ALONE = frozenset({"pytestmark", "pytest_plugins", "__all__", "__name__", "__file__", "__doc__", "__path__"})
_ABSENT = object()
_MOST_PARTS = 3000
"""the most names that are looked at for one point"""
_WHOLE_LOOKS, _SHARE = 1000, 16
"""So often all parts of a point are looked at; after that the point itself, and in one of so many cases, which nobody
can foresee, the parts, too."""
_MOST_STATES = 64
"""the most values that are remembered for a name that is bound again and again"""
_PARTS = ("__code__", "__defaults__", "__kwdefaults__")


class Used:
    """Looks at what one piece of test code, or several, use of their libraries."""

    def __init__(
        self,
        tools: Tools,
        add_class: Callable[[str, type], None] | None = None,
        is_given: Callable[[Any], bool] = lambda code: False,
    ) -> None:
        """`tools`: made before anything of the candidate has run; `add_class` is told of each class of the tests' that
        nobody else is given; `is_given`: the tests have given the candidate a function of this code, whose defaults are
        its to set."""
        self._add_class, self._is_given = add_class, is_given
        self.kept_classes: set[int] = set()
        """numbers of the names of such classes"""
        self.replaced = ""
        """the first name of a library's that was another when the tests used it; empty where none was"""
        self._tools = tools
        self._before = tools.before
        self._modules = tools.modules
        self.set_by_tests = tools.set_by_tests
        self._points: list[tuple[Part, ...]] = []
        self._numbers: dict[str, int] = {}
        self._looks: list[int] = []
        self._random = _random_bits()
        self._own: list[tuple[str, list[tuple[Any, ...]]]] = []
        """names of the tests' own modules, and what each was bound to: a module may be loaded more than once"""

    def put_looks(self, tree: Any) -> Any:
        """The tree, in which each use of a library's function says that it is one. To be put behind whatever reads the
        tree, because calls stand in the place of attributes then."""
        if self._tools.replaces_anything:
            return tree
        return _Looking(self, tree).put_in(tree)

    def functions(self) -> dict[str, Any]:
        """What the tests call, by the name there."""
        points, looks, random = self._points, self._looks, self._random

        def look(number: int, value: Any) -> Any:
            parts = points[number]
            looks[number] += 1
            is_whole = looks[number] <= _WHOLE_LOOKS or next(random) % _SHARE == 0
            for name, holder, key, expected in parts if is_whole else parts[:1]:
                found = getattr(holder, key, _ABSENT) if key in _PARTS else holder.get(key, _ABSENT)
                if found is not expected and not self.replaced:
                    self.replaced = name
            return value

        own = self._own

        def bound(number: int, value: Any) -> None:
            if number in self.kept_classes and isinstance(value, type) and self._add_class is not None:
                self._add_class(own[number][0], value)
            own[number][1].append(_state(value))
            del own[number][1][:-_MOST_STATES]

        def is_own(number: int, value: Any) -> Any:
            name, states = own[number]
            if states and not self.replaced:
                now = _state(value)
                if not any(_same(now, state) for state in states) and not self._has_own_defaults(now, states):
                    self.replaced = name
            return value

        return {LOOK: look, OWN: is_own, BOUND: bound}

    def _has_own_defaults(self, now: tuple[Any, ...], states: list[tuple[Any, ...]]) -> bool:
        """Only the defaults of a function that the candidate was given are others."""
        is_function = any(len(now) == len(state) > 1 and _same(now[:2], state[:2]) for state in states)
        return is_function and self._is_given(now[1])

    def own_number(self, name: str, expected: Any) -> int:
        """The number of one name of a module of the tests'; `expected`: what it means where an import of a library
        binds it, else _ABSENT."""
        self._own.append((name, [] if expected is _ABSENT else [_state(expected)]))
        return len(self._own) - 1

    def imported_value(self, name: str) -> Any:
        """What `import` binds for this full name; _ABSENT where nobody knows."""
        value = self._modules.get(name, self.value(name))
        owner, _, inner = name.rpartition(".")
        if not _decides(value) or (owner in self._modules and inner in self._tools.bound_by(owner)):
            return _ABSENT
        return value

    def number(self, name: str) -> int | None:
        """The number of the point with this full name; None = it is nothing that can be looked at."""
        if name in self._numbers:
            return self._numbers[name]
        parts = tuple(self._parts(name))
        if not parts:
            return None
        self._points.append(parts)
        self._looks.append(0)
        return self._numbers.setdefault(name, len(self._points) - 1)

    def value(self, name: str) -> Any:
        """What a full name meant before."""
        return self._before.get(name, _ABSENT)

    def _parts(self, first: str) -> Iterator[Part]:
        """The place of each name that this one leads to, the name itself first."""
        waiting, seen = [first], {first}
        count = 0
        while waiting and count < _MOST_PARTS:
            name = waiting.pop(0)
            more: list[str] = []
            for part in self._places(name, more):
                count += 1
                yield part
            for each in more:
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)

    def _places(self, name: str, more: list[str]) -> Iterator[Part]:
        owner, _, inner = name.rpartition(".")
        value, module = self.value(name), self._modules.get(owner)
        if module is None or not _decides(value) or inner in self._tools.bound_by(owner):
            return
        yield name, vars(module), inner, value
        if isinstance(value, FunctionType):
            yield from self._of_function(name, value, more)
        elif isinstance(value, MethodType):
            kind = type(value.__self__)
            more.append(f"{kind.__module__}.{kind.__qualname__}")
        elif isinstance(value, type):
            for inner, member in list(vars(value).items()):
                member_name = f"{name}.{inner}"
                if self.value(member_name) is member:
                    yield member_name, vars(value), inner, member
                    function = getattr(member, "__func__", member)
                    if isinstance(function, FunctionType):
                        yield from self._of_function(member_name, function, more)

    def _of_function(self, name: str, function: FunctionType, more: list[str]) -> Iterator[Part]:
        for part in _PARTS:
            expected = self.value(f"{name}.{part}")
            if expected is not _ABSENT:
                yield f"{name}.{part}", function, part, expected
        code = self.value(f"{name}.__code__")
        if isinstance(code, CodeType):
            of, names = function.__module__, set(_names(code))
            more += [f"{of}.{each}" for each in names]
            modules = [self.value(f"{of}.{each}") for each in names]
            more += [f"{each.__name__}.{inner}" for each in modules if isinstance(each, ModuleType) for inner in names]


def _state(value: Any) -> tuple[Any, ...]:
    """A value, and what decides what it does where it is a function."""
    return (value, value.__code__, value.__defaults__) if type(value) is FunctionType else (value,)


def _same(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    if len(left) != len(right):
        return False
    return all(one is other for one, other in zip(left, right))  # noqa: B905 (no strict= before 3.10)


def _decides(value: Any) -> bool:
    return isinstance(value, ModuleType) or callable(value)


def _names(code: CodeType) -> Iterator[str]:
    waiting = [code]
    while waiting:
        one = waiting.pop()
        yield from one.co_names
        waiting += [part for part in one.co_consts if isinstance(part, CodeType)]


def _random_bits() -> Iterator[int]:
    """Numbers below 256 that no seed of a program's foretells."""
    from os import urandom

    while True:
        yield from urandom(256)


class _Bindings(ast.NodeVisitor):
    """The names that a module binds at its top by statements of their own, and by nothing else anywhere."""

    def __init__(self, tree: ast.AST) -> None:
        self._at_top: set[str] = set()
        self._elsewhere: set[str] = set()
        self._depth = 0
        self.visit(tree)
        self.names = self._at_top - self._elsewhere

    def visit(self, node: ast.AST) -> None:
        """A node, and all below it."""
        for name in top_names(node):
            (self._elsewhere if self._depth else self._at_top).add(name)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            self._depth += 1
            self.generic_visit(node)
            self._depth -= 1
            return
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for child in ast.iter_child_nodes(node):
                for part in ast.walk(child) if child in _targets(node) else ():
                    if isinstance(part, ast.Name) and (self._depth or part.id not in top_names(node)):
                        self._elsewhere.add(part.id)
            if node.value is not None:
                self.visit(node.value)
            return
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._elsewhere.add(node.id)
        elif isinstance(node, ast.arg):
            self._elsewhere.add(node.arg)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            self._elsewhere.update(node.names)
        else:
            given = (getattr(node, "name", None), getattr(node, "rest", None))  # of handlers and patterns
            self._elsewhere.update(each for each in given if isinstance(each, str) and not isinstance(node, ast.alias))
        self.generic_visit(node)


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def top_names(node: ast.AST) -> list[str]:
    """The names that a statement binds, where it is an assignment to names, a definition or an import."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        parts = [part for target in _targets(node) for part in getattr(target, "elts", [target])]
        has_value = node.value is not None
        return [part.id for part in parts if isinstance(part, ast.Name)] if has_value else []
    return list(_imported_names(node))


def _imported_names(node: ast.AST) -> Names:
    """Names that an import statement binds -> the full names that they stand for; "" for one of the tests' own."""
    if isinstance(node, ast.Import):
        return {
            alias.asname or alias.name.partition(".")[0]: alias.name if alias.asname else alias.name.partition(".")[0]
            for alias in node.names
        }
    if isinstance(node, ast.ImportFrom) and node.module != "__future__":
        of = "" if node.level or not node.module else f"{node.module}."
        return {alias.asname or alias.name: of and f"{of}{alias.name}" for alias in node.names if alias.name != "*"}
    return {}


def _kept_classes(tree: ast.AST, known: set[str]) -> set[str]:
    """The classes that the tests make of what they know, and only call by their names, or not even that."""
    nodes = list(ast.walk(tree))
    known = known.union(vars(builtins), (node.name for node in nodes if isinstance(node, _SCOPES)))
    callees = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    handed = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in callees}
    found = set()
    for node in nodes:
        if isinstance(node, ast.ClassDef) and node.name not in handed:
            makers = [*node.bases, *node.decorator_list, *(each.value for each in node.keywords)]
            if all(_first_name(each) in known for each in makers):
                found.add(node.name)
    return found


def _first_name(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


class _Looking(ast.NodeTransformer):
    """Puts a look around each use of a name that leads into a library, or that the tests have bound at their top."""

    def __init__(self, used: Used, tree: ast.AST) -> None:
        self._used = used
        self._names: Names = {}
        """names of the tests' -> the full name that an import gave them"""
        self._others: Names = {}
        self._meanings: dict[str, set[str]] = {}
        """names that import statements bind -> all that these say of them"""
        for node in ast.walk(tree):
            for name, full in _imported_names(node).items():
                self._meanings.setdefault(name, set()).add(full)
                if full:
                    self._names[name] = full
        bound = _Bindings(tree).names - used.set_by_tests
        words = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(tree)}
        bound = bound - _LEFT_ALONE if words.isdisjoint(_BY_NAME) else set()
        expected = {name: self._expected(name) for name in sorted(bound)}
        self._own = {name: used.own_number(name, value) for name, value in expected.items()}
        known = {name for name, full in self._names.items() if used.imported_value(full) is not _ABSENT}
        used.kept_classes.update(self._own[name] for name in _kept_classes(tree, known) & bound)
        self._fixed = {name for name, value in expected.items() if value is not _ABSENT}

    def put_in(self, tree: ast.Module) -> ast.Module:
        """The tree with its looks, in which each name of its own is told when it is bound."""
        tree.body = self._block(tree.body)
        return tree

    def _expected(self, name: str) -> Any:
        """What import statements bind the name to, where they all say the same; else _ABSENT."""
        full = self._meanings.get(name, set())
        return self._used.imported_value(next(iter(full))) if len(full) == 1 else _ABSENT

    def _block(self, statements: list[Any]) -> list[Any]:
        """Statements at the top of the module, with what they bind told behind each."""
        found: list[Any] = []
        for statement in statements:
            is_import = isinstance(statement, (ast.Import, ast.ImportFrom))
            bound = [
                name for name in top_names(statement) if name in self._own and not (is_import and name in self._fixed)
            ]
            blocks = {
                field: value
                for field in ("body", "orelse", "finalbody", "handlers")
                if not isinstance(statement, _SCOPES) and isinstance(value := getattr(statement, field, None), list)
            }
            for field in blocks:
                setattr(statement, field, [])
            seen = self.visit(statement)
            found += seen if isinstance(seen, list) else [seen]
            for field, value in blocks.items():
                if field == "handlers":
                    for handler in value:
                        handler.body = self._block(handler.body)
                        if handler.type is not None:
                            handler.type = self.visit(handler.type)
                else:
                    value = self._block(value)
                setattr(statement, field, value)
            for name in bound:
                found.append(self._told(BOUND, self._own[name], name, statement))
        return found

    def _told(self, function: str, number: int, name: str, statement: ast.stmt) -> ast.Expr:
        """A statement behind another one, about a name that it binds."""
        read = ast.copy_location(ast.Name(name, ast.Load()), statement)
        return ast.copy_location(ast.Expr(self._call(function, number, read)), statement)

    def visit_Import(self, node: Any) -> Any:
        """What it binds is looked at behind it: who imports may be the candidate's."""
        looks = []
        for name, full in _imported_names(node).items():
            expected = self._used.imported_value(full) if full else _ABSENT
            if expected is not _ABSENT:
                looks.append(self._told(OWN, self._used.own_number(name, expected), name, node))
        return [node, *looks]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """What it binds is looked at, too."""
        return node if node.module == "__future__" else self.visit_Import(node)

    def visit(self, node: ast.AST) -> Any:
        """Patterns of `match` take names only; what is annotated may be read as a text."""
        return node if isinstance(node, getattr(ast, "pattern", ())) else super().visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Its annotation stays."""
        return node

    def visit_FunctionDef(self, node: Any) -> ast.AST:
        """What it returns is annotated."""
        returns, node.returns = node.returns, None
        self.generic_visit(node)
        node.returns = returns
        definition: ast.AST = node
        return definition

    def visit_AsyncFunctionDef(self, node: Any) -> ast.AST:
        """What it returns is annotated."""
        return self.visit_FunctionDef(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Its value and its target, without the annotation."""
        if node.value is not None:
            node.value = self.visit(node.value)
        node.target = self.visit(node.target)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """What pytest makes of `assert os.path.join(...)` has a name for each step."""
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id.startswith(_OF_PYTEST):
            name = self._full_name(node.value)
            if name is not None and isinstance(self._used.value(name), ModuleType):
                self._others[target.id] = name
            else:
                self._others.pop(target.id, None)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A chain of names, as far as it leads through modules."""
        name = self._full_name(node) if isinstance(node.ctx, ast.Load) else None
        self.generic_visit(node)
        return node if name is None else self._looked_at(node, name)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name that was imported from a module, or bound at the top."""
        if not isinstance(node.ctx, ast.Load):
            return node
        name = self._names.get(node.id)
        seen = self._call(OWN, self._own[node.id], node) if node.id in self._own else node
        return seen if name is None or "." not in name else self._looked_at(seen, name)

    def _full_name(self, node: ast.expr) -> str | None:
        """`numpy.testing.assert_equal` for a chain whose last part is held by a module; None for everything else."""
        if isinstance(node, ast.Name):
            return self._others.get(node.id, self._names.get(node.id))
        if not isinstance(node, ast.Attribute):
            return None
        of = self._full_name(node.value)
        if of is None:
            return None
        known = self._used.value(of)
        module = known.__name__ if isinstance(known, ModuleType) else of
        return f"{module}.{node.attr}" if self._used.number(f"{module}.{node.attr}") is not None else None

    def _looked_at(self, node: ast.expr, name: str) -> ast.expr:
        number = self._used.number(name)
        return node if number is None else self._call(LOOK, number, node)

    def _call(self, function: str, number: int, node: ast.expr) -> ast.expr:
        call = ast.Call(ast.Name(function, ast.Load()), [ast.Constant(number), node], [])
        for part in (call, call.func, call.args[0]):
            ast.copy_location(part, node)
        return call
