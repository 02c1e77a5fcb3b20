"""Turns an unknown keyword argument into a TypeError that suggests the one that was meant."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Collection
from typing import Any, ParamSpec, TypeVar

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
    "blueprint": "blueprint_id",
}


def hinting(function: Callable[P, T]) -> Callable[P, T]:
    """A decorator: misspelt keywords of `function` are told with the nearest there is."""
    valid = keyword_names(function)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        refuse_unknown(function.__name__, kwargs, valid)
        return function(*args, **kwargs)

    return checked


ANY = "**"
"""stands among the names of a function's keywords where it takes every other one, too"""


def keyword_names(function: Callable[..., Any]) -> frozenset[str]:
    """The keywords that a function takes; with `ANY` where it has a `**parameter`."""
    parameters = inspect.signature(function).parameters.values()
    return frozenset(ANY if one.kind is one.VAR_KEYWORD else one.name for one in parameters)


def refuse_unknown(function: str, given: Collection[str], valid: frozenset[str]) -> None:
    """Raises TypeError for the first `given` keyword that is not `valid`, with the nearest one that is. Where the
    function takes any, only for one that is known to be another name of a keyword that it has."""
    for wrong in given:
        if wrong not in valid:
            likely = _MEANT.get(wrong)
            if ANY in valid and likely not in valid:
                continue
            hint = nearest_name(wrong, valid - {"self"}, likely)
            raise TypeError(f"{function}() got an unexpected keyword argument {wrong!r}; {hint}")


def nearest_name(wrong: str, valid: Collection[str], likely: str | None) -> str:
    """The valid name that was perhaps meant, or all there are. `likely`: what is known to mean the same elsewhere."""
    close = [likely] if likely in valid else difflib.get_close_matches(wrong, sorted(valid), n=1)
    return f"did you mean {close[0]!r}?" if close else f"valid names are {', '.join(sorted(valid))}"
