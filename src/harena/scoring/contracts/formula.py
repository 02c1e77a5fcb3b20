"""Formulas over the scores of parts: `0.6 * exact + 0.4 * max(style, 0.5)`. Read as a tree, computed over floats only.

There are numbers, the parts' names, + - * /, ^ (or **) for powers, and min, max, abs, floor, ceil, exp, sqrt, log.
"""

from __future__ import annotations

import ast
import math
import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product

from harena.scoring.python_source import written

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
_MOST_NODES, _MOST_DEPTH = 500, 200
"""numbers, names, operators and functions of one formula, and how many are inside each other"""
_MOST_WORK = 1_000_000
"""nodes that are computed for the check of one formula, about: a second of a slow machine"""
_MOST_COMBINED = 6
_HALF = 0.5
"""score that at least one part which pays must reach where a formula gives full credit"""
_STEPS = tuple(
    sorted((0.0, 1e-6, 0.001, 0.01, 0.05, *(n / 12 for n in range(1, 12)), 0.499, 0.501, 0.95, 0.99, 0.999, 1.0))
)
_FINE_STEPS = tuple(sorted({*_STEPS, *(number / 1000 for number in range(1000))}))
_FEW_STEPS = (0.0, 0.01, 0.3, 0.499, 0.7, 1.0)
_LEAST_POINTS, _MOST_TRIED = 4, 3000
ROUNDING = 1e-9
"""by which a formula's value may leave 0 to 1"""


class FormulaError(ValueError):
    """A formula that cannot be computed; the message says why."""


@lru_cache(1024)  # many scenarios share one
def check_formula(formula: str, names: tuple[str, ...]) -> None:
    """Raises FormulaError for what is no formula over these names, for one that gives no score somewhere, and for one
    that pays for being less right (see `_check_pay`)."""
    tree = _tree(formula)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in names and node.id not in _FUNCTIONS:
            raise FormulaError(f"{node.id!r} is none of {', '.join(names)}")
    _value(tree, dict.fromkeys(names, 0.5), check_only=True)
    for scores in _extremes(names):
        # found here, because a candidate that gets just these scores would have no score at all
        _score(formula, scores)
    _check_pay(formula, [name for name in names if name in _named(formula)], names)


def _score(formula: str, scores: Mapping[str, float]) -> float:
    value = computed(formula, scores)
    if not -ROUNDING <= value <= 1 + ROUNDING:
        raise FormulaError(
            f"gives {value:g} where {_told(formula, scores)}; a score is a number from 0 to 1, so divide or clip it"
        )
    return value


