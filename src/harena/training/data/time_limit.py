"""A time limit for Python code of somebody else's that runs on this thread, as a compiled chat template does."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
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
        timer.cancel()
        if fired:
            _await_exception(thread)


_WALL_SHARE = 10
"""seconds of the clock for one of a processor, where only the clock is at hand: a host may be busy"""
_AGAIN = 0.1
"""seconds after which it is broken off once more, where it has caught what broke it off"""


@contextmanager
def processor_limit(seconds: float) -> Iterator[None]:
    """Raises OverdueError inside the block where that takes more of this thread's processor time. On the main thread,
    where nobody else uses its alarm, also inside of machine code that looks for signals, as regular expressions do;
    elsewhere between two steps of the interpreter, by a clock that goes slower."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGVTALRM) is not (
        signal.SIG_DFL
    ):
        with time_limit(seconds * _WALL_SHARE):
            yield
        return
    ends, over = time.thread_time() + seconds, False

    def fire(number: int, frame: object) -> None:
        # the timer counts the time of all threads
        left = ends - time.thread_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, left if left > 0 else _AGAIN)
        if left <= 0 and not over:
            raise OverdueError

    signal.signal(signal.SIGVTALRM, fire)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)


def _await_exception(thread: int) -> None:
    """Leave no exception on its way to this thread, where it would arrive in what comes next.

    Another one is sent, which takes the place of one that has not arrived, and is awaited. To withdraw it instead
    would leave CPython's note that some thread has an exception to come: only its arrival removes that note, until
    then each check for it takes the slow path, and a function called under a profiler repeats the check for ever
    (3.11: RESUME in DO_TRACING, `PyThreadState_SetAsyncExc` with NULL)."""
    try:
        _raise_in(thread, OverdueError)
        while True:
            pass
    except OverdueError:
        return


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))
