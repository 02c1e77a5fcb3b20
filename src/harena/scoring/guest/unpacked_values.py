"""Has asserts go through what plain values hold, whatever their classes say that they hold.

An instance of a candidate's class that derives from a plain type is judged as the plain value that it is made of
(`guest_plain_values`). Wherever the interpreter itself goes through a value (a loop, an assignment to several names, a
star, two stars, a pattern, a part of a list that is assigned to), it would ask the class's own methods, which may tell
something else each time. So it is given the plain value there, one level at a time: what lies inside stays what it is
until it is gone through, too. Exceptions hold nothing, and their arguments are those that they were made with.

Part of the programs that run trusted tests in one process with a candidate. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import collections
import itertools

from harena.scoring.guest.plain_values import ATOMS, CONTAINERS, STANDARD, Plain, is_known, line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Shape = tuple[Any, ...]
    """an assignment's names: None for one that is not looked into, a shape for several, STAR for one with a star"""

STAR = "*"
LOOPING = frozenset({
    "all", "any", "bytearray", "bytes", "dict", "enumerate", "filter", "frozenset", "iter", "list", "map", "max", "min",
    "reversed", "set", "sorted", "sum", "tuple", "zip",
})  # fmt: skip
"""builtins that go through what they are given"""
_LOOPING_LIBRARIES = frozenset({"itertools", "collections"})
"""modules whose functions do"""
LOOPING_METHODS = frozenset({
    "join", "extend", "extendleft", "update", "union", "intersection", "difference", "symmetric_difference",
    "intersection_update", "difference_update", "symmetric_difference_update", "issubset", "issuperset", "isdisjoint",
    "fromkeys", "writelines",
})  # fmt: skip
"""methods of plain values that go through their arguments"""
SHOWING = frozenset({"keys", "values", "items"})
"""methods by which a mapping shows what it holds"""
_LOOPED, _EACH_LOOPED, _TAKEN, _EACH, _MATCHED, _PLACE, _ARGS, _SLICE = (
    f"__harena_{name}__"
    for name in ("looped", "each_looped", "taken", "each_taken", "matched", "place", "args", "slice")
)
_KEPT = "__harena_kept_{}__"
_SEQUENCES: tuple[type, ...] = (list, tuple, str, bytes)
_LOOPED_OVER = frozenset({*_SEQUENCES, dict, set, frozenset})
_OF_LIBRARY: tuple[Any, ...] = (
    (collections.OrderedDict, lambda held: collections.OrderedDict(collections.OrderedDict.items(held))),
    (collections.deque, lambda held: collections.deque(collections.deque.__iter__(held))),
    (dict, lambda held: dict(dict.items(held))),
)
"""classes of the library from which one may derive -> what makes a plain value of such an object"""
_DEEPEST_PATTERN = 20
_args_of = BaseException.args.__get__  # type: ignore[attr-defined]


