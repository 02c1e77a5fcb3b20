"""An upstream with TLS on loopback, an authority of the test, and a gateway before it on another loopback socket."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from harena.core.gateways import Gateway
from harena.core.records.gateways import GatewayEntry
from harena.core.secrets import OpenSecret
from harena.egress.credentials import BoundGateway
from harena.egress.gateway_connection import Times
from harena.egress.gateway_server import GatewayServer
from harena.egress.gateway_upstream import Upstream, tls_context
from harena.egress.resolving import Resolver

TOKEN = "hgt_" + "t" * 43
CREDENTIAL = "cr3dential-that-nobody-inside-sees"
TIMES = Times()
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class GatewayWorld:
    """What a test talks to."""

    port: int
    """of the gateway, on loopback"""
    upstream_port: int
    server: GatewayServer
    seen: list[web.Request] = field(default_factory=list)
    """what has come to the upstream"""

    @property
    def url(self) -> str:
        """The gateway's."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def entries(self) -> Sequence[GatewayEntry]:
        """The audit log."""
        return self.server.log(limit=1000).entries

    async def raw(self, content: bytes, *, whole: bool = True) -> bytes:
        """What the gateway answers to these bytes, to the end of the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(content)
            if whole:
                writer.write_eof()
            return await reader.read()
        finally:
            writer.close()


def authority(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """(the authority's certificate, what a server at 127.0.0.1 shows)."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1")), x509.DNSName("localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "authority.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    shown.load_cert_chain(certificate, private)
    return certificate, shown


@asynccontextmanager
async def tls_upstream(folder: Path, handler: Handler) -> AsyncIterator[tuple[int, Path]]:
    """(port on loopback, certificate of its authority) of an upstream."""
    certificate, shown = authority(folder)
    runner = web.ServerRunner(web.Server(handler), shutdown_timeout=0.1)  # type: ignore[arg-type]
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=shown).start()
    try:
        yield runner.addresses[0][1], certificate
    finally:
        await runner.cleanup()


@asynccontextmanager
async def gateway_world(
    folder: Path,
    handler: Handler,
    *,
    path: str = "",
    host: str = "127.0.0.1",
    networks: Sequence[str] = ("127.0.0.0/8",),
    trusted: bool = True,
    times: Times = TIMES,
    silent_seconds: float = 30.0,
    resolver: Resolver | None = None,
    **more: Any,
) -> AsyncIterator[GatewayWorld]:
    """A gateway to `handler`, whose URL ends with `path`; `more` are fields of the gateway."""
    seen: list[web.Request] = []

    async def noted(request: web.Request) -> web.StreamResponse:
        seen.append(request)
        return await handler(request)

    async with tls_upstream(folder, noted) as (upstream_port, certificate):
        gateway = Gateway(name="UP", url=f"https://{host}:{upstream_port}{path}", secret="S", **more)
        secret = OpenSecret(name="S", value=CREDENTIAL, hosts=(f"{gateway.host}:{gateway.port}",))
        upstream = Upstream(
            tls_context(certificate.read_text() if trusted else None),
            networks,
            silent_seconds=silent_seconds,
            resolver=resolver,
        )
        listener = socket.create_server(("127.0.0.1", 0))
        server = GatewayServer(times=times)
        world = GatewayWorld(listener.getsockname()[1], upstream_port, server, seen)
        await server.listen(listener, BoundGateway.of(gateway, TOKEN, secret), upstream, world.url)
        try:
            yield world
        finally:
            await server.close()


async def program(*argv: str, env: Mapping[str, str], cwd: Path) -> tuple[int, str]:
    """(status, what it wrote) of a stock client."""
    running = await asyncio.create_subprocess_exec(
        *argv,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(cwd), "LANG": "C.UTF-8", **env},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said, _ = await running.communicate()
    assert running.returncode is not None
    return running.returncode, said.decode(errors="replace")


async def cgi(program_path: str, request: web.Request, environment: Mapping[str, str]) -> web.StreamResponse:
    """What a CGI program answers."""
    body = await request.read()
    running = await asyncio.create_subprocess_exec(
        program_path,
        env={
            "PATH": "/usr/bin:/bin",
            "REQUEST_METHOD": request.method,
            "PATH_INFO": request.path,
            "QUERY_STRING": request.query_string,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
            "HTTP_GIT_PROTOCOL": request.headers.get("git-protocol", ""),
            "REMOTE_USER": "x",
            **environment,
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    said, _ = await running.communicate(body)
    head, _, content = said.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    status = int(headers.pop("Status", "200").split()[0])
    return web.Response(status=status, headers=headers, body=content)
