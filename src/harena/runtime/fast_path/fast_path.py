"""What templates and inits do most of the time, in machine code (fast_path_c says what and why), as a callable."""

from __future__ import annotations

import ctypes
import os
import struct

from harena.runtime.fast_path.fast_path_code import X86_64
from harena.runtime.guest import wire
from harena.runtime.kernel import machine_code
from harena.runtime.kernel.syscalls import libc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from harena.runtime.guest.launch import SandboxLaunch

CHILD, REQUEST, PLAIN_CHILD, FAILED_STEP = 0, 1, 2, 3
"""what `FastPath.function` gives; see context.h"""

PARKS, PARKED = 2, 7
"""a template's interpreter that others fork (see importing); what its wait for that seems to give in such a fork"""

ERROR, STREAMS, SIZE = 7, 14, 16
"""where `FastPath.numbers` has the child's errno, the count of its streams, and the size of the message"""

_POINTERS = 4096
_LAUNCHES = 8
_int, _long, _address_type = ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p


class Launch(ctypes.Structure):
    """`struct launch`."""

    _fields_ = [
        ("settings", _address_type),
        ("settings_size", _long),
        ("calls", _address_type),
        ("call_count", _long),
        ("flags", _long),
        ("channel_call", _int),
        ("unused", _int),
    ]


class Context(ctypes.Structure):
    """`struct context`."""

    _fields_ = [
        ("control", _int),
        ("ended", _int),
        ("oom_adjust", _int),
        ("nothing", _int),
        ("pid", _int),
        ("number", ctypes.c_uint),
        ("was_warm", _int),
        ("error", _int),
        ("descriptors", _int * wire.MAX_DESCRIPTORS),
        ("descriptor_count", _int),
        ("unused", _int),
        ("size", _long),
        ("message", _address_type),
        ("message_room", _long),
        ("pointers", _address_type),
        ("pointer_room", _long),
        ("environment", _address_type),
        ("names", _address_type),
        ("absent", _address_type),
        ("fork", _address_type),
        ("before_fork", _address_type),
        ("after_in_parent", _address_type),
        ("after_in_child", _address_type),
        ("is_template", _int),
        ("step", _int),
        ("launch_count", _int),
        ("launched", _int),
        ("launches", Launch * _LAUNCHES),
    ]


class FastPath:
    """Made in the template; used there and in each of its forks. `function` serves until there is something else to
    do, and says what: CHILD, REQUEST, PLAIN_CHILD, FAILED_STEP or minus an errno.

    What the interpreter does around a fork is for other threads and for hooks of modules (os.register_at_fork). There
    is one thread here; where there is no hook either, it is left out: it writes to fifty pages.
    """

    def __init__(self, environment: dict[str, str], *, has_fork_hooks: bool, wanted: bool) -> None:
        self._environment = _words(name + "=" + value for name, value in environment.items())
        self._message = ctypes.create_string_buffer(wire.MAX_MESSAGE)
        self._pointers = (ctypes.c_void_p * _POINTERS)()
        self._texts: list[object] = []
        """settings of launches, which the context has the addresses of"""
        self._passing = -1
        """place of the launch that others follow"""
        self.launches: list[SandboxLaunch] = []
        self.context = context = Context(
            message=ctypes.addressof(self._message),
            message_room=wire.MAX_MESSAGE,
            pointers=ctypes.addressof(self._pointers),
            pointer_room=_POINTERS,
            environment=ctypes.addressof(self._environment),
            fork=_address(libc.fork),
        )
        if has_fork_hooks:
            context.before_fork = _address(ctypes.pythonapi.PyOS_BeforeFork)
            context.after_in_parent = _address(ctypes.pythonapi.PyOS_AfterFork_Parent)
            context.after_in_child = _address(ctypes.pythonapi.PyOS_AfterFork_Child)
        code = X86_64[:-8] + struct.pack("<Q", ctypes.addressof(context))
        self.function = machine_code.load(code) if wanted else None
        """None where this machine cannot run it"""
        # for a child, to whom every lookup by name costs copies of pages
        self.received = memoryview(self._message).cast("B")
        self.numbers = memoryview(context).cast("B").cast("i")

    def know_plain(self, names: list[str], absent: list[str]) -> None:
        """The interpreter's `names`, and directories that must not be there, for plain programs."""
        self._names, self._absent = _words(names), _words(absent)
        self.context.names, self.context.absent = ctypes.addressof(self._names), ctypes.addressof(self._absent)

    def serve_template(self, descriptors: tuple[int, int, int, int], *, parks: bool = False) -> None:
        """From now on `function` forks sandboxes, where it has been told how by `know_launch`; or, if it `parks`, waits
        until another process has forked one. `descriptors` are control, ended, oom_adjust and nothing, as in launch."""
        context = self.context
        context.is_template = PARKS if parks else 1
        context.control, context.ended, context.oom_adjust, context.nothing = descriptors

    def know_launch(self, settings: bytes, launch: SandboxLaunch) -> None:
        """How to make a sandbox for these settings."""
        context = self.context
        if launch.own_users or context.launch_count == _LAUNCHES:
            return
        self._texts.append(None)
        self.launches.append(launch)
        context.launch_count += 1
        self._tell(context.launch_count - 1, settings, launch)

    def know_passing_launch(self, settings: bytes, launch: SandboxLaunch) -> None:
        """How to make a sandbox for these settings, instead of those that this was called with before."""
        if launch.own_users:
            return
        if self._passing < 0:
            if self.context.launch_count == _LAUNCHES:
                return
            self._passing = self.context.launch_count
            self.know_launch(settings, launch)
        else:
            self.launches[self._passing] = launch
            self._tell(self._passing, settings, launch)

    def _tell(self, place: int, settings: bytes, launch: SandboxLaunch) -> None:
        text = ctypes.create_string_buffer(settings, len(settings))
        known = self.context.launches[place]
        known.settings, known.settings_size = ctypes.addressof(text), len(settings)
        known.calls, known.call_count = launch.calls()
        known.flags, known.channel_call = launch.flags, launch.channel_call
        self._texts[place] = text

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
