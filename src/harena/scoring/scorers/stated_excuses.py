"""Skips and expected failures that a suite states in its text, whoever the candidate is.

A skip is stated if what leads to it, from the start of the function that the runner calls, asks nothing of the
candidate: its conditions are about the platform, the environment, a package or a parameter of the test, and nothing
that the candidate may answer ends the function before. It is the same skip for everybody, also where the candidate was
asked before it (in a `setUp`, or a fixture). A skip is

    always   if there is no condition
    own      if its conditions are of these kinds only
    unknown  if they are of other kinds, and made only of what no candidate can steer (`known_values`)

Every other one may be the candidate's doing. An expected failure is stated if every test of its name is marked so, on
a condition of these kinds or none: that it does not pass is then what the suite asks for.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Literal

from harena.scoring.python_source import expression_tree, parts_of
from harena.scoring.scorers.known_values import KnownValues
from harena.scoring.scorers.suite_syntax import (
    BLOCKS,
    DEFINITIONS,
    FUNCTIONS,
    bound_by,
    given_to,
    is_main,
    is_test,
    settled,
    word_of,
)

Kind = Literal["always", "own", "unknown"]
_MOST_ON_A_LINE = 100
"""statements; a skip that stands among more of them is not looked at"""
WORDS = ("skip", "Skip", "xfail", "expectedFailure")
"""a suite without any of these in its text states no excuse"""
_OWN_VALUES = frozenset({
    "sys.platform", "sys.version_info", "sys.maxsize", "sys.byteorder", "sys.flags", "sys.implementation", "os.name",
    "os.environ", "os.sep",
})  # fmt: skip
_OWN_CALLS = frozenset({
    "os.environ.get", "os.getenv", "os.cpu_count", "os.getuid", "os.geteuid", "shutil.which", "platform.system",
    "platform.machine", "platform.python_version", "platform.python_implementation", "platform.release",
    "sys.platform.startswith", "sys.getwindowsversion", "importlib.util.find_spec",
})  # fmt: skip
_BUILTIN_CALLS = frozenset({"bool", "int", "len", "str", "tuple", "range", "min", "max", "float"})
_PLAIN_CONTEXTS = frozenset({"subTest", "TemporaryDirectory", "NamedTemporaryFile", "catch_warnings"})
"""context managers that swallow nothing, or a failure that is told"""
_PLAIN_FIXTURES = frozenset({"self", "cls", "tmp_path", "tmpdir", "monkeypatch", "tmp_path_factory"})
_RAISED = frozenset({"unittest.SkipTest", "unittest.case.SkipTest", "pytest.skip.Exception"})
_SKIPS = frozenset({"pytest.skip", "pytest.xfail"})
_MARKS_OF_ALL = frozenset({"unittest.skip", "unittest.case.skip", "pytest.mark.skip"})
_MARKS_OF_SOME = frozenset({
    f"{module}.{name}"
    for module, names in (("unittest", ("skipIf", "skipUnless")), ("unittest.case", ("skipIf", "skipUnless")),
                          ("pytest.mark", ("skipif",)))
    for name in names
})  # fmt: skip
_MARK_NAMES = frozenset({"skip", "skipif"})
_MARKING = frozenset({"skipif", "skipIf", "skipUnless", "add_marker", "applymarker", "__unittest_skip__"})
"""names that only marks have, and what puts them on tests"""
_SKIPPING_WORDS = ("skip", "Skip", "exit", "fail", "Fail")
_MOST_NAMED = 8
"""names of a mark that stand for one another"""
_EXPECTED = frozenset({"unittest.expectedFailure", "unittest.case.expectedFailure", "pytest.mark.xfail"})
_EXITS = (ast.Return, ast.Break, ast.Continue)
_ORDER: tuple[Kind, ...] = ("always", "own", "unknown")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
Foreign = Callable[[ast.Import | ast.ImportFrom], Iterable[ast.alias]]


def _is_of_plain_fixture(node: ast.AST) -> bool:
    """A folder of a fixture's, a path in it, or its text."""
    if isinstance(node, ast.Call):
        return word_of(node.func) == "str" and len(node.args) == 1 and _is_of_plain_fixture(node.args[0])
    if isinstance(node, ast.BinOp):
        return _is_of_plain_fixture(node.left) and isinstance(node.right, ast.Constant)
    return isinstance(node, ast.Name) and node.id in ("tmp_path", "tmpdir")


