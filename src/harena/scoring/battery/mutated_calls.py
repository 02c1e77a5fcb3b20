"""Mistakes in calls: a call is left out, so that its argument or its object stands in its place, or it is another one.

What is left out gives something like what it is given (`sorted`, `abs`, `.lower()`), so that the mutant still runs, and
only an input that needs the call tells it from the right answer. Calls whose loss cannot show are kept
(`sum(list(x))`, `int(text.strip())`), and so are those that read or convert (`int(input())`), whose loss every run
shows.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

_MOST_USES = 50
"""uses of a name that are looked at: a program may be written to keep its reader busy"""
_WRAPPERS = frozenset(
    ("set", "frozenset", "sorted", "list", "tuple", "reversed", "abs", "round", "int", "floor", "ceil", "trunc", "sqrt",
     "isqrt", "fabs", "unique")
)  # fmt: skip
"""functions whose argument can stand for what they give"""
_METHODS = frozenset(
    ("lower", "upper", "casefold", "capitalize", "title", "swapcase", "strip", "lstrip", "rstrip", "removeprefix",
     "removesuffix", "replace", "zfill", "ljust", "rjust", "center", "translate")
)  # fmt: skip
"""methods whose object can stand for what they give"""
_IN_PLACE = frozenset({"sort", "reverse"})
"""methods that change their object, and give nothing"""
_OTHERS = {
    "min": "max", "max": "min", "any": "all", "all": "any", "sum": "max", "floor": "ceil", "ceil": "floor",
    "startswith": "endswith", "endswith": "startswith", "find": "rfind", "rfind": "find", "isalpha": "isalnum",
    "isdigit": "isalnum", "isalnum": "isalpha",
}  # fmt: skip
"""function or method -> one that takes the same and gives the same type"""
_READS = frozenset({"input", "read", "readline"})
_LAZY = frozenset({"map", "filter", "zip", "range", "enumerate", "reversed", "iter"})
"""functions that give an iterator, which does as well as a list of it or not at all"""
_STRIPS = frozenset({"strip", "lstrip", "rstrip"})

_UNORDERED = frozenset({"set", "frozenset", "sorted", "min", "max", "any", "all", "in"})
"""takers that see neither the order of a collection nor its type"""
_UNTYPED = _UNORDERED | {
    "sum", "len", "list", "tuple", "dict", "deque", "Counter", "enumerate", "zip", "map", "filter", ".join", ".extend",
    ".update", "for", "a copy",
}  # fmt: skip
"""takers that do not see its type"""
_NO_LISTS = frozenset({"set operation", "an attribute"})
"""takers that a list would end"""
_UNSEEN: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("list", "tuple"), _UNTYPED),
    "sorted": _UNORDERED | {"sum", "len", "Counter"},
    "reversed": _UNORDERED | {"sum", "Counter"},
    **dict.fromkeys(("set", "frozenset"), _UNORDERED - {"sorted"} | _NO_LISTS),
    "abs": frozenset({"abs"}),
    **dict.fromkeys(_STRIPS, frozenset({"int", "float", ".split", ".strip"})),
}
"""function or method -> takers for which its loss makes no difference, or is an error in every run"""


def calls_left_out(nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.Call, ast.AST, ast.expr, str]]:
    """(the call, its parent, what stands in its place, how that is said) for each call of a program, whose nodes these
    are, that can be left out."""
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    takers = _Takers(nodes)
    for node in nodes:
        made = _left_out(node, own)
        if made is not None and isinstance(node, ast.Call) and takers.can_tell(node):
            yield node, takers.parents[id(node)], *made


def _left_out(node: ast.AST, own: Collection[str]) -> tuple[ast.expr, str] | None:
    """What stands in the place of a call that is left out, and how that is said; None where there is no such call.

    `own`: functions that the program defines."""
    if not isinstance(node, ast.Call):
        return None
    name = _name(node)
    if isinstance(node.func, ast.Attribute) and name in _METHODS | _IN_PLACE:
        return None if name in _STRIPS and _reads(node.func.value) else (node.func.value, _said(name))
    wraps = name in _WRAPPERS or (name in own and isinstance(node.func, ast.Name))
    if not wraps or not 1 <= len(node.args) <= (2 if name == "round" else 1):
        return None
    if {keyword.arg for keyword in node.keywords} - ({"key", "reverse"} if name == "sorted" else set()):
        return None
    (argument, *_) = node.args
    if isinstance(argument, ast.Starred) or (name == "int" and not isinstance(argument, ast.BinOp)):
        return None
    if name in ("list", "tuple") and (_name(argument) in _LAZY or isinstance(argument, ast.GeneratorExp)):
        return None
    return argument, _said(name)


class _Takers:
    """What takes the values of a program's calls."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self.parents = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
        self._uses: defaultdict[str, list[ast.Name]] = defaultdict(list)
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._uses[node.id].append(node)

    def can_tell(self, node: ast.Call) -> bool:
        """Whether anything can tell that this call is left out."""
        name, parent = _name(node), self.parents.get(id(node))
        if isinstance(parent, ast.Expr):
            return name in _IN_PLACE or name not in _METHODS | _WRAPPERS
        if name in _IN_PLACE:
            return False
        return not self._of_call(node) & _UNSEEN.get(name, frozenset())

    def _of_call(self, node: ast.Call) -> set[str]:
        """What takes its value, in a word; where it gets a name, also the one kind of taker that uses this name."""
        found = {self._of(node)}
        match self.parents.get(id(node)):
            case ast.Assign(targets=[ast.Name(id=name)]) if len(self._uses[name]) <= _MOST_USES:
                takers = {self._of(use) for use in self._uses[name]}
                found |= takers if len(takers) == 1 else set()
        return found

    def _of(self, node: ast.expr) -> str:
        """What takes a value, in a word; empty where it may see all of it."""
        parent = self.parents.get(id(node))
        match parent:
            case ast.Call() if any(argument is node for argument in parent.args):
                return f".{parent.func.attr}" if isinstance(parent.func, ast.Attribute) else _name(parent)
            case ast.Attribute():
                call = self.parents.get(id(parent))
                is_bare = isinstance(call, ast.Call) and call.func is parent and not call.args
                return f".{parent.attr}" if is_bare and parent.attr in ("split", "strip") else "an attribute"
            case ast.For() | ast.comprehension() if parent.iter is node:
                return "for"
            case ast.Starred():
                return "for"
            case ast.Compare(ops=[ast.In() | ast.NotIn()]) if parent.comparators[0] is node:
                return "in"
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor() | ast.Sub()):
                return "set operation"
            case ast.Assign() | ast.AnnAssign():
                return "a copy"
        return ""


def other_function(node: ast.AST) -> str | None:
    """Make it a call of another function that takes the same; how that is said."""
    if not isinstance(node, ast.Call) or (_name(node) == "sum" and len(node.args) != 1):
        return None
    had = _name(node)
    other = _OTHERS.get(had)
    if other is None:
        return None
    if isinstance(node.func, ast.Name):
        node.func = ast.Name(other, ast.Load())
    elif isinstance(node.func, ast.Attribute):
        node.func = ast.Attribute(node.func.value, other, ast.Load())
    return f"{had} becomes {other}"


def _said(name: str) -> str:
    return f"a call of {name[:40]} is left out"


def _name(node: ast.AST) -> str:
    """The last name of what is called; empty where it has none, or nothing is called."""
    called = node.func if isinstance(node, ast.Call) else None
    return called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""


def _reads(node: ast.AST) -> bool:
    """It is read from the input, where what is stripped is mostly the end of a line."""
    return _name(node) in _READS
