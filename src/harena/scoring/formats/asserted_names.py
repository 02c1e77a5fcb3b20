"""What the names of test code stand for: the tests' imports say so, then Python's builtins.

`isclose` of math and of numpy have other tolerances, and both have one name. A name of which the imports do not say
what it is stands for nothing here.
"""

from __future__ import annotations

import ast
import builtins
import collections
import math
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from harena.scoring.python_source import parts_of

_STARRED = {
    module.__name__: getattr(module, "__all__", None) or [name for name in vars(module) if name[0] != "_"]
    for module in (collections, math, typing)
}
"""what a star import of a module binds; of every other module nobody knows here"""
_LITERALS: dict[str, frozenset[str]] = {
    **{name: frozenset({f"builtins.{name}"}) for name in ("set", "frozenset", "dict", "list", "tuple", "float")},
    **{name: frozenset({f"{module}.{name}" for module in ("math", "numpy")}) for name in ("inf", "nan")},
    **{name: frozenset({f"numpy.{name}"}) for name in ("Infinity", "NaN")},
    "math": frozenset({"math"}),
    "np": frozenset({"numpy"}),
    "numpy": frozenset({"numpy"}),
}
"""names that are read as parts of literals, and what they must be"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertedNames:
    """The names of one piece of test code."""

    tested: frozenset[str] | None = None
    """names of the candidate's functions; None: of any one function"""
    bound: Mapping[str, str] = field(default_factory=dict)
    """name -> what an import has bound to it, as `numpy.isclose`"""
    around: AssertedNames | None = None
    """names of the statements before, which hold where these bind nothing else"""
    is_open: bool = False
    """a star import may have bound every other name"""

    @classmethod
    def of(
        cls,
        statements: Iterable[ast.stmt],
        tested: frozenset[str] | None = None,
        *,
        around: AssertedNames | None = None,
    ) -> AssertedNames:
        """What the imports among the statements bind, the later one of two, in addition to those `around` them."""
        bound: dict[str, str] = {}
        is_open = around is not None and around.is_open
        for statement in statements:
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    bound[alias.asname or whole] = whole
            elif isinstance(statement, ast.ImportFrom):
                module = "." * statement.level + (statement.module or "")
                for alias in statement.names:
                    if alias.name != "*":
                        bound[alias.asname or alias.name] = f"{module}.{alias.name}"
                    elif module in _STARRED:
                        bound |= {name: f"{module}.{name}" for name in _STARRED[module]}
                    else:
                        bound.clear()
                        around, is_open = None, True
        return cls(tested=tested, bound=bound, around=around, is_open=is_open)

    def full_name(self, node: ast.expr) -> str:
        """What an expression names, as `math.isclose`; empty where that is not known. `math` needs no import."""
        attributes = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        owner = self._name(node)
        return ".".join([owner, *reversed(attributes)]) if owner else ""

    def _bound(self, name: str) -> str | None:
        found = self.bound.get(name)
        return found if found is not None or self.around is None else self.around._bound(name)

    def _name(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Name):
            return ""
        if (bound := self._bound(node.id)) is not None or self.is_open:
            return bound or ""
        return f"builtins.{node.id}" if node.id in vars(builtins) else node.id if node.id == "math" else ""

    def called(self, node: ast.expr) -> str:
        """The full name of what a call calls; empty for everything else."""
        return self.full_name(node.func) if isinstance(node, ast.Call) else ""

    def is_tested(self, name: str) -> bool:
        """Whether it may be a function of the candidate's."""
        if self.tested is None:
            return self._bound(name) is None and not self.is_open
        return name in self.tested

    def misread(self, node: ast.AST) -> str | None:
        """A name in it that would be read as a part of a literal, and is another thing."""
        used = {part.id for part in parts_of(node) if isinstance(part, ast.Name)} & _LITERALS.keys()
        for name in sorted(used):
            bound = self._bound(name)
            if (bound is not None or self.is_open) and bound not in _LITERALS[name]:
                return name
        return None
