"""What an object of the tests' own classes says of plain values, where the candidate has said what the object holds.
Standard library only.

Both sides have some classes of trusted files: plain records, those of helpers that candidates import, exceptions. An
object of one crosses with what it holds, and its methods are the suite's. But a class may be made to judge (a number
that is near, a text with wildcards, one that equals everything), and whoever says how far `near` is has said that every
answer is right. So such an object is believed where it tells a value from others of its kind: if it says of most of
these, too, that it equals them, or that nothing lies between, then it was no answer, and the test has failed. Beside an
object of its class that the tests have made, the others are changed copies of that one, and it is believed where the
tests' own object cannot tell itself from them either.
"""

from __future__ import annotations

import functools
import types
import weakref

from harena.scoring.guest.decoys import alike, frame
from harena.scoring.guest.object_graph import MUTABLE, SCALARS, VALUES
from harena.scoring.guest.plain_operands import is_rest
from harena.scoring.guest.secure_random import below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    _Ask = Callable[[Any, Any], Any]

_EQUAL, _UNEQUAL = "__eq__", "__ne__"
_FAR = ("__sub__", "__rsub__")
_BY_NAME = (
    "equals", "equal", "is_equal", "eq", "equal_to", "is_equal_to", "almost_equals", "almost_equal", "is_same",
    "same_as", "isclose", "is_close", "close_to", "allclose",
)  # fmt: skip
JUDGING = (_EQUAL, _UNEQUAL, *_FAR, *_BY_NAME)
"""methods by which an object says whether a value is what it is, or how far from it"""
_PLAIN: frozenset[type] = frozenset({*SCALARS, *MUTABLE, tuple, frozenset, *(cls for cls, _, _ in VALUES.values())})
_MOST_OTHERS, _COPIES, _MANY = 16, 8, 200
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
        self._is_asking = False
        self._count = 0

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
        if (
            "__dataclass_fields__" in vars(part)
            and _EQUAL in found
            and found[_EQUAL].__code__.co_filename == "<string>"
        ):
            del found[_EQUAL]  # Python has written it: the fields are what is equal
        for name, own in found.items():
            setattr(part, name, self._judged(name, own))
        if found:
            self._judging.add(part)
        return bool(found)

    def _judged(self, name: str, own: Any) -> Any:
        @functools.wraps(own)
        def judged(first: Any, /, *operands: Any, **named: Any) -> Any:
            said = own(first, *operands, **named)
            if self._is_asking or not operands or said is NotImplemented:
                return said

            def ask(one: Any, other: Any) -> Any:
                return own(one, other, *operands[1:], **named)

            if self._asked(name, ask, first, operands[0], said):
                kind = type(first if self._is_stated(first) else operands[0]).__name__
                raise self._refused(
                    f"the candidate's {kind!r} object, of a class of the tests', says {name} alike of other values"
                )
            return said

        return judged

    def _is_stated(self, value: Any) -> bool:
        known = self._known.get(id(value))
        return known is not None and known() is value

    def _asked(self, *question: Any) -> bool:
        """Whether it is an empty word. While that is asked, parts of the object are not asked once more; of very many
        comparisons some are drawn. What a method keeps of what it is asked (how often, the last value) is as before."""
        self._is_asking = True
        put_back = [_as_it_is(each) for each in question[2:4]]
        try:
            return self._is_empty_word(*question)
        finally:
            self._is_asking = False
            for each in put_back:
                each()

    def _is_empty_word(self, name: str, ask: _Ask, first: Any, operand: Any, said: Any) -> bool:
        """One of both is the candidate's, and says the same of most values as of this one."""
        theirs, others = self._is_stated(first), self._is_stated(operand)
        if theirs is others:  # of one side's alone
            return False
        self._count += 1
        if self._count > _MANY and below(self._count) >= _MANY:
            return False
        if theirs and type(operand) in _PLAIN:
            return _is_alike(name, ask, first, operand, said)
        wanted = name != _UNEQUAL
        if name in _FAR or not isinstance(said, bool) or said is not wanted:
            return False
        ours, their = (operand, first) if theirs else (first, operand)
        if not (isinstance(ours, type(their)) or isinstance(their, type(ours))):
            return False
        copies = _changed_copies(ours)
        between = [_answer(ask, *((their, each) if theirs else (each, their))) is wanted for each in copies]
        itself = [_answer(ask, ours, each) is wanted for each in copies]
        return bool(copies) and 2 * sum(between) >= len(copies) > 2 * sum(itself)


