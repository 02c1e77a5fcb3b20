"""Every special method by which an object of a candidate's could answer, and who answers it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harena.scoring.guest.candidate_process import SPECIAL
from harena.scoring.guest.repeated_reads import Looks
from harena.scoring.guest.standins import make_class
from harena.scoring.guest.unproven_passes import Trust

SECRET = 77411234


def names(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


COMPUTED = names(
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __len__ __contains__ __bool__ __exit__ __aexit__ __iter__ __hash__"
)
"""answered here: from values, from the items of one loop, by identity; what it is compared with is not told"""
REFUSED = [
    f"__{side}{name}__"
    for name in names("add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or")
    for side in ("", "r", "i")
    if (side, name) != ("i", "divmod")
]
"""operators: no plain operand is told to an object of a class that the suite does not name"""
FORWARDED = names(
    "__getitem__ __setitem__ __delitem__ __reversed__ __str__ __repr__ __format__ __int__ __float__ __complex__ "
    "__index__ __round__ __trunc__ __floor__ __ceil__ __bytes__ __call__ __enter__ __aenter__ __aiter__ __neg__ "
    "__pos__ __abs__ __invert__ __next__ __anext__ __await__ __missing__"
)
"""what the object gives, which is compared as any value"""
ABSENT = names(
    "__new__ __init__ __del__ __getattr__ __getattribute__ __setattr__ __delattr__ __dir__ __get__ __set__ __delete__ "
    "__set_name__ __init_subclass__ __instancecheck__ __subclasscheck__ __subclasshook__ __class_getitem__ "
    "__mro_entries__ __prepare__ __length_hint__ __fspath__ __buffer__ __release_buffer__ __sizeof__ __reduce__ "
    "__reduce_ex__ __getstate__ __setstate__ __getnewargs__ __getnewargs_ex__ __copy__ __deepcopy__ __replace__"
)
"""of the data model, too: a stand-in has none that the candidate's class defines"""


class Yes:
    """A candidate that says yes to everything, and remembers what it was told."""

    def __init__(self) -> None:
        self.looks = Looks()
        self.trust = Trust([])
        self.told: list[tuple[str, Any]] = []
        self.notes: list[str] = []

    def ask(self, verb: str, target: Any, name: str = "", positional: Any = (), keywords: Any = ()) -> Any:
        """Remember, and agree."""
        self.told.append((name, positional))
        return iter([1, 2]) if name == "__iter__" else True

    def note(self, what: str, *, is_doubt: bool = True) -> None:
        """Remember what a test may have failed for."""
        self.notes.append(what)

    def own_class(self, stand_in: Any) -> None:
        """The suite has no class of the name of one of this candidate's."""

    def is_own(self, one: Any, other: Any) -> bool:
        """Nor anything else of a library's."""
        return False


def made(special: list[str]) -> tuple[Yes, Any]:
    """The candidate, and an object of a class that no suite names."""
    candidate = Yes()
    cls = make_class(candidate, 0, "Liar", "Liar", "solution", None, [], special, [], "", False)
    found = object.__new__(cls)
    object.__setattr__(found, "_harena_item", ("o", 1))
    return candidate, found


def test_no_special_method_is_forgotten() -> None:
    """Each that can cross has one row, and none of the others can cross."""
    rows = [*COMPUTED, *REFUSED, *FORWARDED]
    assert (sorted(rows), len(rows)) == (sorted(SPECIAL), len(set(rows)))
    assert not {*rows} & {*ABSENT}


@pytest.mark.parametrize("name", [*COMPUTED, *REFUSED])
def test_what_is_expected_is_told_to_nobody(name: str) -> None:
    """Neither as an operand, nor as what is sought."""
    candidate, found = made([name, "__iter__"])
    operands: list[Any] = [] if name in ("__len__", "__bool__", "__iter__", "__hash__") else [SECRET]
    if name in ("__exit__", "__aexit__"):
        operands = [AssertionError, AssertionError(SECRET), None]
    try:
        said = getattr(type(found), name)(found, *operands)
        if name == "__aexit__":
            said = asyncio.run(said)
    except TypeError:
        said = NotImplemented
    assert str(SECRET) not in str(candidate.told)
    assert said is not True or name == "__bool__"  # which is true because there are items


def test_what_it_says_is_kept() -> None:
    """Loops are all that is asked for, whatever is computed of them, and what nobody looks for."""
    candidate, found = made(["__iter__", "__len__", "__contains__", "__bool__"])
    assert (list(found), len(found), 2 in found, SECRET in found, bool(found)) == ([1, 2], 2, True, False, True)
    asked = [(name, operands) for name, operands in candidate.told if name != "__contains__"]
    assert {*asked} == {("__iter__", ())}
    sought = {each for name, operands in candidate.told for each in operands if name == "__contains__"}
    assert sought
    assert not sought & {2, SECRET}


@pytest.mark.parametrize("name", REFUSED)
def test_who_says_the_same_of_everything_is_not_excused(name: str) -> None:
    """An operator that is not believed is noted, so that a right program has no 0; not one that does not heed what it
    is given, but for those that leave nothing and one as they are."""
    candidate, found = made([name])
    assert getattr(type(found), name)(found, 25) is NotImplemented
    is_levelling = name.strip("_").lstrip("ri") in ("mul", "pow", "lshift", "shift", "and")
    assert bool(candidate.notes) is is_levelling
