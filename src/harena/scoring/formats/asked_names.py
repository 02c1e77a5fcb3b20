"""The names of which a program must define one, so that a contract can judge it: what tells the program in an answer
from an example of its use."""

from __future__ import annotations

import ast
import builtins
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from harena.scoring.bounded_cache import BoundedCache
from harena.scoring.python_source import syntax_tree

MOST_NAMES, MOST_NAME_CHARACTERS = 1000, 1 << 15
"""bounds of one text's names: a test that asks for more says nothing about where a program begins"""
_known: BoundedCache[frozenset[str]] = BoundedCache(4096)
"""(what was looked for, sha256 of the text) -> names: many candidates have one contract, and texts are large"""
_MODULE = "solution"
FIELDS = frozenset(("type", "parts", "entry_point", "calls", "asserts", "pytest", "unittest", "files"))
"""fields of contracts that are looked at"""


def asked_names(scoring: Mapping[str, Any]) -> list[str]:
    """The functions and classes that a contract calls, in no order that means anything; none where it runs the program
    as a whole. `scoring`: fields of a contract."""
    found: set[str] = set()
    if scoring.get("type") == "weighted":
        for part in (scoring.get("parts") or {}).values():
            found.update(asked_names(part.get("scoring") or {}))
    if entry := scoring.get("entry_point"):
        found.add(str(entry).partition(".")[0])
    if calls := scoring.get("calls"):
        found.update(str(name).partition(".")[0] for name in calls.values())
    elif isinstance(asserts := scoring.get("asserts"), str):
        found.update(_names(_free_names, asserts))
    if scoring.get("pytest") or scoring.get("unittest"):
        for path, text in (scoring.get("files") or {}).items():
            if str(path).endswith(".py") and isinstance(text, str):
                found.update(_names(_imported_names, text))
    return sorted(found)


def _names(look: Callable[[ast.AST], frozenset[str]], source: str) -> frozenset[str]:
    """What is found in a program; nothing where it is too large to be looked into, or has too many names."""
    key = look.__name__, hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()
    if (known := _known.get(key)) is None:
        known = look(_tree(source))
        if len(known) > MOST_NAMES or sum(map(len, known)) > MOST_NAME_CHARACTERS:
            known = frozenset()
        _known.keep(key, known)
    return known


def _free_names(tree: ast.AST) -> frozenset[str]:
    """Names that a program uses and gives no value to."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    given = {node.id for node in names if not isinstance(node.ctx, ast.Load)} | set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            given.add(node.name)
        elif isinstance(node, ast.arg):
            given.add(node.arg)
        elif isinstance(node, ast.alias):
            given.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            given.add(node.name)
    return frozenset(used - given) | _imported_names(tree)


def _imported_names(tree: ast.AST) -> frozenset[str]:
    """Names that a test takes out of the candidate's module."""
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == _MODULE:
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == _MODULE:
            found.add(node.attr)
    return frozenset(found - {"*"})


def _tree(source: str) -> ast.AST:
    """The tree of a program; an empty one where it is none, or holds more than a server looks into."""
    try:
        return syntax_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])
