"""Asks an object of a candidate's about other values than the one that a test has, before it is asked about that.

An object that is no plain value answers for itself, and is told what it is compared with. So it is asked about values
next to the known one, about far ones, and about others of the same size with values next to these, in any order; the
first is never the known one. An honest object tells them apart, and what it says of one agrees with what it says of
the others.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import copy
import math
import operator

from harena.scoring.guest.decoys import alike, frame, is_long
from harena.scoring.guest.dice import below, one_of, shuffled, some_of
from harena.scoring.guest.plain import is_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_deepcopy = copy.deepcopy
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LEVELLING: dict[str, tuple[int, ...]] = {
    "*": (0,), "<<": (0,), ">>": (0, -1), "&": (0,), "%": (0,), "//": (0, -1), "/": (0,), "@": (0,), "**": (0, 1),
}  # fmt: skip
"""operator -> what it may give for every operand, where one side is nothing or one: then it states no more than that"""
_SETS = frozenset({"-", "&"})
"""operators that give nothing for every operand where the object is an empty set"""
_DIVIDING = frozenset({"%", "//"})
_OPERANDS = frozenset({str, list, tuple, set, frozenset, dict})
_NEARING = frozenset({"-", "+", "^", "/"})
"""operators by which a test finds out that two numbers are near each other"""
_SAME = frozenset({
    "equals", "equal", "is_equal", "eq", "equal_to", "is_equal_to", "is_same", "same_as", "__eq__",
})  # fmt: skip
"""methods that say whether something is the same"""
_ENDS = frozenset({"startswith", "endswith"})
_DEPENDING = frozenset({"+", "-", "*"})
"""operators that give another value for each operand, but where one side is nothing"""
_MOST_DECOYS = 3


def _shuffled(known: Any, others: list[Any]) -> list[Any]:
    """All of them, each with whether it is the known one, in any order but with another one first."""
    questions = shuffled([(value, False) for value in others])
    questions.insert(1 + below(len(questions)) if questions else 0, (known, True))
    return questions


def tells_apart(asked: Any, known: Any, on_left: bool, must_equal: bool = True) -> bool:
    """It calls itself equal to the known value (where it must), to at most half of each family of values round it, of
    what is far from it, and to few of those that are like it."""
    return _is_equality(lambda value: all_of(asked == value if on_left else value == asked), known, must_equal)


def _is_equality(says: Callable[[Any], bool], known: Any, must_equal: bool) -> bool:
    families, far = frame(known), _far(known)
    others = _alike(known)
    around = [each for other in others for family in frame(other) for each in family if each != known]
    groups = [*families, far, [*others, *around]]
    most = [*(len(each) // 2 for each in families), len(far) // 2, (2 * len(groups[-1])) // 3]
    said_yes: list[list[Any]] = [[] for _ in groups]
    is_known_equal = False
    placed = [(each, place) for place, group in enumerate(groups) for each in group]
    for (value, place), is_it in _shuffled((known, -1), placed):
        equal = _is_yes(says, value)
        if is_it:
            is_known_equal = equal
        elif equal:
            said_yes[place].append(value)
    if must_equal and not is_known_equal:
        return False
    if all(len(yes) <= few for yes, few in zip(said_yes, most)):  # noqa: B905 (Python 3.8)
        return True
    return type(known) is int and _is_rest(says, known, [each for yes in said_yes for each in yes])


def _is_yes(says: Callable[[Any], bool], value: Any) -> bool:
    try:
        return says(value)
    except Exception:  # noqa: BLE001 (an honest comparison may fail for a value that it does not expect)
        return False


def _is_rest(says: Callable[[Any], bool], known: int, equals: list[Any]) -> bool:
    """It is a number computed with a modulus: what it equals lies whole steps away, and the known value is the rest."""
    if any(type(each) is not int for each in equals):
        return False
    step = 0
    for each in equals:
        step = math.gcd(step, each - known)
    if not 0 <= known < step:
        return False
    return all(_is_yes(says, known + side * step * (1 + below(1000))) for side in (1, -1, 1, -1))


def says_yes_to_some(ask: Callable[[Any, Any], Any], asked: Any, known: Any, name: str = "") -> bool:
    """A method that judges says yes to the known value, and not to all values of its kind; of a text that it is to
    begin or end with, or to hold, not to most that are like it. `name`: the method's; one that says what is the same is
    asked as `==` is."""
    if name in _SAME:
        return _is_equality(lambda value: bool(ask(asked, value)), known, must_equal=True)
    alike_ones = alike(known, 2 * _MOST_DECOYS)
    near = [each for family in frame(known) for each in family] if is_known(known) else []
    is_text = isinstance(known, (str, bytes, bytearray)) and (len(known) > 1 or name in _ENDS)
    others = [(each, True) for each in alike_ones] + [(each, False) for each in (*near, *_far(known))]
    said_no, yes_of_alike, is_known_right = False, 0, False
    for question, is_it in _shuffled((known, False), others):
        value, is_alike = question
        try:
            yes = bool(ask(asked, value))
        except Exception:  # noqa: BLE001 (an honest method may take only what it knows)
            yes = False
        if is_it:
            is_known_right = yes
            continue
        yes_of_alike += yes and is_alike
        if type(value) is type(known) or not yes:
            said_no = said_no or not yes
    if is_text and 2 * yes_of_alike > len(alike_ones):
        return False
    return is_known_right and said_no


def contains_some(asked: Any, sought: Any) -> bool:
    """It says that it holds what is sought, and not that it holds everything."""
    return says_yes_to_some(lambda held, value: value in held, asked, sought)


def is_orderly(sign: str, asked: Any, known: Any) -> bool:
    """What it says to be less than, and greater than, has one place among numbers or texts, and the known value is
    where it says. An object that is a set says yes to some sets only."""
    if isinstance(known, (set, frozenset)):
        return says_yes_to_some(ORDERS[sign], asked, known)
    if isinstance(known, (bool, complex)) or not isinstance(known, (int, float, str)) or known != known:
        return True
    lowest, highest = _ends(known)
    others = [each for other in _alike(known) for each in (other, *_steps(other))]
    under, above = (sign, MIRRORED[sign]) if sign[0] == "<" else (MIRRORED[sign], sign)
    less: dict[Any, bool] = {}
    greater: dict[Any, bool] = {}
    for value, _ in _shuffled(known, [lowest, highest, *_steps(known), *others]):
        for answers, each in shuffled([(less, under), (greater, above)]):
            try:
                answers[value] = bool(ORDERS[each](asked, value))
            except Exception:  # noqa: BLE001, S112 (an honest object may have one of the two only)
                continue
    if not (less if sign[0] == "<" else greater).get(known):
        return False
    if not isinstance(known, str) and (less.get(lowest) or greater.get(highest)):
        return False
    lows = [value for value in less if less[value]]
    highs = [value for value in greater if greater[value]]
    if any(lows and value > min(lows) and not is_it for value, is_it in less.items()):
        return False
    if any(highs and value < max(highs) and not is_it for value, is_it in greater.items()):
        return False
    if lows and highs:
        return bool(max(highs) <= min(lows) if len(sign) == 2 else max(highs) < min(lows))
    return True


def heeds(sign: str, compute: Callable[[Any, Any], Any], asked: Any, known: Any) -> bool:
    """The plain value that an operator gives depends on the plain operand."""
    others = [each for each in (*_alike(known), *_next(known)) if each != known]
    if sign in _DIVIDING and isinstance(known, (int, float)):
        others += [each for each in (1, 2, 3) if each != known]
    if len(others) < 2:
        return True
    is_number = isinstance(known, (int, float)) and sign in _NEARING
    families = _families_for(sign, known)
    groups = [_Said(len(group)) for group in (others, *families)]
    placed = [(each, place) for place, group in enumerate([others, *families]) for each in group]
    known_one = _Said(1)
    for (value, place), is_it in _shuffled((known, 0), placed):
        try:
            found = compute(_copied(asked), value)
        except Exception:  # noqa: BLE001, S112 (an honest operator may take only what it knows)
            continue
        if not is_known(found) and not is_number:
            return True
        gap = 1e-2 if is_it else abs(known - value) / 2 if is_number else 0.0
        gap = min(gap / max(abs(known), 1), 1e-2) if sign == "/" and is_number else gap
        (known_one if is_it else groups[place]).add(found, is_near=is_number and _is_near(sign, found, gap))
    if not known_one.answered or not groups[0].answered:
        return bool(known_one.answered)
    if known_one.near and any(2 * group.near > group.answered for group in groups):
        return False
    return all(
        _depends(sign, known_one, group, known) for place, group in enumerate(groups) if place == 0 or group.size > 2
    )


class _Said:
    """What an operator has given for some operands."""

    def __init__(self, size: int) -> None:
        self.size, self.answered, self.near = size, 0, 0
        self.plain: list[Any] = []

    def add(self, found: Any, *, is_near: bool) -> None:
        """One more of its results."""
        self.answered += 1
        self.near += is_near
        if is_known(found):
            self.plain.append(found)


def _families_for(sign: str, known: Any) -> list[list[Any]]:
    """Families of operands, where an operator gives another value for each, or says how near they are."""
    if sign not in _DEPENDING or type(known) not in (int, float, str, bytes):
        return []
    return [each for each in frame(known) if len(each) > 2 or (sign == "-" and isinstance(known, (int, float)))]


def _depends(sign: str, known_one: _Said, group: _Said, known: Any) -> bool:
    """What is given depends on the operand, or is one that may be given for all of them."""
    plain = [*known_one.plain, *group.plain]
    if len(plain) < 1 + group.answered or not group.answered or len({(type(each), repr(each)) for each in plain}) > 1:
        return True
    if plain[0] in _LEVELLING.get(sign, ()):
        return True
    return not plain[0] and (sign == "@" or (sign in _SETS and isinstance(known, (set, frozenset))))


def _is_near(sign: str, found: Any, gap: float) -> bool:
    """What an operator gives says that its operands are nearer to each other than this, for `/` in proportion."""
    try:
        if sign == "/":
            return bool(abs(found - 1) < gap)
        return bool(abs(found) < gap)
    except Exception:  # noqa: BLE001 (of the candidate's own methods)
        return False


def all_of(said: Any) -> bool:
    """The truth of what a comparison gives, also where it gives one for each item."""
    for _ in range(3):
        try:
            return bool(said)
        except Exception:  # noqa: BLE001 (arrays have no truth)
            said = said.all() if hasattr(said, "all") else all(said)
    return bool(said)


def _copied(asked: Any) -> Any:
    """A copy, so that what an operator changes is nobody's; the object itself where it cannot be copied."""
    try:
        found = _deepcopy(asked)
    except Exception:  # noqa: BLE001 (whatever its parts say)
        return asked
    return found if type(found) is type(asked) else asked


