"""Gateways against real upstreams on loopback, and against programs that want more than they may have."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from egress_world import said
from gateway_world import CREDENTIAL, TOKEN, GatewayWorld, gateway_world

from harena.core.network_policy import Address
from harena.egress.gateway_connection import MOST_HEAD, Times
from harena.egress.gateway_server import MOST_CONNECTIONS, Room
from harena.egress.gateway_upstream import BUFFER_BYTES as UPSTREAM_BYTES
from harena.egress.gateway_upstream import Upstream, UpstreamError, tls_context
from harena.egress.resolving import OwnAddresses, TableResolver, UnknownNameError
from harena.egress.shares import BUFFER_BYTES

AUTH = f"authorization: Bearer {TOKEN}\r\n".encode()


def request(target: bytes = b"/", *more: bytes, method: bytes = b"GET", auth: bytes = AUTH, body: bytes = b"") -> bytes:
    """A request that ends its connection."""
    head = b"%b %b HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\n%b" % (method, target, auth)
    return head + b"".join(each + b"\r\n" for each in more) + b"\r\n" + body


async def echo(request: web.Request) -> web.Response:
    """What has come, as JSON: an upstream that repeats all that it is told."""
    told = {
        "method": request.method,
        "path": request.raw_path,
        "headers": [[name.lower(), value] for name, value in request.headers.items()],
        "body": (await request.read()).decode("latin-1"),
    }
    answer = web.json_response(told, headers={"x-seen": request.headers.get("authorization", "-")})
    answer.set_cookie("session", "derived")
    return answer


async def test_the_token_becomes_the_credential(tmp_path: Path) -> None:
    """The upstream has the credential and not the token; the program has neither credential nor cookie."""
    async with gateway_world(tmp_path, echo, path="/api/v4") as world, aiohttp.ClientSession() as http:
        headers = {"Authorization": f"Bearer {TOKEN}", "Cookie": "a=b", "X-HTTP-Method-Override": "DELETE"}
        more = {
            "X-Forwarded-For": "8.8.8.8",
            "Connection": "keep-alive, X-Hop",
            "X-Hop": "1",
            "X_Under": "1",
            "X-Own": "2",
        }
        async with http.post(f"{world.url}/a%2Fb/c?x=1", headers={**headers, **more}, data=b"body") as answer:
            said = await answer.read()
        (seen,) = world.seen
        assert seen.headers["authorization"] == f"Bearer {CREDENTIAL}"
        assert seen.raw_path == "/api/v4/a%2Fb/c?x=1"
        assert seen.headers["host"] == f"127.0.0.1:{world.upstream_port}"
        assert seen.headers["x-own"] == "2"
        not_told = {"cookie", "x-http-method-override", "x-forwarded-for", "x-hop", "x_under", "connection"}
        assert not not_told & {name.lower() for name in seen.headers}
        assert TOKEN not in repr(seen.headers)
        told = json.loads(said)
        assert (told["method"], told["body"]) == ("POST", "body")
        everything = said.decode() + repr(answer.headers)
        assert CREDENTIAL not in everything
        assert "derived" not in everything
        (entry,) = world.entries
        assert (entry.gateway, entry.method, entry.path, entry.status) == ("UP", "POST", "/a%2Fb/c", 200)
        assert (entry.sent_bytes, entry.received_bytes, entry.forwarded) == (4, len(said), True)


@pytest.mark.parametrize(
    ("auth", "words"),
    [
        (b"", "has no token"),
        (b"authorization: Bearer hgt_" + b"u" * 43 + b"\r\n", "not the one"),
        (b"authorization: Bearer " + CREDENTIAL.encode() + b"\r\n", "not the one"),
        (b"authorization: Basic " + base64.b64encode(b"a:b") + b"\r\n", "not the one"),
        (b"x-token: " + TOKEN.encode() + b"\r\n", "has no token"),
    ],
)
async def test_without_the_token(tmp_path: Path, auth: bytes, words: str) -> None:
    """401 with words, a challenge (git sends a password only after one), and the upstream hears nothing."""
    async with gateway_world(tmp_path, echo) as world:
        said = await world.raw(request(auth=auth))
        assert said.startswith(b"HTTP/1.1 401 ")
        assert words in said.decode()
        assert b'www-authenticate: Basic realm="harena gateway UP"' in said
        assert world.seen == []
        assert [(entry.status, entry.forwarded) for entry in world.entries] == [(401, False)]
        assert TOKEN[:20] not in repr(world.entries)


async def test_the_token_of_another_sandbox(tmp_path: Path) -> None:
    """It is good for its own gateway only."""
    (tmp_path / "other").mkdir()
    async with gateway_world(tmp_path, echo) as world, gateway_world(tmp_path / "other", echo) as other:
        assert (await other.raw(request())).startswith(b"HTTP/1.1 200 ")
        await other.server.close()
        with pytest.raises(ConnectionRefusedError):
            await other.raw(request())
        assert (await world.raw(request())).startswith(b"HTTP/1.1 200 ")


SMUGGLED = {
    "CL and TE": request(b"/", b"content-length: 4", b"transfer-encoding: chunked", method=b"POST", body=b"0\r\n\r\n"),
    "two CL": request(b"/", b"content-length: 4", b"content-length: 5", method=b"POST", body=b"abcde"),
    "two equal CL": request(b"/", b"content-length: 4", b"content-length: 4", method=b"POST", body=b"abcd"),
    "a list of CL": request(b"/", b"content-length: 4, 4", method=b"POST", body=b"abcd"),
    "CL with a sign": request(b"/", b"content-length: +4", method=b"POST", body=b"abcd"),
    "two TE": request(
        b"/", b"transfer-encoding: chunked", b"transfer-encoding: chunked", method=b"POST", body=b"0\r\n\r\n"
    ),
    "another TE": request(b"/", b"transfer-encoding: xchunked", method=b"POST", body=b"0\r\n\r\n"),
    "TE with a tab": request(b"/", b"transfer-encoding:\x0bchunked", method=b"POST", body=b"0\r\n\r\n"),
    "a space before the colon": request(b"/", b"content-length : 4", method=b"POST", body=b"abcd"),
    "obs-fold": request(b"/", b"x-a: 1", b" content-length: 4"),
    "obs-fold with a tab": request(b"/", b"x-a: 1", b"\ttransfer-encoding: chunked"),
    "a bare LF": request(b"/", b"x-a: 1\ncontent-length: 4"),
    "a bare CR": request(b"/", b"x-a: 1\rcontent-length: 4"),
    "only LF": b"GET / HTTP/1.1\nhost: a\n" + AUTH.replace(b"\r\n", b"\n") + b"\n",
    "NUL": request(b"/", b"x-a: 1\x002"),
    "two hosts": request(b"/", b"host: evil.example"),
    "two tokens": request(b"/", AUTH.strip()),
    "HTTP/0.9": b"GET /\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "1.0 with TE": b"POST / HTTP/1.0\r\n" + AUTH + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "CONNECT": b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: 127.0.0.1:22\r\n" + AUTH + b"\r\n",
    "absolute form": request(b"http://169.254.169.254/latest/meta-data/"),
    "absolute form of the upstream": request(b"https://127.0.0.1/"),
    "asterisk": request(b"*", method=b"OPTIONS"),
    "two slashes": request(b"//evil.example/x"),
    "climbing": request(b"/a/%2e%2e/b"),
    "climbing after ;": request(b"/a/..;/b"),
    "a backslash": request(b"/a\\..\\b"),
    "an encoded backslash": request(b"/a%5c..%5cb"),
    "encoded twice": request(b"/%252e%252e/b"),
    "an encoded line end": request(b"/a%0d%0ax-evil:%201"),
    "many headers": request(b"/", *(b"x-%d: 1" % number for number in range(300))),
    "TRACE": request(b"/", method=b"TRACE"),
    "a method in small letters": request(b"/", method=b"get"),
}


@pytest.mark.cheap
@pytest.mark.parametrize("name", SMUGGLED)
async def test_what_two_readers_could_read_in_two_ways(tmp_path: Path, name: str) -> None:
    """It is refused with words, although its token is good, and the upstream hears nothing."""
    async with gateway_world(tmp_path, echo) as world:
        said = await world.raw(SMUGGLED[name])
        assert said.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 405 ", b"HTTP/1.1 431 ", b"HTTP/1.1 501 "))
        assert said.count(b"HTTP/1.1 ") == 1
        assert b"harena gateway UP: " in said
        assert world.seen == []


async def test_heads_have_an_end(tmp_path: Path) -> None:
    """In bytes and in seconds."""
    async with gateway_world(tmp_path, echo, times=Times(head=0.05)) as world:
        said = await world.raw(b"GET / HTTP/1.1\r\nx: " + b"y" * (MOST_HEAD + 70_000), whole=False)
        assert said.startswith(b"HTTP/1.1 431 ")
        assert (await world.raw(b"GET / HT", whole=False)).startswith(b"HTTP/1.1 408 ")
        assert await world.raw(b"GET / HT") == b""
        assert world.seen == []


async def test_requests_follow_one_another(tmp_path: Path) -> None:
    """On one connection, also sent at once; each is looked at anew."""
    async with gateway_world(tmp_path, echo) as world:
        one = request(b"/1").replace(b"connection: close\r\n", b"")
        body = request(b"/2", b"transfer-encoding: chunked", method=b"POST", body=b"3\r\nabc\r\n0\r\nx: y\r\n\r\n")
        body = body.replace(b"connection: close\r\n", b"")
        said = await world.raw(one + body + request(b"/3", auth=b""))
        assert [seen.path for seen in world.seen] == ["/1", "/2"]
        assert said.count(b"HTTP/1.1 200 ") == 2
        assert said.count(b"HTTP/1.1 401 ") == 1
        assert world.entries[1].sent_bytes == 3


async def test_rules_and_rates(tmp_path: Path) -> None:
    """403 and 429 with words; what was refused by a rule costs no request of the rate."""
    rules = [{"path": "/open/**", "methods": ["GET"]}, {"path": "/open/not/**", "deny": True}]
    async with gateway_world(tmp_path, echo, rules=rules, requests_per_minute=2) as world:
        for target in (b"/closed", b"/open/not/x", b"/open/NOT/x", b"/open%2fnot/x"):
            assert (await world.raw(request(target))).startswith(b"HTTP/1.1 403 "), target
        assert (await world.raw(request(b"/open/x", method=b"DELETE"))).startswith(b"HTTP/1.1 403 ")
        assert [(await world.raw(request(b"/open/x")))[:13] for _ in range(3)] == [
            *(b"HTTP/1.1 200 ", b"HTTP/1.1 200 ", b"HTTP/1.1 429 ")
        ]
        assert "2 requests in a minute" in world.entries[-1].reason


async def test_bodies_have_bounds(tmp_path: Path) -> None:
    """Told of ahead or not, in both directions."""

    async def long(request: web.Request) -> web.StreamResponse:
        if request.path == "/told":
            return web.Response(body=b"x" * 2000)
        if request.path == "/streamed":
            answer = web.StreamResponse()
            await answer.prepare(request)
            for _ in range(20):
                await answer.write(b"x" * 100)
            return answer
        return web.Response(text=str(len(await request.read())))

    async with gateway_world(tmp_path, long, request_bytes=1000, answer_bytes=1000) as world:
        told = request(b"/", b"content-length: 1001", method=b"POST", body=b"x" * 1001)
        assert (await world.raw(told)).startswith(b"HTTP/1.1 413 ")
        assert world.seen == []
        pieces = b"".join(b"64\r\n" + b"x" * 100 + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
        said = await world.raw(request(b"/", b"transfer-encoding: chunked", method=b"POST", body=pieces))
        assert said.startswith(b"HTTP/1.1 413 ")
        good = request(b"/", b"content-length: 1000", method=b"POST", body=b"x" * 1000)
        assert (await world.raw(good)).endswith(b"1000")
        assert (await world.raw(request(b"/told"))).startswith(b"HTTP/1.1 502 ")
        cut = await world.raw(request(b"/streamed"))
        assert not cut.endswith(b"0\r\n\r\n")
        assert "more than 1000 bytes" in world.entries[-1].reason


async def test_an_answer_streams(tmp_path: Path) -> None:
    """A piece comes before the next one is sent; a credential that lies across pieces is masked."""
    go_on = asyncio.Event()

    async def stream(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        await answer.write(b"data: one\n\n" + CREDENTIAL[:10].encode())
        await go_on.wait()
        await answer.write(CREDENTIAL[10:].encode() + b"\n\n")
        return answer

    async with gateway_world(tmp_path, stream) as world:
        reader, writer = await asyncio.open_connection("127.0.0.1", world.port)
        writer.write(request())
        got = await reader.readuntil(b"data: one\n\n")
        go_on.set()
        got += await reader.read()
        writer.close()
        assert b"cr3dential" not in got
        assert b"*" * len(CREDENTIAL) in got.replace(b"\r\n", b"").replace(b"0b", b"")


async def test_small_pieces_do_not_wait(tmp_path: Path) -> None:
    """Connections send what there is at once: else each answer waits for an acknowledgement, 40 ms of nothing."""
    async with gateway_world(tmp_path, echo) as world:
        for served in world.server._servers:
            for listener in served.sockets:
                assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


async def test_the_kernels_buffers_have_bounds_and_no_end_of_an_answer_is_lost(tmp_path: Path) -> None:
    """No limit of a sandbox counts these buffers. A connection that is closed behind the last answer sends it whole."""

    async def long(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"x" * 2_000_000)

    async with gateway_world(tmp_path, long) as world:
        with world.server._upstreams[0]._socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 1))) as one:
            for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                assert one.getsockopt(socket.SOL_SOCKET, option) <= 2 * UPSTREAM_BYTES
        for served in world.server._servers:
            for listener in served.sockets:
                for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                    assert listener.getsockopt(socket.SOL_SOCKET, option) <= 2 * BUFFER_BYTES
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", world.port))
            connection.sendall(request())
            got = await asyncio.to_thread(said, connection)
        assert got.endswith(b"x" * 2_000_000)


async def test_an_answer_in_another_coding_is_refused(tmp_path: Path) -> None:
    """It would pass without being looked through."""

    async def coded(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
        request.transport.close()
        return web.Response()

    async with gateway_world(tmp_path, coded) as world:
        assert b"transfer-encoding" in await world.raw(request())
        assert world.entries[-1].status == 502


async def test_redirects_are_told_and_not_followed(tmp_path: Path) -> None:
    """Below the upstream's URL as the gateway's own; elsewhere as they are, and nobody asks there."""
    places = {
        "/api/1": "https://127.0.0.1:{port}/api/next?x=1",
        "/api/2": "/api/next",
        "/api/3": "https://evil.example/steal",
        "/api/4": "https://127.0.0.1:{port}.evil.example/",
        "/api/5": "http://169.254.169.254/latest",
        "/api/6": "//evil.example/x",
        "/api/7": "https://127.0.0.1:{port}/apix",
    }
    world: GatewayWorld

    async def redirect(request: web.Request) -> web.Response:
        where = places[request.path].format(port=world.upstream_port)
        return web.Response(status=302, headers={"location": where, "link": f"<{where}>; rel=next"})

    async with gateway_world(tmp_path, redirect, path="/api") as world:
        told = {}
        for number in range(1, 8):
            said = (await world.raw(request(b"/%d" % number))).decode()
            told[number] = said.partition("location: ")[2].partition("\r\n")[0]
        own = f"http://127.0.0.1:{world.port}"
        assert told[1] == f"{own}/next?x=1"
        assert told[2] == f"{own}/next"
        assert [told[number] for number in (3, 5, 6)] == [places[f"/api/{number}"] for number in (3, 5, 6)]
        assert all("evil" in told[4] and not told[number].startswith(own) for number in (4, 7))
        assert len(world.seen) == 7


@pytest.mark.parametrize(
    ("host", "networks"),
    [
        *[("127.0.0.1", ()), ("localhost", ()), ("[::1]", ("127.0.0.0/8",)), ("[::ffff:127.0.0.1]", ("::1/128",))],
        *[("169.254.169.254", ("127.0.0.0/8",)), ("[64:ff9b::7f00:1]", ()), ("[2002:7f00:1::]", ()), ("0.0.0.0", ())],
        *[("10.0.0.1", ()), ("192.168.0.1", ()), ("100.64.0.1", ()), ("[fe80::1]", ()), ("[fd00::1]", ())],
        *[("168.63.129.16", ()), ("224.0.0.1", ()), ("[::127.0.0.1]", ())],
    ],
)
async def test_addresses_that_are_not_connected_to(tmp_path: Path, host: str, networks: tuple[str, ...]) -> None:
    """Loopback, private, link-local, metadata, and IPv6 forms of them, unless the operator allows the network."""
    async with gateway_world(tmp_path, echo, host=host, networks=networks) as world:
        said = await world.raw(request())
        assert said.startswith(b"HTTP/1.1 502 ")
        assert b"leads to no public address" in said
        assert world.seen == []


async def test_a_public_address_of_the_node_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What listens there may trust the machine."""
    asked = []

    def has(_: object, address: object) -> bool:
        asked.append(str(address))
        return True

    monkeypatch.setattr(OwnAddresses, "has", has)
    async with gateway_world(tmp_path, echo, host="93.184.216.34") as world:
        said = await world.raw(request())
    assert said.startswith(b"HTTP/1.1 502 ")
    assert b"the node's own" in said
    assert asked == ["93.184.216.34"]


