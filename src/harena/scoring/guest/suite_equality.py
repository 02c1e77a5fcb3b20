"""Has a suite beside its candidate believe no object that calls itself equal to whatever it is compared with.

The trusted files are compiled with the comparisons of `guest_suite_rewriter`: an object that says to equal a known
value must say no to what is next to it. An object that the tests have made themselves, to match more than one value
(`ANY`, `approx`, one of a class of theirs), is believed. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import os
import re
import sys

from harena.scoring.guest import suite_rewriter
from harena.scoring.guest.comparison_rewriter import hands_functions
from harena.scoring.guest.executed_assertions import DeepTrees
from harena.scoring.guest.hidden_sources import seal_imports
from harena.scoring.guest.library_use_checks import Used
from harena.scoring.guest.plain_values import base_of
from harena.scoring.guest.shared_functions import note_free
from harena.scoring.guest.swallowed_assertions import note_given, root_name
from harena.scoring.guest.unauthorized_access import CALLED_BY
from harena.scoring.guest.watched_operations import WatchedBeside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from harena.scoring.guest.hidden_sources import HiddenTexts
    from harena.scoring.guest.library_integrity import Tools
    from harena.scoring.guest.runner_parts import FunctionRecord
    from harena.scoring.guest.same_class_comparisons import Kin
    from harena.scoring.guest.swallowed_assertions import Swallowed
    from harena.scoring.guest.unauthorized_access import AccessLog
    from harena.scoring.guest.vacuous_comparisons import Hollow

_WORD = re.compile(r"[^\W\d]\w*")
_OF_RUNNERS = frozenset({"unittest", "pytest", "_pytest", "python_api", "builtins", "typing"})
_MATCHERS = {"mock": "ANY", "python_api": "approx"}
"""the last part of a library's module -> the name by which tests make what matches more than one value"""


class Believed:
    """The comparisons of one run's trusted files. What they ask is a constant of the code, so that no module has a name
    by which it could be exchanged, and the code is there before the candidate's first instruction."""

    def __init__(
        self,
        trusted: Collection[str],
        texts: Mapping[str, str],
        swallowed: Swallowed,
        taken: AccessLog,
        tools: Tools,
        hollow: Hollow,
        kin: Kin,
        parts: FunctionRecord,
        hidden: HiddenTexts,
    ) -> None:
        """`trusted`: paths; `texts`: what those hold that are modules."""
        self._trusted, self._texts, self._swallowed, self._taken = trusted, texts, swallowed, taken
        self._hidden = hidden

        def add_class(name: str, kind: type) -> None:
            parts.add_class(name, kind)
            tools.added.add_class(kind)

        self.used = Used(tools, add_class, taken.is_given)
        self._own = _OwnObjects(trusted, texts)
        self._watched = watched = WatchedBeside(hollow, kin, tools.added, self._own.named)
        self._hands = any(map(_hands_functions, texts.values()))
        asked = suite_rewriter.comparisons(self._own.named, self._own.made)
        asked.update(watched.functions(asked))
        asked.update(swallowed.functions())
        asked[CALLED_BY] = taken.called
        asked.update(self.used.functions())
        asked.update(taken.entrusted.functions())
        self._marks = {name: f"{name}{os.urandom(16).hex()}" for name in asked}
        self._asked = {self._marks[name]: function for name, function in asked.items()}

    def compile_modules(self) -> None:
        """From here on, modules of these paths have such comparisons, by whatever `import` they are loaded."""
        codes = {path: code for path, code in map(self._compiled, self._texts) if code is not None}
        seal_imports(codes, self._hidden.may_compile)
        self._texts = {}
        sys.dont_write_bytecode = True  # code with such constants cannot be kept

    def _compiled(self, path: str) -> tuple[str, Any]:
        try:
            tree = ast.parse(self._texts[path], path)
            with DeepTrees():
                self.put_names(tree)
                code = compile(self.put_marks(tree, path), path, "exec", dont_inherit=True)
            return os.path.realpath(path), self.with_asked(code)
        except (SyntaxError, ValueError, RecursionError):  # its import tells it
            return path, None

    def is_trusted(self, path: Any) -> bool:
        """It is the path of a trusted file."""
        return path is not None and os.path.realpath(os.fspath(path)) in self._trusted

    def path_of(self, path: Any) -> Any:
        """The path of a trusted file, which gives the bytes of its text where the file holds them no longer."""
        return self._hidden.path_of(path)

    def put_names(self, tree: Any) -> None:
        """Calls in the place of the comparisons, by names that nothing binds."""
        note_given(tree)
        note_free(tree, self._swallowed.known_names(tree))
        others = self._own.others(tree, self._swallowed.installed)
        suite_rewriter.ComparisonsBeside(tree, others, hands=self._hands).visit(tree)
        self._watched.put_makers(tree)
        self._watched.put_statements(tree)

    def put_marks(self, tree: Any, path: Any) -> Any:
        """Marks in the place of these names, which are known in the code that the tree is compiled to; before it, what
        becomes of assertions is told, those that pytest has rewritten, too."""
        known = self._swallowed.known_names(tree)
        self._swallowed.watch(tree)
        if self._taken.is_test_file(path):
            self._taken.put_all_calls(tree)
        else:
            self._taken.put_calls_of_oracles(tree, path)
        self._watched.put_calls(tree)
        return _Marking(self._marks).visit(self._taken.entrusted.put_in(self.used.put_looks(tree), known))

    def with_asked(self, code: Any) -> Any:
        """The code, with what is asked in the place of its marks."""
        made = []
        for constant in code.co_consts:
            is_mark = type(constant) is str and constant in self._asked
            made.append(
                self._asked[constant] if is_mark
                else self.with_asked(constant) if isinstance(constant, type(code))
                else constant
            )  # fmt: skip
        return code.replace(co_consts=tuple(made))


