"""Asks an object of a candidate's about other values than the one that a test has, before it is asked about that.

An object that is no plain value answers for itself, and is told what it is compared with. So it is asked about values
next to the known one, about far ones, and about others of the same size with values next to these. An honest object
tells them apart, and what it says of one agrees with what it says of the others.

The known value comes among a few that are like it, in any order, before all others: by what is next to each, one may
find out which it is. What is said of it then counts, and it is asked about again only where these are, too. So an
object that knows of all questions, in whatever copy of the process, and how many there were, can but guess.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import copy
import math
import operator

from harena.scoring.guest.decoys import alike, frame, is_long
from harena.scoring.guest.operator_effects import may_have_effects
from harena.scoring.guest.plain_values import is_known
from harena.scoring.guest.process_copies import COPIES, FAILED, RAISED, NoCopyError
from harena.scoring.guest.secure_random import below, one_of, shuffled, some_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    Question = tuple[Any, int]
    Said = Iterable[tuple[Any, int, str]]
    Decide = Callable[[Said], "bool | _Further"]

_IT = -1
"""where a question has the number of its group, the known value's"""
_deepcopy = copy.deepcopy
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
ORDERING = ("__lt__", "__le__", "__gt__", "__ge__")
_CONTAINING = ("__contains__", "__iter__", "__next__", "__getitem__", "__len__")
"""the methods by which an object says what is in it"""
_EQUALITY = ("__eq__", "__ne__")
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
_NAMES = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "<<": "lshift",
    ">>": "rshift", "|": "or", "&": "and", "^": "xor", "@": "matmul",
}  # fmt: skip
_METHODS = {sign: (f"__{name}__", f"__r{name}__", f"__i{name}__", "__abs__") for sign, name in _NAMES.items()}
"""operator -> the methods by which an object computes it"""
_hash = hash
_MOST_DECOYS = 3
_FEW = 2
"""values like a known one that have a copy each, where one no is enough to be believed"""


class _Further:
    """Values that an object has to say yes to, all of them, and what is noted of it then."""

    def __init__(self, values: list[Any], note: Callable[[], None]) -> None:
        self.values, self.note = values, note


class _Questions:
    """The known value with a few that are like it, and the others."""

    def __init__(self, known: Any, groups: Sequence[Sequence[Any]], alike_ones: int) -> None:
        """`alike_ones`: the place, among the groups, of the values that are like the known one. Where there are none,
        one from each of some groups does for them."""
        each_of = [[(value, place) for value in group] for place, group in enumerate(groups)]
        few = each_of.pop(alike_ones)
        if not few:
            few = [group.pop(below(len(group))) for group in some_of(each_of, _MOST_DECOYS) if group]
        self.known = known
        self._few, self._others = [(known, _IT), *few], [question for group in each_of for question in group]
        sizes = [abs(value) for value, _ in self._few if type(value) in (int, float)]
        self.size = max(sizes) if type(known) in (int, float) else known
        """what tells which numbers are far: the same for each that may be the known one"""

    def few(self) -> list[Question]:
        """The known value and those like it, in any order."""
        return shuffled(self._few)

    def others(self) -> list[Question]:
        """All others, in any order."""
        return shuffled(self._others)


def _decided(
    asked: Any, methods: tuple[str, ...], ask: Callable[[Any], str], questions: _Questions, decide: Decide
) -> bool:
    """What `decide` makes of the answers; where there are further values, it is believed that says yes to all of them.
    An object whose methods may do more than to answer is asked in a copy of this process."""
    said = _decided_in_copies(asked, methods, ask, questions, decide)
    if said is not None:
        return said
    return _is_settled(decide(_here(asked, ask, questions)), lambda value: _answer_of(ask, value))


def _decided_in_copies(
    asked: Any, methods: tuple[str, ...], ask: Callable[[Any], str], questions: _Questions, decide: Decide
) -> bool | None:
    """None where it is asked here. The known value and those like it have each a copy of their own, before the others
    are asked about in one. Where its answers to earlier questions may be why it is not believed, each of these has one
    of its own, too."""
    if not may_have_effects(asked, methods):
        return None
    size = questions.size
    try:
        few = _each_apart(asked, ask, questions.few(), size)
        return any(
            _is_settled(decide(answers), lambda value: COPIES.answers(asked, ask, [(value, False)], size)[0])
            for answers in _with_others(asked, ask, few, questions)
        )
    except NoCopyError:
        return None


