"""Statements of test code that rebind a name which it shares with a candidate. Standard library only, from Python 3.8.

The names of such code are a subclass of dict, which the interpreter asks for a name and, outside of functions, tells a
new value. A function's `global` statement stores past it, so it is rewritten.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class GlobalStatements(ast.NodeTransformer):
    """Has functions of the tests that rebind a shared name do so by `globals()`: the interpreter asks no subclass of
    dict."""

    def __init__(self, names: Any) -> None:
        self.names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """One function."""
        declared = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
        return Renamed(declared & self.names).visit(node) if declared & self.names else self.generic_visit(node)


class Renamed(ast.NodeTransformer):
    """Writes `globals()[name]` for a name, and declares it no more: where a function does, the compiler has the whole
    module store it past any subclass."""

    def __init__(self, names: Any) -> None:
        self.names = names

    def visit_Global(self, node: ast.Global) -> ast.AST:
        """One declaration."""
        left = [name for name in node.names if name not in self.names]
        return ast.copy_location(ast.Global(names=left) if left else ast.Pass(), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """One use of a name."""
        if node.id not in self.names:
            return node
        found = ast.parse("globals()[" + repr(node.id) + "]", mode="eval").body
        assert isinstance(found, ast.Subscript)
        found.ctx = node.ctx
        return ast.fix_missing_locations(ast.copy_location(found, node))
