"""Which tests of a suite are there only because of the candidate, as far as the text of the suite tells.

A suite that says `if hasattr(solution, "mul"):` above a test defines it for some candidates only. Most suites define
the same tests for everybody: what the definition of a test depends on (a condition, a loop, parameters, a decorator, a
base, an assignment to `__test__`) uses nothing that comes from the candidate. A name comes from the candidate if it is
imported from a module that is neither of the standard library nor of the image, or is bound by an expression with such
a name, or with one that looks at files. Whatever cannot be followed counts as the candidate's.

What depends on the candidate does so in one of two ways

    by presence   it asks only whether a name, a module or a file is there: a candidate that is nobody shows which tests
                  there are (`suite_without_candidate`)
    by content    anything else: nobody can say which tests there should be
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from harena.scoring.python_source import level, parts_of, syntax_tree
from harena.scoring.scorers.loaded_files import imported_from, loaded_files
from harena.scoring.scorers.silent_skips import unheard_skip
from harena.scoring.scorers.skip_conditions import AskedPlaces, SkipCondition
from harena.scoring.scorers.stated_excuses import WORDS, Kind, StatedExcuses, marked_names, stated_names
from harena.scoring.scorers.suite_syntax import (
    BLOCKS,
    DEFINITIONS,
    FUNCTIONS,
    bound_by,
    changed_in,
    import_names,
    is_change,
    is_main,
    is_nothing,
    is_star,
    is_test,
    lists_names,
    outside_of_functions,
    plain_settings,
    roots,
    settled,
    steers_runner,
    tests_in,
    values_of,
    word_of,
    worst,
)  # fmt: skip
from harena.scoring.scorers.trusted_looks import parts_beside, tables_of

_LOOKS_AT_FILES = frozenset({
    "open", "listdir", "scandir", "walk", "glob", "iglob", "rglob", "iterdir", "read_text", "read_bytes", "readlines",
    "stat", "lstat", "getsize", "loadtxt", "genfromtxt", "run", "Popen", "check_output", "call", "check_call", "input",
    "stdin", "argv", "modules", "import_module", "__import__", "getmembers", "getsource", "runpy", "run_path",
})  # fmt: skip
_PRESENCE_OF_FILES = frozenset({"exists", "isfile", "isdir", "is_file", "is_dir", "find_spec", "importorskip"})
_DEFINES = frozenset({"setattr", "delattr", "globals", "locals", "vars", "exec", "eval", "__dict__", "addTest"})
"""names by which a statement defines tests that it does not spell"""
_HOOKS_OF_NUMBER = frozenset({"pytest_generate_tests", "load_tests", "pytest_pycollect_makeitem"})
_PLAIN_MARKS = frozenset({
    "fixture", "skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure", "usefixtures", "staticmethod",
    "classmethod", "property", "patch", "object", "dict", "multiple", "dataclass", "contextmanager",
    "asyncio", "timeout", "filterwarnings", "wraps", "lru_cache", "cache", "total_ordering",
})  # fmt: skip
"""decorators that leave a test where it is; one that is skipped is told"""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass(slots=True)
class Dependence:
    """What of a suite's definitions depends on the candidate."""

    conditional: set[str] = field(default_factory=set)
    """names of test functions that are there only under a condition on the candidate"""
    is_counted: bool = False
    """how often a test is there depends on which names, modules or files the candidate has"""
    is_by_content: bool = False
    """a condition asks for more than whether something is there"""
    uncountable: str = ""
    """a place at which nobody can say how many tests there should be"""
    files: set[str] = field(default_factory=set)
    """the files in which one of these is"""
    unheard: dict[str, int] = field(default_factory=dict)
    """path of a file -> line of a skip there that depends on what nobody hears (`silent_skips`)"""
    skips: dict[str, Kind] = field(default_factory=dict)
    """place (`test_it.py:7`) of a skip that is stated whoever the candidate is (`stated_excuses`)"""
    asked: dict[str, SkipCondition] = field(default_factory=dict)
    """place of such a skip that has a condition -> what that asks for"""
    marked: dict[str, Kind] = field(default_factory=dict)
    """names of tests that marks skip whoever the candidate is, always or by what the platform or the environment is"""
    named: set[str] = field(default_factory=set)
    """names by which files take something from the candidate's modules, and of which they ask the `__name__`: it has to
    be that name"""
    expected: frozenset[str] = frozenset()
    """names of tests that are stated to fail whoever the candidate is"""

    def __bool__(self) -> bool:
        return bool(self.conditional or self.is_counted or self.uncountable)


