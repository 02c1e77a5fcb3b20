"""The text of test files, out of reach of a candidate that shares their process.

Before its first instruction each file holds blanks in the place of its characters, so that its size and its lines are
what they were, and no way to read it (a link, another name, a program, a library in C) tells anything. The text is a
constant of functions whose code nobody reads unheard: they give it to the runner, which compiles it, and line by line
to tests and libraries that show it, and to no candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import io
import linecache
import os
import pathlib
import re
import sys
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import Any

globals()["__builtins__"] = dict(vars(builtins))
"""what this module's functions find, whatever a program puts in the place of a builtin for a while"""
SEALED = "<harena sealed>"
_MARK = "__harena_sealed__"
_BLANK = re.compile(rb"[^\r\n]")
_IMPORTING = ("<frozen importlib._bootstrap_external>", "/_pytest/assertion/rewrite.py")
_SAME_FILE = frozenset({"abspath", "realpath", "Path", "PurePath", "resolve", "absolute", "fspath", "str"})
_FOLDERS = frozenset({"dirname", "parent", "parents"})
_PLACES = frozenset({"join", "joinpath"})
_STARTS_ANEW = frozenset({"spawn", "forkserver"})
"""words of tests whose functions are loaded from their files by other processes"""


def sealed(function: Callable[..., Any]) -> Any:
    """A function that does the same, and has it as a constant of its code only."""

    def calls(*given: Any, **keywords: Any) -> Any:
        does: Any = "__harena_sealed__"
        return does(*given, **keywords)

    code = calls.__code__
    constants = tuple(function if type(each) is str and each == _MARK else each for each in code.co_consts)
    made = FunctionType(code.replace(co_consts=constants, co_filename=SEALED), {})
    made.__name__ = made.__qualname__ = getattr(function, "__name__", "sealed")
    made.__module__ = getattr(function, "__module__", "")
    return made


class HiddenTexts:
    """The texts of test files that are read by those only who may."""

    def __init__(self, contents: Mapping[str, bytes], is_by_candidate: Callable[[Any], bool]) -> None:
        """`contents`: by path; `is_by_candidate`: whether the candidate has called what runs in a frame."""
        self._contents: dict[str, bytes] = dict(contents)
        self._is_by_candidate = is_by_candidate

    def blanked(self, path: str, content: bytes) -> bytes:
        """What the file holds from here on."""
        return _BLANK.sub(b" ", content) if path in self._contents else content

    def hide(self) -> None:
        """Blank the files."""
        for path, content in self._contents.items():
            seen = os.stat(path)
            with open(path, "wb") as file:
                file.write(self.blanked(path, content))
            os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))

    def show_lines(self) -> None:
        """Have lines of the files shown to tests, from before anybody looks at what libraries consist of."""
        really, contents, getframe = linecache.updatecache, self._contents, sys._getframe
        is_by_candidate = self._is_by_candidate

        def updatecache(filename: Any, module_globals: Any = None) -> Any:
            content = contents.get(filename) if type(filename) is str else None
            if content is None or is_by_candidate(getframe(1)):
                return really(filename, module_globals)
            return io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", "replace").readlines()

        if contents:
            linecache.updatecache = sealed(updatecache)

    def path_of(self, path: Any) -> Any:
        """The path of a trusted file, which gives the bytes of its text where the runner compiles it."""
        content = self._contents.get(os.path.realpath(os.fspath(path)))
        if content is None or not self.may_compile(sys._getframe(1)):
            return path
        return _BlankedPath.of(path, content)

    def may_compile(self, frame: Any) -> bool:
        """The runner compiles a file, or an import does."""
        if not self._is_by_candidate(frame):
            return True
        while frame is not None and frame.f_code.co_filename[:7] == "<harena":
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename.endswith(_IMPORTING)


class _BlankedPath(type(pathlib.Path())):  # type: ignore[misc]
    """A path that knows what its file held."""

    @classmethod
    def of(cls, path: Any, content: bytes) -> Any:
        held = cls(path)
        held.read_bytes = lambda: content
        return held

    __slots__ = ("read_bytes",)


