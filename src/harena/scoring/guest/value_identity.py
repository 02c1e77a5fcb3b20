"""What tests of a suite ask about the identity of values that cross by value, and what they replace in libraries.
Standard library only.

Between a suite and a candidate elsewhere, texts, numbers, tuples and their like are made anew each time that they
cross: `first is second` is false for what is one tuple there, and a list with a NaN equals no other, because lists
compare their items by identity first. A test that fails at that says nothing about the candidate. Neither does one that
sets a name of a library's module (`random.randint = lambda a, b: 4`), since the candidate has that module elsewhere.
"""

from __future__ import annotations

import ast
import functools
from types import FunctionType, ModuleType

from harena.scoring.guest.executed_assertions import call_of, located, two_sided, unwrapped
from harena.scoring.guest.object_graph import SCALARS, VALUES
from harena.scoring.guest.standins import StandIn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

_ONE, _HOLDS, _ASSERTS, _REPLACES, _TYPE, _PAST = (
    f"__harena_{name}__" for name in ("same_one", "holds", "asserts_one", "replaces", "type_of", "past_class")
)
_EQUAL_ONES = "it asks whether two equal values are one object, which a value that the candidate gives is not"
_NAN = "it compares a NaN, of which each that the candidate gives is another"
_METHODS = "it asks whether two methods are one, of which each that the candidate's classes have is another"
_BY_VALUE = frozenset({*SCALARS, tuple, frozenset, *(kind for kind, *_ in VALUES.values())}) - {type(None), bool}
"""classes whose values are made anew as they cross"""
_MOST_SEEN, _DEEPEST = 10_000, 8
_RUNNERS = frozenset({"pytest", "unittest"})
_OWN = "<harena"


class Identities:
    """Notes what tests ask that values from elsewhere cannot answer."""

    def __init__(self, note: Callable[..., object], is_own: Callable[[Any, Any], bool],
                 lasts: Callable[[str], object], served: Collection[tuple[str, str]],
                 type_of: Callable[[Any], type], past: Callable[..., Any]) -> None:  # fmt: skip
        """`note(what, is_doubt=False)` is told of each such question that was answered with no. `is_own`: one of both
        stands for what the other one is, as a library's function that the candidate hands out. `lasts` is told of
        what is replaced, which stays so for other tests; `served`: names of modules that may be. `type_of` tells the
        type of one thing; `past` calls a method of `object` itself."""
        self._is_own = is_own
        self._lasts, self._served = lasts, frozenset(served)
        self._note = functools.partial(note, is_doubt=False)
        self._type_of, self._past = type_of, past

    def functions(self) -> dict[str, Callable[..., Any]]:
        """By the names in the tests' code."""
        return {_ONE: self._is_one, _HOLDS: self.compared, _ASSERTS: self._asserts, _REPLACES: self._replaces,
                _TYPE: self._type, _PAST: self._past}  # fmt: skip

    def put_questions(self, tree: Any) -> Any:
        """The tree of a trusted file, whose questions are heard."""
        return _Questions(tree).visit(tree)

    def _is_one(self, left: Any, right: Any) -> bool:
        if left is right or self._is_own(left, right):
            return True
        kind = type(left)
        if kind is type(right) and kind in _BY_VALUE and (left == right or (_has_nan(left) and _has_nan(right))):
            self._note(_EQUAL_ONES)
        if _is_method_here(left) or _is_method_here(right):
            self._note(_METHODS)
        return False

    def _type(self, function: Any, value: Any) -> Any:
        return self._type_of(value) if function is type else function(value)

    def compared(self, left: Any, right: Any, answer: Any) -> Any:
        """The answer of `==` or `in`; it is noted if it is no and a NaN is on both sides."""
        if type(answer) is bool and not answer and _has_nan(left) and _has_nan(right):
            self._note(_NAN)
        return answer

    def _replaces(self, module: Any, name: str, value: Any) -> Any:
        if type(module) is not ModuleType or module.__name__ in _RUNNERS or (module.__name__, name) in self._served:
            return value
        if vars(module).get(name) is not value:
            self._lasts(f"it replaces {module.__name__}.{name} while the candidate runs")
        return value

    def _asserts(self, function: Any) -> Any:
        def asserts(first: Any, second: Any, *more: Any, **named: Any) -> Any:
            self._is_one(first, second)
            if _has_nan(first) and _has_nan(second):
                self._note(_NAN)
            return function(first, second, *more, **named)

        return asserts