class Unpacked:
    """The functions that stand in test code."""

    def __init__(self, plain: Plain) -> None:
        self._plain = plain

    def functions(self) -> dict[str, Callable[..., Any]]:
        """By the names in the test code."""
        return {
            _LOOPED: self.looped,
            _EACH_LOOPED: self.each_looped,
            _TAKEN: self.taken,
            _EACH: self.each_taken,
            _MATCHED: self.matched,
            _PLACE: self.place,
            _ARGS: self.args,
            _SLICE: slice,
        }

    def looped(self, value: Any) -> Any:
        """What is gone through in the place of a value. Raises TypeError for an exception."""
        kind = type(value)
        if kind in ATOMS or kind in CONTAINERS:
            return value
        if BaseException in line_of(kind, type) and not self._plain.is_named(kind):
            raise TypeError(f"{kind.__name__!r} object is not iterable: it is an exception")
        if self._plain.base(value) in _LOOPED_OVER:
            return self._plain.shallow(value)
        made = self._of_library(kind)
        return value if made is None else made[1](value)

    def each_looped(self, values: Any) -> Iterator[Any]:
        """What several values are gone through as, which a star gives to a function that goes through each."""
        return map(self.looped, self.looped(values))

    def _of_library(self, kind: type) -> tuple[type, Callable[[Any], Any]] | None:
        """The container of the library that a class derives from which the tests do not name."""
        if kind in STANDARD:
            return None
        line = line_of(kind, type)
        if STANDARD.isdisjoint(line) or self._plain.is_named(kind):
            return None
        return next((each for each in _OF_LIBRARY if each[0] in line), None)

    def is_mapping(self, value: Any) -> bool:
        """It is of a class that derives from a dict, and that the tests do not name."""
        kind = type(value)
        if kind in ATOMS or kind in CONTAINERS:
            return False
        return self._plain.base(value) is dict or (issubclass(kind, dict) and self._of_library(kind) is not None)

    def taken(self, value: Any, shape: Shape) -> Any:
        """What is assigned to several names, of which some are several again."""
        items = self.looped(value)
        if not any(type(each) is tuple for each in shape):
            return items
        has_star = STAR in shape
        found = [*items] if has_star else [*itertools.islice(iter(items), len(shape) + 1)]
        if len(found) < len(shape) - has_star or (len(found) > len(shape) and not has_star):
            return found  # too few or too many, as the assignment says
        before = shape.index(STAR) if has_star else len(shape)
        behind = len(shape) - before - 1
        for place, inner in [*enumerate(shape[:before]), *enumerate(shape[before + 1 :], -behind)]:
            if type(inner) is tuple:
                found[place] = self.taken(found[place], inner)
        return found

    def each_taken(self, value: Any, shape: Shape) -> Iterator[Any]:
        """Each item, as it is assigned to several names."""
        for item in self.looped(value):
            yield self.taken(item, shape)

    def matched(self, value: Any, depth: int = 0) -> Any:
        """What patterns look into, as deep as they may."""
        if type(value) in ATOMS or depth > _DEEPEST_PATTERN or BaseException in line_of(type(value), type):
            return value
        made = self.looped(value)
        kind = type(made)
        if kind is dict:
            parts = [self.matched(part, depth + 1) for part in made.values()]
            is_same = all(part is before for part, before in zip(parts, made.values()))  # noqa: B905 (Python 3.8)
            return made if is_same else dict(zip(made, parts))  # noqa: B905
        if kind is list or kind is tuple:
            parts = [self.matched(part, depth + 1) for part in made]
            return made if all(part is before for part, before in zip(parts, made)) else kind(parts)  # noqa: B905
        return made

    def place(self, value: Any, index: Any) -> Any:
        """What is in a place: what a plain sequence holds there, where it holds something. A class is asked all the
        same, and what it gives is taken where it is that. What a mapping has under a key is its class's to say: it may
        keep more than it gives, as a cache does."""
        kind = type(value)
        if kind in ATOMS or kind in CONTAINERS:
            return value[index]
        base: Any = self._plain.base(value)
        said = value[index]
        if base not in _SEQUENCES:
            return said
        try:
            holds = base.__getitem__(value, index)
        except (IndexError, TypeError):
            return said
        if type(index) is not slice:
            return said if _is_one(said, holds) else holds
        return said if self._is_same(said, holds) else holds

    def _is_same(self, said: Any, holds: Any) -> bool:
        given = self._plain.shallow(said)
        if type(given) is not type(holds) or len(given) != len(holds):
            return False
        pairs = zip(given, holds)  # noqa: B905 (Python 3.8)
        return all(_is_one(one, other) for one, other in pairs)

    def args(self, value: Any) -> Any:
        """`value.args`, which an exception has from its making."""
        kind = type(value)
        if BaseException in line_of(kind, type) and not self._plain.is_named(kind):
            return _args_of(value, kind)
        return value.args


