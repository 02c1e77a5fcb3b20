"""Names of modules, and what a source imports by them."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def module_name(path: str) -> str:
    """`pkg/mod.py` -> pkg.mod"""
    name = path[:-3].replace("/", ".")
    return name[: -len(".__init__")] if name.endswith(".__init__") else name


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules that a source imports by their full names, also within functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
