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
names = [line.split(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]]
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
import fcntl, socket
for protocol in range(23):
    tried(("netlink", protocol), lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol))
plain = socket.socket()
for request, value in ((0x8914, b"lo".ljust(16, b"\0") + bytes(24)), (0x8916, b"lo".ljust(16, b"\0") + bytes(24)), (0x890B, bytes(120))):
    tried(hex(request), lambda: fcntl.ioctl(plain, request, value))
tried("iptables", lambda: plain.setsockopt(0, 64, bytes(84)))
tried("mark", lambda: plain.setsockopt(socket.SOL_SOCKET, 36, 1))
tried("transparent", lambda: plain.setsockopt(0, 19, 1))
done()
""",
    "have the kernel load modules for bridges and VLANs": r"""
import errno, fcntl, socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
    plain = socket.socket(family, socket.SOCK_DGRAM)
    for request in (0x8940, 0x8941, 0x8980, 0x8981, 0x8982, 0x8983, 0x89A0, 0x89A1, 0x89A2, 0x89A3):
        try:
            fcntl.ioctl(plain, request, bytearray(256))
            escaped(hex(request))
        except OSError as error:
            if error.errno != errno.ENOTTY:  # the kernel has looked for who knows it
                escaped(hex(request), errno.errorcode[error.errno])
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

POOLS = r"""
import socket, struct
stream, datagram, newer = socket.socket(), socket.socket(2, 2), socket.socket(10, 2)
near = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]
def takes(there, level, option, value):
    tried((level, option), lambda: there.setsockopt(level, option, value))
for there in (stream, datagram, newer, near):
    for option in (37, 65, 60, 41, 61):  # times and completions of what was sent, at the error queue
        takes(there, 1, option, struct.pack("i", 1 << 1 | 1 << 4))
    kept = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0xFFFF))
    for option in (26, 51):  # a program of the kernel's
        takes(there, 1, option, struct.pack("HxxxxxxQ", 1, ctypes.addressof(kept)))
for there, level, option in ((datagram, 0, 11), (newer, 41, 25)):  # granted without effect
    there.setsockopt(level, option, 1)
    if there.getsockopt(level, option):
        escaped("an error queue", level)
takes(datagram, 17, 1, 1)
loopback = socket.inet_pton(socket.AF_INET6, "::1")
for word in range(1, 9):  # flow labels: 4,096 for the whole host, and read by all of a namespace
    label = struct.pack("!I", 0xBEE00 + word) + struct.pack("<BBHHHI", 0, 255, 1, 150, 150, 0)
    takes(newer, 41, 32, loopback[:-2] + word.to_bytes(2, "big") + label)
if len(open("/proc/net/ip6_flowlabel").read().splitlines()) > 1:
    escaped("a flow label")
for there, level, option, value in ((datagram, 0, 35, socket.inet_aton("239.1.2.3") + socket.inet_aton("127.0.0.1")),
                                    (newer, 41, 20, socket.inet_pton(socket.AF_INET6, "ff02::7") + struct.pack("I", 1))):
    takes(there, level, option, value)
datagram.connect(("127.0.0.1", 9))
newer.connect(("::1", 9))
for there in (datagram, newer):
    tried("cork", lambda: there.send(b"x" * 60000, socket.MSG_MORE))
    tried("cork", lambda: there.sendmsg([b"x" * 60000], [], socket.MSG_MORE))
if os.path.exists("/proc/sys/net/core/tstamp_allow_data"):  # elsewhere it is the host's to set
    sink = socket.create_server(("127.0.0.1", 0)), socket.socket(2, 2)
    sink[1].bind(("127.0.0.1", 0))
    for kind, there in zip((1, 2), sink):
        for asked in (1, 2, 256, 512, 0x303):  # times are asked for by a message of its own
            caller = socket.socket(2, kind)
            caller.connect(there.getsockname())
            try:
                caller.sendmsg([b"x" * 100], [(1, 37, struct.pack("I", asked))])
                escaped("kept at the error queue", kind, asked, caller.recvmsg(1000, 1000, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT))
            except OSError:
                caller.close()
kept = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
described = struct.pack("HxxxxxxQ", 1, ctypes.addressof(kept))
if libc.prctl(22, 2, described, 0, 0) == 0 or call(317, 1, 0, described) == 0:
    escaped("a filter of system calls")
if libc.prctl(67, 1, 0, 0, 0) == 0:
    escaped("merging of pages")
if call(447, 0) >= 0:
    escaped("secret memory")
before = stream.getsockopt(1, 7), stream.getsockopt(1, 8)
for option in (7, 8):
    stream.setsockopt(1, option, 1 << 30)
for option in (32, 33):
    takes(stream, 1, option, 1 << 30)
if (stream.getsockopt(1, 7), stream.getsockopt(1, 8)) != before:
    escaped("a larger buffer")
done()
"""
COOKIE = r"""
import socket
for family in (socket.AF_UNIX, socket.AF_INET):
    with socket.socket(family, socket.SOCK_DGRAM) as there:
        print(int.from_bytes(there.getsockopt(socket.SOL_SOCKET, 71, 8), "little"))  # SO_NETNS_COOKIE: never given twice
"""

ENDED = r"""
import socket
listener = socket.create_server(("127.0.0.1", 0))
for _ in range(6000):
    caller = socket.create_connection(listener.getsockname())
    called, _ = listener.accept()
    caller.close()
    called.close()
remembered = int(open("/proc/net/sockstat").read().split(" tw ")[1].split()[0])
if not 0 < remembered <= 4200:
    escaped(f"{remembered} connections that have ended are remembered")
done()
"""

WAITING = r"""
import socket
listener = socket.create_server(("127.0.0.1", 0), backlog=100_000)
kept = []
for _ in range(400):
    caller = socket.socket()
    caller.setblocking(False)
    caller.connect_ex(listener.getsockname())
    kept.append(caller)
waiting = sum(1 for line in open("/proc/net/tcp").read().splitlines()[1:] if line.split()[3] == "01") // 2
if not 100 <= waiting <= 130:
    escaped(f"{waiting} connections wait at one listener")
done()
"""
"""Connections that nobody accepts; each is in the list twice, once for each end."""