async def test_a_name_that_changes_its_address(tmp_path: Path) -> None:
    """The address that is connected to is the one that is checked, each time; and a name that does not exist is told in
    the words for an address that is refused."""
    resolver = TableResolver({"localhost": [["127.0.0.1"], ["169.254.169.254"], ["127.0.0.1"]]})

    async def close(request: web.Request) -> web.Response:
        return web.Response(headers={"connection": "close"})

    async with gateway_world(tmp_path, close, host="localhost", resolver=resolver) as world:
        world_connector = world.server._upstreams[0]._session.connector
        assert isinstance(world_connector, aiohttp.TCPConnector)
        world_connector._use_dns_cache = False
        said = [await world.raw(request()) for _ in range(3)]
    async with gateway_world(tmp_path, close, host="localhost", resolver=TableResolver({})) as world:
        said.append(await world.raw(request()))
    assert [each[:13] for each in said] == [
        *[b"HTTP/1.1 200 ", b"HTTP/1.1 502 "],
        *[b"HTTP/1.1 200 ", b"HTTP/1.1 502 "],
    ]
    refused, unknown = (each.partition(b"\r\n\r\n")[2] for each in (said[1], said[3]))
    assert refused == unknown != b""


async def test_names_are_looked_up_for_a_workspace(tmp_path: Path) -> None:
    """Not in threads that all share, so that those of other workspaces need not wait; a reason that is not the name's
    own is told."""
    asked = []

    class Busy:
        async def resolve(self, workspace: str, name: str) -> Sequence[Address]:
            asked.append((workspace, name))
            raise UnknownNameError(f"{name} was not looked up")

    tls, headers = tls_context(), [("host", "a.example")]
    upstream = Upstream(tls, [], silent_seconds=30.0, resolver=Busy(), workspace="w_1")
    with pytest.raises(UpstreamError, match="was not looked up"):
        async with upstream.answer_to("GET", "https://a.example/", headers, None):
            pass
    await upstream.close()
    assert asked == [("w_1", "a.example")]


