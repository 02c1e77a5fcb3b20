"""The pseudo-terminals of commands, which are the host's: few at one time, counted until the kernel lets them go.

They come from the devpts that this process sees. Where that is the host's own, the kernel keeps a reserve for it
(`kernel.pty.reserve`, 1,024 of 4,096) that programs in sandboxes cannot touch: so who asks for one finds one, however
many such programs hold. Of this reserve a node takes a half at most, and workspaces share that.

The kernel keeps a terminal as long as anybody has either end open. A program that outlives its command may keep its
end, also one that was hung up; only through an end of one's own can one see when that is over. So this process keeps
its end until then, as `LeftTerminals`, and what is written to it meanwhile is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import select
import struct
from collections.abc import Callable
from datetime import timedelta

from harena.core.errors import LimitExceededError, PlatformError
from harena.runtime.host import slow_calls
from harena.runtime.host.shares import Shares
from harena.runtime.host.slow_calls import SLOW_WORKSPACES, Timed

MOST_TERMINALS = 512
"""A node has no more at one time: half of what the kernel keeps for the host. A workspace alone may have half of it."""

TERMINALS = Shares(MOST_TERMINALS)
"""this process's, by its end's descriptor"""

_SET_LOCK = 0x40045431
"""TIOCSPTLCK: while it is set nobody opens the program's end anew, by whatever name"""
_READ_BYTES = 1 << 12
"""what a terminal holds at most for who reads it"""
_READS_AT_ONCE = 16
_REST_SECONDS = 1.0
"""after so many, so that programs that write without an end do not keep the event loop busy: they wait"""
_ASK_AGAIN_SECONDS = 5.0


def open_terminal(workspace: str) -> tuple[int, int]:
    """(this process's end, the program's end). Raises LimitExceededError, PlatformError where the host has none left,
    and OSError where this process can open no more descriptors."""
    try:
        ours, theirs = os.openpty()
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        raise PlatformError(
            f"the host has no terminal left for a command ({os.strerror(error.errno or 0)}): close some, or raise "
            "kernel.pty.max",
            step="terminal",
        ) from None
    if not TERMINALS.take(ours, workspace):
        os.close(ours)
        os.close(theirs)
        raise LimitExceededError(
            f"commands of this workspace have {TERMINALS.count_of(workspace)} terminals, and what the node has left of "
            f"its {TERMINALS.most} is kept for other workspaces; end commands that have one (`terminal`, `shell`), and "
            "programs that keep the terminal of a command that has ended, or ask again later",
            reason="TERMINALS",
            retry_delay=timedelta(seconds=_ASK_AGAIN_SECONDS),
        )
    return ours, theirs


def close_terminal(ours: int) -> None:
    """Close this process's end of a terminal whose other end nobody has."""
    TERMINALS.give_back(ours)  # first: another thread may be given the number at once
    os.close(ours)


def closed_if_let_go(ours: int) -> bool:
    """Close it if nobody has the other end any more. Whether that is so."""
    if not _is_let_go(ours):
        return False
    # Whoever has it as the controlling terminal may just open it again, and would have one that nobody counts.
    fcntl.ioctl(ours, _SET_LOCK, struct.pack("i", 1))
    if not _is_let_go(ours):
        fcntl.ioctl(ours, _SET_LOCK, struct.pack("i", 0))
        return False
    close_terminal(ours)
    return True


def _is_let_go(ours: int) -> bool:
    poll = select.poll()
    poll.register(ours, 0)
    return any(events & select.POLLHUP for _, events in poll.poll(0))


def _emptied(ours: int, is_enough: Callable[[], bool]) -> bool:
    """Drop what was written, and close it if nobody has the other end any more. Whether that is so."""
    with contextlib.suppress(OSError):  # nothing is left, or nobody has the other end (EIO)
        for _ in range(_READS_AT_ONCE):
            os.read(ours, _READ_BYTES)
            if is_enough():
                return False
    return closed_if_let_go(ours)


class LeftTerminals:
    """The terminals of a sandbox's commands that have ended, which programs of the sandbox still have."""

    def __init__(self, loop: asyncio.AbstractEventLoop, workspace: str) -> None:
        self._loop = loop
        self._workspace = workspace
        self._resting: dict[int, asyncio.TimerHandle | None] = {}
        self._looking: dict[int, asyncio.Task[None]] = {}
        """ends that a thread is looking at"""

    def keep(self, ours: int) -> None:
        """Keep this end, which does not block, until nobody has the other one."""
        self._resting[ours] = None
        self._loop.add_reader(ours, self._look, ours)

    def _look(self, ours: int) -> None:
        self._loop.remove_reader(ours)
        del self._resting[ours]
        if self._workspace in SLOW_WORKSPACES:
            self._looking[ours] = self._loop.create_task(self._look_apart(ours))
            return
        batch = Timed(self._workspace)
        is_gone = _emptied(ours, lambda: batch.is_long)
        batch.end()
        self._look_again(ours, is_gone)

    async def _look_apart(self, ours: int) -> None:
        is_gone, _seconds = await slow_calls.in_thread(self._workspace, lambda: _emptied(ours, lambda: False))
        del self._looking[ours]
        self._look_again(ours, is_gone)

    def _look_again(self, ours: int, is_gone: bool) -> None:
        if not is_gone:
            self._resting[ours] = self._loop.call_later(_REST_SECONDS, self.keep, ours)

    def close(self) -> None:
        """Close all: nothing of the sandbox runs any more."""
        for ours, resting in self._resting.items():
            if resting is None:
                self._loop.remove_reader(ours)
            else:
                resting.cancel()
            close_terminal(ours)
        self._resting.clear()

    def forget(self) -> None:
        """In a forked child: let go of the parent's ends. No event loop is touched."""
        for ours in (*self._resting, *self._looking):
            close_terminal(ours)
        self._resting.clear()
        self._looking.clear()
