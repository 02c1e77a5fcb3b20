"""Programs that try to reach what their network policy does not name; and ones that have no network at all."""

from __future__ import annotations

NOTHING_LISTENS = r"""
import socket
for line in open("/proc/net/tcp").read().splitlines()[1:]:
    if line.split()[3] == "0A":
        escaped("a listener", line)
for table in ("/proc/net/udp", "/proc/net/tcp6", "/proc/net/udp6"):
    if len(open(table).read().splitlines()) > 1:
        escaped("a socket", table)
for address in ("127.0.0.1", "127.64.0.1", "127.255.255.254"):
    for port in (3128, 53, 80, 443, 8443):
        try:
            socket.create_connection((address, port), 5)
            escaped("connected", address, port)
        except OSError:
            pass
if any("proxy" in name.lower() for name in os.environ):
    escaped("a proxy", dict(os.environ))
if open("/etc/resolv.conf").read():
    escaped("a name server")
print("done", flush=True)
"""

ELSEWHERE = r"""
import socket, struct
host_port, neighbour_port, named = sys.argv[1:4]
def asked(content, place=("127.0.0.1", 3128)):
    with socket.create_connection(place, 20) as proxy:
        proxy.sendall(content)
        said = b""
        try:
            while piece := proxy.recv(65536):
                said += piece
        except OSError:
            pass
    return said
for host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "[::]", "127.1", "0x7f.1", "2130706433",
             "[::ffff:127.0.0.1]", named, named.upper() + ".", "169.254.169.254", "metadata.google.internal",
             "10.0.0.1", "1.1.1.1"):
    for port in (host_port, neighbour_port, "22", "80", "443"):
        place = f"{host}:{port}"
        for content in (f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n",
                        f"GET http://{place}/ HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n",
                        f"GET http://{place}/ HTTP/1.0\r\n\r\n"):
            said = asked(content.encode())
            if not said.startswith((b"HTTP/1.1 40", b"HTTP/1.1 50")) or b"harena: " not in said:
                escaped(content, said)
for address, port in (("1.1.1.1", 80), ("8.8.8.8", 53), ("169.254.169.254", 80), ("10.0.0.1", 80), ("192.168.0.1", 80)):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            there = socket.socket(socket.AF_INET, kind)
            there.settimeout(5)
            there.connect((address, port))
            escaped("connected", address, port, kind)
        except OSError:
            pass
for port in (80, 443):  # an address that stands for no name
    for address in ("127.0.0.1", "127.64.0.1", "127.99.99.99"):
        said = asked(f"GET / HTTP/1.1\r\nHost: {named}\r\n\r\n".encode(), (address, port))
        if said and not said.startswith((b"HTTP/1.1 4", b"\x15\x03")):
            escaped("reached", address, port, said)
names = ["1.1.1.1"] + ["secret.evil.example", "metadata.google.internal"] * (sys.argv[4] != "open")
for name in names:
    words = b"".join(bytes([len(word)]) + word.encode() for word in name.split(".")) + b"\0"
    question = b"\xab\xcd\1\0\0\1\0\0\0\0\0\0" + words + b"\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(20)
        asking.connect(("127.0.0.1", 53))
        asking.send(question)
        if asking.recv(1000)[3] & 15 != 3:
            escaped("an address for", name)
print("done", flush=True)
"""

OWN_PLACES = r"""
import socket
OWN_RIGHTS = int(sys.argv[1])
for name in os.listdir("/proc/self/fd"):
    try:
        if os.readlink("/proc/self/fd/" + name).startswith("socket:"):
            escaped("a socket was left", name)
    except FileNotFoundError:
        pass
for line in open("/proc/self/status"):
    if line.startswith(("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")) and int(line.split()[1], 16) & ~OWN_RIGHTS:
        escaped("a capability", line)
for address, port in (("127.0.0.1", 3128), ("0.0.0.0", 3128), ("127.0.0.1", 53), ("127.64.0.1", 443), ("0.0.0.0", 80),
                      ("127.0.0.1", 8443), ("0.0.0.0", 8443)):
    for option in (None, socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        there = socket.socket()
        if option is not None:
            there.setsockopt(socket.SOL_SOCKET, option, 1)
        try:
            there.bind((address, port))
            there.listen()
            escaped("took a listener's place", address, port, option)
        except OSError:
            pass
for address in ("127.0.0.1", "0.0.0.0"):
    try:
        socket.socket().bind((address, 81))
        if not OWN_RIGHTS:
            escaped("a port below 1024")
    except PermissionError:
        pass
print("done", flush=True)
"""