async def test_an_upstream_without_a_valid_certificate(tmp_path: Path) -> None:
    """The credential is not sent to it; for another name neither."""
    async with gateway_world(tmp_path, echo, trusted=False) as world:
        said = await world.raw(request())
        assert said.startswith(b"HTTP/1.1 502 ")
        assert b"certificate is not valid" in said
        assert world.seen == []
    async with gateway_world(tmp_path, echo, host="127.0.0.2") as world:
        assert not (await world.raw(request())).startswith(b"HTTP/1.1 200 ")
        assert world.seen == []


async def test_upstreams_that_stall_or_break_off(tmp_path: Path) -> None:
    """504 where nothing was told yet; else the connection ends, and the log says why."""
    forever = asyncio.Event()

    async def stall(request: web.Request) -> web.StreamResponse:
        if request.path == "/head":
            await forever.wait()
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"begun")
        if request.path == "/body":
            await forever.wait()
        assert request.transport is not None
        request.transport.abort()
        return answer

    async with gateway_world(tmp_path, stall, silent_seconds=0.1) as world:
        assert (await world.raw(request(b"/head"))).startswith(b"HTTP/1.1 504 ")
        assert not (await world.raw(request(b"/body"))).endswith(b"0\r\n\r\n")
        assert "silent for 0.1 s" in world.entries[-1].reason
        assert not (await world.raw(request(b"/broken"))).endswith(b"0\r\n\r\n")
        assert "broke off" in world.entries[-1].reason
        forever.set()


