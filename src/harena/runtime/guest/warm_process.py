"""What an import has set in its process, and a fork of its memory does not have: so that a program's process gets it.

Modules are imported in one process, and programs run in forks of its memory in another one (see importing). Memory
comes along; what the kernel keeps for a process does not: handlers of signals, their mask and their alternate stack,
the umask, the working directory, resource limits, the process's name, its processors, its timer slack, and the rights
that a thread has to protected pages (PKRU). `note` is taken before and after the imports; what differs is set again in
each program's process, at the last moment before the program runs, and nowhere else: init and commands that are really
started have nothing of it.

It is the sandboxed process that sets it, without rights and behind the filter: it gets nothing that it could not have
set by itself. A resource limit never rises above the hard limit that the sandbox has.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Call = tuple[Callable[..., object], tuple[Any, ...]]

_libc = ctypes.CDLL(None)
_PR_SET_NAME, _PR_GET_NAME, _PR_SET_TIMERSLACK, _PR_GET_TIMERSLACK = 15, 16, 29, 30
_LIMITS = range(16)
_LIMIT = struct.Struct("<QQ")
_PROTECTION_KEYS = range(1, 16)
_PAGE_BYTES = 4096
_PRIVATE_ANONYMOUS, _READ = 0x22, 1


class _Stack(ctypes.Structure):
    """`stack_t`."""

    _fields_ = (("place", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


class Process:
    """What the kernel keeps for this process."""

    def __init__(self) -> None:
        self.handlers = {number: _signal.getsignal(number) for number in range(1, _signal.NSIG)}
        self.umask = os.umask(0o022)
        os.umask(self.umask)
        self.directory = _directory()
        self.limits = {which: _limit(which) for which in _LIMITS}
        self.name = _name()
        self.slack = _prctl(_PR_GET_TIMERSLACK)
        self.processors = os.sched_getaffinity(0)
        self.stack = _stack()
        self.rights = _rights()
        self.mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, ())


def changes(before: Process, after: Process) -> list[Call]:
    """The calls that make a process which is as `before` what `after` is: (function, arguments)."""
    found: list[Call] = [
        (_signal.signal, (number, handler))
        for number, handler in after.handlers.items()
        if handler is not None and handler != before.handlers[number]
    ]
    if after.umask != before.umask:
        found.append((os.umask, (after.umask,)))
    if after.directory != before.directory:
        found.append((os.chdir, (after.directory,)))
    for which, (soft, hard) in after.limits.items():
        old_soft, old_hard = before.limits[which]
        if (soft, hard) != (old_soft, old_hard):
            found.append((set_limit, (which, soft if soft != old_soft else None, hard if hard != old_hard else None)))
    if after.name != before.name:
        found.append((_prctl, (_PR_SET_NAME, after.name)))
    if after.slack != before.slack:
        found.append((_prctl, (_PR_SET_TIMERSLACK, after.slack)))
    if after.processors != before.processors:
        found.append((os.sched_setaffinity, (0, after.processors)))
    if after.stack != before.stack:
        found.append((_set_stack, after.stack))
    found += [(_libc.pkey_set, (key, rights)) for key, rights in after.rights.items()]
    if after.mask != before.mask:
        found.append((_signal.pthread_sigmask, (_signal.SIG_SETMASK, after.mask)))
    return found


def make(calls: list[Call]) -> None:
    """Make the calls. What this process may not set, it goes without, as after a real start on a smaller machine."""
    for function, arguments in calls:
        try:
            function(*arguments)
        except (OSError, ValueError):
            continue


def set_limit(which: int, soft: int | None, hard: int | None) -> None:
    """Set a resource limit; None leaves that part. Neither is above the hard limit that is in force."""
    now = _limit(which)
    top = now[1] if hard is None else min(hard, now[1])
    new = _LIMIT.pack(min(now[0] if soft is None else soft, top), top)
    _libc.prlimit(ctypes.c_int(0), ctypes.c_int(which), ctypes.c_char_p(new), None)


def _limit(which: int) -> tuple[int, int]:
    place = ctypes.create_string_buffer(_LIMIT.size)
    _libc.prlimit(ctypes.c_int(0), ctypes.c_int(which), None, place)
    soft, hard = _LIMIT.unpack(place.raw)
    return soft, hard


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "/"


def _prctl(option: int, value: int | bytes = 0) -> int:
    return int(_libc.prctl(ctypes.c_int(option), value if isinstance(value, bytes) else ctypes.c_ulong(value), 0, 0, 0))


def _name() -> bytes:
    place = ctypes.create_string_buffer(17)
    _libc.prctl(ctypes.c_int(_PR_GET_NAME), place, 0, 0, 0)
    return place.value


def _stack() -> tuple[int, int, int]:
    found = _Stack()
    _libc.sigaltstack(None, ctypes.byref(found))
    return found.place or 0, found.flags, found.size


def _set_stack(place: int, flags: int, size: int) -> None:
    _libc.sigaltstack(ctypes.byref(_Stack(place, flags, size)), None)


def _rights() -> dict[int, int]:
    """The rights to the pages of each protection key that has been allocated. The instruction that reads them is
    unknown to processors without such keys, so that they are asked for only where the kernel has given one away."""
    if not hasattr(_libc, "pkey_get"):
        return {}
    map_memory, protect = _libc.mmap, _libc.pkey_mprotect
    size, found = ctypes.c_size_t(_PAGE_BYTES), {}
    map_memory.restype = ctypes.c_void_p
    place = map_memory(None, size, _READ, _PRIVATE_ANONYMOUS, -1, ctypes.c_long(0))
    if place in (None, ctypes.c_void_p(-1).value):
        return {}
    for key in _PROTECTION_KEYS:
        if protect(ctypes.c_void_p(place), size, _READ, key) == 0:
            found[key] = int(_libc.pkey_get(key))
    _libc.munmap(ctypes.c_void_p(place), size)
    return found
