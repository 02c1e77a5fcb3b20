"""TLS in the server itself: who is believed, what is refused, and that nobody takes its connections by greeting."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from server_world import World, world

from certificates import Authority, Pair
from harena.core.errors import SandboxUnavailableError, ValidationError
from harena.sdk.http import open_http
from harena.server.listening import HttpServer
from harena.server.tls import Certificate, Greetings


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def pair(authority: Authority) -> Pair:
    return authority.sign("server")


@pytest_asyncio.fixture
async def secure(tmp_path: Path, pair: Pair) -> AsyncIterator[tuple[World, HttpServer, Certificate]]:
    """A server, and the same one behind TLS."""
    async with world(tmp_path) as here:
        certificate = Certificate(pair.certificate, pair.key)
        server = HttpServer(here.state, certificate=certificate)
        await server.start()
        try:
            yield here, server, certificate
        finally:
            await server.close(drain_seconds=1)


def believing(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.file))


async def test_a_page_is_opened_under_a_name_that_the_certificate_has(tmp_path: Path, pair: Pair) -> None:
    """Its own host where that is one, else its first name; what names no host changes nothing."""
    certificate = Certificate(pair.certificate, pair.key)
    for given, believed in (("127.0.0.1", "127.0.0.1"), ("localhost", "localhost"), ("10.1.2.3", "localhost")):
        assert certificate.believed_at(f"https://{given}:8642") == f"https://{believed}:8642"
    pair.certificate.write_text("no certificate any more")
    assert certificate.believed_at("https://10.1.2.3:8642") == "https://10.1.2.3:8642"


async def test_a_client_that_is_told_of_the_authority(
    secure: tuple[World, HttpServer, Certificate], authority: Authority
) -> None:
    """By `HARENA_CA_FILE`; the whole road over TLS is in tests/integration/test_server_over_tls.py."""
    _, server, _ = secure
    assert server.url.startswith("https://127.0.0.1:")
    client = await open_http(server.url, ca_file=str(authority.file))
    try:
        assert await client.list_sandboxes() == []
    finally:
        await client.close()


async def test_a_client_that_does_not_believe_it(secure: tuple[World, HttpServer, Certificate], tmp_path: Path) -> None:
    """Its error says what to set; a file that is none is told before anything is sent."""
    _, server, _ = secure
    client = await open_http(server.url)
    with pytest.raises(SandboxUnavailableError, match="HARENA_CA_FILE"):
        await client.list_sandboxes()
    await client.close()
    (tmp_path / "none.pem").write_text("no PEM")
    for file in ("none.pem", "missing.pem"):
        with pytest.raises(ValidationError, match="HARENA_CA_FILE"):
            await open_http(server.url, ca_file=str(tmp_path / file))


async def test_plain_http_and_old_tls_are_refused(
    secure: tuple[World, HttpServer, Certificate], authority: Authority
) -> None:
    """A request without TLS gets no answer, and no greeting is agreed upon below 1.2."""
    _, server, _ = secure
    where = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    writer.write(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
    assert not (await reader.read()).startswith(b"HTTP/")
    writer.close()
    old = believing(authority)
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await asyncio.open_connection(where.hostname, where.port, ssl=old)


async def serial(server: HttpServer, authority: Authority) -> str:
    where = urlsplit(server.url)
    _, writer = await asyncio.open_connection(where.hostname, where.port, ssl=believing(authority))
    shown = writer.get_extra_info("peercert")["serialNumber"]
    writer.close()
    return str(shown)


async def test_a_renewed_certificate_is_shown_without_a_restart(
    secure: tuple[World, HttpServer, Certificate], authority: Authority, pair: Pair
) -> None:
    """Half of a pair, as while the files are written, changes nothing."""
    _, server, certificate = secure
    first = await serial(server, authority)
    key = pair.key.read_bytes()
    authority.sign("server")
    new_key = pair.key.read_bytes()
    pair.key.write_bytes(key)
    with pytest.raises(ValidationError, match="belongs to it"):
        certificate.renew()
    assert await serial(server, authority) == first
    pair.key.write_bytes(new_key)
    certificate.renew()
    assert await serial(server, authority) != first


async def test_greetings_have_a_bound(secure: tuple[World, HttpServer, Certificate], authority: Authority) -> None:
    """Who opens connections and says nothing ends by who comes next, and keeps nobody out."""
    here, server, _ = secure
    greetings = Greetings(most=3)
    here.state.greetings = server._socket.greetings = greetings
    where = urlsplit(server.url)
    silent = [await asyncio.open_connection(where.hostname, where.port) for _ in range(3)]
    client = await open_http(server.url, ca_file=str(authority.file))
    await client.list_sandboxes()
    assert await silent[0][0].read() == b""  # the first one has ended
    await client.close()
    for _, writer in silent:
        writer.close()
    assert len(greetings) <= 3


def test_who_fills_the_greetings_ends_its_own() -> None:
    """An address that begins as many as there may be takes the place of none that another one has begun."""
    greetings = Greetings(most=4)
    pairs = [socket.socketpair() for _ in range(12)]
    try:
        greetings.begun(pairs[0][0], "address 10.0.0.1")
        for ours, _ in pairs[1:]:
            greetings.begun(ours, "address 10.0.0.2")
        assert len(greetings) == 4
        assert [is_ended(theirs) for _, theirs in pairs] == [False, *[True] * 8, *[False] * 3]
        greetings.ended(pairs[0][0].fileno())
        assert len(greetings) == 3
    finally:
        for one in pairs:
            one[0].close()
            one[1].close()


def is_ended(theirs: socket.socket) -> bool:
    """The other end was shut down."""
    try:
        return theirs.recv(1, socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False


def test_files_that_cannot_be_used(tmp_path: Path, authority: Authority, pair: Pair) -> None:
    """Each error names the option and the file."""
    other = authority.sign("other")
    with pytest.raises(ValidationError, match=r"--tls-certificate .*missing\.pem cannot be read"):
        Certificate(tmp_path / "missing.pem", pair.key)
    with pytest.raises(ValidationError, match="belongs to it"):
        Certificate(pair.certificate, other.key)
    with pytest.raises(ValidationError, match="as PEM"):
        Certificate(pair.key, pair.key)
