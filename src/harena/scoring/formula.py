"""Formulas over the scores of parts: `0.6 * exact + 0.4 * max(style, 0.5)`. Read as a tree, computed over floats only.

There are numbers, the parts' names, + - * /, ^ (or **) for powers, and min, max, abs, floor, ceil, exp, sqrt, log.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping

_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "log": math.log,
}
_MANY = ("min", "max")
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
_MAX_LENGTH = 2000


class FormulaError(ValueError):
    """A formula that cannot be computed; the message says why."""


def check_formula(formula: str, names: Collection[str]) -> None:
    """Raises FormulaError for what is no formula over these names."""
    for node in ast.walk(_tree(formula)):
        if isinstance(node, ast.Name) and node.id not in names and node.id not in _FUNCTIONS:
            raise FormulaError(f"{node.id!r} is none of {', '.join(names)}")
    _value(_tree(formula), dict.fromkeys(names, 0.5), check_only=True)


def computed(formula: str, scores: Mapping[str, float]) -> float:
    """The formula's value. Raises FormulaError."""
    try:
        return float(_value(_tree(formula), scores))
    except (ArithmeticError, ValueError) as error:
        if isinstance(error, FormulaError):
            raise
        raise FormulaError(f"cannot be computed with {dict(scores)}: {error}") from None


def _tree(formula: str) -> ast.expr:
    if len(formula) > _MAX_LENGTH:
        raise FormulaError(f"is longer than {_MAX_LENGTH} characters")
    try:
        # ^ binds as ** does in formulas, and more loosely than + in Python
        return ast.parse(formula.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(f"{formula!r} is not a formula") from None


def _value(node: ast.expr, scores: Mapping[str, float], *, check_only: bool = False) -> float:
    def below(part: ast.expr) -> float:
        return _value(part, scores, check_only=check_only)

    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name) and node.id in scores:
        return float(scores[node.id])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = below(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = below(node.left), below(node.right)
        return 0.5 if check_only else _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        if node.keywords:
            raise FormulaError(f"`{ast.unparse(node)}` has named arguments")
        arguments = [below(argument) for argument in node.args]
        name = node.func.id
        if not (len(arguments) > 1 if name in _MANY else len(arguments) == 1):
            raise FormulaError(f"{name} takes {'two or more numbers' if name in _MANY else 'one number'}")
        return 0.5 if check_only else _FUNCTIONS[name](*arguments)
    raise FormulaError(f"`{ast.unparse(node)}` is not part of a formula; see the reference for what is")
