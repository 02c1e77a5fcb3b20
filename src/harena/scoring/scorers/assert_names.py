"""The owner of each name where trusted asserts and a candidate share a process: the tests, the candidate, or both.

In plain Python all of them are one module's. Then a candidate could define `sorted`, or rebind `expected`, and so
decide what the tests compare. So the tests have names of their own, and what they share with the candidate is told from
trusted texts alone: the tests, and the contract's gold solution.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from harena.scoring.bounded_cache import kept_for_small
from harena.scoring.python_source import parts_of, syntax_tree

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_PURE = frozenset(
    {*("abs", "all", "any", "bin", "bool", "chr", "dict", "divmod", "enumerate", "filter", "float", "format")}
    | {*("frozenset", "hex", "int", "iter", "len", "list", "map", "max", "min", "next", "oct", "ord", "pow", "range")}
    | {*("repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip", "bytes", "complex")}
)
"""builtins that say nothing about any candidate"""
_BUILTINS = frozenset(vars(builtins))


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertNames:
    """The names of one piece of test code that are not simply the tests' own."""

    tested: tuple[str, ...] = ()
    """names of builtins that are the candidate's functions"""
    state: tuple[str, ...] = ()
    """variables that the gold solution rebinds, and the tests, too: both see one value"""
    given: tuple[str, ...] = ()
    """what the tests define for the candidate to use; it takes the place of what the candidate has by that name"""
    lent: tuple[str, ...] = ()
    """what the tests define for the candidate to use if it has nothing by that name"""
    classes: tuple[str, ...] = ()
    """names of the candidate's that the tests use as classes: of a gold solution's classes where there is one"""
    unclear: str = ""
    """why nobody can tell what the tests call"""

    def fields(self) -> dict[str, object]:
        """The fields as values of JSON, for `guest.asserts`."""
        return asdict(self)


class _Names:
    """The names of one program."""

    def __init__(self, tree: ast.Module) -> None:
        self.body = tree.body
        self.loaded: set[str] = set()
        self.called: set[str] = set()
        self.classes: set[str] = set()
        self.functions: set[str] = set()
        self.imported: set[str] = set()
        self.variables: set[str] = set()
        self.global_ones: set[str] = set()
        self.inner: set[str] = set()
        self.used_as_classes: set[str] = set()
        for node in parts_of(tree):
            if isinstance(node, ast.Name):
                (self.loaded if isinstance(node.ctx, ast.Load) else self.inner).add(node.id)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self.called.add(node.func.id)
                if node.func.id in ("isinstance", "issubclass") and len(node.args) == 2:
                    self.used_as_classes |= {part.id for part in parts_of(node.args[1]) if isinstance(part, ast.Name)}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                self.used_as_classes.add(node.value.id)
            elif isinstance(node, ast.ClassDef):
                self.inner.add(node.name)
                self.used_as_classes |= {base.id for base in node.bases if isinstance(base, ast.Name)}
            elif isinstance(node, ast.Global):
                self.global_ones.update(node.names)
            elif isinstance(node, ast.arg):
                self.inner.add(node.arg)
            elif isinstance(node, _Function | ast.ClassDef):
                self.inner.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.inner.update(_imported(node))
            elif isinstance(node, ast.ExceptHandler) and node.name:
                self.inner.add(node.name)
        for node in _outer(tree.body):
            if isinstance(node, _Function):
                self.functions.add(node.name)
            elif isinstance(node, ast.ClassDef):
                self.classes.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.imported.update(_imported(node))
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self.variables.add(node.id)
        self.variables |= self.global_ones
        self.called |= {part.id for node in parts_of(tree) if isinstance(node, ast.Call) for part in node.args
                        if isinstance(part, ast.Name)} & _BUILTINS  # fmt: skip

    @property
    def free(self) -> set[str]:
        """Names that are used and nowhere bound; those of builtins are among them."""
        return self.loaded - self.inner - self.global_ones


def _capital(names: Iterable[str]) -> set[str]:
    """Names that are written as a class's name is."""
    return {name for name in names if name.lstrip("_")[:1].isupper()}


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return  # it tells how the text is to be read
    yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)


def _outer(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Parts that are not within a function, a class or a comprehension, and these themselves."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _Function | ast.ClassDef | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp
                          | ast.GeneratorExp):  # fmt: skip
            waiting += [part for part in ast.iter_child_nodes(node) if type(part) is not ast.Constant]


@kept_for_small(64, 1 << 18)
def assert_names(tests: str, gold: str | None) -> AssertNames:
    """The shared names of test code, with the text of a gold solution where there is one."""
    mine = _read(tests)
    theirs = _read(gold) if gold is not None else None
    if mine is None:
        return AssertNames()
    if theirs is None:
        return _without_gold(mine)
    needed = theirs.free
    defined = (mine.functions | mine.classes) & needed
    given = defined | ((mine.variables - _BUILTINS) & (needed | theirs.variables))
    return AssertNames(
        tested=tuple(sorted(_tested(mine, theirs))),
        state=tuple(sorted(mine.variables & theirs.global_ones)),
        given=tuple(sorted(given)),
        lent=tuple(sorted(mine.imported & needed)),
        classes=tuple(sorted((theirs.classes | _capital(theirs.variables)) & mine.loaded)),
    )


def tested_builtins(tests: str, gold: str | None) -> frozenset[str]:
    """Names of builtins that are functions of the gold solution, as the tests call them. One that only other functions
    of the gold's use is a helper, and the tests mean Python's own."""
    mine, theirs = _read(tests), _read(gold or "")
    return frozenset() if mine is None or theirs is None else _tested(mine, theirs)


def _tested(mine: _Names, theirs: _Names) -> frozenset[str]:
    defined = (theirs.functions | theirs.classes | _lambdas(theirs.body)) & mine.free & _BUILTINS
    outer = {name for name in defined if not _is_used_elsewhere(theirs.body, name)}
    only_these = not (mine.free - _BUILTINS)
    return frozenset(outer or (defined if only_these else ()))


def defined_classes(program: str | None) -> frozenset[str]:
    """The names of a program's classes."""
    names = _read(program or "")
    return frozenset(names.classes if names is not None else ())


def _without_gold(mine: _Names) -> AssertNames:
    unused = (mine.functions | mine.variables) - mine.loaded - _BUILTINS
    called = mine.called & mine.free
    tested, unclear = frozenset[str](), ""
    if called and mine.free <= _PURE and not mine.imported:
        if len(called) == 1:
            tested = frozenset(called)
        else:
            names = ", ".join(sorted(called))
            unclear = f"the asserts name only functions that Python has itself ({names}): say with `calls`, or by a "
            unclear += "`gold` solution, which of them are the candidate's"
    return AssertNames(
        tested=tuple(sorted(tested)),
        given=tuple(sorted(unused)),
        lent=tuple(sorted((mine.classes | mine.imported) - unused)),
        classes=tuple(sorted(_capital(mine.free) | (mine.used_as_classes & mine.free))),
        unclear=unclear,
    )


def _read(program: str) -> _Names | None:
    try:
        return _Names(syntax_tree(program))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _lambdas(body: Iterable[ast.stmt]) -> set[str]:
    return {
        target.id
        for part in body
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Lambda)
        for target in part.targets
        if isinstance(target, ast.Name)
    }


def _is_used_elsewhere(body: Iterable[ast.stmt], name: str) -> bool:
    """Outside of its own definition."""
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for part in body
        if getattr(part, "name", None) != name
        for node in parts_of(part)
    )
