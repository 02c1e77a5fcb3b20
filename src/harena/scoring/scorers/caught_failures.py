"""One try of a suite, and failed assertions of its functions that a candidate is meant to catch.

Where the task is to catch what a callback raises, a right candidate swallows failures that would otherwise say that it
is wrong. The gold solution tells which: what it swallows, by place and number, is no failure of others. Without one
nobody can tell a callback that is to fail (`def bad(): raise AssertionError`) from one that must not be called, so a
candidate for which everything else holds has no score. Any other assertion judges, and has failed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from harena.scoring.contracts.contract import CommandContract
from harena.scoring.python_source import syntax_tree
from harena.scoring.scorers.gold_runs import gold_bench, known_of_gold
from harena.scoring.scorers.program import Bench
from harena.scoring.scorers.suite_apart import Attempt, score_apart
from harena.scoring.scorers.suite_defined import own_skips
from harena.scoring.scorers.suite_shared import score_beside
from harena.scoring.scorers.suite_without_candidate import suite_key
from harena.scoring.scorers.trusted_suite import NOTHING_CAUGHT
from harena.scoring.slices import aside, size_of

Mode = Literal["sandbox", True, False]
_OFTEN = 1_000_000
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Pass, ast.Global, ast.Nonlocal, ast.Import,
           ast.ImportFrom)  # fmt: skip
_HOLDS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda item, held: item in held, ast.NotIn: lambda item, held: item not in held,
}  # fmt: skip


async def attempt(bench: Bench, contract: CommandContract, mode: Mode) -> tuple[Attempt, str]:
    """(one try, the place of an assertion of which nobody can tell whether the candidate may catch it, if everything
    else holds)."""
    if contract.gold and dict(bench.scenario.candidate.files) == dict(contract.gold):
        return await _run(bench, contract, mode, None), ""
    made = await _run(bench, contract, mode, NOTHING_CAUGHT)
    if made.verdict.passed or not made.told.caught:
        return made, ""
    if contract.gold:
        may_catch = await known_of_gold.get(
            bench, await suite_key(bench, contract, "caught", str(mode)), lambda: _caught_by_gold(bench, contract, mode)
        )
        return (await _run(bench.again(), contract, mode, may_catch) if may_catch else made), ""
    sure = await aside(size_of(contract.files), _sure_failures, dict(contract.files))
    if not sure.keys() >= made.told.caught.keys():
        return made, ""
    again = await _run(bench.again(), contract, mode, sure)
    return (again, next(iter(made.told.caught))) if again.verdict.passed else (made, "")


async def _run(bench: Bench, contract: CommandContract, mode: Mode, may_catch: Mapping[str, int] | None) -> Attempt:
    skips = await own_skips(bench, contract)
    if mode != "sandbox":
        return await score_beside(bench, contract, mode, may_catch, skips)
    made = await score_apart(bench, contract, may_catch=may_catch, skips=skips)
    if not (made.unserved and made.told.timed) or made.verdict.passed or contract.isolate != "auto":
        return made
    # without the time of messages the values are judged; time is, in the run in one process that follows a doubt
    again = await score_apart(bench.again(), contract, may_catch=may_catch, skips=skips, stops_clocks=True)
    if again.verdict.passed:
        return replace(again, unserved=again.unserved or made.unserved)
    # the candidate's clock goes on in both: where it tells the second that the suite has read, the next has begun
    last = await score_apart(bench.again(), contract, may_catch=may_catch, skips=skips)
    return last if last.verdict.passed else made


async def _caught_by_gold(bench: Bench, contract: CommandContract, mode: Mode) -> Mapping[str, int]:
    made = await _run(gold_bench(bench, contract), contract, mode, None)
    return made.told.caught if made.verdict.passed else NOTHING_CAUGHT


def _sure_failures(files: Mapping[str, str]) -> dict[str, int]:
    """The places at which functions of the tests that are no tests fail whatever they are given; and the tests that do
    so at once, which a decorator is to leave out."""
    return {place: _OFTEN for path, text in files.items() if path.endswith(".py") for place in _failing(path, text)}


def _failing(path: str, text: str) -> Iterator[str]:
    try:
        tree = syntax_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from (f"test {name}" for name in _left_out(tree, ""))
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.decorator_list:
            continue
        if node.name.lower().startswith(("test", "setup", "teardown")):
            continue
        for statement in node.body:
            if _fails(statement):
                yield from (f"{path}:{line}" for line in range(statement.lineno, (statement.end_lineno or 0) + 1))
            if not isinstance(statement, _SIMPLE):
                break


def _left_out(tree: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    """The names (`T.test_a`) of tests that nobody passes by running them: they fail first of all."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _left_out(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            statements = (each for each in node.body if not isinstance(each, ast.Expr) or _fails(each))
            first = next(statements, None)
            if first is not None and _fails(first):
                yield prefix + node.name


def _fails(statement: Any) -> bool:
    """It raises, asserts what is false in its text, or calls `fail`."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return False
        return (function.value.id, function.attr) in (("self", "fail"), ("pytest", "fail"))
    if isinstance(statement, ast.Assert):
        return _is_false(statement.test)
    return isinstance(statement, ast.Raise)


def _is_false(test: ast.expr) -> bool:
    """A condition of literals alone (`False`, `1 == 2`, `not True`), which does not hold."""
    try:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return bool(ast.literal_eval(test.operand))
        if isinstance(test, ast.Compare):
            left, right = ast.literal_eval(test.left), ast.literal_eval(test.comparators[0])
            return len(test.ops) == 1 and type(test.ops[0]) in _HOLDS and not _HOLDS[type(test.ops[0])](left, right)
        return not ast.literal_eval(test)
    except (ValueError, TypeError, MemoryError, RecursionError):  # no literal, or no comparison that Python knows
        return False
