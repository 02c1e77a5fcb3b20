"""Objects of one class of a candidate's that are compared with each other only.

`Vector(1, 2) + Vector(3, 4) == Vector(4, 6)` says nothing where all objects of the class are equal. What tells it is
what the tests themselves make: an object that equals one of them, and each of the others that they have made of other
arguments as well, has not said which it is. The same goes for what is found in a list, a set or a table by being equal
(`guest_equal_pairs`). They make objects by a class's name, and by its class methods, of plain values, arrays and other
such objects; where several ways may rightly lead to one value, more others are needed. Objects that the tests compare
with each other count as one (`CI("a")` and `CI("A")`), and fewer than some others show nothing. Tests may make equal
ones first (five ways to write one fraction) and others later, so it is decided when all have run; what says otherwise
then than it said before has not said which it is, either. Tests may also make nothing that is to differ (`Angle(0)` and
`Angle(360)`): where an object equals all that they have made, one more is made of other arguments, which it has to tell
from itself, while one that is made again of the same ones is equal to the first. Who is asked has effects or not, as
with other questions (`guest_operator_effects`): then it is asked in copies of the process, about all of them in one
order. Objects are held to be asked: not where the tests ask whether objects have ended.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import enum

from harena.scoring.guest.created_objects import FOUND, GIVEN, MADE, MADE_OF, SEEKING, SEEKS, SOUGHT, ObjectQuestions
from harena.scoring.guest.equal_pairs import HOLDING, has_objects, holds_objects, leaves_traces, pairs, sought
from harena.scoring.guest.operator_effects import may_have_effects
from harena.scoring.guest.plain_values import is_known, is_static
from harena.scoring.guest.process_copies import COPIES, NoCopyError
from harena.scoring.guest.secure_random import below, shuffled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

EQUALS_ALL = "is equal to whatever the tests make of its class"
_FEWEST_AT_ONCE, _FEWEST, _FEWEST_SOFT = 3, 2, 3
"""others that an object equals, all of them, by which it is not believed: in the moment of a comparison, and when all
tests have run; and where some were made by a class method, or of what was computed"""
_MOST_MADE, _MOST_ASKED, _MOST_WAITING, _DEEPEST = 24, 8, 200, 4
_SOON, _SELDOM = 8, 32
"""objects of a class have told themselves from all others so often that from now on one comparison in so many asks
them, by chance: it may take copies of the process, and the time is the candidate's"""
_OF_SETS = frozenset({"<", "<=", ">", ">=", "-", "&", "^", "|"})
"""operators of sets, whose items are each other's by being equal"""
_MOST_OF_ARRAY, _MOST_SITES, _MOST_SEARCHES = 1000, 100_000, 300


