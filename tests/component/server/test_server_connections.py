"""What a demanding client, or none at all, sends over a connection: always an answer that is clear, never a failure."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
from asyncio import StreamReader, StreamWriter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
from server_world import World, world
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from harena.server import protocol

HOST = b"host: localhost\r\n"
JSON = HOST + b"content-type: application/json\r\n"
LIST = b"GET /v1/sandboxes HTTP/1.1\r\n"
MAKE = b"POST /v1/sandboxes HTTP/1.1\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n\r\n"


async def connected(here: World) -> tuple[StreamReader, StreamWriter]:
    address = urlsplit(here.url)
    return await asyncio.open_connection(address.hostname, address.port)


async def answer_of(reader: StreamReader) -> tuple[int, dict[str, str], Any]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return int(head[0].split()[1]), headers, json.loads(body) if body else None


MALFORMED = {
    "broken size of a piece": MAKE + JSON + CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n",
    "endless size of a piece": MAKE + JSON + CHUNKED + b"f" * 20 + b"\r\n{}\r\n0\r\n\r\n",
    "two lengths": MAKE + JSON + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}",
    "a length and pieces": MAKE + JSON + b"content-length: 2\r\n" + CHUNKED + b"2\r\n{}\r\n0\r\n\r\n",
    "negative length": MAKE + JSON + b"content-length: -2\r\n\r\n{}",
    "unknown coding": MAKE + JSON + b"transfer-encoding: gzip\r\n\r\n{}",
    "unknown method": b"BREW /v1/sandboxes HTTP/1.1\r\n" + HOST + b"\r\n",
    "bytes in the address": b"GET /v1/sandboxes/\xff HTTP/1.1\r\n" + HOST + b"\r\n",
    "a space before the colon": LIST + HOST + b"x : y\r\n\r\n",
    "a greeting of TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_what_is_no_http(here: World, name: str) -> None:
    """400, as a problem, and the connection is closed; nothing was made."""
    reader, writer = await connected(here)
    writer.write(MALFORMED[name])
    status, headers, problem = await answer_of(reader)
    # a body that breaks off in its middle is found by whoever reads it, at the same time
    assert (status, headers["content-type"]) == (400, "application/problem+json")
    assert (problem["code"], problem["reason"]) == ("validation", "HTTP")
    assert headers["connection"] == "close"
    writer.close()
    assert here.runtime.created == []


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /v1/sandboxes/" + b"a" * 40_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414),
        (b"GET /v1/sandboxes?tag=" + b"a" * 40_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414),
        (LIST + HOST + b"x: " + b"a" * 70_000 + b"\r\n\r\n", 431),
        (LIST + HOST + b"x: aaaaaa\r\n" * 10_000 + b"\r\n", 431),
        (LIST + HOST + b"x: " + b"a" * 70_000, 431),
    ],
    ids=["path", "query", "header", "headers", "no end"],
)
async def test_heads_that_are_too_large(here: World, head: bytes, status: int) -> None:
    """The answer comes before their end."""
    reader, writer = await connected(here)
    writer.write(head)
    answered, headers, problem = await answer_of(reader)
    assert (answered, headers["connection"], problem["status"]) == (status, "close", status)
    writer.close()


async def test_a_head_that_never_comes(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection is closed, whether nothing came or a part, first or after another request."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.01)
    for sent in (b"", b"GET /v1/sand", b"GET /v1/sandboxes HTTP/1.1\r\nhost: loc"):
        reader, writer = await connected(here)
        writer.write(sent)
        assert await reader.read() == b""
        writer.close()
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 60.0)
    reader, writer = await connected(here)
    writer.write(LIST + HOST + b"\r\n")
    assert (await answer_of(reader))[0] == 200
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.01)
    writer.write(b"GET /v1/")
    assert await reader.read() == b""
    writer.close()


@pytest.mark.cheap
@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        (b"HEAD /v1/sandboxes HTTP/1.1\r\n" + HOST, 405, None),
        (b"OPTIONS /v1/sandboxes HTTP/1.1\r\n" + HOST, 405, "validation"),
        (b"TRACE /v1/sandboxes HTTP/1.1\r\n" + HOST, 405, "validation"),
        (b"OPTIONS * HTTP/1.1\r\n" + HOST, 404, "not_found"),
        (b"GET /v1/sandboxes/a%2Fb HTTP/1.1\r\n" + HOST, 404, "not_found"),
        (b"GET /v1/sandboxes/%2e%2e HTTP/1.1\r\n" + HOST, 404, "sandbox_not_found"),
        (b"GET /v1/sandboxes/%00 HTTP/1.1\r\n" + HOST, 404, "sandbox_not_found"),
        (b"GET /v1/sandboxes/%zz HTTP/1.1\r\n" + HOST, 404, "sandbox_not_found"),
        (b"GET /v1/../v1/sandboxes HTTP/1.1\r\n" + HOST, 404, "not_found"),
        (b"GET //v1/sandboxes HTTP/1.1\r\n" + HOST, 404, "not_found"),
        (b"GET /v1/sandboxes/ HTTP/1.1\r\n" + HOST, 404, "not_found"),
        (b"GET /v1/sandboxes?cursor=%0d%0aset-cookie:x HTTP/1.1\r\n" + HOST, 422, "validation"),
        (LIST, 403, "access"),
        (LIST + HOST + b"host: elsewhere\r\n", 403, "access"),
        (LIST + HOST + b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n", 200, None),
        (MAKE + JSON + b"idempotency-key: \xff\r\ncontent-length: 2\r\n", 422, "validation"),
        (MAKE + JSON + b"content-encoding: gzip\r\ncontent-length: 2\r\n", 415, "validation"),
        (MAKE + JSON + b"transfer-encoding: chunked\r\n\r\n1;a=b\r\n{\r\n1\r\n}\r\n0\r\nx: y\r\n", 201, None),
    ],
)
async def test_strange_requests(here: World, request_: bytes, status: int, code: str | None) -> None:
    """Each has its answer, and the connection goes on."""
    reader, writer = await connected(here)
    writer.write(request_ + b"\r\n" + (b"{}" if b"content-length: 2" in request_ else b""))
    if request_.startswith(b"HEAD"):
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 405 ")
    else:
        answered, _, content = await answer_of(reader)
        assert (answered, content.get("code")) == (status, code)
    writer.write(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    assert (await answer_of(reader))[0] == 200
    writer.close()


async def test_methods_that_a_path_has(http: aiohttp.ClientSession) -> None:
    """All of them are told."""
    for path, methods in (("/v1/sandboxes", "GET, POST"), ("/v1/sandboxes/x/files", "DELETE, GET, POST, PUT")):
        async with http.patch(path) as answer:
            assert (answer.status, answer.headers["allow"]) == (405, methods)


async def test_requests_without_waiting_for_answers(here: World) -> None:
    """Answers come in the order of the requests, also after those that were wrong."""
    reader, writer = await connected(here)
    wrong = MAKE + JSON + b"content-length: 1\r\n\r\n{"
    unknown = b"GET /v1/nothing HTTP/1.1\r\n" + HOST + b"\r\n"
    good = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
    writer.write((wrong + unknown + good) * 10)
    assert [(await answer_of(reader))[0] for _ in range(30)] == [422, 404, 200] * 10
    writer.close()


async def test_a_client_that_hangs_up_in_the_middle_of_a_creation(here: World, http: aiohttp.ClientSession) -> None:
    """What it asked for is made once: whoever asks again with the same key gets it."""
    body = b'{"tags": ["once"]}'
    for _ in range(3):
        _, writer = await connected(here)
        writer.write(MAKE + JSON + b"idempotency-key: k\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()
    headers = {"idempotency-key": "k", "content-type": "application/json"}
    async with http.post("/v1/sandboxes", data=body, headers=headers) as answer:
        assert answer.status == 201
        made = (await answer.json())["id"]
    assert [*here.runtime.sandboxes] == [made]


async def test_a_client_that_hangs_up_in_the_middle_of_its_body(here: World, http: aiohttp.ClientSession) -> None:
    """Nothing is made, and no failure is noted."""
    for path in (b"/v1/sandboxes", b"/v1/benchmark_jobs", b"/v1/blueprints", b"/v1/leases"):
        _, writer = await connected(here)
        writer.write(b"POST " + path + b" HTTP/1.1\r\n" + JSON + b"content-length: 100\r\n\r\n{")
        await writer.drain()
        writer.close()
    async with http.get("/v1/sandboxes") as answer:
        assert (await answer.json())["sandboxes"] == []
    async with http.get("/metrics") as answer:
        assert 'status="500"' not in await answer.text()


async def test_requests_sent_ahead_take_their_bytes_only(here: World) -> None:
    """Tens of thousands whose answers are not read, by somebody without a key: two of each connection were begun, and
    others are answered."""
    address = urlsplit(here.url)
    ahead = b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n" + b"GET / HTTP/1.1\r\n\r\n" * 14_000
    before = _begun()
    sockets = [socket.create_connection((address.hostname, address.port)) for _ in range(8)]
    for one in sockets:
        one.setblocking(False)
        assert one.send(ahead) > 10_000
    assert here.server._uvicorn is not None
    open_ones = here.server._uvicorn.server_state.connections
    while sum(one.flow.read_paused for one in open_ones) < len(sockets):  # noqa: ASYNC110 - nobody is told of it
        await asyncio.sleep(0)
    assert _begun() - before <= 2 * len(sockets)
    reader, writer = await connected(here)
    writer.write(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    assert (await answer_of(reader))[0] == 200
    writer.close()
    for one in sockets:
        one.close()


def _begun() -> int:
    """Requests that the server holds, also those that are not under way yet."""
    return sum(isinstance(found, RequestResponseCycle) for found in gc.get_objects())


async def test_a_refused_body_without_an_end(tmp_path: Path) -> None:
    """Its sender, who reads after having sent megabytes, gets the answer; and then the end of the connection."""
    async with world(tmp_path, keyed=True) as here:
        reader, writer = await connected(here)
        writer.write(b"POST /v1/benchmark_jobs HTTP/1.1\r\n" + HOST + CHUNKED)
        for _ in range(8):
            writer.write(b"1\r\nx\r\n" * 40_000)
            await writer.drain()
        status, _, problem = await answer_of(reader)
        assert (status, problem["code"]) == (401, "access")
        assert await reader.read() == b""
        writer.close()
