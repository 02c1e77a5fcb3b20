"""One try of a delivery, against receivers on loopback."""

import asyncio
import os
import socket
import ssl
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from harena.core.threads import work_for
from harena.jobs.webhook_post import MOST_ANSWER_BYTES, MOST_HANDSHAKE_BYTES, PIECE_BYTES, HttpPost, _BoundedSocket
from harena.jobs.webhooks import DeliveryOutcome, networks

LOOPBACK = networks(["127.0.0.0/8", "::1"])
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def receiver(handler: Handler) -> AsyncIterator[str]:
    """Its URL."""
    server = web.Server(handler)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_what_is_posted_arrives_as_it_is() -> None:
    """Method, path, headers and body."""
    seen = []

    async def take(request: web.Request) -> web.Response:
        seen.append((request.method, request.path_qs, request.headers["webhook-id"], await request.read()))
        return web.Response(status=202, text="thanks")

    async with receiver(take) as url:
        answered = await HttpPost(None)(f"{url}/hooks?a=b", {"webhook-id": "msg_1"}, b'{"x": "\xc3\xa9"}')
    assert answered == DeliveryOutcome(status=202)
    assert seen == [("POST", "/hooks?a=b", "msg_1", b'{"x": "\xc3\xa9"}')]


async def test_redirects_are_not_followed() -> None:
    """They could lead where a server must not post."""
    asked = []

    async def move(request: web.Request) -> web.Response:
        asked.append(request.path)
        raise web.HTTPTemporaryRedirect("/elsewhere")

    async with receiver(move) as url:
        assert await HttpPost(None)(url, {}, b"") == DeliveryOutcome(status=307)
    assert asked == ["/"]


