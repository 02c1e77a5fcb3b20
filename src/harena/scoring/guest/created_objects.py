"""Has the code of trusted tests tell what objects it makes, and what it finds in lists, sets and tables.

What they make is told by a class's name (`Money(3)`), a class method (`Money.of(3)`), or a name that a class has
(`Color.RED`); what they find, by the methods that search and by a key. See `guest_same_class_comparisons`, which is
told.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast

from harena.scoring.guest.comparison_rewriter import COMPARED, PAIR
from harena.scoring.guest.executed_assertions import call_of, located

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MADE = "__harena_made__"
MADE_OF, GIVEN, FOUND, SEEKS, SOUGHT = (
    f"__harena_{name}__" for name in ("made_of", "given_to_make", "found", "seeks", "sought")
)
_OF_ENDS = frozenset({
    "gc", "weakref", "WeakSet", "WeakValueDictionary", "WeakKeyDictionary", "WeakMethod", "finalize", "collect",
    "getrefcount", "get_referrers", "get_objects", "__del__",
})  # fmt: skip
"""names by which tests ask whether an object has ended"""
SEEKING = frozenset({"count", "index", "remove", "discard", "get", "pop", "setdefault"})
"""methods of lists, sets and tables that find what equals their first argument"""
_TYPES = frozenset({
    "list", "dict", "set", "tuple", "frozenset", "type", "int", "str", "float", "bool", "bytes", "object",
})  # fmt: skip
_KEYS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript)
"""expressions that may stand for an object in the place of a key"""


class ObjectQuestions:
    """What the tests of one run ask of objects, as their texts say."""

    def __init__(self) -> None:
        self.tests_ends = False
        """whether objects have ended: nothing holds any then"""
        self.tests_identity = False
        """whether objects are one (`Config() is Config()`), which equal each other then"""
        self.arguments = 0
        """how many arguments are noted as they are computed"""


class _Unannotated(ast.NodeTransformer):
    """Goes through what is computed: an annotation says nothing of objects."""

    def visit_arg(self, node: ast.arg) -> Any:
        """A parameter, whose annotation says nothing of objects."""
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """An assignment with an annotation, which says nothing of objects."""
        node.value = None if node.value is None else self.visit(node.value)
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        """A function, whose annotation says nothing of objects."""
        returns, node.returns = node.returns, None
        self.generic_visit(node)
        node.returns = returns
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815


class Making(_Unannotated):
    """Has the tests' code tell what it makes by a class's name, and what it finds by a method."""

    def __init__(self, asked: ObjectQuestions) -> None:
        self._asked = asked

    def visit_Compare(self, node: ast.Compare) -> Any:
        """One comparison."""
        sides = [node.left, *node.comparators]
        if isinstance(node.ops[0], ast.Is) and not any(isinstance(side, ast.Constant) for side in sides):
            self._asked.tests_identity = True
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        """One name."""
        self._asked.tests_ends |= node.id in _OF_ENDS or isinstance(node.ctx, ast.Del)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """One attribute."""
        self._asked.tests_ends |= node.attr in _OF_ENDS
        return self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> Any:
        """One import of modules."""
        self._asked.tests_ends |= any(each.name in _OF_ENDS for each in node.names)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """One import of names."""
        self._asked.tests_ends |= node.module in _OF_ENDS or any(each.name in _OF_ENDS for each in node.names)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """One call."""
        self._asked.tests_identity |= isinstance(node.func, ast.Attribute) and node.func.attr == "assertIs"
        self.generic_visit(node)
        self._put_search(node)
        if isinstance(node.func, ast.Name) and node.func.id in (COMPARED, PAIR):
            node.args = [self._constant(each) for each in node.args]
            return node
        name = _maker_name(node.func)
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if not name or any(keyword.arg is None for keyword in node.keywords):
            return node
        if not all(map(_is_repeatable, given)):
            return self._made_of(node, name)
        again = [_again(each) for each in node.args]
        again += [ast.Tuple([ast.Constant(each.arg), _again(each.value)], ast.Load()) for each in node.keywords]
        return located(call_of(MADE, [node, ast.Constant(name), *again]), node)

    def _constant(self, node: ast.expr) -> ast.expr:
        """One side of a comparison; an object that a class has by a name (`Color.RED`) is made by that."""
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and _is_of_class(node.value.id)):
            return node
        made: ast.expr = located(call_of(MADE, [node, ast.Constant(f"{node.value.id}.{node.attr}")]), node)
        return made

    def _made_of(self, node: ast.Call, name: str) -> ast.expr:
        """A call whose arguments are noted as they are computed."""
        if any(isinstance(each, ast.Starred) for each in node.args):
            return node
        sites: list[int] = []
        for place, each in enumerate(node.args):
            node.args[place] = self._given(each, sites)
        for keyword in node.keywords:
            keyword.value = self._given(keyword.value, sites)
        made: ast.expr = located(call_of(MADE_OF, [node, ast.Constant(name), *map(ast.Constant, sites)]), node)
        return made

    def _given(self, node: ast.expr, sites: list[int]) -> ast.expr:
        self._asked.arguments += 1
        sites.append(self._asked.arguments)
        made: ast.expr = located(call_of(GIVEN, [ast.Constant(sites[-1]), node]), node)
        return made

    def _put_search(self, node: ast.Call) -> None:
        """A method of what holds others is called, that finds what equals its argument."""
        func = node.func
        if not (isinstance(func, ast.Attribute) and func.attr in SEEKING and node.args):
            return
        if isinstance(node.args[0], (ast.Starred, ast.Constant, ast.JoinedStr)):
            return
        if _is_repeatable(func.value) or _is_of_case(func.value):
            given = [func.value, node.args[0]]
            node.args[0] = located(call_of(SEEKS, given), node.args[0])
        elif not isinstance(func.value, ast.Attribute):
            node.func = located(call_of(SOUGHT, [func.value, ast.Constant(func.attr)]), func)


class Finding(_Unannotated):
    """Has the tests' code tell what it finds in a table by a key."""

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """One place of a table or list."""
        self.generic_visit(node)
        key: Any = getattr(node.slice, "value", None) if type(node.slice).__name__ == "Index" else node.slice
        if not isinstance(node.ctx, ast.Load) or not isinstance(
            key, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)
        ):
            return node
        name = key.func.id if isinstance(key, ast.Call) and isinstance(key.func, ast.Name) else ""
        if _is_type(node.value) or _is_type(key) or (name.startswith("__harena") and name not in (MADE, MADE_OF)):
            return node
        return located(call_of(FOUND, [node.value, key]), node)