def _hands_functions(text: str) -> bool:
    try:
        return hands_functions(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):  # its import tells it
        return False


class _Marking(ast.NodeTransformer):
    def __init__(self, marks: Mapping[str, str]) -> None:
        self._marks = marks

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A condition around the constant: the compiler warns of a text that is called."""
        if node.id not in self._marks:
            return node
        parts = [ast.Constant(value) for value in (True, self._marks[node.id], None)]
        return ast.copy_location(ast.IfExp(*(ast.copy_location(part, node) for part in parts)), node)


_line_of = type.__dict__["__mro__"].__get__
_below = type.__dict__["__subclasses__"]


def _classes() -> set[type]:
    """Every class that there is."""
    found: set[type] = {object}
    waiting: list[type] = [object]
    while waiting:
        more = [each for each in _below(waiting.pop()) if each not in found]
        found.update(more)
        waiting += more
    return found


def _paths(kind: type) -> list[str]:
    """The files of the methods that a class has, and of those that it inherits."""
    codes = (getattr(value, "__code__", None) for each in _line_of(kind, type) for value in list(vars(each).values()))
    return [code.co_filename for code in codes if code is not None and hasattr(code, "co_filename")]


class _OwnObjects:
    """What the tests may have made themselves."""

    def __init__(self, trusted: Collection[str], texts: Mapping[str, str]) -> None:
        self._trusted = trusted
        self._words = {word for text in texts.values() for word in _WORD.findall(text)}
        self._here = os.path.join(os.path.realpath(os.getcwd()), "")
        self._classes: set[str] = set()
        """names of the candidate's that the tests use as classes"""
        self._made_kinds: dict[type, bool] = {}
        self._before = _classes()
        self._theirs: list[dict[str, Any]] = []
        """what the modules in the folder of the suite and the candidate have"""
        self._modules_seen = 0

    def others(self, tree: Any, installed: Collection[str]) -> set[str]:
        """The modules that a trusted file imports and that are no library's. What it uses of theirs as classes is known
        from here on."""
        tops: set[str] = set()
        names: set[str] = set()
        modules: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                theirs = [alias for alias in node.names if alias.name.partition(".")[0] not in installed]
                tops.update(alias.name.partition(".")[0] for alias in theirs)
                modules.update(alias.asname or alias.name.partition(".")[0] for alias in theirs)
            elif isinstance(node, ast.ImportFrom):
                top = (node.module or "").partition(".")[0]
                if node.level or top not in installed:
                    tops.add(top)
                    names.update(alias.name for alias in node.names)
        if "*" in names:
            names.update(part.id for part in ast.walk(tree) if isinstance(part, ast.Name))
        names.update(
            part.attr for part in ast.walk(tree) if isinstance(part, ast.Attribute) and root_name(part) in modules
        )
        self._classes.update(name for name in names if name.lstrip("_")[:1].isupper())
        return tops

    def named(self, kind: type) -> bool:
        """A class of the candidate's by a name that the tests use as a class's, or one that is made of it; or one whose
        objects the tests make."""
        if self._is_made_of(kind):
            return True
        line = _line_of(kind, type)
        if len(sys.modules) != self._modules_seen:
            self._modules_seen = len(sys.modules)
            files = [(module, getattr(module, "__file__", None)) for module in list(sys.modules.values())]
            self._theirs = [
                vars(module)
                for module, file in files
                if isinstance(file, str) and os.path.realpath(file).startswith(self._here)
            ]
        return any(each is has.get(name) for has in self._theirs for name in self._classes for each in line)

    def made(self, value: Any) -> bool:
        """An object of a class in a trusted file, or of a library's that the tests speak of."""
        return self._is_made_of(type(value))

    def _is_made_of(self, kind: type) -> bool:
        found = self._made_kinds.get(kind)
        if found is None:
            found = self._made_kinds[kind] = self._is_of_tests(kind)
        return found

    def _is_of_tests(self, kind: type) -> bool:
        paths = _paths(kind)
        theirs = [path for path in paths if not path.startswith((sys.prefix, sys.base_prefix, "<frozen "))]
        if theirs and all(os.path.realpath(path) in self._trusted for path in theirs):
            return True
        if theirs or (kind not in self._before and base_of(kind) is not None):
            return False
        names = str(kind.__module__).split(".")
        file = getattr(sys.modules.get(str(kind.__module__)), "__file__", None)
        if not isinstance(file, str) or not file.startswith((sys.prefix, sys.base_prefix)):
            return False
        if kind.__name__ == "_ANY":
            return "ANY" in self._words
        is_spoken_of = bool(({*names, kind.__name__.strip("_")} - _OF_RUNNERS) & self._words)
        return is_spoken_of or _MATCHERS.get(names[-1]) in self._words
