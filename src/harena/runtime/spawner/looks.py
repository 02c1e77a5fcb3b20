"""Looks at how long programs have waited for a processor, taken in short steps between all else that the spawner does.

A sandbox decides how many threads there are to be looked at, and its workspace how often somebody asks. So no look
holds up what others have asked for meanwhile: each step is short, and those of several workspaces take turns.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress

from harena.runtime.kernel import proc_files

STEP_SECONDS = 0.002
_LOOK_SECONDS = 0.02
"""for so long threads are looked at for one answer: there may be thousands"""
_WANTING = (b"R", b"D")
"""states of a thread that runs or is ready to run, and of one that waits for a disk or for memory"""
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Look:
    """One question about a sandbox, with what is known so far."""

    def __init__(self, question: int, number: int, pid: int, counted: float | None) -> None:
        """`pid` is its init; `counted` the processor time of all that has run in there, None = it is to be found."""
        self.question = question
        self.number = number
        self.longest = 0.0
        """the longest time that one thread was runnable and got no processor, in seconds"""
        self.used = counted or 0.0
        """processor time of all of them, in seconds"""
        self._found = False
        """there are threads"""
        self._wanted = False
        """a thread wants a processor, or waits for a disk"""
        self._is_over = False
        self._left = _LOOK_SECONDS
        self._is_bounded = counted is not None
        self._steps = self._waits(pid) if counted is not None else self._times(pid)

    def step(self) -> bool:
        """Look on for a moment; whether that was all."""
        began = time.monotonic()
        for _ in self._steps:
            spent = time.monotonic() - began
            if spent >= STEP_SECONDS:
                self._left -= spent
                return self._is_bounded and self._left <= 0
        self._is_over = True
        return True

    @property
    def is_idle(self) -> bool:
        """No thread of a sandbox that lives, its init's among them, wants a processor; all of them were looked at."""
        return self._is_over and self._found and not self._wanted

    def _see(self, pid: int, task: str) -> None:
        """Raises OSError."""
        (state, *_) = proc_files.fields_after_name(proc_files.read(f"/proc/{pid}/task/{task}/stat"))
        self._found = True
        self._wanted = self._wanted or state in _WANTING

    def _waits(self, pid: int) -> Iterator[None]:
        waiting = [pid]
        while waiting:
            current = waiting.pop()
            try:
                with os.scandir(f"/proc/{current}/task") as tasks:
                    for task in tasks:
                        waiting += _children(current, task.name)
                        self._see(current, task.name)
                        if current != pid:
                            self.longest = max(self.longest, _ran_and_waited(current, task.name)[1])
                        yield
            except OSError:
                continue  # ended meanwhile

    def _times(self, pid: int) -> Iterator[None]:
        _, self.used = _stat_seconds(pid)
        with suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                self._see(pid, task)
        for below in below_of(pid)[1:]:
            own, children = _stat_seconds(below)
            living = 0.0
            try:
                for task in os.listdir(f"/proc/{below}/task"):
                    self._see(below, task)
                    ran, waited = _ran_and_waited(below, task)
                    self.longest = max(self.longest, waited)
                    living += ran
            except OSError:
                pass  # ended meanwhile
            # the first knows threads that have ended, the second is more exact
            self.used += children + max(own, living)
            yield


class Looks:
    """Looks that are not over: of one workspace one after the other, of several in turns."""

    def __init__(self) -> None:
        self._of: dict[str | None, deque[Look]] = {}
        """the workspace whose turn it is comes first"""

    def __bool__(self) -> bool:
        return bool(self._of)

    def add(self, workspace: str | None, look: Look) -> None:
        """Have it begun when those before it are over."""
        self._of.setdefault(workspace, deque()).append(look)

    def take(self) -> tuple[str | None, Look]:
        """The look whose turn it is, which is taken out."""
        workspace = next(iter(self._of))
        waiting = self._of.pop(workspace)
        look = waiting.popleft()
        if waiting:
            self._of[workspace] = waiting  # behind all others
        return workspace, look

    def put_back(self, workspace: str | None, look: Look) -> None:
        """It is not over, and goes on at its workspace's next turn."""
        self._of.setdefault(workspace, deque()).appendleft(look)


def below_of(pid: int) -> list[int]:
    """`pid` and every process below it, in this pid namespace's numbers."""
    found, waiting = [pid], [pid]
    while waiting:
        current = waiting.pop()
        try:
            for task in os.listdir(f"/proc/{current}/task"):
                children = _children(current, task)
                found += children
                waiting += children
        except OSError:
            continue  # ended meanwhile
    return found


def _children(pid: int, task: str) -> list[int]:
    return [int(child) for child in proc_files.read(f"/proc/{pid}/task/{task}/children").split()]


def _ran_and_waited(pid: int, task: str) -> tuple[float, float]:
    ran, waited = proc_files.read(f"/proc/{pid}/task/{task}/schedstat").split()[:2]
    return int(ran) / 1e9, int(waited) / 1e9


def _stat_seconds(pid: int) -> tuple[float, float]:
    """Processor time of a process with all its threads, also those that have ended; and of the children that it has
    waited for, and of theirs."""
    try:
        fields = proc_files.fields_after_name(proc_files.read(f"/proc/{pid}/stat"))
    except OSError:
        return 0.0, 0.0  # ended meanwhile
    user, system, children_user, children_system = (int(word) / _TICKS_PER_SECOND for word in fields[11:15])
    return user + system, children_user + children_system
