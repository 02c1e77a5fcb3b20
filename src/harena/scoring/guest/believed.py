"""Has a suite beside its candidate believe no object that calls itself equal to whatever it is compared with.

The trusted files are compiled with the comparisons of `guest_compared_beside`: an object that says to equal a known
value must say no to what is next to it. An object that the tests have made themselves, to match more than one value
(`ANY`, `approx`, one of a class of theirs), is believed. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import importlib.machinery
import os
import re
import sys

from harena.scoring.guest import compared_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

_WORD = re.compile(r"[^\W\d]\w*")
_OF_RUNNERS = frozenset({"unittest", "pytest", "_pytest", "python_api", "builtins", "typing"})
_MATCHERS = {"mock": "ANY", "python_api": "approx"}
"""the last part of a library's module -> the name by which tests make what matches more than one value"""


def compare_as_believed(trusted: Collection[str], texts: Iterable[str]) -> None:
    """From here on, modules of these paths are compiled with such comparisons. `texts`: what they hold."""
    compared_beside.made_by_tests.append(_Own(trusted, texts).made)
    compile_source = importlib.machinery.SourceFileLoader.source_to_code

    def source_to_code(self: Any, data: Any, path: Any, **keywords: Any) -> Any:
        if os.path.realpath(os.fspath(path)) not in trusted:
            return compile_source(self, data, path, **keywords)
        tree = ast.parse(data, path) if isinstance(data, (bytes, str)) else data
        return compile(with_comparisons(tree), path, "exec", dont_inherit=True)

    importlib.machinery.SourceFileLoader.source_to_code = source_to_code  # type: ignore[method-assign]


def with_comparisons(tree: Any) -> Any:
    """The module's tree, changed, with an import of what it then needs."""
    compared_beside.Comparisons().visit(tree)
    aliases = [
        ast.alias("compared", compared_beside.COMPARED),
        ast.alias("pair", compared_beside.PAIR),
        ast.alias("member", compared_beside.MEMBER),
    ]
    needed = ast.ImportFrom("harena.scoring.guest.compared_beside", aliases, 0)
    place = 0
    for place, part in enumerate([*tree.body, None]):  # noqa: B007 (behind the text and what has to be first)
        is_text = isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
        if not is_text and not (isinstance(part, ast.ImportFrom) and part.module == "__future__"):
            break
    needed.lineno = needed.end_lineno = tree.body[min(place, len(tree.body) - 1)].lineno if tree.body else 1
    needed.col_offset = needed.end_col_offset = 0
    tree.body.insert(place, ast.fix_missing_locations(needed))
    return tree


class _Own:
    """What the tests may have made themselves."""

    def __init__(self, trusted: Collection[str], texts: Iterable[str]) -> None:
        self._trusted = trusted
        self._words = {word for text in texts for word in _WORD.findall(text)}

    def made(self, value: Any) -> bool:
        """An object of a class in a trusted file, or of a library's that the tests speak of."""
        kind = type(value)
        names = str(kind.__module__).split(".")
        file = getattr(sys.modules.get(str(kind.__module__)), "__file__", None)
        code = getattr(getattr(kind, "__eq__", None), "__code__", None)
        if code is not None and os.path.realpath(code.co_filename) in self._trusted:
            return True
        if not isinstance(file, str) or not file.startswith((sys.prefix, sys.base_prefix)):
            return False
        if code is not None and not code.co_filename.startswith((sys.prefix, sys.base_prefix)):
            return False
        is_spoken_of = bool(({*names, kind.__name__.strip("_")} - _OF_RUNNERS) & self._words)
        return is_spoken_of or _MATCHERS.get(names[-1]) in self._words
