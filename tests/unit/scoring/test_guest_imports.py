"""What serves or judges beside a candidate has loaded what it needs before the candidate's first instruction."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from harena.scoring.guest import (
    candidate_process,
    decoy_comparisons,
    driver,
    object_graph,
    object_permissions,
    plain_values,
    safe_iteration,
    suite,
    suite_equality,
    suite_rewriter,
    universal_equality,
)
from harena.scoring.guest import pytest as guest_pytest
from harena.scoring.guest import unittest as guest_unittest

SERVING = (driver, object_graph, object_permissions, candidate_process)
"""what lives in a candidate's process, where its modules come before those of the standard library"""
BESIDE = (
    universal_equality,
    safe_iteration,
    plain_values,
    decoy_comparisons,
    suite_rewriter,
    suite_equality,
    suite,
    guest_pytest,
    guest_unittest,
)
"""what leaves no names in `sys.modules`"""


def _nodes(module: ModuleType) -> Iterator[ast.AST]:
    """The nodes within the functions of a module."""
    tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from ast.walk(function)


def _imported(module: ModuleType) -> set[str]:
    """Modules that its functions import."""
    found: set[str] = set()
    for node in _nodes(module):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("module", SERVING, ids=lambda module: module.__name__)
def test_no_function_that_serves_imports_what_a_candidate_may_be_named_like(module: ModuleType) -> None:
    """But for numpy, of which no candidate has a module; what takes long is loaded before names are object_permissions
    up."""
    assert _imported(module) <= {"numpy"}
    late = [node for node in _nodes(module) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "late"]
    named = {node.args[0].value for node in late if isinstance(node.args[0], ast.Constant)}
    assert named <= set(object_graph.LATE)


def test_what_takes_long_is_asked_for_by_name() -> None:
    """The names that are loaded late are those that functions ask for."""
    texts = [Path(module.__file__ or "").read_text(encoding="utf-8") for module in SERVING]
    assert all(any(f'late("{name}")' in text for text in texts) for name in object_graph.LATE)


@pytest.mark.parametrize("module", BESIDE, ids=lambda module: module.__name__)
def test_no_function_beside_a_candidate_imports_what_judges(module: ModuleType) -> None:
    """By then there is no module of that name, or it is the candidate's."""
    assert not [name for name in _imported(module) if name.startswith("harena")]
