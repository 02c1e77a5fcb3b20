"""The network namespace of a sandbox: nothing but a loopback interface, and that one up."""

from __future__ import annotations

import _socket
import os
import select
import struct

from harena.runtime.kernel import namespaces

SET_FLAGS = 0x8914  # SIOCSIFFLAGS
LOOPBACK_UP = b"lo".ljust(16, b"\0") + (0x41).to_bytes(2, "little").ljust(24, b"\0")  # IFF_UP | IFF_RUNNING

_COUNTERS = ("/proc/self/net/snmp", "/proc/self/net/netstat", "/proc/self/net/snmp6")
_RTM_GETLINK, _NLM_F_REQUEST, _IFLA_STATS64 = 18, 1, 23
_QUERY = struct.pack("<IHHII", 32, _RTM_GETLINK, _NLM_F_REQUEST, 1, 0) + struct.pack("<BBHiII", 0, 0, 0, 1, 0, 0)


class Recycled:
    """Network namespaces of one template's sandboxes that have ended without ever using them.

    Making and tearing down one is a fifth of a short life's cost. One is used again only for the same template's
    sandboxes, only when its last process has gone, and only if not one packet ever passed its loopback interface (so
    that no connection of it can be remembered) and no counter that programs can read differs from a new one's; its
    settings in /proc/sys are read-only to programs anyway.
    """

    LIMIT = 48  # descriptors are copied into every fork: more would cost more than they save

    def __init__(self) -> None:
        self._own = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self._busy: dict[int, tuple[int, _socket.socket]] = {}  # pidfd of a sandbox: its namespace, a socket in it
        self._free: list[tuple[int, _socket.socket]] = []
        self._ended = select.poll()
        self._pristine = _counters()

    def take(self) -> tuple[int, _socket.socket] | None:
        """A namespace that is as good as new, or None."""
        if not self._free and self._busy:
            for pidfd, _events in self._ended.poll(0):
                self._ended.unregister(pidfd)
                os.close(pidfd)
                namespace, probe = self._busy.pop(pidfd)
                if _untouched(probe) and self._has_pristine_counters(namespace):
                    self._free.append((namespace, probe))
                else:
                    os.close(namespace)
                    probe.close()
        return self._free.pop() if self._free else None

    def give(self, entry: tuple[int, _socket.socket] | None, pid: int, pidfd: int) -> bool:
        """The sandbox `pid` now runs in `entry`, or (None) in one of its own. True if `pidfd` was kept."""
        if entry is None:
            if len(self._busy) >= self.LIMIT:
                return False
            entry = self._enter(pid)
            if entry is None:
                return False
        self._busy[pidfd] = entry
        self._ended.register(pidfd, select.POLLIN)
        return True

    def _has_pristine_counters(self, namespace: int) -> bool:
        namespaces.enter(namespace, namespaces.NEWNET)
        try:
            return _counters() == self._pristine
        finally:
            namespaces.enter(self._own, namespaces.NEWNET)

    def _enter(self, pid: int) -> tuple[int, _socket.socket] | None:
        try:
            namespace = os.open("/proc/%d/ns/net" % pid, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None  # ended already
        namespaces.enter(namespace, namespaces.NEWNET)
        try:
            probe = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW | _socket.SOCK_CLOEXEC, 0)
        finally:
            namespaces.enter(self._own, namespaces.NEWNET)
        return namespace, probe


def _counters() -> list[bytes]:
    """What programs can read of this process's network namespace."""
    found = []
    for path in _COUNTERS:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue  # a kernel without it
        try:
            found.append(os.read(descriptor, 65536))
        finally:
            os.close(descriptor)
    return found


def _untouched(probe: _socket.socket) -> bool:
    """Not one packet was received or sent on loopback."""
    try:
        probe.send(_QUERY)
        answer = probe.recv(16384)
    except OSError:
        return False
    position = 32  # after the headers of message and interface
    while position + 4 <= len(answer):
        length, kind = struct.unpack_from("<HH", answer, position)
        if kind == _IFLA_STATS64 and length >= 20:
            return struct.unpack_from("<QQ", answer, position + 4) == (0, 0)
        if length < 4:
            return False
        position += (length + 3) & ~3
    return False
