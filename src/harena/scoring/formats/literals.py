"""Python literals out of test code, as host values: read from the tree, never evaluated, no set or dict built."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

from harena.scoring.codec import canonical
from harena.scoring.compare import python_equal
from harena.scoring.python_source import written
from harena.scoring.values import MAX_DEPTH, Bag

_NAMES = {"inf": math.inf, "nan": math.nan, "Infinity": math.inf, "NaN": math.nan}
_NUMBERS = (int, float, complex)
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_MAX_EXPONENT, _MAX_BASE, _MAX_BITS = 1000, 10**6, 20_000
_NO_NUMBER = re.compile(r"[+-]?(inf|infinity|nan)")
_MAX_KEY_DEPTH = 8
"""How deep a set's member, or a dict's key, is nested: it is compared once more by each set that it is in."""
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None))


class NotLiteralError(ValueError):
    """The expression is more than a literal; the message is its source."""


def literal(node: ast.expr, depth: int = MAX_DEPTH) -> Any:
    """The host value of a literal. Raises NotLiteralError.

    Beyond Python's own literals: `set()`, `frozenset(...)`, `set([...])`, `float("inf")`, `math.inf`, `inf`, and sums
    of a number and an imaginary one.
    """
    if depth == 0:
        raise NotLiteralError("nested too deeply")
    if isinstance(node, ast.Constant) and isinstance(node.value, _CONSTANTS):
        return node.value
    if isinstance(node, ast.List):
        return [literal(item, depth - 1) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(literal(item, depth - 1) for item in node.elts)
    if isinstance(node, ast.Set):
        return Bag("set", _members(node.elts, depth))
    if isinstance(node, ast.Dict):
        return Bag("dict", _pairs(node, depth))
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.Attribute) and node.attr in ("inf", "nan") and _is_name(node.value, "math", "np", "numpy"):
        return _NAMES[node.attr]
    if isinstance(node, ast.UnaryOp):
        return _signed(node, depth)
    if isinstance(node, ast.BinOp):
        return _folded(node, depth)
    if isinstance(node, ast.Call):
        return _called(node, depth)
    raise NotLiteralError(source_of(node))


def source_of(node: ast.AST) -> str:
    """The expression as code, on one line, cut short."""
    source = written(node)
    if source is None:
        return "(an expression that is too large to be shown)"
    text = " ".join(source.split())
    return text if len(text) <= 80 else text[:77] + "..."


def _is_name(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _members(nodes: list[ast.expr], depth: int) -> tuple[Any, ...]:
    """Values of a set's members, each once."""
    members: list[Any] = []
    seen = _MemberSet()
    for node in nodes:
        member = literal(node, min(depth - 1, _MAX_KEY_DEPTH))
        if seen.place_of(member, len(members)) == len(members):
            members.append(member)
    return tuple(members)


def _pairs(node: ast.Dict, depth: int) -> tuple[Any, ...]:
    """(key, value) pairs of a dict; for a key that is written twice, the last value, as Python takes it."""
    pairs: dict[int, tuple[Any, Any]] = {}
    seen = _MemberSet()
    for number, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
        if key is None:
            raise NotLiteralError(source_of(node))
        made = literal(key, min(depth - 1, _MAX_KEY_DEPTH))
        place = seen.place_of(made, number)
        pairs.pop(place, None)
        pairs[place] = (made, literal(value, depth - 1))
    return tuple(pairs.values())


class _MemberSet:
    """Members so far, by bytes that are equal for all that Python takes for equal: no hash is made of a number, which
    whoever wrote it may have chosen."""

    def __init__(self) -> None:
        self._places: dict[tuple[type, bytes], tuple[int, Any]] = {}

    def place_of(self, member: Any, free: int) -> int:
        """The place of an equal one of the same type; `free` where there is none, which is this one's then. NaN equals
        nothing."""
        name = (type(member), canonical(python_equal(member)))
        place, other = self._places.setdefault(name, (free, member))
        return place if other == member else free


def _signed(node: ast.UnaryOp, depth: int) -> Any:
    value = literal(node.operand, depth - 1)
    if type(value) in (int, float, complex) and isinstance(node.op, ast.USub | ast.UAdd):
        return -value if isinstance(node.op, ast.USub) else value
    raise NotLiteralError(source_of(node))


def _folded(node: ast.BinOp, depth: int) -> Any:
    """Numbers that are written as a sum, a product, a power, ..., and texts that are put together; bounded in size."""
    left, right = literal(node.left, depth - 1), literal(node.right, depth - 1)
    if type(left) is str and type(right) is str and isinstance(node.op, ast.Add):
        return left + right
    operation = _ARITHMETIC.get(type(node.op))
    if operation is None or type(left) not in _NUMBERS or type(right) not in _NUMBERS:
        raise NotLiteralError(source_of(node))
    if any(type(side) is int and side.bit_length() > _MAX_BITS for side in (left, right)):
        raise NotLiteralError(source_of(node))  # to divide numbers of a million digits takes minutes
    if isinstance(node.op, ast.Pow) and (type(right) is not int or abs(right) > _MAX_EXPONENT or abs(left) > _MAX_BASE):
        raise NotLiteralError(source_of(node))
    try:
        value = operation(left, right)
    except ArithmeticError:
        raise NotLiteralError(source_of(node)) from None
    if type(value) is int and value.bit_length() > _MAX_BITS:
        raise NotLiteralError(source_of(node))
    return value


def _called(node: ast.Call, depth: int) -> Any:
    if node.keywords or not isinstance(node.func, ast.Name) or len(node.args) > 1:
        raise NotLiteralError(source_of(node))
    name, arguments = node.func.id, node.args
    if name in ("set", "frozenset"):
        given = arguments[0] if arguments else ast.List(elts=[])
        if isinstance(given, ast.List | ast.Tuple | ast.Set):
            return Bag("set" if name == "set" else "frozenset", _members(given.elts, depth))
    if name in ("dict", "list", "tuple") and not arguments:
        return {"dict": Bag("dict", ()), "list": [], "tuple": ()}[name]
    if name == "float" and arguments and isinstance(arguments[0], ast.Constant):
        text = arguments[0].value
        if isinstance(text, str) and _NO_NUMBER.fullmatch(text.strip().lower()):
            return float(text)
    raise NotLiteralError(source_of(node))
