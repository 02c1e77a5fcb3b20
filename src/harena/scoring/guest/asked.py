"""Asks an object of a candidate's about other values than the one that a test has, before it is asked about that.

An object that is no plain value answers for itself, and is told what it is compared with. So it is asked about values
next to the known one, about far ones, and about others of the same size with values next to these, in any order; the
first is never the known one. An honest object tells them apart, and what it says of one agrees with what it says of
the others.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import collections
import copy
import operator
import random

from harena.scoring.guest.plain import is_known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_dice = random.SystemRandom()
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
_NEARING = frozenset({"-", "+", "^", "/"})
"""operators by which a test finds out that two numbers are near each other"""
_MOST_DECOYS = 3


def _shuffled(known: Any, others: list[Any]) -> list[Any]:
    """All of them, each with whether it is the known one, in any order but with another one first."""
    questions = [(value, False) for value in others]
    _dice.shuffle(questions)
    questions.insert(_dice.randrange(1, len(questions) + 1) if questions else 0, (known, True))
    return questions


def tells_apart(asked: Any, known: Any, on_left: bool, must_equal: bool = True) -> bool:
    """It calls itself equal to the known value (where it must), to nothing that is next to it, and to at most half of
    what is far from it."""
    near, far = _near(known), _far(known)
    around = [each for other in _alike(known) for each in (other, *_near(other)[:2])]
    roles = {**{id(value): "far" for value in far}, **{id(value): "near" for value in near}}
    said_no, is_known_equal = 0, False
    for value, is_it in _shuffled(known, [*near, *far, *around]):
        try:
            equal = all_of(asked == value if on_left else value == asked)
        except Exception:  # noqa: BLE001 (an honest comparison may fail for a value that it does not expect)
            equal = False
        if is_it:
            is_known_equal = equal
            continue
        role = roles.get(id(value))
        if equal and role == "near":
            return False
        said_no += role == "far" and not equal
    return (is_known_equal or not must_equal) and 2 * said_no >= len(far)


def says_yes_to_some(ask: Callable[[Any, Any], Any], asked: Any, known: Any) -> bool:
    """A method that judges says yes to the known value, and not to all values of its kind."""
    others = [*_alike(known), *(_near(known) if is_known(known) else []), *_far(known)]
    said_no, is_known_right = False, False
    for value, is_it in _shuffled(known, others):
        try:
            yes = bool(ask(asked, value))
        except Exception:  # noqa: BLE001 (an honest method may take only what it knows)
            yes = False
        if is_it:
            is_known_right = yes
        elif type(value) is type(known) or not yes:
            said_no = said_no or not yes
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
    below, above = (sign, MIRRORED[sign]) if sign[0] == "<" else (MIRRORED[sign], sign)
    less: dict[Any, bool] = {}
    greater: dict[Any, bool] = {}
    for value, _ in _shuffled(known, [lowest, highest, *_steps(known), *others]):
        for answers, each in _dice.sample([(less, below), (greater, above)], 2):
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
    said, plain, is_falsy, far, is_known_near, answered, is_known_answered = set(), [], True, 0, False, 0, False
    for value, is_it in _shuffled(known, others):
        try:
            found = compute(_copied(asked), value)
        except Exception:  # noqa: BLE001, S112 (an honest operator may take only what it knows)
            continue
        if not is_known(found) and not is_number:
            return True
        answered += 1
        is_known_answered = is_known_answered or is_it
        if is_known(found):
            said.add((type(found), repr(found)))
            plain.append(found)
            is_falsy = is_falsy and not found
        if is_number:
            is_near = _is_near(sign, found, abs(known - value) / 2 if not is_it else 1e-2)
            is_known_near = is_known_near or (is_it and is_near)
            far += not is_it and not is_near
    if not is_known_answered or answered < 2:
        return is_known_answered
    if is_known_near and 2 * far < answered - 1:
        return False
    if len(plain) < answered or len(said) > 1:
        return True
    if plain[0] in _LEVELLING.get(sign, ()):
        return True
    return is_falsy and (sign == "@" or (sign in _SETS and isinstance(known, (set, frozenset))))


def _is_near(sign: str, found: Any, gap: float) -> bool:
    """What an operator gives says that its operands are nearer to each other than this."""
    try:
        if sign == "/":
            return bool(abs(found - 1) < min(gap, 1e-2))
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
    return [each for each in (_other(known) for _ in range(_MOST_DECOYS)) if each is not None and each != known]


def _other(known: Any) -> Any:
    kind = type(known)
    if kind is int:
        return known + _dice.choice((-1, 1)) * _dice.randrange(2, 2 * abs(known) + 20)
    if kind is float:
        return known + _dice.choice((-1, 1)) * _dice.uniform(1.5, 2 * min(abs(known), 1e300) + 20)
    if kind is str:
        return "".join(_dice.choice("abcdefghijklmnopqrst") for _ in range(len(known) or 1))
    if kind in (list, tuple, set, frozenset) and known:
        parts = [_other(part) for part in known]
        return None if None in parts else kind(parts)
    return None


def _steps(known: Any) -> list[Any]:
    """Values of an order next to it."""
    return [known + "a", known[:-1]] if isinstance(known, str) else [known - 1, known + 1]


def _next(known: Any) -> list[Any]:
    if type(known) in (int, float):
        return [known + 1, known + 2]
    return _near(known) if type(known) in (str, list, tuple, set, frozenset, dict) else []


def _near(known: Any) -> list[Any]:
    """Values next to it: of the same kind and size, with one part that is another."""
    if known is None:
        return [False, 0]
    if isinstance(known, bool):
        return [not known]
    if isinstance(known, float) and known != known:
        return [0.0, 1.0]
    if isinstance(known, (list, tuple, collections.deque)):
        return [_with(known, place, each) for place, each in _changed(list(known))] or [type(known)([None])]
    if isinstance(known, dict):
        return [{**known, key: each} for key, each in _changed_items(known)] or [{None: None}]
    if isinstance(known, (set, frozenset)):
        items = list(known)
        others = [type(known)([*items[:place], each, *items[place + 1 :]]) for place, each in _changed(items)]
        return others or [type(known)([None])]
    if isinstance(known, (str, bytes, bytearray)):
        return _next_texts(known)
    if isinstance(known, range):
        return [range(known.start, known.stop + known.step, known.step)]
    return _next_numbers(known)


def _with(known: Any, place: int, each: Any) -> Any:
    items = list(known)
    items[place] = each
    return type(known)(items)


def _changed(items: list[Any]) -> list[tuple[int, Any]]:
    """Some places, and what stands next to the item there."""
    places = _dice.sample(range(len(items)), min(len(items), 3))
    return [(place, next(iter(_near(items[place])), None) if is_known(items[place]) else None) for place in places]


def _changed_items(known: dict[Any, Any]) -> list[tuple[Any, Any]]:
    keys = list(known)
    return [(keys[place], each) for place, each in _changed(list(known.values()))]


def _next_texts(known: Any) -> list[Any]:
    """Texts of the same length, and longer ones."""
    letter = _dice.choice("abcdefghij")
    more = letter if isinstance(known, str) else letter.encode()
    found = [known + more, more + known]
    if known:
        place = _dice.randrange(len(known))
        other = known[:place] + more + known[place + 1 :]
        found += [other] if other != known and str(other).lower() != str(known).lower() else []
    return found


def _next_numbers(known: Any) -> list[Any]:
    """A number, a date or a time, one unit up and down."""
    one: Any = 1
    if type(known).__module__ == "datetime":
        days = type(known).__name__ != "time"
        one = type(known - known)(1) if days and hasattr(known, "__sub__") else None
    if one is None:
        return [known.replace(hour=(known.hour + 1) % 24)]
    try:
        return [value for value in (known + one, known - one) if value != known]
    except (ArithmeticError, ValueError, TypeError):
        return []


def _far(known: Any) -> list[Any]:
    """Values far from it."""
    number = _dice.randrange(10**6, 10**9)
    if isinstance(known, (int, float, complex)) and not isinstance(known, bool):
        return [number, -number, number + 0.5, known * 2 + 3]
    return [number, -number, f"{number}", [number]]
