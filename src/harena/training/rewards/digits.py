r"""Complex numbers of ninety digits, each with how far off it may be: what `maths` compares formulas by.

    \frac{\sqrt2}{2^{50}}   1.2560739669470201...e-15  and off by 1e-92 at most
    10^{12}\pi + 1          3141592653590.7932...      and off by 1e-65 at most

Two of them differ where they are further apart than both may be off. All is computed inside `precise()`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow, Underflow, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

_CONTEXT = Context(prec=90, Emax=10**9, Emin=-(10**9), traps=[DivisionByZero, InvalidOperation, Overflow, Underflow])
_SHARE = Decimal("1e-78")
"""the part of itself by which one operation puts a number off, at most"""
_SURE = Decimal("1e-30")
"""a number that may be off by more than this part of it is not known"""
_NOTHING = Decimal("1e-35")
"""what may be zero, and is off by no more than this, is zero"""
_HALVINGS = 8
_ZERO, _ONE, _TWO = Decimal(0), Decimal(1), Decimal(2)


class UnknownValueError(ArithmeticError):
    """A value is not known well enough."""


class Number(NamedTuple):
    """A complex number, somewhere in a circle."""

    real: Decimal
    imaginary: Decimal = _ZERO
    off: Decimal = _ZERO
    """the radius of the circle"""

    @property
    def size(self) -> Decimal:
        """How far its middle is from zero."""
        if not self.imaginary:
            return abs(self.real)
        return (self.real * self.real + self.imaginary * self.imaginary).sqrt()

    @property
    def may_be_zero(self) -> bool:
        """Whether zero is in the circle."""
        return self.size <= self.off


def precise() -> AbstractContextManager[Context]:
    """Where it is entered, decimals have ninety digits."""
    return localcontext(_CONTEXT)


def number(value: Fraction) -> Number:
    """It as a number that is hardly off."""
    return _made(Decimal(value.numerator) / Decimal(value.denominator), _ZERO, _ZERO)


def same(one: Number, other: Number) -> bool:
    """Whether they are one number, as far as they are known, and they are known well. Raises UnknownValueError where
    they may be one, and are not known."""
    off = one.off + other.off
    if difference(one, other) > off:
        return False
    if off <= _SURE * max(one.size, other.size) or (one.may_be_zero and other.may_be_zero and off <= _NOTHING):
        return True
    raise UnknownValueError("it is not known well enough")


def difference(one: Number, other: Number) -> Decimal:
    """How far apart their middles are."""
    return Number(one.real - other.real, one.imaginary - other.imaginary).size


def _made(real: Decimal, imaginary: Decimal, off: Decimal) -> Number:
    made = Number(real, imaginary)
    return made._replace(off=off + made.size * _SHARE)


def added(one: Number, other: Number) -> Number:
    """Their sum."""
    return _made(one.real + other.real, one.imaginary + other.imaginary, one.off + other.off)


def negative(one: Number) -> Number:
    """It with the other sign."""
    return Number(-one.real, -one.imaginary, one.off)


def multiplied(one: Number, other: Number) -> Number:
    """Their product."""
    return _made(
        one.real * other.real - one.imaginary * other.imaginary,
        one.real * other.imaginary + one.imaginary * other.real,
        # of a difference of products, the products are what may be off
        one.size * other.off + other.size * one.off + one.off * other.off + one.size * other.size * _SHARE,
    )


def divided(one: Number, other: Number) -> Number:
    """Their quotient."""
    if other.may_be_zero:
        raise UnknownValueError("what divides may be zero")
    size = other.size
    inverse = Number(
        other.real / size / size,
        -other.imaginary / size / size,
        other.off / (size * (size - other.off)) + _SHARE / size,
    )
    return multiplied(one, inverse)


def magnitude(one: Number) -> Number:
    """How far it is from zero."""
    return _made(one.size, _ZERO, one.off)


def exponential(one: Number) -> Number:
    """Euler's number to its power."""
    if one.off > _ONE:
        raise UnknownValueError("an exponent is not known")
    growth = one.real.exp()
    sine, cosine = _circle(one.imaginary)
    return _made(growth * cosine, growth * sine, growth * (_TWO * one.off + (abs(one.imaginary) + _ONE) * _SHARE))


def logarithm(one: Number) -> Number:
    """Its natural logarithm; of a negative number, the one above."""
    if one.may_be_zero:
        raise UnknownValueError("there is no logarithm of what may be zero")
    imaginary = _ZERO if abs(one.imaginary) <= one.off else one.imaginary
    size = one.size
    off = one.off / (size - one.off) * _TWO + _SHARE
    return _made(size.ln(), _angle(one.real, imaginary), off)


