"""Runs a trusted piece of test code in the module of a candidate, and gives the proof that it ran to its end.

For data sets whose tests are code (`check(candidate)`, lists of asserts) that cannot be read as calls with known
answers. The candidate shares this process, so none of this is out of its reach; it is out of reach of the
forgeries that are known: ending the process, hooks at its end, builtins of its own, ends of loops, functions of its
own in libraries that the tests use, and objects whose operators say what a test expects.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import json
import os
import re
import sys

from harena.scoring.guest.comparison_rewriter import Comparisons, judging
from harena.scoring.guest.early_imports import import_for
from harena.scoring.guest.executed_assertions import JUDGED_NOTHING, DeepTrees, Executed, Failures
from harena.scoring.guest.judged_operations import Judged
from harena.scoring.guest.library_integrity import Tools
from harena.scoring.guest.library_use_checks import Used
from harena.scoring.guest.module_precedence import LibraryFirst
from harena.scoring.guest.own_names import leave_no_names
from harena.scoring.guest.plain_values import Plain
from harena.scoring.guest.rebound_names import GlobalStatements
from harena.scoring.guest.safe_iteration import LOOPS
from harena.scoring.guest.same_class_comparisons import EQUALS_ALL, Kin
from harena.scoring.guest.suite_protocol import COMPARES_NOTHING, HAS_TAKEN, NOTHING, TAKES, TOOK
from harena.scoring.guest.unauthorized_access import CALLED_BY, AccessLog
from harena.scoring.guest.vacuous_comparisons import Hollow
from harena.scoring.guest.watched_operations import WatchedBeside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

REBINDING = re.compile(r"\b(?:global|globals|vars|exec|eval|setattr|modules|__dict__|import_module|__import__)\b")
"""words of a program that may give its module's names other values while the tests run"""


_PATH = "<asserts>"
_MOST_PROGRAMS = 1000
_line_of = type.__dict__["__mro__"].__get__


class TestNames(dict):  # type: ignore[type-arg]
    """The names of the tests' code: their own, and those of the candidate's module as they are at the moment. It is
    slower than a dict, and used where that makes a difference."""

    live: set[str]
    """names that are read in the module"""
    given: set[str]
    lent: set[str]
    module: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        if name in self.live and name in self.module:
            return self.module[name]
        return dict.__getitem__(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        dict.__setitem__(self, name, value)
        if name in self.given or (name in self.lent and name not in self.module):
            self.module[name] = value


class Whose:
    """The owners of the names in the tests' code. Everything that takes a library is done before the candidate runs."""

    def __init__(self, tree: ast.AST, names: Any) -> None:
        used: set[str] = set()
        bound: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                bound.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                bound.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        self.aliases: dict[str, str] = names["aliases"]
        self.tested = set(names["tested"])
        self.state, self.given, self.lent = set(names["state"]), set(names["given"]), set(names["lent"])
        self.shared = self.state | self.given | self.lent
        free = used - bound - set(self.aliases)
        self.live = {name for name in free if name in self.tested or (name not in vars(builtins) and name[:2] != "__")}
        """the candidate's names that the tests use"""
        self.classes = set(names["classes"])
        """names among these that are classes', as far as trusted texts tell"""

    def is_named(self, module: dict[str, Any], kind: type) -> bool:
        """The tests name this class, or one that it derives from."""
        named = [found for found in map(module.get, self.classes) if found is not None]
        return any(each is found for each in _line_of(kind, type) for found in named)

    def names(self, module: Any, trusted: Any, rebinds: bool) -> dict[str, Any]:
        """The globals that the tests' code runs with. Names of builtins are Python's own (`trusted`), whatever the
        candidate has by them, but for those that it is tested for; what the tests bind is theirs, whatever becomes of
        it in the candidate's module. `rebinds`: what that module has may change meanwhile."""
        for name in self.tested:
            trusted.pop(name, None)
        own = {name: value for name, value in module.items() if name not in trusted or name[:2] == "__"}
        for name, function in self.aliases.items():
            first, *steps = function.split(".")
            own[name] = module[first]
            for step in steps:
                own[name] = getattr(own[name], step)
        if self.shared or (rebinds and self.live):
            own = made = TestNames(own)
            made.live, made.module = self.live | self.state, module
            made.given, made.lent = self.given | self.state, self.lent
        dict.__setitem__(own, "__builtins__", trusted)
        return own


def _programs(folder: str) -> Iterator[tuple[str, str]]:
    """Paths and texts of the modules in the candidate's folder."""
    paths = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".py"))
    for _, path in zip(range(_MOST_PROGRAMS), paths):  # noqa: B905 (Python 3.8)
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            yield path, file.read()


