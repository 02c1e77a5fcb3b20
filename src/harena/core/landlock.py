"""Landlock: a thread that gives up the right to open anything but the directories that it names, for good.

It holds for the calling thread and for what that starts, needs no privilege, and cannot be undone. Kernels have it
since 5.13, TCP ports since 6.7, signals and abstract sockets since 6.12; where it is missing or switched off,
`version` is 0.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

_CREATE, _ADD, _RESTRICT, _ONLY_VERSION, _BENEATH = 444, 445, 446, 1, 1
_NO_NEW_PRIVS = 38
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ALL_SINCE_5_13 = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE
_TCP = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3
T = TypeVar("T")


@cache
def version() -> int:
    """What the kernel knows of it; 0 = nothing."""
    return max(0, _syscall(_CREATE, None, 0, _ONLY_VERSION))


def restrict_this_thread(readable: Iterable[Path], writable: Iterable[Path] = ()) -> None:
    """From now on this thread opens and changes nothing else, and, where the kernel can forbid it, connects to nobody
    over TCP and signals nobody who is not restricted with it. What does not exist is left out. Raises OSError;
    `version` must not be 0."""
    known = version()
    handled = _ALL_SINCE_5_13 | (_REFER if known >= 2 else 0) | (_TRUNCATE if known >= 3 else 0)
    attributes = struct.pack("=QQQ", handled, _TCP, _ABSTRACT_SOCKETS_AND_SIGNALS)
    attributes = attributes[: 8 if known < 4 else 16 if known < 6 else 24]
    rules = _call_kernel(_CREATE, attributes, len(attributes), 0)
    try:
        for rights, places in ((_READ, readable), (handled & ~_EXECUTE, writable)):
            for place in places:
                _allow(rules, place, rights)
        if _libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no_new_privs")
        _call_kernel(_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def in_restricted_thread(
    work: Callable[[], T],
    readable: Iterable[Path],
    writable: Iterable[Path] = (),
    *,
    most_seconds: float | None = None,
) -> T:
    """What `work` gives, or raises, in a thread of its own that is restricted so. Raises as `in_own_thread`, and
    OSError."""

    def restricted() -> T:
        restrict_this_thread(readable, writable)
        return work()

    return in_own_thread(restricted, most_seconds=most_seconds)


def in_own_thread(work: Callable[[], T], *, most_seconds: float | None = None) -> T:
    """What `work` gives, or raises, in a thread that ends with it: what that gives up nobody else lacks. Raises
    TimeoutError; a thread that took too long runs on, since no thread can be ended."""
    given: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            given.append(work())
        except BaseException as error:  # noqa: BLE001 - raised where it was asked for
            raised.append(error)

    thread = threading.Thread(target=run, name="restricted", daemon=True)
    thread.start()
    thread.join(most_seconds)
    if thread.is_alive():
        raise TimeoutError(f"it took more than {most_seconds:g} seconds")
    if raised:
        raise raised[0]
    return given[0]


def _allow(rules: int, place: Path, rights: int) -> None:
    try:
        descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not place.is_dir():
            rights &= _OF_FILES
        attributes = struct.pack("=Qi", rights, descriptor)
        _call_kernel(_ADD, rules, _BENEATH, attributes, 0)
    finally:
        os.close(descriptor)


def _call_kernel(number: int, *arguments: object) -> int:
    result = _syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _syscall(number: int, *arguments: object) -> int:
    words = [ctypes.c_long(part) if isinstance(part, int) else part for part in arguments]
    return int(_libc().syscall(ctypes.c_long(number), *words))


@cache
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