class Kin(ObjectQuestions):
    """What the tests of one run make, and what is said to equal it."""

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[type, dict[str, Any]] = {}
        """class -> what it was made of, as a text, and the first object that was"""
        self._untold = ""
        """the class of what was found by equalling everything, where there is no room for a decision at the end"""
        self._searches = 0
        self._arguments: dict[type, dict[str, tuple[Any, ...]]] = {}
        """class -> what objects were made of by its name alone, by their texts"""
        self._soft: set[str] = set()
        """what was made otherwise than by the class's name of what the text says"""
        self._texts: dict[int, str | None] = {}
        """place of an argument in the tests' text -> what it was when it was last given; None = no plain value"""
        self._keys: dict[int, tuple[Any, str]] = {}
        self._groups: dict[str, str] = {}
        self._waiting: list[tuple[Any, Any, list[Any]]] = []
        """two that were compared, and others that they equalled, all that there were by then"""
        self._told: dict[type, int] = {}
        """class -> how often its objects have told themselves from all others"""

    def made(self, value: Any, name: str, *given: Any) -> Any:
        """What a call by a class's name gave; `given`: its arguments. `name` has a dot in it for a class method."""
        if not self._may_keep(value) or not all(map(_is_plain, given)):
            return value
        key = f"{name}{given!r}"
        if type(value).__name__ == name:
            self._arguments.setdefault(type(value), {}).setdefault(key, given)
        return self._kept(value, name, key, "." in name)

    def given(self, site: int, value: Any) -> Any:
        """An argument, computed by the tests, of which they make something; `site`: its place in their text."""
        if not self.tests_ends and len(self._texts) < _MOST_SITES:
            self._texts[site] = self._text_of(value)
        return value

    def made_of(self, value: Any, name: str, *sites: int) -> Any:
        """What a call by a class's name gave, of arguments that were computed."""
        texts = [self._texts.get(site) for site in sites]
        if not self._may_keep(value) or None in texts:
            return value
        return self._kept(value, name, f"{name}({', '.join(map(str, texts))})", True)

    def _may_keep(self, value: Any) -> bool:
        return not (self.tests_ends or is_known(value) or is_static(value))

    def _kept(self, value: Any, name: str, key: str, is_soft: bool) -> Any:
        kind = type(value)
        owner, _, method = name.rpartition(".")
        if owner and method and (isinstance(value, enum.Enum) or owner not in (each.__name__ for each in kind.__mro__)):
            return value
        made = self._made.setdefault(kind, {})
        if key in made or len(made) < _MOST_MADE:
            if key not in made and is_soft:
                self._soft.add(key)
            made.setdefault(key, value)
            self._keys[id(value)] = value, key
        return value

    def _text_of(self, value: Any) -> str | None:
        known = self._keys.get(id(value))
        if known is not None:
            return known[1]
        kind = type(value)
        if is_static(value) and kind.__module__ == "numpy" and hasattr(kind, "tolist"):
            return f"array({value.tolist()!r})" if value.size <= _MOST_OF_ARRAY else None
        return repr(value) if _is_plain(value) else None

    def believes(self, left: Any, right: Any) -> bool:
        """What says that these two are equal tells them from others of the class, as far as can be said by now; see
        `untold`. ObjectQuestions before they are compared."""
        return self.tests_ends or self._are_told(pairs(left, right))

    def finds(self, item: Any, container: Any) -> None:
        """The tests find the item in what holds others, or ask whether it is there; see `believes`."""
        if not self.tests_ends and holds_objects(item) and self._may_search():
            self._met(item, sought(item, container))

    def meets(self, left: Any, right: Any) -> None:
        """The tests compute with two sets, or compare them; see `believes`."""
        if not self.tests_ends and has_objects(left) and self._may_search():
            self._met(left, pairs(left, right))

    def _may_search(self) -> bool:
        """To look for what an item equals takes the candidate's time: the first times, and then by chance."""
        self._searches += 1
        return self._searches <= _MOST_SEARCHES or not below(_SELDOM)

    def _met(self, item: Any, found: Iterable[tuple[Any, Any]]) -> None:
        """Note the pairs that were found equal, of objects that the tests have made, as asked."""
        told = [pair for pair in found if pair[0] is pair[1] or not (leaves_traces(pair[0]) and self._are_made(*pair))]
        for pair in told:
            if pair[0] is not pair[1] and not leaves_traces(pair[0]):
                self._join(*pair)
        if not self._are_told(told):
            self._untold = self._untold or str(type(item).__name__)

    def _are_made(self, one: Any, other: Any) -> bool:
        return id(one) in self._keys and id(other) in self._keys

    def _are_told(self, found: Iterable[tuple[Any, Any]]) -> bool:
        told = [self._is_told(*pair) for pair in found if not self._is_one(*pair)]  # each of them waits for the end
        return all(told)

    def waiting(self) -> int:
        """How many comparisons are to be decided at the end."""
        return len(self._waiting)

    def let_go(self, waiting: int) -> None:
        """Forget the comparisons behind this number: they need no decision."""
        del self._waiting[waiting:]

    def equal(self, left: Any, right: Any) -> None:
        """The tests have compared these two, and they said that they are equal: they count as one."""
        for pair in pairs(left, right, finds=False):
            self._join(*pair)

    def _join(self, one: Any, other: Any) -> None:
        """Two that are equal count as one."""
        if self._are_made(one, other):
            keys = [self._group(self._keys[id(each)][1]) for each in (one, other)]
            self._groups[keys[0]] = keys[1]

    def untold(self) -> str:
        """The class of an object that equals all that the tests have made of it; empty if there is none."""
        if self._untold:
            return self._untold
        for left, right, equalled in self._waiting:
            others, _, are_enough = self._others(left, right)
            has_changed = bool(equalled) and not _equals_all(left, right, equalled)
            equals = (
                _equals_all(left, right, others) if equalled else all(_is_equal(left, right, each) for each in others)
            )
            if has_changed or (are_enough and equals and not self._tells_another(left, right)):
                return str(type(left).__name__)
        return ""

    def _tells_another(self, left: Any, right: Any) -> bool:
        """Both tell an object from themselves that is made now, of other arguments than the tests have given; and one
        that is made of theirs is what was made of them before."""
        kind = type(left)
        for key, given in list(self._arguments.get(kind, {}).items())[:_MOST_ASKED]:
            first = self._made.get(kind, {}).get(key)
            new = [each for each in _others_than(given) if f"{kind.__name__}{each!r}" not in self._arguments[kind]]
            if any(_tells_of(kind, each, given, first, left, right) for each in new):
                return True
        return False

    def _is_one(self, left: Any, right: Any) -> bool:
        """One object is equal to itself whatever its class says, unless the tests have made it of other arguments,
        too, and do not ask for that."""
        made = self._made.get(type(left), {})
        return left is right and (self.tests_identity or sum(each is left for each in made.values()) < _FEWEST)

    def _is_told(self, left: Any, right: Any) -> bool:
        told = self._told.get(type(left), 0)
        if told >= _SOON and below(_SELDOM):
            return True
        others, count, _ = self._others(left, right)
        equalled: list[Any] = []
        if count >= _FEWEST_AT_ONCE:
            if not _equals_all(left, right, others):
                self._told[type(left)] = told + 1
                return True
            if len(self._waiting) >= _MOST_WAITING:
                return False
            equalled = others
        if len(self._waiting) < _MOST_WAITING:
            self._waiting.append((left, right, equalled))
        return True

    def _others(self, left: Any, right: Any) -> tuple[list[Any], int, bool]:
        """Objects of the class that have not been found equal to one of these two, how many there are if those count as
        one that were found equal to each other, and whether these are enough to tell by, when all tests have run."""
        known = {self._group(self._keys[id(each)][1]) for each in (left, right) if id(each) in self._keys}
        found = [(key, self._group(key), each) for key, each in self._made.get(type(left), {}).items()]
        others = [(key, group, each) for key, group, each in found if group not in known]
        count = len({group for _, group, _ in others})
        by_class = len({group for key, group, _ in others if key not in self._soft})
        return [each for *_, each in others], count, by_class >= _FEWEST or count >= _FEWEST_SOFT

    def _group(self, key: str) -> str:
        while key in self._groups and self._groups[key] != key:
            key = self._groups[key]
        return key


