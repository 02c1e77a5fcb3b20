"""Alarms of a candidate's while a function of the suite's runs elsewhere. Standard library only, Python 3.8 and up.

A program may end what it calls by an alarm (`signal.setitimer`). Where that is a function of the suite, which lives in
another process, the alarm would come in the middle of what is said, and the answer would never be read. So it is held
until there is an answer: the handler is called late, and not at all where the suite itself waits for ever.
"""

from __future__ import annotations

import contextlib
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_OF_ALARMS = (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF)


class Alarms:
    """The alarms of this process."""

    def __init__(self) -> None:
        self._before: list[Any] = []
        """masks of signals as they were, where these are held"""

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """None of the program's handlers is called before this ends."""
        handled = [each for each in _OF_ALARMS if callable(signal.getsignal(each))]
        if not handled:
            yield
            return
        self._before.append(signal.pthread_sigmask(signal.SIG_BLOCK, handled))
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before.pop())

    @contextlib.contextmanager
    def let_through(self) -> Iterator[None]:
        """Meanwhile they are, in code of the program's that the suite has called."""
        if not self._before:
            yield
            return
        held = signal.pthread_sigmask(signal.SIG_SETMASK, self._before[-1])
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