def _check_pay(formula: str, named: Sequence[str], names: Sequence[str]) -> None:
    """Each part pays throughout (more of it is never worth less) or costs throughout, and nothing is worth full credit
    where all parts that pay are below a half. Tried along lines through many points. Raises FormulaError."""
    directions: dict[str, tuple[float, dict[str, float]]] = {}
    full: list[dict[str, float]] = []
    steps = _FINE_STEPS if len(named) == 1 else _STEPS if len(named) <= _MOST_COMBINED else _FEW_STEPS
    count = max(_LEAST_POINTS, _MOST_TRIED // (len(steps) * len(named))) if len(named) > 1 else len(named)
    work = _size(_tree(formula)) * len(steps) * len(named)
    if count * work > _MOST_WORK:
        count = max(_LEAST_POINTS, _MOST_WORK // work)
    if count * work > _MOST_WORK:
        raise FormulaError(f"is too large for its {len(named)} parts to be checked; write a shorter one")
    for point in _points(names, count):
        for name in named:
            last = None
            for step in steps:
                here = {**point, name: step}
                value = _score(formula, here)
                if value >= 1 - ROUNDING:
                    full.append(here)
                if last is not None and abs(value - last) > ROUNDING:
                    direction, first = directions.setdefault(name, (value - last, here))
                    if direction * (value - last) < 0:
                        rises, falls = (first, here) if direction > 0 else (here, first)
                        raise FormulaError(
                            f"rises with {name} up to {_told(formula, rises)}, and falls with it up to "
                            f"{_told(formula, falls)}; a part must pay throughout, or cost throughout"
                        )
                last = value
    if not named and _score(formula, dict.fromkeys(names, 0.0)) >= 1 - ROUNDING:
        full.append(dict.fromkeys(names, 0.0))
    for here in full:
        if all(here[name] < _HALF for name, (direction, _) in directions.items() if direction > 0):
            raise FormulaError(
                f"gives full credit where {_told(formula, here) or 'nothing is right'}: no part that pays is half right"
            )


def _points(names: Sequence[str], count: int) -> Iterator[dict[str, float]]:
    """Where lines begin: all 0, all 1, corners and points within, the same ones for each formula."""
    drawn = random.Random(0)  # noqa: S311 (nothing is kept secret)
    yield from (dict.fromkeys(names, score) for score in (0.0, 1.0)[:count])
    for number in range(count - 2):
        of_corner = number % 3 == 0
        yield {name: float(drawn.random() < 0.5) if of_corner else drawn.random() for name in names}


def _extremes(names: Sequence[str]) -> Iterator[dict[str, float]]:
    """What the parts may score at most and at least: all combinations of 0 and 1, or, of many parts, those in which one
    part differs from all others, or none does."""
    if len(names) <= _MOST_COMBINED:
        yield from (dict(zip(names, scores, strict=True)) for scores in product((0.0, 1.0), repeat=len(names)))
        return
    for score in (0.0, 1.0):
        same = dict.fromkeys(names, score)
        yield same
        yield from ({**same, name: 1.0 - score} for name in names)


def _told(formula: str, scores: Mapping[str, float]) -> str:
    named = _named(formula)
    return ", ".join(f"{name} = {score:g}" for name, score in scores.items() if name in named)


def _named(formula: str) -> set[str]:
    return {node.id for node in ast.walk(_tree(formula)) if isinstance(node, ast.Name)}


def computed(formula: str, scores: Mapping[str, float]) -> float:
    """The formula's value. Raises FormulaError."""
    try:
        return float(_value(_tree(formula), scores))
    except (ArithmeticError, ValueError) as error:
        if isinstance(error, FormulaError):
            raise
        raise FormulaError(f"cannot be computed where {_told(formula, scores)}: {error}") from None


@lru_cache(64)
def _tree(formula: str) -> ast.expr:
    if len(formula) > _MAX_LENGTH:
        raise FormulaError(f"is longer than {_MAX_LENGTH} characters")
    try:
        # ^ binds as ** does in formulas, and more loosely than + in Python
        tree = ast.parse(formula.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(f"{formula!r} is not a formula") from None
    if _size(tree) > _MOST_NODES:
        raise FormulaError(f"has more than {_MOST_NODES} numbers, names, operators and functions")
    return tree


def _size(tree: ast.expr) -> int:
    """How many numbers, names, operators and functions there are. Raises FormulaError where too many are inside each
    other: each is computed by a call within a call."""
    size = 0
    level: list[ast.expr] = [tree]
    for _ in range(_MOST_DEPTH):
        if not level:
            return size
        size += len(level)
        level = [below for node in level for below in ast.iter_child_nodes(node) if isinstance(below, ast.expr)]
    raise FormulaError(f"is nested more than {_MOST_DEPTH} deep: a sum of many is nested, too; write a shorter one")


def _value(node: ast.expr, scores: Mapping[str, float], *, check_only: bool = False) -> float:
    def below(part: ast.expr) -> float:
        return _value(part, scores, check_only=check_only)

    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        try:
            return float(node.value)  # type: ignore[arg-type]
        except OverflowError:
            raise FormulaError("holds a number that is larger than the largest float") from None
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
            raise FormulaError(f"{_shown(node)} has named arguments")
        arguments = [below(argument) for argument in node.args]
        name = node.func.id
        if not (len(arguments) > 1 if name in _MANY else len(arguments) == 1):
            raise FormulaError(f"{name} takes {'two or more numbers' if name in _MANY else 'one number'}")
        return 0.5 if check_only else _FUNCTIONS[name](*arguments)
    raise FormulaError(f"{_shown(node)} is not part of a formula; see the reference for what is")


def _shown(node: ast.expr) -> str:
    source = written(node)
    return "an expression that is nested too deeply to be shown" if source is None else f"`{source}`"


def as_written(number: float) -> Fraction:
    """The number that a float's decimal notation says: 0.1 is a tenth. It must be finite."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def share_of(number: float, low: float, high: float) -> float:
    """How far a number is on the way from `low` to `high`, from 0 to 1 and in decimal numbers: 9.1 is 0.9 of the way
    from 1 to 10, which floats miss."""
    share = (as_written(number) - as_written(low)) / (as_written(high) - as_written(low))
    return float(min(max(share, Fraction(0)), Fraction(1)))
