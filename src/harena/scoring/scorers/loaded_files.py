"""Finds the trusted files that a suite loads, as far as their text tells.

A contract often holds all tests of a library and names one file of them. The others are not run: pytest and unittest
load what is named, `conftest.py`, and what these import. A file that imports in a way that its text does not tell, or a
named file that is not there, may load every other one.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from harena.scoring.scorers.suite_syntax import is_star, word_of

_IMPORTS_UNTOLD = frozenset({
    "__import__", "import_module", "importlib", "runpy", "run_path", "run_module", "pytest_plugins", "load_tests",
    "loadTestsFromName", "loadTestsFromNames", "discover", "iter_modules", "walk_packages", "exec_module",
    "pytest_collect_file", "pytest_pycollect_makemodule",
})  # fmt: skip
_EXECUTES = frozenset({"exec", "eval", "compile"})
"""functions, which methods may share their names with"""


def loaded_files(
    trees: Mapping[str, ast.Module | None], names: Mapping[str, Collection[str]], started: Collection[str]
) -> set[str]:
    """Paths of the files that may be loaded. `trees`: the trusted files; None = one that cannot be parsed. `names`: by
    which each can be imported. `started`: those that the suite begins with."""
    paths_of: dict[str, set[str]] = {}
    for path, known in names.items():
        for name in known:
            paths_of.setdefault(name, set()).add(path)
    waiting = [*started, *(path for path in trees if path.rpartition("/")[2] == "conftest.py")]
    loaded: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in loaded:
            continue
        if path not in trees:
            return set(trees)
        loaded.add(path)
        waiting += [each for name in names[path] for part in _and_parents(name) for each in paths_of.get(part, ())]
        tree = trees[path]
        if tree is None:
            continue
        for node in ast.walk(tree):
            if word_of(node) in _IMPORTS_UNTOLD or (isinstance(node, ast.Name) and node.id in _EXECUTES):
                return set(trees)
            if isinstance(node, ast.ImportFrom) and is_star(node):  # `__all__` of a package may name its modules
                start = imported_from(node, path) + "."
                waiting += [each for name, found in paths_of.items() if name.startswith(start) for each in found]
            named = _sought(node)
            if named is None:
                return set(trees)
            waiting += [each for name in (*named, *_imported(node, path)) for each in paths_of.get(name, ())]
    return loaded


def imported_from(node: ast.ImportFrom, path: str) -> str:
    """The whole name of the module that names are imported from, in the file of this path."""
    if not node.level:
        return node.module or ""
    parts = path.split("/")[: -node.level]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _sought(node: ast.AST) -> list[str] | None:
    """What `pytest.importorskip` is asked for; None where the text does not tell."""
    if not isinstance(node, ast.Call) or word_of(node.func) != "importorskip":
        return []
    name = node.args[0] if node.args else None
    return list(_and_parents(name.value)) if isinstance(name, ast.Constant) and isinstance(name.value, str) else None


def _imported(node: ast.AST, path: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _and_parents(alias.name)
    elif isinstance(node, ast.ImportFrom):
        module = imported_from(node, path)
        yield from _and_parents(module)
        yield from (f"{module}.{alias.name}" if module else alias.name for alias in node.names)


def _and_parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])
