"""Looks of a suite at its own files, and tables of its helpers, which are the same whoever the candidate is.

A suite may read its parameters from a file that lies beside it (`(Path(__file__).parent / "cases.json").read_text()`),
or make a test of each file of a folder of its own (`(HERE / "data").glob("*.txt")`). A candidate has no part in that:
the files are trusted, and none can be taken away. What it may add to such a folder is one more test.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from fnmatch import fnmatchcase

from harena.scoring.scorers.suite_syntax import bound_by, values_of, word_of

_READS = frozenset({"open", "read_text", "read_bytes", "loadtxt", "genfromtxt", "readlines", "getsize", "stat"})
_LISTS = frozenset({"glob", "iglob", "rglob"})
_LISTS_FOLDERS = frozenset({"iterdir", "listdir", "scandir"})
LOOKS = _READS | _LISTS | _LISTS_FOLDERS
_DEFINING = frozenset({"globals", "vars", "locals", "exec", "eval", "setattr", "__dict__"})
_MOST_PARTS = 200
"""nodes of one path, names followed"""


def is_trusted_look(node: ast.AST, tree: ast.Module, trusted: Collection[str], looks: Collection[str]) -> bool:
    """The call reads or lists files that are the suite's own, by a path that begins where the suite lies. `looks`: all
    words by which a file looks at files."""
    if not isinstance(node, ast.Call) or (word := word_of(node.func)) not in LOOKS:
        return False
    parts = list(_followed(node, tree))
    if len(parts) > _MOST_PARTS or not any(word_of(each) == "__file__" for each in parts):
        return False
    module = node.func.value if isinstance(node.func, ast.Attribute) else None  # `glob.glob(...)`
    if any(word_of(each) in looks and each is not node.func and each is not module for each in parts):
        return False
    texts = [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    data = [path for path in trusted if not path.endswith(".py")]
    if word in _READS:
        patterns = list(filter(None, (_pattern(each) for each in parts if isinstance(each, ast.JoinedStr))))
        return any(_is_end(path, text) for path in data for text in texts) or any(
            fnmatchcase(path, each) or fnmatchcase(path, f"*/{each}") for path in data for each in patterns
        )
    if word in _LISTS:
        patterns = [text.rpartition("/")[2] for text in texts if set(text) & set("*?")]
        names = [path.rpartition("/")[2] for path in data]
        return bool(patterns) and all(any(fnmatchcase(name, each) for name in names) for each in patterns)
    folders = [text.strip("/") for text in texts if text.strip("/.")]
    return any(_is_of_data(folder, trusted) for folder in folders)


def parts_beside(
    node: ast.AST,
    tree: ast.Module,
    trusted: Collection[str],
    looks: Collection[str],
    is_theirs: Callable[[ast.AST], bool],
) -> Iterator[ast.AST]:
    """The parts of a node, but for looks at the suite's own files in which nothing is the candidate's."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if is_trusted_look(part, tree, trusted, looks) and not any(map(is_theirs, ast.walk(part))):
            continue
        yield part
        waiting += ast.iter_child_nodes(part)


def _followed(node: ast.AST, tree: ast.Module) -> Iterator[ast.AST]:
    """The parts of an expression, and of what its names are bound to once."""
    waiting: list[ast.AST] = [node]
    seen: set[str] = set()
    count = 0
    while waiting and count <= _MOST_PARTS:
        for part in ast.walk(waiting.pop()):
            count += 1
            yield part
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id not in seen:
                seen.add(part.id)
                waiting += values_of(tree, part.id)


def _is_end(path: str, text: str) -> bool:
    return bool(text) and (path == text.lstrip("./") or path.endswith("/" + text.lstrip("./")))


def _pattern(text: ast.JoinedStr) -> str:
    """What names of files a text matches, of which a part is computed (`f"cases/{name}.json"`); empty where it could be
    any name."""
    said = [each.value if isinstance(each, ast.Constant) else None for each in text.values]
    written = "".join(each for each in said if isinstance(each, str)).strip("./")
    if not written or set(written) & set("*?["):
        return ""
    return "".join("*" if each is None else str(each) for each in said).lstrip("./")


def _is_of_data(folder: str, trusted: Collection[str]) -> bool:
    """A folder of this name has files of the suite's, and no modules."""
    inside = [path for path in trusted if path.startswith(folder + "/") or f"/{folder}/" in path]
    return bool(inside) and not any(path.endswith(".py") for path in inside)


def tables_of(tree: ast.Module) -> Iterator[str]:
    """Names that a file binds to a literal, and does not speak of again: tables that say the same for everybody."""
    nodes = list(ast.walk(tree))
    if any(word_of(each) in _DEFINING for each in nodes):
        return
    times = Counter(name for node in nodes for name in ([node.id] if isinstance(node, ast.Name) else bound_by(node)))
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        target = node.target if isinstance(node, ast.AnnAssign) else target
        if isinstance(target, ast.Name) and times[target.id] == 1 and _is_literal(node.value):  # type: ignore[attr-defined]
            yield target.id


def _is_literal(node: ast.expr | None) -> bool:
    if node is None:
        return False
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