def _by_line(function: _Function) -> dict[int, list[ast.stmt]]:
    """Line -> the statements that begin or end on it."""
    found: dict[int, list[ast.stmt]] = {}
    for each in ast.walk(function):
        if isinstance(each, ast.stmt):
            for line in {each.lineno, each.end_lineno or each.lineno}:
                found.setdefault(line, []).append(each)
    return found


def _worst(kinds: Iterable[Kind | None]) -> Kind | None:
    """None: something in it may come from the candidate."""
    found: Kind = "always"
    for kind in kinds:
        if kind is None:
            return None
        found = max(found, kind, key=_ORDER.index)
    return found


class StatedExcuses:
    """What one trusted file states."""

    def __init__(
        self,
        tree: ast.Module,
        theirs: Collection[str],
        looks: Collection[str],
        foreign: Foreign,
        images: Collection[str],
        settings: Collection[str] = (),
    ) -> None:
        """`theirs`: names of the module that come from the candidate. `looks`: words that look at files. `foreign`:
        what an import brings of modules that are the candidate's. `images`: packages and modules that are not.
        `settings`: whole names of what other trusted files bind once to a plain value."""
        self._tree = tree
        self._looks = frozenset(looks)
        self._images = frozenset(images)
        self._nodes = parts_of(tree)
        self._parents = {child: node for node in self._nodes for child in ast.iter_child_nodes(node)}
        self._functions = {node.name: node for node in self._nodes if isinstance(node, FUNCTIONS)}
        self._classes: dict[str, list[ast.ClassDef]] = {}
        for node in self._nodes:
            if isinstance(node, ast.ClassDef):
                self._classes.setdefault(node.name, []).append(node)
        self._modules: dict[str, set[str]] = {}
        """what imports of others than the candidate bind a name to"""
        self._theirs = set(theirs)
        for node in self._nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                alien = list(foreign(node))
                self._theirs.update((each.asname or each.name).partition(".")[0] for each in alien)
                for alias in node.names:
                    if alias not in alien:
                        name = alias.asname or alias.name.partition(".")[0]
                        whole = alias.name if alias.asname else name
                        module = node.module if isinstance(node, ast.ImportFrom) else None
                        self._modules.setdefault(name, set()).add(f"{module}.{alias.name}" if module else whole)
        self._settings = frozenset(settings)
        self._libraries = {
            name: of
            for name, of in self._modules.items()
            if all(each.partition(".")[0] in self._images or each in self._settings for each in of)
        }
        """imports of what no trusted file has, and of plain settings of one"""
        self._set_of_libraries: set[str] = set()
        """whole names of what libraries have and the file sets to something of the candidate's (`sys.modules`)"""
        self._has_theirs: dict[ast.AST, bool] = {}
        self._kinds: dict[ast.AST, Kind | None] = {}
        """node -> what was found of it, as long as what it is made of stays the same"""
        self._ways: dict[_Function, Kind | None] = {}
        self._statements: dict[_Function, dict[int, list[ast.stmt]]] = {}
        self._own: set[str] = set()
        """names that are bound to what is not the candidate's only"""
        self._arguments = dict(self._parametrized())
        self._known = KnownValues(self._nodes, self._parents, self._libraries, self._arguments)
        self._theirs |= self._known.changed - _PLAIN_FIXTURES
        bindings = list(self._bindings())
        self._values: dict[str, list[ast.expr | None]] = {}
        """name -> what it is bound to"""
        for name, _, value in bindings:
            self._values.setdefault(name, []).append(value)
        self._bound = {name for name, *_ in bindings}
        self._rebound = {name for name, node, _ in bindings if not isinstance(node, ast.Import | ast.ImportFrom)}
        changing = {name for name, node, value in bindings if value is None or not _is_fixed(value, node)}
        self._fixed = self._bound - changing
        """names of values that nobody changes"""
        if not settled(self._add_theirs, lambda: len(self._theirs) + len(self._set_of_libraries)):  # then all is
            self._theirs.update(word_of(node) for node in self._nodes if isinstance(node, ast.Name | ast.Attribute))

        self._has_theirs.clear()

        def add_own() -> None:
            self._kinds.clear()
            self._own = self._with_own(bindings)

        settled(add_own, lambda: len(self._own))
        self._kinds.clear()

    def skips(self) -> Iterator[tuple[int, Kind]]:
        """The lines of skips that are stated."""
        for node in self._nodes:
            if not isinstance(node, ast.stmt) or (given := self._skip(node)) is None:
                continue
            function = self._function_of(node)
            if function is None or self._function_of(function) is not None:
                continue
            kind = _worst((given, self._way_to(node, function), self._beside(node, function)))
            if kind is not None:
                yield from ((line, kind) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))

    def expected(self, *, is_always: bool) -> Iterator[tuple[str, bool]]:
        """The names of tests, and whether each is stated to fail. `is_always`: on no condition."""
        marks = list(self._marks_of(self._tree))
        for node in self._nodes:
            if isinstance(node, FUNCTIONS) and is_test(node.name):
                given = [*marks, *node.decorator_list]
                for parent in self._classes_around(node):
                    given += [*parent.decorator_list, *self._marks_of(parent)]
                yield node.name, any(self._expects(mark, is_always) for mark in given)

    def marks_otherwise(self) -> bool:
        """Some mark that may skip is no plain decorator, `pytestmark` or name of one, so that it cannot be said which
        tests have it: it is made in a block or a function, put on a class later, or added by a hook. Or one that is not
        the suite's own is on a class or a file: other classes may have tests of it, or it tests of others."""
        if any(self._skips_by(mark) is None for mark in self._of_many() if self._may_skip(mark)):
            return True
        names = {node for node in self._nodes if word_of(node) == "pytestmark"}
        stated: set[ast.AST] = set()
        for node in self._nodes:
            if isinstance(node, _Function | ast.ClassDef) and self._is_stated(node):
                stated.update(part for each in node.decorator_list for part in ast.walk(each))
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and self._is_stated(node):
                target = node.targets[0]
                if isinstance(target, ast.Name) and (
                    target.id == "pytestmark" or len(self._values.get(target.id, ())) == 1
                ):
                    names.discard(target)
                    stated.update(ast.walk(node.value))
        texts = (node.value for node in ast.walk(self._tree) if isinstance(node, ast.Constant))
        return (
            bool(names)
            or any(self._is_mark(node) and node not in stated for node in self._nodes)
            or any(isinstance(text, str) and text in ("pytestmark", *_MARKING) for text in texts)
            or any(alias.asname and alias.name in _MARKING for each in self._nodes for alias in _aliases(each))
        )

    def _of_many(self) -> Iterator[ast.expr]:
        """Marks of more than one test. Those of a class that has no tests, nor is a base of one that may have some,
        mark nothing: a decorator of the candidate's (`@singleton`) may be what the tests are about."""
        yield from self._marks_of(self._tree)
        every = [each for classes in self._classes.values() for each in classes]
        with_tests = {part for each in every if self._may_have_tests(each) for part in self._lineage(each)}
        for each in filter(with_tests.__contains__, every):
            yield from (*each.decorator_list, *self._marks_of(each))

    def _may_have_tests(self, node: ast.ClassDef) -> bool:
        """It, or a class that it derives from, defines a test, or may do so where nobody sees it."""
        for each in self._lineage(node):
            if each.keywords or any(isinstance(part, FUNCTIONS) and is_test(part.name) for part in ast.walk(each)):
                return True
            others = [base for base in each.bases if not (isinstance(base, ast.Name) and base.id in self._classes)]
            names = [self._dotted(base) for base in others]
            if not all(self._is_known_base(base) for base in others) or any("Test" in name for name in names):
                return True
        return False

    def _is_mark(self, node: ast.AST) -> bool:
        word = word_of(node)
        return word in _MARKING or (word == "skip" and self._dotted(node) in _MARKS_OF_ALL)

    def _is_stated(self, node: ast.AST) -> bool:
        """It is in the file's body, or in that of a class there, whatever is true then."""
        while isinstance(node := self._parents[node], ast.ClassDef):
            pass
        return isinstance(node, ast.Module)

    def marked(self) -> Iterator[tuple[str, Kind | None]]:
        """The names of tests, and how marks skip each: by the suite's own doing only; None where that is not stated, or
        where no mark skips it."""
        marks = list(self._marks_of(self._tree))
        for node in self._nodes:
            if isinstance(node, FUNCTIONS) and is_test(node.name):
                classes = list(self._classes_around(node))
                known = [each for parent in classes for each in self._lineage(parent)]
                given = [*marks, *node.decorator_list]
                for parent in known:
                    given += [*parent.decorator_list, *self._marks_of(parent)]
                has_theirs = any(not self._is_known_base(base) for parent in known for base in parent.bases)
                skipping = [mark for mark in given if self._may_skip(mark)]
                kinds = [self._skips_by(mark) for mark in skipping]
                if "always" in kinds:  # it never runs, whatever another mark would do
                    yield node.name, "always"
                else:
                    yield node.name, _worst(kinds) if kinds and not has_theirs else None

    def is_theirs(self, node: ast.AST) -> bool:
        """A part of the file holds something that comes from the candidate."""
        return self._is_theirs(node)

    def is_steered(self, node: ast.AST) -> bool:
        """A candidate may have a say in the value of an expression: it is not known to be the suite's own."""
        is_free = self._is_own(node) or self._known.is_known(node) or _is_of_plain_fixture(node)
        return self._is_theirs(node) or not is_free

    # What a name is made of.

    def _add_theirs(self) -> None:
        self._has_theirs.clear()
        self._kinds.clear()
        for node in self._nodes:
            # what has no name (`", ".join(f(1))`, `check(self, f(1))`) has no word either: an empty one would be every
            # constant's. What whoever has `self` may change is among `KnownValues.changed`.
            self._theirs.update(filter(None, self._made_of_theirs(node)))

    def _made_of_theirs(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            if node.value is not None and self._is_theirs(node.value):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    yield from self._set(target)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            if self._is_theirs(node.iter):
                yield from self._set(node.target)
        elif isinstance(node, ast.withitem):
            if node.optional_vars is not None and self._is_theirs(node.context_expr):
                yield from self._set(node.optional_vars)
        elif isinstance(node, DEFINITIONS):
            if not is_test(node.name) and any(map(self._is_theirs, node.body)):
                yield node.name
            if isinstance(node, FUNCTIONS):
                yield from self._unknown_arguments(node)
        elif isinstance(node, ast.Call):
            yield from self._given_theirs(node)
        if isinstance(node, BLOCKS) and self._block(node) is None:
            bound = (word for each in ast.walk(node) for word in bound_by(each))
            stored = (word for each in ast.walk(node) if isinstance(each, ast.Attribute) for word in _stored(each))
            yield from (word for word in (*bound, *stored) if word not in self._modules)

    def _set(self, target: ast.AST) -> Iterator[str]:
        """What an assignment of something of the candidate's sets; of a library only that, and not all that it has."""
        whole = target.value if isinstance(target, ast.Subscript) else target
        dotted = self._dotted(whole) if isinstance(target, ast.Attribute | ast.Subscript) else ""
        if dotted.partition(".")[0] in self._images and "." in dotted:
            self._set_of_libraries.add(dotted)
        else:
            yield from _stored(target)

    def _given_theirs(self, node: ast.Call) -> Iterator[str]:
        """What a call with something of the candidate's may change."""
        given = given_to(node)
        if not self._is_theirs(node):
            return
        parts = [each for each in (*given, node.func) if isinstance(each, ast.Name | ast.Attribute | ast.Starred)]
        kept = {*self._libraries, *_PLAIN_FIXTURES, *self._functions, *self._fixed, *_PLAIN_CONTEXTS}
        changed = (root for each in parts if (root := _root(each)) not in kept and not root.startswith("assert"))
        yield from (root for root in changed if self._is_bound(root))  # nobody changes a builtin
        called = self._functions.get(word_of(node.func))
        if called is not None:
            handed_on = {each.id for each in given if isinstance(each, ast.Name)} & _PLAIN_FIXTURES
            names = {each.arg for each in ast.walk(called.args) if isinstance(each, ast.arg)}
            yield from names - handed_on - {"self"}

    def _unknown_arguments(self, node: _Function) -> Iterator[str]:
        """Fixtures of other files, and what shows the candidate's output."""
        is_called = is_test(node.name) or any(
            word_of(each) == "fixture" for mark in node.decorator_list for each in ast.walk(mark)
        )
        for each in ast.walk(node.args):
            if not isinstance(each, ast.arg) or not is_called or each.arg in _PLAIN_FIXTURES:
                continue
            values = self._arguments.get(each.arg)
            if values is not None:
                if any(map(self._is_theirs, values)):
                    yield each.arg
            elif each.arg not in self._functions:
                yield each.arg

    def _parametrized(self) -> Iterator[tuple[str, list[ast.expr]]]:
        found: dict[str, list[ast.expr]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Call) and word_of(node.func) == "parametrize" and len(node.args) > 1:
                names = [each.value for each in ast.walk(node.args[0]) if isinstance(each, ast.Constant)]
                for name in names:
                    for each in str(name).split(","):
                        found.setdefault(each.strip(), []).append(node.args[1])
        yield from found.items()

    def _bindings(self) -> Iterator[tuple[str, ast.AST, ast.expr | None]]:
        """(name, where, what of; None where that is nobody's value)."""
        nothing, told = ast.Constant(None), set[str]()
        for node in self._nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in bound_by(node):
                    yield name, node, nothing if name in self._libraries else None
            elif isinstance(node, ast.Assign) and all(isinstance(each, ast.Name) for each in node.targets):
                yield from ((word_of(each), node, node.value) for each in node.targets)
            elif isinstance(node, ast.AnnAssign | ast.AugAssign) and isinstance(node.target, ast.Name):
                yield node.target.id, node, node.value
            elif isinstance(node, ast.For) and isinstance(node.target, ast.Name | ast.Tuple):
                yield from ((name, node, node.iter) for name in _stored(node.target))
            elif isinstance(node, ast.arg):
                given = self._arguments.get(node.arg)
                if given is not None and node.arg not in told:
                    told.add(node.arg)
                    yield from ((node.arg, self._parents[self._parents[node]], values) for values in given)
                yield node.arg, self._parents[self._parents[node]], given[0] if given else None
            elif isinstance(node, ast.Global | ast.Nonlocal):
                yield from ((name, node, None) for name in node.names)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                owner = self._parents[node]
                while isinstance(owner, ast.Tuple | ast.Starred | ast.List):
                    owner = self._parents[owner]
                is_told = isinstance(owner, ast.AnnAssign | ast.AugAssign | ast.For) or (
                    isinstance(owner, ast.Assign) and all(isinstance(each, ast.Name) for each in owner.targets)
                )
                if not is_told:
                    yield node.id, node, None
            elif not isinstance(node, ast.Name):
                yield from ((name, node, None) for name in bound_by(node))

    def _with_own(self, bindings: Iterable[tuple[str, ast.AST, ast.expr | None]]) -> set[str]:
        found: set[str] = set()
        others: set[str] = set()
        for name, node, value in bindings:
            is_own = value is not None and self._kind(value) in ("always", "own") and not _is_changeable(value, node)
            around = _worst(self._block(each) for each in self._blocks_of(node))
            (found if is_own and around in ("always", "own") else others).add(name)
        return found - others - self._theirs

    # What an expression, a block and a way depend on.

    def _is_theirs(self, node: ast.AST) -> bool:
        """It holds something that comes from the candidate."""
        if (found := self._has_theirs.get(node)) is None:
            found = self._has_theirs[node] = self._holds_theirs(node)
        return found

    def _holds_theirs(self, node: ast.AST) -> bool:
        word = word_of(node)
        if word in self._looks and not self._is_of_image(node):
            return True
        if isinstance(node, ast.Import | ast.ImportFrom):
            return self._brings_theirs(node)
        if self._set_of_libraries and word and self._dotted(node) in self._set_of_libraries:
            return True
        if word in self._theirs and not (isinstance(node, ast.Attribute) and self._dotted(node)):
            return True
        return any(map(self._is_theirs, ast.iter_child_nodes(node)))

    def _brings_theirs(self, node: ast.Import | ast.ImportFrom) -> bool:
        return any(name in self._theirs for name in bound_by(node))

    def _is_of_image(self, node: ast.AST) -> bool:
        """The word of `find_spec("numpy")` and `importorskip("numpy")`: no candidate brings that."""
        call = self._parents.get(node)
        if word_of(node) not in ("find_spec", "importorskip") or not isinstance(call, ast.Call) or not call.args:
            return False
        name = call.args[0]
        is_text = isinstance(name, ast.Constant) and isinstance(name.value, str)
        return is_text and str(name.value).partition(".")[0] in self._images  # type: ignore[attr-defined]

    def _kind(self, node: ast.expr) -> Kind | None:
        """What the value of an expression is made of."""
        if node not in self._kinds:
            self._kinds[node] = self._kind_of_value(node)
        return self._kinds[node]

    def _kind_of_value(self, node: ast.expr) -> Kind | None:
        if self._is_theirs(node):
            return None
        if isinstance(node, ast.Constant):
            return "always"
        return "own" if self._is_own(node) else self._unless_steered(node)

    def _unless_steered(self, *nodes: ast.AST) -> Kind | None:
        return "unknown" if all(map(self._known.is_known, nodes)) else None

    def _is_own(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Constant | ast.operator | ast.unaryop | ast.cmpop | ast.boolop | ast.expr_context):
            return True
        if isinstance(node, ast.Name):
            return node.id in self._own
        if isinstance(node, ast.Attribute):
            dotted = self._dotted(node)
            return any(dotted == each or dotted.startswith(each + ".") for each in _OWN_VALUES)
        if isinstance(node, ast.Call):
            called = self._dotted(node.func)
            given = given_to(node)
            is_builtin = called in _BUILTIN_CALLS and not self._is_bound(called)
            return (is_builtin or called in _OWN_CALLS or called == "pytest.param") and all(map(self._is_own, given))
        inner = (
            ast.UnaryOp, ast.BoolOp, ast.BinOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List, ast.Set, ast.Subscript,
            ast.Slice, ast.JoinedStr, ast.FormattedValue,
        )  # fmt: skip
        return isinstance(node, inner) and all(map(self._is_own, ast.iter_child_nodes(node)))

    def _is_bound(self, name: str) -> bool:
        return name in self._bound or name in self._theirs or not hasattr(builtins, name)

    def _dotted(self, node: ast.AST) -> str:
        """The whole name of what a module that is not the candidate's has; of a builtin its own; else empty."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        of = self._modules.get(node.id)
        if of is None:
            return "" if parts else node.id
        if node.id in self._rebound or node.id in self._theirs:
            return ""
        return ".".join([*of, *reversed(parts)]) if len(of) == 1 else ""

    def _block(self, node: ast.AST) -> Kind | None:
        """What it depends on whether, and how often, the parts of a block are run."""
        if node not in self._kinds:
            self._kinds[node] = self._kind_of_block(node)
        return self._kinds[node]

    def _kind_of_block(self, node: ast.AST) -> Kind | None:
        if isinstance(node, ast.If | ast.While):
            if is_main(node.test):
                return "always"
            return _worst(("own", self._kind(node.test)))
        if isinstance(node, ast.For):
            return _worst(("own", self._kind(node.iter)))
        if isinstance(node, ast.With | ast.AsyncWith):
            contexts = [each.context_expr for each in node.items]
            if any(map(self._is_theirs, contexts)):
                return None if not all(map(_is_plain_context, contexts)) else "always"
            if all(map(_is_plain_context, contexts)):
                return "always"
            return None if any(map(self._is_theirs, node.body)) else self._unless_steered(*contexts)
        if isinstance(node, ast.Try):
            if self._is_theirs(node):
                return None
            simple = (ast.Import, ast.ImportFrom, ast.Pass)
            is_own = all(
                isinstance(each, simple) or (isinstance(each, ast.Assign) and self._is_own(each.value))
                for each in node.body
            )
            return "own" if is_own else self._unless_steered(*node.body)
        if isinstance(node, ast.Match):
            guards = [each.guard for each in node.cases if each.guard is not None]
            return None if self._is_theirs(node) else self._unless_steered(node.subject, *guards)
        if isinstance(node, BLOCKS):
            return None
        return "always"

    def _blocks_of(self, node: ast.AST) -> Iterator[ast.AST]:
        """The blocks around it, also those around the definition in which it is."""
        while not isinstance(node := self._parents[node], ast.Module):
            if isinstance(node, BLOCKS):
                yield node

    def _way_to(self, node: ast.AST, function: _Function) -> Kind | None:
        """What it depends on whether a statement of a function is reached."""
        if function not in self._ways:
            self._ways[function] = self._way_through(function)
        return _worst((*(self._block(each) for each in self._blocks_of(node)), self._ways[function]))

    def _way_through(self, function: _Function) -> Kind | None:
        """What it depends on whether a function is called, and not left."""
        kinds: list[Kind | None] = []
        for each in ast.walk(function):
            if isinstance(each, _EXITS) and self._function_of(each) is function:
                kinds += [self._block(block) for block in self._blocks_of(each)]
        kinds += [None for each in function.decorator_list if self._is_theirs(each)]
        parent = self._parents[function]
        while not isinstance(parent, ast.Module):
            if isinstance(parent, ast.ClassDef) and any(map(self._is_theirs, [*parent.bases, *parent.decorator_list])):
                kinds.append(None)
            parent = self._parents[parent]
        return _worst(kinds)

    def _beside(self, node: ast.stmt, function: _Function) -> Kind | None:
        """Other statements on the lines of this one do nothing with the candidate."""
        if function not in self._statements:
            self._statements[function] = _by_line(function)
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        found = [each for line in lines for each in self._statements[function].get(line, ())]
        if len(found) > _MOST_ON_A_LINE * len(lines):
            return None
        around = {node, *self._blocks_of(node), function}
        inside = set(ast.walk(node))
        is_plain = all(each in around or each in inside or not self._is_theirs(each) for each in found)
        return "always" if is_plain else None

    def _skip(self, node: ast.stmt) -> Kind | None:
        """A statement that skips, by what it is given; None where it is none, or the candidate's doing."""
        if isinstance(node, ast.Raise) and node.exc is not None and node.cause is None:
            call = node.exc if isinstance(node.exc, ast.Call) else None
            if self._dotted(call.func if call else node.exc) not in _RAISED:
                return None
            return self._given(call) if call else "always"
        value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
        if not isinstance(value, ast.Call):
            return None
        called = self._dotted(value.func)
        if called == "pytest.importorskip":
            return _worst(("own", self._given(value))) if self._is_of_image(value.func) else None
        func = value.func
        is_own = isinstance(func, ast.Attribute) and func.attr == "skipTest" and word_of(func.value) == "self"
        return self._given(value) if (is_own or called in _SKIPS) and isinstance(node, ast.Expr) else None

    def _given(self, call: ast.Call) -> Kind | None:
        """What a reason is made of changes nothing, as long as nothing of the candidate's makes it."""
        given = given_to(call)
        return None if any(map(self._is_theirs, given)) else "always"

    def _function_of(self, node: ast.AST) -> _Function | None:
        while not isinstance(node := self._parents[node], ast.Module):
            if isinstance(node, ast.Lambda):
                return None
            if isinstance(node, FUNCTIONS):
                return node
        return None

    # Skips by marks, and expected failures.

    def _lineage(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """A class and those of the file that it derives from, whose marks are its own, too."""
        found = [node]
        for each in found:  # it grows meanwhile
            found += [cls for base in each.bases for cls in self._classes.get(word_of(base), ()) if cls not in found]
        return found

    def _is_known_base(self, base: ast.expr) -> bool:
        """It is a class of a library's, or one of the file that is defined once."""
        if isinstance(base, ast.Name) and len(self._classes.get(base.id, ())) == 1:
            return len(self._values.get(base.id, ())) <= 1
        name = self._dotted(base)
        return bool(name) and not self._is_theirs(base) and ("." not in name or _first(base) in self._libraries)

    def _classes_around(self, node: ast.AST) -> Iterator[ast.ClassDef]:
        while not isinstance(node := self._parents[node], ast.Module):
            if isinstance(node, ast.ClassDef):
                yield node

    def _may_skip(self, mark: ast.expr) -> bool:
        """It is a mark that skips, or one of which that cannot be told."""
        mark = self._meant(mark)
        words = (word_of(each) for each in ast.walk(mark))
        if any(word in text for text in words for word in _SKIPPING_WORDS):
            return True
        return self._is_theirs(mark) and not self._has_parameters(mark)

    def _has_parameters(self, mark: ast.expr) -> bool:
        """It is a set of parameters, which is written out and not empty: an empty one skips the test."""
        if not isinstance(mark, ast.Call) or self._dotted(mark.func) != "pytest.mark.parametrize" or len(mark.args) < 2:
            return False
        values = mark.args[1]
        return isinstance(values, ast.List | ast.Tuple) and any(
            not isinstance(each, ast.Starred) for each in values.elts
        )

    def _meant(self, mark: ast.expr) -> ast.expr:
        """The mark that a name stands for, if that is bound once."""
        for _ in range(_MOST_NAMED):
            values = self._values.get(mark.id, []) if isinstance(mark, ast.Name) else []
            if len(values) != 1 or values[0] is None:
                break
            mark = values[0]
        return mark

    def _skips_by(self, mark: ast.expr) -> Kind | None:
        """What it depends on whether a mark skips; None where that may be the candidate, or is not known."""
        mark = self._meant(mark)
        if self._is_theirs(mark):
            return None
        call = mark if isinstance(mark, ast.Call) else None
        called = self._dotted(call.func if call else mark)
        if called in _MARKS_OF_ALL:
            return "always"
        if called == "pytest.mark.parametrize":
            marks = [each for each in ast.walk(mark) if isinstance(each, ast.Attribute) and each.attr in _MARK_NAMES]
            inside = [parent if isinstance(parent := self._parents[each], ast.Call) else each for each in marks]
            kind = _worst(map(self._skips_by, inside)) if inside else None
            return None if kind is None else "own"
        if called not in _MARKS_OF_SOME or call is None:
            return None
        is_pytests = called.startswith("pytest")
        given = [
            *(call.args if is_pytests else call.args[:1]),
            *(each.value for each in call.keywords if each.arg not in ("reason", "allow_module_level")),
        ]
        meant = [_evaluated(each) if is_pytests else each for each in given]
        kinds = [None if each is None else self._kind(each) for each in meant]
        return "own" if kinds and _worst(("own", *kinds)) == "own" else None

    def _marks_of(self, node: ast.Module | ast.ClassDef) -> Iterator[ast.expr]:
        for part in node.body:
            if isinstance(part, ast.Assign) and any(word_of(each) == "pytestmark" for each in part.targets):
                yield from part.value.elts if isinstance(part.value, ast.List | ast.Tuple) else [part.value]

    def _expects(self, mark: ast.expr, is_always: bool) -> bool:
        call = mark if isinstance(mark, ast.Call) else None
        called = self._dotted(call.func if call else mark)
        if called == "pytest.mark.parametrize":
            marks = [each for each in ast.walk(mark) if isinstance(each, ast.Attribute) and each.attr == "xfail"]
            calls = [parent if isinstance(parent := self._parents[each], ast.Call) else each for each in marks]
            return bool(calls) and all(self._expects(each, is_always) for each in calls)
        if called not in _EXPECTED:
            return False
        given = [*call.args, *(each.value for each in call.keywords if each.arg == "condition")] if call else []
        texts = any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in given)
        strict = (
            [each.value for each in call.keywords if each.arg not in ("condition", "raises", "reason")] if call else []
        )
        kinds = ("always",) if is_always else ("always", "own")
        return not texts and self._worst_of(given) in kinds and self._worst_of(strict) in kinds

    def _worst_of(self, given: Iterable[ast.expr]) -> Kind | None:
        return _worst(map(self._kind, given))


def stated_names(found: Iterable[tuple[str, bool]]) -> frozenset[str]:
    """The names of tests that are stated to fail wherever there is one."""
    stated: set[str] = set()
    others: set[str] = set()
    for name, is_stated in found:
        (stated if is_stated else others).add(name)
    return frozenset(stated - others)


def _first(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return word_of(node)


def _aliases(node: ast.AST) -> list[ast.alias]:
    return node.names if isinstance(node, ast.Import | ast.ImportFrom) else []


def _evaluated(condition: ast.expr) -> ast.expr | None:
    """What pytest evaluates where a condition is a text; None where that is no expression."""
    if not isinstance(condition, ast.Constant) or not isinstance(condition.value, str):
        return condition
    try:
        return expression_tree(condition.value.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def marked_names(found: Iterable[tuple[str, Kind | None]]) -> dict[str, Kind]:
    """The names of tests that marks skip by the suite's own doing wherever there is one, and how."""
    kinds: dict[str, list[Kind | None]] = {}
    for name, kind in found:
        kinds.setdefault(name, []).append(kind)
    worst = ((name, _worst(each)) for name, each in kinds.items())
    return {name: kind for name, kind in worst if kind in ("always", "own")}


def _stored(target: ast.AST) -> Iterator[str]:
    """Names that an assignment to this binds or changes, without the object whose attribute it is, if that is self."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        if not isinstance(target.ctx, ast.Load):
            yield target.attr
            if (root := _root(target)) not in _PLAIN_FIXTURES:
                yield root
    elif isinstance(target, ast.Subscript):
        yield _root(target.value)
    else:
        for child in ast.iter_child_nodes(target):
            yield from _stored(child)


def _root(node: ast.AST) -> str:
    """The name from which a chain of attributes starts; of `self.x.y` it is x."""
    last = ""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        last = node.attr if isinstance(node, ast.Attribute) else last
        node = node.func if isinstance(node, ast.Call) else node.value
    return last if word_of(node) in ("self", "cls") else word_of(node)


def _is_fixed(value: ast.expr, node: ast.AST) -> bool:
    """Nobody changes what a name is bound to here: a literal, or an item of a list of literals."""
    is_item = isinstance(node, ast.For | ast.FunctionDef | ast.AsyncFunctionDef)
    if is_item and isinstance(value, ast.Call):
        return word_of(value.func) == "range"
    if is_item and isinstance(value, ast.List | ast.Tuple | ast.Set):
        return all(map(_is_literal, value.elts))
    return not is_item and _is_literal(value)


def _is_literal(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(map(_is_literal, value.elts))
    if isinstance(value, ast.Call):
        return word_of(value.func) == "param" and all(map(_is_literal, value.args))
    return isinstance(value, ast.Constant) or (isinstance(value, ast.UnaryOp) and _is_literal(value.operand))


def _is_changeable(value: ast.expr, node: ast.AST) -> bool:
    """What a name is bound to may be another later, though nobody binds the name."""
    return isinstance(node, ast.Assign | ast.AnnAssign) and any(
        isinstance(each, ast.List | ast.Set | ast.Dict) for each in ast.walk(value)
    )


def _is_plain_context(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and word_of(node.func) in _PLAIN_CONTEXTS
