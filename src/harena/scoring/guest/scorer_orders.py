"""Whether a score of a `python` scorer rests on a NaN, which is neither less nor more than any number.

`min(1, nan)` is 1, and `nan > 0.01` is false: who answers with NaN passes every check that asks whether an answer is
too far off. So where a score was given and the scorer may have met a NaN, it is run twice again: once every NaN counts
as less than all numbers where it is compared, once as more than them. The lowest of the three scores is what the answer
is worth. A NaN that is told by text, or that a library makes of numbers, is the same here.

What is compared is what the author's source compares, and what `min`, `max`, `sorted`, `sort`, `bisect`, `heapq`,
`operator` and numpy's functions of that kind are given. Tables of pandas are left as they are: NaN is their word for a
cell that is empty. A source that names NaN itself (`math.isnan`, `x != x`) has its own way with it, and is not asked.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from harena.scoring.guest.scorer import Run, value_of
    from harena.scoring.guest.scorer_faults import sources_of, tree_of

_MOST_TEXT = 2_000
"""characters of numbers that are not large whose sums and products overflow no float"""
_DEEPEST = 4
"""how deep in lists and tuples a NaN is looked for"""
_PLAIN_MODULES = frozenset({
    "__future__", "abc", "ast", "bisect", "cmath", "collections", "copy", "csv", "dataclasses", "datetime", "decimal",
    "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "html", "io", "itertools", "json", "math",
    "numbers", "operator", "random", "re", "statistics", "string", "textwrap", "typing", "unicodedata",
})  # fmt: skip
"""what is made with these of a text has no NaN that the text does not spell, or reach by large numbers"""
_MAKES_NAN = re.compile(r"(?i)nan|inf|\de\+?\d\d|\d{20}")
_TEXTS = ("stdout", "stderr", "answer", "files", "candidate")
_EXECUTES = frozenset({"__import__", "compile", "eval", "exec", "globals", "vars", "getattr", "builtins"})
_NAMES_NAN = frozenset({
    "dropna", "fillna", "finite", "isfinite", "isna", "isnan", "isnull", "nan", "nanargmax", "nanargmin", "nancumsum",
    "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile", "nans", "nanstd", "nansum",
    "nanvar", "notna", "notnull",
})  # fmt: skip
"""words of names, which are parted by `_`"""
_SAYS_NAN = re.compile(r"(?i)\bnan\b")
_ORDERED, _SORTS = "__harena_ordered__", "__harena_sorts__"
_TWO = ("lt", "le", "gt", "ge", "eq", "ne")
_OF_MODULES = {
    "operator": _TWO,
    "bisect": ("bisect", "bisect_left", "bisect_right", "insort", "insort_left", "insort_right"),
    "numpy": (
        "argmax", "argmin", "argsort", "digitize", "equal", "fmax", "fmin", "greater", "greater_equal", "histogram",
        "less", "less_equal", "not_equal", "searchsorted", "sort",
    ),
}  # fmt: skip


def may_rest_on_nan(source: str, seen: dict[str, Any]) -> bool:
    """Whether a scorer that does not name NaN may have met one: it uses what may make it, or the text may be it."""
    texts = sources_of(source)
    trees = [tree_of(text) for text in texts.values()]
    if any(tree is None or _names_nan(tree, set(texts.values())) for tree in trees):
        return False
    read = [name for name in _TEXTS if any(name in text for text in texts.values())]
    told: list[Any] = []
    for name in read or _TEXTS:
        told += seen[name].values() if isinstance(seen[name], dict) else [seen[name]]
    if any(len(text) > _MOST_TEXT or _MAKES_NAN.search(text) for text in told if isinstance(text, str)):
        return True
    return any(_uses_more(tree, is_held=len(texts) > 1) for tree in trees if tree is not None)


def _names_nan(tree: ast.Module, texts: set[str]) -> bool:
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            text = node.value if isinstance(node.value, str) and id(node) not in said else ""
            if text not in texts and _SAYS_NAN.search(text):
                return True
            continue
        if isinstance(node, ast.Compare):
            sides = [ast.dump(side) for side in (node.left, *node.comparators)]
            if len(set(sides)) < len(sides):
                return True
        names = [getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname")]
        for name in names:
            if isinstance(name, str) and (name == "parse_constant" or not _NAMES_NAN.isdisjoint(_words(name))):
                return True
    return False


def _words(name: str) -> list[str]:
    return name.lower().split("_")


def _uses_more(tree: ast.Module, *, is_held: bool) -> bool:
    """It imports what may make a NaN, or executes texts; a grader's own scorer executes the grader's (`is_held`)."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            if any(name.partition(".")[0] not in _PLAIN_MODULES for name in names):
                return True
        if not is_held and (getattr(node, "id", "") in _EXECUTES or getattr(node, "attr", "") in _EXECUTES):
            return True
    return False


class Order:
    """Where a NaN stands in the order of the numbers during one run."""

    nan_is = float("-inf")
    has_met = False


