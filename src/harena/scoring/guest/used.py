"""What test code uses of libraries, looked at when it is used.

While a candidate shares the tests' process, a function of a library that it has exchanged may have put itself back by
the end. So where the tests name something of a module that they import (`math.factorial`, `np.testing.assert_allclose`,
`approx` after `from pytest import approx`), it is compared with what it was before the candidate's first instruction,
and with it the functions and classes of the same library that it calls. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import builtins
from types import CodeType, FunctionType, MethodType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from harena.scoring.guest.tools import Tools

    Part = tuple[str, Any, Any, Any]
    """full name, what holds it, the key there, what it was"""
    Names = dict[str, str]

globals()["__builtins__"] = dict(vars(builtins))
"""what this module's functions find, whatever a program puts in the place of a builtin for a while"""
LOOK = "__harena_look__"
_OF_PYTEST = "@py_"
_ABSENT = object()
_MOST_PARTS = 3000
"""the most names that are looked at for one point"""
_WHOLE_LOOKS, _SHARE = 1000, 16
"""So often all parts of a point are looked at; after that the point itself, and in one of so many cases, which nobody
can foresee, the parts, too."""
_PARTS = ("__code__", "__defaults__", "__kwdefaults__")


class Used:
    """Looks at what one piece of test code, or several, use of their libraries."""

    def __init__(self, tools: Tools) -> None:
        """`tools`: made before anything of the candidate has run."""
        self.replaced = ""
        """the first name of a library's that was another when the tests used it; empty where none was"""
        self._tools = tools
        self._before = tools.before
        self._modules = tools.modules
        self._points: list[tuple[Part, ...]] = []
        self._numbers: dict[str, int] = {}
        self._looks: list[int] = []
        self._random = _random_bits()

    def put_looks(self, tree: Any) -> Any:
        """The tree, in which each use of a library's function says that it is one. To be put behind whatever reads the
        tree, because calls stand in the place of attributes then."""
        if self._tools.replaces_anything:
            return tree
        return _Looking(self, tree).visit(tree)

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

        return {LOOK: look}

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


class _Looking(ast.NodeTransformer):
    """Puts a look around each use of a name that leads into a library."""

    def __init__(self, used: Used, tree: ast.AST) -> None:
        self._used = used
        self._names: dict[str, str] = {}
        """names of the tests' -> the full name that an import gave them"""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._names[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    self._names[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit(self, node: ast.AST) -> Any:
        """Patterns of `match` take names only."""
        return node if isinstance(node, getattr(ast, "pattern", ())) else super().visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """What pytest makes of `assert os.path.join(...)` has a name for each step."""
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id.startswith(_OF_PYTEST):
            name = self._full_name(node.value)
            if name is not None and isinstance(self._used.value(name), ModuleType):
                self._names[target.id] = name
            else:
                self._names.pop(target.id, None)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A chain of names, as far as it leads through modules."""
        name = self._full_name(node)
        if name is None or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        return self._looked_at(node, name)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name that was imported from a module."""
        name = self._names.get(node.id)
        if name is None or "." not in name or not isinstance(node.ctx, ast.Load):
            return node
        return self._looked_at(node, name)

    def _full_name(self, node: ast.expr) -> str | None:
        """`numpy.testing.assert_equal` for a chain whose last part is held by a module; None for everything else."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        if not isinstance(node, ast.Attribute):
            return None
        of = self._full_name(node.value)
        if of is None:
            return None
        known = self._used.value(of)
        module = known.__name__ if isinstance(known, ModuleType) else of
        return f"{module}.{node.attr}" if self._used.number(f"{module}.{node.attr}") is not None else None

    def _looked_at(self, node: ast.expr, name: str) -> ast.AST:
        number = self._used.number(name)
        if number is None:
            return node
        call = ast.Call(ast.Name(LOOK, ast.Load()), [ast.Constant(number), node], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))
