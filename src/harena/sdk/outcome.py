"""`Outcome`: a future that the SDK's event loop settles and any thread can wait for.

`concurrent.futures.Future` is not used, because a wait for one holds its condition in Python code: Ctrl-C in the wrong
microsecond leaves that condition locked for ever (CPython issue 74174), and then the loop, which must take it to give
the result, hangs with everything that it serves. Here the only lock that two threads share is taken by a `with` on a
lock of C, which an interrupt cannot part from its release, and a waiter sleeps on a lock of its own.

Python's handlers of signals run in the main thread, when it is awake. A signal that comes when that thread has looked
for signals for the last time, and does not sleep yet, does not wake it; nor does one that the kernel gives to another
thread. So the main thread sleeps for a moment at a time.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import math
import threading
import time
from collections.abc import Callable
from typing import Generic, Literal, TypeVar

T = TypeVar("T")

LOOK_SECONDS = 0.5
"""longest time that the main thread sleeps before it looks for signals"""
_completions = itertools.count(1)


class Outcome(Generic[T]):
    """Ends once: with a value, an error, or cancelled."""

    __slots__ = ("_callbacks", "_error", "_lock", "_value", "number", "state")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: dict[object, Callable[[], object]] | None = None
        self._value: T | None = None
        self._error: BaseException | None = None
        self.state: Literal["open", "value", "error", "cancelled"] = "open"
        self.number: int | None = None
        """place among the outcomes of this process in the order of their ends; None while it is open"""

    def give(self, value: T) -> bool:
        """End with a value; False if it has ended already."""
        return self._end("value", value, None)

    def fail(self, error: BaseException) -> bool:
        """End with an error; False if it has ended already."""
        return self._end("error", None, error)

    def cancel(self) -> bool:
        """End without anything; False if it has ended already."""
        return self._end("cancelled", None, None)

    @property
    def error(self) -> BaseException | None:
        """What it failed with."""
        return self._error

    def get(self) -> T:
        """The value of one that has ended; raises its error, or concurrent.futures.CancelledError."""
        if self.state == "cancelled":
            raise concurrent.futures.CancelledError
        if self._error is not None:
            try:
                raise self._error
            finally:
                del self  # the error holds this frame, and the frame would hold the error
        return self._value  # type: ignore[return-value]

    def wait(self, timeout: float | None) -> bool:
        """Block until it has ended, `timeout` seconds at most; whether it has."""
        if self.state == "open":
            woken = threading.Lock()
            woken.acquire()
            self.when_ended(woken, woken.release)
            try:
                _acquire(woken, timeout)
            finally:
                self.forget(woken)
        return self.state != "open"

    def when_ended(self, token: object, callback: Callable[[], object]) -> None:
        """Call `callback()` once, from any thread, when it has ended (at once if it has). It must not raise."""
        with self._lock:
            if self.state == "open":
                if self._callbacks is None:
                    self._callbacks = {}
                self._callbacks[token] = callback
                return
        callback()

    def forget(self, token: object) -> None:
        """Do not call the callback of this token any more."""
        with self._lock:
            if self._callbacks:
                self._callbacks.pop(token, None)

    @property
    def waiting(self) -> int:
        """Callbacks that would be called."""
        return len(self._callbacks or ())

    def _end(self, state: Literal["value", "error", "cancelled"], value: T | None, error: BaseException | None) -> bool:
        with self._lock:
            if self.state != "open":
                return False
            self._value, self._error, self.number = value, error, next(_completions)
            self.state = state  # last: who sees it without the lock sees the rest
            callbacks, self._callbacks = self._callbacks, None
        for callback in (callbacks or {}).values():
            callback()
        return True


def _acquire(lock: threading.Lock, timeout: float | None) -> None:
    """Sleep until it is free, or the time is over."""
    is_main = threading.get_ident() == threading.main_thread().ident
    longest = LOOK_SECONDS if is_main else threading.TIMEOUT_MAX
    ends = math.inf if timeout is None else time.monotonic() + timeout
    while True:
        left = max(0.0, ends - time.monotonic())
        if lock.acquire(timeout=min(left, longest)) or left <= longest:
            return