async def test_answers_that_are_compressed(tmp_path: Path) -> None:
    """They cannot be looked through: the upstream was asked for none."""

    async def compressed(request: web.Request) -> web.Response:
        assert request.headers["accept-encoding"] == "identity"
        return web.Response(body=b"xx", headers={"content-encoding": "gzip"})

    async with gateway_world(tmp_path, compressed) as world:
        said = await world.raw(request(b"/", b"accept-encoding: gzip"))
        assert said.startswith(b"HTTP/1.1 502 ")
        assert b"compresses" in said


async def test_many_connections(tmp_path: Path) -> None:
    """So many wait for their requests; another one is told so, and nothing of it stays."""
    async with gateway_world(tmp_path, echo) as world:
        held = [await asyncio.open_connection("127.0.0.1", world.port) for _ in range(MOST_CONNECTIONS)]
        for _, writer in held:
            writer.write(b"GET")
        said = b""
        while not said.startswith(b"HTTP/1.1 503 "):  # until all of them have been accepted
            said = await world.raw(request())
        assert b"as many connections" in said
        for _, writer in held:
            writer.close()
        while not said.startswith(b"HTTP/1.1 200 "):
            said = await world.raw(request())


def test_no_workspace_has_all_connections() -> None:
    """Each has as many as are left for others."""
    room = Room(left=128)
    had = {name: sum(room.take(name) for _ in range(200)) for name in ("a", "b", "c")}
    assert had == {"a": 64, "b": 32, "c": 16}
    assert not room.take("a")
    for name, count in had.items():
        for _ in range(count):
            room.give_back(name)
    assert (room.left, dict(room.held)) == (128, {})


async def test_a_body_is_asked_for(tmp_path: Path) -> None:
    """A client that waits for `100 Continue` gets it."""
    async with gateway_world(tmp_path, echo) as world:
        reader, writer = await asyncio.open_connection("127.0.0.1", world.port)
        writer.write(request(b"/", b"content-length: 3", b"expect: 100-continue", method=b"PUT"))
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 \r\n\r\n"
        writer.write(b"abc")
        assert b'"body": "abc"' in await reader.read()
        writer.close()


async def test_a_program_that_leaves(tmp_path: Path) -> None:
    """In the middle of its body: the upstream's request ends, and nothing is told as a fault."""
    async with gateway_world(tmp_path, echo) as world:
        assert await world.raw(request(b"/", b"content-length: 100", method=b"POST", body=b"x")) == b""
        assert (world.entries[-1].status, world.entries[-1].reason) == (0, "the program has gone")
        assert (await world.raw(request())).startswith(b"HTTP/1.1 200 ")
