r"""Formulas of LaTeX as numbers: what a small one comes to, and how much of it is left to compute.

    \frac{\sqrt{3}}{2}   \frac12\sqrt3   \sqrt{3}/2        one value, in three usual forms
    3^4 \cdot 5          405                               one value, of which the first is a task, and no answer

Only values are computed here, of each variable at a few places; nothing is solved, factored or expanded. Rational
numbers are exact, others have ninety digits and are different where these are. A decimal of ten digits or more is also
the irrational number that it is rounded from.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from harena.training.rewards import digits
from harena.training.rewards.digits import Number

LONGEST = 2_000
"""characters of a formula that is read"""
_DEEPEST = 60
_MOST_BITS = 20_000
_TOKEN = re.compile(r"\s+|(\d+(?:\.\d+)?|\.\d+)|(\\[A-Za-z]+)|([A-Za-z])|(.)", re.DOTALL)
_FUNCTIONS: dict[str, Callable[[Number], Number]] = {
    "sin": digits.sine, "cos": digits.cosine, "ln": digits.logarithm, "exp": digits.exponential,
    "tan": lambda x: digits.divided(digits.sine(x), digits.cosine(x)),
    "cot": lambda x: digits.divided(digits.cosine(x), digits.sine(x)),
    "sec": lambda x: digits.divided(digits.ONE, digits.cosine(x)),
    "csc": lambda x: digits.divided(digits.ONE, digits.sine(x)),
    "arcsin": digits.arcsine, "arctan": digits.arctangent,
    "arccos": lambda x: digits.added(digits.divided(digits.pi(), digits.number(Fraction(2))),
                                     digits.negative(digits.arcsine(x))),
    # sines of an imaginary angle
    "sinh": lambda x: digits.divided(digits.sine(digits.multiplied(digits.I, x)), digits.I),
    "cosh": lambda x: digits.cosine(digits.multiplied(digits.I, x)),
    "tanh": lambda x: digits.divided(
        digits.divided(digits.sine(digits.multiplied(digits.I, x)), digits.I),
        digits.cosine(digits.multiplied(digits.I, x))),
}  # fmt: skip
FUNCTION_NAMES = frozenset({*_FUNCTIONS, "log"})
_GREEK = frozenset(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "varepsilon",
        "zeta",
        "eta",
        "theta",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "sigma",
        "tau",
        "phi",
        "varphi",
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Sigma",
        "Phi",
        "Psi",
        "Omega",
        "ell",
    ]
)
_PRODUCTS = frozenset({"\\cdot", "\\times", "*"})
_QUOTIENTS = frozenset({"/", "\\div"})
_PLACES = (Fraction("0.7310585786"), Fraction("1.6180339887"), Fraction("-0.5772156649"))
_CONSTANTS: dict[str, Callable[[], Number]] = {"pi": digits.pi, "i": lambda: digits.I, "e": digits.euler}
_MANY_DIGITS = 10
_MOST_PLACES = 60
_MOST_CHOSEN_FROM = 10_000
_SMALL = 1000
"""the largest denominator of a small fraction"""
_CLOSING = {"(": ")", "[": "]", "{": "}", "|": "|"}

Value = Fraction | Number


class FormulaError(ValueError):
    """It is no formula of this kind."""


@dataclass(frozen=True, slots=True)
class Node:
    """A formula: an operation, or a number, a constant or a variable."""

    kind: str
    """number, name, +, *, /, ^, neg, !, or a function's name"""
    parts: tuple[Node, ...] = ()
    text: str = ""


