"""Python files of the repository, each parsed once for all tests of a process that look at the code itself."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Its syntax tree, which nobody may change. Raises SyntaxError."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
