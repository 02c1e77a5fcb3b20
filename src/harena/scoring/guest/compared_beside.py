"""Has the comparisons of suites beside their candidate believe no object that calls itself equal to whatever it meets.

Asserts have more: see `guest_compared`. Part of the programs that run trusted suites in one process with a
candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast

from harena.scoring.guest.asked import tells_apart
from harena.scoring.guest.plain import is_known
from harena.scoring.guest.sides import are_by_place, are_elsewhere, arranged, give_by_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

COMPARED, PAIR, MEMBER = "__harena_compared__", "__harena_pair__", "__harena_member__"
_SIDES = "__harena_sides__"
_PLAIN = (bool, int, float, complex, str, bytes, type(None), list, tuple, dict, set, frozenset)
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
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        kind = PAIR if name in _EQUAL else MEMBER if name == "assertIn" else ""
        if kind and are_elsewhere(node):
            give_by_place(node, _call(node, _SIDES, [ast.Constant(kind)]))
        elif kind and are_by_place(node):
            node.args[:2] = [ast.copy_location(ast.Starred(_call(node, kind, node.args[:2]), ast.Load()), node)]
        return node


def _call(at: ast.expr, name: str, given: list[ast.expr]) -> ast.Call:
    made = ast.Call(ast.Name(name, ast.Load()), given, [])
    return ast.fix_missing_locations(ast.copy_location(made, at))


def comparisons(is_made: Callable[[Any], bool]) -> dict[str, Callable[..., Any]]:
    """What is called in the place of comparisons, by name. `is_made`: whether the tests have made an object, to match
    more than one value."""

    def compared(sign: str, left: Any, right: Any) -> Any:
        """What Python says; but two sides are not equal where an object in one of them would equal other values,
        too."""
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
        # these assertions may be met by sides that are not equal: assertAlmostEqual, assertCountEqual in another order
        return (left, right) if is_believable(left, right, must_equal=False) else (object(), object())

    def member(left: Any, right: Any) -> tuple[Any, Any]:
        """An item and what it shall be in; one that is in nothing where it is not to be believed."""
        return (left, right) if compared("in", left, right) else (object(), [])

    def sides(kind: str, *positional: Any, **named: Any) -> list[Any]:
        """The arguments of an assertion, its two sides first."""
        found = arranged(positional, named)
        return [*(pair if kind == PAIR else member)(*found[:2]), *found[2:]] if len(found) > 1 else found

    def is_believable(left: Any, right: Any, must_equal: bool = True) -> bool:
        """No object in one of the sides equals every value that is put in the place of the plain one on the other
        side."""
        return all(is_made(each[0]) or tells_apart(*each, must_equal) for each in _mixed(left, right))

    return {COMPARED: compared, PAIR: pair, MEMBER: member, _SIDES: sides}


def _mixed(left: Any, right: Any) -> Iterator[tuple[Any, Any, bool]]:
    """Pairs of an object and a known value, and whether the object was on the left."""
    waiting = [(left, right)]
    seen = set()
    while waiting:
        one, other = waiting.pop()
        if is_known(one) and is_known(other):
            if (id(one), id(other)) not in seen:
                seen.add((id(one), id(other)))
                waiting.extend(_inner(one, other))
        elif is_known(other):
            yield one, other, True
        elif is_known(one):
            yield other, one, False


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
