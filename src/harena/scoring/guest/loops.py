"""`map` and `filter` for trusted code that shares its process with a candidate. Standard library only, from Python 3.8.

The builtin ones take a StopIteration that the candidate raises in a call for the end of what they go through: then
`all(map(is_right, cases))` is true of no case at all. In a generator it is an error like any other.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any


def _map(function: Callable[..., Any], *iterables: Iterable[Any]) -> Iterator[Any]:
    for parts in zip(*iterables):  # noqa: B905 (no strict= before 3.10)
        yield function(*parts)


def _filter(function: Callable[[Any], Any] | None, iterable: Iterable[Any]) -> Iterator[Any]:
    for part in iterable:
        if part if function is None else function(part):
            yield part


class _Kind(type):
    """What stands for a builtin class is one to `isinstance`, too: of the builtin's objects and of its own."""

    _builtin: Any
    _generator: Any

    def __call__(cls, *arguments: Any) -> Any:
        return cls._generator(*arguments)

    def __instancecheck__(cls, found: Any) -> bool:
        return isinstance(found, cls._builtin) or getattr(found, "gi_code", None) is cls._generator.__code__


LOOPS: dict[str, Any] = {
    "map": _Kind("map", (), {"_builtin": map, "_generator": staticmethod(_map), "__module__": "builtins"}),
    "filter": _Kind("filter", (), {"_builtin": filter, "_generator": staticmethod(_filter), "__module__": "builtins"}),
}
"""by the names that they stand for"""
