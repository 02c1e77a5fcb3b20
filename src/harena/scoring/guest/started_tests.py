"""Has a suite beside its candidate tell that the body of a test has begun. Standard library only, Python 3.8 and up.

A candidate may exchange what a runner does (`Function.runtest = lambda item: None`), or have a test in its hands: below
its decorator (`@retry def test_a(): ...`), in a class that it decorates or that derives from its class, or as what it
is given (`test_a = logged(test_a)`). A test that is never called would pass: so one has passed only if its own body was
run. Where the tests themselves may have put something else in its place (by a decorator or a hook of theirs), some
function of the tests was run; a decorator of a library that may run it in another process decides that alone.
"""

from __future__ import annotations

import ast
import builtins

from harena.scoring.guest.executed_assertions import call_of, located

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

BEGAN = "__harena_began__"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_RUN_HERE = frozenset({"pytest", "unittest", "mock", "functools", "contextlib", "hypothesis", "parameterized", "ddt",
                       "asyncio", "typing", "warnings", "flaky", "freezegun", "numpy", "builtins"})  # fmt: skip
"""libraries whose decorators run the body of a test in this process, or tell that they have not"""
_HOOKS = ("pytest_", "load_tests")


class StartedTests:
    """Keeps which tests are in the candidate's hands, and which bodies have begun. Tests and classes are named as in
    `T.test_a`."""

    def __init__(self, stems: Collection[str] = ()) -> None:
        """`stems`: names of the trusted modules, with which a documented example's name begins."""
        self._stems = frozenset(stems)
        self._all: set[str] = set()
        self._classes: set[str] = set()
        self._theirs: set[str] = set()
        self._remade: set[str] = set()
        """decorated tests and classes of such, whose decorator may make other tests of them (`test_a_0`)"""
        self._begun: set[str] = set()
        self._loose: set[str] = set()
        """tests in whose place the tests themselves may have put something else"""
        self._elsewhere: set[str] = set()
        """tests that a library may run in another process"""
        self._is_hooked = False
        self._made: set[str] = set()
        """names that a test may have and no function of the tests has: what is imported, and what is derived"""
        self._brings_any = False

    def watch(self, tree: ast.Module, others: Collection[str], libraries: Mapping[str, str]) -> None:
        """Has each function of a trusted file tell that it begins. `others`: names there that are no candidate's;
        `libraries`: those that are of a library's, and which."""
        nodes: list[Any] = list(ast.walk(tree))
        self._libraries = libraries
        self._bound = {each.id for each in nodes if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = {alias.asname or alias.name for alias in node.names}
                self._made |= names
                self._brings_any = self._brings_any or "*" in names
            self._is_hooked = self._is_hooked or (isinstance(node, _FUNCTIONS) and node.name.startswith(_HOOKS))
            if isinstance(node, ast.Lambda):
                begins = located(call_of(BEGAN, [ast.Constant("<lambda>")]), node.body)
                node.body = located(ast.BoolOp(ast.Or(), [begins, node.body]), node.body)
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

    def _note_owners(self, node: Any, name: str, *, loose: bool, elsewhere: bool) -> None:
        """Who else decides what is run when this test is."""
        owners = set(map(_root, node.decorator_list))
        if loose or node.name in self._bound | self._made or not owners.issubset(self._libraries):
            self._loose.add(name)
        if elsewhere or any(map(self._may_run_elsewhere, node.decorator_list)):
            self._elsewhere.add(name)

    def _may_run_elsewhere(self, node: ast.expr) -> bool:
        return self._libraries.get(_root(node), "pytest").partition(".")[0] not in _RUN_HERE

    def _enter(
        self,
        parent: Any,
        prefix: str,
        *,
        is_theirs: bool,
        is_remade: bool,
        is_loose: bool = False,
        is_elsewhere: bool = False,
    ) -> None:
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.expr):
                continue
            if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                self._enter(
                    node, prefix, is_theirs=is_theirs, is_remade=is_remade, is_loose=is_loose, is_elsewhere=is_elsewhere
                )
                continue
            name = prefix + node.name
            remade = is_remade or any(_root(each) not in self._known for each in node.decorator_list)
            theirs = is_theirs or remade or node.name in self._given
            loose, elsewhere = is_loose, is_elsewhere
            if isinstance(node, ast.ClassDef):
                self._classes.add(name)
                makers = {_root(each.value) for each in node.keywords} | set(map(_root, node.decorator_list))
                loose = loose or not makers.issubset(self._libraries)
                elsewhere = elsewhere or any(self._may_run_elsewhere(each) for each in node.decorator_list)
                if any(_root(each) in self._libraries and self._may_run_elsewhere(each) for each in node.bases):
                    self._made.add(node.name)
                theirs = theirs or node.name in self._derived
                if remade:
                    self._remade.add(name)
            else:
                self._all.add(name)
                if theirs and _is_test(node):
                    self._theirs.add(name)
                if remade and _is_test(node):
                    self._remade.add(name)
                self._note_owners(node, name, loose=loose, elsewhere=elsewhere)
                has_text = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
                begins = ast.Expr(call_of(BEGAN, [ast.Constant(name)]))
                node.body.insert(int(has_text), located(begins, node.body[0]))
            self._enter(node, f"{name}.", is_theirs=theirs, is_remade=remade, is_loose=loose, is_elsewhere=elsewhere)

    def _gets(self, node: Any) -> list[ast.Name]:
        """What a call of the candidate's is given by its name."""
        is_theirs = isinstance(node, ast.Call) and _root(node.func) not in self._known
        return [each for each in node.args if isinstance(each, ast.Name)] if is_theirs else []

    def _derives(self, node: ast.ClassDef, derived: Collection[str]) -> bool:
        made_by = [*node.bases, *(each.value for each in node.keywords)]
        return any(_root(each) not in self._known or _root(each) in derived for each in made_by)

    def mark(self, function: str) -> None:
        """The body of this function begins."""
        self._begun.add(function)

    def starts(self) -> None:
        """What has begun so far was no test's body."""
        self._begun = set()

    def was_left_out(self, test: str) -> bool:
        """This test has passed, and its body was not run."""
        begun, self._begun = self._begun, set()
        holder, _, name = test.rpartition(".")
        if test in self._all:
            return self._is_unrun({test}, begun)
        inherited = {each for each in self._all if each.rpartition(".")[2] == name}
        if inherited:
            return self._is_unrun(inherited, begun)
        remade = {each.rpartition(".")[2] for each in self._remade}
        is_remade = holder in self._remade or name.startswith(tuple(remade))
        is_unknown = bool(remade and holder) and holder not in self._classes
        return not begun and (is_remade or is_unknown or self._is_made_here(holder, name))

    def _is_unrun(self, tests: set[str], begun: set[str]) -> bool:
        if not begun.isdisjoint(tests):
            return False
        if tests & self._theirs:
            return True
        return not tests & self._elsewhere and not (begun and (self._is_hooked or tests & self._loose))

    def _is_made_here(self, holder: str, name: str) -> bool:
        """A test that only a function of the tests can have made (`globals()[f"test_{n}"] = checks(n)`)."""
        is_brought = self._brings_any or name in self._made or holder.rpartition(".")[2] in self._made
        is_documented = holder.partition(".")[0] in self._stems
        return name.lower().startswith("test") and not is_brought and not is_documented


def _is_test(node: Any) -> bool:
    return isinstance(node, _FUNCTIONS) and node.name.lower().startswith("test")


def _root(node: ast.AST) -> str:
    """The name that an expression begins with; empty, which is no name, for any that begins with none."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""
