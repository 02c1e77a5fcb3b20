"""Turns an unknown keyword argument into a TypeError that suggests the one that was meant."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_MEANT = {
    "timeout": "timeout_seconds",
    "environment": "env",
    "environment_variables": "env",
    "working_dir": "cwd",
    "workdir": "cwd",
    "input": "stdin",
    "grace_seconds": "graceful_shutdown_seconds",
}


def hinting(function: Callable[P, T]) -> Callable[P, T]:
    """A decorator: misspelt keywords of `function` are told with the nearest there is."""
    valid = frozenset(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        if not kwargs.keys() <= valid:
            wrong = next(name for name in kwargs if name not in valid)
            likely = _MEANT.get(wrong)
            close = [likely] if likely in valid else difflib.get_close_matches(wrong, sorted(valid), n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"valid names are {', '.join(sorted(valid - {'self'}))}"
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {wrong!r}; {hint}")
        return function(*args, **kwargs)

    return checked
