"""Whether test code can call the candidate in another process: its arguments and answers must be values that cross.

Read from the syntax tree, before anything runs. Where an argument is a function, a class or an object of the
candidate's own, or where more is asked of an answer than a plain value has, the test code must share its process.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from harena.scoring.formats.crossing_answers import what_more_is_asked
from harena.scoring.formats.literals import source_of
from harena.scoring.python_source import nested_parts, parts_of
from harena.scoring.scorers.assert_names import defined_classes

_MAKERS = frozenset(
    {
        *("abs", "all", "any", "bin", "bool", "bytearray", "bytes", "chr", "complex", "dict", "divmod", "enumerate"),
        *("filter", "float", "format", "frozenset", "hash", "hex", "int", "iter", "len", "list", "map", "max", "min"),
        *(
            "next",
            "oct",
            "ord",
            "pow",
            "range",
            "repr",
            "reversed",
            "round",
            "set",
            "sorted",
            "str",
            "sum",
            "tuple",
            "zip",
        ),
        *("deque", "Fraction", "Decimal", "Counter", "OrderedDict", "defaultdict", "date", "datetime", "time"),
        *(
            "timedelta",
            "array",
            "copy",
            "deepcopy",
            "sqrt",
            "ceil",
            "floor",
            "log",
            "log2",
            "log10",
            "exp",
            "sin",
            "cos",
        ),
        *("factorial", "gcd", "comb", "perm", "prod", "choice", "randint", "random", "uniform", "sample", "shuffle"),
        *("chain", "product", "permutations", "combinations", "islice", "repeat", "dumps", "loads"),
    }
)
"""calls that give values which cross, by the last name of what is called"""
_METHODS = frozenset(
    name
    for kind in (str, bytes, list, tuple, dict, set, frozenset, int, float, complex, bytearray)
    for name in dir(kind)
    if not name.startswith("__")
)
_MOST_NESTED_PARTS = 4_000_000
"""An argument's parts are looked at once more for each call that it is in."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def what_cannot_cross(tests: ast.Module, names: Iterable[str], solution: str | None = None) -> str | None:
    """The expression because of which the candidate's functions, called by `names`, cannot be in another process. In
    the right `solution` one of them may be a class, whose objects have more to them than their values."""
    if nested_parts(tests) > _MOST_NESTED_PARTS:
        return "calls that are nested too deeply"
    called = frozenset(names)
    if classes := called & defined_classes(solution):
        return min(classes)
    more = what_more_is_asked(tests, called)
    return _Reader(tests, called).found or (source_of(more) if more is not None else None)


class _Reader:
    """One piece of test code."""

    def __init__(self, tests: ast.Module, names: frozenset[str]) -> None:
        self._names = names
        self._stored = {
            node.id for node in parts_of(tests) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        """names that the tests give a value of their own, also where Python has one of that name (`str = ...`)"""
        self._objects = {node.name for node in parts_of(tests) if isinstance(node, _DEFINITIONS)}
        """names in the test code that are bound to what does not cross"""
        for node in parts_of(tests):
            if isinstance(node, ast.Assign) and not self._crosses(node.value):
                self._objects.update(target.id for target in node.targets if isinstance(target, ast.Name))
        self.found = next((source_of(node) for node in parts_of(tests) if not self._may(node)), None)

    def _may(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call) and self._is_candidate(node):
            return all(self._crosses(part) for part in (*node.args, *(keyword.value for keyword in node.keywords)))
        if isinstance(node, ast.Attribute) and self._is_candidate(node.value):
            return node.attr in _METHODS
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self._objects:
            return not any(name[:1].isupper() for name in self._names) or node.attr in _METHODS
        return True

    def _is_candidate(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._names

    def _crosses(self, part: ast.expr) -> bool:
        """An argument, or what one is made of. What is called in it is not looked at, but what it gives is."""
        called = {id(node.func) for node in parts_of(part) if isinstance(node, ast.Call)}
        bound = {
            node.id for node in parts_of(part) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        }
        passed = {
            id(inner) for node in parts_of(part) if isinstance(node, ast.Call) for inner in _passed(node) if inner
        }
        for node in parts_of(part):
            if id(node) in passed:
                continue
            if isinstance(node, ast.Lambda):
                return False
            if isinstance(node, ast.Call) and not self._gives_a_value(node):
                return False
            if (
                isinstance(node, ast.Name)
                and id(node) not in called
                and node.id not in bound
                and self._is_object(node.id)
            ):
                return False
        return True

    def _is_object(self, name: str) -> bool:
        return name in self._objects or (
            name in vars(builtins) and name not in self._stored and name not in ("__name__", "NotImplemented")
        )

    def _gives_a_value(self, call: ast.Call) -> bool:
        function = call.func
        if isinstance(function, ast.Name):
            if function.id in self._names:
                return not function.id[:1].isupper()
            if _has_no_end(call):
                return False
            is_own = function.id[:1].islower() and function.id not in vars(builtins)  # a helper of the tests, say
            return is_own or function.id in _MAKERS
        if isinstance(function, ast.Attribute):
            if isinstance(function.value, ast.Name) and function.value.id == "itertools" and _has_no_end(call):
                return False
            is_numpy = isinstance(function.value, ast.Name) and function.value.id in ("np", "numpy")
            return not is_numpy and (function.attr in _MAKERS or function.attr in _METHODS)
        return False


def _has_no_end(call: ast.Call) -> bool:
    """`count(1)`, `cycle(x)` and `repeat(x)` of itertools, which no message can hold."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name in ("count", "cycle") or (name == "repeat" and len(call.args) + len(call.keywords) < 2)


def _passed(call: ast.Call) -> list[ast.AST]:
    """What a call of a maker is given that may be a function: of `map(int, ...)`, `sorted(..., key=len)`."""
    name = getattr(call.func, "id", "")
    first = call.args[:1] if name in ("map", "filter", "defaultdict", "iter") else []
    given = [*first, *(keyword.value for keyword in call.keywords if keyword.arg == "key")]
    return [node for value in given for node in parts_of(value)] if name in _MAKERS else []