def _ends(known: Any) -> tuple[Any, Any]:
    """What nothing is less than, and greater than."""
    if isinstance(known, str):
        return "", "\U0010ffff" * 8
    end = 10**30 + 1000 * (int(abs(known)) if abs(known) < 10**300 else 0)
    return -end, end


def _alike(known: Any) -> list[Any]:
    """Values of the kind and size of a known one, which nobody can tell from it."""
    few = (
        1
        if is_long(known)
        else 2
        if hasattr(known, "__len__") and not isinstance(known, (str, bytes))
        else _MOST_DECOYS
    )
    return alike(known, few)


def _steps(known: Any) -> list[Any]:
    """Values of an order next to it."""
    return [known + (known[-1:] or "a"), known[:-1]] if isinstance(known, str) else [known - 1, known + 1]


def _next(known: Any) -> list[Any]:
    if type(known) in (int, float):
        return [known + 1, known + 2]
    of_families = [one_of(family) for family in frame(known)]
    return some_of(of_families, _MOST_DECOYS) if type(known) in _OPERANDS else []


def _far(known: Any) -> list[Any]:
    """Values far from it, odd and even ones."""
    number = 10**6 + 2 * below(10**9)
    if isinstance(known, (int, float, complex)) and not isinstance(known, bool):
        return [number, -number - 1, number + 0.5, number // 2 * 2 + 2 * below(10**6) + 1]
    return [number, -number - 1, f"{number}", [number]]