def _is_equal(left: Any, right: Any, other: Any) -> bool:
    try:
        return bool(left == other) and bool(right == other)
    except Exception:  # noqa: BLE001 (of the candidate's own methods)
        return False


def _equals_all(left: Any, right: Any, others: list[Any]) -> bool:
    asked = shuffled(others)[:_MOST_ASKED]
    for one, other in ((left, right), (right, left)):
        if _says_yes_to_all(one, other, asked) and _says_yes_to_all(one, other, others[:_MOST_MADE]):
            return True
    return False


def _says_yes_to_all(one: Any, other: Any, asked: list[Any]) -> bool:
    def ask(value: Any) -> str:
        return "01"[bool(one == value)]

    if may_have_effects(one, ("__eq__",)):
        questions = shuffled([(other, True), *((each, False) for each in asked)])
        try:
            said = COPIES.answers_apart(one, ask, questions)
        except NoCopyError:
            pass
        else:
            of_other = next(each for each, (_, is_it) in zip(said, questions) if is_it)  # noqa: B905 (Python 3.8)
            return of_other != "0" and all(each == of_other for each in said)
    try:
        return all(ask(each) == "1" for each in shuffled([other, *asked]))
    except Exception:  # noqa: BLE001 (of the candidate's own methods)
        return False


def _tells_of(kind: Any, new: tuple[Any, ...], given: tuple[Any, ...], first: Any, *compared: Any) -> bool:
    """One that is made of what is new differs from those that were compared, and one that is made of what was given
    before is equal to the first."""
    try:
        other, again = kind(*new), kind(*given)
        differs = all(not each == other and not other == each for each in compared)  # noqa: SIM201 (each is asked)
        return bool(differs and first == again and again == first)
    except Exception:  # noqa: BLE001 (of the candidate's own methods, which may want other arguments)
        return False


