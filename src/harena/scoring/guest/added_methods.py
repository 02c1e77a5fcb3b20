"""What a candidate beside the tests has added to their classes, and whether the tests have used it.

A program that gives a class of theirs an order of its own (`ListNode.__lt__ = ...`, for a heap) changes nothing that
they see, unless they put its objects in an order themselves. So an order, or a text for people, that a class had none
of and has got meanwhile, counts as an exchange only where the tests compare such an object, hand it to what orders
things or makes texts of them, or write one into a text. Standard library only, Python 3.8 and up.
"""

from __future__ import annotations

import ast
import builtins
import sys
from types import BuiltinFunctionType, FunctionType, MethodType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

globals()["__builtins__"] = dict(vars(builtins))
"""what this module's functions find, whatever a program puts in the place of a builtin for a while"""
_ORDERS = frozenset({"__lt__", "__le__", "__gt__", "__ge__"})
_TEXTS = frozenset({"__repr__", "__str__"})
_SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})
_USING = frozenset({sorted, min, max, str, repr, format, ascii})
"""builtins that order things, or make texts of them"""
_NAMES = frozenset({"sorted", "min", "max", "str", "repr", "format", "ascii", "lt", "le", "gt", "ge", "sort"}) | _ORDERS
"""names of what does so, which a text may hand to somebody"""
_KEEPING = frozenset(
    {"builtins", "copy", "collections", "itertools", "random", "weakref", "gc", "sys", "typing", "types"}
)
"""modules whose functions do neither, but for those above"""
_RUNNERS = frozenset({"doctest", "unittest", "pytest", "_pytest"})
"""modules whose functions end tests, each called by a line of the tests: nothing stands between. What they compare is
noted as the tests' own comparisons are"""
_MOST_PARTS = 3000
_line_of = type.__dict__["__mro__"].__get__


class Added:
    """The classes of the tests that a candidate may add something to."""

    def __init__(self, texts: Iterable[ast.AST] = ()) -> None:
        """`texts`: the trees of all trusted files."""
        self._classes: dict[int, tuple[type, frozenset[str]]] = {}
        """class and its names at first, by `id`"""
        self.exchanged = ""
        """what such an object was used with though its class had got it later; empty where nothing was"""
        self._used: set[int] = set()
        trees = list(texts)
        self._are_shown, self._is_handed = any(map(_shows, trees)), any(map(_hands, trees))

    def add_class(self, kind: type) -> None:
        """From here on, it is known of this class whether the tests use it so."""
        self._classes[id(kind)] = kind, frozenset(vars(kind))

    def is_free(self, kind: type, name: str) -> bool:
        """The class has got this later, there was nothing of it before, and the tests have not used it."""
        if id(kind) not in self._classes or id(kind) in self._used or self._is_handed:
            return False
        is_order = name in _ORDERS or (name in _TEXTS and not self._are_shown)
        return is_order and all(name not in vars(each) for each in _line_of(kind, type)[1:] if each is not object)

    def uses(self, *values: Any) -> None:
        """The tests use these values so."""
        if not self._classes:
            return
        waiting = [each for each in values if type(each) not in _SCALARS]
        for count, value in enumerate(waiting):
            if count > _MOST_PARTS:
                for each, _ in list(self._classes.values()):
                    self._use(each)
                return
            kind = type(value)
            for each in _line_of(kind, type) or ():
                if id(each) in self._classes:
                    self._use(each)
            parts = (
                [*value, *value.values()] if kind is dict else value if kind in (list, tuple, set, frozenset) else ()
            )
            waiting += [each for each in parts if type(each) not in _SCALARS]

    def _use(self, kind: type) -> None:
        self._used.add(id(kind))
        new = (_ORDERS | _TEXTS).intersection(vars(kind)) - self._classes[id(kind)][1]
        if new and not self.exchanged:
            self.exchanged = f"{kind.__name__}.{min(new)}"

    def watching(self, judged: Callable[..., Any]) -> Callable[..., Any]:
        """What computes or compares in the place of Python's operators, of which the operands are noted."""

        def using(sign: Any, *sides: Any, **named: Any) -> Any:
            if self._classes and sign not in ("==", "!=", "in", "not in"):
                self.uses(*sides, *named.values())
            return judged(sign, *sides, **named)

        return using

    def calling(self, function: Any) -> Any:
        """The function; one that may use its arguments so notes them, and what it gives."""
        if not self._classes or not _may_use(function):
            return function
        owner = getattr(function, "__self__", None)
        held = (owner,) if type(owner) is list else ()

        def using(*positional: Any, **named: Any) -> Any:
            self.uses(*held, *positional, *named.values())
            result = function(*positional, **named)
            self.uses(result, *held)
            return result

        using.__wrapped__ = function  # type: ignore[attr-defined]
        return using


def _may_use(function: Any) -> bool:
    kind = type(function)
    if kind is BuiltinFunctionType:
        owner = function.__self__
        if type(owner) is list:
            return bool(function.__name__ == "sort")
        return function in _USING or _is_using_module(function.__module__)
    if kind is MethodType:
        function, kind = function.__func__, type(function.__func__)
    if kind is FunctionType:
        file = function.__globals__.get("__file__")
        return type(file) is str and file.startswith(_installed()) and _is_using_module(function.__module__)
    return isinstance(function, type) and function in _USING


def _is_using_module(module: Any) -> bool:
    top = module.partition(".")[0] if type(module) is str else ""
    return bool(top) and top not in _RUNNERS and top.lstrip("_") not in _KEEPING


def _installed() -> tuple[str, ...]:
    return (sys.prefix, sys.base_prefix)


def _shows(tree: ast.AST) -> bool:
    """A text of the tests' has a place for values that is not only for who reads why an assertion has failed."""
    messages = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.Assert) and node.msg for part in ast.walk(node.msg)
    }
    return any(
        (isinstance(node, ast.FormattedValue) or getattr(node, "attr", "") in ("format", "format_map"))
        and id(node) not in messages
        for node in ast.walk(tree)
    )


def _hands(tree: ast.AST) -> bool:
    """The text hands on a function that orders things or makes texts of them, or keeps it by another name."""
    nodes = list(ast.walk(tree))
    callees = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    kinds = {id(part) for node in nodes for part in _kinds(node)}
    used = (node for node in nodes if id(node) not in callees and id(node) not in kinds)
    return any(getattr(node, "id", getattr(node, "attr", "")) in _NAMES for node in used)


def _kinds(node: ast.AST) -> Iterator[ast.AST]:
    """What says a class (`isinstance(x, str)`) or annotates something, and is called by nobody."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
        yield from (part for each in node.args[1:] for part in ast.walk(each))
    for field in ("annotation", "returns"):
        annotation = getattr(node, field, None)
        if isinstance(annotation, ast.AST):
            yield from ast.walk(annotation)
