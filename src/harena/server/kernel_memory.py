"""What a connection's bytes may take of the kernel's memory: answers that are not taken, requests that are not read.

Left to itself, a buffer grows to 4 MiB and more (net.ipv4.tcp_wmem, tcp_rmem), of a memory that all sockets of the host
share (tcp_mem). A connection of which no key is known has so little that all that an address may open take little of
it: its answers are short. With a key it has what a long transfer needs, a path's bytes on the way: 1 MiB are 10 MB/s
where an acknowledgement takes 100 ms, 100 MB/s where it takes 10. A workspace's many connections share what it has.
"""

from __future__ import annotations

import fcntl
import socket
import struct
import termios
from contextlib import suppress
from typing import Protocol

SEND_BYTES = 16 * 1024
"""for answers, before a key is known; the kernel takes twice as much for what it notes beside them"""
RECEIVE_BYTES = 64 * 1024
"""for requests, before a key is known: what a connection begins with. A smaller buffer would be full of what came
before it was accepted."""
MOST_BYTES = 1024 * 1024
"""for answers, and as many for requests, of a connection with a key"""
WORKSPACE_BYTES = 32 * 1024 * 1024
"""for answers, and as many for requests, of all of a workspace: each connection gets its part when it becomes one"""

_SNDBUFFORCE, _RCVBUFFORCE = 32, 33  # asm-generic/socket.h: beyond net.core.wmem_max, for who administers the network
_RESET = struct.pack("ii", 1, 0)


class Options(Protocol):
    """A socket, as far as its options go."""

    def fileno(self) -> int:
        """Give the file descriptor."""

    def setsockopt(self, level: int, option: int, value: int | bytes, /) -> None:
        """Set an option of the socket."""


def bytes_for(connections: int) -> int:
    """The buffer of the last of so many connections of a workspace."""
    return max(RECEIVE_BYTES, min(MOST_BYTES, WORKSPACE_BYTES // max(1, connections)))


def narrow(connection: Options) -> None:
    """It was accepted, and whose it is is not known."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)


def widen(connection: Options, size: int) -> None:
    """A key came over it, and it may have gone meanwhile."""
    if connection.fileno() < 0:
        return
    for option, forced in ((socket.SO_SNDBUF, _SNDBUFFORCE), (socket.SO_RCVBUF, _RCVBUFFORCE)):
        connection.setsockopt(socket.SOL_SOCKET, option, size)
        with suppress(OSError):  # without the privilege it has what the host allows everybody
            connection.setsockopt(socket.SOL_SOCKET, forced, size)


def forget_what_is_left(connection: Options) -> None:
    """Closed after this, it leaves nothing: else the kernel would try for minutes to deliver what was not taken. Who
    has taken everything is told of an end, and of no failure."""
    if connection.fileno() >= 0 and fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, b"\0" * 4) != b"\0" * 4:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
