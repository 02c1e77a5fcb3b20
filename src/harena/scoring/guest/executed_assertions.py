"""Records which judgements of a piece of test code were executed, and which of its assertions have failed. Standard
library only, Python 3.8 and up.

Test code that ends without an assertion that it executed has judged nobody. And where a candidate shares its process,
an assertion that failed stays failed: an `__exit__` or a decorator of the candidate's may swallow the exception. The
tests' own `except` may take it back.
"""

from __future__ import annotations

import ast
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

JUDGED_NOTHING = 87
"""exit code of a program whose test code came to its end and executed no assertion"""
JUDGING = re.compile(r"assert|fail|raises|warns|check|verify|expect|approx|allclose|skip|xfail")
"""beginnings of names of functions that judge"""
CALLED = "__harena_called__"
"""the name of what gives a kept function as it is called (`guest_comparison_rewriter`)"""
_MARK, _FAILED, _CAUGHT = "__harena_mark__", "__harena_failed__", "__harena_caught__"
_WIDE = frozenset({"AssertionError", "Exception", "BaseException"})
_TESTERS = frozenset({"unittest", "doctest", "pytest"})
_RUNNING = frozenset({"exec", "eval", "exit", "quit", "_exit", "abort"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
_BUILTIN = type(len)
_DEEPEST = 6_000


class DeepTrees:
    """While this is entered, trees may be walked that are as deeply nested as Python compiles them: a sum of a thousand
    terms is deeper than a function may call itself."""

    def __enter__(self) -> None:
        self._limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(self._limit, _DEEPEST))

    def __exit__(self, *raised: object) -> None:
        sys.setrecursionlimit(self._limit)


class Executed(ast.NodeTransformer):
    """Has test code tell which of its judgements it executes: assertions, statements that raise on a condition, `try`,
    and calls that are named like assertions or are of what runs tests."""

    def __init__(self, tree: ast.AST, modules: Any = (), *, remembers: bool = False) -> None:
        """`modules`: trusted modules beside the test code, which may judge by any name. `remembers`: assertions that
        fail are remembered."""
        nodes = list(ast.walk(tree))
        self._own = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        self._packages = _imported_from(nodes, _TESTERS.union(modules))
        self._remembers = remembers and not _expects_failures(nodes)

    def _marked(self, node: Any) -> Any:
        """A statement, and before it one that says that it is executed."""
        self.generic_visit(node)
        return [located(ast.Expr(call_of(_MARK, [])), node), node]

    def visit_Assert(self, node: ast.Assert) -> Any:
        """`assert`; as a condition and a `raise` where failures are remembered."""
        if not self._remembers:
            return self._marked(node)
        self.generic_visit(node)
        raised = ast.Raise(call_of(_FAILED, [node.msg] if node.msg is not None else []), None)
        test = ast.UnaryOp(ast.Not(), node.test)
        return [located(ast.Expr(call_of(_MARK, [])), node), located(ast.If(test, [raised], []), node)]

    def visit_Raise(self, node: ast.Raise) -> Any:
        """`raise`."""
        return self._marked(node)

    def _visit_block(self, node: Any) -> Any:
        if _raises(node):
            return self._marked(node)
        return self.generic_visit(node)

    visit_If = visit_For = visit_While = visit_Match = _visit_block  # noqa: N815

    def visit_Try(self, node: Any) -> Any:
        """`try` with an `except`."""
        return self._marked(node) if node.handlers else self.generic_visit(node)

    visit_TryStar = visit_Try  # noqa: N815

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """`except` of the tests' own, which may expect that an assertion fails."""
        self.generic_visit(node)
        if self._remembers:
            node.body.insert(0, located(ast.Expr(call_of(_CAUGHT, [])), node.body[0]))
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """A call by a name of an assertion's, or of what runs tests."""
        self.generic_visit(node)
        func = written(node.func)
        root: ast.expr = func
        while isinstance(root, ast.Attribute):
            root = root.value
        first = root.id if isinstance(root, ast.Name) else ""
        name = func.attr if isinstance(func, ast.Attribute) else first
        is_named = JUDGING.match(name.lower().lstrip("_")) is not None and name not in self._own
        if is_named or first in self._packages or name in _RUNNING:
            node.func = located(call_of(_MARK, [node.func]), node.func)
        return node


class Failures:
    """What `Executed` calls. Nothing of it is reachable by a name of the candidate's."""

    def __init__(self) -> None:
        self._count = 0
        self._failed: list[BaseException] = []

    @property
    def has_judged(self) -> bool:
        """A judgement was executed."""
        return self._count > 0

    @property
    def is_failed(self) -> bool:
        """An assertion has failed, and the tests have not expected that."""
        return bool(self._failed)

    def functions(self, *, remembers: bool = False) -> dict[str, Any]:
        """By the names in the test code."""
        kinds = (AssertionError, BaseException)

        def judging(function: Any) -> Any:
            def called(*positional: Any, **keywords: Any) -> Any:
                try:
                    return function(*positional, **keywords)
                except kinds[0] as error:
                    self._failed.append(error)
                    raise

            called.__wrapped__ = function  # type: ignore[attr-defined]
            return function if not remembers or isinstance(function, (type, _BUILTIN)) else called

        def mark(function: Any = None) -> Any:
            self._count += 1
            return None if function is None else judging(function)

        def failed(*message: Any) -> BaseException:
            error = kinds[0](*message)
            self._failed.append(error)
            return error

        def caught() -> None:
            error, seen = sys.exc_info()[1], 0
            while error is not None and seen < 100:  # a chain may be a ring
                self._failed[:] = [each for each in self._failed if each is not error]
                error, seen = error.__cause__ or error.__context__, seen + 1

        return {_MARK: mark, _FAILED: failed, _CAUGHT: caught}


def _imported_from(nodes: list[ast.AST], modules: Any) -> set[str]:
    """Names of what is imported from these modules."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in modules:
                    found.add(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in modules:
            found.update(alias.asname or alias.name for alias in node.names)
    return found


def _expects_failures(nodes: list[ast.AST]) -> bool:
    """The tests name AssertionError, or a class above it, elsewhere than in `except` and `raise`."""
    known: set[int] = set()
    for node in nodes:
        place = node.type if isinstance(node, ast.ExceptHandler) else node.exc if isinstance(node, ast.Raise) else None
        known.update(map(id, ast.walk(place)) if place is not None else ())
    return any(isinstance(node, ast.Name) and node.id in _WIDE and id(node) not in known for node in nodes)


def _raises(node: Any) -> bool:
    """A branch of it raises, or ends the process."""
    waiting = list(ast.iter_child_nodes(node))
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Raise):
            return True
        if isinstance(part, ast.Call):
            name = getattr(part.func, "id", getattr(part.func, "attr", ""))
            if name in _RUNNING:
                return True
        if not isinstance(part, (*_FUNCTIONS, *_TRIES)):
            waiting += ast.iter_child_nodes(part)
    return False


def written(func: ast.expr) -> ast.expr:
    """What is called, as the tests' author wrote it."""
    is_asked = isinstance(func, ast.Call) and isinstance(func.func, ast.Name) and func.func.id == CALLED
    return func.args[0] if isinstance(func, ast.Call) and is_asked else func


def call_of(name: str, given: list[Any]) -> ast.Call:
    """A call of what has this name."""
    return ast.Call(ast.Name(name, ast.Load()), given, [])


def located(made: Any, at: ast.AST) -> Any:
    """The node, in the place of another one."""
    return ast.fix_missing_locations(ast.copy_location(made, at))


def two_sided(body: Callable[[ast.expr, ast.expr], ast.expr]) -> ast.Lambda:
    """A function of two sides, which computes with them: each side is computed once, where it is given."""
    names = ("left", "right")
    given = ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in names], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    return ast.Lambda(given, body(*(ast.Name(name, ast.Load()) for name in names)))


def unwrapped(node: ast.expr) -> ast.expr:
    """What is given, below what stands around it here."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("__harena"):
        if not node.args:
            break
        node = node.args[0]
    return node
