"""What test code computes of values that a candidate gave: operators, comparisons, truths and calls that judge.

`guest_comparison_rewriter` puts these functions in the place of what Python does. Plain values, which are nearly all,
pass at once. What is an instance of a subclass of a plain type is that plain value (`guest_plain_values`), and what an
object of another class says of a plain value is believed where it tells it from others (`guest_decoy_comparisons`).

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import operator
from types import GeneratorType

from harena.scoring.guest.assertion_sides import arranged
from harena.scoring.guest.decoy_comparisons import (
    ORDERS,
    all_of,
    answer_of,
    contains_in_copies,
    contains_some,
    equals_some,
    is_orderly,
    says_yes_in_copies,
    says_yes_to_some,
    tells_apart,
)
from harena.scoring.guest.operator_effects import may_have_effects
from harena.scoring.guest.plain_values import (
    ATOMS,
    CONTAINERS,
    NUMBERS,
    Plain,
    calls_anything_equal,
    gives_all_for_anything,
    holds_atoms,
    is_atomic,
    is_known,
    is_static,
    overrides,
)
from harena.scoring.guest.process_copies import COPIES
from harena.scoring.guest.unpacked_values import LOOPING_METHODS, SHOWING, Unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "|": operator.or_,
    "&": operator.and_, "^": operator.xor, "@": operator.matmul,
}  # fmt: skip
SINGLE: dict[str, Callable[[Any], Any]] = {"+": operator.pos, "-": operator.neg, "~": operator.invert}
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
    "%": operator.imod, "**": operator.ipow, "<<": operator.ilshift, ">>": operator.irshift, "|": operator.ior,
    "&": operator.iand, "^": operator.ixor, "@": operator.imatmul,
}  # fmt: skip
AS_IT_IS = 4
"""added to what tells whose the sides of a comparison are: its result is used as an object (see
`guest_comparison_results`)"""
OF_MANY = 8
"""added, too, where the tests ask it for a truth of many, which is for an object that they have made to say"""
_ALGEBRA = frozenset({"|", "&", "^", "-"})
"""operators of sets, by which what is expected can be told"""
_JUDGES = frozenset({
    "issubset", "issuperset", "isdisjoint", "startswith", "endswith", "is_integer", "equals", "equal", "is_equal", "eq",
    "equal_to", "is_equal_to", "almost_equals", "almost_equal", "is_same", "same_as", "isclose", "is_close", "close_to",
    "allclose", "__eq__", "__contains__",
})  # fmt: skip
"""methods whose yes or no judges what they are given"""
_OF_SETS = frozenset({"union", "intersection", "difference", "symmetric_difference", "count", "index"})
_COMPARING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_really_isinstance = isinstance
_MASKS = frozenset({list, dict, set})
"""plain values that a comparison may give for each item"""
_HASHED = frozenset({dict, set, frozenset, range})
"""containers that are told what is sought only where its hash is that of an item: nobody knows that beforehand"""
_ITERATORS: tuple[type, ...] = (
    GeneratorType,
    type(iter([])),
    type(iter(())),
    type(map(int, [])),
    type(filter(int, [])),
    type(zip()),
)


class UnbelievedError(AssertionError):
    """An object says that everything is in it: no test is passed by that, nor by its opposite."""

    def __init__(self, held: Any) -> None:
        super().__init__(f"the candidate's {type(held).__name__} object says of everything that it is in it")


class Judged:
    """The functions that stand in test code."""

    reads_values = True
    """what is gone through is what a plain value holds"""

    def __init__(self, plain: Plain, is_made: Callable[[Any], bool] | None = None) -> None:
        """`is_made`: whether the tests have made an object, to match more than one value; it is believed, and asked
        nothing else."""
        self._plain = plain
        self.unpacked = Unpacked(plain)
        """what test code goes through"""
        self._is_made = is_made or (lambda value: False)
        self._unsure: dict[int, Any] = {}
        """objects that comparisons gave which are not believed: they are no truth"""

    def compared(self, sign: str, left: Any, right: Any, own: int = 0, made: int = 0) -> Any:
        """What Python says; but an object that says yes to other values, too, has not said it. `own`: 1 where the left
        side is the tests' alone, 2 where the right one is, 3 where both are; `AS_IT_IS` is added where an object
        that it gives is used as one. `made`, in the same way: the tests have made a side of a class by its name."""
        if type(left) in ATOMS and type(right) in ATOMS:
            return _COMPARE[sign](left, right)
        if own >= OF_MANY:
            own -= OF_MANY
            if self._is_of_named(left, right, made):
                return self._given_of_many(sign, left, right, own - AS_IT_IS)
            own -= AS_IT_IS
        if made:
            own |= self._of_classes(sign, left, right, made)
        if own >= AS_IT_IS:
            return self._given(sign, left, right, own - AS_IT_IS)
        if own == 3:
            return _COMPARE[sign](left, right)
        if sign in ("in", "not in"):
            holds = self._holds(left, right, own)
            if holds is None:
                raise UnbelievedError(right)
            return holds is (sign == "in")
        left, right = self._sides(sign, left, right, own)
        if self._unsure:
            left, right = self._no_truths(left, right)
        if sign in ORDERS:
            return self._ordered(sign, left, right, own)
        is_believed = self._is_equality_believed(left, right, own)
        result = _COMPARE[sign](left, right)
        return self._claimed(sign, result, is_believed=is_believed)

    def _of_classes(self, sign: str, left: Any, right: Any, made: int) -> int:
        """The sides that are believed as the tests' own: objects of a class that these name, which they have made. What
        a class says to whatever comes is what such tests ask of it, weak as they may be, and stands for no value; but
        to equal everything is nothing that a class is asked for."""
        found = 0
        for bit, asked, other in ((1, left, right), (2, right, left)):
            if not made & bit or is_known(asked) or not self._plain.is_named(type(asked)):
                continue
            is_equality = sign in ("==", "!=")
            if not is_equality or (self._is_for(asked, other) and equals_some(asked, other, bit == 1)):
                found |= bit
        return found

    def _given(self, sign: str, left: Any, right: Any, own: int) -> Any:
        """What a comparison gives whose result is used as an object: that object, which is no truth by that."""
        is_object = [self._plain.base(each) is None and not is_known(each) for each in (left, right)]
        if sign in ("in", "not in") or own == 3 or not any(is_object):
            return self.compared(sign, left, right, own)
        # an object is asked itself, also one that seems to call everything equal because it gives an object
        left, right = (
            each if is_itself else self._plain.whole(each)
            for each, is_itself in zip((left, right), is_object)  # noqa: B905 (Python 3.8)
        )
        if self._unsure:
            left, right = self._no_truths(left, right)
        if sign in ORDERS:
            return self._ordered(sign, left, right, own, as_it_is=True)
        is_believed = self._is_equality_believed(left, right, own)
        result = _COMPARE[sign](left, right)
        if not is_believed and _is_object(result):
            return self._as_unsure(result)
        return self._claimed(sign, result, is_believed=is_believed)

    def _is_of_named(self, left: Any, right: Any, made: int) -> bool:
        """The tests have made a side, of a class that they name."""
        sides = ((1, left), (2, right))
        return any(made & bit and not is_known(each) and self._plain.is_named(type(each)) for bit, each in sides)

    def _given_of_many(self, sign: str, left: Any, right: Any, own: int) -> Any:
        """What a comparison gives for each item of an object that the tests have made: what the class says, unless it
        says so of an object that is made just now, too."""
        result = _COMPARE[sign](left, right)
        if not _is_object(result):
            return self._given(sign, left, right, own)
        if sign == "==" and all(gives_all_for_anything(each) for each in (left, right) if not is_known(each)):
            return False
        return result

    def _as_unsure(self, result: Any) -> Any:
        self._unsure[id(result)] = result
        return result

    def _no_truths(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Both sides; what a comparison gave that is not believed is no, where it is compared with a plain value."""
        if id(left) in self._unsure and type(right) in ATOMS:
            return False, right
        return (left, False) if id(right) in self._unsure and type(left) in ATOMS else (left, right)

    def _claimed(self, sign: str, result: Any, *, is_believed: bool) -> Any:
        """What `==` or `!=` gives, where it is believed or claims nothing; the other answer where it is not."""
        if is_believed or is_static(result):
            return result
        try:
            claims = all_of(result) is (sign == "==")
        except Exception:  # noqa: BLE001 (whatever it is, it says nothing by itself)
            return result
        return result if not claims else sign != "=="

    def _sides(self, sign: str, left: Any, right: Any, own: int) -> tuple[Any, Any]:
        """Both sides as plain as they are judged. Two instances of one class that is no number compare themselves."""
        kind = type(left)
        if kind is type(right) and (base := self._plain.base(left)) is not None and base not in NUMBERS:
            bases = self._plain.whole(left), self._plain.whole(right)
            if sign in ("==", "!=") and bases[0] == bases[1]:
                return bases
            return left, right
        return self._plain.both(left, right, own)

    def _is_equality_believed(self, left: Any, right: Any, own: int) -> bool:
        return all(self._is_pair_believed(*pair) for pair in _mixed(left, right, own))

    def _is_pair_believed(self, asked: Any, known: Any, on_left: bool, is_two: bool) -> bool:
        if id(asked) in self._unsure and type(known) in ATOMS:
            return False
        return self._is_made(asked) or (is_two and self._is_made(known)) or _is_believed(asked, known, on_left, is_two)

    def _is_for(self, asked: Any, known: Any) -> bool:
        """An object is to be asked about other values than this plain one."""
        return not is_known(asked) and is_known(known) and not self._is_made(asked)

    def _ordered(self, sign: str, left: Any, right: Any, own: int, *, as_it_is: bool = False) -> Any:
        is_left_known, is_right_known = is_known(left), is_known(right)
        if is_left_known and is_right_known:
            return ORDERS[sign](left, right)
        is_believed = True
        if self._is_for(left, right) and not own & 1:
            is_believed = is_orderly(sign, left, right)
        elif self._is_for(right, left) and not own & 2:
            is_believed = is_orderly(_TURNED[sign], right, left)
        result = ORDERS[sign](left, right)
        if as_it_is and _is_object(result):
            return self._as_unsure(result)
        try:
            claims = bool(result)
        except Exception:  # noqa: BLE001 (arrays have no truth)
            return result
        if claims and is_believed and not is_left_known and not is_right_known:
            is_believed = not _is_contradicted(sign, left, right)
        return result if not claims or is_believed else False

    def _holds(self, sought: Any, held: Any, own: int) -> bool | None:
        """Whether something is in a container; None where an object says so that is not believed: then it is neither
        in it nor not."""
        kind = type(held)
        if kind in _ITERATORS or (hasattr(kind, "__next__") and not hasattr(kind, "__contains__")):
            return any(self.compared("==", sought, each, own) for each in held)
        if self._plain.base(held) is not None:
            held = self._plain.shallow(held)
            kind = type(held)
        if (kind in _HASHED or (kind in CONTAINERS and holds_atoms(held))) and type(sought) in ATOMS:
            return sought in held
        if kind in CONTAINERS and kind not in _HASHED:
            sought, held = self._plain.both(sought, held, own)
        else:
            sought = self._plain.whole(sought, is_own=bool(own & 1))
        is_for = not own & 2 and not is_known(held) and self._is_for(held, sought)
        said_before = contains_in_copies(held, sought) if is_for else None
        claims = bool(sought in held)
        if not claims or kind in (str, bytes) or (is_atomic(sought) and kind in _HASHED):
            return claims
        if is_known(held):
            return any(
                sought is each or (sought == each and self._is_equality_believed(sought, each, own)) for each in held
            )
        return claims if not is_for or contains_some(held, sought, said_before) else None

    def pair(self, sign: str, left: Any, right: Any, own: int = 0, made: int = 0) -> tuple[Any, Any]:
        """Both sides of an assertion; two that fail it where what they say is not believed."""
        if type(left) in ATOMS and type(right) in ATOMS:
            return left, right
        if made and sign != "-":
            own |= self._of_classes(sign, left, right, made)
        if sign in ("in", "not in") and self._plain.base(right) is None and not is_known(right):
            holds = self._holds(left, right, own)
            return left, _MembershipAnswer(right, said=sign == "not in" if holds is None else holds)
        if (sign in ORDERS or sign in ("==", "!=")) and self._is_asked_once(left, right):
            return _Answering(left, said=bool(self.compared(sign, left, right, own))), right
        if sign in ("in", "not in"):
            is_told = self._holds(left, right, own) is (left in right)
        elif sign == "-":
            sides = self._sides("==", left, right, own)
            if not any(map(is_static, sides)) and (self._is_for(*sides) or self._is_for(*sides[::-1])):
                return self._differing(*sides, own)
            is_told = all(map(is_known, sides)) or self._is_equality_believed(*sides, own) or not bool(left == right)
            left, right = sides if all(map(is_known, sides)) else (left, right)
        else:
            sides = self._sides(sign, left, right, own)
            said = self.compared(sign, *sides, own)
            try:
                is_told = bool(said) is bool(_COMPARE[sign](*sides))
            except Exception:  # noqa: BLE001 (whatever it is, the assertion meets it, too)
                is_told = True
            left, right = sides
        return (left, right) if is_told else (object(), object())

    def _is_asked_once(self, left: Any, right: Any) -> bool:
        """One side is an object that is no collection: whatever an assertion asks of it, it has said before."""
        objects = [each for each in (left, right) if not is_known(each)]
        return bool(objects) and not any(
            is_static(each) or self._plain.base(each) is not None or hasattr(type(each), "__len__") for each in objects
        )

    def sides(self, sign: str, *positional: Any, **named: Any) -> list[Any]:
        """The arguments of an assertion, its two sides first, however they are given."""
        found = arranged(positional, named)
        return [*self.pair(sign, *found[:2]), *found[2:]] if len(found) > 1 else found

    def _differing(self, left: Any, right: Any, own: int) -> tuple[Any, Any]:
        """An object and a plain value, of which an assertion is told once whether they are equal, or what one is less
        the other."""
        is_believed = self._is_equality_believed(left, right, own)
        is_equal = bool(left == right)
        if is_equal and not is_believed:
            return object(), object()
        difference = None if is_equal else self.operated("-", left, right, own)
        if is_known(left):
            return left, _Differing(right, said=is_equal, difference=difference)
        return _Differing(left, said=is_equal, difference=difference), right

    def operated(self, sign: str, left: Any, right: Any, own: int = 0) -> Any:
        """What an operator gives."""
        if (type(left) in ATOMS and type(right) in ATOMS) or own == 3:
            return OPERATORS[sign](left, right)
        if self._unsure and (id(left) in self._unsure or id(right) in self._unsure):
            return self._of_unsure(OPERATORS[sign](left, right))
        left, right = self._operand(sign, left, right), self._operand(sign, right, left)
        compute = OPERATORS[sign]
        used: Callable[[Any], Any] = _itself
        if is_static(left) or is_static(right):
            return compute(left, right)
        if self._is_for(left, right) and not own & 1:
            used = answer_of(sign, compute, left, right)
        elif self._is_for(right, left) and not own & 2:
            used = answer_of(sign, lambda asked, value: compute(value, asked), right, left)
        return used(compute(left, right))

    def _of_unsure(self, result: Any) -> Any:
        """What an operator gives of a comparison's result that is not believed, which is no truth either."""
        if is_known(result) and type(result) not in _MASKS:
            return object()
        return self._as_unsure(result)

    def changed(self, sign: str, left: Any, right: Any, own: int = 0) -> Any:
        """What a name has after `+=` and the like. An object may change itself; any other result is judged as that of
        the operator is."""
        if type(left) in ATOMS or self._plain.base(left) in NUMBERS:
            return self.operated(sign, left, right, own)
        if self._is_for(left, right) and not own & 1 and not is_static(left):
            compute = IN_PLACE[sign]
            used = answer_of(sign, compute, left, right)
            result = compute(left, self.number(right))
            return result if result is left else used(result)
        if self.reads_values and type(left) in CONTAINERS and type(right) not in ATOMS:
            return IN_PLACE[sign](left, self.unpacked.looped(right))
        return IN_PLACE[sign](left, self.number(right))

    def _operand(self, sign: str, value: Any, other: Any) -> Any:
        base = self._plain.base(value)
        if base is None:
            return value
        is_set = base in (set, frozenset) and sign in _ALGEBRA
        if base in NUMBERS or (is_set and type(value) is not type(other)):
            return self._plain.whole(value)
        return value

    def single(self, sign: str, value: Any) -> Any:
        """What an operator with one operand gives."""
        if id(value) in self._unsure:
            return self._of_unsure(SINGLE[sign](value))
        return SINGLE[sign](value if type(value) in ATOMS else self.number(value))

    def number(self, value: Any) -> Any:
        """The plain number, where it is one of a subclass."""
        return self._plain.shallow(value) if self._plain.base(value) in NUMBERS else value

    def truth(self, value: Any) -> Any:
        """What is true or false in its place."""
        if type(value) in ATOMS:
            return value
        return False if id(value) in self._unsure else self._plain.shallow(value)

    def argument(self, value: Any, own: int = 0) -> Any:
        """What a function that computes with values is given."""
        if type(value) in ATOMS or own:
            return value
        if id(value) in self._unsure:
            return False
        if type(value) in _ITERATORS:
            return self._each(value)
        return self._plain.whole(value)

    def measured(self, value: Any) -> Any:
        """What `len` is given."""
        return value if type(value) in ATOMS else self._plain.shallow(value)

    def _each(self, items: Any) -> Iterator[Any]:
        for item in items:
            yield self._plain.whole(item)

    def is_instance(self, value: Any, kinds: Any) -> bool:
        """`isinstance`, which believes the class, and not what an object has by the name `__class__`."""
        if not _really_isinstance(value, kinds):
            return False
        if type(value) in ATOMS or type(value) in CONTAINERS or value.__class__ is type(value) or self._is_made(value):
            return True
        said = value.__class__
        if not issubclass(type(said), type):  # then it is not a class that Python would believe
            return True
        plain = [kind for kind in (kinds if type(kinds) is tuple else (kinds,)) if type(kind) is type]
        claimed = [kind for kind in plain if issubclass(said, kind) and not issubclass(type(value), kind)]
        rest = tuple(kind for kind in (kinds if type(kinds) is tuple else (kinds,)) if kind not in claimed)
        return bool(rest) and _really_isinstance(value, rest)

    def _sought(self, items: Any, name: str) -> Any:
        """`count` or `index` of a list or tuple."""

        def sought(wanted: Any, *bounds: Any) -> Any:
            if bounds or (type(wanted) in ATOMS and holds_atoms(items)):
                return getattr(items, name)(wanted, *bounds)
            found = [place for place, each in enumerate(items) if self.compared("==", each, wanted)]
            if name == "index" and not found:
                raise ValueError("what is sought is not there")
            return found[0] if name == "index" else len(found)

        return sought

    def _going_through(self, method: Any) -> Any:
        """A plain value's method that goes through its arguments."""

        def going(*positional: Any, **keywords: Any) -> Any:
            return method(*map(self.unpacked.looped, positional), **keywords)

        return going

    def method(self, value: Any, name: str) -> Any:
        """A method of a value by its name."""
        kind = type(value)
        if kind in (list, tuple) and name in ("count", "index"):
            return self._sought(value, name)
        if kind in ATOMS or kind in CONTAINERS:
            found = getattr(self._plain.whole(value) if name in _JUDGES or name in _OF_SETS else value, name)
            return self._going_through(found) if self.reads_values and name in LOOPING_METHODS else found
        if self.reads_values and name in SHOWING and self.unpacked.is_mapping(value):
            return getattr(self.unpacked.looped(value), name)
        base = self._plain.base(value)
        if base is not None:
            is_value = base not in (list, dict, set) and name[:1] != "_"
            is_judged = name in _JUDGES or name in _OF_SETS or is_value
            if is_judged and hasattr(base, name) and overrides(kind, base, name):
                return getattr(self._plain.whole(value), name)
        found = getattr(value, name)
        if name not in _JUDGES or is_known(value) or self._is_made(value):
            return found

        def judges(*positional: Any, **keywords: Any) -> Any:
            def ask(asked: Any, each: Any) -> Any:
                return getattr(asked, name)(each, *positional[1:], **keywords)

            is_for = bool(positional) and is_known(positional[0])
            said_before = says_yes_in_copies(ask, value, positional[0], name) if is_for else None
            said = found(*positional, **keywords)
            # what says nothing is asked no more: `query.eq("a", 1)` changes a query, and gives it back
            if not is_for or not is_known(said) or not said:
                return said
            return said if says_yes_to_some(ask, value, positional[0], name, said_before=said_before) else False

        return judges


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
    **ORDERS,
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _is_object(result: Any) -> bool:
    """What a comparison gave is none of Python's answers, and claims nothing by itself."""
    return type(result) in _MASKS or not (is_known(result) or is_static(result))