def dependence(
    trusted: Mapping[str, str],
    of_image: Collection[str],
    *,
    started: Collection[str] | None = None,
    folders: Collection[str] = (),
    is_beside: bool = False,
    believes_names: bool = True,
) -> Dependence:
    """What the definitions in the trusted files depend on. `of_image`: modules that no candidate brings. `started`: the
    files that the suite names; None = any may be loaded. `folders`: those in which the suite's modules are looked for,
    beside the working directory. `is_beside`: a star import brings whatever the candidate lists, `__test__` too.
    `believes_names`: what is taken from the candidate's modules is called there as it calls itself. Texts
    that are nested too deeply to be followed leave it untold, but sums and products of any number of terms."""
    for levels in (False, True):
        trees = {path: _tree(text) for path, text in trusted.items() if path.endswith(".py")}
        for tree in filter(None, trees.values() if levels else ()):
            level(tree)
        try:
            return _dependence(trusted, trees, of_image, started, folders, is_beside, believes_names)
        except RecursionError:
            continue
    return Dependence(uncountable="they are nested too deeply to be followed")


def _dependence(
    trusted: Mapping[str, str],
    trees: Mapping[str, ast.Module | None],
    of_image: Collection[str],
    started: Collection[str] | None,
    folders: Collection[str],
    is_beside: bool,
    believes_names: bool,
) -> Dependence:
    names = {path: _names_of(path, folders) for path in trees}
    libraries = frozenset({*of_image, *sys.stdlib_module_names})
    ours = frozenset(name for each in names.values() for name in each)
    everybodys = _Modules(libraries, ours)
    of_suite = frozenset(
        name
        for path, tree in trees.items()
        if tree is not None and not _imports_more(path, tree, everybodys, trusted)
        for name in names[path]
    ) | frozenset(
        f"{module}.{name}"
        for path, tree in trees.items()
        if tree is not None
        for name in tables_of(tree)
        for module in names[path]
    )
    known = _Modules(libraries, of_suite)
    settings = {
        f"{module}.{name}"
        for path, tree in trees.items()
        if tree is not None
        for name in plain_settings(tree)
        for module in names[path]
    }
    found = Dependence()
    others: list[str] = []
    """names of tests in files that state no excuse"""
    stating: dict[str, StatedExcuses] = {}
    files: dict[str, _File] = {}
    loaded = trees.keys() if started is None else loaded_files(trees, names, started)
    for path, tree in trees.items():
        if tree is not None and path in loaded:  # one that cannot be parsed fails for everybody
            believes = believes_names and not is_beside
            file = _File(path, tree, known, everybodys, found, trusted, is_beside=is_beside, believes_names=believes)
            file.judge()
            files[path] = file
            if line := file.unheard_skip():
                found.unheard[path] = line
            if any(word in trusted[path] for word in WORDS):
                excuses = file.stated(of_image, settings)
                found.skips.update((f"{path}:{line}", kind) for line, kind in excuses.skips())
                stating[path] = excuses
            else:
                others += (name for part in tree.body for name in tests_in(part))
    is_always = is_beside
    if stating:
        surroundings = AskedPlaces(
            {path: file.tree for path, file in files.items()},
            lambda path: stating.get(path) or files[path].stated(of_image, settings),
        )
        _tell_asked(found, surroundings)
        is_always = is_beside or surroundings.is_steered_at_first
    found.expected = stated_names(
        [
            *((name, False) for name in others),
            *(each for some in stating.values() for each in some.expected(is_always=is_always)),
        ]
    )
    marked = marked_names(
        [*((name, None) for name in others), *(each for some in stating.values() for each in some.marked())]
    )
    if not any(some.marks_otherwise() for some in stating.values()):
        found.marked = {name: kind for name, kind in marked.items() if kind == "always" or not is_always}
    if any(
        isinstance(node, FUNCTIONS) and node.name == "skipTest"
        for tree in trees.values()
        if tree
        for node in parts_of(tree)
    ):
        found.skips.clear()  # the suite's own may ask the candidate
    return found


