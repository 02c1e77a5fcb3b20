"""Which statements beside the asserts, or beside EvalPlus's loop, are known to check nothing more.

Test code is read as checks only where all of it is known: a statement that is left out could be the one that fails.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import Any

from harena.scoring.formats.asserts import NotChecksError
from harena.scoring.formats.literals import NotLiteralError, literal
from harena.scoring.python_source import written

_FIRST = {"exact_match = out == exp": False, "exact_match = set(out) == set(exp)": True}
"""how `assertion` of EvalPlus begins, and whether it compares sets"""
_TOLERANT = "if atol == 0 and is_floats(exp):\n    atol = 1e-06"
_CLOSE = {
    "assert np.allclose(out, exp, rtol=1e-07, atol=atol)": False,
    "np.testing.assert_allclose(out, exp, atol=atol)": False,
    "np.testing.assert_allclose(out, exp, rtol=1e-07, atol=atol)": False,
    "assert type(out) == type(exp)\n    if isinstance(exp, (list, tuple)):\n"
    "        assert len(out) == len(exp)\n    assert np.allclose(out, exp, rtol=1e-07, atol=atol)": True,
}
_LAST = {"assert exact_match": True} | {
    f"if not exact_match and atol != 0:\n    {close}\nelse:\n    assert exact_match": is_typed
    for close, is_typed in _CLOSE.items()
}
"""how it ends, and whether a tuple is then wrong where a list of numbers is expected"""
_ITERATED = frozenset({"enumerate(zip(inputs, results))", "zip(inputs, results)"})


def is_idle(statement: ast.stmt) -> bool:
    """Whether it is an import, a docstring or the assignment of a literal to a name of its own (`METADATA`)."""
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
        return all(alias.asname != "check" and alias.name != "check" for alias in getattr(statement, "names", ()))
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    named = assigned(statement)
    if named is None or named[0] == "check" or named[0] in vars(builtins):
        return False
    try:
        literal(named[1])
    except NotLiteralError:
        return False
    return True


def assigned(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """(name, value) of `name = value`."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return (target.id, statement.value) if isinstance(target, ast.Name) else None
    return None


@dataclass(frozen=True, slots=True)
class Assertion:
    """How EvalPlus's `assertion` compares."""

    compares_sets: bool
    """`set(out) == set(exp)`"""
    is_typed: bool
    """also where numbers need only be close, lists are no tuples"""
    takes_close_floats: bool
    """also where the loop gives no tolerance"""

    def check(self, args: tuple[Any, ...], expected: Any, tolerance: float) -> dict[str, Any]:
        """The check of one call. Where numbers are compared by numpy, a tuple is as good as a list, and an integer that
        is expected a float; that is so of floats, and of all numbers where the loop gives a tolerance."""
        made = {"args": args, "expected": expected}
        if self.compares_sets or self.is_typed:
            return made
        is_close = _are_numbers(expected) if tolerance else self.takes_close_floats and _are_floats(expected)
        if not is_close:
            return made
        return made | {"expected": _as_floats(expected), "comparison": "close_json"}


def _are_floats(value: Any) -> bool:
    """Whether EvalPlus would compare such a value by numpy (its `is_floats`)."""
    return type(value) is float or (type(value) in (list, tuple) and all(type(item) is float for item in value))


def _are_numbers(value: Any) -> bool:
    """Which numpy compares."""
    return type(value) in (int, float) or (type(value) in (list, tuple) and all(map(_are_numbers, value)))


def _as_floats(value: Any) -> Any:
    """Each number as a float, unless no float is that number."""
    if type(value) in (list, tuple):
        return type(value)(map(_as_floats, value))
    return float(value) if type(value) is int and abs(value) < 2**53 else value


def read_assertion(functions: list[ast.FunctionDef]) -> Assertion:
    """How EvalPlus's `assertion`, one of these functions, compares. Raises NotChecksError for every other function than
    it and `is_floats`, and where `assertion` is not one that is known."""
    named = {one.name: one for one in functions}
    if len(named) != len(functions) or not named.keys() <= {"assertion", "is_floats"} or "assertion" not in named:
        raise NotChecksError(None, "its functions are not `assertion` and `is_floats`, once each")
    function = named["assertion"]
    code = [written(statement) or "" for statement in function.body]
    is_known = (
        written(function.args) == "out, exp, atol"
        and not any(one.decorator_list for one in functions)
        and code[0] in _FIRST
        and code[-1] in _LAST
        and code[1:-1] in ([], [_TOLERANT])
    )
    if not is_known:
        raise NotChecksError(function, "`assertion` compares in a way of its own")
    return Assertion(
        compares_sets=_FIRST[code[0]], is_typed=_LAST[code[-1]], takes_close_floats=code[1:-1] == [_TOLERANT]
    )


def loop_over_lists(
    statements: list[ast.stmt],
) -> tuple[ast.expr, ast.expr, str, float] | None:
    """(`inputs`, `results`, the called name, the tolerance) if the statements are the two lists and, at the end,
    `for i, (inp, exp) in enumerate(zip(inputs, results)): assertion(f(*inp), exp, TOLERANCE)`, and nothing else."""
    if len(statements) != 3:
        return None
    inputs, results, loop = assigned(statements[0]), assigned(statements[1]), statements[2]
    if inputs is None or results is None or (inputs[0], results[0]) != ("inputs", "results"):
        return None
    if not isinstance(loop, ast.For) or len(loop.body) != 1 or loop.orelse:
        return None
    iterated, target = written(loop.iter) or "", (written(loop.target) or "").strip("()").replace("(", "")
    if iterated not in _ITERATED or target != ("i, inp, exp" if "enumerate" in iterated else "inp, exp"):
        return None
    called = _asserted(loop.body[0])
    return None if called is None else (inputs[1], results[1], *called)


def _asserted(statement: ast.stmt) -> tuple[str, float] | None:
    """(name, tolerance) of `assertion(name(*inp), exp, tolerance)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 3 or not isinstance(call.args[0], ast.Call):
        return None
    answer, tolerance = call.args[0], call.args[2]
    if not isinstance(answer.func, ast.Name) or not isinstance(tolerance, ast.Constant):
        return None
    name, value = answer.func.id, tolerance.value
    number = written(tolerance)
    is_known = number is not None and written(call) == f"assertion({name}(*inp), exp, {number})"
    if not is_known or type(value) not in (int, float):
        return None
    try:
        return name, float(value)  # type: ignore[arg-type]
    except OverflowError:
        return None
