"""Finds the comparisons in test code whose result is used as an object, and not as a truth.

An object's `==` or `<` may give an object: a condition of a query, an expression, a mask. What the tests then call,
look into, index by, or hand on to the candidate claims nothing yet, and is given as it is. Only places where a truth
has no part are such; everywhere else a comparison is a claim, and the candidate's result is believed or is no.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_TRUTHS = frozenset({"all", "any", "sum", "min", "max", "mean", "prod", "item", "tolist", "count", "count_nonzero"})
"""attributes by which the tests ask for one truth of many"""
_KEEPING = frozenset({
    "append", "appendleft", "add", "extend", "insert", "put", "setdefault", "format", "join", "send", "get", "pop",
    "index",
})  # fmt: skip
"""methods that may be those of plain values, which keep, show or seek what they are given"""
_JOINING = (ast.BitAnd, ast.BitOr, ast.BitXor)
_TELLS, _ANSWERS = "__harena_told__", ("told", "told_of")
"""what tells an answer to the host where the expected value is hidden (see `guest_told`)"""
_MOST_LOOKS = 10_000


class Valued:
    """The comparisons of one file of tests."""

    def __init__(self, tree: ast.AST, is_own_call: Callable[[ast.expr], bool]) -> None:
        """`is_own_call`: whether a call is one of a function of the tests', of Python's or of a library's."""
        self._is_own_call = is_own_call
        self._above: dict[int, ast.AST] = {}
        self._loads: dict[str, list[ast.AST]] = {}
        self._left = _MOST_LOOKS
        compared: list[ast.Compare] = []
        self._speaks_of_truths = False
        for node in ast.walk(tree):
            for part in ast.iter_child_nodes(node):
                self._above[id(part)] = node
            if isinstance(node, ast.Compare) and len(node.ops) == 1:
                compared.append(node)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                self._loads.setdefault(node.id, []).append(node)
            elif isinstance(node, ast.Constant) and node.value in ("True", "False"):
                self._speaks_of_truths = True
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                for name in node.names:
                    self._loads.setdefault(name, []).append(node)
        self._found: dict[int, ast.AST] = {}
        for node in compared:
            self._sides = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            if self._is_object(node, frozenset()):
                self._found[id(node)] = node
        self._above.clear()
        self._loads.clear()

    def __contains__(self, node: ast.AST) -> bool:
        return id(node) in self._found

    def _is_object(self, node: ast.AST, names: frozenset[str]) -> bool:
        """What the expression gives is used as an object. `names`: those by which it is, as looked at already."""
        above = self._above.get(id(node))
        if type(above).__name__ == "Index":  # Python 3.8
            node, above = above, self._above.get(id(above))  # type: ignore[assignment]
        self._left -= 1
        if self._left < 0:
            return False
        if isinstance(above, ast.Attribute):
            return above.attr not in _TRUTHS and above.attr[:2] != "__"
        if isinstance(above, ast.Subscript):
            # of what is compared: anybody's table may have an item for a truth
            return above.slice is node and isinstance(above.value, ast.Name) and above.value.id in self._sides
        if isinstance(above, ast.keyword):
            above = self._above.get(id(above))
        if isinstance(above, ast.Call):
            return above.func is node or self._takes_objects(above.func)
        if isinstance(above, ast.BinOp):
            return isinstance(above.op, _JOINING) and self._is_object(above, names)
        if isinstance(above, ast.UnaryOp):
            return isinstance(above.op, ast.Invert) and self._is_object(above, names)
        if isinstance(above, ast.Compare):
            sides = [above.left, *above.comparators]
            is_other_plain = any(isinstance(side, ast.Constant) for side in sides if side is not node)
            is_one = len(sides) == 2 and isinstance(above.ops[0], (ast.Eq, ast.NotEq))
            return is_one and not is_other_plain
        if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
            name = above.targets[0].id
            uses = self._loads.get(name, [])
            return bool(uses) and (name in names or all(self._is_object(each, names | {name}) for each in uses))
        return False

    def _takes_objects(self, func: ast.expr) -> bool:
        """A call hands what it is given to the candidate, or shows it as a text, in a file that names no truth."""
        if isinstance(func, ast.Subscript) and isinstance(func.value, ast.Name) and func.value.id == _TELLS:
            index = func.slice.value if type(func.slice).__name__ == "Index" else func.slice  # type: ignore[attr-defined]
            return isinstance(index, ast.Constant) and index.value in _ANSWERS
        if isinstance(func, ast.Name) and func.id in ("str", "repr"):
            return not self._speaks_of_truths
        if isinstance(func, ast.Attribute):
            if func.attr in _KEEPING or func.attr in _TRUTHS or func.attr.startswith(("assert", "__")):
                return False
        elif not isinstance(func, ast.Name):
            return False
        return not self._is_own_call(func)
