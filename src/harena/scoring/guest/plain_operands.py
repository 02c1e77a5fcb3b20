"""What an object of a candidate's says of plain operands, where that is not believed. Standard library only.

A right program's object may honestly say what its stand-in does not: then a test fails for what cannot be served here,
and says nothing of the candidate. An object that says the same of whatever it is asked for is not such a one. To tell
them apart it is asked about other operands of the kind, and never about the suite's own.
"""

from __future__ import annotations

import math
import operator
import os

from harena.scoring.guest.decoys import alike, frame
from harena.scoring.guest.secure_random import below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMPARISONS = {"__lt__": operator.lt, "__le__": operator.le, "__gt__": operator.gt, "__ge__": operator.ge}
HOLDING = frozenset({"__iter__", "__len__", "__bool__", "__reversed__", "keys", "values", "items"})
"""methods that show what an object holds"""
_MOST_OTHERS = 8


def others(wanted: Any) -> list[Any]:
    """Values that nobody can foresee, of the features of one that a suite asks for."""
    return alike(wanted, _MOST_OTHERS) or [object()]


def not_believed(stand_in: Any, name: str, operands: Any = ()) -> Any:
    """NotImplemented: what is plain is computed here, or not at all, though the object's own class has this method, and
    may honestly say otherwise. A test that fails then says nothing of the candidate, unless its object says the same
    of whatever it is asked for, or says itself what it holds, where a gold solution needs no such object: it could say
    so in another way each time."""
    cls = type(stand_in)
    candidate = object.__getattribute__(stand_in, "_harena_candidate")
    if getattr(candidate, "has_gold", False) and _shows_items(stand_in, name, operands):
        return NotImplemented
    has_own = name in cls._harena_special or name in cls._harena_methods
    if has_own and not getattr(candidate, "_receiving", 0):
        said = said_of_others(stand_in, name, operands) if operands else None
        if said is None or said:
            candidate.note(f"it asks {name} of a {cls.__name__!r} object, whose answer is not believed", is_doubt=False)
    return NotImplemented


def _shows_items(stand_in: Any, name: str, operands: Any) -> bool:
    """What is asked for shows what an object holds whose class the suite does not name: what is computed here of its
    value or its loop is what the gold solution's is. So does what a list or a tuple has at a place that there is, and
    what a dict with loops or keys of its own has under a key that it holds, which `dict(..)` asks for then."""
    if getattr(type(stand_in), "_harena_is_named", True):
        return False
    if name != "__getitem__" or len(operands) != 1:
        return name in HOLDING
    kind, place = next((base for base in (list, tuple) if isinstance(stand_in, base)), None), operands[0]
    if kind is not None:
        count = kind.__len__(stand_in)
        return type(place) is slice or (type(place) is int and -count <= place < count)
    if not isinstance(stand_in, dict):
        return False
    cls: Any = type(stand_in)
    has_own = not HOLDING.isdisjoint(cls._harena_special) or not HOLDING.isdisjoint(cls._harena_methods)
    return has_own and dict.__contains__(stand_in, place)


def said_of_others(stand_in: Any, name: str, operands: Any, *, in_copy: bool = False) -> bool | None:
    """Whether what it says depends on its operand; None where nobody knows. It is never told the operand itself.
    `in_copy`: a copy of it is asked, whatever the method is, because the tests go on with the object."""
    cls, candidate = type(stand_in), object.__getattribute__(stand_in, "_harena_candidate")
    known = _asked_of_others.setdefault((cls, name), [])
    if len(known) >= _MOST_ASKED_OF_OTHERS or False in known:
        return all(known)
    others = _others_than(operands[0], name)
    if len(operands) > 1 or not others or name in _LEVELLING or name == "isdisjoint":  # of most it is true
        return None
    try:
        with candidate.trust.computing(), candidate.looks.quiet():
            is_special = name[:2] == "__"
            is_changed = in_copy or name[:3] == "__i" or not is_special
            target = candidate.ask("deepcopy", stand_in, "") if is_changed else stand_in
            verb = "special" if is_special else "call"
            said = [candidate.ask(verb, target, name, (each,)) for each in others]
            if all(each is NotImplemented for each in said):
                return False
            if name in ("__eq__", "__ne__"):
                says_yes = [each is (name == "__eq__") for each in said]
                is_honest = is_rest(operands[0], others, says_yes) or (
                    sum(says_yes) < len(said) / 2
                    and not _holds_of_a_family(candidate, target, name, operands[0], others, says_yes)
                )
            elif name == "__contains__":
                is_honest = not all(each is True for each in said)
            elif not is_special:  # one that knows none of the others may say so of all
                is_honest = len({_told_apart(candidate, each) for each in said}) > 1 or said[0] in (False, None)
            else:
                is_honest = len({_told_apart(candidate, each) for each in said}) > 1
                if not is_honest and name in _VANISHING and _is_levelling(candidate, stand_in, said[0]):
                    return None
    except Exception:  # noqa: BLE001 (an honest operator may take only what it knows)
        return None
    known.append(is_honest)
    return is_honest


