"""Modules that few jobs need, loaded by the first run that does: on a thread, so that no other run waits for it.

A module that is loaded on the event loop holds it, and with it every run, for as long as the disk and the interpreter
take; a server has loaded all of them before it takes requests (`load_for_server`).
"""

from __future__ import annotations

from importlib import import_module

from harena.core.garbage import collection_paused
from harena.core.threads import VERDICTS

_loaded: set[str] = set()


async def loaded(module: str) -> None:
    """Return when the module of this name can be imported at once."""
    if module not in _loaded:
        await VERDICTS.run(_load, module)


def _load(module: str) -> None:
    with collection_paused():  # modules stay
        import_module(module)
    _loaded.add(module)
