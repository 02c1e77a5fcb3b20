"""Programs on their way: found, limited, with their descriptors in place. Runs in init and in its children."""

from __future__ import annotations

import ctypes
import os
import signal
import struct

from harena.runtime.guest import wire
from harena.runtime.kernel.numbers import NUMBERS
from harena.runtime.kernel.syscalls import syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

RLIMIT_CPU, RLIMIT_NOFILE = 0, 7


def find(program: str, path: str) -> tuple[str, str]:
    """(what execvp would execute, "") or ("", why not)."""
    places = [program] if "/" in program else [(place or ".") + "/" + program for place in path.split(":")]
    refused = ""
    for candidate in places:
        if os.access(candidate, os.X_OK) and not os.path.isdir(candidate):
            return candidate, ""
        if os.path.exists(candidate):
            refused = "is a directory" if os.path.isdir(candidate) else "permission denied"
    return "", refused


def above(descriptors: list[int], floor: int = 3) -> list[int]:
    """Numbers >= `floor` for the same files, so that dup2 to the low ones overwrites none of them."""
    if min(descriptors, default=floor) >= floor:
        return descriptors
    first = max(floor, *descriptors) + 1
    return [os.dup2(descriptor, first + index, inheritable=False) for index, descriptor in enumerate(descriptors)]


def limit(which: int, value: int) -> None:
    """Set both limits of this process."""
    hard = value + 1 if which == RLIMIT_CPU else value  # SIGXCPU first, then SIGKILL
    try:
        syscall(
            "rlimit",
            NUMBERS["prlimit64"],
            ctypes.c_int(0),
            ctypes.c_int(which),
            ctypes.c_char_p(struct.pack("<QQ", value, hard)),
            None,
        )
    except OSError:
        return  # more than this host allows: what it has already stays


def no_directory(cwd: str, code: int) -> None:
    """In a child: say that it cannot work there, and end."""
    os.write(2, os.fsencode("harena: working directory %s: %s\n" % (cwd, os.strerror(code))))
    os._exit(127)


def execute(order: wire.Order) -> NoReturn:
    """In a child: become another program."""
    try:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        program, refused = find(order.argv[0], order.env.get("PATH", ""))
        if program:
            os.execve(program, order.argv, order.env)
        os.write(2, os.fsencode("harena: %s: %s\n" % (order.argv[0], refused or "command not found")))
        os._exit(126 if refused else 127)
    except OSError as error:
        os.write(2, ("harena: cannot start a process: %s\n" % error.strerror).encode())
    finally:
        os._exit(126)
