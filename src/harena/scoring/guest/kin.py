"""Objects of one class of a candidate's that are compared with each other only.

`Vector(1, 2) + Vector(3, 4) == Vector(4, 6)` says nothing where all objects of the class are equal. What tells it is
what the tests themselves make: an object that equals one of them, and each of the others that they have made of other
arguments as well, has not said which it is. Objects that the tests compare with each other count as one (`CI("a")`
and `CI("A")`), and fewer than some others show nothing. Tests may make equal ones first (five ways to write one
fraction) and others later, so it is decided when all have run; what says otherwise then than it said before has not
said which it is, either. Who is asked has effects or not, as with other questions (`guest_effects`): then it is asked
in copies of the process, about all of them in one order. Objects are held to be asked: not where the tests ask whether
objects have ended.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast

from harena.scoring.guest.dice import below, shuffled
from harena.scoring.guest.effects import may_have_effects
from harena.scoring.guest.executed import call_of, located
from harena.scoring.guest.plain import is_known, is_static
from harena.scoring.guest.snapshots import COPIES, NoCopyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MADE = "__harena_made__"
EQUALS_ALL = "is equal to whatever the tests make of its class"
_FEWEST_AT_ONCE, _FEWEST = 3, 2
"""others that an object equals, all of them, by which it is not believed: in the moment of a comparison, and when all
tests have run"""
_MOST_MADE, _MOST_ASKED, _MOST_WAITING, _DEEPEST = 24, 8, 200, 4
_SOON, _SELDOM = 8, 32
"""objects of a class have told themselves from all others so often that from now on one comparison in so many asks
them, by chance: it may take copies of the process, and the time is the candidate's"""
_OF_ENDS = frozenset({
    "gc", "weakref", "WeakSet", "WeakValueDictionary", "WeakKeyDictionary", "WeakMethod", "finalize", "collect",
    "getrefcount", "get_referrers", "get_objects", "__del__",
})  # fmt: skip
"""names by which tests ask whether an object has ended"""


class Kin:
    """What the tests of one run make, and what is said to equal it."""

    def __init__(self) -> None:
        self._made: dict[type, dict[str, Any]] = {}
        """class -> what it was made of, as a text, and the first object that was"""
        self._keys: dict[int, tuple[Any, str]] = {}
        self._groups: dict[str, str] = {}
        self._waiting: list[tuple[Any, Any, list[Any]]] = []
        """two that were compared, and others that they equalled, all that there were by then"""
        self._told: dict[type, int] = {}
        """class -> how often its objects have told themselves from all others"""
        self.tests_ends = False
        """the tests ask whether objects have ended: nothing holds any then"""
        self.tests_identity = False
        """the tests ask whether objects are one (`Config() is Config()`), which equal each other then"""

    def made(self, value: Any, name: str, *given: Any) -> Any:
        """What a call by a class's name gave; `given`: its arguments."""
        kind = type(value)
        if self.tests_ends or is_known(value) or is_static(value) or not all(map(_is_plain, given)):
            return value
        key = f"{name}{given!r}"
        made = self._made.setdefault(kind, {})
        if key in made or len(made) < _MOST_MADE:
            made.setdefault(key, value)
            self._keys[id(value)] = value, key
        return value

    def believes(self, left: Any, right: Any) -> bool:
        """What says that these two are equal tells them from others of the class, as far as can be said by now; see
        `untold`. Asked before they are compared."""
        if self.tests_ends:
            return True
        return all(self._is_told(*pair) for pair in _pairs(left, right) if not self._is_one(*pair))

    def waiting(self) -> int:
        """How many comparisons are to be decided at the end."""
        return len(self._waiting)

    def let_go(self, waiting: int) -> None:
        """Forget the comparisons behind this number: they need no decision."""
        del self._waiting[waiting:]

    def equal(self, left: Any, right: Any) -> None:
        """The tests have compared these two, and they said that they are equal: they count as one."""
        for one, other in _pairs(left, right):
            keys = [self._keys[id(each)][1] for each in (one, other) if id(each) in self._keys]
            if len(keys) == 2 and keys[0] != keys[1]:
                self._groups[self._group(keys[0])] = self._group(keys[1])

    def untold(self) -> str:
        """The class of an object that equals all that the tests have made of it; empty if there is none."""
        for left, right, equalled in self._waiting:
            others, count = self._others(left, right)
            has_changed = bool(equalled) and not _equals_all(left, right, equalled)
            equals = (
                _equals_all(left, right, others) if equalled else all(_is_equal(left, right, each) for each in others)
            )
            if has_changed or (count >= _FEWEST and equals):
                return str(type(left).__name__)
        return ""

    def _is_one(self, left: Any, right: Any) -> bool:
        return left is right and self.tests_identity

    def _is_told(self, left: Any, right: Any) -> bool:
        told = self._told.get(type(left), 0)
        if told >= _SOON and below(_SELDOM):
            return True
        others, count = self._others(left, right)
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

    def _others(self, left: Any, right: Any) -> tuple[list[Any], int]:
        """Objects of the class that have not been found equal to one of these two, and how many there are if those
        count as one that were found equal to each other."""
        known = {self._group(self._keys[id(each)][1]) for each in (left, right) if id(each) in self._keys}
        found = [(self._group(key), each) for key, each in self._made.get(type(left), {}).items()]
        others = [(group, each) for group, each in found if group not in known]
        return [each for _, each in others], len({group for group, _ in others})

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


