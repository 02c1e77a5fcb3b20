"""Asserts as calls with known answers: what may become checks of the `tests` contract, and what may not.

Only the syntax tree is read. An assert that is anything else than a call of the candidate with literal arguments,
compared in one of the ways below with a literal, makes its whole test code a case for a sandbox (`NotChecksError`).

    assert f(1, [2]) == {"a": 1}        assert f(1) is None             assert f(1)         assert not f(1)
    assert abs(f(2) - 0.5) < 1e-6       assert math.isclose(f(2), 0.5, rel_tol=1e-3)
    assert set(f(1)) == set((4, 5))     assert sorted(f(1)) == [1, 2]
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harena.scoring.compare import ValueComparison
from harena.scoring.formats.asserted_names import AssertedNames
from harena.scoring.formats.literals import NotLiteralError, literal, source_of
from harena.scoring.python_source import parts_of, syntax_tree


class NotChecksError(ValueError):
    """This test code must be run to be judged; the message says which line, and why."""

    def __init__(self, node: ast.AST | None, why: str) -> None:
        line = getattr(node, "lineno", None)
        super().__init__(f"line {line} of the tests: {why}" if line is not None else why)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertedCall:
    """One assert: a call, and what it must give."""

    name: str
    """name of the function that is called"""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    expected: Any
    comparison: ValueComparison = "equal"
    rel_tol: float | None = None
    abs_tol: float | None = None

    def check(self) -> dict[str, Any]:
        """The fields of a `Check`."""
        fields: dict[str, Any] = {"args": self.args, "kwargs": self.kwargs, "expected": self.expected}
        if self.comparison != "equal":
            fields["comparison"] = self.comparison
        tolerances = {"rel_tol": self.rel_tol, "abs_tol": self.abs_tol}
        return fields | {name: value for name, value in tolerances.items() if value is not None}


def parse_tests(source: str) -> ast.Module:
    """The tree of test code. Raises NotChecksError."""
    try:
        return syntax_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotChecksError(None, f"it is not Python: {error}") from None


_COLLECTIONS = frozenset({"Counter", "OrderedDict", "defaultdict", "deque"})


def with_collections(source: str, tested: str | None = None) -> str:
    """Test code with an import of the containers that it calls and does not import: the data sets' harnesses find them
    among the candidate's names, but what decides about a candidate must not be the candidate's. `tested`: the
    candidate's function."""
    if "__future__" in source:  # which has to stand first
        return source
    try:
        free = {node.id for node in _free_names(parse_tests(source))} & _COLLECTIONS - {tested}
    except NotChecksError:
        return source
    return f"from collections import {', '.join(sorted(free))}\n{source}" if free else source


def called_names(tests: ast.Module, tested: frozenset[str] = frozenset()) -> list[str]:
    """What the tests call that neither Python (but for the names in `tested`) nor they themselves define; nothing if
    they use such a name in another way than to call it."""
    called = {id(node.func) for node in parts_of(tests) if isinstance(node, ast.Call)}
    free = _free_names(tests, tested)
    return sorted({node.id for node in free}) if all(id(node) in called for node in free) else []


def _free_names(tests: ast.Module, tested: frozenset[str] = frozenset()) -> list[ast.Name]:
    """Uses of names that neither Python nor the tests define."""
    bound = set(vars(builtins)) - tested
    for node in parts_of(tests):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return [node for node in parts_of(tests) if isinstance(node, ast.Name) and node.id not in bound]


def asserted_calls(
    statements: Iterable[ast.stmt], tested: frozenset[str] | None = None, *, around: AssertedNames | None = None
) -> list[AssertedCall]:
    """All asserts of a block, in order, whose calls are of one of `tested` (None = of any one function). `around`: what
    the statements before the block import, which holds in it.

    Raises NotChecksError for any other statement than an assert, a docstring, `pass` and imports."""
    calls, block = [], list(statements)
    names = AssertedNames.of(block, tested, around=around)
    for statement in block:
        if isinstance(statement, ast.Pass | ast.Import | ast.ImportFrom):
            continue
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant | ast.Name):
            continue  # a docstring, or a name that stands alone and does nothing
        if not isinstance(statement, ast.Assert):
            raise NotChecksError(statement, f"`{source_of(statement)}` is no assert")
        if isinstance(statement.test, ast.Constant) and statement.test.value is True:
            continue
        if (other := names.misread(statement.test)) is not None:
            raise NotChecksError(statement, f"`{other}` is imported, and no literal")
        try:
            calls.append(_asserted(statement.test, names))
        except NotLiteralError as error:
            raise NotChecksError(statement, f"`{error}` is not a literal") from None
    return calls


def _asserted(test: ast.expr, names: AssertedNames) -> AssertedCall:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _call(test.operand, names, False, "truth")
    if isinstance(test, ast.Call) and names.called(test) == "math.isclose":
        return _is_close(test, names)
    if isinstance(test, ast.Call):
        return _call(test, names, True, "truth")
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(operator, ast.Eq):
            return _equals(left, right, names)
        if isinstance(operator, ast.Is) and isinstance(right, ast.Constant) and right.value in (None, True, False):
            return _call(left, names, right.value, "exact")
        if isinstance(operator, ast.Lt | ast.LtE):
            return _near(left, right, names, may_equal=isinstance(operator, ast.LtE))
    raise NotChecksError(test, f"`{source_of(test)}` is not a comparison of a call with a known answer")


_UNORDERED: dict[str, ValueComparison] = {
    "builtins.set": "members",
    "builtins.frozenset": "members",
    "builtins.sorted": "items",
}