def ordered(value: Any, depth: int = _DEEPEST) -> Any:
    """What is compared in the place of a value: each NaN of it is less, or more, than all numbers."""
    kind = type(value)
    if isinstance(value, float) or kind.__name__ == "Decimal":
        if value == value:
            return value
        Order.has_met = True
        return Order.nan_is if isinstance(value, float) else kind(Order.nan_is)
    if kind in (list, tuple) and depth:
        made = [ordered(part, depth - 1) for part in value]
        return kind(made) if any(new is not old for new, old in zip(made, value)) else value  # noqa: B905
    if kind.__module__.partition(".")[0] in ("numpy", "torch"):
        return _ordered_array(value)
    return value


def _ordered_array(value: Any) -> Any:
    try:
        missing = value != value
        if not missing.any():
            return value
        made = Order.nan_is
        if value.ndim:
            made = value.clone() if hasattr(value, "clone") else value.copy()
            made[missing] = Order.nan_is
    except Exception:  # noqa: BLE001 - whatever a library says of a type of its own: it is compared as it is
        return value
    Order.has_met = True
    return made


def _key_of(key: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    return ordered if key is None else lambda part: ordered(key(part))


def _extreme(plain: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*told: Any, key: Any = None, **named: Any) -> Any:
        if key is not None:
            return plain(*told, key=_key_of(key), **named)
        parts = list(told[0]) if len(told) == 1 else list(told)
        return plain([ordered(part) for part in parts], **named)

    return extreme


def _sorted(plain: Callable[..., Any]) -> Callable[..., Any]:
    return lambda parts, key=None, reverse=False: plain(parts, key=_key_of(key), reverse=reverse)


def _sorting(owner: Any) -> Any:
    """The method `sort` of what may be a list."""
    if type(owner) is not list:
        return owner.sort
    return lambda key=None, reverse=False: owner.sort(key=_key_of(key), reverse=reverse)


def _told_ordered(plain: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *told, **named: plain(*map(ordered, told), **named)


def _first_of(*, largest: bool) -> Callable[..., Any]:
    return lambda number, parts, key=None: sorted(parts, key=key, reverse=largest)[: max(0, number)]


class _Asks(ast.NodeTransformer):
    """What is compared is asked for its place first."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Both sides, but where the question is what a thing is or holds."""
        self.generic_visit(node)
        if all(isinstance(one, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for one in node.ops):
            return node
        node.left = _call(_ORDERED, node.left)
        node.comparators = [_call(_ORDERED, side) for side in node.comparators]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The method of a list that compares its parts."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sort":
            node.func = _call(_SORTS, node.func.value)
        return node


def _call(name: str, value: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[value], keywords=[]), value)


def _that_asks(source: str) -> ast.Module:
    tree = ast.parse(source)
    _Asks().visit(tree)
    return ast.fix_missing_locations(tree)


def _orders_everywhere(asking: dict[str, ast.Module]) -> None:
    """Functions that compare what they are given ask for its place from here on; texts are compiled as `asking` says
    of them."""
    plain = builtins.compile

    def compiled(text: Any, *told: Any, **named: Any) -> Any:
        return plain(asking.get(text, text) if isinstance(text, str) else text, *told, **named)

    for name, function in _changed():
        module, _, attribute = name.rpartition(".")
        setattr(sys.modules[module], attribute, function)
    builtins.compile = compiled  # type: ignore[assignment]
    setattr(builtins, _ORDERED, ordered)
    setattr(builtins, _SORTS, _sorting)


def _changed() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module, names in _OF_MODULES.items():
        try:
            place = importlib.import_module(module)
        except ImportError:
            continue
        for name in names:
            if hasattr(place, name):
                yield f"{module}.{name}", _told_ordered(getattr(place, name))
    importlib.import_module("heapq")
    yield "heapq.nlargest", _first_of(largest=True)
    yield "heapq.nsmallest", _first_of(largest=False)
    yield "builtins.min", _extreme(min)
    yield "builtins.max", _extreme(max)
    yield "builtins.sorted", _sorted(sorted)


def lowest_of_orders(source: str, seen: dict[str, Any], run: Callable[[dict[str, Any]], Run]) -> dict[str, Any]:
    """`lowest`: the lower score of the two orders; None where no NaN is compared."""
    lowest, highest = min, max
    asking = {text: _that_asks(text) for text in sources_of(source).values()}
    _orders_everywhere(asking)
    found: list[float] = []
    for place in ("-inf", "inf"):
        Order.nan_is = float(place)
        try:
            value = value_of(asking[source], run(seen))[0]
        except BaseException:  # noqa: BLE001 - whatever a scorer raises, SystemExit too, is no score
            value = 0.0
        if not Order.has_met:
            return {"lowest": None}
        found.append(lowest(1.0, highest(0.0, value)) if value == value else 0.0)
    return {"lowest": lowest(found)}