def _is_plain(value: Any, depth: int = 0) -> bool:
    """It is the same whoever looks at it."""
    kind = type(value)
    if kind in (list, tuple):
        return depth < _DEEPEST and all(_is_plain(each, depth + 1) for each in value)
    if kind is dict:
        return depth < _DEEPEST and all(_is_plain(each, depth + 1) for pair in value.items() for each in pair)
    return is_known(value)


def _pairs(left: Any, right: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Two objects of one class each that are compared with each other."""
    kind = type(left)
    if kind is not type(right) or depth > _DEEPEST:
        return
    if kind in (list, tuple):
        for pair in zip(left, right):  # noqa: B905 (Python 3.8)
            yield from _pairs(*pair, depth + 1)
    elif kind is dict:
        for key in left:
            if key in right:
                yield from _pairs(left[key], right[key], depth + 1)
    elif not is_known(left) and not is_static(left):
        yield left, right


class Making(ast.NodeTransformer):
    """Has the tests' code tell what it makes by a class's name of values that are known."""

    def __init__(self, kin: Kin) -> None:
        self._kin = kin

    def visit_Compare(self, node: ast.Compare) -> Any:
        """One comparison."""
        sides = [node.left, *node.comparators]
        if isinstance(node.ops[0], ast.Is) and not any(isinstance(side, ast.Constant) for side in sides):
            self._kin.tests_identity = True
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        """One name."""
        self._kin.tests_ends |= node.id in _OF_ENDS or isinstance(node.ctx, ast.Del)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """One attribute."""
        self._kin.tests_ends |= node.attr in _OF_ENDS
        return self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> Any:
        """One import of modules."""
        self._kin.tests_ends |= any(each.name in _OF_ENDS for each in node.names)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """One import of names."""
        self._kin.tests_ends |= node.module in _OF_ENDS or any(each.name in _OF_ENDS for each in node.names)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """One call."""
        self._kin.tests_identity |= isinstance(node.func, ast.Attribute) and node.func.attr == "assertIs"
        self.generic_visit(node)
        name = _class_name(node.func)
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if not name or not all(map(_is_repeatable, given)):
            return node
        again = [_again(each) for each in node.args]
        again += [ast.Tuple([ast.Constant(each.arg), _again(each.value)], ast.Load()) for each in node.keywords]
        return located(call_of(MADE, [node, ast.Constant(name), *again]), node)


def _class_name(func: ast.expr) -> str:
    while isinstance(func, ast.Call) and isinstance(func.func, ast.Name) and func.func.id.startswith("__harena"):
        if not func.args:
            return ""
        func = func.args[0]
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    return name if name.lstrip("_")[:1].isupper() else ""


def _is_repeatable(node: ast.expr) -> bool:
    """To compute it once more does nothing else."""
    if isinstance(node, ast.Starred):
        return isinstance(node.value, ast.Name)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(_is_repeatable, node.elts))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and not node.id.startswith("__harena"))


def _again(node: Any) -> Any:
    if isinstance(node, ast.Starred):
        return _again(node.value)
    if isinstance(node, (ast.Tuple, ast.List)):
        return ast.Tuple([_again(each) for each in node.elts], ast.Load())
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, _again(node.operand))
    return ast.Constant(node.value) if isinstance(node, ast.Constant) else ast.Name(node.id, ast.Load())


def watching_equality(kin: Kin, judged: Callable[..., Any]) -> Callable[..., Any]:
    """What compares in the place of Python's operators, and says no of two that equal everything of their class."""

    def compared(sign: str, left: Any, right: Any, *more: Any) -> Any:
        if sign not in ("==", "!=") or type(left) is not type(right):
            return judged(sign, left, right, *more)
        waiting = kin.waiting()
        is_told = kin.believes(left, right)
        result = judged(sign, left, right, *more)
        if result is not (sign == "=="):  # they differ, or the comparison gives an object, which is no claim
            kin.let_go(waiting)
            return result
        kin.equal(left, right)
        return result if is_told else sign != "=="

    return compared


def watching_pairs(kin: Kin, judged: Callable[..., Any]) -> Callable[..., Any]:
    """What gives the two sides of an assertion: two that differ, where these equal everything of their class."""

    def pair(sign: str, left: Any, right: Any, *more: Any) -> Any:
        if sign in ("==", "!=") and type(left) is type(right):
            if not kin.believes(left, right):
                return object(), object()
            if sign == "==":
                kin.equal(left, right)
        return judged(sign, left, right, *more)

    return pair
