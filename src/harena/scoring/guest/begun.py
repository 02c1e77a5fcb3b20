"""Has a suite beside its candidate tell that the body of a test has begun. Standard library only, Python 3.8 and up.

A test may be in the candidate's hands: below its decorator (`@retry def test_a(): ...`), in a class that it decorates
or that derives from its class, or as what it is given (`test_a = logged(test_a)`). A candidate that never calls the
test, or has another one in its place, would pass every test: so such a test has passed only if its own body was run.
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
    """Keeps which tests are in the candidate's hands, and which bodies have begun. Tests and classes are named as in
    `T.test_a`."""

    def __init__(self) -> None:
        self._all: set[str] = set()
        self._classes: set[str] = set()
        self._theirs: set[str] = set()
        self._remade: set[str] = set()
        """decorated tests and classes of such, whose decorator may make other tests of them (`test_a_0`)"""
        self._begun: set[str] = set()

    def watch(self, tree: ast.Module, others: Collection[str]) -> None:
        """Has each test of a trusted file tell that it begins. `others`: names there that are no candidate's."""
        nodes: list[Any] = list(ast.walk(tree))
        classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
        own = {node.name for node in nodes if isinstance(node, _FUNCTIONS)}
        self._known = own.union(classes, others, vars(builtins))
        self._given = {each.id for node in nodes for each in self._gets(node)}
        derived: set[str] = set()
        while True:
            more = {name for name, node in classes.items() if name not in derived and self._derives(node, derived)}
            if not more:
                break
            derived |= more
        self._derived = derived
        self._enter(tree, "", is_theirs=False, is_remade=False)

    def _enter(self, parent: Any, prefix: str, *, is_theirs: bool, is_remade: bool) -> None:
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.expr):
                continue
            if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                self._enter(node, prefix, is_theirs=is_theirs, is_remade=is_remade)
                continue
            name = prefix + node.name
            remade = is_remade or any(_root(each) not in self._known for each in node.decorator_list)
            theirs = is_theirs or remade or node.name in self._given
            if isinstance(node, ast.ClassDef):
                self._classes.add(name)
                theirs = theirs or node.name in self._derived
                if remade:
                    self._remade.add(name)
            elif _is_test(node):
                self._all.add(name)
                if theirs:
                    self._theirs.add(name)
                if remade:
                    self._remade.add(name)
                has_text = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
                begins = ast.Expr(call_of(BEGAN, [ast.Constant(name)]))
                node.body.insert(int(has_text), located(begins, node.body[0]))
            self._enter(node, f"{name}.", is_theirs=theirs, is_remade=remade)

    def _gets(self, node: Any) -> list[ast.Name]:
        """What a call of the candidate's is given by its name."""
        is_theirs = isinstance(node, ast.Call) and _root(node.func) not in self._known
        return [each for each in node.args if isinstance(each, ast.Name)] if is_theirs else []

    def _derives(self, node: ast.ClassDef, derived: Collection[str]) -> bool:
        made_by = [*node.bases, *(each.value for each in node.keywords)]
        return any(_root(each) not in self._known or _root(each) in derived for each in made_by)

    def mark(self, test: str) -> None:
        """The body of this test begins."""
        self._begun.add(test)

    def was_left_out(self, test: str) -> bool:
        """This test has passed: its body was not run, though the candidate had it in its hands."""
        begun, self._begun = self._begun, set()
        holder, _, name = test.rpartition(".")
        if test in self._all:
            return test in self._theirs and test not in begun
        inherited = {each for each in self._all if each.rpartition(".")[2] == name}
        if inherited:
            return bool(inherited & self._theirs) and begun.isdisjoint(inherited)
        remade = {each.rpartition(".")[2] for each in self._remade}
        is_remade = holder in self._remade or name.startswith(tuple(remade))
        is_unknown = bool(remade and holder) and holder not in self._classes
        return (is_remade or is_unknown) and not begun


def _is_test(node: Any) -> bool:
    return isinstance(node, _FUNCTIONS) and node.name.lower().startswith("test")


def _root(node: ast.AST) -> str:
    """The name that an expression begins with; empty, which is no name, for any that begins with none."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""
