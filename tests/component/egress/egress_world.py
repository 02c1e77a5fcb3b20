"""An egress process with the listeners of a sandbox that is not there, and servers on loopback to be reached."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from harena.core.network_policy import read_policy
from harena.core.records.network import NetworkEntry
from harena.egress.link import EgressLink

SANDBOX = "sb_1"


@dataclass
class Inside:
    """What a sandbox would have: where its listeners are."""

    link: EgressLink
    proxy: tuple[str, int]
    dns_by_tcp: tuple[str, int]
    dns_by_udp: tuple[str, int]
    ports: dict[int, int]
    """port that a program connects to -> the one that stands for it here"""
    name: str

    async def entries(self) -> Sequence[NetworkEntry]:
        """Its log."""
        return (await self.link.log(self.name)).entries


@asynccontextmanager
async def inside(
    link: EgressLink, network: Any, ports: Sequence[int] = (), name: str = SANDBOX
) -> AsyncIterator[Inside]:
    """Listeners of one sandbox, served by the process of this link."""
    sockets = [socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))]
    sockets.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    sockets[2].bind(("127.0.0.1", 0))
    direct = [socket.create_server(("0.0.0.0", 0)) for _ in ports]
    places = [each.getsockname() for each in (*sockets, *direct)]
    for each in (*sockets, *direct):
        each.setblocking(False)
    descriptors = [each.detach() for each in (*sockets, *direct)]
    # DNS comes only with ports, so there is always one
    await link.admit(name, "default", read_policy(network), descriptors, [*ports])
    numbers = dict(zip(ports, (place[1] for place in places[3:]), strict=True))
    try:
        yield Inside(link, places[0], places[1], places[2], numbers, name)
    finally:
        link.forget(name)


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.seen.append((self.path, dict(self.headers)))  # type: ignore[attr-defined]
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content = b"x" * int(self.path[1:]) if self.path[1:].isdigit() else b"hello from " + self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, dict(self.headers)))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[::-1])

    def log_message(self, *_: Any) -> None: ...


class Upstream:
    """An HTTP server of this machine's loopback."""

    def __init__(self, place: tuple[str, int], context: ssl.SSLContext | None = None) -> None:
        self.server = ThreadingHTTPServer(place, _Answers)
        self.server.daemon_threads = True
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.server.seen = self.seen  # type: ignore[attr-defined]
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.host, self.port = self.server.server_address[:2]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@contextmanager
def upstream(place: tuple[str, int] = ("127.0.0.1", 0), context: ssl.SSLContext | None = None) -> Iterator[Upstream]:
    """Serves for as long as the block runs."""
    made = Upstream(place, context)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def speaking(script: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server that does with each connection what the script says; its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connections.append(connection)
            threads.append(threading.Thread(target=run, args=(connection,), daemon=True))
            threads[-1].start()

    def run(connection: socket.socket) -> None:
        try:
            script(connection)
        except OSError:
            return

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        serving.join()
        for each in connections:
            each.close()


def connected(place: tuple[str, int]) -> socket.socket:
    """A program's connection, which gives up after a while."""
    return socket.create_connection(place, timeout=30)


def said(connection: socket.socket) -> bytes:
    """All that comes until the end."""
    content = b""
    try:
        while piece := connection.recv(65536):
            content += piece
    except ConnectionResetError:
        pass
    return content


def request(place: tuple[str, int], content: bytes) -> bytes:
    """What comes back for these bytes, until the connection ends."""
    with connected(place) as connection:
        connection.sendall(content)
        return said(connection)


def authority(folder: Path, *names: str) -> tuple[ssl.SSLContext, Path]:
    """(a server's context with a certificate for these names, the file of the authority that has signed it)."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file, secret = folder / "ca.pem", folder / "key.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, secret)
    return context, file
