"""Removes from an error what a server does not tell its clients: paths of its files, its database, and output of tools.

Operators find both in the server's log. Clients need to know what happened and what to do about it. Paths inside
sandboxes belong to the caller and stay.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import tempfile
from functools import lru_cache
from pathlib import Path

from harena.core.errors import PlatformError
from harena.core.home import harena_home

HIDDEN = "(a path of the server)"
HIDDEN_DATABASE = "(the server's)"
_DATABASE = re.compile(
    r"\b(?:postgres(?:ql)?|sqlite)(?:\+\w+)?://[^\s'\"`]*"
    r"|(?:at|on socket) \"[^\"]*\"(?: \([^)]*\))?(?:, port \d+)?(?= failed)"
)
"""the URL of a database, and where its driver says that it has sought it"""
_SHARED = frozenset(
    {"/", "/usr", "/usr/local", "/bin", "/usr/bin", "/usr/local/bin", "/opt", "/tmp", "/var", "/home", "/root"}
)
"""sandboxes have these, too"""
_TRACEBACK = re.compile(r'^\s*(Traceback \(most recent call last\)|File ".*", line \d+|\^+\s*$|~+\^)')


def without_server_places(text: str) -> str:
    """The text with everything below this process's own directories hidden, and without the lines of tracebacks."""
    kept: list[str] = []
    skipped_source = False
    for line in text.split("\n"):
        if _TRACEBACK.match(line):
            skipped_source = line.lstrip().startswith("File ")
        elif skipped_source and line.startswith("    "):
            skipped_source = False  # the line of source below `File "...", line 3`
        else:
            skipped_source = False
            kept.append(line)
    return _DATABASE.sub(HIDDEN_DATABASE, _pattern(_places()).sub(HIDDEN, "\n".join(kept)))


def told_to_clients(error: BaseException) -> str:
    """An error as it is kept for whoever asks: of a fault, without the places of this process's files. Paths in other
    errors are a sandbox's."""
    return without_server_places(str(error)) if isinstance(error, PlatformError) else str(error)


def _places() -> tuple[str, ...]:
    """Asked again each time, because the environment of tests and of embedding programs changes."""
    environ, home = os.environ, os.path.expanduser("~")
    named = [
        *(sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable)),
        *_libraries(sys.prefix),
        *(str(Path(__file__).parents[2]), str(harena_home()), home),
        *(f"{home}/{name}" for name in (".cache", ".local", ".config", ".pyenv")),
        *(environ.get(name, "") for name in ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "PIP_CACHE_DIR")),
        *(f"{tempfile.gettempdir()}/{begin}" for begin in ("harena-", "pip-")),
    ]
    return _resolve_places(tuple(named))


@lru_cache(maxsize=8)
def _libraries(prefix: str) -> tuple[str, ...]:
    """Directories of the interpreter below this prefix. To ask for them takes milliseconds, and every refused request
    would do so in the server's loop."""
    return tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


@lru_cache(maxsize=8)
def _resolve_places(named: tuple[str, ...]) -> tuple[str, ...]:
    """The absolute ones, with what links in them lead to, the longest first."""
    absolute = {path.rstrip("/") for path in named if path.startswith("/")}
    absolute |= {os.path.realpath(path) for path in absolute}
    return tuple(sorted(absolute - _SHARED, key=len, reverse=True))


@lru_cache(maxsize=8)
def _pattern(places: tuple[str, ...]) -> re.Pattern[str]:
    """A place whose name is whole is followed by a slash or by none of a name; one that ends in a dash goes on."""
    ends = (re.escape(place) + ("" if place.endswith("-") else r"(?![\w.-])") for place in places)
    return re.compile(rf"(?<![\w/.-])(?:{'|'.join(ends)})[^\s'\"`,;:()\[\]<>]*")
