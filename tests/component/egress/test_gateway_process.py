"""The process that serves the gateways of a node's sandboxes, and the node's side of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from gateway_world import CREDENTIAL, Handler, tls_upstream

from harena.core.errors import NotFoundError, PlatformError, ValidationError
from harena.core.gateways import Gateway
from harena.core.secrets import OpenSecret
from harena.egress.credentials import BoundGateway, new_token
from harena.egress.gateway_link import GatewayLink, ServedGateway
from harena.egress.gateway_process import GatewayProcess
from harena.egress.gateway_server import GatewayServer
from harena.egress.gateway_upstream import Upstream, tls_context


@dataclass
class Served:
    """A gateway of a sandbox that is a socket on loopback."""

    link: GatewayLink
    token: str
    url: str

    async def ask(self, token: str | None = None) -> tuple[int, str]:
        """(status, text) of a request."""
        headers = {"authorization": f"Bearer {self.token if token is None else token}"}
        async with aiohttp.ClientSession() as http, http.get(f"{self.url}/x", headers=headers) as answer:
            return answer.status, await answer.text()


async def serve(link: GatewayLink, sandbox_id: str, *ports: int) -> list[Served]:
    """Gateways of a sandbox to upstreams on loopback."""
    served, found = [], []
    for number, port in enumerate(ports):
        token, listener = new_token(), socket.create_server(("127.0.0.1", 0))
        place = listener.getsockname()[1]
        gateway = Gateway(name=f"UP{number}", url=f"https://127.0.0.1:{port}", secret="S")
        secret = OpenSecret(name="S", value=CREDENTIAL, hosts=(f"127.0.0.1:{port}",))
        url = f"http://127.0.0.1:{place}"
        served.append(ServedGateway(BoundGateway.of(gateway, token, secret), listener.detach(), url))
        found.append(Served(link, token, url))
    await link.serve(sandbox_id, served)
    return found


@asynccontextmanager
async def linked(folder: Path, handler: Handler) -> AsyncIterator[tuple[GatewayLink, int]]:
    """(a node's side, the port of an upstream)."""
    async with tls_upstream(folder, handler) as (port, certificate):
        link = GatewayLink(networks=["127.0.0.0/8"], authorities=certificate.read_text())
        try:
            yield link, port
        finally:
            await link.close()


async def who(request: web.Request) -> web.Response:
    assert request.headers["authorization"] == f"Bearer {CREDENTIAL}"
    return web.Response(text="let in")


async def test_gateways_of_several_sandboxes(tmp_path: Path) -> None:
    """Each has tokens of its own, and the logs are apart; one that has ended is nowhere."""
    async with linked(tmp_path, who) as (link, port):
        assert link.pid is None
        one, two = await serve(link, "sb_1", port, port)
        (other,) = await serve(link, "sb_2", port)
        assert await one.ask() == await two.ask() == await other.ask() == (200, "let in")
        for token in (two.token, other.token):
            assert (await one.ask(token))[0] == 401
        first = await link.gateway_log("sb_1")
        while len(first.entries) < 4:  # an entry can come a little after the answer
            first = await link.gateway_log("sb_1")
        second = await link.gateway_log("sb_2")
        assert [(entry.gateway, entry.status) for entry in first.entries] == [
            *[("UP0", 200), ("UP1", 200), ("UP0", 401), ("UP0", 401)]
        ]
        assert [entry.gateway for entry in second.entries] == ["UP0"]
        assert (await link.gateway_log("sb_1", after=first.entries[1].number, limit=1)).entries == [first.entries[2]]
        link.forget("sb_1")
        with pytest.raises(NotFoundError):
            await link.gateway_log("sb_1")
        await link.gateway_log("sb_2")  # the process has read on
        with pytest.raises(aiohttp.ClientConnectorError):
            await one.ask()
        assert (await other.ask())[0] == 200


async def test_nobody_sees_the_credential_from_outside(tmp_path: Path) -> None:
    """It is in no argument, variable or file of the process; and nothing shows it here."""
    async with linked(tmp_path, who) as (link, port):
        (one,) = await serve(link, "sb_1", port)
        assert (await one.ask())[0] == 200
        assert link.pid is not None
        place = Path(f"/proc/{link.pid}")
        for name in ("cmdline", "environ"):
            content = (place / name).read_bytes()
            assert CREDENTIAL.encode() not in content
            assert one.token.encode() not in content
            assert b"HARENA" not in content
        assert "NoNewPrivs:\t1" in (place / "status").read_text()
        assert CREDENTIAL not in repr((link, one, await link.gateway_log("sb_1")))


async def test_the_process_is_started_anew(tmp_path: Path) -> None:
    """With every gateway, should it be killed; a closed node leaves none."""
    async with linked(tmp_path, who) as (link, port):
        (one,) = await serve(link, "sb_1", port)
        (two,) = await serve(link, "sb_2", port)
        before = link.pid
        assert before is not None
        os.kill(before, signal.SIGKILL)
        while link.pid in (before, None):
            with contextlib.suppress(PlatformError):
                await link.gateway_log("sb_1")
        assert (await one.ask(), await two.ask()) == ((200, "let in"), (200, "let in"))
        after = link.pid
        await link.close()
        with pytest.raises(ProcessLookupError):
            os.kill(after or 0, 0)


async def test_the_longest_log_ends_no_process(tmp_path: Path) -> None:
    """Programs choose how long the entries of a log are; everybody's gateways are in the process that sends it."""
    async with linked(tmp_path, who) as (link, port):
        (bad,) = await serve(link, "sb_1", port)
        (other,) = await serve(link, "sb_2", port)
        assert (await other.ask())[0] == 200
        before = link.pid
        place = "127.0.0.1", int(bad.url.rpartition(":")[2])
        for path in (b"\\" * 600, b"\\" * 200 + b"a" * 400, b"\xff" * 600):
            for _ in range(200):
                reader, writer = await asyncio.open_connection(*place)
                writer.write(b"GET /" + path + b" HTTP/1.1\r\nhost: x\r\n\r\n")
                await reader.read()
                writer.close()
        pages, after = [], 0
        while page := (await link.gateway_log("sb_1", after=after, limit=200)).entries:
            pages.append(page)
            after = page[-1].number
        assert [len(page) for page in pages] == [200, 200, 200]
        assert (await other.ask())[0] == 200
        assert link.pid == before


class Sending(GatewayLink):
    """Notes which sandbox each descriptor is sent for."""

    sent: list[tuple[str, int]]

    def _send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        self.sent += [(message["id"], os.fstat(each).st_ino) for each in descriptors]
        super()._send(message, descriptors)


def listeners(name: str, count: int) -> tuple[list[ServedGateway], set[tuple[str, int]]]:
    """(gateways to nowhere, what a process may be sent of them)."""
    made, sent = [], set()
    for number in range(count):
        listener = socket.create_server(("127.0.0.1", 0))
        sent.add((name, os.fstat(listener.fileno()).st_ino))
        bound = BoundGateway.of(
            Gateway(name=f"UP{number}", url="https://127.0.0.1:1", secret="S"),
            new_token(),
            OpenSecret(name="S", value=CREDENTIAL, hosts=("127.0.0.1:1",)),
        )
        made.append(ServedGateway(bound, listener.detach(), "http://127.0.0.1:1"))
    return made, sent


async def test_a_sandbox_that_ends_while_it_is_admitted() -> None:
    """Its credentials are served at no listener of the sandbox that has the numbers of its descriptors next."""
    link = Sending()
    link.sent = []
    try:
        first, of_first = listeners("sb_1", 8)
        numbers = {one.listener for one in first}
        admission = asyncio.ensure_future(link.serve("sb_1", first))
        await asyncio.sleep(0)  # it waits for the process now
        link.forget("sb_1")
        second, of_second = listeners("sb_2", 8)
        assert numbers & {one.listener for one in second}
        await link.serve("sb_2", second)
        with pytest.raises(PlatformError, match="ended"):
            await admission
        assert set(link.sent) == of_first | of_second
        with pytest.raises(NotFoundError):
            await link.gateway_log("sb_1")
    finally:
        await link.close()


async def test_a_gateway_that_is_forgotten_as_it_begins_to_listen() -> None:
    (made,), _ = listeners("sb_1", 1)
    listener = socket.socket(fileno=made.listener)
    place = listener.getsockname()
    server = GatewayServer()
    upstream = Upstream(tls_context(), [], silent_seconds=1.0)
    beginning = asyncio.ensure_future(server.listen(listener, made.bound, upstream, made.url))
    await asyncio.sleep(0)
    await server.close()
    await beginning
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(place)
    listener = socket.create_server(place)
    await server.listen(listener, made.bound, Upstream(tls_context(), [], silent_seconds=1.0), made.url)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(place)


async def test_gateways_share_what_verifies_upstreams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making it for each gateway held up everybody's for a second with each sandbox."""
    made = []

    def counted(authorities: str | None) -> ssl.SSLContext:
        made.append(authorities)
        return tls_context(authorities)

    monkeypatch.setattr("harena.egress.gateway_upstream.tls_context", counted)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        process = GatewayProcess(theirs)
        process._done({"do": "begin", "networks": [], "authorities": None, "times": {}}, [])
        gateway = {"url": "https://127.0.0.1:1", "secret": "S"}
        for number in range(3):
            message = {"do": "admit", "id": f"sb_{number}", "name": "UP", "gateway": gateway, "url": "http://x"}
            message |= {"token_digest": "00" * 32, "credential": CREDENTIAL, "workspace": "default"}
            process._done(message, [socket.create_server(("127.0.0.1", 0))])
        for number in range(3):
            process._done({"do": "forget", "id": f"sb_{number}"}, [])
        await asyncio.gather(*process._closing)
    assert made == [None]


async def test_what_is_no_listener(tmp_path: Path) -> None:
    """It is refused, without the credential, and nothing of it stays."""
    async with linked(tmp_path, who) as (link, port):
        gateway = Gateway(name="UP", url=f"https://127.0.0.1:{port}", secret="S")
        bound = BoundGateway.of(
            gateway, new_token(), OpenSecret(name="S", value=CREDENTIAL, hosts=(f"127.0.0.1:{port}",))
        )
        with pytest.raises(Exception, match="cannot be served") as caught:
            await link.serve("sb_1", [ServedGateway(bound, socket.socket().detach(), "http://127.0.0.1:1")])
        assert CREDENTIAL not in str(caught.value)
        with pytest.raises(NotFoundError):
            await link.gateway_log("sb_1")


def test_settings(tmp_path: Path) -> None:
    """Networks and authorities of the operator; mistakes are told with the setting's name."""
    certificates = tmp_path / "ca.pem"
    certificates.write_text("PEM")
    GatewayLink.of_settings({})
    GatewayLink.of_settings({"HARENA_GATEWAY_NETWORKS": "10.0.0.0/8, ::1", "HARENA_GATEWAY_CA_FILE": str(certificates)})
    with pytest.raises(ValidationError, match="HARENA_GATEWAY_NETWORKS"):
        GatewayLink.of_settings({"HARENA_GATEWAY_NETWORKS": "10.0.0.0/99"})
    with pytest.raises(ValidationError, match="HARENA_GATEWAY_CA_FILE"):
        GatewayLink.of_settings({"HARENA_GATEWAY_CA_FILE": str(tmp_path / "absent")})


def test_pieces_for_an_upstream_that_has_gone_write_no_lines() -> None:
    """What asyncio warns of for each of them would fill the node's log, as fast as a program sends."""
    code = (
        "import logging; from harena.egress.gateway_process import _load_all; _load_all(); "
        "logging.getLogger('asyncio').warning('socket.send() raised exception.')"
    )
    ended = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=True)
    assert ended.stderr == b""