def _is_settled(decided: bool | _Further, answer: Callable[[Any], str]) -> bool:
    if isinstance(decided, bool):
        return decided
    if all(answer(value) == "yes" for value in decided.values):
        decided.note()
        return True
    return False


def _with_others(asked: Any, ask: Callable[[Any], str], few: Said, questions: _Questions) -> Iterator[Said]:
    """What it has said of the known value and those like it, with what it says of the others: in one copy, then each in
    a copy of its own. None is asked about before it is known that the first answers do not decide."""

    def joined() -> Iterator[tuple[Any, int, str]]:
        yield from few
        others = questions.others()
        said = COPIES.answers(asked, ask, _for_copies(others), questions.size)
        for (value, place), each in zip(others, said):  # noqa: B905 (Python 3.8)
            yield value, place, each

    def apart() -> Iterator[tuple[Any, int, str]]:
        yield from few
        yield from _each_apart(asked, ask, questions.others(), questions.size)

    yield joined()
    yield apart()


def _for_copies(questions: list[Question]) -> list[tuple[Any, bool]]:
    return [(value, place == _IT) for value, place in questions]


def _each_apart(
    asked: Any, ask: Callable[[Any], str], questions: list[Question], size: Any
) -> list[tuple[Any, int, str]]:
    """The answers to one question in each copy. All are asked before any answer counts: how many copies there were
    tells nothing."""
    said = COPIES.answers_apart(asked, ask, _for_copies(questions), size)
    return [(value, place, each) for (value, place), each in zip(questions, said)]  # noqa: B905 (Python 3.8)


def _here(asked: Any, ask: Callable[[Any], str], questions: _Questions) -> Iterator[tuple[Any, int, str]]:
    """The answers in this process, one after the other."""
    for value, place in (*questions.few(), *questions.others()):
        if place == _IT or not COPIES.is_too_large(asked, value, questions.size):
            yield value, place, _answer_of(ask, value)


def _answer_of(ask: Callable[[Any], str], value: Any) -> str:
    try:
        return ask(value)
    except Exception:  # noqa: BLE001 (an honest object may take only what it knows)
        return RAISED


def _says(yes: bool) -> str:
    return "yes" if yes else "no"


def tells_apart(asked: Any, known: Any, on_left: bool, must_equal: bool = True) -> bool:
    """It calls itself equal to the known value (where it must), to at most half of each family of values round it, of
    what is far from it, and to few of those that are like it."""

    def ask(value: Any) -> str:
        return _says(all_of(asked == value if on_left else value == asked))

    # what is only near what a matcher expects is asked again by that
    return _decided(asked, _EQUALITY if must_equal else (), ask, *_equality(known, must_equal, type(asked)))


