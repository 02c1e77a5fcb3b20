"""Which texts of a `python` scorer are templates that its author wrote, and which may be a candidate's.

A template reads what it is given: `text.format(run)` reads attributes, `text % table` and `Template(text)` read keys,
the replacement of `re.sub` reads what was matched, a format specification decides how much of a value is said. A
candidate that writes the template can so state what it does not know. Only what is built from constants of the source
is its author's; `%` between numbers is no template.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from harena.scoring.contracts.scorer_bindings import Bindings, has_stars

_MOST_DEPTH, _MOST_ROUNDS = 50, 6
"""depth of an expression, and rounds over names that are bound to names: what is beyond is taken for a candidate's"""
_NESTED = re.compile(r"\{[^{}:]*+:[^{}]*+\{([^{}:!]*)")
"""a specification that is given its parts"""
_NUMBER_FUNCTIONS = frozenset({
    "Decimal", "Fraction", "bool", "complex", "float", "hash", "id", "int", "len", "ord",
})  # fmt: skip
_NUMBERS_OF_NUMBERS = frozenset({"abs", "round", "sum"})
"""a class may say what they give; `sum` begins with a number unless it is given something else"""
_NUMBER_CLASSES = frozenset({"decimal.Decimal", "fractions.Fraction"})
_NUMBER_METHODS = frozenset({"count", "find", "index", "rfind", "rindex"})
_NEVER_TEXTS = (
    ast.BitAnd, ast.BitOr, ast.BitXor, ast.Div, ast.FloorDiv, ast.LShift, ast.Pow, ast.RShift, ast.Sub,
)  # fmt: skip
"""operators that no text has"""
_TEMPLATE_PLACES: Mapping[str, tuple[int, str]] = {
    "Template": (0, "template"),
    "expand": (0, "template"),
    "strftime": (0, "format"),
    "sub": (0, "repl"),
    "subn": (0, "repl"),
}
"""function or method -> which argument is a template"""
_STRUCT = ("Struct", "iter_unpack", "pack", "pack_into", "unpack", "unpack_from")
_FORMATS = frozenset({"format", "format_map"})
_IMPORTED_PLACES: Mapping[str, tuple[int, str]] = {
    "re.sub": (1, "repl"),
    "re.subn": (1, "repl"),
    "string.Template": (0, "template"),
    "time.strftime": (0, "format"),
    **dict.fromkeys((f"struct.{name}" for name in _STRUCT), (0, "format")),
}
"""positions and names of template parameters of a module's functions"""

_OPERATOR_METHOD = re.compile(r"__\w+__")
_NO_OPERATORS = frozenset({
    "__bool__", "__class__", "__contains__", "__doc__", "__enter__", "__eq__", "__exit__", "__hash__", "__init__",
    "__iter__", "__len__", "__main__", "__next__", "__post_init__", "__repr__", "__slots__", "__str__",
})  # fmt: skip
_Test = Callable[[ast.expr, int], bool]


