"""Ctrl-C in a command that runs a job within its own process: it comes where it can be acted upon, and is never lost.

An interrupt may come while a job is being accepted, when there is no id to cancel yet, or while it is being cancelled,
and often twice (`timeout -s INT` sends it to a process and to its group). An exception there would end the process, and
with it the job, as failed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

IMPATIENT_SECONDS = 1.0
"""an interrupt that comes so long after the first one is another wish, not the first one once more"""


class HeldInterrupts:
    """Interrupts within `with`: each is noted. Inside `delivered` the first one raises KeyboardInterrupt there, at once
    or when that block is entered. Outside it, before it, one that comes IMPATIENT_SECONDS after the first raises, too:
    there may be much left to wait for."""

    def __init__(self, *, active: bool = True) -> None:
        """`active`: without it interrupts are raised as they come."""
        self._active = active
        self._first_at: float | None = None
        self._delivering = self._delivered = False

    def __enter__(self) -> HeldInterrupts:
        is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._active = self._active and is_default and threading.current_thread() is threading.main_thread()
        if self._active:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._active:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextlib.contextmanager
    def delivered(self) -> Iterator[None]:
        """Raise KeyboardInterrupt for the first interrupt, once."""
        if not self._active:
            yield
            return
        try:
            self._delivering = True
            if self._first_at is not None:
                self._deliver()
            yield
        finally:
            self._delivering, self._delivered = False, True

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._delivering:
            self._deliver()
        elif self._first_at is None and not self._delivered:
            self._first_at = now
            # a buffered stream may be in the middle of a write: this is between two instructions of anything
            os.write(2, b"\nstopping the job as soon as it has been checked; Ctrl-C again: at once\n")
        elif self._first_at is not None and not self._delivered and now - self._first_at >= IMPATIENT_SECONDS:
            raise KeyboardInterrupt

    def _deliver(self) -> None:
        self._delivering, self._delivered = False, True
        raise KeyboardInterrupt
