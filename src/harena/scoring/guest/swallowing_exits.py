"""What an `__exit__` of the candidate's may swallow. Standard library only, Python 3.8 and up.

Who leaves a `with` by an exception skips the rest of its body. Where the candidate both raises and swallows, a test
would go on as if the assertions that it skipped had held. So a swallowed exception counts only where nothing is skipped
that judges: the author's own unconditional `raise`, or a statement after which there is no assertion. What is skipped
may fill what is judged later (a list that a loop compares), so a pass is then in doubt.
"""

from __future__ import annotations

import ast

from harena.scoring.guest.executed_assertions import JUDGING
from harena.scoring.guest.object_permissions import is_outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

sources: dict[str, str] = {}
"""path -> text of each trusted file"""
_trees: dict[str, Any] = {}
_FAILING = frozenset({"fail", "xfail"})
CONDITIONS = tuple(
    getattr(ast, name)
    for name in ("If", "For", "AsyncFor", "While", "Try", "TryStar", "IfExp", "Match", "ExceptHandler")
    if hasattr(ast, name)
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_WITHS = (ast.With, ast.AsyncWith)


def is_verdict(error: BaseException) -> bool:
    """No `__exit__` swallows it: what a test says, and what ends the process."""
    return is_outcome(error) or not isinstance(error, Exception)


def skips_a_judgement(trace: Any) -> bool:
    """Who swallows an exception with this traceback skips what may judge. None: a call of `__exit__` by hand, which
    skips nothing."""
    if trace is None:
        return False
    steps = list(_trusted_steps(trace))
    body = _body_left(trace)
    if body is None or not steps:
        return True
    statement, rest = body
    if _is_raised_on_purpose(*steps[-1]):
        return False
    return len(steps) > 1 or judges(statement) or (not _fails(rest) and any(map(judges, rest)))


def may_skip_what_is_judged(trace: Any) -> bool:
    """Who swallows an exception with this traceback may skip what fills something that is judged later: all but the
    author's own `raise`, and an error of the suite's own code where nothing is bound or called that could fill."""
    steps = [] if trace is None else list(_trusted_steps(trace))
    if trace is None or (steps and _is_raised_on_purpose(*steps[-1])):
        return False
    body = _body_left(trace)
    if body is None or len(steps) != 1 or not steps[0][2]:
        return True
    return any(isinstance(part, _FILLING) for node in (body[0], *body[1]) for part in ast.walk(node))


_FILLING = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.Delete, ast.Attribute, ast.For, ast.AsyncFor,
    ast.While, ast.With, ast.AsyncWith, ast.Yield, ast.YieldFrom, ast.Await, ast.Import, ast.ImportFrom, ast.Return,
    ast.Break, ast.Continue, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try,
)  # fmt: skip


def _trusted_steps(trace: Any) -> Iterator[tuple[str, int, bool]]:
    """(path, line, whether the exception arose there) of each frame of a trusted file."""
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if path in sources:
            yield path, trace.tb_lineno, trace.tb_next is None
        trace = trace.tb_next


def _body_left(trace: Any) -> tuple[ast.stmt, list[ast.stmt]] | None:
    """(the statement of the body of the `with` that was left, what follows it there)."""
    path, line, with_line = trace.tb_frame.f_code.co_filename, trace.tb_lineno, trace.tb_frame.f_lineno
    tree = tree_of(path)
    if tree is None:
        return None
    around = [node for node in ast.walk(tree) if isinstance(node, _WITHS) and holds(node.body, line)]
    exact = [node for node in around if node.lineno <= with_line < node.body[0].lineno]
    for node in (exact or around)[:1]:  # the outermost comes first
        for index, statement in enumerate(node.body):
            if spans(statement, line):
                return statement, node.body[index + 1 :]
    return None


def _is_raised_on_purpose(path: str, line: int, arose_there: bool) -> bool:
    """A `raise` of the suite's that depends on nothing between it and the `with`, or the function, that it is in."""
    tree = tree_of(path)
    if not arose_there or tree is None:
        return False
    lineage = _lineage(tree, line)
    if not lineage or not isinstance(lineage[-1], ast.Raise):
        return False
    for node in reversed(lineage):
        if isinstance(node, CONDITIONS):
            return False
        if isinstance(node, (*_WITHS, *FUNCTIONS)):
            return True
    return False


def _lineage(tree: ast.AST, line: int) -> list[ast.AST]:
    """The statements around a line, the innermost last."""
    found: list[ast.AST] = []
    node: ast.AST | None = tree
    while node is not None:
        inside = (
            child for child in ast.walk(node) if child is not node and isinstance(child, (ast.stmt, ast.ExceptHandler))
        )
        node = next((child for child in inside if spans(child, line)), None)
        found += [node] if node is not None else []
    return found


def judges(node: ast.AST) -> bool:
    """It asserts or compares, or calls a function of the suite's, which may."""
    own = _own_functions()
    for part in ast.walk(node):
        if isinstance(part, (ast.Assert, ast.Compare, ast.Raise)):
            return True
        if isinstance(part, ast.Call):
            name = str(getattr(part.func, "id", None) or getattr(part.func, "attr", ""))
            if name in own or JUDGING.match(name.lower().lstrip("_")):
                return True
    return False


def _fails(rest: list[ast.stmt]) -> bool:
    """What follows fails in any case: the author expects that it is skipped."""
    for statement in rest:
        if isinstance(statement, ast.Raise):
            return True
        if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Constant):
            return not statement.test.value
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func
            if (getattr(function, "attr", None) or getattr(function, "id", "")) in _FAILING:
                return True
        if judges(statement):
            return False
    return False


def _own_functions() -> frozenset[str]:
    found: frozenset[str] | None = _trees.get("")
    if found is None:
        nodes = [node for path in sources for node in ast.walk(tree_of(path) or ast.Module([], []))]
        found = _trees[""] = frozenset(
            node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        )
    return found


def tree_of(path: str) -> Any:
    """The parsed text of a trusted file; None where it is none, or is no Python."""
    if path not in _trees:
        try:
            _trees[path] = ast.parse(sources.get(path, ""))
        except (SyntaxError, ValueError):
            _trees[path] = None
    return _trees[path]


def holds(body: list[ast.stmt], line: int) -> bool:
    """A statement of the body has this line."""
    return any(spans(statement, line) for statement in body)


def spans(node: Any, line: int) -> bool:
    """The node begins on this line or before it, and ends there or after it."""
    return bool(node.lineno <= line <= (node.end_lineno or node.lineno))