def _equality(known: Any, must_equal: bool, kind: type) -> tuple[_Questions, Decide]:
    """What is asked of an object of this class that is to equal the known value, and how its answers are judged."""
    moduli = _moduli.setdefault(kind, set())
    families, far = frame(known), _far(known)
    others = _alike(known)
    around = [each for other in others for family in frame(other) for each in family if each != known]
    groups = [*families, far, around, others]
    most = [*(len(each) // 2 for each in families), len(far) // 2, (2 * len(around)) // 3, _most_equal(known, others)]

    def decide(answers: Said) -> bool | _Further:
        yes, equals = [0] * len(groups), []
        is_known_equal, has_too_many = False, False
        for value, place, said in answers:
            if place == _IT:
                is_known_equal = said == "yes"
                if must_equal and not is_known_equal:
                    return False
            elif said == "yes":
                equals.append(value)
                yes[place] += 1
                has_too_many = has_too_many or yes[place] > most[place]
                if has_too_many and not _step_of_rest(known, equals, moduli):
                    return False
        if must_equal and not is_known_equal:
            return False
        step = _step_of_rest(known, equals, moduli) if len(equals) > 1 else 0

        def note() -> None:
            moduli.update([step] if known < step else [])

        if has_too_many:
            return _Further([known + side * step * (1 + below(1000)) for side in (1, -1, 1, -1)], note)
        if step:
            note()
        return True

    return _Questions(known, groups, len(groups) - 1), decide


def _most_equal(known: Any, others: list[Any]) -> int:
    """How many of those that are like a known value an honest object may equal: none, but for numbers, and for short
    texts and containers, of which there are few."""
    return 0 if isinstance(known, (str, bytes, bytearray)) and len(known) > 2 else len(others) // 2


def equals_some(asked: Any, known: Any, on_left: bool) -> bool:
    """It calls itself equal to the known value, and not to all that are like it."""

    def ask(value: Any) -> str:
        return _says(all_of(asked == value if on_left else value == asked))

    return _decided(asked, _EQUALITY, ask, *_judging(known, ""))


_moduli: dict[type, set[int]] = {}
"""class -> the steps of its objects that equalled what may be a rest"""


def _step_of_rest(known: Any, equals: list[Any], moduli: set[int]) -> int:
    """How far apart the values lie that a number computed with a modulus equals, where the known one may be a rest, or
    the class was known by a rest with such a modulus before; 0 where it is not."""
    if type(known) is not int or any(type(each) is not int for each in equals):
        return 0
    step = 0
    for each in equals:
        step = math.gcd(step, each - known)
    is_rest = 0 <= known < step
    if step == 1:  # by one, nothing is left of any number
        return 0
    return step if is_rest or (step and any(not step % each or not each % step for each in moduli)) else 0


def says_yes_to_some(
    ask: Callable[[Any, Any], Any], asked: Any, known: Any, name: str = "", *, said_before: bool | None = None
) -> bool:
    """A method that judges says yes to the known value, and not to all values of its kind; of a text that it is to
    begin or end with, or to hold, not to most that are like it. `name`: the method's; one that says what is the same is
    asked as `==` is. `said_before`: what `says_yes_in_copies` has given before the object was asked about the known
    value."""
    if said_before is not None:
        return said_before
    return _decided(*_questions_of_judge(ask, asked, known, name))


def says_yes_in_copies(ask: Callable[[Any, Any], Any], asked: Any, known: Any, name: str = "") -> bool | None:
    """What `says_yes_to_some` gives, of an object that is asked in copies of this process; None of any other."""
    return _decided_in_copies(*_questions_of_judge(ask, asked, known, name))


def _questions_of_judge(
    ask: Callable[[Any, Any], Any], asked: Any, known: Any, name: str
) -> tuple[Any, tuple[str, ...], Callable[[Any], str], _Questions, Decide]:
    methods = {"": ORDERING, "__contains__": _CONTAINING}.get(name, (name,))
    judged = _equality(known, must_equal=True, kind=type(asked)) if name in _SAME else _judging(known, name)
    return (asked, methods, lambda value: _says(bool(ask(asked, value))), *judged)


def _judging(known: Any, name: str) -> tuple[_Questions, Decide]:
    alike_ones = alike(known, 2 * _MOST_DECOYS)
    near = [each for family in frame(known) for each in family] if is_known(known) else []
    is_text = isinstance(known, (str, bytes, bytearray)) and (len(known) > 1 or name in _ENDS)

    def decide(answers: Said) -> bool:
        said_no, yes_of_alike, is_known_right = False, 0, False
        for value, place, said in answers:
            if place == _IT:
                is_known_right = said == "yes"
                if not is_known_right:
                    return False
                continue
            yes_of_alike += said == "yes" and place == 0
            if is_text and 2 * yes_of_alike > len(alike_ones):
                return False
            if type(value) is type(known) or said != "yes":
                said_no = said_no or said != "yes"
            if is_known_right and said_no and not is_text:
                return True
        return is_known_right and said_no

    few = alike_ones if is_text else alike_ones[:_FEW]
    return _Questions(known, [few, [*alike_ones[len(few) :], *near, *_far(known)]], 0), decide


def _is_in(held: Any, value: Any) -> bool:
    return value in held


def contains_some(asked: Any, sought: Any, said_before: bool | None = None) -> bool:
    """It says that it holds what is sought, and not that it holds everything. `said_before`: see `says_yes_to_some`."""
    return says_yes_to_some(_is_in, asked, sought, "__contains__", said_before=said_before)


def contains_in_copies(asked: Any, sought: Any) -> bool | None:
    """What `contains_some` gives, of an object that is asked in copies of this process; None of any other."""
    return says_yes_in_copies(_is_in, asked, sought, "__contains__")


def is_orderly(sign: str, asked: Any, known: Any) -> bool:
    """What it says to be less than, and greater than, has one place among numbers, and the known value is where it
    says. Texts may have another order than the alphabet's (versions, roman numbers, cards): there it says of none both,
    and not of all what it says of the known one. An object that is a set says yes to some sets only."""
    if isinstance(known, (set, frozenset)):
        return says_yes_to_some(ORDERS[sign], asked, known)
    if isinstance(known, (bool, complex)) or not isinstance(known, (int, float, str)) or known != known:
        return True
    lowest, highest = _ends(known)
    others = _alike(known)
    steps = [step for each in (known, *others) for step in _steps(each)]
    under, above = (sign, MIRRORED[sign]) if sign[0] == "<" else (MIRRORED[sign], sign)

    def ask(value: Any) -> str:
        said = {}
        for each in shuffled([under, above]):
            try:
                said[each] = "01"[bool(ORDERS[each](asked, value))]
            except Exception:  # noqa: BLE001 (an honest object may have one of the two only)
                said[each] = RAISED
        return said[under] + said[above]

    def decide(answers: Said) -> bool:
        less: dict[Any, bool] = {}
        greater: dict[Any, bool] = {}
        answers = list(answers)
        if isinstance(known, str):
            return _tells_texts(sign, answers)
        for value, _, said in answers:
            for found, each in zip((less, greater), said if len(said) == 2 else ""):  # noqa: B905 (Python 3.8)
                if each in "01":
                    found[value] = each == "1"
        return _has_one_place(sign, known, less, greater, (lowest, highest))

    questions = _Questions(known, [[lowest, highest, *steps], others], 1)
    return _decided(asked, ORDERING, ask, questions, decide)


def _tells_texts(sign: str, answers: list[tuple[Any, int, str]]) -> bool:
    side = int(sign[0] == ">")
    yes = [place for _, place, said in answers if said[side : side + 1] == "1"]
    is_both = len(sign) == 1 and any(said == "11" for _, _, said in answers)
    return _IT in yes and len(yes) < len(answers) and not is_both


def _has_one_place(
    sign: str, known: Any, less: dict[Any, bool], greater: dict[Any, bool], ends: tuple[Any, Any]
) -> bool:
    lowest, highest = ends
    if not (less if sign[0] == "<" else greater).get(known):
        return False
    if less.get(lowest) or greater.get(highest):
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
    return bool(_heeded(sign, compute, asked, known, [], in_copy=False))


def answer_of(sign: str, compute: Callable[[Any, Any], Any], asked: Any, known: Any) -> Callable[[Any], Any]:
    """Gives, for what the operator then gives for the known operand, what is used: an object that says nothing, where
    that is not believed. Who was asked in a copy gives what it has given there. What was given here among the others
    is the answer, and not what an object gives that knows by then which operand is the tests' own."""
    first: list[Any] = []
    is_heeding = _heeded(sign, compute, asked, known, first, in_copy=True)
    is_number = _is_of_numbers(sign, known)

    def told(found: Any) -> str:
        return _told(sign, found, is_number, _gap_of(sign, known, known, is_number))

    def used(result: Any) -> Any:
        if not is_heeding:
            return object()
        if isinstance(is_heeding, str):
            return result if told(result) == is_heeding else object()
        return result if not first or told(result) == told(first[0]) else first[0]

    return used


_GAP = 1e-2
"""so near to the known operand it is called near"""


def _is_of_numbers(sign: str, known: Any) -> bool:
    return isinstance(known, (int, float)) and sign in _NEARING


def _told(sign: str, found: Any, is_number: bool, gap: float) -> str:
    """What an operator gives, in one line: whether it is plain, falsy, levelling, and near, and what it is."""
    is_plain = is_known(found)
    is_falsy = is_plain and not found
    is_levelling = is_plain and found in _LEVELLING.get(sign, ())
    is_near = is_number and _is_near(sign, found, gap)
    text = f"{type(found).__name__} {_hash(repr(found))}" if is_plain else ""
    return "".join("01"[bool(each)] for each in (is_plain, is_falsy, is_levelling, is_near)) + text


def _heeded(
    sign: str, compute: Callable[[Any, Any], Any], asked: Any, known: Any, first: list[Any], *, in_copy: bool
) -> bool | str:
    """Whether it heeds its operand: what it gives in a copy for the known one, as `_told` has it; or True where it was
    asked here, and `first` then has what it gave."""
    alike_ones = [each for each in _alike(known) if each != known]
    others = [each for each in _next(known) if each != known]
    if sign in _DIVIDING and isinstance(known, (int, float)):
        others += [each for each in (1, 2, 3) if each != known]
    if len(others) + len(alike_ones) < 2:
        return True
    is_number = _is_of_numbers(sign, known)
    groups = [alike_ones, others, *_families_for(sign, known)]
    questions = _Questions(known, groups, 0)

    def ask(value: Any) -> str:
        found = compute(_copied(asked), value)
        if value is known:
            first[:] = [found]
        return _told(sign, found, is_number, _gap_of(sign, known, value, is_number))

    is_left = sign == "-" and isinstance(known, (set, frozenset)) and compute(type(known)(), known)
    claimed = "" if is_left else sign  # what nothing is taken from stays what it is, and depends on the operand

    def decide(answers: Said) -> bool:
        moduli = _moduli.get(type(asked), set())
        return _is_heeding(claimed, known, is_number, [len(group) for group in groups], moduli, answers)

    if in_copy and may_have_effects(asked, _METHODS[sign]):
        try:
            said = _said_in_copies(asked, ask, questions)
            if said is not None:
                expected, answers = said
                return any(map(decide, answers)) and expected
        except NoCopyError:  # as for what is another each time
            pass
    return decide(_here(asked, ask, questions))


def _said_in_copies(asked: Any, ask: Callable[[Any], str], questions: _Questions) -> tuple[str, Iterator[Said]] | None:
    """What it has said of the known value, and of all, as `_with_others` has it; None where it says another thing each
    time. In the copy with the others all are asked about, so that who has said there what it has said before need not
    be asked a second time; and as all that are like the known one are compared, what follows tells nothing of which it
    is."""
    few, others = questions.few(), questions.others()
    both, every = [*few, *others], _for_copies([*few, *others])
    said = COPIES.answers_apart(asked, ask, every[: len(few)], questions.size)
    order = shuffled(range(len(every)))
    joined = dict(zip(order, COPIES.answers(asked, ask, [every[at] for at in order], questions.size)))  # noqa: B905
    is_same = said == [joined[at] for at in range(len(few))]
    if not is_same and said != COPIES.answers_apart(asked, ask, every[: len(few)], questions.size):
        return None
    of_few = [(value, place, each) for (value, place), each in zip(few, said)]  # noqa: B905 (Python 3.8)

    def each_way() -> Iterator[Said]:
        yield [*of_few, *((*both[at], joined[at]) for at in range(len(few), len(every)))]
        yield [*of_few, *_each_apart(asked, ask, questions.others(), questions.size)]

    return next(each for _, place, each in of_few if place == _IT), each_way()


def _gap_of(sign: str, known: Any, value: Any, is_number: bool) -> float:
    gap = _GAP if value is known else abs(known - value) / 2 if is_number else 0.0
    return min(gap / max(abs(known), 1), _GAP) if sign == "/" and is_number else gap


def _is_heeding(sign: str, known: Any, is_number: bool, sizes: list[int], moduli: set[int], answers: Said) -> bool:
    """`sizes`: of the values that are like the known one, of those next to it, and of the families."""
    groups, known_one, near = [_OperatorAnswers() for _ in sizes[1:]], _OperatorAnswers(), []
    for value, place, said in answers:
        if said in (RAISED, FAILED):  # an honest operator may take only what it knows
            continue
        if said[0] == "0" and not is_number:
            return True
        (known_one if place == _IT else groups[max(place - 1, 0)]).add(said)
        near += [value] if place == 0 and said[3] == "1" else []
    if not known_one.answered or not groups[0].answered:
        return bool(known_one.answered)
    if known_one.near:
        if any(2 * group.near > group.answered for group in groups):
            return False
        if 2 * len(near) > sizes[0] and not _step_of_rest(known, near, moduli):
            return False
    return all(
        _depends(sign, known_one, group, known)
        for place, group in enumerate(groups)
        if place == 0 or sizes[place + 1] > 2
    )


class _OperatorAnswers:
    """What an operator has given for some operands."""

    def __init__(self) -> None:
        self.answered, self.near = 0, 0
        self.plain: list[str] = []

    def add(self, said: str) -> None:
        """One more of its results, as `_told` has it."""
        self.answered += 1
        self.near += said[3] == "1"
        if said[0] == "1":
            self.plain.append(said)


def _families_for(sign: str, known: Any) -> list[list[Any]]:
    """Families of operands, where an operator gives another value for each, or says how near they are."""
    if sign not in _DEPENDING or type(known) not in (int, float, str, bytes):
        return []
    return [each for each in frame(known) if len(each) > 2 or (sign == "-" and isinstance(known, (int, float)))]


def _depends(sign: str, known_one: _OperatorAnswers, group: _OperatorAnswers, known: Any) -> bool:
    """What is given depends on the operand, or is one that may be given for all of them."""
    plain = [*known_one.plain, *group.plain]
    if len(plain) < 1 + group.answered or not group.answered or len({each[4:] for each in plain}) > 1:
        return True
    _, is_falsy, is_levelling, _ = (flag == "1" for flag in plain[0][:4])
    if is_levelling:
        return True
    return is_falsy and (sign == "@" or (sign in _SETS and isinstance(known, (set, frozenset))))


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