def seal_imports(codes: Mapping[str, Any], may_compile: Callable[[Any], bool]) -> None:
    """From here on, modules of these paths are made of these codes, by whatever `import` they are loaded."""
    loader = importlib.machinery.SourceFileLoader
    read_code, getframe = loader.get_code, sys._getframe

    def get_code(self: Any, fullname: str) -> Any:
        code = codes.get(os.path.realpath(self.path))
        return code if code is not None and may_compile(getframe(1)) else read_code(self, fullname)

    loader.get_code = sealed(get_code)  # type: ignore[method-assign]


def files_to_hide(texts: Mapping[str, str]) -> Iterator[str]:
    """The paths of test files of which no text of theirs speaks: by its name, or by `__file__` other than to find what
    lies beside it. A text that cannot be compiled is told by its import."""
    trees: list[ast.AST] = []
    for text in texts.values():
        try:
            trees.append(ast.parse(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
    said = [each for tree in trees for each in _said(tree)]
    words = {word for each in said for word in re.findall(r"\w+", each)}
    words.update(getattr(node, "id", getattr(node, "attr", "")) for tree in trees for node in ast.walk(tree))
    if words & _STARTS_ANEW or any(_hands_its_file(tree) for tree in trees):
        return
    for path in texts:
        name = os.path.basename(path)
        if not any(name in each for each in said):
            yield path


def _said(tree: ast.AST) -> Iterator[str]:
    """The texts in it that are no descriptions."""
    nodes = list(ast.walk(tree))
    descriptions = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and type(node.value) is str and id(node) not in descriptions:
            yield node.value


def _hands_its_file(tree: ast.AST) -> bool:
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    loads = [node for node in parents if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    folders: set[str] = set()
    for node in loads:
        if node.id == "__file__" and not _finds_what_lies_beside(node, parents, folders, is_folder=False):
            return True
    seen: set[str] = set()
    while folders - seen:
        name = min(folders - seen)
        seen.add(name)
        uses = [node for node in loads if node.id == name]
        if not all(_finds_what_lies_beside(node, parents, folders, is_folder=True) for node in uses):
            return True
    return False


def _finds_what_lies_beside(node: Any, parents: Mapping[Any, Any], folders: set[str], *, is_folder: bool) -> bool:
    """From here a path is made of the file's folder and a constant name. Variables that hold the folder are told in
    `folders`."""
    while True:
        above: Any = parents.get(node)
        if isinstance(above, ast.Attribute):
            is_folder = is_folder or above.attr in _FOLDERS
            if above.attr in _PLACES:
                call = parents.get(above)
                return is_folder and isinstance(call, ast.Call) and _is_text(call.args[:1])
            if above.attr not in _SAME_FILE | _FOLDERS:
                return False
        elif isinstance(above, ast.Subscript) and above.value is node:
            pass  # `parents[1]`
        elif isinstance(above, ast.Call) and above.func is node:
            pass
        elif isinstance(above, ast.Call):
            name = getattr(above.func, "id", getattr(above.func, "attr", ""))
            if name in _PLACES and above.args[:1] == [node]:
                return is_folder and _is_text(above.args[1:2])
            if name in ("insert", "append") and ast.dump(above.func).count("'path'"):
                return is_folder
            if name not in _SAME_FILE | _FOLDERS:
                return False
            is_folder = is_folder or name in _FOLDERS
        elif isinstance(above, ast.BinOp) and isinstance(above.op, ast.Div) and above.left is node:
            return is_folder and _is_text([above.right])
        elif isinstance(above, ast.Assign) and is_folder:
            names = [each.id for each in above.targets if isinstance(each, ast.Name)]
            folders.update(names)
            return len(names) == len(above.targets)
        else:
            return False
        node = above


def _is_text(nodes: Collection[Any]) -> bool:
    return any(
        isinstance(each, ast.Constant) and type(each.value) is str and each.value not in ("", ".") for each in nodes
    )