class Templates:
    """What stands for templates in one source."""

    def __init__(self, tree: ast.AST, modules: Mapping[str, str], *, others_bind_names: bool) -> None:
        self._modules = modules
        bindings = Bindings(tree)
        self._origins = bindings.origins
        self._functions = frozenset() if others_bind_names else bindings.sole_functions
        self._own_attributes = bindings.own_attributes
        self._bound = frozenset(bindings.of) | bindings.unknown
        self._called = frozenset(id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call))
        self._numbers = frozenset() if others_bind_names else frozenset(bindings.of) - bindings.unknown
        self._constants = self._numbers - bindings.called_numbers
        self._constants = _narrowed(self, "_constants", bindings, self.is_authors)
        self._numbers = _narrowed(self, "_numbers", bindings, self.is_number)
        constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        self._has_nested = any(isinstance(value, str) and _NESTED.search(value) for value in constants)
        self._seen = frozenset(
            id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and self._is_harmless(node)
        )

    def doubt(self, node: ast.AST) -> str | None:
        """What of the node may be formatted by the candidate's text; None = nothing."""
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in self._seen:
            module = self._module(node)
            if module is not None and f"{module}.{node.attr}" not in _IMPORTED_PLACES:
                return None  # as `operator.sub`
            if module is not None:
                return f"`{module}.{node.attr}` with what may be the candidate's text"
            if node.attr in _FORMATS and not (self.is_authors(node.value) and not self._is_nested(node.value)):
                return f"`.{node.attr}` of what may be the candidate's text"
            return f"`.{node.attr}` with what may be the candidate's text" if node.attr in _TEMPLATE_PLACES else None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in self._seen:
            is_builtin = node.id == "format" and node.id not in self._functions
            is_variable = node.id in self._bound and id(node) not in self._called
            is_imported = not _IMPORTED_PLACES.keys().isdisjoint(self._origins.get(node.id, ()))
            if (is_builtin and not is_variable) or is_imported:
                return f"`{node.id}` with what may be the candidate's text"
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            parts = [part.value for part in node.format_spec.values if isinstance(part, ast.FormattedValue)]
            return None if all(map(self._is_specification, parts)) else "a format specification of a value"
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Mod):
            left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
            if not (self.is_number(left) or self.is_authors(left) or self._is_authors_number(right)):
                return "`%` after what may be the candidate's text"
        return None

    def is_authors(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether the value is made of constants of the source alone, and cannot be changed."""
        below = depth + 1
        if depth > _MOST_DEPTH:
            return False
        if isinstance(node, ast.Name):
            return node.id in self._constants
        if isinstance(node, ast.BinOp):
            return self.is_authors(node.left, below) and self.is_authors(node.right, below)
        if isinstance(node, ast.IfExp):
            return self.is_authors(node.body, below) and self.is_authors(node.orelse, below)
        if isinstance(node, ast.Tuple):
            return all(self.is_authors(item, below) for item in node.elts)
        return isinstance(node, ast.Constant) or (
            isinstance(node, ast.UnaryOp) and self.is_authors(node.operand, below)
        )

    def is_number(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether the value cannot be a text."""
        below = depth + 1
        if depth > _MOST_DEPTH:
            return False
        if isinstance(node, ast.Name):
            return node.id in self._numbers
        if isinstance(node, ast.Constant):
            return not isinstance(node.value, str | bytes)
        if isinstance(node, ast.BinOp):
            never = isinstance(node.op, _NEVER_TEXTS) and not self._has_own_operators
            return never or self._is_number_by_operands(node, below)
        if isinstance(node, ast.IfExp):
            return self.is_number(node.body, below) and self.is_number(node.orelse, below)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._gives_number(node, node.func.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_method = node.func.attr in _NUMBER_METHODS and node.func.attr not in self._own_attributes
            return is_method or self._module(node.func) == "math"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return True
        return isinstance(node, ast.UnaryOp | ast.Compare) and not self._has_own_operators

    @property
    def _has_own_operators(self) -> bool:
        """Whether a class of the source may say what an operator gives."""
        return any(_OPERATOR_METHOD.fullmatch(name) for name in self._own_attributes - _NO_OPERATORS)

    def _gives_number(self, call: ast.Call, name: str) -> bool:
        if not _NUMBER_CLASSES.issuperset(self._origins.get(name, ())):
            return False
        if name in _NUMBERS_OF_NUMBERS:
            is_usual = name != "sum" or (len(call.args) == 1 and not call.keywords and not has_stars(call))
            return is_usual and not self._has_own_operators
        return name in _NUMBER_FUNCTIONS

    def _module(self, node: ast.Attribute) -> str | None:
        """The module, where the name stands for it in the whole source."""
        if not isinstance(node.value, ast.Name) or len(self._origins.get(node.value.id, ())) > 1:
            return None
        return self._modules.get(node.value.id)

    def _is_number_by_operands(self, node: ast.BinOp, depth: int) -> bool:
        left = self.is_number(node.left, depth)
        if isinstance(node.op, ast.Mod):
            return left
        right = self.is_number(node.right, depth)
        return (left and right) if isinstance(node.op, ast.Mult) else (left or right)

    def _is_authors_number(self, node: ast.expr) -> bool:
        return self.is_authors(node) and self.is_number(node)

    def _is_specification(self, node: ast.expr) -> bool:
        return self.is_authors(node) or self.is_number(node)

    def _is_nested(self, receiver: ast.expr) -> bool:
        """Whether an author's template may hold a specification that it is given."""
        if isinstance(receiver, ast.Constant):
            return isinstance(receiver.value, str) and _NESTED.search(receiver.value) is not None
        return self._has_nested

    def _is_harmless(self, call: ast.Call) -> bool:
        """A call whose template is its author's, or a function."""
        if isinstance(call.func, ast.Name):
            if call.func.id == "format":
                return all(map(self._is_specification, call.args[1:])) and not has_stars(call)
            origins = self._origins.get(call.func.id, frozenset())
            place = _IMPORTED_PLACES.get(next(iter(origins))) if len(origins) == 1 else None
            return place is not None and self._has_own(call, *place)
        if not isinstance(call.func, ast.Attribute):
            return False
        if call.func.attr in _FORMATS:
            return self._formats_by_its_own(call, call.func.value)
        place = _TEMPLATE_PLACES.get(call.func.attr)
        if isinstance(call.func.value, ast.Name) and call.func.value.id in self._modules:
            place = _IMPORTED_PLACES.get(f"{self._module(call.func)}.{call.func.attr}")
        return place is not None and self._has_own(call, *place)

    def _has_own(self, call: ast.Call, place: int, keyword: str) -> bool:
        given = [*call.args[place : place + 1], *(part.value for part in call.keywords if part.arg == keyword)]
        if len(given) != 1 or has_stars(call):
            return False
        is_function = isinstance(given[0], ast.Lambda) or (
            isinstance(given[0], ast.Name) and given[0].id in self._functions
        )
        return is_function or self.is_authors(given[0])

    def _formats_by_its_own(self, call: ast.Call, receiver: ast.expr) -> bool:
        if not self.is_authors(receiver):
            return False
        if not self._is_nested(receiver):
            return True
        if not (isinstance(receiver, ast.Constant) and isinstance(receiver.value, str)) or has_stars(call):
            return False
        named = {part.arg: part.value for part in call.keywords}
        found = _NESTED.findall(receiver.value)
        parts = [named.get(name) for name in found]
        return receiver.value.count("{") == len(found) * 2 and all(
            part is not None and self._is_specification(part) for part in parts
        )


def _narrowed(known: Templates, kind: str, bindings: Bindings, test: _Test) -> frozenset[str]:
    """The names of which the test holds wherever they are bound, if it holds of each other."""
    for _ in range(_MOST_ROUNDS):
        names: frozenset[str] = getattr(known, kind)
        holds: dict[int, bool] = {}  # many names may be bound to one long expression
        for value in (value for name in names for value in bindings.of[name]):
            if id(value) not in holds:
                holds[id(value)] = test(value, 0)
        left = frozenset(name for name in names if all(holds[id(value)] for value in bindings.of[name]))
        if left == names:
            return names
        setattr(known, kind, left)
    return frozenset()
