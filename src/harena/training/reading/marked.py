"""Which functions read what others made."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""by their names, module and all; those of MODULES, once these are imported"""
MODULES = (
    "harena.training.data.model_files",
    "harena.training.objects",
    "harena.training.objects.capability",
    "harena.training.objects.dataset",
    "harena.training.objects.model",
    "harena.training.objects.task",
    "harena.training.data.row_files",
    "harena.training.data.repeated_rows",
    "harena.training.environments.tasks",
    "harena.training.data.tokenizer_files",
)
_is_apart = False


def apart(function: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """Run a function in a process that can read the file or directory which is its first argument, and nothing else of
    harena's. All others are given by name; they and the result are JSON types, dates, times, decimals or bytes.

    The function raises ValidationError, which arrives. Whatever else goes wrong, with what it reads or with the
    process, is a ValidationError too; only a process that cannot be started is a PlatformError.
    """
    name = f"{function.__module__}:{function.__qualname__}"

    @functools.wraps(function)
    def called(place: Path, *given: P.args, **named: P.kwargs) -> T:
        if _is_apart:
            return function(place, *given, **named)
        from harena.training.reading.client import ask

        assert not given, "arguments of what runs apart are given by name"
        return ask(name, place, named)  # type: ignore[no-any-return]

    FUNCTIONS[name] = function
    return cast("Callable[Concatenate[Path, P], T]", called)


def be_apart() -> None:
    """This process is the one that reads: functions that call each other stay in it."""
    global _is_apart
    _is_apart = True
