"""Modules that a trusted suite asks for and nobody has. Standard library only.

A suite may skip tests where a module is missing (`importorskip`, `skipIf(find_spec(...) is None)`, an import in a
`try`). If the candidate should have brought that module, a skipped test is not passed. So the runner tells whether any
such module was sought, and the host compares what was skipped with what is skipped where nobody takes part
(`guest_absent_candidate`)

    granting   where whatever the candidate could bring is there, has every name, lists all words of the suite as its
               names (`granting_more`: and one that no suite has), and is true
    denying    where only what is imported unconditionally is there, a name that is only looked for is missing,
               and everything is false

A test that is run in one of these is skipped because of the candidate, as is one that is run where some of the answers
are changed (`guest_absent_candidate`). Modules that the image would have to bring (`not_theirs`) are missing in all.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from types import ModuleType
    from typing import Any

AS_IT_IS, GRANTING, GRANTING_MORE, DENYING = "", "granting", "granting_more", "denying"
"""the stances of nobody; a candidate has the first"""
_WORD = re.compile(r"[^\W\d]\w*")


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: it hears of modules that no other one has found."""

    def __init__(self, here: str, texts: Mapping[str, str], not_theirs: Collection[str]) -> None:
        """`here`: the folder of the suite. `texts`: its trusted files; a name that none of them holds is sought by
        somebody else."""
        self._here = here
        self._words = {word for text in texts.values() for word in _WORD.findall(text)}
        self._not_theirs = frozenset(not_theirs).union(
            getattr(sys, "stdlib_module_names", ()), sys.builtin_module_names
        )
        self.made: Callable[[str], ModuleType] | None = None
        """makes the module where the candidate's are granted"""
        self.is_granted: Callable[[str], bool] = lambda top: True
        """whether this one is there"""
        self.is_sought = False
        """a module that a candidate could have brought was asked for"""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        """Find a stand-in for a module that the suite names and the machine lacks; None = import goes on as usual."""
        top = name.partition(".")[0]
        if top not in self._words or top in self._not_theirs or self._is_installed(top):
            return None
        self.is_sought = True
        if self.made is None or not self.is_granted(top):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> ModuleType | None:
        """Make the stand-in module."""
        return self.made(spec.name) if self.made is not None else None

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the stand-in is complete when it has been made."""

    def _is_installed(self, top: str) -> bool:
        """A package of the image, of which only a part is missing; not one of the candidate's beside the suite."""
        try:
            found = importlib.machinery.PathFinder.find_spec(top)
        except (ImportError, ValueError):
            return False
        if found is None:
            return False
        places = [found.origin or "", *(found.submodule_search_locations or ())]
        return not any(os.path.realpath(place).startswith(self._here + os.sep) for place in places if place)