class _Questions(ast.NodeTransformer):
    def __init__(self, tree: ast.AST) -> None:
        imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        self._imported = {each.asname or each.name.partition(".")[0] for node in imports for each in node.names}

    def visit_Assign(self, node: ast.Assign) -> Any:
        """What is set, if it is a name of a module."""
        self.generic_visit(node)
        for target in node.targets:
            owner = target.value if isinstance(target, ast.Attribute) else None
            if isinstance(target, ast.Attribute) and isinstance(owner, ast.Name) and owner.id in self._imported:
                given = [ast.Name(owner.id, ast.Load()), ast.Constant(target.attr), node.value]
                node.value = located(call_of(_REPLACES, given), node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        """One comparison."""
        self.generic_visit(node)
        sides, sign = (node.left, node.comparators[0]), node.ops[0]
        if len(node.ops) > 1 or any(_is_plain(side) for side in sides):
            return node
        if isinstance(sign, (ast.Is, ast.IsNot)):
            asked: ast.expr = call_of(_ONE, list(sides))
            return located(ast.UnaryOp(ast.Not(), asked) if isinstance(sign, ast.IsNot) else asked, node)
        if not isinstance(sign, ast.In):
            return node
        held = two_sided(lambda left, right: call_of(_HOLDS, [left, right, ast.Compare(left, [sign], [right])]))
        return located(ast.Call(held, list(sides), []), node)

    def visit_Call(self, node: ast.Call) -> Any:
        """One call."""
        self.generic_visit(node)
        func = unwrapped(node.func)
        if isinstance(func, ast.Name) and func.id == "setattr" and len(node.args) == 3:
            owner, name, value = node.args
            if isinstance(owner, ast.Name) and owner.id in self._imported and isinstance(name, ast.Constant):
                given = [ast.Name(owner.id, ast.Load()), name, value]
                node.args[2] = located(call_of(_REPLACES, given), value)
        if (verb := _past_stand_ins(func, node)) is not None:
            return located(call_of(verb, [node.func, *node.args]), node)
        is_assertion = isinstance(func, ast.Attribute) and func.attr in _ASSERTIONS and len(node.args) > 1
        if is_assertion and not any(map(_is_plain, node.args[:2])):
            node.func = located(call_of(_ASSERTS, [node.func]), node.func)
        return node


_ASSERTIONS = frozenset(
    {"assertIs", "assertEqual", "assertIn", "assertListEqual", "assertTupleEqual", "assertDictEqual"}
)


def _past_stand_ins(func: Any, node: ast.Call) -> str | None:
    """What serves a call that would look at a stand-in itself: `type(x)`, `object.__setattr__(x, name, value)`."""
    if node.keywords:
        return None
    if isinstance(func, ast.Name) and func.id == "type":
        return _TYPE if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred) else None
    owner = unwrapped(func.value) if isinstance(func, ast.Attribute) else None
    return _PAST if isinstance(owner, ast.Name) and owner.id == "object" else None


def _is_plain(node: ast.expr) -> bool:
    """It holds no NaN, and nothing that the candidate could have given."""
    return isinstance(node, ast.Constant) or (
        isinstance(node, (ast.List, ast.Tuple, ast.Set)) and all(isinstance(each, ast.Constant) for each in node.elts)
    )


def _is_method_here(value: Any) -> bool:
    """It stands for a method of the candidate's, and is made here."""
    code = getattr(value, "__code__", None) if type(value) is FunctionType else None
    if code is not None:
        return code.co_filename.startswith(_OWN)  # type: ignore[no-any-return]
    return not isinstance(value, type) and type(value).__module__ == StandIn.__module__


def _has_nan(value: Any, depth: int = 0) -> bool:
    kind = type(value)
    if kind is float or kind is complex:
        return bool(value != value)
    if depth > _DEEPEST or kind not in (list, tuple, set, frozenset, dict) or len(value) > _MOST_SEEN:
        return False
    parts = [*value, *value.values()] if kind is dict else value
    return any(_has_nan(part, depth + 1) for part in parts)
