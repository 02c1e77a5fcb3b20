"""Init's loop in machine code (init_loop.c says what it does), as a callable."""

from __future__ import annotations

import ctypes
import os
import struct

from harena.runtime import wire
from harena.runtime.init_loop_code import X86_64
from harena.runtime.kernel import machine_code
from harena.runtime.kernel.syscalls import libc

CHILD, REQUEST, PLAIN_CHILD = 0, 1, 2
"""what `InitLoop.function` gives: this is the child of a fork, there is a request for Python, or this is a child whose
program is surely right to run warm"""

ERROR, STREAMS, SIZE = 7, 12, 14
"""where `InitLoop.numbers` has the child's errno, the count of its streams, and the size of the message"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_POINTERS = 4096


class Context(ctypes.Structure):
    """`struct context` of init_loop.c."""

    _fields_ = [
        ("control", ctypes.c_int),
        ("ended", ctypes.c_int),
        ("oom_adjust", ctypes.c_int),
        ("nothing", ctypes.c_int),
        ("pid", ctypes.c_int),
        ("number", ctypes.c_uint),
        ("was_warm", ctypes.c_int),
        ("error", ctypes.c_int),
        ("descriptors", ctypes.c_int * wire.MAX_DESCRIPTORS),
        ("descriptor_count", ctypes.c_int),
        ("unused", ctypes.c_int),
        ("size", ctypes.c_ulong),
        ("message", ctypes.c_void_p),
        ("message_room", ctypes.c_ulong),
        ("pointers", ctypes.c_void_p),
        ("pointer_room", ctypes.c_ulong),
        ("environment", ctypes.c_void_p),
        ("names", ctypes.c_void_p),
        ("absent", ctypes.c_void_p),
        ("fork", ctypes.c_void_p),
        ("before_fork", ctypes.c_void_p),
        ("after_in_parent", ctypes.c_void_p),
        ("after_in_child", ctypes.c_void_p),
    ]


class InitLoop:
    """Made in the template; used in each of its forks. `function` starts, reaps and reports programs until there is
    something else to do; it gives CHILD, REQUEST, PLAIN_CHILD or minus an errno.

    What the interpreter does around a fork is for other threads and for hooks of modules (os.register_at_fork). There
    is one thread here; where there is no hook either, it is left out: it writes to fifty pages.
    """

    def __init__(self, environment: dict[str, str], has_fork_hooks: bool) -> None:
        self._environment = _words(name + "=" + value for name, value in environment.items())
        self._message = ctypes.create_string_buffer(wire.MAX_MESSAGE)
        self._pointers = (ctypes.c_void_p * _POINTERS)()
        self.context = Context(
            message=ctypes.addressof(self._message),
            message_room=wire.MAX_MESSAGE,
            pointers=ctypes.addressof(self._pointers),
            pointer_room=_POINTERS,
            environment=ctypes.addressof(self._environment),
            fork=_address(libc.fork),
        )
        if has_fork_hooks:
            self.context.before_fork = _address(ctypes.pythonapi.PyOS_BeforeFork)
            self.context.after_in_parent = _address(ctypes.pythonapi.PyOS_AfterFork_Parent)
            self.context.after_in_child = _address(ctypes.pythonapi.PyOS_AfterFork_Child)
        code = X86_64[:-8] + struct.pack("<Q", ctypes.addressof(self.context))
        self.function = machine_code.load(code)
        """None where this machine cannot run it"""
        # for a child, to whom every lookup by name costs copies of pages
        self.received = memoryview(self._message).cast("B")
        self.numbers = memoryview(self.context).cast("B").cast("i")

    def know_plain(self, names: list[str], absent: list[str]) -> None:
        """The interpreter's `names`, and directories that must not be there, for plain programs."""
        self._names, self._absent = _words(names), _words(absent)
        self.context.names, self.context.absent = ctypes.addressof(self._names), ctypes.addressof(self._absent)

    def message(self) -> bytes:
        """What was received last."""
        return bytes(self.received[: self.numbers[SIZE]])

    def descriptors(self) -> list[int]:
        """What came with it."""
        return list(self.context.descriptors[: self.context.descriptor_count])


def _words(texts: Iterable[str]) -> ctypes.Array[ctypes.c_char_p]:
    """A char** that ends in NULL."""
    encoded = [os.fsencode(text) for text in texts]
    return (ctypes.c_char_p * (len(encoded) + 1))(*encoded)


def _address(function: object) -> int | None:
    return ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
