"""Which files of a sandbox were opened for writing, or moved, meanwhile: the kernel tells it from outside (inotify).

A program that maps a file writable changes it without any trace in the file's times, and may put its content back; but
it has to open it for writing. Each kind of event is told once for each file, and a queue of the kernel's gets no more
watches than it can hold events of: whatever others do to their files, no event is lost.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import struct
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

_MODIFY, _CLOSE_WRITE, _DELETE_SELF, _MOVE_SELF = 0x2, 0x8, 0x400, 0x800
_ONCE = 0x80000000
WRITTEN, REPLACED = "written", "replaced"
_KINDS = {WRITTEN: _MODIFY | _CLOSE_WRITE, REPLACED: _DELETE_SELF | _MOVE_SELF}
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 16
_IGNORED = 0x8000
_MOST_QUEUED = "/proc/sys/fs/inotify/max_queued_events"
_EVENTS_OF_ONE = 2
"""number of events of a watch that tells once: what happened, and that it has ended"""


class _Queue:
    """One inotify instance of this process: watches of one kind. Safe for threads."""

    def __init__(self, mask: int, room: int) -> None:
        self._mask = mask | _ONCE
        self._room = room
        self._lock = threading.Lock()
        self._descriptor = -1
        self._pid = 0
        self._seen: dict[int, bool] = {}
        """number of a watch -> whether it was told of"""

    def watch(self, descriptor: int) -> int | None:
        """The number of a new watch; None where the kernel's queue could not hold its events beside those of all
        others. Raises OSError."""
        libc = ctypes.CDLL(None, use_errno=True)
        with self._lock:
            if self._pid == os.getpid() and len(self._seen) >= self._room:
                return None
            if self._pid != os.getpid():
                self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
                if self._descriptor < 0:
                    raise OSError(ctypes.get_errno(), "inotify_init1")
                self._seen, self._pid = {}, os.getpid()
            number: int = libc.inotify_add_watch(
                self._descriptor, f"/proc/self/fd/{descriptor}".encode(), ctypes.c_uint32(self._mask)
            )
            if number < 0:
                raise OSError(ctypes.get_errno(), "inotify_add_watch")
            self._seen[number] = False
        return number

    def was_told(self, number: int) -> bool:
        """An event of this watch has come."""
        with self._lock:
            self._drain()
            return self._seen.get(number, False)

    def forget(self, numbers: Iterable[int]) -> None:
        """End watches."""
        libc = ctypes.CDLL(None)
        with self._lock:
            for number in numbers:
                libc.inotify_rm_watch(self._descriptor, number)
                self._seen.pop(number, None)
            self._drain()
            if not self._seen and self._pid == os.getpid():
                os.close(self._descriptor)
                self._descriptor, self._pid = -1, 0

    def _drain(self) -> None:
        while True:
            try:
                told = os.read(self._descriptor, _READ_BYTES)
            except OSError:  # there is no more
                return
            at = 0
            while at < len(told):
                number, mask, _, length = _EVENT.unpack_from(told, at)
                at += _EVENT.size + length
                if number in self._seen and mask & ~_IGNORED:
                    self._seen[number] = True


class _Queues:
    """Queues of one kind, as many as its watches need: the kernel gives few to one user. Safe for threads."""

    def __init__(self, mask: int) -> None:
        self._mask = mask
        self._lock = threading.Lock()
        self._queues: list[_Queue] = []

    def watch(self, descriptor: int) -> tuple[_Queue, int]:
        """A new watch, in the first queue that has room. Raises OSError."""
        with self._lock:
            for queue in self._queues:
                if (number := queue.watch(descriptor)) is not None:
                    return queue, number
            queue = _Queue(self._mask, most_watches())
            self._queues.append(queue)
            number = queue.watch(descriptor)
            assert number is not None, "a new queue has room"
            return queue, number


def most_watches(path: str = _MOST_QUEUED) -> int:
    """How many watches one queue may have, each of which leaves all its events there until somebody asks."""
    try:
        with open(path, encoding="ascii") as file:
            queued = int(file.read())
    except (OSError, ValueError):
        queued = 1024  # no kernel's default is less
    return max(1, queued // _EVENTS_OF_ONE - 1)


_QUEUES = {kind: _Queues(mask) for kind, mask in _KINDS.items()}

Opened = Callable[[str], Awaitable[int]]
Closed = Callable[[int], None]


class FileWatch:
    """Files and folders of one sandbox that are watched. Implements `harena.core.ports.FileWatch`."""

    def __init__(self, opened: Opened, closed: Closed) -> None:
        """`opened` opens a file of the sandbox for reading; `closed` closes its descriptor, and holds up nobody."""
        self._opened, self._closed = opened, closed
        self._watches: dict[str, dict[str, tuple[_Queue, int]]] = {}
        self._files: set[str] = set()

    def add(self, path: str, descriptor: int, *, is_folder: bool) -> None:
        """Watch what a descriptor leads to; a folder only for being moved. Raises OSError."""
        for kind in (REPLACED,) if is_folder else _KINDS:
            self._watches.setdefault(path, {})[kind] = _QUEUES[kind].watch(descriptor)
        if not is_folder:
            self._files.add(path)

    async def touched(self) -> dict[str, frozenset[str]]:
        """Tell what happened to each watched path, and which of the files is open for writing still."""
        found: dict[str, frozenset[str]] = {}
        for path, numbers in self._watches.items():
            kinds = {kind for kind, (queue, number) in numbers.items() if queue.was_told(number)}
            if path in self._files and WRITTEN not in kinds and await self._is_open_for_writing(path):
                kinds.add(WRITTEN)
            if kinds:
                found[path] = frozenset(kinds)
        return found

    async def _is_open_for_writing(self, path: str) -> bool:
        try:
            descriptor = await self._opened(path)
        except OSError:
            return True
        try:
            # whoever opens it in this moment breaks the lease: the default signal would end this process
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except OSError as error:  # others: a file system without leases
            return error.errno == errno.EAGAIN
        finally:
            self._closed(descriptor)
        return False

    def close(self) -> None:
        """End it."""
        of_queues: dict[_Queue, list[int]] = {}
        for numbers in self._watches.values():
            for queue, number in numbers.values():
                of_queues.setdefault(queue, []).append(number)
        for queue, ended in of_queues.items():
            with suppress(OSError):
                queue.forget(ended)
        self._watches.clear()
