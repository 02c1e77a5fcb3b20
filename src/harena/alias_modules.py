"""harena under the names that other clients have: `import aviato`, `import cwsandbox`, `import runloop`, and of
dreadnode's client what it calls for training.

Opt-in, and only for what programs of those clients do on one machine: their names for what harena has.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from harena.core.errors import ValidationError
from harena.sdk import server_choice

_ERRORS = {
    "Error": "HarenaError",
    "ValidationError": "ValidationError",
}

ALIASES: dict[str, dict[str, str]] = {
    "aviato": {f"Aviato{suffix}": name for suffix, name in _ERRORS.items()},
    "cwsandbox": {f"CWSandbox{suffix}": name for suffix, name in _ERRORS.items()},
    "runloop": {},
}
"""module -> names that it has beyond harena's own, and what they are there"""
DREADNODE = "dreadnode"
_DREADNODE_FOLDERS = (DREADNODE, "dreadnode.app", "dreadnode.app.api")
_DREADNODE_MODULES = ("dreadnode.app.api.client", "dreadnode.app.api.models")
NAMES = (*ALIASES, DREADNODE)
_OTHER_THINGS = frozenset({"Secret"})
"""names of harena's that are something else in other clients"""


class DreadnodeModule(ModuleType):
    """A module of dreadnode's client: the names that `harena.aliases_dreadnode` has."""

    def __init__(self, name: str) -> None:
        super().__init__(name, f"harena, under the name {name}.")
        self.__spec__ = ModuleSpec(name, None, is_package=name in _DREADNODE_FOLDERS)
        if name in _DREADNODE_FOLDERS:
            self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        calls = import_module("harena.aliases_dreadnode")
        if name.startswith("_") or self.__name__ in _DREADNODE_FOLDERS or not hasattr(calls, name):
            raise AttributeError(
                f"harena has nothing for {self.__name__}.{name}: only calls for training jobs are here"
            )
        return getattr(calls, name)


class AliasModule(ModuleType):
    """A module whose names are harena's."""

    def __init__(self, name: str, extra: dict[str, str]) -> None:
        super().__init__(name, f"harena, under the name {name}.")
        self.__spec__ = ModuleSpec(name, None)
        self._extra = extra
        self.__all__ = sorted({*_harena().__all__, *extra} - _OTHER_THINGS)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in self.__dict__.get("__all__", ()):
            raise AttributeError(name)
        target = self._extra.get(name, name)
        try:
            if name not in _OTHER_THINGS:
                return getattr(_harena(), target)
            raise AttributeError(name)
        except AttributeError:
            raise AttributeError(
                f"harena has nothing for {self.__name__}.{name}: this name of {self.__name__!r} is not supported here"
            ) from None

    def __dir__(self) -> list[str]:
        return list(self.__all__)


def install_aliases(*names: str, force: bool = False) -> tuple[str, ...]:
    """Make these (all: "aviato", "cwsandbox", "runloop", "dreadnode") importable as other names of harena; which ones
    were.

    Raises ValidationError for a name that is none of them, or that a really installed package has (its programs would
    silently run elsewhere) unless `force`.
    """
    wanted = names or NAMES
    for name in wanted:
        if name not in NAMES:
            raise ValidationError(f"no alias {name!r}: there are {', '.join(NAMES)}")
        if not force and is_really_installed(name):
            raise ValidationError(
                f"a package named {name!r} is installed: install_aliases({name!r}, force=True) puts harena in its place"
            )
    for name in wanted:
        server_choice.read_variables_of(name)
        if name == DREADNODE:
            sys.modules.update({one: DreadnodeModule(one) for one in (*_DREADNODE_FOLDERS, *_DREADNODE_MODULES)})
        elif not isinstance(sys.modules.get(name), AliasModule):
            sys.modules[name] = AliasModule(name, ALIASES[name])
    return wanted


def is_really_installed(name: str) -> bool:
    """Something else than an alias of ours answers to this name."""
    module = sys.modules.get(name)
    if module is not None:
        return not isinstance(module, AliasModule | DreadnodeModule)
    return find_spec(name) is not None


def _harena() -> ModuleType:
    return import_module("harena")