def _tell_asked(found: Dependence, surroundings: AskedPlaces) -> None:
    """Add what the conditions of stated skips ask for; a skip that asks for what the candidate was let to say, is none
    that is stated."""
    for place in [place for place, kind in found.skips.items() if kind != "always"]:
        path, _, line = place.rpartition(":")
        if (asked := surroundings.asked(path, int(line))) is not None:
            found.asked[place] = asked
        else:
            del found.skips[place]


def _names_of(path: str, folders: Collection[str]) -> set[str]:
    """By which the module of this path can be imported."""
    inside = [path[len(folder) + 1 :] for folder in folders if folder and path.startswith(folder + "/")]
    return {each[:-3].replace("/", ".").removesuffix(".__init__") for each in (path, *inside)}


@dataclass(frozen=True, slots=True)
class _Modules:
    """Modules that are not the candidate's."""

    libraries: frozenset[str]
    """names of the first part"""
    of_suite: frozenset[str]
    """whole names"""

    def has(self, name: str) -> bool:
        """A module of this whole name is one of them."""
        top = name.partition(".")[0]
        return name in self.of_suite or (top in self.libraries and top not in _tops(self.of_suite))


@lru_cache(maxsize=8)  # asked for each import of one suite
def _tops(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in names)


def _tree(text: str) -> ast.Module | None:
    try:
        found = syntax_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return found if isinstance(found, ast.Module) else None


def _foreign(node: ast.Import | ast.ImportFrom, path: str, known: _Modules) -> Iterator[ast.alias]:
    """What is imported of modules that are none of the known ones."""
    module = imported_from(node, path) if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        whole = f"{module}.{alias.name}" if module else alias.name
        if not (known.has(whole) or (module and known.has(module))):
            yield alias


def _imports_more(path: str, tree: ast.Module, known: _Modules, trusted: Collection[str]) -> bool:
    """It imports something that may be the candidate's, or looks at files."""
    looks = _LOOKS_AT_FILES | _PRESENCE_OF_FILES
    for node in parts_beside(tree, tree, trusted, looks, lambda part: False):
        if isinstance(node, ast.Import | ast.ImportFrom) and any(True for _ in _foreign(node, path, known)):
            return True
        if word_of(node) in looks:
            return True
    return False


