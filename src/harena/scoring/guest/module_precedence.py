"""Trusted modules of a suite, and those that libraries import themselves, are found before others of their names.

A suite may put a folder of the candidate's before its own on the path, as those of packages in `src` do. Standard
library only.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from opcode import opmap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

_IMPORT = opmap["IMPORT_NAME"]
_IMPORTING = "importlib/__init__.py"
_getframe = sys._getframe
_find = importlib.machinery.PathFinder.find_spec


class LibraryFirst:
    """A finder for what libraries import themselves: by a statement of their own, or in C (`strptime` loads
    `_strptime`). A module of the candidate's with such a name is found by those who name it, unless the name is one of
    the standard library's inner parts. What a library imports and does without where it is missing (`org` of `copy`)
    is missing."""

    def __init__(self, here: str, theirs: Iterable[str] = ()) -> None:
        """`here`: the folder of the suite and the candidate; `theirs`: paths of the candidate's files, which may be
        elsewhere."""
        self._here = os.path.join(here, "")
        self._folders = [path for path in sys.path if path and not os.path.join(path, "").startswith(self._here)]
        self._names = frozenset(getattr(sys, "stdlib_module_names", ()))
        self._theirs = frozenset([path.partition("/")[0].partition(".")[0] for path in theirs])

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        """The library's module of this name where the library asks for it; None for whatever else. Raises
        ModuleNotFoundError where only the candidate has what a library asks for."""
        if path is not None:
            return None
        is_inner = name[:1] == "_" and name in self._names
        if not is_inner and not self._asks_itself(_getframe(1), name):
            return None
        if name in self._names:
            return _find(name, self._folders)
        if name not in self._theirs and not self._is_here(_find(name)):
            return None
        found = _find(name, self._folders)
        if found is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found

    def _is_here(self, found: Any) -> bool:
        places = [found.origin, *(found.submodule_search_locations or ())] if found is not None else []
        return any(os.path.realpath(place).startswith(self._here) for place in places if place)

    def _asks_itself(self, frame: Any, name: str) -> bool:
        while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame is None:
            return True
        code = frame.f_code
        is_here = code.co_filename[:1] != "/" or os.path.realpath(code.co_filename).startswith(self._here)
        if code.co_code[frame.f_lasti] == _IMPORT:
            return not is_here
        if is_here and name not in self._names:  # `find_spec` asks for who calls it, and C for what Python has
            return False
        return not code.co_filename.endswith(_IMPORTING) and "__import__" not in code.co_names


class TrustedFirst:
    """The first finder. Where the path leads to another module in a trusted one's place, it finds the trusted one; and
    it knows each trusted module that was imported."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """Names of trusted modules, and the path of each."""
        self._places = dict(places)
        self._trusted = frozenset(map(os.path.realpath, places.values()))
        self._sought: set[str] = set()
        self._loaded: dict[str, Any] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        """The trusted module of this name; None where there is none, or nothing would be found."""
        found = _find(name, path) if name in self._places else None
        if found is None:
            return None
        self._sought.add(name)
        place = self._places[name] if self._is_another(found) else found.origin or ""
        return importlib.util.spec_from_file_location(
            name, place, loader=_LoadedModuleLoader(name, place, self._loaded)
        )

    def found(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        """What a search of the path finds, but for what is in a trusted module's place."""
        found = _find(name, path)
        if found is not None and name in self._places:
            self._sought.add(name)
            return None if self._is_another(found) else found
        return found

    def planted(self, names: Iterable[str]) -> str:
        """One of these names by which there is a module that is not the trusted one; empty if there is none."""
        for name in names:
            module = sys.modules.get(name) if name in self._places else None
            loaded = self._loaded.get(name, module if name in self._sought else None)
            if module is not loaded:
                return name
        return ""

    def _is_another(self, found: Any) -> bool:
        return os.path.realpath(found.origin or "/") not in self._trusted


class _LoadedModuleLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, loaded: dict[str, Any]) -> None:
        super().__init__(name, path)
        self._harena_loaded = loaded

    def exec_module(self, module: Any) -> None:
        self._harena_loaded[module.__name__] = module
        super().exec_module(module)
