"""A time limit for Python code of somebody else's that runs on this thread, as a compiled chat template does."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class OverdueError(Exception):
    """It ran for longer than it may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises OverdueError inside the block where that runs for longer, between two steps of the interpreter: one step
    in machine code is not broken off."""
    thread, lock, over, fired = threading.get_ident(), threading.Lock(), False, False

    def fire() -> None:
        nonlocal fired
        with lock:
            if not over:
                fired = True
                _raise_in(thread, OverdueError)

    timer = threading.Timer(seconds, fire)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            over = True
            if fired:  # it may be on its way still, and shall not arrive in what comes next
                _raise_in(thread, None)
        timer.cancel()


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    given = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), given)
