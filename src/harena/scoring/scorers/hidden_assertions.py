"""Finds the calls in trusted tests that are assertions of unittest's.

`self.assertEqual(a, b)` says that `a == b` where `self` is a test case of unittest's. The tests may define a method of
that name themselves or give it other functions to compare by (`addTypeEqualityFunc`), and an object of the candidate's
may have one, where the task is to write a library of tests: then such a call says nothing of the kind.
"""

from __future__ import annotations

import ast
import builtins
import sys
import unittest
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from harena.scoring.scorers.public_packages import PUBLIC_PACKAGES

EQUAL = frozenset(
    f"assert{kind}" for kind in ("Equal", "Equals", "ListEqual", "TupleEqual", "SetEqual", "DictEqual",
                                 "MultiLineEqual", "Is")
)  # fmt: skip
TRUTH = {"assertTrue": True, "assertFalse": False}
WITH_MESSAGE = EQUAL | {name for name in dir(unittest.TestCase) if name.startswith("assert")}
"""assertions whose `msg` decides nothing; that of other functions (`assert_called_with`) may be what is judged"""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BY_TYPE = frozenset(
    {"assertListEqual", "assertTupleEqual", "assertSetEqual", "assertDictEqual", "assertMultiLineEqual"}
)
"""`assertEqual` calls these for two values of one type"""
_LIBRARIES = sys.stdlib_module_names | PUBLIC_PACKAGES | {"pytest"}


@dataclass(frozen=True, slots=True)
class Assertions:
    """The assertions of one contract's tests."""

    own: frozenset[str]
    """names of assertions that the tests have given another meaning"""
    others: frozenset[int]
    """ids of calls whose object may be no test case of unittest's"""

    def name(self, node: ast.AST) -> str:
        """The name of the assertion that a call makes, or of another method of a name; else empty, also where a star
        leaves open which argument is which (`assertEqual(*pair, "message")`)."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or id(node) in self.others:
            return ""
        if any(isinstance(each, ast.Starred) for each in node.args):
            return ""
        is_method = isinstance(node.func.value, ast.Name) and node.func.attr not in self.own
        return node.func.attr if is_method else ""


def assertions_of(trees: Collection[ast.Module], modules: Collection[str]) -> Assertions:
    """The assertions in these texts. `modules`: names of modules that are not the candidate's."""
    names = {name for tree in trees for node in ast.walk(tree) for name in _bound(node)}
    own = {name for name in names if name.startswith("assert")}
    if "addTypeEqualityFunc" in names or not own.isdisjoint(_BY_TYPE):
        own |= {"assertEqual", "assertEquals"}
    defined = {node.name: node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    others: set[int] = set()
    for tree in trees:
        finder = _Finder(tree, defined, _LIBRARIES.union(modules))
        finder.visit(tree)
        others |= finder.others
    return Assertions(frozenset(own), frozenset(others))


def _bound(node: ast.AST) -> Iterable[str]:
    """Names of methods that are defined, set or named by this node."""
    if isinstance(node, _FUNCTIONS):
        yield node.name
    elif isinstance(node, ast.Attribute) and (not isinstance(node.ctx, ast.Load) or node.attr == "addTypeEqualityFunc"):
        yield node.attr
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


class _Finder(ast.NodeVisitor):
    """Finds calls of assertions whose object may be another's than unittest's."""

    def __init__(self, tree: ast.Module, defined: Mapping[str, ast.ClassDef], libraries: Collection[str]) -> None:
        self.others: set[int] = set()
        self._defined = defined
        self._scopes: list[dict[str, bool]] = []
        """parameters of the functions around, and whether they are test cases"""
        self._class: ast.ClassDef | None = None
        self._of_libraries: set[str] = {*vars(builtins)}
        self._bound: set[str] = set()
        self._values: dict[str, list[ast.expr | None]] = defaultdict(list)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                tops = {str(getattr(node, "module", None) or alias.name).partition(".")[0] for alias in node.names}
                names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
                self._bound |= names
                if tops <= set(libraries):
                    self._of_libraries |= names
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._values[getattr(target, "id", "")].append(node.value)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self._values[node.id].append(None)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Its methods have an object of it as their first parameter."""
        had, self._class = self._class, node
        self.generic_visit(node)
        self._class = had

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Parameters are believed to be test cases, but for one that is an object of the candidate's class."""
        names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        own, self._class = self._class, None
        is_test_case = own is None or not self._is_candidates(own)
        self._scopes.append({name: bool(index) or is_test_case for index, name in enumerate(names)})
        self.generic_visit(node)
        self._scopes.pop()
        self._class = own

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 (a name of NodeVisitor's)

    def visit_Call(self, node: ast.Call) -> None:
        """`name.assertEqual(...)`"""
        function = node.func
        is_method = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
        if is_method and function.attr in WITH_MESSAGE and not self._is_test_case(function.value.id):  # type: ignore[attr-defined]
            self.others.add(id(node))
        self.generic_visit(node)

    def _is_test_case(self, name: str) -> bool:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        made = [value for value in self._values.get(name, ()) if value is not None]
        is_once = len(made) == 1 and len(self._values[name]) == 2  # the value, and the name that it is put in
        return name == "self" or (is_once and isinstance(made[0], ast.Call) and self._is_of_libraries(made[0].func))

    def _is_candidates(self, node: ast.ClassDef, depth: int = 0) -> bool:
        """It derives from a class of the candidate's."""
        return depth > 9 or not all(self._is_of_libraries(base, depth) for base in node.bases)

    def _is_of_libraries(self, function: ast.expr, depth: int = 0) -> bool:
        """A class of a library, or of the tests and not derived from one of the candidate's."""
        while isinstance(function, ast.Attribute | ast.Subscript):
            function = function.value
        if not isinstance(function, ast.Name):
            return False
        if function.id in self._defined:
            return not self._is_candidates(self._defined[function.id], depth + 1)
        return function.id in self._of_libraries
