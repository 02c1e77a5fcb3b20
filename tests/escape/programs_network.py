# ruff: noqa: E501 (programs are text, not code of ours)
"""Ways out over a network."""

from __future__ import annotations

PROGRAMS = {
    "the host's loopback": r"""
import socket
for address in ("127.0.0.1", "127.0.1.1", "localhost"):
    for port in sys.argv[1:3]:
        tried((address, port), lambda: socket.create_connection((address, int(port)), 2))
tried("ipv6", lambda: socket.create_connection(("::1", int(sys.argv[1])), 2))
done()
""",
    "abstract sockets": r"""
import socket
for name in sys.argv[3:5] + ["/tmp/.X11-unix/X0", "/run/dbus"]:
    def act():
        with socket.socket(socket.AF_UNIX) as there:
            there.connect("\0" + name.lstrip("\0"))
    tried(name, act)
if any("@" in line for line in open("/proc/net/unix")):
    escaped(open("/proc/net/unix").read())
done()
""",
    "named sockets of the host": r"""
import socket
for name in (sys.argv[5], "/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/dev/log", "/run/systemd/private"):
    def act():
        with socket.socket(socket.AF_UNIX) as there:
            there.connect(name)
    tried(name, act)
done()
""",
    "interfaces and routes": r"""
import socket
names = [name for _, name in socket.if_nameindex()]
if names != ["lo"]:
    escaped(names)
if len(open("/proc/net/route").read().splitlines()) > 1:
    escaped(open("/proc/net/route").read())
if len(open("/proc/net/arp").read().splitlines()) > 1:
    escaped(open("/proc/net/arp").read())
addresses = open("/proc/net/fib_trie").read()
if any(word.count(".") == 3 and not word.startswith(("127.", "0.")) for word in addresses.split()):
    escaped(addresses)
done()
""",
    "the world": r"""
import errno, socket
for family, address in ((2, ("1.1.1.1", 80)), (2, ("8.8.8.8", 53)), (2, ("169.254.169.254", 80)), (2, ("10.0.0.1", 22)),
                        (2, ("172.17.0.1", 80)), (2, ("255.255.255.255", 67)), (2, ("224.0.0.251", 5353)),
                        (10, ("2606:4700:4700::1111", 80)), (10, ("fe80::1", 80))):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        there = socket.socket(family, kind)
        there.setblocking(False)
        try:
            there.connect(address)
            escaped(address, kind)
        except BlockingIOError:
            escaped(address, kind, "under way")
        except OSError:
            pass
done()
""",
    "names of the world": r"""
import socket
for name in ("example.com", "metadata.google.internal", "one.one.one.one", "host.docker.internal"):
    tried(name, lambda: socket.getaddrinfo(name, 80))
done()
""",
    "raw and packet sockets": r"""
import socket
for family, kind, protocol in ((socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_INET, socket.SOCK_RAW, 255),
                               (socket.AF_INET6, socket.SOCK_RAW, 58), (17, socket.SOCK_RAW, 768), (40, 1, 0)):
    tried((family, kind), lambda: socket.socket(family, kind, protocol))
done()
""",
    "make an interface": r"""
import fcntl, socket, struct
route = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
route.bind((0, 0))
def link(kind):
    name = b"x0\0\0"
    word = kind.encode() + b"\0"
    info = struct.pack("<HH", 4 + len(word), 1) + word + bytes(-len(word) % 4)
    body = struct.pack("<BBHiII", 0, 0, 0, 0, 0, 0) + struct.pack("<HH", 7, 3) + b"x0\0\0" + struct.pack("<HH", 4 + len(info), 18) + info
    route.send(struct.pack("<IHHII", 16 + len(body), 16, 0x605, 1, 0) + body)
    answer = route.recv(4096)
    return struct.unpack_from("<i", answer, 16)[0]
for kind in ("dummy", "veth", "bridge", "vlan"):
    if link(kind) == 0:
        escaped("made", kind)
plain = socket.socket()
for request, value in ((0x8914, b"lo".ljust(16, b"\0") + bytes(24)), (0x8916, b"lo".ljust(16, b"\0") + bytes(24)), (0x890B, bytes(120))):
    tried(hex(request), lambda: fcntl.ioctl(plain, request, value))
tried("iptables", lambda: plain.setsockopt(0, 64, bytes(84)))
tried("mark", lambda: plain.setsockopt(socket.SOL_SOCKET, 36, 1))
tried("transparent", lambda: plain.setsockopt(0, 19, 1))
done()
""",
    "a listener that the host can reach": r"""
import socket
listener = socket.create_server(("0.0.0.0", 0))
print("port", listener.getsockname()[1])
done()
""",
    "settings of the network": r"""
for path in ("/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv4/conf/lo/route_localnet", "/proc/sys/net/ipv4/ping_group_range"):
    tried(path, lambda: os.write(os.open(path, os.O_WRONLY), b"1"))
done()
""",
}  # fmt: skip

COUNTERS = r"""
print([line for name in ("snmp", "netstat", "sockstat", "protocols", "dev", "snmp6") for line in open("/proc/net/" + name)
       if not line.startswith(("sockets", "TCP: inuse", "UDP: inuse", "FRAG"))])
"""
MARK = r"""
import socket
for family, address in ((socket.AF_INET, "8.8.8.8"), (socket.AF_INET6, "2606::1")):
    away = socket.socket(family, socket.SOCK_DGRAM)
    for _ in range(4321):
        try:
            away.sendto(b"x", (address, 53))
        except OSError:
            pass
print([line.split() for line in open("/proc/net/snmp")][1])
done()
"""

HOLD = r"""
import array, socket
listener = socket.create_server(("127.0.0.1", 7777))
a, b = socket.socketpair()
a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener.fileno(), a.fileno(), b.fileno()]))])
b.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener.fileno(), a.fileno(), b.fileno()]))])
done()
"""

LEAVE_LABELS = r"""
import socket, struct
there = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
loopback = socket.inet_pton(socket.AF_INET6, "::1")
for word in range(1, 9):  # 128 bits of an address and 20 of a label, each for the next one to read
    request = loopback[:-2] + word.to_bytes(2, "big") + struct.pack("!I", 0xBEE00 + word) + struct.pack("<BBHHHI", 0, 255, 1, 150, 150, 0)
    there.setsockopt(41, 32, request)
print(open("/proc/net/ip6_flowlabel").read().lower())
done()
"""
READ_LABELS = r"""
print(open("/proc/net/ip6_flowlabel").read().lower())
done()
"""
COOKIE = r"""
import socket
for family in (socket.AF_UNIX, socket.AF_INET):
    with socket.socket(family, socket.SOCK_DGRAM) as there:
        print(int.from_bytes(there.getsockopt(socket.SOL_SOCKET, 71, 8), "little"))  # SO_NETNS_COOKIE: never given twice
"""
