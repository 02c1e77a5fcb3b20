"""How the suite waits: threads of the candidate's call functions of the suite's meanwhile. Standard library only.

The candidate is heard only while it is asked something. So a wait of the suite's main thread is many short waits, and
between two of them the candidate is asked to let its threads talk. What they call runs in the main thread, which holds
no lock of what it waits for by then: `Condition.wait` has released it, and a lock is not held yet.
"""

from __future__ import annotations

import _thread
import contextlib
import queue
import selectors
import sys
import threading
import time

from harena.scoring.guest.swallowing_exits import sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SHORTEST_SECONDS, _LONGEST_SECONDS, _GROWTH = 0.005, 0.05, 1.25
"""The first of the short waits, the longest, and how they grow."""
_LONG_WAIT_SECONDS = 0.25
"""after so long it is told that the suite waits, should it never end"""
_STANDS = "it waits for what no thread does, and the candidate's call its functions one at a time"
_monotonic = time.monotonic


class Waits:
    """The waits of the suite's process."""

    def __init__(self, may_listen: Callable[[], bool], listen: Callable[[], None], forget: Callable[[], None],
                 stands: Callable[[str], None], goes_on: Callable[[str], None]) -> None:  # fmt: skip
        """`may_listen`: this thread may let the candidate's talk, and `listen` does so. `forget` what was seen of it,
        which a wait may change. `stands` tells who waits for the suite why it may stand still for good, and `goes_on`
        that it does so no more."""
        self._may_listen = may_listen
        self._listen = listen
        self._forget = forget
        self._stands = stands
        self._goes_on = goes_on
        self._standing = 0

    def until(self, attempt: Callable[[float | None], bool], seconds: float | None) -> bool:
        """Whether `attempt(seconds)` succeeds, which waits for that long at most, or without an end (None)."""
        self._forget()
        try:
            return self._in_parts(attempt, seconds) if self._may_listen() else attempt(seconds)
        finally:
            self._forget()

    def _in_parts(self, attempt: Callable[[float | None], bool], seconds: float | None) -> bool:
        left, part, stood, is_told = seconds, _SHORTEST_SECONDS, 0.0, False
        try:
            while True:
                began = _monotonic()
                pause = part if left is None else min(part, left)
                if attempt(pause):
                    return True
                self._listen()
                passed = max(pause, _monotonic() - began)  # a suite may have stopped the clock
                if left is not None and (left := left - passed) <= 0:
                    return attempt(0)
                stood += passed
                if stood >= _LONG_WAIT_SECONDS and not is_told:
                    is_told = True
                    self._standing += 1
                    self._stands(_STANDS)
                part = min(_GROWTH * part, _LONGEST_SECONDS)
        finally:
            if is_told:
                self._standing -= 1
                if not self._standing:
                    self._goes_on(_STANDS)

    def follow(self) -> Callable[[Any], None]:
        """Make the waits of this process such waits, and give what stands for `time.sleep`."""
        waits = self

        class Lock(_Lock):
            """A lock of the suite's own."""

            _until = staticmethod(waits.until)

        Lock.__module__, Lock.__name__, Lock.__qualname__ = "_thread", "lock", "lock"
        threading.Lock = _for_suites(threading.Lock, Lock)
        queue.SimpleQueue = _for_suites(queue.SimpleQueue, queue._PySimpleQueue)  # type: ignore[attr-defined, misc]
        exchanges: list[tuple[Any, str, Any]] = [
            (threading.Condition, "wait", self._waited),
            (threading.Thread, "join", self._joined),
            (selectors.DefaultSelector, "select", self._selected),  # each turn of an event loop
            (time, "sleep", self._slept),
        ]
        for owner, name, made in exchanges:
            setattr(owner, name, made(getattr(owner, name)))
        return time.sleep

    def _waited(self, _: Any) -> Any:
        until = self.until

        def wait(self: Any, timeout: float | None = None) -> bool:
            if not self._is_owned():
                raise RuntimeError("cannot wait on un-acquired lock")
            waiter = _thread.allocate_lock()
            waiter.acquire()
            self._waiters.append(waiter)
            state = self._release_save()
            is_notified = False
            try:
                is_notified = until(lambda seconds: _acquired(waiter, seconds), timeout)
            finally:
                self._acquire_restore(state)
                if not is_notified:
                    with contextlib.suppress(ValueError):  # it is notified now
                        self._waiters.remove(waiter)
            return is_notified

        return wait

    def _joined(self, really: Any) -> Any:
        until = self.until

        def join(self: Any, timeout: float | None = None) -> None:
            def attempt(seconds: float | None) -> bool:
                really(self, seconds)
                return not self.is_alive()

            until(attempt, timeout)

        return join

    def _selected(self, really: Any) -> Any:
        until = self.until

        def select(self: Any, timeout: float | None = None) -> Any:
            found: list[Any] = []

            def attempt(seconds: float | None) -> bool:
                found[:] = really(self, seconds)
                return bool(found)

            if timeout is None or timeout > 0:
                until(attempt, timeout)
            else:  # a loop that has much to do
                attempt(timeout)
            return found

        return select

    def _slept(self, really: Any) -> Any:
        def sleep(seconds: Any) -> None:
            if type(seconds) not in (int, float):
                really(seconds)
                seconds = 0

            def attempt(part: float | None) -> bool:
                really(part)
                return False

            self.until(attempt, seconds)

        return sleep


def _acquired(lock: Any, seconds: float | None) -> bool:
    if seconds is None:
        return bool(lock.acquire())
    return bool(lock.acquire(True, seconds) if seconds > 0 else lock.acquire(False))


def _for_suites(really: Any, own: type) -> Any:
    """What makes an object of the suite's `own` class where a trusted file asks for one, and a real one elsewhere."""
    kinds = (own, really if isinstance(really, type) else type(really()))

    class Kind(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, kinds)

    class Made(metaclass=Kind):
        def __new__(cls, *positional: Any, **keywords: Any) -> Any:
            is_of_suite = sys._getframe(1).f_code.co_filename in sources
            return (own if is_of_suite else really)(*positional, **keywords)

    Made.__module__, Made.__doc__ = really.__module__, really.__doc__
    Made.__name__ = Made.__qualname__ = really.__name__
    return Made


class _Lock:
    """A lock that is waited for as everything else is."""

    _until: Callable[..., bool]

    def __init__(self) -> None:
        self._really = _thread.allocate_lock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock, waiting for it as everything else here is waited for; whether it was acquired."""
        if not blocking or (timeout <= 0 and timeout != -1):  # it may be what no lock takes
            return self._really.acquire(blocking, timeout)
        if self._really.acquire(False):
            return True
        return self._until(lambda seconds: _acquired(self._really, seconds), None if timeout == -1 else timeout)

    def release(self) -> None:
        """Release the lock."""
        self._really.release()

    def locked(self) -> bool:
        """Tell whether somebody holds the lock."""
        return self._really.locked()

    def __enter__(self) -> bool:
        """Acquire the lock."""
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        self.release()
