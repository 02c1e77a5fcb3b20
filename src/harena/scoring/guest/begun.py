"""Has a suite beside its candidate tell that the body of a test has begun. Standard library only, Python 3.8 and up.

A decorator of the candidate's may be around a test (`@retry def test_a(): ...`), or around its class. One that never
calls what it decorates would pass every test: so such a test has passed only if its own body was run.
"""

from __future__ import annotations

import ast
import builtins

from harena.scoring.guest.executed import call_of, located

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

BEGAN = "__harena_began__"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Begun:
    """Which tests have a decorator of the candidate's around them, and whether the body of one has begun."""

    def __init__(self) -> None:
        self._decorated: set[str] = set()
        self._has_begun = False

    def watch(self, tree: ast.AST, others: Collection[str]) -> None:
        """Has each test of a trusted file tell that it begins. `others`: names there that are no candidate's."""
        nodes: list[Any] = list(ast.walk(tree))
        own = {node.name for node in nodes if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}
        known = own.union(others, vars(builtins))
        for node in nodes:
            is_theirs = any(_root(each) not in known for each in getattr(node, "decorator_list", ()))
            if is_theirs:
                inner: list[Any] = list(ast.walk(node))
                self._decorated.update(each.name for each in inner if _is_test(each))
            if _is_test(node):
                has_text = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
                node.body.insert(int(has_text), located(ast.Expr(call_of(BEGAN, [])), node.body[0]))

    def mark(self) -> None:
        """The body of a test begins."""
        self._has_begun = True

    def was_left_out(self, test: str) -> bool:
        """A test of this name has passed: its body was not run, though the candidate had it in its hands."""
        has_begun, self._has_begun = self._has_begun, False
        return test in self._decorated and not has_begun


def _is_test(node: Any) -> bool:
    return isinstance(node, _FUNCTIONS) and node.name.lower().startswith("test")


def _root(node: ast.AST) -> str:
    """The name that a decorator begins with; empty, which is no name, for any other expression."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""
