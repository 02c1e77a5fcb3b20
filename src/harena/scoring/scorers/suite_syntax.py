"""What the syntax of a suite's files says of the tests that are defined in them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeGuard

BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.With, ast.AsyncWith, ast.Match)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
SETS_UP = frozenset({
    "setUp", "setUpClass", "setUpModule", "asyncSetUp", "setup_method", "setup_class", "setup_module", "setup_function",
})  # fmt: skip
"""functions that a runner calls before tests"""
CLEANUPS = frozenset({"addCleanup", "addClassCleanup", "addModuleCleanup", "addfinalizer"})
"""methods that take what a runner calls after a test"""
MOST_ROUNDS = 20
"""how often a text is gone through to find what its names are made of, each time from what was found before. Every link
of a chain of names that stand against the order of the text takes a round; suites have one or two of them."""


def settled(step: Callable[[], object], size: Callable[[], int]) -> bool:
    """Take the step until it changes the size no more; False where it still does after `MOST_ROUNDS`."""
    for _ in range(MOST_ROUNDS):
        before = size()
        step()
        if size() == before:
            return True
    return False


def outside_of_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Everything that is done as the file is read, and definitions without their bodies."""
    for child in ast.iter_child_nodes(node):
        yield child
        if isinstance(child, FUNCTIONS):
            for part in (*child.decorator_list, *child.args.defaults, *filter(None, child.args.kw_defaults)):
                yield part
                yield from outside_of_functions(part)
        else:
            yield from outside_of_functions(child)


def plain_settings(tree: ast.Module) -> Iterator[str]:
    """Names that a file binds once, at its top, to a value that nobody can change in place and that is made of
    constants and of what `sys`, `os` and `platform` tell."""
    times: Counter[str] = Counter(
        name
        for node in ast.walk(tree)
        for name in (*bound_by(node), *(node.names if isinstance(node, ast.Global) else ()))
    )
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            parts = list(ast.walk(node.value))
            is_plain = not any(isinstance(each, ast.List | ast.Dict | ast.Set | ast.Lambda) for each in parts)
            words = {each.id for each in parts if isinstance(each, ast.Name)}
            if is_plain and words <= {"sys", "os", "platform", "bool", "int"} and times[name] == 1:
                yield name


def given_to(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call, by place and by name."""
    return [*call.args, *(each.value for each in call.keywords)]


def word_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def worst(ways: Iterable[str]) -> str:
    found = set(ways)
    return "content" if "content" in found else "presence" if "presence" in found else ""


def is_test(name: str) -> bool:
    return name[:4].lower() == "test"


def steers_runner(name: str) -> bool:
    """What pytest and unittest look for in a module or a class."""
    return is_test(name) or name.startswith(("__", "pytest", "collect_ignore")) or name == "load_tests"


def is_star(node: ast.ImportFrom) -> bool:
    return any(alias.name == "*" for alias in node.names)


def is_nothing(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def is_main(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare):
        return False
    return any(isinstance(each, ast.Name) and each.id == "__name__" for each in (test.left, *test.comparators))


def lists_names(node: ast.AST) -> bool:
    """`dir(x)`, `vars(x)`, `x.__dict__`, `x.__all__`, and their keys, sorted or not."""
    if isinstance(node, ast.Call):
        called = word_of(node.func)
        if called in ("dir", "vars"):
            return True
        if called in ("sorted", "list", "set", "tuple") and node.args:
            return lists_names(node.args[0])
        if called in ("keys", "items", "values") and isinstance(node.func, ast.Attribute):
            return lists_names(node.func.value)
        return called == "getattr" and len(node.args) > 1 and _is_listing_name(node.args[1])
    return isinstance(node, ast.Attribute) and node.attr in ("__dict__", "__all__")


def _is_listing_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in ("__dict__", "__all__")


def roots(target: ast.AST) -> Iterator[str]:
    """Names that an assignment to this binds or changes."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def is_change(node: ast.AST) -> TypeGuard[ast.Call]:
    """A call that puts something into a list, a set or a dict."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("append", "extend", "add", "update", "insert", "setdefault")
    )


def changed_in(node: ast.AST) -> Iterator[str]:
    """Names that are bound or changed as this is run, but for tests."""
    for part in (node, *outside_of_functions(node)):
        if isinstance(part, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                yield from roots(target)
        elif is_change(part):
            yield from roots(part.func)
        elif isinstance(part, DEFINITIONS) and not is_test(part.name):
            yield part.name
        else:
            yield from import_names(part)


def bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, DEFINITIONS):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    else:
        yield from import_names(node)


def import_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)


def values_of(tree: ast.Module, name: str) -> list[ast.expr]:
    """What a name of the module is bound to, if it is only bound, and never changed."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                found.append(node.value)
                continue
        is_changed = isinstance(node, ast.AugAssign) and name in roots(node.target)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            is_changed = node.attr in ("append", "extend", "insert", "pop", "remove", "clear", "update", "add")
        if is_changed:
            return []
    return found


def tests_in(node: ast.AST) -> Iterator[str]:
    """Names of the test functions in it, also in classes."""
    if isinstance(node, FUNCTIONS) and is_test(node.name):
        yield node.name
    elif isinstance(node, ast.ClassDef):
        for part in node.body:
            yield from tests_in(part)
    elif isinstance(node, BLOCKS):
        for child in ast.iter_child_nodes(node):
            yield from tests_in(child)
