"""Finds the two sides of an assertion among its arguments, whether they are given by place, by name or in a mapping.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_PLACES = {
    **dict.fromkeys(("first", "seq1", "list1", "tuple1", "set1", "d1", "a", "member"), 0),
    **dict.fromkeys(("second", "seq2", "list2", "tuple2", "set2", "d2", "b", "container"), 1),
}
"""names of the two sides of unittest's assertions -> which one it is"""
_BEHIND: tuple[tuple[str, ...], ...] = (("msg", "seq_type"), ("places", "msg", "delta"))
"""what follows the two sides, by place; the second of assertAlmostEqual"""


def are_by_place(node: ast.Call) -> bool:
    """The call spells both sides by their places."""
    return len(node.args) > 1 and not any(isinstance(each, ast.Starred) for each in node.args[:2]) and not _named(node)


def are_elsewhere(node: ast.Call) -> bool:
    """The call gives its sides in another way: by a star, by name, or by a mapping."""
    return bool(_named(node)) or any(isinstance(each, ast.Starred) for each in node.args[:2])


def give_by_place(node: ast.Call, asked: ast.Call) -> None:
    """Have the call take what `asked` makes of its arguments, whose sides may be anywhere, by place."""
    named = _named(node)
    asked.args += node.args
    asked.keywords = named
    node.args = [ast.copy_location(ast.Starred(asked, ast.Load()), node)]
    node.keywords = [each for each in node.keywords if each not in named]


def _named(node: ast.Call) -> list[ast.keyword]:
    """Arguments that are sides, or a mapping that may hold them."""
    return [each for each in node.keywords if each.arg is None or each.arg in _PLACES]


def arranged(positional: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """The arguments by place, the two sides first. Raises TypeError for a name that no assertion knows."""
    found = list(positional)
    for name in sorted(_PLACES.keys() & named.keys(), key=lambda each: _PLACES[each]):
        found.insert(_PLACES[name], named[name])
    rest = {name: value for name, value in named.items() if name not in _PLACES}
    order = _BEHIND["places" in rest or "delta" in rest]
    for name in rest:
        if name not in order:
            raise TypeError(f"an assertion got an unexpected keyword argument {name!r}")
    while rest and len(found) >= 2:
        name = order[len(found) - 2]
        found.append(rest.pop(name, None))
    return found
