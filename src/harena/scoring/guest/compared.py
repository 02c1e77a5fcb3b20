"""Has the comparisons of test code believe no object that calls itself equal to whatever it is compared with.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import collections
import random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

COMPARED, PAIR, MEMBER = "__harena_compared__", "__harena_pair__", "__harena_member__"
_PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset)
_STANDARD = {
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "datetime": ("date", "datetime", "time", "timedelta"),
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque"),
    "builtins": ("range", "bytearray"),
}
"""types of the standard library whose values tests expect, by their module"""
_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in"}
_EQUAL = (
    "assertEqual",
    "assertEquals",
    "assertSequenceEqual",
    "assertListEqual",
    "assertTupleEqual",
    "assertDictEqual",
    "assertSetEqual",
    "assertCountEqual",
    "assertAlmostEqual",
    "assertAlmostEquals",
)
_dice = random.SystemRandom()
made_by_tests: list[Callable[[Any], bool]] = []
"""what says of an object that the tests have made it, to match more than one value"""


class Comparisons(ast.NodeTransformer):
    """Puts `compared` in the place of `==`, `!=`, `in` and `not in`, and asks it for the two sides of `assertEqual` and
    the like."""

    def __init__(self) -> None:
        self._made = 0
        self._depth = 0
        """how many classes, comprehensions and lambdas are around, where an assignment in an expression ends"""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """One comparison. A chain becomes pairs that are joined by `and`, each side of which is computed once."""
        self.generic_visit(node)
        if not any(type(sign) in _SIGNS for sign in node.ops):
            return node
        sides = [node.left, *node.comparators]
        between = sides[1:-1]
        if not all(isinstance(side, (ast.Name, ast.Constant)) for side in between):
            if self._depth:
                return node
            for place in range(1, len(sides) - 1):
                self._made += 1
                name = f"__harena_side_{self._made}__"
                kept = ast.NamedExpr(ast.Name(name, ast.Store()), sides[place])
                sides[place] = ast.fix_missing_locations(ast.copy_location(kept, node))
        pairs: list[ast.expr] = []
        for place, sign in enumerate(node.ops):
            left, right = sides[place], sides[place + 1]
            if place and isinstance(left, ast.NamedExpr):
                left = ast.copy_location(ast.Name(left.target.id, ast.Load()), node)
            if type(sign) in _SIGNS:
                pairs.append(_call(node, COMPARED, [ast.Constant(_SIGNS[type(sign)]), left, right]))
            else:
                pairs.append(ast.copy_location(ast.Compare(left, [sign], [right]), node))
        made = pairs[0] if len(pairs) == 1 else ast.BoolOp(ast.And(), pairs)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def _within(self, node: Any) -> ast.AST:
        self._depth += 1
        try:
            return self.generic_visit(node)
        finally:
            self._depth -= 1

    def visit_FunctionDef(self, node: Any) -> ast.AST:
        """A function: what is assigned in it is its own, also in a method."""
        around, self._depth = self._depth, 0
        try:
            return self.generic_visit(node)
        finally:
            self._depth = around

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    visit_ClassDef = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda = _within  # noqa: N815

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """One call."""
        self.generic_visit(node)
        given = node.args[:2]
        is_equality = isinstance(node.func, ast.Attribute) and node.func.attr in _EQUAL
        is_member = isinstance(node.func, ast.Attribute) and node.func.attr == "assertIn"
        is_either = (is_equality or is_member) and len(given) == 2
        if is_either and not any(isinstance(each, ast.Starred) for each in given):
            asked = _call(node, PAIR if is_equality else MEMBER, given)
            pair = ast.copy_location(ast.Starred(asked, ast.Load()), node)
            node.args[:2] = [pair]
        return node


def _call(at: ast.expr, name: str, given: list[ast.expr]) -> ast.Call:
    made = ast.Call(ast.Name(name, ast.Load()), given, [])
    return ast.fix_missing_locations(ast.copy_location(made, at))


def compared(sign: str, left: Any, right: Any) -> Any:
    """What Python says; but two sides are not equal where an object in one of them would equal other values, too."""
    if sign in ("==", "!="):
        result = left == right if sign == "==" else left != right
        try:
            claims = bool(result) is (sign == "==")
        except Exception:  # noqa: BLE001 (arrays have no truth)
            return result
        return result if not claims or is_believable(left, right) else sign != "=="
    claims = left in right
    if claims and type(left) not in _PLAIN and type(right) in _PLAIN and not isinstance(right, (str, bytes)):
        claims = any(left == each and is_believable(left, each) for each in right)
    return claims if sign == "in" else not claims


def pair(left: Any, right: Any) -> tuple[Any, Any]:
    """Both sides; two that equal nothing where they are not to be believed."""
    return (left, right) if is_believable(left, right) else (object(), object())


def member(left: Any, right: Any) -> tuple[Any, Any]:
    """An item and what it shall be in; one that is in nothing where it is not to be believed."""
    return (left, right) if compared("in", left, right) else (object(), [])


def is_believable(left: Any, right: Any) -> bool:
    """No object in one of the sides equals every value that is put in the place of the plain one on the other side."""
    return all(
        any(is_made(each[0]) for is_made in made_by_tests) or _tells_apart(*each) for each in _mixed(left, right)
    )


def _mixed(left: Any, right: Any) -> Iterator[tuple[Any, Any, bool]]:
    """Pairs of an object and a known value, and whether the object was on the left."""
    waiting = [(left, right)]
    seen = set()
    while waiting:
        one, other = waiting.pop()
        if _is_known(one) and _is_known(other):
            if (id(one), id(other)) not in seen:
                seen.add((id(one), id(other)))
                waiting.extend(_inner(one, other))
        elif _is_known(other):
            yield one, other, True
        elif _is_known(one):
            yield other, one, False


def _is_known(value: Any) -> bool:
    """It is of a type that says the truth about equality: plain, or of the standard library, and no class derived."""
    kind = type(value)
    return kind in _PLAIN or kind.__name__ in _STANDARD.get(kind.__module__, ())


def _inner(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        yield from zip(one, other)  # noqa: B905 (Python 3.8)
    elif isinstance(one, dict) and isinstance(other, dict):
        yield from zip(one.values(), (other.get(key) for key in one))  # noqa: B905
        yield from _of_sets(one.keys(), other.keys())
    elif isinstance(one, (set, frozenset)) and isinstance(other, (set, frozenset)):
        yield from _of_sets(one, other)


def _of_sets(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    for each, rest in ((one, other), (other, one)):
        for odd in (item for item in each if type(item) not in _PLAIN):
            yield from ((odd, item) if each is one else (item, odd) for item in rest if odd == item)


def _tells_apart(asked: Any, known: Any, on_left: bool) -> bool:
    """It says no to all that is next to the known value, and to half of what is far from it. It cannot know which of
    them is asked for what: they come in any order, the known value among them."""
    near, far = _near(known), _far(known)
    questions = [(value, True) for value in near] + [(value, False) for value in far]
    asked_for = [*questions, (known, None)]
    _dice.shuffle(asked_for)
    said_no = 0
    for value, is_near in asked_for:
        try:
            equal = bool(asked == value if on_left else value == asked)
        except Exception:  # noqa: BLE001 (an honest comparison may fail for a value that it does not expect)
            equal = False
        if is_near and equal:
            return False
        said_no += is_near is False and not equal
    return 2 * said_no >= len(far)


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
    return [(place, _near(items[place])[0] if _is_known(items[place]) else None) for place in places]


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
    except (ArithmeticError, ValueError):
        return []


def _far(known: Any) -> list[Any]:
    """Values far from it."""
    number = _dice.randrange(10**6, 10**9)
    if isinstance(known, (int, float, complex)) and not isinstance(known, bool):
        return [number, -number, number + 0.5, known * 2 + 3]
    return [number, -number, f"{number}", [number]]
