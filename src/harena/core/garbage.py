"""Pauses Python's cyclic garbage collector during work that makes very many objects, all of which stay."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0
_keeps = False


@contextmanager
def collection_paused() -> Iterator[None]:
    """No collection in this process meanwhile; pauses of several threads may overlap.

    Reading a hundred thousand scenarios makes a million objects that are no garbage, which the collector looks at
    again and again: two thirds of the time that the reading takes.
    """
    global _pauses
    with _lock:
        _pauses += 1
        if _pauses == 1:
            gc.disable()
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0:
                if _keeps:
                    gc.freeze()
                gc.enable()


def keep_what_pauses_made() -> None:
    """For a process that ends soon: from now on the collector never looks at what is there when a pause ends, which it
    else does as soon as the pause is over. Reference counts still free what nobody uses any more."""
    global _keeps
    _keeps = True