def raised(one: Number, power: Number) -> Number:
    """It to the power."""
    if one.may_be_zero:
        if power.imaginary or power.real <= power.off:
            raise UnknownValueError("a power of what may be zero")
        bound = one.size + one.off
        return Number(_ZERO, _ZERO, bound**power.real if bound else _ZERO)
    return exponential(multiplied(power, logarithm(one)))


def root(one: Number) -> Number:
    """Its square root."""
    if not one.imaginary and one.real > one.off:
        size = one.real.sqrt()
        return _made(size, _ZERO, one.off / size)
    return raised(one, Number(_ONE / _TWO))


def _circle(angle: Decimal) -> tuple[Decimal, Decimal]:
    """(Sine, cosine)."""
    if not angle:
        return _ZERO, _ONE
    turn = _TWO * pi().real
    if abs(angle) > _ONE / _SHARE:
        raise UnknownValueError("an angle is not known")
    part = (angle - turn * (angle / turn).to_integral_value()) / _TWO**_HALVINGS
    sine, versine, term, place = _ZERO, _ZERO, _ONE, 0  # 1 - cos keeps the digits that cos has lost near 1
    while place < 4 or (term and term.adjusted() > -110):
        place += 1
        term = term * part / place
        signed = term if place % 4 in (0, 1) else -term
        if place % 2:
            sine += signed
        else:
            versine -= signed
    for _ in range(_HALVINGS):
        sine, versine = _TWO * sine * (_ONE - versine), _TWO * versine * (_TWO - versine)
    return sine, _ONE - versine


def _angle(real: Decimal, imaginary: Decimal) -> Decimal:
    """The angle between a number and the positive ones, above half a turn down to below it."""
    if not imaginary:
        return _ZERO if real > 0 else pi().real
    if abs(imaginary) > abs(real):
        quarter = pi().real / _TWO
        return (quarter if imaginary > 0 else -quarter) - _arc(real / imaginary)
    arc = _arc(imaginary / real)
    if real > 0:
        return arc
    return arc + pi().real if imaginary > 0 else arc - pi().real


def _arc(tangent: Decimal) -> Decimal:
    """The angle that has this tangent."""
    for _ in range(_HALVINGS):
        tangent = tangent / (_ONE + (_ONE + tangent * tangent).sqrt())
    return _arc_of_small(tangent) * _TWO**_HALVINGS


def _arc_of_small(tangent: Decimal) -> Decimal:
    arc, power, place = _ZERO, tangent, 1
    while power and power.adjusted() - tangent.adjusted() > -100:
        arc += power / place if place % 4 == 1 else -power / place
        power *= tangent * tangent
        place += 2
    return arc


@lru_cache(maxsize=1)
def pi() -> Number:
    """The circle's number."""
    with precise():
        four = Decimal(4)
        return _made(four * (four * _arc_of_small(_ONE / 5) - _arc_of_small(_ONE / 239)), _ZERO, _ZERO)


@lru_cache(maxsize=1)
def euler() -> Number:
    """Euler's number."""
    with precise():
        return _made(_ONE.exp(), _ZERO, _ZERO)


I = Number(_ZERO, _ONE)  # noqa: E741 (its name)
ONE = Number(_ONE)


def sine(one: Number) -> Number:
    """Its sine."""
    if not one.imaginary:
        return _made(_circle(one.real)[0], _ZERO, one.off + (abs(one.real) + _ONE) * _SHARE)
    up, down = exponential(multiplied(I, one)), exponential(negative(multiplied(I, one)))
    return divided(added(up, negative(down)), Number(_ZERO, _TWO))


def cosine(one: Number) -> Number:
    """Its cosine."""
    if not one.imaginary:
        return _made(_circle(one.real)[1], _ZERO, one.off + (abs(one.real) + _ONE) * _SHARE)
    up, down = exponential(multiplied(I, one)), exponential(negative(multiplied(I, one)))
    return divided(added(up, down), Number(_TWO))


def arcsine(one: Number) -> Number:
    """What it is the sine of."""
    other = root(added(ONE, negative(multiplied(one, one))))
    return negative(multiplied(I, logarithm(added(multiplied(I, one), other))))


def arctangent(one: Number) -> Number:
    """What it is the tangent of."""
    if not one.imaginary:
        return _made(_angle(_ONE, one.real), _ZERO, one.off + _SHARE)
    above, below = (added(ONE, turned) for turned in (multiplied(I, one), negative(multiplied(I, one))))
    return divided(added(logarithm(above), negative(logarithm(below))), Number(_ZERO, _TWO))


__all__ = [
    "ONE",
    "I",
    "Number",
    "UnknownValueError",
    "added",
    "arcsine",
    "arctangent",
    "cosine",
    "difference",
    "divided",
    "euler",
    "exponential",
    "logarithm",
    "magnitude",
    "multiplied",
    "negative",
    "number",
    "pi",
    "precise",
    "raised",
    "root",
    "same",
    "sine",
]
