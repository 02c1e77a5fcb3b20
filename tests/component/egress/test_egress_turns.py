"""What a program sends in small pieces is passed on in many turns, between which others have theirs."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import dns.message
import pytest
from aiohttp import web
from egress_world import speaking
from gateway_world import TOKEN, gateway_world

from harena.core.network_policy import read_policy
from harena.egress.dns_side import serve_datagram, serve_stream
from harena.egress.gate import Gate, GateResources, Times
from harena.egress.http_side import serve_proxy
from harena.egress.resolving import OwnAddresses, SystemResolver
from harena.egress.shares import Connections, Turns

COUNT = 4000
CHUNKS = b"1\r\na\r\n" * COUNT + b"0\r\n\r\n"


class CountedTurns(Turns):
    """Turns that tell how many there were."""

    count = 0

    async def take(self, workspace: str, sandbox_id: str) -> None:
        self.count += 1
        await super().take(workspace, sandbox_id)


async def proxied(turns: Turns, port: int, request: bytes) -> bytes:
    """The answer to a request that a gate serves."""
    policy = read_policy({"allow": [f"127.0.0.1:{port}"]})
    served = GateResources(SystemResolver(), OwnAddresses(), turns, Times(), Connections())
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    with ours, theirs:
        gate = Gate("sb", "w", policy, served)
        serving = asyncio.ensure_future(serve_proxy(gate, theirs, 0))
        await asyncio.to_thread(ours.sendall, request)
        answered = await asyncio.to_thread(ours.recv, 65536)
        while not answered.endswith(b"0\r\n\r\n") and (more := await asyncio.to_thread(ours.recv, 65536)):
            answered += more
        ours.shutdown(socket.SHUT_WR)
        await serving
    return answered


@pytest.mark.parametrize("whose", ["program", "upstream"])
async def test_chunks_of_one_byte_take_many_turns(whose: str) -> None:
    def upstream(connection: socket.socket) -> None:
        content = b""
        while not content.endswith(b"\r\n\r\n" if whose == "upstream" else b"0\r\n\r\n"):
            content += connection.recv(65536)
        chunks = CHUNKS if whose == "upstream" else b"0\r\n\r\n"
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)

    turns = CountedTurns()
    with speaking(upstream) as port:
        head = f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
        body = CHUNKS if whose == "program" else b"0\r\n\r\n"
        answered = await proxied(turns, port, head + b"Transfer-Encoding: chunked\r\n\r\n" + body)
    assert answered.startswith(b"HTTP/1.1 200 ")
    assert answered.count(b"a\r\n") >= (COUNT if whose == "upstream" else 0)
    assert turns.count > COUNT / (2 * 32)


async def test_a_gateway_takes_turns_for_chunks_of_one_byte(tmp_path: Path) -> None:
    async def length(request: web.Request) -> web.Response:
        return web.Response(text=str(len(await request.read())))

    turns = CountedTurns()
    async with gateway_world(tmp_path, length) as world:
        world.server._turns = turns
        head = f"POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n".encode()
        answered = await world.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS)
    assert answered.endswith(str(COUNT).encode())
    assert turns.count > COUNT / (2 * 32)


@pytest.mark.parametrize("way", ["stream", "datagrams"])
async def test_each_question_of_dns_takes_a_turn(way: str) -> None:
    """Hundreds of them come in one piece."""
    turns = CountedTurns()
    served = GateResources(SystemResolver(), OwnAddresses(), turns, Times(), Connections())
    gate = Gate("sb", "w", read_policy({"allow": []}), served)
    question = dns.message.make_query("a.org", "A").to_wire()
    count = 40
    if way == "stream":
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        with ours, theirs:
            ours.sendall((len(question).to_bytes(2, "big") + question) * count)
            ours.shutdown(socket.SHUT_WR)
            await serve_stream(gate, theirs, 0)
            assert len(ours.recv(65536)) == count * (len(question) + 2)
    else:
        ours, theirs = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        with ours:
            for each in (ours, theirs):
                each.bind(("127.0.0.1", 0))
            ours.settimeout(30)
            gate.receive(theirs, serve_datagram)
            for _ in range(count):
                ours.sendto(question, theirs.getsockname())
            for _ in range(count):
                await asyncio.to_thread(ours.recv, 1000)
            await gate.close()
    assert turns.count >= count
