"""What an object of the tests' own classes says of plain values, where the candidate has said what the object holds.
Standard library only.

Both sides have some classes of trusted files: plain records, those of helpers that candidates import, exceptions. An
object of one crosses with what it holds, and its methods are the suite's. But a class may be made to judge (a number
that is near, a text with wildcards, one that equals everything), and whoever says how far `near` is has said that every
answer is right. So such an object is believed where it tells a value from others of its kind: if it says of most of
these, too, that it equals them, or that nothing lies between, then it was no answer, and the test has failed.
"""

from __future__ import annotations

import functools
import types
import weakref

from harena.scoring.guest.decoys import alike, frame
from harena.scoring.guest.object_graph import MUTABLE, SCALARS, VALUES
from harena.scoring.guest.plain_operands import is_rest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_EQUAL, _UNEQUAL = "__eq__", "__ne__"
JUDGING = (_EQUAL, _UNEQUAL, "__sub__", "__rsub__")
"""special methods by which an object says how far a value is from it"""
_PLAIN: frozenset[type] = frozenset({*SCALARS, *MUTABLE, tuple, frozenset, *(cls for cls, _, _ in VALUES.values())})
_MOST_OTHERS = 16
_ODD = (0, "", ())
"""what nothing is told from that has no others of its kind (None, say)"""


class StatedObjects:
    """The objects of real classes whose content is the candidate's word."""

    def __init__(self, refused: Callable[[str], BaseException]) -> None:
        """`refused` makes what is raised where one of them is not believed: no test may pass by it."""
        self._refused = refused
        self._known: dict[int, Any] = {}
        """by their `id`, what finds them"""
        self._watched: set[Any] = set()
        self._judging: set[Any] = set()
        """classes among these that have such methods"""

    def add(self, made: Any) -> tuple[type, ...]:
        """The candidate has said what this object holds. Returns the classes whose methods ask whose word it is from
        now on."""
        number, lineage = id(made), type.__dict__["__mro__"].__get__(type(made))
        new = tuple(part for part in lineage if part not in self._watched)
        self._watched.update(new)
        changed = tuple(part for part in new if self._watches(part))
        if number in self._known or not any(part in self._judging for part in lineage):
            return changed
        try:
            self._known[number] = weakref.ref(made, lambda _: self._known.pop(number, None))
        except TypeError:  # its class has slots, and nothing refers to it weakly
            self._known[number] = lambda: made
        return changed

    def _watches(self, part: Any) -> bool:
        """Have the judging methods of a class that is written in Python ask whose word an object is."""
        found = {name: own for name in JUDGING if type(own := vars(part).get(name)) is types.FunctionType}
        for name, own in found.items():
            setattr(part, name, self._judged(name, own))
        if found:
            self._judging.add(part)
        return bool(found)

    def _judged(self, name: str, own: Any) -> Any:
        @functools.wraps(own)
        def judged(first: Any, /, *operands: Any) -> Any:
            said = own(first, *operands)
            if len(operands) == 1 and self._is_empty_word(name, own, first, operands[0], said):
                kind = type(first).__name__
                raise self._refused(
                    f"the candidate's {kind!r} object, of a class of the tests', says {name} alike of other values"
                )
            return said

        return judged

    def _is_empty_word(self, name: str, own: Any, first: Any, operand: Any, said: Any) -> bool:
        """It is an object of the candidate's that says the same of most values as of this one."""
        known = self._known.get(id(first))
        if known is None or known() is not first or type(operand) not in _PLAIN:
            return False
        if name in (_EQUAL, _UNEQUAL):
            wanted = name == _EQUAL
            if said is NotImplemented or bool(said) is not wanted:
                return False
            others = _others(operand)
            says_yes = [_answer(own, first, each) is wanted for each in others]
            return 2 * sum(says_yes) >= len(others) and not is_rest(operand, others, says_yes)
        if type(said) not in SCALARS:
            return False
        return all(_given(own, first, each) == (type(said), said) for each in _others(operand))


def _others(operand: Any) -> list[Any]:
    """Values that are told from this one by whoever knows it."""
    found = alike(operand, _MOST_OTHERS) or [family[0] for family in frame(operand)]
    return found or [each for each in _ODD if type(each) is not type(operand)]


def _answer(own: Any, first: Any, other: Any) -> Any:
    """Whether it says yes; None where it says nothing of such a value."""
    try:
        said = own(first, other)
        return None if said is NotImplemented else bool(said)
    except Exception:  # noqa: BLE001 (a class of the tests' may take only what it knows)
        return None


def _given(own: Any, first: Any, other: Any) -> Any:
    try:
        said = own(first, other)
    except Exception:  # noqa: BLE001 (a class of the tests' may take only what it knows)
        return None
    return type(said), said
