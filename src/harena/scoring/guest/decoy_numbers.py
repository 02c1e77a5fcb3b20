"""Numbers with the visible features of a known one: sign, number of digits, parity, divisors, size, decimals.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import math

from harena.scoring.guest.secure_random import below, between, some_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_STEPS = (2, 6, 10, 60)
_RICH = (5040, 2520, 720, 420, 360, 120, 60, 24, 12, 6, 4, 3, 2)
"""numbers of many divisors: what leaves one rest by such a one leaves one rest by each of its divisors"""
_DIVISORS = (3, 4, 5, 7, 8, 9, 11, 13, 16, 25, 100)
_LARGEST_STEP = 5040
_LARGEST_TRIED = 10**5
"""numbers up to here are tried for being prime"""
_SMALLEST_OF_A_CLASS = 4
"""nearly all smaller numbers are prime, squares or factorials"""
_SIDES = ((0.012, 0.03), (0.04, 0.12))
"""how far, of its size, a decoy lies from a number that is not whole"""
_TRIES = 8


def whole_frame(known: int) -> list[list[Any]]:
    """Families of whole numbers round a known one. What a number that is computed with a modulus equals honestly is in
    none: by a step that is no larger than the number, it would be written otherwise."""
    size = abs(known)
    families: list[list[Any]] = [[known + 1], [known - 1], of_size(known, 1, 6)]
    for step in (each for each in _STEPS if each <= size):
        for side in (step, -step):
            first = 1 + below(2)
            families.append([known + side * first, known + side * (first + 1 + below(2))])
    rich = next((each for each in _RICH if each <= size and _count(known, each) > 4), None)
    if rich is not None:
        families.append(of_size(known, rich, 4))
    for divisor in (each for each in _DIVISORS if each <= size and known % each == 0):
        families.append(of_size(known, divisor, 3))
        families += [[known + divisor, known + 2 * divisor], [known - divisor, known - 2 * divisor]]
    if size > 12:
        families.append([-known])
    elif known:
        families.append([-known, *(-each for each in of_size(known, 1, 2))])
    if size >= _SMALLEST_OF_A_CLASS:
        families += _of_classes(known)
    return families


def of_size(known: int, step: int, most: int) -> list[Any]:
    """Other numbers of its sign and number of digits, some steps away. With single steps, as many odd as even ones."""
    size, sign = abs(known), -1 if known < 0 else 1
    if step == 1 and most > 1 and size:
        odd, even = _drawn(known, 2, (most + 1) // 2, 1), _drawn(known, 2, (most + 1) // 2, 0)
        return [sign * each for each in some_of([*odd, *even], most)]
    return [sign * each for each in _drawn(known, step, most, size % step)]


def _drawn(known: int, step: int, most: int, rest: int) -> list[int]:
    size = abs(known)
    low, high = _range(size)
    first = low + (rest - low) % step
    count = (high - first) // step + 1
    if count <= 2 * most + 2:
        return some_of([each for each in range(first, high + 1, step) if each != size], most)
    found = {first + step * below(count) for _ in range(2 * most)} - {size}
    return [*found][:most]


def _count(known: int, step: int) -> int:
    size = abs(known)
    low, high = _range(size)
    first = low + (size - low) % step
    return (high - first) // step + 1


def _range(size: int) -> tuple[int, int]:
    """The smallest and the largest number with as many digits."""
    if size < 10:
        return min(size, 1), 9
    low = 10 ** int((size.bit_length() - 1) * 0.30102999566)
    while low * 10 <= size:
        low *= 10
    return low, low * 10 - 1


def _fibonacci() -> list[int]:
    found = [1, 2]
    while found[-1] < 10**40:
        found.append(found[-1] + found[-2])
    return found


_TABLES = (
    [math.factorial(each) for each in range(1, 60)],
    _fibonacci(),
    [2**each for each in range(130)],
    [3**each for each in range(80)],
    [10**each for each in range(40)],
)
_PLACES = [{value: place for place, value in enumerate(table)} for table in _TABLES]


def _of_classes(known: int) -> Iterator[list[Any]]:
    """Others of a class that numbers are known by: factorials, squares, primes, palindromes."""
    for table, places in zip(_TABLES, _PLACES):  # noqa: B905 (Python 3.8)
        place = places.get(known)
        if place is not None:
            yield some_of([*table[max(place - 2, 0) : place], *table[place + 1 : place + 3]], 3)
    if known < 0 or known > 10**30:
        return
    root = math.isqrt(known)
    if root * root == known:
        yield [(root + each) ** 2 for each in some_of((-2, -1, 1, 2, 3), 3) if root + each > 1]
    cube = round(known ** (1 / 3))
    if cube**3 == known:
        yield [(cube + each) ** 3 for each in some_of((-1, 1, 2), 2)]
    odd = math.isqrt(8 * known + 1)
    if odd * odd == 8 * known + 1:
        side = (odd - 1) // 2
        yield [(side + each) * (side + each + 1) // 2 for each in some_of((-1, 1, 2), 2)]
    if known < _LARGEST_TRIED and _is_prime(known):
        near = range(max(known - 60, 2), known + 60)
        yield some_of([each for each in near if each != known and _is_prime(each)], 3)
    digits = str(known)
    if len(digits) > 1 and digits == digits[::-1]:
        half = (len(digits) + 1) // 2
        halves = of_size(int(digits[:half]), 1, 3)
        yield [int(f"{each}{str(each)[: len(digits) - half][::-1]}") for each in halves]


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % each for each in range(2, math.isqrt(number) + 1))


def float_frame(known: float) -> list[list[Any]]:
    """Families of numbers round a known one, with as many decimals."""
    if known != known or known in (math.inf, -math.inf):
        return [[0.0], [1.0], [-known], [1e300]]
    if known.is_integer() and abs(known) < 2.0**53:
        return [[float(each) for each in family] for family in whole_frame(int(known))]
    near = [[each] for each in (known + 1, known - 1, -known) if each != known]
    sides = [[_moved(known, low * side, high * side) for _ in range(2)] for low, high in _SIDES for side in (1, -1)]
    return [*near, *sides, alike_floats(known, 5)]


def alike_floats(known: float, most: int) -> list[Any]:
    """Other numbers of its sign, its size and as many decimals."""
    if known.is_integer() and abs(known) < 2.0**53:
        return [float(each) for each in of_size(int(known), 1, most)]
    decade = 10.0 ** math.floor(math.log10(abs(known))) / abs(known)
    return [_moved(known, decade - 1, min(10 * decade, 1e308 / abs(known)) - 1) for _ in range(most)]


def _moved(known: float, low: float, high: float) -> float:
    """A number that is larger by some part, and is written in as many characters."""
    text = repr(known)
    decimals = len(text.partition(".")[2]) if "e" not in text else None
    found = known
    for each in range(_TRIES):
        part = between(low, high)
        found = known + known * part
        if decimals is not None:
            least = 10.0**-decimals
            if abs(found - known) < least:
                found = known + math.copysign(least, part * known) * (1 + each)
            found = round(found, decimals)
        if found != known and len(repr(found)) == len(text):
            break
    return found if found != known else known + 1


def fine_frame(known: Any, least: Any) -> list[list[Any]]:
    """Families of decimals, fractions or times: a unit and some units away, on both sides."""
    families = []
    for side in (1, -1):
        for unit in (1, 2, 7):
            first = side * unit * (1 + below(2))
            families.append(_sums(known, least, (first, first + side * unit)))
        families.append(_sums(known, least, (side,)))
    return [family for family in families if family]


def _sums(known: Any, least: Any, counts: tuple[int, ...]) -> list[Any]:
    try:
        return [known + least * each for each in counts]
    except (ArithmeticError, ValueError, TypeError):
        return []
