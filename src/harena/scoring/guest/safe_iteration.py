"""`map`, `filter` and `iter` for trusted code beside a candidate. Standard library only, from Python 3.8.

The builtin ones take a StopIteration that the candidate raises in a call for the end of what they go through: then
`all(map(is_right, cases))` is true of no case at all. In a generator it is an error like any other.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any


def _map(function: Callable[..., Any], *iterables: Iterable[Any]) -> Iterator[Any]:
    if not iterables:
        raise TypeError("map() must have at least two arguments.")
    return _mapped(function, zip(*[iter(each) for each in iterables]))  # noqa: B905 (no strict= before 3.10)


def _mapped(function: Callable[..., Any], given: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    for parts in given:
        yield function(*parts)


def _filter(function: Callable[[Any], Any] | None, iterable: Iterable[Any]) -> Iterator[Any]:
    return _filtered(function, iter(iterable))


def _filtered(function: Callable[[Any], Any] | None, given: Iterable[Any]) -> Iterator[Any]:
    for part in given:
        if part if function is None else function(part):
            yield part


def _iter(*arguments: Any) -> Iterator[Any]:
    if len(arguments) != 2:
        return iter(*arguments)
    if not callable(arguments[0]):
        raise TypeError("iter(v, w): v must be callable")
    return _until(*arguments)


def _until(function: Callable[[], Any], end: Any) -> Iterator[Any]:
    while True:
        part = function()
        if part is end or end == part:
            return
        yield part


class _Kind(type):
    """What stands for a builtin class is one to `isinstance`, too: of the builtin's objects and of its own."""

    _builtin: Any
    _makes: Any
    _generator: Any

    def __call__(cls, *arguments: Any) -> Any:
        return cls._makes(*arguments)

    def __instancecheck__(cls, found: Any) -> bool:
        return isinstance(found, cls._builtin) or getattr(found, "gi_code", None) is cls._generator.__code__


def _kind(builtin: type, makes: Callable[..., Any], generator: Callable[..., Any]) -> _Kind:
    names = {"_builtin": builtin, "_makes": staticmethod(makes), "_generator": staticmethod(generator)}
    return _Kind(builtin.__name__, (), {**names, "__module__": "builtins"})


LOOPS: dict[str, Any] = {
    "map": _kind(map, _map, _mapped),
    "filter": _kind(filter, _filter, _filtered),
    "iter": _iter,
}
"""by the names that they stand for"""


def names_end(texts: Iterable[str]) -> bool:
    """A suite of these texts may be right to wait for a StopIteration of the candidate's: it names the class, other
    than to raise it. To every other suite a call that raises one has failed, and what ends a loop by it is no pass."""
    for text in texts:
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError):
            continue
        raised = {id(part) for node in nodes if isinstance(node, ast.Raise) for part in ast.walk(node)}
        if any(isinstance(node, ast.Name) and node.id == "StopIteration" and id(node) not in raised for node in nodes):
            return True
    return False