class _File:
    """One trusted file."""

    def __init__(
        self,
        path: str,
        tree: ast.Module,
        known: _Modules,
        ours: _Modules,
        found: Dependence,
        trusted: Collection[str],
        *,
        is_beside: bool,
        believes_names: bool,
    ) -> None:
        self._path = path
        self.tree = tree
        self._known = known
        self._found = found
        self._trusted = trusted
        self._is_beside = is_beside
        self._stars = any(isinstance(node, ast.ImportFrom) and is_star(node) for node in ast.walk(tree))
        self._theirs: set[str] = set()
        self._present: set[str] = set()
        """names of which the truth, and whether they are None, says only that something is there"""
        self._taken = self._taken_by_name() if believes_names else {}
        """what is taken from the candidate's modules, by the one name that the file has for it: its name there"""
        self._follow_names()
        self._classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self._makers = {
            node.name
            for node in tree.body
            if isinstance(node, FUNCTIONS) and any(word_of(each) in _DEFINES for each in ast.walk(node))
        }
        """functions by which a statement may define tests, and what trusted modules bring"""
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and imported_from(node, path) in ours.of_suite:
                self._makers.update(import_names(node))

    # What comes from the candidate.

    def _follow_names(self) -> None:
        outside = list(outside_of_functions(self.tree))
        known = {*vars(builtins), "__file__", "__name__", "__doc__", "__builtins__", "__class__"}
        bound = known | {name for node in ast.walk(self.tree) for name in bound_by(node)}
        self._unbound(ast.walk(self.tree), bound)
        self._unbound(outside, known | {name for node in outside for name in bound_by(node)})
        for node in outside:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._theirs.update(self._imported(node))
        for node in outside:
            if isinstance(node, ast.Try):
                names = {name for part in node.body for each in ast.walk(part) for name in import_names(each)}
                self._present |= names & self._theirs

        def follow() -> None:
            for part in outside:
                self._follow(part)

        if not settled(follow, lambda: len(self._theirs) + len(self._present)):  # then all is theirs
            self._theirs.update(word_of(node) for node in outside if isinstance(node, ast.Name | ast.Attribute))
            self._present.clear()

    def _unbound(self, nodes: Iterable[ast.AST], bound: set[str]) -> None:
        """A name that nothing binds comes from a star import."""
        self._theirs.update(
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in bound
        )

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        for alias in _foreign(node, self._path, self._known):
            yield (alias.asname or alias.name).partition(".")[0]

    def _follow(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if self._is_theirs(node.value):
                names = {name for target in targets for name in roots(target)}
                self._theirs |= names
                if self._way(node.value) == "presence" and not isinstance(node, ast.AugAssign):
                    self._present |= names
                elif self._present & names and not is_nothing(node.value):
                    self._present -= names
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension) and self._is_theirs(node.iter):
            self._theirs.update(roots(node.target))
        elif isinstance(node, DEFINITIONS) and not is_test(node.name):
            if any(self._is_theirs(part) for part in node.body):
                self._theirs.add(node.name)
        elif is_change(node) and any(map(self._is_theirs, node.args)):
            self._theirs.update(roots(node.func))
        elif isinstance(node, BLOCKS) and (way := self._way_of_block(node)):
            names = {name for part in ast.iter_child_nodes(node) for name in changed_in(part)}
            self._theirs |= names
            if way == "presence":
                self._present |= names

    def _way_of_block(self, node: ast.AST) -> str:
        """How what a block does depends on the candidate."""
        if isinstance(node, ast.If):
            return "" if is_main(node.test) else self._way(node.test)
        if isinstance(node, ast.Try):
            return "presence" if any(map(self._is_theirs, node.body)) else ""
        if isinstance(node, ast.For | ast.AsyncFor):
            return self._way_of_items(node.iter)
        if isinstance(node, ast.With | ast.AsyncWith):
            contexts = [each.context_expr for each in node.items]
            is_tried = any(word_of(each) == "suppress" for part in contexts for each in ast.walk(part))
            if is_tried and any(map(self._is_theirs, node.body)):
                return "presence"  # as in a `try`
            return "content" if any(map(self._is_theirs, contexts)) else ""
        if isinstance(node, ast.While):
            return "content" if self._is_theirs(node.test) else ""
        return "content" if isinstance(node, ast.Match) and self._is_theirs(node.subject) else ""

    def _is_theirs(self, node: ast.AST) -> bool:
        """It holds something that comes from the candidate."""
        return any(
            word_of(each) in _LOOKS_AT_FILES | _PRESENCE_OF_FILES or self._is_name(each) for each in self._parts(node)
        )

    def _parts(self, node: ast.AST) -> Iterator[ast.AST]:
        looks = _LOOKS_AT_FILES | _PRESENCE_OF_FILES
        names = {id(name): name.id for name in map(self._named_by, ast.walk(node)) if name is not None}
        self._found.named.update(self._taken[name] for name in names.values())

        def is_theirs(part: ast.AST) -> bool:
            return id(part) not in names and self._is_name(part)

        parts = parts_beside(node, self.tree, self._trusted, looks, is_theirs)
        return (part for part in parts if id(part) not in names)

    def _taken_by_name(self) -> dict[str, str]:
        taken: dict[str, set[str]] = {}
        others: set[str] = set()
        for node in ast.walk(self.tree):
            foreign = {
                alias.asname or alias.name: alias.name
                for alias in (_foreign(node, self._path, self._known) if isinstance(node, ast.ImportFrom) else ())
            }
            for name, own in foreign.items():
                taken.setdefault(name, set()).add(own)
            others.update(name for name in bound_by(node) if name not in foreign)
        return {name: own for name, names in taken.items() if name not in others for own in names if len(names) == 1}

    def _named_by(self, node: ast.AST) -> ast.Name | None:
        """`f` of an `f.__name__`, where `f` is taken from the candidate's modules."""
        if not (isinstance(node, ast.Attribute) and node.attr == "__name__" and isinstance(node.value, ast.Name)):
            return None
        return node.value if node.value.id in self._taken else None

    def _is_name(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Import | ast.ImportFrom):
            return any(True for _ in self._imported(node))
        return isinstance(node, ast.Name | ast.Attribute) and word_of(node) in self._theirs

    # In which way something depends on it.

    def _way(self, node: ast.AST | None) -> str:
        """How the truth of an expression, or the number of its items, depends on the candidate: "", "presence" or
        "content"."""
        if node is None or not self._is_theirs(node):
            return ""
        if isinstance(node, ast.BoolOp):
            return worst(map(self._way, node.values))
        if isinstance(node, ast.UnaryOp):
            return self._way(node.operand)
        if isinstance(node, ast.IfExp):
            return worst(map(self._way, (node.test, node.body, node.orelse)))
        if isinstance(node, ast.Name):
            return "presence" if node.id in self._present else "content"
        if isinstance(node, ast.Call):
            return self._way_of_call(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._way_of_comparison(node.left, node.ops[0], node.comparators[0])
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return "content" if any(isinstance(each, ast.Starred) for each in node.elts) else ""
        if isinstance(node, ast.Dict):
            return "" if None not in node.keys else "content"
        if isinstance(node, _COMPREHENSIONS):
            sources = [way for part in node.generators for way in map(self._way_of_items, [part.iter])]
            return worst([*sources, *(self._way(each) for part in node.generators for each in part.ifs)])
        return self._way_of_items(node)

    def _way_of_items(self, node: ast.AST) -> str:
        """What lists names."""
        if lists_names(node) or (isinstance(node, ast.Name) and node.id in self._present):
            return "presence"
        if isinstance(node, ast.Attribute):
            return "content" if self._is_theirs(node) else ""
        return self._way(node) if isinstance(node, (*_COMPREHENSIONS, ast.List, ast.Tuple, ast.Call)) else (
            "content" if self._is_theirs(node) else "")  # fmt: skip

    def _way_of_call(self, node: ast.Call) -> str:
        called = word_of(node.func)
        if called in ("sorted", "list", "tuple", "set", "bool", "enumerate", "reversed", "any", "all") and node.args:
            return self._way_of_items(node.args[0]) if called != "bool" else self._way(node.args[0])
        if called in ("hasattr", "callable") or called in _PRESENCE_OF_FILES:
            return "presence"
        is_default = called == "getattr" and len(node.args) == 3 and is_nothing(node.args[2])
        return "presence" if is_default or lists_names(node) else "content"

    def _way_of_comparison(self, left: ast.expr, sign: ast.cmpop, right: ast.expr) -> str:
        if isinstance(sign, ast.In | ast.NotIn) and not self._is_theirs(left):
            return self._way_of_items(right)
        if isinstance(sign, ast.In | ast.NotIn) and lists_names(right) and isinstance(left, ast.Name):
            return "presence"
        if isinstance(sign, ast.Is | ast.IsNot) and is_nothing(right):
            return self._way(left)
        return "content"

    def unheard_skip(self) -> int:
        """The line of a skip that depends on what nobody hears; 0 if there is none."""
        return unheard_skip(self.tree, self._is_theirs, lambda node: self._way(node) == "presence")

    def stated(self, of_image: Collection[str], settings: Collection[str]) -> StatedExcuses:
        """The skips and expected failures that the file states; `settings`: plain values that trusted files have."""
        images = {*of_image, *sys.stdlib_module_names}
        looks = _LOOKS_AT_FILES | _PRESENCE_OF_FILES
        return StatedExcuses(
            self.tree, self._theirs, looks, lambda node: _foreign(node, self._path, self._known), images, settings
        )

    # What is defined.

    def judge(self) -> None:
        """Add what is found to what is known."""
        before = repr(self._found)
        self._body(self.tree.body, ())
        if self._stars and self._is_beside:
            self._found.conditional |= {name for part in self.tree.body for name in tests_in(part)}
        if repr(self._found) != before:
            self._found.files.add(self._path)

    def _body(self, body: Iterable[ast.stmt], ways: tuple[str, ...]) -> None:
        """`ways`: how the blocks around it depend on the candidate."""
        for part in body:
            if isinstance(part, FUNCTIONS):
                self._function(part, ways)
            elif isinstance(part, ast.ClassDef):
                self._class(part, ways)
            elif isinstance(part, BLOCKS):
                self._block(part, ways)
            else:
                self._statement(part, ways)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, ways: tuple[str, ...]) -> None:
        is_hook = node.name.startswith("pytest_") or node.name in ("load_tests", "__getattr__", "__dir__")
        if is_hook and any(self._is_theirs(each) for each in node.body):
            self._hook(node.name)
        if any(ways):
            self._under(ways, {node.name} if is_test(node.name) else set())
        for decorator in node.decorator_list:
            if is_test(node.name):
                self._decorated({node.name}, decorator)
            elif isinstance(decorator, ast.Call) and word_of(decorator.func) == "fixture":
                for given in (each.value for each in decorator.keywords if each.arg == "params"):
                    if way := self._way_of_values(given):
                        self._many(way, decorator.lineno)

    def _class(self, node: ast.ClassDef, ways: tuple[str, ...]) -> None:
        tests = set(tests_in(node))
        if any(ways):
            self._under(ways, tests)
            if not tests and node.bases:  # those of its bases
                self._many(worst(ways), node.lineno)
        if tests:
            for decorator in node.decorator_list:
                self._decorated(tests, decorator)
            if any(map(self._is_theirs, [*node.bases, *(each.value for each in node.keywords)])):
                self._found.conditional |= tests
                self._found.is_by_content = True
        self._body(node.body, ways)

    def _block(self, node: ast.stmt, ways: tuple[str, ...]) -> None:
        if isinstance(node, ast.If) and is_main(node.test):
            return
        way = self._way_of_block(node)
        if isinstance(node, ast.If | ast.While):
            self._body([*node.body, *node.orelse], (*ways, way))
        elif isinstance(node, ast.Try):
            inside = [*node.body, *(each for part in node.handlers for each in part.body), *node.orelse]
            self._body(inside, (*ways, way))
            self._body(node.finalbody, ways)
        elif isinstance(node, ast.For | ast.AsyncFor):
            if way and self._is_defining([*node.body, *node.orelse]):
                self._many(way, node.lineno)
            self._body([*node.body, *node.orelse], (*ways, way))
        elif isinstance(node, ast.With | ast.AsyncWith):
            self._body(node.body, (*ways, way))
        elif isinstance(node, ast.Match):
            self._body([each for case in node.cases for each in case.body], (*ways, way))

    def _statement(self, node: ast.stmt, ways: tuple[str, ...]) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {name for target in targets for name in roots(target)}
            if any(ways) and names & self._classes:
                self._many(worst(ways), node.lineno)
            if any(map(steers_runner, names)) or (self._spells_tests(node) and any((*ways, self._is_theirs(node)))):
                if names == {"pytestmark"} and node.value is not None:
                    marks = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
                    for mark in marks:
                        self._decorated({name for part in self.tree.body for name in tests_in(part)}, mark)
                else:
                    self._assigned(node, ways)
        elif isinstance(node, ast.Delete):
            names = {name for target in node.targets for name in roots(target)}
            self._under(ways, set(filter(is_test, names)))
            if any(ways) and names & self._classes:
                self._many(worst(ways), node.lineno)
        elif isinstance(node, ast.Expr) and self._spells_tests(node):
            way = worst([*ways, "presence" if self._is_theirs(node) else ""])
            if way:
                self._many(way, node.lineno)

    def _assigned(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, ways: tuple[str, ...]) -> None:
        """`__test__ = ...`, `test_it = ...`, `globals()["test_it"] = ...`"""
        way = worst([*ways, "" if self._is_of_own_class(node.value) else self._way(node.value)])
        is_flag = isinstance(node, ast.Assign) and {"__test__"} == {n for t in node.targets for n in roots(t)}
        if way == "content" and not is_flag and self._spells_tests(node):
            way = worst(ways) or "presence"  # what is put there is a test, whatever it does
        if way:
            self._many(way, node.lineno)

    def _is_of_own_class(self, node: ast.expr | None) -> bool:
        """It is what a library's class gives to each class that derives from it (`Machine.TestCase`), asked of one that
        the file defines once, whatever its methods do with the candidate."""
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            return False
        bound = [each for each in ast.walk(self.tree) if node.value.id in bound_by(each)]
        if len(bound) != 1 or not isinstance(bound[0], ast.ClassDef) or bound[0] not in self.tree.body:
            return False
        given = [*bound[0].bases, *(each.value for each in bound[0].keywords), *bound[0].decorator_list]
        stored = {name for each in ast.walk(self.tree) for name in (*bound_by(each), *_set_by(each))}
        return node.attr not in stored and not any(map(self._is_theirs, given))

    def _spells_tests(self, node: ast.AST) -> bool:
        return any(word_of(each) in _DEFINES or word_of(each) in self._makers for each in ast.walk(node))

    def _is_defining(self, body: Iterable[ast.stmt]) -> bool:
        return any(
            self._spells_tests(part) or any(isinstance(each, DEFINITIONS) for each in ast.walk(part)) for part in body
        )

    def _decorated(self, tests: set[str], decorator: ast.expr) -> None:
        if isinstance(decorator, ast.Call) and word_of(decorator.func) in ("parametrize", "expand"):
            first = 1 if word_of(decorator.func) == "parametrize" else 0
            named = (each.value for each in decorator.keywords if each.arg in ("argvalues", "input"))
            given = [*decorator.args[first : first + 1], *named]
            for each in given:
                if way := self._way_of_values(each):
                    self._many(way, decorator.lineno)
            return
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if word_of(called) in _PLAIN_MARKS and not self._is_name(called):
            return
        if self._is_theirs(decorator):
            self._found.conditional |= tests
            self._found.is_by_content = True

    def _way_of_values(self, node: ast.expr) -> str:
        """How the number of parameters depends on the candidate."""
        if isinstance(node, ast.Name) and node.id in self._theirs:
            values = values_of(self.tree, node.id)
            return worst(map(self._way, values)) if values else "content"
        return self._way(node)

    def _hook(self, name: str) -> None:
        if name in _HOOKS_OF_NUMBER:
            self._many("content", 1)
        self._found.is_counted = self._found.is_by_content = True

    def _under(self, ways: tuple[str, ...], tests: set[str]) -> None:
        if way := worst(ways):
            self._found.conditional |= tests
            self._found.is_by_content |= bool(tests) and way == "content"

    def _many(self, way: str, line: int) -> None:
        if way == "content":
            self._found.uncountable = self._found.uncountable or f"{self._path}:{line}"
        self._found.is_counted = True


def _set_by(node: ast.AST) -> Iterator[object]:
    """What an attribute is called that is set here, or may be by `setattr`."""
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        yield node.attr
    elif isinstance(node, ast.Constant):
        yield node.value
