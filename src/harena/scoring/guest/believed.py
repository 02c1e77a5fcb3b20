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
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from harena.scoring.guest.swallowed import Swallowed

_WORD = re.compile(r"[^\W\d]\w*")
_OF_RUNNERS = frozenset({"unittest", "pytest", "_pytest", "python_api", "builtins", "typing"})
_MATCHERS = {"mock": "ANY", "python_api": "approx"}
"""the last part of a library's module -> the name by which tests make what matches more than one value"""


class Believed:
    """The comparisons of one run's trusted files. What they ask is a constant of the code, so that no module has a name
    by which it could be exchanged, and the code is there before the candidate's first instruction."""

    def __init__(self, trusted: Collection[str], texts: Mapping[str, str], swallowed: Swallowed) -> None:
        """`trusted`: paths; `texts`: what those hold that are modules."""
        self._trusted, self._texts, self._swallowed = trusted, texts, swallowed
        asked = compared_beside.comparisons(_Own(trusted, texts.values()).made)
        asked.update(swallowed.functions())
        self._marks = {name: f"{name}{os.urandom(16).hex()}" for name in asked}
        self._asked = {self._marks[name]: function for name, function in asked.items()}

    def compile_modules(self) -> None:
        """From here on, modules of these paths have such comparisons, by whatever `import` they are loaded."""
        codes = {path: code for path, code in map(self._compiled, self._texts) if code is not None}
        read_code = importlib.machinery.SourceFileLoader.get_code

        def get_code(self: Any, fullname: str) -> Any:
            code = codes.get(os.path.realpath(self.path))
            return read_code(self, fullname) if code is None else code

        importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
        sys.dont_write_bytecode = True  # code with such constants cannot be kept

    def _compiled(self, path: str) -> tuple[str, Any]:
        try:
            tree = ast.parse(self._texts[path], path)
            self.put_names(tree)
            return os.path.realpath(path), self.with_asked(
                compile(self.put_marks(tree), path, "exec", dont_inherit=True)
            )
        except (SyntaxError, ValueError, RecursionError):  # its import tells it
            return path, None

    def is_trusted(self, path: Any) -> bool:
        """It is the path of a trusted file."""
        return path is not None and os.path.realpath(os.fspath(path)) in self._trusted

    def put_names(self, tree: Any) -> None:
        """Calls in the place of the comparisons, by names that nothing binds."""
        compared_beside.Comparisons().visit(tree)

    def put_marks(self, tree: Any) -> Any:
        """Marks in the place of these names, which are known in the code that the tree is compiled to; before it, what
        becomes of assertions is told, those that pytest has rewritten, too."""
        self._swallowed.watch(tree)
        return _Marking(self._marks).visit(tree)

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


class _Marking(ast.NodeTransformer):
    def __init__(self, marks: Mapping[str, str]) -> None:
        self._marks = marks

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A condition around the constant: the compiler warns of a text that is called."""
        if node.id not in self._marks:
            return node
        parts = [ast.Constant(value) for value in (True, self._marks[node.id], None)]
        return ast.copy_location(ast.IfExp(*(ast.copy_location(part, node) for part in parts)), node)


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