async def test_a_server_does_not_connect_to_its_own_network() -> None:
    """Neither by address, in whatever form, nor by a name that means one; and nothing reaches the receiver."""
    asked = []

    async def take(request: web.Request) -> web.Response:
        asked.append(request.host)
        return web.Response()

    async with receiver(take) as url:
        port = url.rpartition(":")[2]
        for host in ("127.0.0.1", "localhost", "0.0.0.0", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"):
            answered = await HttpPost(())(f"http://{host}:{port}/", {}, b"")
            # what is looked up fails as a name that does not exist does: see the next test
            assert (answered.status, answered.for_good) == (None, host not in ("localhost", "0x7f.1")), host
            assert "127.0.0.1" not in (answered.error or "?"), "what a name means inside is nobody's business"
        assert asked == []
        for host in ("127.0.0.1", "localhost"):
            assert (await HttpPost(LOOPBACK)(f"http://{host}:{port}/", {}, b"")).status == 200
        assert len(asked) == 2


async def test_a_delivery_tells_no_name_of_the_servers_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that does not exist and one that means an address of this network have one outcome, and are tried again
    alike; the same where the name cannot even be asked for."""
    there = socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)

    def look_up(host: str, *more: object) -> object:
        if host == "exists.internal":
            return there
        if host == "strange.internal":
            raise UnicodeError("label too long")
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    names = ("exists.internal", "absent.internal", "strange.internal")
    outcomes = [await HttpPost(())(f"http://{name}:80/hook", {}, b"") for name in names]
    assert len(set(outcomes)) == 1, outcomes
    assert (outcomes[0].status, outcomes[0].for_good) == (None, False)
    assert "--webhook-allow" in (outcomes[0].error or "")


async def test_a_receiver_that_does_not_answer_is_not_waited_for() -> None:
    """The time is for all of the try, however slowly bytes trickle."""
    left = asyncio.Event()

    async def trickle(request: web.Request) -> web.Response:
        await left.wait()
        return web.Response()

    async with receiver(trickle) as url:
        answered = await HttpPost(None, seconds=0.05)(url, {}, b"")
        left.set()
    assert answered == DeliveryOutcome(error="the receiver did not answer within 0.05 seconds")


async def test_what_cannot_be_reached_is_said_and_tried_again() -> None:
    """Nobody listens, no such name, no HTTP."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        nobody = await HttpPost(None)(f"http://127.0.0.1:{port}/", {}, b"")
    assert (nobody.status, nobody.for_good) == (None, False)
    assert nobody.error == "the receiver could not be reached: ClientConnectorError"

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SMTP ready\r\n")
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        nonsense = await HttpPost(None)(f"http://127.0.0.1:{port}/", {}, b"")
    assert (nonsense.status, nonsense.for_good) == (None, False)


async def test_a_long_answer_is_not_read() -> None:
    """A receiver cannot fill this server's memory."""
    sent = 0

    async def pour(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(bytes(1 << 20))
                sent += 1
        except ConnectionError:
            return response

    async with receiver(pour) as url:
        assert await HttpPost(None)(url, {}, b"") == DeliveryOutcome(status=200)
    assert sent < 64


async def test_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would be asked for addresses that this process would not connect to."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")

    async def take(request: web.Request) -> web.Response:
        return web.Response()

    async with receiver(take) as url:
        assert (await HttpPost(None)(url, {}, b"")).status == 200


async def test_names_that_nobody_answers_for_hold_threads_of_their_own_workspace_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lookup goes on after its try has ended; others are looked up all the same."""
    held, real = threading.Event(), socket.getaddrinfo

    def look_up(host: str, *more: object) -> object:
        if host == "slow.test":
            assert held.wait(30)
            raise socket.gaierror("nobody")
        return real(host, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    async def posted(workspace: str, url: str, seconds: float) -> DeliveryOutcome:
        work_for.set(workspace)
        return await HttpPost(None, seconds=seconds)(url, {}, b"")

    async def take(request: web.Request) -> web.Response:
        return web.Response()

    async with receiver(take) as url:
        try:
            slow = [asyncio.create_task(posted("evil", "http://slow.test:1/", 0.1)) for _ in range(60)]
            assert {(await task).status for task in slow} == {None}
            named = url.replace("127.0.0.1", "localhost")
            assert await asyncio.create_task(posted("good", named, 20)) == DeliveryOutcome(status=200)
        finally:
            held.set()


@asynccontextmanager
async def flooding(unit: bytes) -> AsyncIterator[str]:
    """The URL of a receiver that sends the same for ever."""

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        piece = unit * (65536 // len(unit))
        with suppress(ConnectionError):
            while True:
                writer.write(piece)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(pour, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


FLOODS = {
    "interim answers": b"HTTP/1.1 103 E\r\n\r\n",
    "interim answers to continue": b"HTTP/1.1 100 C\r\n\r\n",
    "headers": b"a: b\r\n",
    "empty lines": b"\r\n",
}


@pytest.mark.parametrize("name", FLOODS)
async def test_what_comes_before_an_answer_is_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The delivery has failed when a few KiB have come; its time is not used up."""
    received = count_received(monkeypatch)
    async with flooding(FLOODS[name]) as url:
        answered = await HttpPost(None, seconds=600)(url, {}, b"x")
    assert (answered.status, answered.for_good) == (None, False)
    assert sum(received) <= MOST_ANSWER_BYTES
    assert max(received) <= PIECE_BYTES


async def test_an_answer_after_an_interim_one() -> None:
    """It is the answer."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert await HttpPost(None)(f"http://127.0.0.1:{port}/", {}, b"") == DeliveryOutcome(status=204)


async def test_a_flood_says_what_it_was() -> None:
    """Whoever reads the delivery's error can tell it from a receiver that is away."""
    async with flooding(FLOODS["interim answers"]) as url:
        answered = await HttpPost(None, seconds=600)(url, {}, b"x")
    assert answered.error == f"the receiver sent {MOST_ANSWER_BYTES} bytes without answering"


def count_received(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of each piece that a delivery reads from now on."""
    received: list[int] = []
    real = _BoundedSocket.recv

    def recv(self: _BoundedSocket, bufsize: int, flags: int = 0, /) -> bytes:
        piece = real(self, bufsize, flags)
        received.append(len(piece))
        return piece

    monkeypatch.setattr(_BoundedSocket, "recv", recv)
    return received


_POSTS = """
import asyncio, sys
from harena.jobs.webhook_post import HttpPost
print(asyncio.run(HttpPost(None, seconds=600)(sys.argv[1], {}, b"x")))
"""


@pytest.mark.parametrize("floods", [False, True])
async def test_a_receiver_with_a_certificate(floods: bool, tmp_path: Path) -> None:
    """Its answer arrives, and a flood is bounded as without one. The process that posts trusts the certificate."""
    context = trusted_context(tmp_path)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        with suppress(ConnectionError):
            while floods:
                writer.write(FLOODS["interim answers"] * 1000)
                await writer.drain()
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        url = f"https://localhost:{server.sockets[0].getsockname()[1]}/"
        env = {**os.environ, "SSL_CERT_FILE": str(tmp_path / "certificate.pem")}
        posting = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _POSTS, url, env=env, stdout=asyncio.subprocess.PIPE
        )
        told, _ = await posting.communicate()
    most = MOST_ANSWER_BYTES + MOST_HANDSHAKE_BYTES
    expected = DeliveryOutcome(error=f"the receiver sent {most} bytes without answering")
    assert told.decode().strip() == str(expected if floods else DeliveryOutcome(status=204))


def trusted_context(folder: Path) -> ssl.SSLContext:
    """What a server for `localhost` needs; its certificate is in the folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "certificate.pem").write_bytes(made.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context