class Unpacking(ast.NodeTransformer):
    """Puts these functions in the place of what the interpreter goes through."""

    def __init__(self) -> None:
        self._count = itertools.count()

    def visit_Starred(self, node: ast.Starred) -> Any:
        """A star in a display or a call."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and not _is_gone_through(node.value):
            node.value = _of(_LOOPED, node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> Any:
        """Two stars in a display."""
        self.generic_visit(node)
        node.values = [_of(_LOOPED, value) if key is None else value for key, value in zip(node.keys, node.values)]  # noqa: B905
        return node

    def visit_keyword(self, node: ast.keyword) -> Any:
        """Two stars in a call."""
        self.generic_visit(node)
        if node.arg is None:
            node.value = _of(_LOOPED, node.value)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        """`yield from`."""
        self.generic_visit(node)
        node.value = _of(_LOOPED, node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """An assignment, to several names or to a part of a list."""
        self.generic_visit(node)
        shapes = [_shape_of(target) for target in node.targets]
        found = next((shape for shape in shapes if shape is not None), None)
        if found is not None and len(shapes) == 1:
            node.value = _taken(_TAKEN, node.value, found)
        elif found is not None:  # `x = a, b = value`: x is the value itself
            name = _KEPT.format(next(self._count))
            kept = _located(ast.Assign([ast.Name(name, ast.Store())], node.value), node)
            return [kept, *(self._assigned(target, name, node) for target in node.targets)]
        elif len(shapes) == 1 and _is_part(node.targets[0]):
            node.value = _of(_LOOPED, node.value)
        return node

    @staticmethod
    def _assigned(target: ast.expr, name: str, at: ast.stmt) -> Any:
        value: ast.expr = ast.copy_location(ast.Name(name, ast.Load()), at)
        shape = _shape_of(target)
        return _located(ast.Assign([target], value if shape is None else _taken(_TAKEN, value, shape)), at)

    def visit_For(self, node: Any) -> Any:
        """A loop, or a part of a comprehension."""
        self.generic_visit(node)
        shape = _shape_of(node.target)
        node.iter = _of(_LOOPED, node.iter) if shape is None else _taken(_EACH, node.iter, shape)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        """A part of a comprehension."""
        return self.generic_visit(node) if node.is_async else self.visit_For(node)

    def visit_With(self, node: Any) -> Any:
        """`with`, of what it gives to several names."""
        self.generic_visit(node)
        for place, item in enumerate(node.items):
            if item.optional_vars is None or _shape_of(item.optional_vars) is None:
                continue
            name = _KEPT.format(next(self._count))
            target, item.optional_vars = item.optional_vars, ast.copy_location(ast.Name(name, ast.Store()), node)
            rest = node.items[place + 1 :]
            inner = node.body if not rest else [self.visit_With(_located(type(node)(rest, node.body), node))]
            node.items, node.body = node.items[: place + 1], [self._assigned(target, name, node), *inner]
            break
        return node

    visit_AsyncWith = visit_With  # noqa: N815

    def visit_Match(self, node: Any) -> Any:
        """A statement whose patterns look into what they are given, and ask for no class."""
        self.generic_visit(node)
        kinds = {type(part).__name__ for case in node.cases for part in ast.walk(case.pattern)}
        if kinds & {"MatchSequence", "MatchMapping"} and "MatchClass" not in kinds:
            node.subject = _of(_MATCHED, node.subject)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """What is in a place."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return ast.fix_missing_locations(
            ast.copy_location(ast.Call(ast.Name(_PLACE, ast.Load()), [node.value, _index_of(node)], []), node)
        )

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """The arguments of an exception."""
        self.generic_visit(node)
        return _of(_ARGS, node.value) if node.attr == "args" and isinstance(node.ctx, ast.Load) else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """An assignment whose annotation stays as it is."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        """A parameter, which stays as it is."""
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        """A function, whose annotation stays as it is."""
        returns, node.returns = node.returns, None
        self.generic_visit(node)
        node.returns = returns
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815


def goes_through(module: str, function: str) -> bool:
    """A function of a library goes through what it is given, and changes nothing in it."""
    return (module in _LOOPING_LIBRARIES and function != "repeat") or (module, function) == ("functools", "reduce")


def looped_in_place(value: ast.expr) -> ast.expr:
    """An argument of a function that goes through it; a star gives what lies inside, each of which is gone through."""
    if isinstance(value, ast.Starred):
        value.value = _of(_EACH_LOOPED, value.value)
    if isinstance(value, (ast.Constant, ast.Lambda, ast.Starred)):
        return value
    return _of(_LOOPED, value)


def _of(name: str, value: ast.expr) -> ast.expr:
    """A call of what has this name with a value."""
    return ast.fix_missing_locations(ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [value], []), value))


def _is_one(said: Any, holds: Any) -> bool:
    return said is holds or (type(said) is type(holds) and is_known(said) and bool(said == holds))


def _is_gone_through(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == _EACH_LOOPED


def _taken(name: str, value: ast.expr, shape: Shape) -> ast.expr:
    made: Any = _of(name, value)
    made.args.append(_as_constant(shape, value))
    return made  # type: ignore[no-any-return]


def _as_constant(shape: Any, at: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(shape), at)


def _shape_of(target: ast.expr) -> Any:
    if isinstance(target, ast.Starred):
        return STAR
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    return tuple(map(_shape_of, target.elts))


def _is_part(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)


def _index_of(node: ast.Subscript) -> ast.expr:
    """The index as an expression by itself."""
    index: Any = node.slice
    if type(index).__name__ == "Index":  # Python 3.8
        index = index.value
    return _spelled(index, node)


def _spelled(index: Any, at: ast.expr) -> ast.expr:
    if isinstance(index, ast.Slice):
        parts = [part if part is not None else ast.Constant(None) for part in (index.lower, index.upper, index.step)]
        return ast.copy_location(ast.Call(ast.Name(_SLICE, ast.Load()), parts, []), at)
    if type(index).__name__ == "ExtSlice":  # Python 3.8
        return ast.copy_location(
            ast.Tuple([_spelled(getattr(part, "value", part), at) for part in index.dims], ast.Load()), at
        )
    if isinstance(index, ast.Tuple):
        return ast.copy_location(ast.Tuple([_spelled(part, at) for part in index.elts], ast.Load()), at)
    return index  # type: ignore[no-any-return]


def _located(made: Any, at: ast.AST) -> Any:
    return ast.fix_missing_locations(ast.copy_location(made, at))
