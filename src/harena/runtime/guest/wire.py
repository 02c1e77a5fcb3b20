"""What a sandbox's owner and its init tell each other (SOCK_SEQPACKET). Runs on both sides: see guest.

Requests. The commonest, an order to start a program, is a struct and strings, so that machine code can read it too;
the others are marshal, which never begins with the same byte.

    ORDER, then NUL-terminated: working directory, arguments, variables  + [[stdin,] stdout, stderr], or a terminal
    ("a", number, user, order)                           such an order, as another user than root (see users); without
                                                         HOME, the program gets that user's
    ("k", number)                                        kill that program's whole tree, or file operation
    ("o", number, path, flags, mode)                     open a regular file; answer OPENED with its descriptor
    ("o", number, "", 0, 0)                              likewise for an empty file without a name
    ("f", number, operation, arguments) + [pipe, ...]    a file operation in a child of its own (see files)
    ("u", number, which)                                 what a snapshot is made of; answer OPENED with a descriptor of
                                                         the folder of the upper layer, or of the user namespace
    ("p", number)                                        stop all programs; answer DONE
    ("c", number)                                        let them go on; answer DONE
    ("q", number)                                        nothing runs here, and nothing that a process would leave in
                                                         the kernel is left; answer DONE, EBUSY where something is
    ("t",)                                               SIGTERM to everything; end when nothing is left
    ("m", size)             + [...]                      the real request comes in pieces, in the next messages

Answers, which the owner parses with suspicion: READY, FAILED and why, STARTED_REALLY, EXITED, OPENED, DONE; before
READY, once and only from a sandbox with a network, LISTENERS with their descriptors.
"""

from __future__ import annotations

import os
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

READY = b"R"
FAILED = b"E"
LISTENERS = b"L"
STARTED_REALLY = struct.Struct("<cI")  # b"N", number: not warm after all
EXITED = struct.Struct("<cIiQQQB")  # b"X", number, wait status, user us, system us, peak kB, was warm
OPENED = struct.Struct("<cIiQI")  # b"O", number, errno, size, mode
DONE = struct.Struct("<cIi")  # b"D", number, errno

UPPER_LAYER, USER_NAMESPACE = "layer", "users"

MAX_MESSAGE = 1 << 15
MAX_DESCRIPTORS = 6

_ENCODING = sys.getfilesystemencoding()

ORDER = struct.Struct("<cBHIQQII")  # b"x", flags, 0, number, open files, CPU seconds (0 = any), arguments, variables
WARM, TERMINAL, OWN_ENVIRONMENT = 1, 2, 4  # without the last, the environment is the template's


class Order:
    """A program to be started."""

    __slots__ = ("argv", "cpu_seconds", "cwd", "env", "flags", "ids", "number", "open_files", "user")

    number: int
    flags: int
    open_files: int
    cpu_seconds: int
    cwd: str
    argv: list[str]
    env: dict[str, str]
    user: str
    """ "" = root, as init is"""
    ids: tuple[int, int, list[int]] | None
    """whom `user` means: user, group, further groups"""


def encode_order(
    number: int,
    flags: int,
    argv: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str,
    *,
    open_files: int,
    cpu_seconds: int,
) -> bytes:
    """`env` None = the template's. No word may hold NUL."""
    words = [cwd, *argv]
    if env is not None:
        flags |= OWN_ENVIRONMENT
        words += map("=".join, env.items())
    head = ORDER.pack(b"x", flags, 0, number, open_files, cpu_seconds, len(argv), len(env or ()))
    return head + os.fsencode("\0".join(words)) + b"\0"


def decode_words(message: bytes) -> list[str]:
    """Working directory, arguments and variables of an order."""
    return message[ORDER.size : -1].decode(_ENCODING, "surrogateescape").split("\0")


def decode_order(message: bytes, environment: dict[str, str]) -> Order:
    """`environment` is the template's."""
    order = Order()
    _, order.flags, _, order.number, order.open_files, order.cpu_seconds, count, _ = ORDER.unpack_from(message)
    words = decode_words(message)
    order.cwd = words[0]
    order.argv = words[1 : 1 + count]
    order.env = environment
    order.user, order.ids = "", None
    if order.flags & OWN_ENVIRONMENT:
        order.env = dict(word.split("=", 1) for word in words[1 + count :])
    return order