def _maker_name(func: ast.expr) -> str:
    """The class that is called, or its method (`Money.of`); empty if it is neither."""
    while isinstance(func, ast.Call) and isinstance(func.func, ast.Name) and func.func.id.startswith("__harena"):
        if not func.args:
            return ""
        func = func.args[0]
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    if _is_of_class(name):
        return name
    owner = func.value if isinstance(func, ast.Attribute) else None
    owned = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return f"{owned}.{name}" if _is_of_class(owned) and not name.startswith("__") else ""


def _is_of_class(name: str) -> bool:
    return name.lstrip("_")[:1].isupper()


def _is_of_case(node: ast.expr) -> bool:
    """An attribute of the test's own object."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def _is_type(node: ast.expr) -> bool:
    """It stands for a class, as `list[int]` does."""
    return isinstance(node, ast.Name) and (_is_of_class(node.id) or node.id in _TYPES)


def _is_repeatable(node: ast.expr) -> bool:
    """To compute it once more does nothing else."""
    if isinstance(node, ast.Starred):
        return isinstance(node.value, ast.Name)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(_is_repeatable, node.elts))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and not node.id.startswith("__harena"))


def _again(node: Any) -> Any:
    if isinstance(node, ast.Starred):
        return _again(node.value)
    if isinstance(node, (ast.Tuple, ast.List)):
        return ast.Tuple([_again(each) for each in node.elts], ast.Load())
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, _again(node.operand))
    return ast.Constant(node.value) if isinstance(node, ast.Constant) else ast.Name(node.id, ast.Load())