def _others_than(given: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Change the arguments in one place, to another number or text."""
    for index, value in enumerate(given):
        kind = type(value)
        others = (value + 1, value + 7) if kind in (int, float) else (value + "q", value + "7") if kind is str else ()
        for other in others:
            yield (*given[:index], other, *given[index + 1 :])


def _is_plain(value: Any, depth: int = 0) -> bool:
    """It is the same whoever looks at it."""
    kind = type(value)
    if kind in (list, tuple):
        return depth < _DEEPEST and all(_is_plain(each, depth + 1) for each in value)
    if kind is dict:
        return depth < _DEEPEST and all(_is_plain(each, depth + 1) for pair in value.items() for each in pair)
    return is_known(value)


def watching_equality(kin: Kin, judged: Callable[..., Any]) -> Callable[..., Any]:
    """What compares in the place of Python's operators, and says no of two that equal everything of their class."""

    def compared(sign: str, left: Any, right: Any, *more: Any) -> Any:
        if sign not in ("==", "!=") or type(left) is not type(right):
            return _compared_in_holders(kin, judged, sign, left, right, *more)
        waiting = kin.waiting()
        is_told = kin.believes(left, right)
        result = judged(sign, left, right, *more)
        if result is not (sign == "=="):  # they differ, or the comparison gives an object, which is no claim
            kin.let_go(waiting)
            return result
        kin.equal(left, right)
        return result if is_told else sign != "=="

    return compared


def _compared_in_holders(kin: Kin, judged: Callable[..., Any], sign: str, left: Any, right: Any, *more: Any) -> Any:
    """What compares an item with a container, or two sets."""
    if type(right) not in HOLDING:
        return judged(sign, left, right, *more)
    waiting = kin.waiting()
    if sign == "in":
        kin.finds(left, right)
    elif type(left) in HOLDING and (sign in _OF_SETS or sign in ("==", "!=")):
        kin.meets(left, right)
    result = judged(sign, left, right, *more)
    if result is not (sign != "!="):
        kin.let_go(waiting)
    return result


def watching_sets(kin: Kin, judged: Callable[..., Any]) -> Callable[..., Any]:
    """What computes in the place of Python's operators: the items of two sets are each other's by being equal."""

    def operated(sign: str, left: Any, right: Any, *more: Any) -> Any:
        if sign in _OF_SETS and type(left) in HOLDING and type(right) in HOLDING:
            kin.meets(left, right)
        return judged(sign, left, right, *more)

    return operated


def watching_pairs(kin: Kin, judged: Callable[..., Any]) -> Callable[..., Any]:
    """What gives the two sides of an assertion: two that differ, where these equal everything of their class."""

    def pair(sign: str, left: Any, right: Any, *more: Any) -> Any:
        if sign == "in":
            kin.finds(left, right)
        elif sign in ("==", "!=") and type(left) is type(right):
            if not kin.believes(left, right):
                return object(), object()
            if sign == "==":
                kin.equal(left, right)
        elif sign == "==" and type(left) in HOLDING:
            kin.meets(left, right)
        return judged(sign, left, right, *more)

    return pair


def watching_methods(kin: Kin, judged: Callable[..., Any]) -> Callable[..., Any]:
    """What gives a method by its name; that of a container finds what equals its argument."""

    def method(value: Any, name: str) -> Any:
        found = judged(value, name)
        if name not in SEEKING or type(value) not in HOLDING:
            return found

        def seeking(*positional: Any, **named: Any) -> Any:
            for each in positional[:1]:
                kin.finds(each, value)
            return found(*positional, **named)

        return seeking

    return method


def searches(kin: Kin) -> dict[str, Callable[..., Any]]:
    """What stands in the tests' code where they make objects and find them, by its name there."""

    def found(container: Any, key: Any) -> Any:
        if type(container) in HOLDING:
            kin.finds(key, container)
        return container[key]

    def seeks(container: Any, item: Any) -> Any:
        if type(container) in HOLDING:
            kin.finds(item, container)
        return item

    return {
        MADE: kin.made,
        MADE_OF: kin.made_of,
        GIVEN: kin.given,
        FOUND: found,
        SEEKS: seeks,
        SOUGHT: watching_methods(kin, getattr),
    }