def _is_alike(name: str, ask: _Ask, first: Any, operand: Any, said: Any) -> bool:
    """An object says of most values what it says of this plain one."""
    if name in _FAR:
        return type(said) in SCALARS and all(
            _given(ask, first, each) == (type(said), said) for each in _others(operand)
        )
    wanted = name != _UNEQUAL
    if bool(said) is not wanted:
        return False
    others = _others(operand)
    says_yes = [_answer(ask, first, each) is wanted for each in others]
    return 2 * sum(says_yes) >= len(others) and not is_rest(operand, others, says_yes)


def _changed_copies(ours: Any) -> list[Any]:
    """Objects like this one, with other plain values in them; none where it holds no such."""
    cls = type(ours)
    slots = [name for part in cls.__mro__ for name in _words(vars(part).get("__slots__", ())) if hasattr(ours, name)]
    held = {**{name: getattr(ours, name) for name in slots if name[:2] != "__"}, **getattr(ours, "__dict__", {})}
    changes = {
        name: found for name, value in held.items() if type(value) in _PLAIN and (found := alike(value, _COPIES))
    }
    copies = []
    for index in range(_COPIES if changes else 0):
        try:
            made = object.__new__(cls)
            for name, value in held.items():
                told = changes.get(name)
                object.__setattr__(made, name, told[index % len(told)] if told else value)
        except (AttributeError, TypeError):  # a class with a way of its own to make one
            return []
        copies.append(made)
    return copies


def _as_it_is(value: Any) -> Callable[[], None]:
    """What gives an object of the tests' class, and that class, the plain content back that they have now."""
    held = getattr(value, "__dict__", None)
    if type(held) is not dict or type(value) in _PLAIN:
        return lambda: None
    names = dict(held)
    holding = [(each, each.copy()) for each in held.values() if type(each) in (list, dict, set)]
    lineage = type.__dict__["__mro__"].__get__(type(value))
    of_classes = [(part, name, each) for part in lineage for name, each in vars(part).items() if type(each) in SCALARS]

    def put_back() -> None:
        if held.keys() != names.keys() or any(held[name] is not each for name, each in names.items()):
            held.clear()
            held.update(names)
        for each, kept in holding:
            if each != kept:
                each.clear()
                (each.extend if type(each) is list else each.update)(kept)
        for part, name, each in of_classes:
            if vars(part).get(name) is not each:
                setattr(part, name, each)

    return put_back


def _words(slots: Any) -> Any:
    return (slots,) if type(slots) is str else slots


def _others(operand: Any) -> list[Any]:
    """Values that are told from this one by whoever knows it."""
    found = alike(operand, _MOST_OTHERS) or [family[0] for family in frame(operand)]
    return found or [each for each in _ODD if type(each) is not type(operand)]


def _answer(ask: _Ask, first: Any, other: Any) -> Any:
    """Whether it says yes; None where it says nothing of such a value."""
    try:
        said = ask(first, other)
        return None if said is NotImplemented else bool(said)
    except Exception:  # noqa: BLE001 (a class of the tests' may take only what it knows)
        return None


def _given(ask: _Ask, first: Any, other: Any) -> Any:
    try:
        said = ask(first, other)
    except Exception:  # noqa: BLE001 (a class of the tests' may take only what it knows)
        return None
    return type(said), said