def _itself(found: Any) -> Any:
    return found


def _is_contradicted(sign: str, left: Any, right: Any) -> bool:
    """The other way round it is true, too, and the two are not equal."""

    def is_contradicted() -> bool:
        if not bool(ORDERS[sign](right, left)):
            return False
        return len(sign) == 1 or not bool(left == right) or calls_anything_equal(left)

    if may_have_effects(left, _COMPARING) or may_have_effects(right, _COMPARING):
        said = COPIES.says_yes(left, is_contradicted)
        if said is not None:
            return said
    try:
        return is_contradicted()
    except Exception:  # noqa: BLE001 (of the candidate's own methods)
        return False


def _is_believed(asked: Any, known: Any, on_left: bool, is_two: bool) -> bool:
    if is_two:
        return asked is known or not (calls_anything_equal(asked) or calls_anything_equal(known))
    return tells_apart(asked, known, on_left)


def _mixed(left: Any, right: Any, own: int) -> Iterator[tuple[Any, Any, bool, bool]]:
    """Pairs of an object and a known value, whether the object was on the left, and whether it is two objects."""
    waiting = [(left, right)]
    seen = set()
    while waiting:
        one, other = waiting.pop()
        if one is other or (type(one) in ATOMS and type(other) in ATOMS):
            continue
        if is_known(one) and is_known(other):
            if (id(one), id(other)) not in seen:
                seen.add((id(one), id(other)))
                waiting.extend(_inner(one, other))
        elif is_known(other):
            if not own & 1:
                yield one, other, True, False
        elif is_known(one):
            if not own & 2:
                yield other, one, False, False
        elif not own:
            yield one, other, True, True


