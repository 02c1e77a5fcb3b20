"""Has the values in the patterns of a `match` compared by `==` in its guards, where they are judged as elsewhere.

A pattern asks the subject itself whether it equals a value, and a candidate's object may say so of everything.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import itertools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_numbers = itertools.count()


def with_guards(match: Any) -> Any:
    """The statement, whose patterns bind what they compared before."""
    for case in match.cases:
        tests: list[ast.expr] = []
        case.pattern = _binding(case.pattern, tests)
        if tests:
            parts = tests if case.guard is None else [*tests, case.guard]
            case.guard = parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)
            ast.copy_location(case.guard, case.pattern)
    return ast.fix_missing_locations(match)


def _binding(pattern: Any, tests: list[ast.expr]) -> Any:
    kind = type(pattern).__name__
    alternatives = pattern.patterns if kind == "MatchOr" else [pattern]
    if all(type(each).__name__ == "MatchValue" for each in alternatives):
        name = f"__harena_case_{next(_numbers)}__"
        compared: list[ast.expr] = [
            ast.Compare(ast.Name(name, ast.Load()), [ast.Eq()], [each.value]) for each in alternatives
        ]
        for test in compared:
            ast.copy_location(test, pattern)
        tests.append(compared[0] if len(compared) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), compared), pattern))
        return ast.copy_location(ast.MatchAs(None, name), pattern)
    if kind == "MatchAs" and pattern.pattern is not None:
        pattern.pattern = _binding(pattern.pattern, tests)
    elif kind in ("MatchSequence", "MatchMapping", "MatchClass"):
        pattern.patterns = [_binding(each, tests) for each in pattern.patterns]
        if kind == "MatchClass":
            pattern.kwd_patterns = [_binding(each, tests) for each in pattern.kwd_patterns]
    return pattern
