"""The network namespace of a sandbox: nothing but a loopback interface, and that one up; and no packet that was
sent comes back with its time, few connections wait at one listener, and few that have ended are remembered."""

from __future__ import annotations

import struct

SET_FLAGS = 0x8914  # SIOCSIFFLAGS
LOOPBACK_UP = b"lo".ljust(16, b"\0") + (0x41).to_bytes(2, "little").ljust(24, b"\0")  # IFF_UP | IFF_RUNNING

SENT_TIMES = b"/proc/sys/net/core/tstamp_allow_data"
"""Whether a socket's error queue takes copies of what it has sent, when a message asks for the time of that (which lies
in memory that no filter of system calls reads). No cgroup counts them. A setting of each network namespace where the
kernel has it so; elsewhere it is the host's own, which no namespace shows."""
WAITING_CONNECTIONS = b"/proc/sys/net/core/somaxconn"
"""How many connections may wait at one listener until they are accepted. What these have received is charged to no
cgroup, 97 KB each, and the kernel lets 4,096 wait."""
MOST_WAITING = 128
"""the kernel's own default until Linux 5.3; programs ask for more, and get this without a word"""
ENDED_CONNECTIONS = b"/proc/sys/net/ipv4/tcp_max_tw_buckets"
"""How many connections that have ended are remembered for a minute (TIME_WAIT). They are charged to no cgroup, 400
bytes each, lie in a table of the whole host, and the kernel keeps 131,072 for each namespace. More are forgotten at
once."""
MOST_ENDED = 4096
SETTINGS = (
    (SENT_TIMES, b"0"),
    (WAITING_CONNECTIONS, b"%d" % MOST_WAITING),
    (ENDED_CONNECTIONS, b"%d" % MOST_ENDED),
)
"""file, and what is written to it in the network namespace of each sandbox"""


PROXY_PORT = 3128
"""port of 127.0.0.1 where a sandbox with a network finds an HTTP proxy"""
DNS_PORT = 53
STREAMS, DATAGRAMS = 1, 2
"""SOCK_STREAM, SOCK_DGRAM"""
GATEWAY_PORT = 3130
"""port of 127.0.0.1 of a sandbox's first gateway; the others follow"""
MOST_LISTENERS = 32
_INET = 2
_LOOPBACK, _ANY = b"\x7f\0\0\1", bytes(4)
_CLOSED_AND_NONBLOCKING = 0o2000000 | 0o4000
WAITING_AT_ONE = 32
"""connections that wait at one listener of a sandbox with a network"""


def listeners(ports: tuple[int, ...] | None, gateways: int = 0) -> list[tuple[int, bytes, int]]:
    """(kind, address, port) of the sockets of a sandbox with a network, in the order in which they are passed out of
    it. `ports` are those of all its addresses; () = it has the proxy only, None = not even that. Those of its
    `gateways` come last."""
    found = [] if ports is None else [(STREAMS, _LOOPBACK, PROXY_PORT)]
    if ports:
        found += [(kind, _LOOPBACK, DNS_PORT) for kind in (STREAMS, DATAGRAMS)]
    found += [(STREAMS, _ANY, port) for port in ports or ()]
    return found + [(STREAMS, _LOOPBACK, GATEWAY_PORT + number) for number in range(gateways)]


def gateway_urls(gateways: int) -> list[str]:
    """Where programs find so many gateways."""
    return [f"http://127.0.0.1:{GATEWAY_PORT + number}" for number in range(gateways)]


def socket_kind(kind: int) -> int:
    """The second argument of `socket`."""
    return kind | _CLOSED_AND_NONBLOCKING


def socket_address(address: bytes, port: int) -> bytes:
    """The kernel's struct for an IPv4 address and a port."""
    return struct.pack("<H", _INET) + struct.pack(">H", port) + address + bytes(8)
