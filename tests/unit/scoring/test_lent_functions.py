"""Functions of libraries that cross as themselves: by module and path, and none that reaches further than its input."""

from __future__ import annotations

import builtins
import datetime
import functools
import hashlib
import heapq
import json
import logging
import os
import pathlib
import random
import re
import subprocess
import sys
import time
from collections import deque
from typing import Any

import pytest

from harena.scoring.guest.library_functions import (
    function_at,
    has_state,
    is_lent,
    is_of_library,
    name_of,
    own_by_name,
    place_of,
)

LENT: list[Any] = [
    random.choice, random.random, random.Random.uniform, time.time, heapq.heappush, hashlib.sha256, json.dumps,
    datetime.datetime.now, os.environ.get, functools.reduce, dict.get, str.maketrans, os.getcwd,
    os.path.join, os.path.exists, deque.append,
]  # fmt: skip
NEVER: list[Any] = [
    eval, exec, compile, getattr, setattr, vars, open, __import__, sys.exit, sys._getframe, sys.settrace, os._exit,
    os.system, os.environ.clear, os.environ.pop, random.seed, random.setstate, time.tzset, subprocess.run,
    logging.disable, logging.getLogger("x").info, [].append, object.__reduce__, type.__subclasses__,
]  # fmt: skip


def _names(value: Any) -> Any:
    return getattr(value, "__qualname__", str(value))


@pytest.mark.parametrize("function", LENT, ids=_names)
def test_what_is_lent_is_found_by_its_name(function: Any) -> None:
    """It is the same function there."""
    place = place_of(function)
    assert place is not None
    assert function_at(*place) == function
    assert is_of_library(function) or function is str.maketrans


@pytest.mark.parametrize("function", NEVER, ids=_names)
def test_what_reaches_further_is_never_lent(function: Any) -> None:
    """Whatever name it is asked for by."""
    assert place_of(function) is None
    for module in {"builtins", str(getattr(function, "__module__", "")), "os", "sys"}:
        for path in {str(function.__qualname__), str(function.__name__)}:
            if getattr(sys.modules.get(module), path, None) is function:
                assert not is_lent(module, path)
                with pytest.raises(ValueError, match="no function of both sides"):
                    function_at(module, path)


def test_a_name_makes_no_function_of_a_librarys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what it says of itself, nor that it lies in the place."""

    def dumps(value: Any) -> str:
        return str(value)

    dumps.__module__, dumps.__qualname__ = "json", "dumps"
    assert place_of(dumps) is None
    monkeypatch.setattr(json, "dumps", dumps)
    assert place_of(dumps) is None
    monkeypatch.setattr(random, "choice", [4].index)
    assert place_of(random.choice) is None


def test_paths_lead_to_no_private_names() -> None:
    """Nor through modules that are not lent, nor to objects of them."""
    for module, path in (
        ("random", "_os.system"), ("json", "decoder.scanner"), ("os", "environ.clear"), ("os", "path.join"),
        ("sys", "modules.get"), ("builtins", "eval"), ("builtins", "type.__subclasses__"), ("re", "sys.exit"),
        ("random", "_inst.seed"), ("random", "Random.seed"), ("nothing", "at.all"), ("base64", "main"),
    ):  # fmt: skip
        with pytest.raises((ValueError, ImportError)):
            function_at(module, path)


def test_what_depends_on_the_process_is_told() -> None:
    """Each side has it for itself."""
    assert has_state("random")
    assert has_state("os")
    assert not has_state("json")
    assert set(dir(builtins)) > {"eval"}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (logging.info, ("logging", "info")),
        (random.choice, ("random", "choice")),
        (str.__len__, ("builtins", "str.__len__")),
        (eval, ("builtins", "eval")),
        (logging.getLogger("x").info, ("", "")),
        ([].append, ("", "")),
        (test_a_name_makes_no_function_of_a_librarys, None),
        (lambda: 1, None),
    ],
    ids=[
        "function",
        "bound to an object of a module",
        "of a class",
        "builtin",
        "of a logger",
        "of a list",
        "own",
        "lambda",
    ],
)
def test_what_a_library_has_is_found_by_its_name(value: Any, name: tuple[str, str] | None) -> None:
    """In its own module, and as what is there."""
    assert name_of(value) == name
    if name is not None and name[0]:
        assert own_by_name(*name) == value


@pytest.mark.parametrize(
    ("module", "path", "found"),
    [
        ("re", "", re), ("pathlib", "Path", pathlib.Path), ("math", "pi", None), ("logging", "root", None),
        ("", "", None), ("no_such_module", "f", None), ("sys", "modules.get", None), (__name__, "re", None),
        ("json", "dumps.__globals__", None),
    ],
)  # fmt: skip
def test_only_functions_classes_and_modules_are_had_by_a_name(module: str, path: str, found: Any) -> None:
    """Nothing else that a candidate could name, and nothing of a module that no library has."""
    assert own_by_name(module, path) is found
