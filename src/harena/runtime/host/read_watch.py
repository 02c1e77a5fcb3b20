"""Finds the files of a sandbox that nobody has read since somebody could first change them; the kernel tells it.

A lease holds back whoever opens a file for writing until it is noted what was read before, so that a change through a
map, of which no event tells, is not earlier than it seems. What comes afterwards is told by events: of the file itself,
and of its name in its folder, which another file may get. Equal events that follow each other are one event. So events
are not counted: any that tells of a reader ends it, and so does any that takes the name away, for a file that is
missing or closed is looked for without an event.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import os
import signal
import struct
import termios
import time
from contextlib import suppress
from dataclasses import dataclass

from harena.runtime.kernel import proc_files

_ACCESS, _MODIFY, _ATTRIB, _CLOSE_WRITE, _CLOSE_NOWRITE = 0x1, 0x2, 0x4, 0x8, 0x10
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_UNMOUNT, _OVERFLOW = 0x2000, 0x4000
_READ, _WRITTEN = _ACCESS | _CLOSE_NOWRITE, _MODIFY | _CLOSE_WRITE
_OF_FILE = _READ | _WRITTEN | _ATTRIB | _MOVE_SELF
_OF_NAME = _READ | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_NAME_IS_GONE = _MOVED_FROM | _CREATE | _DELETE
_OF_FOLDER = _DELETE_SELF | _MOVE_SELF
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 15
"""some thousand events, which take some milliseconds; others have their turn then"""
_LOOK_SECONDS = 0.005
_RESTS_PER_LOOK = 30.0
"""After a look nothing is done for so many times as long. A program that makes more events meanwhile than the queue
holds has them lost, which ends the watch."""
_LONGEST_REST_SECONDS = 1.0
_LEASE_SECONDS = 10.0
"""who waits for a lease gets the file after this time at the earliest (the kernel's default is 45 s)"""
_TRIES = 100
"""how often a lease is asked for: who has written the file may not have closed it yet"""


@dataclass(slots=True)
class _Watched:
    path: str
    name: bytes
    descriptor: int
    folder: int
    mode: int
    has_lease: bool = False
    is_changed: bool = False
    """somebody could have changed it"""
    is_replaced: bool = False
    """another file has its name"""
    is_read: bool = False
    """it was read since, or may have been"""


class ReadWatch:
    """Files of one sandbox that are watched. Implements `harena.core.ports.ReadWatch`."""

    def __init__(self) -> None:
        """Raises OSError where the kernel has no room for another queue of events."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._queue = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._queue < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self._files: list[_Watched] = []
        self._of_file: dict[int, _Watched] = {}
        self._of_name: dict[tuple[int, bytes], _Watched] = {}
        self._is_blind = not _leases_last()
        """events were lost, a lease has ended by itself, or a folder was moved"""
        self._looked = time.monotonic()
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def add(self, path: str, descriptor: int, folder: int) -> None:
        """Watch a file that is open for reading, and its name in its folder; both descriptors are closed in the end.
        Raises OSError."""
        name = os.path.basename(path).encode("utf-8", "surrogateescape")
        watched = _Watched(path, name, descriptor, folder, os.fstat(descriptor).st_mode)
        self._files.append(watched)
        self._of_file[self._watch(descriptor, _OF_FILE)] = watched
        self._of_name[self._watch(folder, _OF_NAME | _OF_FOLDER), name] = watched

    def add_folder(self, descriptor: int) -> None:
        """Watch a folder above the files for being moved. Raises OSError."""
        self._watch(descriptor, _OF_FOLDER)

    def _watch(self, descriptor: int, mask: int) -> int:
        add_to_others = 0x20000000  # of the same folder: it may hold several files
        number: int = self._libc.inotify_add_watch(
            self._queue, f"/proc/self/fd/{descriptor}".encode(), ctypes.c_uint32(mask | add_to_others)
        )
        if number < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")
        return number

    async def begin(self) -> None:
        """Hold back who opens one of the files for writing, a moment for each; it goes on until `close`."""
        for watched in self._files:
            for _ in range(_TRIES):
                try:
                    # who opens it breaks the lease: the default signal would end this process
                    fcntl.fcntl(watched.descriptor, fcntl.F_SETSIG, signal.SIGURG)
                    fcntl.fcntl(watched.descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
                except BlockingIOError:
                    await asyncio.sleep(_LOOK_SECONDS)
                    continue
                except OSError:  # a file of another user, or a file system without leases
                    break
                watched.has_lease = True
                break
            if not watched.has_lease:
                watched.is_changed = watched.is_read = True
        await self._look()
        self._task = asyncio.ensure_future(self._go_on())

    async def _go_on(self) -> None:
        took = 0.0
        while any(watched.has_lease for watched in self._files):
            await asyncio.sleep(min(max(_LOOK_SECONDS, _RESTS_PER_LOOK * took), _LONGEST_REST_SECONDS))
            took = await self._look()

    async def _look(self) -> float:
        """Take notice of what happened until now; gives the seconds that this took the event loop."""
        async with self._turn:
            now = time.monotonic()
            if now - self._looked > _LEASE_SECONDS and any(watched.has_lease for watched in self._files):
                self._is_blind = True
            self._looked = now
            wanted = [
                watched
                for watched in self._files
                if watched.has_lease and fcntl.fcntl(watched.descriptor, fcntl.F_GETLEASE) != fcntl.F_RDLCK
            ]
            took = await self._drain()
            for watched in self._files if self._is_blind else wanted:
                # whoever reads it from now on may read something else
                watched.is_changed = True
                watched.has_lease = False
                with suppress(OSError):
                    fcntl.fcntl(watched.descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            return took

    async def _drain(self) -> float:
        """Take the events that are there, not those that come meanwhile: a program makes them faster than they are
        taken. None are taken any more where some were lost. Gives the seconds that this took the event loop."""
        took = 0.0
        left = _waiting_bytes(self._queue)
        while left > 0 and not self._is_blind:
            began = time.perf_counter()
            told = os.read(self._queue, _READ_BYTES)
            left -= len(told)
            at = 0
            while at < len(told):
                number, mask, _, length = _EVENT.unpack_from(told, at)
                at += _EVENT.size
                self._note(number, mask, told[at : at + length].rstrip(b"\0"))
                at += length
            took += time.perf_counter() - began
            await asyncio.sleep(0)
        return took

    def _note(self, number: int, mask: int, name: bytes) -> None:
        if mask & (_OVERFLOW | _UNMOUNT) or (mask & _OF_FOLDER and number not in self._of_file):
            self._is_blind = True
            return
        by_name = self._of_name.get((number, name))
        if by_name is not None:
            self._note_name(by_name, mask)
        watched = self._of_file.get(number)
        if watched is None:
            return
        if mask & _READ and watched.is_changed:
            watched.is_read = True
        if mask & _WRITTEN:
            watched.is_changed = True
        if mask & (_ATTRIB | _MOVE_SELF) and not watched.is_replaced:
            watched.is_read = True

    def _note_name(self, watched: _Watched, mask: int) -> None:
        if mask & _NAME_IS_GONE or (mask & _MOVED_TO and watched.is_replaced):
            watched.is_read = True
        if mask & _READ and watched.is_changed:
            watched.is_read = True
        if mask & _ATTRIB and watched.is_replaced:
            watched.is_read = True
        if mask & _MOVED_TO:
            watched.is_changed = watched.is_replaced = True

    async def unread(self) -> frozenset[str]:
        """Tell the watched files that are still there and were not read; none where reading could have gone unseen."""
        await self._look()
        if self._is_blind:
            return frozenset()
        return frozenset(watched.path for watched in self._files if not watched.is_read and _is_there(watched))

    def close(self) -> None:
        """End it."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        for watched in self._files:
            for descriptor in (watched.descriptor, watched.folder):
                with suppress(OSError):
                    os.close(descriptor)
        self._files.clear()
        if self._queue >= 0:
            os.close(self._queue)
            self._queue = -1


def _waiting_bytes(queue: int) -> int:
    """What is in it now: at most what /proc/sys/fs/inotify/max_queued_events allows."""
    return int(struct.unpack("i", fcntl.ioctl(queue, termios.FIONREAD, bytes(4)))[0])


def _leases_last() -> bool:
    try:
        return int(proc_files.read("/proc/sys/fs/lease-break-time")) > _LEASE_SECONDS
    except (OSError, ValueError):
        return False


def _is_there(watched: _Watched) -> bool:
    """A file of the same mode has the name in the end: no link, and none that only some can open."""
    try:
        found = os.stat(watched.name, dir_fd=watched.folder, follow_symlinks=False)
    except OSError:
        return False
    return found.st_mode == watched.mode