def _inner(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    if type(one) in CONTAINERS and type(other) in CONTAINERS and is_atomic(one) and is_atomic(other):
        return
    if _really_isinstance(one, (list, tuple)) and _really_isinstance(other, (list, tuple)):
        yield from zip(one, other)  # noqa: B905 (Python 3.8)
    elif _really_isinstance(one, dict) and _really_isinstance(other, dict):
        yield from zip(one.values(), (other.get(key) for key in one))  # noqa: B905
        yield from _of_sets(one.keys(), other.keys())
    elif _really_isinstance(one, (set, frozenset)) and _really_isinstance(other, (set, frozenset)):
        yield from _of_sets(one, other)


def _of_sets(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    for each, rest in ((one, other), (other, one)):
        for odd in (item for item in each if not is_known(item)):
            yield from ((odd, item) if each is one else (item, odd) for item in rest if odd == item)


class _AnsweredObject:
    """What stands in an assertion for an object that has been asked, and is asked no more."""

    def __init__(self, asked: Any, *, said: bool) -> None:
        self._asked, self._said = asked, said

    def __repr__(self) -> str:
        return repr(self._asked)


class _MembershipAnswer(_AnsweredObject):
    """An object that has said whether something is in it."""

    def __contains__(self, _: Any) -> bool:
        return self._said


class _Answering(_AnsweredObject):
    """An object whose one comparison with another one is known."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, _: object) -> bool:
        return self._said

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__


class _Differing(_AnsweredObject):
    """An object whose difference from another one is known."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, asked: Any, *, said: bool, difference: Any) -> None:
        super().__init__(asked, said=said)
        self._difference = difference

    def __eq__(self, _: object) -> bool:
        return self._said

    def __sub__(self, _: Any) -> Any:
        return self._difference

    __rsub__ = __sub__


def chained(judged: Judged) -> Callable[..., Any]:
    """A chain of comparisons whose sides are values already."""

    def chain(signs: tuple[str, ...], *sides: Any) -> Any:
        result: Any = True
        for place, sign in enumerate(signs):
            result = judged.compared(sign, sides[place], sides[place + 1])
            if not result:
                break
        return result

    return chain