# A `Counter` is not among them: it counts the items of a list, and takes the counts of a mapping as they are.


def _equals(left: ast.expr, right: ast.expr, names: AssertedNames) -> AssertedCall:
    if not _has_call(left, names) and _has_call(right, names):
        left, right = right, left
    comparison = _UNORDERED.get(names.called(left)) if _is_wrapper(left, names) else None
    if comparison is None:
        return _call(left, names, literal(right), "equal")
    assert isinstance(left, ast.Call)
    wrapped_alike = isinstance(right, ast.Call) and names.called(right) == names.called(left) and len(right.args) == 1
    expected = literal(right.args[0] if wrapped_alike else right)  # type: ignore[attr-defined]
    if comparison == "items" and not wrapped_alike and not _is_sorted(expected):
        raise NotChecksError(right, f"`{source_of(right)}` is not a sorted list of literals")
    return _call(left.args[0], names, expected, comparison)


def _is_sorted(expected: Any) -> bool:
    if type(expected) is not list or len({type(item) for item in expected}) > 1:
        return False
    if expected and type(expected[0]) not in (int, float, str, bytes):
        return False
    return list(expected) == sorted(expected)


def _near(left: ast.expr, right: ast.expr, names: AssertedNames, *, may_equal: bool) -> AssertedCall:
    """abs(f(x) - known) < tolerance"""
    tolerance = literal(right)
    if isinstance(left, ast.Call) and names.called(left) in ("builtins.abs", "math.fabs") and len(left.args) == 1:
        inner = left.args[0]
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
            distance = _tolerance(tolerance, right)
            call, known = inner.left, inner.right
            if not _has_call(call, names):
                call, known = known, call
            within = distance if may_equal else math.nextafter(distance, 0.0)
            return _call(call, names, _as_float(literal(known), known), "close_floats", rel_tol=0.0, abs_tol=within)
    raise NotChecksError(left, f"`{source_of(left)}` is not the distance of a call from a known answer")


def _is_close(test: ast.Call, names: AssertedNames) -> AssertedCall:
    keywords = {keyword.arg: keyword.value for keyword in test.keywords}
    if len(test.args) != 2 or not keywords.keys() <= {"rel_tol", "abs_tol"}:
        raise NotChecksError(test, f"`{source_of(test)}` is not `isclose(call, known)`")
    call, known = test.args if _has_call(test.args[0], names) else test.args[::-1]
    tolerances = {name: _tolerance(literal(value), value) for name, value in keywords.items()}
    relative, absolute = tolerances.get("rel_tol", 1e-9), tolerances.get("abs_tol", 0.0)
    expected = _as_float(literal(known), known)
    if relative < 0 or absolute < 0:
        raise NotChecksError(test, f"`{source_of(test)}` has a tolerance below 0")
    if type(expected) is float and expected.is_integer() and _takes_another_integer(expected, relative):
        raise NotChecksError(test, f"`{source_of(test)}` takes different integers for close")
    return _call(call, names, expected, "close_floats", rel_tol=relative, abs_tol=absolute)


def _tolerance(value: Any, node: ast.expr) -> float:
    """Raises NotChecksError for what is no number, or larger than the largest float."""
    try:
        if type(value) in (int, float):
            return float(value)
    except OverflowError:
        pass
    raise NotChecksError(node, f"`{source_of(node)}` is no tolerance")


def _takes_another_integer(expected: float, relative: float) -> bool:
    """`isclose` says so of the next integer away from 0, the one that it says so of first: it goes by the larger of
    both. Our own comparison takes no integer for another one."""
    return math.isclose(expected, expected + math.copysign(1.0, expected), rel_tol=relative)


def _as_float(known: Any, node: ast.expr) -> Any:
    """The known answer as a float, to which other floats are near: these asserts say so also where it is written as an
    integer. Raises NotChecksError for an integer that no float may stand for: a check would take no other one."""
    if type(known) is int and abs(known) >= 2**53:
        raise NotChecksError(node, f"`{source_of(node)}` is no float")
    return float(known) if type(known) is int else known


def _is_wrapper(node: ast.expr, names: AssertedNames) -> bool:
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) != 1 or not _has_call(node.args[0], names):
        return False
    return names.tested is None or not isinstance(node.func, ast.Name) or node.func.id not in names.tested


def _has_call(node: ast.expr, names: AssertedNames) -> bool:
    """Somewhere in the expression a function of the candidate's is called: something that is no wrapper of ours."""
    own = {"set", "frozenset", "sorted", "Counter", "abs", "fabs", "isclose", "float", "dict", "list", "tuple"}
    called = [part.func.id for part in parts_of(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)]
    return any(names.is_tested(name) and (names.tested is not None or name not in own) for name in called)


def _call(
    node: ast.expr,
    names: AssertedNames,
    expected: Any,
    comparison: ValueComparison,
    *,
    rel_tol: float | None = None,
    abs_tol: float | None = None,
) -> AssertedCall:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise NotChecksError(node, f"`{source_of(node)}` is not a call of the candidate")
    if not names.is_tested(node.func.id):
        raise NotChecksError(node, f"`{source_of(node)}` calls something else than the candidate")
    kwargs = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise NotChecksError(node, f"`{source_of(node)}` has arguments that are not written out")
        kwargs[keyword.arg] = literal(keyword.value)
    return AssertedCall(
        name=node.func.id,
        args=tuple(literal(argument) for argument in node.args),
        kwargs=kwargs,
        expected=expected,
        comparison=comparison,
        rel_tol=rel_tol,
        abs_tol=abs_tol,
    )