def parsed(text: str) -> Node:
    """The formula. Raises FormulaError."""
    if len(text) > LONGEST:
        raise FormulaError("it is too long")
    parser = _Parser([found[0] for found in _TOKEN.finditer(text) if found[0].strip()])
    node = parser.sum(0)
    if parser.left:
        raise FormulaError(f"{parser.left[0]!r} is not expected")
    return node


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.left = tokens

    def _next(self) -> str:
        return self.left[0] if self.left else ""

    def _take(self, wanted: str = "") -> str:
        if not self.left or (wanted and self.left[0] != wanted):
            raise FormulaError(f"{wanted or 'more'} is expected")
        return self.left.pop(0)

    def sum(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise FormulaError("it is too deep")
        terms = [self._signed(depth)]
        while self._next() in ("+", "-"):
            terms.append(self._signed(depth))
        return terms[0] if len(terms) == 1 else Node("+", tuple(terms))

    def _signed(self, depth: int) -> Node:
        is_negative = False
        while self._next() in ("+", "-"):
            is_negative ^= self._take() == "-"
        term = self._product(depth)
        return Node("neg", (term,)) if is_negative else term

    def _product(self, depth: int) -> Node:
        node = self._power(depth)
        while self.left:
            sign = self._next()
            if sign in _QUOTIENTS:
                self._take()
                node = Node("/", (node, self._signed_factor(depth)))
            elif sign in _PRODUCTS:
                self._take()
                node = _times(node, self._signed_factor(depth))
            elif sign in "+-)]}|," or not self._begins_factor(sign):
                return node
            elif node.kind == "number" and sign == "\\frac" and "." not in node.text:
                part = self._power(depth)
                is_mixed = part.kind == "/" and all(inner.kind == "number" for inner in part.parts)
                node = Node("mixed", (node, part)) if is_mixed else _times(node, part)
            elif sign[0].isdigit() or sign[0] == ".":
                raise FormulaError("a number does not follow a factor")
            else:
                node = _times(node, self._power(depth))
        return node

    def _signed_factor(self, depth: int) -> Node:
        if self._next() in ("+", "-"):
            is_negative = self._take() == "-"
            factor = self._power(depth)
            return Node("neg", (factor,)) if is_negative else factor
        return self._power(depth)

    def _begins_factor(self, sign: str) -> bool:
        return sign[0].isalnum() or sign[0] in "([{.\\"

    def _power(self, depth: int) -> Node:
        node = self._base(depth + 1)
        while self._next() in ("^", "!"):
            is_factorial = self._take() == "!"
            node = Node("!", (node,)) if is_factorial else Node("^", (node, self._argument(depth + 1)))
        return node

    def _argument(self, depth: int) -> Node:
        """What a command or a power takes: what is in braces, or one sign."""
        if depth > _DEEPEST:
            raise FormulaError("it is too deep")
        if self._next() == "{":
            self._take()
            node = self.sum(depth + 1)
            self._take("}")
            return node
        sign = self._next()
        if sign == "-":
            self._take()
            return Node("neg", (self._argument(depth + 1),))
        if len(sign) > 1 and sign.isdigit():  # \frac12 and x^23 take one digit
            self.left[0:1] = [sign[0], sign[1:]]
        return self._base(depth + 1)

    def _base(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise FormulaError("it is too deep")
        sign = self._take()
        if sign[0].isdigit() or sign[0] == ".":
            return Node("number", text=sign)
        if sign in _CLOSING:
            node = self.sum(depth + 1)
            self._take(_CLOSING[sign])
            return Node("abs", (node,)) if sign == "|" else node
        name = sign.removeprefix("\\")
        if sign.startswith("\\") and name == "frac":
            return Node("/", (self._argument(depth), self._argument(depth)))
        if sign.startswith("\\") and name == "binom":
            return Node("binom", (self._argument(depth), self._argument(depth)))
        if sign.startswith("\\") and name == "sqrt":
            index = Node("number", text="2")
            if self._next() == "[":
                self._take()
                index = self.sum(depth + 1)
                self._take("]")
            return Node("root", (self._argument(depth), index))
        if sign.startswith("\\") and (name in _FUNCTIONS or name == "log"):
            return self._function(name, depth)
        if (
            sign == "\\pi"
            or name in _GREEK
            or name == "infty"
            or (len(sign) == 1 and sign.isalpha() and sign.isascii())
        ):
            return self._name(name)
        raise FormulaError(f"{sign!r} is not expected")

    def _function(self, name: str, depth: int) -> Node:
        base: tuple[Node, ...] = ()
        if name == "log" and self._next() == "_":
            self._take()
            base = (self._argument(depth),)
        power = None
        if self._next() == "^":
            self._take()
            power = self._argument(depth)
        node = Node(name, (self._power(depth), *base))
        return node if power is None else Node("^", (node, power))

    def _name(self, name: str) -> Node:
        if self._next() == "_":
            self._take()
            under = self._argument(_DEEPEST - 3)
            if under.kind not in ("number", "name"):
                raise FormulaError("an index is a sign")
            name += f"_{under.text}"
        return Node("name", text=name)


def _times(one: Node, other: Node) -> Node:
    return Node("*", (*(one.parts if one.kind == "*" else (one,)), other))


def names(node: Node) -> frozenset[str]:
    """Variables of a formula."""
    if node.kind == "name":
        return frozenset() if node.text in _CONSTANTS else frozenset({node.text})
    return frozenset().union(*map(names, node.parts))


def equal_values(one: Node, other: Node) -> bool:
    """Whether both come to the same, whatever their variables are."""
    variables = sorted(names(one))
    if variables != sorted(names(other)):
        return False
    places = range(len(_PLACES)) if variables else (0,)
    return all(_equal_at(one, other, variables, place) for place in places)


def _equal_at(one: Node, other: Node, variables: list[str], place: int) -> bool:
    try:
        left, right = (_value_at(node, tuple(variables), place) for node in (one, other))
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return left == right
        with digits.precise():
            if digits.same(_number(left), _number(right)):
                return True
            return _is_rounded(one, right) or _is_rounded(other, left)
    except (FormulaError, ArithmeticError, ValueError):
        return False


def _is_rounded(node: Node, value: Value) -> bool:
    """Whether it is a decimal of many digits to which the value, no fraction, may be rounded."""
    written = node.parts[0] if node.kind == "neg" else node
    _, _, decimals = written.text.partition(".")
    if not decimals or len(written.text.strip("0.").replace(".", "")) < _MANY_DIGITS or isinstance(value, Fraction):
        return False
    last = Decimal(10) ** -len(decimals)
    return digits.difference(_number(_value(node, {})), value) <= last


def _number(value: Value) -> Number:
    return digits.number(value) if isinstance(value, Fraction) else value


@lru_cache(maxsize=512)
def _value_at(node: Node, variables: tuple[str, ...], place: int) -> Value:
    """What it comes to where the variables have their values of that place."""
    with digits.precise():
        at = {
            name: digits.number(_PLACES[(number + place) % 3] + Fraction(number, 7))
            for number, name in enumerate(variables)
        }
        return _value(node, at)


def _value(node: Node, at: dict[str, Number]) -> Value:
    kind = node.kind
    if kind == "number":
        return Fraction(node.text)
    if kind == "name":
        return at[node.text] if node.text not in _CONSTANTS else _CONSTANTS[node.text]()
    parts = [_value(part, at) for part in node.parts]
    if kind == "neg":
        return -parts[0] if isinstance(parts[0], Fraction) else digits.negative(parts[0])
    if kind in ("+", "mixed"):
        return _added(parts)
    if kind == "*":
        product: Value = Fraction(1)
        for part in parts:
            product = _multiplied(product, part)
        return product
    if kind == "/":
        return _divided(parts[0], parts[1])
    if kind == "^":
        return _raised(parts[0], parts[1])
    if kind == "root":
        return _raised(parts[0], _divided(Fraction(1), parts[1]))
    if kind == "abs":
        return abs(parts[0]) if isinstance(parts[0], Fraction) else digits.magnitude(parts[0])
    if kind == "!":
        if isinstance(parts[0], Fraction) and parts[0].denominator == 1 and 0 <= parts[0] <= 500:
            return Fraction(math.factorial(int(parts[0])))
        raise FormulaError("no factorial")
    if kind == "binom":
        return _chosen(parts[0], parts[1])
    if kind == "log":
        base = parts[1] if len(parts) > 1 else Fraction(10)
        return digits.divided(digits.logarithm(_number(parts[0])), digits.logarithm(_number(base)))
    return _FUNCTIONS[kind](_number(parts[0]))


def _chosen(many: Value, few: Value) -> Value:
    if not isinstance(many, Fraction) or not isinstance(few, Fraction) or not 0 <= few <= many <= _MOST_CHOSEN_FROM:
        raise FormulaError("no binomial coefficient")
    if many.denominator != 1 or few.denominator != 1:
        raise FormulaError("no binomial coefficient")
    return Fraction(math.comb(int(many), int(few)))


def _added(parts: list[Value]) -> Value:
    exact, total = Fraction(0), None
    for part in parts:
        if isinstance(part, Fraction):
            exact += part
        else:
            total = part if total is None else digits.added(total, part)
    if total is None:
        return exact
    return digits.added(total, digits.number(exact)) if exact else total


def _multiplied(one: Value, other: Value) -> Value:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        product = one * other
        if product.numerator.bit_length() > _MOST_BITS:
            raise FormulaError("it is too large")
        return product
    return digits.multiplied(_number(one), _number(other))


def _divided(one: Value, other: Value) -> Value:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one / other
    return digits.divided(_number(one), _number(other))


def _raised(base: Value, power: Value) -> Value:
    if isinstance(base, Fraction) and isinstance(power, Fraction):
        if power.denominator == 1:
            if abs(power) * max(base.numerator.bit_length(), base.denominator.bit_length()) > _MOST_BITS:
                raise FormulaError("it is too large")
            return base ** int(power)
        if power.denominator == 3 and base < 0 and power.numerator == 1:  # the real root is meant
            return digits.negative(digits.raised(digits.number(-base), digits.number(power)))
        if power == Fraction(1, 2) and base > 0:
            return digits.root(digits.number(base))
    return digits.raised(_number(base), _number(power))


def value_of(node: Node) -> float | None:
    """What a formula without variables comes to; None where that is no real number."""
    try:
        value = _number(_value_at(node, (), 0))
        found = float(value.real)
    except (FormulaError, ArithmeticError, ValueError, KeyError):
        return None
    return found if abs(value.imaginary) <= value.off and math.isfinite(found) else None


def _halved(node: Node) -> Node | None:
    """The sum in `\\frac12 (a+b)`, which is `\\frac{a+b}{2}` written otherwise."""
    if node.kind != "*" or len(node.parts) != 2 or node.parts[1].kind != "+":
        return None
    share = node.parts[0]
    is_part = share.kind == "/" and share.parts[0].text == "1" and share.parts[1].kind == "number"
    return node.parts[1] if is_part else None


def terms(node: Node) -> int:
    """How many a sum has; a sum that is divided by a number, or has a sign, has as many."""
    if (halved := _halved(node)) is not None:
        return terms(halved)
    if node.kind == "neg" or (node.kind == "/" and not names(node.parts[1]) and node.parts[0].kind in ("+", "neg")):
        return terms(node.parts[0])
    return len(node.parts) if node.kind == "+" else 1


def factors(node: Node) -> int:
    """How many sums with a variable it is a product of, each counted as often as its power says; 0 for a sum."""
    if _halved(node) is not None:
        return 0
    if node.kind == "neg":
        return factors(node.parts[0])
    if node.kind == "*":
        return sum(map(factors, node.parts)) + sum(part.kind == "+" and bool(names(part)) for part in node.parts)
    if node.kind == "/":
        return factors(node.parts[0])
    if node.kind == "^" and node.parts[0].kind == "+" and names(node.parts[0]) and node.parts[1].text.isdigit():
        return int(node.parts[1].text[:3])
    return 0


def products(node: Node) -> int:
    """How many sums with a variable are factors, or have a power, anywhere in it."""
    own = node.kind in ("*", "^") and any(part.kind == "+" and names(part) for part in node.parts)
    return own + sum(map(products, node.parts))


def size(node: Node) -> int:
    """How many numbers and names stand in it; a mixed number is no longer than a fraction."""
    if node.kind == "mixed":
        return 2
    return sum(map(size, node.parts)) if node.parts else 1


def to_compute(node: Node) -> int:
    """How many operations on plain numbers are left to do. A fraction, a mixed number and a root that is no fraction
    are numbers."""
    own = 0
    if node.kind in _FUNCTIONS or node.kind == "log":
        own = not names(node)
    elif node.kind in ("!", "abs"):
        own = is_plain(node.parts[0])
    elif node.kind == "binom":
        own = all(map(is_plain, node.parts))
    elif node.kind in ("+", "*"):
        own = max(0, sum(map(is_plain, node.parts)) - 1)
    elif node.kind == "root" or (node.kind == "^" and node.parts[1].kind == "/"):
        own = all(map(is_plain, node.parts)) and _is_whole(node)
    elif node.kind == "^":
        own = all(map(is_plain, node.parts))
    return own + sum(map(to_compute, node.parts))


def _is_whole(node: Node) -> bool:
    """Whether what a root comes to is a small fraction."""
    try:
        value = _value_at(node, (), 0)
        if isinstance(value, Fraction):
            return value.denominator <= _SMALL
        if abs(value.real.adjusted()) > _MOST_PLACES:
            return False
        with digits.precise():
            nearest = Fraction(value.real).limit_denominator(_SMALL)
            return digits.same(value, digits.number(nearest))
    except (FormulaError, ArithmeticError, ValueError):
        return False


def is_plain(node: Node) -> bool:
    """Whether it is a number, or a fraction or a mixed number of such."""
    return node.kind == "number" or (node.kind in ("neg", "/", "mixed") and all(map(is_plain, node.parts)))


__all__ = [
    "FUNCTION_NAMES",
    "LONGEST",
    "FormulaError",
    "Node",
    "equal_values",
    "factors",
    "is_plain",
    "names",
    "parsed",
    "products",
    "size",
    "terms",
    "to_compute",
    "value_of",
]