_LEVELLING = frozenset(
    f"__{side}{name}__" for side in ("", "r", "i") for name in ("mul", "pow", "lshift", "rshift", "and")
)
"""operators by which nothing and one stay what they are, whatever the operand"""
_VANISHING = frozenset({
    *(f"__{side}{name}__" for side in ("", "i") for name in ("mod", "floordiv", "truediv", "divmod", "matmul", "sub")),
    "__rmod__", "__rmatmul__",
})  # fmt: skip
"""operators that give nothing, whatever the operand, where one side is nothing; remainders by one, too. What nothing is
taken from, or divided by, is no such one"""
_LEAST_MODULUS = 3
"""what has the rest of every second number is not told from one that says yes to half of all"""
_MOST_ASKED_OF_OTHERS = 8
_asked_of_others: dict[tuple[Any, str], list[bool]] = {}
"""(class, method) -> what it has said of others: a loop over many objects is not slowed down"""


def _is_levelling(candidate: Any, stand_in: Any, said: Any) -> bool:
    """What an operator gives for every operand is nothing, and the object says by another method that it is nothing or
    one."""
    if getattr(type(said), "_harena_kind", None) is None:
        parts = said if type(said) is tuple else (said,)
        return not any(parts) and _says_nothing(candidate, stand_in)
    return _says_nothing(candidate, said) and _says_nothing(candidate, stand_in)


def _says_nothing(candidate: Any, stand_in: Any) -> bool:
    special = type(stand_in)._harena_special
    return any(
        candidate.ask("special", stand_in, name, (each,) if operands else ()) in levelling
        for name, operands, levelling in _SAYS_NOTHING
        if name in special
        for each in operands or (None,)
    )


_SAYS_NOTHING: tuple[tuple[str, tuple[int, ...], tuple[Any, ...]], ...] = (
    ("__bool__", (), (False,)),
    ("__len__", (), (0,)),
    ("__eq__", (0, 1), (True,)),
    ("__int__", (), (0, 1)),
    ("__float__", (), (0.0, 1.0)),
    ("__index__", (), (0, 1)),
)
"""(method, operands that it is asked about, answers by which the object is nothing or one)"""


def _told_apart(candidate: Any, said: Any) -> Any:
    """What tells one thing that an operator gives from another: of an object, its attributes. Two whose attributes are
    no plain values (functions, other objects) may be different, and are for all that is known."""
    if getattr(type(said), "_harena_kind", None) != "":
        return type(said), repr(said)
    try:
        held = candidate.ask("get", said, "__dict__")
    except AttributeError:
        return said, id(said)
    is_plain = all(candidate.is_plain(value) for value in held.values())
    return (type(said), repr(held)) if is_plain else (said, id(said))


def _others_than(wanted: Any, name: str) -> list[Any]:
    """Values of the kind of this one, for a special method of this name; none where there are no such."""
    kind = type(wanted)
    if name in COMPARISONS and kind in (int, float, str):
        largest = int.from_bytes(os.urandom(8), "big") + 2**64
        return ["", "\U0010ffff" * 4] if kind is str else [kind(-largest), kind(largest)]
    drawn = alike(wanted, 2 * _MOST_OTHERS)
    small = [kind(each) for each in _SMALL] if kind in (int, float) and name.endswith(("mod__", "div__")) else []
    return (
        [] if len(drawn) < _FEWEST_OTHERS else [each for each in (*small, *drawn, *_larger(wanted)) if each != wanted]
    )


def _larger(wanted: Any) -> list[Any]:
    """Numbers beyond this one: a quotient may be the same for all of its size."""
    if type(wanted) not in (int, float) or not abs(wanted) < _LARGEST:
        return []
    side, most = (1 if wanted >= 0 else -1), 2 * abs(int(wanted)) + 200
    return [wanted + side * (1 + below(most)) for _ in range(2 * _MOST_OTHERS)]


def is_rest(wanted: Any, others: list[Any], says_yes: list[bool]) -> bool:
    """It equals all numbers with the rest that the wanted one is, by some modulus, and no other: as many as that may
    be, there is one rest among them, which has to be known like any number."""
    modulus = _modulus(wanted, others, says_yes)
    return modulus > 1 and 0 <= wanted < modulus


def _modulus(wanted: Any, others: list[Any], says_yes: list[bool]) -> int:
    """The greatest one by which it equals all of these numbers with the wanted one's rest, and no other; 0 where there
    is none."""
    if type(wanted) is not int or any(type(each) is not int for each in others) or not any(says_yes):
        return 0
    pairs, modulus = [*zip(others, says_yes)], 0  # noqa: B905 (Python 3.8)
    for each, is_yes in pairs:
        modulus = math.gcd(modulus, each - wanted) if is_yes else modulus
    return modulus if all(is_yes is ((each - wanted) % modulus == 0) for each, is_yes in pairs) else 0


def _holds_of_a_family(
    candidate: Any, target: Any, name: str, wanted: Any, others: list[Any], says_yes: list[bool]
) -> bool:
    """It says of most values of a family, which share features with the wanted one, that they equal it. `others`:
    values that were drawn, of which it says so as told. A number that counts by a modulus says so of a small family by
    chance, too, and then as the modulus has it."""
    is_yes = name == "__eq__"
    asked, holds, has_one = list(others), list(says_yes), False
    for family in frame(wanted):
        said = [candidate.ask("special", target, name, (each,)) is is_yes for each in family]
        asked, holds = asked + family, holds + said
        has_one = has_one or 2 * sum(said) > len(family)
    return has_one and _modulus(wanted, asked, holds) < _LEAST_MODULUS


_FEWEST_OTHERS = 2
_LARGEST = 2.0**60
_SMALL = (1, 2, 3, 5, 7, 11)
"""by which small numbers are divided"""
