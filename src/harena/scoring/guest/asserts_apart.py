"""Runs a trusted piece of test code in a suite whose candidate lives elsewhere. Standard library only.

The candidate's names in the code are those of its module's stand-in, as they are at the moment; what the code binds is
its own, and where trusted texts tell that the candidate has it, too, it is set there as well.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import sys

from harena.scoring.guest.executed_assertions import DeepTrees, Executed, Failures
from harena.scoring.guest.rebound_names import GlobalStatements
from harena.scoring.guest.standins import StandInClass
from harena.scoring.guest.suite_protocol import NOTHING
from harena.scoring.guest.swallowing_exits import sources
from harena.scoring.guest.vacuous_comparisons import watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class JudgedNothingError(Exception):
    """The test code executed no assertion."""


class NamesApart(dict):  # type: ignore[type-arg]
    """The names of the test code, which finds there what it has not bound itself."""

    module: Any
    """the stand-in for the candidate's module"""
    tested: frozenset[str]
    """names of builtins that are the candidate's functions"""
    state: frozenset[str]
    given: frozenset[str]
    lent: frozenset[str]

    def __missing__(self, name: str) -> Any:
        if name[:2] == "__" or (name in vars(builtins) and name not in self.tested):
            raise KeyError(name)
        try:
            found = getattr(self.module, name)
        except AttributeError:
            raise KeyError(name) from None
        if hasattr(type(found), "_harena_of_class") or isinstance(found, StandInClass):  # a function, or a class
            dict.__setitem__(self, name, found)  # each look would be a question, and nobody binds these anew
        return found

    def module_names(self) -> set[str]:
        """Names of the candidate's that this may find there."""
        return {name for name in dir(self.module) if name not in vars(builtins) or name in self.tested}

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self.state:
            dict.__setitem__(self, name, value)
        # what the candidate has by a name is not asked for: a library that it has lent is a module of its process
        if name in self.given or name in self.state or (name in self.lent and name not in dir(self.module)):
            setattr(self.module, name, value)


def prepared(name: str, entry: str, names: Any) -> Callable[[], None]:
    """What runs the trusted module `name` to its end; it is there from now on, empty. `entry`: the candidate's module;
    `names`: see `assert_names`, with `aliases` and `modules`. What it runs raises what the test code raises, and
    JudgedNothingError."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    path = str(module.__file__)
    tree = ast.parse(sources[path])
    shared = frozenset((*names["state"], *names["given"], *names["lent"]))
    with DeepTrees():
        if shared:
            GlobalStatements(shared).visit(tree)
        # there the interpreter looks names up past any subclass of dict
        inner = {part.id for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in ast.walk(node)
                 if isinstance(part, ast.Name)}  # fmt: skip
        tree = watched(Executed(tree, names["modules"]).visit(tree))
        code = compile(tree, path, "exec", dont_inherit=True)

    def run() -> None:
        failures = Failures()
        own = NamesApart({**vars(module), **failures.functions(), "__builtins__": builtins})
        own.module = importlib.import_module(entry)
        candidate = vars(own.module)["__harena__"]
        own.tested = frozenset(names["tested"])
        own.state, own.given, own.lent = (frozenset(names[kind]) for kind in ("state", "given", "lent"))
        for alias, function in names["aliases"].items():
            found = own.module
            for step in function.split("."):
                found = getattr(found, step)
            dict.__setitem__(own, alias, found)
        for each in inner - own.keys():
            if each in own.module_names():
                dict.__setitem__(own, each, getattr(own.module, each))
        try:
            exec(code, own)  # noqa: S102 (the purpose of this process)
        except BaseException:  # whatever the tests end with is raised again: a note says what it may come from
            if candidate.has_objects:
                candidate.note("it uses objects of the candidate's own classes, which stand-ins only look like")
            raise
        if not failures.has_judged:
            raise JudgedNothingError(NOTHING)

    return run