def main() -> None:
    """argv: the path of the candidate's entry. Standard input: the proof's word, and below it a JSON object: source,
    names (see `assert_names`)."""
    word, _, written = sys.stdin.buffer.read().decode().partition("\n")
    out = os.dup(1)
    leave, write = os._exit, os.write
    names = vars(builtins)
    kept = dict(names)
    entry = sys.argv[1]
    here = os.path.realpath(os.getcwd())
    path = os.path.join(here, entry)
    request = json.loads(written)
    source = request["source"]
    import_for(source, {entry, *request["theirs"]})
    module = type(sys)(os.path.splitext(entry)[0].replace("/", "."))
    with DeepTrees():
        tree = ast.parse(source)
        taken = AccessLog(lambda what: False, {_PATH: source})
        taken.watch_signals()
        tools = Tools(tree)
        used = Used(tools)
        whose = Whose(tree, request["names"])
        if whose.shared:
            GlobalStatements(whose.shared).visit(tree)
        theirs = whose.tested | {module.__name__.partition(".")[0]}
        executed = Executed(tree, request["modules"], remembers=True)  # it knows the tests' text as it is
        hollow, kin = Hollow(here), Kin()
        hollow.read(_PATH, source)
        watched = WatchedBeside(hollow, kin, tools.added, lambda kind: whose.is_named(vars(module), kind))
        judging_tree = executed.visit(Comparisons(tree, theirs).visit(tools.marked(tree)))
        tests = compile(
            used.put_looks(
                watched.put_calls(watched.put_makers(watched.put_pairs(taken.put_calls(judging_tree, whose.shared))))
            ),
            _PATH,
            "exec",
            dont_inherit=True,
        )
    failures = Failures()
    judged = judging(Judged(Plain(lambda kind: whose.is_named(vars(module), kind))))
    sys.argv[:] = [path]
    leave_no_names()
    sys.meta_path.insert(0, LibraryFirst(here))
    sys.path.insert(0, here)
    module.__file__ = path
    sys.modules[module.__name__] = module
    with open(path, encoding="utf-8-sig") as file:
        program = file.read()
    rebinds = REBINDING.search(program) is not None
    taken.listen({**dict(_programs(here)), path: program})
    hollow.meets([*dict(_programs(here)).values(), program])
    exec(compile(program, path, "exec", dont_inherit=True), vars(module))  # noqa: S102 (the purpose of this process)
    names.update(kept)
    trusted = {**kept, **LOOPS, **judged, **failures.functions(remembers=True), **tools.functions(), **used.functions()}
    trusted.update(watched.functions(trusted))
    trusted[CALLED_BY] = taken.called
    own = whose.names(vars(module), trusted, rebinds)
    exec(tests, own)  # noqa: S102 (the purpose of this process)
    names.update(kept)
    replaced = used.replaced or tools.replaced()
    if replaced:
        write(2, ("the candidate has replaced " + replaced + ", which the tests use\n").encode())
        leave(1)
    if failures.is_failed:
        write(2, b"an assertion of the tests has failed, and its exception was swallowed\n")
        leave(1)
    if untold := kin.untold():
        write(2, f"a {untold} object {EQUALS_ALL}\n".encode())
        leave(1)
    for place in hollow.unexplained():
        write(2, f"{place} {COMPARES_NOTHING}\n".encode())
        leave(1)
    if not failures.has_judged:
        write(2, NOTHING.encode() + b"\n")
        leave(JUDGED_NOTHING)
    if taken.what:
        write(out, b"\n" + TOOK + word.encode() + b"\n")
        write(2, f"{TAKES}{taken.what}\n".encode())
        leave(HAS_TAKEN)
    write(out, b"\nharena-proof " + word.encode() + b"\n")
    leave(0)
